//! Selects files that are given one by one, as by a git hook.

use crate::gate::selection::select::{Scope, Selected, select};
use sluicegate_git::GitError;

/// Selects the `named` files, changed or not, and the changed files in the directories that `scope` is restricted to.
/// If the rules file is among the named files, selects all pipelines, as for a change of the rules file; it is
/// reported as a gate change only if it differs from the base.
pub(crate) fn select_named(scope: &Scope<'_>, named: &[String]) -> Result<Selected, GitError> {
    if let Some(rules) = named.iter().find(|path| scope.is_rules_file(path)) {
        let why = format!("the rules file {rules} was given");
        let all = Scope {
            bases: &[],
            base_source: &why,
            paths: &[],
            ..*scope
        };
        return select(&all);
    }
    let mut selected = select(scope)?;
    if scope.paths.is_empty() {
        selected.files.clear();
        selected.left_out.retain(|file| named.contains(&file.path));
        selected.lookalikes.retain(|path| named.contains(path));
        selected.all_because = None;
    }
    for path in named {
        if (scope.includes)(path) && !(scope.excludes)(path) && !selected.files.contains(path) {
            selected.files.push(path.clone());
        }
    }
    selected.files.sort();
    Ok(selected)
}
