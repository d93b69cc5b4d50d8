//! Finds the moved paths in the team rules file: without new paths, the rules would no longer apply to the moved files.

use super::file_edit::{Referrer, ValueEdit, build_value_edit};
use super::kept_references::KeptReference;
use super::reference_reader::ReferenceReader;
use crate::error::Failure;
use sluicegate_pipelines::file_moves::PathMove;
use sluicegate_pipelines::pipelines::PipelineKind;
use sluicegate_yaml::{DocumentError, NodeRef, Tree};

/// Returns the edits of the team rules file: the globs of the rules that match moved files. The examples of a rule
/// whose globs change move, too, because otherwise they would no longer match the globs.
pub(super) fn find_team_rule_edits(bytes: &[u8], moves: &PathMove) -> Result<Vec<ValueEdit>, DocumentError> {
    let tree = Tree::parse(bytes)?;
    let mut edits = Vec::new();
    for rule in tree
        .root()
        .get("rules")
        .and_then(NodeRef::items)
        .into_iter()
        .flatten()
    {
        let mut glob_edits = Vec::new();
        for key in ["paths", "exclude"] {
            for node in list_values(rule, key) {
                glob_edits.extend(build_value_edit(node, Referrer::Glob, &|glob| {
                    moves.glob_after_move(glob)
                }));
            }
        }
        if !glob_edits.is_empty() {
            edits.extend(find_example_edits(rule, moves));
        }
        edits.extend(glob_edits);
    }
    edits.sort_by_key(|edit: &ValueEdit| edit.position);
    // Rules share a value by a YAML alias.
    edits.dedup_by_key(|edit| edit.position);
    Ok(edits)
}

/// Returns the edits of a rule's examples: the path of the example, and the paths of the other pipelines in `project`.
fn find_example_edits(rule: NodeRef<'_, '_>, moves: &PathMove) -> Vec<ValueEdit> {
    let mut edits = Vec::new();
    let Some(examples) = rule.get("examples") else {
        return edits;
    };
    for key in ["fails", "passes"] {
        for example in examples.get(key).and_then(NodeRef::items).into_iter().flatten() {
            for path_key in ["path", "project"] {
                for node in list_values(example, path_key) {
                    edits.extend(build_value_edit(node, Referrer::RuleExample, &|path| {
                        moves.moved_path(path)
                    }));
                }
            }
        }
    }
    edits
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

/// Returns the conditions of team rules that contain a moved path. A condition is a program, so it is not rewritten. A
/// missing file, and a file that cannot be read, has no conditions.
pub(super) fn find_condition_mentions(
    reader: &ReferenceReader<'_>,
    moves: &PathMove,
) -> Result<Vec<KeptReference>, Failure> {
    let mut mentions = Vec::new();
    let Some(team_rules_path) = reader.workspace.team_rules_path.as_deref() else {
        return Ok(mentions);
    };
    let Some(file) = reader.find_gate_file(team_rules_path)? else {
        return Ok(mentions);
    };
    let Ok(bytes) = reader.read_bytes(&file)? else {
        return Ok(mentions);
    };
    let Ok(tree) = Tree::parse(&bytes) else {
        return Ok(mentions);
    };
    for rule in tree
        .root()
        .get("rules")
        .and_then(NodeRef::items)
        .into_iter()
        .flatten()
    {
        let Some(condition) = rule.get("when") else {
            continue;
        };
        if condition.text().is_some_and(|text| has_moved_path(text, moves)) {
            mentions.push(KeptReference {
                path: file.path.clone(),
                line: condition.position().line,
                target: moves.old_path.clone(),
                reason: "the condition of the team rule contains this path".to_owned(),
            });
        }
    }
    Ok(mentions)
}

/// Returns whether a text in quotes in the condition begins with the old path. The target of a call may omit the
/// extension of the pipeline.
fn has_moved_path(condition: &str, moves: &PathMove) -> bool {
    let extension = PipelineKind::from_path(&moves.old_path).map(PipelineKind::extension);
    condition
        .split(['"', '\''])
        .skip(1)
        .any(|text| moves.call_glob_after_move(text, extension).is_some())
}
