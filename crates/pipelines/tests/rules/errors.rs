//! The ten evaluation errors with their causes, and their precedence.

use crate::support::{ALL_RULES, one_rule, orchestration, outcome, single_result, transformation};
use sluicegate_pipelines::findings::{Enforcement, RuleResult};
use sluicegate_pipelines::rules::{RULES_FILE_RULE, RuleSet};

fn good() -> String {
    orchestration(&[
        "S: {type: start, transitions: {success: [E]}}",
        "E: {type: end-success}",
    ])
}

fn results(rules: &str, path: &str, document: &str) -> Vec<RuleResult> {
    RuleSet::parse(rules.as_bytes())
        .evaluate(path, document.as_bytes())
        .results
}

fn outcomes(rules: &str, document: &str) -> Vec<(String, String)> {
    let results = results(rules, "x.orch.yaml", document);
    results
        .iter()
        .map(|r| (r.rule.clone(), outcome(r).to_owned()))
        .collect()
}

fn outcome_of_entry(entry: &str) -> String {
    let result = single_result(
        &RuleSet::parse(format!("rules:\n- {entry}\n").as_bytes()),
        &good(),
    );
    outcome(&result).to_owned()
}

#[test]
fn missing_rules_file_is_one_result_for_each_pipeline() {
    for document in [good(), "no pipeline".to_owned()] {
        let result = single_result(&RuleSet::without_file(), &document);
        assert_eq!(result.rule, RULES_FILE_RULE);
        assert_eq!(outcome(&result), "designer/rules-file-retrieval-error");
        assert_eq!((result.enforcement, result.line()), (None, 1));
    }
}

#[test]
fn invalid_rules_file_is_one_result_for_each_pipeline() {
    for file in [
        "",
        "rules: [",
        "rules:",
        "rules: {}",
        "rules: all",
        "- id: unused-components\n  enabled: true",
        "other: []",
        "rules: [unused-components]",
        "rules: [~]",
        "rules: [{enabled: true}]",
        "rules: [{id: , enabled: true}]",
        "rules: [{id: 5, enabled: true}]",
        "rules: [{id: [x], enabled: true}]",
        "rules: [{id: x}]",
        "rules: [{id: x, enabled: }]",
        "rules: [{id: x, enabled: yes}]",
        "rules: [{id: x, enabled: 'true'}]",
        "rules: [{id: x, enabled: 1}]",
        "rules: [{id: unused-components, enabled: true, enforcementLevel: warn}, {id: x, enabled: 0}]",
        "rules: [{id: x, id: y, enabled: true}]",
        "rules: []\nrules: []",
        "rules: []\n---\nrules: []",
        "rules: [\u{1}]",
    ] {
        let result = single_result(&RuleSet::parse(file.as_bytes()), &good());
        assert_eq!(result.rule, RULES_FILE_RULE, "{file:?}");
        assert_eq!(outcome(&result), "designer/rules-file-parse-error", "{file:?}");
        assert_eq!((result.enforcement, result.line()), (None, 1), "{file:?}");
    }
    assert_eq!(
        outcome(&single_result(&RuleSet::parse(b"rules: [\xff]"), &good())),
        "designer/rules-file-parse-error"
    );
}

#[test]
fn too_many_rules_are_rejected() {
    let file = |count: usize| format!("rules: [{}]", "{id: x, enabled: false},".repeat(count));
    assert!(results(&file(1000), "x.orch.yaml", &good()).is_empty());
    let refused = results(&file(1001), "x.orch.yaml", &good());
    assert_eq!(
        refused.iter().map(outcome).collect::<Vec<_>>(),
        ["designer/rules-file-parse-error"]
    );
}

#[test]
fn rules_file_without_enabled_rules_has_no_results() {
    for file in [
        "rules: []",
        "rules: [{id: nonsense, enabled: false}, {id: unused-components, enabled: False}]",
    ] {
        assert_eq!(outcomes(file, &good()), Vec::new());
        assert_eq!(outcomes(file, "no pipeline"), Vec::new());
    }
}

#[test]
fn rule_that_is_enabled_twice_is_one_error_at_first_entry() {
    let file = "rules:
- {id: unused-components, enabled: false, enforcementLevel: warn}
- {id: unused-components, enabled: true, enforcementLevel: error}
- {id: copied-variables, enabled: true, enforcementLevel: error}
- {id: unused-components, enabled: true, enforcementLevel: warn}
- {id: copied-variables, enabled: false}
";
    let expected = [
        ("unused-components", "designer/duplicate-enabled-rule"),
        ("copied-variables", "PASSED"),
    ]
    .map(|(rule, outcome)| (rule.to_owned(), outcome.to_owned()));
    assert_eq!(outcomes(file, &good()), expected);
}

#[test]
fn level_other_than_warn_and_error_is_rejected() {
    let entry = |level: &str| outcome_of_entry(&format!("{{id: unused-components, enabled: true{level}}}"));
    for level in ["warn", "error", "'error'", "\"warn\""] {
        assert_eq!(
            entry(&format!(", enforcementLevel: {level}")),
            "PASSED",
            "{level}"
        );
    }
    assert_eq!(entry(""), "designer/invalid-enforcement-level");
    for level in [
        "", "~", "Warn", "ERROR", "' warn'", "info", "1", "true", "[warn]", "{warn: }",
    ] {
        let results = entry(&format!(", enforcementLevel: {level}"));
        assert_eq!(results, "designer/invalid-enforcement-level", "{level}");
    }
}

#[test]
fn counts_other_than_integers_from_0_are_rejected() {
    let found = |config: &str| {
        let entry = format!("{{id: minimum-components, enabled: true, enforcementLevel: error{config}}}");
        outcome_of_entry(&entry)
    };
    for good in [
        "0",
        "2",
        "+1",
        "0x2",
        "0xFFFFFFFFFFFFFFFFFF",
        "99999999999999999999",
        "2, other: x",
    ] {
        let outcome = found(&format!(", config: {{minComponents: {good}}}"));
        assert!(
            ["PASSED", "FAILED"].contains(&outcome.as_str()),
            "{good}: {outcome}"
        );
    }
    for bad in [
        "", "~", "-1", "1.0", "1e1", "'1'", "\"1\"", "true", "one", "[1]", "{}", ".inf",
    ] {
        let outcome = found(&format!(", config: {{minComponents: {bad}}}"));
        assert_eq!(outcome, "designer/invalid-rule-configuration", "{bad}");
    }
    for config in [
        "",
        ", config: ",
        ", config: []",
        ", config: 1",
        ", config: {}",
        ", config: {minComponent: 1}",
    ] {
        assert_eq!(found(config), "designer/invalid-rule-configuration", "{config}");
    }
}

#[test]
fn rule_without_its_config_field_is_rejected() {
    for (id, field) in [
        ("minimum-components", "minComponents: 1"),
        ("maximum-components", "maxComponents: 10"),
        ("component-naming-convention", "regexMatchPattern: .*"),
    ] {
        assert_eq!(
            outcome(&single_result(&one_rule(id, field), &good())),
            "PASSED",
            "{id}"
        );
        let other = single_result(&one_rule(id, "maxOutputs: 1"), &good());
        assert_eq!(outcome(&other), "designer/invalid-rule-configuration", "{id}");
    }
    let rules = one_rule("maximum-outputs", "maxComponents: 1");
    assert_eq!(
        outcome(&single_result(&rules, &transformation(&[]))),
        "designer/invalid-rule-configuration"
    );
}

#[test]
fn rules_without_config_ignore_config() {
    for config in ["", "config: ", "config: 5", "config: [x]", "config: {a: b}"] {
        let entry = format!("{{id: copied-variables, enabled: true, enforcementLevel: warn, {config}}}");
        assert_eq!(outcome_of_entry(&entry), "PASSED", "{config}");
    }
}

#[test]
fn pattern_that_does_not_compile_is_rejected() {
    let found = |pattern: &str| {
        let rules = one_rule(
            "component-naming-convention",
            &format!("regexMatchPattern: {pattern}"),
        );
        outcome(&single_result(&rules, &good())).to_owned()
    };
    for (pattern, expected) in [
        ("'.*'", "PASSED"),
        ("S|E", "PASSED"),
        ("' '", "FAILED"),
        ("'^$'", "FAILED"),
        ("''", "designer/empty-regex-pattern"),
        ("\"\"", "designer/empty-regex-pattern"),
        ("", "designer/invalid-rule-configuration"),
        ("5", "designer/invalid-rule-configuration"),
        ("true", "designer/invalid-rule-configuration"),
        ("[x]", "designer/invalid-rule-configuration"),
        ("'('", "designer/invalid-regex-pattern"),
        ("'a)|(b'", "designer/invalid-regex-pattern"),
        ("'[z-a]'", "designer/invalid-regex-pattern"),
        ("'*'", "designer/invalid-regex-pattern"),
        ("'a\\'", "designer/invalid-regex-pattern"),
        ("'(?=a)'", "FAILED"),
        ("'(a)\\1'", "FAILED"),
        ("'(?=[SE]).*'", "PASSED"),
        ("'(?!a'", "designer/invalid-regex-pattern"),
        ("'(?<=a)|(b)\\1)|(c'", "designer/invalid-regex-pattern"),
        ("'(a\\g<1>?)'", "designer/invalid-regex-pattern"),
        ("'(a)(?(1)b|c)'", "designer/invalid-regex-pattern"),
        ("'\\w{1000}{1000}'", "designer/invalid-regex-pattern"),
    ] {
        assert_eq!(found(pattern), expected, "{pattern}");
    }
}

#[test]
fn first_of_several_errors_is_reported() {
    let broken = "type: orchestration";
    let no_start = orchestration(&["A:"]);
    let table = [
        // Duplicate before unknown, level, configuration and document.
        (
            "{id: x, enabled: true}, {id: x, enabled: true}",
            broken,
            "designer/duplicate-enabled-rule",
        ),
        // Unknown before level and document.
        ("{id: x, enabled: true}", broken, "designer/validator-not-found"),
        // Level before configuration and document.
        (
            "{id: minimum-components, enabled: true}",
            broken,
            "designer/invalid-enforcement-level",
        ),
        // Configuration before document.
        (
            "{id: minimum-components, enabled: true, enforcementLevel: warn}",
            broken,
            "designer/invalid-rule-configuration",
        ),
        (
            "{id: component-naming-convention, enabled: true, enforcementLevel: warn, config: {regexMatchPattern: ''}}",
            broken,
            "designer/empty-regex-pattern",
        ),
        (
            "{id: component-naming-convention, enabled: true, enforcementLevel: warn, config: {regexMatchPattern: (}}",
            broken,
            "designer/invalid-regex-pattern",
        ),
        // Document before start.
        (
            "{id: unused-components, enabled: true, enforcementLevel: warn}",
            broken,
            "designer/document-parse-error",
        ),
        (
            "{id: unused-components, enabled: true, enforcementLevel: warn}",
            no_start.as_str(),
            "designer/no-start-component",
        ),
    ];
    for (entries, document, expected) in table {
        let result = single_result(
            &RuleSet::parse(format!("rules: [{entries}]").as_bytes()),
            document,
        );
        assert_eq!(outcome(&result), expected, "{entries}");
    }
}

#[test]
fn invalid_rule_of_other_kind_has_no_result() {
    let entries = [
        "{id: maximum-outputs, enabled: true}",
        "{id: end-output-components, enabled: true, enforcementLevel: nonsense}",
        "{id: end-output-components, enabled: true}",
    ];
    assert_eq!(
        outcomes(&format!("rules: [{}]", entries.join(", ")), &good()),
        Vec::new()
    );
    assert_eq!(
        outcomes(
            "rules: [{id: start-and-end-components, enabled: true}]",
            &transformation(&[])
        ),
        Vec::new()
    );
}

#[test]
fn rules_of_unreadable_pipeline_are_selected_by_extension() {
    let ids = |path: &str| -> Vec<String> {
        let results = results(ALL_RULES, path, "type: transformation\npipeline: []");
        assert!(
            results
                .iter()
                .all(|r| outcome(r) == "designer/document-parse-error")
        );
        assert!(
            results
                .iter()
                .all(|r| r.enforcement == Some(Enforcement::Error) && r.line() == 2)
        );
        results.into_iter().map(|r| r.rule).collect()
    };
    let both = [
        "minimum-components",
        "maximum-components",
        "component-naming-convention",
        "unused-components",
        "copied-variables",
    ];
    assert_eq!(
        ids("a/b.orch.yaml"),
        [&both[..], &["start-and-end-components"]].concat()
    );
    assert_eq!(
        ids("a/b.tran.yaml"),
        [&both[..], &["maximum-outputs", "end-output-components"]].concat()
    );
}

#[test]
fn rules_are_selected_by_type_key_and_not_by_extension() {
    let ids: Vec<String> = results(
        ALL_RULES,
        "x.orch.yaml",
        &transformation(&["A: {type: table-output}"]),
    )
    .into_iter()
    .map(|r| r.rule)
    .collect();
    assert!(
        ids.contains(&"maximum-outputs".to_owned()) && !ids.contains(&"start-and-end-components".to_owned())
    );
}

#[test]
fn each_error_has_explanation() {
    let bad = "rules:
- {id: maximum-component, enabled: true}
- {id: zzz, enabled: true}
- {id: copied-variables, enabled: true, enforcementLevel: high}
- {id: minimum-components, enabled: true, enforcementLevel: warn, config: {minComponents: '1'}}
- {id: maximum-components, enabled: true, enforcementLevel: warn, config: []}
- {id: component-naming-convention, enabled: true, enforcementLevel: warn, config: {regexMatchPattern: '[z-a]'}}
- {id: unused-components, enabled: true, enforcementLevel: warn}
- {id: start-and-end-components, enabled: true, enforcementLevel: warn}
- {id: start-and-end-components, enabled: true, enforcementLevel: warn}
";
    let empty = "rules: [{id: component-naming-convention, enabled: true, enforcementLevel: warn, config: {regexMatchPattern: ''}}]";
    let broken = "type: orchestration\npipeline: [";
    let mut all = results(bad, "x.orch.yaml", &orchestration(&[]));
    all.extend(results(empty, "x.orch.yaml", &good()));
    all.extend(results(
        "rules: [{id: unused-components, enabled: true, enforcementLevel: warn}]",
        "x",
        broken,
    ));
    all.extend(results("rules: all", "x.orch.yaml", &good()));
    all.extend(RuleSet::without_file().evaluate("x", b"").results);
    let texts: Vec<String> = all
        .iter()
        .flat_map(|r| r.violations.iter().map(|v| v.text.clone()))
        .collect();
    insta::assert_snapshot!(texts.join("\n"), @"
    the rules file enables `maximum-component`, which is not a known rule: did you mean `maximum-components`?
    the rules file enables `zzz`, which is not a known rule
    the rules file sets an invalid enforcementLevel for `copied-variables`: write `warn` or `error`
    the rules file has an invalid `config` for `minimum-components`: `minComponents` must be a non-negative integer, but is the string `1`
    the rules file has an invalid `config` for `maximum-components`: `config` is not a map
    the rules file has an invalid regular expression for `component-naming-convention`: invalid character class range, the start must be <= the end
    the pipeline has no start component, so reachability cannot be determined: add a start component
    the rules file enables `start-and-end-components` 2 times: enable the rule only once
    the rules file has an empty pattern for `component-naming-convention`: write `.*` to allow every name
    the pipeline cannot be read: not YAML: while parsing a node, did not find expected node content (line 3, column 1)
    the rules file cannot be read: `rules` is not a list (line 1, column 8)
    the rules file is missing: the platform's hidden directory has no `config/pipeline_quality_rules.yaml`
    ");
}

#[test]
fn long_invalid_pattern_is_reported_as_invalid() {
    for (start, reason) in [
        ("(", "unclosed group"),
        ("[z-a]", "invalid character class range"),
        ("(?=b)", "the expression is too large"),
        (r"\Z", "the expression is too large"),
    ] {
        let pattern = start.to_owned() + &"a".repeat(1000);
        let file = format!(
            "rules: [{{ id: component-naming-convention, enabled: true, enforcementLevel: warn, config: {{ regexMatchPattern: '{pattern}' }} }}]\n"
        );
        let result = single_result(&RuleSet::parse(file.as_bytes()), &good());
        let text = &result.violations[0].text;
        assert!(text.contains(reason), "{text}");
    }
}
