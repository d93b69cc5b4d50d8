//! The variables of a project.

pub(crate) mod apply;
pub(crate) mod overrides;

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{FieldArgs, OutputArgs};
use crate::session::resource::{RemoteProject, variable};
use crate::session::{CommandResult, Run};
use serde_json::Value;
use sluicegate_base::text;
use sluicegate_platform::api::{NewVariable, Variable, VariableFields};
use sluicegate_platform::desired::variables::typed_text;

/// Prints that something was done, as the platform's response is empty.
pub(crate) fn done(run: &Run, output: OutputArgs, words: &str) -> CommandResult {
    run.show(output, &Value::Null, || text::escape_line(words) + "\n")
}

pub(crate) async fn list(run: &Run, project: &RemoteProject, output: OutputArgs) -> CommandResult {
    let columns = [
        ("name", "name"),
        ("type", "type"),
        ("behaviour", "behaviour"),
        ("value", "value"),
        ("supportsDoubleResolution", "double"),
        ("description", "description"),
        ("id", "id"),
    ];
    let all = project.platform.variables(project.id).await;
    let all = project.read(all).await?;
    run.show_list(output, all, &columns, "the project has no variables")
}

pub(crate) async fn create(
    run: &Run,
    project: &RemoteProject,
    name: String,
    args: FieldArgs,
    output: OutputArgs,
) -> CommandResult {
    let fields = fields(args, None)?;
    let variable = NewVariable { name, fields };
    let made = project.platform.create_variable(project.id, &variable).await;
    let made = project
        .made(made, "run `sluicegate variables list` to check")
        .await?;
    run.show(output, &made.raw, || {
        text::escape_line(&format!("created the variable {}", variable.name)) + "\n"
    })
}

/// Updates a variable. Every update must include type and behaviour, so they are looked up if not given.
pub(crate) async fn update(
    run: &Run,
    project: &RemoteProject,
    name: &str,
    args: FieldArgs,
    output: OutputArgs,
) -> CommandResult {
    let known = match (&args.r#type, &args.behaviour) {
        (Some(_), Some(_)) => None,
        _ => Some(find(project, name).await?),
    };
    let fields = fields(args, known.as_ref())?;
    for (what, flag, value) in [
        ("type", "--type", &fields.r#type),
        ("behaviour", "--behaviour", &fields.behaviour),
    ] {
        if value.is_none() {
            let message =
                format!("the platform does not report the {what} of {name}, which an update requires");
            return Err(Failure::usage(message).hint(format!("set it with {flag}")));
        }
    }
    if let Err(error) = project.platform.update_variable(project.id, name, &fields).await {
        return Err(project.no_variable(name, error).await);
    }
    done(run, output, &format!("updated the variable {name}"))
}

async fn find(project: &RemoteProject, name: &str) -> Result<Variable, Failure> {
    let all = project.platform.variables(project.id).await;
    let all = project.read(all).await?;
    let names: Vec<String> = all.iter().filter_map(|it| it.name.clone()).collect();
    let found = all.into_iter().find(|it| it.name.as_deref() == Some(name));
    found.map(|it| it.value).ok_or_else(|| {
        let message = format!("the project {} has no variable {name}", project.id);
        Failure::new(ExitStatus::Undecided, anyhow::Error::msg(message)).hint(variable(name).hint(&names))
    })
}

/// Returns the given fields, completed by the known type and behaviour.
fn fields(args: FieldArgs, known: Option<&Variable>) -> Result<VariableFields, Failure> {
    let or_known =
        |given: Option<String>, known: Option<&Option<String>>| given.or_else(|| known.cloned().flatten());
    let kind = or_known(args.r#type, known.map(|it| &it.r#type));
    let value = match args.value {
        None => None,
        Some(value) => Some(
            typed_text(kind.as_deref(), &value).map_err(|why| Failure::usage(format!("--value: {why}")))?,
        ),
    };
    Ok(VariableFields {
        behaviour: or_known(args.behaviour, known.map(|it| &it.behaviour)),
        description: args.description,
        value,
        supports_double_resolution: args.double_resolution,
        r#type: kind,
    })
}
