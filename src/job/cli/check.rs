//! `sluicegate check`.

use super::{GateArgs, SelectionArgs};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate check
  sluicegate check --all --show concise
  sluicegate check - --stdin-path sales/load.orch.yaml < sales/load.orch.yaml

The rules come from the rules file in the platform's hidden directory. The file is read from the
same commit or working tree as the pipelines. If neither the branch nor its target has a rules file,
a local run evaluates the default rules, which `sluicegate rules init` writes to a file. The
settings and variables of `review` for pipelines and reports also apply to `check`. Without a
remote, every pipeline is checked.";

const PATHS: &str = "Check these files even if they did not change, or only the changed pipelines below these \
    directories (relative to the current directory). With --base, files only restrict the check. Outside git, all \
    pipelines below a directory are checked. If the rules file is one of the paths, all pipelines are selected";
const ALL: &str = "Check all pipelines, changed or not [env: SLUICEGATE_ALL]";
const BASE: &str = "Check changes since the merge-base of this revision and the checked-out commit, including \
    uncommitted changes [env: SLUICEGATE_BASE] [default: detected, as for review]";
const HEAD: &str = "Check the files of this commit instead of the working tree [env: SLUICEGATE_HEAD] [default: the \
    working tree; in CI, the checked-out commit]";

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
    /// Check only files with staged changes, for example in a pre-commit hook
    #[arg(long, conflicts_with = "head", help_heading = "Selection")]
    pub staged: bool,
    /// Path of the pipeline that `check -` reads from standard input, relative to the current directory
    #[arg(long, value_name = "PATH", conflicts_with_all = ["head", "staged", "all", "base"], help_heading = "Selection")]
    pub stdin_path: Option<PathBuf>,
    /// Rules file to use instead of the project's rules file. In CI, the file must be outside the checkout [env:
    /// SLUICEGATE_RULES]
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    #[command(flatten)]
    pub gate: GateArgs,
}
