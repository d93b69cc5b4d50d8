//! Evaluates rules on files of a snapshot, from blobs or from disk.

use crate::document_content::{read_document_blob, read_document_on_disk};
use crate::gate::RunFindings;
use rayon::prelude::*;
use sluicegate_base::overlap;
use sluicegate_git::{FileContent, GitError, Repository, SnapshotFile};
use sluicegate_pipelines::findings::{FileResults, ReviewGap, UnreviewedFile};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_pipelines::rules::{PipelineObserver, RuleSet};
use sluicegate_yaml::DocumentError;
use std::path::Path;

/// Minimum number of files that a thread evaluates at a time.
const MIN_FILES_PER_THREAD: usize = 32;

/// Evaluates the content of a file, or the reason why it cannot be read.
pub(crate) type EvaluateDocument<'f> =
    dyn Fn(&str, &Result<Vec<u8>, DocumentError>) -> FileResults + Sync + 'f;

/// Returns an error for a file that is not evaluated: it is not a regular file, or its content on disk may differ from
/// the content that git stores.
fn reject_unreliable_content(file: &SnapshotFile) -> Result<(), UnreviewedFile> {
    let (reason, next_step) = match (file.kind.unreadable_reason(), file.doubt) {
        (Some(reason), _) => (reason, None),
        (None, Some(doubt)) => (doubt.reason(), Some(doubt.next_step())),
        (None, None) => return Ok(()),
    };
    Err(UnreviewedFile {
        path: file.path.clone(),
        reason: reason.to_owned(),
        next_step: next_step.map(str::to_owned),
        gap: ReviewGap::Other,
    })
}

/// Evaluates the rules on the files. Calls `on_pipeline` for each pipeline that could be read. Files that are not
/// pipelines are excluded.
pub(crate) fn evaluate_files(
    repo: &Repository,
    rules: &RuleSet,
    files: Vec<SnapshotFile>,
    on_pipeline: &PipelineObserver<'_>,
) -> Result<RunFindings, GitError> {
    let mut run_findings = RunFindings::default();
    let (pipelines, other_files): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| is_pipeline(&file.path));
    run_findings.excluded_paths = other_files.into_iter().map(|file| file.path).collect();
    (run_findings.files, run_findings.unreviewed_files) =
        evaluate_documents(repo, pipelines, &|path, document| {
            rules.evaluate_document(path, document, on_pipeline)
        })?;
    Ok(run_findings)
}

/// Reads the files and calls `evaluate` for each, on all cores. Files on disk are read on all cores, too. Blobs are
/// read by one thread, because a repository cannot be shared between threads. Returns the results by path, and the
/// files that were not read.
pub(crate) fn evaluate_documents(
    repo: &Repository,
    files: Vec<SnapshotFile>,
    evaluate: &EvaluateDocument<'_>,
) -> Result<(Vec<FileResults>, Vec<UnreviewedFile>), GitError> {
    let mut unread_files = Vec::new();
    let (mut blobs, mut disk_files) = (Vec::new(), Vec::new());
    for file in files {
        if let Err(unread_file) = reject_unreliable_content(&file) {
            unread_files.push(unread_file);
            continue;
        }
        match file.content {
            FileContent::Blob(blob) => blobs.push((file.path, blob)),
            FileContent::Disk(disk_path) => disk_files.push((file.path, disk_path)),
        }
    }
    // The size of each document limits how many of them are in memory at a time.
    let documents = blobs.into_iter().map(|(path, blob)| {
        let document = read_document_blob(repo, &blob)?;
        let size = document.as_ref().map_or(0, Vec::len);
        Ok::<_, GitError>(((path, document), size))
    });
    let mut results = overlap::compute_all(documents, &|(path, document): (String, _)| {
        evaluate(&path, &document)
    })?;
    // `par_iter` only borrows the files: if one thread freed memory that another allocated, the threads would wait for
    // each other.
    let evaluations: Vec<_> = disk_files
        .par_iter()
        .with_min_len(MIN_FILES_PER_THREAD)
        .map(|(path, disk_path)| evaluate_file_on_disk(path, disk_path, evaluate))
        .collect();
    for evaluation in evaluations {
        match evaluation {
            Ok(file) => results.push(file),
            Err(file) => unread_files.push(file),
        }
    }
    results.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((results, unread_files))
}

/// Reads a file on disk and evaluates it. The error contains the path and the reason why the file was not read.
fn evaluate_file_on_disk(
    path: &str,
    disk_path: &Path,
    evaluate: &EvaluateDocument<'_>,
) -> Result<FileResults, UnreviewedFile> {
    let document = read_document_on_disk(disk_path).map_err(|error| UnreviewedFile {
        path: path.to_owned(),
        reason: format!("could not read the file: {error}"),
        next_step: None,
        gap: ReviewGap::Other,
    })?;
    Ok(evaluate(path, &document))
}
