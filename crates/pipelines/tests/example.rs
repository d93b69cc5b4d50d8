//! Runs the example.

#![allow(dead_code, reason = "a test does not call the example's main function")]
#![allow(unreachable_pub, reason = "a test shares the function of the example")]

#[path = "../examples/check_file.rs"]
mod check_file;

const RULES: &str = "rules:\n- { id: maximum-components, enabled: true, enforcementLevel: error, config: { maxComponents: 1 } }\n";
const PIPELINE: &str = "type: orchestration\npipeline:\n  components:\n    Start: { type: start }\n    Done: { type: end-success }\n";

#[test]
fn check_of_large_pipeline_prints_violation_with_line() {
    let lines = check_file::check(RULES.as_bytes(), "a.orch.yaml", PIPELINE.as_bytes());
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("a.orch.yaml:"), "{lines:?}");
    assert!(lines[0].contains(": maximum-components: "), "{lines:?}");
}

#[test]
fn check_of_passing_pipeline_prints_nothing() {
    let rules = RULES.replace("maxComponents: 1", "maxComponents: 2");
    let lines = check_file::check(rules.as_bytes(), "a.orch.yaml", PIPELINE.as_bytes());
    assert!(lines.is_empty(), "{lines:?}");
}
