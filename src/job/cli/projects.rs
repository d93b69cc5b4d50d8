//! `sluicegate projects`, `environments`, `connections`, `secrets` and `repositories`.

use super::values::{parse_name, parse_new_name, parse_platform_value};
use super::{OutputArgs, VocabularyArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use uuid::Uuid;

const PROJECTS: &str = "Examples:
  sluicegate projects list
  sluicegate projects create sales --warehouse WAREHOUSE_A \\
      --agent-deployment-type HYBRID";

const ENVIRONMENT: &str = "Example:
  sluicegate environments create -f environment.yaml

The file (YAML or JSON) uses the same keys as the API:
  name: acceptance
  defaultAgentId: b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60
  defaultUserAccessLevel: readOnly
  defaultConnections: { DWH: { warehouse_b: dwh } }
  connectionOverrides:
    - connectionName: dwh
      connectionProperties:
        url: { value: dwh.example.com }
        password: { secretName: dwh-password, secretKey: password }";

/// The argument or the flag with the name of a new resource.
#[derive(Debug, Clone, Args)]
#[group(id = "resource_name", required = true, multiple = false)]
pub struct NameArgs {
    /// Name of the new resource
    #[arg(id = "argument", value_name = "NAME", value_parser = parse_new_name)]
    argument: Option<String>,
    /// Pass the name with this flag instead of the argument NAME
    #[arg(long = "name", value_name = "NAME", value_parser = parse_new_name)]
    flag: Option<String>,
}

impl NameArgs {
    /// Returns the name from the argument or the flag. Clap requires one of them, so the empty text is never used.
    pub fn into_name(self) -> String {
        self.argument.or(self.flag).unwrap_or_default()
    }
}

/// Lists and creates the account's projects.
#[derive(Debug, Clone, Args)]
#[command(after_help = PROJECTS)]
pub struct ProjectsArgs {
    #[command(subcommand)]
    pub verb: ProjectsVerb,
}

/// Subcommands of `sluicegate projects`.
#[derive(Debug, Clone, Subcommand)]
pub enum ProjectsVerb {
    /// List projects
    #[command(after_help = "Example:\n  sluicegate projects list -o json")]
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Create a project; to create its connection and environment too, use `provision apply`
    #[command(after_help = PROJECTS)]
    Create {
        #[command(flatten)]
        name: NameArgs,
        /// Description of the project
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// Kind of the project's warehouse, for example WAREHOUSE_A; sent in upper case
        #[arg(long, value_name = "KIND", value_parser = parse_name)]
        warehouse: String,
        /// Deployment type of the agent: HYBRID or FULL_SAAS
        #[arg(long, value_name = "TYPE", value_parser = parse_deployment_type)]
        agent_deployment_type: String,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Lists and creates the project's environments.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  sluicegate environments list\n  sluicegate environments create -f environment.yaml"
)]
pub struct EnvironmentsArgs {
    #[command(subcommand)]
    pub verb: EnvironmentsVerb,
}

/// Subcommands of `sluicegate environments`.
#[derive(Debug, Clone, Subcommand)]
pub enum EnvironmentsVerb {
    /// List environments
    #[command(after_help = "Example:\n  sluicegate environments list -o json")]
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Create an environment
    #[command(after_help = ENVIRONMENT)]
    Create {
        /// File with the environment, in YAML or JSON
        #[arg(short, long, value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Parses the deployment type of a project's agent.
fn parse_deployment_type(text: &str) -> Result<String, String> {
    parse_platform_value(text, &["HYBRID", "FULL_SAAS"])
}

/// Parses the authentication type of a connection.
fn parse_auth_type(text: &str) -> Result<String, String> {
    parse_platform_value(text, &["key_pair", "password"])
}

/// Creates warehouse connections for the project.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  sluicegate connections create dwh --warehouse WAREHOUSE_B")]
pub struct ConnectionsArgs {
    #[command(subcommand)]
    pub verb: ConnectionsVerb,
}

/// Subcommands of `sluicegate connections`.
#[derive(Debug, Clone, Subcommand)]
pub enum ConnectionsVerb {
    /// Create the default warehouse connection; its credentials belong to the environment
    #[command(after_help = "Example:\n  sluicegate connections create dwh --warehouse WAREHOUSE_B")]
    Create {
        #[command(flatten)]
        name: NameArgs,
        /// Kind of the project's warehouse; sent in lower case as authProvider, too
        #[arg(long, value_name = "KIND", value_parser = parse_name)]
        warehouse: String,
        /// Authentication type: key_pair or password [default: the type that the warehouse needs]
        #[arg(long, value_name = "TYPE", value_parser = parse_auth_type)]
        auth_type: Option<String>,
        /// Type of the connection to the warehouse, sent in the API field platformConnectionType
        #[arg(long, value_name = "TYPE", default_value = "dwh", value_parser = parse_name)]
        connection_type: String,
        #[command(flatten)]
        vocabulary: VocabularyArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Creates secrets in a full SaaS deployment.
#[derive(Debug, Clone, Args)]
#[command(after_help = SECRET)]
pub struct SecretsArgs {
    #[command(subcommand)]
    pub verb: SecretsVerb,
}

const SECRET: &str = "Example:
  sluicegate secrets create dwh-password --key password \\
      --agent-id b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60 \\
      --value-variable DWH_PASSWORD";

/// Subcommands of `sluicegate secrets`.
#[derive(Debug, Clone, Subcommand)]
pub enum SecretsVerb {
    /// Create a secret; its value comes from an environment variable or a file, never from a flag
    #[command(after_help = SECRET)]
    Create {
        /// ID of the agent that belongs to the project
        #[arg(long, value_name = "UUID")]
        agent_id: Uuid,
        #[command(flatten)]
        name: NameArgs,
        /// Type of the secret
        #[arg(long, value_name = "TYPE", default_value = "DWH_PASSWORD", value_parser = parse_name)]
        r#type: String,
        /// Name of the property that contains the secret's value
        #[arg(long, value_name = "KEY", value_parser = parse_new_name)]
        key: String,
        #[command(flatten)]
        value: ValueArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// The source of a secret's value.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct ValueArgs {
    /// Read the secret's value from this environment variable
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub value_variable: Option<String>,
    /// Read the secret's value from this file
    #[arg(long, value_name = "PATH")]
    pub value_file: Option<PathBuf>,
}

/// Creates the git repository of the project.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  sluicegate repositories create sales-pipelines --owner acme")]
pub struct RepositoriesArgs {
    #[command(subcommand)]
    pub verb: RepositoriesVerb,
}

/// Subcommands of `sluicegate repositories`.
#[derive(Debug, Clone, Subcommand)]
pub enum RepositoriesVerb {
    /// Create the project's repository; not available in a full SaaS deployment
    #[command(after_help = "Example:\n  sluicegate repositories create sales-pipelines --owner acme")]
    Create {
        /// Organization that owns the repository
        #[arg(long, value_name = "NAME", value_parser = parse_new_name)]
        owner: String,
        #[command(flatten)]
        name: NameArgs,
        /// Platform's name for the git provider [env: SLUICEGATE_GIT_PROVIDER] [default: git_provider_a]
        #[arg(long, value_name = "NAME", value_parser = parse_name)]
        git_provider: Option<String>,
        #[command(flatten)]
        output: OutputArgs,
    },
}
