//! `sluicegate variables`.

use super::OutputArgs;
use super::values::{parse_bool, parse_name, parse_new_name, parse_pair, parse_platform_value};
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate variables list
  sluicegate variables create market --type TEXT --behaviour SHARED --value eu
  sluicegate variables apply -f variables.yaml --dry-run";

const APPLY: &str = "Examples:
  sluicegate variables apply -f variables.yaml --dry-run
  sluicegate variables apply -f variables.yaml --prune

The file, YAML or JSON:
  variables:
    region:
      type: TEXT
      behaviour: SHARED
      value: eu
      overrides:
        production: us

A key that an entry omits keeps its value on the platform. A second run changes nothing.";

/// Manages the variables of a project and their overrides.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct VariablesArgs {
    #[command(subcommand)]
    pub verb: VariablesVerb,
}

/// Subcommands of `sluicegate variables`.
#[derive(Debug, Clone, Subcommand)]
pub enum VariablesVerb {
    /// List variables
    #[command(after_help = "Example:\n  sluicegate variables list -o json")]
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Create a variable
    #[command(
        after_help = "Example:\n  sluicegate variables create tries --type NUMBER --behaviour COPIED --value 3"
    )]
    Create {
        /// Name of the variable, which cannot be changed later
        #[arg(value_parser = parse_new_name)]
        name: String,
        #[command(flatten)]
        fields: FieldArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Change a variable; fields that are not given keep their value
    #[command(after_help = "Example:\n  sluicegate variables update days --value 60")]
    Update {
        /// Name of the variable
        name: String,
        #[command(flatten)]
        fields: FieldArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Delete a variable and all its overrides
    #[command(after_help = "Example:\n  sluicegate variables delete days")]
    Delete {
        /// Name of the variable
        name: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Make the project's variables match a file; prints the differences first
    #[command(after_help = APPLY)]
    Apply(ApplyArgs),
    /// List, set or unset the values of a variable in individual environments
    #[command(after_help = "Example:\n  sluicegate variables overrides set region production=us")]
    Overrides {
        #[command(subcommand)]
        verb: OverridesVerb,
    },
}

/// Parses the type of a variable.
fn parse_type(text: &str) -> Result<String, String> {
    parse_platform_value(text, &["TEXT", "NUMBER"])
}

/// Parses the behavior of a variable.
fn parse_behaviour(text: &str) -> Result<String, String> {
    parse_platform_value(text, &["SHARED", "COPIED"])
}

/// The fields of a variable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct FieldArgs {
    /// Type of the variable: TEXT or NUMBER
    #[arg(long, value_name = "TYPE", value_parser = parse_type)]
    pub r#type: Option<String>,
    /// Behavior of the variable: SHARED or COPIED
    #[arg(long, value_name = "BEHAVIOUR", value_parser = parse_behaviour)]
    pub behaviour: Option<String>,
    /// Default value; must be a number if the type is NUMBER
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub value: Option<String>,
    /// Description of the variable
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Whether to resolve variables in the value: true or false
    #[arg(long, value_name = "BOOL", value_parser = parse_bool)]
    pub double_resolution: Option<bool>,
}

/// Arguments of `sluicegate variables apply`.
#[derive(Debug, Clone, Args)]
pub struct ApplyArgs {
    /// File with the variables, in YAML or JSON
    #[arg(short, long, value_name = "FILE")]
    pub file: PathBuf,
    /// Print the differences without applying them
    #[arg(long)]
    pub dry_run: bool,
    /// Delete variables that are not in the file, and overrides that are not in an entry's `overrides`
    #[arg(long)]
    pub prune: bool,
    /// Accept types and behaviours that neither the API document nor the project has
    #[arg(long)]
    pub allow_unknown: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Subcommands of `sluicegate variables overrides`.
#[derive(Debug, Clone, Subcommand)]
pub enum OverridesVerb {
    /// List the overrides of a variable
    #[command(after_help = "Example:\n  sluicegate variables overrides list region")]
    List {
        /// Name of the variable
        name: String,
        /// List only the override in this environment
        #[arg(long, value_name = "NAME", value_parser = parse_name)]
        environment: Option<String>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Create or replace overrides of a variable
    #[command(after_help = "Example:\n  sluicegate variables overrides set region production=us test=eu")]
    Set {
        /// Name of the variable
        name: String,
        /// Environments and the variable's value in each environment
        #[arg(value_name = "ENVIRONMENT=VALUE", required = true, value_parser = parse_pair)]
        values: Vec<(String, String)>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Remove overrides of a variable
    #[command(after_help = "Example:\n  sluicegate variables overrides unset region production")]
    Unset {
        /// Name of the variable
        name: String,
        /// Environments to remove the override from
        #[arg(value_name = "ENVIRONMENT", required = true)]
        environments: Vec<String>,
        #[command(flatten)]
        output: OutputArgs,
    },
}
