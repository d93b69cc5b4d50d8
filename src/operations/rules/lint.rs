//! Checks the rules file and prints its problems in the style of compilers.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::OutputFormat;
use crate::session::output::json;
use crate::session::{CommandResult, Run};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Value, json as value};
use sluicegate_base::text::{List, count};
use sluicegate_git::read_on_disk;
use sluicegate_pipelines::pipelines::RULES_FILE;
use sluicegate_pipelines::rules::{self, LintProblem};
use sluicegate_pipelines::yaml::MAX_DOCUMENT_BYTES;
use sluicegate_pipelines::yaml::{DocumentError, Position};
use std::ops::Range;
use std::path::Path;

/// Maximum number of problems to print; a broken file can have thousands.
const SHOWN: usize = 50;

/// Maximum number of bytes of a source line to print with a problem.
const EXCERPT: usize = 400;

pub(crate) fn lint(run: &Run, file: Option<&Path>, output: OutputFormat) -> CommandResult {
    let (name, bytes) = match file {
        Some(file) => named(run, file)?,
        None => found(run)?,
    };
    let problems = rules::lint_rules_file(&bytes);
    let errors = problems.iter().filter(|problem| problem.is_error).count();
    let shown = match output {
        OutputFormat::Json => json(&document(&name, &problems)),
        OutputFormat::Text => in_words(run, (&name, &bytes), &problems, errors),
    };
    run.ui.print_result(&shown)?;
    Ok(if errors == 0 {
        ExitStatus::Success
    } else {
        ExitStatus::GateFailed
    })
}

/// Returns the problems as JSON: schema `sluicegate.lint/v1`.
fn document(name: &str, problems: &[LintProblem]) -> Value {
    let problem = |it: &LintProblem| {
        value!({
            "line": it.position.line,
            "column": it.position.column,
            "level": if it.is_error { "error" } else { "warning" },
            "errorType": it.error_type,
            "message": it.message,
            "help": it.help,
        })
    };
    let problems: Vec<Value> = problems.iter().map(problem).collect();
    value!({ "schema": "sluicegate.lint/v1", "file": name, "problems": problems })
}

fn in_words(run: &Run, (name, bytes): (&str, &[u8]), problems: &[LintProblem], errors: usize) -> String {
    let source = LintSource::new(name, bytes);
    let renderer = if run.ui.colors_output() {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut shown = String::new();
    let list = List::with_limit(problems, SHOWN).of("problem");
    for problem in list.items() {
        shown.push_str(&renderer.render(&[source.group(problem)]));
        shown.push_str("\n\n");
    }
    if let Some(remark) = list.remark() {
        shown.push_str(&remark);
        shown.push('\n');
    }
    shown + &summary(&source.name, errors, problems.len() - errors)
}

fn summary(name: &str, errors: usize, warnings: usize) -> String {
    match (errors, warnings) {
        (0, 0) => format!("{name} has no problems\n"),
        (0, _) => format!("{name} is valid, with {}\n", count(warnings, "warning")),
        _ => format!(
            "{name}: {}, {}\n",
            count(errors, "error"),
            count(warnings, "warning")
        ),
    }
}

fn named(run: &Run, file: &Path) -> Result<(String, Vec<u8>), Failure> {
    let path = run.env.current_dir().join(file);
    let unreadable = |error: anyhow::Error| {
        let what = format!("could not read {}", file.display());
        Failure::new(ExitStatus::Usage, error.context(what))
    };
    let real = path.canonicalize().map_err(|error| unreadable(error.into()))?;
    let bytes = read_on_disk(&real, MAX_DOCUMENT_BYTES).map_err(|error| unreadable(error.into()))?;
    let bytes = bytes.ok_or_else(|| unreadable(DocumentError::too_large().into()))?;
    Ok((file.display().to_string(), bytes))
}

fn found(run: &Run) -> Result<(String, Vec<u8>), Failure> {
    let workspace = run.workspace()?;
    let snapshot = workspace.checkout_files(run)?;
    let Some(file) = workspace.rules_file(&snapshot)? else {
        let message = format!("no rules file `{RULES_FILE}` in the platform's hidden directory");
        return Err(Failure::usage(message).hint(workspace.rules_remedy(&snapshot, None)?.hint()));
    };
    let bytes = workspace
        .read(&file)?
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
    fn new(name: &str, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let text = text.replace("\r\n", "\n").replace("##", "#\u{ff03}");
        let harmless = |c: char| {
            if c.is_control() && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        };
        let lines = text.split(['\n', '\r']);
        Self {
            name: sluicegate_base::text::line(name),
            lines: lines.map(|line| line.chars().map(harmless).collect()).collect(),
        }
    }

    fn group<'s>(&'s self, problem: &LintProblem) -> Group<'s> {
        let at = problem.position;
        let line = self.line(at);
        let level = if problem.is_error {
            Level::ERROR
        } else {
            Level::WARNING
        };
        let title = level.primary_title(sluicegate_base::text::line(&problem.message));
        let title = match problem.error_type {
            Some(error_type) => title.id(error_type),
            None => title,
        };
        let snippet = Snippet::source(line)
            .line_start(at.line as usize)
            .path(&self.name)
            .annotation(AnnotationKind::Primary.span(span(line, at.column as usize)));
        let group = title.element(snippet);
        match &problem.help {
            Some(help) => group.element(Level::HELP.message(sluicegate_base::text::line(help))),
            None => group,
        }
    }

    fn line(&self, at: Position) -> &str {
        let line = self.lines.get((at.line as usize).saturating_sub(1));
        let line = line.map_or("", String::as_str);
        let end = (0..=EXCERPT.min(line.len()))
            .rev()
            .find(|end| line.is_char_boundary(*end));
        end.and_then(|end| line.get(..end)).unwrap_or(line)
    }
}

/// Returns the byte range of the value at the column: a quoted text, or up to the end of a plain one.
fn span(line: &str, column: usize) -> Range<usize> {
    let begin = line
        .char_indices()
        .nth(column.saturating_sub(1))
        .map_or(line.len(), |(at, _)| at);
    let rest = line.get(begin..).unwrap_or_default();
    let length = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => rest.get(1..).and_then(|rest| rest.find(quote)).map(|at| at + 2),
        _ => [": ", ",", "}", "]", " #"]
            .iter()
            .filter_map(|end| rest.find(end))
            .min(),
    };
    let length = length
        .unwrap_or(rest.len())
        .max(rest.chars().next().map_or(0, char::len_utf8));
    begin..begin + length
}
