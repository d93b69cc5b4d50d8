//! Reports the fixes that were made, or would be.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::project_checks::fixed_file::FixedValue;
use crate::gate::project_checks::project_fixes::FixProof;
use crate::job::cli::{FixArgs, OutputFormat};
use crate::session::{Run, response_output};
use serde_json::{Map, Value, json};
use sluicegate_base::text::{self, format_count};
use sluicegate_git::Repository;
use std::fmt::Write as _;

/// Prints the fixes and the findings that are left, as text or as JSON. If files were changed but not staged, prints a
/// note, except outside a repository.
pub(crate) fn print_summary(
    run: &Run,
    repo: &Repository,
    proof: &FixProof,
    args: &FixArgs,
) -> Result<(), Failure> {
    let has_unstaged_files = !args.dry_run && !args.staged && !proof.fixed_files.is_empty();
    if has_unstaged_files && !repo.is_plain_directory() {
        run.ui
            .say("the fixed files are not staged: review them with `git diff`, then run `git add`");
    }
    match args.output.output {
        OutputFormat::Json => run
            .ui
            .print_result(&response_output::format_json(&to_document(proof, args.dry_run))),
        OutputFormat::Text => run.ui.print_result(&render_text(proof, args.dry_run)),
    }
}

/// Returns the exit status of a run with these fixes: that of a failed gate if a fix was rejected.
pub(crate) fn exit_status(proof: &FixProof) -> ExitStatus {
    if proof.rejected_fixes.is_empty() {
        ExitStatus::Success
    } else {
        ExitStatus::GateFailed
    }
}

/// Renders one line for each fixed value, one line for each finding whose fix was rejected, and a summary. The lines of
/// the rejected fixes begin with `left:`.
fn render_text(proof: &FixProof, is_dry_run: bool) -> String {
    let mut text = String::new();
    for file in &proof.fixed_files {
        for FixedValue { fix, .. } in &file.values {
            let line = format!(
                "{}:{}: {} -> {}",
                file.path, fix.position.line, fix.old_value, fix.new_value
            );
            let _ = writeln!(text, "{}", text::escape_line(&line));
        }
    }
    for rejected_fix in &proof.rejected_fixes {
        let fix = &rejected_fix.value.fix;
        let (path, line) = (&rejected_fix.path, fix.position.line);
        let line = format!("left: {path}:{line}: {}: {}", fix.old_value, rejected_fix.reason);
        let _ = writeln!(text, "{}", text::escape_line(&line));
    }
    let fixed_count: usize = proof.fixed_files.iter().map(|file| file.values.len()).sum();
    let left_text = match proof.rejected_fixes.len() {
        0 => String::new(),
        left_count => format!("; {left_count} left"),
    };
    if fixed_count == 0 {
        let summary = if proof.rejected_fixes.is_empty() {
            "no finding has an automatic fix"
        } else {
            "no finding was fixed"
        };
        let _ = writeln!(text, "{summary}{left_text}");
        return text;
    }
    let _ = writeln!(
        text,
        "{} {} in {}{left_text}",
        if is_dry_run { "would fix" } else { "fixed" },
        format_count(fixed_count, "finding"),
        format_count(proof.fixed_files.len(), "file")
    );
    text
}

/// Returns as JSON the fixes, and the findings that could not be fixed.
fn to_document(proof: &FixProof, is_dry_run: bool) -> Value {
    let mut fixed_values = Vec::new();
    for file in &proof.fixed_files {
        for value in &file.values {
            fixed_values.push(Value::Object(to_json_fields(&file.path, value)));
        }
    }
    let mut rejected_values = Vec::new();
    for rejected_fix in &proof.rejected_fixes {
        let mut entry = to_json_fields(&rejected_fix.path, &rejected_fix.value);
        entry.insert("reason".to_owned(), json!(rejected_fix.reason));
        rejected_values.push(Value::Object(entry));
    }
    json!({ "schema": "sluicegate.fix/v1", "dryRun": is_dry_run, "fixed": fixed_values, "left": rejected_values })
}

/// Returns the JSON fields of a finding and of its fix.
fn to_json_fields(path: &str, value: &FixedValue) -> Map<String, Value> {
    let fields = [
        ("path", json!(path)),
        ("line", json!(value.fix.position.line)),
        ("rule", json!(value.rule)),
        ("about", json!(value.about)),
        ("from", json!(value.fix.old_value)),
        ("to", json!(value.fix.new_value)),
    ];
    fields
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}
