//! Runs `sluicegate variables`.

use crate::exit::ExitStatus;
use crate::job::cli::VariablesVerb;
use crate::operations::variables::{
    apply, create_variable, overrides, print_confirmation, print_variables, update_variable,
};
use crate::session::{CommandResult, Session};

/// Runs `sluicegate variables`: lists and edits the project's variables. The verb `apply` creates the client of the
/// project itself, so it runs before a client is created here.
pub(crate) fn run(session: &Session, verb: VariablesVerb) -> CommandResult {
    if let VariablesVerb::Apply(args) = verb {
        return apply::apply_variables(session, &args);
    }
    let project = session.create_project_client()?;
    session.block_on(async {
        match verb {
            VariablesVerb::List { output } => print_variables(session, &project, output).await,
            VariablesVerb::Create { name, fields, output } => {
                create_variable(session, &project, name, fields, output).await
            }
            VariablesVerb::Update { name, fields, output } => {
                update_variable(session, &project, &name, fields, output).await
            }
            VariablesVerb::Delete { name, output } => {
                let result = project.platform.delete_variable(project.id, &name).await;
                if let Err(error) = result {
                    return Err(project.variable_request_failure(&name, error).await);
                }
                print_confirmation(
                    session,
                    output,
                    &format!("deleted variable {name} and its overrides"),
                )
            }
            VariablesVerb::Overrides { verb } => overrides::run_overrides(session, &project, verb).await,
            // `apply` was run above.
            VariablesVerb::Apply(_) => Ok(ExitStatus::Success),
        }
    })?
}
