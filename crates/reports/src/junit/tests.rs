use super::escaped_text::{replace_forbidden_chars, to_parsed_content};
use super::*;
use crate::sample;
use proptest::prelude::*;
use roxmltree::{Document, Node};
use sluicegate_pipelines::findings::{FindingState, GateChange, Severity, Verdict};

fn xml(report: &Report) -> String {
    written(report, Dialect::Hosts)
}

fn written(report: &Report, dialect: Dialect) -> String {
    let about = ReportContext {
        tool_version: "1.0.0",
        ..ReportContext::default()
    };
    String::from_utf8(sample::write_to_vec(|out| render(report, &about, dialect, out))).unwrap()
}

fn elements<'a>(document: &'a Document<'_>, name: &str) -> Vec<Node<'a, 'a>> {
    let name = name.to_owned();
    document
        .descendants()
        .filter(|node| node.tag_name().name() == name)
        .collect()
}

/// Returns all text of an element, across its sections.
fn text_of(node: Node<'_, '_>) -> String {
    node.descendants()
        .filter(Node::is_text)
        .filter_map(|child| child.text())
        .collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "the whole document is shown")]
fn failed_review_is_rendered_whole() {
    insta::assert_snapshot!(xml(&sample::report()).replace("><", ">\n<"), @r#"
    <?xml version="1.0" encoding="utf-8"?>
    <testsuites name="sluicegate" tests="7" failures="1" errors="2" time="1.200000">
    <testsuite id="0" name="sluicegate" package="testsuite/sluicegate" tests="1" errors="0" failures="0" timestamp="2026-11-20T09:30:00Z" time="0.171428" skipped="1">
    <properties>
    <property name="tool" value="sluicegate 1.0.0"/>
    <property name="engine" value="remote"/>
    <property name="verdict" value="failed"/>
    <property name="commit" value="1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f"/>
    <property name="branch" value="feature/x"/>
    </properties>
    <testcase name="gate change" time="0.171428" classname="sluicegate">
    <skipped type="gate change" message="This change edits the gate configuration: sluicegate.yaml: exclude: + old.* (relaxed); review.fail-on: error → never (relaxed)">This change edits the gate configuration: sluicegate.yaml: exclude: + old.* (relaxed); review.fail-on: error → never (relaxed)</skipped>
    </testcase>
    </testsuite>
    <testsuite id="1" name="load/it.orch.yaml" package="testsuite/load/it.orch.yaml" tests="2" errors="0" failures="1" timestamp="2026-11-20T09:30:00Z" time="0.342856" skipped="0">
    <properties>
    <property name="tool" value="sluicegate 1.0.0"/>
    <property name="engine" value="remote"/>
    <property name="verdict" value="failed"/>
    <property name="commit" value="1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f"/>
    <property name="branch" value="feature/x"/>
    </properties>
    <testcase name="load/it: component-naming-convention" time="0.171428" classname="load.it" file="load/it.orch.yaml" line="12">
    <failure type="error" message="`Run A` is not in the pattern (and 1 more)">load/it.orch.yaml:12: `Run A` is not in the pattern
    line 9: `Run B` is not</failure>
    </testcase>
    <testcase name="load/it: minimum-components" time="0.171428" classname="load.it" file="load/it.orch.yaml" line="1"/>
    </testsuite>
    <testsuite id="2" name="a.tran.yaml" package="testsuite/a.tran.yaml" tests="2" errors="1" failures="0" timestamp="2026-11-20T09:30:00Z" time="0.342856" skipped="1">
    <properties>
    <property name="tool" value="sluicegate 1.0.0"/>
    <property name="engine" value="remote"/>
    <property name="verdict" value="failed"/>
    <property name="commit" value="1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f"/>
    <property name="branch" value="feature/x"/>
    </properties>
    <testcase name="a: unused-components" time="0.171428" classname="a" file="a.tran.yaml" line="1">
    <error type="designer/no-start-component" message="designer/no-start-component">the rule could not be evaluated: designer/no-start-component</error>
    </testcase>
    <testcase name="a: maximum-outputs" time="0.171428" classname="a" file="a.tran.yaml" line="1">
    <skipped type="warning that does not fail the gate" message="warning that does not fail the gate: 3 outputs">warning that does not fail the gate:
    a.tran.yaml:1: 3 outputs</skipped>
    </testcase>
    </testsuite>
    <testsuite id="3" name="notes.txt" package="testsuite/notes.txt" tests="1" errors="0" failures="0" timestamp="2026-11-20T09:30:00Z" time="0.171428" skipped="1">
    <properties>
    <property name="tool" value="sluicegate 1.0.0"/>
    <property name="engine" value="remote"/>
    <property name="verdict" value="failed"/>
    <property name="commit" value="1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f"/>
    <property name="branch" value="feature/x"/>
    </properties>
    <testcase name="notes.txt: excluded" time="0.171428" classname="notes_txt" file="notes.txt" line="1">
    <skipped type="excluded" message="not a file that is reviewed">not a file that is reviewed</skipped>
    </testcase>
    </testsuite>
    <testsuite id="4" name="late.orch.yaml" package="testsuite/late.orch.yaml" tests="1" errors="1" failures="0" timestamp="2026-11-20T09:30:00Z" time="0.171428" skipped="0">
    <properties>
    <property name="tool" value="sluicegate 1.0.0"/>
    <property name="engine" value="remote"/>
    <property name="verdict" value="failed"/>
    <property name="commit" value="1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f"/>
    <property name="branch" value="feature/x"/>
    </properties>
    <testcase name="late: unreviewed" time="0.171428" classname="late" file="late.orch.yaml" line="1">
    <error type="unreviewed" message="The file was not reviewed: the batch timed out">The file was not reviewed: the batch timed out</error>
    </testcase>
    </testsuite>
    </testsuites>
    "#);
}

#[test]
fn review_of_nothing_is_valid_and_has_one_skipped_case() {
    let xml = xml(&sample::empty(Verdict::Passed));
    let document = Document::parse(&xml).unwrap();
    assert_eq!(document.root_element().attribute("tests"), Some("1"));
    assert_eq!(elements(&document, "skipped").len(), 1);
    assert_eq!(
        elements(&document, "failure").len() + elements(&document, "error").len(),
        0
    );
}

#[test]
fn step_of_failed_request_is_a_case_unless_shards_are_missing() {
    let mut report = sample::empty(Verdict::Undecided);
    report.next_steps = vec!["renew the token".to_owned()];
    assert!(xml(&report).contains("renew the token"));
    report.reasons = vec!["the report of a shard is missing: 2/3".to_owned()];
    assert!(!xml(&report).contains("renew the token"));
}

#[test]
fn junit_is_red_whenever_verdict_is_not_passed() {
    let warned = sample::file(
        "a",
        vec![sample::result("r", Status::Failed(Severity::Warning), vec![])],
    );
    let green = sample::file("a", vec![sample::result("r", Status::Passed, vec![])]);
    for verdict in [Verdict::Failed, Verdict::Undecided] {
        for files in [vec![], vec![green.clone()], vec![warned.clone()]] {
            let xml = xml(&Report {
                files,
                ..sample::empty(verdict)
            });
            let document = Document::parse(&xml).unwrap();
            let red = elements(&document, "failure").len() + elements(&document, "error").len();
            assert!(red > 0, "{verdict}: {xml}");
        }
    }
}

#[test]
fn junit_never_contradicts_verdict() {
    let results = || {
        vec![
            sample::result(
                "w",
                Status::Failed(Severity::Warning),
                vec![sample::violation("w", None)],
            ),
            sample::result("e", Status::Failed(Severity::Error), vec![]),
            sample::result("n", Status::Error(Some("designer/x".to_owned())), vec![]),
        ]
    };
    let red = |results: Vec<RuleResult>, fail_on, verdict| {
        let mut report = sample::empty(verdict);
        report.files = vec![sample::file("a", results)];
        report.context.fail_on = Some(fail_on);
        let xml = xml(&report);
        let document = Document::parse(&xml).unwrap();
        ["failure", "error", "skipped"].map(|name| elements(&document, name).len())
    };
    let (error, warning) = (FailOn::Error, FailOn::Warn);
    let only_warning = || results().into_iter().take(1).collect();
    assert_eq!(red(results(), error, Verdict::Failed), [1, 1, 1]);
    assert_eq!(red(results(), warning, Verdict::Failed), [2, 1, 0]);
    assert_eq!(red(results(), FailOn::Never, Verdict::Passed), [0, 0, 3]);
    assert_eq!(red(only_warning(), error, Verdict::Passed), [0, 0, 1]);
    assert_eq!(red(only_warning(), error, Verdict::Undecided), [0, 1, 1]);
    let states = |state| {
        let mut known = results();
        known.truncate(2);
        for result in &mut known {
            result.set_states([state]);
        }
        known
    };
    assert_eq!(
        red(states(Some(FindingState::Known)), warning, Verdict::Passed),
        [0, 0, 2]
    );
    assert_eq!(
        red(states(Some(FindingState::Waived)), warning, Verdict::Failed),
        [0, 1, 2]
    );
    assert_eq!(
        red(states(Some(FindingState::New)), warning, Verdict::Failed),
        [2, 0, 0]
    );
}

#[test]
fn case_has_its_file_to_sign_and_its_line() {
    let path = "a\tb\nc \"<d>\".orch.yaml";
    let found = vec![sample::violation("x", Some(7)), sample::violation("y", Some(3))];
    let unreadable = || {
        let error = Status::Error(Some("designer/document-parse-error".to_owned()));
        sample::result("r", error, vec![sample::violation("no", Some(2))])
    };
    let report = Report {
        files: vec![
            sample::file(
                path,
                vec![sample::result("r", Status::Failed(Severity::Error), found)],
            ),
            sample::file("broken", vec![unreadable(), unreadable()]),
        ],
        ..sample::empty(Verdict::Failed)
    };
    let xml = xml(&report);
    let document = Document::parse(&xml).unwrap();
    let cases = elements(&document, "testcase");
    let shown: Vec<_> = ["name", "file", "line"]
        .map(|name| cases[0].attribute(name).unwrap())
        .into();
    assert_eq!(shown, ["a\tb\nc \"<d>\": r", path, "7"]);
    assert_eq!(cases.len(), 2, "what no rule can read is said once");
    let shown: Vec<_> = ["name", "file", "line"]
        .map(|name| cases[1].attribute(name).unwrap())
        .into();
    assert_eq!(shown, ["broken: document-parse-error", "broken", "2"]);
}

#[test]
fn skipped_case_keeps_all_its_text_in_both_dialects() {
    let (first, second) = ("w".repeat(300), "second");
    let found = vec![
        sample::violation(&first, Some(7)),
        sample::violation(second, None),
    ];
    let mut report = sample::empty(Verdict::Passed);
    report.files = vec![sample::file(
        "a",
        vec![sample::result("r", Status::Failed(Severity::Warning), found)],
    )];
    let hosts = xml(&report);
    let document = Document::parse(&hosts).unwrap();
    let words = format!("warning that does not fail the gate:\na:7: {first}\nline 1: second");
    assert_eq!(text_of(elements(&document, "skipped")[0]), words);
    let strict = written(&report, Dialect::Strict);
    let document = Document::parse(&strict).unwrap();
    let output = elements(&document, "system-out").into_iter().map(text_of);
    assert!(
        output
            .into_iter()
            .any(|text| text == format!("skipped: a: r: {words}")),
        "{strict}"
    );
}

#[test]
fn strict_dialect_has_case_where_all_others_were_skipped() {
    let warning = sample::result("r", Status::Failed(Severity::Warning), vec![]);
    for files in [vec![], vec![sample::file("a", vec![warning])]] {
        let mut report = sample::empty(Verdict::Passed);
        report.files = files;
        let xml = written(&report, Dialect::Strict);
        let document = Document::parse(&xml).unwrap();
        let cases = elements(&document, "testcase");
        assert_eq!(cases.len(), 1, "{xml}");
        assert_eq!(cases[0].attribute("name"), Some("verdict"));
        assert!(!cases[0].has_children(), "{xml}");
        assert_eq!(cases[0].parent().unwrap().attribute("tests"), Some("1"));
    }
}

#[test]
fn type_is_no_instruction_to_reader() {
    let of = |kind: &str| {
        let mut report = sample::empty(Verdict::Undecided);
        let error = Status::Error(Some(kind.to_owned()));
        report.files = vec![sample::file("a", vec![sample::result("r", error, vec![])])];
        let xml = xml(&report);
        let document = Document::parse(&xml).unwrap();
        let found = elements(&document, "error").into_iter();
        let types = found.filter(|error| error.parent().unwrap().attribute("name") == Some("a: r"));
        types
            .filter_map(|error| error.attribute("type"))
            .collect::<String>()
    };
    let found = ["yaml", "symbol", "file", "designer/x"].map(of);
    assert_eq!(found, ["type yaml", "type symbol", "type file", "designer/x"]);
}

#[test]
fn twins_get_names_of_their_own() {
    let result = |name| sample::result(name, Status::Passed, vec![]);
    let report = Report {
        files: vec![sample::file("a", vec![result("r"), result("r (2)"), result("r")])],
        ..sample::empty(Verdict::Passed)
    };
    let xml = xml(&report);
    let document = Document::parse(&xml).unwrap();
    let names: Vec<_> = elements(&document, "testcase")
        .iter()
        .map(|case| case.attribute("name").unwrap())
        .collect();
    assert_eq!(names, ["a: r", "a: r (2)", "a: r (3)"]);
}

#[test]
fn changes_to_the_gate_are_cases_of_their_own() {
    let mut report = sample::empty(Verdict::Passed);
    report.gate_changes = ["sluicegate.yaml", ".platform/config/pipeline_quality_rules.yaml"]
        .map(|path| GateChange {
            path: path.to_owned(),
            descriptions: Vec::new(),
        })
        .into();
    for refused in [false, true] {
        report.gate_refused = refused;
        let xml = xml(&report);
        let document = Document::parse(&xml).unwrap();
        let cases = elements(&document, "testcase").into_iter();
        let names: Vec<_> = cases.filter_map(|case| case.attribute("name")).collect();
        assert!(names.ends_with(&["gate change", "gate change (2)"]), "{names:?}");
    }
}

#[test]
fn time_that_junit_cannot_write_does_no_harm() {
    for started_at in [Timestamp::MIN, Timestamp::MAX] {
        let report = Report {
            started_at,
            duration: std::time::Duration::MAX,
            ..sample::empty(Verdict::Passed)
        };
        Document::parse(&xml(&report)).unwrap();
    }
}

#[test]
fn strict_dialect_has_only_what_schemas_know() {
    let xml = written(&sample::report(), Dialect::Strict);
    let document = Document::parse(&xml).unwrap();
    let names =
        |node: Node<'_, '_>| -> Vec<String> { node.attributes().map(|a| a.name().to_owned()).collect() };
    assert!(names(document.root_element()).is_empty());
    for suite in elements(&document, "testsuite") {
        let known = [
            "id",
            "name",
            "package",
            "tests",
            "errors",
            "failures",
            "time",
            "timestamp",
            "hostname",
        ];
        let mut found = names(suite);
        found.sort();
        let mut known = known.map(str::to_owned);
        known.sort();
        assert_eq!(found, known);
        assert_eq!(suite.attribute("timestamp"), Some("2026-11-20T09:30:00"));
        let parts: Vec<&str> = suite.children().map(|child| child.tag_name().name()).collect();
        assert_eq!(parts.first(), Some(&"properties"));
        assert!(parts.ends_with(&["system-out", "system-err"]), "{parts:?}");
        let excluded = text_of(suite) == "skipped: notes.txt: excluded: not a file that is reviewed";
        assert_eq!(excluded, suite.attribute("name") == Some("notes.txt"));
    }
    for case in elements(&document, "testcase") {
        assert_eq!(names(case), ["name", "time", "classname"]);
        let decimals = case.attribute("time").unwrap().split_once('.').unwrap().1;
        assert_eq!(decimals.len(), 3, "the xunit plugin refuses more");
    }
}

proptest! {
    #[test]
    fn any_text_survives_and_is_no_command(
        raw in "(\\PC|[\\x00-\\x1f]|\\]\\]>|[<&\"']|\u{fffe}|\u{ffff}|::|##\\[|##vso\\[|##teamcity\\[|%|\r\n|\n *::|😀){0,40}"
    ) {
        let mut report = sample::empty(Verdict::Failed);
        let failed = sample::result(&raw, Status::Failed(Severity::Error), vec![sample::violation(&raw, Some(3))]);
        let broken = sample::result("other", Status::Error(Some(raw.clone())), vec![]);
        report.files = vec![sample::file(&raw, vec![failed, broken])];
        report.excluded_files = vec![sample::excluded_file(&raw)];
        report.gate_changes = vec![sample::gate_change(&raw)];
        let xml = xml(&report);
        prop_assert!(!xml.contains("##[") && !xml.contains("##vso[") && !xml.contains("##teamcity[") && !xml.contains("<![CDATA["));
        prop_assert!(xml.split(['\n', '\r']).all(|line| !line.trim_start().starts_with("::")), "{xml}");
        let document = Document::parse(&xml).unwrap();
        let failure = elements(&document, "failure")[0];
        // The text of a failure may have several lines, so names in it keep theirs.
        let message = if raw.trim().is_empty() { "(no text)" } else { &raw };
        prop_assert!(text_of(failure).contains(&to_parsed_content(message)));
        prop_assert_eq!(failure.parent().unwrap().attribute("name").unwrap(), replace_forbidden_chars(&format!("{raw}: {raw}")));
        prop_assert_eq!(failure.parent().unwrap().attribute("file").unwrap(), replace_forbidden_chars(&raw));
        prop_assert_eq!(elements(&document, "error")[0].attribute("type").unwrap(), replace_forbidden_chars(&raw));
    }
}

/// Creates a report of 200 files with long paths, each with one failed check and `passed_count` passed ones.
fn report_with_passed_checks(passed_count: usize) -> Report {
    let mut report = sample::empty(Verdict::Failed);
    let failure = sample::result(
        "failed",
        Status::Failed(Severity::Error),
        vec![sample::violation("bad", None)],
    );
    let mut results = vec![failure];
    results.extend(
        (0..passed_count).map(|number| sample::result(&format!("r{number}"), Status::Passed, vec![])),
    );
    for number in 0..200 {
        let path = format!("{}{number}.orch.yaml", "long/".repeat(50));
        report.files.push(sample::file(&path, results.clone()));
    }
    report
}

#[test]
fn passed_checks_over_size_limit_are_omitted_with_note() {
    for (passed_count, note_count, case_count) in [(3, 0, 800), (200, 2, 201)] {
        let document = xml(&report_with_passed_checks(passed_count));
        assert!(document.len() < 20_000_000, "{}", document.len());
        assert_eq!(document.matches("<failure").count(), 200);
        assert_eq!(
            document.matches("40,000 passed checks omitted").count(),
            note_count
        );
        assert_eq!(document.matches("<testcase").count(), case_count);
        assert!(document.contains(&format!("<testsuites name=\"sluicegate\" tests=\"{case_count}\"")));
    }
}
