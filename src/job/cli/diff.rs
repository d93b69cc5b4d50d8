//! `sluicegate diff`.

use super::{GlobArgs, RangeArgs};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate diff
  sluicegate diff origin/main..HEAD sales --callers
  sluicegate diff -o html --out changes.html

No rule is evaluated, and no platform is asked. Without --head and --staged, the files are those of the
working tree, as `check` has them. It ends in 0 whether anything changed or not, unless --exit-code is given.";

const BASE: &str = "Compare with the merge-base of this revision and the checked-out commit, or --head [env: SLUICEGATE_BASE] \
                    [default: detected, as for review]";
const HEAD: &str = "The files of this commit [env: SLUICEGATE_HEAD] [default: the working tree]";

/// Shows what changed in pipelines, by component.
#[derive(Debug, Clone, Default, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("base", |arg| arg.help(BASE)),
    mut_arg("head", |arg| arg.help(HEAD)),
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct DiffArgs {
    /// Files or folders that restrict what is shown, relative to the current folder; or first two revisions, A..B
    #[arg(value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    /// What is compared.
    #[command(flatten)]
    pub range: RangeArgs,
    /// The files as they are staged: what a commit would hold
    #[arg(long, conflicts_with = "head")]
    pub staged: bool,
    /// Two files, in a repository or not
    #[arg(
        long,
        num_args = 2,
        value_names = ["OLD", "NEW"],
        conflicts_with_all = ["paths", "base", "head", "staged", "deepen", "include", "exclude"],
    )]
    pub files: Vec<PathBuf>,
    /// As git calls an external diff: with its seven arguments, or nine of a rename. Always ends in 0, as any other code
    /// ends `git diff`; what is no pipeline is shown line by line
    #[arg(
        long,
        conflicts_with_all = ["files", "base", "head", "staged", "deepen", "include", "exclude", "exit_code", "output"],
    )]
    pub external: bool,
    /// Which of them.
    #[command(flatten)]
    pub globs: GlobArgs,
    /// Format of the output
    #[arg(
        short,
        long,
        visible_alias = "format",
        value_name = "FORMAT",
        default_value = "text"
    )]
    pub output: DiffFormat,
    /// Also list unchanged pipelines that call a changed one, directly or through other pipelines
    #[arg(long, conflicts_with_all = ["files", "external"])]
    pub callers: bool,
    /// End in 1 where something other than layout changed, or a file cannot be read
    #[arg(long)]
    pub exit_code: bool,
}

/// How a change is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// Words, a line for each thing that differs.
    #[default]
    Text,
    /// A page for a comment: a list, and a flowchart of the changed part.
    Markdown,
    /// One document with everything that differs.
    Json,
    /// One page with words and pictures, before and after in one.
    Html,
    /// A flowchart of the changed part of one pipeline, which GitHub and GitLab draw.
    Mermaid,
    /// One pipeline on its canvas, with what changed.
    Svg,
}
