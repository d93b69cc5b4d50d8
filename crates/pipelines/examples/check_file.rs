//! Checks one pipeline against a rules file and prints each violation.
//!
//! usage: check_file RULES_FILE PIPELINE

use sluicegate_pipelines::findings::Status;
use sluicegate_pipelines::rules::RuleSet;
use std::io::{self, Write as _};
use std::{env, fs};

fn main() -> io::Result<()> {
    let mut args = env::args().skip(1);
    let (Some(rules), Some(pipeline)) = (args.next(), args.next()) else {
        return writeln!(io::stderr(), "usage: check_file RULES_FILE PIPELINE");
    };
    for line in check(&fs::read(rules)?, &pipeline, &fs::read(&pipeline)?) {
        writeln!(io::stdout(), "{line}")?;
    }
    Ok(())
}

/// Returns a line for each violation, and for each rule that could not be evaluated.
fn check(rules: &[u8], path: &str, pipeline: &[u8]) -> Vec<String> {
    let results = RuleSet::parse(rules).evaluate(path, pipeline).results;
    let mut lines = Vec::new();
    for result in results {
        if let Status::Error(reason) = &result.status {
            let reason = reason.as_deref().unwrap_or("no reason");
            lines.push(format!("{path}: {}: not evaluated: {reason}", result.rule));
        }
        for violation in &result.violations {
            let line = violation.line.unwrap_or_else(|| result.line());
            lines.push(format!("{path}:{line}: {}: {}", result.rule, violation.text));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::check;

    const RULES: &str = "rules:\n- { id: maximum-components, enabled: true, enforcementLevel: error, config: { maxComponents: 1 } }\n";
    const PIPELINE: &str = "type: orchestration\npipeline:\n  components:\n    Start: { type: start }\n    Done: { type: end-success }\n";

    #[test]
    fn check_of_large_pipeline_prints_violation_with_line() {
        let lines = check(RULES.as_bytes(), "a.orch.yaml", PIPELINE.as_bytes());
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with("a.orch.yaml:"), "{lines:?}");
        assert!(lines[0].contains(": maximum-components: "), "{lines:?}");
    }

    #[test]
    fn check_of_passing_pipeline_prints_nothing() {
        let rules = RULES.replace("maxComponents: 1", "maxComponents: 2");
        let lines = check(rules.as_bytes(), "a.orch.yaml", PIPELINE.as_bytes());
        assert!(lines.is_empty(), "{lines:?}");
    }
}
