//! A change that started before the gate became stricter is reviewed with the policy that is in force after its merge.

use crate::support::{
    Call, HOSTS, Job, Platform, RULES, RULES_FILE, World, finding_values, orchestration_text, passed_results,
    project, push_of_branch, repository, respond_for_each,
};
use serde_json::json;

const LAX: &str = "\
rules:
  - { id: component-naming-convention, enabled: true, enforcementLevel: warn, config: { regexMatchPattern: '[A-Z].*' } }
  - { id: maximum-components, enabled: true, enforcementLevel: warn, config: { maxComponents: 3 } }
";

const WAIVERS: &str = "sluicegate-waivers.yaml";
const BAD: [&str; 3] = ["Start", "bad name", "Done"];
const GOOD: [&str; 3] = ["Start", "Load", "Done"];

/// Creates a branch `change` with this pipeline. It left a `main` with the files `before`, which then got the files
/// `after`.
fn stale(before: &[(&str, &str)], after: &[(&str, &str)], changed: &[(&str, &str)]) -> World {
    let world = project();
    for (path, text) in before {
        world.write(path, text);
    }
    world.commit("before");
    world.git("checkout -q -b change");
    for (path, text) in changed {
        world.write(path, text);
    }
    world.commit("change");
    world.push();
    world.git("checkout -q main");
    for (path, text) in after {
        world.write(path, text);
    }
    world.commit("after");
    world.push();
    world.git("checkout -q change");
    world
}

pub fn world_with_stricter_target(changed: &[&str]) -> World {
    stale(
        &[(RULES_FILE, LAX)],
        &[(RULES_FILE, RULES)],
        &[("b.orch.yaml", &orchestration_text(changed))],
    )
}

/// Returns a platform that evaluates the commit's own old rules file, in which the name is only a warning.
fn lax() -> Platform {
    let platform = Platform::new();
    let document = json!([
        { "ruleName": "component-naming-convention", "status": "FAILED", "violations": ["component \"bad name\" is wrong"] },
        { "ruleName": "maximum-components", "status": "PASSED" },
    ]);
    platform.reviews(respond_for_each("PASSED", document));
    platform
}

#[test]
fn tips_rules_are_evaluated_on_every_host() {
    let (bad, good) = (
        world_with_stricter_target(&BAD),
        world_with_stricter_target(&GOOD),
    );
    let (platform, passing) = (lax(), Platform::new());
    passing.reviews(respond_for_each("PASSED", passed_results()));
    for (name, host) in HOSTS {
        for command in ["review", "ci"] {
            let output = host(&bad, platform.call(&bad)).run(&[command, "--report", "json=-"]);
            assert_eq!(output.code, 1, "{name} {command}: {}", output.all());
            let report = output.json();
            assert_eq!(report["findings"]["errors"], 1, "{name}: {report}");
            let notes = report["notes"].to_string();
            assert!(
                notes.contains("component-naming-convention warn → error (tightened)")
                    && notes
                        .contains("also evaluated 1 changed pipeline locally against the rules of `main`"),
                "{notes}"
            );
            let twin = host(&good, passing.call(&good)).run(&[command]);
            assert_eq!(twin.code, 0, "{name} {command}: {}", twin.all());
        }
        let output = host(&bad, Call::new(&bad.work())).run("check");
        assert_eq!(output.code, 1, "{name}: {}", output.all());
        let twin = host(&good, Call::new(&good.work())).run("check --report json=-");
        assert_eq!(twin.code, 0, "{name}: {}", twin.all());
        assert!(
            twin.json()["notes"].to_string().contains("has a stricter"),
            "{name}"
        );
        // A job that allows no gate changes allows no outdated gate either.
        let refusal = host(&good, Call::new(&good.work())).run("check --gate-changes fail --report junit=-");
        assert_eq!(refusal.code, 1, "{name}: {}", refusal.all());
        assert!(
            refusal.out.contains("<error"),
            "JUnit is all green: {}",
            refusal.all()
        );
    }
}

#[test]
fn branch_with_tips_files_hears_nothing_of_it() {
    let same = stale(
        &[(RULES_FILE, RULES)],
        &[("note.txt", "more")],
        &[("b.orch.yaml", &orchestration_text(&GOOD))],
    );
    let merged = world_with_stricter_target(&GOOD);
    merged.git("merge -q -m 'take in' main");
    merged.push();
    let relaxed = stale(
        &[(RULES_FILE, RULES)],
        &[(RULES_FILE, LAX)],
        &[("b.orch.yaml", &orchestration_text(&GOOD))],
    );
    for world in [same, merged, relaxed] {
        let call = Job::github().pull_request().call(&world);
        let output = call.run("check --gate-changes fail --report json=-").expect(0);
        let notes = output.json()["notes"].to_string();
        assert!(!notes.contains("stricter"), "{notes}");
    }
}

#[test]
fn touch_of_rules_file_does_not_evade_tips_rules() {
    let touched = format!("{LAX}# more\n");
    let world = stale(
        &[(RULES_FILE, LAX)],
        &[(RULES_FILE, RULES)],
        &[("b.orch.yaml", &orchestration_text(&BAD)), (RULES_FILE, &touched)],
    );
    Job::github().pull_request().call(&world).run("check").expect(1);
    // A rule that the change itself relaxes is a gate change, and takes effect.
    let relaxed = stale(
        &[],
        &[("note.txt", "more")],
        &[("b.orch.yaml", &orchestration_text(&BAD)), (RULES_FILE, LAX)],
    );
    let output = Job::github()
        .pull_request()
        .call(&relaxed)
        .run("check --report json=-")
        .expect(0);
    assert_eq!(output.json()["gateChanges"], json!([RULES_FILE]));
}

#[test]
fn existing_finding_is_known_by_rules_of_tip_too() {
    let world = stale(
        &[(RULES_FILE, LAX), ("b.orch.yaml", &orchestration_text(&BAD))],
        &[(RULES_FILE, RULES)],
        &[("b.orch.yaml", &format!("# edited\n{}", orchestration_text(&BAD)))],
    );
    for (name, host) in HOSTS {
        let call = host(&world, Call::new(&world.work()));
        call.run("check").expect(1);
        let output = call.run("check --new-only --report json=-");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        assert_eq!(output.json()["findings"]["known"], 1, "{name}");
        let review = host(&world, lax().call(&world)).run("review --new-only");
        assert_eq!(review.code, 0, "{name}: {}", review.all());
    }
    let new = world_with_stricter_target(&BAD);
    Job::github()
        .pull_request()
        .call(&new)
        .run("check --new-only")
        .expect(1);
    Job::github()
        .pull_request()
        .extend(&new, lax().call(&new))
        .run("review --new-only")
        .expect(1);
}

#[test]
fn finding_by_both_rules_is_reported_once() {
    let stricter = RULES.replace("maxComponents: 3", "maxComponents: 2");
    let world = stale(
        &[(RULES_FILE, RULES)],
        &[(RULES_FILE, &stricter)],
        &[(
            "b.orch.yaml",
            &orchestration_text(&["Start", "bad name", "More", "Done"]),
        )],
    );
    let output = Job::github()
        .pull_request()
        .call(&world)
        .run("check --report json=-")
        .expect(1);
    let findings = &output.json()["findings"];
    assert_eq!(
        (&findings["errors"], &findings["warnings"]),
        (&json!(1), &json!(1)),
        "{findings}"
    );
}

#[test]
fn findings_of_tips_rules_with_the_same_level_are_added() {
    let stricter = RULES.replace("'[A-Z].*'", "'[A-Z][a-z]*'");
    let world = stale(
        &[(RULES_FILE, RULES)],
        &[(RULES_FILE, &stricter)],
        &[(
            "b.orch.yaml",
            &orchestration_text(&["Start", "bad name", "LoadX", "Done"]),
        )],
    );
    let ended = Job::github()
        .pull_request()
        .call(&world)
        .run("check --report json=-")
        .expect(1);
    let report = ended.json();
    let results = report["files"][0]["results"].as_array().unwrap();
    let naming = results
        .iter()
        .find(|result| result["rule"] == "component-naming-convention");
    let violations = finding_values(naming.unwrap(), "message");
    let is_of_tip: Vec<(bool, bool)> = violations
        .iter()
        .map(|text| text.as_str().unwrap())
        .map(|text| {
            (
                text.contains("LoadX"),
                text.contains("according to the rules of `main`"),
            )
        })
        .collect();
    assert_eq!(is_of_tip, [(false, false), (true, true)], "{violations:?}");
}

#[test]
fn check_with_named_rules_file_evaluates_no_rules_of_the_tip() {
    let world = world_with_stricter_target(&BAD);
    // Outside of the checkout, the file belongs to the job.
    let rules = world.path().join("own.yaml");
    std::fs::write(&rules, LAX).unwrap();
    let call = Job::github().pull_request().call(&world);
    call.run("check").expect(1);
    call.run(&["check", "--rules", rules.to_str().unwrap()]).expect(0);
}

#[test]
fn pipeline_that_change_and_target_share_alike_is_not_reported() {
    let entry =
        |id: &str| format!("  - {{ pipeline: {id}.orch.yaml, id: {id}, enabled: true, parameters: {{}} }}\n");
    let (a, b) = (entry("a"), entry("b"));
    let shared =
        |entries: &str| format!("version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n{entries}");
    let path = ".platform/shared-pipelines.yaml";
    let (one, both) = (shared(&a), shared(&format!("{a}{b}")));
    let reordered = shared(&format!("{b}{a}"));
    // The change shares it as the target does, or is the one that no longer shares it.
    for (before, after, changed) in [
        (&one, &both, &reordered),
        (&both, &format!("{both}# more\n"), &one),
    ] {
        let world = stale(
            &[
                (path, before),
                ("b.orch.yaml", &orchestration_text(&["Start", "Done"])),
            ],
            &[(path, after)],
            &[(path, changed), ("b.orch.yaml", &orchestration_text(&GOOD))],
        );
        let ended = Job::github()
            .pull_request()
            .call(&world)
            .run("check --compat warn --report json=-");
        let notes = ended.json()["notes"].to_string();
        assert!(!notes.contains("the file shares b.orch.yaml"), "{}", ended.all());
    }
}

#[test]
fn every_file_of_the_gate_is_compared_with_the_tip() {
    let shared = |ids: &[&str]| {
        let entries = ids.iter().map(|id| {
            format!("  - {{ pipeline: {id}.orch.yaml, id: {id}, enabled: true, parameters: {{}} }}\n")
        });
        format!(
            "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n{}",
            entries.collect::<String>()
        )
    };
    let waiver = "- { rule: unused-components, path: '**', reason: r }\n";
    let (one, two) = (shared(&["a"]), shared(&["a", "b"]));
    let shared_file = ".platform/shared-pipelines.yaml";
    for (path, before, after, words) in [
        (
            "sluicegate.yaml",
            "retries: 1\n",
            "retries: 1\nreview: { fail-on: warn }\n",
            "review.fail-on: error → warn (tightened)",
        ),
        ("sluicegate.yaml", "include: ['b*']\n", "{}\n", "- b* (tightened)"),
        (
            "sluicegate-waivers.yaml",
            "- { rule: maximum-components, path: '**', size: 9, until: 2999-12-31, reason: r }\n",
            "- { rule: maximum-components, path: '**', size: 12, until: 2999-11-30, reason: r }\n",
            "(relaxed and tightened)",
        ),
        (
            "sluicegate.yaml",
            "exclude: [c.orch.yaml]\n",
            "exclude: [d.orch.yaml]\n",
            "exclude: + d.orch.yaml, - c.orch.yaml (relaxed and tightened)",
        ),
        ("sluicegate-waivers.yaml", waiver, "[]\n", "waiver removed"),
        (
            shared_file,
            one.as_str(),
            two.as_str(),
            "the file shares b.orch.yaml as `b`, and this change edits, moves or deletes that pipeline",
        ),
    ] {
        let change = ("b.orch.yaml", orchestration_text(&GOOD));
        let old = orchestration_text(&["Start", "Done"]);
        let world = stale(
            &[(path, before), ("b.orch.yaml", &old)],
            &[(path, after)],
            &[(change.0, &change.1)],
        );
        for (name, host) in HOSTS {
            let call = host(&world, Call::new(&world.work()));
            let output = call.run("check --report json=-");
            assert_eq!(output.code, 0, "{name} {path}: {}", output.all());
            let notes = output.json()["notes"].to_string();
            assert!(
                notes.contains(path) && notes.contains(words),
                "{name} {path}: {notes} {}",
                output.err
            );
            assert_eq!(
                call.run(&["check", "--gate-changes", "fail"]).code,
                1,
                "{name} {path}"
            );
        }
    }
    // A deleted pipeline is touched, too, even if all pipelines are reviewed.
    let pipeline = orchestration_text(&GOOD);
    let world = stale(
        &[(shared_file, &one), ("b.orch.yaml", &pipeline)],
        &[(shared_file, &two)],
        &[("c.orch.yaml", &pipeline)],
    );
    world.git("rm -q b.orch.yaml");
    world.commit("delete");
    world.push();
    let call = Job::github().pull_request().call(&world);
    for args in ["", "--all"] {
        let output = call.run(("check --gate-changes fail", args)).expect(1);
        assert!(output.all().contains("shares b.orch.yaml"), "{}", output.all());
    }
    let world = stale(&[], &[], &[("b.orch.yaml", &orchestration_text(&GOOD))]);
    world.git("checkout -q main");
    world.git("mv .platform .renamed");
    world.commit("renamed");
    world.push();
    world.git("checkout -q change");
    let output = Job::github()
        .pull_request()
        .call(&world)
        .run("check --report json=-")
        .expect(1);
    assert!(
        output.json()["notes"]
            .to_string()
            .contains("`.platform` in this change and `.renamed` in the target"),
        "{}",
        output.out
    );
}

#[test]
fn one_touched_field_of_a_rule_evades_none_of_its_other_fields() {
    let naming = |level: &str, pattern: &str| {
        format!(
            "rules:\n  - {{ id: component-naming-convention, enabled: true, enforcementLevel: {level}, config: {{ regexMatchPattern: '{pattern}' }} }}\n"
        )
    };
    let (before, after) = (naming("warn", "[A-Z].*"), naming("error", "[A-Z].*"));
    let touched = naming("warn", "[A-Z][A-Za-z]*");
    let world = stale(
        &[(RULES_FILE, &before)],
        &[(RULES_FILE, &after)],
        &[("b.orch.yaml", &orchestration_text(&BAD)), (RULES_FILE, &touched)],
    );
    Job::github().pull_request().call(&world).run("check").expect(1);
}

#[test]
fn tips_rules_judge_what_run_judges_and_no_more() {
    let world = stale(
        &[(RULES_FILE, LAX)],
        &[(RULES_FILE, RULES)],
        &[
            ("b.orch.yaml", &orchestration_text(&GOOD)),
            ("c.orch.yaml", &orchestration_text(&BAD)),
            ("d.orch.yaml", &orchestration_text(&BAD)),
        ],
    );
    let call = || Job::github().pull_request().call(&world);
    call().run("check b.orch.yaml").expect(0);
    call().run("check c.orch.yaml").expect(1);
    for shard in ["1/2", "2/2"] {
        let report = format!("json={}.json", shard.replace('/', "-"));
        call().run(&["check", "--head", "HEAD", "--shard", shard, "--report", &report]);
    }
    let merged = call().run("report 1-2.json 2-2.json --report json=-").expect(1);
    assert_eq!(merged.json()["findings"]["errors"], 2);
}

#[test]
fn change_that_contains_tip_did_not_start_before() {
    // A merge queue: group 1 relaxes the rules, group 2 is based on it.
    let world = stale(
        &[(RULES_FILE, RULES)],
        &[("note.txt", "more")],
        &[(RULES_FILE, LAX)],
    );
    world.git("merge -q -m 'group 1' main");
    let base = crate::support::head(&world);
    world.write("b.orch.yaml", orchestration_text(&BAD));
    world.commit("group 2");
    let queue = "refs/heads/gh-readonly-queue/main/pr-2";
    world.git(&["push", "-q", "origin", &format!("HEAD:{queue}")]);
    let payload = json!({ "repository": repository(), "merge_group": {
        "head_ref": queue, "head_sha": crate::support::head(&world), "base_sha": base, "base_ref": "refs/heads/main" } });
    let call = Job::github()
        .event("merge_group", queue, &payload)
        .extend(&world, Call::new(&world.work()));
    call.run("check --gate-changes fail").expect(1);
    let output = call.run("check --report json=-").expect(0);
    assert!(
        !output.json()["notes"].to_string().contains("stricter"),
        "{}",
        output.out
    );
}

fn push_of(world: &World, reference: &str, before: &str) -> Call {
    let payload = json!({ "repository": repository(), "ref": reference, "before": before,
        "after": crate::support::head(world) });
    Job::github()
        .event("push", reference, &payload)
        .extend(world, Call::new(&world.work()))
}

#[test]
fn push_to_release_branch_is_reviewed_by_the_tip() {
    let publish_on = "publish-on: { branches: [main, 'release/*'] }\n";
    let world = stale(
        &[(RULES_FILE, LAX), ("sluicegate.yaml", publish_on)],
        &[(RULES_FILE, RULES)],
        &[("note.txt", "more")],
    );
    world.git("checkout -q -b release/1");
    world.write("b.orch.yaml", orchestration_text(&BAD));
    world.commit("hotfix");
    world.push();
    for branch in ["release/1", "topic"] {
        push_of(&world, &format!("refs/heads/{branch}"), &"0".repeat(40))
            .run("check")
            .expect(1);
    }
    world.git("merge -q -m 'take in' main");
    world.write("b.orch.yaml", orchestration_text(&GOOD));
    world.commit("fixed");
    world.push();
    push_of(&world, "refs/heads/release/1", &"0".repeat(40))
        .run("check --gate-changes fail")
        .expect(0);
}

#[test]
fn tag_on_older_commit_is_compared_with_the_tip() {
    let world = stale(
        &[(RULES_FILE, LAX), ("b.orch.yaml", &orchestration_text(&BAD))],
        &[(RULES_FILE, RULES), ("b.orch.yaml", &orchestration_text(&GOOD))],
        &[("note.txt", "more")],
    );
    world.git("checkout -q main");
    let tip = crate::support::head(&world);
    let tag = |name: &str, index: &str| {
        world.git(&["checkout", "-q", index]);
        world.git(format!("tag {name}"));
        world.git(format!("push -q origin {name}"));
        format!("refs/tags/{name}")
    };
    let old = tag("v1", &format!("{tip}~1"));
    let call = || push_of(&world, &old, &"0".repeat(40));
    let output = call().run("check --report json=-").expect(1);
    let notes = output.json()["notes"].to_string();
    assert!(
        notes.contains("component-naming-convention warn → error (tightened)"),
        "{notes}"
    );
    call().run("check --gate-changes fail").expect(1);
    let publish = "--prefix p --version-name v1 --gate-changes fail";
    let platform = lax();
    let on_platform = call()
        .variable("SLUICEGATE_BASE_URL", platform.server.uri())
        .variable("SLUICEGATE_TOKEN", "t")
        .variable("SLUICEGATE_PROJECT_ID", "6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10")
        .variable("SLUICEGATE_AGENT_VERSION", "9.0.0");
    on_platform
        .run(("publish --dry-run", publish))
        .expect(1)
        .saying(&["has a stricter"]);
    on_platform
        .run(("ci --dry-run --publish-on-tag v*", publish))
        .expect(1)
        .saying(&["has a stricter"]);
    on_platform
        .run("ci --dry-run --publish-on-tag v* --prefix p --version-name v1")
        .expect(2)
        .saying(&["has a stricter"]);
    on_platform.run(("ci --publish-on-tag v*", publish)).expect(1);
    assert!(
        platform
            .requests()
            .iter()
            .all(|request| !request.url.path().contains("artifacts"))
    );
    // A rerun of an older push to the default branch.
    let rerun = push_of(&world, "refs/heads/main", &world.git("rev-parse HEAD~1"));
    rerun.run("check --gate-changes fail").expect(1);
    // A tag on the tip.
    let new = tag("v2", &tip);
    let output = push_of(&world, &new, &"0".repeat(40)).run("check --gate-changes fail --report json=-");
    let output = output.expect(0);
    assert!(
        !output.json()["notes"].to_string().contains("stricter"),
        "{}",
        output.out
    );
}

#[test]
fn older_commit_of_default_branch_is_compared_with_the_tip() {
    let publish_on = "publish-on: { branches: [main, 'release/*'] }\n";
    let world = stale(
        &[
            (RULES_FILE, LAX),
            ("sluicegate.yaml", publish_on),
            ("b.orch.yaml", &orchestration_text(&BAD)),
        ],
        &[(RULES_FILE, RULES), ("b.orch.yaml", &orchestration_text(&GOOD))],
        &[],
    );
    world.git("push -q origin main~1:refs/heads/release/1 main:refs/heads/release/2");
    world.git("fetch -q origin");
    let platform = lax();
    let run = |branch: &str, args: &str| {
        let folder = world.work();
        let call = Call::new(&folder)
            .variable("SLUICEGATE_BASE_URL", platform.server.uri())
            .variable("SLUICEGATE_TOKEN", "t")
            .variable("SLUICEGATE_PROJECT_ID", "6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10")
            .variable("SLUICEGATE_AGENT_VERSION", "9.0.0");
        let payload = json!({ "repository": repository(), "ref": format!("refs/heads/{branch}"),
            "before": "0".repeat(40), "after": crate::support::head(&world) });
        Job::github()
            .event("push", &format!("refs/heads/{branch}"), &payload)
            .extend(&world, call)
            .run(args)
    };
    let publish = "--prefix p --version-name 1";
    world.git("checkout -q --detach main~1");
    for branch in ["release/1", "main"] {
        let output = run(branch, "check --report json=-").expect(1);
        let notes = output.json()["notes"].to_string();
        assert_eq!(notes.matches("has a stricter").count(), 1, "{branch}: {notes}");
        for command in ["ci", "ci --dry-run", "publish"] {
            let output = run(branch, &format!("{command} {publish} --gate-changes fail")).expect(1);
            assert!(
                output.all().contains("has a stricter"),
                "{branch} {command}: {}",
                output.all()
            );
        }
    }
    assert!(
        platform
            .requests()
            .iter()
            .all(|request| !request.url.path().contains("artifacts"))
    );
    // A local run has no target, and the tip itself is not older.
    Call::new(&world.work()).run("check --all").expect(0);
    world.git("checkout -q --detach main");
    for branch in ["release/2", "main"] {
        let output = run(branch, "check --gate-changes fail --report json=-").expect(0);
        assert!(!output.out.contains("stricter"), "{branch}: {}", output.out);
    }
}

/// The commit before the push has the same rules as the tip, so only a comparison with the tip shows the difference.
#[test]
fn late_run_of_relaxed_commit_is_compared_with_the_tip() {
    let world = stale(
        &[(RULES_FILE, LAX), ("b.orch.yaml", &orchestration_text(&BAD))],
        &[(RULES_FILE, RULES), ("b.orch.yaml", &orchestration_text(&GOOD))],
        &[],
    );
    world.git("checkout -q --detach main~1");
    let before = world.git("rev-parse HEAD~1");
    let output = push_of(&world, "refs/heads/main", &before).run("check --gate-changes fail --report json=-");
    let notes = output.expect(1).json()["notes"].to_string();
    assert!(
        notes.contains("component-naming-convention warn → error (tightened)"),
        "{notes}"
    );
}

#[test]
fn stricter_tip_is_reported_without_a_selected_pipeline_and_with_policy_head() {
    let world = stale(
        &[(RULES_FILE, LAX)],
        &[(RULES_FILE, RULES)],
        &[("note.md", "words")],
    );
    for (name, host) in HOSTS {
        for policy in ["auto", "head"] {
            let call = host(&world, Call::new(&world.work()));
            let output = call.run(&["check", "--policy", policy, "--report", "json=-"]);
            assert_eq!(output.code, 0, "{name}: {}", output.all());
            let notes = output.json()["notes"].to_string();
            assert!(notes.contains("has a stricter"), "{name} {policy}: {notes}");
            let refusal = call.run(&["check", "--policy", policy, "--gate-changes", "fail"]);
            assert_eq!(refusal.code, 1, "{name} {policy}: {}", refusal.all());
        }
    }
}

#[test]
fn deleted_or_moved_pipeline_that_the_tip_shares_is_reported() {
    let shared = |enabled: bool| {
        format!(
            "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n  - {{ pipeline: b.orch.yaml, id: b, enabled: {enabled}, parameters: {{}} }}\n"
        )
    };
    let file = ".platform/shared-pipelines.yaml";
    for is_move in [false, true] {
        let world = stale(
            &[("b.orch.yaml", &orchestration_text(&GOOD))],
            &[(file, &shared(true))],
            &[("note.txt", "more")],
        );
        if is_move {
            world.git("mv b.orch.yaml c.orch.yaml");
        } else {
            world.git("rm -q b.orch.yaml");
        }
        world.commit("remove");
        world.push();
        let call = Job::github().pull_request().call(&world);
        let output = call.run("check --report json=-");
        let notes = output.json()["notes"].to_string();
        assert!(
            notes.contains("the file shares b.orch.yaml"),
            "{is_move}: {notes}"
        );
        call.run("check --gate-changes fail").expect(1);
    }
    // An entry that the tip withdrew.
    let withdrawn = stale(
        &[("b.orch.yaml", &orchestration_text(&GOOD)), (file, &shared(true))],
        &[(file, &shared(false))],
        &[("b.orch.yaml", &format!("# edited\n{}", orchestration_text(&GOOD)))],
    );
    let call = Job::github().pull_request().call(&withdrawn);
    let output = call.run("check --gate-changes fail --report json=-").expect(0);
    assert!(
        !output.json()["notes"].to_string().contains("stricter"),
        "{}",
        output.out
    );
}

#[test]
fn newly_shared_pipeline_of_target_does_not_affect_other_changes() {
    let shared = "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n  - { pipeline: a.orch.yaml, id: a, enabled: true, parameters: {} }\n";
    let world = stale(
        &[],
        &[(".platform/shared-pipelines.yaml", shared)],
        &[("b.orch.yaml", &orchestration_text(&GOOD))],
    );
    for (name, host) in HOSTS {
        let call = host(&world, Call::new(&world.work()));
        let output = call.run("check --gate-changes fail --report json=-");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        assert!(
            !output.json()["notes"].to_string().contains("stricter"),
            "{name}: {}",
            output.out
        );
    }
}

#[test]
fn command_of_failed_job_shows_the_same_without_job() {
    for (world, flags) in [
        (world_with_stricter_target(&BAD), &["check"][..]),
        (
            world_with_stricter_target(&GOOD),
            &["check", "--gate-changes", "fail"],
        ),
    ] {
        let output = Job::github().pull_request().call(&world).run(flags).expect(1);
        let line = output
            .out
            .lines()
            .find_map(|line| line.strip_prefix("Reproduce locally: sluicegate "));
        let command: Vec<&str> = line
            .unwrap_or_else(|| panic!("{}", output.all()))
            .split(' ')
            .collect();
        let second_run = Call::new(&world.work()).run(&command);
        assert_eq!(second_run.code, 1, "{command:?}: {}", second_run.all());
    }
}

#[test]
fn excluded_pipeline_is_not_counted_as_evaluated_by_rules_of_target() {
    let world = stale(
        &[(RULES_FILE, LAX)],
        &[(RULES_FILE, RULES)],
        &[
            ("b.orch.yaml", &orchestration_text(&GOOD)),
            ("c.orch.yaml", &orchestration_text(&BAD)),
        ],
    );
    let call = Job::github().pull_request().call(&world);
    call.run("check").expect(1);
    let output = call.run("check --exclude c.orch.yaml --report json=-").expect(0);
    let notes = output.json()["notes"].to_string();
    assert!(
        notes.contains("also evaluated 1 changed pipeline locally"),
        "{notes}"
    );
}

#[test]
fn note_of_target_rules_counts_only_evaluated_pipelines() {
    let world = world_with_stricter_target(&GOOD);
    let call = Job::github().pull_request().call(&world);
    for (args, note) in [
        ("check --all", Some("also evaluated 2 pipelines locally")),
        (
            "check b.orch.yaml",
            Some("also evaluated 1 changed pipeline locally"),
        ),
        ("check a.orch.yaml", None),
    ] {
        let output = call.run((args, "--report json=-")).expect(0);
        let notes = output.json()["notes"].to_string();
        assert!(
            notes.contains(note.unwrap_or("has a stricter")),
            "{args}: {notes}"
        );
        assert_eq!(
            notes.contains("also evaluated"),
            note.is_some(),
            "{args}: {notes}"
        );
        // Either the run evaluated the rules, or the next step is to merge the target.
        assert_eq!(
            (
                notes.contains("so there is nothing to do"),
                notes.contains("merge `main` into")
            ),
            (note.is_some(), note.is_none()),
            "{args}: {notes}"
        );
    }
}

#[test]
fn note_of_rejected_stricter_target_does_not_claim_that_nothing_is_to_do() {
    let world = world_with_stricter_target(&GOOD);
    let call = Job::github().pull_request().call(&world);
    let output = call.run("check --gate-changes fail --report json=-").expect(1);
    let notes = output.json()["notes"].to_string();
    assert!(
        notes.contains("also evaluated 1 changed pipeline locally"),
        "{notes}"
    );
    assert!(!notes.contains("nothing to do"), "{notes}");
    output.assert_logged(&["merge the target branch into the change"]);
}

/// The project check reports that the change's own file names a missing pipeline.
#[test]
fn target_with_shared_pipelines_file_of_change_is_not_stricter() {
    let shared = "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n  - { pipeline: b.orch.yaml, id: b, enabled: true, parameters: {} }\n";
    let file = ".platform/shared-pipelines.yaml";
    let world = stale(
        &[("b.orch.yaml", &orchestration_text(&GOOD))],
        &[(file, shared)],
        &[(file, shared)],
    );
    world.git("rm -q b.orch.yaml");
    world.commit("remove");
    world.push();
    let output = Job::github()
        .pull_request()
        .call(&world)
        .run("check --report json=-");
    assert!(
        output
            .out
            .contains("the shared pipeline `b` is `b.orch.yaml`, which is not in the project"),
        "{}",
        output.all()
    );
    let notes = output.json()["notes"].to_string();
    assert!(!notes.contains("the file shares b.orch.yaml"), "{notes}");
}

/// Only different rules are evaluated in addition; a stricter setting is just reported.
#[test]
fn stricter_setting_of_target_alone_evaluates_nothing_again() {
    let world = stale(
        &[("sluicegate.yaml", "retries: 1\n")],
        &[("sluicegate.yaml", "retries: 1\nreview: { fail-on: warn }\n")],
        &[("b.orch.yaml", &orchestration_text(&GOOD))],
    );
    let output = Job::github()
        .pull_request()
        .call(&world)
        .run("check --report json=-")
        .expect(0);
    let notes = output.json()["notes"].to_string();
    assert!(notes.contains("has a stricter sluicegate.yaml"), "{notes}");
    assert!(!notes.contains("also evaluated"), "{notes}");
}

/// Stricter rules do not concern a change without pipelines.
#[test]
fn stricter_rules_of_target_note_no_evaluation_of_zero_pipelines() {
    let world = stale(
        &[(RULES_FILE, LAX)],
        &[(RULES_FILE, RULES)],
        &[("note.txt", "text")],
    );
    let output = Job::github()
        .pull_request()
        .call(&world)
        .run("check --report json=-")
        .expect(0);
    let notes = output.json()["notes"].to_string();
    assert!(notes.contains("has a stricter"), "{notes}");
    assert!(!notes.contains("also evaluated"), "{notes}");
}

/// A rule may be stricter in a way that has no order, but another setting is not.
#[test]
fn change_of_target_without_order_is_reported_for_rules_only() {
    let other_pattern = RULES.replace("'[A-Z].*'", "'[A-Z][a-z]*'");
    for (path, before, after, is_reported) in [
        (RULES_FILE, RULES, other_pattern.as_str(), true),
        ("sluicegate.yaml", "retries: 1\n", "retries: 2\n", false),
    ] {
        let world = stale(
            &[(path, before)],
            &[(path, after)],
            &[("b.orch.yaml", &orchestration_text(&GOOD))],
        );
        let output = Job::github()
            .pull_request()
            .call(&world)
            .run("check --report json=-")
            .expect(0);
        let notes = output.json()["notes"].to_string();
        let is_noted = notes.contains("has a stricter") && notes.contains("(changed)");
        assert_eq!(is_noted, is_reported, "{path}: {notes}");
    }
}

/// A sentence about a setting omits a part of a long text or list. A setting that the change edited there is still one
/// that the change edited.
#[test]
fn setting_that_the_change_edits_in_an_omitted_part_is_not_stricter() {
    let rules = |end: &str| {
        let pattern = format!("'{}{end}'", "[A-Z].*|".repeat(20));
        RULES.replace("'[A-Z].*'", &pattern)
    };
    let waivers = |middle: &str| {
        let (start, end) = ("a".repeat(40), "b".repeat(40));
        format!("- {{ rule: unused-components, path: {start}{middle}{end}, reason: r }}\n")
    };
    let exclude = |last: &str| {
        let first: Vec<String> = (10..21).map(|number| format!("{number}.orch.yaml")).collect();
        format!("exclude: [{}, {last}.orch.yaml]\n", first.join(", "))
    };
    let none = "# none\n".to_owned();
    for (path, before, after, edited) in [
        (RULES_FILE, rules("A"), rules("B"), rules("C")),
        (WAIVERS, waivers("1"), none.clone(), waivers("2")),
        ("sluicegate.yaml", exclude("21"), none, exclude("22")),
    ] {
        for (own, is_stricter) in [(&edited, false), (&before, true)] {
            let world = stale(
                &[(path, &before)],
                &[(path, &after)],
                &[("b.orch.yaml", &orchestration_text(&GOOD)), (path, own)],
            );
            let output = Job::github()
                .pull_request()
                .call(&world)
                .run("check --report json=-")
                .expect(0);
            let notes = output.json()["notes"].to_string();
            assert_eq!(notes.contains("has a stricter"), is_stricter, "{path}: {notes}");
        }
    }
}

#[test]
fn stricter_waivers_of_target_are_reported_among_many_of_the_change() {
    let waiver =
        |rule: &str, fields: &str| format!("- {{ rule: {rule}, path: 'x/**', reason: r{fields} }}\n");
    let old = waiver("maximum-components", ", size: 20") + &waiver("unused-components", "");
    let new = waiver("maximum-components", ", size: 10");
    let mut of_change: String = (0..11)
        .map(|index| waiver("component-naming-convention", &format!(", about: c{index}")))
        .collect();
    of_change.push_str(&old);
    let file = "sluicegate-waivers.yaml";
    let good = orchestration_text(&GOOD);
    let world = stale(
        &[(RULES_FILE, RULES), (file, &old)],
        &[(file, &new)],
        &[(file, &of_change), ("b.orch.yaml", &good)],
    );
    let output = Job::github()
        .pull_request()
        .call(&world)
        .run("check --report json=-")
        .expect(0);
    let notes = output.json()["notes"].to_string();
    assert!(
        notes.contains("waiver removed: unused-components in x/** (tightened)")
            && notes.contains("maximum-components in x/** up to 10 (tightened)"),
        "{notes}"
    );
}

/// Creates a project whose branch `release/1`, which may publish, lacks the stricter rules of `main`.
fn stale_release() -> World {
    let publish_on = "publish-on: { branches: [main, 'release/*'] }\n";
    let world = stale(
        &[(RULES_FILE, LAX), ("sluicegate.yaml", publish_on)],
        &[(RULES_FILE, RULES)],
        &[("note.txt", "more")],
    );
    world.git("checkout -q -b release/1");
    world.write(
        ".platform/shared-pipelines.yaml",
        "pipelines:\n  - { pipeline: a.orch.yaml, id: a, enabled: true }\n",
    );
    world.commit("release");
    world
}

#[test]
fn publish_from_shallow_clone_that_cannot_compare_the_gate_is_refused_if_gate_changes_fail() {
    let world = stale_release();
    world.push();
    let url = format!("file://{}", world.remote().display());
    let publish = "publish --dry-run --compat off --prefix p --version-name v1 --gate-changes";
    for (depth, level, code, words) in [
        ("", "warn", 0, "has a stricter"),
        ("", "fail", 1, "has a stricter"),
        ("--depth=1", "warn", 0, "could not compare the gate configuration"),
        ("--depth=1", "fail", 7, "shallow"),
    ] {
        let folder = world.path().join(format!("clone{depth}{level}"));
        let target = folder.display();
        crate::support::git(
            world.path(),
            format!("clone -q {depth} --no-single-branch -b release/1 {url} {target}"),
        );
        let call = push_of_branch(&world, Call::new(&folder));
        call.run((publish, level)).expect(code).saying(&[words]);
    }
}

#[test]
fn publish_from_shallow_clone_that_contains_the_target_needs_no_merge_base() {
    let world = stale_release();
    world.git("merge -q -m merge main");
    world.push();
    // The clone has both parents of the merge, but not the commits before them.
    let url = format!("file://{}", world.remote().display());
    let folder = world.path().join("shallow");
    crate::support::git(
        world.path(),
        format!(
            "clone -q --depth=2 --no-single-branch -b release/1 {url} {}",
            folder.display()
        ),
    );
    for level in ["warn", "fail"] {
        let args = "publish --dry-run --compat off --prefix p --version-name v1 --gate-changes";
        let output = push_of_branch(&world, Call::new(&folder))
            .run((args, level))
            .expect(0);
        assert!(
            !output.all().contains("could not compare the gate configuration"),
            "{}",
            output.all()
        );
    }
}

#[test]
fn moved_waiver_of_target_is_explained_on_a_branch_that_is_not_merged() {
    let waiver =
        |path: &str| format!("- {{ rule: component-naming-convention, path: {path}, reason: legacy }}\n");
    let (old_waiver, new_waiver) = (waiver("old/b.orch.yaml"), waiver("new/b.orch.yaml"));
    let world = stale(
        &[
            (WAIVERS, &old_waiver),
            ("old/b.orch.yaml", &orchestration_text(&BAD)),
        ],
        &[(WAIVERS, &new_waiver)],
        &[(
            "old/b.orch.yaml",
            &orchestration_text(&["Start", "bad name", "Load", "Done"]),
        )],
    );
    let moved = "waiver moved to new/b.orch.yaml: component-naming-convention in old/b.orch.yaml (tightened)";
    let own_files = "set SLUICEGATE_POLICY=head only in a job that runs for pushes to this branch";
    let read_notes = |call: Call, code: i32| {
        let output = call.run("check --report json=-").expect(code);
        let notes = output.json()["notes"].to_string();
        assert!(notes.contains(moved), "{notes}");
        notes
    };
    let push = || push_of_branch(&world, Call::new(&world.work()));
    let notes = read_notes(push(), 1);
    assert!(notes.contains(own_files), "{notes}");
    let notes = read_notes(push().variable("SLUICEGATE_POLICY", "head"), 0);
    assert!(
        notes.contains("this run uses the file of the reviewed commit") && !notes.contains(own_files),
        "{notes}"
    );
    // An unknown host does not say whether it runs for a push, and a schedule is none.
    let pull_request_on_unknown_host = Call::new(&world.work())
        .variable("CI", "true")
        .variable("SLUICEGATE_BASE", "main");
    let payload = json!({ "repository": repository() });
    let schedule = Job::github().event("schedule", "refs/heads/change", &payload);
    for call in [
        Job::github().pull_request().call(&world),
        pull_request_on_unknown_host,
        schedule.call(&world),
    ] {
        let notes = read_notes(call, 1);
        assert!(
            notes.contains("merge `main` into your branch") && !notes.contains("SLUICEGATE_POLICY"),
            "{notes}"
        );
    }
}

#[test]
fn team_rules_that_target_turns_on_again_are_stricter() {
    let team_rules = "rules:\n  - { id: r, level: error, for: component, when: 'true', message: m }\n";
    let (off, on) = ("review: { team-rules: off }\n", "review: {}\n");
    for (before, after, code) in [
        (off, on, 1),
        (off, "retries: 2\nreview: { team-rules: off }\n", 0),
    ] {
        let world = stale(
            &[("sluicegate-rules.yaml", team_rules), ("sluicegate.yaml", before)],
            &[("sluicegate.yaml", after)],
            &[("b.orch.yaml", &orchestration_text(&GOOD))],
        );
        let output = Job::github()
            .pull_request()
            .call(&world)
            .run("check --policy head --gate-changes fail --report json=-")
            .expect(code);
        let notes = output.json()["notes"].to_string();
        let is_noted =
            notes.contains("has a stricter sluicegate-rules.yaml: team/r added, error (tightened)");
        assert_eq!(is_noted, code == 1, "{notes}");
    }
}
