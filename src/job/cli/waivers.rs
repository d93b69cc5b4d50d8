//! `sluicegate waivers`.

use super::OutputArgs;
use super::values::parse_name;
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate waivers add --all --reason 'found before the gate'
  sluicegate waivers list
  sluicegate waivers prune";

const ADD_EXAMPLES: &str = "Examples:
  sluicegate waivers add component-naming-convention 'sales/**' \\
    --reason 'named by the old warehouse' --until 2099-03-31
  sluicegate waivers add --all --reason 'found before the gate' --owner sales";

/// Manages the waivers in sluicegate-waivers.yaml.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct WaiversArgs {
    #[command(subcommand)]
    pub verb: WaiversVerb,
}

/// Subcommands of `sluicegate waivers`.
#[derive(Debug, Clone, Subcommand)]
pub enum WaiversVerb {
    /// Waive current findings in the working tree; edit the waivers file in place
    #[command(after_help = ADD_EXAMPLES)]
    Add(AddWaiverArgs),
    /// List the waivers with their state: used, exceeded, unused, expired, or not judged
    #[command(after_help = "Example:\n  sluicegate waivers list -o json")]
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Remove unused and expired waivers for files that can be checked locally
    #[command(after_help = "Example:\n  sluicegate waivers prune")]
    Prune {
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// The flags of `sluicegate waivers add`.
#[derive(Debug, Clone, Args)]
pub struct AddWaiverArgs {
    /// ID of the rule to waive
    #[arg(required_unless_present_any = ["all", "from"], requires = "path", conflicts_with_all = ["all", "from"])]
    pub rule: Option<String>,
    /// File or glob to waive the rule for, relative to the repository root
    pub path: Option<String>,
    /// Component or variable to waive the rule for [default: all findings of the rule at PATH]
    pub about: Option<String>,
    /// Waive every current finding that is not waived yet
    #[arg(long, conflicts_with = "from")]
    pub all: bool,
    /// Waive every finding in this JSON report that is not waived yet
    #[arg(long, value_name = "REPORT")]
    pub from: Option<PathBuf>,
    /// Reason for the waiver
    #[arg(long, value_name = "TEXT", value_parser = parse_name)]
    pub reason: String,
    /// Last day (UTC) on which the waiver is valid, for example 2027-03-31
    #[arg(long, value_name = "DATE")]
    pub until: Option<String>,
    /// Person or team responsible for the waiver
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub owner: Option<String>,
    #[command(flatten)]
    pub output: OutputArgs,
}
