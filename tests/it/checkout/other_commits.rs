//! The change of the event is reviewed, regardless of what the job checked out; and a commit that the job selects
//! itself does not control how it is reviewed.

use crate::support::{
    Call, HOSTS, Job, World, bad_pipeline, change, head, orchestration_text, project, pull_request_payload,
    repository, strict_platform,
};
use serde_json::json;

/// Creates a strict `main`, and a branch `change` with a bad pipeline and a file that lets it pass.
fn change_that_weakens_gate() -> World {
    let world = project();
    world.write("sluicegate.yaml", "review: { fail-on: error }\n");
    world.commit("strict");
    world.push();
    world.git("checkout -q -b change");
    world.write(
        "bad.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.write("sluicegate.yaml", "review: { fail-on: never }\nexclude: ['**']\n");
    world.commit("change");
    world.push();
    world
}

#[test]
fn check_judges_the_events_commit_on_every_host() {
    let world = change_that_weakens_gate();
    for (name, host) in HOSTS {
        let call = host(&world, Call::new(&world.work()));
        call.run("check").expect(1);
        world.git("checkout -q main");
        for flags in [
            &["check"][..],
            &["check", "--all"],
            &["check", "--new-only"],
            &["check", "--staged"],
            &["check", "a.orch.yaml"],
        ] {
            let output = call.run(flags);
            assert_eq!(output.code, 7, "{name} {flags:?}: {}", output.all());
            assert!(output.err.contains("hint: "), "{}", output.all());
        }
        // Counterparts: the commit itself, and a trial merge of it, as hosts create it.
        let change = world.git("rev-parse change");
        call.run(format!("check --head {change}")).expect(1);
        world.git("checkout -q --detach main");
        world.git("merge -q --no-ff -m trial change");
        call.run("check").expect(1);
        world.git("checkout -q change");
    }
}

#[test]
fn merge_whose_parents_shallow_clone_lacks_is_a_merge_of_commit() {
    let world = change_that_weakens_gate();
    let change = head(&world);
    world.git("checkout -q --detach main");
    world.git("merge -q --no-ff -m trial change");
    world.git("push -q origin HEAD:refs/pull/7/merge");
    let merge = head(&world);
    let folder = world.path().join("job");
    std::fs::create_dir(&folder).unwrap();
    let git = |args: &[&str]| crate::support::git(&folder, args);
    git(&["init", "-q"]);
    git(&[
        "remote",
        "add",
        "origin",
        &format!("file://{}", world.remote().display()),
    ]);
    git(&[
        "fetch",
        "-q",
        "--depth",
        "1",
        "origin",
        "+refs/pull/7/merge:refs/remotes/pull/7/merge",
    ]);
    git(&["checkout", "-q", "--detach", &merge]);
    world.git("checkout -q change");
    let payload = pull_request_payload(&world);
    let call = Job::github()
        .event("pull_request", "refs/pull/7/merge", &payload)
        .extend(&world, Call::new(&folder));
    let output = call.variable("GITHUB_SHA", &merge).run("check --all");
    assert_eq!(output.code, 1, "{change}: {}", output.all());
}

#[test]
fn default_checkout_of_pull_request_target_is_not_change() {
    let world = change_that_weakens_gate();
    let payload = pull_request_payload(&world);
    let change = head(&world);
    world.git("checkout -q main");
    let call = Job::github()
        .event("pull_request_target", "refs/heads/main", &payload)
        .extend(&world, Call::new(&world.work()));
    for flags in ["check", "check --all"] {
        let output = call.run(flags).expect(7);
        output.saying(&[
            "neither the event's commit",
            "ref: ${{ github.event.pull_request.head.sha }}",
        ]);
    }
    world.git(format!("checkout -q --detach {change}"));
    call.run("check").expect(1);
}

const EVENTS: [&str; 5] = [
    "workflow_dispatch",
    "issue_comment",
    "workflow_run",
    "repository_dispatch",
    "schedule",
];

#[test]
fn event_of_default_branch_takes_no_policy_from_commit_that_job_picks() {
    let world = change_that_weakens_gate();
    let change = head(&world);
    let main = world.git("rev-parse main");
    let platform = strict_platform();
    for event in EVENTS {
        let payload = json!({ "repository": repository(), "issue": { "number": 7 } });
        let on = |call: Call| {
            Job::github()
                .event(event, "refs/heads/main", &payload)
                .extend(&world, call)
                .variable("GITHUB_SHA", &main)
        };
        world.git("checkout -q change");
        for flags in [
            &["check"][..],
            &["check", "--new-only"],
            &["check", "--head", &change],
        ] {
            let output = on(Call::new(&world.work())).run(flags);
            assert_eq!(output.code, 1, "{event} {flags:?}: {}", output.all());
        }
        for command in ["review", "ci"] {
            for place in ["change", "main"] {
                world.git(&["checkout", "-q", place]);
                let output = on(platform.call(&world)).run(&[command, "--head", &change]);
                assert_eq!(output.code, 1, "{event} {command} at {place}: {}", output.all());
            }
        }
        let context = on(Call::new(&world.work()))
            .run(format!("context --json --head {change}"))
            .expect(0);
        let report = context.json();
        assert_eq!(report["branch"], "change");
        let policy = report["policy"].as_str().unwrap();
        assert!(
            policy.contains("sluicegate.yaml of `main`") && !policy.contains("head is on"),
            "{policy}"
        );
        // Counterpart: the default branch passes with its own policy.
        world.git("checkout -q main");
        on(Call::new(&world.work())).run("check").expect(0);
        on(platform.call(&world)).run("review").expect(0);
    }
}

#[test]
fn pick_without_default_branch_in_clone_is_judged_by_hosts_own_commit() {
    let world = change_that_weakens_gate();
    let main = world.git("rev-parse main");
    world.git("update-ref -d refs/remotes/origin/main");
    let payload = json!({ "repository": repository() });
    let call = Job::github()
        .event("issue_comment", "refs/heads/main", &payload)
        .extend(&world, Call::new(&world.work()));
    let output = call.variable("GITHUB_SHA", &main).run("check --all");
    assert_eq!(output.code, 1, "{}", output.all());
}

/// The host names another commit, so nothing shows that the picked one is on the default branch.
#[test]
fn pick_that_may_be_unmerged_has_no_known_findings() {
    let world = change_that_weakens_gate();
    let main = world.git("rev-parse main");
    world.git("commit -q --allow-empty -m later");
    world.git("update-ref -d refs/remotes/origin/main");
    let payload = json!({ "repository": repository() });
    let call = Job::github()
        .event("issue_comment", "refs/heads/main", &payload)
        .extend(&world, Call::new(&world.work()));
    let output = call
        .variable("GITHUB_SHA", &main)
        .run("check --all --new-only --head HEAD --policy base");
    assert_eq!(output.code, 1, "{}", output.all());
}

#[test]
fn other_hosts_have_runs_that_pick_their_commit_too() {
    let world = change_that_weakens_gate();
    let main = world.git("rev-parse main");
    let gitlab = Call::new(&world.work())
        .variable("GITLAB_CI", "true")
        .variable("CI_PIPELINE_SOURCE", "web")
        .variable("CI_DEFAULT_BRANCH", "main")
        .variable("CI_COMMIT_BRANCH", "main")
        .variable("CI_COMMIT_SHA", &main);
    gitlab.run("check").expect(1);
    let azure = Call::new(&world.work())
        .variable("TF_BUILD", "True")
        .variable("BUILD_REASON", "Manual")
        .variable("BUILD_SOURCEBRANCH", "refs/heads/main")
        .variable("BUILD_SOURCEVERSION", &main);
    azure.run("check").expect(1);
    let buildkite = Call::new(&world.work())
        .variable("BUILDKITE", "true")
        .variable("BUILDKITE_SOURCE", "ui")
        .variable("BUILDKITE_BRANCH", "main")
        .variable("BUILDKITE_PIPELINE_DEFAULT_BRANCH", "main")
        .variable("BUILDKITE_COMMIT", &main);
    buildkite.run("check").expect(1);
    // A push is about its own commit, so another checkout is an error.
    gitlab
        .variable("CI_PIPELINE_SOURCE", "push")
        .run("check")
        .expect(7);
    azure
        .variable("BUILD_REASON", "IndividualCI")
        .run("check")
        .expect(7);
    buildkite
        .variable("BUILDKITE_SOURCE", "webhook")
        .run("check")
        .expect(7);
}

#[test]
fn change_that_merged_default_branch_chooses_no_policy_either() {
    let world = change_that_weakens_gate();
    world.git("checkout -q main");
    world.write("note.txt", "more");
    world.commit("main goes on");
    world.push();
    let main = head(&world);
    world.git("checkout -q change");
    world.git("merge -q -m 'take in main' main");
    world.push();
    for event in EVENTS {
        let payload = json!({ "repository": repository() });
        let call = Job::github()
            .event(event, "refs/heads/main", &payload)
            .extend(&world, Call::new(&world.work()));
        let output = call.variable("GITHUB_SHA", &main).run("check");
        assert_eq!(output.code, 1, "{event}: {}", output.all());
    }
}

#[test]
fn merge_of_change_with_anything_but_its_target_is_another_commit() {
    let world = change_that_weakens_gate();
    let bad = head(&world);
    let payload = pull_request_payload(&world);
    world.git("checkout -q -b side main");
    world.write("side.txt", "side");
    world.commit("side");
    world.git("checkout -q change");
    world.git("merge -q --no-ff --no-commit side");
    world.write("bad.orch.yaml", orchestration_text(&["Start", "Good", "Done"]));
    world.commit("mended meanwhile");
    world.push();
    let call = Job::github()
        .event("pull_request", "refs/pull/7/merge", &payload)
        .extend(&world, Call::new(&world.work()))
        .variable("GITHUB_SHA", "4444444444444444444444444444444444444444");
    call.run("check").expect(7);
    call.run(format!("check --head {bad}")).expect(1);
}

#[test]
fn check_evaluates_checkout_of_gitlab_merge_train() {
    let world = change_that_weakens_gate();
    let source = head(&world);
    let base = world.git("merge-base origin/main HEAD");
    world.git("checkout -q --detach main");
    world.git("merge -q --squash change");
    world.git("commit -q -m squashed");
    let call = Call::new(&world.work())
        .variable("GITLAB_CI", "true")
        .variable("CI_PIPELINE_SOURCE", "merge_request_event")
        .variable("CI_DEFAULT_BRANCH", "main")
        .variable("CI_COMMIT_SHA", head(&world))
        .variable("CI_MERGE_REQUEST_IID", "7")
        .variable("CI_MERGE_REQUEST_PROJECT_ID", "5")
        .variable("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "5")
        .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "change")
        .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", &source)
        .variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
        .variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", base);
    call.run("check").expect(1);
}

#[test]
fn review_beside_another_checkout_names_its_commit() {
    let world = change_that_weakens_gate();
    let main = world.git("rev-parse main");
    let platform = strict_platform();
    let payload = json!({ "repository": repository() });
    let call = Job::github()
        .event("issue_comment", "refs/heads/main", &payload)
        .extend(&world, platform.call(&world));
    let call = call.variable("GITHUB_SHA", &main);
    let note = format!(
        "the checkout is at {}, but this review covers the event's commit",
        &head(&world)[..7]
    );
    call.run("review").expect(0).logging(&[&note]);
    let report = call.run("review --report json=-").expect(0).json();
    assert!(report["notes"].to_string().contains(&note), "{report:#}");
    // The note is a warning if there is no report, and omitted if the checkout is reviewed.
    call.run("review --dry-run").expect(0).saying(&[&note]);
    world.git("checkout -q --detach main");
    let report = call.run("review --report json=-").expect(0).json();
    assert!(
        !report["notes"].to_string().contains("the checkout is at"),
        "{report:#}"
    );
}

/// The event is about the commit of `change`; its author pushed a merge on top that has the files of `main`.
#[test]
fn edited_merge_of_the_change_is_another_commit_on_every_host() {
    let world = change_that_weakens_gate();
    let change = head(&world);
    let remote = world.remote().display().to_string();
    let pushed = json!({ "repository": repository(), "ref": "refs/heads/change",
        "before": "0".repeat(40), "after": change });
    let work = || Call::new(&world.work());
    let event = |name, reference, payload| {
        Job::github()
            .event(name, reference, payload)
            .extend(&world, work())
    };
    let mut jobs: Vec<(&str, Call)> = HOSTS
        .iter()
        .map(|(name, host)| (*name, host(&world, work())))
        .collect();
    jobs.push((
        "push",
        event("push", "refs/heads/change", &pushed).variable("SLUICEGATE_TARGET_REPOSITORY", &remote),
    ));
    let payload = pull_request_payload(&world);
    jobs.push((
        "pull_request_target",
        event("pull_request_target", "refs/heads/main", &payload),
    ));
    world.git("checkout -q main");
    world.write("note.txt", "more");
    world.commit("main goes on");
    world.push();
    for parents in [[change.as_str(), "main"], ["main", &change]] {
        let tree = "commit-tree main^{tree} -m edited";
        let merge = world.git((tree, &["-p", parents[0], "-p", parents[1]]));
        world.git(format!("checkout -q --detach {merge}"));
        for (name, call) in &jobs {
            let output = call.run("check");
            assert_eq!(output.code, 7, "{name}: {}", output.all());
            output.saying(&["nor an unedited merge of", "hint: "]);
        }
    }
    // Counterpart: the merge as git creates it.
    world.git(format!("checkout -q --detach {change}"));
    world.git("merge -q --no-ff -m 'with main' main");
    for (name, call) in &jobs {
        let output = call.run("check");
        assert_eq!(output.code, 1, "{name}: {}", output.all());
    }
}

#[test]
fn trial_merge_of_an_earlier_push_is_another_commit() {
    let world = change_that_weakens_gate();
    let bad = head(&world);
    world.git("rm -q bad.orch.yaml");
    let good = world.commit("without the bad pipeline");
    world.git("checkout -q --detach main");
    world.git(format!("merge -q --no-ff -m trial {good}"));
    let earlier = head(&world);
    world.git("checkout -q --detach main");
    world.git(format!("merge -q --no-ff -m trial {bad}"));
    let own = head(&world);
    for (name, host) in HOSTS {
        let variable = match name {
            "github" | "gitea" => "GITHUB_SHA",
            "azure" => "BUILD_SOURCEVERSION",
            _ => continue,
        };
        world.git(format!("checkout -q --detach {bad}"));
        let call = host(&world, Call::new(&world.work()));
        for (merge, code) in [(&earlier, 7), (&own, 1)] {
            world.git(format!("checkout -q --detach {merge}"));
            let output = call.clone().variable(variable, merge).run("check");
            assert_eq!(output.code, code, "{name}: {}", output.all());
        }
    }
}

/// Both parents of such a merge are in the target, and neither is the change.
#[test]
fn merge_in_the_target_without_the_change_is_another_commit() {
    let world = change_that_weakens_gate();
    let payload = pull_request_payload(&world);
    world.git("checkout -q -b side main");
    world.write("side.txt", "side");
    world.commit("side");
    world.git("checkout -q main");
    world.git("merge -q --no-ff --no-edit side");
    world.push();
    let call = Job::github()
        .event("pull_request", "refs/pull/7/merge", &payload)
        .extend(&world, Call::new(&world.work()))
        .variable("GITHUB_SHA", "4444444444444444444444444444444444444444");
    call.run("check").expect(7).saying(&["the checkout is at"]);
}

/// Such a commit is compared with the default branch, even if the run is on that branch.
#[test]
fn commit_that_the_job_picks_is_on_its_own_branch() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let main = world.git("rev-parse main");
    let payload = json!({ "repository": repository(), "issue": { "number": 7 } });
    let report = Job::github()
        .event("issue_comment", "refs/heads/main", &payload)
        .call(&world)
        .variable("GITHUB_SHA", &main)
        .run("check --report json=-")
        .expect(1)
        .json();
    assert_eq!(report["counts"]["files"], 1, "{report}");
    assert_eq!(report["context"]["branch"], "change", "{report}");
}

/// A job may give its local branch the name of the default branch.
#[test]
fn local_branch_of_a_job_is_not_the_branch_of_the_run() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    world.git("checkout -q -B main");
    let gitlab = |branch: &str| {
        Call::new(&world.work())
            .variable("GITLAB_CI", "true")
            .variable("CI_PIPELINE_SOURCE", "push")
            .variable("CI_DEFAULT_BRANCH", "main")
            .variable("CI_COMMIT_SHA", head(&world))
            .variable("CI_COMMIT_BRANCH", branch)
    };
    let jenkins_without_branch = Call::new(&world.work())
        .variable("JENKINS_URL", "https://ci.invalid/")
        .variable("BUILD_ID", "1")
        .variable("GIT_COMMIT", head(&world));
    let evaluated_count = |call: &Call| {
        let report = call.run("check --report json=-").expect(1).json();
        report["counts"]["files"].clone()
    };
    assert_eq!(evaluated_count(&gitlab("change")), 1);
    assert_eq!(evaluated_count(&jenkins_without_branch), 1);
    // Counterpart: a run on the default branch evaluates all pipelines.
    assert_eq!(evaluated_count(&gitlab("main")), 2);
}
