//! Evaluates rules on files of a snapshot, from blobs or from disk.

use crate::document_content::{read_document_blob, read_document_on_disk};
use crate::gate::Tally;
use rayon::prelude::*;
use sluicegate_git::{Content, GitError, Repository, SnapshotFile};
use sluicegate_pipelines::findings::{FileResults, UnreviewedFile};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_pipelines::rules::{PipelineObserver, RuleSet};
use std::path::Path;

/// Minimum number of files that a thread evaluates at a time.
const AT_A_TIME: usize = 32;

/// Returns the reason why the file is not evaluated: it is not a regular file, or its content may be that of another
/// file.
const fn not_to_judge(file: &SnapshotFile) -> Option<&'static str> {
    match (file.kind.why_not_read(), file.doubt) {
        (Some(why), _) => Some(why),
        (None, Some(doubt)) => Some(doubt.reason()),
        (None, None) => None,
    }
}

/// Evaluates the rules on the files. Files on disk are read and evaluated on all cores; blobs are read by one thread,
/// as a repository belongs to one thread. Calls `see` for each pipeline that was read.
pub(crate) fn evaluate(
    repo: &Repository,
    rules: &RuleSet,
    files: Vec<SnapshotFile>,
    see: &PipelineObserver<'_>,
) -> Result<Tally, GitError> {
    let mut tally = Tally::default();
    let (mut blobs, mut on_disk) = (Vec::new(), Vec::new());
    for file in files {
        if !is_pipeline(&file.path) {
            tally.excluded.push(file.path);
            continue;
        }
        if let Some(why) = not_to_judge(&file) {
            tally.unreviewed.push(UnreviewedFile {
                path: file.path,
                reason: why.to_owned(),
            });
            continue;
        }
        match file.content {
            Content::Blob(blob) => blobs.push((file.path, blob)),
            Content::Disk(full) => on_disk.push((file.path, full)),
        }
    }
    let documents = blobs.into_iter().map(|(path, blob)| {
        let document = read_document_blob(repo, &blob)?;
        Ok::<_, GitError>((path, document))
    });
    tally.files = rules.evaluate_all(documents, see)?;
    // By reference: if one thread frees memory that another allocated, the threads wait for each other.
    let evaluated: Vec<_> = on_disk
        .par_iter()
        .with_min_len(AT_A_TIME)
        .map(|(path, full)| evaluate_on_disk(rules, path, full, see))
        .collect();
    for result in evaluated {
        match result {
            Ok(results) => tally.files.push(results),
            Err(unread) => tally.unreviewed.push(unread),
        }
    }
    tally.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(tally)
}

fn evaluate_on_disk(
    rules: &RuleSet,
    path: &str,
    full: &Path,
    see: &PipelineObserver<'_>,
) -> Result<FileResults, UnreviewedFile> {
    let document = read_document_on_disk(full).map_err(|error| UnreviewedFile {
        path: path.to_owned(),
        reason: format!("could not read the file: {error}"),
    })?;
    Ok(rules.evaluate_document(path, &document, see))
}
