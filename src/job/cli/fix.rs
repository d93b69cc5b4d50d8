//! `sluicegate fix`.

use super::agent_fix::AGENT_FLAGS;
use super::{AgentFixArgs, OutputArgs};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate fix --dry-run
  sluicegate fix sales
  sluicegate fix --staged
  sluicegate fix --agent --environment test
  sluicegate fix --agent --environment test --plan sales

Without --agent, a fix replaces one value and keeps every other byte. A file is written only if the new value fixes the finding and causes no new finding in the project. If a finding with a fix remains, the exit code is 1. If a file could not be evaluated, the exit code is that of a check.

With --agent, the branch must be pushed. The agent works on a new branch, which is reviewed again.
Exit codes with --agent: 0 all findings are fixed; 1 a finding remains or is new, or the branch must not be used; 3 the agent waits for a decision; 8 the task failed, did not finish in time, or did not push a branch.";

/// Help of `--timeout`, whose default is shorter than that of other commands.
const WAIT_TIMEOUT: &str = "Maximum time to wait for the agent, in seconds [default: 1800]";

/// Fixes findings that have one correct value in the files of the project, or lets the platform's agent fix findings.
///
/// Fixes the findings that `sluicegate check` reports for the same selection: a call by a bare name, a call or script
/// whose file this change renamed, a name in another letter case or Unicode normal form, and a link to a component that
/// this change renamed. With --agent, the platform's agent fixes the findings of a review on a new branch, and that
/// branch is reviewed.
#[derive(Debug, Clone, Default, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("wait_timeout", |arg| arg.help(WAIT_TIMEOUT).requires("agent")),
)]
pub struct FixArgs {
    /// Files to fix, changed or not, or directories to restrict the fixes to (relative to the current directory)
    #[arg(value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    /// Print every fix without changing anything
    #[arg(long, conflicts_with_all = AGENT_FLAGS)]
    pub dry_run: bool,
    /// Fix staged files and stage the fixes, for example in a pre-commit hook; skip files with unstaged changes
    #[arg(long, help_heading = "Selection", conflicts_with_all = AGENT_FLAGS)]
    pub staged: bool,
    /// Fix all pipelines, changed or not [env: SLUICEGATE_ALL]
    #[arg(long, help_heading = "Selection")]
    pub all: bool,
    /// Compare with the merge-base of this revision and the checked-out commit [env: SLUICEGATE_BASE]
    /// [default: detected, as for check]
    #[arg(long, value_name = "REV", help_heading = "Selection")]
    pub base: Option<String>,
    #[command(flatten)]
    pub agent_fix: AgentFixArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}
