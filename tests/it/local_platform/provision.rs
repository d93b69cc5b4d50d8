use super::{ADMIN, AGENT, Local, SECRET, column};

fn file(deployment: &str, warehouse: &str, credentials: &str, last: &str) -> String {
    format!(
        "project: {{ name: sales, warehouse: {warehouse}, agentDeploymentType: {deployment} }}
connection: {{ name: dwh }}
environment:
  name: production
  displayName: Production
  defaultAgentId: {AGENT}
  defaultUserAccessLevel: readOnly
  connectionOverrides:
    - connectionName: dwh
      connectionProperties: {{ {credentials} }}
{last}
"
    )
}

fn hybrid_file_with_repository() -> String {
    let repository = "repository: { providerParameters: { ownerName: acme }, repositoryName: sales }";
    file(
        "HYBRID",
        "WAREHOUSE_A",
        "privateKey: { secretName: key }",
        repository,
    )
}

const APPLY: &str = "provision apply -f p.yaml";

#[test]
fn apply_makes_a_hybrid_project_once() {
    let local = Local::new();
    local.world.write("p.yaml", hybrid_file_with_repository());
    let response = local.json(APPLY);
    let id = response["projectId"].as_str().unwrap();
    let all = local.json(format!("environments list --project-id {id}"));
    assert_eq!(column(&all, "name"), ["production"]);
    let second_run = local.run(APPLY).expect(0);
    assert_eq!(second_run.out.matches("done before").count(), 4);
}

#[test]
fn apply_makes_a_full_saas_project_with_its_secret() {
    let local = Local::new();
    let secret = format!("secret: {{ agentId: {AGENT}, name: pw, key: k, valueFrom: {{ file: password }} }}");
    let credentials = "password: { secretName: pw, secretKey: k }";
    local
        .world
        .write("p.yaml", file("FULL_SAAS", "WAREHOUSE_B", credentials, &secret));
    local.world.write("password", SECRET);
    let output = local.run(APPLY).expect(0);
    assert!(
        output.out.contains("secret      created  vaultSecretName"),
        "{}",
        output.all()
    );
    assert!(!output.all().contains(SECRET));
}

#[test]
fn apply_goes_on_after_a_step_that_the_platform_refused() {
    let local = Local::new();
    local.world.write("p.yaml", hybrid_file_with_repository());
    // A provider that the platform rejects: the last step fails.
    let output = local
        .run((APPLY, "--git-provider other"))
        .expect(8)
        .saying(&["the repository was not created", "provider"]);
    assert_eq!(output.out.matches("created").count(), 3, "{}", output.all());
    let taken_up = local.run(APPLY).expect(0);
    assert_eq!(
        taken_up.out.matches("done before").count(),
        3,
        "{}",
        taken_up.all()
    );
    assert_eq!(taken_up.out.matches("created").count(), 1);
    let names = column(&local.json("projects list"), "name");
    assert_eq!(names.iter().filter(|name| *name == "sales").count(), 1);
}

#[test]
fn apply_checks_the_conditions_before_the_first_call() {
    let local = Local::new();
    let secret = format!("secret: {{ agentId: {AGENT}, name: pw, key: k, valueFrom: {{ file: password }} }}");
    for (text, expected_text) in [
        (
            hybrid_file_with_repository().replace("connectionName: dwh", "connectionName: other"),
            "is not one of the default connections",
        ),
        (
            hybrid_file_with_repository().replace(
                "privateKey: { secretName: key }",
                "password: { secretName: key, secretKey: k }",
            ),
            "has no privateKey",
        ),
        (
            hybrid_file_with_repository() + &secret,
            "is supported only by the deployment FULL_SAAS",
        ),
        (
            hybrid_file_with_repository().replace("HYBRID", "FULL_SAAS"),
            "repository: is not supported",
        ),
    ] {
        local.world.write("p.yaml", text);
        local.run(APPLY).expect(2).saying(&["p.yaml:", expected_text]);
    }
    assert_eq!(column(&local.json(&["projects", "list"]), "id").len(), 1);
}

#[test]
fn apply_names_required_role_and_continues_with_it() {
    let local = Local::new();
    local.world.write("p.yaml", hybrid_file_with_repository());
    let role = "only the account role Super Admin can see a new project until users are invited";
    let output = local.call_as(ADMIN).run(APPLY).expect(8);
    let first = output.err.lines().next().unwrap_or_default();
    assert!(first.starts_with(role), "{}", output.all());
    output.saying(&[
        "the connection was not created",
        &format!("hint: {role}: run the command again with a token"),
    ]);
    let output = local.run(APPLY).expect(0);
    assert!(
        output.out.starts_with("project     done before"),
        "{}",
        output.all()
    );
}
