//! Follows symbolic links in a commit, in the index or on disk, and never out of the repository.

use sluicegate_git::{FileContent, FileKind, GitError, Repository, Snapshot, SnapshotFile, read_disk_file};
use std::collections::VecDeque;
use std::path::Path;

/// Maximum number of links that are followed in one path, as in Linux.
const MAX_LINKS: usize = 40;
/// Maximum length of a link's target, in bytes.
const MAX_TARGET_BYTES: u64 = 4096;

#[derive(Debug, Default)]
pub struct ResolvedPath {
    /// The path, each link in it, and the final target, as paths relative to the repository root. A change to any of
    /// them changes the content of the path.
    pub paths: Vec<String>,
    pub file: Option<SnapshotFile>,
    /// A link leads out of the repository.
    pub leaves_repository: bool,
}

/// Follows the links in `path`, which is relative to the repository root. The result contains each path on the way and,
/// if the last path is a regular file, that file. If a path has more than `MAX_LINKS` links, the next link is not
/// followed.
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
    while let Some(part) = remaining_parts.pop_front() {
        match part.as_str() {
            ".." if resolved_parts.pop().is_none() => {
                resolved_path.leaves_repository = true;
                return Ok(resolved_path);
            }
            "" | "." | ".." => continue,
            _ => resolved_parts.push(part),
        }
        let current_path = resolved_parts.join("/");
        match snapshot.find_file(&current_path)? {
            Some(file) if file.kind == FileKind::Symlink && link_count < MAX_LINKS => {
                link_count += 1;
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
                resolved_path.file = Some(file).filter(|file| file.kind == FileKind::Regular);
            }
            Some(_) => return Ok(resolved_path),
            None if remaining_parts.is_empty() => resolved_path.add_path(current_path),
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
        FileContent::Blob(blob) => match repo.read_blob(blob, MAX_TARGET_BYTES) {
            Err(GitError::TooLarge { .. }) => None,
            content => Some(content?),
        },
        FileContent::Disk(full) => read_disk_file(full, MAX_TARGET_BYTES).ok().flatten(),
    };
    let target = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(target.filter(|target| !Path::new(target).is_absolute()))
}
