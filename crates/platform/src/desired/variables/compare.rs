//! Compares a project with a file.

use super::change::{Difference, OverrideChange, VariableStep};
use super::file::WantedVariable;
use super::value::{NUMBER, TEXT, same, typed};
use crate::api::{ApiValue, Override, Platform, Variable, VariableFields};
use crate::desired::{DesiredError, Document};
use crate::http::HttpError;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde_json::Value;
use sluicegate_base::text;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use uuid::Uuid;

/// The types and behaviours of the API document, which leaves open whether there are others.
const TYPES: [&str; 2] = [TEXT, NUMBER];
const BEHAVIOURS: [&str; 2] = ["SHARED", "COPIED"];

/// Number of overrides that are read at the same time.
const AT_ONCE: usize = 8;

/// The current state of the project.
#[derive(Debug, Clone, Default)]
pub struct ProjectState {
    pub variables: BTreeMap<String, Variable>,
    /// Overrides of the variables whose overrides the file defines.
    pub overrides: BTreeMap<String, Vec<Override>>,
    /// Names of the environments, if the file has overrides; `None` if the token may not list them.
    pub environments: Option<BTreeSet<String>>,
}

/// Reads the variables, and the overrides of those whose overrides the file defines.
pub async fn read_project(
    platform: &Platform,
    project: Uuid,
    wanted: &[WantedVariable],
) -> Result<ProjectState, HttpError> {
    let named = |variable: ApiValue<Variable>| Some((variable.name.clone()?, variable.value));
    let variables: BTreeMap<String, Variable> = platform
        .variables(project)
        .await?
        .into_iter()
        .filter_map(named)
        .collect();
    let asked = wanted
        .iter()
        .filter(|it| it.overrides.is_some() && variables.contains_key(&it.name));
    let overrides = stream::iter(asked.map(|it| read_overrides(platform, project, it.name.clone())))
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await?;
    let environments = if wanted
        .iter()
        .any(|it| it.overrides.iter().flatten().next().is_some())
    {
        read_environments(platform, project).await?
    } else {
        None
    };
    Ok(ProjectState {
        variables,
        overrides,
        environments,
    })
}

/// Reads the environments' names. A token that may not list them may still set overrides; the platform then checks
/// them.
async fn read_environments(
    platform: &Platform,
    project: Uuid,
) -> Result<Option<BTreeSet<String>>, HttpError> {
    match platform.environments(project).await {
        Ok(listed) => {
            let names = listed
                .into_iter()
                .filter_map(|environment| environment.value.name);
            Ok(Some(names.collect()))
        }
        Err(error) if matches!(error.status(), Some(403 | 404)) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn read_overrides(
    platform: &Platform,
    project: Uuid,
    name: String,
) -> Result<(String, Vec<Override>), HttpError> {
    let overrides = platform.overrides(project, &name, None).await?.value.overrides;
    Ok((name, overrides))
}

/// Returns the steps that make the project match the file, in the order in which they are applied. With `prune`,
/// variables and overrides that the file does not have are removed.
pub fn compare(
    document: &Document,
    wanted: &[WantedVariable],
    found: &ProjectState,
    prune: bool,
) -> Result<Vec<VariableStep>, DesiredError> {
    let mut changes = Vec::new();
    for it in wanted {
        let existing = found.variables.get(&it.name);
        let kind = it
            .fields
            .r#type
            .as_deref()
            .or_else(|| existing.and_then(|variable| variable.r#type.as_deref()));
        check_types(document, it, kind)?;
        check_environments(document, it, found)?;
        match existing {
            None => changes.push(create(document, it)?),
            Some(existing) => {
                check_type_change(document, it, existing)?;
                changes.extend(update(document, it, existing, kind)?);
            }
        }
        let set = found
            .overrides
            .get(&it.name)
            .map(Vec::as_slice)
            .unwrap_or_default();
        changes.extend(overrides(it, set, kind, prune));
    }
    if prune {
        let kept: HashSet<&str> = wanted.iter().map(|it| it.name.as_str()).collect();
        let gone = found
            .variables
            .iter()
            .filter(|(name, _)| !kept.contains(name.as_str()));
        changes.extend(gone.map(|(name, variable)| VariableStep::Delete {
            variable: name.clone(),
            from: fields(variable),
        }));
    }
    Ok(changes)
}

/// Checks that types and behaviours are names of the API document, or names that the project uses already. A file with
/// another name would be applied in part.
pub fn check_names(
    document: &Document,
    wanted: &[WantedVariable],
    found: &ProjectState,
) -> Result<(), DesiredError> {
    let used_types = found.variables.values().filter_map(|it| it.r#type.as_deref());
    let types: BTreeSet<&str> = TYPES.into_iter().chain(used_types).collect();
    let used_behaviours = found.variables.values().filter_map(|it| it.behaviour.as_deref());
    let behaviours: BTreeSet<&str> = BEHAVIOURS.into_iter().chain(used_behaviours).collect();
    for variable in wanted {
        for (key, name, known) in [
            ("type", &variable.fields.r#type, &types),
            ("behaviour", &variable.fields.behaviour, &behaviours),
        ] {
            let Some(name) = name.as_deref().filter(|name| !known.contains(name)) else {
                continue;
            };
            let known: Vec<&str> = known.iter().copied().collect();
            let path = format!("{}.{key}", variable.path);
            let error = document.error(&path, format!("{name:?} is not one of {}", known.join(", ")));
            let accept = "pass --allow-unknown if the platform has this name";
            return Err(match text::suggest(&name.to_uppercase(), &known) {
                Some(question) => error.with_hint(format!("{question} Otherwise {accept}")),
                None => error.with_hint(accept),
            });
        }
    }
    Ok(())
}

/// Checks that the current value fits a type that the file changes without a value.
fn check_type_change(
    document: &Document,
    wanted: &WantedVariable,
    existing: &Variable,
) -> Result<(), DesiredError> {
    let is_changed = wanted.fields.r#type.is_some() && wanted.fields.r#type != existing.r#type;
    let kept = existing
        .value
        .as_ref()
        .filter(|_| is_changed && wanted.fields.value.is_none());
    let fits = kept.is_none_or(|value| typed(wanted.fields.r#type.as_deref(), value).is_ok());
    if fits {
        return Ok(());
    }
    let message = "the current value does not fit this type: add a `value`";
    Err(document.error(&format!("{}.type", wanted.path), message))
}

/// Checks the values against the variable's type, from the file or otherwise from the platform.
fn check_types(document: &Document, wanted: &WantedVariable, kind: Option<&str>) -> Result<(), DesiredError> {
    if let Some(value) = &wanted.fields.value {
        typed(kind, value).map_err(|why| document.error(&format!("{}.value", wanted.path), why))?;
    }
    for it in wanted.overrides.iter().flatten() {
        let path = format!("{}.overrides.{}", wanted.path, it.environment_name);
        typed(kind, &it.value).map_err(|why| document.error(&path, why))?;
    }
    Ok(())
}

/// Checks that the environments of the overrides exist.
fn check_environments(
    document: &Document,
    wanted: &WantedVariable,
    found: &ProjectState,
) -> Result<(), DesiredError> {
    let Some(known) = &found.environments else {
        return Ok(());
    };
    let mut all = wanted.overrides.iter().flatten().map(|it| &it.environment_name);
    let Some(name) = all.find(|name| !known.contains(*name)) else {
        return Ok(());
    };
    let path = format!("{}.overrides.{name}", wanted.path);
    let error = document.error(&path, "the project has no environment of this name");
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    let hint = text::suggest(name, &names);
    Err(error.with_hint(
        hint.unwrap_or_else(|| "list the environments with `sluicegate environments list`".to_owned()),
    ))
}

fn create(document: &Document, wanted: &WantedVariable) -> Result<VariableStep, DesiredError> {
    for (key, given) in [
        ("type", &wanted.fields.r#type),
        ("behaviour", &wanted.fields.behaviour),
    ] {
        if given.is_none() {
            let path = format!("{}.{key}", wanted.path);
            return Err(document.error(&path, "is required, as the project has no such variable yet"));
        }
    }
    Ok(VariableStep::Create {
        variable: wanted.name.clone(),
        to: wanted.fields.clone(),
    })
}

fn update(
    document: &Document,
    wanted: &WantedVariable,
    existing: &Variable,
    kind: Option<&str>,
) -> Result<Option<VariableStep>, DesiredError> {
    let (want, have) = (&wanted.fields, existing);
    let (differences, mut sent) = differing(want, have, kind);
    if differences.is_empty() {
        return Ok(None);
    }
    let needed = |key: &str, wanted_field: &Option<String>, have: &Option<String>| {
        wanted_field.clone().or_else(|| have.clone()).ok_or_else(|| {
            let path = format!("{}.{key}", wanted.path);
            document.error(&path, "is missing, and the platform does not return it either")
        })
    };
    sent.r#type = Some(needed("type", &want.r#type, &have.r#type)?);
    sent.behaviour = Some(needed("behaviour", &want.behaviour, &have.behaviour)?);
    Ok(Some(VariableStep::Update {
        variable: wanted.name.clone(),
        differences,
        sent,
    }))
}

/// Returns the differences between the wanted fields and the existing variable, and the fields that an update sends.
fn differing(
    want: &VariableFields,
    have: &Variable,
    kind: Option<&str>,
) -> (Vec<Difference>, VariableFields) {
    let mut sent = VariableFields::default();
    let mut differences = Vec::new();
    let mut differs = |field: &str, from: Value, to: Value| {
        differences.push(Difference {
            field: field.to_owned(),
            from,
            to,
        });
    };
    if want.r#type.is_some() && want.r#type != have.r#type {
        differs("type", have.r#type.clone().into(), want.r#type.clone().into());
    }
    if want.behaviour.is_some() && want.behaviour != have.behaviour {
        differs(
            "behaviour",
            have.behaviour.clone().into(),
            want.behaviour.clone().into(),
        );
    }
    let described = have.description.clone().unwrap_or_default();
    if want.description.as_ref().is_some_and(|text| *text != described) {
        differs(
            "description",
            have.description.clone().into(),
            want.description.clone().into(),
        );
        sent.description.clone_from(&want.description);
    }
    let value = have.value.clone().unwrap_or_default();
    if want.value.as_ref().is_some_and(|it| !same(kind, it, &value)) {
        differs("value", value, want.value.clone().unwrap_or_default());
        sent.value.clone_from(&want.value);
    }
    let double = have.supports_double_resolution;
    if want
        .supports_double_resolution
        .is_some_and(|it| it != double.unwrap_or_default())
    {
        differs(
            "supportsDoubleResolution",
            double.into(),
            want.supports_double_resolution.into(),
        );
        sent.supports_double_resolution = want.supports_double_resolution;
    }
    (differences, sent)
}

fn overrides(
    wanted: &WantedVariable,
    set: &[Override],
    kind: Option<&str>,
    prune: bool,
) -> Vec<VariableStep> {
    let Some(listed) = &wanted.overrides else {
        return Vec::new();
    };
    let current = |environment: &str| {
        set.iter()
            .find(|it| it.environment_name == environment)
            .map(|it| &it.value)
    };
    let differing: Vec<OverrideChange> = listed
        .iter()
        .filter(|it| current(&it.environment_name).is_none_or(|value| !same(kind, value, &it.value)))
        .map(|it| OverrideChange {
            environment_name: it.environment_name.clone(),
            from: current(&it.environment_name).cloned(),
            to: it.value.clone(),
        })
        .collect();
    let mut changes = Vec::new();
    if !differing.is_empty() {
        changes.push(VariableStep::SetOverrides {
            variable: wanted.name.clone(),
            overrides: differing,
        });
    }
    if prune {
        let listed = |it: &&Override| !listed.iter().any(|l| l.environment_name == it.environment_name);
        changes.extend(set.iter().filter(listed).map(|it| VariableStep::UnsetOverride {
            variable: wanted.name.clone(),
            was: it.clone(),
        }));
    }
    changes
}

fn fields(variable: &Variable) -> VariableFields {
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
    use super::super::file::read;
    use super::*;
    use serde_json::json;
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
            overrides: BTreeMap::from([(
                "region".to_owned(),
                vec![over("production", "eu"), over("staging", "asia")],
            )]),
        }
    }

    fn lines(text: &str, prune: bool) -> String {
        let document = Document::parse(text.as_bytes(), Path::new("v.yaml")).unwrap();
        let wanted = read(&document).unwrap();
        match compare(&document, &wanted, &found(), prune) {
            Ok(changes) => changes
                .iter()
                .flat_map(VariableStep::lines)
                .collect::<Vec<_>>()
                .join("\n"),
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn difference_is_all_that_file_says_and_no_more() {
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
        "#);
    }

    #[test]
    fn change_sends_type_and_behaviour_in_any_case() {
        let text = "variables: { days: { description: d } }";
        let document = Document::parse(text.as_bytes(), Path::new("v.yaml")).unwrap();
        let changes = compare(&document, &read(&document).unwrap(), &found(), false).unwrap();
        let [VariableStep::Update { sent, .. }] = changes.as_slice() else {
            panic!("{changes:?}")
        };
        insta::assert_snapshot!(json!(sent), @r#"{"type":"NUMBER","behaviour":"SHARED","description":"d"}"#);
    }

    #[test]
    fn complaints_name_the_line() {
        insta::assert_snapshot!(lines("variables:\n  days: { value: ten }\n", false),
            @"v.yaml:2:11: variables.days.value: is a string, and the type is NUMBER: remove the quotes");
        insta::assert_snapshot!(lines("variables:\n  fresh:\n    type: TEXT\n", false),
            @"v.yaml:2:3: variables.fresh.behaviour: is required, as the project has no such variable yet");
    }

    #[test]
    fn file_of_another_shape_is_refused_at_its_line() {
        let refused = |text: &str| {
            let document = Document::parse(text.as_bytes(), Path::new("v.yaml")).unwrap();
            let error = read(&document).unwrap_err();
            format!("{error} | {}", error.hint().unwrap_or("-"))
        };
        insta::assert_snapshot!(refused("[]"), @"v.yaml:1:1: must be a map | -");
        insta::assert_snapshot!(refused("variables:\n"), @"v.yaml:1:1: variables: must be a map of variables by name; use `{}` for no variables | -");
        insta::assert_snapshot!(refused("variables:\n  a:\n    behavior: SHARED\n"),
            @"v.yaml:3:5: variables.a.behavior: unknown key | did you mean `behaviour`?");
        insta::assert_snapshot!(refused("variables:\n  a: { type: TEXT, value: 1.10 }\n"),
            @"v.yaml:2:20: variables.a.value: is a number and must be a string: put it in quotes | -");
        insta::assert_snapshot!(refused("variables:\n  a: { overrides: [x] }\n"),
            @"v.yaml:2:8: variables.a.overrides: must be a map from environment to value | -");
    }
}
