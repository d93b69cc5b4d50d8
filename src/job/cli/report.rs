//! `sluicegate report`.

use super::{AttestationArgs, DestinationArgs};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate report review.json --report html=review.html
  sluicegate report part-*.json --report junit=review.xml --comment
  sluicegate report --compare yesterday.json review.json

The verdict sets the exit code: 0 passed, 1 failed, 3 undecided. If a shard is missing, the verdict
is undecided, or failed if another shard failed. With --compare, only new findings fail the gate. In
CI, all reports must be for the event's commit, and the older report must be for an ancestor of that
commit.";

/// Renders reports from saved JSON reports and merges the shards of a review.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArgs {
    /// JSON reports of one review; `-` reads standard input
    #[arg(value_name = "FILE.json", required = true)]
    pub files: Vec<PathBuf>,
    /// Compare with this older JSON report: show new, known and fixed findings, and fail only on new findings. Reports
    /// from `review --all` work best, because they cover all pipelines
    #[arg(long, value_name = "OLD.json")]
    pub compare: Option<PathBuf>,
    /// Fail if a report is not for this revision [env: SLUICEGATE_HEAD] [default: in CI, the event's commit]
    #[arg(long, value_name = "REV")]
    pub head: Option<String>,
    #[command(flatten)]
    pub destinations: DestinationArgs,
    #[command(flatten)]
    pub attestation: AttestationArgs,
}
