//! Refuses a publish if the policy revision's gate configuration cannot be used, or is stricter than that of the
//! commit.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::SelectedPipelines;
use crate::gate::stricter_target::StricterTarget;
use crate::job::cli::{GateChanges, PublishArgs};
use crate::job::context::{PolicyRevision, Target};
use crate::job::settings::{Connection, PublishSettings};
use crate::session::Session;
use crate::workspace::Workspace;
use sluicegate_git::CommitId;

/// Resolves the settings of a publish and of the connection. Fails if the configuration file that applies to this run,
/// which may be that of another branch, cannot be used.
pub(crate) fn resolve_settings_and_connection<'a>(
    session: &'a Session,
    workspace: &mut Workspace<'a>,
    args: &PublishArgs,
) -> Result<(PublishSettings, Connection), Failure> {
    let result = workspace.sources.resolve_or_drop_file(|sources| {
        Ok((
            sources.resolve_publish_settings(args)?,
            sources.resolve_connection(&session.global)?,
        ))
    });
    // An unusable file is reported first, because an error in the settings may only be a consequence.
    reject_unusable_policy(session, workspace)?;
    let (settings, connection) = result?;
    // Without a required review, a local publish does not depend on the team's rules.
    if settings.require_review.is_some() || !workspace.ci.host.is_local() {
        reject_unusable_team_rules(workspace)?;
    }
    Ok((settings, connection))
}

/// Fails if the configuration file that applies to this run cannot be used, because it may require a review or exclude
/// files from the publish. The failure contains the reason, so a deferred warning with this reason is not printed.
pub(crate) fn reject_unusable_policy(session: &Session, workspace: &Workspace<'_>) -> Result<(), Failure> {
    let Some(reason) = workspace.sources.unusable_reason() else {
        return Ok(());
    };
    session.discard_deferred_warnings_about(reason);
    let message = format!(
        "nothing is published, because the configuration file that applies to this run cannot be used: {reason}"
    );
    Err(Failure::from_message(ExitStatus::GateFailed, message)
        .with_hint("fix the file on the default branch, then publish again"))
}

/// Fails if the team rules file that applies to this run cannot be used, because a review could not evaluate its rules.
pub(crate) fn reject_unusable_team_rules(workspace: &Workspace<'_>) -> Result<(), Failure> {
    let files = workspace.read_team_rules()?.unusable_files;
    let Some(file) = files.first() else {
        return Ok(());
    };
    let message = format!(
        "nothing is published, because not all team rules can be evaluated: {}",
        file.reason
    );
    Err(Failure::from_message(ExitStatus::GateFailed, message)
        .with_hint("fix the file on the default branch, then publish again"))
}

/// Returns the merge bases of the default branch and the commit to publish. Without one, nothing shows which of the two
/// changed the gate configuration: returns `None` after a warning, or an error with `--gate-changes fail`.
fn find_gate_bases(
    session: &Session,
    workspace: &Workspace<'_>,
    default_branch_commit: &CommitId,
    head: &CommitId,
) -> Result<Option<Vec<CommitId>>, Failure> {
    let fails_on_gate_change = workspace.gate_changes == GateChanges::Fail;
    let reason = match workspace.repo.find_merge_bases(default_branch_commit, head) {
        Ok(bases) if !bases.is_empty() => return Ok(Some(bases)),
        Ok(_) => "the two have no common history".to_owned(),
        Err(error) if fails_on_gate_change => return Err(error.into()),
        Err(error) => error.to_string(),
    };
    let message = format!(
        "could not compare the gate configuration of the commit with the newest of the default branch: {reason}"
    );
    if fails_on_gate_change {
        return Err(Failure::from_message(ExitStatus::Context, message));
    }
    session.ui.warn(&message);
    Ok(None)
}

/// Warns if the newest commit of the default branch has a stricter gate configuration than the commit to publish: the
/// commit to publish might not pass it. With `--gate-changes fail`, fails instead. Does nothing if the gate
/// configuration is not read from a commit.
pub(crate) fn check_stricter_gate(
    session: &Session,
    workspace: &Workspace<'_>,
    target: &Target,
) -> Result<(), Failure> {
    let PolicyRevision::Commit {
        commit: default_branch_commit,
        ..
    } = &workspace.target_revision
    else {
        return Ok(());
    };
    let snapshot = workspace.repo.snapshot(target.head.clone());
    // A shallow clone can show this without the merge bases.
    if workspace.contains_target_tip(&snapshot, default_branch_commit)? {
        return Ok(());
    }
    let Some(bases) = find_gate_bases(session, workspace, default_branch_commit, &target.head)? else {
        return Ok(());
    };
    // A publish does not review a change, so no pipelines are selected.
    let stricter_target = workspace.find_stricter_target(&snapshot, &bases, &SelectedPipelines::default())?;
    // The comparison also finds rules that are only different; these are no reason against the publish.
    let Some(stricter_target) = stricter_target.filter(StricterTarget::may_be_stricter) else {
        return Ok(());
    };
    let is_rejected = workspace.gate_changes == GateChanges::Fail;
    let notes: Vec<String> = stricter_target
        .list_limits(&SelectedPipelines::default(), is_rejected)
        .into_iter()
        .map(|limit| limit.text)
        .collect();
    if is_rejected {
        let message = format!("nothing is published: {}", notes.join("; "));
        return Err(Failure::from_message(ExitStatus::GateFailed, message)
            .with_hint("publish a commit that contains the tip of the branch"));
    }
    for note in notes {
        session.ui.warn(&note);
    }
    Ok(())
}
