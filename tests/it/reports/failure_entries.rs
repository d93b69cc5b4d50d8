//! Machine-readable reports explain every failure at a file that exists, and list no note that is not a problem.

use crate::support::{
    Arguments, Call, HOSTS, Host, Job, Platform, RULES, RULES_FILE, World, change, head, orchestration_text,
    passed_results, project, respond_for_each,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use wiremock::ResponseTemplate;

fn json_file(world: &World, name: &str) -> Value {
    serde_json::from_slice(&fs::read(world.work().join(name)).unwrap()).unwrap()
}

fn code_quality(world: &World) -> Vec<Value> {
    let entries = json_file(world, "quality.json").as_array().unwrap().clone();
    for entry in &entries {
        let path = entry["location"]["path"].as_str().unwrap();
        assert!(
            world.work().join(path).is_file(),
            "{path} does not exist: {entry}"
        );
    }
    entries
}

#[test]
fn failure_of_the_platform_alone_is_in_every_format() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Load", "Done"]))]);
    let platform = Platform::new();
    platform.reviews(respond_for_each("FAILED", passed_results()));
    let reports = "--report gitlab=quality.json --report sarif=r.sarif --report junit=junit.xml";
    let output = Job::github()
        .pull_request()
        .extend(&world, platform.call(&world))
        .run(("review", reports, "--report json=r.json"))
        .expect(1);
    assert!(output.out.contains("::error title=review::"), "{}", output.out);
    let read = || {
        let entries = code_quality(&world);
        assert_eq!(entries.len(), 1, "{entries:?}");
        assert_eq!(entries[0]["check_name"], json!("verdict"));
        assert_eq!(entries[0]["location"]["path"], json!("b.orch.yaml"));
        let sarif = json_file(&world, "r.sarif");
        let results = sarif["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), 1, "{results:?}");
        let place = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(place, &json!("b.orch.yaml"));
        assert_eq!(
            (&results[0]["ruleId"], &results[0]["level"]),
            (&json!("review-verdict"), &json!("error"))
        );
        let junit = fs::read_to_string(world.work().join("junit.xml")).unwrap();
        assert!(junit.contains("<error "), "{junit}");
    };
    read();
    // The same from the saved report.
    Call::new(&world.work()).run(("report r.json", reports)).expect(1);
    read();
    // A passed review has no such entry.
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    Job::github()
        .pull_request()
        .extend(&world, platform.call(&world))
        .run(("review", reports, "--report json=r.json"))
        .expect(0);
    assert_eq!(code_quality(&world), [] as [Value; 0]);
    assert_eq!(json_file(&world, "r.sarif")["runs"][0]["results"], json!([]));
}

#[test]
fn failure_of_the_platform_alone_is_an_annotation_on_bitbucket() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Load", "Done"]))]);
    let (platform, proxy) = (Platform::new(), Platform::new());
    platform.reviews(respond_for_each("FAILED", passed_results()));
    for method in ["DELETE", "PUT", "POST"] {
        proxy.respond_to(method, "", ResponseTemplate::new(200).set_body_json(json!({})));
    }
    platform
        .call(&world)
        .variable("BITBUCKET_BUILD_NUMBER", "9")
        .variable("BITBUCKET_COMMIT", head(&world))
        .variable("BITBUCKET_BRANCH", "change")
        .variable("BITBUCKET_REPO_FULL_NAME", "w/r")
        .variable("SLUICEGATE_BITBUCKET_PROXY", proxy.server.uri())
        .run("review")
        .expect(1);
    let requests = proxy.requests();
    let annotations: Value = serde_json::from_slice(&requests[2].body).unwrap();
    assert_eq!(annotations.as_array().unwrap().len(), 1, "{annotations}");
    assert_eq!(annotations[0]["path"], json!("b.orch.yaml"));
    assert_eq!(annotations[0]["severity"], json!("HIGH"));
}

#[test]
fn code_quality_of_an_empty_selection_is_empty() {
    let world = change(&[("note.txt", "no pipeline")]);
    let args = "check --new-only --report gitlab=quality.json";
    for (name, host) in HOSTS {
        host(&world, Call::new(&world.work())).run(args).expect(0);
        assert_eq!(code_quality(&world), [] as [Value; 0], "{name}");
    }
}

/// Returns the entries for notes, without their descriptions.
fn list_note_entries(world: &World, host: Host, args: impl Arguments) -> Vec<(String, String)> {
    host(world, Call::new(&world.work()))
        .run(("check --report gitlab=quality.json", args))
        .expect(0);
    let entries = code_quality(world);
    let notes = entries.iter().filter(|entry| entry["check_name"] == "note");
    notes
        .map(|entry| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            (text(&entry["location"]["path"]), text(&entry["fingerprint"]))
        })
        .collect()
}

#[test]
fn code_quality_lists_only_notes_that_limit_the_verdict() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("sluicegate.yaml", "exclude: ['**']\n");
    world.write("b.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("change");
    world.push();
    let first = list_note_entries(&world, HOSTS[0].1, "--all --new-only");
    let paths: Vec<&str> = first.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        paths.len(),
        2,
        "a file that is not in force, and no base: {first:?}"
    );
    assert!(paths.contains(&"sluicegate.yaml"), "{first:?}");
    // The fingerprints of the next commit, with more pipelines, are the same.
    world.write("c.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("more");
    world.push();
    let second = list_note_entries(&world, HOSTS[0].1, "--all --new-only");
    let prints = |notes: &[(String, String)]| -> BTreeSet<String> {
        notes.iter().map(|(_, print)| print.clone()).collect()
    };
    assert_eq!(prints(&first), prints(&second));
}

#[test]
fn code_quality_shows_a_stricter_tip_at_a_file_that_exists() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("change");
    world.push();
    // The branch has no sluicegate.yaml, which the tip has by now.
    world.git("checkout -q main");
    world.write("sluicegate.yaml", "review:\n  fail-on: warn\n");
    world.commit("stricter");
    world.push();
    world.git("checkout -q change");
    let lines = list_note_entries(&world, HOSTS[0].1, "--policy head");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0].0, "b.orch.yaml");
}

#[test]
fn missing_shard_is_an_entry_next_to_errors_in_every_format() {
    let bad = orchestration_text(&["Start", "load it", "Done"]);
    let names: Vec<String> = (0..8).map(|number| format!("p{number}.orch.yaml")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), bad.as_str())).collect();
    let world = change(&files);
    let call = Call::new(&world.work());
    for index in [1, 2] {
        call.run(format!(
            "check --all --fail-on never --shard {index}/2 --report json=part-{index}.json"
        ))
        .expect(0);
    }
    let reports = "--report checkstyle=r.checkstyle --report rdjson=r.rdjson --report github=r.github --report \
                   gitlab=quality.json --report junit=r.junit --report sarif=r.sarif";
    let count_entries = || {
        ["r.checkstyle", "r.rdjson", "r.github", "quality.json", "r.junit"].map(|name| {
            let text = fs::read_to_string(world.work().join(name)).unwrap();
            (
                text.contains("load it"),
                text.contains("report of a shard is missing"),
            )
        })
    };
    call.run(("report part-1.json", reports)).expect(3);
    assert_eq!(count_entries(), [(true, true); 5]);
    // Only the note that leaves the run undecided is an error.
    let sarif = json_file(&world, "r.sarif");
    let notifications = sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"].clone();
    for notification in notifications.as_array().unwrap() {
        let text = notification["message"]["text"].as_str().unwrap();
        let is_reason = text.contains("report of a shard is missing");
        assert_eq!(notification["level"] == "error", is_reason, "{notifications}");
    }
    // With all shards, the run passes.
    call.run(("report part-1.json part-2.json", reports)).expect(0);
    assert_eq!(count_entries(), [(true, false); 5]);
}

#[test]
fn report_from_saved_report_shows_place_of_error_in_rules_file() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Load", "Done"]))]);
    world.write(
        RULES_FILE,
        format!("{RULES}  - {{ id: no-such-rule, enabled: true, enforcementLevel: error }}\n"),
    );
    world.commit("rules");
    let call = Call::new(&world.work());
    let first = call
        .run("check --all --head HEAD --report json=r.json --report markdown=first.md")
        .out;
    let second = call.run("report r.json --report markdown=second.md").out;
    assert!(first.contains(&format!("  --> {RULES_FILE}:")), "{first}");
    assert!(second.contains(&format!("  --> {RULES_FILE}:")), "{second}");
    let read = |name: &str| fs::read_to_string(world.work().join(name)).unwrap();
    assert_eq!(read("first.md"), read("second.md"));
}
