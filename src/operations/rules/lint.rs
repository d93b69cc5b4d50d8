//! Checks the rules file and prints its problems in the style of compilers.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::OutputFormat;
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Run};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Value, json as value};
use sluicegate_base::text::{List, format_count};
use sluicegate_git::read_disk_file;
use sluicegate_pipelines::pipelines::RULES_FILE;
use sluicegate_pipelines::rules::{self, LintProblem};
use sluicegate_pipelines::yaml::MAX_DOCUMENT_BYTES;
use sluicegate_pipelines::yaml::{DocumentError, Position};
use std::ops::Range;
use std::path::Path;

/// Maximum number of problems to print; a broken file can have thousands.
const MAX_LISTED_PROBLEMS: usize = 50;

/// Maximum number of bytes of a source line to print with a problem.
const MAX_EXCERPT_BYTES: usize = 400;

/// Checks a rules file, that of the project or a named one, and prints its problems.
pub(crate) fn lint_rules_file(run: &Run, file: Option<&Path>, output: OutputFormat) -> CommandResult {
    let (name, bytes) = match file {
        Some(file) => read_named_file(run, file)?,
        None => read_project_file(run)?,
    };
    let problems = rules::lint_rules_file(&bytes);
    let text = match output {
        OutputFormat::Json => format_json(&to_document(&name, &problems)),
        OutputFormat::Text => render_text(run, &LintSource::new(&name, &bytes), &problems),
    };
    run.ui.print_result(&text)?;
    Ok(if count_errors(&problems) == 0 {
        ExitStatus::Success
    } else {
        ExitStatus::GateFailed
    })
}

/// Returns the problems as JSON: schema `sluicegate.lint/v1`.
fn to_document(name: &str, problems: &[LintProblem]) -> Value {
    let problems: Vec<Value> = problems.iter().map(problem_to_json).collect();
    value!({ "schema": "sluicegate.lint/v1", "file": name, "problems": problems })
}

/// Returns a problem of the rules file as JSON.
fn problem_to_json(problem: &LintProblem) -> Value {
    value!({
        "line": problem.position.line,
        "column": problem.position.column,
        "level": if problem.is_error { "error" } else { "warning" },
        "errorType": problem.error_type,
        "message": problem.message,
        "help": problem.help,
    })
}

fn count_errors(problems: &[LintProblem]) -> usize {
    problems.iter().filter(|problem| problem.is_error).count()
}

/// Renders the first problems, each with its source line, then the number of errors and warnings.
fn render_text(run: &Run, source: &LintSource, problems: &[LintProblem]) -> String {
    let renderer = if run.ui.colors_output() {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut text = String::new();
    let list = List::with_limit(problems, MAX_LISTED_PROBLEMS).with_noun("problem");
    for problem in list.items() {
        text.push_str(&renderer.render(&[source.render_problem(problem)]));
        text.push_str("\n\n");
    }
    if let Some(remark) = list.remark() {
        text.push_str(&remark);
        text.push('\n');
    }
    let error_count = count_errors(problems);
    text + &describe_counts(&source.name, error_count, problems.len() - error_count)
}

/// Describes how many errors and warnings the file has.
fn describe_counts(name: &str, error_count: usize, warning_count: usize) -> String {
    match (error_count, warning_count) {
        (0, 0) => format!("{name} has no problems\n"),
        (0, _) => format!(
            "{name} is valid, with {}\n",
            format_count(warning_count, "warning")
        ),
        _ => format!(
            "{name}: {}, {}\n",
            format_count(error_count, "error"),
            format_count(warning_count, "warning")
        ),
    }
}

/// Reads the file that the user names. Returns its name for the output, and its content.
fn read_named_file(run: &Run, file: &Path) -> Result<(String, Vec<u8>), Failure> {
    let name = file.display().to_string();
    match read_linked_file(&run.env.current_dir().join(file)) {
        Ok(bytes) => Ok((name, bytes)),
        Err(error) => Err(Failure::new(
            ExitStatus::Usage,
            error.context(format!("could not read {name}")),
        )),
    }
}

/// Reads a file that the user named, which may be a symbolic link.
fn read_linked_file(path: &Path) -> Result<Vec<u8>, anyhow::Error> {
    let bytes = read_disk_file(&path.canonicalize()?, MAX_DOCUMENT_BYTES)?;
    Ok(bytes.ok_or_else(DocumentError::too_large)?)
}

/// Reads the project's rules file. Returns its path and its content.
fn read_project_file(run: &Run) -> Result<(String, Vec<u8>), Failure> {
    let workspace = run.open_workspace()?;
    let snapshot = workspace.checkout_snapshot(run)?;
    let Some(file) = workspace.find_rules_file(&snapshot)? else {
        let message = format!("no rules file `{RULES_FILE}` in the platform's hidden directory");
        return Err(Failure::usage(message).with_hint(workspace.find_rules_remedy(&snapshot, None)?.hint()));
    };
    let bytes = workspace
        .read_document(&file)?
        .map_err(|error| Failure::new(ExitStatus::Usage, error))?;
    Ok((file.path, bytes))
}

/// The file in printable form: characters that could harm a terminal or CI log are replaced one by one, so that columns
/// stay the same.
struct LintSource {
    name: String,
    lines: Vec<String>,
}

impl LintSource {
    /// Splits the file into lines that can be shown, without control characters and commands of CI hosts.
    fn new(name: &str, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let without_bom = text.strip_prefix('\u{feff}').unwrap_or(&text);
        Self {
            name: sluicegate_base::text::escape_line(name),
            lines: without_bom
                .replace("\r\n", "\n")
                .replace("##", "#\u{ff03}")
                .split(['\n', '\r'])
                .map(|line| line.replace(|c: char| c.is_control() && c != '\t', "\u{fffd}"))
                .collect(),
        }
    }

    /// Renders a problem with an excerpt of its line.
    fn render_problem<'s>(&'s self, problem: &LintProblem) -> Group<'s> {
        let position = problem.position;
        let line = self.find_source_line(position);
        let level = if problem.is_error {
            Level::ERROR
        } else {
            Level::WARNING
        };
        let title = level.primary_title(sluicegate_base::text::escape_line(&problem.message));
        let title = match problem.error_type {
            Some(error_type) => title.id(error_type),
            None => title,
        };
        let snippet = Snippet::source(line)
            .line_start(position.line as usize)
            .path(&self.name)
            .annotation(AnnotationKind::Primary.span(value_span(line, position.column as usize)));
        let group = title.element(snippet);
        match &problem.help {
            Some(help) => group.element(Level::HELP.message(sluicegate_base::text::escape_line(help))),
            None => group,
        }
    }

    /// Returns the line at this position, up to a maximum length.
    fn find_source_line(&self, position: Position) -> &str {
        let index = (position.line as usize).saturating_sub(1);
        let line = self.lines.get(index).map_or("", String::as_str);
        let end = (0..=MAX_EXCERPT_BYTES.min(line.len()))
            .rev()
            .find(|end| line.is_char_boundary(*end));
        end.and_then(|end| line.get(..end)).unwrap_or(line)
    }
}

/// Returns the byte range of the value at the column: a quoted text, or up to the end of a plain one.
fn value_span(line: &str, column: usize) -> Range<usize> {
    let begin = line
        .char_indices()
        .nth(column.saturating_sub(1))
        .map_or(line.len(), |(offset, _)| offset);
    let remainder = line.get(begin..).unwrap_or_default();
    let value_length = match remainder.chars().next() {
        Some(quote @ ('"' | '\'')) => remainder
            .get(1..)
            .and_then(|quoted_text| quoted_text.find(quote))
            .map(|length| length + 2),
        _ => [": ", ",", "}", "]", " #"]
            .iter()
            .filter_map(|terminator| remainder.find(terminator))
            .min(),
    };
    let length = value_length
        .unwrap_or(remainder.len())
        .max(remainder.chars().next().map_or(0, char::len_utf8));
    begin..begin + length
}
