use super::{Local, column};
use serde_json::{Value, json};

/// Creates a variable.
fn create(local: &Local, name: &str, kind: &str, value: &str) {
    let args = [
        "variables",
        "create",
        name,
        "--type",
        kind,
        "--behaviour",
        "SHARED",
        "--value",
        value,
    ];
    local.run(&args).expect(0);
}

/// Returns all fields of a variable.
fn find_variable(local: &Local, name: &str) -> Value {
    let all = local.json("variables list");
    let mut value = all["results"].as_array().unwrap().iter();
    value.find(|entry| entry["name"] == name).unwrap().clone()
}

fn overrides(local: &Local, name: &str) -> Value {
    local.json(format!("variables overrides list {name}"))["overrides"].clone()
}

// Endpoint: GET /v1/projects/{projectId}/variables
// Endpoint: POST /v1/projects/{projectId}/variables
#[test]
fn create_makes_one_that_list_shows() {
    let local = Local::new();
    let output = local.run("variables list").expect(0);
    assert_eq!(output.out, "the project has no variables\n");
    let args = [
        "variables",
        "create",
        "days",
        "--type",
        "NUMBER",
        "--behaviour",
        "COPIED",
        "--value",
        "-30",
        "--description",
        "How far back",
        "--double-resolution",
        "true",
    ];
    let response = local.json(&args);
    assert_eq!(
        (&response["name"], &response["value"]),
        (&json!("days"), &json!(-30))
    );
    let value = find_variable(&local, "days");
    let fields = [
        "id",
        "type",
        "behaviour",
        "description",
        "supportsDoubleResolution",
    ]
    .map(|key| &value[key]);
    assert_eq!(
        json!(fields),
        json!([response["id"], "NUMBER", "COPIED", "How far back", true])
    );
    local.run(&args).expect(5).saying(&["409"]);
}

// Endpoint: POST /v1/projects/{projectId}/variables
#[test]
fn create_of_a_value_that_does_not_fit_its_type_is_refused() {
    let local = Local::new();
    let args = [
        "variables",
        "create",
        "x",
        "--behaviour",
        "SHARED",
        "--value",
        "ten",
        "--type",
        "NUMBER",
    ];
    local.run(&args).expect(2);
    let args = args.map(|arg| if arg == "NUMBER" { "GRID" } else { arg });
    local.run(&args).expect(3).saying(&["400", "type"]);
    assert!(column(&local.json(&["variables", "list"]), "name").is_empty());
}

// Endpoint: PATCH /v1/projects/{projectId}/variables/{variableName}
#[test]
fn update_keeps_what_is_not_given() {
    let local = Local::new();
    create(&local, "region", "TEXT", "eu");
    let before = find_variable(&local, "region");
    local.run("variables update region --description Where").expect(0);
    let after = find_variable(&local, "region");
    assert_eq!(after["description"], "Where");
    for field in [
        "id",
        "name",
        "type",
        "behaviour",
        "value",
        "supportsDoubleResolution",
    ] {
        assert_eq!(after[field], before[field], "{field}");
    }
    local
        .run("variables update region --type NUMBER --value 7")
        .expect(0);
    let after = find_variable(&local, "region");
    assert_eq!(
        json!([after["type"], after["value"], after["behaviour"]]),
        json!(["NUMBER", 7, "SHARED"])
    );
    local.run("variables update none --value 7").expect(3);
}

// Endpoint: DELETE /v1/projects/{projectId}/variables/{variableName}
#[test]
fn delete_takes_the_overrides_too() {
    let local = Local::with_environments();
    create(&local, "region", "TEXT", "eu");
    local.run("variables overrides set region test=us").expect(0);
    local.run("variables delete region").expect(0);
    local.run("variables delete region").expect(3).saying(&["404"]);
    create(&local, "region", "TEXT", "eu");
    assert_eq!(overrides(&local, "region"), json!([]));
}

// Endpoint: GET /v1/projects/{projectId}/variables/{variableName}/environment-overrides
// Endpoint: POST /v1/projects/{projectId}/variables/{variableName}/environment-overrides
#[test]
fn overrides_set_makes_and_changes_what_overrides_list_shows() {
    let local = Local::with_environments();
    create(&local, "days", "NUMBER", "30");
    let set = "variables overrides set days";
    local.run((set, "production=60")).expect(0);
    local.run((set, "production=90 test=1")).expect(0);
    let mut value = overrides(&local, "days").as_array().unwrap().clone();
    value.sort_by_key(ToString::to_string);
    let test = json!({ "environmentName": "test", "value": 1 });
    assert_eq!(
        value,
        [
            json!({ "environmentName": "production", "value": 90 }),
            test.clone()
        ]
    );
    let one = local.json("variables overrides list days --environment test");
    assert_eq!(one["overrides"], json!([test]));
    assert_eq!(
        (&one["variable"]["name"], &one["variable"]["type"]),
        (&json!("days"), &json!("NUMBER"))
    );
}

// Endpoint: POST /v1/projects/{projectId}/variables/{variableName}/environment-overrides
#[test]
fn overrides_set_names_each_that_failed_and_keeps_the_others() {
    let local = Local::with_environments();
    create(&local, "days", "NUMBER", "30");
    local
        .run("variables overrides set days production=60 nowhere=1")
        .expect(8)
        .saying(&["1 of 2 overrides", "nowhere"]);
    assert_eq!(
        overrides(&local, "days"),
        json!([{ "environmentName": "production", "value": 60 }])
    );
}

// Endpoint: DELETE /v1/projects/{projectId}/variables/{variableName}/environment-overrides/{environmentName}
#[test]
fn overrides_unset_takes_one_away() {
    let local = Local::with_environments();
    create(&local, "region", "TEXT", "eu");
    local
        .run("variables overrides set region test=us production=")
        .expect(0);
    local.run("variables overrides unset region test").expect(0);
    assert_eq!(
        overrides(&local, "region"),
        json!([{ "environmentName": "production", "value": "" }])
    );
}

#[test]
fn apply_creates_project_of_file_and_repeated_changes_nothing() {
    let local = Local::with_environments();
    create(&local, "old", "TEXT", "x");
    let file = "variables:
  region: { type: TEXT, behaviour: SHARED, value: eu, description: d, overrides: { production: us, test: '' } }
  days: { type: NUMBER, behaviour: COPIED, value: 1.5, supportsDoubleResolution: true }
";
    local.world.write("v.yaml", file);
    let apply = ["variables", "apply", "-f", "v.yaml", "--prune"];
    let plan_output = local.run((&apply[..], "--dry-run")).expect(0);
    assert!(plan_output.out.contains("- old"), "{}", plan_output.all());
    local.run(&apply).expect(0);
    let second_run = local.run(&apply).expect(0);
    assert_eq!(second_run.out, "no changes: the project matches the file\n");
    local
        .world
        .write("v.yaml", file.replace("production: us, ", "").replace("1.5", "2"));
    let changed_run = local.run(&apply).expect(0);
    insta::assert_snapshot!(changed_run.out, @r#"
    - region in production: "us"
    ~ days  value: 1.5 -> 2
    done: 2 changes
    "#);
    local.world.write(
        "v.yaml",
        "variables:\n  a: { type: TEXT, behaviour: SHARED, value: x, overrides: { nowhere: y } }\n",
    );
    // A missing environment is found before any change is sent.
    for more in [&["--dry-run"][..], &[]] {
        let apply = ("variables apply -f v.yaml", more);
        local.run(&apply).expect(2).saying(&[
            "v.yaml:2:",
            "variables.a.overrides.nowhere: the project has no environment with this name",
            "environments list",
        ]);
    }
    let listing = local.run("variables list").expect(0);
    assert!(
        !listing.out.lines().any(|line| line.starts_with("a ")),
        "{}",
        listing.all()
    );
    local.world.write(
        "v.yaml",
        "variables:\n  a: { type: TEXT, behaviour: SHARED, value: x, overrides: { prodution: y } }\n",
    );
    local
        .run("variables apply -f v.yaml --dry-run")
        .expect(2)
        .saying(&["did you mean `production`?"]);
}

#[test]
fn prune_lists_the_overrides_of_a_deleted_variable() {
    let local = Local::with_environments();
    create(&local, "old", "TEXT", "x");
    create(&local, "plain", "TEXT", "y");
    local
        .run("variables overrides set old production=us test=eu")
        .expect(0);
    local.world.write("v.yaml", "variables: {}\n");
    let apply = "variables apply -f v.yaml --prune";
    let document = local.run((apply, "--dry-run -o json")).expect(0).json();
    assert_eq!(
        document["changes"][0]["overrides"],
        json!([
            { "environmentName": "production", "value": "us" },
            { "environmentName": "test", "value": "eu" },
        ])
    );
    assert_eq!(document["changes"][1]["overrides"], json!([]));
    let lines = "- old in production: \"us\"\n- old in test: \"eu\"\n- plain  ";
    for (flag, summary) in [
        ("--dry-run", "4 changes; dry run, no change was applied\n"),
        ("", "done: 4 changes\n"),
    ] {
        let output = local.run((apply, flag)).expect(0);
        assert!(
            output.out.contains(lines) && output.out.ends_with(summary),
            "{}",
            output.all()
        );
    }
}

/// Writes a file that gives the variable `code` the type TEXT, with these overrides.
fn write_text_type(local: &Local, overrides: &str) {
    let text = format!("variables:\n  code: {{ type: TEXT, value: five{overrides} }}\n");
    local.world.write("v.yaml", text);
}

#[test]
fn apply_changes_type_of_a_variable_with_an_override() {
    let local = Local::with_environments();
    create(&local, "code", "NUMBER", "5");
    local.run("variables overrides set code test=7").expect(0);
    write_text_type(&local, ", overrides: { test: seven, production: five }");
    let apply = "variables apply -f v.yaml";
    let expected_lines = r#"~ code  type: "NUMBER" -> "TEXT", value: 5 -> "five"
~ code in test: 7 -> "seven"
+ code in production: "five"
"#;
    let plan_output = local.run((apply, "--dry-run")).expect(0);
    assert!(
        plan_output.out.starts_with(expected_lines),
        "{}",
        plan_output.all()
    );
    let output = local.run(apply).expect(0);
    assert_eq!(output.out, format!("{expected_lines}done: 3 changes\n"));
    assert_eq!(find_variable(&local, "code")["value"], "five");
    assert_eq!(
        overrides(&local, "code"),
        json!([
            { "environmentName": "production", "value": "five" },
            { "environmentName": "test", "value": "seven" },
        ])
    );
    let second_run = local.run(apply).expect(0);
    assert_eq!(second_run.out, "no changes: the project matches the file\n");
}

#[test]
fn apply_with_prune_changes_type_of_a_variable_with_an_unlisted_override() {
    let local = Local::with_environments();
    create(&local, "code", "NUMBER", "5");
    local.run("variables overrides set code test=7").expect(0);
    write_text_type(&local, ", overrides: {}");
    local.run("variables apply -f v.yaml --prune").expect(0);
    assert_eq!(find_variable(&local, "code")["type"], "TEXT");
    assert_eq!(overrides(&local, "code"), json!([]));
}

#[test]
fn apply_refuses_a_type_that_an_unlisted_override_does_not_fit() {
    let local = Local::with_environments();
    create(&local, "code", "NUMBER", "5");
    local.run("variables overrides set code test=7").expect(0);
    for overrides in ["", ", overrides: { production: five }"] {
        write_text_type(&local, overrides);
        for flag in ["--dry-run", ""] {
            local
                .run(format!("variables apply -f v.yaml {flag}"))
                .expect(2)
                .saying(&[
                    "v.yaml:2:",
                    "the current override in test does not fit this type: add test to `overrides`",
                    "or remove the override with `sluicegate variables overrides unset code test`",
                    "write `overrides: {}` and pass --prune",
                ]);
        }
    }
    assert_eq!(find_variable(&local, "code")["type"], "NUMBER");
    assert_eq!(
        overrides(&local, "code"),
        json!([{ "environmentName": "test", "value": 7 }])
    );
    // The hint's commands.
    write_text_type(&local, ", overrides: {}");
    local.run("variables apply -f v.yaml --prune --dry-run").expect(0);
    local.run("variables overrides unset code test").expect(0);
    local.run("variables apply -f v.yaml").expect(0);
}
