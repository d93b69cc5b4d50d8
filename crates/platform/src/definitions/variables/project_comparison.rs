//! Compares a project with a file.

use super::project_state::ProjectState;
use super::type_change::{can_keep_override, check_type_change, list_unfit_overrides};
use super::typed_value::{NUMBER, TEXT, is_same_value, validate_value};
use super::variable_step::{FieldDifference, OverrideChange, VariableStep};
use super::variables_file::VariableDefinition;
use crate::api::{Override, Variable, VariableFields};
use crate::definitions::{DefinitionError, Document};
use serde_json::Value;
use sluicegate_base::text;
use std::collections::{BTreeSet, HashSet};

/// The types and behaviours of the API document, which leaves open whether there are others.
const TYPES: [&str; 2] = [TEXT, NUMBER];
const BEHAVIOURS: [&str; 2] = ["SHARED", "COPIED"];

/// Returns the steps that make the project match the file, in the order in which they are applied. With `--prune`,
/// variables and overrides that the file does not have are removed. Fails if a value does not fit its variable's type,
/// or if the file names an environment that does not exist.
pub fn build_variable_steps(
    document: &Document,
    definitions: &[VariableDefinition],
    project: &ProjectState,
    is_pruned: bool,
) -> Result<Vec<VariableStep>, DefinitionError> {
    let mut steps = Vec::new();
    for definition in definitions {
        let variable = project.variables.get(&definition.name);
        let current_type = variable.and_then(|variable| variable.r#type.as_deref());
        // The type after the steps: that of the file or, if the file does not define it, the current one.
        let variable_type = definition.fields.r#type.as_deref().or(current_type);
        // If the type changes, the platform may keep a value in its old form, so values are compared without a type.
        let compared_type = variable_type.filter(|_| variable_type == current_type);
        check_values(document, definition, variable_type)?;
        check_environments(document, definition, project)?;
        let current_overrides = project
            .overrides
            .get(&definition.name)
            .map(Vec::as_slice)
            .unwrap_or_default();
        // An override that does not fit a new type would prevent the change. All others are removed last, so that no
        // environment uses the variable's old value meanwhile.
        let (early_unset_steps, unset_steps) = match variable {
            Some(variable) if is_pruned => build_unset_steps(definition, variable, current_overrides),
            _ => Default::default(),
        };
        steps.extend(early_unset_steps);
        match variable {
            None => steps.push(build_create_step(document, definition)?),
            Some(variable) => {
                check_type_change(document, definition, variable, current_overrides, is_pruned)?;
                let unfit_overrides = list_unfit_overrides(definition, variable, current_overrides);
                steps.extend(build_update_step(
                    document,
                    definition,
                    variable,
                    compared_type,
                    unfit_overrides,
                )?);
            }
        }
        steps.extend(build_set_step(definition, current_overrides, compared_type));
        steps.extend(unset_steps);
    }
    if is_pruned {
        steps.extend(build_delete_steps(definitions, project));
    }
    Ok(steps)
}

/// Returns the steps that delete the variables which the project has and the file does not define.
fn build_delete_steps(definitions: &[VariableDefinition], project: &ProjectState) -> Vec<VariableStep> {
    let defined_names: HashSet<&str> = definitions
        .iter()
        .map(|definition| definition.name.as_str())
        .collect();
    let mut steps = Vec::new();
    for (name, variable) in &project.variables {
        if !defined_names.contains(name.as_str()) {
            steps.push(VariableStep::Delete {
                variable: name.clone(),
                from: variable_fields(variable),
                overrides: project.overrides.get(name).cloned().unwrap_or_default(),
            });
        }
    }
    steps
}

/// Checks that each type and behaviour in the file is a name from the API document, or a name that the project already
/// uses. This check precedes all changes, because the platform could reject an unknown name after it has changed other
/// variables.
pub fn check_types_and_behaviours(
    document: &Document,
    definitions: &[VariableDefinition],
    project: &ProjectState,
) -> Result<(), DefinitionError> {
    let used_types = project
        .variables
        .values()
        .filter_map(|variable| variable.r#type.as_deref());
    let types: BTreeSet<&str> = TYPES.into_iter().chain(used_types).collect();
    let used_behaviours = project
        .variables
        .values()
        .filter_map(|variable| variable.behaviour.as_deref());
    let behaviours: BTreeSet<&str> = BEHAVIOURS.into_iter().chain(used_behaviours).collect();
    for definition in definitions {
        for (key, value, known_names) in [
            ("type", &definition.fields.r#type, &types),
            ("behaviour", &definition.fields.behaviour, &behaviours),
        ] {
            if let Some(name) = value
                && !known_names.contains(name.as_str())
            {
                let path = format!("{}.{key}", definition.path);
                return Err(unknown_name_error(document, &path, name, known_names));
            }
        }
    }
    Ok(())
}

/// Creates the error for a type or behaviour that is none of the known names. The hint suggests the most similar one.
fn unknown_name_error(
    document: &Document,
    path: &str,
    name: &str,
    known_names: &BTreeSet<&str>,
) -> DefinitionError {
    let names: Vec<&str> = known_names.iter().copied().collect();
    let error = document.error_at(path, format!("{name:?} is not one of {}", names.join(", ")));
    let accept_hint = "pass --allow-unknown if the platform has this name";
    // The names of the API document are in upper case.
    match text::suggest(&name.to_uppercase(), &names) {
        Some(suggestion) => error.with_hint(format!("{suggestion} Otherwise {accept_hint}")),
        None => error.with_hint(accept_hint),
    }
}

/// Checks the variable's value and its overrides against the variable's type.
fn check_values(
    document: &Document,
    definition: &VariableDefinition,
    variable_type: Option<&str>,
) -> Result<(), DefinitionError> {
    if let Some(value) = &definition.fields.value {
        validate_value(variable_type, value)
            .map_err(|reason| document.error_at(&format!("{}.value", definition.path), reason))?;
    }
    for override_value in definition.overrides.iter().flatten() {
        let path = format!(
            "{}.overrides.{}",
            definition.path, override_value.environment_name
        );
        validate_value(variable_type, &override_value.value)
            .map_err(|reason| document.error_at(&path, reason))?;
    }
    Ok(())
}

/// Checks that the environments of the overrides exist. Passes if the token may not list the environments, because the
/// platform checks them, too.
fn check_environments(
    document: &Document,
    definition: &VariableDefinition,
    project: &ProjectState,
) -> Result<(), DefinitionError> {
    let Some(known_names) = &project.environments else {
        return Ok(());
    };
    let mut environment_names = definition
        .overrides
        .iter()
        .flatten()
        .map(|entry| &entry.environment_name);
    let Some(name) = environment_names.find(|name| !known_names.contains(*name)) else {
        return Ok(());
    };
    let path = format!("{}.overrides.{name}", definition.path);
    let error = document.error_at(&path, "the project has no environment with this name");
    let names: Vec<&str> = known_names.iter().map(String::as_str).collect();
    let hint = text::suggest(name, &names);
    Err(error.with_hint(
        hint.unwrap_or_else(|| "list the environments with `sluicegate environments list`".to_owned()),
    ))
}

/// Returns the step that creates the variable. Fails if the file does not define its type and behaviour.
fn build_create_step(
    document: &Document,
    definition: &VariableDefinition,
) -> Result<VariableStep, DefinitionError> {
    for (key, value) in [
        ("type", &definition.fields.r#type),
        ("behaviour", &definition.fields.behaviour),
    ] {
        if value.is_none() {
            let path = format!("{}.{key}", definition.path);
            return Err(document.error_at(&path, "is required because the project has no such variable yet"));
        }
    }
    Ok(VariableStep::Create {
        variable: definition.name.clone(),
        to: definition.fields.clone(),
    })
}

/// Returns the step that updates the variable, or `None` if no field differs. Each update must contain type and
/// behaviour, so the project's values are sent if the file does not define them.
fn build_update_step(
    document: &Document,
    definition: &VariableDefinition,
    variable: &Variable,
    variable_type: Option<&str>,
    unfit_overrides: Vec<Override>,
) -> Result<Option<VariableStep>, DefinitionError> {
    let fields = &definition.fields;
    let (differences, mut sent_fields) = compare_fields(fields, variable, variable_type);
    if differences.is_empty() {
        return Ok(None);
    }
    let type_name = fields.r#type.as_ref().or(variable.r#type.as_ref());
    sent_fields.r#type = Some(
        type_name
            .ok_or_else(|| missing_field_error(document, definition, "type"))?
            .clone(),
    );
    let behaviour = fields.behaviour.as_ref().or(variable.behaviour.as_ref());
    sent_fields.behaviour = Some(
        behaviour
            .ok_or_else(|| missing_field_error(document, definition, "behaviour"))?
            .clone(),
    );
    Ok(Some(VariableStep::Update {
        variable: definition.name.clone(),
        differences,
        sent: sent_fields,
        unfit_overrides,
    }))
}

/// Creates the error for a field that every update needs, but that neither the file nor the platform's response has.
fn missing_field_error(document: &Document, definition: &VariableDefinition, key: &str) -> DefinitionError {
    let path = format!("{}.{key}", definition.path);
    document.error_at(
        &path,
        "is missing, and the platform does not return a value for this field either",
    )
}

/// Compares the fields that the file defines with the variable of the project. Returns the differences, and the fields
/// to send, without type and behaviour. The caller adds these two, because every update must contain both.
fn compare_fields(
    fields: &VariableFields,
    variable: &Variable,
    variable_type: Option<&str>,
) -> (Vec<FieldDifference>, VariableFields) {
    let mut sent_fields = VariableFields::default();
    let mut differences = Vec::new();
    if fields.r#type.is_some() && fields.r#type != variable.r#type {
        let (old, new) = (variable.r#type.clone(), fields.r#type.clone());
        differences.push(FieldDifference::new("type", old, new));
    }
    if fields.behaviour.is_some() && fields.behaviour != variable.behaviour {
        let (old, new) = (variable.behaviour.clone(), fields.behaviour.clone());
        differences.push(FieldDifference::new("behaviour", old, new));
    }
    // For the next three fields, a missing value on the platform is the same as an empty text, null or false.
    let current_description = variable.description.as_deref().unwrap_or_default();
    if let Some(description) = &fields.description
        && description != current_description
    {
        let (old, new) = (variable.description.clone(), fields.description.clone());
        differences.push(FieldDifference::new("description", old, new));
        sent_fields.description.clone_from(&fields.description);
    }
    let current_value = variable.value.clone().unwrap_or_default();
    if let Some(value) = &fields.value
        && !is_same_value(variable_type, value, &current_value)
    {
        differences.push(FieldDifference::new("value", current_value, value.clone()));
        sent_fields.value.clone_from(&fields.value);
    }
    let current_resolution = variable.supports_double_resolution;
    if let Some(resolution) = fields.supports_double_resolution
        && resolution != current_resolution.unwrap_or_default()
    {
        differences.push(FieldDifference::new(
            "supportsDoubleResolution",
            current_resolution,
            resolution,
        ));
        sent_fields.supports_double_resolution = Some(resolution);
    }
    (differences, sent_fields)
}

/// Returns the step that sets all new and changed overrides of a variable, or `None` if there are none.
fn build_set_step(
    definition: &VariableDefinition,
    current_overrides: &[Override],
    variable_type: Option<&str>,
) -> Option<VariableStep> {
    let defined_overrides = definition.overrides.as_ref()?;
    let overrides = list_override_changes(defined_overrides, current_overrides, variable_type);
    (!overrides.is_empty()).then(|| VariableStep::SetOverrides {
        variable: definition.name.clone(),
        overrides,
    })
}

/// Returns a step for each override that the file does not list, which removes it: first the steps for overrides that
/// do not fit a new type, then the others. A variable without `overrides` in the file keeps all its overrides.
fn build_unset_steps(
    definition: &VariableDefinition,
    variable: &Variable,
    current_overrides: &[Override],
) -> (Vec<VariableStep>, Vec<VariableStep>) {
    let Some(defined_overrides) = &definition.overrides else {
        return Default::default();
    };
    let (kept_overrides, unfit_overrides): (Vec<&Override>, Vec<&Override>) = current_overrides
        .iter()
        .filter(|entry| find_override_value(defined_overrides, &entry.environment_name).is_none())
        .partition(|entry| can_keep_override(definition, variable, entry));
    (
        unfit_overrides
            .into_iter()
            .map(|entry| build_unset_step(definition, entry))
            .collect(),
        kept_overrides
            .into_iter()
            .map(|entry| build_unset_step(definition, entry))
            .collect(),
    )
}

/// Returns the step that removes an override.
fn build_unset_step(definition: &VariableDefinition, current_override: &Override) -> VariableStep {
    VariableStep::UnsetOverride {
        variable: definition.name.clone(),
        was: current_override.clone(),
    }
}

/// Returns a change for each override of the file that the project does not have or has with another value.
fn list_override_changes(
    defined_overrides: &[Override],
    current_overrides: &[Override],
    variable_type: Option<&str>,
) -> Vec<OverrideChange> {
    let mut override_changes = Vec::new();
    for defined_override in defined_overrides {
        let current_value = find_override_value(current_overrides, &defined_override.environment_name);
        if current_value.is_none_or(|value| !is_same_value(variable_type, value, &defined_override.value)) {
            override_changes.push(OverrideChange {
                environment_name: defined_override.environment_name.clone(),
                from: current_value.cloned(),
                to: defined_override.value.clone(),
            });
        }
    }
    override_changes
}

/// Returns the variable's value in this environment, or `None` if it is not overridden there.
fn find_override_value<'o>(overrides: &'o [Override], environment: &str) -> Option<&'o Value> {
    overrides
        .iter()
        .find(|entry| entry.environment_name == environment)
        .map(|entry| &entry.value)
}

/// Returns the fields of the variable that a file can define.
fn variable_fields(variable: &Variable) -> VariableFields {
    VariableFields {
        r#type: variable.r#type.clone(),
        behaviour: variable.behaviour.clone(),
        description: variable.description.clone(),
        value: variable.value.clone(),
        supports_double_resolution: variable.supports_double_resolution,
    }
}

#[cfg(test)]
mod tests {
    use super::super::variables_file::read_variables;
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;
    use std::path::Path;

    const FILE: &str = "variables:
  region: { type: TEXT, behaviour: SHARED, value: eu, overrides: { production: us, test: eu } }
  days: { value: 30 }
  new: { type: NUMBER, behaviour: COPIED, value: 1 }
";

    fn found() -> ProjectState {
        let variable = |value| serde_json::from_value::<Variable>(value).unwrap();
        let over = |environment: &str, value: &str| Override {
            environment_name: environment.to_owned(),
            value: json!(value),
        };
        ProjectState {
            environments: None,
            variables: BTreeMap::from([
                (
                    "region".to_owned(),
                    variable(json!({ "type": "TEXT", "behaviour": "COPIED", "value": "us" })),
                ),
                (
                    "days".to_owned(),
                    variable(json!({ "type": "NUMBER", "behaviour": "SHARED", "value": "30" })),
                ),
                (
                    "old".to_owned(),
                    variable(json!({ "type": "TEXT", "behaviour": "SHARED", "value": "x" })),
                ),
            ]),
            overrides: BTreeMap::from([
                (
                    "region".to_owned(),
                    vec![over("production", "eu"), over("staging", "asia")],
                ),
                ("old".to_owned(), vec![over("test", "y")]),
            ]),
        }
    }

    fn lines(text: &str, prune: bool) -> String {
        let document = Document::parse(text.as_bytes(), Path::new("v.yaml")).unwrap();
        let wanted = read_variables(&document).unwrap();
        match build_variable_steps(&document, &wanted, &found(), prune) {
            Ok(changes) => changes
                .iter()
                .flat_map(VariableStep::describe_lines)
                .collect::<Vec<_>>()
                .join("\n"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn difference_has_exactly_the_changes_of_the_file() {
        insta::assert_snapshot!(lines(FILE, false), @r#"
        ~ region  behaviour: "COPIED" -> "SHARED", value: "us" -> "eu"
        ~ region in production: "eu" -> "us"
        + region in test: "eu"
        + new  type: "NUMBER", behaviour: "COPIED", value: 1
        "#);
        insta::assert_snapshot!(lines(FILE, true), @r#"
        ~ region  behaviour: "COPIED" -> "SHARED", value: "us" -> "eu"
        ~ region in production: "eu" -> "us"
        + region in test: "eu"
        - region in staging: "asia"
        + new  type: "NUMBER", behaviour: "COPIED", value: 1
        - old  type: "TEXT", behaviour: "SHARED", value: "x"
        - old in test: "y"
        "#);
    }

    #[test]
    fn value_is_sent_with_its_new_type() {
        let mut project = found();
        let old = project.variables.get_mut("old").unwrap();
        old.value = Some(json!("1"));
        let entry = Override {
            environment_name: "test".to_owned(),
            value: json!("2"),
        };
        project.overrides.insert("old".to_owned(), vec![entry]);
        let text = "variables: { old: { type: NUMBER, value: 1, overrides: { test: 2 } } }";
        let document = Document::parse(text.as_bytes(), Path::new("v.yaml")).unwrap();
        let wanted = read_variables(&document).unwrap();
        let steps = build_variable_steps(&document, &wanted, &project, false).unwrap();
        let lines: Vec<String> = steps.iter().flat_map(VariableStep::describe_lines).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        ~ old  type: "TEXT" -> "NUMBER", value: "1" -> 1
        ~ old in test: "2" -> 2
        "#);
    }

    #[test]
    fn change_sends_type_and_behaviour_in_any_case() {
        let text = "variables: { days: { description: d } }";
        let document = Document::parse(text.as_bytes(), Path::new("v.yaml")).unwrap();
        let changes =
            build_variable_steps(&document, &read_variables(&document).unwrap(), &found(), false).unwrap();
        let [VariableStep::Update { sent, .. }] = changes.as_slice() else {
            panic!("{changes:?}")
        };
        insta::assert_snapshot!(json!(sent), @r#"{"type":"NUMBER","behaviour":"SHARED","description":"d"}"#);
    }

    #[test]
    fn complaints_name_the_line() {
        insta::assert_snapshot!(lines("variables:\n  days: { value: ten }\n", false),
            @"v.yaml:2:11: variables.days.value: is a string, but the type is NUMBER: write a number such as 1000, without quotes");
        insta::assert_snapshot!(lines("variables:\n  fresh:\n    type: TEXT\n", false),
            @"v.yaml:2:3: variables.fresh.behaviour: is required because the project has no such variable yet");
    }

    #[test]
    fn file_of_another_shape_is_refused_at_its_line() {
        let refused = |text: &str| {
            let document = Document::parse(text.as_bytes(), Path::new("v.yaml")).unwrap();
            let error = read_variables(&document).unwrap_err();
            format!("{error} | {}", error.hint().unwrap_or("-"))
        };
        insta::assert_snapshot!(refused("[]"), @"v.yaml:1:1: must be a map | -");
        insta::assert_snapshot!(refused("variables:\n"), @"v.yaml:1:1: variables: must be a map of variables by name; use `{}` for no variables | -");
        insta::assert_snapshot!(refused("variables:\n  a:\n    behavior: SHARED\n"),
            @"v.yaml:3:5: variables.a.behavior: unknown key | did you mean `behaviour`?");
        insta::assert_snapshot!(refused("variables:\n  a: { type: TEXT, value: 1.10 }\n"),
            @"v.yaml:2:20: variables.a.value: is a number but must be a string: put the value in quotes | -");
        insta::assert_snapshot!(refused("variables:\n  a: { overrides: [x] }\n"),
            @"v.yaml:2:8: variables.a.overrides: must be a map from environment to value | -");
    }
}
