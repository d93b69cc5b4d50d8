//! `sluicegate streaming`.

use super::{OutputArgs, PaceArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate streaming create -f orders.yaml
  sluicegate streaming start 5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34
  sluicegate streaming status 5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34 \\
      --wait streaming --timeout 120";

/// Streaming pipelines.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct StreamingArgs {
    /// What to do with one.
    #[command(subcommand)]
    pub verb: StreamingVerb,
}

/// What to do with a streaming pipeline.
#[derive(Debug, Clone, Subcommand)]
pub enum StreamingVerb {
    /// Make one from a definition; what the platform does not accept is shown at its line
    #[command(after_help = "Example:\n  sluicegate streaming create -f orders.yaml -o json")]
    Create {
        /// The definition, YAML or JSON, with the keys of the API
        #[arg(short, long, value_name = "FILE")]
        file: PathBuf,
        /// The secretType of references that have none [env: SLUICEGATE_KEY_VAULT] [default: CLOUD_A_KEY_VAULT]
        #[arg(long, value_name = "TYPE")]
        key_vault: Option<String>,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show the definition that the platform keeps
    #[command(after_help = "Example:\n  sluicegate streaming show 5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34")]
    Show(StreamArgs),
    /// Tell the agent to start it; `status --wait streaming` waits until it has
    #[command(after_help = "Example:\n  sluicegate streaming start 5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34")]
    Start(StreamArgs),
    /// Tell the agent to stop it
    #[command(after_help = "Example:\n  sluicegate streaming stop 5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34")]
    Stop(StreamArgs),
    /// Show its status, or wait for one
    #[command(
        after_help = "Example:\n  sluicegate streaming status 5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34 \\\n      --wait streaming"
    )]
    Status {
        /// Its identifier
        id: String,
        /// Wait for this status, in any case: 8 if it does not come in time, which is 300 seconds
        #[arg(long, value_name = "STATE")]
        wait: Option<String>,
        /// How long to wait.
        #[command(flatten)]
        pace: PaceArgs,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// One streaming pipeline.
#[derive(Debug, Clone, Args)]
pub struct StreamArgs {
    /// Its identifier
    pub id: String,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}
