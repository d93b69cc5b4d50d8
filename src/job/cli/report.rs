//! `sluicegate report`.

use super::{AttestationArgs, DestinationArgs};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate report review.json --report html=review.html
  sluicegate report part-*.json --report junit=review.xml --comment
  sluicegate report --compare yesterday.json review.json

The verdict sets the exit code: 0 passed, 1 failed, 3 undecided. A missing shard makes the verdict undecided.
With --compare, only new findings fail the new report.
In CI, all reports must be of the commit of the event, and an older report of one of its ancestors.";

/// Renders reports from saved JSON reports and merges the shards of a review.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArgs {
    /// JSON reports to read, all of one review; `-` reads standard input
    #[arg(value_name = "FILE.json", required = true)]
    pub files: Vec<PathBuf>,
    /// Show new, known and fixed findings since this older JSON report, and fail only on new ones. Reports of
    /// `review --all` compare best
    #[arg(long, value_name = "OLD.json")]
    pub compare: Option<PathBuf>,
    /// Revision that the reports must be of [env: SLUICEGATE_HEAD] [default: in CI, the event's commit]
    #[arg(long, value_name = "REV")]
    pub head: Option<String>,
    #[command(flatten)]
    pub destinations: DestinationArgs,
    #[command(flatten)]
    pub attestation: AttestationArgs,
}
