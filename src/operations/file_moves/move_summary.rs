//! Reports the completed or planned changes.

use super::file_edit::Referrer;
use super::kept_references::{KeptReference, UnreadFile};
use super::move_plan::MovePlan;
use super::plan_execution::UnstagedFiles;
use crate::error::Failure;
use crate::job::cli::{MvArgs, OutputFormat};
use crate::session::Session;
use crate::session::response_output::format_json;
use serde_json::{Value, json};
use sluicegate_base::text::{self, List, format_count, format_counts};
use sluicegate_pipelines::pipelines::is_pipeline;
use std::fmt::Write as _;

/// Prints what was moved and rewritten, as text or as JSON. Warns about files that were not searched, and about
/// rewritten files that are not staged. After a repair, prints a note instead, because a repair never stages files.
pub(crate) fn print_summary(
    session: &Session,
    plan: &MovePlan,
    unstaged_files: &UnstagedFiles,
    args: &MvArgs,
) -> Result<(), Failure> {
    if !plan.unread_files.is_empty() {
        session.ui.warn(&describe_unread_files(&plan.unread_files));
    }
    if !unstaged_files.paths.is_empty() {
        session.ui.warn(&describe_unstaged_files(unstaged_files));
    } else if plan.path_move.is_none() && !plan.edits.is_empty() && !args.dry_run {
        session
            .ui
            .say("the repaired files are not staged: review them with `git diff`, then run `git add`");
    }
    session.ui.print_result(&match args.output.output {
        OutputFormat::Json => format_json(&to_document(plan, unstaged_files, args.dry_run)),
        OutputFormat::Text => render_text(plan, args.dry_run),
    })
}

/// Describes which files were not searched for references, each with the reason.
fn describe_unread_files(files: &[UnreadFile]) -> String {
    let described_files: Vec<String> = files
        .iter()
        .map(|file| format!("{} ({})", file.path, file.reason))
        .collect();
    format!(
        "these files could not be searched for references: {}",
        List::new(&described_files)
    )
}

/// Describes which rewritten files are not staged, and the reason.
fn describe_unstaged_files(unstaged_files: &UnstagedFiles) -> String {
    let files = List::new(&unstaged_files.paths);
    let reason = match &unstaged_files.reason {
        Some(error) => text::escape_line(error),
        None => "these files had unstaged changes, were not in the index, are hidden by it, or git attributes convert them"
            .to_owned(),
    };
    format!(
        "the rewritten references in {files} are not staged ({reason}): run `git add` before you commit the move"
    )
}

/// Renders the summary of a move or of a repair, with the references that keep their text. In a dry run, also lists
/// each edit.
fn render_text(plan: &MovePlan, is_dry_run: bool) -> String {
    let mut text = if is_dry_run {
        render_planned_edits(plan)
    } else {
        String::new()
    };
    for reference in &plan.kept_references {
        let _ = writeln!(text, "{}", text::escape_line(&describe_kept_reference(reference)));
    }
    let action = match (&plan.path_move, is_dry_run) {
        (Some(_), true) => format!("would move {}", describe_moved_counts(plan)),
        (Some(_), false) => format!("moved {}", describe_moved_counts(plan)),
        (None, true) => "would repair".to_owned(),
        (None, false) => "repaired".to_owned(),
    };
    let edit_counts = describe_edit_counts(plan);
    let _ = match (&plan.path_move, edit_counts.is_empty()) {
        (Some(_), true) if plan.kept_references.is_empty() => writeln!(
            text,
            "{action}; no references to {}{}",
            if plan.moved_files.len() == 1 { "it" } else { "them" },
            if plan.unread_files.is_empty() {
                ""
            } else {
                " in the files that could be searched"
            }
        ),
        (Some(_), true) => writeln!(text, "{action}{}", describe_kept_count(plan)),
        (Some(_), false) => {
            let verb = if is_dry_run { "would update" } else { "updated" };
            writeln!(
                text,
                "{action}; {verb} {edit_counts}{}",
                describe_kept_count(plan)
            )
        }
        (None, true) => writeln!(text, "nothing to repair{}", describe_kept_count(plan)),
        (None, false) => writeln!(text, "{action} {edit_counts}{}", describe_kept_count(plan)),
    };
    text
}

/// Renders the planned move, if the plan has one, and each edit, one per line.
fn render_planned_edits(plan: &MovePlan) -> String {
    let mut text = String::new();
    if let Some(path_move) = &plan.path_move {
        let _ = writeln!(
            text,
            "{} -> {}",
            text::escape_line(&path_move.old_path),
            text::escape_line(&path_move.new_path)
        );
    }
    for edit in &plan.edits {
        for value in &edit.values {
            let location = format!("{}:{}", edit.path, value.position.line);
            let _ = writeln!(
                text,
                "{}",
                text::escape_line(&format!("{location}: {} -> {}", value.old, value.new))
            );
        }
    }
    text
}

/// Describes how many pipelines, scripts and other files move.
fn describe_moved_counts(plan: &MovePlan) -> String {
    let pipeline_count = plan
        .moved_files
        .iter()
        .filter(|file| is_pipeline(&file.path))
        .count();
    // A pipeline that a component names as its script is counted once.
    let script_count = plan
        .moved_files
        .iter()
        .filter(|file| file.is_script && !is_pipeline(&file.path))
        .count();
    let other_count = plan.moved_files.len() - pipeline_count - script_count;
    let other_noun = if pipeline_count + script_count > 0 {
        "other file"
    } else {
        "file"
    };
    let parts = [
        (pipeline_count, "pipeline"),
        (script_count, "script"),
        (other_count, other_noun),
    ];
    format_counts(&parts)
}

/// Describes how many references of each kind are rewritten; empty if there are none. Calls and script names can be in
/// several files, so the number of these files is added.
fn describe_edit_counts(plan: &MovePlan) -> String {
    let reference_counts = count_by_referrer(plan, &[Referrer::Call, Referrer::Script]);
    let file_count = plan.edits.iter().filter(|edit| is_pipeline(&edit.path)).count();
    let mut parts: Vec<String> = Vec::new();
    if file_count > 0 {
        parts.push(format!(
            "{} in {}",
            format_counts(&reference_counts),
            format_count(file_count, "file")
        ));
    }
    let other_referrers = [
        Referrer::Shared,
        Referrer::Waiver,
        Referrer::Glob,
        Referrer::RuleExample,
        Referrer::Setting,
    ];
    let other_counts = count_by_referrer(plan, &other_referrers);
    let other_text = format_counts(&other_counts);
    parts.extend((!other_text.is_empty()).then_some(other_text));
    parts.join(", ")
}

/// Returns, for each of these kinds of references, the number of its edits and the noun to print after the number.
fn count_by_referrer(plan: &MovePlan, referrers: &[Referrer]) -> Vec<(usize, &'static str)> {
    referrers
        .iter()
        .map(|referrer| {
            let values = plan.edits.iter().flat_map(|edit| &edit.values);
            let edit_count = values.filter(|value| value.referrer == *referrer).count();
            (edit_count, referrer.noun())
        })
        .collect()
}

/// Returns the end of the summary line: the number of references that keep their text. Returns an empty text if there
/// are none.
fn describe_kept_count(plan: &MovePlan) -> String {
    match plan.kept_references.len() {
        0 => String::new(),
        kept_count => format!("; {kept_count} left"),
    }
}

/// Describes a reference that keeps its text, with its location and the reason.
fn describe_kept_reference(reference: &KeptReference) -> String {
    let KeptReference {
        path,
        line,
        target,
        reason,
    } = reference;
    format!("left: {path}:{line}: {target}: {reason}")
}

/// Returns the summary as JSON, for `--output json`.
fn to_document(plan: &MovePlan, unstaged_files: &UnstagedFiles, is_dry_run: bool) -> Value {
    let mut moved_files = Vec::new();
    // A repair has no move.
    if let Some(path_move) = &plan.path_move {
        for file in &plan.moved_files {
            moved_files.push(json!({ "from": file.path, "to": path_move.path_after_move(&file.path) }));
        }
    }
    let mut edits = Vec::new();
    for edit in &plan.edits {
        for value in &edit.values {
            edits.push(json!({
                "path": edit.path,
                "line": value.position.line,
                "what": value.referrer.noun(),
                "from": value.old,
                "to": value.new,
            }));
        }
    }
    let kept_references: Vec<Value> = plan
        .kept_references
        .iter()
        .map(|reference| { json!({ "path": reference.path, "line": reference.line, "target": reference.target, "why": reference.reason, })
        })
        .collect();
    json!({ "dryRun": is_dry_run, "moved": moved_files, "edits": edits, "left": kept_references, "unstaged": unstaged_files.paths })
}
