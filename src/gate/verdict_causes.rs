//! Derives the causes of the verdict from the findings.

use crate::gate::remote_review::failed_batch::{BatchFiles, FoldEvidence, list_unexplained_batches};
use crate::gate::verdict::find_result_causes;
use crate::gate::{Cause, RunFindings};
use sluicegate_pipelines::findings::FailOn;

/// Returns the causes by which the results fail the gate or leave the verdict open. With `--fail-on never`, only
/// missing reviews and doubts are causes.
pub(crate) fn find_verdict_causes(run_findings: &RunFindings, fail_on: FailOn) -> Vec<Cause> {
    let mut causes = find_result_causes(
        run_findings.all_files(),
        fail_on,
        run_findings.comparison.is_some(),
    );
    let is_unexplained = fail_on != FailOn::Never && !run_findings.list_unexplained_batches().is_empty();
    causes.extend(is_unexplained.then_some(Cause::PlatformFailure));
    causes.extend((!run_findings.unreviewed_files.is_empty()).then_some(Cause::Unreviewed));
    causes.extend((!run_findings.doubts.is_empty()).then_some(Cause::Doubt));
    causes
}

impl RunFindings {
    /// Returns the batches that the platform reports as failed although no finding explains the failure. If the review
    /// of a file did not fail at every base, known findings in this file do not explain the failure.
    pub(crate) fn list_unexplained_batches(&self) -> Vec<&BatchFiles> {
        // Findings are folded only after the verdict.
        let fold_evidence = FoldEvidence::Inconclusive;
        list_unexplained_batches(&self.failed_batches, self.files.iter(), fold_evidence, |path| {
            let comparison = self.comparison.as_ref();
            comparison.is_some_and(|comparison| comparison.has_failed_before(path))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{KnownComparison, decide_verdict};
    use sluicegate_pipelines::findings::{
        FileResults, FindingState, Origin, ReviewGap, RuleResult, Severity, Status, UnreviewedFile, Verdict,
    };

    fn run_findings(status: Status) -> RunFindings {
        let result = RuleResult::new("r".into(), status, None, vec![]);
        RunFindings {
            files: vec![FileResults {
                path: "a".into(),
                results: vec![result],
                is_reviewed: true,
            }],
            ..RunFindings::default()
        }
    }

    #[test]
    fn limit_is_the_least_severity_that_fails() {
        let cases = [
            (Status::Passed, FailOn::Warn, Verdict::Passed),
            (Status::Failed(Severity::Warning), FailOn::Error, Verdict::Passed),
            (Status::Failed(Severity::Warning), FailOn::Warn, Verdict::Failed),
            (Status::Failed(Severity::Error), FailOn::Error, Verdict::Failed),
            (Status::Failed(Severity::Error), FailOn::Never, Verdict::Passed),
            (Status::Error(None), FailOn::Error, Verdict::Failed),
            (Status::Error(None), FailOn::Never, Verdict::Passed),
        ];
        for (status, limit, expected) in cases {
            assert_eq!(
                decide_verdict(&find_verdict_causes(&run_findings(status.clone()), limit)),
                expected,
                "{status:?} {limit:?}"
            );
        }
    }

    #[test]
    fn open_findings_never_pass() {
        let mut open = run_findings(Status::Passed);
        open.unreviewed_files.push(UnreviewedFile {
            path: "b".into(),
            reason: "no answer".into(),
            next_step: None,
            gap: ReviewGap::FailedRequest,
        });
        assert_eq!(
            decide_verdict(&find_verdict_causes(&open, FailOn::Never)),
            Verdict::Undecided
        );
        let doubtful = RunFindings {
            doubts: vec!["?".into()],
            ..RunFindings::default()
        };
        assert_eq!(
            decide_verdict(&find_verdict_causes(&doubtful, FailOn::Error)),
            Verdict::Undecided
        );
    }

    fn result(severity: Severity, states: Vec<Option<FindingState>>) -> RuleResult {
        let mut result = RuleResult {
            origin: Origin::Platform,
            ..RuleResult::new("r".into(), Status::Failed(severity), None, vec![])
        };
        result.set_states(states);
        result
    }

    /// Returns the verdict for one failed batch with these results in two files.
    fn verdict_of_failed_batch(
        first: Vec<RuleResult>,
        second: Vec<RuleResult>,
        failed_before: &[&str],
    ) -> Verdict {
        let files = [("a", first), ("b", second)];
        let files = files.map(|(path, results)| FileResults {
            path: path.to_owned(),
            results,
            is_reviewed: true,
        });
        let run_findings = RunFindings {
            files: files.to_vec(),
            failed_batches: vec![BatchFiles::from(["a".to_owned(), "b".to_owned()])],
            comparison: Some(KnownComparison {
                failed_before: failed_before.iter().map(|path| (*path).to_owned()).collect(),
                ..KnownComparison::default()
            }),
            ..RunFindings::default()
        };
        assert_eq!(
            decide_verdict(&find_verdict_causes(&run_findings, FailOn::Never)),
            Verdict::Passed
        );
        decide_verdict(&find_verdict_causes(&run_findings, FailOn::Error))
    }

    #[test]
    fn failed_batch_is_excused_by_old_findings_of_level_error() {
        let waived = |severity| vec![result(severity, vec![Some(FindingState::Waived)])];
        let known = |severity| vec![result(severity, vec![Some(FindingState::Known)])];
        let new = vec![result(Severity::Error, vec![Some(FindingState::New)])];
        let cases = [
            (vec![], vec![], Verdict::Failed),
            (waived(Severity::Error), vec![], Verdict::Passed),
            (waived(Severity::Warning), vec![], Verdict::Failed),
            (known(Severity::Warning), vec![], Verdict::Failed),
            (waived(Severity::Error), known(Severity::Warning), Verdict::Passed),
            (waived(Severity::Error), new, Verdict::Failed),
        ];
        for (first, second, expected) in cases {
            let said = format!("{first:?} {second:?}");
            assert_eq!(
                verdict_of_failed_batch(first, second, &["a", "b"]),
                expected,
                "{said}"
            );
        }
        let known = || known(Severity::Error);
        assert_eq!(verdict_of_failed_batch(known(), vec![], &["a"]), Verdict::Passed);
        assert_eq!(verdict_of_failed_batch(known(), vec![], &["b"]), Verdict::Failed);
        assert_eq!(verdict_of_failed_batch(known(), known(), &["a"]), Verdict::Failed);
    }

    #[test]
    fn failed_batch_is_explained_by_results_of_the_platform_only() {
        for origin in [Origin::Local, Origin::Project] {
            let other = RuleResult {
                origin,
                ..result(Severity::Error, vec![Some(FindingState::Waived)])
            };
            assert_eq!(
                verdict_of_failed_batch(vec![other], vec![], &["a"]),
                Verdict::Failed
            );
        }
    }
}
