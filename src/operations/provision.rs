//! Provisions a project: checks everything, continues from the state, reports each step.

use super::projects::warn_of_unknown_keys;
use super::state_lock::{StateFile, StateLock};
use crate::atomic_file;
use crate::error::{Detail, Failure};
use crate::exit::ExitStatus;
use crate::job::cli::{OutputFormat, ProvisionApplyArgs};
use crate::session::failure_conversion::step_exit_status;
use crate::session::failure_conversion::to_write_failure;
use crate::session::response_output;
use crate::session::user_file::read_user_file_if_exists;
use crate::session::{CommandResult, Session};
use serde_json::{Value, json};
use sluicegate_base::text;
use sluicegate_base::text::format_path;
use sluicegate_platform::definitions::provision::{
    self, ProvisionError, ProvisionPlan, ProvisionState, ProvisionStep, StateError, StepMark, StepProgress,
    StepRecord,
};
use sluicegate_platform::http::ErrorKind;
use std::fmt::Write as _;
use std::path::Path;
use uuid::Uuid;

/// Maximum size of a state file, in bytes.
const MAX_STATE_BYTES: u64 = 16 * 1024 * 1024;

/// The role needed to continue with a new project.
const VISIBILITY_RULE: &str =
    "only the account role Super Admin can see a new project until users are invited";

/// Runs the steps that create a project and what belongs to it. Checks the file and all settings first. Steps that the
/// state file lists as done are skipped, so that a failed run can be continued. Fails while another run uses the file.
pub(crate) fn apply_provision(session: &Session, args: &ProvisionApplyArgs) -> CommandResult {
    let state_path = session.env.current_dir().join(args.state_file());
    let inputs = [session.env.current_dir().join(&args.file)];
    session.guard_outputs(&inputs).reject_output_path(&state_path)?;
    let sources = session.read_setting_sources()?;
    let document = session.load_document(&args.file)?;
    let plan = provision::read_plan(&document, &sources.resolve_platform_names(&args.vocabulary)?)?;
    let connection = sources.resolve_account_connection(&session.global)?;
    let base_url = connection.require_base_url()?.to_string();
    // The lock is held until the end.
    let (mut state, _lock) = open_state(args, &plan, &state_path, &base_url)?;
    // The value of the secret comes from a variable or a file, not from the provisioning file.
    let secret = match &plan.secret {
        Some(planned_secret) if !state.is_done(ProvisionStep::Secret) => {
            Some(session.read_secret(&planned_secret.source)?)
        }
        _ => None,
    };
    if !state.is_done(ProvisionStep::Environment) {
        warn_of_unknown_keys(session, &document, "environment", &plan.environment);
    }
    // Checks the settings of the connection, also for a dry run; sends nothing.
    let platform = session.create_platform_client(&connection)?;
    if args.dry_run {
        return print_dry_run(session, args, &plan, &state);
    }
    // The note is only for a new project. If the project exists, users may have been invited, and a token with another
    // role may be enough.
    if !state.is_done(ProvisionStep::Project) {
        session.ui.say(&format!(
            "{VISIBILITY_RULE}: all steps need a token with that role"
        ));
    }
    let save = |state: &ProvisionState| atomic_file::write_file(&state_path, state.render().as_bytes());
    if !args.resolve.is_empty() {
        save(&state).map_err(to_write_failure("the state file ", &state_path))?;
    }
    let mut done_steps = Vec::new();
    // The state is saved before and after each request.
    let result = session.block_on(provision::run_steps(
        &platform,
        &plan,
        secret.as_ref(),
        &mut state,
        save,
        |step, outcome| report_step(session, args, &plan, step, &outcome, &mut done_steps),
    ))?;
    if args.output.output == OutputFormat::Json {
        let id = state.project_id();
        session.ui.print_result(&response_output::format_json(
            &json!({ "projectId": id, "steps": done_steps }),
        ))?;
    }
    match result {
        Ok(()) => Ok(ExitStatus::Success),
        Err(error) => Err(stopped_run_failure(error, &state, &state_path)),
    }
}

/// Reads the state, locks it if a step is left, and applies the values of `--resolve`. Rejects a state with a step
/// whose result is unknown, and one whose completed steps no longer match the plan.
fn open_state(
    args: &ProvisionApplyArgs,
    plan: &ProvisionPlan,
    state_path: &Path,
    base_url: &str,
) -> Result<(ProvisionState, Option<StateLock>), Failure> {
    let mut state = read_state(state_path, base_url)?;
    // A run without steps writes nothing, so that it needs no lock, and its directory may be read-only.
    let needs_lock = !args.dry_run && plan.steps().any(|step| !state.is_done(step));
    let state_file = StateFile {
        path: state_path,
        name: "state file",
        flag: "--state",
    };
    let lock = needs_lock.then(|| StateLock::acquire(state_file)).transpose()?;
    if lock.is_some() {
        // Another run may have done steps meanwhile, which this run would repeat.
        state = read_state(state_path, base_url)?;
    }
    apply_resolutions(&mut state, plan, &args.resolve)?;
    state
        .check_plan(plan)
        .map_err(|error| state_failure(error, state_path))?;
    Ok((state, lock))
}

/// Reads the state; without a state file, no step is done.
fn read_state(state_path: &Path, base_url: &str) -> Result<ProvisionState, Failure> {
    let saved_state = read_user_file_if_exists(state_path, MAX_STATE_BYTES)?;
    ProvisionState::parse(saved_state.as_deref(), state_path, base_url)
        .map_err(|error| state_failure(error, state_path))
}

/// Applies all values of `--resolve` to the state.
fn apply_resolutions(
    state: &mut ProvisionState,
    plan: &ProvisionPlan,
    resolutions: &[String],
) -> Result<(), Failure> {
    for resolution in resolutions {
        apply_resolution(state, plan, resolution)?;
    }
    Ok(())
}

/// Applies a value of `--resolve`, such as `connection=done`, to a step whose response was lost, or which the platform
/// refused because of a conflict: the resource may exist. `again` removes the step from the state, and the run repeats
/// it; a refused step is repeated anyway. `done`, or the id of the new project, marks the step as done.
fn apply_resolution(
    state: &mut ProvisionState,
    plan: &ProvisionPlan,
    resolution: &str,
) -> Result<(), Failure> {
    let Some((name, value)) = resolution.split_once('=') else {
        return Err(resolution_failure(resolution));
    };
    let Some(step) = ProvisionStep::ALL.into_iter().find(|step| step.name() == name) else {
        return Err(resolution_failure(resolution));
    };
    let record = state.steps.get(&step);
    let problem = match record.map(|record| record.mark) {
        Some(StepMark::Begun) => None,
        Some(StepMark::Refused) if value != "again" => None,
        Some(StepMark::Refused | StepMark::Done) => {
            Some(format!("the result of the {step} is already known"))
        }
        None => Some(format!("the {step} is not unfinished")),
    };
    if let Some(problem) = problem {
        let message = format!("--resolve {resolution}: {problem}");
        return Err(Failure::usage(message).with_hint("run the command without --resolve for this step"));
    }
    if value == "again" {
        state.steps.remove(&step);
        return Ok(());
    }
    let project_id = if step == ProvisionStep::Project {
        // The later steps need the id of the project, so `done` is not enough.
        let Ok(id) = Uuid::parse_str(value) else {
            return Err(resolution_failure(resolution));
        };
        Some(id.to_string())
    } else if value == "done" {
        None
    } else {
        return Err(resolution_failure(resolution));
    };
    // The file may have changed since the request: with the current definition, `check_plan` accepts it.
    let definition = plan.step_definition(step);
    let recorded_body = record.map(|record| record.request_body.clone());
    let done_record = StepRecord {
        mark: StepMark::Done,
        request_body: definition.or(recorded_body).unwrap_or_default(),
        project_id,
    };
    state.steps.insert(step, done_record);
    Ok(())
}

/// Returns the value of `--resolve` for a step whose resource exists. The later steps need the id of the project.
const fn resolution_word(step: ProvisionStep) -> &'static str {
    match step {
        ProvisionStep::Project => "UUID",
        _ => "done",
    }
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
            let id = resolution_word(*step);
            format!(
                "check whether the {step} exists, then pass --resolve {step}={id} or --resolve {step}=again"
            )
        }
        StateError::Changed { .. } => format!(
            "change the file back, or remove the state file {} to start over",
            format_path(path)
        ),
        StateError::Unreadable { .. } => {
            "restore the state file, for example from a backup: with a new one, the run creates the \
             project again"
                .to_owned()
        }
        StateError::OtherPlatform { .. } => "pass another state file with --state".to_owned(),
    };
    Failure::new(ExitStatus::Usage, error).with_hint(hint)
}

/// Adds a finished step to `done_steps` for the JSON document. Without `--output json`, also prints the step.
fn report_step(
    session: &Session,
    args: &ProvisionApplyArgs,
    plan: &ProvisionPlan,
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
    if matches!(outcome, StepProgress::DoneEarlier) {
        line += describe_unused_secret(session, plan, step);
    }
    if let Value::Object(fields) = response {
        for (key, value) in fields {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let _ = write!(line, "  {key} {value}");
        }
    }
    // A failure to print does not stop the run: the state file contains the step.
    let _ = session.ui.print_result(&(text::escape_line(&line) + "\n"));
}

/// Returns the end of the line of a step that an earlier run did: a remark if the step stored a secret, and this run
/// has a value for it, too.
fn describe_unused_secret(session: &Session, plan: &ProvisionPlan, step: ProvisionStep) -> &'static str {
    match &plan.secret {
        Some(planned_secret)
            if step == ProvisionStep::Secret && session.has_secret(&planned_secret.source) =>
        {
            "  an existing secret is not updated"
        }
        _ => "",
    }
}

/// Returns the failure for a run that stopped before its last step, with a hint how to continue. The exit code is 8 if
/// a step was done or may have been done, because the project is then incomplete. A denied request always has exit
/// code 4.
fn stopped_run_failure(error: ProvisionError, state: &ProvisionState, state_path: &Path) -> Failure {
    let has_finished_step = ProvisionStep::ALL.iter().any(|step| state.is_done(*step));
    let status = match &error {
        ProvisionError::Failed { error, .. } => step_exit_status(error, has_finished_step),
        ProvisionError::NoProject(_) => ExitStatus::RemoteFailed,
        ProvisionError::UnsavedState(_) | ProvisionError::UnsavedResult { .. } if has_finished_step => {
            ExitStatus::RemoteFailed
        }
        ProvisionError::UnsavedState(_) | ProvisionError::UnsavedResult { .. } => ExitStatus::Usage,
    };
    let hint = describe_continuation(&error, has_finished_step, state_path);
    let violations = error.list_violations().into_iter().map(Detail::Violation);
    Failure::new(status, error)
        .with_details(violations)
        .with_hint(hint)
}

/// Returns the hint how to continue a run that stopped with this error.
fn describe_continuation(error: &ProvisionError, has_finished_step: bool, state_path: &Path) -> String {
    let hint = format!(
        "run the command again: it continues from {} and does not repeat completed steps",
        format_path(state_path)
    );
    let (step, error) = match error {
        ProvisionError::Failed { step, error } => (step, error),
        ProvisionError::NoProject(_) => {
            return "check whether the project exists, then pass --resolve project=UUID with its id, or --resolve \
                    project=again"
                .to_owned();
        }
        ProvisionError::UnsavedState(_) if has_finished_step => {
            return format!(
                "make sure that {} can be written, then {hint}",
                format_path(state_path)
            );
        }
        ProvisionError::UnsavedState(_) => {
            return format!(
                "make sure that {} can be written, or pass another state file with --state",
                format_path(state_path)
            );
        }
        ProvisionError::UnsavedResult { step, resolution, .. } => {
            return format!("pass --resolve {step}={resolution} to the next run");
        }
    };
    if error.is_maybe_processed() {
        let id = resolution_word(*step);
        return format!(
            "check whether the {step} exists, then pass --resolve {step}={id} or --resolve {step}=again to the next run"
        );
    }
    // The request for the secret names only the agent, not the project.
    if *step == ProvisionStep::Secret && error.status() == Some(404) {
        return format!("check `secret.agentId` in the file; then {hint}");
    }
    // The platform hides the new project from a token without the role.
    if *step != ProvisionStep::Project && matches!(error.status(), Some(403 | 404)) {
        return format!(
            "{VISIBILITY_RULE}: run the command again with a token that has this role; it continues from {}",
            format_path(state_path)
        );
    }
    if error.kind() == ErrorKind::Conflict {
        let id = resolution_word(*step);
        return format!(
            "if the {step} exists, pass --resolve {step}={id} to the next run, which continues from {}; otherwise, use \
             another name in the file",
            format_path(state_path)
        );
    }
    format!("{}; then {hint}", error.hint())
}

/// Prints the steps of the plan: those that an earlier run did, and those that this command would run. Sends no
/// request.
fn print_dry_run(
    session: &Session,
    args: &ProvisionApplyArgs,
    plan: &ProvisionPlan,
    state: &ProvisionState,
) -> CommandResult {
    let mut entries = Vec::new();
    let mut lines = String::new();
    for step in plan.steps() {
        let outcome = if state.is_done(step) {
            "done before"
        } else {
            "to be created"
        };
        entries.push(json!({ "step": step.name(), "outcome": outcome, "answer": null }));
        let note = if state.is_done(step) {
            describe_unused_secret(session, plan, step)
        } else {
            ""
        };
        let _ = writeln!(lines, "{:<11} {outcome}{note}", step.name());
    }
    let document = json!({ "projectId": state.project_id(), "steps": entries });
    session.print_response(args.output, &document, || lines)
}
