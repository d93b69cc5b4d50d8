//! The complete output of `sluicegate context`; the histories are the same on every run.

use crate::support::{Arguments, Checkout, EVERYTHING_FETCHED, Project, ZEROS, checkout};
use serde_json::json;

fn context_text(job: &Checkout, extra_args: impl Arguments) -> String {
    job.call().run(("context", extra_args)).expect(0).out
}

#[test]
fn context_on_laptop_matches_snapshot() {
    let project = Project::new();
    let world = &project.world;
    world.git("checkout -q feature");
    world.git("mv first.orch.yaml 'renamed first.orch.yaml'");
    world.git("rm -q old.orch.yaml");
    world.write("sluicegate.yaml", "exclude: ['**/*.tran.yaml']\n");
    world.commit("all kinds");
    insta::assert_snapshot!(context_text(&Checkout::new(&world.work(), &[]), ""), @"
    CI host        none (local run)
    event          local
    pull request   no
    fork           no
    tag            no
    branch         feature
    head           1731f1bfffaacdf048d82e4715117c8f2b028800
    on the remote  no: commit 1731f1bfffaacdf048d82e4715117c8f2b028800 is not on the remote, branch `feature`
    base           102f806df62a8a80e0c7918bb8ce6785804552dd
    because        the merge-base with the default branch `origin/main`
    policy         sluicegate.yaml of the checkout: the run is not on a CI host
    gate changed   by sluicegate.yaml: the file is new; exclude: + **/*.tran.yaml (relaxed)

    3 pipelines changed, 1 to review
      - deleted  old.orch.yaml            deleted
      + added    renamed first.orch.yaml  changed since the base
      - added    second.tran.yaml         matched by the setting `exclude`
    ");
}

#[test]
fn context_of_fork_on_github_matches_snapshot() {
    let project = Project::new();
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    let payload = json!({ "pull_request": {
        "number": 7,
        "head": { "ref": "feature", "sha": project.feature, "repo": { "full_name": "somebody/p" } },
        "base": { "ref": "main", "sha": project.main, "repo": { "full_name": "o/p" } }
    } });
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_SHA", &project.feature),
    ];
    let job = Checkout::new(&folder, &variables).with_remote_as_target();
    insta::assert_snapshot!(context_text(&job.payload(&payload), ""), @"
    CI host        github
    event          pull_request
    pull request   7
    fork           yes
    tag            no
    branch         feature
    head           cfe3032dc63c97f3a6a0e9a9e93fcf3cfacd070e
    on the remote  no: the branch `feature` belongs to a fork, and the platform reads the project's own remote only
    base           102f806df62a8a80e0c7918bb8ce6785804552dd
    because        the merge-base with the target branch `origin/main`
    policy         sluicegate.yaml of `main` at a2537bb (refs/remotes/origin/main)

    2 pipelines changed, 2 to review
      + added  first.orch.yaml   changed since the base
      + added  second.tran.yaml  changed since the base
    ");
}

#[test]
fn context_of_tag_without_branch_on_gitlab_matches_snapshot() {
    let project = Project::new();
    project.world.git(&["tag", "v1", &project.main]);
    project.world.git("push -q origin v1");
    let folder = checkout(
        &project.world,
        &["--depth=20", "+refs/tags/v1:refs/tags/v1"],
        &project.main,
    );
    let variables = [
        ("GITLAB_CI", "true"),
        ("CI_PIPELINE_SOURCE", "push"),
        ("CI_COMMIT_SHA", &project.main),
        ("CI_COMMIT_TAG", "v1"),
    ];
    insta::assert_snapshot!(context_text(&Checkout::new(&folder, &variables), "--exclude old*"), @"
    CI host        gitlab
    event          push
    pull request   no
    fork           no
    tag            v1
    branch         unknown: no branch contains the head commit
    head           a2537bb1ad95cef9f901d92713126ebf1f8ddcf4
    on the remote  no: no known remote branch contains commit a2537bb1ad95cef9f901d92713126ebf1f8ddcf4
    base           none
    because        a tag has no previous state
    policy         none: this clone does not know the remote's default branch (`git remote set-head origin BRANCH` in the job sets it)

    2 pipelines at head, 1 to review
      -  old.orch.yaml    matched by the setting `exclude`
      +  other.orch.yaml  all pipelines are selected: a tag has no previous state
    ");
}

/// Several branches may contain the commit, so they are not searched.
#[test]
fn context_without_branch_of_the_host_states_that_reason() {
    let project = Project::new();
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.main);
    let variables = [
        ("GITLAB_CI", "true"),
        ("CI_PIPELINE_SOURCE", "web"),
        ("CI_DEFAULT_BRANCH", "main"),
        ("CI_COMMIT_SHA", &project.main),
    ];
    let text = context_text(&Checkout::new(&folder, &variables), "");
    let branch = "branch         unknown: the CI host does not name the branch\n";
    assert!(text.contains(branch), "{text}");
    let on_main = variables.iter().chain(&[("CI_COMMIT_BRANCH", "main")]).copied();
    let text = context_text(&Checkout::new(&folder, &on_main.collect::<Vec<_>>()), "");
    let reason = "because        the run is on the default branch `main`\n";
    assert!(
        text.contains("branch         main\n") && text.contains(reason),
        "{text}"
    );
}

#[test]
fn context_of_changed_rules_matches_snapshot() {
    let project = Project::new();
    let world = &project.world;
    world.write(".platform/config/pipeline_quality_rules.yaml", "rules: []\n");
    let before = world.commit("rules");
    world.write(
        ".platform/config/pipeline_quality_rules.yaml",
        "rules: [] # stricter\n",
    );
    world.write("other.orch.yaml", "changed\n");
    let after = world.commit("stricter");
    world.push();
    let folder = checkout(world, &[EVERYTHING_FETCHED], &after);
    let variables = [
        ("GITLAB_CI", "true"),
        ("CI_PIPELINE_SOURCE", "push"),
        ("CI_COMMIT_SHA", &after),
        ("CI_COMMIT_BRANCH", "main"),
        ("CI_DEFAULT_BRANCH", "main"),
        ("CI_COMMIT_BEFORE_SHA", &before),
    ];
    insta::assert_snapshot!(context_text(&Checkout::new(&folder, &variables), ""), @"
    CI host        gitlab
    event          push
    pull request   no
    fork           no
    tag            no
    branch         main
    head           69a247ce3ae3dc555a7175e1fe136b5d72150716
    on the remote  yes
    base           4b2187a62d40bc5b88423d93ff9d8cc49bf2b363
    because        CI_COMMIT_BEFORE_SHA
    policy         none: the checkout has no sluicegate.yaml (head is on the default branch `main`)
    gate changed   by .platform/config/pipeline_quality_rules.yaml: no rule has changed
    all selected   the rules file .platform/config/pipeline_quality_rules.yaml changed

    1 pipeline changed, 2 to review
      + modified  other.orch.yaml  all pipelines are selected: the rules file .platform/config/pipeline_quality_rules.yaml changed
    ");
}

#[test]
fn context_of_deleted_branch_matches_snapshot() {
    let project = Project::new();
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.main);
    let payload = json!({
        "ref": "refs/heads/feature", "before": project.feature, "after": ZEROS,
        "repository": { "default_branch": "main" },
    });
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "push"),
        ("GITHUB_REF", "refs/heads/main"),
        ("GITHUB_SHA", &project.main),
    ];
    insta::assert_snapshot!(context_text(&Checkout::new(&folder, &variables).payload(&payload), ""), @"
    CI host        github
    event          push
    pull request   no
    fork           no
    tag            no
    branch         main
    head           a2537bb1ad95cef9f901d92713126ebf1f8ddcf4
    on the remote  not needed
    base           none
    because        nothing to do: the branch `feature` was deleted
    policy         none: the checkout has no sluicegate.yaml (head is on the default branch `main`)

    nothing to review: the branch `feature` was deleted
    ");
}
