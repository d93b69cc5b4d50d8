//! Finds the moved paths in the team rules file: without new paths, the rules would no longer apply to the moved files.

use super::file_edit::Referrer;
use super::gate_edit_builder::GateEditBuilder;
use sluicegate_base::globs::parse_glob;
use sluicegate_pipelines::file_moves::PathMove;
use sluicegate_yaml::{DocumentError, NodeRef, Tree};

/// Adds the edits of the team rules file: the globs of the rules that match moved files. The examples of a rule whose
/// globs change move, too, because otherwise they would no longer match the globs. A condition is a program, so it is
/// not rewritten, but listed if it contains the old path.
pub(super) fn find_team_rule_edits(
    bytes: &[u8],
    edits: &mut GateEditBuilder<'_>,
) -> Result<(), DocumentError> {
    let tree = Tree::parse(bytes)?;
    for rule in list_items(tree.root(), "rules") {
        let earlier_count = edits.values.len();
        for key in ["paths", "exclude"] {
            for node in list_values(rule, key) {
                edits.add_glob(node, Referrer::Glob, None);
            }
        }
        if edits.values.len() > earlier_count {
            add_example_edits(rule, edits);
        }
        let Some(condition) = rule.get("when") else {
            continue;
        };
        if condition.text().is_some_and(|text| edits.is_mention(text)) {
            let old_path = edits.path_move.old_path.clone();
            let reason = "the condition of the team rule contains this path";
            edits.keep_value(condition, &old_path, reason);
        }
    }
    Ok(())
}

/// Adds the edits of a rule's examples: the path of the example, and the paths of the other pipelines in `project`. An
/// example stays as it is if the rule would apply to only one of its old and its new path, because its outcome could
/// change.
fn add_example_edits(rule: NodeRef<'_, '_>, edits: &mut GateEditBuilder<'_>) {
    let Some(examples) = rule.get("examples") else {
        return;
    };
    let path_move = edits.path_move;
    let old_globs = RuleGlobs::read(rule, &|glob| glob.to_owned());
    let new_globs = RuleGlobs::read(rule, &|glob| glob_after_move(glob, path_move));
    for key in ["fails", "passes"] {
        for example in list_items(examples, key) {
            let path = example.get("path").and_then(NodeRef::text).unwrap_or_default();
            if old_globs.apply_to(path) != new_globs.apply_to(&path_move.path_after_move(path)) {
                continue;
            }
            for path_key in ["path", "project"] {
                for node in list_values(example, path_key) {
                    edits.add_path(node, Referrer::RuleExample);
                }
            }
        }
    }
}

/// Returns the glob after the move, which is the old one if the move does not rewrite it.
fn glob_after_move(glob: &str, path_move: &PathMove) -> String {
    path_move.glob_after_move(glob).unwrap_or_else(|| glob.to_owned())
}

/// The globs of the pipelines that a rule applies to.
struct RuleGlobs {
    /// `None` for all pipelines.
    included_paths: Option<Vec<String>>,
    excluded_paths: Vec<String>,
}

impl RuleGlobs {
    /// Reads the globs of a rule, each changed by `change_glob`.
    fn read(rule: NodeRef<'_, '_>, change_glob: &dyn Fn(&str) -> String) -> Self {
        Self {
            included_paths: rule.get("paths").map(|_| read_globs(rule, "paths", change_glob)),
            excluded_paths: read_globs(rule, "exclude", change_glob),
        }
    }

    /// Returns whether a rule with these globs applies to the pipeline at this path.
    fn apply_to(&self, path: &str) -> bool {
        let is_included = self
            .included_paths
            .as_ref()
            .is_none_or(|globs| is_any_match(globs, path));
        is_included && !is_any_match(&self.excluded_paths, path)
    }
}

/// Returns the globs under a key, each changed by `change_glob`.
fn read_globs(rule: NodeRef<'_, '_>, key: &str, change_glob: &dyn Fn(&str) -> String) -> Vec<String> {
    list_values(rule, key)
        .into_iter()
        .filter_map(|node| node.text().map(change_glob))
        .collect()
}

/// Returns whether one of the globs matches the path. An invalid glob matches nothing.
fn is_any_match(globs: &[String], path: &str) -> bool {
    globs
        .iter()
        .filter_map(|glob| parse_glob(glob).ok())
        .any(|glob| glob.compile_matcher().is_match(path))
}

/// Returns the items of the list under a key; none if there is no list.
fn list_items<'t, 'a>(map: NodeRef<'t, 'a>, key: &str) -> Vec<NodeRef<'t, 'a>> {
    map.get(key)
        .and_then(NodeRef::items)
        .into_iter()
        .flatten()
        .collect()
}

/// Returns the values under a key, which contains one value or a list of values.
fn list_values<'t, 'a>(map: NodeRef<'t, 'a>, key: &str) -> Vec<NodeRef<'t, 'a>> {
    let Some(node) = map.get(key) else {
        return Vec::new();
    };
    match node.items() {
        Some(items) => items.collect(),
        None => vec![node],
    }
}
