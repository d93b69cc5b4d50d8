//! Properties: no input panics, and the graph algorithms agree with a simple definition.

use crate::support::{ALL_RULES, one_rule, single_result};
use proptest::collection::vec;
use proptest::prelude::*;
use sluicegate_pipelines::findings::RuleResult;
use sluicegate_pipelines::pipelines::{Pipeline, SharedPipelines};
use sluicegate_pipelines::rules::RuleSet;
use std::collections::HashSet;
use std::fmt::Write as _;

/// Pieces of YAML and of pipelines that are combined at random.
const PIECES: [&str; 44] = [
    "type: orchestration\n",
    "type: transformation\n",
    "pipeline:\n",
    "  components:\n",
    "    A:\n",
    "    B: ",
    "      type: start\n",
    "      transitions:\n",
    "        success:\n",
    "        - A\n",
    "  variables:\n",
    "design:\n",
    "rules:\n",
    "- id: unused-components\n",
    "  enabled: true\n",
    "pipelines:\n",
    "? ",
    ": ",
    "- ",
    "&a ",
    "*a",
    "{",
    "}",
    "[",
    "]",
    ",",
    "|\n",
    ">-\n",
    "\"",
    "'",
    "\\",
    "#",
    "---\n",
    "...\n",
    "!!str ",
    "!",
    "\t",
    "\r\n",
    "\u{feff}",
    "~",
    "<<: ",
    "\n  ",
    "\n",
    "é",
];

fn every_reader(bytes: &[u8]) {
    let rules = RuleSet::parse(ALL_RULES.as_bytes());
    let _ = rules.evaluate("x.tran.yaml", bytes);
    let _ = RuleSet::parse(bytes).evaluate("x.orch.yaml", bytes);
    let _ = SharedPipelines::parse(bytes);
    if let Ok(pipeline) = Pipeline::parse(bytes) {
        let _ = pipeline.list_references();
        let text = String::from_utf8_lossy(bytes);
        let line = pipeline
            .build_subject_index()
            .find_subject(&text)
            .map(|named| named.line);
        let lines = u32::try_from(text.lines().count()).unwrap();
        assert!(line.is_none_or(|line| (1..=lines).contains(&line)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn evaluation_of_any_bytes_never_panics(bytes in vec(any::<u8>(), 0..200)) {
        every_reader(&bytes);
    }

    #[test]
    fn evaluation_of_any_text_never_panics(text in "\\PC{0,100}") {
        every_reader(text.as_bytes());
    }

    #[test]
    fn evaluation_of_random_yaml_never_panics(pieces in vec(prop::sample::select(&PIECES[..]), 0..40)) {
        every_reader(pieces.concat().as_bytes());
    }

    #[test]
    fn quoted_names_are_found_and_search_never_panics(names in prop::collection::hash_set("\\PC{1,8}", 1..8), around in "\\PC{0,20}") {
        let mut document = "type: orchestration\npipeline:\n  components:\n".to_owned();
        for name in &names {
            writeln!(document, "    {}:", serde_json::to_string(name).unwrap()).unwrap();
        }
        // Documents that are not YAML, even with quoted names, are not of interest here.
        let Ok(pipeline) = Pipeline::parse(document.as_bytes()) else { return Ok(()) };
        let subjects = pipeline.build_subject_index();
        let _ = subjects.find_subject(&around).map(|named| named.line);
        for component in &pipeline.components {
            prop_assert_eq!(subjects.find_subject(&format!("component \"{}\"", component.name)).map(|named| named.line), Some(component.position.line));
        }
    }
}

/// A pipeline in numbers: for each component its type, its links and, for orchestrations, its iteration target. Numbers
/// without a component are dangling links.
#[derive(Debug, Clone)]
struct Drawn {
    types: Vec<usize>,
    links: Vec<Vec<usize>>,
    targets: Vec<Option<usize>>,
}

const ORCHESTRATION_TYPES: [&str; 5] = ["start", "end-success", "end-failure", "if", "retry"];
const TRANSFORMATION_TYPES: [&str; 4] = ["table-input", "filter", "rewrite-table", "table-output-v2"];

fn drawn() -> impl Strategy<Value = Drawn> {
    (0_usize..9).prop_flat_map(|count| {
        let links = vec(vec(0..count + 2, 0..3), count);
        let targets = vec(prop::option::weighted(0.3, 0..count + 1), count);
        (vec(0_usize..20, count), links, targets).prop_map(|(types, links, targets)| Drawn {
            types,
            links,
            targets,
        })
    })
}

impl Drawn {
    fn orchestration(&self) -> String {
        let mut document = "type: orchestration\npipeline:\n  components:\n".to_owned();
        for (index, links) in self.links.iter().enumerate() {
            let kind = self.kind(index, &ORCHESTRATION_TYPES);
            let (success, failure) = links.split_at(links.len() / 2);
            let target = self.targets[index].map_or("~".to_owned(), |target| format!("c{target}"));
            writeln!(document, "    c{index}: {{type: {kind}, transitions: {{success: [{}], 'false': [{}]}}, iterationTarget: {target}}}", names(success), names(failure)).unwrap();
        }
        document
    }

    fn transformation(&self) -> String {
        let mut document = "type: transformation\npipeline:\n  components:\n".to_owned();
        for (index, links) in self.links.iter().enumerate() {
            let kind = self.kind(index, &TRANSFORMATION_TYPES);
            writeln!(
                document,
                "    c{index}: {{type: {kind}, sources: [{}]}}",
                names(links)
            )
            .unwrap();
        }
        document
    }

    fn kind<'k>(&self, at: usize, kinds: &[&'k str]) -> &'k str {
        kinds[self.types[at] % kinds.len()]
    }

    fn count(&self) -> usize {
        self.types.len()
    }

    /// Returns the links between different, existing components.
    fn pairs(&self) -> HashSet<(usize, usize)> {
        let pairs = self
            .links
            .iter()
            .enumerate()
            .flat_map(|(from, to)| to.iter().map(move |to| (from, *to)));
        pairs
            .filter(|(from, to)| from != to && *to < self.count())
            .collect()
    }

    fn target_pairs(&self) -> HashSet<(usize, usize)> {
        let pairs = self
            .targets
            .iter()
            .enumerate()
            .filter_map(|(from, to)| Some((from, (*to)?)));
        pairs
            .filter(|(from, to)| from != to && *to < self.count())
            .collect()
    }

    /// Follows all links until no new component is found.
    fn reachable(&self) -> HashSet<usize> {
        let starts = (0..self.count()).filter(|index| self.kind(*index, &ORCHESTRATION_TYPES) == "start");
        let mut reached: HashSet<usize> = starts.collect();
        let edges: Vec<_> = self.pairs().union(&self.target_pairs()).copied().collect();
        for _ in 0..=self.count() {
            for (from, to) in &edges {
                if reached.contains(from) {
                    reached.insert(*to);
                }
            }
        }
        reached
    }
}

fn names(numbers: &[usize]) -> String {
    numbers
        .iter()
        .map(|number| format!("c{number}"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn result(id: &str, document: &str) -> RuleResult {
    single_result(&one_rule(id, ""), document)
}

fn violation_numbers(result: &RuleResult) -> Vec<usize> {
    let lines = result.violations.iter().filter_map(|violation| violation.line);
    lines.map(|line| usize::try_from(line).unwrap() - 4).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reachability_in_orchestrations_equals_definition(drawn in drawn()) {
        let document = drawn.orchestration();
        let reachable = drawn.reachable();
        let unused = result("unused-components", &document);
        let ends = result("start-and-end-components", &document);
        if reachable.is_empty() {
            prop_assert_eq!(unused.status.name(), "ERROR");
            prop_assert_eq!((ends.violations.len(), ends.violations[0].line), (1, None));
            return Ok(());
        }
        let all = 0..drawn.count();
        prop_assert_eq!(violation_numbers(&unused), all.clone().filter(|at| !reachable.contains(at)).collect::<Vec<_>>());
        let is_bad_end = |at: &usize| {
            reachable.contains(at)
                && !drawn.pairs().iter().any(|(from, _)| from == at)
                && !drawn.target_pairs().iter().any(|(_, to)| to == at)
                && !drawn.kind(*at, &ORCHESTRATION_TYPES).starts_with("end-")
        };
        prop_assert_eq!(violation_numbers(&ends), all.filter(is_bad_end).collect::<Vec<_>>());
    }

    #[test]
    fn connections_in_transformations_equal_definition(drawn in drawn()) {
        let document = drawn.transformation();
        let pairs = drawn.pairs();
        let feeds = |at: &usize| pairs.iter().any(|(_, source)| source == at);
        let is_fed = |at: &usize| pairs.iter().any(|(fed, _)| fed == at);
        let is_unused = |at: &usize| drawn.count() > 1 && !feeds(at) && !is_fed(at);
        let is_output = |at: &usize| drawn.types[*at] % TRANSFORMATION_TYPES.len() >= 2;
        let all = 0..drawn.count();
        prop_assert_eq!(violation_numbers(&result("unused-components", &document)), all.clone().filter(is_unused).collect::<Vec<_>>());
        let is_bad_end = |at: &usize| !feeds(at) && !is_output(at);
        prop_assert_eq!(violation_numbers(&result("end-output-components", &document)), all.filter(is_bad_end).collect::<Vec<_>>());
    }
}
