//! Runs `sluicegate variables overrides`.

use super::done;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputArgs, OutputFormat, OverridesVerb};
use crate::session::output;
use crate::session::resource::{RemoteProject, Sought, perhaps_made};
use crate::session::{CommandResult, Run};
use sluicegate_base::text;
use sluicegate_platform::api::Override;
use sluicegate_platform::desired::variables::{refused_overrides, typed_text};
use sluicegate_platform::http::{ErrorKind, HttpError, read_for_hint};
use std::fmt::Write as _;

pub(crate) async fn run(run: &Run, project: &RemoteProject, verb: OverridesVerb) -> CommandResult {
    match verb {
        OverridesVerb::List {
            name,
            environment,
            output,
        } => list(run, project, &name, environment.as_deref(), output).await,
        OverridesVerb::Set { name, values, output } => set(run, project, &name, &values, output).await,
        OverridesVerb::Unset {
            name,
            environments,
            output,
        } => unset(run, project, &name, &environments, output).await,
    }
}

async fn list(
    run: &Run,
    project: &RemoteProject,
    name: &str,
    environment: Option<&str>,
    output: OutputArgs,
) -> CommandResult {
    let found = match project.platform.overrides(project.id, name, environment).await {
        Ok(found) => found,
        Err(error) => return Err(project.no_variable(name, error).await),
    };
    let columns = [("environmentName", "environment"), ("value", "value")];
    let items = found.raw["overrides"].as_array().map_or(&[][..], Vec::as_slice);
    let none = text::escape_line(&format!("{name} has no overrides"));
    run.show_in_pieces(output, &found.raw, |out| {
        output::list(items, &columns, &none, out)
    })
}

/// Sets overrides. The platform returns the variable's type with its overrides, which determines how values are sent.
async fn set(
    run: &Run,
    project: &RemoteProject,
    name: &str,
    values: &[(String, String)],
    output: OutputArgs,
) -> CommandResult {
    let known = match project.platform.overrides(project.id, name, None).await {
        Ok(known) => known,
        Err(error) => return Err(project.no_variable(name, error).await),
    };
    let kind = known.variable.r#type.as_deref();
    let wanted: Vec<Override> = values
        .iter()
        .map(|(environment, value)| {
            let value = typed_text(kind, value)
                .map_err(|why| Failure::usage(format!("the value for {environment}: {why}")))?;
            Ok(Override {
                environment_name: environment.clone(),
                value,
            })
        })
        .collect::<Result<_, Failure>>()?;
    let answer = match project.platform.set_overrides(project.id, name, &wanted).await {
        Ok(answer) => answer,
        Err(error) => {
            let look = format!("run `sluicegate variables overrides list {name}` to check");
            return Err(perhaps_made(error, &look));
        }
    };
    let refused = refused_overrides(&wanted, &answer);
    let held = wanted.iter().filter(|it| {
        !refused
            .iter()
            .any(|(environment, _)| *environment == it.environment_name)
    });
    let words: String = held
        .map(|it| text::escape_line(&format!("{name} is {} in {}", it.value, it.environment_name)) + "\n")
        .collect();
    run.show(output, &answer.raw, || words)?;
    if refused.is_empty() {
        return Ok(ExitStatus::Success);
    }
    let mut message = format!(
        "{} of {} overrides of {name} were not set:",
        refused.len(),
        wanted.len()
    );
    for (environment, why) in &refused {
        let _ = write!(message, "\n  {environment}: {why}");
    }
    Err(Failure::new(
        ExitStatus::RemoteFailed,
        anyhow::Error::msg(message),
    ))
}

/// Removes the override of each environment separately: a failure does not affect the others.
async fn unset(
    run: &Run,
    project: &RemoteProject,
    name: &str,
    environments: &[String],
    output: OutputArgs,
) -> CommandResult {
    let (mut status, mut gone) = (ExitStatus::Success, 0);
    for environment in environments {
        match project
            .platform
            .delete_override(project.id, name, environment)
            .await
        {
            Ok(()) => {
                gone += 1;
                if output.output == OutputFormat::Text {
                    done(
                        run,
                        output,
                        &format!("removed the override of {name} in {environment}"),
                    )?;
                }
            }
            Err(error) => {
                status =
                    status.worse(run.report_failure(&no_override(project, name, environment, error).await));
            }
        }
    }
    if output.output == OutputFormat::Json {
        run.ui.print_result(&output::json(&serde_json::Value::Null))?;
    }
    let half = gone > 0 && status == ExitStatus::Undecided;
    Ok(if half { ExitStatus::RemoteFailed } else { status })
}

/// Returns the failure for a missing variable or a missing override.
async fn no_override(project: &RemoteProject, name: &str, environment: &str, error: HttpError) -> Failure {
    let list = format!("variables overrides list {name}");
    if error.kind() != ErrorKind::NotFound {
        return perhaps_made(error, &format!("run `sluicegate {list}` to check"));
    }
    match read_for_hint(project.platform.overrides(project.id, name, None)).await {
        None => project.no_variable(name, error).await,
        Some(found) => {
            let set = found.value.overrides.into_iter();
            let sought = Sought {
                what: "override of this variable in",
                name: environment,
                list: Some(&list),
                alone: None,
            };
            sought.missing_among(error, Some(set.map(|it| it.environment_name).collect()))
        }
    }
}
