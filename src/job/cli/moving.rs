//! `sluicegate mv`.

use super::OutputArgs;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate mv sales/load.orch.yaml warehouse/load.orch.yaml --dry-run
  sluicegate mv sales warehouse
  sluicegate mv --repair

Nothing is committed. What cannot be rewritten in place is refused before anything changes.";

/// Moves a pipeline, a script or a folder, with every reference to it.
///
/// Calls and script names in pipelines, the shared-pipelines file, and waivers and globs that name exactly what moves are rewritten in
/// place; every other byte stays.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct MvArgs {
    /// File or folder to move, relative to the current folder
    #[arg(required_unless_present = "repair", requires = "new")]
    pub old: Option<PathBuf>,
    /// Its new path; a folder that exists takes it in
    pub new: Option<PathBuf>,
    /// Rewrite calls and script names that lead nowhere where exactly one file has the name
    #[arg(long, conflicts_with_all = ["old", "new", "force"])]
    pub repair: bool,
    /// Show each value that would be rewritten, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Move files with changes that are not committed, too
    #[arg(long)]
    pub force: bool,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}
