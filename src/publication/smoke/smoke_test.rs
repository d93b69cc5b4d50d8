//! Runs the smoke runs one after the other, stops at the first one that does not succeed, and then disables the
//! version.

use super::smoke_problem::SmokeProblem;
use super::smoke_result::{SmokeResult, VersionState};
use crate::exit::ExitStatus;
use crate::job::cli::OnSmokeFailure;
use crate::job::settings::{SmokeRun, SmokeSettings};
use crate::publication::Publication;
use crate::publish::{
    LatestVersion, Receipt, SmokeExecution, SmokeRecord, poll_latest_until_version, withdraw_version,
};
use crate::session::resource::RemoteProject;
use crate::session::watched_execution::WatchedExecution;
use jiff::Timestamp;
use sluicegate_platform::api::Platform;
use sluicegate_platform::follow::Pace;
use std::time::Duration;

/// The problem of an execution that succeeded, until it is known that consumers still get the version.
const UNPROVEN_EXECUTION: &str = "it is not known whether the execution used this version";

/// The smoke runs of one version.
pub(super) struct SmokeTest<'a> {
    pub(super) publication: &'a Publication<'a>,
    platform: &'a Platform,
    /// The receipt of the version, which the record of the runs completes.
    pub(super) receipt: &'a Receipt,
    /// True if this run of the program published the version.
    is_new: bool,
    /// The creation time of an existing version; `None` if it is unknown, or for a new version.
    pub(super) created_at: Option<Timestamp>,
    /// The record of the smoke runs of this version in the receipt of an earlier run of the program.
    pub(super) earlier_record: Option<SmokeRecord>,
}

impl<'a> SmokeTest<'a> {
    /// Creates the test of a version that this run published.
    pub(super) const fn for_new_version(
        publication: &'a Publication<'a>,
        platform: &'a Platform,
        receipt: &'a Receipt,
    ) -> Self {
        Self {
            publication,
            platform,
            receipt,
            is_new: true,
            created_at: None,
            earlier_record: None,
        }
    }

    /// Creates the test of a version that existed before this run, with the smoke runs that an earlier run recorded in
    /// its receipt. Without `created_at`, none of them can be continued.
    pub(super) fn for_existing_version(
        publication: &'a Publication<'a>,
        platform: &'a Platform,
        receipt: &'a Receipt,
        created_at: Option<Timestamp>,
    ) -> Self {
        Self {
            is_new: false,
            created_at,
            earlier_record: publication.find_earlier_record(receipt),
            ..Self::for_new_version(publication, platform, receipt)
        }
    }

    const fn settings(&self) -> &'a SmokeSettings {
        &self.publication.settings.smoke
    }

    /// Returns the record of the runs in the settings before the first one starts.
    pub(super) fn build_planned_record(&self) -> SmokeRecord {
        let runs = self.settings().runs.iter().map(|run| SmokeExecution {
            project_id: run.project.to_string(),
            pipeline: run.pipeline.clone(),
            environment: run.environment.clone(),
            execution_tag: self.receipt.digest.clone(),
            ..SmokeExecution::default()
        });
        SmokeRecord::new(runs.collect())
    }

    /// Returns the result of runs that succeeded. The other results replace some of its fields.
    fn build_success_result(&self, record: SmokeRecord) -> SmokeResult {
        SmokeResult {
            prefix: self.receipt.prefix.clone(),
            version_name: self.receipt.version_name.clone(),
            record,
            status: ExitStatus::Success,
            problem: None,
            hint: None,
            republish_step: None,
            state: VersionState::Unchanged,
            latest: None,
        }
    }

    /// Returns the result of runs that do not take place because of this problem. The version does not change, so the
    /// record repeats whether an earlier run of the program disabled it.
    pub(super) fn build_skipped_result(&self, problem: SmokeProblem) -> SmokeResult {
        let mut record = self.add_earlier_ids(self.build_planned_record());
        if let Some(earlier) = self
            .earlier_record
            .as_ref()
            .filter(|earlier| earlier.version_disabled)
        {
            record.version_disabled = true;
            record.latest_version.clone_from(&earlier.latest_version);
        }
        let is_passed = false;
        record.set_verdict(is_passed);
        SmokeResult {
            status: problem.status,
            problem: Some(problem.reason),
            hint: problem.hint,
            ..self.build_success_result(record)
        }
    }

    /// Runs the pipelines of all smoke runs, and disables the version if one of them does not succeed.
    pub(super) async fn execute(&self) -> SmokeResult {
        let mut record = self.build_planned_record();
        let problem = self.follow_runs_until_signal(&mut record).await.err();
        record.set_verdict(problem.is_none());
        let Some(problem) = problem else {
            // After each run, the platform returned this version as the latest.
            let latest = LatestVersion::Enabled(self.receipt.version_name.clone());
            record.latest_version = Some(self.receipt.version_name.clone());
            return SmokeResult {
                latest: Some(latest),
                ..self.build_success_result(record)
            };
        };
        if let Some(entry) = problem.run_index.and_then(|index| record.runs.get_mut(index)) {
            entry.problem = Some(problem.reason.clone());
        }
        let (state, latest) = self.disable_unless_kept(&record, &problem).await;
        self.build_failure_result(record, problem, state, latest)
    }

    /// Starts and follows the runs until all have succeeded. Fails if a run does not succeed or a signal arrives.
    async fn follow_runs_until_signal(&self, record: &mut SmokeRecord) -> Result<(), SmokeProblem> {
        let mut signals = self.publication.session.signals.clone();
        tokio::select! {
            biased;
            status = signals.wait() => Err(SmokeProblem::from_signal(status)),
            result = self.follow_runs(record) => result,
        }
    }

    /// Starts and follows the runs one after the other. Fails at the first one that does not succeed. Fails before the
    /// first one if the version has no digest, or if consumers would not get the version. After each run, consumers
    /// must still get the version, because the run proves nothing about it otherwise.
    async fn follow_runs(&self, record: &mut SmokeRecord) -> Result<(), SmokeProblem> {
        if self.receipt.digest.is_empty() {
            let reason =
                "could not compute the digest of the version, which the executions need as their tag";
            return Err(SmokeProblem::new(ExitStatus::RemoteFailed, reason.to_owned()));
        }
        self.require_latest("no smoke run was started").await?;
        let poll_settings = self.settings().poll_settings;
        let pace = Pace::new(poll_settings.first_interval, poll_settings.time_limit);
        for (run_index, run) in self.settings().runs.iter().enumerate() {
            self.follow_run(record, run_index, run, pace)
                .await
                .map_err(|problem| problem.with_run_index(run_index))?;
            // Another job may have published or disabled a version meanwhile.
            self.require_latest("the execution may not have used this version")
                .await
                .map_err(|problem| problem.with_run_index(run_index))?;
            self.update_receipt(record, run_index, |entry| entry.problem = None);
        }
        Ok(())
    }

    /// Fails if consumers of \[Latest\] do not get this version, because a smoke run would then use another version.
    /// `consequence` says what this means, and begins the message.
    pub(super) async fn require_latest(&self, consequence: &str) -> Result<(), SmokeProblem> {
        let (prefix, name) = (&self.receipt.prefix, &self.receipt.version_name);
        let timeout = self.lookup_timeout();
        let reason = match poll_latest_until_version(self.platform, prefix, name, timeout).await {
            LatestVersion::Enabled(latest) if latest == *name => return Ok(()),
            LatestVersion::Enabled(latest) => {
                format!("consumers of [Latest] get version {latest}, not version {name}")
            }
            LatestVersion::NoneEnabled => "no version is enabled".to_owned(),
            LatestVersion::Unknown(reason) => {
                format!("could not determine which version consumers of [Latest] get: {reason}")
            }
        };
        let message = format!("{consequence}: {reason}");
        Err(SmokeProblem::new(ExitStatus::RemoteFailed, message))
    }

    const fn lookup_timeout(&self) -> Duration {
        self.publication.settings.lookup_timeout
    }

    /// Starts the execution of a smoke run, unless an earlier run of the program did, and follows it to its end.
    /// Records each step at once in the entry `run_index` of the record. Fails if the execution does not succeed.
    async fn follow_run(
        &self,
        record: &mut SmokeRecord,
        run_index: usize,
        run: &SmokeRun,
        pace: Pace,
    ) -> Result<(), SmokeProblem> {
        let project = RemoteProject {
            platform: self.platform.clone(),
            id: run.project,
        };
        let Some(planned_run) = record.runs.get(run_index).cloned() else {
            let reason = "the receipt has no entry for this smoke run";
            return Err(SmokeProblem::new(ExitStatus::RemoteFailed, reason.to_owned()));
        };
        let earlier_id = self.find_earlier_execution(&project, &planned_run).await?;
        let id = if let Some(earlier_id) = earlier_id {
            earlier_id
        } else {
            let can_wait = self.can_disable_version(record);
            self.update_receipt(record, run_index, |entry| entry.is_requested = true);
            self.start_execution(&project, run, pace, can_wait).await?
        };
        self.update_receipt(record, run_index, |entry| entry.execution_id = Some(id.clone()));
        let execution = WatchedExecution::follow_started(self.publication.session, &project, &id, pace)
            .await
            .map_err(|failure| SmokeProblem::from_failure(&failure))?;
        let problem = execution.describe_problem();
        self.update_receipt(record, run_index, |entry| {
            let result = &execution.response.result;
            entry.status.clone_from(&result.status);
            entry.message.clone_from(&result.message);
            entry.started_at.clone_from(&result.started_at);
            entry.finished_at.clone_from(&result.finished_at);
            entry.has_ended = execution.has_ended();
            // If the program ends before the caller has looked up the latest version, no rerun continues this
            // execution.
            entry.problem = problem.is_none().then(|| UNPROVEN_EXECUTION.to_owned());
        });
        match problem {
            None => Ok(()),
            Some(reason) => Err(SmokeProblem::new(ExitStatus::RemoteFailed, reason)),
        }
    }

    /// Changes the entry of a smoke run in the record, and writes the receipt with it. If the program is killed, a
    /// rerun of the job reads the ids of the executions from this receipt, also those that an earlier job started.
    fn update_receipt(
        &self,
        record: &mut SmokeRecord,
        run_index: usize,
        change: impl FnOnce(&mut SmokeExecution),
    ) {
        if let Some(entry) = record.runs.get_mut(run_index) {
            change(entry);
        }
        let record = self.add_earlier_ids(record.clone());
        let receipt = self.receipt.clone().with_smoke(Some(&record));
        // The final receipt has the same path, and a failure to write that one is reported.
        let _ = self.publication.write_receipt(&receipt);
    }

    /// Returns the result of runs of which one did not succeed. `state` and `latest` are those of the version after it
    /// was disabled or kept.
    fn build_failure_result(
        &self,
        mut record: SmokeRecord,
        problem: SmokeProblem,
        state: VersionState,
        latest: Option<LatestVersion>,
    ) -> SmokeResult {
        record.version_disabled = state == VersionState::Disabled;
        record.latest_version = match &latest {
            Some(LatestVersion::Enabled(version)) => Some(version.clone()),
            _ => None,
        };
        let status = match (&state, problem.status) {
            // A version that may still be in use needs attention first.
            (VersionState::StillEnabled(_), _) => ExitStatus::Incomplete,
            // No smoke run took place, so it is unknown whether the version works.
            (VersionState::Unchanged, ExitStatus::RemoteFailed) => ExitStatus::Undecided,
            (_, status) => status,
        };
        SmokeResult {
            prefix: self.receipt.prefix.clone(),
            version_name: self.receipt.version_name.clone(),
            record: self.add_earlier_ids(record),
            status,
            // The problem of a single run is in the record of this run.
            problem: problem.run_index.is_none().then_some(problem.reason),
            // Another run of the job could not test a disabled version.
            hint: problem.hint.filter(|_| state != VersionState::Disabled),
            republish_step: problem.republish_step,
            state,
            latest,
        }
    }

    /// Returns whether the version is disabled if a run does not succeed: this run of the program published the
    /// version, or started or followed an execution.
    fn can_disable_version(&self, record: &SmokeRecord) -> bool {
        self.is_new || record.has_execution()
    }

    /// Disables the version, unless the settings keep it enabled. A version that existed before this run stays
    /// unchanged if no execution was started or followed. After a signal, a requested execution is treated as started,
    /// because the signal may have come before the response. Returns the state of the version, and the latest version
    /// if it is known.
    async fn disable_unless_kept(
        &self,
        record: &SmokeRecord,
        problem: &SmokeProblem,
    ) -> (VersionState, Option<LatestVersion>) {
        let is_signal = matches!(problem.status, ExitStatus::Interrupted | ExitStatus::Terminated);
        let may_disable =
            self.can_disable_version(record) || (is_signal && record.runs.iter().any(|run| run.is_requested));
        if !may_disable {
            return (VersionState::Unchanged, Some(self.request_latest().await));
        }
        if self.settings().on_failure == OnSmokeFailure::Keep {
            return (VersionState::KeptEnabled, Some(self.request_latest().await));
        }
        self.say_disabling();
        let (prefix, name) = (&self.receipt.prefix, &self.receipt.version_name);
        match withdraw_version(self.platform, prefix, name, self.lookup_timeout()).await {
            Ok(latest) => (VersionState::Disabled, Some(latest)),
            Err(error) => (VersionState::StillEnabled(error.reason), None),
        }
    }

    /// Requests the version that \[Latest\] means now. The timeout of zero allows only one request.
    pub(super) async fn request_latest(&self) -> LatestVersion {
        let (prefix, name) = (&self.receipt.prefix, &self.receipt.version_name);
        poll_latest_until_version(self.platform, prefix, name, Duration::ZERO).await
    }

    /// Prints that the version is being disabled. The error at the end of the run gives the reason.
    fn say_disabling(&self) {
        let name = &self.receipt.version_name;
        let message = format!("disabling version {name}, because a smoke run did not succeed");
        self.publication.session.ui.say(&message);
    }
}
