//! Which files are reviewed when files are named one by one, as a git hook does it.

use super::select::{Scope, Selected, select};
use crate::base::git::GitError;

/// Selects exactly the `named` files, changed or not, besides what changed within the folders that `scope` is restricted
/// to. Whoever names the rules file gets all pipelines, as for a change of it; a
/// change it is only if it differs from the base.
pub(crate) fn select_named(scope: &Scope<'_>, named: &[String]) -> Result<Selected, GitError> {
    if let Some(rules) = named.iter().find(|path| scope.is_rules_file(path)) {
        let why = format!("the rules file {rules} was named");
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
