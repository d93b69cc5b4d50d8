//! Malicious documents: their evaluation ends quickly with a result.

use crate::support::{ALL_RULES, one_rule, orchestration, outcome, single_result};
use sluicegate_pipelines::pipelines::Pipeline;
use sluicegate_pipelines::rules::RuleSet;
use std::fmt::Write as _;

const HEAD: &str = "type: orchestration\npipeline:\n  components:\n";

fn message(document: &str) -> String {
    Pipeline::parse(document.as_bytes()).unwrap_err().message
}

#[test]
fn too_deep_nesting_is_rejected() {
    let megabytes = 2 << 20;
    for unit in ["- ", "[", "{a: ", "? ", "- ? ", "&a [", "{? ", "  - "] {
        let deep = unit.repeat(megabytes / unit.len());
        assert!(Pipeline::parse(deep.as_bytes()).is_err(), "{unit:?}");
        assert!(
            Pipeline::parse(format!("{HEAD}    x: {deep}").as_bytes()).is_err(),
            "{unit:?}"
        );
        assert!(
            Pipeline::parse(format!("design:\n  {deep}").as_bytes()).is_err(),
            "{unit:?}"
        );
    }
    let mut staircase = String::new();
    for depth in 0..1000 {
        writeln!(staircase, "{}a:", " ".repeat(depth)).unwrap();
    }
    assert_eq!(
        message(&staircase),
        "the document has more than 128 levels of nesting"
    );
}

#[test]
fn nesting_up_to_the_limit_is_read() {
    let nested = |levels: usize| format!("{HEAD}    x: {}1{}\n", "[".repeat(levels), "]".repeat(levels));
    assert!(Pipeline::parse(nested(125).as_bytes()).is_ok());
    assert_eq!(
        message(&nested(126)),
        "the document has more than 128 levels of nesting"
    );
}

#[test]
fn alias_bombs_are_rejected() {
    let mut layers = String::from("    l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n");
    for layer in 1..40 {
        let text = format!("*l{}, ", layer - 1).repeat(10);
        writeln!(layers, "    l{layer}: &l{layer} [{text}]").unwrap();
    }
    assert_eq!(
        message(&format!("{HEAD}{layers}")),
        "the aliases expand to too much data"
    );

    let targets: Vec<String> = (0..2000).map(|index| format!("c{index}")).collect();
    let targets = targets.join(", ");
    let mut fan = format!("    a: {{transitions: {{success: &all [{targets}]}}}}\n");
    for index in 0..2000 {
        writeln!(fan, "    c{index}: {{transitions: {{success: *all}}}}").unwrap();
    }
    assert_eq!(
        message(&format!("{HEAD}{fan}")),
        "the aliases expand to too much data"
    );
}

#[test]
fn moderate_aliases_are_read() {
    let mut document = format!("{HEAD}    S: {{type: start, transitions: {{success: &all [A, B, C]}}}}\n");
    for index in 0..5000 {
        writeln!(document, "    c{index}: {{transitions: {{success: *all}}}}").unwrap();
    }
    assert_eq!(
        Pipeline::parse(document.as_bytes()).unwrap().components.len(),
        5001
    );
}

#[test]
fn duplicates_among_many_keys_are_found() {
    let mut document = HEAD.to_owned();
    for index in 0..20_000 {
        writeln!(document, "    c{index}:").unwrap();
    }
    assert_eq!(
        Pipeline::parse(document.as_bytes()).unwrap().components.len(),
        20_000
    );
    document += "    c77:\n";
    assert_eq!(message(&document), "duplicate key `c77`");
}

#[test]
fn long_chains_and_cycles_are_evaluated() {
    let count = 20_000;
    let mut chain = format!("{HEAD}    S: {{type: start, transitions: {{success: [c0]}}}}\n");
    for index in 0..count {
        writeln!(
            chain,
            "    c{index}: {{transitions: {{success: [c{}], failure: [c0]}}}}",
            index + 1
        )
        .unwrap();
    }
    let rules = RuleSet::parse(
        ALL_RULES
            .replace("maxComponents: 10", "maxComponents: 30000")
            .as_bytes(),
    );
    let outcomes = |document: &str| -> Vec<String> {
        let results = rules.evaluate("x.orch.yaml", document.as_bytes()).results;
        results.iter().map(|result| outcome(result).to_owned()).collect()
    };
    // The last component has a transition back to the first, so there is no branch end.
    assert_eq!(outcomes(&chain), ["PASSED"; 6]);
    writeln!(chain, "    c{count}: {{}}").unwrap();
    assert_eq!(
        outcomes(&chain),
        ["PASSED", "PASSED", "PASSED", "PASSED", "PASSED", "FAILED"]
    );
}

#[test]
fn patterns_with_nested_repetition_are_matched() {
    let name = "a".repeat(500);
    let document = orchestration(&[&format!("{name}b:")]);
    for pattern in [
        "(a+)+",
        "(a|a)*",
        "(a|aa)+c",
        "([a-z]+)*!",
        "(.*)(.*)(.*)(.*)(.*)x",
        "(a?){100}(a){100}",
    ] {
        let rules = one_rule(
            "component-naming-convention",
            &format!("regexMatchPattern: '{pattern}'"),
        );
        assert_eq!(outcome(&single_result(&rules, &document)), "FAILED", "{pattern}");
    }
}

#[test]
fn large_pattern_is_not_matched_against_too_long_names() {
    let rules = one_rule(
        "component-naming-convention",
        r"regexMatchPattern: '[\w ]{1,255}'",
    );
    let names = |count: usize| -> String {
        let lines: Vec<String> = (0..count)
            .map(|index| format!("    {}{index}:\n", "n".repeat(240)))
            .collect();
        HEAD.to_owned() + &lines.concat()
    };
    assert_eq!(outcome(&single_result(&rules, &names(10))), "PASSED");
    assert_eq!(
        outcome(&single_result(&rules, &names(5000))),
        "designer/invalid-regex-pattern"
    );
}

#[test]
fn endlessly_backtracking_pattern_is_stopped_with_error() {
    let config = r"regexMatchPattern: '(?:(?=a)(a+))+!'";
    let rules = one_rule("component-naming-convention", config);
    let tried = |name: &str| single_result(&rules, &orchestration(&[&format!("{name}:")]));
    assert_eq!(outcome(&tried("aaaa!")), "PASSED");
    assert_eq!(outcome(&tried("aaaa")), "FAILED");
    let stopped = tried(&"a".repeat(40));
    assert_eq!(outcome(&stopped), "designer/invalid-regex-pattern");
    insta::assert_snapshot!(stopped.violations[0].text, @r#"the rules file has a pattern for `component-naming-convention` that takes too long to match: the expression needs more than 10000 steps for the name "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; rewrite it without nested repetition"#);
    let long = tried(&"b".repeat(1001));
    assert_eq!(outcome(&long), "designer/invalid-regex-pattern");
}

#[test]
fn backtracking_pattern_is_not_matched_against_too_long_names() {
    // Each name uses nearly all the steps that it may.
    let rules = one_rule(
        "component-naming-convention",
        "regexMatchPattern: '(?:(?=a)(a+))+b'",
    );
    let names = |count: usize| -> String {
        let lines: Vec<String> = (0..count)
            .map(|index| format!("    {}{index}:\n", "a".repeat(10)))
            .collect();
        HEAD.to_owned() + &lines.concat()
    };
    assert_eq!(outcome(&single_result(&rules, &names(100))), "FAILED");
    assert_eq!(
        outcome(&single_result(&rules, &names(30_000))),
        "designer/invalid-regex-pattern"
    );
}

#[test]
fn hostile_texts_are_searched_quickly() {
    let mut document = HEAD.to_owned();
    for length in 1..1000 {
        writeln!(document, "    \"{}\":", "!".repeat(length)).unwrap();
    }
    let pipeline = Pipeline::parse(document.as_bytes()).unwrap();
    let subjects = pipeline.build_subject_index();
    for _ in 0..5 {
        assert_eq!(
            subjects
                .find_subject(&"!".repeat(100_000))
                .map(|named| named.line),
            Some(1002)
        );
        assert_eq!(
            subjects
                .find_subject(&"'\"".repeat(100_000))
                .map(|named| named.line),
            None
        );
    }
}
