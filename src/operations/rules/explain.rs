//! Prints the documentation of one rule for a terminal.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::OutputFormat;
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Run};
use anstyle::Style;
use serde_json::{Value, json as value};
use sluicegate_base::text::{did_you_mean, did_you_mean_any, find_nearest, wrap};
use sluicegate_pipelines::findings::DocumentationBlock;
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules;
use std::fmt::Write as _;

/// Minimum number of characters of a part of an id that is suggested.
const MIN_WORD_LENGTH: usize = 3;

/// Width in columns if the output is not a terminal, and the maximum on a terminal: longer lines are hard to read.
const MAX_WIDTH: usize = 100;

/// Prints the documentation of a rule or a project check.
pub(crate) fn explain_rule(run: &Run, id: &str, output: OutputFormat) -> CommandResult {
    let (document, blocks) = match (rules::find_rule(id), ProjectCheck::find(id)) {
        (Some(rule), _) => (rule_document(rule.documentation()), rule.documentation().blocks()),
        (None, Some(check)) => (check_document(check), check.documentation().blocks()),
        (None, None) => return Err(reject_unknown_rule(id)),
    };
    if output == OutputFormat::Json {
        run.ui.print_result(&format_json(&document))?;
        return Ok(ExitStatus::Success);
    }
    let heading = if run.ui.colors_output() {
        Style::new().bold()
    } else {
        Style::new()
    };
    let width = run.ui.width().unwrap_or(MAX_WIDTH).min(MAX_WIDTH);
    let mut page = format!("{heading}{id}{heading:#}\n");
    for block in blocks {
        page.push_str(&render_block(&block, heading, width));
    }
    run.ui.print_result(&page)?;
    Ok(ExitStatus::Success)
}

/// Returns the error that the rule is unknown, with the most similar ones.
fn reject_unknown_rule(id: &str) -> Failure {
    let failure = Failure::usage(format!("unknown rule `{id}`"));
    let checks = ProjectCheck::ALL.map(ProjectCheck::id);
    if let Some(nearest_id) = rules::nearest_rule_id(id).or_else(|| find_nearest(id, &checks)) {
        return failure.with_hint(did_you_mean(nearest_id));
    }
    let known_ids = rules::rule_ids().chain(checks);
    let similar_ids: Vec<&str> = known_ids.filter(|known_id| has_word(known_id, id)).collect();
    if similar_ids.is_empty() {
        return failure.with_hint("run `sluicegate rules list` to list all rules");
    }
    failure.with_hint(did_you_mean_any(&similar_ids))
}

/// Returns whether a word of the id begins with the text, or is its singular.
fn has_word(id: &str, text: &str) -> bool {
    let lowercase_text = text.to_ascii_lowercase();
    let stem = lowercase_text.strip_suffix('s').unwrap_or(&lowercase_text);
    stem.len() >= MIN_WORD_LENGTH && id.split('-').any(|word| word.starts_with(stem))
}

/// Returns a project check as JSON, in the same schema.
fn check_document(check: ProjectCheck) -> Value {
    let documentation = check.documentation();
    value!({
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

/// Returns the rule as JSON: schema `sluicegate.rule/v1`. Examples and configuration are YAML.
fn rule_document(rule: &rules::RuleDocumentation) -> Value {
    let kinds: Vec<&str> = rule.kinds.iter().map(|kind| kind.name()).collect();
    let config: Vec<Value> = rule
        .config
        .iter()
        .map(|field| value!({ "name": field.name, "meaning": field.meaning, "default": field.default }))
        .collect();
    value!({
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

/// Renders a block of the documentation, wrapped to this width.
fn render_block(block: &DocumentationBlock, heading: Style, width: usize) -> String {
    let mut text = String::from("\n");
    match block {
        DocumentationBlock::Heading(title) => {
            let _ = writeln!(text, "{heading}{title}{heading:#}");
        }
        DocumentationBlock::Text(paragraph) => {
            push_lines(&mut text, &wrap::wrap_lines(paragraph, "  ", "  ", width));
        }
        DocumentationBlock::Points(points) => {
            for point in points {
                push_lines(&mut text, &wrap::wrap_lines(point, "  - ", "    ", width));
            }
        }
        DocumentationBlock::Yaml(yaml) => {
            for line in yaml.lines() {
                let _ = writeln!(text, "      {line}");
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
