//! Runs `sluicegate pipelines`.

use crate::job::cli::{OutputArgs, PipelinesVerb};
use crate::operations::executions::execute;
use crate::session::{CommandResult, Run};

pub(crate) fn run(run: &Run, verb: PipelinesVerb) -> CommandResult {
    match verb {
        PipelinesVerb::List { output } => list(run, output),
        PipelinesVerb::Run(args) => execute::run(run, &args),
    }
}

fn list(run: &Run, output: OutputArgs) -> CommandResult {
    let project = run.project()?;
    run.requests(async {
        let all = project.platform.published_pipelines(project.id).await;
        let all = project.read(all).await?;
        let columns = [("name", "name"), ("publishedTime", "published")];
        run.show_list(output, all, &columns, "the project has no published pipelines")
    })?
}
