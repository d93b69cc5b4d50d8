//! `sluicegate ci`: review, and publish only if that passed on the same commit and the event says so.

use super::publish::Publishing;
use super::review::{Reviewed, reviewed};
use super::{Outcome, Run};
use crate::cli::{CiArgs, PublishArgs};
use crate::context::Target;
use crate::exit::ExitStatus;
use crate::findings::Verdict;
use crate::publish::ReviewEvidence;
use crate::settings::PublishOn;

pub(super) fn run(run: &Run, args: &CiArgs) -> Outcome {
    let reviewed = reviewed(run, &args.review)?;
    if reviewed.status != ExitStatus::Success {
        return Ok(reviewed.status);
    }
    let publish_on = reviewed.workspace.sources.publish_on(args)?;
    if let Some(why) = why_not(&reviewed, &publish_on) {
        run.ui.say(&format!("nothing is published: {why}"));
        return Ok(ExitStatus::Success);
    }
    let workspace = &reviewed.workspace;
    let publishing = Publishing {
        run,
        workspace,
        settings: &workspace.sources.publish(&publish_args(args))?,
        connection: &workspace.sources.connection(&run.global)?,
        target: &reviewed.target,
        review: reviewed.verdict.map(|verdict| ReviewEvidence {
            verdict: verdict.to_string(),
            engine: reviewed.engine.to_string(),
            head: reviewed.target.head.to_string(),
            report_sha256: None,
        }),
        takes_output: reviewed.takes_output,
    };
    publishing.run()
}

/// The flags that a publish shares with the review mean the same for both.
fn publish_args(args: &CiArgs) -> PublishArgs {
    let (review, selection) = (&args.review, &args.review.selection);
    PublishArgs {
        what: args.publish.clone(),
        head: selection.head.clone(),
        branch: review.branch.clone(),
        include: selection.include.clone(),
        exclude: selection.exclude.clone(),
        dry_run: review.dry_run,
        ..PublishArgs::default()
    }
}

/// Why nothing is to be published; none if it is. A dry run has no verdict, and shows what a pass would lead to.
fn why_not(reviewed: &Reviewed<'_>, publish_on: &PublishOn) -> Option<String> {
    if let Some(part) = reviewed.shard {
        return Some(format!(
            "only the part {part} was reviewed, and a publish needs the whole"
        ));
    }
    match reviewed.verdict {
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
    if target.fork || target.pull_request.is_some() || target.event.starts_with("merge_group") {
        return Some(format!(
            "the event {} is about a change that is not merged",
            target.event
        ));
    }
    if publish_on.is_never() {
        return Some("no branches and no tags are set to publish on (publish-on)".to_owned());
    }
    match (&target.tag, &target.branch) {
        (Some(tag), _) if publish_on.has_tag(tag) => None,
        (Some(tag), _) => Some(format!("the tag {tag} is none to publish on")),
        (None, Some(branch)) if publish_on.has_branch(branch) => None,
        (None, Some(branch)) => Some(format!("the branch {branch} is none to publish on")),
        (None, None) => Some("the branch is not known".to_owned()),
    }
}
