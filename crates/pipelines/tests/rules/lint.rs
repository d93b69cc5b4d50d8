//! The problems of a rules file, each with its place.

use crate::support::orchestration;
use proptest::prelude::*;
use sluicegate_pipelines::findings::Status;
use sluicegate_pipelines::rules::{RuleSet, lint_rules_file};

/// Returns each problem on a line: place, severity, error type, message, help.
fn problems(file: &str) -> String {
    let problems = lint_rules_file(file.as_bytes()).into_iter().map(|problem| {
        let weight = if problem.is_error { "error" } else { "warning" };
        format!(
            "{}:{} {weight} {} {}{}",
            problem.position.line,
            problem.position.column,
            problem.error_type.unwrap_or("-"),
            problem.message,
            problem.help.map(|help| format!(" | {help}")).unwrap_or_default()
        )
    });
    problems.collect::<Vec<_>>().join("\n")
}

#[test]
fn lint_reports_all_problems_at_once() {
    let file = "\
rules:
  - id: maximum-component
    enabled: true
    enforcementLevel: warn
  - id: unused-components
    enabled: true
    enforcmentLevel: warn
  - id: minimum-components
    enabled: true
    enforcementLevel: warn
    config:
      minComponents: '1'
      minComponent: 2
  - { id: component-naming-convention, enabled: true, enforcementLevel: error, config: { regexMatchPattern: '(a' } }
  - id: copied-variables
    enabled: true
    enforcementLevel: Warn
    note: ours
  - id: unused-components
    enabled: true
    enforcementLevel: error
  - id: maximum-outputs
    enabled: false
    enforcementLevel: never
  - enabled: true
  - id: end-output-components
    enabled: yes
  - { id: zzz, enabled: false, enforcementLevel: warn }
";
    insta::assert_snapshot!(problems(file), @"
    2:9 error designer/validator-not-found the rules file enables `maximum-component`, which is not a known rule | did you mean `maximum-components`?
    5:5 error designer/invalid-enforcement-level the rules file does not set an enforcementLevel for `unused-components`: write `warn` or `error`
    7:5 error - the rule `unused-components` has an unknown key `enforcmentLevel`, which is ignored | did you mean `enforcementLevel`?
    12:22 error designer/invalid-rule-configuration the rules file has an invalid `config` for `minimum-components`: `minComponents` must be a non-negative integer, but is the string `1`
    13:7 error - the config of `minimum-components` has an unknown key `minComponent`, which is ignored | did you mean `minComponents`?
    14:109 error designer/invalid-regex-pattern the rules file has an invalid regular expression for `component-naming-convention`: unclosed group
    17:23 error designer/invalid-enforcement-level the rules file sets an invalid enforcementLevel for `copied-variables`: write `warn` or `error`
    18:5 warning - the rule `copied-variables` has an unknown key `note`, which is ignored
    19:9 error designer/duplicate-enabled-rule the rule `unused-components` is already enabled on line 5 | enable the rule only once
    22:5 warning designer/invalid-rule-configuration the rules file has an invalid `config` for `maximum-outputs`: `config` is missing, so `maxOutputs` is not set
    24:23 warning designer/invalid-enforcement-level the rules file sets an invalid enforcementLevel for `maximum-outputs`: write `warn` or `error`
    25:5 error designer/rules-file-parse-error the rules file cannot be read: the rule has no `id`, or its `id` is not a string
    26:5 error designer/rules-file-parse-error the rules file cannot be read: the rule has no `enabled`, or its value is neither `true` nor `false`
    28:11 warning designer/validator-not-found the rules file has an entry for `zzz`, which is not a known rule
    ");
}

#[test]
fn unreadable_rules_file_is_one_problem() {
    insta::assert_snapshot!(problems("rules: [\n"), @"2:1 error designer/rules-file-parse-error the rules file cannot be read: not YAML: while parsing a node, did not find expected node content");
    insta::assert_snapshot!(problems("rule: []\n"), @"
    1:1 error - the file has an unknown key `rule`, which is ignored | did you mean `rules`?
    1:1 error designer/rules-file-parse-error the rules file cannot be read: the list `rules` is missing
    ");
    insta::assert_snapshot!(problems("rules: {}\n"), @"1:8 error designer/rules-file-parse-error the rules file cannot be read: `rules` is not a list");
    insta::assert_snapshot!(problems(""), @"1:1 error designer/rules-file-parse-error the rules file cannot be read: the document is empty");
    insta::assert_snapshot!(problems("rules: [\u{1}]"), @"1:9 error designer/rules-file-parse-error the rules file cannot be read: control characters are not allowed");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The lint reports everything that the engine cannot evaluate.
    #[test]
    fn each_evaluation_error_is_lint_problem(
        id in prop::sample::select(&["minimum-components", "component-naming-convention", "unused-components", "nonsense"][..]),
        enabled in prop::sample::select(&["true", "false", "yes", "~"][..]),
        level in prop::sample::select(&["warn", "error", "Error", "", "[x]"][..]),
        config in prop::sample::select(&["{}", "~", "3", "{minComponents: 1}", "{minComponents: -1}", "{regexMatchPattern: 'a'}", "{regexMatchPattern: ''}", "{regexMatchPattern: '('}"][..]),
        twice in any::<bool>(),
    ) {
        let entry = format!("- {{id: {id}, enabled: {enabled}, enforcementLevel: {level}, config: {config}}}\n");
        let file = format!("rules:\n{entry}{}", if twice { &entry } else { "" });
        let document = orchestration(&["a: {type: start}"]);
        let results = RuleSet::parse(file.as_bytes()).evaluate("x.orch.yaml", document.as_bytes()).results;
        let is_broken = results.iter().any(|result| matches!(result.status, Status::Error(_)));
        let has_error = lint_rules_file(file.as_bytes()).iter().any(|problem| problem.is_error);
        prop_assert_eq!(is_broken, has_error, "{}", file);
    }
}
