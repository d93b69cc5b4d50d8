//! `sluicegate provision`.

use super::{OutputArgs, VocabularyArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

const APPLY: &str = "Examples:
  sluicegate provision apply -f sales.yaml --dry-run
  DWH_PASSWORD=… sluicegate provision apply -f sales.yaml

The file, YAML or JSON, has the keys of the API; what follows from the project need not be said:
  project: { name: sales, warehouse: WAREHOUSE_B, agentDeploymentType: FULL_SAAS }
  connection: { name: dwh }
  secret:                       # full SaaS only; the value never stands in the file
    agentId: b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60
    name: dwh-password
    key: password
    valueFrom: { variable: DWH_PASSWORD }      # or { file: PATH }
  environment:
    name: production
    defaultAgentId: b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60
    defaultUserAccessLevel: readOnly
    connectionOverrides:
      - connectionName: dwh
        connectionProperties:
          url: { value: dwh.example.com }
          password: { secretName: dwh-password, secretKey: password }

A project of another deployment has no secret, and may have a repository:
  repository:
    providerParameters: { ownerName: acme }
    repositoryName: sales-pipelines

Everything is checked before the first call. What is done is kept in the state file, so that a second run goes on
after the last step that was done.";

/// A project with all that belongs to it.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  sluicegate provision apply -f sales.yaml")]
pub struct ProvisionArgs {
    /// What to do.
    #[command(subcommand)]
    pub verb: ProvisionVerb,
}

/// What to do with a project's file.
#[derive(Debug, Clone, Subcommand)]
pub enum ProvisionVerb {
    /// Make project, connection, secret, environment and repository, in this order
    #[command(after_help = APPLY)]
    Apply(ProvisionApplyArgs),
}

/// Make a project with all that belongs to it.
#[derive(Debug, Clone, Args)]
pub struct ProvisionApplyArgs {
    /// The file, YAML or JSON
    #[arg(short, long, value_name = "FILE")]
    pub file: PathBuf,
    /// Where it is kept what is done [default: FILE.state.json]
    #[arg(long, value_name = "PATH")]
    pub state: Option<PathBuf>,
    /// Check, and say what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Settle a step whose answer was lost: `again`, `done`, or for the project its UUID; repeatable
    #[arg(long, value_name = "STEP=WORD")]
    pub resolve: Vec<String>,
    /// What the platform calls its kinds.
    #[command(flatten)]
    pub vocabulary: VocabularyArgs,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}
