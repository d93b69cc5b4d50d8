//! The report of a review that a publish relies on: it must be of the commit to publish, and have passed.

use super::super::output::read_bounded;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::git::CommitId;
use crate::publish::{ReviewEvidence, content_hash};
use serde::Deserialize;
use std::path::Path;

/// The largest report that is read, in bytes.
const LIMIT: u64 = 256 * 1024 * 1024;

/// The part of a report that counts here.
#[derive(Deserialize)]
struct Report {
    schema: String,
    engine: String,
    verdict: String,
    context: Context,
}

#[derive(Deserialize)]
struct Context {
    head: Option<String>,
    shard: Option<String>,
}

/// What the report proves; a failure if that is not that `head` passed.
pub(super) fn required(path: &Path, head: &CommitId) -> Result<ReviewEvidence, Failure> {
    let shown = path.display();
    let bytes = read_bounded(path, LIMIT)?;
    let hint = "write it by `sluicegate review --report json=FILE` on the commit to publish";
    let report: Report = serde_json::from_slice(&bytes)
        .map_err(|why| Failure::usage(format!("{shown} is no report of a review: {why}")).hint(hint))?;
    if report.schema != "sluicegate.report/v1" {
        let message = format!(
            "{shown} is no report of a review: its schema is `{}`",
            report.schema
        );
        return Err(Failure::usage(message).hint(hint));
    }
    if report.context.head.as_deref() != Some(head.as_str()) {
        let reviewed = report.context.head.as_deref().unwrap_or("no commit");
        let message = format!("the review {shown} is of {reviewed}, and {head} is to be published");
        return Err(Failure::usage(message).hint(hint));
    }
    if let Some(part) = report.context.shard {
        let message = format!("the review {shown} is of the part {part} alone");
        return Err(Failure::usage(message)
            .hint("`sluicegate report PART.json… --report json=FILE` makes one of all parts"));
    }
    if report.verdict != "passed" {
        let message = format!(
            "the review {shown} of {} did not pass: its verdict is `{}`",
            head.short(),
            report.verdict
        );
        return Err(
            Failure::new(ExitStatus::GateFailed, anyhow::Error::msg(message)).hint("nothing was published")
        );
    }
    Ok(ReviewEvidence {
        verdict: report.verdict,
        engine: report.engine,
        head: head.to_string(),
        report_sha256: Some(content_hash(&bytes)),
    })
}
