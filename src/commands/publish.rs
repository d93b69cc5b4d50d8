//! Runs `sluicegate publish`: plans, compares with the platform, uploads once, verifies, writes a receipt.

use crate::exit::ExitStatus;
use crate::job::cli::{CiArgs, GlobArgs, PublishArgs};
use crate::job::context::DeepenSubject;
use crate::job::policy::CheckoutFiles;
use crate::publication::{
    Publication, PublishNotes, RequiredReport, VersionHistory, build_target_plan, check_stricter_gate,
    require_merged, resolve_settings_and_connection, warn_of_unpushed_commit,
};
use crate::session::{CommandResult, Session};
use crate::workspace::WarningTiming;
use jiff::Timestamp;

/// Runs `sluicegate publish`: publishes a commit if it may be published, for example because it is merged. If the
/// settings name a review report, that review must have passed.
pub(crate) fn run(session: &Session, args: &PublishArgs) -> CommandResult {
    let mut workspace = session.open_workspace_in(session.open_repository()?, CheckoutFiles::OnDisk)?;
    session.replace_publish_files_named_by_policy(&workspace, args)?;
    workspace.reject_hidden_gate_files(session)?;
    let revisions = workspace.sources.resolve_revisions_to_publish(args)?;
    workspace.deepen(session, &revisions, DeepenSubject::Commit)?;
    // The settings are resolved next, and a file that cannot be used is then an error with the same reason.
    if workspace.sources.unusable_reason().is_none() {
        workspace.warn_of_config_files(session, WarningTiming::AtOnce);
    }
    let (settings, connection) = resolve_settings_and_connection(session, &mut workspace, args)?;
    let mut target = workspace.resolve_target(session, &settings.revisions)?;
    // The event of a CI job may have nothing to publish, for example a deleted branch, unless `--head` names a commit.
    let idle_reason = workspace.ci.idle_reason.as_ref();
    if let Some(reason) = idle_reason.filter(|_| settings.revisions.head.is_none()) {
        session.ui.say(&format!("nothing is published: {reason}"));
        session.discard_publish_report(settings.junit.as_deref());
        return Ok(ExitStatus::Success);
    }
    // This command has neither the flags of `ci` for branches and tags nor the globs of a review, so the default values
    // are passed here and below.
    let publish_on = workspace.sources.resolve_publish_on(&CiArgs::default())?;
    let merged_commit = require_merged(&workspace, &target, &publish_on)?;
    warn_of_unpushed_commit(session, &workspace, &mut target)?;
    check_stricter_gate(session, &workspace, &target)?;
    let required_report = RequiredReport::read_required_review(session, &workspace, &settings, &connection)?;
    let publish_step = Publication {
        session,
        workspace: &workspace,
        settings: &settings,
        connection: &connection,
        target: &target,
        unreviewed_selection: workspace
            .sources
            .compile_review_exclusions(&GlobArgs::default())?,
        required_review: required_report.as_ref().map(RequiredReport::as_required_review),
        merged_commit,
        history: VersionHistory::default(),
        comparison: None,
        notes: PublishNotes::default(),
        // A dry run prints the plan itself as JSON, a publish its receipt at the end.
        is_output_reserved: settings.json && !settings.dry_run,
        is_ci_command: false,
        started_at: Timestamp::now(),
    };
    let plan = build_target_plan(&workspace, &settings, &target);
    publish_step.print_uncommitted_files_note(&plan);
    publish_step.execute(plan)
}
