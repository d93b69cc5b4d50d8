//! `sluicegate diff`.

use super::{GlobArgs, RangeArgs};
use clap::builder::Resettable;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate diff
  sluicegate diff origin/main..HEAD sales --callers
  sluicegate diff -o html --out changes.html

The command does not evaluate rules or send requests to the platform.
Without --head and --staged, it reads the working tree, as `check` does.
Without --exit-code, it exits with code 0 even if pipelines changed.";

const BASE: &str = "Compare with the merge-base of this revision and the checked-out commit, or the commit that \
    --head names [env: SLUICEGATE_BASE] [default: detected, as for review]";
const HEAD: &str = "Compare the files of this commit [env: SLUICEGATE_HEAD] [default: the working tree]";

/// Shows the changes in pipelines, component by component.
#[derive(Debug, Clone, Default, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("base", |arg| arg.help(BASE)),
    mut_arg("head", |arg| arg.help(HEAD)),
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each field is the value of a separate flag"
)]
pub struct DiffArgs {
    /// Restrict the diff to these files or directories, relative to the current directory. To compare two commits, put
    /// A..B before the paths; an omitted side is HEAD
    #[arg(value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub range: RangeArgs,
    /// Compare the staged files: the content of the next commit
    #[arg(long, conflicts_with = "head")]
    pub staged: bool,
    /// Compare two files, inside or outside a repository
    #[arg(
        long,
        num_args = 2,
        value_names = ["OLD", "NEW"],
        conflicts_with_all = ["paths", "base", "head", "staged", "deepen", "include", "exclude"],
    )]
    pub files: Vec<PathBuf>,
    /// Run as git's external diff program, with its seven arguments (nine for a rename). Files that are not pipelines
    /// are shown line by line. Always exits with code 0, because any other code stops `git diff`
    #[arg(
        long,
        conflicts_with_all = ["files", "base", "head", "staged", "deepen", "include", "exclude", "exit_code", "output"],
    )]
    pub external: bool,
    #[command(flatten)]
    pub globs: GlobArgs,
    /// Output format
    #[arg(
        short,
        long,
        visible_alias = "format",
        value_name = "FORMAT",
        default_value = "text",
        help_heading = Resettable::Reset
    )]
    pub output: DiffFormat,
    /// Also list unchanged pipelines that call a changed pipeline, directly or through other pipelines
    #[arg(long, conflicts_with_all = ["files", "external"], help_heading = Resettable::Reset)]
    pub callers: bool,
    /// Exit with 1 if anything other than layout changed, or if a file cannot be read
    #[arg(long, help_heading = Resettable::Reset)]
    pub exit_code: bool,
}

impl DiffArgs {
    /// Returns the first flag that chooses the sides to compare, or fetches them.
    pub(crate) fn find_side_flag(&self) -> Option<&'static str> {
        let flags = [
            ("--staged", self.staged),
            ("--base", self.range.base.is_some()),
            ("--head", self.range.head.is_some()),
            ("--deepen", self.range.deepen),
        ];
        flags.iter().find(|(_, is_set)| *is_set).map(|(flag, _)| *flag)
    }
}

/// Output format of `sluicegate diff`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// Text, one line for each difference.
    #[default]
    Text,
    /// Markdown for a comment: a list, and a flowchart of the changed part.
    Markdown,
    /// JSON document with every difference.
    Json,
    /// HTML page with the changes as text, and with drawings that show the old and the new pipeline in one picture.
    Html,
    /// Mermaid flowchart of the changed part of one pipeline, which GitHub and GitLab render.
    Mermaid,
    /// SVG drawing of one pipeline's canvas with its changes.
    Svg,
}
