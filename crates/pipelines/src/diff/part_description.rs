//! Describes the changed links, variables and other fields of a pipeline.

use super::description::Description;
use super::diff_line::Sign;
use super::field_groups::is_empty_leaf;
use super::leaf::PathStep;
use super::moved_variables::{find_moved_variables, is_field_of_top_level_variable};
use super::pipeline_diff::{FieldDiff, LinkChange, LinkDiff, PipelineDiff, VariableChange, VariableDiff};
use super::value_text::{format_value, truncate, truncate_name};
use crate::findings::FileChange;

impl Description {
    /// Describes the changed links, variables and other fields of a pipeline that both versions have. A variable that
    /// moved to another place of the file is described once.
    pub(super) fn describe_parts(&mut self, diff: &PipelineDiff) {
        for link in &diff.links {
            self.describe_link(link);
        }
        // The fields below belong to items that both versions have.
        let is_new = false;
        let moved_variables = find_moved_variables(diff);
        let is_moved = |name: &str| moved_variables.iter().any(|variable| variable.name == name);
        for variable in diff.variables.iter().filter(|variable| !is_moved(&variable.name)) {
            self.describe_variable(variable);
        }
        for variable in &moved_variables {
            let content = format!(
                "{} (variable): moved from {}",
                truncate_name(variable.name),
                variable.places
            );
            self.push_text(1, Sign::Changed, &content);
            self.describe_fields(2, &variable.fields.iter().collect::<Vec<_>>(), is_new);
        }
        let other_fields: Vec<&FieldDiff> = diff
            .other
            .iter()
            .filter(|field| {
                !moved_variables
                    .iter()
                    .any(|variable| is_field_of_top_level_variable(field, variable.name))
            })
            .collect();
        self.describe_fields(1, &other_fields, is_new);
        if diff.layout && diff.change != FileChange::Layout {
            self.push_text(1, Sign::None, "the layout changed");
        }
    }

    /// Describes a link that was added or removed.
    fn describe_link(&mut self, link: &LinkDiff) {
        let sign = match link.change {
            LinkChange::Added => Sign::Added,
            LinkChange::Removed => Sign::Removed,
        };
        let [from, to, kind] = [&link.from, &link.to, &link.kind].map(|name| truncate_name(name));
        self.push_text(1, sign, &format!("{from} -> {to} ({kind})"));
    }

    /// Describes a changed variable. The line of a new variable contains its default value and its attributes, such as
    /// the type; other fields are on the lines below. A removed variable, or one of which only a single-line default
    /// value changed, has no lines below.
    fn describe_variable(&mut self, variable: &VariableDiff) {
        let name = truncate_name(&variable.name);
        let is_new = variable.change == VariableChange::Added;
        let (line_fields, fields): (Vec<&FieldDiff>, Vec<&FieldDiff>) = variable
            .fields
            .iter()
            .partition(|field| is_new && is_in_variable_line(field));
        let (sign, value) = match (variable.change, fields.as_slice()) {
            (VariableChange::Removed, _) => (Sign::Removed, None),
            (VariableChange::Added, _) => (Sign::Added, format_new_default(&line_fields)),
            (VariableChange::Modified, [field]) if is_single_line_default(field) => {
                (Sign::Changed, Some(format_default_change(field)))
            }
            (VariableChange::Modified, _) => (Sign::Changed, None),
        };
        let is_line_complete = sign == Sign::Removed || (sign == Sign::Changed && value.is_some());
        let value_text = value
            .map(|value| format!(" = {}", truncate(&value, self.value_width(2))))
            .unwrap_or_default();
        let mut attributes = vec!["variable".to_owned()];
        for field in &line_fields {
            if !is_single_line_default(field)
                && let Some(attribute) = &field.after
            {
                attributes.push(truncate_name(&format_value(attribute)));
            }
        }
        let attributes_text = attributes.join(", ");
        self.push_text(1, sign, &format!("{name}{value_text} ({attributes_text})"));
        if !is_line_complete {
            self.describe_fields(2, &fields, is_new);
        }
    }
}

/// Returns the default value of a new variable as text. Returns `None` if the value is missing or empty, or has several
/// lines.
fn format_new_default(line_fields: &[&FieldDiff]) -> Option<String> {
    let default_field = line_fields.iter().find(|field| is_single_line_default(field))?;
    let default = default_field.after.as_ref()?;
    (!is_empty_leaf(default)).then(|| format_value(default))
}

/// Returns the old and the new default value with an arrow between them, or only the one that exists.
fn format_default_change(field: &FieldDiff) -> String {
    let values: Vec<String> = [&field.before, &field.after]
        .into_iter()
        .flatten()
        .map(format_value)
        .collect();
    values.join(" -> ")
}

/// Returns whether the field is the default value of a variable and has one line, so that it can be shown in the line
/// of the variable.
fn is_single_line_default(field: &FieldDiff) -> bool {
    let is_single_line = [&field.before, &field.after]
        .into_iter()
        .flatten()
        .all(|leaf| leaf.find_multiline_text().is_none());
    field.path == [PathStep::key("defaultValue")] && is_single_line
}

/// Returns whether the line of a new variable contains this field: its default value, type, scope or visibility.
fn is_in_variable_line(field: &FieldDiff) -> bool {
    let is_attribute = |key: &str| ["type", "scope", "visibility"].contains(&key);
    is_single_line_default(field)
        || matches!(field.path.as_slice(), [PathStep::Key(metadata), PathStep::Key(key)] if metadata == "metadata" && is_attribute(key))
}
