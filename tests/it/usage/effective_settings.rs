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
