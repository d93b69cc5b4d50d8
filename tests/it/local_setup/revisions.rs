//! A local clone.

use crate::support::{Call, Project, World, git, offer, open, orchestration_text};
use sluicegate::env::Env;
use sluicegate::job::ci::{self, CiContext, Host};
use sluicegate::job::context::{self, ContextError, RequestedRevisions, Target};
use sluicegate_git::{CommitId, GitError};
use std::path::Path;

/// Returns a context without a CI host.
fn nobody() -> CiContext {
    let context = ci::detect_context(&Env::default(), None).unwrap();
    assert_eq!(context.host, Host::None);
    context
}

fn settle(folder: &Path, ci: &CiContext) -> Result<Target, ContextError> {
    context::resolve_target(&open(folder), ci, &RequestedRevisions::default())
}

/// Returns the base, or `None` if all files are selected.
fn base(target: &Target) -> Option<&str> {
    target.bases.first().map(CommitId::as_str)
}

fn resolve_revisions(project: &Project, wish: &RequestedRevisions) -> Result<Target, ContextError> {
    context::resolve_target(&open(&project.world.work()), &nobody(), wish)
}

fn on_remote(world: &World, target: &Target) -> Result<Option<String>, ContextError> {
    target.check_head_on_remote(&open(&world.work()))
}

#[test]
fn detached_head_is_on_remote_branch_that_holds_it() {
    let project = Project::new();
    let world = &project.world;
    world.git(&["checkout", "-q", "--detach", &project.feature]);
    let target = settle(&world.work(), &nobody()).unwrap();
    assert_eq!(target.require_branch().unwrap(), "feature");
    world.git(&["checkout", "-q", "--detach", &project.fork]);
    assert_eq!(
        settle(&world.work(), &nobody()).unwrap().branch.as_deref(),
        Some("main")
    );
    world.commit("nowhere");
    let target = settle(&world.work(), &nobody()).unwrap();
    assert!(matches!(
        target.require_branch(),
        Err(ContextError::NoBranch { .. })
    ));
    assert!(matches!(
        on_remote(world, &target),
        Err(ContextError::NoBranch { .. })
    ));
}

#[test]
fn branch_is_named_as_on_remote() {
    let project = Project::new();
    let world = &project.world;
    world.git("checkout -q -b mine feature");
    world.git("push -q -u origin HEAD:theirs");
    assert_eq!(
        settle(&world.work(), &nobody()).unwrap().branch.as_deref(),
        Some("theirs")
    );
    world.git("checkout -q -b follower --track origin/main");
    world.commit("more");
    world.git("push -q origin follower");
    let target = settle(&world.work(), &nobody()).unwrap();
    assert_eq!(
        target.branch.as_deref(),
        Some("follower"),
        "pushed under its own name, though it follows main"
    );
    assert_eq!(on_remote(world, &target).unwrap(), None);
}

#[test]
fn context_without_remote_selects_all_and_refuses_remote_review() {
    let project = Project::new();
    project.world.git("remote remove origin");
    let target = settle(&project.world.work(), &nobody()).unwrap();
    assert_eq!(base(&target), None);
    assert!(
        target.base_source.contains("this clone has no remote"),
        "{}",
        target.base_source
    );
    assert!(on_remote(&project.world, &target).is_err());
}

#[test]
fn requested_revisions_win_over_default() {
    let project = Project::new();
    let ask = |wish: RequestedRevisions| resolve_revisions(&project, &wish).unwrap();
    let text = |text: &str| Some(text.to_owned());
    let head = ask(RequestedRevisions {
        head: text("feature"),
        ..RequestedRevisions::default()
    });
    assert_eq!(
        (head.head.as_str(), head.branch.as_deref()),
        (project.feature.as_str(), Some("feature"))
    );
    assert_eq!(base(&head), Some(project.fork.as_str()));
    let remote = ask(RequestedRevisions {
        head: text("origin/feature"),
        ..RequestedRevisions::default()
    });
    assert_eq!(remote.branch.as_deref(), Some("feature"));
    let id = ask(RequestedRevisions {
        head: text(&project.before),
        ..RequestedRevisions::default()
    });
    assert_eq!(id.branch.as_deref(), Some("feature"));
    let all = ask(RequestedRevisions {
        head: text("feature"),
        all: true,
        ..RequestedRevisions::default()
    });
    assert_eq!(base(&all), None);
    let based = ask(RequestedRevisions {
        head: text("feature"),
        base: text("main"),
        ..RequestedRevisions::default()
    });
    assert_eq!(
        base(&based),
        Some(project.fork.as_str()),
        "the merge-base, not the tip of main"
    );
    let named = ask(RequestedRevisions {
        branch: text("other"),
        ..RequestedRevisions::default()
    });
    assert_eq!(named.branch.as_deref(), Some("other"));
}

#[test]
fn revisions_that_cannot_be_used_are_named() {
    let project = Project::new();
    let world = &project.world;
    world.git("checkout -q --orphan alone");
    world.commit("alone");
    for wish in [
        RequestedRevisions {
            base: Some("nothing".to_owned()),
            ..RequestedRevisions::default()
        },
        RequestedRevisions {
            head: Some("nothing".to_owned()),
            ..RequestedRevisions::default()
        },
    ] {
        let error = resolve_revisions(&project, &wish).unwrap_err();
        assert!(
            matches!(&error, ContextError::Git(GitError::UnknownRevision { revision, .. }) if revision == "nothing")
        );
        assert!(error.hint().is_some());
    }
    let failure = resolve_revisions(
        &project,
        &RequestedRevisions {
            base: Some("main".to_owned()),
            ..RequestedRevisions::default()
        },
    )
    .unwrap_err();
    assert!(
        matches!(failure, ContextError::NoCommonHistory { .. }),
        "{failure}"
    );
    let target = settle(&world.work(), &nobody()).unwrap();
    assert_eq!(base(&target), None);
    assert!(
        target.base_source.contains("no commit in common"),
        "{}",
        target.base_source
    );
}

#[test]
fn shallow_clone_will_do_if_no_base_is_needed() {
    let project = Project::new();
    let url = format!("file://{}", project.world.remote().display());
    git(
        project.world.path(),
        format!("clone -q --depth=1 --no-single-branch -b feature {url} shallow"),
    );
    let shallow = project.world.path().join("shallow");
    let error = settle(&shallow, &nobody()).unwrap_err();
    assert!(matches!(error, ContextError::Shallow { .. }), "{error}");
    let target = context::resolve_target(
        &open(&shallow),
        &nobody(),
        &RequestedRevisions {
            all: true,
            ..RequestedRevisions::default()
        },
    )
    .unwrap();
    assert_eq!(
        (target.head.as_str(), base(&target)),
        (project.feature.as_str(), None)
    );
    assert_eq!(target.check_head_on_remote(&open(&shallow)).unwrap(), None);
}

#[test]
fn unknown_default_branch_of_shallow_clone_is_reported_once() {
    let world = World::new().with_pipeline("a.orch.yaml", &["Start", "Done"]);
    world.write(".platform/shared-pipelines.yaml", offer(&[("a", "")]));
    world.commit("share");
    world.git("push -q origin HEAD:refs/heads/feature");
    let url = format!("file://{}", world.remote().display());
    git(
        world.path(),
        format!("clone -q --depth=1 --single-branch -b feature {url} shallow"),
    );
    let call = Call::new(&world.path().join("shallow"));
    for args in ["check", "check --compat fail", "diff"] {
        let output = call.run(args);
        let text = output.all();
        let count = text.matches("the remote's default branch").count();
        assert_eq!((output.code, count), (0, 1), "{args}: {text}");
        assert!(!text.contains("all pipelines are selected"), "{args}: {text}");
    }
}

#[test]
fn requested_base_in_repository_without_commit_is_an_error() {
    let world = World::new();
    world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]));
    let call = Call::new(&world.work());
    call.run("check").expect(0);
    let output = call.run("check --base main");
    assert_eq!(output.code, 7, "{}", output.all());
}

/// A branch is named by its reference, not by another one that contains the commit.
#[test]
fn head_of_merged_branch_keeps_the_name_of_its_branch() {
    let project = Project::new();
    let world = &project.world;
    world.git(&["push", "-q", "origin", "origin/main~1:refs/heads/zeta"]);
    world.git("fetch -q origin");
    let revisions = RequestedRevisions {
        head: Some("origin/zeta".to_owned()),
        ..RequestedRevisions::default()
    };
    let target = resolve_revisions(&project, &revisions).unwrap();
    assert_eq!(target.branch.as_deref(), Some("zeta"));
    let by_id = RequestedRevisions {
        head: Some(world.git("rev-parse origin/zeta")),
        ..RequestedRevisions::default()
    };
    let target = resolve_revisions(&project, &by_id).unwrap();
    assert_eq!(target.branch.as_deref(), Some("main"));
}
