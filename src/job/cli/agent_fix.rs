//! `sluicegate fix --agent`.

use super::PaceArgs;
use super::values::parse_name;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The ids of `--agent` and of the flags that require it. A flag for a fix on this machine conflicts with all of them:
/// if it conflicted only with `--agent`, clap would no longer require `--agent` for the others.
pub(super) const AGENT_FLAGS: [&str; 10] = [
    "agent",
    "plan",
    "from",
    "head",
    "branch",
    "environment",
    "target_branch",
    "allow",
    "wait_timeout",
    "poll_interval",
];

/// Flags of a fix by the platform's agent.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Fix by the agent")]
pub struct AgentFixArgs {
    /// Let the platform's agent fix the findings that fail the gate, on a new branch, and review that branch
    #[arg(long, group = "waiting")]
    pub agent: bool,
    /// Print the agent's plan without changing or pushing anything
    #[arg(long, requires = "agent")]
    pub plan: bool,
    /// Fix the findings in this JSON report, which must be from a review of the same commit [default: review the commit
    /// first]
    #[arg(long, value_name = "REPORT", requires = "agent")]
    pub from: Option<PathBuf>,
    /// Commit whose findings the agent fixes; it must be the newest commit of its branch on the remote
    /// [env: SLUICEGATE_HEAD] [default: detected]
    #[arg(long, value_name = "REV", requires = "agent")]
    pub head: Option<String>,
    /// Remote branch that the agent starts from [env: SLUICEGATE_BRANCH] [default: detected]
    #[arg(long, value_name = "NAME", requires = "agent")]
    pub branch: Option<String>,
    /// Name of the environment for the agent's task [env: SLUICEGATE_ENVIRONMENT]
    #[arg(long, value_name = "NAME", requires = "agent")]
    pub environment: Option<String>,
    /// New branch for the fix, which must not exist yet [default: sluicegate-fix- followed by the start of the commit
    /// id]
    #[arg(long, value_name = "NAME", requires = "agent", value_parser = parse_name)]
    pub target_branch: Option<String>,
    /// Let the agent use this additional tool (repeatable)
    #[arg(long, value_name = "TOOL", requires = "agent")]
    pub allow: Vec<ExtraTool>,
    #[command(flatten)]
    pub pace: PaceArgs,
}

/// A tool that the agent may use only if the user allows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExtraTool {
    /// Run pipelines in the task's environment.
    #[value(name = "run_pipeline")]
    RunPipeline,
    /// Read data from the warehouse with SQL.
    #[value(name = "query_warehouse")]
    QueryWarehouse,
    /// Read the first rows of a component.
    #[value(name = "sample_component")]
    SampleComponent,
}

impl ExtraTool {
    /// All tools that a user can allow.
    pub const ALL: [Self; 3] = [Self::RunPipeline, Self::QueryWarehouse, Self::SampleComponent];

    /// Returns the platform's name of the tool.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RunPipeline => "run_pipeline",
            Self::QueryWarehouse => "query_warehouse",
            Self::SampleComponent => "sample_component",
        }
    }

    /// Returns the sentence for the agent's prompt that forbids the tool.
    pub const fn restriction(self) -> &'static str {
        match self {
            Self::RunPipeline => "Do not run a pipeline.",
            Self::QueryWarehouse => "Do not query the warehouse.",
            Self::SampleComponent => "Do not sample a component.",
        }
    }
}
