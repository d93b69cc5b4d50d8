//! The errors of a publish that are found before anything is sent.

use super::version_name::VersionNameError;
use sluicegate_base::file_defect::FileDefect;
use sluicegate_base::text::{List, format_path};
use sluicegate_git::GitError;
use sluicegate_pipelines::pipelines::{ConfigDirError, RULES_FILE, SHARED_PIPELINES_FILE};
use sluicegate_yaml::{DocumentError, format_place};
use std::fmt;
use std::path::PathBuf;

/// Maximum number of problems that a message lists.
const MAX_LISTED_PROBLEMS: usize = 50;

/// An error while a publish is planned. All but [`PublishError::Git`] concern the configuration, which the user has to
/// correct.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// Git could not be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The version name or the prefix cannot be used.
    #[error(transparent)]
    Version(#[from] VersionNameError),
    /// The hidden directory cannot be determined.
    #[error(transparent)]
    ConfigDir(#[from] ConfigDirError),
    #[error(
        "no hidden directory at the repository root contains `{SHARED_PIPELINES_FILE}` or `{RULES_FILE}`"
    )]
    NoConfigDir,
    /// The shared-pipelines file does not exist.
    #[error("the shared-pipelines file `{path}` is not in {place}{}", describe_other_path(other_path.as_deref()))]
    NoSharedFile {
        path: String,
        /// The commit or the working tree.
        place: String,
        /// The path of such a file in another hidden directory.
        other_path: Option<String>,
    },
    /// The shared-pipelines file cannot be read.
    #[error("{}: {}", format_place(path, error.position), error.message)]
    BadSharedFile {
        path: String,
        /// The problem and its position.
        error: DocumentError,
    },
    /// Files that a shared pipeline needs would not be published.
    #[error("the shared pipelines would be incomplete:")]
    Incomplete(Vec<SharedPipelineProblem>),
    /// The shared-pipelines file declares parameters that are not variables of their pipelines.
    #[error("the shared-pipelines file declares parameters that are not variables:")]
    UndeclaredParameters(Vec<SharedPipelineProblem>),
    /// Files whose content does not match their name, with the defect of the first file.
    #[error("files whose content does not match their name are not published:")]
    Unusable {
        problems: Vec<SharedPipelineProblem>,
        defect: FileDefect,
    },
    /// Selected files that are symbolic links. Their targets may be anywhere.
    #[error("symbolic links are not published:")]
    Symlinks(Vec<String>),
    /// Pairs of files whose upload parts would have the same name.
    #[error("two files would have the same name in the upload:")]
    SamePartName(Vec<String>),
    /// Selected files of the working tree that git ignores changes of.
    #[error("git's index hides the state on disk (skip-worktree or assume-unchanged):")]
    HiddenByIndex(Vec<String>),
    /// Modified files of the working tree that git would store with other bytes.
    #[error(
        "git would store different bytes than those on disk (working-tree-encoding, filter or ident in .gitattributes):"
    )]
    ConvertedByGit(Vec<String>),
    /// A file of the working tree could not be read.
    #[error("could not read {}: {source}", format_path(path))]
    Io { path: PathBuf, source: std::io::Error },
}

/// A problem that makes a shared pipeline incomplete, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPipelineProblem {
    /// Path of the file with the problem.
    pub path: String,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The component with the broken reference.
    pub component: Option<String>,
    pub description: String,
}

impl SharedPipelineProblem {
    /// Returns the location of the problem: the path, with the line if it is known.
    pub(super) fn format_location(&self) -> String {
        self.line
            .map_or_else(|| self.path.clone(), |line| format!("{}:{line}", self.path))
    }
}

impl fmt::Display for SharedPipelineProblem {
    /// Writes the problem as a line: its location, the component if it concerns one, and the description.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format_location())?;
        if let Some(component) = &self.component {
            return write!(f, ": component `{component}` {}", self.description);
        }
        write!(f, ": {}", self.description)
    }
}

/// Returns the first items as texts, and then one with the number of omitted items.
fn list_entries(items: &[impl fmt::Display]) -> Vec<String> {
    List::with_limit(items, MAX_LISTED_PROBLEMS).entries().collect()
}

/// Returns the end of the message about a missing shared-pipelines file if another hidden directory has one.
fn describe_other_path(other_path: Option<&str>) -> String {
    other_path
        .map(|path| format!(", but `{path}` is"))
        .unwrap_or_default()
}

impl PublishError {
    /// Returns the files or problems that the message announces; empty for a message that is complete.
    pub fn list_details(&self) -> Vec<String> {
        match self {
            Self::Incomplete(problems)
            | Self::UndeclaredParameters(problems)
            | Self::Unusable { problems, .. } => list_entries(problems),
            Self::Symlinks(names)
            | Self::SamePartName(names)
            | Self::HiddenByIndex(names)
            | Self::ConvertedByGit(names) => list_entries(names),
            _ => Vec::new(),
        }
    }

    /// Returns the message with a line for each detail. The text is not escaped.
    pub fn to_full_text(&self) -> String {
        let details = self.list_details();
        details
            .iter()
            .fold(self.to_string(), |text, detail| text + "\n  " + detail)
    }

    /// Returns an instruction that tells the user how to correct the error, or `None` if there is none.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Git(error) => return error.hint(),
            Self::Version(VersionNameError::NoValue { name: "tag", .. }) => {
                "run for a tag in CI, pass the name itself, or use another placeholder such as {short-sha}"
            }
            Self::Version(VersionNameError::NoValue {
                name: "run-number", ..
            }) => "pass the name itself, or use another placeholder such as {short-sha}",
            Self::Version(VersionNameError::NoValue { name: "next", .. }) => {
                "{next} needs the comparison with the published version: remove --compat off"
            }
            Self::Version(
                VersionNameError::NoValue { .. }
                | VersionNameError::UnknownPlaceholder { .. }
                | VersionNameError::UnmatchedBrace { .. },
            ) => {
                "the placeholders are {tag}, {branch}, {sha}, {short-sha}, {next}, {date}, {datetime} and {run-number}"
            }
            Self::Version(VersionNameError::NotSemantic { .. }) => {
                "use `{next}` or `v{next}`, optionally followed by `+{short-sha}`"
            }
            Self::Version(VersionNameError::Reserved) => {
                "use a number, a date or a tag, for example --version-name auto"
            }
            Self::Version(_) => {
                "use printable ASCII without leading or trailing blanks: letters, digits, or signs such as - . _ /"
            }
            Self::ConfigDir(_) => "set the platform's hidden directory with --config-dir",
            Self::NoConfigDir => {
                "if the platform's hidden directory is elsewhere, set the directory with --config-dir"
            }
            Self::NoSharedFile { .. } => {
                "run `sluicegate shared-pipelines add PATH` to share a pipeline, and commit the file; or set --config-dir"
            }
            Self::BadSharedFile { .. } => "correct the shared-pipelines file and commit it",
            Self::Incomplete(_) => {
                "commit the missing files, correct the names, or adjust --include and --exclude"
            }
            Self::UndeclaredParameters(_) => {
                "add each variable to its pipeline, or remove the parameter from the shared-pipelines file, and commit"
            }
            Self::Unusable { defect, .. } => defect.help(),
            Self::Symlinks(_) => {
                "replace the links with the files they point to, or exclude the links with --exclude"
            }
            Self::SamePartName(_) => {
                "rename one of the files, or pass --exclude: in a part name, `\"` becomes %22, CR %0D and \
                 LF %0A"
            }
            Self::HiddenByIndex(_) => {
                "run `git update-index --no-skip-worktree FILE` and `git update-index --no-assume-unchanged FILE`, or \
                 publish the commit with --from commit"
            }
            Self::ConvertedByGit(_) => {
                "run `git status`, so that git recognizes unmodified files; commit the other files, then publish again"
            }
            Self::Io { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
