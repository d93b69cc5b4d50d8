use super::{AGENT, Local};
use serde_json::Value;

#[test]
fn projects_create_and_list() {
    let local = Local::new();
    let args = [
        "projects",
        "create",
        "--name",
        "stock",
        "--description",
        "d",
        "--warehouse",
        "WAREHOUSE_A",
        "--agent-deployment-type",
        "HYBRID",
        "-o",
        "json",
    ];
    let made = local.run(&args).expect(0).json();
    let all = local.run(&["projects", "list", "-o", "json"]).expect(0).json();
    assert!(
        all["results"]
            .as_array()
            .unwrap()
            .iter()
            .any(|it| it["id"] == made["projectId"] && it["name"] == "stock")
    );
    let refused = args.map(|arg| if arg == "WAREHOUSE_A" { "OTHER" } else { arg });
    local.run(&refused).expect(3).saying(&["warehouse"]);
}

#[test]
fn environments_connections_and_repositories_are_made_one_by_one() {
    let local = Local::with_environments();
    let all = local
        .run(&["environments", "list", "-o", "json"])
        .expect(0)
        .json();
    let names: Vec<&Value> = all["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["test", "production"]);
    local
        .run(&["repositories", "create", "--owner", "acme", "--name", "sales"])
        .expect(0);
}

fn provision(deployment: &str, warehouse: &str, credentials: &str, last: &str) -> String {
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

#[test]
fn provision_apply_makes_a_hybrid_project() {
    let local = Local::new();
    let repository = "repository: { providerParameters: { ownerName: acme }, repositoryName: sales }";
    local.world.write(
        "p.yaml",
        provision(
            "HYBRID",
            "WAREHOUSE_A",
            "privateKey: { secretName: key }",
            repository,
        ),
    );
    let made = local
        .run(&["provision", "apply", "-f", "p.yaml", "-o", "json"])
        .expect(0)
        .json();
    let id = made["projectId"].as_str().unwrap();
    let all = local
        .run(&["environments", "list", "--project-id", id, "-o", "json"])
        .expect(0)
        .json();
    assert_eq!(all["results"][0]["name"], "production");
    let again = local.run(&["provision", "apply", "-f", "p.yaml"]).expect(0);
    assert_eq!(again.out.matches("done before").count(), 4);
}

#[test]
fn provision_apply_makes_a_full_saas_project_with_its_secret() {
    let local = Local::new();
    let secret = format!("secret: {{ agentId: {AGENT}, name: pw, key: k, valueFrom: {{ file: password }} }}");
    local.world.write(
        "p.yaml",
        provision(
            "FULL_SAAS",
            "WAREHOUSE_B",
            "password: { secretName: pw, secretKey: k }",
            &secret,
        ),
    );
    local.world.write("password", "hunter2\n");
    let made = local.run(&["provision", "apply", "-f", "p.yaml"]).expect(0);
    assert!(
        made.out.contains("secret      created  vaultSecretName"),
        "{}",
        made.all()
    );
    assert!(!made.all().contains("hunter2"));
}
