//! Writes the receipt of a publish, and the outputs for later steps.

use super::{Publication, PublishComparison, consumer_changes};
use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publish::Receipt;
use crate::session::failure_conversion::to_write_failure;
use crate::session::statement_output::STATEMENT_FAILED;

/// The title of the failure that a file of the publish could not be written. The publish may have succeeded
/// nevertheless.
pub(super) const UNWRITTEN_FILE: &str = "A file was not written";

impl Publication<'_> {
    /// Fails if a file of this publish cannot be written. After the upload, this would be too late: consumers use the
    /// version, and the job has no record of it.
    pub(super) fn require_writable_files(&self) -> Result<(), Failure> {
        let settings = self.settings;
        let files = [
            ("the receipt ", &settings.receipt),
            ("the report ", &settings.junit),
            ("the statement ", &settings.attestation.statement),
            ("the predicate ", &settings.attestation.predicate),
        ];
        for (description, path) in files {
            if let Some(path) = path {
                atomic_file::check_writable(path).map_err(to_write_failure(description, path))?;
            }
        }
        self.session.require_writable_outputs()
    }

    /// Writes the receipt, the attestation statement and the step outputs. With `--json`, also prints the receipt,
    /// except in a dry run, which prints its preview. Reports each failure, and returns the worst exit status.
    pub(super) fn write_records(&self, receipt: Receipt) -> ExitStatus {
        let (receipt, mut status) = self.record_receipt(receipt);
        let statement_outputs = self
            .write_publication_statement(&receipt)
            .unwrap_or_else(|failure| {
                status = status.worse(self.session.report_failure_as(STATEMENT_FAILED, &failure));
                Vec::new()
            });
        let mut outputs = self.comparison_outputs();
        outputs.extend(self.version_outputs(receipt));
        outputs.extend(statement_outputs);
        status.worse(self.write_step_outputs(&outputs))
    }

    /// Writes the records of a version that is disabled or not tested, as [`Self::write_records`] does. For this
    /// `reason`, there is no statement about the version, and no output names it: a later step must not deploy it.
    pub(super) fn write_records_without_version(&self, receipt: Receipt, reason: &str) -> ExitStatus {
        let (_, status) = self.record_receipt(receipt);
        if self.settings.attestation.is_requested() {
            self.session.report_missing_statement("publication", reason);
        }
        status.worse(self.write_step_outputs(&self.comparison_outputs()))
    }

    /// Completes and writes the receipt. With `--json`, also prints it, except in a dry run. Reports each failure, and
    /// returns the worst exit status.
    fn record_receipt(&self, receipt: Receipt) -> (Receipt, ExitStatus) {
        let (session, settings) = (self.session, self.settings);
        let receipt = self.add_earlier_executions(self.complete_receipt(receipt));
        let receipt = self.keep_earlier_omissions(receipt);
        let mut status = session.report_result_as(UNWRITTEN_FILE, self.write_receipt(&receipt));
        if settings.json && !settings.dry_run {
            let result = session.ui.print_result_with(|writer| receipt.write(writer));
            status = status.worse(session.report_result_as(UNWRITTEN_FILE, result));
        }
        (receipt, status)
    }

    fn write_step_outputs(&self, outputs: &[(&'static str, String)]) -> ExitStatus {
        self.session
            .report_result_as(UNWRITTEN_FILE, self.session.write_outputs(outputs))
    }

    /// Adds the required review, the changes for consumers and the platform to a receipt.
    pub(super) fn complete_receipt(&self, receipt: Receipt) -> Receipt {
        let compat = self.comparison.as_ref().map(PublishComparison::reported_changes);
        let review = self.required_review.as_ref();
        let evidence = review.map(|review| review.evidence(&self.target.head));
        receipt
            .with_review(evidence.as_ref())
            .with_compat(compat)
            .with_platform(self.platform_address())
    }

    /// Returns the base URL of the platform as receipts contain it; `None` if a dry run has none.
    pub(super) fn platform_address(&self) -> Option<String> {
        self.connection.require_base_url().ok().map(ToString::to_string)
    }

    /// Writes the receipt if one is requested.
    pub(super) fn write_receipt(&self, receipt: &Receipt) -> Result<(), Failure> {
        let Some(path) = &self.settings.receipt else {
            return Ok(());
        };
        atomic_file::write_file_with(path, |writer| receipt.write(writer))
            .map_err(to_write_failure("the receipt ", path))
    }

    /// Returns the outputs about the changes for consumers, for later steps of the job.
    fn comparison_outputs(&self) -> Vec<(&'static str, String)> {
        let comparison = self.comparison.as_ref();
        let next_name = comparison
            .map(PublishComparison::next_version_name)
            .unwrap_or_default();
        let class = consumer_changes::change_class_name(comparison.map(PublishComparison::reported_changes));
        vec![("compat", class), ("next-version", next_name)]
    }

    /// Returns the outputs with the name and digest of the version. Empty unless it is published, because a later step
    /// would deploy it. A dry run does not prove that.
    fn version_outputs(&self, receipt: Receipt) -> Vec<(&'static str, String)> {
        let mut outputs = Vec::new();
        if !self.settings.dry_run && receipt.has_published_version() {
            outputs.push(("version-name", receipt.version_name));
            // Without the hashes of the files, there is no digest.
            if !receipt.digest.is_empty() {
                outputs.push(("digest", receipt.digest));
            }
        }
        outputs
    }
}
