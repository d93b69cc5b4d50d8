//! Compares a published version with the plan.

use super::{Plan, Source};
use crate::api::ArtifactDetails;
use crate::pipelines::SHARED_PIPELINES_FILE;
use std::collections::HashSet;

/// In what the version differs from the plan, a sentence each; empty if it is what was planned: of this commit, with
/// every enabled shared pipeline. (API document, "Shared pipeline artifact", details response.)
pub(super) fn differences(details: &ArtifactDetails, plan: &Plan) -> Vec<String> {
    let shared = plan
        .shared
        .iter()
        .map(|shared| (shared.id.as_str(), shared.path.as_str()));
    differences_from(details, &plan.commit_hash, shared)
}

/// The same, from a commit hash and shared pipelines (id and path).
pub(super) fn differences_from<'a>(
    details: &ArtifactDetails,
    commit_hash: &str,
    shared: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<String> {
    let published: HashSet<&str> = details
        .shared_pipelines
        .iter()
        .filter_map(|pipeline| pipeline.shared_pipeline_id.as_deref())
        .collect();
    let missing = shared.filter(|(id, _)| !published.contains(id));
    let mut differences: Vec<String> = other_commit(details.artifact.commit_hash.as_deref(), commit_hash)
        .into_iter()
        .collect();
    differences.extend(missing.map(|(id, path)| format!("the shared pipeline `{id}` ({path}) is missing")));
    differences
}

pub(super) fn other_commit(published: Option<&str>, planned: &str) -> Option<String> {
    match published {
        Some(published) if published.eq_ignore_ascii_case(planned) => None,
        Some(published) => Some(format!("it is of the commit {published}, not {planned}")),
        None => Some("the platform tells no commit hash for it".to_owned()),
    }
}

/// Whether details without a difference prove that nothing was left out: they tell of the shared pipelines alone, so
/// nothing else may have been sent, and the commit hash must tell the contents.
pub(super) fn proves_whole(plan: &Plan) -> bool {
    let configuration = format!("{}/{SHARED_PIPELINES_FILE}", plan.config_dir);
    let shared: HashSet<&str> = plan.shared.iter().map(|shared| shared.path.as_str()).collect();
    plan.source == Source::Commit
        && plan
            .files
            .iter()
            .all(|file| file.path == configuration || shared.contains(file.path.as_str()))
}
