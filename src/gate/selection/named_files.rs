//! Selects files that are given one by one, as by a git hook.

use crate::gate::selection::selected_pipelines::{SelectedPipelines, select_pipelines};
use crate::gate::selection::selection_scope::SelectionScope;
use sluicegate_git::GitError;

/// Selects the named files, changed or not, and the changed files in the directories that the user named. Without named
/// directories, changed files that are not named are not selected. If the rules file is a named file, selects all
/// pipelines, as for a change to the rules file.
pub(crate) fn select_named_files(
    scope: &SelectionScope<'_>,
    named_files: &[String],
) -> Result<SelectedPipelines, GitError> {
    if let Some(rules) = named_files.iter().find(|path| scope.is_rules_file(path)) {
        let reason = format!("the rules file {rules} is one of the given paths");
        let whole_scope = SelectionScope {
            // Without a base, all pipelines are selected, for the reason in `base_source`.
            bases: &[],
            base_source: &reason,
            paths: &[],
            ..*scope
        };
        return select_pipelines(&whole_scope);
    }
    let mut pipelines = select_pipelines(scope)?;
    if scope.paths.is_empty() {
        pipelines.files.clear();
        pipelines
            .left_out_files
            .retain(|file| named_files.contains(&file.path));
        pipelines.lookalikes.retain(|path| named_files.contains(path));
        pipelines.reason_for_all = None;
    }
    for path in named_files {
        if (scope.includes)(path) && !(scope.excludes)(path) && !pipelines.files.contains(path) {
            pipelines.files.push(path.clone());
        }
    }
    pipelines.files.sort();
    Ok(pipelines)
}
