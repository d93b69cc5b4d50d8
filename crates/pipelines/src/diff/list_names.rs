//! Recognizes the lists whose entries have names.

pub(super) use crate::pipelines::NAME_KEYS;

use super::leaf::PathStep;

/// The keys under which a component sets variables: rows of a name and a value.
pub(super) const SET_VARIABLES: [&str; 2] = ["setScalarVariables", "updateScalarVariables"];

/// The key under which a component sets grid variables: entries with the name of the variable.
pub(super) const SET_GRID_VARIABLES: &str = "setGridVariables";

/// Returns whether the list at this path sets variables, so that its order has no meaning.
pub(super) fn is_list_of_set_variables(path: &[PathStep]) -> bool {
    path.last()
        .and_then(PathStep::as_key)
        .is_some_and(|key| SET_VARIABLES.contains(&key) || key == SET_GRID_VARIABLES)
}
