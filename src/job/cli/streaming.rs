//! `sluicegate streaming`.

use super::values::parse_name;
use super::{OutputArgs, PaceArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate streaming create -f orders.yaml
  sluicegate streaming start 5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34
  sluicegate streaming status 5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34 \\
      --wait streaming --timeout 120";

const CREATE: &str = "Example:
  sluicegate streaming create -f orders.yaml -o json

The definition file (YAML or JSON) uses the field names of the platform's API and contains no secret:
  name: orders to the warehouse
  agentId: b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60
  streamingSource:
    type: source_db_a
    connection:
      host: db.example
      port: 5432
      database: shop
      username: reader
      password: { secretLocation: shop-vault, secretName: reader-password }
    tables:
      - { schema: public, table: orders }
  streamingTarget:
    type: warehouse_a
    connection:
      accountName: account-1
      username: loader
      authentication:
        type: key-pair
        privateKey: { secretLocation: shop-vault, secretName: loader-key }
        passphrase: { secretLocation: shop-vault, secretName: loader-passphrase }
    role: LOADER
    warehouse: SMALL
    database: RAW
    stageSchema: STAGE
    stageName: ORDERS_STAGE
    stagePrefix: orders
    tableSchema: SHOP
    tablePrefixType: PREFIX
    transformationType: CHANGE_LOG
    temporalMapping: NATIVE";

const STATUS: &str = "Example:
  sluicegate streaming status 5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34 \\
      --wait streaming";

/// Help of `--timeout`, whose default is shorter than that of other commands.
const WAIT_TIMEOUT: &str = "Maximum time to wait, in seconds [default: 300]. Without --wait, the timeout for each \
                            request [default: 60]";

/// Creates, shows, starts, stops and watches streaming pipelines.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct StreamingArgs {
    #[command(subcommand)]
    pub verb: StreamingVerb,
}

/// Subcommands of `sluicegate streaming`.
#[derive(Debug, Clone, Subcommand)]
pub enum StreamingVerb {
    /// Create a streaming pipeline from a definition file; rejected fields are reported with their line
    #[command(after_help = CREATE)]
    Create {
        /// Definition file (YAML or JSON) with the field names of the platform's API
        #[arg(short, long, value_name = "FILE")]
        file: PathBuf,
        /// secretType to use for secret references that do not have a secretType [env: SLUICEGATE_KEY_VAULT] [default:
        /// CLOUD_A_KEY_VAULT]
        #[arg(long, value_name = "TYPE", value_parser = parse_name)]
        key_vault: Option<String>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show the definition of a streaming pipeline
    #[command(after_help = "Example:\n  sluicegate streaming show 5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34")]
    Show(StreamArgs),
    /// Start a streaming pipeline; to wait for it, use `status --wait streaming`
    #[command(after_help = "Example:\n  sluicegate streaming start 5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34")]
    Start(StreamArgs),
    /// Stop a streaming pipeline
    #[command(after_help = "Example:\n  sluicegate streaming stop 5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34")]
    Stop(StreamArgs),
    /// Show the status of a streaming pipeline, or wait until it reaches a status
    #[command(
        after_help = STATUS,
        mut_arg("wait_timeout", |arg| arg.help(WAIT_TIMEOUT))
    )]
    Status {
        /// ID of the streaming pipeline
        id: String,
        /// Wait for this status (case-insensitive); exit with code 8 if it is not reached within --timeout seconds
        #[arg(long, value_name = "STATE", group = "waiting")]
        wait: Option<String>,
        #[command(flatten)]
        pace: PaceArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Arguments of the subcommands that only need the ID.
#[derive(Debug, Clone, Args)]
pub struct StreamArgs {
    /// ID of the streaming pipeline
    pub id: String,
    #[command(flatten)]
    pub output: OutputArgs,
}
