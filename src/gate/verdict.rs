//! Derives the verdict from its causes. Every verdict of the program is computed here from a list of causes.

use crate::exit::ExitStatus;
use crate::gate::remote_review::failed_batch::has_unexplained_batch;
use sluicegate_pipelines::findings::{FailOn, FileResults, FindingState, GateFault, Report, Verdict};

/// A reason why a run does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A finding of at least the `--fail-on` level, or a rule that could not be evaluated.
    Finding,
    /// The platform reports FAILED, and no finding explains it.
    PlatformFailure,
    /// The change edits the gate configuration in a way that the job does not allow.
    GateChange,
    /// The change makes the gate configuration faulty, which no job allows.
    GateFault(GateFault),
    /// The change breaks consumers, which the job does not allow.
    BreakingChange,
    /// There are more known findings than the job allows.
    TooManyKnown,
    /// Files have no usable result.
    Unreviewed,
    /// A response, or the comparison with the base, is incomplete or unclear.
    Doubt,
    /// The effect of the change on consumers is unknown.
    UnknownBreaks,
}

impl Cause {
    /// Returns the verdict of a run that has only this cause.
    pub(crate) const fn verdict(self) -> Verdict {
        match self {
            Self::Finding
            | Self::PlatformFailure
            | Self::GateChange
            | Self::GateFault(_)
            | Self::BreakingChange
            | Self::TooManyKnown => Verdict::Failed,
            Self::Unreviewed | Self::Doubt | Self::UnknownBreaks => Verdict::Undecided,
        }
    }

    /// Describes the cause as a clause after "the report's verdict is `passed`, but", for a report whose verdict
    /// contradicts it.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::Finding => "results fail the gate",
            Self::PlatformFailure => "the platform reports a failure that no finding of level error explains",
            Self::GateChange => {
                "the change edits the gate configuration in a way that the job does not allow"
            }
            Self::GateFault(GateFault::UnusableFile) => "the change makes a gate configuration file unusable",
            Self::GateFault(GateFault::FailedExample) => {
                "an example of a team rule has an unexpected outcome"
            }
            Self::BreakingChange => "the change breaks consumers, which the job does not allow",
            Self::TooManyKnown => "there are more known findings than the job allows",
            Self::Unreviewed => "some files were not reviewed",
            Self::Doubt | Self::UnknownBreaks => "some results are unknown",
        }
    }
}

/// Returns the verdict for the causes: failed takes precedence over undecided, and no cause means passed.
pub(crate) fn decide_verdict(causes: &[Cause]) -> Verdict {
    let worst_verdict = causes.iter().map(|cause| cause.verdict()).max();
    worst_verdict.unwrap_or(Verdict::Passed)
}

/// Returns whether any cause leaves the verdict open, even if another cause fails the gate.
pub(crate) fn has_undecided_cause(causes: &[Cause]) -> bool {
    causes.iter().any(|cause| cause.verdict() == Verdict::Undecided)
}

/// Returns the exit status for this verdict.
pub(crate) const fn exit_status(verdict: Verdict) -> ExitStatus {
    match verdict {
        Verdict::Passed => ExitStatus::Success,
        Verdict::Failed => ExitStatus::GateFailed,
        Verdict::Undecided => ExitStatus::Undecided,
    }
}

/// Returns the causes of the verdict that a report shows by itself, without the repository.
pub(crate) fn find_report_causes(report: &Report) -> Vec<Cause> {
    let fail_on = report.fail_on();
    let has_platform_failure = fail_on != FailOn::Never && has_unexplained_batch(report);
    let report_causes = [
        (report.check_known_limit().is_some(), Cause::TooManyKnown),
        (report.breaks_consumers(), Cause::BreakingChange),
        (report.gate_refused, Cause::GateChange),
        (has_platform_failure, Cause::PlatformFailure),
        (!report.unreviewed_files.is_empty(), Cause::Unreviewed),
        (report.is_open, Cause::Doubt),
    ];
    let mut causes = find_result_causes(report.files.iter(), fail_on, report.fixed_count.is_some());
    causes.extend(
        report_causes
            .into_iter()
            .filter_map(|(applies, cause)| applies.then_some(cause)),
    );
    causes.extend(report.gate_faults.iter().copied().map(Cause::GateFault));
    causes
}

/// Returns the causes of a failed gate that the files' results contain. After a comparison with a base, a failing
/// result without a new finding is only a doubt: nobody knows whether its findings are new.
pub(crate) fn find_result_causes<'f>(
    files: impl Iterator<Item = &'f FileResults>,
    fail_on: FailOn,
    is_compared: bool,
) -> Vec<Cause> {
    let mut causes = Vec::new();
    let results = files.flat_map(|file| &file.results);
    for result in results.filter(|result| result.fails_gate(fail_on)) {
        causes.push(
            if is_compared && !result.states().any(|state| state == Some(FindingState::New)) {
                Cause::Doubt
            } else {
                Cause::Finding
            },
        );
    }
    causes.dedup();
    causes
}
