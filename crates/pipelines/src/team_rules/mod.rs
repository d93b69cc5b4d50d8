//! The rules of the team: a file with conditions in the Common Expression Language (CEL).
//!
//! A [`TeamRuleSet`] reads the file once and evaluates any number of pipelines, even from several threads. The crate
//! `cel` parses an expression; its syntax tree is then checked and compiled, so that unknown names and wrong types are
//! errors of the file. The evaluation counts its steps: an expression can neither run long nor use much memory, and a
//! rule that cannot be evaluated yields a result with status ERROR.

mod cel_source;
mod evaluation_failure;
mod example_run;
mod expression_compiler;
mod expression_evaluation;
mod expression_function;
mod expression_node;
mod expression_pattern;
mod expression_problem;
mod expression_type;
mod expression_value;
mod macro_parts;
mod message_template;
mod number_value;
mod operator_type;
mod pipeline_description;
mod pipeline_record;
mod record_field;
mod rule_example_reader;
mod source_location;
mod team_rule;
mod team_rule_documentation;
mod team_rule_set;
mod team_rules_file;
mod team_rules_schema;
#[cfg(test)]
mod tests;
mod value_access;

pub use crate::pipelines::TEAM_RULES_FILE;
pub use example_run::{ExampleFailure, ExampleRun};
pub use pipeline_description::{PIPELINE_SCHEMA, describe_pipeline, pipeline_schema, render_description};
pub use record_field::{FieldType, RecordField, RecordKind, RuleSubject};
pub use team_rule::{RuleExample, TeamRule, is_team_rule_id};
pub use team_rule_documentation::render_new_rule;
pub use team_rule_set::{TeamRuleSet, build_unusable_file_result};
pub use team_rules_file::MAX_TEAM_RULES_BYTES;
pub use team_rules_schema::team_rules_schema;

use crate::rules::LintProblem;
use sluicegate_yaml::{NodeRef, Tree};

/// Returns all problems of a file of team rules, in file order.
pub fn lint_team_rules(bytes: &[u8]) -> Vec<LintProblem> {
    team_rules_file::read_team_rules_file(bytes).problems
}

/// Returns whether a file has team rules and not those of the platform: one of its rules has the key `when` or `for`.
pub fn is_team_rules_file(bytes: &[u8]) -> bool {
    let Ok(tree) = Tree::parse(bytes) else {
        return false;
    };
    let rules = tree.root().get("rules").and_then(NodeRef::items);
    rules
        .into_iter()
        .flatten()
        .any(|rule| rule.get("when").is_some() || rule.get("for").is_some())
}
