//! Hints for a revision that the user typed in place of a path.

use crate::error::Failure;
use crate::workspace::Workspace;
use crate::workspace::typed_paths::PATHS_HINT;
use sluicegate_base::text;
use std::path::PathBuf;

/// Adds a hint if a typed path that does not exist is the name of a revision: `git diff` would accept it, this program
/// wants a range or a flag.
pub(super) fn add_revision_hint(
    workspace: &Workspace<'_>,
    typed_paths: &[PathBuf],
    failure: Failure,
) -> Failure {
    let revision = typed_paths
        .iter()
        .filter_map(|path| path.to_str())
        .find(|name| workspace.repo.resolve(name).is_ok());
    let Some(name) = revision else {
        return add_similar_revision(workspace, typed_paths, failure);
    };
    // A range from the checked-out commit to itself never has a difference.
    if workspace.repo.resolve(name).ok() == workspace.repo.resolve("HEAD").ok() {
        return failure.with_hint(format!(
            "`{name}` is the checked-out commit: pass --base {name} to compare the files on disk with it"
        ));
    }
    failure.with_hint(format!(
        "`{name}` is a revision: pass {name}..HEAD to compare with it, or --base {name} for the merge-base"
    ))
}

/// Adds the most similar branch or tag to the failure, unless its hint is about this path, for example a similar path.
fn add_similar_revision(workspace: &Workspace<'_>, typed_paths: &[PathBuf], failure: Failure) -> Failure {
    if failure.own_hint() != Some(PATHS_HINT) {
        return failure;
    }
    let names = workspace.repo.list_ref_names().unwrap_or_default();
    let mut similar_names = typed_paths
        .iter()
        .filter_map(|path| text::find_most_similar(path.to_str()?, names.iter().map(String::as_str)));
    match similar_names.next() {
        Some(name) => failure.with_hint(format!(
            "did you mean the revision `{name}`? pass {name}..HEAD to compare with it"
        )),
        None => failure,
    }
}
