//! Checks the files of the rules and prints their problems in the style of compilers.

use crate::error::{Detail, Failure, render_details};
use crate::exit::ExitStatus;
use crate::job::cli::OutputFormat;
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Session};
use crate::workspace::rules_remedy::RulesRemedy;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Value, json};
use sluicegate_base::text::{List, escape_line, format_count, format_path, is_unsafe};
use sluicegate_git::read_disk_file;
use sluicegate_pipelines::pipelines::{RULES_FILE, is_pipeline};
use sluicegate_pipelines::rules::{self, LintProblem};
use sluicegate_pipelines::team_rules::{self, TeamRuleSet};
use sluicegate_yaml::MAX_DOCUMENT_BYTES;
use sluicegate_yaml::{DocumentError, Position};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

/// Maximum number of problems to print; a broken file can have thousands.
const MAX_LISTED_PROBLEMS: usize = 50;

/// The hint for a setting that names a team rules file that does not exist.
const MISSING_TEAM_RULES_HINT: &str =
    "correct the setting, or run `sluicegate rules new ID` to create the file";

/// Maximum number of bytes of a source line to print with a problem.
const MAX_EXCERPT_BYTES: usize = 400;

/// Checks the named file, or without a name the project's rules file and team rules. Prints the problems, and returns
/// whether there are errors as the exit status.
pub(crate) fn lint_rules_files(
    session: &Session,
    file: Option<&Path>,
    output: OutputFormat,
) -> CommandResult {
    let files = match file {
        Some(file) => {
            let (name, bytes) = read_named_file(session, file)?;
            LintedFiles::from_named_file(if team_rules::is_team_rules_file(&bytes) {
                LintedFile::from_team_rules_file(name, bytes)
            } else {
                LintedFile::from_rules_file(name, bytes)
            })
        }
        None => read_project_rules(session)?,
    };
    files.print(session, output)
}

/// The files of one run: the file that the user named, or the rules file of the project and its team rules.
struct LintedFiles {
    /// The named file, which may contain team rules, or the rules file. `None` if the project has only team rules.
    file: Option<LintedFile>,
    team_rules: Option<LintedFile>,
}

impl LintedFiles {
    const fn from_named_file(file: LintedFile) -> Self {
        Self {
            file: Some(file),
            team_rules: None,
        }
    }

    fn iter(&self) -> impl Iterator<Item = &LintedFile> {
        self.file.iter().chain(&self.team_rules)
    }

    /// Prints the problems in the output format. Returns a failure if a file has an error; warnings are a success.
    fn print(&self, session: &Session, output: OutputFormat) -> CommandResult {
        let text = match output {
            OutputFormat::Json => format_json(&self.to_document()),
            OutputFormat::Text => self.iter().map(|file| file.render_text(session)).collect(),
        };
        self.print_as(session, &text)
    }

    /// Prints the problems, which are already rendered as `text`. Returns a failure if a file has an error.
    fn print_as(&self, session: &Session, text: &str) -> CommandResult {
        session.ui.print_result(text)?;
        let descriptions: Vec<String> = self.iter().filter_map(LintedFile::describe_errors).collect();
        if descriptions.is_empty() {
            return Ok(ExitStatus::Success);
        }
        session.annotate_printed_failure(ExitStatus::GateFailed, &descriptions.join("\n"));
        Ok(ExitStatus::GateFailed)
    }

    /// Returns the problems as JSON in the schema `sluicegate.lint/v1`. Those of the project's team rules are in
    /// `teamRules`. Without another file, `file` is null and `problems` is empty.
    fn to_document(&self) -> Value {
        let mut document = json!({
            "schema": "sluicegate.lint/v1",
            "file": self.file.as_ref().map(|file| &file.name),
            "problems": self.file.as_ref().map(LintedFile::problems_to_json).unwrap_or_default(),
        });
        if let Some(file) = &self.team_rules {
            document["teamRules"] = json!({ "file": file.name, "problems": file.problems_to_json() });
        }
        document
    }
}

/// A file of rules with its problems.
pub(crate) struct LintedFile {
    pub(super) name: String,
    bytes: Vec<u8>,
    pub(super) problems: Vec<LintProblem>,
}

impl LintedFile {
    /// Checks the content of a rules file, and keeps it with its problems.
    fn from_rules_file(name: String, bytes: Vec<u8>) -> Self {
        let problems = rules::lint_rules_file(&bytes);
        Self {
            name,
            bytes,
            problems,
        }
    }

    /// Checks the content of a team rules file, and keeps it with its problems.
    pub(crate) fn from_team_rules_file(name: String, bytes: Vec<u8>) -> Self {
        let problems = team_rules::lint_team_rules(&bytes);
        Self {
            name,
            bytes,
            problems,
        }
    }

    /// Adds a warning for each team rule whose `paths` match none of the project's pipelines.
    fn add_unmatched_rules(&mut self, pipeline_paths: &[String]) {
        let rules = TeamRuleSet::parse_valid_rules(&self.bytes);
        for rule in rules.rules() {
            if rule.matches_no_pipeline(pipeline_paths) {
                self.problems.push(LintProblem {
                    position: rule.position,
                    message: format!("`paths` of {} match no pipeline of the project", rule.full_id()),
                    error_type: None,
                    is_error: false,
                    help: Some(
                        "globs match paths from the repository root, for example `sales/**`".to_owned(),
                    ),
                });
            }
        }
    }

    fn render_text(&self, session: &Session) -> String {
        render_problems(session, &LintSource::new(&self.name, &self.bytes), &self.problems)
    }

    /// Describes the errors for a CI host: their number, and a line for each of the first `MAX_LISTED_PROBLEMS`. `None`
    /// if there are no errors.
    fn describe_errors(&self) -> Option<String> {
        let error_count = count_errors(&self.problems);
        if error_count == 0 {
            return None;
        }
        let message = format!("{} in {}:", format_count(error_count, "error"), self.name);
        let mut details = Vec::new();
        let errors = self.problems.iter().filter(|problem| problem.is_error);
        let list = List::with_limit(errors, MAX_LISTED_PROBLEMS).with_noun("error");
        for problem in list.items() {
            let mut line = format!("{}: {}", problem.format_place(&self.name), problem.message);
            if let Some(help) = &problem.help {
                let _ = write!(line, " ({help})");
            }
            details.push(Detail::Entry(line));
        }
        details.extend(list.remark().map(Detail::Entry));
        Some(escape_line(&message) + &render_details(&details))
    }

    fn problems_to_json(&self) -> Vec<Value> {
        self.problems.iter().map(problem_to_json).collect()
    }

    /// Prints the problems as text, and returns the exit status for them.
    pub(super) fn print(self, session: &Session) -> CommandResult {
        let text = self.render_text(session);
        self.print_as(session, &text)
    }

    /// Prints the problems, which are already rendered as `text`, and returns the exit status for them.
    pub(super) fn print_as(self, session: &Session, text: &str) -> CommandResult {
        LintedFiles::from_named_file(self).print_as(session, text)
    }
}

/// Returns one problem of a file as JSON.
fn problem_to_json(problem: &LintProblem) -> Value {
    json!({
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

/// Renders the first `MAX_LISTED_PROBLEMS` problems, each with its source line, and a summary.
fn render_problems(session: &Session, source: &LintSource, problems: &[LintProblem]) -> String {
    let renderer = if session.ui.colors_output() {
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

/// Reads a file that the user named. Returns its name as typed, for the output, and its content.
pub(crate) fn read_named_file(session: &Session, file: &Path) -> Result<(String, Vec<u8>), Failure> {
    session.reject_link_out_of_repository(file)?;
    let name = format_path(file);
    match read_linked_file(&session.env.current_dir().join(file)) {
        Ok(bytes) => Ok((name, bytes)),
        Err(error) => Err(Failure::new(
            ExitStatus::Usage,
            error.context(format!("could not read {name}")),
        )),
    }
}

/// Reads the file, or the target of the path if it is a symbolic link. Fails if the file is larger than a document may
/// be.
fn read_linked_file(path: &Path) -> Result<Vec<u8>, anyhow::Error> {
    let bytes = read_disk_file(&path.canonicalize()?, MAX_DOCUMENT_BYTES)?;
    Ok(bytes.ok_or_else(DocumentError::too_large)?)
}

/// Reads the project's rules file and team rules file, and checks them. Fails if both are missing, if a setting names a
/// team rules file that does not exist, or if the rules file is in another hidden directory than the one that is set.
fn read_project_rules(session: &Session) -> Result<LintedFiles, Failure> {
    let workspace = session.open_workspace()?;
    let snapshot = workspace.read_checkout_snapshot(session)?;
    let team_rules = workspace.read_checkout_team_rules(&snapshot)?;
    if let Some(reason) = workspace.explain_missing_team_rules(&snapshot, &workspace.sources) {
        return Err(Failure::usage(reason).with_hint(MISSING_TEAM_RULES_HINT));
    }
    let rules_file = workspace.find_rules_file(&snapshot)?;
    if rules_file.is_none() {
        let deleted_config_dir = None;
        let remedy = workspace.find_rules_remedy(&snapshot, deleted_config_dir)?;
        // If only the name of the directory is wrong, the team rules are not all rules of the project.
        if team_rules.is_none() || matches!(remedy, RulesRemedy::OtherName { .. }) {
            let message = format!("no rules file `{RULES_FILE}` in the platform's hidden directory");
            return Err(Failure::usage(message).with_hint(remedy.hint()));
        }
    }
    let file = match rules_file {
        Some(file) => {
            let bytes = workspace
                .read_document(&file)?
                .map_err(|error| Failure::new(ExitStatus::Usage, error))?;
            Some(LintedFile::from_rules_file(file.path, bytes))
        }
        None => None,
    };
    let mut team_rules = team_rules.map(|(name, bytes)| LintedFile::from_team_rules_file(name, bytes));
    if let Some(team_file) = &mut team_rules {
        let files = snapshot.list_content_files(&|path| is_pipeline(path))?;
        let pipeline_paths: Vec<String> = files.into_iter().map(|file| file.path).collect();
        // A new project has no pipelines yet.
        if !pipeline_paths.is_empty() {
            team_file.add_unmatched_rules(&pipeline_paths);
        }
    }
    Ok(LintedFiles { file, team_rules })
}

/// The file in printable form: characters that could harm a terminal or CI log are replaced one by one, so that columns
/// stay the same.
struct LintSource {
    name: String,
    lines: Vec<String>,
}

impl LintSource {
    /// Splits the file into printable lines: replaces control characters, and `##`, with which some CI hosts mark
    /// commands in a log.
    fn new(name: &str, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let without_bom = text.strip_prefix('\u{feff}').unwrap_or(&text);
        Self {
            name: escape_line(name),
            lines: without_bom
                .replace("\r\n", "\n")
                .replace("##", "#\u{ff03}")
                .split(['\n', '\r'])
                .map(|line| line.replace(|c: char| is_unsafe(c) && c != '\t', "\u{fffd}"))
                .collect(),
        }
    }

    /// Renders a problem with its source line, in which the value is marked.
    fn render_problem<'s>(&'s self, problem: &LintProblem) -> Group<'s> {
        let position = problem.position;
        let line = self.excerpt_line(position);
        let level = if problem.is_error {
            Level::ERROR
        } else {
            Level::WARNING
        };
        let title = level.primary_title(escape_line(&problem.message));
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
            Some(help) => group.element(Level::HELP.message(escape_line(help))),
            None => group,
        }
    }

    /// Returns the source line at this position, cut to `MAX_EXCERPT_BYTES`. It is empty if the file has no such line.
    fn excerpt_line(&self, position: Position) -> &str {
        let index = (position.line as usize).saturating_sub(1);
        let line = self.lines.get(index).map_or("", String::as_str);
        let end = (0..=MAX_EXCERPT_BYTES.min(line.len()))
            .rev()
            .find(|end| line.is_char_boundary(*end));
        end.and_then(|end| line.get(..end)).unwrap_or(line)
    }
}

/// Returns the byte range of the YAML value that begins at this column, to mark it. A quoted value includes its quotes.
/// The range has at least one character, unless the line ends before this column.
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
