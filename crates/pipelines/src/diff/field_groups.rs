//! Groups fields for display: the cells of a row together, without empty values that were added or removed.

use super::leaf::{Leaf, PathStep};
use super::list_names::{NAME_KEYS, SET_GRID_VARIABLES, SET_VARIABLES};
use super::pipeline_diff::{EntryName, FieldDiff};
use super::value_text::{format_value, truncate};

/// Maximum number of groups of fields of a new component or variable that are shown.
const MAX_NEW_FIELDS: usize = 10;

/// The content of one line of text.
#[derive(Debug)]
pub(super) enum FieldGroup<'f> {
    Single(&'f FieldDiff),
    /// Cells of one row, which is named after its first cell.
    Row {
        name: &'f str,
        cells: Vec<&'f FieldDiff>,
    },
    /// The fields of an entry that only one version has; an entry is a map in a list.
    Entry {
        name: &'f str,
        fields: Vec<&'f FieldDiff>,
    },
    /// The names of entries of one list that only moved within it. Only `join_moved_entries` builds this group.
    Moved {
        list_path: &'f [PathStep],
        outer_entries: &'f [EntryName],
        names: Vec<&'f str>,
    },
}

/// Returns the maximum number of described groups out of `group_count`: all, but only the first [`MAX_NEW_FIELDS`] of a
/// new component or variable. A single further group is described, because the line that counts it is no shorter.
pub(super) const fn limit_group_count(group_count: usize, is_new: bool) -> usize {
    if is_new && group_count > MAX_NEW_FIELDS + 1 {
        MAX_NEW_FIELDS
    } else {
        group_count
    }
}

/// Groups changed fields for display: by table row, and by list entry if the entry was added or removed. All other
/// fields are groups of their own. Empty values that were added or removed are omitted.
pub(super) fn group_fields<'f>(fields: impl IntoIterator<Item = &'f FieldDiff>) -> Vec<FieldGroup<'f>> {
    let mut groups: Vec<FieldGroup<'f>> = Vec::new();
    // The path and the name of the row to which the next cell may belong; `None` after a group that is not a row. A
    // removed row may have the path of an added one.
    let mut last_row: Option<(&[PathStep], &str)> = None;
    let mut fields = fields
        .into_iter()
        .filter(|field| !is_empty_value_change(field))
        .peekable();
    while let Some(field) = fields.next() {
        // An entry that was added or removed: the next fields below its path belong to it, too.
        if let Some((entry_path, name)) = find_entry_start(field) {
            last_row = None;
            let mut entry_fields = vec![field];
            while let Some(next) = fields.next_if(|next| is_in_same_entry(field, next, entry_path)) {
                entry_fields.push(next);
            }
            groups.push(FieldGroup::Entry {
                name,
                fields: entry_fields,
            });
            continue;
        }
        let Some((row_path, name)) = find_table_row(field) else {
            last_row = None;
            groups.push(FieldGroup::Single(field));
            continue;
        };
        match groups.last_mut() {
            Some(FieldGroup::Row { cells, .. }) if last_row == Some((row_path, name)) => cells.push(field),
            _ => groups.push(FieldGroup::Row {
                name,
                cells: vec![field],
            }),
        }
        last_row = Some((row_path, name));
    }
    groups
}

/// Returns whether both fields are in the list entry at this path. A removed entry may have the path of an added one.
fn is_in_same_entry(field: &FieldDiff, next: &FieldDiff, entry_path: &[PathStep]) -> bool {
    next.path.starts_with(entry_path) && next.unpaired_entry() == field.unpaired_entry()
}

/// Returns the path and the name of a list entry if only one version has the entry and the field is its name.
/// [`group_fields`] begins the group of the entry with this field.
fn find_entry_start(field: &FieldDiff) -> Option<(&[PathStep], &str)> {
    let entry = field.unpaired_entry()?;
    let entry_path = field.path.get(..=entry.position)?;
    let is_name = matches!(field.path.get(entry.position + 1..), Some([PathStep::Key(key)]) if NAME_KEYS.contains(&key.as_str()));
    is_name.then_some((entry_path, &*entry.name))
}

/// Returns the path and the name of the table row that contains the field. The path of a field in a row ends with two
/// indexes: that of the row and that of the cell.
fn find_table_row(field: &FieldDiff) -> Option<(&[PathStep], &str)> {
    let name = field.row.as_deref()?;
    match field.path.split_last() {
        Some((PathStep::Index(_), row)) if matches!(row.last(), Some(PathStep::Index(_))) => {
            Some((row, name))
        }
        _ => None,
    }
}

/// Returns whether the cell is the name of the variable that its row sets.
pub(super) fn is_variable_name(cell: &FieldDiff) -> bool {
    matches!(
        cell.path.as_slice(),
        [.., PathStep::Key(list), PathStep::Index(_), PathStep::Index(0)] if SET_VARIABLES.contains(&list.as_str())
    )
}

/// Returns whether an empty value was added or removed.
pub(super) fn is_empty_value_change(field: &FieldDiff) -> bool {
    match (&field.before, &field.after) {
        (Some(leaf), None) | (None, Some(leaf)) => is_empty_leaf(leaf),
        _ => false,
    }
}

/// Returns whether the value is null or an empty text, list or map, which is not worth a line in the description.
pub(super) fn is_empty_leaf(leaf: &Leaf) -> bool {
    match leaf {
        Leaf::Null | Leaf::EmptyList | Leaf::EmptyMap => true,
        Leaf::Text(text) => text.is_empty(),
        Leaf::Boolean(_) | Leaf::Number(_) => false,
    }
}

/// Returns the text before the value of a field: its path as [`format_path_steps`] writes it, with the names of its
/// list entries. Returns an empty text if the component or the variable itself is the value.
pub(super) fn format_field_prefix(field: &FieldDiff) -> String {
    if field.path.is_empty() {
        return String::new();
    }
    format!("{}: ", format_path_steps(&field.path, &field.entry_names))
}

/// Returns the text before a value without the colon or the equals sign at its end.
pub(super) fn remove_separator(prefix: &str) -> &str {
    let name = prefix.strip_suffix(" = ").or_else(|| prefix.strip_suffix(": "));
    name.unwrap_or(prefix)
}

/// Formats the values of a row after the prefix, truncated to `width`. Without values, the separator is omitted.
pub(super) fn format_values(prefix: &str, values: &[String], width: usize) -> String {
    if values.is_empty() {
        return remove_separator(prefix).to_owned();
    }
    format!("{prefix}{}", truncate(&values.join(", "), width))
}

/// Formats a path for display: keys with dots between them, and list entries by name with commas around them.
/// `entry_names` has the names of the list entries in the path. `parameters` or `metadata` at the
/// beginning, and a list entry at the end, are omitted, because they tell a reader nothing:
/// `parameters.columns[2].type` with the entry name `id` becomes `columns, id, type`. For grid variables, `sets`
/// replaces the list.
pub(super) fn format_path_steps(steps: &[PathStep], entry_names: &[EntryName]) -> String {
    let mut name = String::new();
    for (position, step) in steps.iter().enumerate() {
        let is_last = position + 1 == steps.len();
        let is_container =
            matches!(step, PathStep::Key(key) if ["parameters", "metadata"].contains(&key.as_str()));
        let is_leading_container = position == 0 && is_container && !is_last;
        let is_trailing_index = is_last && !name.is_empty() && step.as_key().is_none();
        if is_leading_container || is_trailing_index {
            continue;
        }
        let entry = entry_names.iter().find(|entry| entry.position == position);
        let list = position.checked_sub(1).and_then(|index| steps[index].as_key());
        if let Some(entry) = entry.filter(|_| list == Some(SET_GRID_VARIABLES)) {
            name = format!("sets {}", entry.name);
            continue;
        }
        let follows_named_entry = entry_names.iter().any(|entry| entry.position + 1 == position);
        let (separator, part) = match entry {
            Some(entry) => (", ", entry.name.to_string()),
            None if follows_named_entry => (", ", format_step(step)),
            None => (".", format_step(step)),
        };
        if !name.is_empty() {
            name.push_str(separator);
        }
        name.push_str(&part);
    }
    name
}

/// Formats a step of a path; an empty key as two quotation marks.
fn format_step(step: &PathStep) -> String {
    match step.as_key() {
        Some("") => "\"\"".to_owned(),
        _ => step.to_string(),
    }
}

impl FieldGroup<'_> {
    /// Returns the old name of the variable, if the row sets a variable and the first changed
    /// cell is the name of that variable. Returns `None` for all other rows.
    pub(super) fn find_old_variable<'c>(cells: &[&'c FieldDiff]) -> Option<&'c Leaf> {
        let first = cells.first().filter(|cell| is_variable_name(cell))?;
        first.before.as_ref().filter(|_| first.after.is_some())
    }

    /// Returns the text before the values of a row: `sets NAME = ` if the row sets a variable, otherwise the path of
    /// the table and the name of the row. Only the path is used if the name itself is the first changed cell, because
    /// the values then begin with the name.
    pub(super) fn format_row_prefix(name: &str, cells: &[&FieldDiff]) -> String {
        let cell_path = cells.first().map(|cell| cell.path.as_slice()).unwrap_or_default();
        // The path of a cell ends with the row and the column.
        let list_path = cell_path
            .get(..cell_path.len().saturating_sub(2))
            .unwrap_or_default();
        let has_name_cell = cells
            .first()
            .is_some_and(|cell| cell.path.last() == Some(&PathStep::Index(0)));
        let sets_variable =
            matches!(list_path.last(), Some(PathStep::Key(key)) if SET_VARIABLES.contains(&key.as_str()));
        let entry_names = cells
            .first()
            .map(|cell| cell.entry_names.as_slice())
            .unwrap_or_default();
        match (sets_variable, has_name_cell) {
            (true, _) => format!("sets {name} = "),
            (false, true) => format!("{}: ", format_path_steps(list_path, entry_names)),
            (false, false) => format!("{}, {name}: ", format_path_steps(list_path, entry_names)),
        }
    }

    /// Returns the text of a list entry that was added or removed: the list, the name of the entry, and its other
    /// values in parentheses. Each field's path leads through the list and the
    /// entry's index to a value. For grid variables, `sets` replaces the list.
    pub(super) fn format_entry(name: &str, fields: &[&FieldDiff]) -> String {
        // The position in each path at which the index of the entry is.
        let Some((first_field, entry)) = fields
            .first()
            .and_then(|field| Some((*field, field.unpaired_entry()?)))
        else {
            return name.to_owned();
        };
        let position = entry.position;
        let list_path = first_field.path.get(..position).unwrap_or_default();
        let name_key = find_name_key(fields, position);
        let values: Vec<String> = fields
            .iter()
            .filter(|field| field.path.get(position + 1..) != Some(&[PathStep::key(name_key)]))
            .filter_map(|field| format_entry_value(field, position))
            .collect();
        let prefix = match list_path.last() {
            Some(PathStep::Key(key)) if key == SET_GRID_VARIABLES => "sets ".to_owned(),
            _ => format!("{}: ", format_path_steps(list_path, &first_field.entry_names)),
        };
        if values.is_empty() {
            format!("{prefix}{name}")
        } else {
            format!("{prefix}{name} ({})", values.join(", "))
        }
    }
}

/// Returns the key of the entry's value from which the entry has its name. `position` is that of the entry's index in
/// each path.
fn find_name_key<'n>(fields: &[&FieldDiff], position: usize) -> &'n str {
    for key in NAME_KEYS {
        let path_end = [PathStep::key(key)];
        if fields
            .iter()
            .any(|field| field.path.get(position + 1..) == Some(&path_end))
        {
            return key;
        }
    }
    ""
}

/// Returns a value of a list entry with its path below the entry, whose index is at `position` in the path. The name of
/// an entry inside the entry is the value of the inner list.
fn format_entry_value(field: &FieldDiff, position: usize) -> Option<String> {
    let leaf = field.after.as_ref().or(field.before.as_ref())?;
    let mut path = field.path.get(position + 1..)?;
    let mut inner_names = Vec::new();
    for entry in &field.entry_names {
        // The names of the entry itself and of those around it are not in the path.
        if let Some(inner_position) = entry.position.checked_sub(position + 1) {
            inner_names.push(EntryName {
                position: inner_position,
                ..entry.clone()
            });
        }
    }
    if let (Some(entry), [inner_path @ .., PathStep::Key(key)]) = (inner_names.last(), path)
        && NAME_KEYS.contains(&key.as_str())
        && inner_path.len() == entry.position + 1
        && leaf.to_string() == *entry.name
    {
        path = inner_path;
        inner_names.pop();
    }
    Some(format!(
        "{}: {}",
        format_path_steps(path, &inner_names),
        format_value(leaf)
    ))
}
