//! Starts a pipeline, follows it to the end, and cleans up if the job is
//! interrupted.

use super::PATIENCE;
use super::ended::{Ended, tell};
use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::RunArgs;
use crate::job::settings::PollSettings;
use crate::report::{ExecutionRun, Verdict, write_execution_junit};
use crate::session::failure::not_written;
use crate::session::resource::{RemoteProject, Sought, made_nameless, perhaps_made};
use crate::session::{CommandResult, Run};
use jiff::Timestamp;
use sluicegate_base::text;
use sluicegate_platform::api::{ApiValue, ExecutionId, Grid, NewExecution};
use sluicegate_platform::desired::{self, Document};
use sluicegate_platform::follow::{Pace, PollEnd, send_before_deadline};
use sluicegate_platform::http::{ErrorKind, HttpError, read_for_hint};
use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::path::Path;
use std::pin::{Pin, pin};
use std::time::{Duration, Instant};

/// Maximum time to wait for the end of a terminated execution.
const FAREWELL: Duration = Duration::from_secs(120);

/// Hint to check whether an execution was started.
const LOOK: &str = "check the list of executions in the platform";

/// A pipeline run and its settings.
struct Job<'a> {
    run: &'a Run,
    args: &'a RunArgs,
    project: RemoteProject,
    execution: NewExecution,
    waiting: PollSettings,
    cancel_status: String,
    started_at: Timestamp,
}

pub(crate) fn run(run: &Run, args: &RunArgs) -> CommandResult {
    if let Some(path) = &args.junit {
        let unfinished = unfinished(args);
        let path = run.env.current_dir().join(path);
        run.replace_old_file(&path, |out| write_execution_junit(&unfinished, out));
    }
    let sources = run.sources()?;
    let job = Job {
        run,
        args,
        execution: NewExecution {
            pipeline_name: args.name.clone(),
            environment_name: sources.environment(args.environment.clone())?,
            execution_tag: args.tag.clone(),
            scalar_variables: scalar_variables(args)?,
            grid_variables: grid_variables(run, args)?,
        },
        waiting: sources.poll_settings(&args.pace, PATIENCE)?,
        cancel_status: sources.cancel_status(args.cancel.cancel_status.clone()),
        project: run.project()?,
        started_at: Timestamp::now(),
    };
    run.requests(job.go())?
}

/// Returns the report of an execution that this run does not see to its end, so that no report of an earlier run
/// remains.
fn unfinished(args: &RunArgs) -> ExecutionRun {
    ExecutionRun {
        pipeline: args.name.clone(),
        environment: args
            .environment
            .clone()
            .unwrap_or_else(|| "environment".to_owned()),
        status: "UNKNOWN".to_owned(),
        message: None,
        verdict: Verdict::Undecided,
        problem: Some("undecided: the run did not finish".to_owned()),
        started_at: Timestamp::now(),
        elapsed: Duration::ZERO,
    }
}

/// Returns the values of `--variable`.
fn scalar_variables(args: &RunArgs) -> Result<BTreeMap<String, String>, Failure> {
    let mut variables = BTreeMap::new();
    for (name, value) in &args.variables {
        if variables.insert(name.clone(), value.clone()).is_some() {
            return Err(Failure::usage(format!("--variable sets {name} more than once")));
        }
    }
    Ok(variables)
}

/// Returns the rows of each `--grid`, from its file.
fn grid_variables(run: &Run, args: &RunArgs) -> Result<BTreeMap<String, Grid>, Failure> {
    let mut variables = BTreeMap::new();
    for (name, file) in &args.grids {
        let document = Document::read(&run.env.current_dir().join(file), Path::new(file))?;
        if variables
            .insert(name.clone(), desired::grid(&document)?)
            .is_some()
        {
            return Err(Failure::usage(format!("--grid sets {name} more than once")));
        }
    }
    Ok(variables)
}

impl Job<'_> {
    async fn go(&self) -> CommandResult {
        let mut interrupt = pin!(self.interrupt());
        let pace = self.args.wait.then(|| self.pace(self.waiting.time_limit));
        let (started, stop) = self.start(pace.as_ref(), interrupt.as_mut()).await;
        let started = match started {
            Ok(started) => started,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(self.not_there(error).await),
            Err(error) => return Err(perhaps_made(error, LOOK)),
        };
        let id = started.pipeline_execution_id.clone().ok_or_else(|| {
            made_nameless(
                "the pipeline was started, but the response contains no execution id",
                LOOK,
            )
        })?;
        if let Some(status) = stop {
            return self.terminate(&id, status).await;
        }
        let Some(pace) = pace else {
            return self.run.show(self.args.output, &started.raw, || {
                text::escape_line(&format!("started the execution {id}")) + "\n"
            });
        };
        self.run.ui.say(&format!("started the execution {id}"));
        let begin = Instant::now();
        let ended = tokio::select! {
            biased;
            status = &mut interrupt => return self.terminate(&id, status).await,
            ended = Ended::follow_started(self.run, &self.project, &id, pace) => ended,
        };
        let ended = self.noted(&id, ended)?;
        let report = self.report(Some(&ended), ended.problem(), begin.elapsed());
        Ok(tell(self.run, &ended, self.args.output)?.worse(report))
    }

    /// Returns the failure for a 404: the pipeline is missing, unless it is published; then the environment is.
    async fn not_there(&self, error: HttpError) -> Failure {
        let RemoteProject { platform, id } = &self.project;
        let published = read_for_hint(platform.published_pipelines(*id)).await;
        let published: Option<Vec<String>> =
            published.map(|all| all.into_iter().filter_map(|it| it.value.name).collect());
        let pipeline = Sought {
            what: "published pipeline",
            name: &self.execution.pipeline_name,
            list: Some("pipelines list"),
            alone: None,
        };
        if !published
            .as_ref()
            .is_some_and(|all| all.contains(&self.execution.pipeline_name))
        {
            return pipeline.missing_among(error, published);
        }
        let environment = Sought {
            what: "environment",
            name: &self.execution.environment_name,
            list: Some("environments list"),
            alone: None,
        };
        let names = async {
            let all = platform.environments(*id).await?;
            Ok(all.into_iter().filter_map(|it| it.value.name).collect())
        };
        environment.missing(error, names).await
    }

    /// Returns a wait of this duration, starting now.
    fn pace(&self, limit: Duration) -> Pace {
        Pace::new(self.waiting.first_interval, limit)
    }

    /// Returns the signal that ends the job, if this command handles it.
    async fn interrupt(&self) -> ExitStatus {
        if self.args.cancel_on_interrupt {
            self.run.signals.clone().take().await
        } else {
            pending().await
        }
    }

    /// Starts the execution. An interrupt during the request does not cancel it: without the response, the execution to
    /// terminate would be unknown.
    async fn start(
        &self,
        pace: Option<&Pace>,
        interrupt: Pin<&mut impl Future<Output = ExitStatus>>,
    ) -> (Result<ApiValue<ExecutionId>, HttpError>, Option<ExitStatus>) {
        let RemoteProject { platform, id } = &self.project;
        let mut start = pin!(send_before_deadline(
            pace,
            platform.start_execution(*id, &self.execution)
        ));
        tokio::select! {
            biased;
            status = interrupt => (start.await, Some(status)),
            started = &mut start => (started, None),
        }
    }

    /// Adds a failed wait to the report.
    fn noted(&self, id: &str, ended: Result<Ended, Failure>) -> Result<Ended, Failure> {
        if ended.is_err() {
            let problem = format!("could not determine how the execution {id} ended");
            self.report(None, Some(problem), Duration::ZERO);
        }
        ended
    }

    /// Terminates the execution and waits until it ends; a second signal ends the waiting.
    async fn terminate(&self, id: &str, status: ExitStatus) -> CommandResult {
        let ui = self.run.ui;
        ui.warn(&format!("interrupted: terminating the execution {id}"));
        let RemoteProject {
            platform,
            id: project,
        } = &self.project;
        let pace = self.pace(FAREWELL);
        let request = platform.terminate_execution(*project, id, &self.cancel_status, self.args.cancel.force);
        let asked = send_before_deadline(Some(&pace), request).await;
        self.run.signals.release();
        let problem = if let Err(error) = asked {
            ui.print_failure(
                &Failure::from(error).context(format!("could not terminate the execution {id}")),
            );
            format!("interrupted, but could not terminate the execution {id}")
        } else {
            self.farewell(id, pace).await?
        };
        self.report(None, Some(problem), Duration::ZERO);
        Ok(status)
    }

    /// Waits until a terminated execution ends, and returns how it ended.
    async fn farewell(&self, id: &str, pace: Pace) -> Result<String, Failure> {
        match Ended::follow_started(self.run, &self.project, id, pace).await {
            Ok(ended) => {
                tell(self.run, &ended, self.args.output)?;
                Ok(format!("interrupted; the execution {id} is {}", ended.status()))
            }
            Err(failure) => {
                self.run.report_failure(&failure);
                Ok(format!(
                    "interrupted; could not determine whether the execution {id} ended"
                ))
            }
        }
    }

    /// Writes the JUnit report, if requested, and reports a failure to write it.
    fn report(&self, ended: Option<&Ended>, problem: Option<String>, waited: Duration) -> ExitStatus {
        let Some(path) = &self.args.junit else {
            return ExitStatus::Success;
        };
        let report = ExecutionRun {
            pipeline: self.execution.pipeline_name.clone(),
            environment: self.execution.environment_name.clone(),
            started_at: self.started_at,
            elapsed: ended.and_then(Ended::duration).unwrap_or(waited),
            status: ended.map_or("UNKNOWN", Ended::status).to_owned(),
            message: ended.and_then(|it| it.answer.result.message.clone()),
            verdict: match ended.map(|it| it.end) {
                Some(PollEnd::Succeeded) => Verdict::Passed,
                Some(PollEnd::Failed) => Verdict::Failed,
                Some(PollEnd::Deadline) | None => Verdict::Undecided,
            },
            problem,
        };
        match self.write(path, &report) {
            Ok(()) => ExitStatus::Success,
            Err(failure) => self.run.report_failure(&failure),
        }
    }

    fn write(&self, path: &Path, report: &ExecutionRun) -> Result<(), Failure> {
        let place = self.run.env.current_dir().join(path);
        atomic_file::write_file_with(&place, |out| write_execution_junit(report, out))
            .map_err(not_written("the report ", path))
    }
}
