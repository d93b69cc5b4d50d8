//! Compares a plan with the files of a published commit: the content of a version, in addition to its interface.

use super::content_hashes::hash_reader;
use super::content_reader::ContentReader;
use super::lfs_files::is_pointer_to_planned_file;
use super::{FileSelection, Plan, PlannedFile, PublishError};
use sluicegate_git::{CommitId, FileContent, FileKind, Repository, TreeFile};
use sluicegate_pipelines::interface::{InterfaceChange, InterfaceChangeKind};
use sluicegate_pipelines::pipelines::SharedPipelines;
use sluicegate_yaml::MAX_DOCUMENT_BYTES;
use std::collections::BTreeMap;

/// The files of the published commit.
pub struct PublishedFiles<'a> {
    pub repository: &'a Repository,
    pub commit: &'a CommitId,
    pub selection: PublishedSelection<'a>,
}

/// The files of the published commit that the version has.
pub enum PublishedSelection<'a> {
    /// The files of this plan of the published commit.
    Plan(&'a Plan),
    /// The files with the paths of the new plan, and those that its globs select: the published commit has no plan.
    Globs(&'a dyn Fn(&str) -> bool),
}

/// Returns the files that the plan adds, modifies or removes, compared with a published commit. The shared-pipelines
/// file is treated as unchanged if only its order, quotes or comments differ. Without a plan of the published commit,
/// its scripts, and with `--select closure` all of its files, are not reported as removed, because it is unknown
/// whether the version has them.
pub fn compare_with_published_files(
    plan: &Plan,
    published_files: &PublishedFiles<'_>,
) -> Result<Vec<InterfaceChange>, PublishError> {
    // The files of the commit that the plan may add, modify or remove.
    let commit_files = published_files
        .repository
        .list_base_files(published_files.commit, &|path| match published_files.selection {
            PublishedSelection::Globs(is_selected) => {
                plan.has_file(path) || (plan.selection == FileSelection::All && is_selected(path))
            }
            PublishedSelection::Plan(published_plan) => published_plan.has_file(path),
        })?;
    // The loop removes each file that the plan has, too.
    let mut unmatched_files: BTreeMap<&str, &TreeFile> = commit_files
        .iter()
        .filter(|file| file.kind != FileKind::Submodule)
        .map(|file| (file.path.as_str(), file))
        .collect();
    let contents = ContentReader::new(published_files.repository.root().to_owned());
    let mut changes = Vec::new();
    for file in &plan.files {
        match unmatched_files.remove(file.path.as_str()) {
            None => changes.push(InterfaceChange::for_file(
                InterfaceChangeKind::FileAdded,
                &file.path,
            )),
            Some(published_file) => {
                if !is_file_unchanged(plan, &contents, &FileContent::Blob(published_file.blob), file)? {
                    changes.push(InterfaceChange::for_file(
                        InterfaceChangeKind::FileModified,
                        &file.path,
                    ));
                }
            }
        }
    }
    changes.extend(
        unmatched_files
            .into_keys()
            .map(|path| InterfaceChange::for_file(InterfaceChangeKind::FileRemoved, path)),
    );
    Ok(changes)
}

impl Plan {
    /// Replaces the planned shared-pipelines file by that of a commit, if the commit has it.
    pub fn use_shared_file_of_commit(
        &mut self,
        repository: &Repository,
        commit: &CommitId,
    ) -> Result<(), PublishError> {
        let shared_path = &self.interface.file;
        let Some(committed_file) = repository.find_file(commit, shared_path)? else {
            return Ok(());
        };
        for file in &mut self.files {
            if file.path == *shared_path {
                file.bytes = repository.read_blob_size(&committed_file.blob)?;
                file.content = FileContent::Blob(committed_file.blob);
                file.checked_hash = None;
            }
        }
        Ok(())
    }
}

/// Returns whether a planned file has the published content: the same blob, the same meaning for the shared-pipelines
/// file, otherwise the same size and hash. The published blob may be a Git LFS pointer to the planned file.
fn is_file_unchanged(
    plan: &Plan,
    contents: &ContentReader,
    published_content: &FileContent,
    planned_file: &PlannedFile,
) -> Result<bool, PublishError> {
    if *published_content == planned_file.content {
        return Ok(true);
    }
    if planned_file.path == plan.interface.file {
        let published_text = read_canonical_text(contents, published_content)?;
        return Ok(published_text.is_some()
            && published_text == read_canonical_text(contents, &planned_file.content)?);
    }
    if contents.read_content_size(published_content)? != planned_file.bytes {
        return is_pointer_to_planned_file(contents, published_content, planned_file);
    }
    let published_hash = hash_content(contents, published_content, planned_file)?;
    Ok(published_hash == hash_content(contents, &planned_file.content, planned_file)?)
}

/// Returns the SHA-256 in hex of the planned or the published content of a file; both have the same size.
fn hash_content(
    contents: &ContentReader,
    content: &FileContent,
    planned_file: &PlannedFile,
) -> Result<String, PublishError> {
    let reader = contents.open_content(content, planned_file.bytes)?;
    hash_reader(reader, &planned_file.path)
}

/// Reads a shared-pipelines file, and returns its content as a text that does not depend on the order of its entries;
/// `None` if the file is too large or invalid.
fn read_canonical_text(
    contents: &ContentReader,
    content: &FileContent,
) -> Result<Option<String>, PublishError> {
    let bytes = contents.read_content(content, MAX_DOCUMENT_BYTES)?;
    Ok(bytes.and_then(|bytes| SharedPipelines::parse_canonical_text(&bytes).ok()))
}
