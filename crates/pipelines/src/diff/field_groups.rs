//! Groups fields for display: the cells of a row together, without empty values that were added or removed.

use super::leaf::{Leaf, PathStep};
use super::pipeline_diff::FieldDiff;

/// The key under which a call sets variables: rows of a name and a value.
const SET_VARIABLES: &str = "setScalarVariables";

/// The content of one line of text.
#[derive(Debug)]
pub(super) enum FieldGroup<'f> {
    Single(&'f FieldDiff),
    /// Cells of one row, which is named after its first cell.
    Row {
        name: &'f str,
        cells: Vec<&'f FieldDiff>,
    },
}

/// Groups the fields by row. Empty values that were added or removed are omitted.
pub(super) fn group_fields<'f>(fields: impl IntoIterator<Item = &'f FieldDiff>) -> Vec<FieldGroup<'f>> {
    let mut groups: Vec<FieldGroup<'f>> = Vec::new();
    let mut last_row: Option<&[PathStep]> = None;
    for field in fields.into_iter().filter(|field| !is_empty_change(field)) {
        let Some((row, name)) = find_row(field) else {
            last_row = None;
            groups.push(FieldGroup::Single(field));
            continue;
        };
        match groups.last_mut() {
            Some(FieldGroup::Row { cells, .. }) if last_row == Some(row) => cells.push(field),
            _ => groups.push(FieldGroup::Row {
                name,
                cells: vec![field],
            }),
        }
        last_row = Some(row);
    }
    groups
}

/// Returns the path and the name of the row that contains the field.
fn find_row(field: &FieldDiff) -> Option<(&[PathStep], &str)> {
    let name = field.row.as_deref()?;
    match field.path.split_last() {
        Some((PathStep::Index(_), row)) if matches!(row.last(), Some(PathStep::Index(_))) => {
            Some((row, name))
        }
        _ => None,
    }
}

/// Returns whether one side has no value and the other has an empty one.
fn is_empty_change(field: &FieldDiff) -> bool {
    match (&field.before, &field.after) {
        (Some(leaf), None) | (None, Some(leaf)) => is_empty_leaf(leaf),
        _ => false,
    }
}

/// Returns whether the value says nothing, so that a new field with it need not be described.
fn is_empty_leaf(leaf: &Leaf) -> bool {
    match leaf {
        Leaf::Null | Leaf::EmptyList | Leaf::EmptyMap => true,
        Leaf::Text(text) => text.is_empty(),
        Leaf::Boolean(_) | Leaf::Number(_) => false,
    }
}

/// Returns the display name of a field: its path, without the key that contains all parameters.
pub(super) fn format_path(steps: &[PathStep]) -> String {
    let shown_steps = match steps {
        [PathStep::Key(parameters), inner_steps @ ..]
            if parameters == "parameters" && !inner_steps.is_empty() =>
        {
            inner_steps
        }
        _ => steps,
    };
    let keys: Vec<String> = shown_steps.iter().map(PathStep::to_string).collect();
    keys.join(".")
}

impl FieldGroup<'_> {
    /// Returns the former name of the variable, if the row is a variable that a call sets and its name changed.
    pub(super) fn find_former_variable<'c>(cells: &[&'c FieldDiff]) -> Option<&'c Leaf> {
        let [first, ..] = cells else { return None };
        let sets_variable = first
            .path
            .iter()
            .any(|step| *step == PathStep::key(SET_VARIABLES));
        let is_name = first.path.last() == Some(&PathStep::Index(0));
        first
            .before
            .as_ref()
            .filter(|_| sets_variable && is_name && first.after.is_some())
    }

    /// Returns the text before the values of a row; for variables that a call sets, it begins with `sets`. For other
    /// rows, it has the name of the row only if the values do not begin with it.
    pub(super) fn format_row_prefix(name: &str, cells: &[&FieldDiff]) -> String {
        let cell_path = cells.first().map(|cell| cell.path.as_slice()).unwrap_or_default();
        let list_path = cell_path
            .get(..cell_path.len().saturating_sub(2))
            .unwrap_or_default();
        let has_name_cell = cells
            .first()
            .is_some_and(|cell| cell.path.last() == Some(&PathStep::Index(0)));
        let sets_variable = matches!(list_path.last(), Some(PathStep::Key(key)) if key == SET_VARIABLES);
        match (sets_variable, has_name_cell) {
            (true, _) => format!("sets {name} = "),
            (false, true) => format!("{}: ", format_path(list_path)),
            (false, false) => format!("{}, {name}: ", format_path(list_path)),
        }
    }
}
