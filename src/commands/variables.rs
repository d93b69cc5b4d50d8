//! Runs `sluicegate variables`.

use crate::exit::ExitStatus;
use crate::job::cli::VariablesVerb;
use crate::operations::variables::{apply, create, done, list, overrides, update};
use crate::session::{CommandResult, Run};

pub(crate) fn run(run: &Run, verb: VariablesVerb) -> CommandResult {
    if let VariablesVerb::Apply(args) = verb {
        return apply::run(run, &args);
    }
    let project = run.project()?;
    run.requests(async {
        match verb {
            VariablesVerb::List { output } => list(run, &project, output).await,
            VariablesVerb::Create { name, fields, output } => {
                create(run, &project, name, fields, output).await
            }
            VariablesVerb::Update { name, fields, output } => {
                update(run, &project, &name, fields, output).await
            }
            VariablesVerb::Delete { name, output } => {
                let deleted = project.platform.delete_variable(project.id, &name).await;
                if let Err(error) = deleted {
                    return Err(project.no_variable(&name, error).await);
                }
                done(
                    run,
                    output,
                    &format!("deleted the variable {name} and its overrides"),
                )
            }
            VariablesVerb::Overrides { verb } => overrides::run(run, &project, verb).await,
            VariablesVerb::Apply(_) => Ok(ExitStatus::Success),
        }
    })?
}
