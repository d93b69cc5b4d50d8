//! The data of a pipeline that a condition sees, and the places of its findings.

use crate::{PIPELINE, evaluate, find_error, find_subjects, rule};
use sluicegate_pipelines::findings::{Origin, Status};
use sluicegate_pipelines::pipelines::{PipelineFiles, SubjectKind};
use sluicegate_pipelines::team_rules::{describe_pipeline, render_description};

#[test]
fn documented_fields_have_values_of_pipeline() {
    for condition in [
        "pipeline.path == 'sales/main.orch.yaml' && pipeline.folder == 'sales' && pipeline.name == 'main'",
        "pipeline.kind == 'orchestration' && size(pipeline.components) == 3",
        "pipeline.components.map(c, c.name) == ['Start', 'Load', 'Mail']",
        "pipeline.links.map(l, l.from + '>' + l.to + ':' + l.kind) == ['Start>Load:unconditional', 'Load>Mail:failure']",
        "pipeline.variables.exists(v, v.name == 'rows' && v.type == 'NUMBER' && v.default == 10 && v.scope == 'COPIED')",
        "pipeline.calls.map(c, c.target) == ['sales/load.orch.yaml', 'scripts/mail.py']",
        "pipeline.calls.map(c, c.kind) == ['orchestration', 'script']",
        "pipeline.calls[0].arguments.region == 'EU' && pipeline.calls[0].from == 'Load'",
        "pipeline.document.version == '1.0' && pipeline.document.type == 'orchestration'",
        "pipeline.components[1].parameters.nested.deep == [1, 'x']",
        "'sales/load.orch.yaml' in project.pipelines && size(project.pipelines) == 2",
        "project.pipelines.exists(p, glob(p, 'sales/*.orch.yaml'))",
        "pipeline.components[1].incoming[0].from == 'Start' && pipeline.components[1].outgoing[0].to == 'Mail'",
        "lower('ABC') == 'abc' && 'Ä'.lower() == 'ä'",
        "'a/b'.glob(pipeline.folder + '/**') == false",
    ] {
        assert_eq!(
            find_subjects("pipeline", condition),
            [(String::new(), 1)],
            "{condition}"
        );
    }
}

#[test]
fn finding_has_name_and_line_of_its_subject() {
    let cases = [
        ("component", "component.type == 'python-script'", "Mail", 21),
        ("link", "link.kind == 'failure'", "Load -> Mail", 13),
        ("variable", "variable.description == ''", "region", 27),
        ("call", "call.kind == 'script'", "Mail", 25),
    ];
    for (subject, condition, name, line) in cases {
        assert_eq!(
            find_subjects(subject, condition),
            [(name.to_owned(), line)],
            "{subject}"
        );
    }
}

#[test]
fn result_has_origin_and_id_of_team() {
    let file = rule(
        "component",
        "component.skipped",
        "`{component.name}` of {pipeline.name} is {1 + 1}",
    );
    let results = evaluate(&file, "sales/main.orch.yaml", PIPELINE);
    let result = &results.results[0];
    assert_eq!((result.rule.as_str(), result.origin), ("team/r", Origin::Team));
    assert_eq!(result.violations[0].text, "`Load` of main is 2");
    assert_eq!(result.violations[0].about_kind, Some(SubjectKind::Component));
}

#[test]
fn missing_key_without_has_is_an_error() {
    let (error_type, reason) = find_error("component", "component.parameters.absent == 1");
    assert_eq!(error_type, "team/evaluation-error");
    assert_eq!(
        reason,
        "component `Start`: the field `absent` is missing: test for it with `has(…)` first"
    );
    let guarded = "has(component.parameters.limit) && component.parameters.limit > 10";
    assert_eq!(find_subjects("component", guarded), [("Load".to_owned(), 9)]);
    let scalar = "has(component.parameters.limit) && has(component.parameters.limit.deep)";
    assert!(find_subjects("component", scalar).is_empty());
}

#[test]
fn value_of_wrong_type_is_an_error() {
    let (error_type, _) = find_error("pipeline", "pipeline.components[1].parameters.limit");
    assert_eq!(error_type, "team/evaluation-error");
    let (_, reason) = find_error("pipeline", "pipeline.components[1].parameters.limit > 'a'");
    assert_eq!(reason, "a number and a string cannot be ordered");
}

#[test]
fn paths_and_exclude_restrict_the_rule() {
    let file = "rules:\n  - { id: r, level: warn, for: pipeline, when: 'true', message: m, paths: ['prod/**'], exclude: '**/old.*' }\n";
    for (path, result_count) in [
        ("prod/a.orch.yaml", 1),
        ("prod/old.orch.yaml", 0),
        ("dev/a.orch.yaml", 0),
    ] {
        assert_eq!(
            evaluate(file, path, PIPELINE).results.len(),
            result_count,
            "{path}"
        );
    }
    let off = file.replace("level: warn", "level: off");
    assert_eq!(evaluate(&off, "prod/a.orch.yaml", PIPELINE).results.len(), 0);
}

#[test]
fn unreadable_pipeline_is_an_error_of_each_rule() {
    let results = evaluate(&rule("pipeline", "false", "m"), "a.orch.yaml", "type: [");
    assert!(results.results[0].status.is_unreadable(), "{results:?}");
}

#[test]
fn description_has_what_condition_sees() {
    let files = PipelineFiles::new(["sales/load.orch.yaml"]);
    let description = describe_pipeline("sales/main.orch.yaml", PIPELINE.as_bytes(), &files).unwrap();
    assert_eq!(description["schema"], "sluicegate.pipeline/v1");
    assert_eq!(description["links"][1]["subject"], "Load -> Mail");
    assert_eq!(description["variables"][0]["line"], 27);
    let lines = render_description(&description);
    for line in [
        "pipeline.components[1].parameters.nested.deep[0] = 1",
        "pipeline.calls[0].target = \"sales/load.orch.yaml\"",
        "pipeline.variables[1].default = 10",
    ] {
        assert!(lines.contains(&format!("{line}\n")), "{line}\n{lines}");
    }
}

#[test]
fn each_line_of_description_is_a_condition() {
    let pipeline = PIPELINE.replace(
        "limit: 12",
        "limit: .inf\n        id: 99999999999999999999\n        odd: { in: 1, '': 2, 'true': 3, 0a: 4, subject: 5 }",
    );
    let files = PipelineFiles::new(["sales/load.orch.yaml", "sales/main.orch.yaml"]);
    let description = describe_pipeline("sales/main.orch.yaml", pipeline.as_bytes(), &files).unwrap();
    let lines = render_description(&description);
    assert!(
        lines.contains("pipeline.components[1].parameters.odd.subject = 5\n"),
        "{lines}"
    );
    for line in lines.lines() {
        // JSON has no infinity, so it is shown as a string.
        let condition = line
            .replacen(" = ", " == ", 1)
            .replace("\"inf\"", "double(\"inf\")");
        let file = rule("pipeline", &condition, "m");
        let results = evaluate(&file, "sales/main.orch.yaml", &pipeline);
        assert_eq!(results.results[0].violations.len(), 1, "{line}: {results:?}");
    }
}

#[test]
fn number_of_document_keeps_its_value() {
    for (number, condition) in [
        (".inf", "component.parameters.limit > 5"),
        ("-.INF", "component.parameters.limit < 5"),
        (".nan", "component.parameters.limit != component.parameters.limit"),
        (
            "18446744073709551615",
            "component.parameters.limit == 18446744073709551615u",
        ),
        (
            "99999999999999999999999",
            "component.parameters.limit != 18446744073709551615u",
        ),
        ("99999999999999999999999", "component.parameters.limit > 1e22"),
    ] {
        let file = rule(
            "component",
            &format!("component.name == 'Load' && {condition}"),
            "m",
        );
        let pipeline = PIPELINE.replace("limit: 12", &format!("limit: {number}"));
        let results = evaluate(&file, "sales/main.orch.yaml", &pipeline);
        let status = &results.results[0].status;
        assert!(
            matches!(status, Status::Failed(_)),
            "{number} {condition}: {results:?}"
        );
    }
}

#[test]
fn index_of_value_without_items_is_an_error_that_names_its_type() {
    let (_, reason) = find_error("pipeline", "pipeline.document.version[0] == 1");
    assert_eq!(reason, "a string has no items");
    let (_, reason) = find_error("pipeline", "pipeline.components[1].parameters.limit[0] == 1");
    assert_eq!(reason, "a number has no items");
}

#[test]
fn map_literal_may_have_keys_of_any_type() {
    let condition = "{1: 'a'}.exists(k, k == 1)";
    assert_eq!(find_subjects("pipeline", condition), [(String::new(), 1)]);
}
