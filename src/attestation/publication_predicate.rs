//! The predicate of a publication: the published version, and the review that it relied on.

use super::{FileDigest, PolicyDigests, PredicateKind, Statement, Subject, Tool};
use crate::publish::{Receipt, ReceiptOutcome, ReviewEvidence, SharedPipelineRef, compare_with_document};
use serde::{Deserialize, Serialize};
use sluicegate_pipelines::findings::ReviewPlatform;
use sluicegate_platform::api::ArtifactDetails;

/// The facts about a published version that its statement contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PublicationPredicate {
    /// Full id of the commit that the version was published from.
    pub(crate) commit: String,
    pub(crate) branch: Option<String>,
    /// Host and path of the repository, without credentials; `None` if no host is known.
    pub(crate) repository: Option<String>,
    pub(crate) platform: Option<ReviewPlatform>,
    pub(crate) prefix: String,
    pub(crate) version_name: String,
    /// Digest of all parts, as in the receipt: `sha256:` and the SHA-256 of the list that `sha256sum` writes.
    pub(crate) digest: String,
    /// The outcome as in the receipt: `published` or `already-published`.
    pub(crate) outcome: ReceiptOutcome,
    /// The published version was compared with the plan.
    #[serde(rename = "verified")]
    pub(crate) is_verified: bool,
    pub(crate) shared_pipelines: Vec<SharedPipelineRef>,
    /// The review that the publish relied on; `None` if no review was required.
    pub(crate) review: Option<ReviewEvidence>,
    pub(crate) policy: PolicyDigests,
    /// The platform's rules file in the commit; `None` if the commit has none, or the clone lacks the commit.
    pub(crate) rules: Option<FileDigest>,
    pub(crate) counts: PublicationCounts,
    pub(crate) tool: Tool,
}

/// The numbers of files and shared pipelines in a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PublicationCounts {
    /// Number of parts of the upload.
    pub(crate) files: usize,
    pub(crate) shared_pipelines: usize,
}

impl PublicationPredicate {
    /// Creates the predicate about the publication in a receipt, completed by facts that the receipt does not contain.
    pub(crate) fn from_receipt(
        receipt: &Receipt,
        repository: Option<String>,
        platform: Option<ReviewPlatform>,
        policy: PolicyDigests,
        rules: Option<FileDigest>,
    ) -> Self {
        Self {
            commit: receipt.commit_hash.clone(),
            branch: receipt.branch().map(str::to_owned),
            repository,
            platform,
            prefix: receipt.prefix.clone(),
            version_name: receipt.version_name.clone(),
            digest: receipt.digest.clone(),
            outcome: receipt.outcome().clone(),
            is_verified: receipt.is_verified(),
            shared_pipelines: receipt.shared_pipelines().to_vec(),
            review: receipt.review().cloned(),
            policy,
            rules,
            counts: PublicationCounts {
                files: receipt.content_hashes().count(),
                shared_pipelines: receipt.shared_pipelines().len(),
            },
            tool: Tool::current(),
        }
    }

    /// Creates the statement with this predicate. Its subjects are the version as a whole and each file in the receipt.
    pub(crate) fn into_statement(self, receipt: &Receipt) -> Statement<Self> {
        let mut subjects = vec![Subject::for_content(&self.subject_name(), self.digest_hex())];
        subjects.extend(
            receipt
                .content_hashes()
                .map(|(path, sha256)| Subject::for_content(path, sha256)),
        );
        Statement::new(PredicateKind::Publication, subjects, self)
    }

    /// Returns the name of the subject for the version as a whole.
    pub(crate) fn subject_name(&self) -> String {
        format!("{}@{}", self.prefix, self.version_name)
    }

    /// Returns the digest of the version in hex, without the algorithm `sha256:` before it.
    pub(super) fn digest_hex(&self) -> &str {
        self.digest.strip_prefix("sha256:").unwrap_or(&self.digest)
    }
}

/// Returns the differences in commit, branch and shared pipelines between a publication's predicate and the published
/// version in the platform's response.
pub(crate) fn compare_publication_with_details(
    predicate: &PublicationPredicate,
    details: &ArtifactDetails,
) -> Vec<String> {
    compare_with_document(
        details,
        &predicate.commit,
        predicate.branch.as_deref(),
        &predicate.shared_pipelines,
        "the statement",
    )
}
