//! `sluicegate ci`: review, and publish only if that passed on the same commit and the event says so.
//!
//! Where the event says so, all that would be published is reviewed, changed or not: the job before may have failed, or
//! was cancelled, and what it would have stopped did not change since.

use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::commands::gate::publish::{Evidence, Publishing, pipelines, plan_of, require_merged};
use crate::commands::gate::review::{Published, Reviewed, reviewed};
use crate::commands::gate::workspace::Workspace;
use crate::commands::{CommandResult, Run};
use crate::job::cli::{CiArgs, PublishArgs};
use crate::job::context::Target;
use crate::job::settings::PublishOn;
use crate::model::findings::Verdict;
use jiff::Timestamp;

pub(crate) fn run(run: &Run, args: &CiArgs) -> CommandResult {
    let also = |workspace: &Workspace<'_>, target: &Target| published(args, workspace, target);
    let mut reviewed = reviewed(run, &args.review, &also)?;
    if reviewed.status != ExitStatus::Success {
        return Ok(reviewed.status);
    }
    let publish_on = reviewed.workspace.sources.publish_on(args)?;
    if let Some(why) = why_not(&reviewed, &publish_on) {
        run.ui.say(&format!("nothing is published: {why}"));
        return Ok(ExitStatus::Success);
    }
    let Some(Published { settings, plan, .. }) = reviewed.published.take() else {
        return Ok(ExitStatus::Success);
    };
    let workspace = &reviewed.workspace;
    let publishing = Publishing {
        run,
        workspace,
        settings: &settings,
        connection: &workspace.sources.connection(&run.global)?,
        target: &reviewed.target,
        left_of_review: workspace.sources.left_of_review(&args.review.selection.globs)?,
        review: None,
        compared: None,
        takes_output: reviewed.takes_output,
        is_ci: true,
        started: Timestamp::now(),
    };
    publishing.run(plan, reviewed.report.map(Evidence::of_this_run))
}

/// What would be published if the review passed; none where the event does not say so. A commit that is not merged is refused
/// before anything is sent. What keeps a plan from being made is kept: the review is made all the same, and the publish ends with it.
fn published(
    args: &CiArgs,
    workspace: &Workspace<'_>,
    target: &Target,
) -> Result<Option<Published>, Failure> {
    let publish_on = workspace.sources.publish_on(args)?;
    if not_asked_for(target, &publish_on).is_some() {
        return Ok(None);
    }
    require_merged(workspace, target, &publish_on)?;
    let settings = workspace.sources.publish(&publish_args(args))?;
    let plan = plan_of(workspace, &settings, target, &target.head, settings.from);
    let left = workspace.sources.left_of_review(&args.review.selection.globs)?;
    let reviewed = plan.iter().flat_map(pipelines).filter(|path| !left.has(path));
    Ok(Some(Published {
        pipelines: reviewed.map(str::to_owned).collect(),
        settings,
        plan,
    }))
}

/// The flags that a publish shares with the review mean the same for both.
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

/// Why nothing is to be published; none if it is. A dry run has no verdict, and shows what a pass would lead to.
fn why_not(reviewed: &Reviewed<'_>, publish_on: &PublishOn) -> Option<String> {
    let part = &reviewed.part;
    if let Some(why) = part.why_partial() {
        return Some(format!("the review is no pass as a whole: {why}"));
    }
    match reviewed.report.as_ref().map(|report| report.verdict) {
        Some(Verdict::Passed) | None => not_asked_for(&reviewed.target, publish_on),
        Some(verdict) => Some(format!("the review did not pass, it is {verdict}")),
    }
}

/// The configuration belongs to the change under review, so a change that is not merged is never published, whatever
/// it says.
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
        (Some(tag), _) => Some(format!("the tag {tag} is none to publish on")),
        (None, Some(branch)) if publish_on.has_branch(branch) => None,
        (None, Some(branch)) => Some(format!("the branch {branch} is none to publish on")),
        (None, None) => Some("the branch is not known".to_owned()),
    }
}
