//! Writes the attestation statement about a published version, for programs that sign the statement.

use super::Publication;
use crate::attestation::{PredicateKind, PublicationPredicate};
use crate::error::Failure;
use crate::gate::run::review_context::review_platform;
use crate::publish::{FileSource, Receipt};
use crate::session::statement_output::write_statement;

impl Publication<'_> {
    /// Writes the attestation statement about the publication to the requested files. Returns the step outputs about
    /// the statement, each with its name and value. Without a requested statement, does nothing. If there is a reason
    /// against the statement, only reports this reason.
    pub(super) fn write_publication_statement(
        &self,
        receipt: &Receipt,
    ) -> Result<Vec<(&'static str, String)>, Failure> {
        let files = &self.settings.attestation;
        if !files.is_requested() {
            return Ok(Vec::new());
        }
        if let Some(reason) = self.find_reason_against_statement(receipt) {
            self.session.report_missing_statement("publication", &reason);
            return Ok(Vec::new());
        }
        let workspace = self.workspace;
        // A version with unchanged files may be of an older commit, which the clone may lack.
        let rules = match workspace.repo.find_commit_with_id(&receipt.commit_hash)? {
            Some(commit) => workspace.compute_rules_digest(&commit)?,
            None => None,
        };
        let statement = PublicationPredicate::from_receipt(
            receipt,
            workspace.find_repository_address(),
            review_platform(self.connection),
            workspace.compute_policy_digests()?,
            rules,
        )
        .into_statement(receipt);
        write_statement(&statement, files)?;
        let mut outputs = self
            .session
            .list_statement_outputs(PredicateKind::Publication, &statement.subjects);
        // The list is empty on a host without attestation actions. Only such an action needs the name and the digest.
        if !outputs.is_empty() {
            let predicate = &statement.predicate;
            outputs.push(("publication-subject-name", predicate.subject_name()));
            outputs.push(("publication-subject-digest", predicate.digest.clone()));
        }
        Ok(outputs)
    }

    /// Returns why the publication must not have an attestation statement, or `None` if it may have one.
    fn find_reason_against_statement(&self, receipt: &Receipt) -> Option<String> {
        if self.settings.dry_run {
            return Some("a dry run publishes nothing".to_owned());
        }
        if !receipt.has_published_version() {
            return Some(format!("the outcome of the publish is `{}`", receipt.outcome()));
        }
        if receipt.has_ignored_resources() {
            return Some("the platform ignored files, so the version does not contain all files".to_owned());
        }
        if self.settings.from == FileSource::Worktree {
            return Some(
                "the files are from the working tree, not from the commit that the version names".to_owned(),
            );
        }
        receipt
            .digest
            .is_empty()
            .then(|| "the content hashes of the files are not known".to_owned())
    }
}
