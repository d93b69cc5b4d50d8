//! Determines whether a file is in the repository and belongs to the change, or is outside and belongs to the job.
//! Checks the output paths that a change may set.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Returns the path of the file relative to the repository root, or `None` if no part of its path is in the repository.
///
/// If a directory or link in the path is in the repository, the file belongs to the repository, because the change
/// decides where that directory or link leads.
pub fn in_repository(root: &Path, file: &Path) -> Option<String> {
    let root = root.canonicalize().ok()?;
    let file = plain(file);
    let mut way: Vec<&Path> = file.ancestors().collect();
    way.reverse();
    way.into_iter().find_map(|so_far| {
        let inside = so_far.canonicalize().ok()?;
        let inside = inside.strip_prefix(&root).ok()?.to_path_buf();
        let rest = file.strip_prefix(so_far).ok()?;
        Some(with_slashes(&inside.join(rest)))
    })
}

/// Returns the path without `.` and `..`, without reading the disk, so that the file may exist only in a commit.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// Returns the full path of an output file that the configuration file sets, or why it is not inside the checkout.
///
/// The path is relative to the current directory `here`, as paths of a job are, or to the root if `here` is elsewhere.
pub fn in_checkout(root: &Path, here: &Path, path: &Path) -> Result<PathBuf, &'static str> {
    for part in path.components() {
        match part {
            Component::Normal(name) if is_git(name) => return Err("the path is in .git"),
            Component::Normal(_) | Component::CurDir => {}
            Component::ParentDir => return Err("the path contains `..`"),
            Component::RootDir | Component::Prefix(_) => return Err("the path is not relative"),
        }
    }
    let unknown = "the checkout cannot be read";
    let root = root.canonicalize().map_err(|_| unknown)?;
    let inside = here.canonicalize().is_ok_and(|here| here.starts_with(&root));
    let full = if inside { here.join(path) } else { root.join(path) };
    let real = real(&full).ok_or("a symbolic link in the path is broken")?;
    let rest = real
        .strip_prefix(&root)
        .map_err(|_| "a symbolic link in the path leads out of it")?;
    if is_in_git_folder(rest) {
        return Err("a symbolic link in the path leads into .git");
    }
    // A write to a pipe would block, and a write to a device cannot be undone.
    if real.exists() && !real.is_file() {
        return Err("the path exists and is not a file");
    }
    Ok(full)
}

/// Returns whether any part of the path is a symbolic link.
pub fn leads_through_link(full: &Path) -> bool {
    full.ancestors().any(Path::is_symlink)
}

/// Returns the symbolic links of the repository in the path, relative to its root.
pub fn links_on_the_way(root: &Path, full: &Path) -> Vec<String> {
    let Ok(root) = root.canonicalize() else {
        return Vec::new();
    };
    let mut way: Vec<&Path> = full.ancestors().collect();
    way.reverse();
    let in_root = |part: &Path| {
        let folder = part.parent().filter(|_| part.is_symlink())?.canonicalize().ok()?;
        let inside = folder.strip_prefix(&root).ok()?;
        Some(with_slashes(&inside.join(part.file_name()?)))
    };
    way.into_iter().filter_map(in_root).collect()
}

/// Returns the paths under which git may track a file of the checkout: its own path, and the path with links resolved.
pub fn names_in_repository(root: &Path, file: &Path) -> Vec<String> {
    let led = real(file);
    let files = [Some(file), led.as_deref()].into_iter().flatten();
    files.filter_map(|file| in_repository(root, file)).collect()
}

/// Resolves the links in a path, even if the file does not exist.
fn real(full: &Path) -> Option<PathBuf> {
    let there = full.ancestors().find(|part| part.symlink_metadata().is_ok())?;
    let rest = full.strip_prefix(there).ok()?;
    let real = there.canonicalize().ok()?;
    Some(if rest.as_os_str().is_empty() {
        real
    } else {
        real.join(rest)
    })
}

/// Returns whether the path is in a git directory.
pub fn is_in_git_folder(path: &Path) -> bool {
    path.iter().any(is_git)
}

/// Returns whether some file system reads the name as `.git`: in any case, with characters that macOS or Windows ignore
/// in names, or as its short name.
fn is_git(name: &OsStr) -> bool {
    let ignored = |c: &char| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let name: String = name
        .to_string_lossy()
        .to_lowercase()
        .chars()
        .filter(ignored)
        .collect();
    let name = name
        .split(':')
        .next()
        .unwrap_or_default()
        .trim_end_matches(['.', ' ']);
    name == ".git" || name.starts_with("git~")
}

fn with_slashes(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
