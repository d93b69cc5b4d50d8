use super::{AGENT, Local, column};

const CREATE: [&str; 10] = [
    "projects",
    "create",
    "--name",
    "stock",
    "--description",
    "What is there",
    "--warehouse",
    "WAREHOUSE_A",
    "--agent-deployment-type",
    "HYBRID",
];

// Endpoint: GET /v1/projects
// Endpoint: POST /v1/projects
#[test]
fn projects_create_makes_one_that_projects_list_shows() {
    let local = Local::new();
    let response = local.json(&CREATE);
    let all = local.json("projects list");
    let new = all["results"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["id"] == response["projectId"])
        .unwrap();
    assert_eq!(
        (&new["name"], &new["description"]),
        (&"stock".into(), &"What is there".into())
    );
    let output = local.run("projects list").expect(0);
    assert!(output.out.contains("What is there"), "{}", output.all());
}

// Endpoint: POST /v1/projects
#[test]
fn projects_create_of_what_the_platform_does_not_know_names_the_field() {
    let local = Local::new();
    let args = CREATE.map(|arg| if arg == "WAREHOUSE_A" { "OTHER" } else { arg });
    local.run(&args).expect(3).saying(&["400", "warehouse"]);
}

// Endpoint: GET /v1/projects/{projectId}/environments
// Endpoint: POST /v1/projects/{projectId}/environments
#[test]
fn environments_create_makes_those_that_environments_list_shows() {
    let local = Local::with_environments();
    let all = local.json("environments list");
    assert_eq!(column(&all, "name"), ["test", "production"]);
    assert_eq!(column(&all, "defaultAgentId"), [AGENT, AGENT]);
    local.environment("test", "dwh").expect(5).saying(&["409"]);
}

// Endpoint: POST /v1/projects/{projectId}/environments
#[test]
fn environments_create_needs_a_connection_of_the_project() {
    let local = Local::with_environments();
    local.environment("new", "other").expect(3).saying(&["other"]);
}

// Endpoint: POST /v1/projects/{projectId}/data-platform-connections
#[test]
fn connections_create_takes_the_authentication_of_each_warehouse() {
    let local = Local::new();
    for (name, warehouse) in [("a", "WAREHOUSE_A"), ("b", "WAREHOUSE_B")] {
        let args = ["connections", "create", "--name", name, "--warehouse", warehouse];
        local.run(&args).expect(0);
        let wrong = if name == "a" { "password" } else { "key_pair" };
        local
            .run((&args[..], &["--auth-type", wrong]))
            .expect(3)
            .saying(&["authType"]);
    }
}

// Endpoint: POST /v1/secrets/{agentId}/secret-value
#[test]
fn secrets_create_names_where_the_value_is_and_never_shows_it() {
    let local = Local::new();
    let text = local.secret();
    assert!(text["vaultSecretName"].is_string() && text["resolver_ref"].is_string());
}

// Endpoint: POST /v1/projects/{projectId}/repositories
#[test]
fn repositories_create_is_for_one_provider_and_not_for_full_saas() {
    let local = Local::new();
    let create = "repositories create --owner acme --name sales";
    local.run(create).expect(0);
    local
        .run((create, "--git-provider other"))
        .expect(3)
        .saying(&["provider"]);
    let id = local.project("other", "FULL_SAAS");
    local
        .run((create, format!("--project-id {id}")))
        .expect(3)
        .saying(&["400"]);
}

#[test]
fn name_of_a_new_resource_is_an_argument_or_a_flag() {
    let local = Local::new();
    let warehouse = "--warehouse WAREHOUSE_B";
    for name in ["one", "--name two"] {
        local
            .run((
                "projects create",
                name,
                warehouse,
                "--agent-deployment-type HYBRID",
            ))
            .expect(0);
        local.run(("connections create", name, warehouse)).expect(0);
    }
    let names = column(&local.json("projects list"), "name");
    assert!(
        ["one", "two"]
            .iter()
            .all(|name| names.contains(&(*name).to_owned())),
        "{names:?}"
    );
    local
        .run("connections create one --name one --warehouse WAREHOUSE_B")
        .expect(2);
    local.run("connections create --warehouse WAREHOUSE_B").expect(2);
}
