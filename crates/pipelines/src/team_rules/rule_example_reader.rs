//! Reads the examples of a rule.

use super::team_rule::RuleExample;
use super::team_rules_file::{FileReader, MAX_GLOBS, build_problem};
use crate::rules::LintProblem;
use sluicegate_yaml::NodeRef;

/// Maximum number of examples of a rule.
const MAX_EXAMPLES: usize = 40;

const EXAMPLE_KEYS: [&str; 3] = ["path", "pipeline", "project"];

impl FileReader {
    /// Reads the examples of a rule. Missing examples are a warning, and the result is empty. An error in an example
    /// adds a problem and returns `None`.
    pub(super) fn read_examples(&mut self, item: NodeRef<'_, '_>) -> Option<Vec<RuleExample>> {
        let mut examples = Vec::new();
        let Some(node) = item.get("examples") else {
            self.problems.push(LintProblem {
                is_error: false,
                ..build_problem(
                    item.position(),
                    "the rule has no examples",
                    Some("add `examples` with `fails` and `passes`".to_owned()),
                )
            });
            return Some(examples);
        };
        if !node.is_map() {
            self.add_problem(node, "`examples` is not a map with the keys `fails` and `passes`");
            return None;
        }
        self.check_keys(node, &["fails", "passes"], "`examples`");
        for (key, fails) in [("fails", true), ("passes", false)] {
            let Some(list) = node.get(key) else { continue };
            let Some(items) = list.items() else {
                self.add_problem(list, format!("`{key}` is not a list"));
                return None;
            };
            for item in items {
                examples.push(self.read_example(item, fails)?);
            }
        }
        if examples.len() > MAX_EXAMPLES {
            self.add_problem(node, format!("the rule has more than {MAX_EXAMPLES} examples"));
            return None;
        }
        Some(examples)
    }

    /// Reads one example; `is_failing` is the expected outcome. An error adds a problem and returns `None`.
    fn read_example(&mut self, item: NodeRef<'_, '_>, is_failing: bool) -> Option<RuleExample> {
        if !item.is_map() {
            self.add_problem(
                item,
                "an example is not a map with the keys `path` and `pipeline`",
            );
            return None;
        }
        self.check_keys(item, &EXAMPLE_KEYS, "the example");
        let path = self.read_required_text(item, "path")?;
        let pipeline = self.read_required_text(item, "pipeline")?;
        // The limit for the paths of other pipelines is the same as for the globs of a rule.
        let project = match item.get("project") {
            Some(node) => self.read_texts(node, "project", MAX_GLOBS)?,
            None => Vec::new(),
        };
        Some(RuleExample {
            fails: is_failing,
            path,
            pipeline,
            project,
            position: item.position(),
        })
    }
}
