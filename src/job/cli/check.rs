//! `sluicegate check`.

use super::{GateArgs, SelectionArgs};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate check
  sluicegate check --all --show concise
  sluicegate check - --stdin-path sales/load.orch.yaml < sales/load.orch.yaml

Rules come from the rules file in the platform's hidden directory, read from the same commit or
working tree as the pipelines. If neither the branch nor its target has one, a local run evaluates
the default rules, as `sluicegate rules init` writes them. The settings and variables of `review`
that concern pipelines and reports apply. Without a remote, every pipeline is checked.";

const PATHS: &str = "Files to check, changed or not, or directories to restrict the check to (relative to the \
                     current directory). Outside git, all pipelines below a directory are checked. With --base, files only restrict the check. The rules file selects all \
                     pipelines";
const ALL: &str = "Check all pipelines, changed or not [env: SLUICEGATE_ALL]";
const BASE: &str = "Check changes since the merge-base of this revision and the checked-out commit, including \
                    uncommitted ones [env: SLUICEGATE_BASE] [default: detected, as for review]";
const HEAD: &str = "Check the files of this commit, not the working tree [env: SLUICEGATE_HEAD] \
                    [default: the working tree, in CI the checkout's commit]";

/// Checks pipelines locally against the rules file of the project.
#[derive(Debug, Clone, Default, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("paths", |arg| arg.help(PATHS)),
    mut_arg("all", |arg| arg.help(ALL)),
    mut_arg("base", |arg| arg.help(BASE)),
    mut_arg("head", |arg| arg.help(HEAD)),
)]
pub struct CheckArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Check the staged files that differ from the checked-out commit, for example in a pre-commit hook
    #[arg(long, conflicts_with = "head", help_heading = "Selection")]
    pub staged: bool,
    /// Path of the pipeline that `check -` reads from standard input, relative to the current directory
    #[arg(long, value_name = "PATH", conflicts_with_all = ["head", "staged", "all", "base"], help_heading = "Selection")]
    pub stdin_path: Option<PathBuf>,
    /// Rules file to evaluate, instead of the project's; in CI, a file outside the checkout [env: SLUICEGATE_RULES]
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    #[command(flatten)]
    pub gate: GateArgs,
}
