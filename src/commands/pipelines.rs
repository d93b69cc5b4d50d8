//! Runs `sluicegate pipelines` and `sluicegate executions`.

mod ended;
mod execute;
mod executions;

pub(crate) use executions::run as run_executions;

use crate::job::cli::{OutputArgs, PipelinesVerb};
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
