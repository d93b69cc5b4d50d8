//! Hostile rules and pipelines: bounded cost, no crash, and never a pass.

use crate::{PIPELINE, evaluate, find_error, find_subjects, rule};
use sluicegate_pipelines::findings::Status;
use sluicegate_pipelines::team_rules::{TeamRuleSet, lint_team_rules};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// A generous bound: a debug build on a busy machine.
const MAX_DURATION: Duration = Duration::from_secs(20);

fn find_problems(condition: &str) -> Vec<String> {
    let problems = lint_team_rules(rule("component", condition, "m").as_bytes());
    problems
        .into_iter()
        .filter(|problem| problem.is_error)
        .map(|problem| problem.message)
        .collect()
}

#[test]
fn large_expression_is_refused() {
    let large = format!("component.name == '{}'", "x".repeat(100_000));
    assert_eq!(
        find_problems(&large),
        ["the expression has 100020 bytes; the maximum is 4096"]
    );
}

#[test]
fn deep_expression_is_refused_without_overflow() {
    let start = Instant::now();
    for nested in [
        format!("{}true{}", "(".repeat(2000), ")".repeat(2000)),
        format!("{}1{} == 1", "[".repeat(31), "]".repeat(31)),
        format!("{}true", "!".repeat(4000)),
        format!("size({}) == 1", "[".repeat(33)),
        format!("1{} == 1", "+1".repeat(1900)),
        format!("-{}1 == 1", "-".repeat(3900)),
        format!("pipeline.document{} == 1", ".a".repeat(1900)),
        format!("pipeline.document{} == 1", "[0]".repeat(1300)),
        format!("{}true", "true ? true : ".repeat(280)),
        format!("{}true{}", "[1].all(x,".repeat(31), ")".repeat(31)),
        // The closing brackets in strings are counted, too, so only the parser's own limit ends this nesting.
        format!("{}true{}", "(\")\"==\"\"||".repeat(85), ")".repeat(85)),
        format!("{}true{}", "(\")\"==\"\"||".repeat(280), ")".repeat(280)),
        format!("{}true{}", "[1].all(x,".repeat(300), ")".repeat(300)),
        "(".repeat(4000),
        "'".repeat(4000),
    ] {
        let file = rule("component", &nested, "m");
        if let Ok(rules) = TeamRuleSet::parse(file.as_bytes()) {
            let files = sluicegate_pipelines::pipelines::PipelineFiles::new([]);
            rules.evaluate("a.orch.yaml", &Ok(PIPELINE.as_bytes().to_vec()), &files);
        }
    }
    assert!(start.elapsed() < MAX_DURATION, "{:?}", start.elapsed());
}

#[test]
fn backtracking_pattern_is_linear() {
    let pipeline = format!(
        "type: orchestration\npipeline:\n  components:\n    A: {{ parameters: {{ text: '{}!' }} }}\n",
        "a".repeat(20_000)
    );
    let start = Instant::now();
    let file = rule("component", "component.parameters.text.matches('^(a+)+$')", "m");
    let results = evaluate(&file, "a.orch.yaml", &pipeline);
    assert_eq!(results.results[0].status, Status::Passed);
    assert!(start.elapsed() < MAX_DURATION, "{:?}", start.elapsed());
    let problems = find_problems("component.name.matches('(a{1000}){1000}')");
    assert!(
        problems[0].contains("the regular expression is not valid"),
        "{problems:?}"
    );
    let (error_type, _) = find_error("component", "component.name.matches('(' + component.name)");
    assert_eq!(error_type, "team/evaluation-error");
}

/// Returns a pipeline with a component that has this text in its parameter `text`.
fn pipeline_with_text(text: &str) -> String {
    format!("type: orchestration\npipeline:\n  components:\n    A: {{ parameters: {{ text: '{text}' }} }}\n")
}

fn evaluate_condition(condition: &str, pipeline: &str) -> Status {
    let file = rule("component", condition, "m");
    evaluate(&file, "a.orch.yaml", pipeline).results[0].status.clone()
}

#[test]
fn matching_long_text_costs_more_steps_with_larger_pattern() {
    let large_regex = "(a|b)*a(a|b){900}c";
    let large_glob = "*a?".repeat(600);
    let long_pipeline = pipeline_with_text(&"ab".repeat(100_000));
    for condition in [
        "component.parameters.text.matches('^[a-z]+_[0-9]{1,3}$')",
        "component.parameters.text.matches('^A' + component.name)",
        "glob(component.parameters.text, '*c')",
    ] {
        assert_eq!(
            evaluate_condition(condition, &long_pipeline),
            Status::Passed,
            "{condition}"
        );
    }
    let short_pipeline = pipeline_with_text("ab");
    for condition in [
        format!("component.parameters.text.matches('{large_regex}')"),
        format!("component.parameters.text.matches('{large_regex}' + component.name)"),
        format!("glob(component.parameters.text, '{large_glob}c')"),
        format!("glob(component.parameters.text, '{large_glob}' + component.name)"),
    ] {
        assert_eq!(
            evaluate_condition(&condition, &long_pipeline),
            Status::Error(Some("team/cost-limit".to_owned())),
            "{condition}"
        );
        assert_eq!(
            evaluate_condition(&condition, &short_pipeline),
            Status::Passed,
            "{condition}"
        );
    }
}

#[test]
fn pattern_that_is_no_literal_must_be_small() {
    let pipeline = pipeline_with_text("x");
    assert_eq!(
        evaluate_condition(
            r"component.parameters.text.matches('^\\w+_\\w+$|' + component.name)",
            &pipeline
        ),
        Status::Passed
    );
    let (error_type, reason) = find_error(
        "component",
        r"component.name.matches('[\\w ]{1,15}' + component.name)",
    );
    assert_eq!(error_type, "team/evaluation-error");
    assert!(
        reason.contains("it is too large; `[A-Za-z0-9_]` is smaller than `\\w`"),
        "{reason}"
    );
    // The same pattern as a literal is compiled once.
    assert_eq!(find_problems(r"component.name.matches('[\\w ]{1,15}')"), [""; 0]);
    // Each byte of the pattern costs steps.
    let long_pipeline = pipeline_with_text(&"x".repeat(60_000));
    for condition in [
        "component.name.matches(component.parameters.text)",
        "glob(component.name, component.parameters.text)",
    ] {
        assert_eq!(
            evaluate_condition(condition, &long_pipeline),
            Status::Error(Some("team/cost-limit".to_owned())),
            "{condition}"
        );
        assert_eq!(
            evaluate_condition(condition, &pipeline),
            Status::Passed,
            "{condition}"
        );
    }
}

#[test]
fn many_large_patterns_in_file_are_refused() {
    let mut file = String::from("rules:\n");
    for index in 0..80 {
        let _ = writeln!(
            file,
            "  - {{ id: r{index}, level: warn, for: component, message: m, when: \"component.name.matches(r'[\\\\w ]{{20}}{index}')\" }}"
        );
    }
    let problems = TeamRuleSet::parse(file.as_bytes()).unwrap_err();
    assert_eq!(
        problems[0].message,
        "the regular expressions of the file are too large together"
    );
    assert!(problems.len() < 40, "{}", problems.len());
    assert!(TeamRuleSet::parse(file.replace("{20}", "{1}").as_bytes()).is_ok());
}

#[test]
fn glob_with_deeply_nested_alternatives_is_an_error() {
    let condition = "glob(component.name, component.parameters.text)";
    let nested_glob = |depth: usize| format!("{}A{}", "{".repeat(depth), "}".repeat(depth));
    assert_eq!(
        evaluate_condition(condition, &pipeline_with_text(&nested_glob(300))),
        Status::Error(Some("team/evaluation-error".to_owned()))
    );
    assert!(matches!(
        evaluate_condition(condition, &pipeline_with_text(&nested_glob(3))),
        Status::Failed(_)
    ));
}

#[test]
fn growing_list_and_text_end_at_cost_limit() {
    let tens = "[0,1,2,3,4,5,6,7,8,9]";
    let nested = |inner: &str, depth: usize| {
        (0..depth).fold(inner.to_owned(), |inner, level| {
            format!("{tens}.map(x{level}, {inner})")
        })
    };
    let doubled = (0..30).fold("'aaaaaaaaaaaaaaaa'".to_owned(), |text, level| {
        format!("[{text}].map(t{level}, t{level} + t{level})[0]")
    });
    let start = Instant::now();
    for condition in [
        format!("size({}) == 1", nested("1", 7)),
        format!("{}.exists(y, y == [])", nested("1", 7)),
        format!("size({doubled}) == 1"),
    ] {
        let is_refused = !find_problems(&condition).is_empty();
        if !is_refused {
            let (error_type, reason) = find_error("pipeline", &condition);
            assert_eq!(error_type, "team/cost-limit", "{condition}: {reason}");
        }
    }
    let (error_type, _) = find_error("pipeline", &format!("size({}) == 1", nested("1", 7)));
    assert_eq!(error_type, "team/cost-limit");
    assert!(start.elapsed() < MAX_DURATION, "{:?}", start.elapsed());
}

#[test]
fn large_pipeline_ends_at_cost_limit() {
    let mut pipeline = String::from("type: orchestration\npipeline:\n  components:\n");
    for index in 0..20_000 {
        let _ = writeln!(pipeline, "    c{index}: {{ type: start }}");
    }
    let quadratic = rule(
        "component",
        "pipeline.components.all(c, c.name != component.name)",
        "m",
    );
    let start = Instant::now();
    let results = evaluate(&quadratic, "a.orch.yaml", &pipeline);
    assert_eq!(
        results.results[0].status,
        Status::Error(Some("team/cost-limit".to_owned()))
    );
    let linear = rule("component", "component.type != 'start'", "m");
    assert_eq!(
        evaluate(&linear, "a.orch.yaml", &pipeline).results[0].status,
        Status::Passed
    );
    assert!(start.elapsed() < MAX_DURATION, "{:?}", start.elapsed());
}

#[test]
fn name_with_braces_and_quotes_is_not_expanded() {
    let pipeline = "type: orchestration\npipeline:\n  components:\n    '{component.type} \"a\" `b` {{': { type: start }\n";
    let file = rule("component", "true", "<{component.name}>");
    let results = evaluate(&file, "a.orch.yaml", pipeline);
    assert_eq!(
        results.results[0].violations[0].text,
        "<{component.type} \"a\" `b` {{>"
    );
}

#[test]
fn numbers_at_their_bounds_do_not_overflow() {
    for condition in [
        "9223372036854775807 + 1 == 0",
        "-9223372036854775808 / -1 == 0",
        "-(-9223372036854775808) == 0",
        "1 % 0 == 0",
        "18446744073709551615u + 1u == 0u",
        "int(1e300) == 0",
        "[1][9223372036854775807] == 0",
        "[1][-1] == 0",
    ] {
        let (error_type, _) = find_error("pipeline", condition);
        assert_eq!(error_type, "team/evaluation-error", "{condition}");
    }
    assert_eq!(find_subjects("pipeline", "1.0 / 0.0 > 1.0").len(), 1);
}

#[test]
fn too_many_rules_and_bytes_are_refused() {
    let mut entries = String::new();
    for index in 0..201 {
        let _ = writeln!(
            entries,
            "  - {{ id: r{index}, level: warn, for: component, when: 'true', message: m }}"
        );
    }
    let problems = TeamRuleSet::parse(format!("rules:\n{entries}").as_bytes()).unwrap_err();
    assert_eq!(problems[0].message, "the file has 201 rules; the maximum is 200");
    let large = format!("# {}\nrules: []\n", "x".repeat(600_000));
    assert!(TeamRuleSet::parse(large.as_bytes()).is_err());
}

#[test]
fn costly_examples_share_one_budget() {
    let tens = "[0,1,2,3,4,5,6,7,8,9]";
    let condition = (0..6).fold("true".to_owned(), |inner, level| {
        format!("{tens}.all(x{level}, {inner})")
    });
    let mut file = String::from("rules:\n");
    for index in 0..40 {
        let _ = write!(
            file,
            "  - id: r{index}\n    level: warn\n    for: pipeline\n    when: '{condition}'\n    message: m\n    examples:\n      fails:\n"
        );
        for _ in 0..10 {
            file.push_str("        - { path: a.orch.yaml, pipeline: 'type: orchestration\n\n            pipeline: {}' }\n");
        }
    }
    let rules = TeamRuleSet::parse(file.as_bytes()).unwrap();
    let start = Instant::now();
    let run = rules.run_examples();
    assert_eq!((run.example_count, run.failures.is_empty()), (400, false));
    let last_reason = run.failures.last().map(|failure| failure.reason.as_str());
    assert_eq!(
        last_reason,
        Some(
            "the example should fail, but the rule could not be evaluated: the examples of the file together take \
             too many steps"
        )
    );
    assert!(start.elapsed() < 2 * MAX_DURATION, "{:?}", start.elapsed());
}
