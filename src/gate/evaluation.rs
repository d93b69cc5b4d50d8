//! The findings of a run with the causes of its verdict, its notes and limits. Every step of a run adds to it, and the
//! report is built from it.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::remote_review::failed_batch::BatchFiles;
use crate::gate::remote_review::failed_requests::FailedRequests;
use crate::gate::selection::selection_reason::LeftOutFile;
use crate::gate::{
    Cause, KnownComparison, RunFindings, SelectedPipelines, decide_verdict, exit_status, find_verdict_causes,
    has_undecided_cause, merge_results,
};
use crate::job::policy::UNUSABLE_POLICY_FILE;
use crate::session::Session;
use crate::workspace::gate_file_problems::GateFileProblem;
use jiff::Timestamp;
use sluicegate_base::text::format_count;
use sluicegate_pipelines::findings::{
    Engine, ExcludedFile, FailOn, FileResults, FindingTotals, GateFault, LimitKind, Report, ReviewContext,
    Verdict, VerdictLimit, describe_too_many_known, suggest_lower_known_limit,
};
use sluicegate_pipelines::interface::Compatibility;
use std::collections::BTreeSet;
use std::time::Duration;

/// The findings with the causes and notes that are added to them.
#[derive(Default)]
pub(crate) struct Evaluation {
    run_findings: RunFindings,
    causes: Vec<Cause>,
    /// The reason why the run passes although files were not reviewed.
    excuse: Option<&'static str>,
    /// Notes for the report; each a sentence.
    notes: Vec<String>,
    /// The notes that explain a verdict other than passed.
    reasons: Vec<String>,
    /// The notes that limit the verdict.
    limits: Vec<VerdictLimit>,
    /// The first file of the gate configuration that has a fault, if the reviewed commit has the file.
    faulty_gate_file: Option<String>,
    /// The effects of the change on consumers.
    compat: Option<Compatibility>,
    /// True if the platform reported FAILED for a batch, and no finding explains it.
    has_unexplained_batch: bool,
    /// The requests that got no response.
    failed_requests: FailedRequests,
}

impl Evaluation {
    /// Creates the evaluation of a run that has no files to review. `note` states the reason.
    pub(crate) fn without_files(note: String) -> Self {
        Self {
            notes: vec![note],
            ..Self::default()
        }
    }

    /// Builds the evaluation of a run from the collected results. Finds the causes that decide the verdict and the
    /// sentences that explain them. If the verdict is undecided, these sentences also name files that could not be
    /// compared with the base. Then moves findings that only follow from a broken link into the finding about the link.
    pub(crate) fn new(mut run_findings: RunFindings, fail_on: FailOn) -> Self {
        let causes = find_verdict_causes(&run_findings, fail_on);
        let mut notes = std::mem::take(&mut run_findings.notes);
        let mut reasons = std::mem::take(&mut run_findings.doubts);
        let unexplained_batches = run_findings.list_unexplained_batches();
        let has_unexplained_batch = !unexplained_batches.is_empty();
        if has_unexplained_batch && fail_on != FailOn::Never {
            reasons.push(describe_unexplained_batches(&unexplained_batches));
        }
        notes.extend_from_slice(&reasons);
        notes.extend(run_findings.describe_files_without_rules());
        // The notes already contain the sentence about files that could not be compared.
        let comparison = run_findings
            .comparison
            .as_ref()
            .filter(|_| decide_verdict(&causes) == Verdict::Undecided);
        reasons.extend(comparison.and_then(KnownComparison::describe_unknown_files));
        run_findings.fold_consequences();
        Self {
            limits: std::mem::take(&mut run_findings.limits),
            run_findings,
            causes,
            notes,
            reasons,
            has_unexplained_batch,
            ..Self::default()
        }
    }

    /// Adds a cause that affects the verdict, with a sentence that explains it.
    pub(crate) fn add_cause(&mut self, cause: Cause, reason: impl Into<String>) {
        let reason = reason.into();
        self.causes.push(cause);
        self.notes.push(reason.clone());
        self.reasons.push(reason);
    }

    /// Adds the path of a file of the gate configuration that has a fault. Only the first one is kept.
    pub(crate) fn add_faulty_gate_file(&mut self, path: &str) {
        self.faulty_gate_file.get_or_insert_with(|| path.to_owned());
    }

    /// Adds sentences for the report that do not affect the verdict.
    pub(crate) fn add_notes(&mut self, notes: impl IntoIterator<Item = String>) {
        self.notes.extend(notes);
    }

    /// Returns whether a limit of the verdict already says that the version of this file that applies to the run is not
    /// used, for the same reason.
    pub(crate) fn explains_unused_file(&self, problem: &GateFileProblem) -> bool {
        let Some(path) = &problem.path else {
            return false;
        };
        // In the limit, the name of the version is in place of the path.
        let reason = problem
            .message
            .strip_prefix(path.as_str())
            .unwrap_or(&problem.message);
        self.limits.iter().any(|limit| {
            limit.kind == LimitKind::NotInForce
                && limit.path.as_ref() == Some(path)
                && limit.text.contains(UNUSABLE_POLICY_FILE)
                && limit.text.ends_with(reason)
        })
    }

    /// Adds a fact that limits the verdict, and its text as a note.
    pub(crate) fn add_limit(&mut self, limit: VerdictLimit) {
        self.notes.push(limit.text.clone());
        self.limits.push(limit);
    }

    /// Lets the run pass, for this reason, despite unreviewed files and doubts. The verdict in the report does not
    /// change.
    const fn set_excuse(&mut self, reason: &'static str) {
        self.excuse = Some(reason);
    }

    /// Stores the effects of the change on consumers for the report.
    pub(crate) fn set_compat(&mut self, compat: Compatibility) {
        self.compat = Some(compat);
    }

    /// Compares the number of known findings with the maximum that the job allows. A larger number fails the run. A
    /// smaller one adds the note that the maximum may be lowered, but only after a complete review.
    pub(crate) fn add_known_count_cause(&mut self, max_known: Option<usize>, is_complete: bool) {
        let (Some(max_count), Some(comparison)) = (max_known, &self.run_findings.comparison) else {
            return;
        };
        let findings = self.run_findings.all_files().flat_map(FileResults::findings);
        let totals =
            FindingTotals::from_findings(&findings.collect::<Vec<_>>(), Some(comparison.fixed_count));
        let known_count = totals.known.unwrap_or_default();
        if known_count > max_count {
            self.add_cause(
                Cause::TooManyKnown,
                describe_too_many_known(known_count, max_count),
            );
        } else if known_count < max_count && is_complete {
            self.notes.push(suggest_lower_known_limit(known_count, max_count));
        }
    }

    /// Sets the requests that got no usable response.
    pub(crate) fn set_failed_requests(&mut self, failed_requests: FailedRequests) {
        self.failed_requests = failed_requests;
    }

    /// Lets the run pass although the platform is unavailable, because the job requested it.
    pub(crate) const fn excuse_unavailable_platform(&mut self) {
        self.set_excuse("the change passes regardless, because of --on-unavailable pass");
    }

    /// Prints the requests that got no usable response: as warnings if the run passes, otherwise as errors.
    pub(crate) fn print_failed_requests(&self, session: &Session) -> Result<(), Failure> {
        self.failed_requests
            .print(session, self.status() == ExitStatus::Success)
    }

    /// Returns the exit status of the run. If the job excuses an unavailable platform, ignores unreviewed files and
    /// unclear results. A request that the platform refused is an error of the job, so it can change the status.
    pub(crate) fn status(&self) -> ExitStatus {
        let mut causes = self.causes.clone();
        if self.excuse.is_some() {
            causes.retain(|cause| !matches!(cause, Cause::Unreviewed | Cause::Doubt));
        }
        self.failed_requests
            .adjust_status(exit_status(decide_verdict(&causes)))
    }

    /// Adds a note with the excuse if the run passes only because of it. The note is also a reason and a limit, so that
    /// every report shows it next to the verdict.
    pub(crate) fn add_excuse_note(&mut self, status: ExitStatus) {
        let is_excused = status == ExitStatus::Success && decide_verdict(&self.causes) == Verdict::Undecided;
        if let Some(excuse) = self.excuse.filter(|_| is_excused) {
            self.reasons.push(excuse.to_owned());
            self.add_limit(VerdictLimit {
                kind: LimitKind::Excused,
                path: None,
                text: excuse.to_owned(),
            });
        }
    }

    /// Converts the evaluation to a report on these selected pipelines. Adds the results of the project checks to those
    /// of the review. Lists the files that were excluded by their type together with those that the selection excluded.
    pub(crate) fn into_report(
        self,
        engine: Engine,
        context: ReviewContext,
        pipelines: SelectedPipelines,
        started_at: Timestamp,
        elapsed_time: Duration,
    ) -> Report {
        let excluded_by_type = self
            .run_findings
            .excluded_paths
            .into_iter()
            .map(|path| ExcludedFile {
                path,
                reason: ExcludedFile::UNREVIEWED_TYPE.to_owned(),
            });
        let excluded_by_selection = pipelines
            .left_out_files
            .into_iter()
            .map(LeftOutFile::into_excluded_file);
        let mut excluded_files: Vec<ExcludedFile> = excluded_by_type.chain(excluded_by_selection).collect();
        excluded_files.sort();
        let mut files = self.run_findings.files;
        merge_results(&mut files, self.run_findings.project_files);
        let verdict = decide_verdict(&self.causes);
        Report {
            files,
            excluded_files,
            unreviewed_files: self.run_findings.unreviewed_files,
            gate_changes: pipelines.gate_changes,
            gate_refused: self.causes.contains(&Cause::GateChange),
            gate_faults: list_gate_faults(&self.causes),
            faulty_gate_file: self.faulty_gate_file,
            failed_without_finding: self.has_unexplained_batch,
            failed_batches: self.run_findings.failed_batches,
            compat: self.compat,
            is_open: has_undecided_cause(&self.causes),
            notes: self.notes,
            reasons: self.reasons,
            limits: self.limits,
            next_steps: self.failed_requests.list_next_steps(verdict),
            fixed_count: self
                .run_findings
                .comparison
                .map(|comparison| comparison.fixed_count),
            duration: elapsed_time,
            // The delivery adds the changes if an output includes them.
            ..Report::empty(engine, verdict, context, started_at)
        }
    }
}

/// Returns the faults of the gate configuration among the causes, without duplicates.
fn list_gate_faults(causes: &[Cause]) -> Vec<GateFault> {
    let faults: BTreeSet<GateFault> = causes
        .iter()
        .filter_map(|cause| match cause {
            Cause::GateFault(fault) => Some(*fault),
            _ => None,
        })
        .collect();
    faults.into_iter().collect()
}

/// Returns a sentence about the failed batches that no finding explains, with the first of their files.
fn describe_unexplained_batches(batches: &[&BatchFiles]) -> String {
    let paths: BTreeSet<&String> = batches.iter().copied().flatten().collect();
    let first_path = paths.first().map_or("", |path| path.as_str());
    format!(
        "the platform reports FAILED for a batch of {}, such as {first_path}, and no finding of level error explains \
         the failure",
        format_count(paths.len(), "pipeline")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_pipelines::findings::{ReviewGap, UnreviewedFile};

    fn without_response() -> Evaluation {
        let run_findings = RunFindings {
            unreviewed_files: vec![UnreviewedFile {
                path: "a".into(),
                reason: "no answer".into(),
                next_step: None,
                gap: ReviewGap::FailedRequest,
            }],
            ..RunFindings::default()
        };
        Evaluation::new(run_findings, FailOn::Error)
    }

    fn reported(evaluation: Evaluation) -> Report {
        evaluation.into_report(
            Engine::Remote,
            ReviewContext::default(),
            SelectedPipelines::default(),
            Timestamp::UNIX_EPOCH,
            Duration::ZERO,
        )
    }

    #[test]
    fn excuse_lets_run_pass_and_keeps_verdict() {
        let mut evaluation = without_response();
        assert_eq!(evaluation.status(), ExitStatus::Undecided);
        evaluation.set_excuse("it passes all the same");
        assert_eq!(evaluation.status(), ExitStatus::Success);
        evaluation.add_excuse_note(ExitStatus::Success);
        let report = reported(evaluation);
        assert_eq!((report.verdict, report.is_open), (Verdict::Undecided, true));
        assert_eq!(report.notes, ["it passes all the same"]);
    }

    #[test]
    fn excuse_covers_only_missing_responses() {
        for (cause, status) in [
            (Cause::UnknownBreaks, ExitStatus::Undecided),
            (Cause::GateChange, ExitStatus::GateFailed),
            (Cause::BreakingChange, ExitStatus::GateFailed),
        ] {
            let mut evaluation = without_response();
            evaluation.set_excuse("it passes all the same");
            evaluation.add_cause(cause, "why");
            assert_eq!(evaluation.status(), status, "{cause:?}");
            evaluation.add_excuse_note(status);
            let report = reported(evaluation);
            assert_eq!(
                (report.verdict, report.notes),
                (cause.verdict(), vec!["why".to_owned()])
            );
        }
    }
}
