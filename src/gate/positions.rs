//! Where a violation stands: the line of the component that its text names, in the file as it was reviewed.

use crate::git::{CommitId, Repository};
use crate::pipelines::Pipeline;

/// Pipelines larger than this are not searched for positions; their findings stand on line 1.
const SIZE_LIMIT: u64 = 64 * 1024 * 1024;

/// Reads a file when it is first asked for, and keeps the last one, as questions come file by file.
pub struct Positions<'a> {
    repo: &'a Repository,
    commit: &'a CommitId,
    last: Option<(String, Option<Pipeline>)>,
}

impl<'a> Positions<'a> {
    /// Positions in the files of `commit`.
    pub const fn new(repo: &'a Repository, commit: &'a CommitId) -> Self {
        Self {
            repo,
            commit,
            last: None,
        }
    }

    /// The line of what `text` names in the file; none if it names nothing, or the file cannot be read.
    pub fn line(&mut self, path: &str, text: &str) -> Option<u32> {
        if self.last.as_ref().is_none_or(|(known, _)| known != path) {
            self.last = Some((path.to_owned(), self.read(path)));
        }
        let (_, pipeline) = self.last.as_ref()?;
        pipeline.as_ref()?.line_named_in(text)
    }

    fn read(&self, path: &str) -> Option<Pipeline> {
        let file = self.repo.find_file(self.commit, path).ok()??;
        let bytes = self.repo.read_blob(&file.blob, SIZE_LIMIT).ok()?;
        Pipeline::parse(&bytes).ok()
    }
}
