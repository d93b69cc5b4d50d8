//! Why nothing can be published, found before anything is sent.

use super::version::VersionError;
use crate::base::git::GitError;
use crate::model::pipelines::{ConfigFolderError, RULES_FILE, SHARED_PIPELINES_FILE};
use crate::model::yaml::DocumentError;
use std::fmt::{self, Write as _};
use std::path::PathBuf;

/// The most problems that a message lists.
const SHOWN: usize = 50;

/// A publish that cannot be planned. All but [`PublishError::Git`] concern the configuration:
/// they are for the user to set right.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// Git could not be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The version name or the prefix cannot be used.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// It is not known which folder is the platform's.
    #[error(transparent)]
    ConfigFolder(#[from] ConfigFolderError),
    #[error(
        "no hidden folder at the root of the repository holds `{SHARED_PIPELINES_FILE}` or `{RULES_FILE}`"
    )]
    NoConfigFolder,
    /// The shared-pipelines file is not there.
    #[error("the shared-pipelines file `{path}` is not in {place}")]
    NoSharedFile {
        path: String,
        /// The commit or the working tree.
        place: String,
    },
    /// The shared-pipelines file cannot be read.
    #[error("{path}{}: {}", line(error), error.message)]
    BadSharedFile {
        path: String,
        /// What is wrong with it, and where.
        error: DocumentError,
    },
    /// Something that a shared pipeline needs would not be published.
    #[error("the shared pipelines would not be whole:{}", listed(.0))]
    NotWhole(Vec<Problem>),
    /// Selected files that are symbolic links: what they point to may lie anywhere.
    #[error("symbolic links are not published:{}", listed(.0))]
    Symlinks(Vec<String>),
    /// Files whose parts would have the same name, each with its twin.
    #[error("the upload would have one name for two files:{}", listed(.0))]
    SameName(Vec<String>),
    /// Selected files of the working tree that git does not look at.
    #[error("git's index hides what is on disk (skip-worktree or assume-unchanged):{}", listed(.0))]
    Hidden(Vec<String>),
    /// Modified files of the working tree of which git would store other bytes.
    #[error(
        "git would store other bytes than are on disk (working-tree-encoding, filter or ident in .gitattributes):{}",
        listed(.0)
    )]
    Converted(Vec<String>),
    /// A file of the working tree could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
}

/// One thing that keeps a shared pipeline from being whole, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file that it stands in.
    pub path: String,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The component that names what is missing.
    pub component: Option<String>,
    pub what: String,
}

impl Problem {
    /// The file, with the line if it is known.
    pub(super) fn place(&self) -> String {
        self.line
            .map_or_else(|| self.path.clone(), |line| format!("{}:{line}", self.path))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())?;
        if let Some(component) = &self.component {
            return write!(f, ": component `{component}` {}", self.what);
        }
        write!(f, ": {}", self.what)
    }
}

fn line(error: &DocumentError) -> String {
    error
        .position
        .map(|position| format!(":{}:{}", position.line, position.column))
        .unwrap_or_default()
}

fn listed(items: &[impl fmt::Display]) -> String {
    let mut lines = String::new();
    for item in items.iter().take(SHOWN) {
        let _ = write!(lines, "\n  {item}");
    }
    if items.len() > SHOWN {
        let _ = write!(lines, "\n  and {} more", items.len() - SHOWN);
    }
    lines
}

impl PublishError {
    /// What the user can do, where there is something.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Git(error) => return error.hint(),
            Self::Version(VersionError::NoValue { name: "tag", .. }) => {
                "publish on a tag, or use another placeholder such as {short-sha}"
            }
            Self::Version(VersionError::NoValue { name: "next", .. }) => {
                "it is told only where a publish compares with what is published: without --compat off"
            }
            Self::Version(
                VersionError::NoValue { .. } | VersionError::Unknown { .. } | VersionError::Brace { .. },
            ) => {
                "the placeholders are {tag}, {branch}, {sha}, {short-sha}, {next}, {date}, {datetime} and {run-number}"
            }
            Self::Version(VersionError::Reserved) => {
                "name it by a number, a date or a tag: --version-name auto"
            }
            Self::Version(_) => {
                "name it in printable ASCII, without blanks at the ends: letters, digits and signs such as - . _ /"
            }
            Self::ConfigFolder(_) => "name the right one with --config-dir",
            Self::NoConfigFolder => "name the folder with --config-dir if it is elsewhere",
            Self::NoSharedFile { .. } => {
                "share a pipeline in the design tool and commit the file, or name its folder with --config-dir"
            }
            Self::BadSharedFile { .. } => "correct the file and commit it",
            Self::NotWhole(_) => {
                "commit what is missing, correct the names, or widen --include and --exclude"
            }
            Self::Symlinks(_) => "replace them by the files they point to, or leave them out with --exclude",
            Self::SameName(_) => {
                "rename one of them, or leave it out with --exclude: in the name of a part `\"` is %22, CR %0D and LF %0A"
            }
            Self::Hidden(_) => {
                "`git update-index --no-skip-worktree --no-assume-unchanged FILE` shows a file again; or publish what is \
                 committed: --from commit"
            }
            Self::Converted(_) => "commit them and publish what is committed: --from commit",
            Self::Io { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
