//! The files that the platform ignored when an earlier run of the job published a version. Only the response to that
//! upload lists them, so a rerun knows them from the receipt that the earlier run left.

use super::Publication;
use super::publish_decision::PublishedVersion;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::OnIgnored;
use crate::publish::{Outcome, OutcomeKind, Plan, PublishProblem, Receipt, list_ignored_files};
use crate::session::artifact_versions::disable_command;
use crate::session::step_report::PUBLISH_FAILED;
use serde_json::Value;
use sluicegate_base::text::format_path;

impl Publication<'_> {
    /// Returns the ignored files of a version, as raw JSON, according to the earlier receipt at the path of this run's
    /// receipt. Empty without such a receipt, or if it is about another version. Also empty if it cannot be used, with
    /// a warning. It can only make a rerun fail, never pass.
    pub(super) fn list_earlier_omissions(&self, version_name: &str, commit: &str) -> Vec<Value> {
        let Some(path) = &self.settings.receipt else {
            return Vec::new();
        };
        match self.read_earlier_receipt(path) {
            Ok(Some(receipt)) => self.list_omissions_in(&receipt, version_name, commit).to_vec(),
            Ok(None) => Vec::new(),
            Err(reason) => {
                self.session.ui.warn(&format!(
                    "ignoring the receipt of an earlier run, {}: {reason}",
                    format_path(path)
                ));
                Vec::new()
            }
        }
    }

    /// Returns the receipt that an earlier run left at the path of this run's receipt; `None` if there is none, or if
    /// it cannot be used.
    pub(super) fn read_own_earlier_receipt(&self) -> Option<Receipt> {
        let path = self.settings.receipt.as_ref()?;
        self.read_earlier_receipt(path).ok().flatten()
    }

    /// Returns the ignored files in the receipt if it is about this version, otherwise nothing.
    fn list_omissions_in<'r>(&self, receipt: &'r Receipt, version_name: &str, commit: &str) -> &'r [Value] {
        if receipt.is_about_version(&self.settings.prefix, version_name, commit) {
            receipt.ignored_resources()
        } else {
            &[]
        }
    }

    /// Adds the ignored files of the same version to the receipt of a run that does not know them, so that the next
    /// rerun does. If this run could not compute the name of the version (`{next}`), the receipt gets the name from the
    /// earlier run.
    pub(super) fn keep_earlier_omissions(&self, mut receipt: Receipt) -> Receipt {
        if receipt.has_ignored_resources() || receipt.is_published_by_its_run() {
            return receipt;
        }
        let Some(earlier_receipt) = self.read_own_earlier_receipt() else {
            return receipt;
        };
        let version_name = if self.lacks_version_name() {
            earlier_receipt.version_name.clone()
        } else {
            receipt.version_name.clone()
        };
        let omissions = self.list_omissions_in(&earlier_receipt, &version_name, &receipt.commit_hash);
        if omissions.is_empty() {
            return receipt;
        }
        receipt.version_name = version_name;
        receipt.with_ignored_resources(omissions)
    }

    /// Adds the ignored files of an existing version to the outcome, which becomes `Incomplete` unless the settings
    /// accept them.
    pub(super) fn add_earlier_omissions(&self, plan: &Plan, outcome: Outcome) -> Outcome {
        if outcome.kind != OutcomeKind::AlreadyPublished {
            return outcome;
        }
        let omissions = self.list_earlier_omissions(&plan.version_name, &plan.commit_hash);
        if omissions.is_empty() {
            return outcome;
        }
        let is_accepted = self.settings.on_ignored == OnIgnored::Warn;
        let sentences = list_ignored_files(&omissions).into_iter();
        Outcome {
            kind: if is_accepted {
                outcome.kind
            } else {
                OutcomeKind::Incomplete
            },
            verified: outcome.verified && is_accepted,
            problems: sentences
                .map(PublishProblem::Other)
                .chain(outcome.problems)
                .collect(),
            ignored_resources: omissions,
            ..outcome
        }
    }

    /// Ends without an upload, because the existing version lacks files that the platform ignored. The receipt keeps
    /// them for the next rerun.
    pub(super) fn finish_incomplete_version(
        &self,
        plan: &Plan,
        published_version: &PublishedVersion,
        omissions: &[Value],
    ) -> ExitStatus {
        let (prefix, version) = (&plan.prefix, &published_version.version);
        let name = format!("version {version} of {prefix}");
        let problems = list_ignored_files(omissions);
        let message = format!("{}, but that version is incomplete:", published_version.reason);
        let mut failure =
            Failure::from_message(ExitStatus::Incomplete, message).with_entries(problems.clone());
        if !published_version.is_disabled {
            failure = failure.with_hint(format!(
                "run `{}` to hide the version from consumers; then publish under another name",
                disable_command(prefix, version)
            ));
        }
        let title = format!("{PUBLISH_FAILED}: {name} (incomplete)");
        let status = self.session.report_failure_as(&title, &failure);
        let (hashes, hash_status) = self.compute_needed_hashes(plan);
        let branch = self.history.find_branch(version);
        let receipt = Receipt::for_unchanged_files(plan, &hashes, version, &published_version.commit, branch)
            .with_rejected_resources(omissions);
        let status = self.report_junit(&name, status.worse(hash_status), &problems, None);
        status.worse(self.write_records(receipt))
    }
}
