//! Runs `sluicegate report`: reads JSON reports, merges them, delivers the result.

use crate::delivery::leftovers::OutputFiles;
use crate::delivery::{Delivery, ReviewScope, default_reports, deliver_from};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate;
use crate::gate::reports::merged_reports;
use crate::gate::reports::report_comparison::{mark_since_report, refuse_incomparable};
use crate::gate::reports::reported_commit::ReportedCommit;
use crate::gate::reports::saved_report::{name_again, read};
use crate::job::ci::{self, CiContext, Host};
use crate::job::cli::{GlobArgs, ReportArgs};
use crate::job::context::ContextError;
use crate::job::settings::{self, Destinations, Of};
use crate::session::{CommandResult, Run};
use sluicegate_git::{Repository, Snapshot};
use sluicegate_pipelines::findings::Report;

/// Hint for reports that cannot be merged.
const ONE_REVIEW: &str =
    "merge only reports of one review: run each shard once, on the same commit, with the same settings";

pub(crate) fn run(run: &Run, args: &ReportArgs) -> CommandResult {
    let sources = run
        .sources()
        .inspect_err(|_| run.replace_default_reports(&args.destinations))?;
    let destinations = sources.destinations(&args.destinations)?;
    let ci = context(run)?;
    replace_old_reports(run, args, &destinations, ci.host)?;
    let repo = run.repository();
    let reports = args.files.iter().map(|file| read(run, file));
    let reports = reports.collect::<Result<Vec<Report>, Failure>>()?;
    let older = args.compare.as_deref().map(|file| read(run, file)).transpose()?;
    if let Some(older) = &older {
        refuse_incomparable(older, &reports)?;
    }
    let head = sources.head(args.head.clone());
    let reported_commit = ReportedCommit {
        ci: &ci,
        repo: repo.as_ref(),
        head: head.as_deref(),
    };
    if !ci.host.is_local() {
        require_commits(run, &reported_commit, args, &reports, older.as_ref())?;
    } else if head.is_some() {
        require_commits(run, &reported_commit, args, &reports, None)?;
    }
    let mut report = merged_reports::merge(reports)
        .map_err(|why| Failure::new(ExitStatus::Usage, why).hint(ONE_REVIEW))?;
    if let Some(older) = older {
        mark_since_report(&mut report, older);
    }
    if let Some(repo) = &repo {
        run.refuse_linked_reports(repo, &destinations)?;
        name_again(repo, &mut report);
    }
    let snapshot = repo.as_ref().and_then(|repo| commit(repo, &report));
    let status = gate::status(report.verdict);
    // The jobs of a pipeline usually share their variables.
    let selection = sources.selection(&GlobArgs::default(), Of::Review).ok();
    let delivery = Delivery {
        report: &report,
        to: &destinations,
        files: repo.as_ref().zip(snapshot.as_ref()),
        ci: Some(&ci),
        passes: status == ExitStatus::Success,
        selection: selection.as_ref(),
        by_tip: false,
        scope: ReviewScope::Change,
        is_policy_elsewhere: false,
        wrong_rules: Vec::new(),
        missing_rules_hint: None,
        compared: None,
    };
    let delivered = deliver_from(run, &delivery, None);
    Ok(status.worse(delivered))
}

/// Returns the files of the report's commit, if the clone has it. A report could contain any revision; only a full id
/// is accepted.
fn commit<'r>(repo: &'r Repository, report: &Report) -> Option<Snapshot<'r>> {
    let id = report.context.head.as_deref().filter(|id| repo.has_commit(id))?;
    Some(repo.snapshot(repo.resolve(id).ok()?))
}

/// Returns the host's context, or an error if it cannot be read.
fn context(run: &Run) -> Result<CiContext, Failure> {
    let host = settings::host(&run.global, &run.env)?;
    Ok(ci::detect(&run.env, host).map_err(ContextError::from)?)
}

/// Replaces what an earlier run left at the destinations.
fn replace_old_reports(
    run: &Run,
    args: &ReportArgs,
    destinations: &Destinations,
    host: Host,
) -> Result<(), Failure> {
    let mut reports = destinations.reports.clone();
    if reports.is_empty() {
        reports = default_reports(run, host);
    }
    run.replace_old_files(&OutputFiles {
        reports,
        inputs: args.files.iter().chain(&args.compare).cloned().collect(),
        ..OutputFiles::default()
    })
}

/// Returns an error unless all reports are of the event's commit, and the older one of an ancestor.
fn require_commits(
    run: &Run,
    commit: &ReportedCommit<'_>,
    args: &ReportArgs,
    reports: &[Report],
    older: Option<&Report>,
) -> Result<(), Failure> {
    for (report, file) in reports.iter().zip(&args.files) {
        commit.require(report, &file.display().to_string())?;
    }
    let Some((older, file)) = older.zip(args.compare.as_ref()) else {
        return Ok(());
    };
    commit.require_file_of_job(&run.env.current_dir().join(file), &file.display().to_string())?;
    let head = reports.first().and_then(|report| report.context.head.as_deref());
    commit.require_ancestor(older, &file.display().to_string(), head.unwrap_or_default())
}
