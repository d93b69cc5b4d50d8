//! `sluicegate variables`.

use super::OutputArgs;
use super::values::parse_bool;
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

What an entry does not say stays as it is. A second run changes nothing.";

/// Project variables.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct VariablesArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub verb: VariablesVerb,
}

/// What to do with project variables.
#[derive(Debug, Clone, Subcommand)]
pub enum VariablesVerb {
    /// List them
    #[command(after_help = "Example:\n  sluicegate variables list -o json")]
    List {
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Make one
    #[command(
        after_help = "Example:\n  sluicegate variables create tries --type NUMBER --behaviour COPIED --value 3"
    )]
    Create {
        /// Its name, which never changes
        name: String,
        /// What it has.
        #[command(flatten)]
        fields: FieldArgs,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Change one; what is not given stays
    #[command(after_help = "Example:\n  sluicegate variables update days --value 60")]
    Update {
        /// Its name
        name: String,
        /// What it is to have.
        #[command(flatten)]
        fields: FieldArgs,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Delete one, with all its overrides
    #[command(after_help = "Example:\n  sluicegate variables delete days")]
    Delete {
        /// Its name
        name: String,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Make the project as a file says; the difference is shown first
    #[command(after_help = APPLY)]
    Apply(ApplyArgs),
    /// Their values in single environments: list, set, unset
    #[command(after_help = "Example:\n  sluicegate variables overrides set region production=us")]
    Overrides {
        /// What to do with them.
        #[command(subcommand)]
        verb: OverridesVerb,
    },
}

/// The fields of a variable.
#[derive(Debug, Clone, Default, Args)]
pub struct FieldArgs {
    /// TEXT or NUMBER
    #[arg(long, value_name = "TYPE")]
    pub r#type: Option<String>,
    /// SHARED or COPIED
    #[arg(long, value_name = "BEHAVIOUR")]
    pub behaviour: Option<String>,
    /// Its value; a number where the type is NUMBER
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub value: Option<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Whether its value may name variables in turn: true or false
    #[arg(long, value_name = "BOOL", value_parser = parse_bool)]
    pub double_resolution: Option<bool>,
}

/// Make the project as a file says.
#[derive(Debug, Clone, Args)]
pub struct ApplyArgs {
    /// The file, YAML or JSON
    #[arg(short, long, value_name = "FILE")]
    pub file: PathBuf,
    /// Only show the difference
    #[arg(long)]
    pub dry_run: bool,
    /// Delete variables that the file does not have, and overrides that an entry with `overrides` does not have
    #[arg(long)]
    pub prune: bool,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What to do with overrides.
#[derive(Debug, Clone, Subcommand)]
pub enum OverridesVerb {
    /// List them
    #[command(after_help = "Example:\n  sluicegate variables overrides list region")]
    List {
        /// The variable
        name: String,
        /// Only the one in this environment
        #[arg(long, value_name = "NAME")]
        environment: Option<String>,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Set them, there or not
    #[command(after_help = "Example:\n  sluicegate variables overrides set region production=us test=eu")]
    Set {
        /// The variable
        name: String,
        /// Where it is to have which value
        #[arg(value_name = "ENVIRONMENT=VALUE", required = true, value_parser = parse_pair)]
        values: Vec<(String, String)>,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Take them away
    #[command(after_help = "Example:\n  sluicegate variables overrides unset region production")]
    Unset {
        /// The variable
        name: String,
        /// Where
        #[arg(value_name = "ENVIRONMENT", required = true)]
        environments: Vec<String>,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// `NAME=VALUE`, parted at the first `=`.
fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("{text:?} is not ENVIRONMENT=VALUE")),
    }
}
