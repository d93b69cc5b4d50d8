//! Checks a published version or a review against the document about it. Each difference is reported.

mod omitted_files;
mod recorded_changes;
mod statement_check;

pub(crate) use recorded_changes::compare_consumer_changes;
pub(crate) use statement_check::verify_statement;

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::OutputFormat;
use crate::publish::Receipt;
use crate::session::artifact_versions::confirm_missing_version;
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Session};
use serde_json::Value;
use sluicegate_base::text;
use sluicegate_platform::api::{ArtifactDetails, Platform};
use sluicegate_platform::http::ErrorKind;

/// Requests the details of a published version, and returns the differences that `compare` finds. Returns `None` if the
/// platform responds that there is no such version, and can list its versions. Warns if the version is disabled.
pub(crate) fn compare_with_platform(
    session: &Session,
    platform: &Platform,
    prefix: &str,
    version: &str,
    compare: impl Fn(&ArtifactDetails) -> Vec<String>,
) -> Result<Option<Vec<String>>, Failure> {
    let response = session.block_on(platform.fetch_artifact_details(prefix, Some(version)))?;
    let details = match response {
        Ok(details) => details,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            session.block_on(confirm_missing_version(platform, prefix, version, error))??;
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    if details.artifact.is_disabled() {
        session.ui.warn(&format!(
            "version {version} of {prefix} is disabled: consumers cannot use it"
        ));
    }
    Ok(Some(compare(&details)))
}

/// Prints both addresses if the version was published at another one.
pub(crate) fn print_other_address(session: &Session, publish_address: &str, run_address: &str) {
    if publish_address != run_address {
        session.ui.say(&format!(
            "the version was published at {publish_address}, but is compared with the version at {run_address}"
        ));
    }
}

/// Compares the receipt with the files of its commit. If the commit is not available locally, prints that and returns
/// an empty list.
pub(crate) fn compare_with_commit(session: &Session, receipt: &Receipt) -> Result<Vec<String>, Failure> {
    let differences = match session.find_repository()? {
        Some(repository) => receipt.compare_with_commit(&repository)?,
        None => None,
    };
    Ok(differences.unwrap_or_else(|| {
        let commit = &receipt.commit_hash;
        session.ui.say(&format!(
            "commit {commit} is not available locally, so its files were not compared"
        ));
        Vec::new()
    }))
}

/// The state of the version or review that a document describes, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubjectState {
    Present,
    /// The platform does not have the version.
    Missing,
    /// The document is about a publish that did not succeed.
    Unpublished,
}

/// The result of a verification, before it is printed.
pub(crate) struct Verification<'a> {
    /// The subject, for example `version 1 of sales`.
    pub(crate) subject: String,
    /// The document that the subject is compared with: `receipt` or `statement`.
    pub(crate) document: &'a str,
    pub(crate) subject_state: SubjectState,
    /// The problems in the document itself.
    pub(crate) document_problems: Vec<String>,
    /// The differences between the document and the platform or the clone.
    pub(crate) differences: Vec<String>,
    /// The facts of the document that the JSON output contains.
    pub(crate) facts: Value,
}

impl Verification<'_> {
    /// Adds the differences between the document and the version on the platform; `None` means that the platform does
    /// not have the version.
    pub(crate) fn add_platform_differences(
        &mut self,
        differences: Option<Vec<String>>,
        prefix: &str,
        version: &str,
    ) {
        if let Some(differences) = differences {
            self.differences.extend(differences);
            return;
        }
        if self.subject_state == SubjectState::Present {
            self.subject_state = SubjectState::Missing;
        }
        self.differences
            .push(format!("the platform has no version {version} of {prefix}"));
    }

    /// Prints whether the subject matches the document. Fails with the list of problems and differences if it does not.
    pub(crate) fn print(mut self, session: &Session, output: OutputFormat) -> CommandResult {
        let message = self.describe_mismatch();
        let mut differences = std::mem::take(&mut self.document_problems);
        differences.append(&mut self.differences);
        let is_same = differences.is_empty();
        let (subject, document) = (&self.subject, self.document);
        if output == OutputFormat::Json {
            let mut result = self.facts;
            result["verified"] = is_same.into();
            result["differences"] = differences.clone().into();
            session.ui.print_result(&format_json(&result))?;
        } else if is_same {
            session
                .ui
                .print_result(&(text::escape_line(&format!("{subject} matches the {document}")) + "\n"))?;
        }
        if is_same {
            return Ok(ExitStatus::Success);
        }
        Err(Failure::from_message(ExitStatus::Incomplete, message).with_entries(differences))
    }

    /// Returns the headline of a failed verification, according to the most important cause.
    fn describe_mismatch(&self) -> String {
        let (subject, document) = (&self.subject, self.document);
        match self.subject_state {
            SubjectState::Unpublished => format!("the {document} does not report a successful publish:"),
            SubjectState::Missing => format!("{subject} does not exist:"),
            SubjectState::Present if self.differences.is_empty() => {
                format!("the {document} of {subject} does not confirm it:")
            }
            SubjectState::Present => format!("{subject} does not match the {document}:"),
        }
    }
}
