//! Any bytes as a rules file: evaluated, and what cannot be evaluated is told by the lint.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluicegate_pipelines::findings::Status;
use sluicegate_pipelines::rules::{RuleSet, lint_rules_file};

const PIPELINE: &[u8] = b"type: orchestration\npipeline:\n  components:\n    S: {type: start}\n";

fuzz_target!(|bytes: &[u8]| {
    let results = RuleSet::parse(bytes).evaluate("x.orch.yaml", PIPELINE).results;
    let is_broken = results.iter().any(|result| matches!(result.status, Status::Error(_)));
    let problems = lint_rules_file(bytes);
    assert!(!is_broken || problems.iter().any(|problem| problem.is_error));
});
