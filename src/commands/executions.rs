//! Runs `sluicegate executions`.

use crate::error::Failure;
use crate::job::cli::{CancelArgs, ExecutionsVerb, OutputArgs, PaceArgs};
use crate::operations::executions::PATIENCE;
use crate::operations::executions::ended::{Ended, no_execution, show as show_end, tell};
use crate::session::output;
use crate::session::{CommandResult, Run};
use sluicegate_base::text;
use sluicegate_platform::follow::{Pace, send_before_deadline};

pub(crate) fn run(run: &Run, verb: ExecutionsVerb) -> CommandResult {
    match verb {
        ExecutionsVerb::Show {
            id,
            wait: false,
            output,
            ..
        } => show(run, &id, output),
        ExecutionsVerb::Show { id, pace, output, .. } => {
            let ended = run.requests(follow(run, &id, &pace))??;
            tell(run, &ended, output)
        }
        ExecutionsVerb::Cancel {
            id,
            cancel,
            wait,
            pace,
            output,
        } => terminate(run, &id, &cancel, wait.then_some(&pace), output),
    }
}

fn show(run: &Run, id: &str, output: OutputArgs) -> CommandResult {
    let project = run.project()?;
    run.requests(async {
        let answer = match project.platform.execution(project.id, id).await {
            Ok(answer) => answer,
            Err(error) => return Err(no_execution(id, error)),
        };
        run.show(output, &answer.raw, || output::facts(&answer.raw["result"]))
    })?
}

async fn follow(run: &Run, id: &str, pace: &PaceArgs) -> Result<Ended, Failure> {
    let pace = begin(run, pace)?;
    Ended::follow(run, &run.project()?, id, pace).await
}

fn begin(run: &Run, pace: &PaceArgs) -> Result<Pace, Failure> {
    let waiting = run.sources()?.poll_settings(pace, PATIENCE)?;
    Ok(Pace::new(waiting.first_interval, waiting.time_limit))
}

fn terminate(
    run: &Run,
    id: &str,
    cancel: &CancelArgs,
    wait: Option<&PaceArgs>,
    output: OutputArgs,
) -> CommandResult {
    let status = run.sources()?.cancel_status(cancel.cancel_status.clone());
    let project = run.project()?;
    let pace = wait.map(|pace| begin(run, pace)).transpose()?;
    run.requests(async {
        let request = project
            .platform
            .terminate_execution(project.id, id, &status, cancel.force);
        let answer = match send_before_deadline(pace.as_ref(), request).await {
            Ok(answer) => answer,
            Err(error) => return Err(no_execution(id, error)),
        };
        let Some(pace) = pace else {
            return run.show(output, &answer.raw, || {
                text::escape_line(&format!("requested to terminate the execution {id}")) + "\n"
            });
        };
        let ended = Ended::follow(run, &project, id, pace).await?;
        // The execution was meant to end, so every end is a success.
        if ended.is_over() {
            show_end(run, &ended, output)
        } else {
            tell(run, &ended, output)
        }
    })?
}
