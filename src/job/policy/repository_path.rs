//! Determines whether a file is in the repository and belongs to the change, or is outside and belongs to the job.
//! Checks the output paths that a change may set.

use super::symlinks::MAX_LINKS;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Returns the path of the file relative to the repository root, or `None` if no part of its path is in the repository.
///
/// If a directory or link in the path is in the repository, the file belongs to the repository, because the change
/// decides where that directory or link leads.
pub fn find_path_in_repository(root: &Path, file: &Path) -> Option<String> {
    let root = root.canonicalize().ok()?;
    let file = normalize_path(file);
    let mut ancestors: Vec<&Path> = file.ancestors().collect();
    ancestors.reverse();
    ancestors.into_iter().find_map(|ancestor| {
        let resolved_ancestor = ancestor.canonicalize().ok()?;
        let ancestor_in_root = resolved_ancestor.strip_prefix(&root).ok()?;
        let remainder = file.strip_prefix(ancestor).ok()?;
        Some(join_with_slashes(&ancestor_in_root.join(remainder)))
    })
}

/// Removes `.` and `..` from the path. The disk is not read, because the file may exist only in a commit.
pub fn normalize_path(path: &Path) -> PathBuf {
    let mut normalized_path = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normalized_path.pop();
            }
            component => normalized_path.push(component),
        }
    }
    normalized_path
}

/// Returns the full path of an output file that the configuration file sets, or the reason why the program must not
/// write to it: the path is not in the checkout, is in `.git`, or is not a file. `path` is relative to `current_dir`,
/// or to `root` if `current_dir` is outside the checkout.
pub fn resolve_in_checkout(root: &Path, current_dir: &Path, path: &Path) -> Result<PathBuf, &'static str> {
    reject_invalid_parts(path)?;
    let root = root.canonicalize().map_err(|_| "the checkout cannot be read")?;
    let full = place_in_checkout(&root, current_dir, path);
    let real = resolve_links(&full).ok_or("a symbolic link in the path is broken")?;
    let relative_path = real
        .strip_prefix(&root)
        .map_err(|_| "a symbolic link in the path leads out of the checkout")?;
    if is_in_git_dir(relative_path) {
        return Err("a symbolic link in the path leads into .git");
    }
    // A write to a pipe would block, and a write to a device cannot be undone.
    if real.exists() && !real.is_file() {
        return Err("the path exists and is not a file");
    }
    Ok(full)
}

/// Returns the reason why the path cannot be in any checkout, whatever files and links the checkout has.
pub fn reject_invalid_parts(path: &Path) -> Result<(), &'static str> {
    for part in path.components() {
        match part {
            Component::Normal(name) if is_git_name(name) => return Err("the path is in .git"),
            Component::Normal(_) | Component::CurDir => {}
            Component::ParentDir => return Err("the path contains `..`"),
            Component::RootDir | Component::Prefix(_) => return Err("the path is not relative"),
        }
    }
    Ok(())
}

/// Returns the full path of a path that is relative to `current_dir`, or to `root` if `current_dir` is outside the
/// checkout.
pub fn place_in_checkout(root: &Path, current_dir: &Path, path: &Path) -> PathBuf {
    let is_inside = match (current_dir.canonicalize(), root.canonicalize()) {
        (Ok(current_dir), Ok(root)) => current_dir.starts_with(root),
        _ => false,
    };
    if is_inside {
        current_dir.join(path)
    } else {
        root.join(path)
    }
}

/// Returns whether any part of the path is a symbolic link.
pub fn contains_link(full: &Path) -> bool {
    full.ancestors().any(Path::is_symlink)
}

/// Returns the symbolic links in the repository through which the path leads, each as a path relative to the root. Also
/// finds those to which another link leads, which may be outside the repository.
pub fn find_links_in_path(root: &Path, full: &Path) -> Vec<String> {
    let Ok(root) = root.canonicalize() else {
        return Vec::new();
    };
    let mut links = Vec::new();
    let mut link_count = 0;
    let mut visited_path = PathBuf::new();
    let mut remaining_parts: VecDeque<PathBuf> = list_parts(full).collect();
    while let Some(part) = remaining_parts.pop_front() {
        if part == Path::new("..") {
            visited_path.pop();
            continue;
        }
        visited_path.push(part);
        let Ok(target) = visited_path.read_link() else {
            continue;
        };
        links.extend(find_link_in_root(&root, &visited_path));
        link_count += 1;
        if link_count > MAX_LINKS {
            break;
        }
        // The target is relative to the link's directory, and its parts take the place of the link.
        visited_path.pop();
        for target_part in list_parts(&target).rev() {
            remaining_parts.push_front(target_part);
        }
    }
    links
}

/// Returns the parts of a path. The first part of an absolute path is the root.
fn list_parts(path: &Path) -> impl DoubleEndedIterator<Item = PathBuf> {
    path.components().map(|part| PathBuf::from(part.as_os_str()))
}

/// Returns `path` relative to `root` if `path` is a symbolic link in a directory of `root`.
fn find_link_in_root(root: &Path, path: &Path) -> Option<String> {
    let parent = path.parent().filter(|_| path.is_symlink())?.canonicalize().ok()?;
    let parent_in_root = parent.strip_prefix(root).ok()?;
    Some(join_with_slashes(&parent_in_root.join(path.file_name()?)))
}

/// Returns the paths under which git may track a file of the checkout: the path itself, and the path after its links
/// are resolved. Paths outside the repository are skipped.
pub fn list_tracked_paths(root: &Path, file: &Path) -> Vec<String> {
    let resolved_file = resolve_links(file);
    [Some(file), resolved_file.as_deref()]
        .into_iter()
        .flatten()
        .filter_map(|file| find_path_in_repository(root, file))
        .collect()
}

/// Resolves the links in a path whose last parts may be missing on disk. Returns `None` if the existing part cannot be
/// resolved, for example because of a broken link.
pub fn resolve_links(full: &Path) -> Option<PathBuf> {
    let existing_part = full.ancestors().find(|part| part.symlink_metadata().is_ok())?;
    let remainder = full.strip_prefix(existing_part).ok()?;
    let resolved_part = existing_part.canonicalize().ok()?;
    // A join with an empty path would add a slash at the end.
    Some(if remainder.as_os_str().is_empty() {
        resolved_part
    } else {
        resolved_part.join(remainder)
    })
}

/// Returns whether any part of the path is named `.git`, so that the path may be in a git directory.
pub fn is_in_git_dir(path: &Path) -> bool {
    path.iter().any(is_git_name)
}

/// Returns whether a file system may treat the name as `.git`: in upper or lower case, with characters that macOS or
/// Windows ignores in names, or as a short name of Windows, such as `git~1`.
fn is_git_name(name: &OsStr) -> bool {
    let visible_name: String = name
        .to_string_lossy()
        .to_lowercase()
        .chars()
        .filter(|character| !is_ignored_in_names(*character))
        .collect();
    // Windows ignores dots and spaces at the end of a name, and reads the text after a colon as the name of a stream.
    let plain_name = visible_name
        .split(':')
        .next()
        .unwrap_or_default()
        .trim_end_matches(['.', ' ']);
    plain_name == ".git" || plain_name.starts_with("git~")
}

/// Returns whether macOS ignores this invisible character in file names.
const fn is_ignored_in_names(character: char) -> bool {
    matches!(character, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Joins the parts of a path with `/`, as git does on every platform.
fn join_with_slashes(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn names_that_a_file_system_reads_as_git_directory_are_recognized() {
        let names = [
            ".git",
            ".GIT",
            ".g\u{200c}it",
            ".git\u{feff}",
            ".git.",
            ".git ",
            ".git:x",
            "git~1",
            "GIT~2",
        ];
        for name in names {
            assert!(is_in_git_dir(&Path::new("a").join(name).join("b")), "{name}");
        }
        for name in ["git", ".gitignore", ".github", "x.git", "agit~1", ".g\u{301}it"] {
            assert!(!is_in_git_dir(&Path::new("a").join(name).join("b")), "{name}");
        }
    }

    #[test]
    fn path_is_normalized_without_the_disk() {
        assert_eq!(normalize_path(Path::new("/a/./b/../c")), Path::new("/a/c"));
        assert_eq!(normalize_path(Path::new("a/b")), Path::new("a/b"));
    }

    #[test]
    fn file_in_repository_has_a_relative_path_and_other_file_has_none() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("repository");
        fs::create_dir_all(root.join("sales")).unwrap();
        let find = |path: &str| find_path_in_repository(&root, &directory.path().join(path));
        assert_eq!(
            find("repository/sales/new.yaml").as_deref(),
            Some("sales/new.yaml")
        );
        assert_eq!(find("other/../repository/a.yaml").as_deref(), Some("a.yaml"));
        assert_eq!(find("a.yaml"), None);
        assert_eq!(find("repository/../a.yaml"), None);
    }

    #[test]
    fn output_file_must_be_in_checkout_and_outside_git_directory() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("reports")).unwrap();
        let resolve = |path: &str| resolve_in_checkout(&root, &root, Path::new(path));
        assert_eq!(resolve("reports/junit.xml"), Ok(root.join("reports/junit.xml")));
        assert_eq!(resolve("./junit.xml"), Ok(root.join("./junit.xml")));
        assert_eq!(resolve(".git/config"), Err("the path is in .git"));
        assert_eq!(resolve("a/.GIT/config"), Err("the path is in .git"));
        assert_eq!(resolve("../junit.xml"), Err("the path contains `..`"));
        assert_eq!(resolve("/junit.xml"), Err("the path is not relative"));
        assert_eq!(resolve("reports"), Err("the path exists and is not a file"));
    }

    #[test]
    #[cfg(unix)]
    fn links_in_path_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("real")).unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        assert!(contains_link(&root.join("link/file")));
        assert!(!contains_link(&root.join("real/file")));
        assert_eq!(find_links_in_path(&root, &root.join("link/file")), ["link"]);
        assert!(find_links_in_path(&root, &root.join("real/file")).is_empty());
        let tracked_paths = list_tracked_paths(&root, &root.join("link/file"));
        assert_eq!(tracked_paths, ["link/file", "real/file"]);
        // A link outside the repository leads to the link in it.
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root.join("link"), outside.path().join("first")).unwrap();
        std::os::unix::fs::symlink("first", outside.path().join("second")).unwrap();
        assert_eq!(
            find_links_in_path(&root, &outside.path().join("second/../second/file")),
            ["link"]
        );
        // A link to itself has no end.
        std::os::unix::fs::symlink("loop", root.join("loop")).unwrap();
        assert_eq!(find_links_in_path(&root, &root.join("loop/file"))[0], "loop");
    }
}
