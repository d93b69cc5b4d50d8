//! Evaluates rules on files of a snapshot, from blobs or from disk.

use crate::document_content::{read_document_blob, read_document_on_disk};
use crate::gate::Tally;
use rayon::prelude::*;
use sluicegate_git::{FileContent, GitError, Repository, SnapshotFile};
use sluicegate_pipelines::findings::{FileResults, UnreviewedFile};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_pipelines::rules::{PipelineObserver, RuleSet};
use std::path::Path;

/// Minimum number of files that a thread evaluates at a time.
const MIN_FILES_PER_THREAD: usize = 32;

/// Returns why the file is not evaluated: it is not a regular file, or its content may be that of another file. `None`
/// if it is.
const fn find_skip_reason(file: &SnapshotFile) -> Option<&'static str> {
    match (file.kind.unreadable_reason(), file.doubt) {
        (Some(reason), _) => Some(reason),
        (None, Some(doubt)) => Some(doubt.reason()),
        (None, None) => None,
    }
}

/// Evaluates the rules on the files. Files on disk are read and evaluated on all cores. Blobs are read by one thread,
/// because a repository belongs to one thread. Calls `on_pipeline` for each pipeline that could be read.
pub(crate) fn evaluate_files(
    repo: &Repository,
    rules: &RuleSet,
    files: Vec<SnapshotFile>,
    on_pipeline: &PipelineObserver<'_>,
) -> Result<Tally, GitError> {
    let mut tally = Tally::default();
    let (mut blobs, mut disk_files) = (Vec::new(), Vec::new());
    for file in files {
        if !is_pipeline(&file.path) {
            tally.excluded_paths.push(file.path);
            continue;
        }
        if let Some(reason) = find_skip_reason(&file) {
            tally.unreviewed_files.push(UnreviewedFile {
                path: file.path,
                reason: reason.to_owned(),
            });
            continue;
        }
        match file.content {
            FileContent::Blob(blob) => blobs.push((file.path, blob)),
            FileContent::Disk(disk_path) => disk_files.push((file.path, disk_path)),
        }
    }
    let documents = blobs.into_iter().map(|(path, blob)| {
        let document = read_document_blob(repo, &blob)?;
        Ok::<_, GitError>((path, document))
    });
    tally.files = rules.evaluate_all(documents, on_pipeline)?;
    // By reference: if one thread frees memory that another allocated, the threads wait for each other.
    let evaluations: Vec<_> = disk_files
        .par_iter()
        .with_min_len(MIN_FILES_PER_THREAD)
        .map(|(path, disk_path)| evaluate_file_on_disk(rules, path, disk_path, on_pipeline))
        .collect();
    for evaluation in evaluations {
        match evaluation {
            Ok(results) => tally.files.push(results),
            Err(file) => tally.unreviewed_files.push(file),
        }
    }
    tally.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(tally)
}

/// Reads a file on disk and evaluates the rules on it. The error is the file with the reason why it has no review.
fn evaluate_file_on_disk(
    rules: &RuleSet,
    path: &str,
    disk_path: &Path,
    on_pipeline: &PipelineObserver<'_>,
) -> Result<FileResults, UnreviewedFile> {
    let document = read_document_on_disk(disk_path).map_err(|error| UnreviewedFile {
        path: path.to_owned(),
        reason: format!("could not read the file: {error}"),
    })?;
    Ok(rules.evaluate_document(path, &document, on_pipeline))
}
