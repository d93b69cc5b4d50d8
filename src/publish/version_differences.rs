//! Compares a published version with the plan.

use super::{FileSource, Plan, SharedPipelineRef};
use sluicegate_pipelines::pipelines::shared_pipelines_path;
use sluicegate_platform::api::ArtifactDetails;
use std::collections::{HashMap, HashSet};
use std::{fmt, iter};

/// Minimum number of digits of an abbreviated commit id, as git shows it.
const MIN_ABBREVIATION_LENGTH: usize = 7;

/// A difference between a published version and a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionDifference {
    /// The platform does not report the complete id of the commit, so the version may be of the planned commit.
    UnclearCommit(String),
    /// Someone disabled the version, so no consumer can use it.
    Disabled,
    /// Any other difference, which is certain.
    Certain(String),
}

impl fmt::Display for VersionDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("the version is disabled"),
            Self::UnclearCommit(sentence) | Self::Certain(sentence) => f.write_str(sentence),
        }
    }
}

/// The relation of the commit that the platform reports for a version to another commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommitMatch {
    Equal,
    /// The platform reports an abbreviation of the commit's id, which proves nothing, because anyone can make another
    /// commit with the same first digits.
    Possible,
    Other,
}

/// Compares the commit that the platform reports for a version with a commit, whose id is complete.
pub(crate) fn match_commit(published_commit: &str, commit: &str) -> CommitMatch {
    if published_commit.eq_ignore_ascii_case(commit) {
        return CommitMatch::Equal;
    }
    let is_abbreviation = published_commit.len() >= MIN_ABBREVIATION_LENGTH
        && commit
            .get(..published_commit.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(published_commit));
    if is_abbreviation {
        CommitMatch::Possible
    } else {
        CommitMatch::Other
    }
}

/// Returns whether the commit that the platform reports for a version is certainly this one.
pub(crate) fn is_same_commit(published_commit: Option<&str>, commit: &str) -> bool {
    published_commit
        .is_some_and(|published_commit| match_commit(published_commit, commit) == CommitMatch::Equal)
}

/// Returns the differences between a published version and the plan: another commit, or a shared pipeline that is
/// missing or has another source. The section "Shared pipeline artifact" in the API document describes `details`.
pub fn compare_with_plan(details: &ArtifactDetails, plan: &Plan) -> Vec<VersionDifference> {
    let shared_pipelines = plan
        .shared_pipelines
        .iter()
        .map(|pipeline| (pipeline.id.as_str(), pipeline.path.as_str()));
    list_version_differences(details, &plan.commit_hash, shared_pipelines)
}

/// Returns the differences between a published version and a document about it, which names the commit and all shared
/// pipelines. Unlike in a comparison with a plan, a shared pipeline that only the version has is a difference, and so
/// is another branch. `branch` is `None` if the document does not name the branch of the version. `document` names the
/// document in the messages, for example `the receipt`.
pub fn compare_with_document(
    details: &ArtifactDetails,
    commit_hash: &str,
    branch: Option<&str>,
    shared_pipelines: &[SharedPipelineRef],
    document: &str,
) -> Vec<String> {
    let listed_pipelines = shared_pipelines
        .iter()
        .map(|pipeline| (pipeline.id.as_str(), pipeline.path.as_str()));
    let listed_ids: HashSet<&str> = shared_pipelines
        .iter()
        .map(|pipeline| pipeline.id.as_str())
        .collect();
    let mut differences: Vec<String> = list_version_differences(details, commit_hash, listed_pipelines)
        .iter()
        .map(VersionDifference::to_string)
        .collect();
    // The platform may decode the bytes of other names in another way than they were sent.
    if let (Some(branch), Some(version_branch)) = (branch, details.artifact.branch.as_deref())
        && branch != version_branch
        && branch.is_ascii()
    {
        differences.push(format!(
            "the version is from the branch `{version_branch}`, but {document} names the branch `{branch}`"
        ));
    }
    for id in details
        .shared_pipelines
        .iter()
        .filter_map(|pipeline| pipeline.shared_pipeline_id.as_deref())
    {
        if !listed_ids.contains(id) {
            differences.push(format!(
                "the version has the shared pipeline `{id}`, but {document} does not list it"
            ));
        }
    }
    differences
}

/// Returns the differences between a published version and this commit with these shared pipelines, given by id and
/// path. A path is compared only if the platform reports the source of the pipeline.
fn list_version_differences<'a>(
    details: &ArtifactDetails,
    commit_hash: &str,
    shared_pipelines: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<VersionDifference> {
    let source_by_id: HashMap<&str, Option<&str>> = details
        .shared_pipelines
        .iter()
        .filter_map(|pipeline| {
            Some((
                pipeline.shared_pipeline_id.as_deref()?,
                pipeline.source_pipeline.as_deref(),
            ))
        })
        .collect();
    let mut differences = Vec::new();
    differences.extend(find_commit_difference(
        details.artifact.commit_hash.as_deref(),
        commit_hash,
    ));
    for (id, path) in shared_pipelines {
        match source_by_id.get(id) {
            None => differences.push(VersionDifference::Certain(format!(
                "the shared pipeline `{id}` ({path}) is missing"
            ))),
            Some(Some(source)) if !may_be_source(source, path) => {
                differences.push(VersionDifference::Certain(format!(
                    "the shared pipeline `{id}` is from `{source}`, not from {path}"
                )));
            }
            Some(_) => {}
        }
    }
    differences
}

/// Returns whether the platform's `sourcePipeline`, a path without extension, may be this file. The API document does
/// not show how much of the path it contains, or which part is the extension, so any end of the path is accepted.
fn may_be_source(source: &str, path: &str) -> bool {
    let source = source.trim_matches('/');
    let segment_starts = iter::once(0).chain(path.match_indices('/').map(|(index, _)| index + 1));
    segment_starts
        .filter_map(|index| path.get(index..)?.strip_prefix(source))
        .any(|remainder| remainder.is_empty() || remainder.starts_with('.'))
}

/// Returns the difference if the version is not from the planned commit, or if its commit is not completely known;
/// `None` if it is from the planned commit.
pub(super) fn find_commit_difference(
    published_commit: Option<&str>,
    planned_commit: &str,
) -> Option<VersionDifference> {
    let Some(published_commit) = published_commit else {
        let sentence = "the platform reports no commit hash for the version";
        return Some(VersionDifference::UnclearCommit(sentence.to_owned()));
    };
    match match_commit(published_commit, planned_commit) {
        CommitMatch::Equal => None,
        CommitMatch::Possible => Some(VersionDifference::UnclearCommit(format!(
            "the platform reports only the abbreviated commit {published_commit} for the version, so it may be from \
             another commit than {planned_commit}"
        ))),
        CommitMatch::Other => Some(VersionDifference::Certain(format!(
            "the version is from commit {published_commit}, not {planned_commit}"
        ))),
    }
}

/// Returns whether the platform's details of a published version can prove that the version is complete. The details
/// list only the shared pipelines, so they can if no other files were sent and the commit identifies the contents.
pub fn can_details_prove_completeness(plan: &Plan) -> bool {
    let shared_file = shared_pipelines_path(&plan.config_dir);
    let shared_paths: HashSet<&str> = plan
        .shared_pipelines
        .iter()
        .map(|pipeline| pipeline.path.as_str())
        .collect();
    plan.source == FileSource::Commit
        && plan
            .files
            .iter()
            .all(|file| file.path == shared_file || shared_paths.contains(file.path.as_str()))
}

#[cfg(test)]
mod tests {
    use super::may_be_source;

    #[test]
    fn source_is_path_without_extension() {
        for source in ["p/a", "p/a.orch", "p/a.orch.yaml", "/p/a", "a"] {
            assert!(may_be_source(source, "p/a.orch.yaml"), "{source}");
        }
        for source in ["p/b", "q/a", "p", "evil", "p/a.orc", "/a/p"] {
            assert!(!may_be_source(source, "p/a.orch.yaml"), "{source}");
        }
    }
}
