//! Finds and opens the repository.

use super::error::GitError;
use super::{opened::Opened, repository::Repository, shadow};
use git2::{ErrorCode, Oid, Repository as Library, RepositoryOpenFlags};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// The largest list of shallow commits that is read, in bytes.
const SHALLOW_LIMIT: u64 = 64 * 1024 * 1024;

/// libgit2 hashes every object that it reads again to find a broken disk; git itself does not, and this doubles
/// the time of a comparison.
fn relax_hash_checks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| git2::opts::strict_hash_verification(false));
}

impl Repository {
    /// Finds the repository that `from` lies in by its `.git`: a working tree, a linked worktree or a submodule.
    ///
    /// A bare repository is never found: its files could be files of a checkout, and its configuration the change's
    /// (<https://git-scm.com/docs/git-config#Documentation/git-config.txt-safebareRepository>).
    ///
    /// A checkout that belongs to another user (common in containers) is opened too, this one repository only and
    /// without a change to anyone's git configuration: nothing that its configuration names is run.
    pub fn discover(from: &Path) -> Result<Self, GitError> {
        let none = || GitError::NotARepository {
            from: from.to_owned(),
        };
        let absolute = from.canonicalize().map_err(|_| none())?;
        let mut folders = absolute.ancestors();
        let found = folders.find_map(|folder| Some((git_dir_of(folder)?, folder)));
        let (git_dir, folder) = found.ok_or_else(none)?;
        Self::open_at(&git_dir, folder)
    }

    /// Opens the repository that was named: the bare one in this folder, else what [`Self::discover`] finds.
    pub fn open(folder: &Path) -> Result<Self, GitError> {
        if !folder.join(".git").exists() && is_git_dir(folder) {
            return Self::open_at(folder, folder);
        }
        Self::discover(folder)
    }

    fn open_at(git_dir: &Path, from: &Path) -> Result<Self, GitError> {
        relax_hash_checks();
        let opened = open(git_dir, from)?;
        let shallow = shallow_commits(&opened.common_dir)?;
        let partial = shadow::is_partial(&opened.common_dir);
        Ok(Self::from_parts(opened, shallow, partial))
    }
}

/// The git folder that the `.git` of this folder is or names (<https://git-scm.com/docs/gitrepository-layout>).
fn git_dir_of(folder: &Path) -> Option<PathBuf> {
    let named = folder.join(".git");
    let git_dir = if named.is_file() {
        folder.join(shadow::read_small(&named)?.strip_prefix("gitdir:")?.trim_start())
    } else {
        named
    };
    is_git_dir(&git_dir).then_some(git_dir)
}

/// What git asks of a git folder; a linked worktree has its objects elsewhere.
fn is_git_dir(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).exists();
    folder.join("HEAD").symlink_metadata().is_ok() && (has("commondir") || (has("objects") && has("refs")))
}

fn open(git_dir: &Path, from: &Path) -> Result<Opened, GitError> {
    // The folder with the `.git`, so that libgit2 knows the working tree; a bare repository is its own.
    let refusal = match Library::open_ext(from, RepositoryOpenFlags::NO_SEARCH, std::iter::empty::<&OsStr>())
    {
        Ok(library) if !is_shallow_worktree(&library) => return Ok(as_it_is(library)),
        Ok(_) => ErrorCode::GenericError,
        Err(error) => error.code(),
    };
    match refusal {
        ErrorCode::NotFound => Err(GitError::NotARepository {
            from: from.to_owned(),
        }),
        _ => shadow::open(git_dir, from, refusal == ErrorCode::Owner),
    }
}

/// libgit2 looks for the list of shallow commits beside a linked worktree's own files, where git never puts it.
fn is_shallow_worktree(library: &Library) -> bool {
    library.is_worktree() && library.commondir().join("shallow").exists()
}

fn as_it_is(library: Library) -> Opened {
    let git_dir = library.path().to_owned();
    Opened {
        root: library.workdir().unwrap_or(&git_dir).to_owned(),
        bare: library.is_bare(),
        foreign: false,
        common_dir: library.commondir().to_owned(),
        git_dir,
        stand_in: None,
        library,
    }
}

/// The commits whose parents a shallow clone left out, see <https://git-scm.com/docs/shallow>.
fn shallow_commits(common_dir: &Path) -> Result<HashSet<Oid>, GitError> {
    let path = common_dir.join("shallow");
    let Ok(metadata) = std::fs::metadata(&path) else {
        return Ok(HashSet::new());
    };
    if metadata.len() > SHALLOW_LIMIT {
        return Err(GitError::Unsupported {
            root: path,
            what: "its list of shallow commits is too long".to_owned(),
        });
    }
    let text = std::fs::read_to_string(&path).map_err(GitError::io("read", &path))?;
    Ok(text
        .lines()
        .filter_map(|line| Oid::from_str(line.trim()).ok())
        .collect())
}
