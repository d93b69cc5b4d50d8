//! Finds rules by their id.

use super::RULES;
use super::rule::Rule;
use sluicegate_base::text;

/// Returns all rules, in listing order.
pub fn registry() -> &'static [&'static dyn Rule] {
    &RULES
}

/// Returns the rule with this id.
pub fn find_rule(id: &str) -> Option<&'static dyn Rule> {
    RULES.into_iter().find(|rule| rule.documentation().id == id)
}

/// Returns the ids of all rules.
pub fn rule_ids() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.documentation().id)
}

/// Returns the known id that is most similar to `id`, or `None` if no id is similar.
pub fn find_nearest_rule_id(id: &str) -> Option<&'static str> {
    text::find_nearest_word(id, &RULES.map(|rule| rule.documentation().id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{RuleResult, Status};
    use crate::pipelines::{Pipeline, PipelineKind};
    use crate::rules::{self, RuleSet};
    use std::collections::HashSet;

    #[test]
    fn ids_are_unique() {
        let ids: HashSet<_> = registry().iter().map(|rule| rule.documentation().id).collect();
        assert_eq!(ids.len(), registry().len());
    }

    fn results(rule: &dyn Rule, example: &str) -> Vec<RuleResult> {
        let documentation = rule.documentation();
        let config = match documentation.example_config {
            "" => String::new(),
            config => format!(", config: {{ {config} }}"),
        };
        let file = format!(
            "rules: [{{ id: {}, enabled: true, enforcementLevel: error{config} }}]",
            documentation.id
        );
        RuleSet::parse(file.as_bytes())
            .evaluate("x", example.as_bytes())
            .results
    }

    fn status(rule: &dyn Rule, example: &str) -> Status {
        let results = results(rule, example);
        let [result] = results.as_slice() else {
            panic!("one result expected: {results:?}")
        };
        result.status.clone()
    }

    #[test]
    fn documented_examples_have_documented_outcome() {
        for rule in registry() {
            let documentation = rule.documentation();
            let id = documentation.id;
            assert_eq!(
                status(*rule, documentation.passing_example),
                Status::Passed,
                "{id}"
            );
            assert!(
                matches!(status(*rule, documentation.failing_example), Status::Failed(_)),
                "{id}"
            );
            for example in [documentation.passing_example, documentation.failing_example] {
                let pipeline = Pipeline::parse(example.as_bytes()).unwrap();
                assert!(documentation.kinds.contains(&pipeline.kind), "{id}");
            }
        }
    }

    fn example_size(rule: &dyn Rule, example: &str) -> Option<u64> {
        let pipeline = Pipeline::parse(example.as_bytes()).unwrap();
        rules::measure_pipeline(rule.documentation().id, &pipeline)
    }

    #[test]
    fn counting_rule_declares_its_number_and_direction() {
        for rule in registry() {
            let documentation = rule.documentation();
            let id = documentation.id;
            let results = results(*rule, documentation.failing_example);
            let reported: Vec<Option<u64>> = results[0].violations.iter().map(|it| it.size).collect();
            let has_size = reported.iter().any(Option::is_some);
            assert_eq!(rules::is_counting_rule(id), has_size, "{id}");
            let (passing, failing) = (
                example_size(*rule, documentation.passing_example),
                example_size(*rule, documentation.failing_example),
            );
            assert!(reported.iter().all(|size| *size == failing), "{id}: {reported:?}");
            if let (Some(passing), Some(failing)) = (passing, failing) {
                assert!(rules::is_worse_size(id, passing, failing), "{id}");
                assert!(!rules::is_worse_size(id, failing, passing), "{id}");
                assert!(!rules::is_worse_size(id, failing, failing), "{id}");
            }
        }
    }

    #[test]
    fn each_rule_has_complete_documentation() {
        for rule in registry() {
            let documentation = rule.documentation();
            for text in [documentation.summary, documentation.reason] {
                assert!(
                    text.ends_with('.') && text.len() > 25,
                    "{}: {text}",
                    documentation.id
                );
            }
            for text in documentation.details.iter().chain(documentation.assumptions) {
                assert!(text.ends_with('.'), "{}: {text}", documentation.id);
            }
            assert!(!documentation.assumptions.is_empty(), "{}", documentation.id);
            assert!(!documentation.kinds.is_empty());
            assert_eq!(
                documentation.config.is_empty(),
                documentation.example_config.is_empty()
            );
        }
    }

    #[test]
    fn rules_apply_to_documented_kinds() {
        let only = |kind| -> Vec<&str> {
            let rules = registry().iter().map(|rule| rule.documentation());
            rules
                .filter(|rule| rule.kinds == [kind])
                .map(|rule| rule.id)
                .collect()
        };
        assert_eq!(only(PipelineKind::Orchestration), ["start-and-end-components"]);
        assert_eq!(
            only(PipelineKind::Transformation),
            ["maximum-outputs", "end-output-components"]
        );
    }

    #[test]
    fn nearest_rule_id_is_found_for_similar_text() {
        assert_eq!(
            find_nearest_rule_id("maximum-component"),
            Some("maximum-components")
        );
        assert_eq!(
            find_nearest_rule_id("unused_components"),
            Some("unused-components")
        );
        assert_eq!(find_nearest_rule_id("zzz"), None);
    }
}
