//! `variables`: requests, output, and exit codes.

#[cfg(unix)]
use crate::support::send_signal;
use crate::support::{Platform, ProgramOutput, World, answer, in_turn};
use serde_json::{Value, json};
#[cfg(unix)]
use std::process::Stdio;
#[cfg(unix)]
use std::time::Duration;
use wiremock::{Request, ResponseTemplate};

const LIST: &str = "/variables$";
const OVERRIDES: &str = "/environment-overrides$";

fn variable(name: &str, kind: &str, value: impl Into<Value>) -> Value {
    json!({ "id": "0d9c8b7a-6f5e-4d3c-ab2a-190f8e7d6c5b", "name": name, "type": kind, "behaviour": "SHARED",
        "description": "", "value": value.into(), "supportsDoubleResolution": false })
}

fn listing(platform: &Platform, items: &[Value]) {
    platform.respond_to(
        "GET",
        LIST,
        answer(&json!({ "results": items, "page": 0, "size": 100, "total": items.len() })),
    );
}

/// Returns the bodies of the requests that change the platform, each with its method.
fn changes(platform: &Platform) -> Vec<(String, Value)> {
    let body = |request: &Request| serde_json::from_slice(&request.body).unwrap_or_default();
    platform
        .requests()
        .iter()
        .filter(|request| request.method.as_str() != "GET")
        .map(|request| (format!("{} {}", request.method, tail(request)), body(request)))
        .collect()
}

fn tail(request: &Request) -> String {
    request.url.path().rsplit_once("variables").unwrap().1.to_owned()
}

#[test]
fn list_shows_a_table_or_the_platforms_shape() {
    let (world, platform) = (World::new(), Platform::new());
    listing(
        &platform,
        &[
            variable("region", "TEXT", json!("eu")),
            variable("days", "NUMBER", json!(30)),
        ],
    );
    let output = platform.call(&world).run("variables list").expect(0);
    insta::assert_snapshot!(output.out, @"
     NAME    TYPE    BEHAVIOUR  VALUE  DOUBLE  DESCRIPTION  ID
     region  TEXT    SHARED     eu     false                0d9c8b7a-6f5e-4d3c-ab2a-190f8e7d6c5b
     days    NUMBER  SHARED     30     false                0d9c8b7a-6f5e-4d3c-ab2a-190f8e7d6c5b
    ");
    let json = platform
        .call(&world)
        .run("variables list -o json")
        .expect(0)
        .json();
    assert_eq!(json["results"][1]["value"], 30);
    assert_eq!(json["total"], 2);
}

#[test]
fn create_sends_a_value_of_its_type() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to(
        "POST",
        LIST,
        ResponseTemplate::new(201).set_body_json(json!({ "id": "1", "name": "days", "value": 30 })),
    );
    let args = "variables create days --type NUMBER --behaviour COPIED --value -30";
    let output = platform.call(&world).run(args).expect(0);
    insta::assert_snapshot!(output.out, @"
    created the variable days
    id     1
    name   days
    value  30
    ");
    let body = json!({ "name": "days", "type": "NUMBER", "behaviour": "COPIED", "value": -30 });
    assert_eq!(changes(&platform), [("POST ".to_owned(), body)]);
    let wrong = "variables create days --type NUMBER --value many";
    platform
        .call(&world)
        .run(wrong)
        .expect(2)
        .saying(&["--value", "many"]);
}

#[test]
fn no_number_is_rounded_on_its_way() {
    let (world, platform) = (World::new(), Platform::new());
    for number in [
        "1234567890123456.789",
        "12345678901234567890.5",
        "0.12345678901234567891",
    ] {
        let text = format!("the number {number} has too many digits to be sent exactly");
        let value = format!("--value={number}");
        let args = [
            "variables",
            "create",
            "x",
            "--type=NUMBER",
            "--behaviour=SHARED",
            &value,
        ];
        platform.call(&world).run(&args).expect(2).saying(&[&text]);
        world.write(
            "v.yaml",
            format!("variables:\n  x: {{ type: NUMBER, value: {number} }}\n"),
        );
        let args = ["variables", "apply", "-f", "v.yaml"];
        let text = format!("v.yaml:2:29: {text}");
        platform.call(&world).run(&args).expect(2).saying(&[&text]);
    }
    assert!(platform.requests().is_empty());
}

#[test]
fn create_of_a_name_that_exists_is_exit_5() {
    let (world, platform) = (World::new(), Platform::new());
    let taken = ResponseTemplate::new(409).set_body_json(json!({ "detail": "region exists" }));
    platform.respond_to("POST", LIST, taken);
    platform
        .call(&world)
        .run("variables create region")
        .expect(5)
        .saying(&["region exists"]);
}

#[test]
fn create_with_lost_response_reports_possible_creation() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("POST", LIST, ResponseTemplate::new(502));
    platform
        .call(&world)
        .variable("SLUICEGATE_RETRIES", "3")
        .run("variables create region")
        .expect(3)
        .saying(&["hint: the request may have been processed nevertheless: run `sluicegate variables list`"]);
    assert_eq!(changes(&platform).len(), 1);
}

#[test]
fn update_looks_type_and_behaviour_up() {
    let (world, platform) = (World::new(), Platform::new());
    listing(&platform, &[variable("days", "NUMBER", json!(30))]);
    platform.respond_to("PATCH", "/variables/days$", ResponseTemplate::new(204));
    platform
        .call(&world)
        .run("variables update days --value 60")
        .expect(0);
    let body = json!({ "type": "NUMBER", "behaviour": "SHARED", "value": 60 });
    assert_eq!(changes(&platform), [("PATCH /days".to_owned(), body)]);
    platform
        .call(&world)
        .run("variables update hours --value 1")
        .expect(3)
        .saying(&["no variable `hours`"]);
}

#[test]
fn update_does_not_look_up_what_is_given() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("PATCH", "/variables/days$", ResponseTemplate::new(204));
    let args = [
        "variables",
        "update",
        "days",
        "--type",
        "TEXT",
        "--behaviour",
        "COPIED",
        "--description",
        "",
        "--double-resolution",
        "true",
    ];
    platform.call(&world).run(&args).expect(0);
    let body =
        json!({ "type": "TEXT", "behaviour": "COPIED", "description": "", "supportsDoubleResolution": true });
    assert_eq!(changes(&platform), [("PATCH /days".to_owned(), body)]);
}

#[test]
fn conflict_of_an_update_does_not_suggest_another_name() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("PATCH", "/variables/days$", ResponseTemplate::new(409));
    let args = "variables update days --type TEXT --behaviour COPIED --value 7";
    let output = platform.call(&world).run(args).expect(5);
    assert!(!output.err.contains("another name"), "{}", output.all());
    output.saying(&["run `sluicegate variables overrides list days`"]);
}

#[test]
fn conflict_of_an_override_does_not_suggest_another_name() {
    let (world, platform) = (World::new(), Platform::new());
    let known = json!({ "variable": { "name": "a b", "type": "TEXT" }, "overrides": [] });
    platform.respond_to("GET", OVERRIDES, answer(&known));
    platform.respond_to("POST", OVERRIDES, ResponseTemplate::new(409));
    platform.respond_to("DELETE", "", ResponseTemplate::new(409));
    for args in [&["set", "a b", "prod=x"], &["unset", "a b", "prod"]] {
        let output = platform
            .call(&world)
            .run((&["variables", "overrides"], args))
            .expect(5);
        assert!(!output.err.contains("another name"), "{}", output.all());
        output.saying(
            &["hint: run `sluicegate variables overrides list 'a b'` to check; \
             try again when no other operation changes the variable"],
        );
    }
}

#[test]
fn override_whose_change_may_be_done_is_to_be_checked() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("DELETE", "", ResponseTemplate::new(502));
    platform
        .call(&world)
        .run("variables overrides unset region prod")
        .expect(3)
        .saying(&["run `sluicegate variables overrides list region` to check"]);
}

#[test]
fn delete_lists_what_was_deleted() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("DELETE", "/variables/days$", ResponseTemplate::new(204));
    let output = platform.call(&world).run("variables delete days").expect(0);
    assert_eq!(output.out, "deleted variable days and its overrides\n");
    let json = platform
        .call(&world)
        .run("variables delete days -o json")
        .expect(0);
    assert_eq!(json.json(), Value::Null);
    platform.call(&world).run("variables delete gone").expect(3);
}

#[test]
fn overrides_list_shows_each_environment() {
    let (world, platform) = (World::new(), Platform::new());
    let body = json!({ "variable": { "name": "region", "type": "TEXT" },
        "overrides": [{ "environmentName": "production", "value": "us" }] });
    platform.respond_to("GET", OVERRIDES, answer(&body));
    let args = "variables overrides list region --environment production";
    let output = platform.call(&world).run(args).expect(0);
    insta::assert_snapshot!(output.out, @"
    ENVIRONMENT  VALUE
    production   us

    variable.name  region
    variable.type  TEXT
    ");
    assert_eq!(
        platform.requests()[0].url.query(),
        Some("environmentName=production")
    );
}

#[test]
fn overrides_list_without_a_match_names_the_environment() {
    let (world, platform) = (World::new(), Platform::new());
    let body = json!({ "variable": { "name": "region", "type": "TEXT" }, "overrides": [] });
    platform.respond_to("GET", OVERRIDES, answer(&body));
    for (args, expected_text) in [
        ("--environment prod", "region has no override in prod"),
        ("", "region has no overrides"),
    ] {
        let output = platform
            .call(&world)
            .run(("variables overrides list region", args))
            .expect(0);
        assert!(output.all().contains(expected_text), "{}", output.all());
    }
}

#[test]
fn overrides_set_names_those_that_failed_with_exit_8() {
    let (world, platform) = (World::new(), Platform::new());
    let known = json!({ "variable": { "name": "days", "type": "NUMBER" }, "overrides": [] });
    platform.respond_to("GET", OVERRIDES, answer(&known));
    let set = json!({ "variableName": "days", "type": "NUMBER",
        "successfulOverrides": [{ "environmentName": "production" }],
        "failedOverrides": [{ "environmentName": "nowhere", "reason": "the environment does not exist" }] });
    platform.respond_to("POST", OVERRIDES, answer(&set));
    let args = "variables overrides set days production=60 nowhere=1";
    let output = platform.call(&world).run(args).expect(8);
    assert_eq!(output.out, "days is 60 in production\n");
    output.saying(&[
        "the platform did not confirm 1 of 2 overrides of days",
        "hint: correct the values that the platform rejects, and run `sluicegate variables overrides list days`",
        "nowhere: the environment does not exist",
    ]);
    assert_eq!(changes(&platform)[0].1["overrides"][0]["value"], 60);
}

#[test]
fn overrides_set_of_ambiguous_environment_sends_nothing() {
    let (world, platform) = (World::new(), Platform::new());
    let known = json!({ "variable": { "name": "v", "type": "TEXT" }, "overrides": [] });
    platform.respond_to("GET", OVERRIDES, answer(&known));
    let set = json!({ "successfulOverrides": [{ "environmentName": "a" }], "failedOverrides": [] });
    platform.respond_to("POST", OVERRIDES, answer(&set));
    let environments = |names: &[&str]| {
        let items: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
        answer(&json!({ "results": items, "page": 0, "size": 100, "total": items.len() }))
    };
    let turns = vec![environments(&["a", "a=b", "c"]), environments(&["a", "b"])];
    platform.respond_to("GET", "/environments$", in_turn(turns));
    let call = platform.call(&world);
    call.run("variables overrides set v a=b=1").expect(2).saying(&[
        "\"a=b=1\" is ambiguous: the project has the environments a and a=b",
        "`sluicegate variables apply -f FILE`",
    ]);
    assert!(changes(&platform).is_empty());
    call.run("variables overrides set v a=b=1").expect(0);
    assert_eq!(changes(&platform)[0].1["overrides"][0]["value"], "b=1");
    // A value without `=` needs no list of environments.
    let request_count = platform.requests().len();
    call.run("variables overrides set v a=1").expect(0);
    assert_eq!(platform.requests().len(), request_count + 2);
    // If only one environment matches, its complete name separates.
    let environments =
        json!({ "results": [{ "name": "a=b" }, { "name": "c" }], "page": 0, "size": 100, "total": 2 });
    let platform = Platform::new();
    platform.respond_to("GET", OVERRIDES, answer(&known));
    platform.respond_to("GET", "/environments$", answer(&environments));
    let set = json!({ "successfulOverrides": [{ "environmentName": "a=b" }, { "environmentName": "c" }],
        "failedOverrides": [] });
    platform.respond_to("POST", OVERRIDES, answer(&set));
    let call = platform.call(&world);
    call.run("variables overrides set v a=b=c=d c=x=y").expect(0);
    let expected_overrides = json!([{ "environmentName": "a=b", "value": "c=d" },
        { "environmentName": "c", "value": "x=y" }]);
    assert_eq!(changes(&platform)[0].1["overrides"], expected_overrides);
    call.run("variables overrides set v a=b=1 a=b=2")
        .expect(2)
        .saying(&["the environment a=b is listed more than once"]);
}

#[test]
fn overrides_set_of_environment_that_no_path_can_contain_sends_nothing() {
    let (world, platform) = (World::new(), Platform::new());
    let known = json!({ "variable": { "name": "v", "type": "TEXT" }, "overrides": [] });
    platform.respond_to("GET", OVERRIDES, answer(&known));
    for value in ["..=q", "a\tb=q"] {
        platform
            .call(&world)
            .run(("variables overrides set v", &[value]))
            .expect(2);
    }
    assert!(changes(&platform).is_empty());
}

#[test]
fn overrides_set_counts_only_requested_overrides() {
    let (world, platform) = (World::new(), Platform::new());
    let known = json!({ "variable": { "name": "a", "type": "TEXT" }, "overrides": [] });
    platform.respond_to("GET", OVERRIDES, answer(&known));
    let set = json!({ "failedOverrides": [{ "x": 1 }] });
    platform.respond_to("POST", OVERRIDES, answer(&set));
    platform
        .call(&world)
        .run("variables overrides set a prod=x test=y")
        .expect(8)
        .saying(&["the platform did not confirm 2 of 2 overrides of a"]);
    for (successful_names, expected_text) in [
        (
            &["prod"][..],
            "the platform did not confirm 1 of 2 overrides of a:\n  test: ",
        ),
        (
            &["prod", "test"],
            "the platform reports a failed override of a, but not of which environment:\n  (unknown environment): ",
        ),
    ] {
        let successful: Vec<Value> = successful_names
            .iter()
            .map(|name| json!({ "environmentName": name }))
            .collect();
        let platform = Platform::new();
        platform.respond_to("GET", OVERRIDES, answer(&known));
        let set = json!({ "successfulOverrides": successful, "failedOverrides": [{ "x": 1 }] });
        platform.respond_to("POST", OVERRIDES, answer(&set));
        let args = "variables overrides set a prod=x test=y";
        platform.call(&world).run(args).expect(8).saying(&[expected_text]);
    }
}

#[test]
fn create_of_variable_that_no_path_can_contain_sends_nothing() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("POST", LIST, ResponseTemplate::new(201).set_body_json(json!({})));
    let call = platform.call(&world);
    for (name, expected_text) in [
        ("..", "cannot be used in a path below"),
        ("", "the value is empty"),
        ("a\nb", "cannot be used in a path below"),
    ] {
        let output = call
            .run(("variables create --type TEXT --value x", &[name]))
            .expect(2);
        output.saying(&[expected_text]);
    }
    assert!(platform.requests().is_empty());
    call.run("variables create ..a --type TEXT --value x").expect(0);
}

#[test]
fn apply_counts_each_override_and_warns_only_of_those_refused() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("GET", LIST, answer(&json!({ "results": [] })));
    platform.respond_to("POST", LIST, ResponseTemplate::new(201).set_body_json(json!({})));
    world.write(
        "v.yaml",
        "variables:\n  a: { type: TEXT, behaviour: SHARED, value: x, overrides: { prod: p, test: t } }\n",
    );
    let apply = "variables apply -f v.yaml --allow-unknown";
    let refused = json!({ "successfulOverrides": [{ "environmentName": "prod" }],
        "failedOverrides": [{ "environmentName": "test", "reason": "no" }] });
    let done =
        json!({ "successfulOverrides": [{ "environmentName": "prod" }, { "environmentName": "test" }] });
    platform.respond_to("POST", OVERRIDES, in_turn(vec![answer(&refused), answer(&done)]));
    let call = platform.call(&world);
    let output = call.clone().run(apply).expect(8);
    assert!(!output.err.contains("a in prod"), "{}", output.all());
    output.saying(&["failed: + a in test: \"t\": test: no", "1 of 3 changes failed;"]);
    assert!(call.run(apply).expect(0).out.ends_with("done: 3 changes\n"));
}

#[test]
fn overrides_of_a_repeated_environment_send_nothing() {
    let (world, platform) = (World::new(), Platform::new());
    for args in [
        "variables overrides set days test=7 test=8",
        "variables overrides unset days test test",
    ] {
        let output = platform.call(&world).run(args).expect(2);
        output.saying(&["the environment test is listed more than once"]);
    }
    assert_eq!(platform.requests().len(), 0);
}

#[test]
fn overrides_unset_tries_each() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to(
        "DELETE",
        "/environment-overrides/production$",
        ResponseTemplate::new(204),
    );
    let args = "variables overrides unset region nowhere production";
    let output = platform.call(&world).run(args).expect(8);
    assert_eq!(output.out, "removed the override of region in production\n");
    output.saying(&["nowhere", "404"]);
}

const FILE: &str = "\
variables:
  region: { value: us, overrides: { production: us } }
  days: { type: NUMBER, behaviour: COPIED, value: 30 }
";

fn write_and_script_variables(world: &World, platform: &Platform) {
    world.write("v.yaml", FILE);
    listing(
        platform,
        &[
            variable("region", "TEXT", json!("eu")),
            variable("old", "TEXT", json!("x")),
        ],
    );
    let overrides = json!({ "variable": { "name": "region" }, "overrides": [{ "environmentName": "test", "value": "eu" }] });
    platform.respond_to("GET", OVERRIDES, answer(&overrides));
}

#[test]
fn apply_shows_the_difference_and_does_nothing_in_a_dry_run() {
    let (world, platform) = (World::new(), Platform::new());
    write_and_script_variables(&world, &platform);
    let args = "variables apply -f v.yaml --prune --dry-run";
    let output = platform.call(&world).run(args).expect(0);
    insta::assert_snapshot!(output.out, @r#"
    ~ region  value: "eu" -> "us"
    + region in production: "us"
    - region in test: "eu"
    + days  type: "NUMBER", behaviour: "COPIED", value: 30
    - old  type: "TEXT", behaviour: "SHARED", description: "", value: "x", supportsDoubleResolution: false
    - old in test: "eu"
    6 changes; dry run, no change was applied
    "#);
    assert_eq!(changes(&platform), []);
}

#[test]
fn apply_creates_the_project_of_the_file() {
    let (world, platform) = (World::new(), Platform::new());
    write_and_script_variables(&world, &platform);
    let set = json!({ "successfulOverrides": [{ "environmentName": "production" }], "failedOverrides": [] });
    platform.respond_to("POST", OVERRIDES, answer(&set));
    platform.respond_to("POST", LIST, ResponseTemplate::new(201).set_body_json(json!({})));
    platform.respond_to("PATCH", "/region$", ResponseTemplate::new(204));
    platform.respond_to("DELETE", "/(old|test)$", ResponseTemplate::new(204));
    let args = "variables apply -f v.yaml --prune";
    let output = platform.call(&world).run(args).expect(0);
    assert!(output.out.ends_with("done: 6 changes\n"), "{}", output.all());
    let made = changes(&platform);
    let calls: Vec<&str> = made.iter().map(|(call, _)| call.as_str()).collect();
    assert_eq!(
        calls,
        [
            "PATCH /region",
            "POST /region/environment-overrides",
            "DELETE /region/environment-overrides/test",
            "POST ",
            "DELETE /old"
        ]
    );
    assert_eq!(
        made[0].1,
        json!({ "type": "TEXT", "behaviour": "SHARED", "value": "us" })
    );
    assert_eq!(
        made[3].1,
        json!({ "name": "days", "type": "NUMBER", "behaviour": "COPIED", "value": 30 })
    );
}

#[test]
fn apply_of_what_is_so_already_changes_nothing() {
    let (world, platform) = (World::new(), Platform::new());
    world.write(
        "v.json",
        r#"{ "variables": { "days": { "type": "NUMBER", "value": 30 } } }"#,
    );
    listing(&platform, &[variable("days", "NUMBER", json!("30"))]);
    let output = platform
        .call(&world)
        .run("variables apply -f v.json --prune")
        .expect(0);
    assert_eq!(output.out, "no changes: the project matches the file\n");
    for (flag, is_dry_run) in [("--dry-run", true), ("", false)] {
        let output = platform
            .call(&world)
            .run(format!("variables apply -f v.json -o json {flag}"))
            .expect(0);
        assert_eq!(output.json(), json!({ "changes": [], "dryRun": is_dry_run }));
    }
    assert_eq!(changes(&platform), []);
}

#[test]
fn apply_sees_the_last_digit_of_a_number() {
    let (world, platform) = (World::new(), Platform::new());
    listing(
        &platform,
        &[variable("days", "NUMBER", json!(9_007_199_254_740_995_u64))],
    );
    let apply = |value: &str| {
        world.write("v.yaml", format!("variables: {{ days: {{ value: {value} }} }}\n"));
        let args = "variables apply -f v.yaml --dry-run";
        platform.call(&world).run(args).expect(0)
    };
    let changed = apply("9007199254740996");
    assert!(
        changed
            .out
            .contains("value: 9007199254740995 -> 9007199254740996"),
        "{}",
        changed.all()
    );
    let same = apply("9007199254740995");
    assert!(same.out.contains("no changes"), "{}", same.all());
}

#[test]
fn apply_names_each_failure_and_goes_on() {
    let (world, platform) = (World::new(), Platform::new());
    write_and_script_variables(&world, &platform);
    let set = json!({ "successfulOverrides": [], "failedOverrides":
        [{ "environmentName": "production", "reason": "no permission" }] });
    platform.respond_to("POST", OVERRIDES, answer(&set));
    platform.respond_to("PATCH", "/region$", ResponseTemplate::new(204));
    platform.respond_to(
        "POST",
        LIST,
        ResponseTemplate::new(400).set_body_json(json!({ "detail": "days is reserved" })),
    );
    let output = platform
        .call(&world)
        .run("variables apply -f v.yaml -o json")
        .expect(8);
    let outcomes: Vec<Value> = output.json()["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["done", "partly", "failed"]);
    output.saying(&[
        "production: no permission",
        "days is reserved",
        "2 of 3 changes failed",
    ]);
}

/// Runs `variables apply` with a file that changes the type of `days` and its override in `test`, on a platform that
/// responds to the changes of the type and to the removal of the override with these statuses, and whose responses to
/// requests for overrides confirm `test` or not.
fn apply_refused_type(
    types: [u16; 2],
    removal: u16,
    confirms_override: bool,
) -> (ProgramOutput, Vec<(String, Value)>) {
    let (world, platform) = (World::new(), Platform::new());
    world.write(
        "v.yaml",
        "variables: { days: { type: TEXT, value: five, overrides: { test: seven } } }\n",
    );
    listing(&platform, &[variable("days", "NUMBER", json!(5))]);
    let overrides =
        json!({ "variable": { "name": "days" }, "overrides": [{ "environmentName": "test", "value": 7 }] });
    platform.respond_to("GET", OVERRIDES, answer(&overrides));
    let environments = json!({ "results": [{ "name": "test" }], "page": 0, "size": 100, "total": 1 });
    platform.respond_to("GET", "/environments$", answer(&environments));
    let types = types.map(ResponseTemplate::new).to_vec();
    platform.respond_to("PATCH", "/days$", in_turn(types));
    platform.respond_to("DELETE", "/test$", ResponseTemplate::new(removal));
    let entry = json!([{ "environmentName": "test", "reason": "no permission" }]);
    let set = if confirms_override {
        json!({ "successfulOverrides": entry, "failedOverrides": [] })
    } else {
        json!({ "successfulOverrides": [], "failedOverrides": entry })
    };
    platform.respond_to("POST", OVERRIDES, answer(&set));
    let output = platform.call(&world).run("variables apply -f v.yaml");
    let made = changes(&platform);
    (output, made)
}

const LOST_OVERRIDE: &str =
    "the override in test was 7 and may be removed: test then uses the variable's value";

#[test]
fn refused_type_restores_the_override_that_apply_removed() {
    let (output, made) = apply_refused_type([409, 409], 204, true);
    let output = output.expect(8).saying(&[
        "409",
        "not tried: ~ days in test",
        "1 of 2 changes failed and 1 not tried",
    ]);
    assert!(!output.err.contains(LOST_OVERRIDE), "{}", output.all());
    let calls: Vec<&str> = made.iter().map(|(call, _)| call.as_str()).collect();
    assert_eq!(
        calls,
        [
            "PATCH /days",
            "DELETE /days/environment-overrides/test",
            "PATCH /days",
            "POST /days/environment-overrides",
        ]
    );
    let old_value = json!({ "overrides": [{ "environmentName": "test", "value": 7 }] });
    assert_eq!(made[3].1, old_value);
}

#[test]
fn override_whose_removal_has_no_response_is_restored_or_named() {
    for confirms_override in [true, false] {
        let (output, made) = apply_refused_type([409, 204], 502, confirms_override);
        let output = output.expect(8).saying(&["502"]);
        assert_eq!(output.err.contains(LOST_OVERRIDE), !confirms_override);
        let calls: Vec<&str> = made.iter().map(|(call, _)| call.as_str()).collect();
        assert_eq!(
            calls,
            [
                "PATCH /days",
                "DELETE /days/environment-overrides/test",
                "POST /days/environment-overrides",
            ]
        );
    }
    // The platform certainly did not remove it.
    let (output, made) = apply_refused_type([409, 204], 400, true);
    output.expect(3);
    assert_eq!(made.len(), 2, "{made:?}");
}

#[test]
fn type_changes_if_the_override_is_already_gone() {
    let (output, made) = apply_refused_type([409, 204], 404, true);
    output.expect(0);
    assert_eq!(made.len(), 4, "{made:?}");
}

#[test]
fn override_that_cannot_be_restored_is_reported_with_its_value() {
    let (output, _) = apply_refused_type([409, 409], 204, false);
    output.expect(8).saying(&["409", LOST_OVERRIDE]);
}

#[test]
fn removed_override_that_cannot_be_set_is_reported_with_its_value() {
    let (output, _) = apply_refused_type([409, 204], 204, false);
    output
        .expect(8)
        .saying(&["failed: ~ days in test", "test: no permission", LOST_OVERRIDE]);
    // The platform accepts the type while the override exists, which therefore remains.
    let (output, _) = apply_refused_type([204, 204], 204, false);
    let output = output.expect(8).saying(&["test: no permission"]);
    assert!(!output.err.contains("may be removed"), "{}", output.all());
}

/// Returns the response, which takes longer than any test if `is_slow` is set.
#[cfg(unix)]
fn delay_if(is_slow: bool, response: ResponseTemplate) -> ResponseTemplate {
    if is_slow {
        response.set_delay(Duration::from_secs(60))
    } else {
        response
    }
}

#[cfg(unix)]
#[test]
fn interrupted_change_of_type_names_removed_overrides() {
    // The removal of the override or, after that, the change of the type does not end before the signal.
    for (slow_method, is_removed) in [("DELETE", true), ("PATCH", true), ("GET", false)] {
        let (world, platform) = (World::new(), Platform::new());
        world.write(
            "v.yaml",
            "variables: { days: { type: TEXT, value: five, overrides: { test: seven } } }\n",
        );
        listing(&platform, &[variable("days", "NUMBER", json!(5))]);
        let overrides = json!({ "variable": { "name": "days" }, "overrides": [{ "environmentName": "test", "value": 7 }] });
        platform.respond_to(
            "GET",
            OVERRIDES,
            delay_if(slow_method == "GET", answer(&overrides)),
        );
        let environments = json!({ "results": [{ "name": "test" }], "page": 0, "size": 100, "total": 1 });
        platform.respond_to("GET", "/environments$", answer(&environments));
        let changed = delay_if(slow_method == "PATCH", ResponseTemplate::new(204));
        platform.respond_to(
            "PATCH",
            "/days$",
            in_turn(vec![ResponseTemplate::new(409), changed]),
        );
        platform.respond_to(
            "DELETE",
            "/test$",
            delay_if(slow_method == "DELETE", ResponseTemplate::new(204)),
        );
        let mut command = platform.call(&world).command("variables apply -f v.yaml");
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let count = if slow_method == "PATCH" { 2 } else { 1 };
        platform.wait_for_requests(&mut child, |requests| {
            let is_slow = |request: &&Request| {
                request.method.as_str() == slow_method
                    && (slow_method != "GET" || request.url.path().ends_with("overrides"))
            };
            requests.iter().filter(is_slow).count() == count
        });
        send_signal("INT", &child.id().to_string());
        let output = child.wait_with_output().unwrap();
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{log}");
        assert_eq!(log.contains(LOST_OVERRIDE), is_removed, "{slow_method}: {log}");
        assert_eq!(log.contains("run the command again"), is_removed, "{log}");
    }
}

#[test]
fn refusal_for_another_reason_removes_no_override() {
    let (output, made) = apply_refused_type([403, 403], 204, true);
    output.expect(4);
    let calls: Vec<&str> = made.iter().map(|(call, _)| call.as_str()).collect();
    assert_eq!(calls, ["PATCH /days"]);
}

#[test]
fn platform_that_accepts_the_type_keeps_the_override_until_it_is_set() {
    let (output, made) = apply_refused_type([204, 204], 204, true);
    output.expect(0);
    let calls: Vec<&str> = made.iter().map(|(call, _)| call.as_str()).collect();
    assert_eq!(calls, ["PATCH /days", "POST /days/environment-overrides"]);
}

#[test]
fn overrides_without_a_value_are_refused() {
    let file = "variables:\n  region:\n    type: TEXT\n    behaviour: SHARED\n    value: eu\n    overrides:";
    for flag in ["", "--prune"] {
        let (world, platform) = (World::new(), Platform::new());
        world.write("v.yaml", format!("{file}\n"));
        platform
            .call(&world)
            .run(("variables apply -f v.yaml", flag))
            .expect(2)
            .saying(&[
                "v.yaml:6:5: variables.region.overrides: must be a map from environment to value",
                "use `{}` for no overrides",
            ]);
        assert!(platform.requests().is_empty());
        // Counterpart: an empty map.
        let (world, platform) = (World::new(), Platform::new());
        world.write("v.yaml", format!("{file} {{}}\n"));
        listing(&platform, &[variable("region", "TEXT", json!("eu"))]);
        let overrides = json!({ "variable": { "name": "region", "type": "TEXT" }, "overrides": [] });
        platform.respond_to("GET", OVERRIDES, answer(&overrides));
        platform
            .call(&world)
            .run(("variables apply -f v.yaml", flag))
            .expect(0);
    }
}

#[test]
fn pruned_override_is_removed_first_only_if_it_does_not_fit_the_new_type() {
    let unset = "DELETE /days/environment-overrides/test";
    for (file, expected_calls) in [
        ("type: TEXT, value: five", [unset, "PATCH /days"]),
        ("value: 6", ["PATCH /days", unset]),
    ] {
        let (world, platform) = (World::new(), Platform::new());
        world.write(
            "v.yaml",
            format!("variables: {{ days: {{ {file}, overrides: {{}} }} }}\n"),
        );
        listing(&platform, &[variable("days", "NUMBER", json!(5))]);
        let overrides = json!({ "variable": { "name": "days" }, "overrides": [{ "environmentName": "test", "value": 7 }] });
        platform.respond_to("GET", OVERRIDES, answer(&overrides));
        platform.respond_to("PATCH", "/days$", ResponseTemplate::new(204));
        platform.respond_to("DELETE", "/test$", ResponseTemplate::new(204));
        platform
            .call(&world)
            .run("variables apply -f v.yaml --prune")
            .expect(0);
        let calls: Vec<String> = changes(&platform).into_iter().map(|(call, _)| call).collect();
        assert_eq!(calls, expected_calls, "{file}");
    }
}

#[test]
fn apply_with_name_that_no_path_can_contain_tries_later_changes() {
    let (world, platform) = (World::new(), Platform::new());
    world.write("v.yaml", "variables: {}\n");
    let names = ["..", "days", "region"];
    listing(&platform, &names.map(|name| variable(name, "TEXT", json!("x"))));
    platform.respond_to("DELETE", "/days$", ResponseTemplate::new(204));
    platform.respond_to("DELETE", "/region$", ResponseTemplate::new(204));
    let output = platform
        .call(&world)
        .run("variables apply -f v.yaml --prune")
        .expect(8);
    output.saying(&[
        "the name \"..\" cannot be used in a path",
        "1 of 3 changes failed",
        "hint: ",
    ]);
    let calls: Vec<String> = changes(&platform).into_iter().map(|(call, _)| call).collect();
    assert_eq!(calls, ["DELETE /days", "DELETE /region"]);
}

#[test]
fn update_without_field_sends_nothing() {
    let (world, platform) = (World::new(), Platform::new());
    listing(&platform, &[variable("days", "NUMBER", json!(5))]);
    platform.respond_to("PATCH", "/days$", ResponseTemplate::new(204));
    let call = platform.call(&world);
    let output = call.run("variables update days").expect(2);
    output.saying(&[
        "no new value for a field of the variable `days` was passed",
        "--value",
    ]);
    assert!(platform.requests().is_empty());
    call.run(&["variables", "update", "days", "--description", ""])
        .expect(0);
    assert_eq!(changes(&platform).len(), 1);
}

#[test]
fn apply_stops_where_the_token_is_refused() {
    let (world, platform) = (World::new(), Platform::new());
    write_and_script_variables(&world, &platform);
    platform.respond_to("PATCH", "/region$", ResponseTemplate::new(401));
    let output = platform.call(&world).run("variables apply -f v.yaml").expect(4);
    output.saying(&[
        "not tried: ",
        "skipped because",
        "1 of 3 changes failed and 2 not tried",
        "hint: check the token: it may have expired",
        "; a repeated command skips the changes that were applied",
    ]);
    assert_eq!(changes(&platform).len(), 1);
}

#[test]
fn apply_whose_change_was_perhaps_done_is_exit_8() {
    let page = ResponseTemplate::new(200).set_body_raw("<html>", "text/html");
    let unknown = &[
        "outcome unknown: ~ region",
        "3 of 3 changes failed (the outcome of 1 is unknown)",
    ][..];
    let cases = [
        (ResponseTemplate::new(502), 8, unknown),
        (page, 8, unknown),
        (
            ResponseTemplate::new(400),
            3,
            &["failed: ~ region", "3 of 3 changes failed;"],
        ),
    ];
    for (refused, code, expected_text) in cases {
        let (world, platform) = (World::new(), Platform::new());
        write_and_script_variables(&world, &platform);
        platform.respond_to("PATCH", "/region$", refused);
        platform
            .call(&world)
            .run("variables apply -f v.yaml")
            .expect(code)
            .saying(expected_text);
    }
}

#[test]
fn apply_of_a_bad_file_names_its_line_before_any_request() {
    let (world, platform) = (World::new(), Platform::new());
    world.write("v.yaml", "variables:\n  days: { tipe: NUMBER }\n");
    let call = platform.call(&world);
    call.run("variables apply -f v.yaml")
        .expect(2)
        .saying(&["v.yaml:2:11: variables.days.tipe", "hint: did you mean `type`?"]);
    call.run("variables apply -f none.yaml")
        .expect(2)
        .saying(&["none.yaml: could not read the file"]);
    assert!(platform.requests().is_empty());
}

#[test]
fn list_that_is_read_for_hint_is_requested_once() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("DELETE", "/variables/vat", ResponseTemplate::new(404));
    platform.respond_to("GET", "/variables$", ResponseTemplate::new(503));
    let call = platform.call(&world).variable("SLUICEGATE_RETRIES", "4");
    call.run("variables delete vat").expect(3).saying(&[
        "404",
        "no variable \"vat\"",
        "hint: check the base URL",
    ]);
    let requests = platform.requests();
    let list_requests = requests
        .iter()
        .filter(|request| request.url.path().ends_with("/variables"));
    assert_eq!(list_requests.count(), 1);
}

#[test]
fn apply_refuses_an_unknown_type_or_behaviour_also_in_a_dry_run() {
    let (world, platform) = (World::new(), Platform::new());
    let used = [
        variable("grid", "GRID", json!("x")),
        variable("days", "TEXT", json!("many")),
    ];
    listing(&platform, &used);
    platform.respond_to("POST", LIST, ResponseTemplate::new(201).set_body_json(json!({})));
    for (entry, message, hint) in [
        (
            "{ type: NUMERIC, behaviour: SHARED, value: 1 }",
            "v.yaml:2:10: variables.new.type: \"NUMERIC\" is not one of GRID, NUMBER, TEXT",
            "--allow-unknown",
        ),
        (
            "{ type: number, behaviour: SHARED, value: 1 }",
            "\"number\" is not one of",
            "did you mean `NUMBER`?",
        ),
        (
            "{ type: TEXT, behaviour: SHARE, value: x }",
            "v.yaml:2:22: variables.new.behaviour: \"SHARE\" is not one of COPIED, SHARED",
            "did you mean `SHARED`?",
        ),
    ] {
        world.write("v.yaml", format!("variables:\n  new: {entry}\n"));
        for mode in [&["--dry-run"][..], &[]] {
            let args = ("variables apply -f v.yaml", mode);
            platform
                .call(&world)
                .run(&args)
                .expect(2)
                .saying(&[message, hint]);
        }
    }
    let overrides = json!({ "variable": { "name": "days" }, "overrides": [] });
    platform.respond_to("GET", OVERRIDES, answer(&overrides));
    world.write("v.yaml", "variables:\n  days: { type: NUMBER }\n");
    let dry = "variables apply -f v.yaml --dry-run";
    let output = platform.call(&world).run(dry).expect(2);
    output.saying(&[
        "v.yaml:2:11: variables.days.type: the current value does not fit this type: add a `value`",
    ]);
    assert_eq!(changes(&platform), []);
    // A name that the project uses, and one that the user accepts.
    world.write(
        "v.yaml",
        "variables:\n  new: { type: GRID, behaviour: SHARED, value: x }\n",
    );
    platform.call(&world).run(dry).expect(0);
    world.write(
        "v.yaml",
        "variables:\n  new: { type: NUMERIC, behaviour: SHARED, value: 1 }\n",
    );
    let accepted = "variables apply -f v.yaml --allow-unknown";
    platform.call(&world).run(accepted).expect(0);
    assert_eq!(changes(&platform).len(), 1);
}

#[cfg(unix)]
#[test]
fn delete_of_a_missing_variable_fails_also_after_a_refused_token() {
    let (world, platform) = (World::new(), Platform::new());
    listing(&platform, &[]);
    let answers = vec![ResponseTemplate::new(401), ResponseTemplate::new(404)];
    platform.respond_to("DELETE", "/typo$", in_turn(answers));
    let runs = world.work().join("../token-runs");
    // Each call returns another token.
    let command = format!("printf x >> '{0}'; printf token-; cat '{0}'", runs.display());
    platform
        .call(&world)
        .without("SLUICEGATE_TOKEN")
        .variable("SLUICEGATE_TOKEN_COMMAND", command)
        .run("variables delete typo")
        .expect(3)
        .saying(&["typo"]);
    assert_eq!(changes(&platform).len(), 2);
}
