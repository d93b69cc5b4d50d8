//! The rules about counts, names and variables.

use crate::support::{lines, orchestration, texts, transformation};

fn with_components(count: usize) -> [String; 2] {
    let names: Vec<String> = (0..count).map(|index| format!("C{index}:")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    [orchestration(&names), transformation(&names)]
}

#[test]
fn component_limits_are_inclusive_with_one_violation() {
    let table: [(usize, &str, &str, &[u32]); 8] = [
        (1, "minimum-components", "minComponents: 1", &[]),
        (0, "minimum-components", "minComponents: 1", &[0]),
        (0, "minimum-components", "minComponents: 0", &[]),
        (
            2,
            "minimum-components",
            "minComponents: 99999999999999999999999",
            &[0],
        ),
        (10, "maximum-components", "maxComponents: 10", &[]),
        (11, "maximum-components", "maxComponents: 10", &[0]),
        (0, "maximum-components", "maxComponents: 0", &[]),
        (1, "maximum-components", "maxComponents: 0", &[0]),
    ];
    for (count, id, config, expected) in table {
        for document in with_components(count) {
            assert_eq!(
                lines(id, config, &document),
                expected,
                "{count} components, {config}"
            );
        }
    }
}

#[test]
fn only_output_components_count_as_outputs() {
    let outputs = [
        "A: {type: rewrite-table}",
        "B: {type: table-update-v2}",
        "C: {type: table-input}",
        "D:",
    ];
    let document = transformation(&outputs);
    assert_eq!(lines("maximum-outputs", "maxOutputs: 2", &document), [0_u32; 0]);
    assert_eq!(lines("maximum-outputs", "maxOutputs: 1", &document), [0]);
    assert_eq!(
        lines("maximum-outputs", "maxOutputs: 0", &transformation(&[])),
        [0_u32; 0]
    );
}

#[test]
fn counting_rules_report_count_and_limit() {
    let [document, _] = with_components(2);
    let outputs = transformation(&["A: {type: create-view}"]);
    insta::assert_snapshot!([
        texts("minimum-components", "minComponents: 3", &document),
        texts("maximum-components", "maxComponents: 1", &document),
        texts("maximum-outputs", "maxOutputs: 0", &outputs),
    ].join("\n"), @"
    the pipeline has 2 components, fewer than the minimum of 3: add the missing components or delete the pipeline
    the pipeline has 2 components, more than the maximum of 1: move some to another pipeline and call it from here
    the pipeline has 1 output component, more than the maximum of 0: move the other output components to another transformation
    ");
}

#[test]
fn names_must_match_the_whole_pattern() {
    let components = [
        "Load:",
        "Load it:",
        "load:",
        "'':",
        "1.50:",
        "true:",
        "\"a\\nb\":",
        "Übung:",
    ];
    let table: [(&str, &[u32]); 15] = [
        (".*", &[10]),
        ("(?s).*", &[]),
        ("Load", &[5, 6, 7, 8, 9, 10, 11]),
        ("^Load$", &[5, 6, 7, 8, 9, 10, 11]),
        ("[A-Z].*", &[6, 7, 8, 9, 10, 11]),
        (r"\p{Lu}.*", &[6, 7, 8, 9, 10]),
        ("(?i)load( it)?", &[7, 8, 9, 10, 11]),
        ("Load|Load it", &[6, 7, 8, 9, 10, 11]),
        ("L|Load|", &[5, 6, 8, 9, 10, 11]),
        (r"1\.50|true", &[4, 5, 6, 7, 10, 11]),
        ("(?x) Load # as it is", &[5, 6, 7, 8, 9, 10, 11]),
        ("(?m)^a$|^b$", &[4, 5, 6, 7, 8, 9, 10, 11]),
        ("(?!Load$).*", &[4, 10]),
        ("L(?=o)|Load", &[5, 6, 7, 8, 9, 10, 11]),
        ("(?x) (?=L)Load # as it is", &[5, 6, 7, 8, 9, 10, 11]),
    ];
    for (pattern, expected) in table {
        let config = format!("regexMatchPattern: '{pattern}'");
        for document in [orchestration(&components), transformation(&components)] {
            assert_eq!(
                lines("component-naming-convention", &config, &document),
                expected,
                "{pattern}"
            );
        }
    }
}

/// As in the engines of Perl, Java, Python and JavaScript: backtracking goes past a look-ahead, never into it.
#[test]
fn look_ahead_matches_atomically() {
    let table: [(&str, &[u32]); 3] = [
        // The look-ahead takes every `a`, so `aaaba` does not end with the same number of them.
        (r"(?=(a+))a*b\1", &[5]),
        (r"(?=(a+?))a*b\1", &[]),
        (r".*(?=a)aba", &[]),
    ];
    for (pattern, expected) in table {
        let config = format!("regexMatchPattern: '{pattern}'");
        let document = orchestration(&["aba:", "aaaba:"]);
        assert_eq!(
            lines("component-naming-convention", &config, &document),
            expected,
            "{pattern}"
        );
    }
}

#[test]
fn component_name_is_key_and_not_parameter() {
    let document = orchestration(&[
        "good: {parameters: {componentName: Bad}}",
        "Bad: {parameters: {componentName: good}}",
    ]);
    let results = texts(
        "component-naming-convention",
        "regexMatchPattern: '[a-z]+'",
        &document,
    );
    insta::assert_snapshot!(results, @r#"component "Bad" does not match the naming convention [a-z]+: rename it"#);
}

#[test]
fn long_patterns_are_truncated_in_messages() {
    let config = format!("regexMatchPattern: '{}'", "x".repeat(1000));
    let text = texts("component-naming-convention", &config, &orchestration(&["A:"]));
    assert!(text.len() < 250, "{text}");
}

/// Returns an orchestration with one iterator on line 4 and the variables `a` and `b` of scope COPIED on lines 6 and 7,
/// and variables of other scopes below.
fn with_iterator(component: &str) -> String {
    format!(
        "{}  variables:
    a: {{metadata: {{type: TEXT, scope: COPIED}}, defaultValue: x}}
    b: {{metadata: {{type: GRID, scope: COPIED, columns: {{}}}}}}
    c: {{metadata: {{type: TEXT, scope: SHARED}}}}
    d: {{metadata: }}
    e:
    f: {{metadata: {{scope: copied}}}}
    g: {{metadata: {{scope: }}}}
    h: {{scope: COPIED}}
",
        orchestration(&[component])
    )
}

/// An iterator, and the lines of the violations.
const ITERATORS: [(&str, &[u32]); 24] = [
    ("I: {type: start}", &[6, 7]),
    (
        "I: {type: fixed-iterator, parameters: {concurrency: Concurrent, variablesToIterate: [a, b]}}",
        &[],
    ),
    (
        "I: {type: fixed-iterator, parameters: {concurrency: Concurrent, variablesToIterate: [a]}}",
        &[7],
    ),
    (
        "I: {type: fixed-iterator, parameters: {concurrency: Sequential, variablesToIterate: [a, b]}}",
        &[6, 7],
    ),
    (
        "I: {type: fixed-iterator, parameters: {concurrency: '${c}', variablesToIterate: [a, b]}}",
        &[6, 7],
    ),
    (
        "I: {type: fixed-iterator, parameters: {concurrency: concurrent, variablesToIterate: [a, b]}}",
        &[6, 7],
    ),
    (
        "I: {type: fixed-iterator, parameters: {variablesToIterate: [a, b]}}",
        &[6, 7],
    ),
    (
        "I: {type: fixed-iterator, concurrency: Concurrent, parameters: {variablesToIterate: [a]}}",
        &[6, 7],
    ),
    (
        "I: {type: fixed-iterator, parameters: {concurrency: Concurrent, variablesToIterate: a}}",
        &[6, 7],
    ),
    (
        "I: {type: fixed-iterator, skipped: true, parameters: {concurrency: Concurrent, variablesToIterate: [a, b]}}",
        &[],
    ),
    (
        "I: {type: grid-iterator, parameters: {concurrency: Concurrent, gridIteratorVariableMapping: [[x, a], [y, b]]}}",
        &[],
    ),
    (
        "I: {type: grid-iterator, parameters: {concurrency: Concurrent, gridIteratorVariableMapping: [[a, x], [b]]}}",
        &[6, 7],
    ),
    (
        "I: {type: grid-iterator, parameters: {concurrency: Concurrent, gridVariable: b}}",
        &[6, 7],
    ),
    (
        "I: {type: grid-iterator, parameters: {concurrency: Concurrent, columnMapping: [[x, a]]}}",
        &[6, 7],
    ),
    (
        "I: {type: table-iterator, parameters: {concurrency: Concurrent, columnMapping: [[x, a], [y, b]]}}",
        &[],
    ),
    (
        "I: {type: table-iterator, parameters: {concurrency: Concurrent, columnMapping: [[x, a]], columnMapping1: [[y, b]]}}",
        &[],
    ),
    (
        "I: {type: table-iterator, parameters: {concurrency: Concurrent, gridIteratorVariableMapping: [[x, a]]}}",
        &[6, 7],
    ),
    (
        "I: {type: file-iterator, parameters: {concurrency: Concurrent, variables: [[a, name], [b, path]]}}",
        &[],
    ),
    (
        "I: {type: file-iterator, parameters: {concurrency: Concurrent, variables: [[name, a]]}}",
        &[6, 7],
    ),
    (
        "I: {type: loop-iterator, parameters: {concurrency: Concurrent, variableToIterate: b}}",
        &[6],
    ),
    (
        "I: {type: loop-iterator, parameters: {concurrency: Concurrent, variableToIterate: [b]}}",
        &[6, 7],
    ),
    (
        "I: {type: retry, parameters: {concurrency: Concurrent, variableToIterate: a}}",
        &[6, 7],
    ),
    (
        "I: {parameters: {concurrency: Concurrent, variableToIterate: a}}",
        &[6, 7],
    ),
    ("I: {type: fixed-iterator, parameters: }", &[6, 7]),
];

#[test]
fn copied_variable_without_concurrent_iterator_is_violation() {
    for (component, expected) in ITERATORS {
        let document = with_iterator(component);
        assert_eq!(lines("copied-variables", "", &document), expected, "{component}");
        let transformation = document.replace("type: orchestration", "type: transformation");
        assert_eq!(
            lines("copied-variables", "", &transformation),
            [6, 7],
            "{component}"
        );
    }
}

#[test]
fn variables_of_unexpected_form_are_ignored() {
    for variables in ["", "~", "[]", "5", "{}"] {
        let document = format!("type: orchestration\npipeline:\n  variables: {variables}\n");
        assert_eq!(
            lines("copied-variables", "", &document),
            [0_u32; 0],
            "{variables}"
        );
    }
}

#[test]
fn copied_variable_is_subject_of_violation() {
    let document = with_iterator(
        "I: {type: loop-iterator, parameters: {concurrency: Concurrent, variableToIterate: b}}",
    );
    let transformation = document.replace("type: orchestration", "type: transformation");
    insta::assert_snapshot!([
        texts("copied-variables", "", &document),
        texts("copied-variables", "", &transformation),
    ].join("\n"), @r#"
    variable "a" has the scope COPIED, but no concurrent iterator sets the variable: change the scope to SHARED, or map the variable in a concurrent iterator
    variable "a" has the scope COPIED, which has no effect in a transformation: change the scope to SHARED
    variable "b" has the scope COPIED, which has no effect in a transformation: change the scope to SHARED
    "#);
}
