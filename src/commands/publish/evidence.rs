//! The report of a review that a publish relies on: it must be of the commit to publish, and have passed.

use super::super::output::read_bounded;
use super::super::report::{SIZE_LIMIT, understood};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::findings::Verdict;
use crate::git::CommitId;
use crate::publish::{ReviewEvidence, content_hash};
use std::path::Path;

/// What the report proves; a failure if that is not that `head` passed.
pub(super) fn required(path: &Path, head: &CommitId) -> Result<ReviewEvidence, Failure> {
    let shown = path.display();
    let bytes = read_bounded(path, SIZE_LIMIT)?;
    let report = understood(&bytes, &shown.to_string()).map_err(|failure| {
        failure.hint("write it by `sluicegate review --report json=FILE` on the commit to publish")
    })?;
    if report.context.head.as_deref() != Some(head.as_str()) {
        let reviewed = report.context.head.as_deref().unwrap_or("no commit");
        let message = format!("the review {shown} is of {reviewed}, and {head} is to be published");
        return Err(Failure::usage(message)
            .hint("write it by `sluicegate review --report json=FILE` on the commit to publish"));
    }
    if let Some(part) = report.context.shard {
        let message = format!("the review {shown} is of the part {part} alone");
        return Err(Failure::usage(message)
            .hint("`sluicegate report PART.json… --report json=FILE` makes one of all parts"));
    }
    if report.verdict != Verdict::Passed {
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
        verdict: report.verdict.to_string(),
        engine: report.engine.to_string(),
        head: head.to_string(),
        report_sha256: Some(content_hash(&bytes)),
    })
}
