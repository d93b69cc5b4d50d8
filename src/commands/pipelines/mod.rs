//! `sluicegate pipelines` and `sluicegate executions`.

mod ended;
mod execute;
mod executions;

pub(super) use executions::run as run_executions;

use super::{Outcome, Run};
use crate::cli::{OutputArgs, PipelinesVerb};

pub(super) fn run(run: &Run, verb: PipelinesVerb) -> Outcome {
    match verb {
        PipelinesVerb::List { output } => list(run, output),
        PipelinesVerb::Run(args) => execute::run(run, &args),
    }
}

fn list(run: &Run, output: OutputArgs) -> Outcome {
    let project = run.project()?;
    run.requests(async {
        let all = project.platform.published_pipelines(project.id).await?;
        let columns = [("name", "name"), ("publishedTime", "published")];
        run.show_list(output, all, &columns, "no pipeline of the project is published")
    })?
}
