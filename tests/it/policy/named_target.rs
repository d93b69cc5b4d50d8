//! A run that goes to another branch than the default one uses the policy of its target, in a merge queue and without a
//! number of the change, too.

use crate::support::{Call, HOSTS, World, orchestration_text, project};

/// Creates a `main` on which no finding fails the gate, a strict `production`, and a `change` with a bad pipeline that
/// goes to `production`.
fn bad_change_for_production() -> World {
    let world = project();
    world.write("sluicegate.yaml", "review: { fail-on: error }\n");
    world.commit("configure");
    world.push();
    world.git("push -q origin HEAD:refs/heads/production");
    world.git("checkout -q -b change");
    world.write(
        "bad.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("change");
    world.push();
    world.git("checkout -q main");
    world.write("sluicegate.yaml", "review: { fail-on: never }\n");
    world.commit("relax");
    world.push();
    world.git("checkout -q change");
    world.git("fetch -q origin");
    world.git("remote set-head origin main");
    world
}

/// Adds the variables, in which `<head>` is the id of the checked-out commit and `<base>` that of `production`.
fn with_variables(world: &World, variables: &str) -> Call {
    let (head, base) = (
        world.git("rev-parse HEAD"),
        world.git("rev-parse origin/production"),
    );
    let mut call = Call::new(&world.work());
    for variable in variables
        .replace("<head>", &head)
        .replace("<base>", &base)
        .split(' ')
    {
        let (name, value) = variable.split_once('=').unwrap();
        call = call.variable(name, value);
    }
    call
}

/// Every host that builds a branch of a repository on GitHub, with the branch QUEUE.
const PUSHES: [&str; 6] = [
    "BUILDKITE=true BUILDKITE_COMMIT=<head> BUILDKITE_BRANCH=QUEUE BUILDKITE_PULL_REQUEST=false",
    "CIRCLECI=true CIRCLE_SHA1=<head> CIRCLE_BRANCH=QUEUE",
    "JENKINS_URL=https://ci.invalid/ BUILD_ID=1 GIT_COMMIT=<head> BRANCH_NAME=QUEUE",
    "TF_BUILD=True BUILD_SOURCEVERSION=<head> BUILD_REASON=IndividualCI BUILD_SOURCEBRANCH=refs/heads/QUEUE",
    "GITHUB_ACTIONS=true GITHUB_EVENT_NAME=push GITHUB_SHA=<head> GITHUB_REF=refs/heads/QUEUE",
    "GITLAB_CI=true CI_COMMIT_SHA=<head> CI_COMMIT_BRANCH=QUEUE CI_PIPELINE_SOURCE=push CI_DEFAULT_BRANCH=main",
];

#[test]
fn name_of_branch_does_not_choose_the_policy() {
    let world = bad_change_for_production();
    for variables in PUSHES {
        // Anyone who can push a branch chooses its name, so the policy of the default branch applies.
        for branch in ["change", "gh-readonly-queue/production/pr-5-<base>"] {
            let call = with_variables(&world, &variables.replace("QUEUE", branch));
            call.run("check").expect(0);
        }
    }
}

#[test]
fn buildkite_merge_queue_is_compared_with_its_base_and_its_target() {
    let world = bad_change_for_production();
    let bad = world.git("rev-parse HEAD");
    world.write("good.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("queued after the bad change");
    let build = format!(
        "BUILDKITE=true BUILDKITE_SOURCE=webhook BUILDKITE_COMMIT=<head> BUILDKITE_BRANCH=queue \
         BUILDKITE_PULL_REQUEST=false BUILDKITE_REPO=git@git.example:o/p.git \
         BUILDKITE_MERGE_QUEUE_BASE_COMMIT={bad}"
    );
    for (target, code) in [("production", 1), ("main", 0)] {
        let queue = format!("{build} BUILDKITE_MERGE_QUEUE_BASE_BRANCH={target}");
        let output = with_variables(&world, &queue)
            .run("check --report json=-")
            .expect(code);
        assert_eq!(output.json()["counts"]["files"], 2, "{}", output.out);
    }
    let output = with_variables(&world, &build).run("check").expect(7);
    output.saying(&["BUILDKITE_MERGE_QUEUE_BASE_BRANCH"]);
}

/// The variables of the number and of the target of a change on each host without an event payload.
const CHANGE_VARIABLES: [(&str, &str, &str); 5] = [
    (
        "gitlab",
        "CI_MERGE_REQUEST_IID",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
    ),
    (
        "azure",
        "SYSTEM_PULLREQUEST_PULLREQUESTID",
        "SYSTEM_PULLREQUEST_TARGETBRANCH",
    ),
    ("bitbucket", "BITBUCKET_PR_ID", "BITBUCKET_PR_DESTINATION_BRANCH"),
    ("jenkins", "CHANGE_ID", "CHANGE_TARGET"),
    (
        "buildkite",
        "BUILDKITE_PULL_REQUEST",
        "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
    ),
];

/// Returns a call in the job of the change on this host.
fn call_of_change(world: &World, host: &str) -> Call {
    let (_, extend) = HOSTS.into_iter().find(|(name, _)| *name == host).unwrap();
    extend(world, Call::new(&world.work()))
}

#[test]
fn check_of_change_without_number_uses_policy_of_named_target() {
    let world = bad_change_for_production();
    for (host, number, target) in CHANGE_VARIABLES {
        for (branch, code) in [("production", 1), ("main", 0)] {
            // GitLab's event names the request as well.
            let call = call_of_change(&world, host)
                .variable("CI_PIPELINE_SOURCE", "unknown")
                .variable(number, "")
                .variable(target, branch);
            call.run("check").expect(code);
        }
    }
}

#[test]
fn check_of_change_without_named_target_exits_with_7() {
    let world = bad_change_for_production();
    for (host, _, target) in CHANGE_VARIABLES {
        let output = call_of_change(&world, host)
            .variable(target, "")
            .run("check --all");
        assert_eq!(output.code, 7, "{host}: {}", output.all());
        output.saying(&[&format!("the variable {target} is not set")]);
    }
}

/// A job that passes variables into a container one by one may omit the variable that identifies the host.
#[test]
fn check_of_change_without_variable_of_host_exits_with_7() {
    let world = bad_change_for_production();
    for (host, variable) in [
        ("gitlab", "GITLAB_CI"),
        ("azure", "TF_BUILD"),
        ("bitbucket", "BITBUCKET_BUILD_NUMBER"),
        ("jenkins", "JENKINS_URL"),
        ("jenkins", "BUILD_ID"),
        ("buildkite", "BUILDKITE"),
    ] {
        for ci in ["", "true"] {
            let call = call_of_change(&world, host)
                .variable(variable, "")
                .variable("CI", ci);
            let output = call.run("check");
            assert_eq!(output.code, 7, "{host} {ci:?}: {}", output.all());
            let name = format!("name the host with SLUICEGATE_CI={host}");
            output.saying(&[&format!("the variable {variable} is not set"), &name]);
            call.run("check --ci unknown --head HEAD --base origin/main")
                .expect(0);
        }
    }
    // A plugin of Jenkins names the target of a push, too.
    for (action, code) in [("PUSH", 0), ("MERGE", 7)] {
        let call = Call::new(&world.work())
            .variable("CI", "true")
            .variable("gitlabTargetBranch", "main")
            .variable("gitlabActionType", action);
        call.run("check --head HEAD --base origin/main").expect(code);
    }
}
