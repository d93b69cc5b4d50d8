//! Runs `sluicegate pipelines`.

use crate::job::cli::{OutputArgs, PipelinesVerb};
use crate::operations::executions::execute;
use crate::session::{CommandResult, Session};

/// Runs `sluicegate pipelines`: lists the published pipelines, or executes one.
pub(crate) fn run(session: &Session, verb: PipelinesVerb) -> CommandResult {
    match verb {
        PipelinesVerb::List { output } => print_published_pipelines(session, output),
        PipelinesVerb::Run(args) => {
            if let Some(path) = &args.junit {
                let no_inputs = [];
                session
                    .guard_outputs(&no_inputs)
                    .reject_output_path(&session.env.current_dir().join(path))?;
            }
            execute::run(session, &args)
        }
    }
}

/// Prints the published pipelines of the project.
fn print_published_pipelines(session: &Session, output: OutputArgs) -> CommandResult {
    let project = session.create_project_client()?;
    session.block_on(async {
        let response = project.platform.fetch_published_pipelines(project.id).await;
        let pipelines = project.convert_response(response).await?;
        let columns = [("name", "name"), ("publishedTime", "published")];
        session.print_list(
            output,
            pipelines,
            &columns,
            "the project has no published pipelines",
        )
    })?
}
