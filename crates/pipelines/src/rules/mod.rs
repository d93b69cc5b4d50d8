//! Evaluates the quality rules locally.
//!
//! The offline check and the local platform's reviews both use this code, so their messages for a commit are identical.
//! A rules file becomes a [`RuleSet`] once; the set evaluates any number of pipelines, even from several threads.
//! Evaluation never fails: a rule that cannot be evaluated yields a result with status ERROR and its reason, because
//! the gate must see it.

mod component_graph;
mod consequences;
mod error;
mod evaluated_pipeline;
mod lint;
mod registry;
mod rule;
mod rule_config;
mod rule_documentation;
mod rule_measure;
mod rule_outline;
mod rule_set;
mod rules_file;

mod component_naming_convention;
mod copied_variables;
mod end_output_components;
mod maximum_components;
mod maximum_outputs;
mod minimum_components;
mod pattern;
mod start_and_end_components;
mod unused_components;

pub(crate) use component_graph::ComponentGraph;
pub use consequences::{Consequence, LinkConsequences, depends_on_links, find_consequences};
pub use error::{EvaluationError, MissingRulesFile};
pub use evaluated_pipeline::EvaluatedPipeline;
pub use lint::{LintProblem, lint_rules_file};
pub use registry::{find_nearest_rule_id, find_rule, registry, rule_ids};
pub use rule::{ConfigField, Measure, Rule, RuleDocumentation};
pub use rule_config::RuleConfig;
pub use rule_documentation::{render_rules_file_template, render_rules_reference};
pub use rule_measure::{describe_missing_part, is_counting_rule, is_limit, is_worse_size, measure_pipeline};
pub use rule_outline::{RuleOutline, list_rules};
pub use rule_set::{PipelineObserver, RULES_FILE_RULE, RuleSet, RuleState};

/// Every rule, in the order of `rules list`.
static RULES: [&dyn Rule; 8] = [
    &minimum_components::MinimumComponents,
    &maximum_components::MaximumComponents,
    &component_naming_convention::ComponentNamingConvention,
    &unused_components::UnusedComponents,
    &copied_variables::CopiedVariables,
    &start_and_end_components::StartAndEndComponents,
    &maximum_outputs::MaximumOutputs,
    &end_output_components::EndOutputComponents,
];
