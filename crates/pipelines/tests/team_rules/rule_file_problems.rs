//! Problems of a file of team rules, each with its place.

use crate::rule;
use sluicegate_pipelines::team_rules::{TeamRuleSet, lint_team_rules};

/// Returns the first error: line, column, message and help.
fn find_problem(file: &str) -> String {
    let problems = lint_team_rules(file.as_bytes());
    let Some(problem) = problems.into_iter().find(|problem| problem.is_error) else {
        return "none".to_owned();
    };
    let position = problem.position;
    let help = problem.help.map(|help| format!(" | {help}")).unwrap_or_default();
    format!("{}:{}: {}{help}", position.line, position.column, problem.message)
}

fn find_condition_problem(subject: &str, condition: &str) -> String {
    find_problem(&rule(subject, condition, "m"))
}

#[test]
fn missing_key_of_rule_is_not_reported_as_wrong_value() {
    let keys = [
        ("id", "id: a"),
        ("for", "for: pipeline"),
        ("level", "level: warn"),
        ("when", "when: 'true'"),
        ("message", "message: m"),
    ];
    for (missing_key, _) in keys {
        let lines = keys.iter().filter(|(key, _)| *key != missing_key);
        let lines: Vec<&str> = lines.map(|(_, line)| *line).collect();
        let text = format!("rules:\n  - {}\n", lines.join("\n    "));
        let problems = TeamRuleSet::parse(text.as_bytes()).unwrap_err();
        let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(messages, [format!("the required key `{missing_key}` is missing")]);
    }
}

#[test]
fn condition_is_checked_when_file_is_read() {
    let cases = [
        (
            "component.typ == 'a'",
            "5:22: `component` has no field `typ` | did you mean `type`?",
        ),
        (
            "components.type == 'a'",
            "5:12: unknown variable `components` | did you mean `component`?",
        ),
        (
            "variable.name == 'a'",
            "5:12: unknown variable `variable` | `variable` exists only in rules with `for: variable`",
        ),
        (
            "component.name.startWith('a')",
            "5:27: unknown function `startWith` | did you mean `startsWith`?",
        ),
        (
            "component.name",
            "5:12: the expression is a string, not a boolean",
        ),
        (
            "component.name == 5",
            "5:27: a string is never equal to an integer",
        ),
        (
            "component.name && true",
            "5:22: expected a condition, but the expression is a string",
        ),
        (
            "size(component) > 1",
            "5:17: `size` cannot be applied to a component",
        ),
        (
            "component.name.matches('(')",
            "5:35: the regular expression is not valid: unclosed group",
        ),
        (
            "glob(pipeline.path, 'a[')",
            "5:32: the glob is not valid: unclosed character class; missing ']'",
        ),
        ("component.name ==", "5:29: the expression is incomplete"),
        ("component.name == == 'a'", "5:30: unexpected `==`"),
        (
            "has(component.type)",
            "5:16: `component.type` always exists: compare it with an empty value",
        ),
        (
            "has(component)",
            "5:16: `has` needs a field, as in `has(component.parameters.name)`",
        ),
        (
            "component.skipped.all(x, x)",
            "5:22: expected a list or a map, but the expression is a boolean",
        ),
        (
            "pipeline.components.exists(c, c.nam == 'a')",
            "5:44: `component` has no field `nam` | did you mean `name`?",
        ),
        ("b'a' == b'a'", "5:12: bytes are not supported: write a string"),
        (
            "timestamp('x') == timestamp('y')",
            "5:12: unknown function `timestamp`",
        ),
        ("-component.name == 'a'", "5:23: a string cannot be negated"),
        (
            "component.name + 1 == 'a'",
            "5:27: the operator cannot be applied to a string and an integer",
        ),
        (
            "component.name.size() < 'a'",
            "5:34: an integer and a string cannot be ordered",
        ),
    ];
    for (condition, expected) in cases {
        let problem = find_condition_problem("component", condition);
        assert!(
            problem.starts_with(expected),
            "{condition}\n  {problem}\n  {expected}"
        );
    }
}

#[test]
fn place_in_expression_is_found_in_each_yaml_style() {
    let file = |when: &str| {
        format!("rules:\n  - id: r\n    level: warn\n    for: component\n    message: m\n    when: {when}\n")
    };
    for (when, expected) in [
        ("component.typ == 'ü'", "6:21"),
        ("\"component.name == \\\"ü\\\" && component.typ == 1\"", "6:49"),
        ("'component.name == ''ü'' && component.typ == 1'", "6:49"),
        (
            "|\n      component.name == 'ü'\n      && component.typ == 1",
            "8:20",
        ),
        (
            ">-\n      component.name == 'ü'\n      && component.typ == 1",
            "8:20",
        ),
        ("component.name == 'ü'\n      && component.typ == 1", "7:20"),
    ] {
        let problem = find_problem(&file(when));
        assert!(
            problem.starts_with(&format!("{expected}: `component` has no")),
            "{when}\n{problem}"
        );
    }
    let with_bom = format!("\u{feff}{}", file("component.typ == 'ü'"));
    assert!(
        find_problem(&with_bom).starts_with("6:21: "),
        "{}",
        find_problem(&with_bom)
    );
    let crlf = file("|\n      component.name == 'ü'\n      && component.typ == 1").replace('\n', "\r\n");
    assert!(
        find_problem(&crlf).starts_with("8:20: "),
        "{}",
        find_problem(&crlf)
    );
}

#[test]
fn placeholder_of_message_is_checked() {
    for (message, expected) in [
        ("x {component.nam}", "6:28: `component` has no field `nam`"),
        ("x {component.name", "6:17: `{` has no matching `}`"),
        ("x } y", "6:17: `}` has no matching `{`"),
        ("x {component.parameters}", "6:18: a message cannot show a map"),
        ("x {}", "6:18: the expression is empty"),
    ] {
        let problem = find_problem(&rule("component", "true", message));
        assert!(
            problem.starts_with(expected),
            "{message}\n  {problem}\n  {expected}"
        );
    }
    assert_eq!(
        find_problem(&rule("component", "true", "{{ {component.name} }}")),
        "none"
    );
}

#[test]
fn keys_and_values_of_a_rule_are_checked() {
    let with = |line: &str| {
        let base = "  - id: r\n    level: warn\n    for: component\n    when: 'true'\n    message: m\n";
        let key = line.split(':').next().unwrap_or_default();
        let mut lines: Vec<String> = base
            .lines()
            .filter(|candidate| {
                !candidate
                    .trim_start_matches("  - ")
                    .trim()
                    .starts_with(&format!("{key}:"))
            })
            .map(str::to_owned)
            .collect();
        lines.push(format!("    {line}"));
        let mut text = lines.join("\n").replacen("    ", "  - ", 1);
        if key != "id" {
            text = lines.join("\n");
        }
        format!("rules:\n{text}\n")
    };
    for (line, expected) in [
        ("levels: warn", "unknown key `levels` | did you mean `level`?"),
        ("level: fatal", "`level` must be `error`, `warn` or `off`"),
        ("for: components", "`for` must be one of"),
        ("when: ''", "`when` is empty or not a string"),
        ("message: []", "`message` is empty or not a string"),
        (
            "paths: []",
            "`paths` must be a string or a list of 1 to 200 strings",
        ),
        ("paths: ['a[']", "the glob `a[` is not valid"),
        (
            "exclude: { a: b }",
            "`exclude` must be a string or a list of 1 to 200 strings",
        ),
        (
            "id: unused-components",
            "`unused-components` is the id of a platform rule",
        ),
        ("id: Upper", "the id `Upper` must begin with a lowercase letter"),
        ("id: a/b", "the id `a/b` must begin with a lowercase letter"),
        ("examples: []", "`examples` is not a map"),
        (
            "examples: { fail: [] }",
            "unknown key `fail` | did you mean `fails`?",
        ),
        (
            "examples: { fails: [{ path: a }] }",
            "the required key `pipeline` is missing",
        ),
    ] {
        let problem = find_problem(&with(line));
        assert!(problem.contains(expected), "{line}\n  {problem}\n  {expected}");
    }
}

#[test]
fn whole_file_is_checked() {
    for (file, expected) in [
        ("rules: {}", "1:8: `rules` is not a list"),
        ("[]", "1:1: the file is not a map with the key `rules`"),
        (
            "rule: []",
            "1:1: the file has an unknown key `rule` | did you mean `rules`?",
        ),
        ("rules: [5]", "1:9: an entry of `rules` is not a map"),
        ("rules: [", "2:1: "),
    ] {
        let problem = find_problem(file);
        assert!(problem.starts_with(expected), "{file}\n  {problem}\n  {expected}");
    }
    for blank in ["", "# only a comment\n", "rules: []\n"] {
        assert_eq!(find_problem(blank), "none", "{blank:?}");
    }
}

#[test]
fn duplicate_id_is_refused_and_anchor_is_read() {
    let entry = "{ id: r, level: warn, for: component, when: 'true', message: m }";
    let problem = find_problem(&format!("rules:\n  - {entry}\n  - {entry}\n"));
    assert_eq!(problem, "3:11: the rule `r` is already defined on line 2");
    let anchored = "rules:\n  - { id: a, level: warn, for: component, when: &when 'component.skipped', message: &m m }\n  \
                    - { id: b, level: warn, for: component, when: *when, message: *m }\n";
    assert_eq!(TeamRuleSet::parse(anchored.as_bytes()).unwrap().rules().len(), 2);
}

#[test]
fn missing_examples_are_a_warning() {
    let problems = lint_team_rules(rule("component", "true", "m").as_bytes());
    assert_eq!(problems.len(), 1);
    assert!(!problems[0].is_error && problems[0].message.contains("no examples"));
}
