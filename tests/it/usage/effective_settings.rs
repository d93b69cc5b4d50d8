//! `sluicegate settings`: each setting with its value and its origin.

use crate::support::{Call, Job, TOKEN, World, project, scratch};
use serde_json::Value;

/// Returns the value and the source of a setting.
fn find_setting(document: &Value, name: &str) -> (Value, String, String) {
    let settings = document["settings"].as_array().unwrap();
    let setting = settings.iter().find(|setting| setting["name"] == name).unwrap();
    let text = |key: &str| setting[key].as_str().unwrap().to_owned();
    (setting["value"].clone(), text("origin"), text("source"))
}

fn configured_project() -> World {
    let world = project();
    world.write(
        "sluicegate.yaml",
        "# gate\ntimeout: 20\nreview:\n  fail-on: warn\n  exclude: [a/**, b/**]\n",
    );
    world
}

#[test]
fn each_setting_is_shown_with_its_origin() {
    let world = configured_project();
    let call = Call::new(&world.work())
        .variable("SLUICEGATE_RETRIES", "7")
        .variable("SLUICEGATE_TOKEN", TOKEN);
    let document = call
        .run("settings --timeout 5 --team-rules off -o json")
        .expect(0)
        .json();
    assert_eq!(document["schema"], "sluicegate.settings/v1");
    let found = |name: &str| find_setting(&document, name);
    assert_eq!(found("timeout"), ("5".into(), "flag".into(), "--timeout".into()));
    assert_eq!(
        found("review.team-rules"),
        ("off".into(), "flag".into(), "--team-rules".into())
    );
    assert_eq!(
        found("retries"),
        ("7".into(), "variable".into(), "SLUICEGATE_RETRIES".into())
    );
    let (value, origin, source) = found("review.fail-on");
    assert_eq!((value, origin), ("warn".into(), "file".into()));
    assert!(
        source.contains("sluicegate.yaml") && source.ends_with("line 4"),
        "{source}"
    );
    assert_eq!(found("review.exclude").0, "a/**, b/**");
    assert_eq!(
        found("review.new-only"),
        ("false".into(), "default".into(), "default".into())
    );
    let (value, origin, source) = found("token");
    assert_eq!((value, origin), (Value::Null, "variable".into()));
    assert_eq!(source, "SLUICEGATE_TOKEN");
    let text = call.run("settings token fail-on").expect(0).out;
    assert!(text.contains("(hidden)") && text.contains("line 4"), "{text}");
    assert!(!text.contains("retries"), "{text}");
}

#[test]
fn file_of_policy_is_named_with_its_commit() {
    let world = configured_project();
    let target = world.commit("gate");
    world.push();
    world.git("checkout -q -b change");
    world.write("sluicegate.yaml", "review: { fail-on: never }\n");
    world.commit("relax");
    let call = Job::github().pull_request().call(&world);
    let document = call.run("settings -o json").expect(0).json();
    let (value, _, source) = find_setting(&document, "review.fail-on");
    assert_eq!(value, "warn");
    assert!(source.contains(&target[..7]), "{source}");
    assert!(
        document["policy"].as_str().unwrap().contains(&target[..7]),
        "{document}"
    );
}

#[test]
fn values_that_do_not_apply_are_not_shown() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("sluicegate.yaml", "timeout: 30\ntmeout: 1\n");
    world.commit("typo");
    world.push();
    let timeout = |world: &World| {
        let call = Job::github().pull_request().call(world);
        let document = call.run("settings -o json").expect(0).json();
        find_setting(&document, "timeout")
    };
    assert_eq!(timeout(&world).0, "60");
    // Counterpart: such a file of a change may set this key.
    world.write("sluicegate.yaml", "timeout: 30\n");
    world.commit("correct");
    world.push();
    assert_eq!(timeout(&world).0, "30");
    // The target's file cannot be used because of a value, and has a path that must not be written.
    world.git("checkout -q main");
    world.write("sluicegate.yaml", "timeout: 20\nconfig-dir: a/b\n");
    world.commit("wrong directory");
    world.push();
    world.git("checkout -q change");
    assert_eq!(timeout(&world).0, "30");
    world.git("checkout -q main");
    world.write("sluicegate.yaml", "publish: { receipt: a.orch.yaml }\n");
    world.commit("tracked output");
    world.push();
    world.git("checkout -q change");
    let call = Job::github().pull_request().call(&world);
    let document = call.run("settings -o json").expect(0).json();
    assert_eq!(find_setting(&document, "publish.receipt").1, "default");
}

#[test]
fn file_whose_lines_cannot_be_shown_is_an_error() {
    let world = project();
    world.write("sluicegate.yaml", "review: { fail-on:\nwarn }\n");
    let call = Call::new(&world.work());
    let report = call.run("check -o json").expect(0).json();
    assert_eq!(report["context"]["failOn"], "warn");
    call.run("settings")
        .expect(2)
        .saying(&["cannot show the settings of "]);
    for text in ["", "# nothing\n"] {
        world.write("sluicegate.yaml", text);
        call.run("settings").expect(0);
    }
}

#[test]
fn unknown_name_is_an_error_with_the_nearest_name() {
    let world = configured_project();
    let call = Call::new(&world.work());
    for (args, hint) in [
        ("settings bogus-name", "run `sluicegate settings`"),
        ("settings fail-no", "did you mean `fail-on`?"),
        ("settings timeout fail-no", "did you mean `fail-on`?"),
        ("settings SLUICEGATE_FAIL_ON", "did you mean `review.fail-on`?"),
        ("settings=--fail-on", "did you mean `review.fail-on`?"),
    ] {
        let words: Vec<&str> = args.split([' ', '=']).collect();
        let mut line = vec![words[0], "--"];
        line.extend(&words[1..]);
        call.run(&line)
            .expect(2)
            .saying(&["no setting has a name that contains", hint]);
    }
    let table = call.run("settings fail-on review.exc").expect(0).out;
    assert!(
        table.contains("review.fail-on") && table.contains("review.exclude"),
        "{table}"
    );
}

#[test]
fn report_that_must_not_be_written_is_not_shown() {
    let world = project();
    world.write(
        "sluicegate.yaml",
        "review: { report: [json=a.orch.yaml, junit=r.xml] }\n",
    );
    world.write("a.orch.yaml", "type: orchestration\n");
    world.commit("tracked output");
    world.push();
    world.git("checkout -q -b change");
    let call = Job::github().pull_request().call(&world);
    let document = call.run("settings -o json").expect(0).json();
    assert_eq!(find_setting(&document, "review.report").0, "junit=r.xml");
    world.git("checkout -q main");
    world.write(
        "sluicegate.yaml",
        "review: { report: [json=r.json, junit=r.xml] }\n",
    );
    world.commit("other output");
    world.push();
    world.git("checkout -q change");
    let document = call.run("settings -o json").expect(0).json();
    assert_eq!(
        find_setting(&document, "review.report").0,
        "json=r.json, junit=r.xml"
    );
}

#[test]
fn blank_variable_leaves_reports_of_file() {
    let world = project();
    world.write("sluicegate.yaml", "review: { report: [json=r.json] }\n");
    Call::new(&world.work())
        .variable("SLUICEGATE_REPORT", " \n")
        .run("check --all")
        .expect(0);
    assert!(world.work().join("r.json").is_file());
}

#[test]
fn settings_work_without_repository_and_reject_invalid_values() {
    let folder = scratch::create_scratch_directory();
    let call = Call::new(folder.path());
    let document = call.run("settings -o json").expect(0).json();
    assert_eq!(find_setting(&document, "timeout").0, "60");
    call.clone()
        .variable("SLUICEGATE_PROJECT_ID", "s3cret-pasted")
        .run("settings")
        .expect(2);
    let output = call
        .variable("SLUICEGATE_BASE_URL", "https://user:pass@platform.example.com")
        .run("settings");
    assert!(!output.all().contains("user:pass"), "{}", output.all());
}

#[test]
fn setting_that_runs_refuse_is_shown_with_a_warning() {
    let world = configured_project();
    let call = |value: &str| {
        Call::new(&world.work())
            .variable("SLUICEGATE_FAIL_ON", value)
            .run("settings fail-on")
            .expect(0)
    };
    let refused = call("wran");
    refused.saying(&[
        "wran",
        "warning: runs refuse these settings: ",
        "SLUICEGATE_FAIL_ON",
    ]);
    let accepted = call("warn");
    assert!(!accepted.all().contains("warning:"), "{}", accepted.all());
}

#[test]
fn value_of_secret_setting_is_hidden_and_path_is_shown() {
    let world = configured_project();
    let call = Call::new(&world.work())
        .variable("SLUICEGATE_CLIENT_ID", "gate")
        .variable("SLUICEGATE_CLIENT_SECRET", TOKEN)
        .variable("SLUICEGATE_CLIENT_CERT", "own.pem")
        .variable("SLUICEGATE_CA_CERT", "roots.pem");
    let document = call
        .run("settings --token-command print-token --client-key key.pem -o json")
        .expect(0)
        .json();
    for name in ["client-secret", "client-cert", "client-key", "token-command"] {
        let (value, origin, _) = find_setting(&document, name);
        assert_eq!(value, Value::Null, "{name}");
        assert!(
            ["flag", "variable"].contains(&origin.as_str()),
            "{name}: {origin}"
        );
    }
    assert_eq!(find_setting(&document, "client-id").0, "gate");
    assert_eq!(find_setting(&document, "ca-cert").0, "roots.pem");
}
