//! Describes a rule of the team for `rules explain` and the reports.

use super::team_rule::{RuleExample, TeamRule};
use crate::findings::{DocumentationBlock, Enforcement};
use std::fmt::Write as _;

impl TeamRule {
    /// Returns the message of the rule, in which the placeholders are not replaced.
    pub fn summary(&self) -> String {
        self.message.trim().to_owned()
    }

    /// Returns the instruction for fixing a finding if the rule has no help.
    pub fn default_fix(&self) -> String {
        format!(
            "Change the pipeline so that the condition of `{}` is false.",
            self.full_id()
        )
    }

    /// Describes in one sentence what the rule finds.
    pub fn describe_condition(&self) -> String {
        format!(
            "Finds each {} for which `{}` is true.",
            self.subject,
            self.condition.trim()
        )
    }

    /// Describes to which pipelines the rule applies.
    pub fn describe_paths(&self) -> String {
        let mut text = match self.paths.as_slice() {
            [] => "all pipelines".to_owned(),
            paths => format!("pipelines at {}", quote_globs(paths)),
        };
        if !self.exclude.is_empty() {
            let _ = write!(text, " except {}", quote_globs(&self.exclude));
        }
        text
    }

    /// Returns the documentation of the rule: its message, condition, help and examples.
    pub fn build_blocks(&self) -> Vec<DocumentationBlock> {
        let level = self.level.map_or("off", Enforcement::name);
        let mut blocks = vec![
            DocumentationBlock::Text(self.summary()),
            DocumentationBlock::Text(format!(
                "This is a team rule. It applies to {}. Its level is {level}.",
                self.describe_paths()
            )),
            DocumentationBlock::Heading("What it finds"),
            DocumentationBlock::Text(format!(
                "Each {} for which this expression is true:",
                self.subject
            )),
            DocumentationBlock::Yaml(format!("{}\n", self.condition.trim())),
            DocumentationBlock::Heading("How to fix it"),
            DocumentationBlock::Text(self.help.clone().unwrap_or_else(|| self.default_fix())),
        ];
        blocks.extend(self.example_blocks("What passes", false));
        blocks.extend(self.example_blocks("What fails", true));
        blocks
    }

    /// Returns the heading and the examples with this outcome; empty if the rule has no such examples.
    fn example_blocks(&self, heading: &'static str, is_failing: bool) -> Vec<DocumentationBlock> {
        let examples: Vec<&RuleExample> = self
            .examples
            .iter()
            .filter(|example| example.fails == is_failing)
            .collect();
        if examples.is_empty() {
            return Vec::new();
        }
        let mut blocks = vec![DocumentationBlock::Heading(heading)];
        for example in examples {
            let mut heading = format!("# {}\n", example.path);
            if !example.project.is_empty() {
                let _ = writeln!(heading, "# other pipelines: {}", example.project.join(", "));
            }
            let pipeline = example.pipeline.trim_end();
            blocks.push(DocumentationBlock::Yaml(format!("{heading}{pipeline}\n")));
        }
        blocks
    }
}

fn quote_globs(globs: &[String]) -> String {
    let quoted_globs: Vec<String> = globs.iter().map(|glob| format!("`{glob}`")).collect();
    quoted_globs.join(", ")
}

/// Returns the text of a new rule for the list `rules`, with comments and two examples to edit.
pub fn render_new_rule(id: &str) -> String {
    format!(
        "  - id: {id}
    # error: a finding fails the gate; warn: a finding is only reported; off: the rule is not evaluated
    level: warn
    # The part of a pipeline that the rule is about: pipeline, component, link, variable or call
    for: component
    # Globs of the pipelines that the rule applies to; by default all. `exclude` skips some of them.
    paths: [\"**\"]
    # True means a finding. `sluicegate inspect FILE` shows what an expression sees.
    when: component.type == \"python-script\"
    # The text of the finding
    message: \"`{{component.name}}` is a Python script\"
    # How to fix the finding
    help: Use a SQL component instead.
    # `sluicegate rules test` runs these examples.
    examples:
      fails:
        - path: sales/load.orch.yaml
          pipeline: |
            type: orchestration
            pipeline:
              components:
                Run:
                  type: python-script
      passes:
        - path: sales/load.orch.yaml
          pipeline: |
            type: orchestration
            pipeline:
              components:
                Run:
                  type: sql-executor
"
    )
}
