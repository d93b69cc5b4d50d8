//! A stand-in for a git directory that libgit2 refuses or misreads, or for its objects only.
//!
//! libgit2 refuses a checkout of another user and a partial clone; both can only be allowed for the entire process, and
//! only by calls that Rust cannot prove sound. It also misses the shallow list of a linked worktree. In these cases a
//! temporary git directory is created: references are copied, objects are borrowed through the documented
//! `objects/info/alternates` (<https://git-scm.com/docs/gitrepository-layout>), and the configuration contains only
//! remotes, branches, line endings and colors. The repository itself is not changed.

use super::disk_file::is_missing_file_error;
use super::{error::GitError, opened_repository::OpenedRepository};
use git2::{Config, ConfigEntry, Repository as Library, RepositoryInitOptions, RepositoryOpenFlags};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use walkdir::WalkDir;

/// Maximum number of loose references that are copied.
const MAX_REFERENCES: usize = 200_000;
/// Maximum size of a loose reference, in bytes; a symbolic one contains the name of another.
const MAX_REFERENCE_SIZE: u64 = 4096;
/// Maximum size of any other file that is copied, in bytes.
const MAX_FILE_SIZE: u64 = 512 * 1024 * 1024;
/// Size from which on a file that contains only paths is not read, in bytes.
const SHORT_FILE_LIMIT: u64 = 64 * 1024;
/// Repository extensions that can be ignored for reading, or that libgit2 supports; see
/// <https://git-scm.com/docs/repository-version>.
const HARMLESS_EXTENSIONS: [&str; 5] = [
    "noop",
    "partialclone",
    "preciousobjects",
    "relativeworktrees",
    "worktreeconfig",
];

/// The files in which git stores the parents of commits once more, below the directory of the objects
/// (<https://git-scm.com/docs/gitformat-commit-graph>). libgit2 1.9 reads only the first.
const COMMIT_GRAPHS: [&str; 2] = ["info/commit-graph", "info/commit-graphs"];

/// The regular expression for the names of the copied settings.
const COPIED_SETTINGS: &str =
    "^(remote\\..*\\.(url|fetch)|branch\\..*\\.(remote|merge)|core\\.(autocrlf|eol)|color\\.(diff|ui))$";

/// Opens the repository with the git directory `git_dir` through a stand-in, a temporary git directory, because libgit2
/// refuses or misreads the real one. `from` is the directory that contains `.git`, or the bare repository. `is_foreign`
/// says that the repository belongs to another user.
pub(super) fn open_through_stand_in(
    git_dir: &Path,
    from: &Path,
    is_foreign: bool,
) -> Result<OpenedRepository, GitError> {
    let git_dir = git_dir.canonicalize().map_err(GitError::io("find", git_dir))?;
    let common_dir = find_common_dir(&git_dir);
    let config = open_config(&common_dir)?;
    reject_unknown_extension(&config, &git_dir)?;
    let work_tree = find_work_tree(&config, &git_dir, &common_dir, from);
    let stand_in = create_stand_in(&git_dir, &common_dir, &config)?;
    // The stand-in has no working tree, so it is opened as a bare repository and then gets the real one.
    let library = Library::open_ext(
        stand_in.path(),
        RepositoryOpenFlags::BARE | RepositoryOpenFlags::NO_SEARCH,
        std::iter::empty::<&OsStr>(),
    )
    .map_err(GitError::library("open the repository"))?;
    if let Some(root) = &work_tree {
        let updates_git_link = false;
        library
            .set_workdir(root, updates_git_link)
            .map_err(GitError::library("find the working tree"))?;
    }
    Ok(OpenedRepository {
        library,
        bare: work_tree.is_none(),
        root: work_tree.unwrap_or_else(|| git_dir.clone()),
        foreign: is_foreign,
        git_dir,
        common_dir,
        stand_in: Some(stand_in),
        plain: false,
    })
}

/// Makes libgit2 ignore the clone's commit-graph, if there is one: returns the temporary git directory through which
/// `library` then reads the objects, and to which it writes. libgit2 believes the parents in the file, which a reused
/// checkout keeps, so an earlier job could decide which commits are merged. It reads only the file in the first object
/// directory, and the temporary directory has none. A file of the clone is no error, because `git gc` writes it.
pub(super) fn hide_commit_graph(library: &Library) -> Result<Option<TempDir>, GitError> {
    let objects = library.commondir().join("objects");
    if !COMMIT_GRAPHS.iter().any(|path| objects.join(path).exists()) {
        return Ok(None);
    }
    let folder = create_temporary_directory("sluicegate-git-")?;
    let mut options = RepositoryInitOptions::new();
    options.bare(true).external_template(false);
    let open_error = GitError::library("open the objects of the repository");
    let stand_in = Library::init_opts(folder.path(), &options).map_err(&open_error)?;
    write_file(
        &folder.path().join("objects/info/alternates"),
        &render_alternates(&objects)?,
    )?;
    let borrowed_objects = stand_in.odb().map_err(&open_error)?;
    library.set_odb(&borrowed_objects).map_err(&open_error)?;
    Ok(Some(folder))
}

/// Returns whether the repository is a partial clone, whose remote has the objects that are missing here: git marks it
/// with the setting `remote.NAME.promisor` or `extensions.partialclone`. Returns false if the configuration cannot be
/// read.
pub(super) fn is_partial_clone(common_dir: &Path) -> bool {
    let Ok(config) = open_config(common_dir) else {
        return false;
    };
    let mut is_partial = false;
    if let Ok(entries) = config.entries(Some("^(remote\\..*\\.promisor|extensions\\.partialclone)$")) {
        let _ = entries.for_each(|_| is_partial = true);
    }
    is_partial
}

fn open_config(common_dir: &Path) -> Result<Config, GitError> {
    Config::open(&common_dir.join("config")).map_err(GitError::library("read the repository's configuration"))
}

/// Returns the directory with the references and objects. A linked worktree shares them with the repository that
/// its `commondir` file names.
fn find_common_dir(git_dir: &Path) -> PathBuf {
    let common_dir = read_short_file(&git_dir.join("commondir"))
        .map_or_else(|| git_dir.to_owned(), |relative_path| git_dir.join(relative_path));
    common_dir.canonicalize().unwrap_or(common_dir)
}

/// Fails if the repository uses an extension of git that this program does not support, because the files of the
/// repository may then have another format. If there are several, the error names the last one.
fn reject_unknown_extension(config: &Config, git_dir: &Path) -> Result<(), GitError> {
    let mut unknown_extension = None;
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
            let value = entry_value(entry).unwrap_or_default();
            let is_supported = HARMLESS_EXTENSIONS.contains(&name.as_str())
                || matches!(
                    (name.as_str(), value.as_str()),
                    ("objectformat", "sha1") | ("refstorage", "files")
                );
            if !is_supported {
                unknown_extension = Some(format!("{name} = {value}"));
            }
        })
        .map_err(GitError::library("read the repository's extensions"))?;
    match unknown_extension {
        Some(extension) => Err(GitError::Unsupported {
            root: git_dir.to_owned(),
            reason: format!("the repository uses the unsupported git extension `{extension}`"),
        }),
        None => Ok(()),
    }
}

/// Returns the root of the working tree: the directory in the setting `core.worktree`, otherwise `from` or its nearest
/// parent directory that contains `.git`, or else the parent of the git directory. `None` for a bare repository. The
/// settings `core.worktree` and `core.bare` describe the main worktree, so they are not read for a linked one, which
/// has a root even if the repository is bare.
fn find_work_tree(config: &Config, git_dir: &Path, common_dir: &Path, from: &Path) -> Option<PathBuf> {
    if git_dir.canonicalize().ok()? == common_dir {
        if config.get_bool("core.bare").unwrap_or(false) {
            return None;
        }
        if let Ok(path) = config.get_string("core.worktree") {
            return git_dir.join(path).canonicalize().ok();
        }
    }
    let absolute = from.canonicalize().ok()?;
    absolute
        .ancestors()
        .find(|folder| folder.join(".git").exists())
        .or(git_dir.parent())
        .map(Path::to_owned)
}

/// Creates a temporary `.git` directory that libgit2 can open: with the references, objects and ignore rules of the
/// real one, and with only the settings in [`COPIED_SETTINGS`].
fn create_stand_in(git_dir: &Path, common_dir: &Path, config: &Config) -> Result<TempDir, GitError> {
    let folder = create_temporary_directory("sluicegate-git-")?;
    let root = folder.path();
    copy_head(git_dir, root)?;
    copy_file(
        &common_dir.join("packed-refs"),
        &root.join("packed-refs"),
        MAX_FILE_SIZE,
    )?;
    copy_file(&common_dir.join("shallow"), &root.join("shallow"), MAX_FILE_SIZE)?;
    for name in ["info/exclude", "info/attributes"] {
        copy_file(&common_dir.join(name), &root.join(name), MAX_FILE_SIZE)?;
    }
    copy_references(&common_dir.join("refs"), &root.join("refs"))?;
    write_file(
        &root.join("objects/info/alternates"),
        &render_alternates(&common_dir.join("objects"))?,
    )?;
    // This minimal configuration is necessary to open the directory; the copied settings are added to it.
    write_file(&root.join("config"), "[core]\n\trepositoryformatversion = 0\n")?;
    copy_config(config, &root.join("config"))?;
    Ok(folder)
}

/// Creates a temporary directory that no other user can read, because settings of git may contain a token.
pub(super) fn create_temporary_directory(prefix: &str) -> Result<TempDir, GitError> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder
        .prefix(prefix)
        .tempdir()
        .map_err(|source| GitError::TemporaryDirectory { source })
}

/// Copies the reference to the checked-out branch. An old repository has a symbolic link to it instead of a file, which
/// is written as a reference with its name.
fn copy_head(git_dir: &Path, stand_in: &Path) -> Result<(), GitError> {
    let (source, target) = (git_dir.join("HEAD"), stand_in.join("HEAD"));
    match fs::read_link(&source) {
        Ok(reference) => write_file(&target, &format!("ref: {}\n", reference.display())),
        Err(_) => copy_file(&source, &target, MAX_REFERENCE_SIZE),
    }
}

/// Copies a file if it exists; fails if it is not a regular file or too large.
fn copy_file(source: &Path, target: &Path, limit: u64) -> Result<(), GitError> {
    let metadata = match fs::metadata(source) {
        Ok(metadata) => metadata,
        Err(error) if is_missing_file_error(&error) => return Ok(()),
        Err(error) => return Err(GitError::io("read", source)(error)),
    };
    if !metadata.is_file() || metadata.len() > limit {
        return Err(GitError::Unsupported {
            root: source.to_owned(),
            reason: "the file is too large, or is not a regular file".to_owned(),
        });
    }
    create_parent_folder(target)?;
    copy_to_temporary_directory(source, target)
}

/// Copies a file to a path in a temporary directory. An error that only writing can cause is about this directory.
pub(super) fn copy_to_temporary_directory(source: &Path, target: &Path) -> Result<(), GitError> {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    match fs::copy(source, target) {
        Ok(_) => Ok(()),
        Err(error)
            if matches!(
                error.kind(),
                StorageFull | QuotaExceeded | FileTooLarge | ReadOnlyFilesystem
            ) =>
        {
            Err(GitError::TemporaryFile { source: error })
        }
        Err(error) => Err(GitError::io("read", source)(error)),
    }
}

/// Copies the loose references. Those beyond [`MAX_REFERENCES`] and those that cannot be listed are missing in the
/// stand-in.
fn copy_references(source: &Path, target: &Path) -> Result<(), GitError> {
    fs::create_dir_all(target).map_err(GitError::io("create", target))?;
    let files = WalkDir::new(source)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file());
    for entry in files.take(MAX_REFERENCES) {
        if let Ok(name) = entry.path().strip_prefix(source) {
            copy_file(entry.path(), &target.join(name), MAX_REFERENCE_SIZE)?;
        }
    }
    Ok(())
}

/// Returns the text of the stand-in's `alternates` file: the repository's object directory, and those that the
/// repository itself borrows from. The paths are made absolute, because libgit2 resolves a relative path only if it
/// begins with `.`.
fn render_alternates(objects: &Path) -> Result<String, GitError> {
    let repository_alternates = read_short_file(&objects.join("info/alternates")).unwrap_or_default();
    let borrowed_folders = repository_alternates
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| objects.join(line));
    let mut text = String::new();
    for folder in std::iter::once(objects.to_owned()).chain(borrowed_folders) {
        let path = folder
            .to_str()
            .filter(|path| !path.contains('\n'))
            .ok_or_else(|| GitError::Unsupported {
                root: folder.clone(),
                reason: "the path is not UTF-8 or contains a line break".to_owned(),
            })?;
        text.push_str(path);
        text.push('\n');
    }
    Ok(text)
}

/// Copies only the settings of remotes, branches, line endings and colors, because other settings could run programs.
fn copy_config(source: &Config, target: &Path) -> Result<(), GitError> {
    let copy_error = GitError::library("copy the configuration");
    let mut settings = Vec::new();
    let entries = source.entries(Some(COPIED_SETTINGS)).map_err(&copy_error)?;
    entries
        .for_each(|entry| settings.extend(entry.name().ok().map(str::to_owned).zip(entry_value(entry))))
        .map_err(&copy_error)?;
    write_settings(&settings, target)
}

/// Adds settings, each with its name and value, to the configuration file at `target`.
pub(super) fn write_settings(settings: &[(String, String)], target: &Path) -> Result<(), GitError> {
    let write_error = GitError::library("copy the configuration");
    let mut config = Config::open(target).map_err(&write_error)?;
    for (name, value) in settings {
        // Values that match the pattern are replaced; `^$` matches only empty ones, so all others are added.
        config.set_multivar(name, "^$", value).map_err(&write_error)?;
    }
    Ok(())
}

/// Returns the value of an entry. A key may have no value, and git2 panics if `value` is then called.
pub(super) fn entry_value(entry: &ConfigEntry<'_>) -> Option<String> {
    if entry.has_value() {
        entry.value().ok().map(str::to_owned)
    } else {
        None
    }
}

/// Reads a short text file without the line breaks at its end; `None` if it is missing or too long.
pub(super) fn read_short_file(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() >= SHORT_FILE_LIMIT {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}

fn write_file(path: &Path, text: &str) -> Result<(), GitError> {
    create_parent_folder(path)?;
    fs::write(path, text).map_err(|source| GitError::TemporaryFile { source })
}

fn create_parent_folder(path: &Path) -> Result<(), GitError> {
    path.parent().map_or(Ok(()), |parent| {
        fs::create_dir_all(parent).map_err(|source| GitError::TemporaryFile { source })
    })
}
