//! Prints the documentation of one rule for a terminal.

use super::{open_existing_workspace, read_valid_team_rules, wrap_safely};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::OutputFormat;
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Session};
use anstyle::Style;
use serde_json::{Value, json};
use sluicegate_base::text::{did_you_mean, did_you_mean_any, escape_line, find_nearest_word};
use sluicegate_pipelines::findings::{DocumentationBlock, UNREADABLE_RULE};
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules;
use sluicegate_pipelines::team_rules::{TeamRule, TeamRuleSet};
use std::fmt::Write as _;

/// Minimum number of characters in an unknown id, so that ids with a similar word are suggested.
const MIN_WORD_LENGTH: usize = 3;

/// Width in columns if the output is not a terminal, and the maximum on a terminal: longer lines are hard to read.
const MAX_WIDTH: usize = 100;

/// The description of a problem that prevents an evaluation. Reports show it under an id of its own, like a rule.
struct EvaluationProblem {
    id: &'static str,
    summary: &'static str,
    reason: &'static str,
    fix: &'static str,
}

const EVALUATION_PROBLEMS: [EvaluationProblem; 2] = [
    EvaluationProblem {
        id: UNREADABLE_RULE,
        summary: "A pipeline must be a YAML document with the keys `type` and `pipeline`. No rule can be evaluated on \
                  a pipeline that cannot be read.",
        reason: "Otherwise, an unreadable pipeline would pass the gate without a review.",
        fix: "Fix the file at the line of the finding. A merge conflict often leaves such a file.",
    },
    EvaluationProblem {
        id: rules::RULES_FILE_RULE,
        summary: "The rules file must exist and be a YAML map with the list `rules`. No rule can be evaluated without it.",
        reason: "Otherwise, every pipeline would pass the gate without a review.",
        fix: "Run `sluicegate rules lint` to see each error in the rules file with its location. If there is no rules \
              file, run `sluicegate rules init`.",
    },
];

impl EvaluationProblem {
    fn find_by_id(id: &str) -> Option<&'static Self> {
        EVALUATION_PROBLEMS.iter().find(|problem| problem.id == id)
    }

    fn build_blocks(&self) -> Vec<DocumentationBlock> {
        vec![
            DocumentationBlock::Text(self.summary.to_owned()),
            DocumentationBlock::Heading("Why"),
            DocumentationBlock::Text(self.reason.to_owned()),
            DocumentationBlock::Heading("How to fix it"),
            DocumentationBlock::Text(self.fix.to_owned()),
        ]
    }

    /// Returns the description as JSON. The schema is that of a rule, so keys that do not apply are empty.
    fn to_json(&self) -> Value {
        json!({
            "schema": "sluicegate.rule/v1",
            "id": self.id,
            "kinds": [],
            "summary": self.summary,
            "reason": self.reason,
            "help": self.fix,
            "details": [],
            "assumed": [],
            "config": [],
            "exampleConfig": "",
            "passes": "",
            "fails": "",
        })
    }
}

/// Prints a text page or the JSON document about the rule, project check, problem of an evaluation or team rule with
/// this id. Fails for an unknown id, with a suggestion.
pub(crate) fn explain_rule(session: &Session, id: &str, output: OutputFormat) -> CommandResult {
    let (document, blocks) = if let Some(rule) = rules::find_rule(id) {
        (
            rule_document(rule.documentation()),
            rule.documentation().build_blocks(),
        )
    } else if let Some(check) = ProjectCheck::find_by_id(id) {
        (check_document(check), check.documentation().build_blocks())
    } else if let Some(problem) = EvaluationProblem::find_by_id(id) {
        (problem.to_json(), problem.build_blocks())
    } else {
        // The team rules are last, because only they are read from the checkout.
        let team_rules = read_team_rules(session)?;
        let rule = team_rules
            .find_team_rule(id)
            .ok_or_else(|| unknown_rule_failure(id, &team_rules))?;
        (team_rule_document(rule), rule.build_blocks())
    };
    if output == OutputFormat::Json {
        session.ui.print_result(&format_json(&document))?;
        return Ok(ExitStatus::Success);
    }
    let heading = if session.ui.colors_output() {
        Style::new().bold()
    } else {
        Style::new()
    };
    let width = session.ui.width().unwrap_or(MAX_WIDTH).min(MAX_WIDTH);
    let mut page = format!("{heading}{id}{heading:#}\n");
    for block in blocks {
        page.push_str(&render_block(&block, heading, width));
    }
    session.ui.print_result(&page)?;
    Ok(ExitStatus::Success)
}

/// Reads the team rules of the checkout. Returns none outside a repository.
fn read_team_rules(session: &Session) -> Result<TeamRuleSet, Failure> {
    let Some(workspace) = open_existing_workspace(session)? else {
        return Ok(TeamRuleSet::default());
    };
    let snapshot = workspace.read_checkout_snapshot(session)?;
    read_valid_team_rules(session, &workspace, &snapshot)
}

/// Returns the error for an unknown rule. The hint suggests an id with similar spelling, otherwise ids that contain a
/// word of `id`.
fn unknown_rule_failure(id: &str, team_rules: &TeamRuleSet) -> Failure {
    let failure = Failure::usage(format!("unknown rule `{id}`"));
    let checks = ProjectCheck::ALL.map(ProjectCheck::id);
    let team_ids: Vec<String> = team_rules.rules().iter().map(TeamRule::full_id).collect();
    let other_ids: Vec<&str> = checks
        .into_iter()
        .chain(team_ids.iter().map(String::as_str))
        .collect();
    if let Some(nearest_id) = rules::find_nearest_rule_id(id).or_else(|| find_nearest_word(id, &other_ids)) {
        return failure.with_hint(did_you_mean(nearest_id));
    }
    let mut similar_ids: Vec<&str> = rules::rule_ids().collect();
    similar_ids.extend(&other_ids);
    similar_ids.retain(|known_id| has_similar_word(known_id, id));
    if similar_ids.is_empty() {
        return failure.with_hint("run `sluicegate rules list` to list all rules");
    }
    failure.with_hint(did_you_mean_any(&similar_ids))
}

/// Returns whether a word of the id begins with the text, or with the text without its final `s`. Texts shorter than
/// `MIN_WORD_LENGTH` match nothing.
fn has_similar_word(id: &str, text: &str) -> bool {
    let lowercase_text = text.to_ascii_lowercase();
    let stem = lowercase_text.strip_suffix('s').unwrap_or(&lowercase_text);
    stem.len() >= MIN_WORD_LENGTH && id.split('-').any(|word| word.starts_with(stem))
}

/// Returns the documentation of a project check as JSON. The schema is that of a rule, so keys that do not apply are
/// empty.
fn check_document(check: ProjectCheck) -> Value {
    let documentation = check.documentation();
    json!({
        "schema": "sluicegate.rule/v1",
        "id": check.id(),
        "kinds": [],
        "summary": documentation.summary,
        "reason": documentation.reason,
        "help": documentation.fix,
        "details": documentation.details,
        "assumed": [],
        "config": [],
        "exampleConfig": "",
        "passes": "",
        "fails": documentation.fails,
    })
}

/// Returns the pipeline of the first example that fails if `is_failing` is true, otherwise of the first that passes.
/// Returns an empty text if there is no such example.
fn find_example(rule: &TeamRule, is_failing: bool) -> &str {
    let mut examples = rule.examples.iter();
    examples
        .find(|example| example.fails == is_failing)
        .map_or("", |example| example.pipeline.as_str())
}

/// Returns the documentation of a team rule as JSON: the schema of a rule, extended by the keys of the team rules file.
/// Of several examples, it contains the first that passes and the first that fails.
fn team_rule_document(rule: &TeamRule) -> Value {
    let [passing_example, failing_example] = [false, true].map(|fails| find_example(rule, fails));
    json!({
        "schema": "sluicegate.rule/v1",
        "id": rule.full_id(),
        "kinds": [],
        "summary": rule.summary(),
        "reason": "",
        "help": rule.help.clone().unwrap_or_else(|| rule.default_fix()),
        "details": [rule.describe_condition()],
        "assumed": [],
        "config": [],
        "exampleConfig": "",
        "passes": passing_example,
        "fails": failing_example,
        "level": rule.level_name(),
        "for": rule.subject.name(),
        "paths": rule.paths,
        "exclude": rule.exclude,
        "when": rule.condition,
    })
}

/// Returns the documentation of a rule as JSON in the schema `sluicegate.rule/v1`. The examples and the configuration
/// are YAML texts.
fn rule_document(rule: &rules::RuleDocumentation) -> Value {
    let kinds: Vec<&str> = rule.kinds.iter().map(|kind| kind.name()).collect();
    let config: Vec<Value> = rule
        .config
        .iter()
        .map(|field| json!({ "name": field.name, "meaning": field.meaning, "default": field.default }))
        .collect();
    json!({
        "schema": "sluicegate.rule/v1",
        "id": rule.id,
        "kinds": kinds,
        "summary": rule.summary,
        "reason": rule.reason,
        "help": rule.fix,
        "details": rule.details,
        "assumed": rule.assumptions,
        "config": config,
        "exampleConfig": rule.example_config,
        "passes": rule.passing_example,
        "fails": rule.failing_example,
    })
}

/// Renders a block of the documentation as text that is at most `width` columns wide.
fn render_block(block: &DocumentationBlock, heading: Style, width: usize) -> String {
    let mut text = String::from("\n");
    match block {
        DocumentationBlock::Heading(title) => {
            let _ = writeln!(text, "{heading}{title}{heading:#}");
        }
        DocumentationBlock::Text(paragraph) => {
            push_lines(&mut text, &wrap_safely(paragraph, "  ", "  ", width));
        }
        DocumentationBlock::Points(points) => {
            for point in points {
                push_lines(&mut text, &wrap_safely(point, "  - ", "    ", width));
            }
        }
        DocumentationBlock::Yaml(yaml) => {
            for line in yaml.lines() {
                let _ = writeln!(text, "{}", escape_line(&format!("      {line}")));
            }
        }
    }
    text
}

fn push_lines(text: &mut String, lines: &[String]) {
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
}
