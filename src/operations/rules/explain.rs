//! Prints the documentation of one rule for a terminal.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::OutputFormat;
use crate::session::output::json;
use crate::session::{CommandResult, Run};
use anstyle::Style;
use serde_json::{Value, json as value};
use sluicegate_base::text::{did_you_mean, did_you_mean_any, nearest, wrap};
use sluicegate_pipelines::findings::DocumentationBlock;
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules;
use std::fmt::Write as _;

/// Minimum number of characters of a part of an id that is suggested.
const MIN_WORD: usize = 3;

/// Width in columns if the output is not a terminal, and the maximum on a terminal: longer lines are hard to read.
const WIDTH: usize = 100;

pub(crate) fn explain(run: &Run, id: &str, output: OutputFormat) -> CommandResult {
    let (document, blocks) = match (rules::find_rule(id), ProjectCheck::find(id)) {
        (Some(rule), _) => (document(rule.documentation()), rule.documentation().blocks()),
        (None, Some(check)) => (document_of(check), check.documentation().blocks()),
        (None, None) => return Err(unknown(id)),
    };
    if output == OutputFormat::Json {
        run.ui.print_result(&json(&document))?;
        return Ok(ExitStatus::Success);
    }
    let heading = if run.ui.colors_output() {
        Style::new().bold()
    } else {
        Style::new()
    };
    let width = run.ui.width().unwrap_or(WIDTH).min(WIDTH);
    let mut page = format!("{heading}{id}{heading:#}\n");
    for block in blocks {
        page.push_str(&shown(&block, heading, width));
    }
    run.ui.print_result(&page)?;
    Ok(ExitStatus::Success)
}

fn unknown(id: &str) -> Failure {
    let failure = Failure::usage(format!("unknown rule `{id}`"));
    let checks = ProjectCheck::ALL.map(ProjectCheck::id);
    if let Some(nearest) = rules::nearest_rule_id(id).or_else(|| nearest(id, &checks)) {
        return failure.hint(did_you_mean(nearest));
    }
    let known = rules::rule_ids().chain(checks);
    let similar: Vec<&str> = known.filter(|known| has_word(known, id)).collect();
    if similar.is_empty() {
        return failure.hint("run `sluicegate rules list` to list all rules");
    }
    failure.hint(did_you_mean_any(&similar))
}

/// Returns whether a word of the id begins with the text, or is its singular.
fn has_word(id: &str, text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let stem = text.strip_suffix('s').unwrap_or(&text);
    stem.len() >= MIN_WORD && id.split('-').any(|word| word.starts_with(stem))
}

/// Returns a project check as JSON, in the same schema.
fn document_of(check: ProjectCheck) -> Value {
    let known = check.documentation();
    value!({
        "schema": "sluicegate.rule/v1",
        "id": check.id(),
        "kinds": [],
        "summary": known.summary,
        "reason": known.reason,
        "help": known.fix,
        "details": known.details,
        "assumed": [],
        "config": [],
        "exampleConfig": "",
        "passes": "",
        "fails": known.fails,
    })
}

/// Returns the rule as JSON: schema `sluicegate.rule/v1`. Examples and configuration are YAML.
fn document(rule: &rules::RuleDocumentation) -> Value {
    let kinds: Vec<&str> = rule.kinds.iter().map(|kind| kind.name()).collect();
    let field = |field: &rules::ConfigField| value!({ "name": field.name, "meaning": field.meaning, "default": field.default });
    let config: Vec<Value> = rule.config.iter().map(field).collect();
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

fn shown(block: &DocumentationBlock, heading: Style, width: usize) -> String {
    let mut shown = String::from("\n");
    match block {
        DocumentationBlock::Heading(text) => {
            let _ = writeln!(shown, "{heading}{text}{heading:#}");
        }
        DocumentationBlock::Text(text) => push_lines(&mut shown, &wrap::lines(text, "  ", "  ", width)),
        DocumentationBlock::Points(points) => {
            for point in points {
                push_lines(&mut shown, &wrap::lines(point, "  - ", "    ", width));
            }
        }
        DocumentationBlock::Yaml(yaml) => {
            for line in yaml.lines() {
                let _ = writeln!(shown, "      {line}");
            }
        }
    }
    shown
}

fn push_lines(shown: &mut String, lines: &[String]) {
    for line in lines {
        let _ = writeln!(shown, "{line}");
    }
}
