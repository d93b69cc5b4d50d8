//! `projects`, `environments`, `connections`, `secrets`, `repositories`.

use crate::support::{Platform, World, answer, sent_bodies};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

const AGENT: &str = "b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60";

fn script_creation(platform: &Platform, path: &str, body: Value) {
    platform.respond_to("POST", path, ResponseTemplate::new(201).set_body_json(body));
}

#[test]
fn projects_list_shows_all_without_a_project_being_set() {
    let (world, platform) = (World::new(), Platform::new());
    let body: Value = serde_json::from_str(include_str!("../../fixtures/api/projects.json")).unwrap();
    platform.respond_to("GET", "/v1/projects$", answer(&body));
    let call = platform.call(&world).without("SLUICEGATE_PROJECT_ID");
    let output = call.run("projects list").expect(0);
    insta::assert_snapshot!(output.out, @"
     NAME   ID                                    DESCRIPTION
     sales  9c5b94b1-35ad-49bb-b118-8e8fc24abf80  Orders and their lines
     stock  3f0c7d1e-62b4-4a0e-9d51-8f7a6c2b1e90
    ");
    assert_eq!(
        call.run(&["projects", "list", "-o", "json"]).expect(0).json()["results"],
        body["results"]
    );
}

#[test]
fn projects_create_sends_what_is_given() {
    let (world, platform) = (World::new(), Platform::new());
    script_creation(
        &platform,
        "/v1/projects$",
        json!({ "projectId": "3f0c7d1e-62b4-4a0e-9d51-8f7a6c2b1e90" }),
    );
    let args = "projects create --name sales --warehouse WAREHOUSE_B --agent-deployment-type FULL_SAAS";
    let output = platform.call(&world).run(args).expect(0);
    assert_eq!(output.out, "projectId  3f0c7d1e-62b4-4a0e-9d51-8f7a6c2b1e90\n");
    assert_eq!(
        sent_bodies(&platform),
        [json!({ "name": "sales", "warehouse": "WAREHOUSE_B", "agentDeploymentType": "FULL_SAAS" })]
    );
    let args = "projects create sales --warehouse warehouse_b --agent-deployment-type FULL_SAAS";
    platform.call(&world).run(args).expect(0);
    assert_eq!(sent_bodies(&platform)[1]["warehouse"], "WAREHOUSE_B");
}

#[test]
fn environments_list_names_the_agents() {
    let (world, platform) = (World::new(), Platform::new());
    let body: Value = serde_json::from_str(include_str!("../../fixtures/api/environments.json")).unwrap();
    platform.respond_to("GET", "/environments$", answer(&body));
    let output = platform.call(&world).run("environments list").expect(0);
    insta::assert_snapshot!(output.out, @"
     NAME        DEFAULT AGENT  DEFAULT AGENT ID
     production  agent-eu-1     b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60
    ");
}

#[test]
fn environment_with_unknown_key_is_created_with_a_warning() {
    let (world, platform) = (World::new(), Platform::new());
    script_creation(&platform, "/environments$", json!({}));
    let text = format!(
        "name: production\ndefaultAgentId: {AGENT}\ndefaultUserAccessLevel: readOnly\ndisplayNam: Production\n\
         defaultConnections: {{ DWH: {{ warehouse_b: dwh }} }}\nconnectionOverrides:\n  - connectionName: dwh\n\
         \x20   conectionProperties: {{}}\n    connectionProperties:\n      newProperty: {{ value: x }}\n"
    );
    world.write("e.yaml", &text);
    let output = platform
        .call(&world)
        .run("environments create -f e.yaml")
        .expect(0);
    let reason = "the key is not in the API document, and is sent unchanged: did you mean";
    assert_eq!(
        output.warnings(),
        [
            format!("warning: e.yaml:4:1: displayNam: {reason} `displayName`?"),
            format!(
                "warning: e.yaml:8:5: connectionOverrides[0].conectionProperties: {reason} \
                 `connectionProperties`?"
            ),
        ]
    );
    assert_eq!(sent_bodies(&platform)[0]["displayNam"], "Production");
}

#[test]
fn environments_create_sends_the_file_as_it_is_written() {
    let (world, platform) = (World::new(), Platform::new());
    script_creation(&platform, "/environments$", json!({}));
    let text = format!(
        "name: production\ndefaultAgentId: {AGENT}\ndefaultUserAccessLevel: readOnly\n\
         defaultConnections: {{ DWH: {{ warehouse_b: dwh }} }}\nconnectionOverrides:\n  - connectionName: dwh\n\
         \x20   connectionProperties:\n      port: {{ value: '5439' }}\n      password: {{ secretName: pw, secretKey: k }}\n"
    );
    world.write("e.yaml", &text);
    let args = "environments create -f e.yaml";
    let output = platform.call(&world).run(args).expect(0);
    assert_eq!(output.out, "created the environment production\n");
    assert!(!output.err.contains("API document"), "{}", output.all());
    let properties = &sent_bodies(&platform)[0]["connectionOverrides"][0]["connectionProperties"];
    assert_eq!(properties["port"], json!({ "value": "5439" }));
    for (value, kind) in [
        ("007", "number"),
        ("1.10", "number"),
        ("1e5", "number"),
        ("0x1F", "number"),
        ("true", "boolean"),
    ] {
        world.write("e.yaml", text.replace("'5439'", value));
        let expected_text = format!(
            "e.yaml:8:15: connectionOverrides[0].connectionProperties.port.value: is a {kind} but must be a \
             string: put the value in quotes"
        );
        platform
            .call(&world)
            .run(args)
            .expect(2)
            .saying(&[&expected_text]);
    }
    assert_eq!(sent_bodies(&platform).len(), 1);
    world.write(
        "e.yaml",
        text.replace("{ secretName: pw, secretKey: k }", "{ value: hunter2 }"),
    );
    let refusal = platform.call(&world).run(args).expect(2);
    assert!(!refusal.all().contains("hunter2"));
    refusal.saying(&["e.yaml:9:7:", "password"]);
    // No command could address such an environment, and such a reference names no value.
    for (from, to, expected_text) in [
        (
            "name: production",
            "name: '..'",
            "e.yaml:1:1: name: \"..\" cannot be",
        ),
        (
            "name: production",
            "name: \"a\\tb\"",
            "e.yaml:1:1: name: \"a\\tb\" cannot be",
        ),
        (
            "{ warehouse_b: dwh }",
            "{ warehouse_b: dwh, WAREHOUSE_B: other }",
            "DWH has two connections for warehouse_b",
        ),
        (", secretKey: k", "", "password: must name the key in the secret"),
        (
            "secretKey: k",
            "secretKey: ''",
            "password: must name the key in the secret",
        ),
    ] {
        world.write("e.yaml", text.replace(from, to));
        platform.call(&world).run(args).expect(2).saying(&[expected_text]);
    }
    assert_eq!(sent_bodies(&platform).len(), 1);
    // The platform names the kind of a warehouse in lower case.
    world.write("e.yaml", text.replace("warehouse_b", "WAREHOUSE_B"));
    platform.call(&world).run(args).expect(0);
    let connections = &sent_bodies(&platform)[1]["defaultConnections"];
    assert_eq!(*connections, json!({ "DWH": { "warehouse_b": "dwh" } }));
}

#[test]
fn connections_create_knows_how_each_warehouse_authenticates() {
    let (world, platform) = (World::new(), Platform::new());
    script_creation(&platform, "/data-platform-connections$", json!({}));
    let create = "connections create --name dwh --warehouse";
    let run = |rest: &str| platform.call(&world).run((create, rest));
    run("WAREHOUSE_A").expect(0);
    run("WAREHOUSE_B").expect(0);
    run("FROSTBITE --warehouse-a FROSTBITE").expect(0);
    run("FROSTBITE")
        .expect(2)
        .saying(&["neither WAREHOUSE_A nor WAREHOUSE_B", "--auth-type"]);
    run("FROSTBITE --auth-type certificate").expect(0);
    world.write("sluicegate.yaml", "vocabulary: { WAREHOUSE_B: FROSTBITE }\n");
    run("FROSTBITE").expect(0);
    platform
        .call(&world)
        .variable("SLUICEGATE_WAREHOUSE_A", "FROSTBITE")
        .run((create, "FROSTBITE"))
        .expect(0);
    let matches: Vec<(Value, Value)> = sent_bodies(&platform)
        .iter()
        .map(|body| (body["authProvider"].clone(), body["authType"].clone()))
        .collect();
    assert_eq!(
        matches,
        [
            ("warehouse_a", "key_pair"),
            ("warehouse_b", "password"),
            ("frostbite", "key_pair"),
            ("frostbite", "certificate"),
            ("frostbite", "password"),
            ("frostbite", "key_pair"),
        ]
        .map(|(a, b)| (json!(a), json!(b)))
    );
    assert_eq!(sent_bodies(&platform)[0]["platformConnectionType"], "dwh");
}

#[test]
fn secrets_create_reads_value_from_variable_or_file_without_output() {
    let (world, platform) = (World::new(), Platform::new());
    let echo =
        json!({ "vaultSecretName": "dwh-password", "resolver_ref": "ref", "echo": "hunter2 is stored" });
    script_creation(&platform, &format!("/v1/secrets/{AGENT}/secret-value$"), echo);
    let create = [
        "secrets",
        "create",
        "--agent-id",
        AGENT,
        "--name",
        "dwh-password",
        "--key",
        "password",
    ];
    let call = platform.call(&world).variable("DWH", "hunter2");
    let output = call.run((&create[..], "--value-variable DWH")).expect(0);
    insta::assert_snapshot!(output.out, @"
    vaultSecretName  dwh-password
    resolver_ref     ref
    echo             *** is stored
    ");
    world.write("secret", "hunter2\n");
    let json = call.run((&create[..], "--value-file secret -o json")).expect(0);
    assert!(!json.all().contains("hunter2"), "{}", json.all());
    world.write("secret", "\u{feff}hunter2\r\n");
    call.run((&create[..], "--value-file secret")).expect(0);
    let body = json!({ "name": "dwh-password", "type": "DWH_PASSWORD", "key": "password",
        "value": { "password": "hunter2" } });
    assert_eq!(sent_bodies(&platform), vec![body; 3]);
    world.write(
        "secret",
        "\u{feff}-----BEGIN PRIVATE KEY----- abc -----END PRIVATE KEY-----",
    );
    call.run((&create[..], "--value-file secret"))
        .expect(2)
        .saying(&["its line breaks are lost"]);
    call.run(&create).expect(2).saying(&["--value-variable"]);
    call.run((&create[..], "--value-variable NONE"))
        .expect(2)
        .saying(&["the variable NONE is not set or empty"]);
    call.run((&create[..], "--value-file none"))
        .expect(2)
        .saying(&["none"]);
}

#[test]
fn secrets_create_that_is_refused_does_not_show_the_value() {
    let (world, platform) = (World::new(), Platform::new());
    let refused = json!({ "detail": "hunter2 is too short", "validation-errors": [{ "field": "value", "message": "hunter2" }] });
    platform.respond_to(
        "POST",
        "/secret-value$",
        ResponseTemplate::new(400).set_body_json(refused),
    );
    let args = [
        "secrets",
        "create",
        "--agent-id",
        AGENT,
        "--name",
        "n",
        "--key",
        "k",
        "--value-variable",
        "DWH",
        "-vv",
    ];
    let output = platform
        .call(&world)
        .variable("DWH", "hunter2")
        .run(&args)
        .expect(3);
    assert!(!output.all().contains("hunter2"), "{}", output.all());
    output.saying(&["*** is too short"]);
}

#[test]
fn names_of_platform_are_sent_in_its_letter_case() {
    let (world, platform) = (World::new(), Platform::new());
    script_creation(&platform, "/repositories$", json!({}));
    script_creation(&platform, "/v1/projects$", json!({ "projectId": AGENT }));
    script_creation(&platform, "/variables$", json!({}));
    world.write("sluicegate.yaml", "vocabulary: { git_provider_a: GitHub }\n");
    let call = platform.call(&world);
    call.run("repositories create --owner acme --name sales")
        .expect(0);
    call.run("repositories create --owner acme --name sales --git-provider GitLab")
        .expect(0);
    call.run("projects create p --warehouse w --agent-deployment-type hybrid")
        .expect(0);
    call.run("projects create p --warehouse w --agent-deployment-type Other")
        .expect(0);
    call.run("variables create v --type number --behaviour shared --value 1")
        .expect(0);
    let bodies = sent_bodies(&platform);
    assert_eq!(bodies[0]["provider"], "github");
    assert_eq!(bodies[1]["provider"], "gitlab");
    assert_eq!(bodies[2]["agentDeploymentType"], "HYBRID");
    // The API document may not list all values.
    assert_eq!(bodies[3]["agentDeploymentType"], "Other");
    assert_eq!(
        (&bodies[4]["type"], &bodies[4]["behaviour"]),
        (&json!("NUMBER"), &json!("SHARED"))
    );
}

#[test]
fn repositories_create_sends_the_providers_name() {
    let (world, platform) = (World::new(), Platform::new());
    script_creation(&platform, "/repositories$", json!({}));
    let args = "repositories create --owner acme --name sales";
    let output = platform.call(&world).run(args).expect(0);
    assert_eq!(output.out, "created the repository acme/sales\n");
    platform
        .call(&world)
        .variable("SLUICEGATE_GIT_PROVIDER", "octoforge")
        .run(args)
        .expect(0);
    let body = |provider: &str| json!({ "provider": provider, "providerParameters": { "ownerName": "acme" }, "repositoryName": "sales" });
    assert_eq!(
        sent_bodies(&platform),
        [body("git_provider_a"), body("octoforge")]
    );
}
