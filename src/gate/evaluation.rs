//! The findings of a run with the causes of its verdict, its notes and limits. Every step of a run adds to it, and the
//! report is built from it.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::remote_review::failed_batch::BatchFiles;
use crate::gate::remote_review::unanswered::Unanswered;
use crate::gate::{Cause, KnownComparison, Selected, Tally, decide, is_open, status, verdict};
use crate::session::Run;
use jiff::Timestamp;
use sluicegate_base::text::count;
use sluicegate_pipelines::findings::{
    Engine, ExcludedFile, FailOn, FileResults, FindingTotals, Report, ReviewContext, Verdict, VerdictLimit,
    describe_lower_limit, describe_too_many_known,
};
use sluicegate_pipelines::interface::Compatibility;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// The findings with the causes and notes that are added to them.
#[derive(Default)]
pub(crate) struct Evaluation {
    tally: Tally,
    causes: Vec<Cause>,
    /// The reason why the run passes although files were not reviewed.
    excuse: Option<&'static str>,
    /// Notes for the report; each a sentence.
    notes: Vec<String>,
    /// The notes that explain a verdict other than passed.
    reasons: Vec<String>,
    /// The notes that limit the verdict.
    limits: Vec<VerdictLimit>,
    /// The effects of the change on consumers.
    compat: Option<Compatibility>,
    /// True if the platform reported FAILED for a batch, and no finding explains it.
    has_unexplained_batch: bool,
    /// The requests that got no response.
    unanswered: Unanswered,
}

impl Evaluation {
    /// Creates the evaluation of a run without files to review; `note` states the reason.
    pub(crate) fn nothing(note: String) -> Self {
        Self {
            notes: vec![note],
            ..Self::default()
        }
    }

    pub(crate) fn new(mut tally: Tally, fail_on: FailOn) -> Self {
        let causes = decide(&tally, fail_on);
        let mut notes = std::mem::take(&mut tally.notes);
        let mut reasons = std::mem::take(&mut tally.doubts);
        let unexplained = tally.unexplained_batches();
        let has_unexplained_batch = !unexplained.is_empty();
        if has_unexplained_batch && fail_on != FailOn::Never {
            reasons.push(describe_unexplained(&unexplained));
        }
        notes.extend_from_slice(&reasons);
        let compared = tally
            .compared
            .as_ref()
            .filter(|_| verdict(&causes) == Verdict::Undecided);
        reasons.extend(compared.and_then(KnownComparison::describe_unknown));
        tally.fold_consequences();
        Self {
            limits: std::mem::take(&mut tally.limits),
            tally,
            causes,
            notes,
            reasons,
            has_unexplained_batch,
            ..Self::default()
        }
    }

    /// Adds a cause, with a sentence that explains it.
    pub(crate) fn add_cause(&mut self, cause: Cause, why: impl Into<String>) {
        let reason = why.into();
        self.causes.push(cause);
        self.notes.push(reason.clone());
        self.reasons.push(reason);
    }

    pub(crate) fn note(&mut self, notes: impl IntoIterator<Item = String>) {
        self.notes.extend(notes);
    }

    /// Adds a note that limits the verdict.
    pub(crate) fn add_limit(&mut self, limit: VerdictLimit) {
        self.notes.push(limit.text.clone());
        self.limits.push(limit);
    }

    /// Lets the run pass despite unreviewed files and doubts; the verdict does not change.
    const fn excuse(&mut self, why: &'static str) {
        self.excuse = Some(why);
    }

    /// Adds the effects of the change on consumers.
    pub(crate) fn set_compat(&mut self, compat: Compatibility) {
        self.compat = Some(compat);
    }

    /// Compares the number of known findings with the limit of the job. Only a complete review can note that the limit
    /// may be lowered.
    pub(crate) fn compare_known_count(&mut self, max_known: Option<usize>, is_complete: bool) {
        let (Some(most), Some(compared)) = (max_known, &self.tally.compared) else {
            return;
        };
        let findings = self.tally.all_files().flat_map(FileResults::findings);
        let totals = FindingTotals::from_findings(&findings.collect::<Vec<_>>(), Some(compared.fixed));
        let known = totals.known.unwrap_or_default();
        if known > most {
            self.add_cause(Cause::TooManyKnown, describe_too_many_known(known, most));
        } else if known < most && is_complete {
            self.notes.push(describe_lower_limit(known, most));
        }
    }

    /// Adds the requests that got no response, and prints them. With `may_pass`, an unavailable platform does not make
    /// the run undecided.
    pub(crate) fn add_unanswered(
        &mut self,
        session: &Run,
        unanswered: Unanswered,
        may_pass: bool,
    ) -> Result<(), Failure> {
        if may_pass {
            self.excuse("the change passes regardless, because of --on-unavailable pass");
        }
        self.unanswered = unanswered;
        self.unanswered
            .show(session, self.status() == ExitStatus::Success)
    }

    /// Returns the exit status of the run, without the excused causes.
    pub(crate) fn status(&self) -> ExitStatus {
        let is_excused = |cause: &Cause| matches!(cause, Cause::Unreviewed | Cause::Doubt);
        let counting = self.causes.iter().copied();
        let counting = counting.filter(|cause| self.excuse.is_none() || !is_excused(cause));
        let status = status(verdict(&counting.collect::<Vec<_>>()));
        self.unanswered.status(status)
    }

    /// Adds the excuse to the notes if the run passes only because of it.
    pub(crate) fn note_excuse(&mut self, ended: ExitStatus) {
        let is_excused = ended == ExitStatus::Success && verdict(&self.causes) == Verdict::Undecided;
        self.notes
            .extend(self.excuse.filter(|_| is_excused).map(str::to_owned));
    }

    pub(crate) fn into_report(
        self,
        engine: Engine,
        context: ReviewContext,
        selected: Selected,
        started_at: Timestamp,
        elapsed: Duration,
    ) -> Report {
        let types = self.tally.excluded.into_iter().map(|path| ExcludedFile {
            path,
            reason: "not a file that is reviewed".to_owned(),
        });
        let mut excluded: Vec<ExcludedFile> = types.chain(selected.left_out).collect();
        excluded.sort();
        Report {
            engine,
            verdict: verdict(&self.causes),
            context,
            files: merged(self.tally.files, self.tally.project),
            excluded_files: excluded,
            unreviewed_files: self.tally.unreviewed,
            gate_changes: selected.gate_changes,
            gate_refused: self.causes.contains(&Cause::GateChange),
            failed_without_finding: self.has_unexplained_batch,
            failed_batches: self.tally.failed_batches,
            compat: self.compat,
            is_open: is_open(&self.causes),
            changes: None,
            notes: self.notes,
            reasons: self.reasons,
            limits: self.limits,
            fixed_count: self.tally.compared.map(|compared| compared.fixed),
            started_at,
            duration: elapsed,
        }
    }
}

/// Returns a sentence about failed batches that no finding explains.
fn describe_unexplained(batches: &[&BatchFiles]) -> String {
    let paths: BTreeSet<&String> = batches.iter().copied().flatten().collect();
    let first = paths.first().map_or("", |path| path.as_str());
    format!(
        "the platform reports FAILED for a batch of {}, such as {first}, and no finding of level error explains it",
        count(paths.len(), "pipeline")
    )
}

/// Merges both lists by path. In a file, the results of the review come before those of the project checks.
fn merged(mut files: Vec<FileResults>, project: Vec<FileResults>) -> Vec<FileResults> {
    if project.is_empty() {
        return files;
    }
    let reviewed: HashMap<&str, usize> = files
        .iter()
        .enumerate()
        .map(|(at, file)| (file.path.as_str(), at))
        .collect();
    let places: Vec<Option<usize>> = project
        .iter()
        .map(|file| reviewed.get(file.path.as_str()).copied())
        .collect();
    for (mut found, place) in project.into_iter().zip(places) {
        match place.and_then(|at| files.get_mut(at)) {
            Some(file) => file.results.append(&mut found.results),
            None => files.push(found),
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_pipelines::findings::UnreviewedFile;

    fn without_response() -> Evaluation {
        let tally = Tally {
            unreviewed: vec![UnreviewedFile {
                path: "a".into(),
                reason: "no answer".into(),
            }],
            ..Tally::default()
        };
        Evaluation::new(tally, FailOn::Error)
    }

    fn reported(evaluation: Evaluation) -> Report {
        evaluation.into_report(
            Engine::Remote,
            ReviewContext::default(),
            Selected::default(),
            Timestamp::UNIX_EPOCH,
            Duration::ZERO,
        )
    }

    #[test]
    fn an_excuse_lets_the_run_pass_and_leaves_the_verdict() {
        let mut evaluation = without_response();
        assert_eq!(evaluation.status(), ExitStatus::Undecided);
        evaluation.excuse("it passes all the same");
        assert_eq!(evaluation.status(), ExitStatus::Success);
        evaluation.note_excuse(ExitStatus::Success);
        let report = reported(evaluation);
        assert_eq!((report.verdict, report.is_open), (Verdict::Undecided, true));
        assert_eq!(report.notes, ["it passes all the same"]);
    }

    #[test]
    fn an_excuse_is_for_missing_answers_alone() {
        for (cause, status) in [
            (Cause::UnknownBreaks, ExitStatus::Undecided),
            (Cause::GateChange, ExitStatus::GateFailed),
            (Cause::Break, ExitStatus::GateFailed),
        ] {
            let mut evaluation = without_response();
            evaluation.excuse("it passes all the same");
            evaluation.add_cause(cause, "why");
            assert_eq!(evaluation.status(), status, "{cause:?}");
            evaluation.note_excuse(status);
            let report = reported(evaluation);
            assert_eq!(
                (report.verdict, report.notes),
                (cause.verdict(), vec!["why".to_owned()])
            );
        }
    }
}
