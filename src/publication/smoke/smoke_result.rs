//! The result of smoke runs: what ran, and which version consumers get now.

use crate::error::{Detail, Failure, render_details};
use crate::exit::ExitStatus;
use crate::publish::{LatestVersion, SmokeExecution, SmokeRecord};
use crate::session::artifact_versions::{describe_latest_version, disable_command};
use sluicegate_base::text::quote_shell_word;
use sluicegate_reports::{SmokeCase, Verdict};
use std::fmt::Write as _;

/// The result of the smoke runs of a version.
pub(crate) struct SmokeResult {
    pub(crate) prefix: String,
    pub(crate) version_name: String,
    pub(crate) record: SmokeRecord,
    pub(crate) status: ExitStatus,
    /// The reason why the runs did not succeed, if it does not concern one of them.
    pub(super) problem: Option<String>,
    /// The hint that names the next step for this problem.
    pub(super) hint: Option<&'static str>,
    /// The step before a disabled version is published again; `None` to fix the cause.
    pub(super) republish_step: Option<&'static str>,
    pub(super) state: VersionState,
    /// The version that \[Latest\] means now, if it was looked up.
    pub(super) latest: Option<LatestVersion>,
}

/// The state of a version after its smoke runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum VersionState {
    /// The version was not disabled, because the runs succeeded, or because this run did not publish it.
    Unchanged,
    Disabled,
    /// The settings keep the version enabled.
    KeptEnabled,
    /// The version could not be disabled; contains the reason.
    StillEnabled(String),
}

impl SmokeResult {
    pub(crate) fn is_passed(&self) -> bool {
        self.status == ExitStatus::Success
    }

    /// Returns a line for each run, and a last one with the version that consumers get.
    pub(crate) fn describe_runs(&self) -> Vec<String> {
        let runs = self.record.runs.iter();
        let mut lines: Vec<String> = runs
            .map(|run| format!("smoke run of {}: {}", run.subject(), describe_result(run)))
            .collect();
        lines.extend(self.latest.as_ref().map(describe_latest_version));
        lines
    }

    /// Returns the failure of runs that did not succeed.
    pub(crate) fn to_failure(&self) -> Failure {
        let failure =
            Failure::from_message(self.status, self.describe_state()).with_entries(self.list_details());
        match self.find_hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }

    /// Describes the runs that did not succeed as [`Self::to_failure`] does, for a report that escapes the text.
    pub(crate) fn describe_failure(&self) -> String {
        let details: Vec<Detail> = self.list_details().into_iter().map(Detail::Entry).collect();
        self.describe_state() + &render_details(&details)
    }

    /// Describes the state of the version after runs that did not succeed. If the version could not be disabled, the
    /// message is in capitals, because consumers may use it meanwhile.
    fn describe_state(&self) -> String {
        let (prefix, version) = (&self.prefix, &self.version_name);
        match &self.state {
            VersionState::StillEnabled(_) => format!(
                "VERSION {version} OF {prefix} IS STILL ENABLED, AND CONSUMERS MAY USE IT: its smoke run did not succeed"
            ),
            VersionState::Disabled => {
                format!(
                    "the smoke run of version {version} of {prefix} did not succeed: the version was disabled"
                )
            }
            VersionState::KeptEnabled => format!(
                "the smoke run of version {version} of {prefix} did not succeed: the version stays enabled \
                 (--on-smoke-failure keep)"
            ),
            VersionState::Unchanged => {
                format!(
                    "no smoke run shows whether version {version} of {prefix} works: the version is unchanged"
                )
            }
        }
    }

    /// Returns why the version could not be disabled, the problem of the runs, each run, and the version that consumers
    /// get.
    fn list_details(&self) -> Vec<String> {
        let withdrawal_problem = match &self.state {
            VersionState::StillEnabled(reason) => Some(format!("could not disable the version: {reason}")),
            _ => None,
        };
        withdrawal_problem
            .into_iter()
            .chain(self.problem.clone())
            .chain(self.describe_runs())
            .collect()
    }

    /// Returns what the user can do after runs that did not succeed; `None` if there is no step for this cause.
    fn find_hint(&self) -> Option<String> {
        // Consumers must not get this version, even if no other one is enabled.
        let disable_command = disable_command(&self.prefix, &self.version_name) + " --force";
        let is_unproven = |run: &SmokeExecution| run.proves_nothing() && !run.is_earlier;
        let mut steps = match &self.state {
            VersionState::StillEnabled(_) => return Some(format!("run `{disable_command}` now")),
            VersionState::Disabled if self.record.runs.iter().any(is_unproven) => vec![
                "the version may work: unless a newer version contains this commit, publish it again under another \
                 version name"
                    .to_owned(),
            ],
            VersionState::Disabled => {
                let first_step = self.republish_step.unwrap_or("fix the cause");
                vec![format!("{first_step}, then publish under another version name")]
            }
            VersionState::KeptEnabled => vec![format!("run `{disable_command}` to disable the version")],
            VersionState::Unchanged => Vec::new(),
        };
        steps.extend(self.hint.map(str::to_owned));
        if let Some(run) = self.record.runs.iter().find(|run| is_maybe_running(run))
            && let Some(id) = &run.execution_id
        {
            steps.push(format!(
                "run `sluicegate executions show {} --project-id {}` to see whether the execution is still running",
                quote_shell_word(id),
                run.project_id
            ));
        }
        (!steps.is_empty()).then(|| steps.join("; "))
    }

    /// Returns the runs as cases of the JUnit report. A run is undecided if it was attempted but no end was seen, and
    /// has no verdict if it was not attempted.
    pub(crate) fn list_junit_cases(&self) -> Vec<SmokeCase> {
        let cases = self.record.runs.iter().map(|run| SmokeCase {
            name: format!("smoke run of {}", run.subject()),
            verdict: if run.is_success() {
                Some(Verdict::Passed)
            } else if run.has_ended {
                Some(Verdict::Failed)
            } else if run.is_requested || is_maybe_running(run) || run.problem.is_some() {
                // Without a request, the problem is that the execution of an earlier run could not be read.
                Some(Verdict::Undecided)
            } else {
                None
            },
            description: describe_result(run),
            duration: run.duration(),
        });
        cases.collect()
    }
}

/// Returns whether the execution was started and its end is unknown.
const fn is_maybe_running(run: &SmokeExecution) -> bool {
    run.execution_id.is_some() && !run.has_ended && !run.is_earlier
}

/// Describes how a run ended: its problem, or its status with the message, and how long it took. Without a problem and
/// a status, says whether the execution was started.
fn describe_result(run: &SmokeExecution) -> String {
    let mut description = match (&run.problem, &run.status, &run.execution_id) {
        (Some(problem), ..) => problem.clone(),
        (None, Some(status), _) => match &run.message {
            Some(message) => format!("{status}: {message}"),
            None => status.clone(),
        },
        (None, None, Some(id)) if run.is_earlier => {
            format!("not started; an earlier job started execution {id}")
        }
        (None, None, Some(id)) => format!("it is unknown whether execution {id} has ended"),
        (None, None, None) if run.is_requested => {
            "it is unknown whether the pipeline was started, because no response arrived".to_owned()
        }
        (None, None, None) => "not started".to_owned(),
    };
    if let Some(duration) = run.duration() {
        let _ = write!(description, " (after {:.1} s)", duration.as_secs_f64());
    }
    description
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_result(run: SmokeExecution) -> SmokeResult {
        SmokeResult {
            prefix: "p".to_owned(),
            version_name: "1".to_owned(),
            record: SmokeRecord::new(vec![run]),
            status: ExitStatus::Success,
            problem: None,
            hint: None,
            republish_step: None,
            state: VersionState::Unchanged,
            latest: None,
        }
    }

    fn find_verdict(run: SmokeExecution) -> Option<Verdict> {
        build_result(run).list_junit_cases()[0].verdict
    }

    #[test]
    fn run_that_may_have_started_has_an_undecided_case() {
        let run = SmokeExecution::default();
        let text = Some("text".to_owned());
        let requested_run = SmokeExecution {
            is_requested: true,
            ..run.clone()
        };
        let started_run = SmokeExecution {
            execution_id: text.clone(),
            ..run.clone()
        };
        let stopped_run = SmokeExecution {
            problem: text,
            ..run.clone()
        };
        let ended_run = SmokeExecution {
            has_ended: true,
            ..started_run.clone()
        };
        let hint = build_result(started_run.clone()).find_hint().unwrap();
        assert!(hint.contains("executions show text"), "{hint}");
        for other_run in [&requested_run, &stopped_run, &ended_run, &run] {
            assert_eq!(build_result(other_run.clone()).find_hint(), None);
        }
        for undecided_run in [requested_run, started_run, stopped_run] {
            assert_eq!(find_verdict(undecided_run), Some(Verdict::Undecided));
        }
        assert_eq!(find_verdict(ended_run), Some(Verdict::Failed));
        assert_eq!(find_verdict(run.clone()), None);
        assert_eq!(describe_result(&run), "not started");
    }
}
