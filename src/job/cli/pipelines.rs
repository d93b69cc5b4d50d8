//! `sluicegate pipelines` and `sluicegate executions`.

use super::{OutputArgs, PaceArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

const PIPELINES: &str = "Examples:
  sluicegate pipelines list
  sluicegate pipelines run 'sales/load orders' --environment production \\
      --wait --timeout 1800";

const RUN: &str = "Examples:
  sluicegate pipelines run 'sales/load orders' --environment production
  sluicegate pipelines run 'sales/load orders' --environment production \\
      --tag nightly --wait --timeout 1800 --cancel-on-interrupt --junit run.xml

Exit codes: 0 it was started, or with --wait ended in SUCCESS; 5 an execution with this tag is running; 8 it ended
otherwise, or not in time.";

const EXECUTIONS: &str = "Examples:
  sluicegate executions show 7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d
  sluicegate executions cancel 7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d --wait";

/// Published pipelines.
#[derive(Debug, Clone, Args)]
#[command(after_help = PIPELINES)]
pub struct PipelinesArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub verb: PipelinesVerb,
}

/// What to do with published pipelines.
#[derive(Debug, Clone, Subcommand)]
pub enum PipelinesVerb {
    /// List those that can be run
    #[command(after_help = "Example:\n  sluicegate pipelines list -o json")]
    List {
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Run one
    #[command(after_help = RUN)]
    Run(RunArgs),
}

/// Run a published pipeline.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Its name, as `pipelines list` shows it
    pub name: String,
    /// Where [env: SLUICEGATE_ENVIRONMENT]
    #[arg(long, value_name = "NAME")]
    pub environment: Option<String>,
    /// At most one execution with this tag runs at a time
    #[arg(long, value_name = "TAG")]
    pub tag: Option<String>,
    /// Wait until it ends
    #[arg(long)]
    pub wait: bool,
    /// On Ctrl-C or SIGTERM, terminate the execution and wait until it ends
    #[arg(long, requires = "wait")]
    pub cancel_on_interrupt: bool,
    /// Write the outcome as JUnit XML
    #[arg(long, value_name = "PATH", requires = "wait")]
    pub junit: Option<PathBuf>,
    /// How to terminate.
    #[command(flatten)]
    pub cancel: CancelArgs,
    /// How long to wait; 3600 seconds if nothing is said.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// How an execution is terminated.
#[derive(Debug, Clone, Default, Args)]
pub struct CancelArgs {
    /// The status that terminates an execution [env: SLUICEGATE_CANCEL_STATUS] [default: CANCELLED]
    #[arg(long, value_name = "STATUS")]
    pub cancel_status: Option<String>,
    /// Terminate with forceUpdate
    #[arg(long)]
    pub force: bool,
}

/// Executions of pipelines.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXECUTIONS)]
pub struct ExecutionsArgs {
    /// What to do with one.
    #[command(subcommand)]
    pub verb: ExecutionsVerb,
}

/// What to do with an execution.
#[derive(Debug, Clone, Subcommand)]
pub enum ExecutionsVerb {
    /// Show how it goes
    #[command(
        after_help = "Example:\n  sluicegate executions show 7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d --wait"
    )]
    Show {
        /// Its identifier
        id: String,
        /// Wait until it ends: 0 if in SUCCESS, else 8
        #[arg(long)]
        wait: bool,
        /// How long to wait.
        #[command(flatten)]
        pace: PaceArgs,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Terminate it
    #[command(after_help = "Example:\n  sluicegate executions cancel 7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d")]
    Cancel {
        /// Its identifier
        id: String,
        /// How to terminate.
        #[command(flatten)]
        cancel: CancelArgs,
        /// Wait until it ends
        #[arg(long)]
        wait: bool,
        /// How long to wait.
        #[command(flatten)]
        pace: PaceArgs,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
}
