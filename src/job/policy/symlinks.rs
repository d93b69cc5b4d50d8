//! Follows symbolic links in a commit, in the index or on disk, and never out of the repository.

use sluicegate_git::{FileContent, FileKind, GitError, Repository, Snapshot, SnapshotFile, read_disk_file};
use std::collections::VecDeque;
use std::path::Path;

/// Maximum number of links that are followed in one path, as in Linux.
pub(super) const MAX_LINKS: usize = 40;
/// Maximum length of a link's target, in bytes.
const MAX_TARGET_BYTES: u64 = 4096;

/// The defect of a link to a missing path, to a directory or to itself.
pub(super) const BROKEN_LINK: &str = "a symbolic link in its path leads to no file";

/// The defect of a path at which the snapshot has a directory.
const DIRECTORY: &str = "a directory, not a file";

#[derive(Debug, Default)]
pub struct ResolvedPath {
    /// The path, each link in it, and the final target, as paths relative to the repository root. A change to any of
    /// them changes the content of the path.
    pub paths: Vec<String>,
    pub file: Option<SnapshotFile>,
    /// Why there is no file, although the path or a link on the way exists.
    pub defect: Option<&'static str>,
    /// A link leads out of the repository.
    pub leaves_repository: bool,
}

/// Follows the links in `path`, which is relative to the repository root. The result contains each path on the way and,
/// if the last path is a regular file, that file. A link that leads out of the repository or cannot be read
/// ends the search and sets `leaves_repository`. After `MAX_LINKS` links, the next link is not followed. A link that
/// leads to no file, or a submodule or a directory at the path, sets `defect`.
pub fn follow_links(
    repo: &Repository,
    snapshot: &Snapshot<'_>,
    path: &str,
) -> Result<ResolvedPath, GitError> {
    let mut resolved_path = ResolvedPath {
        paths: vec![path.to_owned()],
        ..ResolvedPath::default()
    };
    let mut remaining_parts: VecDeque<String> = path.split('/').map(str::to_owned).collect();
    let mut resolved_parts: Vec<String> = Vec::new();
    let mut link_count = 0;
    let mut is_file_link = false;
    while let Some(part) = remaining_parts.pop_front() {
        match part.as_str() {
            ".." => {
                if resolved_parts.pop().is_none() {
                    resolved_path.leaves_repository = true;
                    return Ok(resolved_path);
                }
                continue;
            }
            "" | "." => continue,
            _ => resolved_parts.push(part),
        }
        let current_path = resolved_parts.join("/");
        match snapshot.find_file(&current_path)? {
            Some(file) if file.kind == FileKind::Symlink && link_count < MAX_LINKS => {
                link_count += 1;
                is_file_link |= remaining_parts.is_empty();
                resolved_path.defect = Some(BROKEN_LINK);
                // The target is relative to the link's directory, and its parts take the place of the link.
                resolved_parts.pop();
                resolved_path.add_path(current_path);
                let Some(target) = read_link_target(repo, &file)? else {
                    resolved_path.leaves_repository = true;
                    return Ok(resolved_path);
                };
                target
                    .split('/')
                    .rev()
                    .for_each(|part| remaining_parts.push_front(part.to_owned()));
            }
            Some(file) if remaining_parts.is_empty() => {
                resolved_path.add_path(current_path);
                resolved_path.defect = file.kind.unreadable_reason();
                resolved_path.file = Some(file).filter(|file| file.kind == FileKind::Regular);
            }
            // A file has nothing below it, and a link after `MAX_LINKS` links is not followed.
            Some(_) => return Ok(resolved_path),
            None if remaining_parts.is_empty() => {
                let is_directory = snapshot.has_path(&current_path)?;
                resolved_path.add_path(current_path);
                resolved_parts.pop();
                let dir = resolved_parts.join("/");
                // A link to a directory without this file is no defect.
                if !is_file_link && (dir.is_empty() || snapshot.has_path(&dir)?) {
                    resolved_path.defect = is_directory.then_some(DIRECTORY);
                }
            }
            // A directory, of which git stores only the files in it, or a missing file.
            None => {}
        }
    }
    Ok(resolved_path)
}

impl ResolvedPath {
    /// Adds a path on the way unless the list already contains it.
    fn add_path(&mut self, path: String) {
        if !self.paths.contains(&path) {
            self.paths.push(path);
        }
    }
}

/// Returns the target of the link, relative to the link's directory, or `None` if it is absolute, too long or
/// unreadable.
fn read_link_target(repo: &Repository, link: &SnapshotFile) -> Result<Option<String>, GitError> {
    let bytes = match &link.content {
        FileContent::Blob(blob) => repo.read_blob(blob, MAX_TARGET_BYTES)?,
        FileContent::Disk(full) => read_disk_file(full, MAX_TARGET_BYTES).ok().flatten(),
    };
    let target = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(target.filter(|target| !Path::new(target).is_absolute()))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use sluicegate_test_support::World;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// Commits `folder/rules.yaml` and these links, and follows the path in the commit and on disk. Both must have the
    /// same result.
    fn resolve(links: &[(&str, &str)], path: &str) -> ResolvedPath {
        let world = World::new().with_file("folder/rules.yaml", "rules: []\n");
        for (link, target) in links {
            let full_path = world.work().join(link);
            fs::create_dir_all(full_path.parent().unwrap()).unwrap();
            symlink(target, full_path).unwrap();
        }
        world.commit("links");
        let repo = Repository::open(&world.work()).unwrap();
        let head = repo.resolve("HEAD").unwrap();
        let from_commit = follow_links(&repo, &repo.snapshot(head), path).unwrap();
        let from_disk = follow_links(&repo, &repo.read_disk_snapshot(None).unwrap(), path).unwrap();
        assert_eq!(from_commit.paths, from_disk.paths);
        assert_eq!(from_commit.file.is_some(), from_disk.file.is_some());
        assert_eq!(from_commit.leaves_repository, from_disk.leaves_repository);
        from_commit
    }

    #[test]
    fn file_without_links_is_its_own_target() {
        let resolved_path = resolve(&[], "folder/rules.yaml");
        assert_eq!(resolved_path.paths, ["folder/rules.yaml"]);
        assert!(resolved_path.file.is_some());
        assert!(!resolved_path.leaves_repository);
    }

    #[test]
    fn links_to_files_and_directories_are_followed_and_recorded() {
        let links = [("first", "second/rules.yaml"), ("second", "./folder")];
        let resolved_path = resolve(&links, "first");
        assert_eq!(resolved_path.paths, ["first", "second", "folder/rules.yaml"]);
        assert!(resolved_path.file.is_some());
    }

    #[test]
    fn link_to_parent_directory_stays_in_repository() {
        let resolved_path = resolve(&[("other/link", "../folder/rules.yaml")], "other/link");
        assert_eq!(resolved_path.paths, ["other/link", "folder/rules.yaml"]);
        assert!(resolved_path.file.is_some());
        assert!(!resolved_path.leaves_repository);
    }

    #[test]
    fn links_out_of_repository_have_no_file() {
        for target in ["../folder/rules.yaml", "/folder/rules.yaml"] {
            let resolved_path = resolve(&[("link", target)], "link");
            assert!(resolved_path.leaves_repository, "{target}");
            assert!(resolved_path.file.is_none(), "{target}");
        }
    }

    #[test]
    fn missing_target_is_recorded_without_a_file() {
        let resolved_path = resolve(&[("link", "folder/missing.yaml")], "link");
        assert_eq!(resolved_path.paths, ["link", "folder/missing.yaml"]);
        assert!(resolved_path.file.is_none());
        assert_eq!(resolved_path.defect, Some(BROKEN_LINK));
        assert!(!resolved_path.leaves_repository);
    }

    #[test]
    fn path_below_a_file_has_no_target() {
        let resolved_path = resolve(&[], "folder/rules.yaml/more");
        assert_eq!(resolved_path.paths, ["folder/rules.yaml/more"]);
        assert!(resolved_path.file.is_none());
        assert_eq!(resolved_path.defect, None);
    }

    #[test]
    fn chain_ends_after_the_maximum_number_of_links() {
        let names: Vec<String> = (0..=MAX_LINKS).map(|number| format!("link{number}")).collect();
        let mut links: Vec<(&str, &str)> = Vec::new();
        for pair in names.windows(2) {
            links.push((pair[0].as_str(), pair[1].as_str()));
        }
        let last_name = names.last().unwrap().as_str();
        links.push((last_name, "folder/rules.yaml"));
        // One link too many, then exactly as many as allowed.
        assert!(resolve(&links, "link0").file.is_none());
        assert!(resolve(&links, "link1").file.is_some());
    }

    #[test]
    fn circle_of_links_has_no_file() {
        let resolved_path = resolve(&[("one", "two"), ("two", "one")], "one");
        assert_eq!(resolved_path.paths, ["one", "two"]);
        assert!(resolved_path.file.is_none());
    }
}
