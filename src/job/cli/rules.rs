//! `sluicegate rules`.

use super::OutputArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate rules list
  sluicegate rules explain unused-components -o json
  sluicegate rules lint";

/// Commands for the quality rules and the rules file.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct RulesArgs {
    #[command(subcommand)]
    pub verb: RulesVerb,
}

/// Subcommands of `sluicegate rules`.
#[derive(Debug, Clone, Subcommand)]
pub enum RulesVerb {
    /// List the rules with their settings in this repository's rules file
    #[command(after_help = "Example:\n  sluicegate rules list -o json")]
    List {
        #[command(flatten)]
        output: OutputArgs,
        /// Print the reference of all rules as Markdown
        #[arg(long, conflicts_with = "output")]
        markdown: bool,
    },
    /// Explain a rule: its purpose, passing and failing examples, and configuration
    #[command(after_help = "Example:\n  sluicegate rules explain start-and-end-components")]
    Explain {
        /// Rule ID, as in the rules file
        id: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Create a rules file with all rules and comments; an existing file is never overwritten
    #[command(after_help = "Example:\n  sluicegate rules init --config-dir .platform")]
    Init {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Check the rules file for mistakes; exit with 1 if it has any
    #[command(after_help = "Examples:\n  sluicegate rules lint\n  sluicegate rules lint other/rules.yaml")]
    Lint {
        /// Rules file to check [default: the one in the platform's hidden folder, on disk; in CI in the commit]
        file: Option<PathBuf>,
        #[command(flatten)]
        output: OutputArgs,
    },
}
