//! The policy of a change is that of its target, on every host that names the target.

use crate::support::{Call, Platform, World, head, orchestration_text, project, respond_for_each};
use serde_json::json;

type Host = fn(&World, Call, &str) -> Call;

/// These events do not name the target's repository, so the job does.
fn jenkins_branch_build(world: &World, call: Call) -> Call {
    call.variable("JENKINS_URL", "https://ci.invalid/")
        .variable(
            "SLUICEGATE_TARGET_REPOSITORY",
            world.remote().display().to_string(),
        )
        .variable("BUILD_ID", "1")
        .variable("GIT_COMMIT", head(world))
        .variable("GIT_BRANCH", "origin/change")
}

/// Environments of a change from the branch `change` at HEAD to the given branch.
const HOSTS: [(&str, Host); 5] = [
    ("gitlab external", |world, call, target| {
        call.variable("GITLAB_CI", "true")
            .variable("CI_PIPELINE_SOURCE", "external_pull_request_event")
            .variable("CI_DEFAULT_BRANCH", "main")
            .variable("CI_COMMIT_SHA", head(world))
            .variable("CI_COMMIT_BRANCH", "change")
            .variable("CI_EXTERNAL_PULL_REQUEST_IID", "7")
            .variable("CI_EXTERNAL_PULL_REQUEST_SOURCE_REPOSITORY", "o/p")
            .variable("CI_EXTERNAL_PULL_REQUEST_TARGET_REPOSITORY", "o/p")
            .variable("CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME", "change")
            .variable("CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA", head(world))
            .variable("CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME", target)
            .variable(
                "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_SHA",
                world.git(format!("rev-parse origin/{target}")),
            )
    }),
    ("jenkins gitlab", |world, call, target| {
        jenkins_branch_build(world, call)
            .variable("gitlabActionType", "MERGE")
            .variable("gitlabMergeRequestIid", "7")
            .variable("gitlabSourceBranch", "change")
            .variable("gitlabTargetBranch", target)
            .variable("gitlabMergeRequestLastCommit", head(world))
    }),
    ("jenkins ghprb", |world, call, target| {
        jenkins_branch_build(world, call)
            .variable("ghprbPullId", "7")
            .variable("ghprbSourceBranch", "change")
            .variable("ghprbTargetBranch", target)
            .variable("ghprbActualCommit", head(world))
    }),
    ("jenkins pull requests", |world, call, target| {
        jenkins_branch_build(world, call)
            .variable("GITHUB_PR_NUMBER", "7")
            .variable("GITHUB_PR_SOURCE_BRANCH", "change")
            .variable("GITHUB_PR_TARGET_BRANCH", target)
            .variable("GITHUB_PR_HEAD_SHA", head(world))
    }),
    ("jenkins bitbucket", |world, call, target| {
        jenkins_branch_build(world, call)
            .variable("BITBUCKET_PULL_REQUEST_ID", "7")
            .variable("BITBUCKET_SOURCE_BRANCH", "change")
            .variable("BITBUCKET_TARGET_BRANCH", target)
    }),
];

/// Creates a lax `main`, a strict `release`, and the branch `change` on top of `release` with a pipeline of these
/// components.
fn lax_main_and_strict_release(components: &[&str]) -> World {
    let world = project();
    world.git("checkout -q -b release");
    world.write("sluicegate.yaml", "review: { fail-on: warn }\n");
    world.commit("strict");
    world.push();
    world.git("checkout -q main");
    world.write("sluicegate.yaml", "review: { fail-on: never }\n");
    world.commit("lax");
    world.push();
    world.git("checkout -q -b change release");
    world.write("new.orch.yaml", orchestration_text(components));
    world.commit("change");
    world.git("push -q origin HEAD:change");
    world
}

#[test]
fn change_to_strict_branch_gets_its_policy() {
    let world = lax_main_and_strict_release(&["Start", "wrong", "Done"]);
    let platform = Platform::new();
    let violation = json!([{ "ruleName": "component-naming-convention", "status": "FAILED", "enforcementLevel": "error",
        "violations": [{ "componentName": "wrong", "message": "wrong" }] }]);
    platform.reviews(respond_for_each("FAILED", violation));
    for (name, host) in HOSTS {
        for command in ["check", "review", "ci"] {
            let strict = host(&world, platform.call(&world), "release").run(&[command]);
            assert_eq!(strict.code, 1, "{name} {command}: {}", strict.all());
            // The same change to the lax branch gets the policy of that branch.
            let lax = host(&world, platform.call(&world), "main").run(&[command]);
            assert_eq!(lax.code, 0, "{name} {command}: {}", lax.all());
        }
        let context = host(&world, platform.call(&world), "release")
            .run("context --json")
            .expect(0)
            .json();
        assert_eq!(context["head"], head(&world), "{name}");
        assert_eq!(context["changed"].as_array().map(Vec::len), Some(1), "{name}");
    }
}

#[test]
fn good_change_to_strict_branch_passes() {
    let world = lax_main_and_strict_release(&["Start", "Done"]);
    for (name, host) in HOSTS {
        let output = host(&world, Call::new(&world.work()), "release").run("check");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
    }
}

/// A change in Gerrit is on no branch, so the platform cannot read it.
#[test]
fn gerrit_change_gets_policy_of_its_branch() {
    let world = lax_main_and_strict_release(&["Start", "wrong", "Done"]);
    let gerrit = |target: &str| {
        jenkins_branch_build(&world, Call::new(&world.work()))
            .variable("GERRIT_EVENT_TYPE", "patchset-created")
            .variable("GERRIT_CHANGE_NUMBER", "7")
            .variable("GERRIT_BRANCH", target)
            .variable("GERRIT_PATCHSET_REVISION", head(&world))
    };
    gerrit("release").run("check").expect(1);
    gerrit("main").run("check").expect(0);
}

/// The plugin merges the target into the change before the build.
#[test]
fn merge_by_jenkins_plugin_is_reviewed_as_its_change() {
    let world = lax_main_and_strict_release(&["Start", "wrong", "Done"]);
    let change = head(&world);
    world.git("checkout -q release");
    world.write("note.txt", "more");
    world.commit("release goes on");
    world.push();
    world.git(format!("checkout -q --detach {change}"));
    world.git("merge -q --no-edit release");
    let job = jenkins_branch_build(&world, Call::new(&world.work()))
        .variable("ghprbPullId", "7")
        .variable("ghprbSourceBranch", "change")
        .variable("ghprbTargetBranch", "release")
        .variable("ghprbActualCommit", &change);
    assert_eq!(job.run(&["context", "--json"]).expect(0).json()["head"], change);
    job.run("check").expect(1);
    world.write("other.txt", "not of the change");
    world.commit("on top");
    job.run("check").expect(7);
}
