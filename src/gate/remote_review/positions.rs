//! Finds the component that the text of a violation names, and its line in the reviewed version of the file.

use crate::gate::pipeline_positions::{PipelinePositions, PositionCache};
use rayon::iter::{IntoParallelIterator, ParallelExtend, ParallelIterator};
use sluicegate_git::{BlobId, CommitId, Repository};
use sluicegate_pipelines::findings::{Status, Violation};
use sluicegate_pipelines::pipelines::{Pipeline, PipelineKind};
use sluicegate_yaml::{DocumentError, MAX_DOCUMENT_BYTES};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Finds the components and lines of violations. Keeps the positions in only one group of files at a time, to save
/// memory.
pub(crate) struct Positions<'a> {
    repo: &'a Repository,
    commit: &'a CommitId,
    blobs: HashMap<String, BlobId>,
    pipelines: HashMap<String, Result<PipelinePositions, DocumentError>>,
    /// The positions in pipelines of `commit` that another thread parsed.
    cache: Arc<PositionCache>,
}

impl<'a> Positions<'a> {
    /// Creates the search for the positions of components in the files of `commit`. Nothing is read yet.
    pub(crate) fn new(repo: &'a Repository, commit: &'a CommitId) -> Self {
        Self {
            repo,
            commit,
            blobs: HashMap::new(),
            pipelines: HashMap::new(),
            cache: Arc::default(),
        }
    }

    /// Uses the positions in this cache, which must be those of the same commit, instead of parsing the pipelines.
    pub(crate) fn with_cache(mut self, cache: Arc<PositionCache>) -> Self {
        self.cache = cache;
        self
    }

    /// Returns the kind of the pipeline by its content, or by its file name if the content cannot be read.
    pub(crate) fn find_kind(&self, path: &str) -> Option<PipelineKind> {
        let file = self.repo.find_file(self.commit, path).ok().flatten();
        let bytes = file.and_then(|file| self.repo.read_blob(&file.blob, MAX_DOCUMENT_BYTES).ok()?);
        let pipeline = bytes.and_then(|bytes| Pipeline::parse(&bytes).ok());
        pipeline.map_or_else(|| PipelineKind::from_path(path), |pipeline| Some(pipeline.kind))
    }

    /// Returns the number that the counting rule `rule` limits, for example of components, as measured in the file.
    /// Returns `None` for other rules, and for files that were not read.
    pub(crate) fn measured_size(&self, path: &str, rule: &str) -> Option<u64> {
        self.pipelines.get(path)?.as_ref().ok()?.find_size(rule)
    }

    /// Finds the blobs of all these files in one walk of the tree, and stores them for [`Self::read_pipelines`]. A file
    /// without a blob is not read, so its violations get no line and no subject. If git fails, no file has a blob.
    pub(crate) fn index_blobs(&mut self, paths: &BTreeSet<&str>) {
        let files = self.repo.find_files(self.commit, paths).unwrap_or_default();
        self.blobs = files.into_iter().map(|file| (file.path, file.blob)).collect();
    }

    /// Reads these files, and drops those that were read before. Takes the known positions from the cache. Reads the
    /// other blobs one after the other, because threads that read from git would only wait for each other. Then parses
    /// these files in parallel.
    pub(crate) fn read_pipelines<'p>(&mut self, paths: impl Iterator<Item = &'p str>) {
        self.pipelines.clear();
        let mut contents = Vec::new();
        for path in paths {
            if let Some(positions) = self.cache.take(path) {
                self.pipelines.insert(path.to_owned(), Ok(positions));
            } else if let Some(blob) = self.blobs.get(path)
                && let Ok(Some(bytes)) = self.repo.read_blob(blob, MAX_DOCUMENT_BYTES)
            {
                contents.push((path.to_owned(), bytes));
            }
        }
        self.pipelines
            .par_extend(contents.into_par_iter().map(|(path, bytes)| {
                let pipeline = Pipeline::parse(&bytes);
                (
                    path,
                    pipeline.map(|pipeline| PipelinePositions::from_pipeline(&pipeline)),
                )
            }));
    }

    /// Creates the violation with this text. Its line is that of the component that the text seems to name, or that of
    /// the syntax error. Its subject is set only if the name is certain, because the subject decides whether the
    /// violation is known. If a counting rule failed, also sets the number that the rule counts.
    pub(crate) fn build_violation(&self, path: &str, rule: &str, status: &Status, text: String) -> Violation {
        let mut violation = Violation::new(text);
        match self.pipelines.get(path) {
            Some(Ok(positions)) => {
                // A rule that could not be evaluated did not measure a number.
                let is_failed = matches!(status, Status::Failed(_));
                violation.size = positions.find_size(rule).filter(|_| is_failed);
                if let Some(named_component) = positions.find_subject(&violation.text) {
                    violation.line = Some(named_component.line);
                    violation.is_subject_guessed = named_component.subject.is_none();
                    if let Some(subject) = named_component.subject {
                        violation = violation.with_subject(subject);
                    }
                }
            }
            Some(Err(error)) if status.is_unreadable() => {
                violation.line = error.position.map(|position| position.line);
            }
            Some(Err(_)) | None => {}
        }
        violation
    }

    /// Sets the text that identifies the violation without a subject, if the rule failed because the pipeline lacks a
    /// part. Expects all violations of the result, with their subjects.
    pub(crate) fn identify_missing_part(
        &self,
        path: &str,
        rule: &str,
        status: &Status,
        violations: &mut [Violation],
    ) {
        if let (Some(Ok(positions)), Status::Failed(_)) = (self.pipelines.get(path), status) {
            positions.identify_missing_part(rule, violations);
        }
    }
}
