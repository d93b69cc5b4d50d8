//! Commands for whoever sets a repository or a machine up: `init`, `doctor`, `schema`, `completions`, `man`.

use super::OutputArgs;
use clap::{Args, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

const INIT_EXAMPLES: &str = "Examples:
  sluicegate init --dry-run
  sluicegate init --project-id 6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10 \\
      --agent-version 9.0.0
  sluicegate init --adopt new-only

The host is told by the CI files that are there, else by the address of the remote. Nothing that exists is overwritten.";

const DOCTOR_EXAMPLES: &str = "Examples:
  sluicegate doctor
  sluicegate doctor -o json | jq '.checks[] | select(.status == \"failed\")'

Exit 0 if nothing failed, else the exit code that a review or a publish would end with.";

const SCHEMA_EXAMPLES: &str = "Example:
  sluicegate schema > sluicegate.schema.json

An editor with a YAML language server completes sluicegate.yaml if its first line is
  # yaml-language-server: $schema=sluicegate.schema.json";

const COMPLETIONS_EXAMPLES: &str = "Examples:
  sluicegate completions bash \\
      > ~/.local/share/bash-completion/completions/sluicegate
  sluicegate completions zsh > ~/.zfunc/_sluicegate
  sluicegate completions fish > ~/.config/fish/completions/sluicegate.fish";

const MAN_EXAMPLES: &str = "Example:
  sluicegate man ~/.local/share/man/man1 && man sluicegate-review";

/// Writes a configuration file and a CI job for this repository.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = INIT_EXAMPLES)]
pub struct InitArgs {
    /// The CI host to write the job for; none writes sluicegate.yaml alone [default: found]
    #[arg(long, value_name = "HOST", value_parser = [
        "github", "gitea", "gitlab", "azure", "bitbucket", "circleci", "buildkite", "jenkins", "none",
    ])]
    pub host: Option<String>,
    /// The artifact's shared pipeline prefix [env: SLUICEGATE_PREFIX] [default: the repository's name]
    #[arg(long, value_name = "P")]
    pub prefix: Option<String>,
    /// Where a job takes this program from: the action on GitHub and Gitea, the image on GitLab, Bitbucket and
    /// CircleCI, the address of the releases on Azure and Jenkins [default: a placeholder]
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// How a repository with findings takes the gate up; a rules file is written too, with each rule at `error`
    #[arg(long, value_name = "HOW")]
    pub adopt: Option<Adopt>,
    /// Have `git diff` show pipelines by component in this repository, and do nothing else: a setting of git and two
    /// lines in .gitattributes
    #[arg(long, conflicts_with_all = ["host", "prefix", "source", "adopt", "output"])]
    pub git_diff: bool,
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// How it is shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// How a repository with findings takes the gate up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Adopt {
    /// What a change brings counts, what was there before does not.
    NewOnly,
    /// Each finding of today is allowed by a line of a file.
    Waivers,
    /// Every finding counts.
    Strict,
}

/// Checks everything that a job needs, and says what to do for what is missing.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub struct DoctorArgs {
    /// How it is shown.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The same as -o json
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
}

/// Prints the JSON Schema of sluicegate.yaml.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub struct SchemaArgs {}

/// Prints a completion script.
#[derive(Debug, Clone, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Writes the manual pages.
#[derive(Debug, Clone, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManArgs {
    /// The folder; made if missing, pages in it are replaced
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}
