//! `sluicegate artifacts` and `sluicegate shared-pipelines`.

use super::{NoteFormat, OutputFormat};
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate artifacts list --prefix sales
  sluicegate artifacts rollback --prefix sales
  sluicegate artifacts diff --prefix sales -o markdown";

/// Published artifact versions.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct ArtifactsArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub verb: ArtifactsVerb,
}

/// What to do with artifact versions.
#[derive(Debug, Clone, Subcommand)]
pub enum ArtifactsVerb {
    /// List the published versions
    #[command(after_help = "Example:\n  sluicegate artifacts list --prefix sales -o json")]
    List {
        /// Only versions of this prefix [env: SLUICEGATE_PREFIX]
        #[arg(long, value_name = "P")]
        prefix: Option<String>,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show one version and its shared pipelines; without a version, what the latest is
    #[command(after_help = "Example:\n  sluicegate artifacts show --prefix sales --version-name 1.4.0")]
    Show {
        /// The prefix [env: SLUICEGATE_PREFIX]
        #[arg(long, value_name = "P")]
        prefix: Option<String>,
        /// The version [default: the most recent enabled one]
        #[arg(long, value_name = "V")]
        version_name: Option<String>,
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Make a version available to consumers again
    #[command(after_help = "Example:\n  sluicegate artifacts enable --prefix sales --version-name 1.4.0")]
    Enable(VersionArgs),
    /// Take a version away from consumers; those on the latest fall back to the previous enabled one
    #[command(after_help = "Example:\n  sluicegate artifacts disable --prefix sales --version-name 1.4.0")]
    Disable(DisableArgs),
    /// Disable the newest enabled version, and say what consumers get now
    #[command(after_help = "Example:\n  sluicegate artifacts rollback --prefix sales")]
    Rollback(PrefixArgs),
    /// Disable all enabled versions but the newest ones; without --yes it only says which
    #[command(after_help = "Examples:\n  sluicegate artifacts prune --prefix sales --keep 5
  sluicegate artifacts prune --prefix sales --keep 5 --yes")]
    Prune(PruneArgs),
    /// Show what changed for consumers from one version or revision to another
    #[command(after_help = DIFF)]
    Diff(ArtifactsDiffArgs),
    /// List the components of repositories at hand that run a shared pipeline which changed
    #[command(after_help = IMPACT)]
    Impact(ImpactArgs),
}

const DIFF: &str = "Examples:
  sluicegate artifacts diff --prefix sales
  sluicegate artifacts diff 1.3.0 1.4.0 --prefix sales
  sluicegate artifacts diff 1.4.0 HEAD --prefix sales -o markdown

Versions are read from git at their commits; where the clone lacks one, only ids are compared, which is said.";

const IMPACT: &str = "Examples:
  sluicegate artifacts impact --prefix sales
  sluicegate artifacts impact 1.3.0 1.4.0 --prefix sales -o json

Looked through are the pipelines of the working trees that are given, and nothing else: who else runs the shared
pipelines is not known here.";

/// What is compared.
#[derive(Debug, Clone, Args)]
pub struct DiffSidesArgs {
    /// The old version, or a revision [default: the latest enabled version]
    #[arg(value_name = "FROM")]
    pub from: Option<String>,
    /// The new version, or a revision [default: the commit that is checked out]
    #[arg(value_name = "TO")]
    pub to: Option<String>,
    /// The prefix [env: SLUICEGATE_PREFIX]
    #[arg(long, value_name = "P")]
    pub prefix: Option<String>,
    /// Fetch the commits of versions that the clone lacks, with git [env: SLUICEGATE_DEEPEN]
    #[arg(long)]
    pub deepen: bool,
}

/// Two versions, and how what changed between them is shown.
#[derive(Debug, Clone, Args)]
pub struct ArtifactsDiffArgs {
    /// What is compared.
    #[command(flatten)]
    pub sides: DiffSidesArgs,
    /// Text for people, json, or markdown for a release
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: NoteFormat,
}

/// Two versions, and where consumers are looked for.
#[derive(Debug, Clone, Args)]
pub struct ImpactArgs {
    /// What is compared.
    #[command(flatten)]
    pub sides: DiffSidesArgs,
    /// The repositories to look through, as they are on disk [default: this one]
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub repos: Vec<PathBuf>,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A version to disable.
#[derive(Debug, Clone, Args)]
pub struct DisableArgs {
    /// Which one.
    #[command(flatten)]
    pub version: VersionArgs,
    /// Also if no enabled version is left, so that consumers fail when they run
    #[arg(long)]
    pub force: bool,
}

/// One prefix.
#[derive(Debug, Clone, Args)]
pub struct PrefixArgs {
    /// The prefix [env: SLUICEGATE_PREFIX]
    #[arg(long, value_name = "P")]
    pub prefix: Option<String>,
    /// Also if no enabled version is left, so that consumers fail when they run
    #[arg(long)]
    pub force: bool,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// How many versions of a prefix to keep enabled.
#[derive(Debug, Clone, Args)]
pub struct PruneArgs {
    /// The prefix [env: SLUICEGATE_PREFIX]
    #[arg(long, value_name = "P")]
    pub prefix: Option<String>,
    /// How many of the newest enabled versions stay enabled, at least 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep: u32,
    /// Only say which versions would be disabled; so it is without --yes
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Disable them
    #[arg(long)]
    pub yes: bool,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// One version of one prefix.
#[derive(Debug, Clone, Args)]
pub struct VersionArgs {
    /// The prefix [env: SLUICEGATE_PREFIX]
    #[arg(long, value_name = "P")]
    pub prefix: Option<String>,
    /// The version
    #[arg(long, value_name = "V")]
    pub version_name: String,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// How a result is shown.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct OutputArgs {
    /// Format of the output
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: OutputFormat,
}

/// Shared pipelines across the account.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  sluicegate shared-pipelines list")]
pub struct SharedPipelinesArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub verb: SharedPipelinesVerb,
}

/// What to do with shared pipelines.
#[derive(Debug, Clone, Subcommand)]
pub enum SharedPipelinesVerb {
    /// List them, with the latest version of each
    #[command(after_help = "Example:\n  sluicegate shared-pipelines list -o json")]
    List {
        /// How to show it.
        #[command(flatten)]
        output: OutputArgs,
    },
}
