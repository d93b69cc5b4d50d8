//! Prints, creates and updates the variables of a project.

pub(crate) mod apply;
pub(crate) mod overrides;

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{FieldArgs, OutputArgs};
use crate::session::resource::{RemoteProject, variable_lookup};
use crate::session::response_output;
use crate::session::{CommandResult, Session};
use serde_json::Value;
use sluicegate_base::text::{self, quote_shell_word};
use sluicegate_platform::api::{NewVariable, Variable, VariableFields};
use sluicegate_platform::definitions::variables::parse_variable_argument;
use sluicegate_platform::http::ErrorKind;

/// Prints `text` to confirm a request. With `--output json`, prints `null`, because the platform's response is empty.
pub(crate) fn print_confirmation(session: &Session, output: OutputArgs, text: &str) -> CommandResult {
    session.print_response(output, &Value::Null, || text::escape_line(text) + "\n")
}

/// Prints the variables of the project in a table or as JSON.
pub(crate) async fn print_variables(
    session: &Session,
    project: &RemoteProject,
    output: OutputArgs,
) -> CommandResult {
    let columns = [
        ("name", "name"),
        ("type", "type"),
        ("behaviour", "behaviour"),
        ("value", "value"),
        ("supportsDoubleResolution", "double"),
        ("description", "description"),
        ("id", "id"),
    ];
    let response = project.platform.fetch_variables(project.id).await;
    let variables = project.convert_response(response).await?;
    session.print_list(output, variables, &columns, "the project has no variables")
}

/// Creates a variable in the project from the flags, and prints the response.
pub(crate) async fn create_variable(
    session: &Session,
    project: &RemoteProject,
    name: String,
    args: FieldArgs,
    output: OutputArgs,
) -> CommandResult {
    let current_variable = None;
    let fields = build_fields(args, current_variable)?;
    let variable = NewVariable { name, fields };
    let result = project.platform.create_variable(project.id, &variable).await;
    let response = project
        .convert_creation_response(result, "run `sluicegate variables list` to check")
        .await?;
    session.print_response(output, &response.raw, || {
        let headline = format!("created the variable {}", variable.name);
        response_output::format_headline_and_fields(&headline, &response.raw)
    })
}

/// Updates a variable. The platform requires its type and its behaviour, so they are requested first unless both flags
/// are passed.
pub(crate) async fn update_variable(
    session: &Session,
    project: &RemoteProject,
    name: &str,
    args: FieldArgs,
    output: OutputArgs,
) -> CommandResult {
    if args == FieldArgs::default() {
        return Err(Failure::usage(format!(
            "no new value for a field of the variable `{name}` was passed"
        ))
        .with_hint(
            "pass at least one of --type, --behaviour, --value, --description and --double-resolution",
        ));
    }
    let current_variable = match (&args.r#type, &args.behaviour) {
        (Some(_), Some(_)) => None,
        _ => Some(fetch_variable(project, name).await?),
    };
    let fields = build_fields(args, current_variable.as_ref())?;
    for (field, flag, value) in [
        ("type", "--type", &fields.r#type),
        ("behaviour", "--behaviour", &fields.behaviour),
    ] {
        if value.is_none() {
            let message = format!(
                "the platform does not report the {field} of {name}, but an update requires this value"
            );
            return Err(Failure::usage(message).with_hint(format!("set the value with {flag}")));
        }
    }
    if let Err(error) = project.platform.update_variable(project.id, name, &fields).await {
        let is_conflict = error.kind() == ErrorKind::Conflict;
        let failure = project.variable_request_failure(name, error).await;
        // The general hint suggests another name, which does not help an update.
        return Err(if is_conflict {
            failure.with_hint(format!(
                "resolve the conflict that the platform reports; to see the variable's overrides, run `sluicegate \
                 variables overrides list {}`",
                quote_shell_word(name)
            ))
        } else {
            failure
        });
    }
    print_confirmation(session, output, &format!("updated the variable {name}"))
}

/// Requests the variable with this name. Fails if the project does not have it, with the most similar names as a hint.
async fn fetch_variable(project: &RemoteProject, name: &str) -> Result<Variable, Failure> {
    let response = project.platform.fetch_variables(project.id).await;
    let variables = project.convert_response(response).await?;
    let names: Vec<String> = variables
        .iter()
        .filter_map(|variable| variable.name.clone())
        .collect();
    let variable = variables
        .into_iter()
        .find(|candidate| candidate.name.as_deref() == Some(name));
    variable.map(|variable| variable.value).ok_or_else(|| {
        let message = format!("project {} has no variable `{name}`", project.id);
        Failure::from_message(ExitStatus::Undecided, message).with_hint(variable_lookup(name).hint(&names))
    })
}

/// Returns the fields that the flags set. A missing type or behaviour is taken from `current_variable`.
fn build_fields(args: FieldArgs, current_variable: Option<&Variable>) -> Result<VariableFields, Failure> {
    let type_name = args
        .r#type
        .or_else(|| current_variable.and_then(|variable| variable.r#type.clone()));
    let value = match args.value {
        None => None,
        Some(value) => Some(
            parse_variable_argument(type_name.as_deref(), &value)
                .map_err(|error| Failure::usage(format!("--value: {error}")))?,
        ),
    };
    Ok(VariableFields {
        behaviour: args
            .behaviour
            .or_else(|| current_variable.and_then(|variable| variable.behaviour.clone())),
        description: args.description,
        value,
        supports_double_resolution: args.double_resolution,
        r#type: type_name,
    })
}
