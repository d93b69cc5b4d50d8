//! Runs pipelines of a project that consumes a version, and disables the version again if one of them does not succeed.
//!
//! Consumers of \[Latest\] get a version from its upload on. Whatever ends the run from then on must therefore disable
//! it: a failed execution, the time limit, a signal, an error. Signals are held from the upload to the end of the runs.
//!
//! Only the execution's status on the platform decides. The receipt of an earlier run only names executions, and one of
//! them is accepted only if it started after the version was created: the change cannot know its id in advance.

mod earlier_runs;
mod execution_start;
mod smoke_problem;
mod smoke_result;
mod smoke_test;
mod smoke_verification;

pub(super) use smoke_result::SmokeResult;
pub(crate) use smoke_verification::compare_smoke_runs;

use super::Publication;
use super::publish_decision::PublishedVersion;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::OnSmokeFailure;
use crate::publish::{
    LatestVersion, Outcome, OutcomeKind, Plan, Receipt, Withdrawal, disable_version, is_same_commit,
    withdraw_version,
};
use sluicegate_git::short_id;
use sluicegate_platform::api::{Artifact, Platform};
use smoke_problem::SmokeProblem;
use smoke_test::SmokeTest;

/// The next step if the version of the commit is disabled.
const PUBLISH_AGAIN_HINT: &str =
    "fix the cause in a new commit; to publish this commit again, pass a --version-name without placeholders";

impl Publication<'_> {
    /// Returns whether smoke runs follow this publish.
    pub(super) const fn has_smoke_runs(&self) -> bool {
        !self.settings.smoke.runs.is_empty()
    }

    /// Disables an uploaded version that may be incomplete, if smoke runs are due: they do not run for such a version,
    /// so nothing shows that it works. If it is unknown whether the version exists, a failure is not reported. A
    /// version that another run may have published stays enabled.
    /// Does nothing with `--on-smoke-failure keep`, or if an earlier step has disabled the version or failed to do so.
    pub(super) fn disable_unproven_version(
        &self,
        platform: &Platform,
        plan: &Plan,
        mut outcome: Outcome,
    ) -> Result<Outcome, Failure> {
        let is_kept = self.settings.smoke.on_failure == OnSmokeFailure::Keep;
        let is_requested = !matches!(outcome.withdrawal, Withdrawal::NotRequested);
        if !self.has_smoke_runs() || is_kept || is_requested {
            return Ok(outcome);
        }
        let timeout = self.settings.lookup_timeout;
        match outcome.kind {
            _ if outcome.has_unclear_origin() => Ok(outcome),
            _ if outcome.has_unknown_version() => {
                let withdrawal = withdraw_version(platform, &plan.prefix, &plan.version_name, timeout);
                // The version probably does not exist, so a failure is not worth a message.
                if let Ok(latest) = self.session.block_on(withdrawal)? {
                    outcome.withdrawal = Withdrawal::Disabled(latest);
                }
                Ok(outcome)
            }
            OutcomeKind::Incomplete | OutcomeKind::Unverified | OutcomeKind::Unconfirmed => self
                .session
                .block_on(disable_version(platform, plan, timeout, outcome)),
            _ => Ok(outcome),
        }
    }

    /// Runs the smoke runs of the version after its upload. If the upload found that an earlier run had published the
    /// version, continues the executions that the receipt of that run names; if the details of this version cannot be
    /// read, the result is a problem. Returns `None` if there are no smoke runs, or if the version may be incomplete.
    pub(super) fn smoke_test_uploaded_version(
        &self,
        platform: &Platform,
        plan: &Plan,
        outcome: &Outcome,
    ) -> Result<Option<SmokeResult>, Failure> {
        let is_complete = matches!(
            outcome.kind,
            OutcomeKind::Published | OutcomeKind::AlreadyPublished
        );
        if !self.has_smoke_runs() || !is_complete {
            return Ok(None);
        }
        let hashes = outcome.hashes.as_deref().unwrap_or_default();
        let receipt = self.complete_receipt(Receipt::for_outcome(plan, hashes, outcome));
        let is_new = outcome.kind == OutcomeKind::Published;
        self.session
            .block_on(async {
                if is_new {
                    return SmokeTest::for_new_version(self, platform, &receipt)
                        .execute()
                        .await;
                }
                match self.request_version(platform, &receipt).await {
                    Ok(version) => {
                        let test = self.prepare_existing_test(platform, &receipt, &version);
                        test.execute().await
                    }
                    Err(problem) => self.build_unread_result(platform, &receipt, problem),
                }
            })
            .map(Some)
    }

    /// Runs the smoke runs of a version that an earlier run published from the same commit, because nothing else shows
    /// that they succeeded. Continues the executions that the receipt of that run names. If there are none, does not
    /// start an execution for a version of another commit, which the job of that commit tests, or for a version that
    /// is not the latest, which the execution would not use; returns `None` then. If the version is disabled or its
    /// details cannot be read, the result is a problem.
    pub(super) fn smoke_test_existing_version(
        &self,
        platform: &Platform,
        published_version: &PublishedVersion,
        receipt: &Receipt,
    ) -> Result<Option<SmokeResult>, Failure> {
        if !self.has_smoke_runs() {
            return Ok(None);
        }
        let name = &published_version.version;
        // A signal must not end the program during the smoke runs, because the version may have to be disabled then,
        // nor before the reports are written.
        self.session.signals.hold();
        self.session.block_on(async {
            let version = match self.request_version(platform, receipt).await {
                Ok(version) => version,
                Err(problem) => return Some(self.build_unread_result(platform, receipt, problem)),
            };
            let test = self.prepare_existing_test(platform, receipt, &version);
            if version.is_disabled() {
                let reason = format!("version {name} is disabled, so no execution would use it");
                let problem = SmokeProblem::new(ExitStatus::Undecided, reason);
                return Some(test.build_skipped_result(problem.with_hint(PUBLISH_AGAIN_HINT)));
            }
            if !test.can_continue_earlier_run()
                && let Some(reason) = self.find_reason_to_skip(&test, receipt).await
            {
                self.session
                    .ui
                    .say(&format!("no smoke run was started, because {reason}"));
                return None;
            }
            Some(test.execute().await)
        })
    }

    /// Returns the reason why no execution is started for an existing version, although it is enabled: it is of another
    /// commit, or consumers get another version.
    async fn find_reason_to_skip(&self, test: &SmokeTest<'_>, receipt: &Receipt) -> Option<String> {
        let (name, commit) = (&receipt.version_name, &receipt.commit_hash);
        if !is_same_commit(Some(commit), self.target.head.as_str()) {
            let id = short_id(commit);
            return Some(format!("version {name} was published from another commit ({id})"));
        }
        match test.request_latest().await {
            LatestVersion::Enabled(latest) if latest != *name => Some(format!(
                "consumers of [Latest] get version {latest}, not version {name}"
            )),
            _ => None,
        }
    }

    /// Returns the test of a version that an earlier run published, with the executions that the earlier run's receipt
    /// names.
    fn prepare_existing_test<'a>(
        &'a self,
        platform: &'a Platform,
        receipt: &'a Receipt,
        version: &Artifact,
    ) -> SmokeTest<'a> {
        SmokeTest::for_existing_version(self, platform, receipt, version.creation_time())
    }

    /// Returns the result for an existing version whose details could not be read. Without them, no smoke run takes
    /// place.
    fn build_unread_result(
        &self,
        platform: &Platform,
        receipt: &Receipt,
        problem: SmokeProblem,
    ) -> SmokeResult {
        let created_at = None;
        SmokeTest::for_existing_version(self, platform, receipt, created_at).build_skipped_result(problem)
    }

    /// Requests the details of the receipt's version from the platform.
    async fn request_version(
        &self,
        platform: &Platform,
        receipt: &Receipt,
    ) -> Result<Artifact, SmokeProblem> {
        let (prefix, name) = (&receipt.prefix, &receipt.version_name);
        match platform.fetch_artifact_details(prefix, Some(name)).await {
            Ok(details) => Ok(details.artifact),
            Err(error) => {
                let fact = format!("could not read the details of version {name} of {prefix}");
                let status = if error.kind().is_denied() {
                    ExitStatus::Denied
                } else {
                    ExitStatus::Undecided
                };
                Err(SmokeProblem::new(status, format!("{fact}: {error}")))
            }
        }
    }
}
