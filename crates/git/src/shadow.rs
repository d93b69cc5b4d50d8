//! A stand-in for a git directory that libgit2 refuses or misreads.
//!
//! libgit2 refuses a checkout of another user and a partial clone; both can only be allowed for the entire process, and
//! only by calls that Rust cannot prove sound. It also misses the shallow list of a linked worktree. In these cases a
//! temporary git directory is created: references are copied, objects are borrowed through the documented
//! `objects/info/alternates` (<https://git-scm.com/docs/gitrepository-layout>), and the configuration contains only
//! remotes and branches. The repository itself is not changed.
//! remotes and branches. The repository itself is not touched.

use super::{error::GitError, opened::Opened};
use git2::{Config, ConfigEntry, Repository as Library, RepositoryOpenFlags};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use walkdir::WalkDir;

/// Maximum number of loose references that are copied.
const REFERENCE_LIMIT: usize = 200_000;
/// Maximum size of a loose reference, in bytes; a symbolic one contains the name of another.
const REFERENCE_SIZE: u64 = 4096;
/// Maximum size of any other file that is copied, in bytes.
const FILE_SIZE: u64 = 512 * 1024 * 1024;
/// Repository extensions that can be ignored for reading, or that libgit2 supports; see
/// <https://git-scm.com/docs/repository-version>.
const HARMLESS_EXTENSIONS: [&str; 5] = [
    "noop",
    "partialclone",
    "preciousobjects",
    "relativeworktrees",
    "worktreeconfig",
];

/// Opens the repository in `git_dir` through a stand-in. The search for it started at `from`.
pub(super) fn open(git_dir: &Path, from: &Path, foreign: bool) -> Result<Opened, GitError> {
    let git_dir = git_dir.canonicalize().map_err(GitError::io("find", git_dir))?;
    let common_dir = common_dir(&git_dir);
    let config = configuration(&common_dir)?;
    check_format(&config, &git_dir)?;
    let work_tree = work_tree(&config, &git_dir, &common_dir, from);
    let stand_in = build(&git_dir, &common_dir, &config)?;
    let library = Library::open_ext(
        stand_in.path(),
        RepositoryOpenFlags::BARE | RepositoryOpenFlags::NO_SEARCH,
        std::iter::empty::<&OsStr>(),
    )
    .map_err(GitError::library("open the repository"))?;
    if let Some(root) = &work_tree {
        library
            .set_workdir(root, false)
            .map_err(GitError::library("find the working tree"))?;
    }
    Ok(Opened {
        library,
        bare: work_tree.is_none(),
        root: work_tree.unwrap_or_else(|| git_dir.clone()),
        foreign,
        git_dir,
        common_dir,
        stand_in: Some(stand_in),
        plain: false,
    })
}

/// Returns whether the repository is a partial clone, whose remote has the objects that are missing here.
pub(super) fn is_partial(common_dir: &Path) -> bool {
    let promised = |config: Config| {
        let mut found = false;
        if let Ok(entries) = config.entries(Some("^(remote\\..*\\.promisor|extensions\\.partialclone)$")) {
            let _ = entries.for_each(|_| found = true);
        }
        found
    };
    configuration(common_dir).is_ok_and(promised)
}

fn configuration(common_dir: &Path) -> Result<Config, GitError> {
    Config::open(&common_dir.join("config")).map_err(GitError::library("read the repository's configuration"))
}

/// Returns the directory with the references and objects. A linked worktree shares them with the repository that
/// its `commondir` file names.
fn common_dir(git_dir: &Path) -> PathBuf {
    let named = read_small(&git_dir.join("commondir"));
    let common = named.map_or_else(|| git_dir.to_owned(), |name| git_dir.join(name));
    common.canonicalize().unwrap_or(common)
}

fn check_format(config: &Config, git_dir: &Path) -> Result<(), GitError> {
    let mut unknown = None;
    let entries = config
        .entries(Some("^extensions\\."))
        .map_err(GitError::library("read the repository's extensions"))?;
    entries
        .for_each(|entry| {
            let name = entry
                .name()
                .unwrap_or_default()
                .trim_start_matches("extensions.")
                .to_owned();
            let value = value_of(entry).unwrap_or_default();
            let known = HARMLESS_EXTENSIONS.contains(&name.as_str())
                || matches!(
                    (name.as_str(), value.as_str()),
                    ("objectformat", "sha1") | ("refstorage", "files")
                );
            if !known {
                unknown = Some(format!("it uses the extension {name} = {value}"));
            }
        })
        .map_err(GitError::library("read the repository's extensions"))?;
    match unknown {
        Some(what) => Err(GitError::Unsupported {
            root: git_dir.to_owned(),
            what,
        }),
        None => Ok(()),
    }
}

/// Returns the root of the working tree, or `None` for a bare repository. A linked worktree of a bare repository
/// has one.
fn work_tree(config: &Config, git_dir: &Path, common_dir: &Path, from: &Path) -> Option<PathBuf> {
    if git_dir.canonicalize().ok()? == common_dir {
        if config.get_bool("core.bare").unwrap_or(false) {
            return None;
        }
        if let Ok(named) = config.get_string("core.worktree") {
            return git_dir.join(named).canonicalize().ok();
        }
    }
    let from = from.canonicalize().ok()?;
    let root = from.ancestors().find(|folder| folder.join(".git").exists());
    root.or(git_dir.parent()).map(Path::to_owned)
}

fn build(git_dir: &Path, common_dir: &Path, config: &Config) -> Result<TempDir, GitError> {
    let folder = tempfile::Builder::new()
        .prefix("sluicegate-git-")
        .tempdir()
        .map_err(GitError::io("create", "a temporary directory"))?;
    let root = folder.path();
    copy(&git_dir.join("HEAD"), &root.join("HEAD"), REFERENCE_SIZE)?;
    copy(
        &common_dir.join("packed-refs"),
        &root.join("packed-refs"),
        FILE_SIZE,
    )?;
    copy(&common_dir.join("shallow"), &root.join("shallow"), FILE_SIZE)?;
    copy(
        &common_dir.join("info/exclude"),
        &root.join("info/exclude"),
        FILE_SIZE,
    )?;
    copy_references(&common_dir.join("refs"), &root.join("refs"))?;
    write(
        &root.join("objects/info/alternates"),
        &alternates(&common_dir.join("objects"))?,
    )?;
    write(&root.join("config"), "[core]\n\trepositoryformatversion = 0\n")?;
    copy_configuration(config, &root.join("config"))?;
    Ok(folder)
}

/// Copies a file if it exists; fails if it is not a regular file or too large.
fn copy(from: &Path, to: &Path, limit: u64) -> Result<(), GitError> {
    let Ok(metadata) = fs::metadata(from) else {
        return Ok(());
    };
    if !metadata.is_file() || metadata.len() > limit {
        return Err(GitError::Unsupported {
            root: from.to_owned(),
            what: "it is not a regular file, or it is too large".to_owned(),
        });
    }
    make_parent(to)?;
    fs::copy(from, to).map(drop).map_err(GitError::io("read", from))
}

fn copy_references(from: &Path, to: &Path) -> Result<(), GitError> {
    fs::create_dir_all(to).map_err(GitError::io("create", to))?;
    let files = WalkDir::new(from)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file());
    for entry in files.take(REFERENCE_LIMIT) {
        if let Ok(name) = entry.path().strip_prefix(from) {
            copy(entry.path(), &to.join(name), REFERENCE_SIZE)?;
        }
    }
    Ok(())
}

/// Returns the object directories to borrow from. libgit2 accepts relative paths only in the first list, so those
/// of the repository are made absolute here.
fn alternates(objects: &Path) -> Result<String, GitError> {
    let listed = read_small(&objects.join("info/alternates")).unwrap_or_default();
    let others = listed
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| objects.join(line));
    let mut text = String::new();
    for folder in std::iter::once(objects.to_owned()).chain(others) {
        let named = folder.to_str().filter(|name| !name.contains('\n'));
        let named = named.ok_or_else(|| GitError::Unsupported {
            root: folder.clone(),
            what: "its path is not UTF-8 or contains a line break".to_owned(),
        })?;
        text.push_str(named);
        text.push('\n');
    }
    Ok(text)
}

fn copy_configuration(from: &Config, to: &Path) -> Result<(), GitError> {
    let reading = GitError::library("copy the configuration of the remotes");
    let mut copy = Config::open(to).map_err(&reading)?;
    let mut kept = Vec::new();
    let entries = from
        .entries(Some("^(remote\\..*\\.(url|fetch)|branch\\..*\\.(remote|merge))$"))
        .map_err(&reading)?;
    entries
        .for_each(|entry| kept.extend(entry.name().ok().map(str::to_owned).zip(value_of(entry))))
        .map_err(&reading)?;
    for (name, value) in kept {
        copy.set_multivar(&name, "^$", &value).map_err(&reading)?;
    }
    Ok(())
}

/// Returns the value of an entry. A key may have no value, and git2 panics if `value` is then called.
fn value_of(entry: &ConfigEntry<'_>) -> Option<String> {
    if entry.has_value() {
        entry.value().ok().map(str::to_owned)
    } else {
        None
    }
}

pub(super) fn read_small(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    let plausible = metadata.is_file() && metadata.len() < 64 * 1024;
    let text = plausible.then(|| fs::read_to_string(path).ok())??;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}

fn write(path: &Path, text: &str) -> Result<(), GitError> {
    make_parent(path)?;
    fs::write(path, text).map_err(GitError::io("write", path))
}

fn make_parent(path: &Path) -> Result<(), GitError> {
    path.parent().map_or(Ok(()), |parent| {
        fs::create_dir_all(parent).map_err(GitError::io("create", parent))
    })
}
