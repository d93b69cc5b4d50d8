//! What a violation is about, and where that stands: the component that its text names, in the file as it was reviewed.

use crate::findings::{Status, Violation};
use crate::git::{CommitId, Repository};
use crate::pipelines::Pipeline;
use crate::rules;
use crate::yaml::DocumentError;

/// Pipelines larger than this are not searched for positions; their findings stand on line 1.
const SIZE_LIMIT: u64 = 64 * 1024 * 1024;

/// Reads a file when it is first asked for, and keeps the last one, as questions come file by file.
pub struct Positions<'a> {
    repo: &'a Repository,
    commit: &'a CommitId,
    last: Option<(String, Option<Result<Pipeline, DocumentError>>)>,
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

    /// The violation with the words `text`: its line is that of what they name in the file, and of what is wrong with a
    /// file that is no pipeline.
    pub fn violation(&mut self, path: &str, rule: &str, status: &Status, text: String) -> Violation {
        let mut violation = Violation::new(text);
        match self.pipeline(path) {
            Some(Ok(pipeline)) => {
                violation.size = rules::size(rule, pipeline);
                if let Some(named) = pipeline.named_in(&violation.text) {
                    violation.line = Some(named.line);
                    violation.about = Some(named.name.to_owned());
                }
            }
            Some(Err(error)) if status.is_unreadable() => {
                violation.line = error.position.map(|position| position.line);
            }
            Some(Err(_)) | None => {}
        }
        violation
    }

    fn pipeline(&mut self, path: &str) -> Option<&Result<Pipeline, DocumentError>> {
        if self.last.as_ref().is_none_or(|(known, _)| known != path) {
            self.last = Some((path.to_owned(), self.read(path)));
        }
        self.last.as_ref()?.1.as_ref()
    }

    fn read(&self, path: &str) -> Option<Result<Pipeline, DocumentError>> {
        let file = self.repo.find_file(self.commit, path).ok()??;
        let bytes = self.repo.read_blob(&file.blob, SIZE_LIMIT).ok()?;
        Some(Pipeline::parse(&bytes))
    }
}
