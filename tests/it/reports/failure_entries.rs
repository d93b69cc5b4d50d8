//! Machine-readable reports explain every failure at a file that exists, and list no note that is not a problem.

use crate::support::{
    Arguments, Call, HOSTS, Host, Job, Platform, World, change, head, orchestration_text, passed_results,
    project, respond_for_each,
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
