//! Evaluates the quality rules locally.
//!
//! The offline check and the local platform's reviews both use this code, so their messages for a commit are identical.
//! A rules file becomes a [`RuleSet`] once; the set evaluates any number of pipelines, also from several threads.
//! Evaluation never fails: a rule that cannot be evaluated yields a result with status ERROR and its reason, because
//! the gate must see it.

mod config;
mod consequences;
mod error;
mod graph;
mod lint;
mod outline;
mod registry;
mod rule;
mod rule_documentation;
mod rule_measure;
mod rule_set;
mod rules_file;
mod subject;

mod component_naming_convention;
mod copied_variables;
mod end_output_components;
mod maximum_components;
mod maximum_outputs;
mod minimum_components;
mod pattern;
mod start_and_end_components;
mod unused_components;

pub use config::Config;
pub use consequences::{Consequence, consequences};
pub use error::EvaluationError;
pub(crate) use graph::Graph;
pub use lint::{LintProblem, lint};
pub use outline::{RuleOutline, outline};
pub use registry::{find, ids, nearest, registry};
pub use rule::{ConfigField, Documentation, Measure, Rule};
pub use rule_documentation::{reference, template};
pub use rule_measure::{counts, got_worse, size};
pub use rule_set::{RULES_FILE_RULE, RuleSet, RuleState, SeePipeline};
pub use subject::Subject;

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
