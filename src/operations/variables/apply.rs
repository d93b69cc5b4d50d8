//! Runs `sluicegate variables apply`: reads, compares, prints the changes, applies them, reports the result.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{ApplyArgs, OutputFormat};
use crate::session::failure_conversion::step_exit_status;
use crate::session::resource::RemoteProject;
use crate::session::response_output;
use crate::session::{CommandResult, Session};
use serde_json::{Value, json};
use sluicegate_base::text;
use sluicegate_base::text::format_count;
use sluicegate_platform::api::Override;
use sluicegate_platform::definitions::Document;
use sluicegate_platform::definitions::variables::{self, StepOutcome, VariableDefinition, VariableStep};
use std::iter;

/// Changes the variables of the project until they match the file. Prints the changes first; a dry run then stops.
pub(crate) fn apply_variables(session: &Session, args: &ApplyArgs) -> CommandResult {
    let document = session.load_document(&args.file)?;
    let wanted_variables = variables::read_variables(&document)?;
    let project = session.create_project_client()?;
    session.block_on(async {
        let steps = plan_changes(&project, &document, &wanted_variables, args).await?;
        print_steps(session, args, &steps)?;
        if args.dry_run || steps.is_empty() {
            let results = None;
            return report_results(session, args, &steps, results);
        }
        let results = variables::execute_steps(
            &project.platform,
            project.id,
            &steps,
            &|variable, overrides| set_last_words(session, variable, overrides),
            |step, outcome| warn_of_failure(session, step, outcome),
        )
        .await;
        report_results(session, args, &steps, Some(&results))
    })?
}

/// Sets what the run says if a signal ends it: which overrides of the variable may be removed and not set again. The
/// file contains their new values, so another run sets them.
fn set_last_words(session: &Session, variable: &str, removed_overrides: &[Override]) {
    let lost_values: Vec<String> = removed_overrides
        .iter()
        .map(variables::describe_lost_override)
        .collect();
    let last_words = match lost_values.join("; ") {
        lost_values if lost_values.is_empty() => lost_values,
        lost_values => format!(
            "the change of {variable} is not complete: {lost_values}; run the command again to complete it"
        ),
    };
    session.signals.set_last_words(&last_words);
}

/// Requests the variables of the project, compares them with the file, and returns the changes to make. Unless
/// `--allow-unknown` is set, fails for types and behaviours that neither the API document nor the project contains.
async fn plan_changes(
    project: &RemoteProject,
    document: &Document,
    wanted_variables: &[VariableDefinition],
    args: &ApplyArgs,
) -> Result<Vec<VariableStep>, Failure> {
    let response =
        variables::fetch_project_state(&project.platform, project.id, wanted_variables, args.prune).await;
    let current_variables = project.convert_response(response).await?;
    if !args.allow_unknown {
        variables::check_types_and_behaviours(document, wanted_variables, &current_variables)?;
    }
    Ok(variables::build_variable_steps(
        document,
        wanted_variables,
        &current_variables,
        args.prune,
    )?)
}

/// Prints the changes before they are applied. For `--output json`, prints nothing, because the document with the
/// results contains them.
fn print_steps(session: &Session, args: &ApplyArgs, steps: &[VariableStep]) -> Result<(), Failure> {
    if args.output.output == OutputFormat::Json {
        return Ok(());
    }
    let lines = steps.iter().flat_map(VariableStep::describe_lines);
    let text: String = lines.map(|line| text::escape_line(&line) + "\n").collect();
    session.ui.print_result(&text)
}

/// Warns about a change that failed or was skipped, as soon as this is known.
fn warn_of_failure(session: &Session, step: &VariableStep, outcome: &StepOutcome) {
    if let Some(reason) = describe_problem(outcome) {
        let lines = find_missing_part(step, outcome).describe_lines().join("; ");
        let label = match outcome {
            StepOutcome::Skipped => "not tried",
            outcome if is_unknown(outcome) => "outcome unknown",
            _ => "failed",
        };
        session.ui.warn(&format!("{label}: {lines}: {reason}"));
    }
}

/// Returns the part of the step that was not made: of a step that sets overrides, only those that the platform refused.
fn find_missing_part(step: &VariableStep, outcome: &StepOutcome) -> VariableStep {
    match outcome {
        StepOutcome::Partial(refusals) => {
            let environments: Vec<&str> = refusals
                .iter()
                .map(|(environment, _)| environment.as_str())
                .collect();
            step.select_overrides_in(&environments)
        }
        _ => step.clone(),
    }
}

/// Returns whether the platform may have made the change although its request failed.
fn is_unknown(outcome: &StepOutcome) -> bool {
    matches!(outcome, StepOutcome::Failed { error, .. } if error.is_maybe_processed())
}

/// Returns the number of changes in the parts of these steps that were not made and whose outcome is one of those that
/// `is_counted` accepts.
fn count_missing_changes(
    steps: &[VariableStep],
    results: &[StepOutcome],
    is_counted: impl Fn(&StepOutcome) -> bool,
) -> usize {
    let counted_steps = steps
        .iter()
        .zip(results)
        .filter(|(_, outcome)| is_counted(outcome));
    counted_steps
        .map(|(step, outcome)| find_missing_part(step, outcome).count_changes())
        .sum()
}

/// Returns the reason why a change was not made completely; `None` if it was.
fn describe_problem(outcome: &StepOutcome) -> Option<String> {
    match outcome {
        StepOutcome::Done => None,
        StepOutcome::Failed {
            error,
            lost_overrides,
        } => {
            let lost_values = lost_overrides.iter().map(variables::describe_lost_override);
            let facts: Vec<String> = iter::once(error.to_string()).chain(lost_values).collect();
            Some(facts.join("; "))
        }
        StepOutcome::Partial(refusals) => {
            let reasons: Vec<String> = refusals
                .iter()
                .map(|(environment, reason)| format!("{environment}: {reason}"))
                .collect();
            Some(reasons.join("; "))
        }
        StepOutcome::Skipped => Some("skipped because of an earlier failure".to_owned()),
    }
}

/// Prints the results, and fails if a change was not made. `results` has one result for each step; it is `None` if no
/// change was tried: in a dry run, or because the project already matches the file.
fn report_results(
    session: &Session,
    args: &ApplyArgs,
    steps: &[VariableStep],
    results: Option<&[StepOutcome]>,
) -> CommandResult {
    let is_json = args.output.output == OutputFormat::Json;
    if is_json {
        let document = to_document(args.dry_run, steps, results);
        session
            .ui
            .print_result(&response_output::format_json(&document))?;
    }
    let change_count: usize = steps.iter().map(VariableStep::count_changes).sum();
    let Some(results) = results else {
        let text = match change_count {
            0 => "no changes: the project matches the file\n".to_owned(),
            change_count => format!(
                "{}; dry run, no change was applied\n",
                format_count(change_count, "change")
            ),
        };
        if !is_json {
            session.ui.print_result(&text)?;
        }
        return Ok(ExitStatus::Success);
    };
    let failed_count = count_missing_changes(steps, results, |outcome| {
        !matches!(outcome, StepOutcome::Done | StepOutcome::Skipped)
    });
    if failed_count == 0 {
        if !is_json {
            session
                .ui
                .print_result(&format!("done: {}\n", format_count(change_count, "change")))?;
        }
        return Ok(ExitStatus::Success);
    }
    Err(partial_failure(steps, results, failed_count, change_count))
}

/// Creates the failure of a run in which changes failed.
fn partial_failure(
    steps: &[VariableStep],
    results: &[StepOutcome],
    failed_count: usize,
    change_count: usize,
) -> Failure {
    let skipped_count =
        count_missing_changes(steps, results, |outcome| matches!(outcome, StepOutcome::Skipped));
    let skipped_text = match skipped_count {
        0 => String::new(),
        count => format!(" and {count} not tried"),
    };
    let unknown_text = match count_missing_changes(steps, results, is_unknown) {
        0 => String::new(),
        count => format!(" (the outcome of {count} is unknown)"),
    };
    let message = format!(
        "{failed_count} of {} failed{unknown_text}{skipped_text}; see the messages above",
        format_count(change_count, "change")
    );
    let hint = format!(
        "{}; a repeated command skips the changes that were applied",
        find_first_hint(results)
    );
    Failure::from_message(choose_exit_status(results), message).with_hint(hint)
}

/// Returns the hint for the first change that failed.
fn find_first_hint(results: &[StepOutcome]) -> String {
    let first_error = results.iter().find_map(|outcome| match outcome {
        StepOutcome::Failed { error, .. } => Some(error),
        _ => None,
    });
    match first_error {
        Some(error) => error.hint_with_check("run the command with --dry-run to see which changes are left"),
        None => "correct the values that the platform rejects".to_owned(),
    }
}

/// Returns the exit status for a run in which a change failed. This is exit code 8, except if the token lacks the
/// permission (4), or if the error has exit code 3 and the run certainly did not change anything.
fn choose_exit_status(results: &[StepOutcome]) -> ExitStatus {
    let may_have_changed = results.iter().any(|result| match result {
        StepOutcome::Done | StepOutcome::Partial(_) => true,
        // If the response was lost, the platform may have applied the change.
        StepOutcome::Failed {
            error,
            lost_overrides,
        } => error.is_maybe_processed() || !lost_overrides.is_empty(),
        StepOutcome::Skipped => false,
    });
    let statuses = results.iter().filter_map(|outcome| match outcome {
        StepOutcome::Failed { error, .. } => Some(step_exit_status(error, may_have_changed)),
        _ => None,
    });
    statuses.fold(ExitStatus::RemoteFailed, ExitStatus::worse)
}

/// Returns the changes and their results as JSON. `results` is `None` if no change was tried.
fn to_document(is_dry_run: bool, steps: &[VariableStep], results: Option<&[StepOutcome]>) -> Value {
    let entries: Vec<Value> = steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            // Each change has a result; the default only avoids a panic.
            let outcome = results.map(|results| results.get(index).unwrap_or(&StepOutcome::Skipped));
            step_to_json(step, outcome)
        })
        .collect();
    json!({ "changes": entries, "dryRun": is_dry_run })
}

/// Returns a change as JSON, with its result unless this was a dry run.
fn step_to_json(step: &VariableStep, outcome: Option<&StepOutcome>) -> Value {
    let mut entry = json!(step);
    if let (Some(outcome), Value::Object(fields)) = (outcome, &mut entry) {
        let outcome_name = match outcome {
            StepOutcome::Done => "done",
            StepOutcome::Failed { .. } => "failed",
            StepOutcome::Partial(_) => "partly",
            StepOutcome::Skipped => "skipped",
        };
        fields.insert("outcome".to_owned(), outcome_name.into());
        fields.insert("error".to_owned(), describe_problem(outcome).into());
    }
    entry
}
