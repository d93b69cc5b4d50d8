//! Runs `sluicegate variables apply`: reads, compares, prints the changes, applies them, reports the result.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{ApplyArgs, OutputFormat};
use crate::session::failure_conversion::step_exit_status;
use crate::session::resource::RemoteProject;
use crate::session::response_output;
use crate::session::{CommandResult, Run};
use serde_json::{Value, json};
use sluicegate_base::text;
use sluicegate_base::text::format_count;
use sluicegate_platform::desired::Document;
use sluicegate_platform::desired::variables::{self, Applied, VariableStep, WantedVariable};

/// Changes the project's variables to those that the file describes.
pub(crate) fn apply_variables(run: &Run, args: &ApplyArgs) -> CommandResult {
    let document = Document::read(&run.env.current_dir().join(&args.file), &args.file)?;
    let wanted_variables = variables::read(&document)?;
    let project = run.project()?;
    run.block_on(async {
        let steps = find_steps(&project, &document, &wanted_variables, args).await?;
        print_steps(run, args, &steps)?;
        if args.dry_run || steps.is_empty() {
            return report_results(run, args, &steps, None);
        }
        let results = variables::apply(&project.platform, project.id, &steps, |step, outcome| {
            warn_of_failure(run, step, outcome);
        })
        .await;
        report_results(run, args, &steps, Some(&results))
    })?
}

/// Compares the file with the project, and returns the changes to make.
async fn find_steps(
    project: &RemoteProject,
    document: &Document,
    wanted_variables: &[WantedVariable],
    args: &ApplyArgs,
) -> Result<Vec<VariableStep>, Failure> {
    let response = variables::read_project(&project.platform, project.id, wanted_variables).await;
    let current_variables = project.read_response(response).await?;
    if !args.allow_unknown {
        variables::check_names(document, wanted_variables, &current_variables)?;
    }
    Ok(variables::compare(
        document,
        wanted_variables,
        &current_variables,
        args.prune,
    )?)
}

/// Prints the changes before they are applied.
fn print_steps(run: &Run, args: &ApplyArgs, steps: &[VariableStep]) -> Result<(), Failure> {
    if args.output.output == OutputFormat::Json {
        return Ok(());
    }
    let lines = steps.iter().flat_map(VariableStep::lines);
    let text: String = lines.map(|line| text::escape_line(&line) + "\n").collect();
    run.ui.print_result(&text)
}

/// Prints a failure as soon as it happens.
fn warn_of_failure(run: &Run, step: &VariableStep, outcome: &Applied) {
    if let Some(reason) = describe_problem(outcome) {
        let lines = step.lines().join("; ");
        run.ui.warn(&format!("failed: {lines}: {reason}"));
    }
}

/// Describes why a change was not made completely; `None` if it was.
fn describe_problem(outcome: &Applied) -> Option<String> {
    match outcome {
        Applied::Done => None,
        Applied::Failed(error) => Some(error.to_string()),
        Applied::Partly(refusals) => {
            let reasons: Vec<String> = refusals
                .iter()
                .map(|(environment, reason)| format!("{environment}: {reason}"))
                .collect();
            Some(reasons.join("; "))
        }
        Applied::Skipped => Some("skipped because of an earlier failure".to_owned()),
    }
}

/// Prints the results. Returns an error if a change failed. `results` is `None` if nothing was changed.
fn report_results(
    run: &Run,
    args: &ApplyArgs,
    steps: &[VariableStep],
    results: Option<&[Applied]>,
) -> CommandResult {
    if args.output.output == OutputFormat::Json {
        run.ui
            .print_result(&response_output::format_json(&to_document(steps, results)))?;
    }
    let Some(results) = results else {
        let text = match steps.len() {
            0 => "no changes: the project matches the file\n".to_owned(),
            step_count => format!(
                "{}; dry run, no change was applied\n",
                format_count(step_count, "change")
            ),
        };
        if args.output.output == OutputFormat::Text {
            run.ui.print_result(&text)?;
        }
        return Ok(ExitStatus::Success);
    };
    let failed_count = results
        .iter()
        .filter(|result| !matches!(result, Applied::Done))
        .count();
    if failed_count == 0 {
        if args.output.output == OutputFormat::Text {
            run.ui
                .print_result(&format!("done: {}\n", format_count(steps.len(), "change")))?;
        }
        return Ok(ExitStatus::Success);
    }
    let message = format!(
        "{failed_count} of {} failed; see the messages above",
        format_count(steps.len(), "change")
    );
    Err(
        Failure::new(choose_exit_status(results), anyhow::Error::msg(message))
            .hint("fix the cause and run the command again: changes that were applied are not repeated"),
    )
}

/// Returns the exit code of a failed run: 8, unless the token lacks the permission, or certainly no change was applied
/// because the platform gave no usable response.
fn choose_exit_status(results: &[Applied]) -> ExitStatus {
    let has_finished_step = results.iter().any(|result| match result {
        Applied::Done | Applied::Partly(_) => true,
        Applied::Failed(error) => error.is_maybe_processed(),
        Applied::Skipped => false,
    });
    let statuses = results.iter().filter_map(|outcome| match outcome {
        Applied::Failed(error) => Some(step_exit_status(error, has_finished_step)),
        _ => None,
    });
    statuses.fold(ExitStatus::RemoteFailed, ExitStatus::worse)
}

/// Returns the changes and their results as JSON.
fn to_document(steps: &[VariableStep], results: Option<&[Applied]>) -> Value {
    let entries: Vec<Value> = steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            let outcome = results.map(|results| results.get(index).unwrap_or(&Applied::Skipped));
            step_to_json(step, outcome)
        })
        .collect();
    json!({ "changes": entries, "dryRun": results.is_none () && !steps.is_empty() })
}

/// Returns a change as JSON, with its result if it was tried.
fn step_to_json(step: &VariableStep, outcome: Option<&Applied>) -> Value {
    let mut entry = json!(step);
    if let (Some(outcome), Value::Object(fields)) = (outcome, &mut entry) {
        let outcome_name = match outcome {
            Applied::Done => "done",
            Applied::Failed(_) => "failed",
            Applied::Partly(_) => "partly",
            Applied::Skipped => "skipped",
        };
        fields.insert("outcome".to_owned(), outcome_name.into());
        fields.insert("error".to_owned(), describe_problem(outcome).into());
    }
    entry
}
