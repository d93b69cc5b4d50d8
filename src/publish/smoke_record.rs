//! The record of a version's smoke runs in the receipt.

use serde::{Deserialize, Serialize};
use sluicegate_platform::api::{is_success_status, measure_duration};
use std::time::Duration;

/// Verdict of smoke runs that all succeeded.
const PASSED_VERDICT: &str = "passed";

/// Verdict of a smoke run that did not succeed, or did not start.
const FAILED_VERDICT: &str = "failed";

/// Verdict of smoke runs that have not all ended.
const OPEN_VERDICT: &str = "undecided";

/// The smoke runs of a version and their effect on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SmokeRecord {
    /// `passed` if all runs ended in SUCCESS, `failed` if one did not, `undecided` before their end.
    verdict: String,
    /// True if the version was disabled, because a run did not succeed.
    pub version_disabled: bool,
    /// The version that consumers of \[Latest\] get after the runs; `None` if no version is enabled, or if it is
    /// unknown.
    pub latest_version: Option<String>,
    pub runs: Vec<SmokeExecution>,
}

/// An execution of a pipeline of a project that consumes the version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SmokeExecution {
    pub project_id: String,
    pub pipeline: String,
    pub environment: String,
    /// The tag of the execution: the digest of the version.
    pub execution_tag: String,
    /// `None` if the execution was not started, or if its id is unknown.
    pub execution_id: Option<String>,
    /// The platform's status and message; `None` before the first response.
    pub status: Option<String>,
    pub message: Option<String>,
    /// The platform's times, in ISO 8601.
    pub started_at: Option<String>,
    pub finished_at: Option<String>,
    /// The reason why the run did not succeed.
    pub problem: Option<String>,
    /// True if only an earlier job started the execution, and this one could not continue it.
    #[serde(skip)]
    pub is_earlier: bool,
    /// True if this run of the program has sent the request to start the execution.
    #[serde(skip)]
    pub is_requested: bool,
    /// True if this run of the program has seen the end of the execution, which may have no end time.
    #[serde(skip)]
    pub has_ended: bool,
}

impl SmokeRecord {
    /// Creates the record of runs that have not started.
    pub fn new(runs: Vec<SmokeExecution>) -> Self {
        Self {
            verdict: OPEN_VERDICT.to_owned(),
            version_disabled: false,
            latest_version: None,
            runs,
        }
    }

    /// Returns whether the verdict is `passed` and all runs ended in SUCCESS. Both are checked, because a record in a
    /// receipt file may contradict itself.
    pub fn is_passed(&self) -> bool {
        self.verdict == PASSED_VERDICT && self.runs.iter().all(SmokeExecution::is_success)
    }

    /// Returns whether an execution was started.
    pub fn has_execution(&self) -> bool {
        self.runs.iter().any(|run| run.execution_id.is_some())
    }

    /// Returns whether a rerun may continue the execution of this run. An execution that had not succeeded when the
    /// version was disabled may have used another version.
    pub fn can_continue(&self, run: &SmokeExecution) -> bool {
        !self.version_disabled || run.is_success()
    }

    /// Returns the record of the same runs before their end, with the ids of their executions. If the version was
    /// disabled, the record repeats this and the latest version then. Returns `None` if no execution was started.
    pub(super) fn to_id_record(&self) -> Option<Self> {
        if !self.has_execution() {
            return None;
        }
        let mut runs = Vec::new();
        for run in &self.runs {
            let mut entry = SmokeExecution {
                project_id: run.project_id.clone(),
                pipeline: run.pipeline.clone(),
                environment: run.environment.clone(),
                execution_tag: run.execution_tag.clone(),
                ..SmokeExecution::default()
            };
            entry.copy_execution(run);
            runs.push(entry);
        }
        Some(Self {
            version_disabled: self.version_disabled,
            latest_version: self.latest_version.clone().filter(|_| self.version_disabled),
            ..Self::new(runs)
        })
    }

    /// Sets the verdict after the end of the runs.
    pub fn set_verdict(&mut self, is_passed: bool) {
        let verdict = if is_passed { PASSED_VERDICT } else { FAILED_VERDICT };
        verdict.clone_into(&mut self.verdict);
    }

    /// Returns the reasons why consumers cannot rely on the version, a sentence each: a run did not succeed or has not
    /// ended, or the version was disabled.
    pub(super) fn list_problems(&self) -> Vec<String> {
        let mut problems: Vec<String> = self
            .runs
            .iter()
            .filter(|run| !run.is_success())
            .map(|run| {
                let status = run.status.as_deref().unwrap_or("(no status)");
                let subject = run.subject();
                match &run.problem {
                    Some(problem) if run.proves_nothing() => {
                        format!("the smoke run of {subject} proves nothing: {problem}")
                    }
                    _ => format!("the smoke run of {subject} did not succeed: its status is {status}"),
                }
            })
            .collect();
        // In a receipt file, the verdict may contradict the runs.
        if problems.is_empty() && !self.is_passed() {
            problems.push(format!("the verdict of the smoke runs is `{}`", self.verdict));
        }
        if self.version_disabled {
            problems.push("the version was disabled after its smoke runs".to_owned());
        }
        problems
    }
}

impl SmokeExecution {
    /// Returns whether the platform reported that the execution succeeded, and the run found no other problem.
    pub fn is_success(&self) -> bool {
        self.problem.is_none() && self.has_success_status()
    }

    /// Returns whether the execution succeeded, but may not have used the version. It stays without proof, even if
    /// consumers get the version again later.
    pub fn proves_nothing(&self) -> bool {
        self.problem.is_some() && self.has_success_status()
    }

    /// Adds the id and the tag of the execution that an earlier run of the program started for the same subject. If that
    /// execution proves nothing, also adds its status and the problem, so that no rerun continues it.
    pub fn copy_execution(&mut self, earlier_run: &Self) {
        self.execution_id.clone_from(&earlier_run.execution_id);
        self.execution_tag.clone_from(&earlier_run.execution_tag);
        if earlier_run.proves_nothing() {
            self.status.clone_from(&earlier_run.status);
            self.problem.clone_from(&earlier_run.problem);
        }
    }

    fn has_success_status(&self) -> bool {
        self.status.as_deref().is_some_and(is_success_status)
    }

    /// Returns the time from start to end, if the platform reports both.
    pub fn duration(&self) -> Option<Duration> {
        measure_duration(self.started_at.as_deref(), self.finished_at.as_deref())
    }

    /// Returns the pipeline and its environment as part of a sentence.
    pub fn subject(&self) -> String {
        format!("`{}` in `{}`", self.pipeline, self.environment)
    }

    /// Returns whether both are runs of the same pipeline, in the same project and environment, for a version with the
    /// same content: the execution tag is the version's digest. The planned run has no tag if the digest could not be
    /// computed, and then matches any content.
    pub fn has_same_subject(&self, planned_run: &Self) -> bool {
        let has_same_tag =
            planned_run.execution_tag.is_empty() || self.execution_tag == planned_run.execution_tag;
        has_same_tag
            && (&self.project_id, &self.pipeline, &self.environment)
                == (
                    &planned_run.project_id,
                    &planned_run.pipeline,
                    &planned_run.environment,
                )
    }
}
