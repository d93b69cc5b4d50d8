//! Commands that set up a repository or a machine: `init`, `doctor`, `schema`, `completions`, `man`.

use super::OutputArgs;
use crate::job::ci::Host;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use clap_complete::Shell;
use std::fmt;
use std::path::PathBuf;

const INIT_EXAMPLES: &str = "Examples:
  sluicegate init --dry-run
  sluicegate init --project-id 6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10 \\
      --agent-version 9.0.0
  sluicegate init --adopt new-only
  sluicegate init --host github --sign

The CI host is detected from existing CI files, or else from the URL of the remote. Existing files
are never overwritten.";

const DOCTOR_EXAMPLES: &str = "Examples:
  sluicegate doctor
  sluicegate doctor -o json | jq '.checks[] | select(.status == \"failed\")'

If no check failed, the exit code is 0. Otherwise, it is the exit code that a review or a publish
would have.";

const SCHEMA_EXAMPLES: &str = "Examples:
  sluicegate schema > sluicegate.schema.json
  sluicegate schema team-rules > sluicegate-rules.schema.json
  sluicegate schema attestation

To complete sluicegate.yaml in an editor with a YAML language server, start the file with the line
  # yaml-language-server: $schema=sluicegate.schema.json";

const COMPLETIONS_EXAMPLES: &str = "Examples:
  sluicegate completions bash \\
      > ~/.local/share/bash-completion/completions/sluicegate
  sluicegate completions zsh > ~/.zfunc/_sluicegate
  sluicegate completions fish > ~/.config/fish/completions/sluicegate.fish";

const MAN_EXAMPLES: &str = "Examples:
  sluicegate man review | man -l -
  sluicegate man --dir ~/.local/share/man/man1";

/// Creates a configuration file and a CI job for this repository.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = INIT_EXAMPLES)]
pub struct InitArgs {
    /// CI host to write the job for; `none` writes only sluicegate.yaml [default: detected]
    #[arg(long, value_name = "HOST", value_parser = PossibleValuesParser::new(list_job_host_names()))]
    pub host: Option<String>,
    /// Prefix of the artifact: its name on the platform, for example sales [env: SLUICEGATE_PREFIX] [default:
    /// the repository's name]
    #[arg(long, value_name = "P")]
    pub prefix: Option<String>,
    /// Source of sluicegate in the job: an action for GitHub and Gitea, an image for GitLab, the URL of the releases
    /// for other hosts [default: the official source]
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// How to introduce the gate in a repository that already has findings. Also writes a rules file with each rule at
    /// `error`
    #[arg(long, value_name = "HOW")]
    pub adopt: Option<Adopt>,
    /// Add steps to the job that sign statements about its reviews and publishes (GitHub only, with `actions/attest`)
    #[arg(long)]
    pub sign: bool,
    /// Set up `git diff` to show pipelines component by component, and do nothing else. Adds a git setting and two
    /// lines to .gitattributes
    #[arg(long, conflicts_with_all = ["host", "prefix", "source", "adopt", "sign", "output"])]
    pub git_diff: bool,
    /// Print the files without writing them
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Returns the valid values for the CI host of `init`: each host that a job can be written for, and `none` for no job.
fn list_job_host_names() -> impl Iterator<Item = &'static str> {
    let hosts = Host::ALL.iter().filter(|host| **host != Host::Unknown);
    hosts.map(|host| host.name())
}

/// How to introduce the gate in a repository that already has findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Adopt {
    /// Fail only on findings that a change introduces.
    NewOnly,
    /// Waive each existing finding in the waivers file.
    Waivers,
    /// Fail on every finding.
    Strict,
}

impl fmt::Display for Adopt {
    /// Writes the value of `--adopt` as the user types it, for use in messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_possible_value() {
            Some(value) => f.write_str(value.get_name()),
            None => Ok(()),
        }
    }
}

/// Checks the setup of a job and explains how to fix it.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub output: OutputArgs,
    /// Print JSON, as -o json does
    #[arg(long, conflicts_with = "output", hide = true)]
    pub json: bool,
}

/// Prints the JSON Schema of a document.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub struct SchemaArgs {
    /// Document whose JSON Schema to print
    #[arg(value_name = "DOCUMENT", default_value = "settings")]
    pub document: SchemaDocument,
}

/// A document with a JSON Schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum SchemaDocument {
    /// The configuration file, sluicegate.yaml.
    #[default]
    Settings,
    /// The file of team rules: sluicegate-rules.yaml.
    TeamRules,
    /// The output of `inspect -o json`.
    Pipeline,
    /// The waivers file: sluicegate-waivers.yaml.
    Waivers,
    /// The rules file: config/pipeline_quality_rules.yaml in the platform's hidden directory.
    Rules,
    /// The list of shared pipelines: shared-pipelines.yaml in the platform's hidden directory.
    SharedPipelines,
    /// The JSON report of a review or a check.
    Report,
    /// The receipt of a publish.
    Receipt,
    /// The statement that `--attestation` writes, with its predicate.
    Attestation,
    /// The file that `variables apply` reads.
    Variables,
    /// The file that `provision apply` reads.
    Provisioning,
    /// The state file that `provision apply` writes, FILE.state.json.
    ProvisionState,
    /// The cursor file that `events export` writes.
    Cursor,
    /// The output of `context -o json`.
    Context,
    /// The output of `settings -o json`.
    EffectiveSettings,
    /// The output of `doctor -o json`.
    Doctor,
    /// The output of `init -o json`.
    Init,
    /// The output of `diff -o json`.
    Diff,
    /// The output of `fix -o json`.
    Fix,
    /// The output of `fix --agent -o json`.
    AgentFix,
    /// The output of `fix --agent --plan -o json`.
    AgentPlan,
    /// The output of `review --dry-run -o json`.
    ReviewPlan,
    /// The output of `publish --dry-run -o json`.
    Plan,
    /// The output of `verify -o json`.
    Verification,
    /// The output of `artifacts diff -o json`.
    Interface,
    /// The output of `artifacts impact -o json`.
    Impact,
    /// The output of `rules explain -o json`.
    Rule,
    /// The output of `rules lint -o json`.
    Lint,
    /// The output of `rules test -o json`.
    RulesTest,
    /// The output of `rules new -o json`.
    RulesNew,
    /// The output of `rules init -o json`.
    RulesInit,
}

/// Prints a completion script.
#[derive(Debug, Clone, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// Shell to print the completion script for
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Prints a manual page.
#[derive(Debug, Clone, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManArgs {
    /// Command whose manual page to print, such as `artifacts list` [default: the program itself]
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Write all pages to this directory instead; create it if missing, and replace existing pages
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub dir: Option<PathBuf>,
}
