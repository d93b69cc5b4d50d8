//! Reports the completed or planned changes.

use super::carry_out::UnstagedFiles;
use super::edit::Referrer;
use super::plan::{LeftReference, Plan};
use crate::error::Failure;
use crate::job::cli::{MvArgs, OutputFormat};
use crate::session::Run;
use crate::session::output;
use serde_json::{Value, json};
use sluicegate_base::text::{self, List, count, counts};
use sluicegate_pipelines::file_moves::RepairError;
use sluicegate_pipelines::pipelines::is_pipeline;
use std::fmt::Write as _;

pub(crate) fn tell(run: &Run, plan: &Plan, unstaged: &UnstagedFiles, args: &MvArgs) -> Result<(), Failure> {
    if !unstaged.paths.is_empty() {
        run.ui.warn(&describe_unstaged(unstaged));
    } else if plan.moves.is_none() && !plan.edits.is_empty() && !args.dry_run {
        run.ui
            .say("the repaired files are not staged: look at them with `git diff`, then run `git add`");
    }
    match args.output.output {
        OutputFormat::Json => run
            .ui
            .print_result(&output::json(&document(plan, unstaged, args.dry_run))),
        OutputFormat::Text => run.ui.print_result(&words(plan, args.dry_run)),
    }
}

fn describe_unstaged(unstaged: &UnstagedFiles) -> String {
    let files = List::new(&unstaged.paths);
    let reason = match &unstaged.reason {
        Some(error) => text::line(error),
        None => "these files had unstaged changes".to_owned(),
    };
    format!(
        "the rewritten references in {files} are not staged ({reason}): run `git add` before you commit the move"
    )
}

fn words(plan: &Plan, is_dry: bool) -> String {
    let mut said = String::new();
    if is_dry {
        if let Some(moves) = &plan.moves {
            let _ = writeln!(
                said,
                "{} -> {}",
                text::line(&moves.old_path),
                text::line(&moves.new_path)
            );
        }
        for edit in &plan.edits {
            for value in &edit.values {
                let place = format!("{}:{}", edit.path, value.position.line);
                let _ = writeln!(
                    said,
                    "{}",
                    text::line(&format!("{place}: {} -> {}", value.old, value.new))
                );
            }
        }
    }
    for left in &plan.left {
        let _ = writeln!(said, "{}", text::line(&left_in_words(left)));
    }
    let begin = match (&plan.moves, is_dry) {
        (Some(_), true) => format!("would move {}", moved(plan)),
        (Some(_), false) => format!("moved {}", moved(plan)),
        (None, true) => "would repair".to_owned(),
        (None, false) => "repaired".to_owned(),
    };
    let values = values(plan);
    let _ = match (&plan.moves, values.is_empty()) {
        (Some(_), true) => writeln!(
            said,
            "{begin}; no references to {}",
            if plan.moved.len() == 1 { "it" } else { "them" }
        ),
        (Some(_), false) => writeln!(said, "{begin}; {values}"),
        (None, true) => writeln!(said, "nothing to repair{}", left(plan)),
        (None, false) => writeln!(said, "{begin} {values}{}", left(plan)),
    };
    said
}

/// Counts the files to move by kind.
fn moved(plan: &Plan) -> String {
    let pipelines = plan.moved.iter().filter(|file| is_pipeline(&file.path)).count();
    let scripts = plan.moved.iter().filter(|file| file.is_script).count();
    let others = plan.moved.len() - pipelines - scripts;
    let other = if pipelines + scripts > 0 {
        "other file"
    } else {
        "file"
    };
    let parts = [(pipelines, "pipeline"), (scripts, "script"), (others, other)];
    counts(&parts)
}

fn values(plan: &Plan) -> String {
    let values = || plan.edits.iter().flat_map(|edit| &edit.values);
    let number = |what| values().filter(|value| value.what == what).count();
    let of_pipelines = [Referrer::Call, Referrer::Script].map(|what| (number(what), what.noun()));
    let files = plan.edits.iter().filter(|edit| is_pipeline(&edit.path)).count();
    let mut parts: Vec<String> = Vec::new();
    if files > 0 {
        parts.push(format!("{} in {}", counts(&of_pipelines), count(files, "file")));
    }
    let others = [Referrer::Shared, Referrer::Waiver, Referrer::Glob].map(|what| (number(what), what.noun()));
    let others = counts(&others);
    parts.extend((!others.is_empty()).then_some(others));
    parts.join(", ")
}

fn left(plan: &Plan) -> String {
    match plan.left.len() {
        0 => String::new(),
        number => format!("; {number} left"),
    }
}

fn left_in_words(left: &LeftReference) -> String {
    let LeftReference {
        path,
        line,
        target,
        why,
    } = left;
    format!("left: {path}:{line}: {target}: {}", why_in_words(why))
}

fn why_in_words(why: &RepairError) -> String {
    match why {
        RepairError::NoFile => "no file has that name".to_owned(),
        RepairError::SeveralFiles(paths) => format!("several files have that name: {}", List::new(paths)),
    }
}

fn document(plan: &Plan, unstaged: &UnstagedFiles, is_dry: bool) -> Value {
    let moved: Vec<Value> = plan
        .moves
        .iter()
        .flat_map(|moves| {
            let files = plan.moved.iter();
            files.map(|file| json!({ "from": file.path, "to": moves.path_after(&file.path) }))
        })
        .collect();
    let edits: Vec<Value> = plan
        .edits
        .iter()
        .flat_map(|edit| edit.values.iter().map(move |value| (edit, value)))
        .map(|(edit, value)| {
            json!({
                "path": edit.path,
                "line": value.position.line,
                "what": value.what.noun(),
                "from": value.old,
                "to": value.new,
            })
        })
        .collect();
    let left: Vec<Value> = plan
        .left
        .iter()
        .map(|left| json!({ "path": left.path, "line": left.line, "target": left.target, "why": why_in_words(&left.why) }))
        .collect();
    json!({ "dryRun": is_dry, "moved": moved, "edits": edits, "left": left, "unstaged": unstaged.paths })
}
