//! Reports are merged, and a publish relies on a report, only if they are of the same review.

use crate::support::release::{publish_call, stage, versions};
use crate::support::{
    Call, Job, Platform, RULES_FILE, World, change, head, orchestration_text, passed_results,
    requested_pipelines, respond_for_each,
};
use serde_json::{Value, json};
use std::fs;

/// Returns a change with eight pipelines in two directories, and a platform that passes each.
fn eight_pipelines() -> (World, Platform) {
    let content = orchestration_text(&["Start", "Done"]);
    let names: Vec<String> = (0..8)
        .map(|number| format!("{}/p{number}.orch.yaml", ["sales", "stock"][number % 2]))
        .collect();
    let files: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), content.as_str()))
        .collect();
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    (change(&files), platform)
}

/// The name of an edit, the edit, and the reason for the refusal.
type EditedReport<'e> = (&'e str, &'e dyn Fn(&mut Value), &'e str);

fn copy_edited_report(world: &World, from: &str, to: &str, edit: impl FnOnce(&mut Value)) {
    let bytes = fs::read(world.work().join(from)).unwrap();
    let mut report = serde_json::from_slice(&bytes).unwrap();
    edit(&mut report);
    fs::write(world.work().join(to), report.to_string()).unwrap();
}

#[test]
fn report_refuses_shards_of_different_reviews() {
    let (world, platform) = eight_pipelines();
    let shard = |index: u32, more: &str| {
        let args = format!("review --shard {index}/2 --report json=part-{index}.json");
        let ended = platform.call(&world).run((args, more)).expect(0);
        if more.is_empty() {
            ended.saying(&["of 8 pipelines"]);
        }
    };
    let merge = || Call::new(&world.work()).run("report part-1.json part-2.json");
    for (second, label) in [
        ("sales", "the list of paths is none in one report and \"sales\""),
        ("--include sales/**", "the `--include` list"),
        ("--exclude sales/**", "the `--exclude` list"),
        ("--new-only", "the `--new-only` setting"),
        ("--fail-on warn", "the `--fail-on` level"),
        ("--project-checks off", "the `--project-checks` setting is on"),
        ("--team-rules off", "the `--team-rules` setting is on"),
        ("--base HEAD", "the base"),
        ("--policy base", "the policy commit"),
        ("--config-dir .other", "the `--config-dir` setting"),
        (
            "--project-id 00000000-0000-0000-0000-000000000001",
            "the platform",
        ),
    ] {
        shard(1, "");
        shard(2, second);
        merge().expect(2).saying(&["cannot merge these reports", label]);
    }
    // One path with a comma is not the same as two paths, and a file named `off` is not the setting.
    for (first, second, label) in [(
        &["a, b"][..],
        &["a", "b"][..],
        "\"a, b\" in one report and \"a\", \"b\"",
    )] {
        shard(1, "");
        shard(2, "");
        for (index, paths) in [(1, first), (2, second)] {
            let part = format!("part-{index}.json");
            copy_edited_report(&world, &part, &part, |report| {
                report["context"]["paths"] = json!(paths);
            });
        }
        merge().expect(2).saying(&[label]);
    }
    // Shards of the same review are merged, also with the same restriction.
    for same in ["", "sales", "--include sales/** --new-only"] {
        shard(1, same);
        shard(2, same);
        merge().expect(0);
    }
    // The flag names the directory that the other shard finds.
    shard(1, "");
    shard(2, "--config-dir .platform");
    merge().expect(0);
}

#[test]
fn shard_without_pipelines_reports_it_and_reviews_nothing() {
    let content = orchestration_text(&["Start", "Done"]);
    let world = change(&[("only.orch.yaml", &content)]);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let reason = "nothing to review: all selected pipelines are in other shards";
    let mut empty_count = 0;
    for index in 1..=2 {
        let output = platform
            .call(&world)
            .run(format!("review --shard {index}/2"))
            .expect(0);
        empty_count += usize::from(output.all().contains(reason));
    }
    assert_eq!((empty_count, platform.requests().len()), (1, 1));
}

#[test]
fn merged_report_does_not_repeat_the_note_of_a_shard_without_pipelines() {
    let content = orchestration_text(&["Start", "Done"]);
    let world = change(&[("only.orch.yaml", &content)]);
    let note = "nothing to check: all selected pipelines are in other shards";
    let mut notes_of_shards = Vec::new();
    for index in 1..=2 {
        let args = format!("check --shard {index}/2 --report json=part-{index}.json");
        notes_of_shards.push(Call::new(&world.work()).run(args).expect(0).all().contains(note));
    }
    assert_eq!(notes_of_shards.iter().filter(|has_note| **has_note).count(), 1);
    let merged = Call::new(&world.work())
        .run("report part-1.json part-2.json --report json=-")
        .expect(0);
    assert!(!merged.out.contains(note), "{}", merged.all());
    assert_eq!(merged.json()["files"][0]["path"], "only.orch.yaml");
    // A single shard keeps its note, because nothing else says why it has no results.
    let empty_index = notes_of_shards.iter().position(|has_note| *has_note).unwrap() + 1;
    let single = Call::new(&world.work())
        .run(format!("report part-{empty_index}.json"))
        .expect(3);
    assert!(single.out.contains(note), "{}", single.all());
}

#[test]
fn note_without_enabled_rule_is_once_in_merged_report_only_if_true() {
    let (world, _) = eight_pipelines();
    world.write(RULES_FILE, "rules: []\n");
    world.commit("no rules");
    for index in 1..=2 {
        let args = format!("check --shard {index}/2 --report json=part-{index}.json");
        Call::new(&world.work()).run(args).expect(0);
    }
    let merge = || {
        let args = "report part-1.json part-2.json --report json=-";
        Call::new(&world.work()).run(args).expect(0).json()["notes"].to_string()
    };
    let note = "No enabled rule applies to the reviewed files";
    let notes = merge();
    assert!(notes.contains(&format!("{note} (9 pipelines)")), "{notes}");
    assert_eq!(notes.matches(note).count(), 1, "{notes}");
    // In another shard, a rule applies.
    copy_edited_report(&world, "part-2.json", "part-2.json", |report| {
        report["notes"] = json!([]);
    });
    let notes = merge();
    assert!(!notes.contains(note), "{notes}");
}

#[test]
fn notes_of_merged_report_have_the_order_of_a_run_without_shards() {
    let (world, _) = eight_pipelines();
    world.write(RULES_FILE, "rules: []\n");
    world.write("late.orch.yml", orchestration_text(&["Start", "Done"]));
    world.commit("no rules");
    let read_notes = |args: &str| Call::new(&world.work()).run(args).json()["notes"].clone();
    for index in 1..=2 {
        let args = format!("check --shard {index}/2 --report json=part-{index}.json");
        Call::new(&world.work()).run(args).expect(0);
    }
    let notes = read_notes("check --report json=-");
    assert!(
        notes[0].as_str().unwrap().starts_with("No enabled rule applies"),
        "{notes}"
    );
    assert!(notes.as_array().unwrap().len() > 1, "{notes}");
    assert_eq!(
        read_notes("report part-1.json part-2.json --report json=-"),
        notes
    );
    assert_eq!(
        read_notes("report part-2.json part-1.json --report json=-"),
        notes
    );
}

#[test]
fn merged_report_has_each_reason_of_the_shards_once() {
    let (world, _) = eight_pipelines();
    let platform = Platform::new();
    platform.reviews(respond_for_each("ODD", passed_results()));
    let mut expected = Vec::new();
    for index in 1..=2 {
        let report = platform
            .call(&world)
            .run(format!("review --shard {index}/2 --report json=-"))
            .expect(3);
        fs::write(world.work().join(format!("part-{index}.json")), &report.out).unwrap();
        let reasons = report.json()["reasons"].clone();
        assert_ne!(reasons, json!([]));
        expected.extend(reasons.as_array().unwrap().clone());
    }
    expected.dedup();
    let merged = Call::new(&world.work())
        .run("report part-1.json part-2.json --report json=-")
        .expect(3);
    assert_eq!(merged.json()["reasons"], json!(expected));
}

#[test]
fn shard_that_did_not_finish_is_named_with_its_reason() {
    let (world, platform) = eight_pipelines();
    for (args, code) in [
        ("--shard 1/2 --report json=part-1.json", 0),
        ("--shard 2/2 --report json=part-2.json --base nothing", 7),
    ] {
        platform.call(&world).run(("review", args)).expect(code);
    }
    let job = Job::github().pull_request().call(&world);
    let reason = "part-2.json has no results, because the run of shard 2/2 did not finish: ";
    for (call, args) in [
        (Call::new(&world.work()), "report part-1.json part-2.json"),
        (job.clone(), "report part-1.json part-2.json"),
        (job, "report part-2.json"),
    ] {
        call.run(args)
            .expect(2)
            .saying(&[reason, "hint: run this shard again"]);
    }
    // Alone, the report is rendered.
    Call::new(&world.work()).run("report part-2.json").expect(3);
}

#[test]
fn gitlab_matrix_job_reviews_every_pipeline() {
    for (name, count) in [("review: [sales, eu]", 8), ("review: [a 1/4]", 8), ("review", 8)] {
        let (world, platform) = eight_pipelines();
        let output = Job::gitlab()
            .pull_request()
            .extend(&world, platform.call(&world))
            .variable("CI_NODE_INDEX", "1")
            .variable("CI_NODE_TOTAL", "4")
            .variable("CI_JOB_NAME", name)
            .run("review --report json=-")
            .expect(0);
        assert_eq!(
            requested_pipelines(&platform.requests()[0]).len(),
            count,
            "{name}"
        );
        assert!(output.json()["context"]["shard"].is_null(), "{name}");
    }
    let (world, platform) = eight_pipelines();
    let output = platform
        .call(&world)
        .variable("CI_NODE_INDEX", "1")
        .variable("CI_NODE_TOTAL", "4")
        .variable("CI_JOB_NAME", "review 1/4")
        .run("review --report json=-")
        .expect(0);
    assert_eq!(output.json()["context"]["shard"], json!("1/4"));
}

#[test]
fn parallel_jobs_of_other_hosts_are_not_shards() {
    for (index, total) in [
        ("CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL"),
        ("BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT"),
    ] {
        let (world, platform) = eight_pipelines();
        platform
            .call(&world)
            .variable(index, "1")
            .variable(total, "4")
            .run("review")
            .expect(0);
        assert_eq!(requested_pipelines(&platform.requests()[0]).len(), 8, "{index}");
    }
}

#[test]
fn required_review_of_another_platform_or_project_is_refused() {
    let (world, server) = stage();
    publish_call(&world, &server)
        .run("review --all --report json=good.json")
        .expect(0);
    let publish = |report: &str| {
        let args = ["publish", "--version-name", "1", "--require-review", report];
        publish_call(&world, &server).run(&args)
    };
    let other_project = "00000000-0000-0000-0000-000000000001";
    let edits: [EditedReport<'_>; 7] = [
        (
            "url",
            &|report| report["context"]["platform"]["url"] = json!("https://other.example.com"),
            "https://other.example.com",
        ),
        (
            "project",
            &|report| report["context"]["platform"]["project"] = json!(other_project),
            other_project,
        ),
        (
            "none",
            &|report| {
                report["context"].as_object_mut().unwrap().remove("platform");
            },
            "does not contain the platform",
        ),
        (
            "findings",
            &|report| {
                let result = &mut report["files"][0]["results"][0];
                result["findings"] = json!([{ "message": "the name is wrong", "state": null }]);
            },
            "has the status PASSED, but it has findings",
        ),
        (
            "error",
            &|report| report["files"][0]["results"][0]["errorType"] = json!("designer/x"),
            "has the status PASSED, but it has findings or an error type",
        ),
        (
            "never",
            &|report| report["context"]["failOn"] = json!("never"),
            "--fail-on never",
        ),
        (
            "commit",
            &|report| report["context"]["head"] = json!(null),
            "covers no commit",
        ),
    ];
    for (name, change, reason) in edits {
        copy_edited_report(&world, "good.json", "edited.json", change);
        let output = publish("edited.json");
        assert_eq!(output.code, 2, "{name}: {}", output.all());
        output.saying(&[reason]);
    }
    assert_eq!(versions(&world, &server), []);
    // The same platform under another spelling of its URL.
    let args = ["publish", "--version-name", "1", "--require-review", "good.json"];
    publish_call(&world, &server)
        .variable("SLUICEGATE_BASE_URL", format!("{}/v1/", server.url))
        .run(&args)
        .expect(0);
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
}

#[test]
fn any_engine_lifts_only_the_engine() {
    let (world, server) = stage();
    let publish = |report: &str| {
        let args = ["publish", "--version-name", "1", "--require-review", report];
        let engine = "--require-review-engine any";
        publish_call(&world, &server).run((&args[..], engine))
    };
    publish_call(&world, &server)
        .run("review --all --report json=good.json")
        .expect(0);
    copy_edited_report(&world, "good.json", "other.json", |report| {
        report["context"]["platform"]["url"] = json!("https://other.example.com");
    });
    publish("other.json")
        .expect(2)
        .saying(&["https://other.example.com"]);
    let check = "check --all --head HEAD --report json=check.json";
    publish_call(&world, &server).run(check).expect(0);
    publish("check.json").expect(0);
}

#[test]
fn reports_of_one_pipeline_contain_no_credentials_of_the_platform() {
    let (world, platform) = eight_pipelines();
    let output = platform.call(&world).run("review --report json=-").expect(0);
    let context = &output.json()["context"];
    assert_eq!(context["platform"]["url"], json!(platform.server.uri()));
    assert_eq!(context["head"], json!(head(&world)));
}

#[test]
fn report_with_duplicate_key_is_refused() {
    let (world, server) = stage();
    let call = publish_call(&world, &server);
    call.run("review --all --report json=good.json").expect(0);
    let report = fs::read_to_string(world.work().join("good.json")).unwrap();
    let map = "\"excludedReasons\": {";
    assert!(report.contains(map), "{report}");
    let edited = report.replacen(map, "\"excludedReasons\": {\"a\": \"1\", \"a\": \"2\", ", 1);
    fs::write(world.work().join("bad.json"), edited.replace(", }", "}")).unwrap();
    call.run("report bad.json")
        .expect(2)
        .saying(&["could not read the report bad.json", "duplicate key `a`"]);
    call.run("publish --version-name 1 --require-review bad.json")
        .expect(2)
        .saying(&["duplicate key `a`"]);
    call.run("report good.json").expect(0);
}

#[test]
fn report_with_array_in_place_of_object_is_refused() {
    let (world, server) = stage();
    let call = publish_call(&world, &server);
    let outputs = "--report json=good.json --attestation good.intoto.json";
    call.run(&format!("review --all {outputs}")).expect(0);
    for (key, place) in [("counts", ""), ("findings", ""), ("files", "/0"), ("context", "")] {
        let mut report: Value =
            serde_json::from_slice(&fs::read(world.work().join("good.json")).unwrap()).unwrap();
        let object = report.pointer_mut(&format!("/{key}{place}")).unwrap();
        *object = object.as_object().unwrap().values().cloned().collect();
        world.write("bad.json", &report.to_string());
        call.run("publish --version-name 1 --require-review bad.json")
            .expect(2)
            .saying(&["could not read the report", "invalid type: sequence"]);
    }
    call.run("report good.json").expect(0);
}
