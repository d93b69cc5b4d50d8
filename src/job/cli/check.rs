//! `sluicegate check`.

use super::{GateArgs, SelectionArgs};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate check
  sluicegate check --all --show concise
  sluicegate check - --stdin-path sales/load.orch.yaml < sales/load.orch.yaml

The rules are those of the rules file in the platform's hidden folder, read from the same
place as the pipelines. Settings and variables are those of `review`, where they apply. Without
a remote everything counts as changed.";

const PATHS: &str = "Files are checked, changed or not; folders restrict what changed. With --base, files restrict too. \
                     Naming the rules file checks all pipelines. Relative to the current folder";
const ALL: &str = "All pipelines, changed or not [env: SLUICEGATE_ALL]";
const BASE: &str = "What changed since the merge-base of this revision and the checked-out commit, uncommitted changes \
                    included [env: SLUICEGATE_BASE] [default: detected, as for review]";
const HEAD: &str = "The files of this commit, without any from the working tree [env: SLUICEGATE_HEAD] [default: the working tree]";

/// Checks pipelines by the rules of the project's rules file, on this machine.
#[derive(Debug, Clone, Default, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("paths", |arg| arg.help(PATHS)),
    mut_arg("all", |arg| arg.help(ALL)),
    mut_arg("base", |arg| arg.help(BASE)),
    mut_arg("head", |arg| arg.help(HEAD)),
)]
pub struct CheckArgs {
    /// Which pipelines.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Check the staged files that differ from the checked-out commit: what a commit would add
    #[arg(long, conflicts_with = "head", help_heading = "Selection")]
    pub staged: bool,
    /// Path of the pipeline that `check -` reads from standard input, relative to the current directory
    #[arg(long, value_name = "PATH", conflicts_with_all = ["head", "staged", "all", "base"], help_heading = "Selection")]
    pub stdin_path: Option<PathBuf>,
    /// What fails it, and where it is told.
    #[command(flatten)]
    pub gate: GateArgs,
}
