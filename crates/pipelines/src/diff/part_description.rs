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
            if !self.shares.has_item_line() {
                self.shares.omitted_items.variables.modified += 1;
                continue;
            }
            let content = format!(
                "{} (variable): moved from {}",
                truncate_name(variable.name),
                variable.places
            );
            self.push_text(1, Sign::Changed, &content);
            self.describe_fields(2, &variable.fields.iter().collect::<Vec<_>>(), is_new);
        }
        let other_fields: Vec<&FieldDiff> = diff
            .told_other
            .as_ref()
            .unwrap_or(&diff.other)
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
        if !self.shares.has_item_line() {
            self.shares.omitted_items.links.count_link(link.change);
            return;
        }
        let sign = match link.change {
            LinkChange::Added => Sign::Added,
            LinkChange::Removed => Sign::Removed,
        };
        let [from, to, kind] = [&link.from, &link.to, &link.kind].map(|name| truncate_name(name));
        self.push_text(1, sign, &format!("{from} -> {to} ({kind})"));
    }

    /// Describes a changed variable in one line, and its other changed fields on the lines below.
    fn describe_variable(&mut self, variable: &VariableDiff) {
        if !self.shares.has_item_line() {
            self.shares
                .omitted_items
                .variables
                .count_variable(variable.change);
            return;
        }
        match variable.change {
            VariableChange::Added => self.describe_new_variable(variable),
            VariableChange::Removed => self.push_variable(Sign::Removed, &variable.name, None, &[]),
            VariableChange::Modified => {
                let fields: Vec<&FieldDiff> = variable.fields_to_tell().iter().collect();
                // Values that would be truncated on the line of the variable are shown below it.
                if let [field] = fields.as_slice()
                    && is_single_line_default(field)
                    && let values = format_default_change(field)
                    && values.chars().count() <= self.value_width(2)
                {
                    self.push_variable(Sign::Changed, &variable.name, Some(&values), &[]);
                } else {
                    self.push_variable(Sign::Changed, &variable.name, None, &[]);
                    self.describe_fields(2, &fields, false);
                }
            }
        }
    }

    /// Describes a new variable. Its line contains the default value and the attributes, such as the type.
    fn describe_new_variable(&mut self, variable: &VariableDiff) {
        let mut line_fields = Vec::new();
        let mut fields_below = Vec::new();
        for field in &variable.fields {
            if is_in_variable_line(field) {
                line_fields.push(field);
            } else {
                fields_below.push(field);
            }
        }
        let mut attributes = Vec::new();
        for field in &line_fields {
            if !is_single_line_default(field)
                && let Some(attribute) = &field.after
            {
                attributes.push(truncate_name(&format_value(attribute)));
            }
        }
        let default = format_new_default(&line_fields);
        self.push_variable(Sign::Added, &variable.name, default.as_deref(), &attributes);
        self.describe_fields(2, &fields_below, true);
    }

    /// Adds the line of a variable, for example `name = value (variable, TEXT)`.
    fn push_variable(&mut self, sign: Sign, name: &str, value: Option<&str>, attributes: &[String]) {
        let mut text = truncate_name(name);
        if let Some(value) = value {
            text.push_str(" = ");
            text.push_str(&truncate(value, self.value_width(2)));
        }
        let mut notes = vec!["variable".to_owned()];
        notes.extend_from_slice(attributes);
        self.push_text(1, sign, &format!("{text} ({})", notes.join(", ")));
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
