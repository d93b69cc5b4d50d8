//! `sluicegate provision`.

use super::values::output_path_parser;
use super::{OutputArgs, VocabularyArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

const APPLY: &str = "Examples:
  sluicegate provision apply -f sales.yaml --dry-run
  DWH_PASSWORD=… sluicegate provision apply -f sales.yaml

The file, YAML or JSON, has the keys of the API. Keys that follow from the project may be omitted:
  project: { name: sales, warehouse: WAREHOUSE_B, agentDeploymentType: FULL_SAAS }
  connection: { name: dwh }
  secret:                       # full SaaS only; the value is never in this file
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

A project of another deployment has no secret and may have a repository:
  repository:
    providerParameters: { ownerName: acme }
    repositoryName: sales-pipelines

The command checks the complete file before the first request. It records each finished step in
the state file, so that a second run continues after the last finished step.";

/// Commands that create a complete project.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  sluicegate provision apply -f sales.yaml")]
pub struct ProvisionArgs {
    #[command(subcommand)]
    pub verb: ProvisionVerb,
}

/// Subcommands of `sluicegate provision`.
#[derive(Debug, Clone, Subcommand)]
pub enum ProvisionVerb {
    /// Create a project, then its connection, secret, environment and repository
    #[command(after_help = APPLY)]
    Apply(ProvisionApplyArgs),
}

/// Arguments of `sluicegate provision apply`.
#[derive(Debug, Clone, Args)]
pub struct ProvisionApplyArgs {
    /// File with the project, in YAML or JSON
    #[arg(short, long, value_name = "FILE")]
    pub file: PathBuf,
    /// File that records the finished steps [default: FILE.state.json]
    #[arg(long, value_name = "PATH", value_parser = output_path_parser())]
    pub state: Option<PathBuf>,
    /// Check the file and print the steps without running them
    #[arg(long)]
    pub dry_run: bool,
    /// Resolve an unfinished step: STEP=again to repeat a step whose response was lost, STEP=done if the resource
    /// exists, or project=UUID with the UUID of the existing project (repeatable)
    #[arg(long, value_name = "STEP=WORD")]
    pub resolve: Vec<String>,
    #[command(flatten)]
    pub vocabulary: VocabularyArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl ProvisionApplyArgs {
    /// Returns the path of the state file: that of `--state`, otherwise next to the provisioning file with the suffix
    /// `.state.json`.
    pub fn state_file(&self) -> PathBuf {
        self.state.clone().unwrap_or_else(|| {
            let mut name = self.file.clone().into_os_string();
            name.push(".state.json");
            name.into()
        })
    }
}
