//! Compares a plan with the files of a published commit: the content of a version, beside its interface.

use super::contents::PublishContents;
use super::hash;
use super::{Plan, PlannedFile, PublishError, Select, Source};
use sluicegate_git::{CommitId, Content, FileKind, Repository, TreeFile};
use sluicegate_pipelines::interface::{ChangeKind, InterfaceChange};
use sluicegate_pipelines::pipelines::SharedPipelines;
use sluicegate_pipelines::yaml::MAX_DOCUMENT_BYTES;
use std::collections::BTreeMap;

/// The files of the published commit.
pub struct OldFiles<'a> {
    pub repository: &'a Repository,
    pub commit: &'a CommitId,
    /// Returns whether the globs select a path.
    pub selects: &'a dyn Fn(&str) -> bool,
}

/// Returns the files that differ, by path. A shared-pipelines file with the same content in another order is unchanged.
pub fn since(plan: &Plan, old: &OldFiles<'_>) -> Result<Vec<InterfaceChange>, PublishError> {
    let planned = |path: &str| {
        plan.files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .is_ok()
    };
    let is_meant = |path: &str| planned(path) || (plan.select == Select::All && (old.selects)(path));
    let files = old.repository.files(old.commit, &is_meant)?;
    let files = files.iter().filter(|file| file.kind != FileKind::Submodule);
    let mut gone: BTreeMap<&str, &TreeFile> = files.map(|file| (file.path.as_str(), file)).collect();
    let contents = PublishContents::new(old.repository.root().to_owned());
    let mut changes = Vec::new();
    for file in &plan.files {
        match gone.remove(file.path.as_str()) {
            None => changes.push(InterfaceChange::for_file(ChangeKind::FileAdded, &file.path)),
            Some(was) => {
                if !is_same(plan, &contents, &Content::Blob(was.blob), file)? {
                    changes.push(InterfaceChange::for_file(ChangeKind::FileModified, &file.path));
                }
            }
        }
    }
    changes.extend(
        gone.into_keys()
            .map(|path| InterfaceChange::for_file(ChangeKind::FileRemoved, path)),
    );
    Ok(changes)
}

fn is_same(
    plan: &Plan,
    contents: &PublishContents,
    was: &Content,
    is: &PlannedFile,
) -> Result<bool, PublishError> {
    if *was == is.content {
        return Ok(true);
    }
    if is.path == plan.interface.file {
        let meaning = |content| {
            let bytes = contents.read(content, MAX_DOCUMENT_BYTES)?;
            Ok::<_, PublishError>(bytes.and_then(|bytes| SharedPipelines::canonical_text(&bytes).ok()))
        };
        let (was, is) = (meaning(was)?, meaning(&is.content)?);
        return Ok(was.is_some() && was == is);
    }
    if plan.source == Source::Commit || contents.size(was)? != is.bytes {
        return Ok(false);
    }
    let hash = |content| hash::of(contents.open(content, is.bytes)?, &is.path);
    Ok(hash(was)? == hash(&is.content)?)
}
