//! Writes a statement to its files, and returns the step outputs that programs which sign it need.

use crate::atomic_file;
use crate::attestation::{PredicateKind, Statement, Subject, format_subject_list};
use crate::error::Failure;
use crate::job::ci::Host;
use crate::job::settings::AttestationFiles;
use crate::session::Session;
use crate::session::failure_conversion::to_write_failure;
use serde::Serialize;

/// Title of the failure to write a statement.
pub(crate) const STATEMENT_FAILED: &str = "The statement was not written";

/// Writes a statement, and its predicate alone, to the requested files.
pub(crate) fn write_statement<P: Serialize>(
    statement: &Statement<P>,
    files: &AttestationFiles,
) -> Result<(), Failure> {
    if let Some(path) = &files.statement {
        atomic_file::write_file_with(path, |writer| statement.write(writer))
            .map_err(to_write_failure("the statement ", path))?;
    }
    if let Some(path) = &files.predicate {
        atomic_file::write_file_with(path, |writer| statement.write_predicate(writer))
            .map_err(to_write_failure("the predicate ", path))?;
    }
    Ok(())
}

impl Session {
    /// Prints the reason why no statement is written. Any statement of an earlier run was removed when this run began,
    /// so no outdated one is left.
    pub(crate) fn report_missing_statement(&self, subject: &str, reason: &str) {
        self.ui
            .say(&format!("no statement about the {subject} is written: {reason}"));
    }

    /// Returns the step outputs for `actions/attest`: the predicate type and the list of subjects. Returns no outputs
    /// on Azure, which does not have this action. If the action does not accept the subjects, warns and returns an
    /// empty list of subjects.
    pub(crate) fn list_statement_outputs(
        &self,
        kind: PredicateKind,
        subjects: &[Subject],
    ) -> Vec<(&'static str, String)> {
        if self.host() == Host::Azure {
            return Vec::new();
        }
        let list = format_subject_list(subjects);
        if let Err(reason) = &list
            && self.has_outputs()
        {
            self.ui.warn_with_hint(
                &format!(
                    "the action actions/attest cannot sign the statement, so the output for the subjects is empty: \
                     {reason}"
                ),
                "sign the statement with `cosign attest-blob --statement` instead",
            );
        }
        let (type_output, subjects_output) = match kind {
            PredicateKind::Review => ("review-predicate-type", "review-subjects"),
            PredicateKind::Publication => ("publication-predicate-type", "publication-subjects"),
        };
        vec![
            (type_output, kind.uri()),
            (subjects_output, list.unwrap_or_default()),
        ]
    }
}
