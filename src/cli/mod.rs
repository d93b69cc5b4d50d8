//! The command line: structs that say what can be asked, and nothing else.
//!
//! Values stay as they were typed, each an `Option`, so that `settings` can tell "not given" from "given" and lay
//! flag, environment, file and default over one another. Every flag that has a variable names it in its help.

mod artifacts;
mod check;
mod ci;
mod context;
mod demo;
mod global;
mod publish;
mod review;
mod rules;
mod serve;
mod setup;
mod values;
mod verify;

pub use artifacts::{
    ArtifactsArgs, ArtifactsVerb, DisableArgs, OutputArgs, PrefixArgs, PruneArgs, SharedPipelinesArgs,
    SharedPipelinesVerb, VersionArgs,
};
pub use check::CheckArgs;
pub use ci::CiArgs;
pub use context::ContextArgs;
pub use demo::DemoArgs;
pub use global::GlobalArgs;
pub use publish::{PublishArgs, PublishFlags};
pub use review::{GateArgs, ReviewArgs, SelectionArgs};
pub use rules::{RulesArgs, RulesVerb};
pub use serve::{ProjectFlag, ServeArgs, TokenFlag};
pub use setup::{CompletionsArgs, DoctorArgs, InitArgs, ManArgs, SchemaArgs};
pub use values::{
    Annotations, Color, FailOn, Fork, IfExists, OnIgnored, OnUnavailable, OutputFormat, PublishFrom,
    ReportFlag, ReportFormat, Select, parse_bool, parse_value,
};
pub use verify::VerifyArgs;

use clap::{Parser, Subcommand};

/// Reviews data pipelines before a merge, and publishes the shared ones after it.
#[derive(Debug, Parser)]
#[command(name = "sluicegate", version, propagate_version = true, max_term_width = 110, after_help = EXAMPLES)]
pub struct Cli {
    /// Flags that every command takes.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "Start here, without any account:
  sluicegate demo

On your own project, without any account:
  sluicegate check

For a job on your CI host:
  sluicegate init
  sluicegate doctor

In a CI job, with SLUICEGATE_BASE_URL, SLUICEGATE_PROJECT_ID, SLUICEGATE_AGENT_VERSION and SLUICEGATE_TOKEN set:
  sluicegate review --report junit=review.xml
  sluicegate publish --prefix sales --version-name auto
  sluicegate ci --prefix sales --version-name auto --publish-on-branch main";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Review the changed pipelines by the platform's rules, and decide
    Review(ReviewArgs),
    /// Check the pipelines by the same rules on this machine, without a platform
    Check(CheckArgs),
    /// Publish the shared pipelines as a version of an artifact
    Publish(PublishArgs),
    /// Review, and publish if that passed and the event says so
    Ci(CiArgs),
    /// Prove that what is published is what a receipt says
    Verify(VerifyArgs),
    /// Explain which commit, branch and base were detected, and why
    Context(ContextArgs),
    /// Write sluicegate.yaml and a CI job for this repository
    Init(InitArgs),
    /// Check everything that a job needs, and say what to do
    Doctor(DoctorArgs),
    /// Published artifact versions: list, show, enable, disable, rollback, prune
    Artifacts(ArtifactsArgs),
    /// Shared pipelines across the account: list
    SharedPipelines(SharedPipelinesArgs),
    /// The quality rules: list, explain, init, lint
    Rules(RulesArgs),
    /// Run the platform on this machine
    Serve(ServeArgs),
    /// Show the whole job on a small project of its own
    Demo(DemoArgs),
    /// Print the JSON Schema of sluicegate.yaml, for editors
    Schema(SchemaArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Write the manual pages to a folder
    Man(ManArgs),
}
