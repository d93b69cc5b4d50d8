//! Follows symbolic links in a commit, in the index or on disk, and never out of the repository.

use sluicegate_git::{Content, FileKind, GitError, Repository, Snapshot, SnapshotFile, read_on_disk};
use std::collections::VecDeque;
use std::path::Path;

/// Maximum number of links that are followed in one path, as in Linux.
const MOST_LINKS: usize = 40;
/// Maximum length of a link's target, in bytes.
const LONGEST_TARGET: u64 = 4096;

#[derive(Debug, Default)]
pub struct Followed {
    /// The path, each link in it, and the final target, as paths relative to the repository root. A change of any of
    /// them changes the content of the path.
    pub paths: Vec<String>,
    pub file: Option<SnapshotFile>,
    /// A link leads out of the repository.
    pub leaves: bool,
}

/// Follows the links in `path`, which is relative to the repository root.
pub fn follow(repo: &Repository, snapshot: &Snapshot<'_>, path: &str) -> Result<Followed, GitError> {
    let mut found = Followed {
        paths: vec![path.to_owned()],
        ..Followed::default()
    };
    let mut ahead: VecDeque<String> = path.split('/').map(str::to_owned).collect();
    let mut done: Vec<String> = Vec::new();
    let mut links = 0;
    while let Some(part) = ahead.pop_front() {
        match part.as_str() {
            ".." if done.pop().is_none() => {
                found.leaves = true;
                return Ok(found);
            }
            "" | "." | ".." => continue,
            _ => done.push(part),
        }
        let here = done.join("/");
        match snapshot.find(&here)? {
            Some(file) if file.kind == FileKind::Symlink && links < MOST_LINKS => {
                links += 1;
                done.pop();
                found.note(here);
                let Some(target) = target(repo, &file)? else {
                    found.leaves = true;
                    return Ok(found);
                };
                target
                    .split('/')
                    .rev()
                    .for_each(|part| ahead.push_front(part.to_owned()));
            }
            Some(file) if ahead.is_empty() => {
                found.note(here);
                found.file = Some(file).filter(|file| file.kind == FileKind::Regular);
            }
            Some(_) => return Ok(found),
            None if ahead.is_empty() => found.note(here),
            // A directory, of which git stores only the files in it, or a missing file.
            None => {}
        }
    }
    Ok(found)
}

impl Followed {
    fn note(&mut self, path: String) {
        if !self.paths.contains(&path) {
            self.paths.push(path);
        }
    }
}

/// Returns the target of the link, relative to the link's directory, or `None` if it is not a path in the repository.
fn target(repo: &Repository, link: &SnapshotFile) -> Result<Option<String>, GitError> {
    let bytes = match &link.content {
        Content::Blob(blob) => match repo.read_blob(blob, LONGEST_TARGET) {
            Err(GitError::TooLarge { .. }) => None,
            read => Some(read?),
        },
        Content::Disk(full) => read_on_disk(full, LONGEST_TARGET).ok().flatten(),
    };
    let target = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(target.filter(|target| !Path::new(target).is_absolute()))
}
