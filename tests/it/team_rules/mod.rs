//! Rules of the team: their findings, the version in force, and their commands.

mod team_rule_commands;
mod team_rule_findings;
mod team_rule_reports;
mod team_rules_policy;
mod ten_rules;

use crate::support::{RULES_FILE, World};
use serde_json::Value;
use std::fmt::Write as _;

pub const FILE: &str = "sluicegate-rules.yaml";

/// Rules that every good pipeline passes.
const PLATFORM_RULES: &str = "rules:\n  - { id: minimum-components, enabled: true, enforcementLevel: error, config: { minComponents: 1 } }\n";

/// Returns a file with the rule that a Python script is an error in `prod`, at this level.
pub fn python_rule(level: &str) -> String {
    format!(
        "rules:
  - id: no-python
    level: {level}
    for: component
    paths: [\"prod/**\"]
    when: component.type == \"python-script\"
    message: \"`{{component.name}}` is a Python script\"
    help: Use SQL.
    examples:
      fails:
        - path: prod/a.orch.yaml
          pipeline: |
            type: orchestration
            pipeline: {{ components: {{ Run: {{ type: python-script }} }} }}
      passes:
        - path: prod/a.orch.yaml
          pipeline: |
            type: orchestration
            pipeline: {{ components: {{ Run: {{ type: sql-executor }} }} }}
"
    )
}

/// Returns a pipeline with a start and these components, each a Python script.
pub fn python_pipeline(names: &[&str]) -> String {
    let mut text =
        "type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n    Start: { type: start }\n"
            .to_owned();
    for name in names {
        let key = Value::from(*name);
        let _ = write!(text, "    {key}:\n      type: python-script\n");
    }
    text
}

/// Creates a repository whose `main` has these files, and a branch `change` that is checked out.
pub fn world_with_files(files: &[(&str, &str)]) -> World {
    let world = World::new().with_file(RULES_FILE, PLATFORM_RULES);
    for (path, text) in files {
        world.write(path, text);
    }
    world.commit("first");
    world.push();
    world.git("remote set-head origin main");
    world.git("checkout -q -b change");
    world
}

/// Commits these files on the branch, and pushes it.
pub fn commit_files(world: &World, files: &[(&str, &str)]) {
    for (path, text) in files {
        world.write(path, text);
    }
    world.commit("change");
    world.push();
}

/// Returns rule, status, state and message of each finding of team rules.
pub fn list_team_findings(report: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for file in report["files"].as_array().unwrap() {
        let results = file["results"].as_array().unwrap().iter();
        for result in results.filter(|result| result["origin"] == "team" && result["status"] != "PASSED") {
            let findings = result["findings"].as_array().unwrap().iter();
            for finding in findings.filter(|finding| finding["message"].is_string()) {
                lines.push(format!(
                    "{} {} {} {}:{} {}",
                    result["rule"].as_str().unwrap(),
                    result["status"].as_str().unwrap(),
                    finding["state"].as_str().unwrap_or("-"),
                    file["path"].as_str().unwrap(),
                    finding["line"],
                    finding["message"].as_str().unwrap()
                ));
            }
        }
    }
    lines
}
