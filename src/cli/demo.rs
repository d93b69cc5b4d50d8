//! `sluicegate demo`.

use clap::Args;
use std::path::PathBuf;

/// Shows the whole job on a small project of its own.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  sluicegate demo --dir /tmp/tour")]
pub struct DemoArgs {
    /// Where the project and the reports go; must be empty or made by an earlier demo
    #[arg(long, value_name = "DIR", default_value = "sluicegate-demo")]
    pub dir: PathBuf,
}
