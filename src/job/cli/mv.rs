//! `sluicegate mv`.

use super::OutputArgs;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate mv sales/load.orch.yaml warehouse/load.orch.yaml --dry-run
  sluicegate mv sales warehouse
  sluicegate mv --repair

The command stages the move and the rewritten files, and does not commit them. If a reference cannot
be rewritten in place, the command fails before it changes anything.";

/// Moves a pipeline, script or directory and updates every reference to it.
///
/// Rewrites calls and script names in pipelines, entries of the shared-pipelines file, and the waivers and globs that
/// equal the moved path. Every other byte stays unchanged.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct MvArgs {
    /// File or directory to move, relative to the current directory
    #[arg(required_unless_present = "repair", requires = "new")]
    pub old: Option<PathBuf>,
    /// New path, or an existing directory to move OLD into
    pub new: Option<PathBuf>,
    /// Fix broken calls and script names, and waivers for renamed pipelines: write the new path of the renamed file, or
    /// the path of the only file that has this name
    #[arg(long, conflicts_with_all = ["old", "new", "force"])]
    pub repair: bool,
    /// Print every edit without changing anything
    #[arg(long)]
    pub dry_run: bool,
    /// Move files even if they have uncommitted changes
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}
