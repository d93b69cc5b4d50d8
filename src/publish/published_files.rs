//! Compares a plan with the files of a published commit: the content of a version, beside its interface.

use super::content_hashes;
use super::content_reader::ContentReader;
use super::{FileSelection, FileSource, Plan, PlannedFile, PublishError};
use sluicegate_git::{CommitId, Content, FileKind, Repository, TreeFile};
use sluicegate_pipelines::interface::{Change, What};
use sluicegate_pipelines::pipelines::SharedPipelines;
use sluicegate_pipelines::yaml::DOCUMENT_LIMIT;
use std::collections::BTreeMap;

/// The files of the published commit.
pub struct PublishedFiles<'a> {
    pub repository: &'a Repository,
    pub commit: &'a CommitId,
    /// Returns whether the globs select a path.
    pub is_selected: &'a dyn Fn(&str) -> bool,
}

/// Returns the files that differ, by path. A shared-pipelines file with the same content in another order is unchanged.
pub fn compare_with_published_files(
    plan: &Plan,
    published: &PublishedFiles<'_>,
) -> Result<Vec<Change>, PublishError> {
    let is_planned = |path: &str| {
        plan.files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .is_ok()
    };
    let is_compared = |path: &str| {
        is_planned(path) || (plan.selection == FileSelection::All && (published.is_selected)(path))
    };
    let files = published.repository.files(published.commit, &is_compared)?;
    let files = files.iter().filter(|file| file.kind != FileKind::Submodule);
    let mut unmatched_files: BTreeMap<&str, &TreeFile> =
        files.map(|file| (file.path.as_str(), file)).collect();
    let contents = ContentReader::new(published.repository.root().to_owned());
    let mut changes = Vec::new();
    for file in &plan.files {
        match unmatched_files.remove(file.path.as_str()) {
            None => changes.push(Change::of_file(What::FileAdded, &file.path)),
            Some(published_file) => {
                if !is_file_unchanged(plan, &contents, &Content::Blob(published_file.blob), file)? {
                    changes.push(Change::of_file(What::FileModified, &file.path));
                }
            }
        }
    }
    changes.extend(
        unmatched_files
            .into_keys()
            .map(|path| Change::of_file(What::FileRemoved, path)),
    );
    Ok(changes)
}

fn is_file_unchanged(
    plan: &Plan,
    contents: &ContentReader,
    published_content: &Content,
    is: &PlannedFile,
) -> Result<bool, PublishError> {
    if *published_content == is.content {
        return Ok(true);
    }
    if is.path == plan.interface.file {
        let meaning = |content| {
            let bytes = contents.read(content, DOCUMENT_LIMIT)?;
            Ok::<_, PublishError>(bytes.and_then(|bytes| SharedPipelines::meaning(&bytes).ok()))
        };
        let (published_content, is) = (meaning(published_content)?, meaning(&is.content)?);
        return Ok(published_content.is_some() && published_content == is);
    }
    if plan.source == FileSource::Commit || contents.size(published_content)? != is.bytes {
        return Ok(false);
    }
    let hash = |content| content_hashes::hash_reader(contents.open(content, is.bytes)?, &is.path);
    Ok(hash(published_content)? == hash(&is.content)?)
}
