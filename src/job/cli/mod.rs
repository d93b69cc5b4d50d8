//! The command line: structs that say what can be asked, and nothing else.
//!
//! Values stay as they were typed, each an `Option`, so that `settings` can tell "not given" from "given" and lay
//! flag, environment, file and default over one another. Every flag that has a variable names it in its help.

mod artifacts;
mod check;
mod ci;
mod compat;
mod context;
mod demo;
mod destinations;
mod diff;
mod events;
mod global;
mod moving;
mod overview;
mod pipelines;
mod projects;
mod provision;
mod publish;
mod remote;
mod report;
mod review;
mod rules;
mod serve;
mod setup;
mod shown;
mod streaming;
mod tasks;
mod values;
mod variables;
mod verify;
mod waivers;

pub use artifacts::{
    ArtifactsArgs, ArtifactsDiffArgs, ArtifactsVerb, DiffSidesArgs, DisableArgs, ImpactArgs, OutputArgs,
    PrefixArgs, PruneArgs, SharedPipelinesArgs, SharedPipelinesVerb, VersionArgs,
};
pub use check::CheckArgs;
pub use ci::CiArgs;
pub use compat::CompatArgs;
pub use context::ContextArgs;
pub use demo::DemoArgs;
pub use destinations::DestinationArgs;
pub use diff::{DiffArgs, DiffFormat};
pub use events::{EventsArgs, EventsVerb, ExportArgs};
pub use global::GlobalArgs;
pub use moving::MvArgs;
pub use pipelines::{CancelArgs, ExecutionsArgs, ExecutionsVerb, PipelinesArgs, PipelinesVerb, RunArgs};
pub use projects::{
    ConnectionsArgs, ConnectionsVerb, EnvironmentsArgs, EnvironmentsVerb, ProjectsArgs, ProjectsVerb,
    RepositoriesArgs, RepositoriesVerb, SecretsArgs, SecretsVerb, ValueArgs,
};
pub use provision::{ProvisionApplyArgs, ProvisionArgs, ProvisionVerb};
pub use publish::{PublishArgs, PublishFlags};
pub use remote::{PaceArgs, VocabularyArgs};
pub use report::ReportArgs;
pub use review::{GateArgs, GlobArgs, RangeArgs, ReviewArgs, SelectionArgs};
pub use rules::{RulesArgs, RulesVerb};
pub use serve::{ProjectFlag, ServeArgs, TokenFlag};
pub use setup::{Adopt, CompletionsArgs, DoctorArgs, InitArgs, ManArgs, SchemaArgs};
pub use shown::{command, completed, parse};
pub use streaming::{StreamArgs, StreamingArgs, StreamingVerb};
pub use tasks::{
    ApprovalScope, CreateTaskArgs, DecideArgs, GrantArgs, ListTasksArgs, MessageArgs, TaskArgs, TasksArgs,
    TasksVerb, WaitArgs,
};
pub use values::{
    Annotations, Changes, CheckLevel, ColorChoice, Compat, EventFormat, FailOn, Fork, Format, GateChanges,
    IfExists, NoteFormat, OnIgnored, OnUnavailable, OutputFormat, ProjectChecks, ReportFlag, RequiredEngine,
    ReviewRequestFields, Select, Show, Source, parse_bool, parse_seconds, parse_value,
};
pub use variables::{ApplyArgs, FieldArgs, OverridesVerb, VariablesArgs, VariablesVerb};
pub use verify::VerifyArgs;
pub use waivers::{AddWaiverArgs, WaiversArgs, WaiversVerb};

use clap::{Parser, Subcommand};
use std::ffi::OsString;

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

/// Whether the version is all that is asked for, so that the tree of commands, half of a start's time, need not be built.
/// `args` begin with the program's name.
#[must_use]
pub fn asks_only_for_version(args: &[OsString]) -> bool {
    matches!(args, [_, only] if only == "--version" || only == "-V")
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
    /// Make reports again from JSON reports, several parts of a review as one
    Report(ReportArgs),
    /// Publish the shared pipelines as a version of an artifact
    Publish(PublishArgs),
    /// Review, and publish if that passed and the event says so
    Ci(Box<CiArgs>),
    /// Prove that what is published is what a receipt says
    Verify(VerifyArgs),
    /// Show what changed in pipelines, by component
    Diff(DiffArgs),
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
    /// Published pipelines: list, run
    Pipelines(PipelinesArgs),
    /// Executions of pipelines: show, cancel
    Executions(ExecutionsArgs),
    /// Project variables: list, create, update, delete, apply, overrides
    Variables(VariablesArgs),
    /// Streaming pipelines: create, show, start, stop, status
    Streaming(StreamingArgs),
    /// Tasks of the agent: create, list, show, messages, send, decide, stop, delete, permissions
    Tasks(TasksArgs),
    /// Projects of the account: list, create
    Projects(ProjectsArgs),
    /// Environments of the project: list, create
    Environments(EnvironmentsArgs),
    /// Warehouse connections of the project: create
    Connections(ConnectionsArgs),
    /// Secrets of the full SaaS deployment: create
    Secrets(SecretsArgs),
    /// The project's git repository: create
    Repositories(RepositoriesArgs),
    /// A project with all that belongs to it: apply
    Provision(ProvisionArgs),
    /// Audit events: export
    Events(EventsArgs),
    /// The quality rules: list, explain, init, lint
    Rules(RulesArgs),
    /// The findings that are allowed: add, list, prune
    Waivers(WaiversArgs),
    /// Move a pipeline, script or directory and update every reference to it
    Mv(MvArgs),
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
