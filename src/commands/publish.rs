//! Runs `sluicegate publish`: plans, compares with the platform, uploads once, verifies, writes a receipt.

use crate::exit::ExitStatus;
use crate::gate::reports::SavedReports;
use crate::gate::run::GateRun;
use crate::job::cli::{CiArgs, GlobArgs, PublishArgs};
use crate::job::context::DeepenSubject;
use crate::publication::{
    Evidence, Publishing, VersionHistory, check_local_commit, refuse_outdated_gate, require_merged,
    resolve_settings,
};
use crate::session::{CommandResult, Run};
use jiff::Timestamp;

pub(crate) fn run(run: &Run, args: &PublishArgs) -> CommandResult {
    let mut workspace = run.workspace()?;
    run.replace_publish_files_of_policy(&workspace, args)?;
    let wish = workspace.sources.revisions_to_publish(args)?;
    workspace.deepen(run, &wish, DeepenSubject::Commit)?;
    workspace.warn_of_policy(run, false);
    let (settings, connection) = resolve_settings(run, &mut workspace, args)?;
    let mut target = workspace.target(run, settings.revisions.clone())?;
    let idle = workspace.ci.idle_reason.as_ref();
    if let Some(reason) = idle.filter(|_| settings.revisions.head.is_none()) {
        run.ui.say(&format!("nothing is published: {reason}"));
        run.discard_publish_report(settings.junit.as_deref());
        return Ok(ExitStatus::Success);
    }
    let publish_on = workspace.sources.publish_on(&CiArgs::default())?;
    let merged = require_merged(&workspace, &target, &publish_on)?;
    check_local_commit(run, &workspace, &mut target)?;
    refuse_outdated_gate(run, &workspace, &target)?;
    let mut review = GateRun::new(run, SavedReports::new(&workspace.ci, Some(&workspace.repo)));
    review.read_required_review(&settings, &connection)?;
    let publishing = Publishing {
        run,
        workspace: &workspace,
        settings: &settings,
        connection: &connection,
        target: &target,
        left_of_review: workspace.sources.review_exclusions(&GlobArgs::default())?,
        review: None,
        merged,
        history: VersionHistory::default(),
        compared: None,
        takes_output: false,
        is_ci: false,
        started: Timestamp::now(),
    };
    let plan = publishing.plan();
    publishing.run(plan, Evidence::of_run(&review))
}
