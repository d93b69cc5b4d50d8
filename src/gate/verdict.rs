//! The verdict: what everything that decides comes to. Whoever needs it lists the causes and asks here.

use crate::base::exit::ExitStatus;
use crate::model::findings::{FailOn, FileResults, Report, State, Verdict};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A finding at or over the limit, or a rule that could not be evaluated.
    Finding,
    /// The platform calls files failed, and no known or waived finding explains it.
    PlatformWord,
    /// The change does to the gate what the job does not allow.
    GateChange,
    /// The change breaks consumers, which the job does not allow.
    Break,
    /// More findings are known than the job allows.
    TooManyKnown,
    /// Files have no usable answer.
    Unreviewed,
    /// Of an answer, or of what was there before, something is not known.
    Doubt,
    /// What the change does to consumers is not known.
    UnknownBreaks,
}

impl Cause {
    /// Returns the verdict of a run with this cause alone.
    pub(crate) const fn verdict(self) -> Verdict {
        match self {
            Self::Finding | Self::PlatformWord | Self::GateChange | Self::Break | Self::TooManyKnown => {
                Verdict::Failed
            }
            Self::Unreviewed | Self::Doubt | Self::UnknownBreaks => Verdict::Undecided,
        }
    }

    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Finding => "its results fail the gate",
            Self::PlatformWord => "the platform calls something failed in which nothing was found",
            Self::GateChange => "it does what the job does not allow to the gate",
            Self::Break => "it breaks consumers, which the job does not allow",
            Self::TooManyKnown => "more findings are known than its job allows",
            Self::Unreviewed => "files of it were not reviewed",
            Self::Doubt | Self::UnknownBreaks => "something of it is not known",
        }
    }
}

/// Returns what the causes come to: a failed gate is failed, whatever else is open.
pub(crate) fn verdict(causes: &[Cause]) -> Verdict {
    let worst = causes.iter().map(|cause| cause.verdict()).max();
    worst.unwrap_or(Verdict::Passed)
}

/// Returns whether something is not known, whatever the verdict is.
pub(crate) fn is_open(causes: &[Cause]) -> bool {
    causes.iter().any(|cause| cause.verdict() == Verdict::Undecided)
}

/// Returns how a run with this verdict ends.
pub(crate) const fn status(verdict: Verdict) -> ExitStatus {
    match verdict {
        Verdict::Passed => ExitStatus::Success,
        Verdict::Failed => ExitStatus::GateFailed,
        Verdict::Undecided => ExitStatus::Undecided,
    }
}

/// Returns the causes that a report itself names.
pub(crate) fn causes(report: &Report) -> Vec<Cause> {
    let fail_on = report.fail_on();
    let is_word = report.failed_without_finding && fail_on != FailOn::Never;
    let found = [
        (report.too_many_known().is_some(), Cause::TooManyKnown),
        (report.breaks_consumers(), Cause::Break),
        (report.gate_refused, Cause::GateChange),
        (is_word, Cause::PlatformWord),
        (!report.unreviewed.is_empty(), Cause::Unreviewed),
        (report.is_open, Cause::Doubt),
    ];
    let mut causes = of_results(report.files.iter(), fail_on, report.fixed.is_some());
    causes.extend(
        found
            .into_iter()
            .filter_map(|(is_true, cause)| is_true.then_some(cause)),
    );
    causes
}

/// Returns what the findings decide. Where they were compared with what was there before, one that is not said to be new is
/// one of which that is not known.
pub(super) fn of_results<'f>(
    files: impl Iterator<Item = &'f FileResults>,
    fail_on: FailOn,
    is_compared: bool,
) -> Vec<Cause> {
    let results = files.flat_map(|file| &file.results);
    let failing = results.filter(|result| result.fails(fail_on));
    let cause = failing.map(|result| {
        if is_compared && !result.states.contains(&Some(State::New)) {
            Cause::Doubt
        } else {
            Cause::Finding
        }
    });
    let mut causes: Vec<Cause> = cause.collect();
    causes.dedup();
    causes
}
