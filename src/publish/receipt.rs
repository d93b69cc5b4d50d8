//! The receipt: what was sent, byte for byte, and what became of it. Schema `sluicegate.receipt/v1`.

use super::{Outcome, Plan};
use serde_json::{Value, json};

/// What a receipt says.
#[derive(Debug, Clone)]
pub struct Receipt<'a> {
    /// What was to be published.
    pub plan: &'a Plan,
    /// The SHA-256 in hex of each file, in the order of the plan.
    pub hashes: &'a [String],
    /// `planned`, or what became of it, see [`super::OutcomeKind::in_receipt`].
    pub outcome: &'static str,
    /// What the platform left out.
    pub ignored: &'a [Value],
    /// Whether the version was looked up and is what was planned.
    pub verified: bool,
}

impl<'a> Receipt<'a> {
    /// The receipt of a dry run.
    pub const fn planned(plan: &'a Plan, hashes: &'a [String]) -> Self {
        Self {
            plan,
            hashes,
            outcome: "planned",
            ignored: &[],
            verified: false,
        }
    }

    /// The receipt of a publish.
    pub fn of(plan: &'a Plan, hashes: &'a [String], outcome: &'a Outcome) -> Self {
        Self {
            plan,
            hashes,
            outcome: outcome.kind.in_receipt(),
            ignored: &outcome.ignored,
            verified: outcome.verified,
        }
    }
}

/// The receipt as JSON, indented, with a line break at its end.
pub fn render(receipt: &Receipt<'_>) -> String {
    let plan = receipt.plan;
    let file = |(file, hash): (&super::PlannedFile, &String)| json!({ "path": file.path, "bytes": file.bytes, "sha256": hash });
    let document = json!({
        "schema": "sluicegate.receipt/v1",
        "prefix": plan.prefix,
        "versionName": plan.version_name,
        "commitHash": plan.commit_hash,
        "branch": plan.branch,
        "digest": plan.digest(receipt.hashes),
        "files": plan.files.iter().zip(receipt.hashes).map(file).collect::<Vec<_>>(),
        "outcome": receipt.outcome,
        "ignoredResources": receipt.ignored,
        "verified": receipt.verified,
    });
    format!("{document:#}\n")
}
