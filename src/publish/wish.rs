//! What the user wants published.

use clap::ValueEnum;

/// Where the files come from: as they are in the head commit, so that the commit hash is true, or as they are on disk,
/// without what git ignores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Source {
    /// The head commit.
    #[default]
    Commit,
    /// The working tree.
    Worktree,
}

/// Which of the files that the globs select are taken. What the enabled shared pipelines need must be among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Select {
    /// All of them.
    #[default]
    All,
    /// Only what the shared pipelines need.
    Closure,
}

impl Select {
    /// The word for it on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Closure => "closure",
        }
    }
}

/// The settings of a publish, resolved.
pub struct Wish<'a> {
    /// The group of shared pipelines, the header `sharedPipelineIdPrefix`.
    pub prefix: String,
    /// The version name, a template, see [`super::version::expand`].
    pub version_template: String,
    /// Whether a path (from the repository root, with `/`) is among the files to take.
    pub include: &'a dyn Fn(&str) -> bool,
    /// Whether a path is to be left out, whatever asks for it: scripts are taken because a pipeline names them, and
    /// this can refuse them.
    pub exclude: &'a dyn Fn(&str) -> bool,
    /// Which of those are taken.
    pub select: Select,
    /// The platform's hidden folder at the root; found if none.
    pub config_dir: Option<String>,
    /// Where the files come from.
    pub source: Source,
    /// The branch, for the metadata and the template.
    pub branch: Option<String>,
    /// The tag that is published, for the template.
    pub tag: Option<String>,
    /// The CI host's number of this run, for the template.
    pub run_number: Option<String>,
    /// The name after that of the latest enabled version, for the template.
    pub next: Option<String>,
}

impl Source {
    /// The word for it on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Worktree => "worktree",
        }
    }
}

impl Wish<'_> {
    /// Whether the file is taken without anyone naming it.
    pub(super) fn selects(&self, path: &str) -> bool {
        (self.include)(path) && !(self.exclude)(path)
    }
}
