//! No setting takes effect with a variable that the CI host should have replaced with its value.

use crate::support::release::{publish_call, stage, versions};
use crate::support::{Call, World, orchestration_text, project};
use std::collections::BTreeSet;

/// A variable of Azure Pipelines that is not defined stays unchanged.
const VALUE: &str = "$(undefinedVariable)";

/// The settings that `ci` does not read, each with a command that reads it.
const OTHER_COMMANDS: [(&str, &str); 7] = [
    ("SLUICEGATE_RULES", "check"),
    ("SLUICEGATE_ENVIRONMENT", "pipelines run sales/load"),
    (
        "SLUICEGATE_CANCEL_STATUS",
        "executions cancel 7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d",
    ),
    (
        "SLUICEGATE_WAREHOUSE_A",
        "connections create sales --warehouse WAREHOUSE_A",
    ),
    (
        "SLUICEGATE_WAREHOUSE_B",
        "connections create sales --warehouse WAREHOUSE_A",
    ),
    (
        "SLUICEGATE_GIT_PROVIDER",
        "connections create sales --warehouse WAREHOUSE_A",
    ),
    ("SLUICEGATE_KEY_VAULT", "streaming create -f stream.yaml"),
];

/// The settings whose errors do not name the variable: its file, its host and its shard are named. Client credentials
/// need several variables.
const OTHER_ERRORS: [&str; 8] = [
    "SLUICEGATE_CONFIG",
    "SLUICEGATE_REPO",
    "SLUICEGATE_CI",
    "SLUICEGATE_SHARD",
    "SLUICEGATE_CLIENT_CERT",
    "SLUICEGATE_CLIENT_KEY",
    "SLUICEGATE_CLIENT_ID",
    "SLUICEGATE_CLIENT_SECRET",
];

/// The settings in which such a text has no effect on the result: a shell replaces the variables of the command, and a
/// report that the proxy of Bitbucket does not accept is a warning. The two settings of client credentials have no
/// effect without an id.
const ACCEPTED: [&str; 4] = [
    "SLUICEGATE_TOKEN_COMMAND",
    "SLUICEGATE_BITBUCKET_PROXY",
    "SLUICEGATE_TOKEN_URL",
    "SLUICEGATE_TOKEN_AUDIENCE",
];

#[test]
fn each_setting_with_unexpanded_variable_is_refused() {
    let (world, server) = stage();
    world.write("stream.yaml", "name: a\n");
    let document = publish_call(&world, &server)
        .run("settings -o json")
        .expect(0)
        .json();
    let settings = document["settings"].as_array().unwrap();
    let mut names: BTreeSet<&str> = settings
        .iter()
        .filter_map(|setting| setting["variable"].as_str())
        .collect();
    names.remove("");
    for name in names.into_iter().filter(|name| !ACCEPTED.contains(name)) {
        let other_command = OTHER_COMMANDS.iter().find(|(variable, _)| *variable == name);
        let command = other_command.map_or("ci", |(_, command)| command);
        let call = publish_call(&world, &server)
            .variable("SLUICEGATE_VERSION_NAME", "1")
            .variable("SLUICEGATE_PUBLISH", "true")
            .variable("SLUICEGATE_PUBLISH_ON_BRANCHES", "main");
        let output = call.variable(name, VALUE).run(command);
        let code = if name == "SLUICEGATE_REPO" { 7 } else { 2 };
        assert_eq!(output.code, code, "{name}: {}", output.all());
        let names_setting = output.err.contains(name) || OTHER_ERRORS.contains(&name);
        assert!(names_setting, "{name}: {}", output.all());
    }
    assert_eq!(versions(&world, &server), []);
}

#[test]
fn client_credentials_with_unexpanded_variable_are_refused() {
    let (world, server) = stage();
    let credentials = [
        ("SLUICEGATE_CLIENT_ID", "id"),
        ("SLUICEGATE_CLIENT_SECRET", "secret"),
        ("SLUICEGATE_TOKEN_URL", "http://127.0.0.1:9/token"),
        ("SLUICEGATE_TOKEN_AUDIENCE", "platform"),
    ];
    for (name, _) in credentials {
        let mut call = publish_call(&world, &server);
        for (variable, value) in credentials {
            call = call.variable(variable, if variable == name { VALUE } else { value });
        }
        let output = call.run("artifacts list").expect(2).saying(&[name]);
        let shows_secret = name.ends_with("SECRET") && output.all().contains(VALUE);
        assert!(!shows_secret, "{}", output.all());
    }
}

/// Creates a project with a pipeline that every `exclude` must leave in the review.
fn bad_project() -> World {
    let world = project();
    world.write(
        "bad.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("bad");
    world
}

#[test]
fn unexpanded_paths_and_globs_are_refused_without_files() {
    let world = bad_project();
    for (name, flag, value) in [
        ("SLUICEGATE_EXCLUDE", "--exclude", "$TEAM/**"),
        ("SLUICEGATE_INCLUDE", "--include", "sales/${TEAM}/*.orch.yaml"),
        ("SLUICEGATE_REPORT", "--report", "junit=$OUT/x.xml"),
        ("SLUICEGATE_CATEGORY", "--category", "${{ matrix.team }}"),
        ("SLUICEGATE_RULES", "--rules", "%RULES%"),
    ] {
        let call = Call::new(&world.work());
        call.run(&["check", "--all", flag, value])
            .expect(2)
            .saying(&[flag]);
        let output = call.variable(name, value).run("check --all").expect(2);
        output.saying(&[name, "was not replaced with its value"]);
    }
    assert_eq!(world.git("status --porcelain"), "");
    for file in ["exclude: ['$TEAM/**']", "publish-on: { branches: [$BRANCH] }"] {
        world.write("sluicegate.yaml", file);
        let output = Call::new(&world.work()).run("ci").expect(2);
        output.saying(&["variables in the configuration file are not replaced"]);
    }
}

#[test]
fn version_name_with_unexpanded_variable_is_refused_before_a_request() {
    let (world, server) = stage();
    let call = publish_call(&world, &server);
    call.run("publish --version-name 1").expect(0);
    for command in [
        "artifacts show",
        "artifacts enable",
        "artifacts disable --force",
        "artifacts diff",
        "artifacts impact 1",
    ] {
        let output = call.run((command, &[VALUE])).expect(2);
        output.saying(&["the value of --version-name", "was not replaced with its value"]);
    }
    call.run("artifacts disable --force --version-name $VERSION")
        .expect(2);
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
    call.run("artifacts show 1").expect(0);
    call.run("artifacts disable --force 1").expect(0);
}

#[test]
fn texts_with_sign_of_variable_are_accepted() {
    let world = bad_project();
    for (name, value) in [
        (
            "SLUICEGATE_ACCEPT_BREAKING",
            "the change costs $5 and $TEAM agreed",
        ),
        ("SLUICEGATE_EXCLUDE", "a$b/**"),
        ("SLUICEGATE_EXCLUDE", "{{a,c},d}/**"),
        ("SLUICEGATE_CATEGORY", "50%"),
        ("SLUICEGATE_REPORT", "json=a$b.json"),
    ] {
        let call = Call::new(&world.work()).variable(name, value);
        call.run("check --all").expect(1);
    }
}

/// The platform deletes no such name, so a name with a variable would stay forever.
#[test]
fn new_name_with_unexpanded_variable_is_refused_before_a_request() {
    let world = World::new();
    let call = Call::with_platform(&world.work(), "http://127.0.0.1:9").variable("SLUICEGATE_RETRIES", "0");
    let agent = "5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34";
    for args in [
        "projects create NEW --warehouse WAREHOUSE_A --agent-deployment-type HYBRID".to_owned(),
        "connections create NEW --warehouse WAREHOUSE_A".to_owned(),
        format!("secrets create NEW --agent-id {agent} --key k --value-variable HOME"),
        format!("secrets create dwh --agent-id {agent} --key NEW --value-variable HOME"),
        "repositories create NEW --owner acme".to_owned(),
        "repositories create sales --owner NEW".to_owned(),
        "variables create NEW --type TEXT --behaviour SHARED".to_owned(),
        "pipelines run load --environment test --tag NEW".to_owned(),
    ] {
        for value in ["$(NAME)", "%env.NAME%", "$[variables.name]", "${{NAME}}"] {
            let words: Vec<String> = args.split(' ').map(|word| word.replace("NEW", value)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let output = call.run(&words[..]);
            assert_eq!(output.code, 2, "{args}: {}", output.all());
            assert!(output.err.contains("was not replaced"), "{args}: {}", output.err);
        }
    }
    // The error quotes what the user wrote.
    call.run("publish --prefix p --version-name ${{x}}-1 --dry-run")
        .expect(2)
        .saying(&["contains `${{x}}`"]);
}
