//! `sluicegate pipelines` and `sluicegate executions`.

use super::values::{output_path_parser, parse_name, parse_new_name, parse_pair};
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
  sluicegate pipelines run 'sales/load orders' --environment production \\
      --variable region=eu --grid tables=tables.yaml

The file of a grid, YAML or JSON, with a list of strings for each row:
  - [orders, full]
  - [customers, delta]

Exit codes: 0 the execution was started, or with --wait ended in SUCCESS; 5 an execution with
this tag is already running; 8 with --wait, the execution ended in another status or not in time.";

const EXECUTIONS: &str = "Examples:
  sluicegate executions show 7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d
  sluicegate executions cancel 7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d --wait";

/// Lists and runs the published pipelines of a project.
#[derive(Debug, Clone, Args)]
#[command(after_help = PIPELINES)]
pub struct PipelinesArgs {
    #[command(subcommand)]
    pub verb: PipelinesVerb,
}

/// Subcommands of `sluicegate pipelines`.
#[derive(Debug, Clone, Subcommand)]
pub enum PipelinesVerb {
    /// List pipelines that can be run
    #[command(after_help = "Example:\n  sluicegate pipelines list -o json")]
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Run a published pipeline
    #[command(
        after_help = RUN,
        mut_arg("cancel_status", |arg| arg.requires("cancel_on_interrupt")),
        mut_arg("force", |arg| arg.requires("cancel_on_interrupt"))
    )]
    Run(Box<RunArgs>),
}

/// Arguments of `sluicegate pipelines run`.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Name of the pipeline, as in `pipelines list`
    #[arg(value_parser = parse_name)]
    pub name: String,
    /// Environment to run the pipeline in [env: SLUICEGATE_ENVIRONMENT]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub environment: Option<String>,
    /// Tag of the execution; fails if an execution with this tag is already running
    #[arg(long, value_name = "TAG", value_parser = parse_new_name)]
    pub tag: Option<String>,
    /// Set a scalar variable of the pipeline for this execution (repeatable)
    #[arg(long = "variable", value_name = "NAME=VALUE", value_parser = parse_pair)]
    pub variables: Vec<(String, String)>,
    /// Set a grid variable of the pipeline for this execution, with the rows in this file (repeatable)
    #[arg(long = "grid", value_name = "NAME=FILE", value_parser = parse_pair)]
    pub grids: Vec<(String, String)>,
    /// Wait until the execution of the pipeline ends
    #[arg(long, group = "waiting")]
    pub wait: bool,
    /// Terminate the execution on Ctrl-C, SIGTERM or SIGHUP, and wait until it ends
    #[arg(long, requires = "wait")]
    pub cancel_on_interrupt: bool,
    /// Write the outcome to this file as JUnit XML
    #[arg(long, value_name = "PATH", requires = "wait", value_parser = output_path_parser())]
    pub junit: Option<PathBuf>,
    #[command(flatten)]
    pub cancel: CancelArgs,
    #[command(flatten)]
    pub pace: PaceArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Flags that terminate an execution.
#[derive(Debug, Clone, Default, Args)]
pub struct CancelArgs {
    /// Status to send to terminate the execution [env: SLUICEGATE_CANCEL_STATUS] [default: CANCELLED]
    #[arg(long, value_name = "STATUS", value_parser = parse_name)]
    pub cancel_status: Option<String>,
    /// Send forceUpdate with the termination request
    #[arg(long)]
    pub force: bool,
}

/// Shows or cancels executions of pipelines.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXECUTIONS)]
pub struct ExecutionsArgs {
    #[command(subcommand)]
    pub verb: ExecutionsVerb,
}

/// Subcommands of `sluicegate executions`.
#[derive(Debug, Clone, Subcommand)]
pub enum ExecutionsVerb {
    /// Show the status of an execution
    #[command(
        after_help = "Example:\n  sluicegate executions show 7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d --wait"
    )]
    Show {
        /// ID of the execution
        id: String,
        /// Wait until the execution ends; exit with code 0 if its status is SUCCESS, otherwise with code 8
        #[arg(long, group = "waiting")]
        wait: bool,
        #[command(flatten)]
        pace: PaceArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Terminate an execution
    ///
    /// If the execution has already ended, a warning says that nothing was canceled, and the exit code is 0.
    #[command(after_help = "Example:\n  sluicegate executions cancel 7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d")]
    Cancel {
        /// ID of the execution
        id: String,
        #[command(flatten)]
        cancel: CancelArgs,
        /// Wait until the execution ends; exit with code 0 for every status at the end
        #[arg(long, group = "waiting")]
        wait: bool,
        #[command(flatten)]
        pace: PaceArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
}
