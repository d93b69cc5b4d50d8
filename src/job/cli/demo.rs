//! `sluicegate demo`.

use clap::Args;
use std::path::PathBuf;

/// Shows the whole job on a small project of its own.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  sluicegate demo --dir tour")]
pub struct DemoArgs {
    /// Where the project and the reports go; where an earlier demo left its work, the next free DIR-2, DIR-3, …
    #[arg(long, value_name = "DIR", default_value = "sluicegate-demo")]
    pub dir: PathBuf,
}
