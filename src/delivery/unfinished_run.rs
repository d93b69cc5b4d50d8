//! Collects the facts about a run that are known before it has results, for the reports that it writes first.

use super::azure_variables::find_azure_build;
use super::report_context::find_any_file;
use crate::job::ci::Host;
use crate::job::cli::{Command, DestinationArgs, GateArgs};
use crate::job::settings;
use crate::session::{Session, UnfinishedResults};
use sluicegate_pipelines::findings::Engine;
use sluicegate_reports::UnfinishedReport;

/// Stores the facts about the run of a command that writes the reports of a review, as far as flags and the environment
/// contain them. Does nothing for other commands.
pub(super) fn describe_unfinished_run(session: &Session, command: &Command, results: &mut UnfinishedResults) {
    let mut report = UnfinishedReport::default();
    let is_dry_run_requested = |flag| settings::is_dry_run(flag, &session.env);
    results.is_dry = match command {
        Command::Review(args) => is_dry_run_requested(args.dry_run),
        Command::Ci(args) => is_dry_run_requested(args.review.dry_run),
        Command::Publish(args) => is_dry_run_requested(args.dry_run),
        _ => false,
    };
    let destinations = match command {
        Command::Review(args) => add_gate_settings(session, &args.gate, &mut report),
        Command::Ci(args) => add_gate_settings(session, &args.review.gate, &mut report),
        Command::Check(args) => {
            report.engine = Engine::Local;
            add_gate_settings(session, &args.gate, &mut report)
        }
        // The report of merged shards has no shard.
        Command::Report(args) => &args.destinations,
        _ => return,
    };
    results.has_comment = settings::is_comment_requested(destinations.comment, &session.env);
    let host = session.host();
    report.review.ci = host.to_string();
    report.context.category = settings::requested_category(destinations.category.clone(), &session.env);
    if host == Host::Azure {
        report.context.azure_build = find_azure_build(session);
    }
    results.description = Some(report);
}

/// Adds the shard and the enforced level that the job requests, and returns the flags of the destinations. Skips an
/// invalid value, because its error ends the run.
fn add_gate_settings<'a>(
    session: &Session,
    args: &'a GateArgs,
    report: &mut UnfinishedReport,
) -> &'a DestinationArgs {
    let shard = settings::requested_shard(args.shard.clone(), &session.env);
    report.review.shard = shard.ok().flatten().filter(|shard| shard.total > 1);
    report.review.fail_on = settings::requested_fail_on(args.fail_on, &session.env);
    &args.destinations
}

/// Returns a file of the checked-out commit, for entries about the run in formats whose entries need an existing file.
pub(super) fn find_existing_file(session: &Session) -> Option<String> {
    let repo = session.find_repository().ok()??;
    let head = repo.head().ok()?;
    find_any_file(&repo.snapshot(head.commit))
}
