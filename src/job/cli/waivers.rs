//! `sluicegate waivers`.

use super::OutputArgs;
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

/// Findings that are allowed, kept in sluicegate-waivers.yaml.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct WaiversArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub verb: WaiversVerb,
}

/// What to do with waivers.
#[derive(Debug, Clone, Subcommand)]
pub enum WaiversVerb {
    /// Waive findings of today, as the files are on disk; the file is edited in place
    #[command(after_help = ADD_EXAMPLES)]
    Add(AddWaiverArgs),
    /// List the waivers: used, unused, expired, or not judged on this machine
    #[command(after_help = "Example:\n  sluicegate waivers list -o json")]
    List {
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Remove unused and expired waivers, as far as this machine can judge their files
    #[command(after_help = "Example:\n  sluicegate waivers prune")]
    Prune {
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// The flags of `sluicegate waivers add`.
#[derive(Debug, Clone, Args)]
pub struct AddWaiverArgs {
    /// The rule's id
    #[arg(required_unless_present_any = ["all", "from"], requires = "path", conflicts_with_all = ["all", "from"])]
    pub rule: Option<String>,
    /// A file, or a glob as in --include, from the repository root
    pub path: Option<String>,
    /// The component or variable [default: all findings of the rule there]
    pub about: Option<String>,
    /// Every finding of today that is not waived yet
    #[arg(long)]
    pub all: bool,
    /// Every finding of this JSON report that is not waived yet
    #[arg(long, value_name = "REPORT")]
    pub from: Option<PathBuf>,
    /// Why the findings are allowed
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// The last day (UTC) on which it holds, as 2027-03-31
    #[arg(long, value_name = "DATE")]
    pub until: Option<String>,
    /// Who answers for it
    #[arg(long, value_name = "NAME")]
    pub owner: Option<String>,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}
