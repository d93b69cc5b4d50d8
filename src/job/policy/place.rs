//! Whether a file lies in the repository, and so is the change's, or outside, and so is the job's; and where the files
//! may lie that the change has written.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The file as a path from the repository root; none if it lies outside, with no part of its path in the repository.
///
/// A folder or link on the way that is in the repository makes the rest the repository's: where it leads is for the
/// change to say.
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

/// The path without `.` and `..`, by its words alone, so that it may name a file that exists in a commit only.
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

/// Where a file is to be written that the configuration file names: inside the checkout, or why not.
///
/// Its path starts from the current folder `here`, as a job's paths do, or from the root where `here` is elsewhere.
pub fn in_checkout(root: &Path, here: &Path, path: &Path) -> Result<PathBuf, &'static str> {
    for part in path.components() {
        match part {
            Component::Normal(name) if is_git(name) => return Err("it lies in .git"),
            Component::Normal(_) | Component::CurDir => {}
            Component::ParentDir => return Err("it has a `..`"),
            Component::RootDir | Component::Prefix(_) => return Err("it is not relative"),
        }
    }
    let unknown = "the checkout cannot be read";
    let root = root.canonicalize().map_err(|_| unknown)?;
    let inside = here.canonicalize().is_ok_and(|here| here.starts_with(&root));
    let full = if inside { here.join(path) } else { root.join(path) };
    let real = real(&full).ok_or("a link on the way leads nowhere")?;
    let rest = real
        .strip_prefix(&root)
        .map_err(|_| "a link on the way leads out of it")?;
    if is_in_git_folder(rest) {
        return Err("a link on the way leads into .git");
    }
    // A pipe would be waited for, and what writes to a device is not undone.
    if real.exists() && !real.is_file() {
        return Err("something else than a file stands there");
    }
    Ok(full)
}

/// The symbolic links of the repository that the path leads through, as paths from its root.
pub fn links_on_the_way(root: &Path, full: &Path) -> Vec<String> {
    let Ok(root) = root.canonicalize() else {
        return Vec::new();
    };
    let mut way: Vec<&Path> = full.ancestors().collect();
    way.reverse();
    let in_root = |part: &Path| {
        let is_link = part.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let folder = part.parent().filter(|_| is_link)?.canonicalize().ok()?;
        let inside = folder.strip_prefix(&root).ok()?;
        Some(with_slashes(&inside.join(part.file_name()?)))
    };
    way.into_iter().filter_map(in_root).collect()
}

/// The names under which git may know a file of the checkout: as its path says, and as links on the way lead.
pub fn names_in_repository(root: &Path, file: &Path) -> Vec<String> {
    let led = real(file);
    let files = [Some(file), led.as_deref()].into_iter().flatten();
    files.filter_map(|file| in_repository(root, file)).collect()
}

/// Where the path leads, through links, whether there is something or not.
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

/// Whether the path leads into a git folder.
pub fn is_in_git_folder(path: &Path) -> bool {
    path.iter().any(is_git)
}

/// Whether some file system takes the name for `.git`: in any case, with what macOS or Windows leave out of a name, or
/// by its short name.
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
