//! `sluicegate rules` and `sluicegate inspect`.

use super::OutputArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate rules list
  sluicegate rules explain unused-components -o json
  sluicegate rules lint
  sluicegate rules test";

/// Explains rules, and manages the rules file and the team rules.
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
        /// Print the documentation of all rules as Markdown
        #[arg(long, conflicts_with = "output")]
        markdown: bool,
    },
    /// Explain a rule: its purpose, passing and failing examples, and configuration
    #[command(after_help = "Example:\n  sluicegate rules explain start-and-end-components")]
    Explain {
        /// ID of the rule in the rules file; for a team rule, `team/ID`
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
    /// Add a team rule with comments and examples to sluicegate-rules.yaml; create the file if it is missing
    #[command(after_help = "Example:\n  sluicegate rules new no-python-in-production")]
    New {
        /// ID of the new rule: lowercase letters, digits and hyphens
        id: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Run the examples of the team rules; exit with code 1 if an example has an unexpected outcome
    #[command(
        after_help = "Examples:\n  sluicegate rules test\n  sluicegate rules test other/sluicegate-rules.yaml"
    )]
    Test {
        /// Team rules file [default: sluicegate-rules.yaml in the working tree; in CI, in the checked-out commit]
        file: Option<PathBuf>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Check the rules file and the team rules for mistakes; exit with code 1 if there are any
    #[command(after_help = "Examples:\n  sluicegate rules lint\n  sluicegate rules lint other/rules.yaml")]
    Lint {
        /// File to check [default: the rules file in the platform's hidden directory and sluicegate-rules.yaml, both
        /// from the working tree; in CI, from the checked-out commit]
        file: Option<PathBuf>,
        #[command(flatten)]
        output: OutputArgs,
    },
}

const INSPECT_EXAMPLES: &str = "Examples:
  sluicegate inspect sales/load.orch.yaml
  sluicegate inspect sales/load.orch.yaml -o json | jq .variables

The text has one line for each value, with its path as in an expression. The JSON has the schema
sluicegate.pipeline/v1, which `sluicegate schema pipeline` prints.";

/// Prints the fields of a pipeline that team rules can use.
#[derive(Debug, Clone, Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub struct InspectArgs {
    /// Pipeline to inspect, relative to the current directory
    pub file: PathBuf,
    #[command(flatten)]
    pub output: OutputArgs,
}
