//! The resolved settings of a publish.

use clap::ValueEnum;
use sluicegate_pipelines::project::PublishGlobs;

/// Source of the files: the head commit, so that the commit hash is true, or the disk, without files that git ignores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum FileSource {
    /// The head commit.
    #[default]
    Commit,
    /// The working tree.
    Worktree,
}

/// Which of the selected files are published. They must include all that the enabled shared pipelines need.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum FileSelection {
    /// All selected files.
    #[default]
    All,
    /// Only files that the shared pipelines need.
    Closure,
}

impl FileSelection {
    /// Returns the name of this selection on the command line (`--select`) and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Closure => "closure",
        }
    }
}

/// The resolved settings of a publish.
pub struct PublishRequest<'a> {
    /// Group of shared pipelines, for the header `sharedPipelineIdPrefix`.
    pub prefix: String,
    /// Template of the version name, see [`super::version_name::expand_template`].
    pub version_template: String,
    pub globs: &'a dyn PublishGlobs,
    /// Which of the selected files are published.
    pub selection: FileSelection,
    /// The hidden directory at the root; searched for if `None`.
    pub config_dir: Option<String>,
    pub source: FileSource,
    /// Branch, for the metadata and the template.
    pub branch: Option<String>,
    /// Tag to publish, for the template.
    pub tag: Option<String>,
    /// Run number of the CI host, for the template.
    pub run_number: Option<String>,
    /// Name after that of the latest enabled version, for the template.
    pub next_version: Option<String>,
}

impl FileSource {
    /// Returns the name of this source on the command line (`--from`) and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Worktree => "worktree",
        }
    }
}
