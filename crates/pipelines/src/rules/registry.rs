//! Finds rules by their id.

use super::RULES;
use super::rule::Rule;
use sluicegate_base::text;

/// Returns all rules, in listing order.
pub fn registry() -> &'static [&'static dyn Rule] {
    &RULES
}

pub fn find(id: &str) -> Option<&'static dyn Rule> {
    RULES.into_iter().find(|rule| rule.documentation().id == id)
}

/// Returns the ids of all rules.
pub fn ids() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.documentation().id)
}

/// Returns the known id that is most similar to `id`, or `None` if no id is similar.
pub fn nearest(id: &str) -> Option<&'static str> {
    text::find_nearest(id, &RULES.map(|rule| rule.documentation().id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{RuleResult, Status};
    use crate::pipelines::{Kind, Pipeline};
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
    fn examples_are_true() {
        for rule in registry() {
            let documentation = rule.documentation();
            let id = documentation.id;
            assert_eq!(status(*rule, documentation.passes), Status::Passed, "{id}");
            assert!(
                matches!(status(*rule, documentation.fails), Status::Failed(_)),
                "{id}"
            );
            for example in [documentation.passes, documentation.fails] {
                let pipeline = Pipeline::parse(example.as_bytes()).unwrap();
                assert!(documentation.kinds.contains(&pipeline.kind), "{id}");
            }
        }
    }

    fn example_size(rule: &dyn Rule, example: &str) -> Option<u64> {
        let pipeline = Pipeline::parse(example.as_bytes()).unwrap();
        rules::size(rule.documentation().id, &pipeline)
    }

    #[test]
    fn counting_rule_declares_its_number_and_direction() {
        for rule in registry() {
            let documentation = rule.documentation();
            let id = documentation.id;
            let results = results(*rule, documentation.fails);
            let reported: Vec<Option<u64>> = results[0].violations.iter().map(|it| it.size).collect();
            let has_limit = documentation
                .config
                .iter()
                .any(|field| field.meaning.contains("number of"));
            assert_eq!(rules::counts(id), has_limit, "{id}");
            let (passing, failing) = (
                example_size(*rule, documentation.passes),
                example_size(*rule, documentation.fails),
            );
            assert!(reported.iter().all(|size| *size == failing), "{id}: {reported:?}");
            if let (Some(passing), Some(failing)) = (passing, failing) {
                assert!(rules::got_worse(id, passing, failing), "{id}");
                assert!(!rules::got_worse(id, failing, passing), "{id}");
                assert!(!rules::got_worse(id, failing, failing), "{id}");
            }
        }
    }

    #[test]
    fn every_rule_says_what_why_and_how() {
        for rule in registry() {
            let documentation = rule.documentation();
            for text in [documentation.summary, documentation.reason] {
                assert!(
                    text.ends_with('.') && text.len() > 25,
                    "{}: {text}",
                    documentation.id
                );
            }
            for text in documentation.details.iter().chain(documentation.assumed) {
                assert!(text.ends_with('.'), "{}: {text}", documentation.id);
            }
            assert!(!documentation.assumed.is_empty(), "{}", documentation.id);
            assert!(!documentation.kinds.is_empty());
            assert_eq!(
                documentation.config.is_empty(),
                documentation.example_config.is_empty()
            );
        }
    }

    #[test]
    fn rules_apply_to_kinds_that_platform_says() {
        let only = |kind| -> Vec<&str> {
            let rules = registry().iter().map(|rule| rule.documentation());
            rules
                .filter(|rule| rule.kinds == [kind])
                .map(|rule| rule.id)
                .collect()
        };
        assert_eq!(only(Kind::Orchestration), ["start-and-end-components"]);
        assert_eq!(
            only(Kind::Transformation),
            ["maximum-outputs", "end-output-components"]
        );
    }

    #[test]
    fn nearest_id_is_found_where_there_is_one() {
        assert_eq!(nearest("maximum-component"), Some("maximum-components"));
        assert_eq!(nearest("unused_components"), Some("unused-components"));
        assert_eq!(nearest("zzz"), None);
    }
}
