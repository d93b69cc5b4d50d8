//! Evaluates rules on files of a snapshot, wherever their content is.

use super::Tally;
use crate::base::git::{Content, GitError, Repository, SnapshotFile};
use crate::model::findings::{FileResults, Unreviewed};
use crate::model::pipelines::{document_in, document_on_disk, is_pipeline};
use crate::model::rules::{RuleSet, SeePipeline};
use rayon::prelude::*;
use std::path::Path;

/// The least files that a thread takes at a time.
const AT_A_TIME: usize = 32;

/// Why a file is not judged: what stands there is none, or may be another one.
const fn not_to_judge(file: &SnapshotFile) -> Option<&'static str> {
    match (file.kind.why_not_read(), file.doubt) {
        (Some(why), _) => Some(why),
        (None, Some(doubt)) => Some(doubt.reason()),
        (None, None) => None,
    }
}

/// Files on disk are read and evaluated on all cores; blobs are read by one, as a repository belongs to one thread.
/// `see` is shown each pipeline that was read.
pub(crate) fn evaluate(
    repo: &Repository,
    rules: &RuleSet,
    files: Vec<SnapshotFile>,
    see: &SeePipeline<'_>,
) -> Result<Tally, GitError> {
    let mut tally = Tally::default();
    let (mut blobs, mut on_disk) = (Vec::new(), Vec::new());
    for file in files {
        if !is_pipeline(&file.path) {
            tally.excluded.push(file.path);
            continue;
        }
        if let Some(why) = not_to_judge(&file) {
            tally.unreviewed.push(Unreviewed {
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
        let document = document_in(repo, &blob)?;
        Ok::<_, GitError>((path, document))
    });
    tally.files = rules.evaluate_all(documents, see)?;
    // By reference: memory that one thread takes and another gives back makes threads wait for each other.
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
    see: &SeePipeline<'_>,
) -> Result<FileResults, Unreviewed> {
    let document = document_on_disk(full).map_err(|error| Unreviewed {
        path: path.to_owned(),
        reason: format!("it cannot be read: {error}"),
    })?;
    Ok(rules.evaluate_document(path, &document, see))
}
