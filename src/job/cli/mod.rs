//! The command line as plain structs, without behavior.
//!
//! Each value is an unresolved `Option`, so that `settings` can distinguish a missing flag from a given one and combine
//! flag, environment, file and default. The help of a flag states its environment variable, if it has one.

mod agent_fix;
mod artifacts;
mod attestation;
mod check;
mod ci;
mod command_tree;
mod compat;
mod context;
mod demo;
mod destinations;
mod diff;
mod events;
mod fix;
mod global;
mod help_examples;
#[cfg(test)]
mod help_headings;
mod help_topics;
mod joined_argument;
mod mv;
mod overview;
mod pipelines;
mod projects;
mod provision;
mod publish;
mod rejected_call;
mod remote;
mod report;
mod request_timeout;
mod review;
mod rules;
mod serve;
mod setting_list;
mod setup;
mod single_command;
mod smoke;
mod streaming;
mod synonyms;
mod tasks;
mod usage_error;
mod values;
mod variables;
mod verify;
mod waivers;

pub use agent_fix::{AgentFixArgs, ExtraTool};
pub use artifacts::{
    AddSharedPipelineArgs, ArtifactsArgs, ArtifactsDiffArgs, ArtifactsVerb, ComparedVersionsArgs,
    DisableArgs, ImpactArgs, OutputArgs, PrefixArgs, PruneArgs, SharedPipelinesArgs, SharedPipelinesVerb,
    VersionArgs,
};
pub use attestation::AttestationArgs;
pub use check::CheckArgs;
pub use ci::CiArgs;
pub use command_tree::{build_complete_tree, build_completions_tree, has_verdict_command, parse};
pub use compat::CompatArgs;
pub use context::ContextArgs;
pub use demo::DemoArgs;
pub use destinations::DestinationArgs;
pub use diff::{DiffArgs, DiffFormat};
pub use events::{EventsArgs, EventsVerb, ExportArgs};
pub use fix::FixArgs;
pub use global::GlobalArgs;
pub use global::HEADING as GLOBAL_OPTIONS_HEADING;
pub use help_topics::{EXIT_CODES, FILES, list_flag_variables};
pub use mv::MvArgs;
pub use overview::GLOBALS_COMMAND;
pub use pipelines::{CancelArgs, ExecutionsArgs, ExecutionsVerb, PipelinesArgs, PipelinesVerb, RunArgs};
pub use projects::{
    ConnectionsArgs, ConnectionsVerb, EnvironmentsArgs, EnvironmentsVerb, NameArgs, ProjectsArgs,
    ProjectsVerb, RepositoriesArgs, RepositoriesVerb, SecretsArgs, SecretsVerb, ValueArgs,
};
pub use provision::{ProvisionApplyArgs, ProvisionArgs, ProvisionVerb};
pub use publish::{PublishArgs, PublishFlags};
pub use rejected_call::RejectedCall;
pub use remote::{PaceArgs, VocabularyArgs};
pub use report::ReportArgs;
pub use review::{GateArgs, GlobArgs, RangeArgs, ReviewArgs, SelectionArgs};
pub use rules::{InspectArgs, RulesArgs, RulesVerb};
pub use serve::{AgentBehaviorFlag, ProjectFlag, ServeArgs, TokenFlag};
pub use setting_list::SettingsArgs;
pub use setup::{Adopt, CompletionsArgs, DoctorArgs, InitArgs, ManArgs, SchemaArgs, SchemaDocument};
pub use smoke::SmokeFlags;
pub use streaming::{StreamArgs, StreamingArgs, StreamingVerb};
pub use tasks::{
    ApprovalScope, CreateTaskArgs, DecideArgs, GrantArgs, ListTasksArgs, MessageArgs, TaskArgs, TasksArgs,
    TasksVerb, WaitArgs,
};
pub use usage_error::{describe_usage_error, find_requested_color};
pub use values::{
    Annotations, Changes, CheckLevel, ColorChoice, CompatMode, EventFormat, FailOn, FileSelection,
    FileSource, Fork, Format, GateChanges, IfExists, NoteFormat, OnIgnored, OnSmokeFailure, OnUnavailable,
    OutputFormat, ProjectCheckMode, ReportFlag, RequiredEngine, ReviewRequestFields, ShowMode,
    describe_invalid_path, parse_bool, parse_seconds, parse_value,
};
pub use variables::{ApplyArgs, FieldArgs, OverridesVerb, VariablesArgs, VariablesVerb};
pub use verify::VerifyArgs;
pub use waivers::{AddWaiverArgs, WaiversArgs, WaiversVerb};

use clap::{Parser, Subcommand};
use std::ffi::OsString;

/// The name of the program.
pub(crate) const PROGRAM: &str = "sluicegate";

/// Check pipelines (*.orch.yaml, *.tran.yaml) before a merge, publish them after it.
#[derive(Debug, Parser)]
#[command(name = PROGRAM, bin_name = PROGRAM, version)]
#[command(max_term_width = 110, after_help = EXAMPLES)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Command,
}

/// Returns whether the arguments, after the program's name, are only `--version` or `-V`. The caller then skips the
/// command tree, which takes half of the startup time.
#[must_use]
pub fn is_version_request(args: &[OsString]) -> bool {
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
    /// Review the changed pipelines with the platform's rules
    Review(ReviewArgs),
    /// Check the changed pipelines against the rules on this machine
    Check(CheckArgs),
    /// Render reports from saved JSON reports; merge shards of a review
    Report(ReportArgs),
    /// Publish the shared pipelines as a version of an artifact
    Publish(PublishArgs),
    /// Review; publish if the review passed and the branch or tag matches
    Ci(Box<CiArgs>),
    /// Check a published version against its receipt
    Verify(VerifyArgs),
    /// Show what changed in pipelines, component by component
    Diff(DiffArgs),
    /// Explain which commit, branch and base were detected, and why
    Context(ContextArgs),
    /// Write sluicegate.yaml and a CI job for this repository
    Init(InitArgs),
    /// Check the setup and explain how to fix it
    Doctor(DoctorArgs),
    /// Show each effective setting with its value and its origin
    Settings(SettingsArgs),
    /// List, show, enable, disable, roll back, prune or compare versions
    Artifacts(ArtifactsArgs),
    /// List the shared pipelines of the account; share a pipeline of the repository
    SharedPipelines(SharedPipelinesArgs),
    /// List or run published pipelines
    Pipelines(PipelinesArgs),
    /// Manage executions of pipelines: show, cancel
    Executions(ExecutionsArgs),
    /// Manage project variables and their overrides
    Variables(VariablesArgs),
    /// Manage streaming pipelines: create, start, stop, watch
    Streaming(StreamingArgs),
    /// Manage the agent's tasks: create, show, answer, stop
    Tasks(TasksArgs),
    /// Manage the account's projects: list, create
    Projects(ProjectsArgs),
    /// Manage the project's environments: list, create
    Environments(EnvironmentsArgs),
    /// Create warehouse connections for the project
    Connections(ConnectionsArgs),
    /// Create secrets for a full SaaS deployment
    Secrets(SecretsArgs),
    /// Create the project's git repository
    Repositories(RepositoriesArgs),
    /// Create a project with everything that belongs to it
    Provision(ProvisionArgs),
    /// Export audit events
    Events(EventsArgs),
    /// List or explain rules; create or lint their files; test team rules
    Rules(RulesArgs),
    /// Print the fields of a pipeline that team rules can use
    Inspect(InspectArgs),
    /// Allow findings: add, list or prune waivers
    Waivers(WaiversArgs),

    /// Fix findings with one correct value, or let the agent fix them
    Fix(Box<FixArgs>),

    /// Move a pipeline or script and update every reference to it
    Mv(MvArgs),
    /// Run a local platform on this machine
    Serve(ServeArgs),
    /// Run the workflow, from review to publish, on a sample project
    Demo(DemoArgs),
    /// Print the JSON Schema of sluicegate.yaml or of another document, for editors
    Schema(SchemaArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print a manual page, or write all pages to a directory
    Man(ManArgs),
}
