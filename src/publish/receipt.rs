//! The receipt: what was sent, byte for byte, and what became of it. Schema `sluicegate.receipt/v1`.

use super::{Outcome, Plan, SharedPipelineRef};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The review that a publish relied on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewEvidence {
    /// What the review said: `passed`.
    pub verdict: String,
    /// Who evaluated the rules: `remote` or `local`.
    pub engine: String,
    /// The reviewed commit.
    pub head: String,
    /// The SHA-256 in hex of the report's file; none if the review was part of the same run.
    pub report_sha256: Option<String>,
}

/// What a receipt says.
#[derive(Debug, Clone)]
pub struct Receipt<'a> {
    /// What was to be published.
    pub plan: &'a Plan,
    /// The SHA-256 in hex of each file, in the order of the plan.
    pub hashes: &'a [String],
    /// The digest of the files; empty without hashes.
    pub digest: String,
    /// `planned`, or what became of it, see [`super::OutcomeKind::in_receipt`].
    pub outcome: &'static str,
    /// What the platform left out.
    pub ignored: &'a [Value],
    /// Whether the version was looked up and is what was planned.
    pub verified: bool,
    /// The review that was asked for.
    pub review: Option<&'a ReviewEvidence>,
}

impl<'a> Receipt<'a> {
    /// The receipt of a dry run.
    pub fn planned(plan: &'a Plan, hashes: &'a [String]) -> Self {
        Self {
            plan,
            hashes,
            digest: digest(plan, hashes),
            outcome: "planned",
            ignored: &[],
            verified: false,
            review: None,
        }
    }

    /// The receipt of a publish.
    pub fn of(plan: &'a Plan, hashes: &'a [String], outcome: &'a Outcome) -> Self {
        Self {
            plan,
            hashes,
            digest: digest(plan, hashes),
            outcome: outcome.kind.in_receipt(),
            ignored: &outcome.ignored,
            verified: outcome.verified,
            review: None,
        }
    }
}

impl<'a> Receipt<'a> {
    /// The same with the review that the publish relied on.
    #[must_use]
    pub const fn with_review(mut self, review: Option<&'a ReviewEvidence>) -> Self {
        self.review = review;
        self
    }
}

fn digest(plan: &Plan, hashes: &[String]) -> String {
    if hashes.is_empty() {
        String::new()
    } else {
        plan.digest(hashes)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    schema: &'static str,
    prefix: &'a str,
    version_name: &'a str,
    commit_hash: &'a str,
    branch: Option<&'a str>,
    digest: &'a str,
    files: Vec<File<'a>>,
    outcome: &'static str,
    ignored_resources: &'a [Value],
    verified: bool,
    shared_pipelines: &'a [SharedPipelineRef],
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<&'a ReviewEvidence>,
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    bytes: u64,
    sha256: &'a str,
}

/// The receipt as JSON, indented, with a line break at its end.
pub fn render(receipt: &Receipt<'_>) -> String {
    let plan = receipt.plan;
    let files = plan.files.iter().zip(receipt.hashes);
    let document = Document {
        schema: "sluicegate.receipt/v1",
        prefix: &plan.prefix,
        version_name: &plan.version_name,
        commit_hash: &plan.commit_hash,
        branch: plan.branch.as_deref(),
        digest: &receipt.digest,
        files: files
            .map(|(file, sha256)| File {
                path: &file.path,
                bytes: file.bytes,
                sha256,
            })
            .collect(),
        outcome: receipt.outcome,
        ignored_resources: receipt.ignored,
        verified: receipt.verified,
        shared_pipelines: &plan.shared,
        review: receipt.review,
    };
    // Texts, numbers and values that came as JSON: there is nothing that cannot be written.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}
