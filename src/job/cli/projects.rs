//! `sluicegate projects`, `environments`, `connections`, `secrets` and `repositories`: the parts of a project.

use super::{OutputArgs, VocabularyArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use uuid::Uuid;

const PROJECTS: &str = "Examples:
  sluicegate projects list
  sluicegate projects create --name sales --warehouse WAREHOUSE_A \\
      --agent-deployment-type HYBRID";

const ENVIRONMENT: &str = "Example:
  sluicegate environments create -f environment.yaml

The file, YAML or JSON, with the keys of the API:
  name: acceptance
  defaultAgentId: b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60
  defaultUserAccessLevel: readOnly
  defaultConnections: { DWH: { warehouse_b: dwh } }
  connectionOverrides:
    - connectionName: dwh
      connectionProperties:
        url: { value: dwh.example.com }
        password: { secretName: dwh-password, secretKey: password }";

/// Projects of the account.
#[derive(Debug, Clone, Args)]
#[command(after_help = PROJECTS)]
pub struct ProjectsArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub verb: ProjectsVerb,
}

/// What to do with projects.
#[derive(Debug, Clone, Subcommand)]
pub enum ProjectsVerb {
    /// List them
    #[command(after_help = "Example:\n  sluicegate projects list -o json")]
    List {
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Make one; `provision apply` makes all that belongs to it, too
    #[command(after_help = PROJECTS)]
    Create {
        /// Its name
        #[arg(long, value_name = "NAME")]
        name: String,
        /// What it is for
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// The warehouse's kind, in upper case
        #[arg(long, value_name = "KIND")]
        warehouse: String,
        /// HYBRID or FULL_SAAS
        #[arg(long, value_name = "TYPE")]
        agent_deployment_type: String,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Environments of the project.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  sluicegate environments list\n  sluicegate environments create -f environment.yaml"
)]
pub struct EnvironmentsArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub verb: EnvironmentsVerb,
}

/// What to do with environments.
#[derive(Debug, Clone, Subcommand)]
pub enum EnvironmentsVerb {
    /// List them
    #[command(after_help = "Example:\n  sluicegate environments list -o json")]
    List {
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Make one
    #[command(after_help = ENVIRONMENT)]
    Create {
        /// The file, YAML or JSON
        #[arg(short, long, value_name = "FILE")]
        file: PathBuf,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Warehouse connections of the project.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  sluicegate connections create --name dwh --warehouse WAREHOUSE_A")]
pub struct ConnectionsArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub verb: ConnectionsVerb,
}

/// What to do with connections.
#[derive(Debug, Clone, Subcommand)]
pub enum ConnectionsVerb {
    /// Make the default warehouse connection; its credentials are the environment's
    #[command(after_help = "Example:\n  sluicegate connections create --name dwh --warehouse WAREHOUSE_A")]
    Create {
        /// Its name
        #[arg(long, value_name = "NAME")]
        name: String,
        /// The project's warehouse; it is the authProvider in lower case
        #[arg(long, value_name = "KIND")]
        warehouse: String,
        /// key_pair or password [default: what the warehouse takes]
        #[arg(long, value_name = "TYPE")]
        auth_type: Option<String>,
        /// The platformConnectionType
        #[arg(long, value_name = "TYPE", default_value = "dwh")]
        connection_type: String,
        /// What the warehouses are called.
        #[command(flatten)]
        vocabulary: VocabularyArgs,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Secrets of the full SaaS deployment.
#[derive(Debug, Clone, Args)]
#[command(after_help = SECRET)]
pub struct SecretsArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub verb: SecretsVerb,
}

const SECRET: &str = "Example:
  sluicegate secrets create --agent-id b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60 \\
      --name dwh-password --key password --value-variable DWH_PASSWORD";

/// What to do with secrets.
#[derive(Debug, Clone, Subcommand)]
pub enum SecretsVerb {
    /// Store one; its value comes from a variable or a file, never from a flag
    #[command(after_help = SECRET)]
    Create {
        /// The runner that belongs to the project
        #[arg(long, value_name = "UUID")]
        agent_id: Uuid,
        /// The name by which it is used later
        #[arg(long, value_name = "NAME")]
        name: String,
        /// Its type
        #[arg(long, value_name = "TYPE", default_value = "DWH_PASSWORD")]
        r#type: String,
        /// The name of the property that holds the value
        #[arg(long, value_name = "KEY")]
        key: String,
        /// Where its value comes from.
        #[command(flatten)]
        value: ValueArgs,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Where a secret's value comes from.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct ValueArgs {
    /// The environment variable that holds the value
    #[arg(long, value_name = "NAME")]
    pub value_variable: Option<String>,
    /// The file that holds the value
    #[arg(long, value_name = "PATH")]
    pub value_file: Option<PathBuf>,
}

/// The project's git repository.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  sluicegate repositories create --owner acme --name sales-pipelines")]
pub struct RepositoriesArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub verb: RepositoriesVerb,
}

/// What to do with repositories.
#[derive(Debug, Clone, Subcommand)]
pub enum RepositoriesVerb {
    /// Initialize the project's repository; not for the full SaaS deployment
    #[command(after_help = "Example:\n  sluicegate repositories create --owner acme --name sales-pipelines")]
    Create {
        /// The owner organization
        #[arg(long, value_name = "NAME")]
        owner: String,
        /// The repository's name
        #[arg(long, value_name = "NAME")]
        name: String,
        /// What the git provider is called.
        #[command(flatten)]
        vocabulary: VocabularyArgs,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
}
