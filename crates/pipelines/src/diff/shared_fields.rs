//! Finds values that were added in several components, which the description lists once.

use super::field_groups::is_empty_leaf;
use super::leaf::{Leaf, PathStep};
use super::pipeline_diff::{ComponentChange, ComponentDiff, FieldDiff};
use std::collections::BTreeMap;

/// Number of components from which on an added value is listed once.
const MIN_COMPONENTS: usize = 3;

/// A value that was added under one path in several components.
pub(super) struct SharedField<'d> {
    pub path: &'d [PathStep],
    pub value: &'d Leaf,
    pub component_names: Vec<&'d str>,
}

/// Returns the values that were added in at least [`MIN_COMPONENTS`] existing components, sorted by path and value. Two
/// values are the same if their paths and their contents are equal.
pub(super) fn find_shared_fields(components: &[ComponentDiff]) -> Vec<SharedField<'_>> {
    let mut names_by_field: BTreeMap<(&[PathStep], &Leaf), Vec<&str>> = BTreeMap::new();
    for component in components
        .iter()
        .filter(|component| is_in_both_versions(component))
    {
        for field in &component.fields {
            if let Some(key) = find_shareable_value(field) {
                names_by_field.entry(key).or_default().push(&component.name);
            }
        }
    }
    names_by_field
        .into_iter()
        .filter(|(_, names)| names.len() >= MIN_COMPONENTS)
        .map(|((path, value), component_names)| SharedField {
            path,
            value,
            component_names,
        })
        .collect()
}

/// Returns whether the field was added to an existing component and one of the `shared_fields` describes it. The
/// description of the component itself omits such a field.
pub(super) fn is_shared_field(
    shared_fields: &[SharedField<'_>],
    component: &ComponentDiff,
    field: &FieldDiff,
) -> bool {
    let value = find_shareable_value(field).filter(|_| is_in_both_versions(component));
    value.is_some_and(|(path, value)| {
        shared_fields
            .iter()
            .any(|shared_field| (shared_field.path, shared_field.value) == (path, value))
    })
}

/// Returns whether both versions have the component.
const fn is_in_both_versions(component: &ComponentDiff) -> bool {
    matches!(
        component.change,
        ComponentChange::Modified | ComponentChange::Renamed
    )
}

/// Returns the path and the value of a field that was added, if several components can share its description: the field
/// is outside of lists, and its value has one line and is not empty.
fn find_shareable_value(field: &FieldDiff) -> Option<(&[PathStep], &Leaf)> {
    let value = field.after.as_ref().filter(|_| field.before.is_none())?;
    let is_outside_lists = field.path.iter().all(|step| step.as_key().is_some());
    let is_single_line = value.find_multiline_text().is_none();
    (is_outside_lists && is_single_line && !is_empty_leaf(value)).then_some((field.path.as_slice(), value))
}
