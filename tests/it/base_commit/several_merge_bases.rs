//! Several merge-bases: a file is changed if it differs from any of them, and a finding is known only if all of them
//! have it.

use crate::support::{
    Call, HOSTS, Job, Platform, RULES, RULES_FILE, World, orchestration_text, project, respond_for_each,
};
use serde_json::{Value, json};

const GOOD: [&str; 3] = ["Start", "Load", "Done"];
const BAD: [&str; 3] = ["Start", "bad name", "Done"];

/// Creates `main` with M0, M1 (the first two states of `path`) and M2, which merges a topic that branched off at M0;
/// and `change`, which merges the topic and M1 and has the last state. So the change and `main` have two merge-bases:
/// M1 and the topic.
pub fn world_with_crossed_merges(path: &str, states: [&str; 2], last: &str) -> World {
    let world = project();
    world.write(path, states[0]);
    world.commit("M0");
    world.git("checkout -q -b topic");
    world.write("topic.txt", "topic");
    world.commit("B1");
    world.git("checkout -q main");
    world.write(path, states[1]);
    world.commit("M1");
    world.git("checkout -q -b change");
    world.git("merge -q --no-ff --no-commit topic");
    world.write(path, last);
    world.write("b.orch.yaml", orchestration_text(&GOOD));
    world.commit("P");
    world.push();
    world.git("checkout -q main");
    world.git("merge -q --no-ff -m M2 topic");
    world.push();
    world.git("checkout -q change");
    let bases = world.git("merge-base --all origin/main HEAD");
    assert_eq!(bases.lines().count(), 2);
    world
}

fn crossed_pipeline(last: &[&str]) -> World {
    world_with_crossed_merges(
        "x.orch.yaml",
        [&orchestration_text(&BAD), &orchestration_text(&GOOD)],
        &orchestration_text(last),
    )
}

/// Returns a platform that evaluates the component names, as `check` does.
fn platform_failing_paths(paths: &'static [&'static str]) -> Platform {
    let platform = Platform::new();
    platform.reviews(move |request: &wiremock::Request| {
        let result = |path: &String| {
            let status = if paths.contains(&path.as_str()) { "FAILED" } else { "PASSED" };
            let rule = json!({ "ruleName": "component-naming-convention", "status": status,
                "violations": if status == "FAILED" { json!(["component \"bad name\" is wrong"]) } else { json!([]) } });
            (path.clone(), json!([rule]))
        };
        let requested_paths = crate::support::requested_pipelines(request);
        let results: serde_json::Map<String, Value> = requested_paths.iter().map(result).collect();
        let failed = requested_paths.iter().any(|path| paths.contains(&path.as_str()));
        let status = if failed { "FAILED" } else { "PASSED" };
        crate::support::answer(&json!({ "reviewStatus": status, "results": results, "excludedFiles": [] }))
    });
    platform
}

#[test]
fn pipeline_that_one_merge_base_has_is_judged_on_every_host() {
    let platform = platform_failing_paths(&["x.orch.yaml"]);
    let (bad, good) = (crossed_pipeline(&BAD), crossed_pipeline(&GOOD));
    let passing = platform_failing_paths(&[]);
    for (name, host) in HOSTS {
        for command in ["review", "ci"] {
            let output = host(&bad, platform.call(&bad)).run(&[command]);
            assert_eq!(output.code, 1, "{name} {command}: {}", output.all());
            let twin = host(&good, passing.call(&good)).run(&[command]);
            assert_eq!(twin.code, 0, "{name} {command}: {}", twin.all());
        }
        for flags in [&["check"][..], &["check", "--new-only"]] {
            let output = host(&bad, Call::new(&bad.work())).run(flags);
            assert_eq!(output.code, 1, "{name} {flags:?}: {}", output.all());
            let twin = host(&good, Call::new(&good.work())).run(flags);
            assert_eq!(twin.code, 0, "{name} {flags:?}: {}", twin.all());
        }
    }
}

#[test]
fn finding_is_known_only_if_every_merge_base_has_it() {
    let platform = Platform::new();
    let finding = json!([{ "ruleName": "component-naming-convention", "status": "FAILED",
        "violations": ["component \"bad name\" is wrong"] }]);
    let bad = crossed_pipeline(&BAD);
    let fixed = bad.git("rev-parse main~1");
    let document = json!([{ "ruleName": "component-naming-convention", "status": "PASSED" }]);
    platform.reviews(move |request: &wiremock::Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let results = if body["commitId"] == fixed {
            &document
        } else {
            &finding
        };
        let status = if body["commitId"] == fixed {
            "PASSED"
        } else {
            "FAILED"
        };
        let paths = crate::support::requested_pipelines(request);
        let only_bad = |path: String| {
            let value = if path == "x.orch.yaml" { results } else { &document };
            (path, value.clone())
        };
        let results: serde_json::Map<String, Value> = paths.into_iter().map(only_bad).collect();
        crate::support::answer(&json!({ "reviewStatus": status, "results": results, "excludedFiles": [] }))
    });
    let call = || Job::github().pull_request().extend(&bad, platform.call(&bad));
    let output = call().run("review --new-only --report json=-").expect(1);
    assert_eq!(output.json()["findings"]["new"], 1);
    assert_eq!(output.json()["findings"]["known"], 0);
    assert_eq!(
        output.json()["context"]["otherBases"].as_array().unwrap().len(),
        1
    );
    // Counterpart: both merge-bases have the finding.
    let world = world_with_crossed_merges(
        "x.orch.yaml",
        [
            &orchestration_text(&BAD),
            &format!("# more\n{}", orchestration_text(&BAD)),
        ],
        &orchestration_text(&BAD),
    );
    let platform = platform_failing_paths(&["x.orch.yaml"]);
    for (name, host) in HOSTS {
        let output = host(&world, platform.call(&world)).run("review --new-only");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        let output = host(&world, Call::new(&world.work())).run("check --new-only --report json=-");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        assert_eq!(output.json()["findings"]["known"], 1, "{name}");
    }
}

#[test]
fn gate_file_that_one_merge_base_has_is_a_gate_change() {
    let relaxed = RULES.replace("enforcementLevel: error", "enforcementLevel: warn");
    let files = [
        (RULES_FILE, relaxed.as_str(), RULES, "error → warn (relaxed)"),
        (
            "sluicegate.yaml",
            "exclude: ['**']\n",
            "retries: 1\n",
            "exclude: + ** (relaxed)",
        ),
        (
            "sluicegate-waivers.yaml",
            "- { rule: unused-components, path: '**', reason: r }\n",
            "[]\n",
            "waiver added",
        ),
    ];
    for (path, lax, strict, words) in files {
        let world = world_with_crossed_merges(path, [lax, strict], lax);
        let twin = world_with_crossed_merges(path, [lax, strict], strict);
        for (name, host) in HOSTS {
            let call = || host(&world, Call::new(&world.work()));
            let output = call().run("check --gate-changes fail --report json=-");
            assert_eq!(output.code, 1, "{name} {path}: {}", output.all());
            assert_eq!(output.json()["gateChanges"], json!([path]), "{name}");
            let message = output.json()["gateChangesInWords"].to_string();
            assert!(message.contains(words), "{name}: {message}");
            call().run("check").expect(0);
        }
        // A rule that `main` tightened meanwhile is a change since the older merge-base, and relaxes nothing.
        Job::github().pull_request().call(&twin).run("check").expect(0);
    }
}

#[test]
fn break_for_consumers_since_one_merge_base_is_a_break() {
    let shared = |id: &str| {
        format!(
            "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n  - {{ pipeline: a.orch.yaml, id: {id}, enabled: true, parameters: {{}} }}\n"
        )
    };
    let path = ".platform/shared-pipelines.yaml";
    let world = world_with_crossed_merges(path, [&shared("old"), &shared("new")], &shared("old"));
    let call = || Job::github().pull_request().call(&world);
    let output = call().run("check --compat fail --report json=-").expect(1);
    assert_eq!(output.json()["compat"]["class"], "breaking");
    let twin = world_with_crossed_merges(path, [&shared("old"), &shared("old")], &shared("old"));
    Job::github()
        .pull_request()
        .call(&twin)
        .run("check --compat fail")
        .expect(0);
}

#[test]
fn breaks_for_consumers_since_each_merge_base_are_reported_once() {
    let shared = |ids: &[&str]| {
        let entries = ids.iter().map(|id| {
            format!("  - {{ pipeline: a.orch.yaml, id: {id}, enabled: true, parameters: {{}} }}\n")
        });
        format!(
            "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n{}",
            entries.collect::<String>()
        )
    };
    let path = ".platform/shared-pipelines.yaml";
    let states = [
        shared(&["kept", "both", "first"]),
        shared(&["kept", "both", "second"]),
    ];
    let world = world_with_crossed_merges(path, [&states[0], &states[1]], &shared(&["kept"]));
    let ended = Job::github()
        .pull_request()
        .call(&world)
        .run("check --compat fail --report json=-")
        .expect(1);
    let report = ended.json();
    let changes = report["compat"]["changes"].as_array().unwrap();
    let mut ids: Vec<&str> = changes
        .iter()
        .map(|change| change["id"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, ["both", "first", "second"]);
}

#[test]
fn repair_of_the_file_that_one_merge_base_has_broken_passes() {
    let shared = |ids: &[&str]| {
        let entries = ids.iter().map(|id| {
            format!("  - {{ pipeline: a.orch.yaml, id: {id}, enabled: true, parameters: {{}} }}\n")
        });
        format!(
            "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n{}",
            entries.collect::<String>()
        )
    };
    let path = ".platform/shared-pipelines.yaml";
    let (old, new) = (shared(&["kept"]), shared(&["kept", "more"]));
    for states in [["{ broken", old.as_str()], [old.as_str(), "{ broken"]] {
        let world = world_with_crossed_merges(path, states, &new);
        let output = Job::github()
            .pull_request()
            .call(&world)
            .run("check --compat fail")
            .expect(0);
        output.assert_logged(&["could not determine the changes for consumers"]);
        // Counterpart: the change itself breaks the file.
        let world = world_with_crossed_merges(path, states, "{ broken, too");
        let output = Job::github()
            .pull_request()
            .call(&world)
            .run("check --compat fail");
        assert_ne!(output.code, 0, "{}", output.all());
    }
}

#[test]
fn three_merge_bases_and_a_renamed_pipeline() {
    let world = project();
    world.write("x.orch.yaml", orchestration_text(&BAD));
    let start = world.commit("M0");
    let sides: Vec<String> = ["one", "two"]
        .iter()
        .map(|name| {
            world.git(&["checkout", "-q", "-b", name, &start]);
            world.write(&format!("{name}.txt"), *name);
            world.commit(name)
        })
        .collect();
    world.git("checkout -q main");
    world.write("x.orch.yaml", orchestration_text(&GOOD));
    world.git("add -A");
    world.git("mv x.orch.yaml moved.orch.yaml");
    world.commit("fixed and moved");
    world.git("checkout -q -b change");
    world.git(&["merge", "-q", "--no-commit", &sides[0], &sides[1]]);
    world.write("moved.orch.yaml", orchestration_text(&BAD));
    world.commit("P");
    world.push();
    world.git("checkout -q main");
    world.git(&["merge", "-q", "-m", "M2", &sides[0], &sides[1]]);
    world.push();
    world.git("checkout -q change");
    let context = Job::github()
        .pull_request()
        .call(&world)
        .run("context --json")
        .expect(0);
    let report = context.json();
    assert_eq!(report["otherBases"].as_array().unwrap().len(), 2, "{report}");
    assert_eq!(report["selected"], json!(["moved.orch.yaml"]), "{report}");
    assert!(
        report["baseSource"]
            .as_str()
            .unwrap()
            .contains("the 3 merge-bases"),
        "{report}"
    );
    for flags in ["check", "check --new-only"] {
        Job::github().pull_request().call(&world).run(flags).expect(1);
    }
    let diff = Job::github()
        .pull_request()
        .call(&world)
        .run("diff --format json")
        .expect(0);
    let changed = &diff.json()["pipelines"][0]["components"];
    assert!(changed.to_string().contains("bad name"), "{changed}");
}

#[test]
fn push_to_branch_and_named_base_have_several_merge_bases_too() {
    let world = crossed_pipeline(&BAD);
    let payload = json!({ "repository": crate::support::repository(), "ref": "refs/heads/change",
        "before": "0".repeat(40), "after": crate::support::head(&world) });
    let push = Job::github()
        .event("push", "refs/heads/change", &payload)
        .extend(&world, Call::new(&world.work()));
    push.run("check").expect(1);
    let local = Call::new(&world.work());
    local.run("check --base origin/main").expect(1);
    let platform = Platform::new();
    platform.reviews(respond_for_each(
        "PASSED",
        json!([{ "ruleName": "maximum-components", "status": "PASSED" }]),
    ));
    platform.call(&world).run("review --base origin/main").expect(0);
    let paths: Vec<String> = platform
        .requests()
        .iter()
        .flat_map(crate::support::requested_pipelines)
        .collect();
    assert!(paths.contains(&"x.orch.yaml".to_owned()), "{paths:?}");
}

/// GitLab names only one merge-base, and the change decides which.
#[test]
fn merge_base_that_the_host_names_is_used_with_the_others() {
    for (last, code) in [(&BAD, 1), (&GOOD, 0)] {
        let world = crossed_pipeline(last);
        let call = Job::gitlab()
            .pull_request()
            .call(&world)
            .variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", world.git("rev-parse topic"));
        call.run("check").expect(code);
        let context = call.run("context --json").expect(0).json();
        assert_eq!(context["base"], world.git("rev-parse topic").as_str());
        assert_eq!(context["otherBases"], json!([world.git("rev-parse main~1")]));
        let source = context["baseSource"].as_str().unwrap();
        let words = "and the other merge-bases with the target branch `origin/main`";
        assert!(source.contains(words), "{source}");
    }
}

#[test]
fn more_merge_bases_than_real_histories_have_are_refused_on_every_host() {
    let world = project();
    world.write("x.orch.yaml", orchestration_text(&BAD));
    let start = world.commit("M0");
    world.write("x.orch.yaml", orchestration_text(&GOOD));
    let fixed = world.commit("M1");
    let tree = world.git(&["rev-parse", &format!("{start}^{{tree}}")]);
    let sides: Vec<String> = (0..17)
        .map(|number| {
            world.git(&[
                "commit-tree",
                &tree,
                "-p",
                &start,
                "-m",
                &format!("side {number}"),
            ])
        })
        .collect();
    let parents: Vec<&str> = std::iter::once(fixed.as_str())
        .chain(sides.iter().map(String::as_str))
        .flat_map(|parent| ["-p", parent])
        .collect();
    let merge = |tree: &str, message: &str| {
        let start_of = ["commit-tree", tree, "-m", message];
        world.git((&start_of[..], &parents))
    };
    let good = world.git(&["rev-parse", &format!("{fixed}^{{tree}}")]);
    let main = merge(&good, "M2");
    let change = merge(&tree, "P");
    world.git(format!(
        "push -q origin {main}:refs/heads/main {change}:refs/heads/change"
    ));
    world.git("fetch -q origin");
    world.git(format!("checkout -q --detach {change}"));
    for (name, host) in HOSTS {
        let output = host(&world, Call::new(&world.work())).run("check");
        assert_eq!(output.code, 7, "{name}: {}", output.all());
    }
}
