//! The receipt: the exact content that was sent, and the outcome. Schema `sluicegate.receipt/v1`, written and strictly
//! read with the same struct.

use super::{Outcome, Plan, ReceiptOutcome, SharedPipelineRef, SmokeRecord, is_same_commit};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sluicegate_base::named_fields::{parse_json, read_schema_name};
use sluicegate_base::text;
use sluicegate_pipelines::interface::Compatibility;
use std::io::{self, Write};

/// Name of the schema.
const SCHEMA_NAME: &str = "sluicegate.receipt/v1";

/// Maximum size of a receipt to read, in bytes.
pub const MAX_RECEIPT_BYTES: u64 = 256 * 1024 * 1024;

/// The review that a publish relied on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewEvidence {
    /// Verdict of the review: `passed`.
    pub verdict: String,
    /// The engine that evaluated the rules: `remote` or `local`.
    pub engine: String,
    pub head: String,
    /// SHA-256 in hex of the report file; `None` if the review was part of the same run.
    pub report_sha256: Option<String>,
}

/// A receipt. New keys are added at the end, are optional and have a default, so that older receipts stay readable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Receipt {
    schema: String,
    pub prefix: String,
    pub version_name: String,
    /// Full id of the commit.
    pub commit_hash: String,
    branch: Option<String>,
    /// Digest of the files; empty without hashes.
    pub digest: String,
    pub(super) files: Vec<ReceiptFile>,
    pub(super) outcome: ReceiptOutcome,
    ignored_resources: Vec<Value>,
    verified: bool,
    #[serde(default)]
    pub(super) shared_pipelines: Vec<SharedPipelineRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    review: Option<ReviewEvidence>,
    /// The version's changes for consumers; `None` if no versions were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compat: Option<Compatibility>,
    /// The smoke runs of the version; `None` if none was due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smoke: Option<SmokeRecord>,
    /// The base URL of the platform, as [`BaseUrl`](sluicegate_platform::http::BaseUrl) writes it. Receipts of older
    /// versions of the program do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReceiptFile {
    pub path: String,
    pub bytes: u64,
    pub sha256: String,
}

impl Receipt {
    /// Creates the receipt of a plan before its execution. `hashes` are the SHA-256 of the files, in hex and in the
    /// order of the plan. Without hashes, the receipt has neither files nor a digest.
    pub fn from_plan(plan: &Plan, hashes: &[String]) -> Self {
        let files = plan.files.iter().zip(hashes).map(|(file, sha256)| ReceiptFile {
            path: file.path.clone(),
            bytes: file.bytes,
            sha256: sha256.clone(),
        });
        Self {
            schema: SCHEMA_NAME.to_owned(),
            prefix: plan.prefix.clone(),
            version_name: plan.version_name.clone(),
            commit_hash: plan.commit_hash.clone(),
            branch: plan.branch.clone(),
            digest: if hashes.is_empty() {
                String::new()
            } else {
                plan.compute_digest(hashes)
            },
            files: files.collect(),
            outcome: ReceiptOutcome::Planned,
            ignored_resources: Vec::new(),
            verified: false,
            shared_pipelines: plan.shared_pipelines.clone(),
            review: None,
            compat: None,
            smoke: None,
            platform: None,
        }
    }

    /// Creates the receipt of an executed plan, with its outcome.
    pub fn for_outcome(plan: &Plan, hashes: &[String], outcome: &Outcome) -> Self {
        let branch = if outcome.is_earlier_version {
            &outcome.existing_branch
        } else {
            &plan.branch
        };
        Self {
            branch: branch.clone(),
            outcome: outcome.kind.receipt_outcome(),
            ignored_resources: outcome.ignored_resources.clone(),
            verified: outcome.verified,
            ..Self::from_plan(plan, hashes)
        }
    }

    /// Adds the review that the publish relied on.
    #[must_use]
    pub fn with_review(mut self, review: Option<&ReviewEvidence>) -> Self {
        self.review = review.cloned();
        self
    }

    /// Adds the version's changes for consumers.
    #[must_use]
    pub fn with_compat(mut self, compat: Option<&Compatibility>) -> Self {
        self.compat = compat.cloned();
        self
    }

    /// Adds the base URL of the platform.
    #[must_use]
    pub fn with_platform(mut self, base_url: Option<String>) -> Self {
        self.platform = base_url;
        self
    }

    /// Returns the path and the SHA-256 in hex of each file.
    pub fn content_hashes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .map(|file| (file.path.as_str(), file.sha256.as_str()))
    }

    /// Returns the branch of the version; `None` if it is unknown. If an earlier run published the version, this is the
    /// branch of that run, according to the platform.
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    pub const fn outcome(&self) -> &ReceiptOutcome {
        &self.outcome
    }

    /// Returns whether the published version was compared with the plan and matches it.
    pub const fn is_verified(&self) -> bool {
        self.verified
    }

    /// Returns whether the platform ignored files of the upload.
    pub const fn has_ignored_resources(&self) -> bool {
        !self.ignored_resources.is_empty()
    }

    /// Returns the files that the platform ignored, as raw JSON.
    pub fn ignored_resources(&self) -> &[Value] {
        &self.ignored_resources
    }

    /// Adds the files of an existing version that the platform ignored when it was published, as raw JSON. The settings
    /// accept them, so the outcome stays the same.
    #[must_use]
    pub fn with_ignored_resources(mut self, ignored_resources: &[Value]) -> Self {
        self.ignored_resources = ignored_resources.to_vec();
        self
    }

    /// Adds ignored files as [`Self::with_ignored_resources`] does, but the settings do not accept them: if there are
    /// any, the outcome becomes `incomplete`.
    #[must_use]
    pub fn with_rejected_resources(mut self, ignored_resources: &[Value]) -> Self {
        if !ignored_resources.is_empty() {
            self.outcome = ReceiptOutcome::Incomplete;
        }
        self.with_ignored_resources(ignored_resources)
    }

    /// Returns the shared pipelines that the version offers.
    pub fn shared_pipelines(&self) -> &[SharedPipelineRef] {
        &self.shared_pipelines
    }

    /// Returns the review that the publish relied on, if any.
    pub const fn review(&self) -> Option<&ReviewEvidence> {
        self.review.as_ref()
    }

    /// Adds the smoke runs of the version. If they did not all succeed, the outcome becomes `failed`.
    #[must_use]
    pub fn with_smoke(mut self, smoke: Option<&SmokeRecord>) -> Self {
        if smoke.is_some_and(|smoke| !smoke.is_passed()) {
            self.outcome = ReceiptOutcome::Failed;
        }
        self.smoke = smoke.cloned();
        self
    }

    /// Returns the receipt of a run that has not finished: it is about the same version, and keeps the ids of the
    /// executions, so that a rerun can continue them, and the ignored files, which no later response lists. Returns
    /// `None` if this receipt has neither.
    pub fn to_placeholder(&self) -> Option<Self> {
        let smoke = self.smoke.as_ref().and_then(SmokeRecord::to_id_record);
        if smoke.is_none() && self.ignored_resources.is_empty() {
            return None;
        }
        Some(Self {
            outcome: ReceiptOutcome::Failed,
            verified: false,
            review: None,
            compat: None,
            smoke,
            ..self.clone()
        })
    }

    /// Returns whether the outcome is that the run of this receipt published the version without a problem, so that it
    /// knows which files were ignored.
    pub fn is_published_by_its_run(&self) -> bool {
        self.outcome == ReceiptOutcome::Published
    }

    /// Returns whether the receipt is about this version: its prefix, its name and its commit.
    pub fn is_about_version(&self, prefix: &str, version_name: &str, commit: &str) -> bool {
        self.prefix == prefix
            && self.version_name == version_name
            && is_same_commit(Some(&self.commit_hash), commit)
    }

    /// Returns whether both receipts are about the same version and its content. A receipt without hashes, because a
    /// file could not be read, matches any content.
    pub fn has_same_version(&self, receipt: &Self) -> bool {
        let is_content_unknown = self.digest.is_empty() || receipt.digest.is_empty();
        self.is_about_version(&receipt.prefix, &receipt.version_name, &receipt.commit_hash)
            && (is_content_unknown || self.digest == receipt.digest)
    }

    /// Returns whether the version exists and the run found no problem with it, also if another run published it.
    pub fn has_published_version(&self) -> bool {
        self.outcome.has_published_version()
    }

    /// Creates the receipt of a publish that was rejected before anything was sent.
    pub fn for_rejected_plan(plan: &Plan, hashes: &[String]) -> Self {
        Self {
            outcome: ReceiptOutcome::Failed,
            ..Self::from_plan(plan, hashes)
        }
    }

    /// Creates the receipt of a publish without changes. It names the existing version, its commit and its branch.
    pub fn for_unchanged_files(
        plan: &Plan,
        hashes: &[String],
        version: &str,
        commit: &str,
        branch: Option<&str>,
    ) -> Self {
        Self {
            version_name: version.to_owned(),
            commit_hash: commit.to_owned(),
            branch: branch.map(str::to_owned),
            outcome: ReceiptOutcome::AlreadyPublished,
            ..Self::from_plan(plan, hashes)
        }
    }

    /// Writes the receipt as indented JSON with a final line break.
    pub fn write(&self, writer: impl Write) -> io::Result<()> {
        text::write_json(self, writer)
    }

    /// Parses a receipt. The error is the reason why it is invalid.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        // A newer receipt has keys that are unknown here, so its schema is looked at first.
        if let Some(schema) = read_schema_name(bytes).filter(|schema| schema != SCHEMA_NAME) {
            return Err(format!("the file's schema is `{schema}`, not `{SCHEMA_NAME}`"));
        }
        parse_json(bytes).map_err(|error| error.to_string())
    }
}
