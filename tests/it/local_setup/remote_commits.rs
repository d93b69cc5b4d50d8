//! A local clone, and the commits that the remote must have.

use crate::support::{ALL_OF_MAIN, Arguments, Checkout, FEATURE, Project, checkout, git};
use serde_json::Value;

fn local_checkout(project: &Project) -> Checkout {
    Checkout::new(&project.world.work(), &[])
}

fn check_out(project: &Project, arguments: impl Arguments) {
    project.world.git(("checkout -q", arguments));
}

#[test]
fn branch_is_compared_with_where_it_left_default_branch() {
    let project = Project::new();
    check_out(&project, "feature");
    local_checkout(&project)
        .says()
        .event("none", "local")
        .head("feature", &project.feature)
        .base(
            &project.fork,
            "the merge-base with the default branch `origin/main`",
        )
        .has("fork", false)
        .has("tag", Value::Null)
        .has("pullRequest", Value::Null)
        .changes(&FEATURE)
        .quietly();
}

#[test]
fn local_default_branch_selects_all_or_its_unpushed_changes() {
    let project = Project::new();
    local_checkout(&project)
        .says()
        .head("main", &project.main)
        .selects_everything("head is already in the default branch `origin/main`")
        .changes(&ALL_OF_MAIN);
    project.world.write("new.orch.yaml", "1");
    let head = project.world.commit("not pushed");
    local_checkout(&project)
        .says()
        .head("main", &head)
        .base(&project.main, "`origin/main`")
        .changes(&["A new.orch.yaml"]);
}

#[test]
fn uncommitted_files_are_not_selected() {
    let project = Project::new();
    check_out(&project, "feature");
    project.world.write("dirty.orch.yaml", "1");
    project.world.write("first.orch.yaml", "changed");
    local_checkout(&project)
        .says()
        .head("feature", &project.feature)
        .changes(&FEATURE);
}

#[test]
fn detached_head_is_on_remote_branch_that_holds_it() {
    let project = Project::new();
    check_out(&project, &["--detach", &project.before]);
    local_checkout(&project)
        .says()
        .head("feature", &project.before)
        .base(&project.fork, "`origin/main`")
        .changes(&["A first.orch.yaml"]);
    project.world.write("nowhere.orch.yaml", "1");
    let head = project.world.commit("nowhere");
    local_checkout(&project)
        .says()
        .has("branch", Value::Null)
        .has("head", head)
        .changes(&["A first.orch.yaml", "A nowhere.orch.yaml"]);
    local_checkout(&project)
        .review_call()
        .run("review")
        .expect(7)
        .saying(&["no known remote branch", "push the commit", "--branch"]);
}

#[test]
fn branch_is_called_as_on_remote() {
    let project = Project::new();
    check_out(&project, "-b mine feature");
    project.world.git("push -q -u origin HEAD:team/theirs");
    local_checkout(&project)
        .says()
        .head("team/theirs", &project.feature)
        .changes(&FEATURE);
}

#[test]
fn default_branch_has_name_that_remote_gives_it() {
    let project = Project::new();
    let world = &project.world;
    git(&world.remote(), "branch -q -m main trunk");
    git(world.path(), "clone -q --branch=feature remote.git other");
    Checkout::new(&world.path().join("other"), &[])
        .says()
        .head("feature", &project.feature)
        .base(&project.fork, "the default branch `origin/trunk`")
        .changes(&FEATURE);
}

#[test]
fn context_without_commit_or_repository_names_remedy() {
    let world = crate::support::World::new();
    Checkout::new(&world.work(), &[]).expect_unsettled(&["no commit yet", "hint:"]);
    Checkout::new(world.path(), &[]).expect_unsettled(&["no git repository", "--repo"]);
}

#[test]
fn unpushed_head_is_not_reviewed_but_explained() {
    let project = Project::new();
    check_out(&project, "-b fresh feature");
    project.world.write("new.orch.yaml", "1");
    let head = project.world.commit("not pushed");
    let never_pushed = vec![
        "the remote has no branch `fresh`",
        "hint: push the branch with `git push origin fresh`",
        "`sluicegate check`",
    ];
    let pushed_before_last_commit = vec![
        head.as_str(),
        "is not on the remote, branch `fresh`",
        "push the commit first",
        "`sluicegate check`",
    ];
    for expected_texts in [never_pushed, pushed_before_last_commit] {
        local_checkout(&project).says().head("fresh", &head);
        local_checkout(&project)
            .review_call()
            .run("review")
            .expect(7)
            .saying(&expected_texts);
        project.world.git("push -q origin HEAD~1:refs/heads/fresh");
    }
}

#[test]
fn review_on_unpushed_branch_of_merged_commit_names_branch() {
    let project = Project::new();
    check_out(&project, "-b topic --no-track origin/main");
    local_checkout(&project)
        .review_call()
        .run("review --all")
        .expect(7)
        .saying(&[
            "the remote has no branch `topic`",
            "hint: push the branch with `git push origin topic`",
        ]);
    project.world.git("remote remove origin");
    local_checkout(&project)
        .review_call()
        .run("review --all")
        .expect(7)
        .saying(&[
            "this clone has no remote",
            "hint: add the remote with `git remote add origin URL`",
        ]);
}

#[test]
fn job_in_clone_without_remote_branch_warns_and_sends_request() {
    let project = Project::new();
    let pipeline = format!("+{}:refs/pipelines/1", project.feature);
    let folder = checkout(&project.world, &["--depth=20", &pipeline], &project.feature);
    let job = Checkout::new(
        &folder,
        &[
            ("GITLAB_CI", "true"),
            ("CI_COMMIT_SHA", &project.feature),
            ("CI_MERGE_REQUEST_IID", "9"),
            ("CI_MERGE_REQUEST_PROJECT_ID", "5"),
            ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "5"),
            ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "feature"),
            ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &project.fork),
        ],
    );
    // The request is sent, but no server responds, and the local check has no rules file.
    job.review_call()
        .run("review")
        .expect(1)
        .saying(&["warning: could not determine whether the remote's branch `feature` contains commit"]);
}

#[test]
fn job_whose_branch_went_elsewhere_is_not_reviewed() {
    let project = Project::new();
    let specs = [
        "+refs/heads/main:refs/remotes/origin/main",
        "+refs/heads/main:refs/remotes/origin/feature",
    ];
    let folder = checkout(&project.world, &specs, "refs/remotes/origin/main");
    git(&folder, &["fetch", "-q", "origin", &project.feature]);
    let job = Checkout::new(
        &folder,
        &[
            ("CIRCLECI", "true"),
            ("CIRCLE_SHA1", &project.feature),
            ("CIRCLE_BRANCH", "feature"),
        ],
    );
    job.review_call()
        .run("review")
        .expect(7)
        .saying(&["is not on the remote, branch `feature`"]);
}
