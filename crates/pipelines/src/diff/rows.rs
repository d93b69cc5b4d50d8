//! Groups fields for display: the cells of a row together, without empty values that were added or removed.

use super::leaf::{Leaf, PathStep};
use super::model::Field;

/// The key under which a call sets variables: rows of a name and a value.
const SET_VARIABLES: &str = "setScalarVariables";

/// The content of one line of text.
#[derive(Debug)]
pub(super) enum ReadField<'f> {
    One(&'f Field),
    /// Cells of one row, which is named after its first cell.
    Row {
        name: &'f str,
        cells: Vec<&'f Field>,
    },
}

/// Returns the fields, grouped by row.
pub(super) fn read<'f>(fields: impl IntoIterator<Item = &'f Field>) -> Vec<ReadField<'f>> {
    let mut read: Vec<ReadField<'f>> = Vec::new();
    let mut last: Option<&[PathStep]> = None;
    for field in fields.into_iter().filter(|field| !is_nothing(field)) {
        let Some((row, name)) = row(field) else {
            last = None;
            read.push(ReadField::One(field));
            continue;
        };
        match read.last_mut() {
            Some(ReadField::Row { cells, .. }) if last == Some(row) => cells.push(field),
            _ => read.push(ReadField::Row {
                name,
                cells: vec![field],
            }),
        }
        last = Some(row);
    }
    read
}

/// Returns the path and the name of the row that contains the field.
fn row(field: &Field) -> Option<(&[PathStep], &str)> {
    let name = field.row.as_deref()?;
    match field.path.split_last() {
        Some((PathStep::Index(_), row)) if matches!(row.last(), Some(PathStep::Index(_))) => {
            Some((row, name))
        }
        _ => None,
    }
}

/// Returns whether one side has no value and the other has an empty one.
fn is_nothing(field: &Field) -> bool {
    let is_empty = |leaf: &Leaf| match leaf {
        Leaf::Null | Leaf::EmptyList | Leaf::EmptyMap => true,
        Leaf::Text(text) => text.is_empty(),
        Leaf::Boolean(_) | Leaf::Number(_) => false,
    };
    match (&field.before, &field.after) {
        (Some(leaf), None) | (None, Some(leaf)) => is_empty(leaf),
        _ => false,
    }
}

/// Returns the display name of a field: its path, without the key that contains all parameters.
pub(super) fn path(steps: &[PathStep]) -> String {
    let steps = match steps {
        [PathStep::Key(parameters), rest @ ..] if parameters == "parameters" && !rest.is_empty() => rest,
        steps => steps,
    };
    let steps: Vec<String> = steps.iter().map(PathStep::to_string).collect();
    steps.join(".")
}

impl ReadField<'_> {
    /// Returns the former name of the variable, if the row is a variable that a call sets and its name changed.
    pub(super) fn former_variable<'c>(cells: &[&'c Field]) -> Option<&'c Leaf> {
        let [first, ..] = cells else { return None };
        let sets = first
            .path
            .iter()
            .any(|step| *step == PathStep::key(SET_VARIABLES));
        let is_name = first.path.last() == Some(&PathStep::Index(0));
        first
            .before
            .as_ref()
            .filter(|_| sets && is_name && first.after.is_some())
    }

    /// Returns the text before the values of a row; for variables that a call sets, it begins with `sets`.
    pub(super) fn row_words(name: &str, cells: &[&Field]) -> String {
        let key = cells.first().map(|cell| cell.path.as_slice()).unwrap_or_default();
        let key = key.get(..key.len().saturating_sub(2)).unwrap_or_default();
        let is_new_row = cells
            .first()
            .is_some_and(|cell| cell.path.last() == Some(&PathStep::Index(0)));
        let sets = matches!(key.last(), Some(PathStep::Key(key)) if key == SET_VARIABLES);
        match (sets, is_new_row) {
            (true, _) => format!("sets {name} = "),
            (false, true) => format!("{}: ", path(key)),
            (false, false) => format!("{}, {name}: ", path(key)),
        }
    }
}
