//! Provisions a project: checks everything, continues from the state, reports each step.

use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputFormat, ProvisionApplyArgs};
use crate::session::failure_conversion::step_exit_status;
use crate::session::failure_conversion::to_write_failure;
use crate::session::response_output;
use crate::session::user_file::read_user_file_if_exists;
use crate::session::{CommandResult, Run};
use serde_json::{Value, json};
use sluicegate_base::text;
use sluicegate_platform::definitions::Document;
use sluicegate_platform::definitions::provision::{
    self, ProvisionError, ProvisionPlan, ProvisionState, ProvisionStep, StateError, StepMark, StepProgress,
};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Maximum size of a state file, in bytes.
const MAX_STATE_BYTES: u64 = 16 * 1024 * 1024;

/// The role needed to continue with a new project.
const VISIBILITY_RULE: &str =
    "only the account role Super Admin can see a new project until users are invited";

/// Runs the steps that create a project and what belongs to it. Checks the file and all settings first. Steps that the
/// state file lists as done are skipped, so that a failed run can be continued.
pub(crate) fn apply_provision(run: &Run, args: &ProvisionApplyArgs) -> CommandResult {
    let sources = run.read_setting_sources()?;
    let document = Document::load(&run.env.current_dir().join(&args.file), &args.file)?;
    let plan = provision::read_plan(&document, &sources.resolve_platform_names(&args.vocabulary))?;
    let secret = plan
        .secret
        .as_ref()
        .map(|planned_secret| run.read_secret(&planned_secret.source))
        .transpose()?;
    let connection = sources.resolve_connection(&run.global)?;
    let path = choose_state_path(run, args);
    let saved_state = read_user_file_if_exists(&path, MAX_STATE_BYTES)?;
    let mut state = ProvisionState::parse(
        saved_state.as_deref(),
        &path,
        &connection.require_base_url()?.to_string(),
    )?;
    apply_resolutions(&mut state, &plan, &args.resolve)?;
    state
        .check_plan(&plan)
        .map_err(|error| state_failure(error, &path))?;
    // Checks the settings of the connection, also for a dry run; sends nothing.
    let platform = run.create_platform_client(&connection)?;
    if args.dry_run {
        return print_dry_run(run, args, &plan, &state);
    }
    // Once the project exists, users may have been invited, and a token with another role may be enough.
    if !state.is_done(ProvisionStep::Project) {
        run.ui.say(&format!(
            "{VISIBILITY_RULE}: all steps need a token with that role"
        ));
    }
    let save = |state: &ProvisionState| atomic_file::write_file(&path, state.render().as_bytes());
    if !args.resolve.is_empty() {
        save(&state).map_err(to_write_failure("the state file ", &path))?;
    }
    let mut done_steps = Vec::new();
    let result = run.block_on(provision::run_steps(
        &platform,
        &plan,
        secret.as_ref(),
        &mut state,
        save,
        |step, outcome| report_step(run, args, step, &outcome, &mut done_steps),
    ))?;
    if args.output.output == OutputFormat::Json {
        let id = state.project_id();
        run.ui.print_result(&response_output::format_json(
            &json!({ "projectId": id, "steps": done_steps }),
        ))?;
    }
    match result {
        Ok(()) => Ok(ExitStatus::Success),
        Err(stop) => Err(stop_failure(stop, &state, &path)),
    }
}

/// Returns the path of the state file: that of `--state`, otherwise next to the provisioning file with the suffix
/// `.state.json`.
fn choose_state_path(run: &Run, args: &ProvisionApplyArgs) -> PathBuf {
    let state_file = args.state.clone().unwrap_or_else(|| {
        let mut name = args.file.clone().into_os_string();
        name.push(".state.json");
        name.into()
    });
    run.env.current_dir().join(state_file)
}

/// Applies `--resolve` to steps whose result is unknown because the response was lost. `again` repeats the step;
/// `done`, or the id of the project, marks it as done. The state then contains the definition of the step from the
/// current file, so that `check_plan` accepts a file that has changed since.
fn apply_resolutions(
    state: &mut ProvisionState,
    plan: &ProvisionPlan,
    resolutions: &[String],
) -> Result<(), Failure> {
    for resolution in resolutions {
        let (name, value) = resolution
            .split_once('=')
            .ok_or_else(|| resolution_failure(resolution))?;
        let step = ProvisionStep::ALL
            .into_iter()
            .find(|step| step.name() == name)
            .ok_or_else(|| resolution_failure(resolution))?;
        let Some(record) = state
            .steps
            .get_mut(&step)
            .filter(|record| record.mark == StepMark::Begun)
        else {
            return Err(Failure::usage(format!(
                "--resolve {resolution}: the result of the {step} is already known"
            )));
        };
        let id = Uuid::parse_str(value)
            .ok()
            .filter(|_| step == ProvisionStep::Project);
        match (value, id) {
            ("again", _) => {
                state.steps.remove(&step);
            }
            ("done", _) if step != ProvisionStep::Project => record.mark = StepMark::Done,
            (_, Some(id)) => {
                record.mark = StepMark::Done;
                record.project_id = Some(id.to_string());
            }
            _ => return Err(resolution_failure(resolution)),
        }
        if let (Some(record), Some(body)) = (state.steps.get_mut(&step), plan.step_definition(step)) {
            record.request_body = body;
        }
    }
    Ok(())
}

/// Returns the error for a `--resolve` value that has none of the valid forms.
fn resolution_failure(resolution: &str) -> Failure {
    Failure::usage(format!(
        "--resolve {resolution}: expected STEP=again, STEP=done or project=UUID"
    ))
}

/// Returns the failure for a problem with the state file at `path`, with a hint how to continue.
fn state_failure(error: StateError, path: &Path) -> Failure {
    let hint = match &error {
        StateError::Unknown { step } => {
            let id = if *step == ProvisionStep::Project {
                "UUID"
            } else {
                "done"
            };
            format!(
                "check whether the {step} exists, then pass --resolve {step}={id} or --resolve {step}=again"
            )
        }
        StateError::Changed { .. } => format!(
            "change the file back, or remove the state file {} to start over",
            path.display()
        ),
        _ => "pass another state file with --state".to_owned(),
    };
    Failure::new(ExitStatus::Usage, error).with_hint(hint)
}

impl From<StateError> for Failure {
    /// Converts an error from reading the state. The path can be empty, because only the hint for
    /// [`StateError::Changed`] contains it, and reading never returns that error.
    fn from(error: StateError) -> Self {
        state_failure(error, Path::new(""))
    }
}

/// Adds a finished step to `done_steps` for the JSON document. Without `--output json`, also prints the step.
fn report_step(
    run: &Run,
    args: &ProvisionApplyArgs,
    step: ProvisionStep,
    outcome: &StepProgress<'_>,
    done_steps: &mut Vec<Value>,
) {
    let (outcome_name, response) = match outcome {
        StepProgress::DoneEarlier => ("done before", &Value::Null),
        StepProgress::Done(response) => ("created", *response),
    };
    done_steps.push(json!({ "step": step.name(), "outcome": outcome_name, "answer": response }));
    if args.output.output == OutputFormat::Json {
        return;
    }
    let mut line = format!("{:<11} {outcome_name}", step.name());
    if let Value::Object(fields) = response {
        for (key, value) in fields {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let _ = write!(line, "  {key} {value}");
        }
    }
    // A failure to print does not stop the run: the state file contains the step.
    let _ = run.ui.print_result(&(text::escape_line(&line) + "\n"));
}

/// Returns the failure for a run that stopped, with a hint how to continue. The exit code is 8 if a step was done or
/// may have been done, because the project is then incomplete. A denied request always has exit code 4.
fn stop_failure(stop: ProvisionError, state: &ProvisionState, path: &Path) -> Failure {
    let has_finished_step = ProvisionStep::ALL.iter().any(|step| state.is_done(*step));
    let status = match &stop {
        ProvisionError::Failed { error, .. } => step_exit_status(error, has_finished_step),
        ProvisionError::NoProject(_) => ExitStatus::RemoteFailed,
        ProvisionError::UnsavedState(_) if has_finished_step => ExitStatus::RemoteFailed,
        ProvisionError::UnsavedState(_) => ExitStatus::Usage,
    };
    let mut hint = match &stop {
        ProvisionError::NoProject(_) => {
            "check whether the project exists, then pass --resolve project=UUID with its \
                                         id, or --resolve project=again"
                .to_owned()
        }
        _ => format!(
            "run the command again: it continues from {} and does not repeat completed steps",
            path.display()
        ),
    };
    if let ProvisionError::Failed { step, error } = &stop {
        if error.is_maybe_processed() {
            hint = format!("check whether the {step} exists, then pass --resolve {step}=… to the next run");
        } else if *step != ProvisionStep::Project && matches!(error.status(), Some(403 | 404)) {
            // The platform hides the new project from a token without the role.
            hint = format!(
                "{VISIBILITY_RULE}: run the command again with a token that has this role; it continues from {}",
                path.display()
            );
        } else if let Some(error_hint) = error.hint() {
            hint = format!("{error_hint}; then {hint}");
        }
    }
    Failure::new(status, stop).with_hint(hint)
}

/// Prints which steps are done and which this command would run, without sending a request.
fn print_dry_run(
    run: &Run,
    args: &ProvisionApplyArgs,
    plan: &ProvisionPlan,
    state: &ProvisionState,
) -> CommandResult {
    let steps: Vec<(ProvisionStep, &str)> = plan
        .steps()
        .map(|step| {
            (
                step,
                if state.is_done(step) {
                    "done before"
                } else {
                    "to be created"
                },
            )
        })
        .collect();
    let entries: Vec<Value> = steps
        .iter()
        .map(|(step, outcome)| json!({ "step": step.name(), "outcome": outcome, "answer": null }))
        .collect();
    run.print_response(
        args.output,
        &json!({ "projectId": state.project_id(), "steps": entries }),
        || {
            let mut lines = String::new();
            for (step, outcome) in steps {
                let _ = writeln!(lines, "{:<11} {outcome}", step.name());
            }
            lines
        },
    )
}
