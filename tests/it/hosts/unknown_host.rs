//! A CI host that the program does not know is not a local run: the change does not decide how it is reviewed, and does
//! not publish itself.

use crate::support::release::{publish_call, stage, versions};
use crate::support::{
    Call, Job, Platform, World, head, orchestration_text, project, repository, respond_for_each,
};
use serde_json::json;

/// Variables of hosts without a file of their own, and of any host.
const HOSTS: [&[(&str, &str)]; 6] = [
    &[("CI", "true")],
    &[("CI", "woodpecker"), ("CI_SYSTEM_NAME", "woodpecker")],
    &[("DRONE", "true"), ("DRONE_BRANCH", "main")],
    &[("TEAMCITY_VERSION", "2025.1")],
    &[("CODEBUILD_BUILD_ID", "p:1")],
    &[("BUILD_ID", "1"), ("PROJECT_ID", "p")],
];

const WAIVER: &str = "- { rule: component-naming-convention, path: bad.orch.yaml, reason: legacy }\n";

fn call_on_host(host: &[(&str, &str)], call: Call) -> Call {
    host.iter()
        .fold(call, |call, (name, value)| call.variable(name, value))
}

fn unknown_host_job(call: Call) -> Call {
    call.variable("CI", "true")
}

/// Creates a pushed branch `change` with a pipeline that breaks a rule, and these files.
fn bad_change_with_files(files: &[(&str, &str)]) -> World {
    let world = project();
    world.git("checkout -q -b change");
    world.write("bad.orch.yaml", orchestration_text(&["Start", "wrong", "Done"]));
    for (path, content) in files {
        world.write(path, content);
    }
    world.commit("change");
    world.push();
    world
}

#[test]
fn unknown_host_ignores_policy_and_waivers_of_change() {
    let platform = Platform::new();
    let violation = json!([{ "ruleName": "component-naming-convention", "status": "FAILED", "enforcementLevel": "error",
        "violations": [{ "componentName": "wrong", "message": "wrong" }] }]);
    platform.reviews(respond_for_each("FAILED", violation));
    for weakened in [
        &[("sluicegate.yaml", "review: { fail-on: never }\n")][..],
        &[("sluicegate.yaml", "exclude: [bad.orch.yaml]\n")],
        &[("sluicegate-waivers.yaml", WAIVER)],
    ] {
        let world = bad_change_with_files(weakened);
        for host in HOSTS {
            call_on_host(host, platform.call(&world)).run("check").expect(1);
        }
        unknown_host_job(platform.call(&world))
            .run("review --branch change")
            .expect(1);
        // A local run, or a job that says that it is one, reads the checkout.
        for local in [
            platform.call(&world),
            platform.call(&world).variable("CI", "false"),
            unknown_host_job(platform.call(&world)).variable("SLUICEGATE_CI", "none"),
        ] {
            local.run("check").expect(0);
        }
        unknown_host_job(platform.call(&world))
            .run("check --policy head")
            .expect(0);
    }
}

#[test]
fn unknown_host_ignores_config_dir_of_change() {
    let lax = "rules: []\n";
    let world = bad_change_with_files(&[
        (".other/config/pipeline_quality_rules.yaml", lax),
        ("sluicegate.yaml", "config-dir: .other\n"),
    ]);
    unknown_host_job(Call::new(&world.work())).run("check").expect(1);
    Call::new(&world.work()).run("check").expect(0);
}

#[test]
fn unknown_host_passes_good_change() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("good.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("change");
    world.push();
    for host in HOSTS {
        let output = call_on_host(host, Call::new(&world.work()))
            .run("check --report json=-")
            .expect(0);
        assert_eq!(output.json()["context"]["ci"], "unknown");
        assert!(output.out.contains("good.orch.yaml"), "{}", output.all());
    }
}

#[test]
fn context_and_doctor_name_unknown_host() {
    let world = project();
    let job = unknown_host_job(Call::new(&world.work()));
    let output = job.run("context").expect(0);
    assert!(output.out.contains("CI, unknown host"), "{}", output.all());
    assert!(
        output.out.contains("refs/remotes/origin/main"),
        "{}",
        output.all()
    );
    assert_eq!(job.run(&["context", "--json"]).expect(0).json()["ci"], "unknown");
    let checks = job.run("doctor");
    assert!(checks.out.contains("CI, unknown host"), "{}", checks.all());
    let local = Call::new(&world.work()).run("context").expect(0);
    assert!(local.out.contains("none (local run)"), "{}", local.all());
    let named_run = Call::new(&world.work()).run("context --ci unknown");
    assert!(named_run.expect(0).out.contains("CI, unknown host"));
}

#[test]
fn hints_name_variables_that_every_command_accepts() {
    let world = bad_change_with_files(&[]);
    let variables = [
        ("SLUICEGATE_CI", "unknown"),
        ("SLUICEGATE_HEAD", "HEAD"),
        ("SLUICEGATE_BRANCH", "change"),
        ("SLUICEGATE_BASE", "origin/main"),
    ];
    let incomplete_job = || Call::new(&world.work()).variable("GITLAB_CI", "true");
    let hint = "set SLUICEGATE_CI=unknown, SLUICEGATE_HEAD, SLUICEGATE_BRANCH and SLUICEGATE_BASE";
    incomplete_job().run("check").expect(7).saying(&[hint]);
    call_on_host(&variables, incomplete_job()).run("check").expect(1);

    world.git("remote set-head origin --delete");
    let unknown_job = || unknown_host_job(Call::new(&world.work()));
    let output = unknown_job().run("check").expect(7);
    let output = output.saying(&["run `git remote set-head origin --auto` first"]);
    assert!(!output.all().contains("SLUICEGATE_POLICY"), "{}", output.all());
    call_on_host(&variables, unknown_job())
        .variable("SLUICEGATE_POLICY", "head")
        .run("check")
        .expect(1);
}

#[test]
fn unknown_host_does_not_publish_change_that_lists_its_branch() {
    let (world, server) = stage();
    world.git("checkout -q -b change");
    world.write("sluicegate.yaml", "publish-on: { branches: [change, main] }\n");
    world.commit("publish me");
    world.push();
    for host in HOSTS {
        call_on_host(host, publish_call(&world, &server))
            .run("ci --version-name 1")
            .expect(0)
            .saying(&["nothing is published"]);
        // Whatever branch the job names, or reads: the commit must be in the default branch.
        for args in [
            "publish --version-name 1",
            "ci --version-name 1 --branch main --publish-on-branch main",
            "ci --version-name 1 --publish-on-branch change",
            "ci --version-name 1 --policy head",
        ] {
            call_on_host(host, publish_call(&world, &server))
                .run(args)
                .expect(7)
                .saying(&["is not merged", "only commits on the default branch"]);
        }
    }
    assert_eq!(versions(&world, &server), []);
}

#[test]
fn unknown_host_publishes_commit_of_default_branch() {
    for checkout in ["checkout -q main", "checkout -q --detach main"] {
        let (world, server) = stage();
        world.write("sluicegate.yaml", "publish-on: { branches: [main] }\n");
        world.commit("publish");
        world.push();
        world.git(checkout);
        unknown_host_job(publish_call(&world, &server))
            .run("ci --version-name 1")
            .expect(0);
        assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
    }
}

#[test]
fn unknown_host_without_default_branch_lists_variables() {
    let (world, server) = stage();
    world.git("remote set-head origin -d");
    world.git("checkout -q -b change");
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "More", "Done"]),
    );
    world.commit("change");
    world.push();
    let job = unknown_host_job(publish_call(&world, &server));
    for args in [
        &["check"][..],
        &["context"],
        &["diff"],
        &["review", "--branch", "change"],
        &["ci", "--version-name", "1"],
        &["publish", "--version-name", "1"],
    ] {
        job.run(args).expect(7).saying(&[
            "on an unknown CI host",
            "does not know the remote's default branch",
            "git remote set-head origin --auto",
            "SLUICEGATE_BASE",
            "SLUICEGATE_BRANCH",
        ]);
    }
    assert!(job.run(&["doctor"]).out.contains("on an unknown CI host"));
    assert_eq!(versions(&world, &server), []);
    let named_args = "--policy head --base origin/main";
    job.run(("check", named_args)).expect(0);
    job.run(("review --branch change", named_args)).expect(0);
    // The remote itself knows its default branch.
    for args in [
        &["check", "--deepen"][..],
        &["check", "--deepen", "--base", "origin/main"],
    ] {
        job.run(args).expect(0);
    }
    world.git("remote set-head origin main");
    job.run("check").expect(0);
    // A commit that is on no branch of the remote has no branch to review.
    world.git("checkout -q --detach");
    world.commit("local");
    job.run("review").expect(7).saying(&[
        "the branch of this run is unknown: the CI host does not name it",
        "SLUICEGATE_BRANCH",
    ]);
    // The same if only the clone has a branch with the commit.
    world.git("checkout -q -b unpushed");
    job.run("review")
        .expect(7)
        .saying(&["the branch of this run is unknown", "SLUICEGATE_BRANCH"]);
    assert!(!head(&world).is_empty());
}

/// With the job's own policy, only the base depends on the default branch.
#[test]
fn unknown_host_without_default_branch_has_no_base() {
    let world = bad_change_with_files(&[]);
    world.git("remote set-head origin --delete");
    let output = unknown_host_job(Call::new(&world.work()))
        .run("check --policy head")
        .expect(7);
    output.saying(&["could not determine the base on an unknown CI host"]);
    unknown_host_job(Call::new(&world.work()))
        .run("check --policy head --base origin/main")
        .expect(1);
}

/// The branch of a selected commit is inferred on a known host; an unknown host must name it.
#[test]
fn selected_commit_on_no_branch_is_reported_by_what_the_host_shows() {
    let world = bad_change_with_files(&[]);
    world.git("checkout -q --detach");
    world.write("more.orch.yaml", orchestration_text(&["Start", "Done"]));
    let commit = world.commit("on no branch");
    world.git("checkout -q main");
    let platform = Platform::new();
    let review = format!("review --dry-run --head {commit}");
    let payload = json!({ "repository": repository() });
    Job::github()
        .event("issue_comment", "refs/heads/main", &payload)
        .extend(&world, platform.call(&world))
        .run(&review)
        .expect(7)
        .saying(&[&format!("no known remote branch contains commit {commit}")]);
    unknown_host_job(platform.call(&world))
        .run(&review)
        .expect(7)
        .saying(&["the branch of this run is unknown"]);
}

#[test]
fn unknown_host_takes_the_default_branch_of_the_target_repository() {
    let world = project();
    // The clone of the target's repository, which also has a remote for a fork.
    world.git("branch -q trunk");
    world.git("push -q origin trunk");
    let fork = world.path().join("fork.git");
    world.git(format!(
        "clone -q --bare {} {}",
        world.remote().display(),
        fork.display()
    ));
    world.git("remote rename origin target");
    world.git(format!("remote add -f origin {}", fork.display()));
    world.git("remote set-head origin main");
    world.git("remote set-head target trunk");
    world.git("checkout -q --detach main");
    for (target, branch) in [(world.remote(), "trunk"), (fork, "main")] {
        let args = format!("context -o json --target-repository {}", target.display());
        let output = unknown_host_job(Call::new(&world.work())).run(&args).expect(0);
        assert_eq!(output.json()["branch"], json!(branch));
    }
}
