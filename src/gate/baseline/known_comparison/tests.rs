//! Properties of known findings that must be true for any base and head.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use sluicegate_pipelines::findings::{Severity, Violation};
use sluicegate_pipelines::pipelines::SubjectKind;
use std::collections::BTreeMap;

const NAMING: &str = "component-naming-convention";
const MAXIMUM: &str = "maximum-components";
const MINIMUM: &str = "minimum-components";

/// A finding without its line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    rule: &'static str,
    about: Option<&'static str>,
    size: Option<u64>,
}

fn found() -> impl Strategy<Value = Found> {
    let named = prop::sample::select(vec![Some("a"), Some("b"), None]).prop_map(|about| Found {
        rule: NAMING,
        about,
        size: None,
    });
    let counted = (prop::sample::select(vec![MAXIMUM, MINIMUM]), 0..5_u64).prop_map(|(rule, size)| Found {
        rule,
        about: None,
        size: Some(size),
    });
    prop_oneof![named, counted]
}

/// Returns a file with one result for each finding, because the grouping into results does not matter.
fn file(found: &[Found]) -> FileResults {
    let result = |found: &Found| {
        RuleResult::new(
            found.rule.to_owned(),
            Status::Failed(Severity::Error),
            None,
            vec![Violation {
                about: found.about.map(str::to_owned),
                size: found.size,
                ..Violation::new("words")
            }],
        )
    };
    let passed = [NAMING, MAXIMUM, MINIMUM].map(passed);
    FileResults {
        path: "p".to_owned(),
        results: found.iter().map(result).chain(passed).collect(),
        is_reviewed: true,
    }
}

fn passed(rule: &str) -> RuleResult {
    RuleResult::new(rule.to_owned(), Status::Passed, None, Vec::new())
}

/// Returns the known findings of head, and the number of findings of the base that are gone.
fn compared(base: &[Found], head: &[Found]) -> (Vec<Found>, usize) {
    let (base, mut files) = (file(base), vec![file(head)]);
    let told = mark_new_and_known(&mut files, |_| false, |_| vec![BaseFile::Evaluated(&base)]);
    let states = files[0]
        .results
        .iter()
        .take(head.len())
        .map(|result| result.state(0));
    let known = head
        .iter()
        .zip(states)
        .filter(|(_, state)| *state == Some(FindingState::Known));
    let mut known: Vec<Found> = known.map(|(found, _)| found.clone()).collect();
    known.sort();
    (known, told.fixed_count)
}

type Kinds = BTreeMap<(&'static str, Option<&'static str>), Vec<u64>>;

/// Returns a badness for each finding by identity, the worst first; 0 without a size.
fn kinds(found: &[Found]) -> Kinds {
    let mut kinds = Kinds::new();
    for found in found {
        let bad = found.size.unwrap_or(0);
        let bad = if found.rule == MINIMUM { 10 - bad } else { bad };
        kinds.entry((found.rule, found.about)).or_default().push(bad);
    }
    for bad in kinds.values_mut() {
        bad.sort_by_key(|bad| std::cmp::Reverse(*bad));
    }
    kinds
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_more_is_known_than_the_base_has_and_nothing_that_is_worse(
        base in vec(found(), 0..9),
        head in vec(found(), 0..9),
    ) {
        let (known, fixed) = compared(&base, &head);
        let (known, base, head) = (kinds(&known), kinds(&base), kinds(&head));
        for (kind, known) in &known {
            let had = base.get(kind).map_or(&[][..], Vec::as_slice);
            prop_assert!(known.len() <= had.len(), "{kind:?}: {known:?} of {had:?}");
            for (now, before) in known.iter().zip(had) {
                prop_assert!(now <= before, "{kind:?}: {known:?} of {had:?}");
            }
        }
        for (kind, had) in &base {
            let has = head.get(kind).map_or(0, Vec::len);
            let known = known.get(kind).map_or(0, Vec::len);
            if kind.0 == NAMING {
                prop_assert_eq!(known, had.len().min(has), "as many as both have");
            }
        }
        let gone = base.iter().map(|(kind, had)| had.len().saturating_sub(head.get(kind).map_or(0, Vec::len)));
        prop_assert_eq!(fixed, gone.sum::<usize>());
    }

    #[test]
    fn order_does_not_matter(
        (base, other_base) in vec(found(), 0..9).prop_flat_map(|found| (Just(found.clone()), Just(found).prop_shuffle())),
        (head, other_head) in vec(found(), 0..9).prop_flat_map(|found| (Just(found.clone()), Just(found).prop_shuffle())),
    ) {
        let counted = |(known, fixed): (Vec<Found>, usize)| {
            let numbers: BTreeMap<_, _> = kinds(&known).into_iter().map(|(kind, bad)| (kind, bad.len())).collect();
            (numbers, fixed)
        };
        prop_assert_eq!(counted(compared(&base, &head)), counted(compared(&other_base, &other_head)));
    }

    #[test]
    fn same_is_known_and_without_base_everything_is_new(found in vec(found(), 0..9)) {
        let (known, fixed) = compared(&found, &found);
        prop_assert_eq!((known.len(), fixed), (found.len(), 0));
        let (known, fixed) = compared(&[], &found);
        prop_assert_eq!((known.len(), fixed), (0, 0));
    }
}

#[test]
fn findings_of_rules_that_head_could_not_evaluate_are_not_fixed() {
    let named = Found {
        rule: NAMING,
        about: Some("a"),
        size: None,
    };
    let counted = Found {
        rule: MAXIMUM,
        about: None,
        size: Some(9),
    };
    let base = file(&[named.clone(), counted]);
    let fixed = |error_type: &str| {
        let mut head = file(std::slice::from_ref(&named));
        head.results[0].status = Status::Error(Some(error_type.to_owned()));
        mark_new_and_known(&mut [head], |_| false, |_| vec![BaseFile::Evaluated(&base)]).fixed_count
    };
    assert_eq!(
        fixed("designer/invalid-regex-pattern"),
        1,
        "what the other rule found"
    );
    assert_eq!(fixed("designer/no-start-component"), 1);
    assert_eq!(fixed("designer/document-parse-error"), 0);
}

#[test]
fn fixed_findings_need_result_of_rule_in_complete_review() {
    let finding = |rule| Found {
        rule,
        about: Some("a"),
        size: None,
    };
    let base = file(&[finding(NAMING), finding("other")]);
    let fixed = |results: Vec<RuleResult>, is_open: bool| {
        let head = FileResults {
            path: "p".to_owned(),
            results,
            is_reviewed: true,
        };
        mark_new_and_known(&mut [head], |_| is_open, |_| vec![BaseFile::Evaluated(&base)]).fixed_count
    };
    assert_eq!(fixed(vec![passed(NAMING)], false), 1);
    assert_eq!(fixed(vec![passed(NAMING), passed("other")], false), 2);
    assert_eq!(fixed(vec![passed(NAMING)], true), 0);
    assert_eq!(fixed(vec![passed(MAXIMUM)], false), 0);
    assert_eq!(fixed(Vec::new(), false), 0);
    let mut reference = passed(NAMING);
    reference.origin = Origin::Project;
    assert_eq!(fixed(vec![reference], false), 0);
}

#[test]
fn component_is_not_known_by_variable_of_its_name() {
    let about = |kind| {
        let violation = Violation {
            about: Some("X".to_owned()),
            about_kind: Some(kind),
            ..Violation::new("words")
        };
        let mut file = file(&[]);
        file.results[0].status = Status::Failed(Severity::Error);
        file.results[0].violations = vec![violation];
        file
    };
    let state = |base: SubjectKind, head: SubjectKind| {
        let (base, mut files) = (about(base), [about(head)]);
        mark_new_and_known(&mut files, |_| false, |_| vec![BaseFile::Evaluated(&base)]);
        files[0].results[0].state(0)
    };
    let (component, variable) = (SubjectKind::Component, SubjectKind::Variable);
    assert_eq!(state(variable, component), Some(FindingState::New));
    assert_eq!(state(component, variable), Some(FindingState::New));
    assert_eq!(state(variable, variable), Some(FindingState::Known));
}

/// Returns the state for each violation of `head`, or one without violations, in comparison with these results of the
/// base.
fn list_states(base_results: Vec<RuleResult>, head: RuleResult) -> Vec<Option<FindingState>> {
    let to_file = |results| FileResults {
        path: "p".to_owned(),
        results,
        is_reviewed: true,
    };
    let (base, mut files) = (to_file(base_results), [to_file(vec![head])]);
    mark_new_and_known(&mut files, |_| false, |_| vec![BaseFile::Evaluated(&base)]);
    let result = &files[0].results[0];
    (0..result.violations.len().max(1))
        .map(|index| result.state(index))
        .collect()
}

const NEW: [Option<FindingState>; 1] = [Some(FindingState::New)];
const KNOWN: [Option<FindingState>; 1] = [Some(FindingState::Known)];

fn failed(severity: Severity, size: Option<u64>) -> RuleResult {
    let violation = Violation {
        about: Some("a".to_owned()),
        size,
        ..Violation::new("words")
    };
    RuleResult::new(
        MAXIMUM.to_owned(),
        Status::Failed(severity),
        None,
        vec![violation],
    )
}

fn evaluation_error(rule: &str, error_type: &str, text_count: usize) -> RuleResult {
    let status = Status::Error(Some(error_type.to_owned()));
    let texts = vec![Violation::new("words"); text_count];
    RuleResult::new(rule.to_owned(), status, None, texts)
}

#[test]
fn finding_of_file_that_was_unreadable_at_the_base_is_new() {
    let finding = || failed(Severity::Error, None);
    let unreadable = evaluation_error(NAMING, "designer/document-parse-error", 1);
    let other_error = evaluation_error(NAMING, "designer/invalid-regex-pattern", 1);
    assert_eq!(list_states(vec![unreadable, finding()], finding()), NEW);
    assert_eq!(list_states(vec![other_error, finding()], finding()), KNOWN);
}

#[test]
fn evaluation_error_with_several_texts_is_known_with_all_of_them() {
    let error = || evaluation_error(NAMING, "designer/no-start-component", 2);
    assert_eq!(list_states(vec![error()], error()), [KNOWN, KNOWN].concat());
    assert_eq!(list_states(Vec::new(), error()), [NEW, NEW].concat());
}

#[test]
fn finding_of_project_check_is_new_if_its_level_rose() {
    let of_project = |severity| RuleResult {
        origin: Origin::Project,
        ..failed(severity, None)
    };
    let (warning, error) = (Severity::Warning, Severity::Error);
    assert_eq!(list_states(vec![of_project(warning)], of_project(error)), NEW);
    assert_eq!(list_states(vec![of_project(error)], of_project(warning)), KNOWN);
    assert_eq!(list_states(vec![of_project(error)], of_project(error)), KNOWN);
    // The level of a rule comes from one rules file for both sides.
    assert_eq!(
        list_states(vec![failed(warning, None)], failed(error, None)),
        KNOWN
    );
}

#[test]
fn finding_with_a_size_is_not_known_by_one_without() {
    let sized = |size| failed(Severity::Error, size);
    assert_eq!(list_states(vec![sized(Some(9))], sized(None)), NEW);
    assert_eq!(list_states(vec![sized(None)], sized(Some(9))), NEW);
    assert_eq!(list_states(vec![sized(Some(9))], sized(Some(9))), KNOWN);
    // A result without violations names no subject, so its finding has the same identity as a finding with a size.
    let without_violations = || {
        RuleResult::new(
            MAXIMUM.to_owned(),
            Status::Failed(Severity::Error),
            None,
            Vec::new(),
        )
    };
    assert_eq!(list_states(vec![sized(Some(9))], without_violations()), NEW);
    assert_eq!(list_states(vec![without_violations()], sized(Some(9))), NEW);
}

/// Returns a file with findings of a project check about one component, minor ones or not.
fn calls(minor_flags: &[bool]) -> FileResults {
    let violations = minor_flags.iter().map(|is_minor| Violation {
        about: Some("Call".to_owned()),
        is_minor: *is_minor,
        ..Violation::new("words")
    });
    let status = Status::Failed(Severity::Warning);
    FileResults {
        path: "p".to_owned(),
        results: vec![RuleResult {
            origin: Origin::Project,
            ..RuleResult::new("project/call".to_owned(), status, None, violations.collect())
        }],
        is_reviewed: false,
    }
}

#[test]
fn minor_finding_is_matched_with_minor_one_and_never_excuses_broken_reference() {
    use FindingState::{Known, New};
    for (base, head, expected) in [
        (&[false, true][..], &[true, false][..], &[Known, Known][..]),
        (&[true, false], &[true, false], &[Known, Known]),
        (&[true], &[false], &[New]),
        (&[false], &[true], &[Known]),
        (&[true, true], &[true, false], &[Known, New]),
    ] {
        let (base, mut files) = (calls(base), vec![calls(head)]);
        mark_new_and_known(&mut files, |_| false, |_| vec![BaseFile::Evaluated(&base)]);
        let states: Vec<FindingState> = files[0].results[0].states().map(|state| state.unwrap()).collect();
        assert_eq!(states, expected, "{base:?}");
    }
}
