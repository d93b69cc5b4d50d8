//! Provisions a project: checks everything, continues from the state, reports each step.

use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputFormat, ProvisionApplyArgs};
use crate::session::failure::status_of_step;
use crate::session::named_file::read_if_there;
use crate::session::output;
use crate::session::{CommandResult, Run};
use serde_json::{Value, json};
use sluicegate_base::text;
use sluicegate_platform::desired::Document;
use sluicegate_platform::desired::provision::{
    self, Mark, ProvisionPlan, ProvisionState, ProvisionStep, StateError, StepTold, Stopped,
};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Maximum size of a state file, in bytes.
const STATE_LIMIT: u64 = 16 * 1024 * 1024;

/// The role needed to continue with a new project.
const SEEN_BY: &str = "only the account role Super Admin can see a new project until users are invited";

/// Checks everything, continues from the state, and reports each step.
pub(crate) fn apply(run: &Run, args: &ProvisionApplyArgs) -> CommandResult {
    let sources = run.sources()?;
    let document = Document::read(&run.env.current_dir().join(&args.file), &args.file)?;
    let plan = provision::plan(&document, &sources.platform_names(&args.vocabulary))?;
    let secret = plan
        .secret
        .as_ref()
        .map(|it| run.secret(&it.source))
        .transpose()?;
    let connection = sources.connection(&run.global)?;
    let path = state_path(run, args);
    let kept = read_if_there(&path, STATE_LIMIT)?;
    let mut state = ProvisionState::parse(kept.as_deref(), &path, &connection.base_url()?.to_string())?;
    resolve(&mut state, &plan, &args.resolve)?;
    state.check(&plan).map_err(|error| explain(error, &path))?;
    // Checks the settings of the connection, also for a dry run; sends nothing.
    let platform = run.platform(&connection)?;
    if args.dry_run {
        return dry_run(run, args, &plan, &state);
    }
    let save = |state: &ProvisionState| atomic_file::write_file(&path, state.render().as_bytes());
    if !state.is_done(ProvisionStep::Project) {
        run.ui
            .say(&format!("{SEEN_BY}: all steps need a token with that role"));
    }
    let mut done = Vec::new();
    let ended = run.requests(provision::apply(
        &platform,
        &plan,
        secret.as_ref(),
        &mut state,
        save,
        |step, told| tell(run, args, step, &told, &mut done),
    ))?;
    if args.output.output == OutputFormat::Json {
        let id = state.project_id();
        run.ui
            .print_result(&output::json(&json!({ "projectId": id, "steps": done })))?;
    }
    match ended {
        Ok(()) => Ok(ExitStatus::Success),
        Err(stopped) => Err(failed(stopped, &state, &path)),
    }
}

/// Returns the path of the state, by default next to the file, where the next run finds it.
fn state_path(run: &Run, args: &ProvisionApplyArgs) -> PathBuf {
    let named = args.state.clone().unwrap_or_else(|| {
        let mut name = args.file.clone().into_os_string();
        name.push(".state.json");
        name.into()
    });
    run.env.current_dir().join(named)
}

/// Applies the user's `--resolve` to steps whose response was lost.
fn resolve(state: &mut ProvisionState, plan: &ProvisionPlan, words: &[String]) -> Result<(), Failure> {
    for word in words {
        let wrong = || {
            Failure::usage(format!(
                "--resolve {word}: expected STEP=again, STEP=done or project=UUID"
            ))
        };
        let (name, said) = word.split_once('=').ok_or_else(wrong)?;
        let step = ProvisionStep::ALL
            .into_iter()
            .find(|step| step.name() == name)
            .ok_or_else(wrong)?;
        let Some(record) = state.steps.get_mut(&step).filter(|it| it.mark == Mark::Begun) else {
            return Err(Failure::usage(format!(
                "--resolve {word}: the result of the {step} is not unknown"
            )));
        };
        let id = Uuid::parse_str(said)
            .ok()
            .filter(|_| step == ProvisionStep::Project);
        match (said, id) {
            ("again", _) => {
                state.steps.remove(&step);
            }
            ("done", _) if step != ProvisionStep::Project => record.mark = Mark::Done,
            (_, Some(id)) => {
                record.mark = Mark::Done;
                record.project_id = Some(id.to_string());
            }
            _ => return Err(wrong()),
        }
        if let (Some(record), Some(body)) = (state.steps.get_mut(&step), plan.body(step)) {
            record.made_of = body;
        }
    }
    Ok(())
}

fn explain(error: StateError, path: &Path) -> Failure {
    let hint = match &error {
        StateError::Unknown { step } => {
            let id = if *step == ProvisionStep::Project {
                "UUID"
            } else {
                "done"
            };
            format!("check whether it exists, then pass --resolve {step}={id} or --resolve {step}=again")
        }
        StateError::Changed { .. } => format!(
            "change the file back, or start over without the state {}",
            path.display()
        ),
        _ => "pass another state with --state".to_owned(),
    };
    Failure::new(ExitStatus::Usage, error).hint(hint)
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        explain(error, Path::new(""))
    }
}

fn tell(
    run: &Run,
    args: &ProvisionApplyArgs,
    step: ProvisionStep,
    told: &StepTold<'_>,
    done: &mut Vec<Value>,
) {
    let (word, answer) = match told {
        StepTold::Already => ("done before", &Value::Null),
        StepTold::Done(answer) => ("created", *answer),
    };
    done.push(json!({ "step": step.name(), "outcome": word, "answer": answer }));
    if args.output.output == OutputFormat::Json {
        return;
    }
    let mut said = format!("{:<11} {word}", step.name());
    if let Value::Object(fields) = answer {
        for (key, value) in fields {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let _ = write!(said, "  {key} {value}");
        }
    }
    // The state contains the steps that cannot be printed, so a failure here does not stop the run.
    let _ = run.ui.print_result(&(text::escape_line(&said) + "\n"));
}

/// Returns the failure: exit code 8 if a step is done already, otherwise that of the error.
fn failed(stopped: Stopped, state: &ProvisionState, path: &Path) -> Failure {
    let some_done = ProvisionStep::ALL.iter().any(|step| state.is_done(*step));
    let status = match &stopped {
        Stopped::Failed { error, .. } => status_of_step(error, some_done),
        Stopped::NoProject(_) => ExitStatus::RemoteFailed,
        Stopped::Unsaved(_) if some_done => ExitStatus::RemoteFailed,
        Stopped::Unsaved(_) => ExitStatus::Usage,
    };
    let mut hint = format!(
        "run the command again: it continues from {} and repeats no completed step",
        path.display()
    );
    if let Stopped::Failed { step, error } = &stopped {
        if error.is_maybe_processed() {
            hint = format!("check whether the {step} exists, then pass --resolve {step}=… to the next run");
        } else if *step != ProvisionStep::Project && matches!(error.status(), Some(403 | 404)) {
            hint = format!(
                "{SEEN_BY}: run the command again with a token of that role; it continues from {}",
                path.display()
            );
        } else if let Some(said) = error.hint() {
            hint = format!("{said}; then {hint}");
        }
    }
    Failure::new(status, stopped).hint(hint)
}

fn dry_run(
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
        .map(|(step, word)| json!({ "step": step.name(), "outcome": word, "answer": null }))
        .collect();
    run.show(
        args.output,
        &json!({ "projectId": state.project_id(), "steps": entries }),
        || {
            let line = |(step, word): &(ProvisionStep, &str)| format!("{:<11} {word}\n", step.name());
            steps.iter().map(line).collect::<Vec<_>>().concat()
        },
    )
}
