//! `sluicegate artifacts` and `sluicegate shared-pipelines`.

use super::values::parse_name;
use super::{NoteFormat, OutputFormat};
use clap::builder::Resettable;
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate artifacts list --prefix sales
  sluicegate artifacts rollback --prefix sales
  sluicegate artifacts diff --prefix sales -o markdown";

/// Manages published artifact versions.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct ArtifactsArgs {
    #[command(subcommand)]
    pub verb: ArtifactsVerb,
}

/// Subcommands of `sluicegate artifacts`.
#[derive(Debug, Clone, Subcommand)]
pub enum ArtifactsVerb {
    /// List published versions
    #[command(after_help = "Example:\n  sluicegate artifacts list --prefix sales -o json")]
    List {
        /// List only versions with this prefix [env: SLUICEGATE_PREFIX]
        #[arg(long, value_name = "P", value_parser = parse_name)]
        prefix: Option<String>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show one version and its shared pipelines
    #[command(after_help = "Example:\n  sluicegate artifacts show 1.4.0 --prefix sales")]
    Show {
        /// Version to show [default: the latest enabled version]
        #[arg(
            id = "artifact_version",
            value_name = "VERSION",
            conflicts_with = "version_name",
            value_parser = parse_name
        )]
        version: Option<String>,
        /// Prefix of the artifact: its name on the platform, for example sales [env: SLUICEGATE_PREFIX]
        #[arg(long, value_name = "P", value_parser = parse_name)]
        prefix: Option<String>,
        /// Pass the version with this flag instead of the argument VERSION
        #[arg(long, value_name = "V", value_parser = parse_name)]
        version_name: Option<String>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Enable a disabled version, so that consumers can use it again
    #[command(after_help = "Example:\n  sluicegate artifacts enable 1.4.0 --prefix sales")]
    Enable(VersionArgs),
    /// Disable a version; consumers of the latest version fall back to the previous enabled version
    #[command(after_help = "Example:\n  sluicegate artifacts disable 1.4.0 --prefix sales")]
    Disable(DisableArgs),
    /// Disable the newest enabled version, and show which version consumers now get
    #[command(after_help = "Example:\n  sluicegate artifacts rollback --prefix sales")]
    Rollback(PrefixArgs),
    /// Disable old versions, but keep the newest; without --yes, only list the versions to disable
    #[command(after_help = "Examples:\n  sluicegate artifacts prune --prefix sales --keep 5
  sluicegate artifacts prune --prefix sales --keep 5 --yes")]
    Prune(PruneArgs),
    /// Show the changes for consumers between two versions or revisions
    #[command(after_help = DIFF)]
    Diff(ArtifactsDiffArgs),
    /// List the components in local repositories that use a changed id or parameter of a shared pipeline
    #[command(after_help = IMPACT)]
    Impact(ImpactArgs),
}

const DIFF: &str = "Examples:
  sluicegate artifacts diff --prefix sales
  sluicegate artifacts diff 1.3.0 1.4.0 --prefix sales
  sluicegate artifacts diff 1.4.0 HEAD --prefix sales -o markdown

Versions are read from git, at their commits. If the clone lacks a commit, only pipeline IDs are
compared, and a note reports it.";

const IMPACT: &str = "Examples:
  sluicegate artifacts impact --prefix sales
  sluicegate artifacts impact 1.3.0 1.4.0 --prefix sales -o json

The command searches only the working trees passed with --repos, so consumers in other
repositories are not found.";

/// Flags for the two versions to compare.
#[derive(Debug, Clone, Args)]
pub struct ComparedVersionsArgs {
    /// Old version, or a git revision [default: the latest enabled version]
    #[arg(value_name = "FROM", value_parser = parse_name)]
    pub from: Option<String>,
    /// New version, or a git revision [default: the commit that is checked out]
    #[arg(value_name = "TO", value_parser = parse_name)]
    pub to: Option<String>,
    /// Prefix of the artifact: its name on the platform, for example sales [env: SLUICEGATE_PREFIX]
    #[arg(long, value_name = "P", value_parser = parse_name)]
    pub prefix: Option<String>,
    /// Fetch the missing commits of both versions with git; for shallow clones [env: SLUICEGATE_DEEPEN]
    #[arg(long)]
    pub deepen: bool,
}

/// Arguments of `sluicegate artifacts diff`.
#[derive(Debug, Clone, Args)]
pub struct ArtifactsDiffArgs {
    #[command(flatten)]
    pub versions: ComparedVersionsArgs,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: NoteFormat,
}

/// Arguments of `sluicegate artifacts impact`.
#[derive(Debug, Clone, Args)]
pub struct ImpactArgs {
    #[command(flatten)]
    pub versions: ComparedVersionsArgs,
    /// Working trees of the repositories to search for consumers [default: this repository]
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub repos: Vec<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `sluicegate artifacts disable`.
#[derive(Debug, Clone, Args)]
pub struct DisableArgs {
    #[command(flatten)]
    pub version: VersionArgs,
    /// Disable the version even if no other version is enabled, which breaks the version's consumers
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `sluicegate artifacts rollback`.
#[derive(Debug, Clone, Args)]
pub struct PrefixArgs {
    /// Prefix of the artifact: its name on the platform, for example sales [env: SLUICEGATE_PREFIX]
    #[arg(long, value_name = "P", value_parser = parse_name)]
    pub prefix: Option<String>,
    /// Disable the version even if a newer version is enabled, or if no other version is enabled, which breaks the
    /// version's consumers
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `sluicegate artifacts prune`.
#[derive(Debug, Clone, Args)]
pub struct PruneArgs {
    /// Prefix of the artifact: its name on the platform, for example sales [env: SLUICEGATE_PREFIX]
    #[arg(long, value_name = "P", value_parser = parse_name)]
    pub prefix: Option<String>,
    /// Number of newest enabled versions to keep, at least 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep: u32,
    /// List the versions to disable without disabling them (default without --yes)
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Disable the listed versions
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A prefix and one of its versions.
#[derive(Debug, Clone, Args)]
pub struct VersionArgs {
    #[command(flatten)]
    pub version: VersionNameArgs,
    /// Prefix of the artifact: its name on the platform, for example sales [env: SLUICEGATE_PREFIX]
    #[arg(long, value_name = "P", value_parser = parse_name)]
    pub prefix: Option<String>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The argument or the flag with the name of a version.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct VersionNameArgs {
    /// Name of the version
    #[arg(id = "artifact_version", value_name = "VERSION", value_parser = parse_name)]
    argument: Option<String>,
    /// Pass the version with this flag instead of the argument VERSION
    #[arg(long = "version-name", value_name = "V", value_parser = parse_name)]
    flag: Option<String>,
}

impl VersionNameArgs {
    /// Returns the version from the argument or the flag. Clap requires one of them, so the empty text is never used.
    pub fn version_name(&self) -> &str {
        self.argument
            .as_deref()
            .or(self.flag.as_deref())
            .unwrap_or_default()
    }
}

/// The `--output` flag of most commands.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct OutputArgs {
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", help_heading = Resettable::Reset)]
    pub output: OutputFormat,
}

const SHARED_EXAMPLES: &str = "Examples:
  sluicegate shared-pipelines list
  sluicegate shared-pipelines add 'sales/load orders.orch.yaml'";

const ADD_SHARED_EXAMPLES: &str = "Examples:
  sluicegate shared-pipelines add 'sales/load orders.orch.yaml'
  sluicegate shared-pipelines add 'sales/load orders.orch.yaml' --id orders";

/// Lists the account's shared pipelines, and shares pipelines of the repository.
#[derive(Debug, Clone, Args)]
#[command(after_help = SHARED_EXAMPLES)]
pub struct SharedPipelinesArgs {
    #[command(subcommand)]
    pub verb: SharedPipelinesVerb,
}

/// Subcommands of `sluicegate shared-pipelines`.
#[derive(Debug, Clone, Subcommand)]
pub enum SharedPipelinesVerb {
    /// Share a pipeline: add it to the shared-pipelines file, with its variables as parameters
    #[command(after_help = ADD_SHARED_EXAMPLES)]
    Add(AddSharedPipelineArgs),
    /// List shared pipelines with their latest version
    #[command(after_help = "Example:\n  sluicegate shared-pipelines list -o json")]
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Arguments of `sluicegate shared-pipelines add`.
#[derive(Debug, Clone, Args)]
pub struct AddSharedPipelineArgs {
    /// Pipeline to share, relative to the current directory
    pub path: PathBuf,
    /// ID that consumers use [default: derived from the file's name]
    #[arg(long, value_name = "ID", value_parser = parse_name)]
    pub id: Option<String>,
    #[command(flatten)]
    pub output: OutputArgs,
}
