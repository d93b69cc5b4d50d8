//! `sluicegate demo`.

use clap::Args;
use std::path::PathBuf;

/// Runs the whole workflow, from review to publish, on a small sample project.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  sluicegate demo --dir tour")]
pub struct DemoArgs {
    /// Directory for the project and the reports; if an earlier demo used this directory, the demo uses the first
    /// unused directory of DIR-2, DIR-3, …
    #[arg(long, value_name = "DIR", default_value = "sluicegate-demo")]
    pub dir: PathBuf,
}
