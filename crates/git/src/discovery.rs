//! Finds and opens the repository.

use super::disk_file::is_missing_file_error;
use super::error::GitError;
use super::{opened_repository::OpenedRepository, repository::Repository, stand_in};
use git2::{ErrorCode, Oid, Repository as Library, RepositoryOpenFlags};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Maximum size of the list of shallow commits, in bytes.
const MAX_SHALLOW_SIZE: u64 = 64 * 1024 * 1024;

/// Number of digits of an object id.
const FULL_ID_LENGTH: usize = 40;

/// Turns off the comparison of each object with its id, for the rest of the process: it takes up to half of the time of a
/// comparison. Only for a local run, whose clone no other job can write to.
pub fn skip_object_checks() {
    git2::opts::strict_hash_verification(false);
}

impl Repository {
    /// Finds the repository that contains `from` by its `.git`: a working tree, a linked worktree or a submodule.
    ///
    /// A bare repository is never found. A change could add one as files of a checkout, and would then control its
    /// configuration (<https://git-scm.com/docs/git-config#Documentation/git-config.txt-safebareRepository>).
    ///
    /// A checkout that belongs to another user (common in containers) is opened, too, because no program that its
    /// configuration names is run. This does not change anyone's git configuration.
    pub fn discover(from: &Path) -> Result<Self, GitError> {
        let absolute = from.canonicalize().ok();
        let (git_dir, folder) = absolute
            .iter()
            .flat_map(|path| path.ancestors())
            .find_map(|folder| Some((find_git_dir(folder)?, folder)))
            .ok_or_else(|| missing_repository_error(from, absolute.as_deref()))?;
        Self::open_at(&git_dir, folder)
    }

    /// Opens the repository in this directory: a bare one, otherwise the one that [`Self::discover`] finds.
    pub fn open(folder: &Path) -> Result<Self, GitError> {
        if !folder.join(".git").exists() && is_git_dir(folder) {
            return Self::open_at(folder, folder);
        }
        Self::discover(folder)
    }

    /// Opens the repository with this git directory. `from` is the directory that contains `.git`, or the bare
    /// repository.
    fn open_at(git_dir: &Path, from: &Path) -> Result<Self, GitError> {
        let repository = open_in_libgit2(git_dir, from)?;
        reject_grafts(&repository.common_dir)?;
        let mut shallow = read_shallow_commits(&repository.common_dir)?;
        // Git never writes the list of a linked worktree, but libgit2 reads it.
        shallow.extend(read_shallow_commits(&repository.git_dir)?);
        let partial = stand_in::is_partial_clone(&repository.common_dir);
        let mut repository = Self::from_opened(repository, shallow, partial);
        repository.apply_environment_settings()?;
        Ok(repository)
    }
}

/// Returns the error for a directory without a `.git` in it or above it: the directory is in a bare repository, or in
/// no repository. `absolute` is the directory's full path, if it exists.
fn missing_repository_error(from: &Path, absolute: Option<&Path>) -> GitError {
    let bare_repository = absolute
        .into_iter()
        .flat_map(Path::ancestors)
        .find(|folder| is_git_dir(folder));
    match bare_repository {
        Some(repository) => GitError::BareRepository {
            repository: repository.to_owned(),
        },
        None => GitError::NotARepository {
            from: from.to_owned(),
        },
    }
}

/// Returns whether the directory is the root of a repository: it has a `.git` that git accepts.
pub fn is_repository_root(folder: &Path) -> bool {
    find_git_dir(folder).is_some()
}

/// Returns the git directory of a directory with a `.git` (<https://git-scm.com/docs/gitrepository-layout>). In a
/// linked worktree or a submodule, `.git` is a file that contains the path of the git directory.
pub(super) fn find_git_dir(folder: &Path) -> Option<PathBuf> {
    let dot_git = folder.join(".git");
    let git_dir = if dot_git.is_file() {
        folder.join(
            stand_in::read_short_file(&dot_git)?
                .strip_prefix("gitdir:")?
                .trim_start(),
        )
    } else {
        dot_git
    };
    is_git_dir(&git_dir).then_some(git_dir)
}

/// Returns whether git accepts the directory as a git directory: it has a `HEAD` and its own objects and references, or
/// names the directory where a linked worktree shares them.
pub(super) fn is_git_dir(folder: &Path) -> bool {
    let has_file = |name: &str| folder.join(name).exists();
    folder.join("HEAD").symlink_metadata().is_ok()
        && (has_file("commondir") || (has_file("objects") && has_file("refs")))
}

/// Opens the repository in libgit2. If libgit2 does not support its format, refuses it or misses its list of shallow
/// commits, opens it through a stand-in, a temporary git directory that refers to the real one.
fn open_in_libgit2(git_dir: &Path, from: &Path) -> Result<OpenedRepository, GitError> {
    // `from` contains `.git`, so that libgit2 also finds the working tree, or is itself a bare repository.
    match Library::open_ext(from, RepositoryOpenFlags::NO_SEARCH, std::iter::empty::<&OsStr>()) {
        Ok(library) if !is_shallow_worktree(&library) => build_opened_repository(library),
        Ok(_) => {
            let is_foreign = false;
            stand_in::open_through_stand_in(git_dir, from, is_foreign)
        }
        Err(error) if error.code() == ErrorCode::NotFound => Err(GitError::NotARepository {
            from: from.to_owned(),
        }),
        Err(error) => {
            // libgit2 refuses a repository of another user with this code.
            let is_foreign = error.code() == ErrorCode::Owner;
            stand_in::open_through_stand_in(git_dir, from, is_foreign)
        }
    }
}

/// Returns whether libgit2 misses the list of shallow commits: it searches the directory of a linked worktree, where
/// git never puts the list.
fn is_shallow_worktree(library: &Library) -> bool {
    library.is_worktree() && library.commondir().join("shallow").exists()
}

/// Collects the facts that later steps need about a repository that libgit2 has opened. Its owner is trusted: libgit2
/// refuses a repository of another user, unless it is declared safe.
fn build_opened_repository(library: Library) -> Result<OpenedRepository, GitError> {
    let git_dir = library.path().to_owned();
    Ok(OpenedRepository {
        root: library.workdir().unwrap_or(&git_dir).to_owned(),
        bare: library.is_bare(),
        foreign: false,
        common_dir: library.commondir().to_owned(),
        git_dir,
        stand_in: stand_in::hide_commit_graph(&library)?,
        plain: false,
        library,
    })
}

/// Fails if the file `info/grafts` gives commits other parents than they record
/// (<https://git-scm.com/docs/gitrepository-layout>). libgit2 would follow these parents. A reused checkout keeps the
/// file, so an earlier job could decide which commits are merged.
fn reject_grafts(common_dir: &Path) -> Result<(), GitError> {
    let path = common_dir.join("info/grafts");
    let is_without_grafts = match std::fs::read(&path) {
        Ok(bytes) => bytes
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .all(|line| line.is_empty() || line.starts_with(b"#")),
        Err(error) => is_missing_file_error(&error),
    };
    if is_without_grafts {
        Ok(())
    } else {
        Err(GitError::Grafts { path })
    }
}

/// Returns the commits whose parents a shallow clone omits, see <https://git-scm.com/docs/shallow>. Returns no commits
/// for a full clone, and an error if the list is longer than [`MAX_SHALLOW_SIZE`]. A line that is not exactly one id is
/// an error, too: libgit2 reads the other ids in it as the commit's parents, as in `info/grafts`.
fn read_shallow_commits(git_dir: &Path) -> Result<HashSet<Oid>, GitError> {
    let path = git_dir.join("shallow");
    let metadata = match std::fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if is_missing_file_error(&error) => return Ok(HashSet::new()),
        Err(error) => return Err(GitError::io("read", &path)(error)),
    };
    if metadata.len() > MAX_SHALLOW_SIZE {
        return Err(GitError::Unsupported {
            root: path,
            reason: "the repository's list of shallow commits is too long".to_owned(),
        });
    }
    let text = std::fs::read_to_string(&path).map_err(GitError::io("read", &path))?;
    let ids: Option<HashSet<Oid>> = text.lines().map(parse_full_id).collect();
    ids.ok_or(GitError::Grafts { path })
}

/// Parses a line with exactly one object id. Returns `None` for any other text.
fn parse_full_id(line: &str) -> Option<Oid> {
    // The library completes a shorter id with zeros.
    let is_full_id = line.len() == FULL_ID_LENGTH && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_full_id.then(|| Oid::from_str(line).ok()).flatten()
}
