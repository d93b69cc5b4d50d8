//! Reports the fixes that were made, or would be.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::project_checks::fixed_file::FixedValue;
use crate::gate::project_checks::project_fixes::FixProof;
use crate::gate::{Cause, RunFindings, UnevaluatedFile, decide_verdict, exit_status};
use crate::job::cli::{FixArgs, OutputFormat};
use crate::session::Session;
use crate::session::response_output::format_json;
use serde_json::{Map, Value, json};
use sluicegate_base::text::{self, List, format_count, format_counts, shorten_name};
use sluicegate_git::Repository;
use sluicegate_pipelines::findings::{FailOn, FileResults, Finding, FindingTotals};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Maximum number of files, and of reasons, in the warning about files that could not be evaluated.
const MAX_LISTED_FILES: usize = 20;

/// The fixes of a run, and the files whose findings are unknown.
pub(crate) struct FixSummary<'f> {
    proof: &'f FixProof,
    unevaluated_files: Vec<UnevaluatedFile>,
    /// The findings that are not fixed.
    remaining_findings: FindingTotals,
    /// The note that no rule applies to any file.
    missing_rules_note: Option<String>,
}

impl<'f> FixSummary<'f> {
    pub(crate) fn new(run_findings: &'f RunFindings) -> Self {
        let findings: Vec<Finding<'_>> = run_findings
            .all_files()
            .flat_map(FileResults::findings)
            .filter(|finding| finding.fix.is_none())
            .collect();
        Self {
            remaining_findings: FindingTotals::from_findings(&findings, None),
            proof: &run_findings.fixes,
            unevaluated_files: run_findings.list_unevaluated_files(),
            missing_rules_note: run_findings.describe_files_without_rules(),
        }
    }

    /// Prints the fixes and the findings that are left, as text or as JSON. Warns of the files that could not be
    /// evaluated, and notes if no rule applies to any file. If files were changed but not staged, prints a note after the
    /// fixes, except outside a repository.
    pub(crate) fn print(&self, session: &Session, repo: &Repository, args: &FixArgs) -> Result<(), Failure> {
        if !self.unevaluated_files.is_empty() {
            session.ui.warn_with_hint(
                &describe_unevaluated_files(&self.unevaluated_files),
                &format!("run `{}` to see what to do", format_check_command(args)),
            );
        }
        if let Some(note) = &self.missing_rules_note {
            session.ui.say(&format!("note: {note}"));
        }
        let text = match args.output.output {
            OutputFormat::Json => format_json(&to_document(self, args.dry_run)),
            OutputFormat::Text => render_text(self, args.dry_run),
        };
        session.ui.print_result(&text)?;
        if let Some(note) = self.describe_remaining_findings(args) {
            session.ui.say(&note);
        }
        let has_unstaged_files = !args.dry_run && !args.staged && !self.proof.fixed_files.is_empty();
        if has_unstaged_files && !repo.is_plain_directory() {
            session
                .ui
                .say("the fixed files are not staged: review them with `git diff`, then run `git add`");
        }
        Ok(())
    }

    /// Returns a note about the errors and warnings that are not fixed, with the command that lists them; `None` if there
    /// are none.
    fn describe_remaining_findings(&self, args: &FixArgs) -> Option<String> {
        let FindingTotals { errors, warnings, .. } = self.remaining_findings;
        let verb = match (args.dry_run, errors + warnings) {
            (_, 0) => return None,
            (true, _) => "would remain",
            (false, 1) => "remains",
            (false, _) => "remain",
        };
        let counts = format_counts(&[(errors, "error"), (warnings, "warning")]);
        Some(format!("{counts} {verb}: run `{}`", format_check_command(args)))
    }

    /// Returns the exit status of the run: that of a failed gate if a fix was rejected, otherwise that of a check in
    /// which no finding but these files decide.
    pub(crate) fn exit_status(&self, fail_on: FailOn) -> ExitStatus {
        let mut causes: Vec<Cause> = self.unevaluated_files.iter().map(|file| file.cause).collect();
        if fail_on == FailOn::Never {
            causes.retain(|cause| *cause != Cause::Finding);
        }
        if !self.proof.rejected_fixes.is_empty() {
            causes.push(Cause::Finding);
        }
        exit_status(decide_verdict(&causes))
    }
}

/// Describes the files that could not be evaluated, grouped by the reason.
fn describe_unevaluated_files(files: &[UnevaluatedFile]) -> String {
    let mut paths_by_reason: BTreeMap<&str, Vec<Cow<'_, str>>> = BTreeMap::new();
    for file in files {
        let paths = paths_by_reason.entry(&file.reason).or_default();
        paths.push(shorten_name(&file.path));
    }
    let mut groups = Vec::new();
    for (reason, paths) in &paths_by_reason {
        let path_list = List::with_limit(paths, MAX_LISTED_FILES);
        groups.push(format!("{path_list}: {reason}"));
    }
    format!(
        "{} could not be evaluated, so {} findings may have no fix: {}",
        format_count(files.len(), "file"),
        if files.len() == 1 { "its" } else { "their" },
        text::escape_line(&List::with_limit(&groups, MAX_LISTED_FILES).join_with_semicolons())
    )
}

/// Formats the command that checks the same files.
fn format_check_command(args: &FixArgs) -> String {
    let mut command = "sluicegate check".to_owned();
    if args.staged {
        command.push_str(" --staged");
    }
    if args.all {
        command.push_str(" --all");
    }
    if let Some(base) = &args.base {
        let _ = write!(command, " {}", text::format_shell_option("--base", base));
    }
    // A path that starts with `-` would be parsed as a flag.
    if args
        .paths
        .iter()
        .any(|path| path.to_string_lossy().starts_with('-'))
    {
        command.push_str(" --");
    }
    for path in &args.paths {
        let _ = write!(command, " {}", text::quote_shell_word(&path.to_string_lossy()));
    }
    command
}

/// Renders one line for each fixed value, one line for each finding whose fix was rejected, and a summary. The lines of
/// the rejected fixes begin with `left:`. The summary counts the files that could not be evaluated.
fn render_text(summary: &FixSummary<'_>, is_dry_run: bool) -> String {
    let proof = summary.proof;
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
    let mut left_text = match proof.rejected_fixes.len() {
        0 => String::new(),
        left_count => format!("; {left_count} left"),
    };
    if !summary.unevaluated_files.is_empty() {
        let file_count = format_count(summary.unevaluated_files.len(), "file");
        let _ = write!(left_text, "; {file_count} not evaluated");
    }
    if fixed_count == 0 {
        let result = if proof.rejected_fixes.is_empty() {
            "no finding has an automatic fix"
        } else {
            "no finding was fixed"
        };
        let _ = writeln!(text, "{result}{left_text}");
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

/// Returns as JSON the fixes, the findings that could not be fixed, and the files that could not be evaluated.
fn to_document(summary: &FixSummary<'_>, is_dry_run: bool) -> Value {
    let proof = summary.proof;
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
    let unevaluated_files = summary.unevaluated_files.iter();
    let unevaluated_values: Vec<Value> = unevaluated_files
        .map(|file| json!({ "path": file.path, "reason": file.reason }))
        .collect();
    json!({
        "schema": "sluicegate.fix/v1",
        "dryRun": is_dry_run,
        "fixed": fixed_values,
        "left": rejected_values,
        "remaining": {
            "errors": summary.remaining_findings.errors,
            "warnings": summary.remaining_findings.warnings,
        },
        "unevaluated": unevaluated_values,
    })
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
