//! `sluicegate rules`.

use super::OutputArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate rules list
  sluicegate rules explain unused-components -o json
  sluicegate rules lint";

/// The quality rules.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct RulesArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub verb: RulesVerb,
}

/// What to do with rules.
#[derive(Debug, Clone, Subcommand)]
pub enum RulesVerb {
    /// List the rules, and what the rules file of this repository says of each
    #[command(after_help = "Example:\n  sluicegate rules list -o json")]
    List {
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
        /// The reference of all rules, as Markdown
        #[arg(long, conflicts_with = "output")]
        markdown: bool,
    },
    /// Explain one rule: what it checks, why, what passes, what fails, how to configure it
    #[command(after_help = "Example:\n  sluicegate rules explain start-and-end-components")]
    Explain {
        /// The rule's id, as in the rules file
        id: String,
        /// How it is shown.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Write a rules file with all rules and comments; never over another one
    #[command(after_help = "Example:\n  sluicegate rules init --config-dir .platform")]
    Init,
    /// Check the rules file itself; exit 1 if something is wrong with it
    #[command(after_help = "Examples:\n  sluicegate rules lint\n  sluicegate rules lint other/rules.yaml")]
    Lint {
        /// The file [default: the one in the platform's hidden folder, as it is on disk]
        file: Option<PathBuf>,
        /// How it is shown.
        #[command(flatten)]
        output: OutputArgs,
    },
}
