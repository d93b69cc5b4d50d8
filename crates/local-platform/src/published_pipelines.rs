//! The pipelines that can be executed: those at the head of the default branch of a project's repository. They are read
//! on each request (API document, "Published pipeline and pipeline execution").

use super::pipeline_review;
use super::problem::Problem;
use serde::Serialize;
use sluicegate_git::{CommitId, FileKind, GitError, Repository};
use sluicegate_pipelines::pipelines::PipelineKind;
use sluicegate_yaml::DocumentError;
use std::collections::BTreeSet;
use std::path::Path;
use utoipa::ToSchema;

/// A pipeline that can be executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PublishedPipeline)]
pub(super) struct ListedPipeline {
    /// The pipeline's path without its extension.
    pub name: String,
    /// Commit time of the branch's head, in UTC.
    #[schema(format = DateTime)]
    pub published_time: String,
}

/// Returns all published pipelines in the repository at `path`, sorted by name; none before the first commit. Each has
/// the time of the head commit, because a commit publishes all pipelines in it.
pub(super) fn list_pipelines(path: &Path) -> Result<Vec<ListedPipeline>, Problem> {
    let repository = pipeline_review::open_repository(path)?;
    let Some(head) = find_head(&repository)? else {
        return Ok(Vec::new());
    };
    let published_time = format!("{:.3}", repository.commit_time(&head)?);
    let files = repository.list_files(&head, &|path| PipelineKind::from_path(path).is_some())?;
    let regular_files = files.iter().filter(|file| file.kind == FileKind::Regular);
    let names: BTreeSet<&str> = regular_files
        .filter_map(|file| pipeline_name(&file.path))
        .collect();
    let pipelines = names.into_iter().map(|name| ListedPipeline {
        name: name.to_owned(),
        published_time: published_time.clone(),
    });
    Ok(pipelines.collect())
}

/// Returns the name under which a pipeline is published: its path without the extension. Returns `None` for a file that
/// is not a pipeline.
fn pipeline_name(path: &str) -> Option<&str> {
    path.strip_suffix(PipelineKind::from_path(path)?.extension())
}

/// Reads the document of the published pipeline with this name in the head commit of the repository at `path`. Returns
/// `None` if there is no such pipeline; the inner error reports that it is too large for a document.
pub(super) fn find_pipeline_document(
    path: &Path,
    name: &str,
) -> Result<Option<Result<Vec<u8>, DocumentError>>, Problem> {
    let repository = pipeline_review::open_repository(path)?;
    let Some(head) = find_head(&repository)? else {
        return Ok(None);
    };
    for kind in PipelineKind::ALL {
        let file = repository.find_file(&head, &format!("{name}{}", kind.extension()))?;
        if let Some(file) = file.filter(|file| file.kind == FileKind::Regular) {
            return Ok(Some(pipeline_review::read_document(&repository, &file.blob)?));
        }
    }
    Ok(None)
}

/// Returns whether the repository has this branch. A repository without commits is treated as having any branch,
/// because the branch may still be pushed.
pub(super) fn may_have_branch(path: &Path, branch: &str) -> Result<bool, Problem> {
    let repository = pipeline_review::open_repository(path)?;
    if find_head(&repository)?.is_none() {
        return Ok(true);
    }
    Ok(pipeline_review::find_branch_tip(&repository, branch)?.is_some())
}

/// Returns the head commit of the default branch, or `None` before the first commit.
fn find_head(repository: &Repository) -> Result<Option<CommitId>, GitError> {
    match repository.head() {
        Ok(head) => Ok(Some(head.commit)),
        Err(GitError::NoCommit { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
