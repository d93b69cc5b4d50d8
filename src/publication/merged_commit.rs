//! Allows a CI job to publish only merged commits. Local users are responsible for the commit that they publish.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::ci::Host;
use crate::job::context::{self, Target};
use crate::job::settings::PublishOn;
use crate::session::Session;
use crate::workspace::Workspace;
use sluicegate_git::GitError;

/// Warns in a local run if no branch of the remote contains the commit, because its hash is published. Removes the
/// branch from `target` if that branch of the remote does not contain the commit, because its name would be published,
/// too; a warning says so if another branch contains the commit. Without a remote, only warns. Does nothing in a
/// shallow clone, whose history is incomplete.
pub(crate) fn warn_of_unpushed_commit(
    session: &Session,
    workspace: &Workspace<'_>,
    target: &mut Target,
) -> Result<(), GitError> {
    let repo = &workspace.repo;
    if !workspace.ci.host.is_local() || repo.is_shallow() {
        return Ok(());
    }
    let has_remote_branches = !repo.list_remote_branches()?.is_empty();
    let branches = repo.find_remote_branches_with_commit(&target.head)?;
    let contains_commit = |name: &String| branches.iter().any(|branch| branch.branch == *name);
    let removed_branch = target
        .branch
        .take_if(|name| has_remote_branches && !contains_commit(name));
    let commit = target.head.short();
    if branches.is_empty() {
        let fact = if has_remote_branches {
            "no known branch of the remote contains commit"
        } else {
            "this clone knows no remote branch that contains commit"
        };
        let effect = match removed_branch {
            Some(_) => "; its hash is published, but not its branch",
            None => ", whose hash is published",
        };
        session.ui.warn_with_hint(
            &format!("{fact} {commit}{effect}"),
            "push the commit, so that others can find the source of the version",
        );
    } else if let Some(name) = removed_branch {
        let fact = if repo.find_remote_branches_with_name(&name)?.is_empty() {
            format!("the remote has no branch `{name}`, according to this clone")
        } else {
            format!("the branch `{name}` of the remote does not contain commit {commit}")
        };
        session.ui.warn_with_hint(
            &format!("{fact}, so a version that this run publishes has no branch"),
            "push the commit to this branch, or pass a branch that contains the commit with --branch",
        );
    }
    Ok(())
}

/// The proof that this run may publish its commit. Only [`require_merged`] creates it, so that no command publishes
/// without that check.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MergedCommit(());

/// Describes the job if it is the job of a pull or merge request, or returns `None`. Such a job publishes nothing: the
/// author of the change chooses its target branch, and the author of a fork's change may choose any commit. The change
/// may be merged already, because some events follow the merge.
pub(crate) fn describe_change_job(target: &Target) -> Option<String> {
    (target.fork || target.is_change)
        .then(|| format!("the job of a pull or merge request (event {})", target.event))
}

/// Checks in a CI job that the commit is merged, and returns the proof. The job of a pull or merge request is refused,
/// whatever commit it selects. For the run of a branch in `publish-on`, it is enough that the commit may be on
/// this branch. Otherwise, for example for a tag or a commit that the job selects, the commit must be in a branch in
/// `publish-on` or in the default branch. On an unknown CI host, only the default branch is accepted, because the
/// branch of the run is unknown. A local run and a run with nothing to review need no check.
pub(crate) fn require_merged(
    workspace: &Workspace<'_>,
    target: &Target,
    publish_on: &PublishOn,
) -> Result<MergedCommit, Failure> {
    if workspace.ci.host.is_local() || target.idle_reason.is_some() {
        return Ok(MergedCommit(()));
    }
    if let Some(job) = describe_change_job(target) {
        let message = format!("cannot publish in {job}");
        return Err(Failure::from_message(ExitStatus::Context, message)
            .with_hint("publish in the job of a push, which runs after the merge"));
    }
    let is_known_host = workspace.ci.host != Host::Unknown;
    let may_publish = |branch: &str| is_known_host && publish_on.has_branch(branch);
    let is_branch_run = target.tag.is_none() && target.commit_source.is_host();
    let is_on_publish_branch = match target.branch.as_deref() {
        Some(branch) if is_branch_run && may_publish(branch) => context::may_be_on_branch(
            &workspace.repo,
            &workspace.ci,
            branch,
            &target.head,
            target.commit_source,
        )?,
        _ => false,
    };
    if is_on_publish_branch {
        return Ok(MergedCommit(()));
    }
    context::require_merged(
        &workspace.repo,
        &workspace.ci,
        &target.head,
        target.commit_source,
        &may_publish,
    )?;
    Ok(MergedCommit(()))
}
