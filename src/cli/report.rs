//! `sluicegate report`.

use super::DestinationArgs;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate report review.json --report html=review.html
  sluicegate report part-*.json --report junit=review.xml --comment

The exit code is that of the verdict: 0 passed, 1 failed, 3 undecided. A part that is missing makes it undecided.";

/// Makes reports again from JSON reports, several parts of one review as one.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArgs {
    /// JSON reports of one review; `-` is standard input
    #[arg(value_name = "FILE.json", required = true)]
    pub files: Vec<PathBuf>,
    /// Where the result goes.
    #[command(flatten)]
    pub destinations: DestinationArgs,
}
