//! Buildkite: <https://buildkite.com/docs/pipelines/configure/environment-variables>. The agent clones the entire
//! repository and checks out the commit, for a pull request from `refs/pull/N/head`.

use crate::support::{
    ALL_OF_MAIN, Checkout, EVERYTHING_FETCHED, FEATURE, Project, bad_pipeline, change, checkout, git,
};
use std::path::Path;

fn buildkite_job(folder: &Path, branch: &str, commit: &str, extra_variables: &[(&str, &str)]) -> Checkout {
    let base_variables = [
        ("BUILDKITE", "true"),
        ("BUILDKITE_SOURCE", "webhook"),
        ("BUILDKITE_BRANCH", branch),
        ("BUILDKITE_COMMIT", commit),
        ("BUILDKITE_REPO", "git@github.com:o/p.git"),
        ("BUILDKITE_PIPELINE_DEFAULT_BRANCH", "main"),
        ("BUILDKITE_PULL_REQUEST", "false"),
        ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", ""),
        ("BUILDKITE_PULL_REQUEST_REPO", ""),
        ("BUILDKITE_TAG", ""),
        ("BUILDKITE_BUILD_NUMBER", "7"),
    ];
    Checkout::new(folder, &base_variables).with_variables(extra_variables)
}

fn pull_request_variables(repository: &str) -> [(&str, &str); 3] {
    [
        ("BUILDKITE_PULL_REQUEST", "5"),
        ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main"),
        ("BUILDKITE_PULL_REQUEST_REPO", repository),
    ]
}

#[test]
fn branch_is_compared_with_default_branch() {
    let project = Project::new();
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    for source in ["webhook", "ui", "schedule"] {
        buildkite_job(
            &folder,
            "feature",
            &project.feature,
            &[("BUILDKITE_SOURCE", source)],
        )
        .says()
        .event("buildkite", source)
        .head("feature", &project.feature)
        .base(&project.fork, "the default branch `origin/main`")
        .has("pullRequest", serde_json::Value::Null)
        .changes(&FEATURE)
        .quietly();
    }
}

#[test]
fn commit_that_reads_head_is_what_is_checked_out() {
    let project = Project::new();
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    buildkite_job(&folder, "feature", "HEAD", &[("BUILDKITE_SOURCE", "ui")])
        .says()
        .head("feature", &project.feature)
        .base(&project.fork, "`origin/main`")
        .changes(&FEATURE);
}

#[test]
fn pull_request_is_compared_with_its_base_branch() {
    let project = Project::new();
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    for same in [
        "git@github.com:o/p.git",
        "https://github.com/O/p.git",
        "git://github.com/o/p",
    ] {
        buildkite_job(
            &folder,
            "feature",
            &project.feature,
            &pull_request_variables(same),
        )
        .says()
        .has("pullRequest", 5)
        .has("fork", false)
        .head("feature", &project.feature)
        .base(&project.fork, "the target branch `origin/main`")
        .changes(&FEATURE);
    }
}

#[test]
fn pull_request_of_fork_is_not_sent() {
    let project = Project::new();
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    let job = buildkite_job(
        &folder,
        "somebody:feature",
        &project.feature,
        &pull_request_variables("git://github.com/somebody/p.git"),
    )
    .with_remote_as_target();
    job.says().has("fork", true).changes(&FEATURE);
    job.leaves_the_fork();
}

#[test]
fn run_on_default_branch_selects_all_pipelines() {
    let project = Project::new();
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.main);
    buildkite_job(&folder, "main", &project.main, &[])
        .says()
        .head("main", &project.main)
        .selects_everything("the run is on the default branch `main`")
        .changes(&ALL_OF_MAIN);
}

/// A user can start a build of any branch with any commit, so that only a push shows the branch of the commit.
#[test]
fn build_of_unmerged_commit_as_default_branch_takes_no_policy_from_it() {
    let world = change(&[
        ("b.orch.yaml", &bad_pipeline()),
        ("sluicegate.yaml", "review: { fail-on: never }\n"),
    ]);
    let commit = world.git("rev-parse HEAD");
    let folder = checkout(&world, &["change"], &commit);
    let run = |source: &str, command: &str| {
        let job = buildkite_job(&folder, "main", &commit, &[("BUILDKITE_SOURCE", source)]);
        job.with_remote_as_target().call().run(command)
    };
    for source in ["ui", "api"] {
        run(source, "check").expect(1);
    }
    run("webhook", "check").expect(0);
    run("ui", "check --deepen").expect(1);
    let policy = git(&folder, "rev-parse origin/main");
    assert_eq!(policy, world.git("rev-parse origin/main"));
}

#[test]
fn tag_is_everything_on_branch_that_holds_it() {
    let project = Project::new();
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.main);
    buildkite_job(&folder, "v1", &project.main, &[("BUILDKITE_TAG", "v1")])
        .says()
        .head("main", &project.main)
        .has("tag", "v1")
        .selects_everything("a tag has no previous state")
        .changes(&ALL_OF_MAIN);
}

#[test]
fn shallow_clone_ends_with_flags_to_look_at() {
    let project = Project::new();
    let refs = ["--depth=1", EVERYTHING_FETCHED];
    let folder = checkout(&project.world, &refs, &project.feature);
    buildkite_job(&folder, "feature", &project.feature, &[])
        .expect_unsettled(&["the clone is shallow", "BUILDKITE_GIT_CLONE_FLAGS"]);
}

/// The agent fetches the merge without a reference of its own. `BUILDKITE_COMMIT` is `HEAD`, the merge or its head.
#[test]
fn test_merge_of_pull_request_is_reviewed_as_its_head() {
    let project = Project::new();
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    git(&folder, "checkout -q --detach origin/main");
    git(&folder, "merge -q --no-ff -m merge origin/feature");
    let merge = git(&folder, "rev-parse HEAD");
    let repository = "git@github.com:o/p.git";
    for commit in ["HEAD", &merge, &project.feature] {
        buildkite_job(&folder, "feature", commit, &pull_request_variables(repository))
            .with_variables(&[("BUILDKITE_PULL_REQUEST_USING_MERGE_REFSPEC", "true")])
            .says()
            .has("fork", false)
            .head("feature", &project.feature)
            .base(&project.fork, "the target branch `origin/main`")
            .changes(&FEATURE);
    }
    // Without the variable, the commit is one of the change.
    buildkite_job(&folder, "feature", &merge, &pull_request_variables(repository))
        .says()
        .head("feature", &merge);
}

/// GitHub's "Update branch" merges the target into the branch. The agent fetches this head without a reference.
#[test]
fn head_that_merged_the_target_is_reviewed_itself() {
    let project = Project::new();
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    git(&folder, "merge -q --no-ff -m update origin/main");
    let updated = git(&folder, "rev-parse HEAD");
    let variables = pull_request_variables("git@github.com:o/p.git");
    let merge_checkout = [("BUILDKITE_PULL_REQUEST_USING_MERGE_REFSPEC", "true")];
    buildkite_job(&folder, "feature", &updated, &variables)
        .with_variables(&merge_checkout)
        .says()
        .head("feature", &updated)
        .base(&project.main, "the target branch `origin/main`")
        .changes(&FEATURE);
    // The trial merge of this head is reviewed as the head.
    git(&folder, "checkout -q --detach origin/main");
    git(&folder, &format!("merge -q --no-ff -m merge {updated}"));
    let merge = git(&folder, "rev-parse HEAD");
    buildkite_job(&folder, "feature", &merge, &variables)
        .with_variables(&merge_checkout)
        .says()
        .head("feature", &updated)
        .changes(&FEATURE);
    // The clone's copy of the target is older than the merged commit.
    git(
        &folder,
        &format!("update-ref refs/remotes/origin/main {}", project.fork),
    );
    for commit in [&updated, &merge] {
        buildkite_job(&folder, "feature", commit, &variables)
            .with_variables(&merge_checkout)
            .expect_unsettled(&[commit, "a merge created by buildkite", "--deepen"]);
    }
}
