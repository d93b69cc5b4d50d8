//! Runs `sluicegate variables overrides`.

use super::print_confirmation;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputArgs, OutputFormat, OverridesVerb};
use crate::session::resource::RemoteProject;
use crate::session::resource_lookup::{ResourceKind, ResourceLookup, change_failure};
use crate::session::response_output;
use crate::session::{CommandResult, Session};
use serde_json::Value;
use sluicegate_base::text::{self, format_count};
use sluicegate_platform::api::Override;
use sluicegate_platform::definitions::variables::{list_unconfirmed_overrides, parse_variable_argument};
use sluicegate_platform::http::{ErrorKind, HttpError, request_for_hint};
use std::collections::BTreeSet;

/// Runs `sluicegate variables overrides`: prints, sets or removes the values that a variable has in individual
/// environments.
pub(crate) async fn run_overrides(
    session: &Session,
    project: &RemoteProject,
    verb: OverridesVerb,
) -> CommandResult {
    match verb {
        OverridesVerb::List {
            name,
            environment,
            output,
        } => print_overrides(session, project, &name, environment.as_deref(), output).await,
        OverridesVerb::Set { name, values, output } => {
            set_overrides(session, project, &name, &values, output).await
        }
        OverridesVerb::Unset {
            name,
            environments,
            output,
        } => unset_overrides(session, project, &name, &environments, output).await,
    }
}

/// Prints the environments in which the variable has its own value, with the values.
async fn print_overrides(
    session: &Session,
    project: &RemoteProject,
    name: &str,
    environment: Option<&str>,
    output: OutputArgs,
) -> CommandResult {
    let response = match project
        .platform
        .fetch_variable_overrides(project.id, name, environment)
        .await
    {
        Ok(response) => response,
        Err(error) => return Err(project.variable_request_failure(name, error).await),
    };
    let columns = [("environmentName", "environment"), ("value", "value")];
    let items = response.raw["overrides"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let empty_message = match environment {
        Some(environment) => format!("{name} has no override in {environment}"),
        None => format!("{name} has no overrides"),
    };
    let empty_message = text::escape_line(&empty_message);
    let mut other_fields = response.raw.clone();
    let mut has_other_fields = false;
    if let Value::Object(fields) = &mut other_fields {
        fields.shift_remove("overrides");
        has_other_fields = !fields.is_empty();
    }
    session.print_response_with(output, &response.raw, |output| {
        response_output::write_list(items, &columns, &empty_message, session.ui.width(), output)?;
        if !has_other_fields {
            return Ok(());
        }
        let blank_line = "";
        let other_lines = response_output::format_headline_and_fields(blank_line, &other_fields);
        output.write_all(other_lines.as_bytes())
    })
}

/// Sets the value of the variable in each of the environments; `values` has pairs of an environment and its value.
/// Requests the type of the variable first, because it decides how a value is sent. Prints the values that the platform
/// confirms, and fails if it does not confirm all of them.
async fn set_overrides(
    session: &Session,
    project: &RemoteProject,
    name: &str,
    values: &[(String, String)],
    output: OutputArgs,
) -> CommandResult {
    let values = resolve_environments(project, values).await?;
    reject_repeated_environment(values.iter().map(|(environment, _)| environment))?;
    let environment_filter = None;
    let current = match project
        .platform
        .fetch_variable_overrides(project.id, name, environment_filter)
        .await
    {
        Ok(response) => response,
        Err(error) => return Err(project.variable_request_failure(name, error).await),
    };
    let overrides = parse_overrides(current.variable.r#type.as_deref(), &values)?;
    let response = match project.platform.set_overrides(project.id, name, &overrides).await {
        Ok(response) => response,
        Err(error) => {
            let check_instruction = format!("run `sluicegate {}` to check", list_command(name));
            return Err(change_failure(error, ResourceKind::Variable, &check_instruction));
        }
    };
    let refusals = list_unconfirmed_overrides(&overrides, &response);
    let mut lines = String::new();
    let mut refused_count = 0;
    for Override {
        environment_name,
        value,
    } in &overrides
    {
        let is_refused = refusals
            .iter()
            .any(|(environment, _)| environment == environment_name);
        if is_refused {
            refused_count += 1;
        } else {
            lines += &text::escape_line(&format!("{name} is {value} in {environment_name}"));
            lines.push('\n');
        }
    }
    session.print_response(output, &response.raw, || lines)?;
    if refusals.is_empty() {
        return Ok(ExitStatus::Success);
    }
    let failure = build_refusal_failure(name, overrides.len(), refused_count);
    Err(failure.with_entries(
        refusals
            .iter()
            .map(|(environment, reason)| format!("{environment}: {reason}")),
    ))
}

/// Returns the failure of a request in which the platform refused this number of overrides of the variable; 0 if it does
/// not name their environments.
fn build_refusal_failure(name: &str, override_count: usize, refused_count: usize) -> Failure {
    let message = if refused_count == 0 {
        format!("the platform reports a failed override of {name}, but not of which environment:")
    } else {
        format!(
            "the platform did not confirm {refused_count} of {} of {name}:",
            format_count(override_count, "override")
        )
    };
    Failure::from_message(ExitStatus::RemoteFailed, message).with_hint(format!(
        "correct the values that the platform rejects, and run `sluicegate {}` to see the current values",
        list_command(name)
    ))
}

/// Returns the command that lists the overrides of this variable, without the name of the program.
fn list_command(name: &str) -> String {
    format!("variables overrides list {}", text::quote_shell_word(name))
}

/// Fails if an environment is listed twice: its override has only one value, and can be removed only once.
fn reject_repeated_environment<'a>(environments: impl Iterator<Item = &'a String>) -> Result<(), Failure> {
    let mut names = BTreeSet::new();
    for environment in environments {
        if !names.insert(environment) {
            let message = format!("the environment {environment} is listed more than once");
            return Err(Failure::usage(message).with_hint("nothing was sent; list each environment once"));
        }
    }
    Ok(())
}

/// Returns the pairs of an environment and its value that the user means: the name of an environment may contain `=`,
/// which also separates it from the value. `values` are the pairs that the first `=` separates. Fails if several
/// environments match. Only a value with another `=` can be meant otherwise, so without one, the environments are not
/// requested.
async fn resolve_environments(
    project: &RemoteProject,
    values: &[(String, String)],
) -> Result<Vec<(String, String)>, Failure> {
    let mut resolved_values = values.to_vec();
    if !values.iter().any(|(_, value)| value.contains('=')) {
        return Ok(resolved_values);
    }
    // Without the list, the first `=` separates.
    let environments = request_for_hint(project.platform.fetch_environments(project.id)).await;
    let names: Vec<String> = environments
        .into_iter()
        .flatten()
        .filter_map(|environment| environment.value.name)
        .collect();
    for (environment, value) in &mut resolved_values {
        let argument = format!("{environment}={value}");
        let matching_names: Vec<&str> = names
            .iter()
            .map(String::as_str)
            .filter(|name| {
                argument
                    .strip_prefix(name)
                    .is_some_and(|suffix| suffix.starts_with('='))
            })
            .collect();
        if matching_names.len() > 1 {
            let message = format!(
                "{argument:?} is ambiguous: the project has the environments {}",
                text::join_with_commas_and(&matching_names)
            );
            return Err(Failure::usage(message).with_hint(
                "nothing was sent; set the value in a file, with `sluicegate variables apply -f FILE`",
            ));
        }
        if let Some(name) = matching_names.first() {
            value.clear();
            value.push_str(&argument[name.len() + 1..]);
            (*name).clone_into(environment);
        }
    }
    Ok(resolved_values)
}

/// Converts the text of each environment's value to JSON, according to the type of the variable.
fn parse_overrides(
    variable_type: Option<&str>,
    values: &[(String, String)],
) -> Result<Vec<Override>, Failure> {
    let mut overrides = Vec::new();
    for (environment, text) in values {
        let value = parse_variable_argument(variable_type, text)
            .map_err(|error| Failure::usage(format!("the value for {environment}: {error}")))?;
        overrides.push(Override {
            environment_name: environment.clone(),
            value,
        });
    }
    Ok(overrides)
}

/// Removes the variable's own value in each of the environments, with one request each. A failure does not stop the
/// requests for the next environments. Returns the worst status of all failures. `Undecided` becomes `RemoteFailed` if
/// some values were removed, because the change was then made in part.
async fn unset_overrides(
    session: &Session,
    project: &RemoteProject,
    name: &str,
    environments: &[String],
    output: OutputArgs,
) -> CommandResult {
    reject_repeated_environment(environments.iter())?;
    let mut status = ExitStatus::Success;
    let mut removed_count = 0;
    for environment in environments {
        match project
            .platform
            .delete_override(project.id, name, environment)
            .await
        {
            Ok(()) => {
                removed_count += 1;
                // The JSON output is one document after all requests.
                if output.output == OutputFormat::Text {
                    print_confirmation(
                        session,
                        output,
                        &format!("removed the override of {name} in {environment}"),
                    )?;
                }
            }
            Err(error) => {
                let failure = override_removal_failure(project, name, environment, error).await;
                status = status.worse(session.report_failure(&failure));
            }
        }
    }
    // The platform's responses are empty.
    if output.output == OutputFormat::Json {
        session
            .ui
            .print_result(&response_output::format_json(&Value::Null))?;
    }
    let is_partly_done = removed_count > 0 && status == ExitStatus::Undecided;
    Ok(if is_partly_done {
        ExitStatus::RemoteFailed
    } else {
        status
    })
}

/// Returns the failure to remove an override. For a 404, requests the overrides of the variable, because either the
/// variable or only its override may be missing.
async fn override_removal_failure(
    project: &RemoteProject,
    name: &str,
    environment: &str,
    error: HttpError,
) -> Failure {
    let list_command = list_command(name);
    if error.kind() != ErrorKind::NotFound {
        // If the response was lost, the override may be removed, so the hint says how to check.
        let check_instruction = format!("run `sluicegate {list_command}` to check");
        return change_failure(error, ResourceKind::Variable, &check_instruction);
    }
    let environment_filter = None;
    let request = project
        .platform
        .fetch_variable_overrides(project.id, name, environment_filter);
    let Some(response) = request_for_hint(request).await else {
        // Without a list of overrides, the variable itself may be missing.
        return project.variable_request_failure(name, error).await;
    };
    let environment_names = response
        .value
        .overrides
        .into_iter()
        .map(|existing_override| existing_override.environment_name)
        .collect();
    let lookup = ResourceLookup {
        kind: ResourceKind::Override,
        name: environment,
        list_command: Some(&list_command),
        show_command: None,
    };
    lookup.request_failure_with_names(error, Some(environment_names))
}
