//! Runs `sluicegate pipelines`.

use crate::job::cli::{OutputArgs, PipelinesVerb};
use crate::operations::executions::execute;
use crate::session::{CommandResult, Run};

/// Runs `sluicegate pipelines`: lists the published pipelines, or executes one.
pub(crate) fn run(run: &Run, verb: PipelinesVerb) -> CommandResult {
    match verb {
        PipelinesVerb::List { output } => print_published_pipelines(run, output),
        PipelinesVerb::Run(args) => {
            if let Some(path) = &args.junit {
                let no_inputs = [];
                run.guard_outputs(&no_inputs)
                    .reject_output_path(&run.env.current_dir().join(path))?;
            }
            execute::run(run, &args)
        }
    }
}

/// Prints the published pipelines of the project.
fn print_published_pipelines(run: &Run, output: OutputArgs) -> CommandResult {
    let project = run.create_project_client()?;
    run.block_on(async {
        let response = project.platform.fetch_published_pipelines(project.id).await;
        let pipelines = project.convert_response(response).await?;
        let columns = [("name", "name"), ("publishedTime", "published")];
        run.print_list(
            output,
            pipelines,
            &columns,
            "the project has no published pipelines",
        )
    })?
}
