//! Runs `sluicegate report`: reads JSON reports, merges them, delivers the result.

use crate::delivery::output_files::OutputFiles;
use crate::delivery::{deliver_gate_report, list_default_reports};
use crate::error::Failure;
use crate::gate::reports::SavedReports;
use crate::job::ci::{CiContext, Host};
use crate::job::cli::{GlobArgs, ReportArgs};
use crate::job::context;
use crate::job::settings::{ReportDestinations, SelectionPurpose, SettingSources};
use crate::session::{CommandResult, Session};
use crate::workspace::team_rules::TeamRulesInForce;
use std::path::Path;

/// Runs `sluicegate report`: merges, compares and renders the reports of earlier runs. Replaces the old files at the
/// destinations first.
pub(crate) fn run(session: &Session, args: &ReportArgs) -> CommandResult {
    // Without valid settings, only the default reports of an earlier run can be found and replaced.
    let (sources, destinations, mut ci) = resolve_destinations(session, args)
        .inspect_err(|_| session.replace_default_reports(&args.destinations))?;
    session.set_policy_annotations(destinations.annotations);
    invalidate_old_reports(session, &destinations, ci.host)?;
    if session.global.gate_changes.is_some() {
        let message = "`--gate-changes` has no effect on saved reports, because they do not show whether the change \
                       also edits other files";
        return Err(Failure::usage(message).with_hint("pass it to the command that writes the report"));
    }
    let repo = session.find_repository()?;
    if let Some(repo) = &repo {
        context::recognize_default_branch_run(repo, &mut ci)?;
    }
    let head = sources.resolve_head(args.head.clone())?;
    let selection = sources.resolve_selection(&GlobArgs::default(), SelectionPurpose::Review);
    let mut subject = SavedReports {
        head: head.as_deref(),
        selection: warn_of_failure(
            session,
            "the list of changes contains all changed pipelines",
            selection,
        ),
        ..SavedReports::new(&ci, repo.as_ref())
    };
    let mut team_rules = TeamRulesInForce::default();
    if repo.is_some()
        && let Some(workspace) = warn_of_failure(
            session,
            "the report lacks the gate configuration",
            session.open_workspace(),
        )
    {
        let policy_rules = workspace.read_team_rules();
        team_rules = warn_of_failure(session, "the report lacks the texts of team rules", policy_rules)
            .unwrap_or_default();
        subject.policy_workspace = Some(workspace);
    }
    let mut evaluated_run =
        subject.evaluate_reports(session, team_rules.rules, &args.files, args.compare.as_deref())?;
    if let Some(repo) = &repo {
        session.reject_linked_reports(repo, &destinations)?;
    }
    let delivery_status = deliver_gate_report(&mut evaluated_run, &destinations);
    Ok(evaluated_run.status.worse(delivery_status))
}

/// Returns the value, or prints a warning with the consequence of the failure.
fn warn_of_failure<T>(
    session: &Session,
    consequence: &str,
    result: Result<T, impl Into<Failure>>,
) -> Option<T> {
    result
        .map_err(Into::into)
        .inspect_err(|failure: &Failure| {
            let reason = failure.describe_on_one_line();
            session.ui.warn(&format!("{consequence}: {reason}"));
        })
        .ok()
}

/// Resolves where the reports are written, from the settings and the CI host.
fn resolve_destinations<'a>(
    session: &'a Session,
    args: &ReportArgs,
) -> Result<(SettingSources<'a>, ReportDestinations, CiContext), Failure> {
    let sources = session.read_setting_sources()?;
    let destinations = sources
        .resolve_report_destinations(&args.destinations)?
        .with_attestation(sources.resolve_review_attestation(&args.attestation)?)?;
    Ok((sources, destinations, session.read_ci_context()?))
}

/// Marks the reports of an earlier run as unfinished and removes its statement, so that a failed run leaves no file
/// that looks current. Files that this run reads are kept.
fn invalidate_old_reports(
    session: &Session,
    destinations: &ReportDestinations,
    host: Host,
) -> Result<(), Failure> {
    let mut reports = destinations.reports.clone();
    if reports.is_empty() {
        reports = list_default_reports(session, host);
    }
    session.replace_old_files(&OutputFiles {
        reports,
        removed_files: destinations
            .attestation
            .list_paths()
            .map(Path::to_owned)
            .collect(),
        ..OutputFiles::default()
    })
}
