//! Compares a published version with the plan.

use super::{Plan, Source};
use sluicegate_pipelines::pipelines::SHARED_PIPELINES_FILE;
use sluicegate_platform::api::ArtifactDetails;
use std::collections::{HashMap, HashSet};
use std::iter;

/// Returns the differences between the version and the plan, a sentence each; empty if the version is of this commit
/// and has every enabled shared pipeline. (API document, "Shared pipeline artifact", details response.)
pub(super) fn differences(details: &ArtifactDetails, plan: &Plan) -> Vec<String> {
    let shared = plan
        .shared
        .iter()
        .map(|shared| (shared.id.as_str(), shared.path.as_str()));
    differences_from(details, &plan.commit_hash, shared)
}

/// Like [`differences`], from a commit hash and shared pipelines (id and path).
pub(super) fn differences_from<'a>(
    details: &ArtifactDetails,
    commit_hash: &str,
    shared: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<String> {
    let published: HashMap<&str, Option<&str>> = details
        .shared_pipelines
        .iter()
        .filter_map(|it| Some((it.shared_pipeline_id.as_deref()?, it.source_pipeline.as_deref())))
        .collect();
    let differs = |(id, path): (&str, &str)| match published.get(id) {
        None => Some(format!("the shared pipeline `{id}` ({path}) is missing")),
        Some(Some(source)) if !is_of(source, path) => Some(format!(
            "the shared pipeline `{id}` is from `{source}`, not from {path}"
        )),
        Some(_) => None,
    };
    let mut differences: Vec<String> = other_commit(details.artifact.commit_hash.as_deref(), commit_hash)
        .into_iter()
        .collect();
    differences.extend(shared.filter_map(differs));
    differences
}

/// Returns whether the platform's `sourcePipeline`, a path without extension, is this file. The document does not show
/// how much of the path it contains, or what counts as the extension.
fn is_of(source: &str, path: &str) -> bool {
    let source = source.trim_matches('/');
    let starts = iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    let mut tails = starts.filter_map(|at| path.get(at..)?.strip_prefix(source));
    tails.any(|rest| rest.is_empty() || rest.starts_with('.'))
}

pub(super) fn other_commit(published: Option<&str>, planned: &str) -> Option<String> {
    match published {
        Some(published) if published.eq_ignore_ascii_case(planned) => None,
        Some(published) => Some(format!(
            "the version is from the commit {published}, not {planned}"
        )),
        None => Some("the platform reports no commit hash for the version".to_owned()),
    }
}

/// Returns whether details without differences prove that no file was left out. They contain only the shared pipelines,
/// so no other file may have been sent, and the commit hash must identify the contents.
pub(super) fn proves_whole(plan: &Plan) -> bool {
    let configuration = format!("{}/{SHARED_PIPELINES_FILE}", plan.config_dir);
    let shared: HashSet<&str> = plan.shared.iter().map(|shared| shared.path.as_str()).collect();
    plan.source == Source::Commit
        && plan
            .files
            .iter()
            .all(|file| file.path == configuration || shared.contains(file.path.as_str()))
}

#[cfg(test)]
mod tests {
    use super::is_of;

    #[test]
    fn source_is_path_without_its_extension() {
        for source in ["p/a", "p/a.orch", "p/a.orch.yaml", "/p/a", "a"] {
            assert!(is_of(source, "p/a.orch.yaml"), "{source}");
        }
        for source in ["p/b", "q/a", "p", "evil", "p/a.orc", "/a/p"] {
            assert!(!is_of(source, "p/a.orch.yaml"), "{source}");
        }
    }
}
