//! The type of a variable changes: which of its current values do not fit the new type.

use super::typed_value::validate_value;
use super::variables_file::VariableDefinition;
use crate::api::{Override, Variable};
use crate::definitions::{DefinitionError, Document};
use sluicegate_base::text::quote_shell_word;

/// Returns whether the file gives the variable a new type.
pub(super) fn is_type_changed(definition: &VariableDefinition, variable: &Variable) -> bool {
    definition.fields.r#type.is_some() && definition.fields.r#type != variable.r#type
}

/// Checks a change of the type: the variable's value and the overrides that remain must fit the new type. With
/// `--prune`, the overrides that the file does not list are removed.
pub(super) fn check_type_change(
    document: &Document,
    definition: &VariableDefinition,
    variable: &Variable,
    current_overrides: &[Override],
    is_pruned: bool,
) -> Result<(), DefinitionError> {
    if !is_type_changed(definition, variable) {
        return Ok(());
    }
    let new_type = definition.fields.r#type.as_deref();
    let path = format!("{}.type", definition.path);
    let kept_value = variable
        .value
        .as_ref()
        .filter(|_| definition.fields.value.is_none());
    if kept_value.is_some_and(|value| validate_value(new_type, value).is_err()) {
        return Err(document.error_at(&path, "the current value does not fit this type: add a `value`"));
    }
    if is_pruned && definition.overrides.is_some() {
        return Ok(());
    }
    let unfit_override = current_overrides
        .iter()
        .find(|entry| !is_listed(definition, entry) && validate_value(new_type, &entry.value).is_err());
    match unfit_override {
        None => Ok(()),
        Some(entry) => {
            let environment = &entry.environment_name;
            let message = format!(
                "the current override in {environment} does not fit this type: add {environment} to `overrides`"
            );
            let hint = format!(
                "or remove the override with `sluicegate variables overrides unset {} {}`; to remove all overrides, \
                 write `overrides: {{}}` and pass --prune",
                quote_shell_word(&definition.name),
                quote_shell_word(environment)
            );
            Err(document.error_at(&path, message).with_hint(hint))
        }
    }
}

/// Returns the current overrides that do not fit the new type and that the file replaces. The platform may refuse the
/// new type as long as they exist.
pub(super) fn list_unfit_overrides(
    definition: &VariableDefinition,
    variable: &Variable,
    current_overrides: &[Override],
) -> Vec<Override> {
    current_overrides
        .iter()
        .filter(|entry| is_listed(definition, entry) && !can_keep_override(definition, variable, entry))
        .cloned()
        .collect()
}

/// Returns whether an override can exist while the variable is updated: its type does not change, or the override fits
/// the new type.
pub(super) fn can_keep_override(
    definition: &VariableDefinition,
    variable: &Variable,
    entry: &Override,
) -> bool {
    !is_type_changed(definition, variable)
        || validate_value(definition.fields.r#type.as_deref(), &entry.value).is_ok()
}

/// Returns whether the file lists an override for the same environment.
fn is_listed(definition: &VariableDefinition, entry: &Override) -> bool {
    definition
        .overrides
        .iter()
        .flatten()
        .any(|defined_override| defined_override.environment_name == entry.environment_name)
}
