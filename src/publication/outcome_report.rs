//! Reports the outcome of a publish.

use super::Publication;
use super::outcome_hints::{find_hint, find_size_hint};
use super::publish_decision::PublishedVersion;
use super::published_commit::find_completeness_note;
use super::smoke::SmokeResult;
use crate::error::{Detail, Failure};
use crate::exit::ExitStatus;
use crate::publish::{self, OutcomeKind, Plan, PublishProblem, Withdrawal};
use crate::session::CommandResult;
use crate::session::artifact_versions::describe_latest_version;
use crate::session::failure_conversion::http_exit_status;
use crate::session::signals::describe_end;
use crate::session::step_report::PUBLISH_FAILED;
use sluicegate_base::text;
use sluicegate_base::text::{format_count, format_number};
use sluicegate_platform::api::Platform;
use sluicegate_platform::http::HttpError;
use sluicegate_reports::{SummaryChanges, render_publish_summary};

/// Prints the outcome of an upload: smoke runs that did not succeed, a success with its warnings, or the failure with a
/// hint. Returns the exit status.
pub(super) fn report_outcome(
    publication: &Publication<'_>,
    platform: &Platform,
    plan: &Plan,
    outcome: &publish::Outcome,
    smoke: Option<&SmokeResult>,
) -> CommandResult {
    let session = publication.session;
    let status = status_of_outcome(outcome);
    // Smoke runs only follow a successful upload, so its problems are only warnings.
    if let Some(smoke) = smoke.filter(|smoke| !smoke.is_passed()) {
        for problem in outcome.list_sentences() {
            session.ui.warn(&problem);
        }
        return Ok(report_failed_smoke(publication, smoke));
    }
    if status == ExitStatus::Success {
        report_success(publication, plan, outcome, smoke).map_err(|failure| {
            // Without the output, the failure must not hide that consumers now get the version.
            let name = format!("version {} of {}", plan.version_name, plan.prefix);
            failure.context(format!("{name} is published, but the run could not report it"))
        })?;
        return Ok(status);
    }
    let name = plan.describe_version();
    let mut failure = build_outcome_failure(status, &name, outcome);
    let hint = find_size_hint(outcome, publication.settings.select)
        .or_else(|| publication.find_newer_conflict_hint(platform, plan, outcome))
        .or_else(|| {
            find_hint(
                &plan.prefix,
                &plan.version_name,
                outcome,
                publication.choose_if_exists(plan),
                publication.needs_next_version(),
            )
        });
    if let Some(hint) = hint {
        failure = failure.with_hint(hint);
    }
    let title = format!("{PUBLISH_FAILED}: {name} ({})", outcome.kind);
    Ok(session.report_failure_as(&title, &failure))
}

/// Returns the exit status for the outcome of an upload.
fn status_of_outcome(outcome: &publish::Outcome) -> ExitStatus {
    match outcome.kind {
        OutcomeKind::Published | OutcomeKind::AlreadyPublished => ExitStatus::Success,
        OutcomeKind::Conflict | OutcomeKind::Superseded => ExitStatus::AlreadyExists,
        OutcomeKind::Incomplete | OutcomeKind::Unverified | OutcomeKind::Unconfirmed => {
            ExitStatus::Incomplete
        }
        OutcomeKind::Unknown => ExitStatus::Undecided,
        OutcomeKind::Failed => outcome
            .error
            .as_ref()
            .map_or(ExitStatus::Undecided, status_of_failed_upload),
    }
}

/// Prints an upload that succeeded with its warnings and its smoke runs, and writes the step summary.
fn report_success(
    publication: &Publication<'_>,
    plan: &Plan,
    outcome: &publish::Outcome,
    smoke: Option<&SmokeResult>,
) -> Result<(), Failure> {
    let warnings = outcome.list_sentences();
    for warning in &warnings {
        publication.session.ui.warn(warning);
    }
    let check_suffix = if outcome.verified {
        ", verified"
    } else {
        ", not verified"
    };
    let word = if outcome.kind == OutcomeKind::AlreadyPublished {
        "already published"
    } else {
        "published"
    };
    let name = plan.describe_version();
    let files = describe_published_files(plan, outcome);
    publication
        .print_result(&(text::escape_line(&format!("{word} {name}: {files}{check_suffix}")) + "\n"))?;
    let title = match outcome.kind {
        OutcomeKind::AlreadyPublished => {
            format!(
                "Version {} of {} was published before",
                plan.version_name, plan.prefix
            )
        }
        _ => format!("Published {name}"),
    };
    print_smoke_lines(publication, smoke)?;
    let is_new = outcome.kind != OutcomeKind::AlreadyPublished;
    let changes = publication.select_summary_changes(plan, is_new);
    let notes: Vec<(&str, &str)> = warnings
        .iter()
        .map(|warning| ("warning", warning.as_str()))
        .collect();
    publication.write_summary(&title, plan, &files, &notes, smoke, changes);
    Ok(())
}

/// Describes the number of sent files and of those that the platform ignored. The API document does not define what the
/// list of ignored files contains, so the numbers are not subtracted.
fn describe_published_files(plan: &Plan, outcome: &publish::Outcome) -> String {
    let files = format_count(plan.files.len(), "file");
    match outcome.ignored_resources.len() {
        0 => files,
        ignored_count => format!(
            "{files} sent, {} ignored by the platform",
            format_number(ignored_count)
        ),
    }
}

/// Reports smoke runs that did not succeed, and returns their exit status.
fn report_failed_smoke(publication: &Publication<'_>, smoke: &SmokeResult) -> ExitStatus {
    let title = format!(
        "{PUBLISH_FAILED}: version {} of {} (smoke run)",
        smoke.version_name, smoke.prefix
    );
    publication.session.report_failure_as(&title, &smoke.to_failure())
}

/// Prints a line for each smoke run that succeeded, and one about the version that consumers get now.
fn print_smoke_lines(publication: &Publication<'_>, smoke: Option<&SmokeResult>) -> Result<(), Failure> {
    for line in smoke.map(SmokeResult::describe_runs).unwrap_or_default() {
        publication.print_result(&(text::escape_line(&line) + "\n"))?;
    }
    Ok(())
}

/// Reports a publish without an upload, with the smoke runs that it continued. Returns the exit status. The version may
/// be of another commit with the same files, which the summary then lists, too.
pub(super) fn report_unchanged_version(
    publication: &Publication<'_>,
    plan: &Plan,
    published_version: &PublishedVersion,
    smoke: Option<&SmokeResult>,
) -> CommandResult {
    if let Some(smoke) = smoke.filter(|smoke| !smoke.is_passed()) {
        return Ok(report_failed_smoke(publication, smoke));
    }
    print_smoke_lines(publication, smoke)?;
    let files = format_count(plan.files.len(), "file");
    let title = format!("Nothing published: {}", published_version.reason);
    let version_commit = published_version.commit.as_str();
    let mut notes = Vec::new();
    if version_commit != plan.commit_hash {
        notes.push(("commit of the version", version_commit));
    }
    if !published_version.is_disabled {
        let is_rerun = publish::is_same_commit(Some(version_commit), &plan.commit_hash);
        let label = if is_rerun { "warning" } else { "note" };
        notes.extend(find_completeness_note(plan).map(|note| (label, note)));
    }
    publication.write_summary(&title, plan, &files, &notes, smoke, SummaryChanges::Omitted);
    Ok(ExitStatus::Success)
}

impl Publication<'_> {
    /// Returns the status of a result that was printed. If printing failed, reports the failure and adds it to the
    /// problems of the JUnit report: the version exists, so the run continues and writes its records.
    pub(super) fn report_lost_output(&self, result: CommandResult, problems: &mut Vec<String>) -> ExitStatus {
        result.unwrap_or_else(|failure| {
            problems.push(failure.describe_on_one_line());
            self.session.report_failure_as(PUBLISH_FAILED, &failure)
        })
    }

    /// Returns the exit status, which a signal determines if one has arrived. If the run had succeeded already, says
    /// that the signal came too late, also in the `problems` of the JUnit report. From now on, a signal does not end
    /// the run or change its exit status, because the reports contain it.
    pub(super) fn add_signal_status(&self, status: ExitStatus, problems: &mut Vec<String>) -> ExitStatus {
        let signals = &self.session.signals;
        signals.hold();
        let Some(signal_status) = signals.pending_status() else {
            return status;
        };
        if status == ExitStatus::Success {
            let word = describe_end(signal_status);
            let problem = format!("this run was {word} after its last change, so nothing was undone");
            self.session.ui.warn(&problem);
            problems.push(problem);
        }
        status.worse(signal_status)
    }

    /// Selects what the step summary says about consumers. If no enabled version was compared, the versions before the
    /// planned one tell whether it is the first. `is_new` is false if the version was published before this run; the
    /// summary then has no statement about missing older versions, because this run published nothing.
    pub(super) fn select_summary_changes(&self, plan: &Plan, is_new: bool) -> SummaryChanges<'_> {
        let Some(comparison) = &self.comparison else {
            return SummaryChanges::Omitted;
        };
        let compat = comparison.reported_changes();
        if !compat.is_first() {
            return SummaryChanges::Compared(compat);
        }
        if !is_new {
            return SummaryChanges::Omitted;
        }
        let mut older_names = self.history.version_names();
        older_names.remove(plan.version_name.as_str());
        if older_names.is_empty() {
            SummaryChanges::FirstVersion
        } else {
            SummaryChanges::OnlyDisabledVersions(self.history.newest_name())
        }
    }

    /// Writes the step summary of a publish or a dry run that did not fail: the version, the notes with their names,
    /// and what changed for consumers. A summary that cannot be written is only a warning, because the publish does not
    /// depend on it.
    pub(super) fn write_summary(
        &self,
        title: &str,
        plan: &Plan,
        files: &str,
        notes: &[(&str, &str)],
        smoke: Option<&SmokeResult>,
        changes: SummaryChanges<'_>,
    ) {
        let commit = plan.commit_hash.as_str();
        let mut facts = vec![("commit", commit), ("files", files)];
        facts.extend(plan.branch.as_deref().map(|branch| ("branch", branch)));
        facts.extend_from_slice(notes);
        let publish_notes = self.list_notes();
        facts.extend(publish_notes.iter().map(|note| ("warning", note.as_str())));
        let smoke_lines = smoke.map(SmokeResult::describe_runs).unwrap_or_default();
        facts.extend(smoke_lines.iter().map(|line| ("result", line.as_str())));
        if let Err(failure) = self
            .session
            .append_summary(|| render_publish_summary(title, &facts, changes))
        {
            self.session.ui.warn_of_failure("", &failure);
        }
    }
}

/// Returns the exit status of a publish that failed with this error. A conflict here came from a request before the
/// upload, which does not prove that the version exists, so the run is undecided.
fn status_of_failed_upload(error: &HttpError) -> ExitStatus {
    match http_exit_status(error.kind()) {
        ExitStatus::AlreadyExists => ExitStatus::Undecided,
        status => status,
    }
}

/// Returns the failure of an upload that did not succeed: the state of the version, the version that consumers get, all
/// problems and the platform's error. If an incomplete or unverified version could not be disabled, begins with that
/// problem, because consumers may use the version.
fn build_outcome_failure(status: ExitStatus, name: &str, outcome: &publish::Outcome) -> Failure {
    let state = match outcome.kind {
        _ if outcome.has_unknown_version() => format!("could not determine whether {name} was published"),
        OutcomeKind::Incomplete => format!("{name} was published, but it is incomplete"),
        OutcomeKind::Unverified => format!("{name} was published, but could not be verified"),
        OutcomeKind::Superseded => {
            format!(
                "{name} was published, but must not be the latest version, because a newer one appeared meanwhile"
            )
        }
        OutcomeKind::Unconfirmed => {
            format!("{name} was published, but it may have replaced a newer version")
        }
        OutcomeKind::Conflict => {
            format!("{name} was not published: the version already exists and cannot be changed")
        }
        _ => format!("{name} was not published"),
    };
    let (message, first_entry) = match (&outcome.withdrawal, outcome.kind) {
        (Withdrawal::Failed(problem), OutcomeKind::Incomplete | OutcomeKind::Unverified) => {
            (problem.clone(), Some(state))
        }
        (Withdrawal::Failed(problem), _) => (state, Some(problem.clone())),
        (Withdrawal::Disabled(latest), _) => (
            format!("{state}; the version was disabled to protect consumers"),
            Some(describe_latest_version(latest)),
        ),
        (Withdrawal::NotRequested, _) => (state, None),
    };
    let problems = outcome
        .problems
        .iter()
        // The message already says that the version exists.
        .filter(|problem| !matches!(problem, PublishProblem::VersionExists(_)))
        .map(PublishProblem::to_string);
    let entries: Vec<String> = first_entry.into_iter().chain(problems).collect();
    let error = outcome.error.as_ref().filter(|error| {
        // A problem may contain the error as its reason.
        let text = error.to_string();
        !entries
            .iter()
            .chain([&message])
            .any(|entry| entry.contains(&text))
    });
    let failure = Failure::from_message(status, message).with_entries(entries);
    match error {
        Some(error) => failure
            .with_entries([error.summary()])
            .with_details(error.list_violations().into_iter().map(Detail::Violation)),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::build_outcome_failure;
    use crate::exit::ExitStatus;
    use crate::publish::{Outcome, OutcomeKind};

    #[test]
    fn message_states_what_happened_to_version() {
        let cases = [
            (
                OutcomeKind::Superseded,
                "v1 was published, but must not be the latest version, because a newer one appeared meanwhile",
            ),
            (
                OutcomeKind::Unconfirmed,
                "v1 was published, but it may have replaced a newer version",
            ),
            (
                OutcomeKind::Unknown,
                "could not determine whether v1 was published",
            ),
            (OutcomeKind::Incomplete, "v1 was published, but it is incomplete"),
            (
                OutcomeKind::Unverified,
                "v1 was published, but could not be verified",
            ),
            (OutcomeKind::Failed, "v1 was not published"),
        ];
        for (kind, expected) in cases {
            // A usage error has no hint of its own.
            let failure = build_outcome_failure(ExitStatus::Usage, "v1", &Outcome::new(kind));
            assert_eq!(failure.describe(), expected);
        }
    }
}
