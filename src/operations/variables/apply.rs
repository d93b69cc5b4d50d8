//! Runs `sluicegate variables apply`: reads, compares, prints the changes, applies them, reports the result.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{ApplyArgs, OutputFormat};
use crate::session::failure::status_of_step;
use crate::session::output;
use crate::session::resource::RemoteProject;
use crate::session::{CommandResult, Run};
use serde_json::{Value, json};
use sluicegate_base::text;
use sluicegate_base::text::format_count;
use sluicegate_platform::desired::Document;
use sluicegate_platform::desired::variables::{self, Applied, VariableStep, WantedVariable};

pub(crate) fn run(run: &Run, args: &ApplyArgs) -> CommandResult {
    let document = Document::read(&run.env.current_dir().join(&args.file), &args.file)?;
    let wanted = variables::read(&document)?;
    let project = run.project()?;
    run.requests(async {
        let changes = difference(&project, &document, &wanted, args).await?;
        show(run, args, &changes)?;
        if args.dry_run || changes.is_empty() {
            return finish(run, args, &changes, None);
        }
        let ended = variables::apply(&project.platform, project.id, &changes, |change, applied| {
            tell(run, change, applied);
        })
        .await;
        finish(run, args, &changes, Some(&ended))
    })?
}

async fn difference(
    project: &RemoteProject,
    document: &Document,
    wanted: &[WantedVariable],
    args: &ApplyArgs,
) -> Result<Vec<VariableStep>, Failure> {
    let found = variables::read_project(&project.platform, project.id, wanted).await;
    let found = project.read(found).await?;
    if !args.allow_unknown {
        variables::check_names(document, wanted, &found)?;
    }
    Ok(variables::compare(document, wanted, &found, args.prune)?)
}

/// Prints the changes before they are applied.
fn show(run: &Run, args: &ApplyArgs, changes: &[VariableStep]) -> Result<(), Failure> {
    if args.output.output == OutputFormat::Json {
        return Ok(());
    }
    let lines = changes.iter().flat_map(VariableStep::lines);
    let shown: String = lines.map(|line| text::escape_line(&line) + "\n").collect();
    run.ui.print_result(&shown)
}

/// Prints a failure as soon as it happens.
fn tell(run: &Run, change: &VariableStep, applied: &Applied) {
    if let Some(why) = problem(applied) {
        let lines = change.lines().join("; ");
        run.ui.warn(&format!("failed: {lines}: {why}"));
    }
}

fn problem(applied: &Applied) -> Option<String> {
    match applied {
        Applied::Done => None,
        Applied::Failed(error) => Some(error.to_string()),
        Applied::Partly(refused) => {
            let said = refused
                .iter()
                .map(|(environment, why)| format!("{environment}: {why}"));
            Some(said.collect::<Vec<_>>().join("; "))
        }
        Applied::Skipped => Some("skipped because of an earlier failure".to_owned()),
    }
}

fn finish(run: &Run, args: &ApplyArgs, changes: &[VariableStep], ended: Option<&[Applied]>) -> CommandResult {
    if args.output.output == OutputFormat::Json {
        run.ui.print_result(&output::json(&summary(changes, ended)))?;
    }
    let Some(ended) = ended else {
        let text = match changes.len() {
            0 => "no changes: the project matches the file\n".to_owned(),
            some => format!(
                "{}; dry run, no change was applied\n",
                format_count(some, "change")
            ),
        };
        if args.output.output == OutputFormat::Text {
            run.ui.print_result(&text)?;
        }
        return Ok(ExitStatus::Success);
    };
    let failed = ended.iter().filter(|it| !matches!(it, Applied::Done)).count();
    if failed == 0 {
        if args.output.output == OutputFormat::Text {
            run.ui
                .print_result(&format!("done: {}\n", format_count(changes.len(), "change")))?;
        }
        return Ok(ExitStatus::Success);
    }
    let message = format!(
        "{failed} of {} failed; see the messages above",
        format_count(changes.len(), "change")
    );
    Err(Failure::new(status(ended), anyhow::Error::msg(message))
        .hint("fix the cause and run the command again: changes that were applied are not repeated"))
}

/// Returns exit code 8, unless the token lacks the permission, or certainly no change was applied because the platform
/// gave no usable response.
fn status(ended: &[Applied]) -> ExitStatus {
    let some_done = ended.iter().any(|it| match it {
        Applied::Done | Applied::Partly(_) => true,
        Applied::Failed(error) => error.is_maybe_processed(),
        Applied::Skipped => false,
    });
    let statuses = ended.iter().filter_map(|applied| match applied {
        Applied::Failed(error) => Some(status_of_step(error, some_done)),
        _ => None,
    });
    statuses.fold(ExitStatus::RemoteFailed, ExitStatus::worse)
}

fn summary(changes: &[VariableStep], ended: Option<&[Applied]>) -> Value {
    let entry = |(index, change): (usize, &VariableStep)| {
        let mut entry = json!(change);
        if let (Some(ended), Value::Object(entry)) = (ended, &mut entry) {
            let applied = ended.get(index).unwrap_or(&Applied::Skipped);
            let outcome = match applied {
                Applied::Done => "done",
                Applied::Failed(_) => "failed",
                Applied::Partly(_) => "partly",
                Applied::Skipped => "skipped",
            };
            entry.insert("outcome".to_owned(), outcome.into());
            entry.insert("error".to_owned(), problem(applied).into());
        }
        entry
    };
    let entries: Vec<Value> = changes.iter().enumerate().map(entry).collect();
    json!({ "changes": entries, "dryRun": ended.is_none() && !changes.is_empty() })
}
