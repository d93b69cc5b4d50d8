//! The rules of the team, through the public functions of the package.

#![allow(clippy::too_many_lines, reason = "a test tells its story in one piece")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod rule_conditions;
mod rule_file_problems;
mod rule_limits;

use sluicegate_pipelines::findings::{FileResults, Status};
use sluicegate_pipelines::pipelines::PipelineFiles;
use sluicegate_pipelines::team_rules::TeamRuleSet;

/// A pipeline with one of everything that a rule can be about.
const PIPELINE: &str = "\
type: orchestration
version: '1.0'
pipeline:
  components:
    Start:
      type: start
      transitions:
        unconditional: [Load]
    Load:
      type: run-orchestration
      skipped: true
      transitions:
        failure: [Mail]
      parameters:
        componentName: Load
        orchestrationJob: sales/load
        limit: 12
        nested: { deep: [1, x] }
        setScalarVariables:
          - [region, EU]
    Mail:
      type: python-script
      parameters:
        scriptLocation: File
        fileName: scripts/mail.py
  variables:
    region:
      metadata: { type: TEXT, scope: SHARED, visibility: PUBLIC, description: '' }
      defaultValue: EU
    rows:
      metadata: { type: NUMBER, scope: COPIED, visibility: PRIVATE, description: number of rows }
      defaultValue: 10
";

/// Returns the text of a file with one rule.
fn rule(subject: &str, condition: &str, message: &str) -> String {
    let quote = |text: &str| text.replace('\'', "''");
    format!(
        "rules:\n  - id: r\n    level: error\n    for: {subject}\n    when: '{}'\n    message: '{}'\n",
        quote(condition),
        quote(message)
    )
}

/// Returns the results of the rules of a file on a pipeline.
fn evaluate(file: &str, path: &str, pipeline: &str) -> FileResults {
    let rules = TeamRuleSet::parse(file.as_bytes()).unwrap_or_else(|problems| panic!("{problems:?}"));
    let files = PipelineFiles::new(["sales/load.orch.yaml", "sales/main.orch.yaml"]);
    rules.evaluate(path, &Ok(pipeline.as_bytes().to_vec()), &files)
}

/// Returns the subject and the line of each finding of one rule on the example pipeline.
fn find_subjects(subject: &str, condition: &str) -> Vec<(String, u32)> {
    let results = evaluate(&rule(subject, condition, "m"), "sales/main.orch.yaml", PIPELINE);
    let [result] = results.results.as_slice() else {
        panic!("one result expected: {results:?}")
    };
    assert!(
        matches!(result.status, Status::Passed | Status::Failed(_)),
        "{condition}: {result:?}"
    );
    let violations = result.violations.iter();
    violations
        .map(|violation| {
            let about = violation.about.clone().unwrap_or_default();
            (about, violation.line.unwrap_or_default())
        })
        .collect()
}

/// Returns the reason why the rule could not be evaluated on the example pipeline, with its error type.
fn find_error(subject: &str, condition: &str) -> (String, String) {
    let results = evaluate(&rule(subject, condition, "m"), "sales/main.orch.yaml", PIPELINE);
    let result = &results.results[0];
    let Status::Error(Some(error_type)) = &result.status else {
        panic!("an error expected: {result:?}")
    };
    (error_type.clone(), result.violations[0].text.clone())
}
