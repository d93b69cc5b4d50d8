//! Finds variables that moved between the two keys of a file that can contain variables.

use super::leaf::PathStep;
use super::pipeline_diff::{FieldDiff, PipelineDiff, VariableChange, VariableDiff};

/// The key of the variables, below `pipeline` and at the top level of the file.
const VARIABLES: &str = "variables";

/// A variable that moved, with the fields that also changed.
pub(super) struct MovedVariable<'d> {
    pub name: &'d str,
    /// The end of the phrase `moved from …`: the old key and the new key.
    pub places: &'static str,
    pub fields: Vec<FieldDiff>,
}

/// Returns the variables that moved between the keys `pipeline.variables` and `variables` (at the top level of the
/// file): they were removed below one key and added below the other.
pub(super) fn find_moved_variables(diff: &PipelineDiff) -> Vec<MovedVariable<'_>> {
    let mut moved_variables = Vec::new();
    // `diff.variables` has the changes below `pipeline.variables`, and `diff.other` those at the top level.
    for variable in &diff.variables {
        let places = match variable.change {
            VariableChange::Removed => "pipeline.variables to variables",
            VariableChange::Added => "variables to pipeline.variables",
            VariableChange::Modified => continue,
        };
        let top_level_fields: Vec<&FieldDiff> = diff
            .other
            .iter()
            .filter(|field| is_field_of_top_level_variable(field, &variable.name))
            .collect();
        let has_opposite_change = top_level_fields.iter().all(|field| match variable.change {
            VariableChange::Removed => field.before.is_none(),
            _ => field.after.is_none(),
        });
        if has_opposite_change && !top_level_fields.is_empty() {
            moved_variables.push(MovedVariable {
                name: &variable.name,
                places,
                fields: compare_moved_fields(variable, &top_level_fields),
            });
        }
    }
    moved_variables
}

/// Returns whether the field belongs to the variable with this name in `variables` at the top level of the file.
pub(super) fn is_field_of_top_level_variable(field: &FieldDiff, name: &str) -> bool {
    matches!(field.path.as_slice(), [PathStep::Key(variables), PathStep::Key(key), ..] if variables == VARIABLES && key == name)
}

/// Returns the fields of a moved variable that differ between the base and the head. In the diff, the old values are
/// below the old key of the variable, and the new values below the new key, so they are joined field by field.
fn compare_moved_fields(variable: &VariableDiff, top_level_fields: &[&FieldDiff]) -> Vec<FieldDiff> {
    let mut fields = variable.fields.clone();
    for top_level_field in top_level_fields {
        // The path begins with the key `variables` and the name of the variable.
        let path = top_level_field.path.get(2..).unwrap_or_default();
        match fields.iter_mut().find(|field| field.path == path) {
            // Each side of the field has a value in only one of the two diffs.
            Some(field) => {
                field.before = field.before.take().or_else(|| top_level_field.before.clone());
                field.after = field.after.take().or_else(|| top_level_field.after.clone());
            }
            None => fields.push(FieldDiff {
                path: path.to_vec(),
                ..(*top_level_field).clone()
            }),
        }
    }
    fields.retain(|field| field.before != field.after);
    fields
}
