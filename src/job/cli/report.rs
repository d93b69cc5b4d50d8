//! `sluicegate report`.

use super::DestinationArgs;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate report review.json --report html=review.html
  sluicegate report part-*.json --report junit=review.xml --comment
  sluicegate report --compare yesterday.json review.json

The exit code is that of the verdict: 0 passed, 1 failed, 3 undecided. A part that is missing makes it undecided.
With --compare it is that of the new report where only new findings count.";

/// Makes reports again from JSON reports, several parts of one review as one.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArgs {
    /// JSON reports of one review; `-` is standard input
    #[arg(value_name = "FILE.json", required = true)]
    pub files: Vec<PathBuf>,
    /// Tell what is new, known and fixed since this older JSON report; only new findings count. Reports of `--all` tell most
    #[arg(long, value_name = "OLD.json")]
    pub compare: Option<PathBuf>,
    /// Where the result goes.
    #[command(flatten)]
    pub destinations: DestinationArgs,
}
