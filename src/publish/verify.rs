//! Compares a published version with the plan.

use super::Plan;
use crate::api::ArtifactDetails;
use std::collections::HashSet;

/// In what the version differs from the plan, a sentence each; empty if it is what was planned: of this commit, with
/// every enabled shared pipeline. (API document, "Shared pipeline artifact", details response.)
pub(super) fn differences(details: &ArtifactDetails, plan: &Plan) -> Vec<String> {
    let artifact = &details.artifact;
    let named = [
        ("prefix", &artifact.shared_pipeline_id_prefix, &plan.prefix),
        ("version name", &artifact.version_name, &plan.version_name),
    ];
    let mut differences: Vec<String> = named
        .into_iter()
        .filter_map(|(what, published, planned)| {
            let published = published.as_ref().filter(|published| *published != planned)?;
            Some(format!(
                "the platform tells the {what} `{published}`, not `{planned}`"
            ))
        })
        .collect();
    differences.extend(other_commit(artifact.commit_hash.as_deref(), &plan.commit_hash));
    let published: HashSet<&str> = details
        .shared_pipelines
        .iter()
        .filter_map(|pipeline| pipeline.shared_pipeline_id.as_deref())
        .collect();
    let missing = plan
        .shared
        .iter()
        .filter(|shared| !published.contains(shared.id.as_str()));
    differences.extend(
        missing.map(|shared| format!("the shared pipeline `{}` ({}) is missing", shared.id, shared.path)),
    );
    differences
}

fn other_commit(published: Option<&str>, planned: &str) -> Option<String> {
    match published {
        Some(published) if published.eq_ignore_ascii_case(planned) => None,
        Some(published) => Some(format!("it is of the commit {published}, not {planned}")),
        None => Some("the platform tells no commit hash for it".to_owned()),
    }
}
