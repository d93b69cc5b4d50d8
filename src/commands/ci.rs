//! Runs `sluicegate ci`: reviews, then publishes if the review of the same commit passed and the branch or tag matches.
//!
//! If the branch or tag matches, everything that would be published is reviewed, changed or not: the previous job may
//! have failed or been cancelled, and its unpublished pipelines are unchanged since.

use crate::commands::review::{Published, Reviewed, reviewed};
use crate::delivery::leftovers::record_failure;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{CiArgs, PublishArgs};
use crate::job::context::{BranchOrigin, ContextError, Target};
use crate::job::settings::PublishOn;
use crate::model::findings::Verdict;
use crate::publication::{
    Evidence, Publishing, VersionHistory, pipelines, plan_of, refuse_unusable_policy, require_merged,
};
use crate::session::step_report::PUBLISH_FAILED;
use crate::session::{CommandResult, Run};
use crate::workspace::Workspace;
use jiff::Timestamp;

pub(crate) fn run(run: &Run, args: &CiArgs) -> CommandResult {
    let also = |workspace: &Workspace<'_>, target: &Target| published(args, workspace, target);
    let mut reviewed = reviewed(run, &args.review, Some(&args.publish), &also)?;
    if reviewed.status != ExitStatus::Success {
        return Ok(reviewed.status);
    }
    let publish_on = reviewed.workspace.sources.publish_on(args)?;
    if let Some(why) = why_not(&reviewed, &publish_on) {
        run.ui.say(&format!("nothing is published: {why}"));
        discard_publish_report(run, args, &reviewed);
        return Ok(ExitStatus::Success);
    }
    let Some(Published {
        merged,
        mut settings,
        plan,
        ..
    }) = reviewed.published.take()
    else {
        discard_publish_report(run, args, &reviewed);
        return Ok(ExitStatus::Success);
    };
    let workspace = &reviewed.workspace;
    let is_announced =
        !settings.dry_run && workspace.ci.host.is_local() && !workspace.sources.allows_local_publish(args)?;
    // Nothing is published, so an unavailable platform is a warning, as in a dry run.
    settings.dry_run |= is_announced;
    let publishing = Publishing {
        run,
        workspace,
        settings: &settings,
        connection: &workspace.sources.connection(&run.global)?,
        target: &reviewed.target,
        left_of_review: workspace.sources.left_of_review(&args.review.selection.globs)?,
        review: None,
        merged,
        history: VersionHistory::default(),
        compared: None,
        takes_output: reviewed.takes_output,
        is_ci: true,
        started: Timestamp::now(),
    };
    if is_announced {
        discard_publish_report(run, args, &reviewed);
        return publishing.announce(plan, reviewed.report.map(Evidence::of_this_run));
    }
    let published = publishing.run(plan, reviewed.report.map(Evidence::of_this_run));
    // The review has its own report, so the failure is that of the publish.
    Ok(published.unwrap_or_else(|failure| {
        record_failure(run, &failure);
        run.report_failure_as(PUBLISH_FAILED, &failure)
    }))
}

/// Removes the undecided JUnit report of the publish that is not due. A dry run did not write one.
fn discard_publish_report(run: &Run, args: &CiArgs, reviewed: &Reviewed<'_>) {
    let files = reviewed.workspace.sources.publish_files(&args.publish);
    if let Ok(files) = files
        && reviewed.report.is_some()
    {
        run.discard_publish_report(files.junit.as_deref());
    }
}

/// Returns the publish plan to run if the review passes, or `None` if the event does not request a publish. A commit
/// that is not merged is rejected before any request is sent. An error in the plan is kept: the review runs regardless,
/// and the publish fails with it.
fn published(
    args: &CiArgs,
    workspace: &Workspace<'_>,
    target: &Target,
) -> Result<Option<Published>, Failure> {
    let publish_on = workspace.sources.publish_on(args)?;
    require_known_branch(target, &publish_on)?;
    if not_asked_for(target, &publish_on).is_some() {
        return Ok(None);
    }
    refuse_unusable_policy(workspace)?;
    let merged = require_merged(workspace, target, &publish_on)?;
    let settings = workspace.sources.publish(&publish_args(args))?;
    let plan = plan_of(workspace, &settings, target, &target.head, settings.from);
    let left = workspace.sources.left_of_review(&args.review.selection.globs)?;
    let reviewed = plan.iter().flat_map(pipelines).filter(|path| !left.has(path));
    Ok(Some(Published {
        merged,
        pipelines: reviewed.map(str::to_owned).collect(),
        settings,
        plan,
    }))
}

/// Returns an error in a CI job if the branch of the run decides about a publish, and nobody names it. A branch that was
/// only found among those that contain the commit may be another one than the job runs for, as after a branch cut.
fn require_known_branch(target: &Target, publish_on: &PublishOn) -> Result<(), ContextError> {
    let is_decided =
        target.nothing_to_do.is_some() || target.is_change || target.fork || target.tag.is_some();
    if target.ci.is_local() || is_decided || publish_on.never().is_some() {
        return Ok(());
    }
    match &target.branch {
        None => target.require_branch().map(|_| ()),
        Some(branch) if target.branch_origin == BranchOrigin::Inferred && publish_on.has_branch(branch) => {
            Err(ContextError::BranchNotNamed { host: target.ci })
        }
        Some(_) => Ok(()),
    }
}

/// Returns the arguments of the publish; the flags shared with the review have the same meaning for both.
fn publish_args(args: &CiArgs) -> PublishArgs {
    let (review, selection) = (&args.review, &args.review.selection);
    PublishArgs {
        what: args.publish.clone(),
        compat: args.review.gate.compat.clone(),
        head: selection.range.head.clone(),
        branch: review.branch.clone(),
        globs: selection.globs.clone(),
        dry_run: review.dry_run,
        ..PublishArgs::default()
    }
}

/// Returns why no version is published, or `None` if one is. A dry run has no verdict and shows the result of a pass.
fn why_not(reviewed: &Reviewed<'_>, publish_on: &PublishOn) -> Option<String> {
    let part = &reviewed.part;
    if let Some(why) = part.why_partial() {
        return Some(format!("the review does not cover all pipelines: {why}"));
    }
    match reviewed.report.as_ref().map(|report| report.verdict) {
        Some(Verdict::Passed) | None => not_asked_for(&reviewed.target, publish_on),
        Some(verdict) => Some(format!("the review did not pass: its verdict is {verdict}")),
    }
}

/// Returns why the event does not request a publish. The configuration belongs to the change under review, so a change
/// that is not merged is never published, regardless of its configuration.
fn not_asked_for(target: &Target, publish_on: &PublishOn) -> Option<String> {
    if let Some(why) = &target.nothing_to_do {
        return Some(why.clone());
    }
    if target.fork || target.is_change {
        return Some(format!(
            "the event {} is about a change that is not merged",
            target.event
        ));
    }
    if let Some(why) = publish_on.never() {
        return Some(why.to_owned());
    }
    match (&target.tag, &target.branch) {
        (Some(tag), _) if publish_on.has_tag(tag) => None,
        (Some(tag), _) => Some(format!("the tag {tag} is not one to publish on")),
        (None, Some(branch)) if publish_on.has_branch(branch) => None,
        (None, Some(branch)) => Some(format!("the branch {branch} is not one to publish on")),
        (None, None) => Some("the branch is unknown".to_owned()),
    }
}
