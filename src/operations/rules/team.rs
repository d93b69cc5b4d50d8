//! Creates team rules, and runs their examples.

use super::lint::{LintedFile, read_named_file};
use crate::atomic_file;
use crate::error::{Detail, Failure, render_details};
use crate::exit::ExitStatus;
use crate::job::cli::OutputFormat;
use crate::session::response_output::format_json;
use crate::session::user_file::read_text_or_empty;
use crate::session::{CommandResult, Session};
use crate::workspace::Workspace;
use crate::workspace::omitted_file::reject_omitted_file;
use crate::workspace::team_rules::missing_file_failure;
use serde_json::{Value, json};
use sluicegate_base::text::{List, escape_line, format_count, format_path, format_shell_option};
use sluicegate_pipelines::rules;
use sluicegate_pipelines::team_rules::{
    ExampleFailure, ExampleRun, MAX_TEAM_RULES_BYTES, TeamRuleSet, render_new_rule,
};
use sluicegate_yaml::{Tree, is_blank, remove_empty_brackets};
use std::fmt::Write as _;
use std::path::Path;

/// Maximum number of failed examples in an annotation.
const MAX_ANNOTATED_EXAMPLES: usize = 50;

/// The schema of the result of the examples.
const SCHEMA: &str = "sluicegate.rules-test/v1";

/// The beginning of a new file.
const FILE_HEADING: &str = "# Rules of the team. To test them, run: sluicegate rules test
# In CI, the version of the target branch applies: a new rule takes effect after its merge.
rules:
";

/// Runs the examples of the team rules, and prints those with an unexpected outcome. If the file has errors, prints
/// them instead; in JSON, they are the failures.
pub(crate) fn test_rules(session: &Session, file: Option<&Path>, output: OutputFormat) -> CommandResult {
    let (name, bytes) = match file {
        Some(file) => read_named_file(session, file)?,
        None => read_project_team_rules(session)?,
    };
    let Ok(rule_set) = TeamRuleSet::parse(&bytes) else {
        let linted_file = LintedFile::from_team_rules_file(name, bytes);
        return match output {
            OutputFormat::Text => linted_file.print(session),
            OutputFormat::Json => {
                let text = format_json(&to_unusable_document(&linted_file));
                linted_file.print_as(session, &text)
            }
        };
    };
    let example_run = rule_set.run_examples();
    let text = match output {
        OutputFormat::Json => format_json(&to_document(&name, &rule_set, &example_run)),
        OutputFormat::Text => render_text(&name, &rule_set, &example_run),
    };
    session.ui.print_result(&text)?;
    if example_run.failures.is_empty() {
        return Ok(ExitStatus::Success);
    }
    session.annotate_printed_failure(ExitStatus::GateFailed, &describe_failures(&name, &example_run));
    Ok(ExitStatus::GateFailed)
}

/// Reads the team rules file of the checkout. Returns its path and its content; fails if it does not exist or if team
/// rules are turned off.
fn read_project_team_rules(session: &Session) -> Result<(String, Vec<u8>), Failure> {
    let workspace = session.open_workspace()?;
    let Some(path) = workspace.team_rules_path.as_deref() else {
        return Err(disabled_team_rules_failure());
    };
    let snapshot = workspace.read_checkout_snapshot(session)?;
    workspace.read_checkout_team_rules(&snapshot)?.ok_or_else(|| {
        let hint = match workspace.list_misnamed_files(path).first() {
            Some(misnamed_file) => format!("rename {misnamed_file} to {path}"),
            None => "run `sluicegate rules new ID` to create the file".to_owned(),
        };
        Failure::usage(format!("the team rules file {path} does not exist")).with_hint(hint)
    })
}

/// Returns the error that this command needs the team rules, which are turned off.
fn disabled_team_rules_failure() -> Failure {
    Failure::usage("team rules are turned off by the setting `review.team-rules`")
}

/// Returns the result of the examples as JSON in the schema `sluicegate.rules-test/v1`.
fn to_document(name: &str, rule_set: &TeamRuleSet, example_run: &ExampleRun) -> Value {
    let failures: Vec<Value> = example_run.failures.iter().map(failure_to_json).collect();
    json!({
        "schema": SCHEMA,
        "file": name,
        "rules": rule_set.rules().len(),
        "examples": example_run.example_count,
        "failures": failures,
    })
}

/// Returns the errors of an unusable file as JSON in the schema `sluicegate.rules-test/v1`: no example was run, and each
/// error is a failure without an example.
fn to_unusable_document(file: &LintedFile) -> Value {
    let errors = file.problems.iter().filter(|problem| problem.is_error);
    let failures: Vec<Value> = errors
        .map(|error| {
            json!({ "rule": null, "line": error.position.line, "path": null, "reason": error.message })
        })
        .collect();
    json!({ "schema": SCHEMA, "file": file.name, "rules": 0, "examples": 0, "failures": failures })
}

/// Returns an example with an unexpected outcome as JSON.
fn failure_to_json(failure: &ExampleFailure) -> Value {
    json!({
        "rule": failure.rule,
        "line": failure.line,
        "path": failure.path,
        "reason": failure.reason,
    })
}

/// Describes a failed example with its place in the file `name`, in one line.
fn describe_failure(name: &str, failure: &ExampleFailure) -> String {
    format!(
        "{name}:{}: {}: {}: {}",
        failure.line, failure.rule, failure.path, failure.reason
    )
}

/// Describes the failed examples for a CI host: their number, and a line for each of the first ones.
fn describe_failures(name: &str, example_run: &ExampleRun) -> String {
    let failed_count = format_count(example_run.failures.len(), "example");
    let list = List::with_limit(&example_run.failures, MAX_ANNOTATED_EXAMPLES).with_noun("example");
    let details: Vec<Detail> = list
        .items()
        .iter()
        .map(|failure| describe_failure(name, failure))
        .chain(list.remark())
        .map(Detail::Entry)
        .collect();
    format!(
        "{failed_count} of the team rules failed:{}",
        render_details(&details)
    )
}

/// Renders one line for each failed example, then a summary.
fn render_text(name: &str, rule_set: &TeamRuleSet, example_run: &ExampleRun) -> String {
    let mut text = String::new();
    for failure in &example_run.failures {
        let _ = writeln!(text, "{}", escape_line(&describe_failure(name, failure)));
    }
    let example_count = format_count(example_run.example_count, "example");
    let rule_count = format_count(rule_set.rules().len(), "rule");
    let outcome = match example_run.failures.len() {
        0 => "passed".to_owned(),
        failure_count => format!("{} failed", format_count(failure_count, "example")),
    };
    let _ = writeln!(
        text,
        "{}",
        escape_line(&format!("{name}: {example_count} of {rule_count}: {outcome}"))
    );
    text
}

/// Adds a new rule, with comments and examples to edit, to the team rules file of the checkout. Creates the file if it
/// does not exist.
pub(crate) fn create_rule(session: &Session, id: &str, output: OutputFormat) -> CommandResult {
    // Held until the file is written.
    let _lock = session.lock_checkout()?;
    let workspace = session.open_workspace()?;
    let Some(path) = workspace.team_rules_path.clone() else {
        return Err(disabled_team_rules_failure());
    };
    let full_path = workspace.repo.root().join(&path);
    reject_omitted_file(&workspace.repo, &path)?;
    session.reject_linked_paths(&workspace.repo, std::iter::once(full_path.as_path()))?;
    let old_text = read_text_or_empty(&full_path, MAX_TEAM_RULES_BYTES)?;
    let new_text = append_rule(&old_text, id, &path)?;
    if let Some(directory) = full_path.parent() {
        std::fs::create_dir_all(directory).map_err(|error| {
            Failure::usage(format!("could not create {}: {error}", format_path(directory)))
        })?;
    }
    atomic_file::replace_file(&full_path, old_text.as_bytes(), new_text.as_bytes())
        .map_err(|error| Failure::usage(format!("could not write {path}: {error}")))?;
    session.ui.print_result(&match output {
        OutputFormat::Json => format_json(
            &json!({ "schema": "sluicegate.rules-new/v1", "path": path, "rule": format!("team/{id}") }),
        ),
        OutputFormat::Text => {
            let option = match &session.global.team_rules {
                Some(path) => format!(" {}", format_shell_option("--team-rules", path)),
                None => String::new(),
            };
            let message =
                format!("added the rule `{id}` to {path}; to test it, run: sluicegate rules test{option}");
            escape_line(&message) + "\n"
        }
    })?;
    Ok(ExitStatus::Success)
}

/// Returns the text of the team rules file with a new rule appended, with the line ends of the file. The list `rules`
/// of the file may be indented or not, so the rule is tried in both forms. The brackets of an empty list are removed.
/// Fails unless one of the forms gives a valid file with exactly one rule more.
fn append_rule(old_text: &str, id: &str, path: &str) -> Result<String, Failure> {
    let old_rules = TeamRuleSet::parse(old_text.as_bytes())
        .map_err(|_| Failure::usage(format!("{path} has errors")).with_hint("run `sluicegate rules lint`"))?;
    let entry = render_new_rule(id);
    reject_unusable_id(&old_rules, id, path, &entry)?;
    let heading = if is_blank(old_text.as_bytes()) {
        FILE_HEADING
    } else {
        ""
    };
    let text_without_brackets = if old_rules.rules().is_empty() {
        remove_brackets_of_rules(old_text)
    } else {
        None
    };
    let base_text = text_without_brackets.as_deref().unwrap_or(old_text);
    let newline = if old_text.contains("\r\n") { "\r\n" } else { "\n" };
    let line_end = if base_text.is_empty() || base_text.ends_with('\n') {
        ""
    } else {
        newline
    };
    let unindented_entry: String = entry
        .split_inclusive('\n')
        .map(|line| line.strip_prefix("  ").unwrap_or(line))
        .collect();
    // In the wrong form, the file does not parse, or the new rule becomes a part of another value.
    for entry in [entry, unindented_entry] {
        let added_text = format!("{heading}{entry}").replace('\n', newline);
        let new_text = format!("{base_text}{line_end}{added_text}");
        let has_new_rule = TeamRuleSet::parse(new_text.as_bytes()).is_ok_and(|new_rules| {
            new_rules.rules().len() == old_rules.rules().len() + 1 && new_rules.find_team_rule(id).is_some()
        });
        if has_new_rule {
            return Ok(new_text);
        }
    }
    let message = format!("could not add a rule to {path}: the list `rules` is not at the end of the file");
    Err(Failure::usage(message)
        .with_hint("move `rules` to the end of the file, and write each rule on its own lines"))
}

/// Returns the file without the brackets of its empty list `rules`, or `None` if the list is not written in brackets.
fn remove_brackets_of_rules(text: &str) -> Option<String> {
    let tree = Tree::parse(text.as_bytes()).ok()?;
    remove_empty_brackets(text, tree.root().get("rules")?.position())
}

/// Fails if a team rule or a platform rule already has this id, or if the id is not valid. `entry` is the text of the
/// new rule: a file with only this rule is invalid if its id is invalid.
fn reject_unusable_id(old_rules: &TeamRuleSet, id: &str, path: &str, entry: &str) -> Result<(), Failure> {
    if old_rules.find_team_rule(id).is_some() {
        return Err(Failure::usage(format!("{path} already has a rule `{id}`")));
    }
    if rules::find_rule(id).is_some() {
        let message = format!("`{id}` is the id of a platform rule");
        return Err(Failure::usage(message).with_hint("use another id"));
    }
    if TeamRuleSet::parse(format!("rules:\n{entry}").as_bytes()).is_err() {
        let message = format!("`{id}` is not a valid rule id");
        return Err(Failure::usage(message)
            .with_hint("use lowercase letters, digits and hyphens, as in no-python-in-production"));
    }
    Ok(())
}

impl Workspace<'_> {
    /// Reads the team rules file of the snapshot, and returns its path and content. `None` if it is missing or team
    /// rules are turned off. Fails if a file that the job names is missing.
    pub(crate) fn read_checkout_team_rules(
        &self,
        snapshot: &sluicegate_git::Snapshot<'_>,
    ) -> Result<Option<(String, Vec<u8>)>, Failure> {
        use crate::job::policy::GateFileVersion;
        let Some(path) = &self.team_rules_path else {
            return Ok(None);
        };
        let version =
            crate::job::policy::read_gate_file_version(&self.repo, snapshot, path, MAX_TEAM_RULES_BYTES)?;
        match version {
            GateFileVersion::Missing if self.has_team_rules_of_job => Err(missing_file_failure(path, None)),
            GateFileVersion::Missing => Ok(None),
            GateFileVersion::Text(bytes) => Ok(Some((path.clone(), bytes))),
            GateFileVersion::Unreadable(reason) => {
                Err(Failure::usage(format!("could not read {path}: {reason}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_rule_is_added_in_the_indentation_of_the_file() {
        let first = append_rule("", "first", "f").unwrap();
        assert!(first.starts_with(FILE_HEADING), "{first}");
        let after_comment = append_rule("# team rules\n", "first", "f").unwrap();
        assert!(
            after_comment.starts_with(&format!("# team rules\n{FILE_HEADING}")),
            "{after_comment}"
        );
        let second = append_rule(&first, "second", "f").unwrap();
        assert!(second.starts_with(&first), "{second}");
        let flush = "rules:\n- { id: a, level: warn, for: pipeline, when: 'true', message: m }";
        let extended = append_rule(flush, "second", "f").unwrap();
        assert!(extended.contains("\n- id: second\n  # error"), "{extended}");
    }

    #[test]
    fn first_rule_replaces_empty_brackets() {
        for (old_text, beginning) in [
            (
                "# rules: [] none\nrules: [] # yet\n",
                "# rules: [] none\nrules: # yet\n",
            ),
            ("rules:  [ ]\n", "rules:\n"),
            ("\"rules\": []", "\"rules\":\n"),
            ("rules:\n  []\n", "rules:\n"),
        ] {
            let text = append_rule(old_text, "first", "f").unwrap();
            assert!(text.starts_with(&format!("{beginning}  - id: first\n")), "{text}");
        }
    }

    #[test]
    fn new_rule_has_line_ends_of_file() {
        let first = append_rule("", "first", "f").unwrap().replace('\n', "\r\n");
        let second = append_rule(&first, "second", "f").unwrap();
        assert!(second.contains("\r\n  - id: second\r\n"), "{second}");
        assert_eq!(second.matches('\n').count(), second.matches("\r\n").count());
    }

    #[test]
    fn rule_is_refused_if_the_file_would_not_have_it() {
        let flow = "rules: [{ id: a, level: warn, for: pipeline, when: 'true', message: m }]\n";
        for (text, id) in [
            (flow, "second"),
            (flow, "a"),
            ("", "Not Valid"),
            ("", "unused-components"),
            ("rules: 5", "x"),
        ] {
            assert!(append_rule(text, id, "f").is_err(), "{text} {id}");
        }
    }
}
