//! `rules new`, `rules test`, `rules lint`, `rules list`, `rules explain`, `inspect` and `schema`.

use super::{FILE, commit_files, list_team_findings, python_pipeline, python_rule, world_with_files};
use crate::support::{Call, RULES_FILE, World, check, json_schema};
use serde_json::json;
use std::fs;

fn call(world: &World) -> Call {
    Call::new(&world.work())
}

#[test]
fn new_rule_is_valid_and_its_examples_pass() {
    let world = world_with_files(&[]);
    call(&world)
        .run("rules new no-python")
        .expect(0)
        .logging(&["added the rule `no-python`"]);
    call(&world).run("rules new second-rule").expect(0);
    call(&world)
        .run("rules test")
        .expect(0)
        .logging(&["4 examples of 2 rules: passed"]);
    call(&world).run("rules lint").expect(0);
    let text = fs::read_to_string(world.work().join(FILE)).unwrap();
    call(&world).run("rules new no-python").expect(2);
    call(&world).run("rules new Upper").expect(2);
    call(&world).run("rules new unused-components").expect(2);
    assert_eq!(fs::read_to_string(world.work().join(FILE)).unwrap(), text);
}

#[test]
fn rules_test_with_team_rules_off_reports_that_they_are_off() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    let output = call(&world)
        .run("rules test --team-rules off")
        .expect(2)
        .saying(&["team rules are turned off by the setting `review.team-rules`"]);
    assert!(!output.all().contains("rules new"), "{}", output.all());
}

#[test]
fn failing_example_exits_with_1_and_shows_the_difference() {
    let wrong = python_rule("error").replace("type: sql-executor", "type: python-script");
    let world = world_with_files(&[(FILE, &wrong)]);
    let output = call(&world).run("rules test").expect(1);
    assert!(
        output.all().contains(
            "sluicegate-rules.yaml:16: team/no-python: prod/a.orch.yaml: the example should pass, but \
                               the rule reports a finding: `Run` is a Python script"
        ),
        "{}",
        output.all()
    );
    let report = call(&world).run("rules test -o json").expect(1).json();
    assert_eq!(report["schema"], "sluicegate.rules-test/v1");
    assert_eq!(
        (&report["examples"], &report["failures"][0]["line"]),
        (&json!(2), &json!(16))
    );
    world.write("other.yaml", &python_rule("off"));
    call(&world).run("rules test other.yaml").expect(0);
    world.write(
        "other.yaml",
        &python_rule("off").replace("prod/a.orch", "dev/a.orch"),
    );
    call(&world)
        .run("rules test other.yaml")
        .expect(1)
        .logging(&["does not apply to its path"]);
    world.write(
        "other.yaml",
        &python_rule("off").replace("{ components", "[ components"),
    );
    call(&world)
        .run("rules test other.yaml")
        .expect(1)
        .logging(&["cannot be read"]);
}

#[test]
fn missing_file_is_named_with_the_command_that_creates_it() {
    let world = world_with_files(&[]);
    let output = call(&world).run("rules test").expect(2);
    assert!(output.all().contains("rules new ID"), "{}", output.all());
}

#[test]
fn missing_team_rules_file_that_the_job_names_exits_with_2() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    for command in [
        "rules list",
        "rules lint",
        "rules test",
        "rules explain team/no-python",
    ] {
        let message = "the team rules file nope.yaml does not exist";
        call(&world)
            .run((command, "--team-rules nope.yaml"))
            .expect(2)
            .saying(&[message]);
        call(&world)
            .variable("SLUICEGATE_TEAM_RULES", "nope.yaml")
            .run(command)
            .expect(2)
            .saying(&[message]);
        call(&world).run((command, &["--team-rules", FILE])).expect(0);
    }
    // A file that nobody names may be missing.
    fs::remove_file(world.work().join(FILE)).unwrap();
    call(&world).run("rules list").expect(0);
    call(&world).run("rules lint").expect(0);
}

#[test]
fn missing_team_rules_file_that_the_configuration_names_is_reported() {
    let world = world_with_files(&[
        (FILE, &python_rule("error")),
        ("sluicegate.yaml", "review: { team-rules: gate/team.yaml }\n"),
    ]);
    let message = "`review.team-rules` is `gate/team.yaml`, but there is no such file";
    for command in ["rules lint", "rules lint -o json"] {
        call(&world).run(command).expect(2).saying(&[message]);
    }
    for (command, code) in [("rules list", 0), ("rules explain team/no-python", 2)] {
        call(&world)
            .run(command)
            .expect(code)
            .saying(&["skipping the team rules: ", message]);
    }
    world.write("gate/team.yaml", python_rule("warn"));
    for command in ["rules lint", "rules list", "rules explain team/no-python"] {
        let output = call(&world).run(command).expect(0);
        assert!(!output.all().contains(message), "{}", output.all());
    }
}

#[test]
fn lint_with_wrong_hidden_directory_exits_with_2_despite_team_rules() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    call(&world)
        .run("rules lint --config-dir .other")
        .expect(2)
        .saying(&[
            "no rules file `config/pipeline_quality_rules.yaml`",
            "but the hidden directory is set to `.other`",
        ]);
    call(&world).run("rules lint --config-dir .platform").expect(0);
    // A project may have only team rules.
    fs::remove_file(world.work().join(RULES_FILE)).unwrap();
    call(&world).run("rules lint --config-dir .other").expect(0);
}

#[test]
fn operator_of_another_language_is_answered_with_that_of_cel() {
    let condition = "component.type == \"python-script\"";
    for (expression, operator) in [
        ("component.type = \"x\"", Some("==")),
        ("component.type == \"x\" and true", Some("&&")),
        ("component.type == \"x\" or true", Some("||")),
        ("not component.type == \"x\"", Some("!")),
        ("not(component.type == \"x\")", Some("!")),
        ("component.type == \"x\" android", None),
    ] {
        let broken = python_rule("error").replace(condition, expression);
        let world = world_with_files(&[(FILE, &broken)]);
        let output = call(&world).run("rules lint").expect(1);
        let help = operator.map(|operator| format!("help: did you mean `{operator}`?"));
        assert_eq!(
            output.out.contains(help.as_deref().unwrap_or("did you mean")),
            help.is_some(),
            "{expression}: {}",
            output.out
        );
    }
}

#[test]
fn lint_shows_the_place_in_the_expression() {
    let broken = python_rule("error").replace("component.type ==", "component.typ ==");
    let world = world_with_files(&[(FILE, &broken)]);
    let output = call(&world).run("rules lint").expect(1);
    insta::assert_snapshot!(output.out.trim_end(), @r#"
    .platform/config/pipeline_quality_rules.yaml has no problems
    error: `component` has no field `typ`
     --> sluicegate-rules.yaml:6:21
      |
    6 |     when: component.typ == "python-script"
      |                     ^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: did you mean `type`?

    sluicegate-rules.yaml: 1 error, 0 warnings
    "#);
    let document = call(&world).run("rules lint -o json").expect(1).json();
    assert_eq!(document["problems"], json!([]));
    assert_eq!(document["teamRules"]["problems"][0]["column"], 21);
    let named = call(&world).run(("rules lint -o json", FILE)).expect(1).json();
    assert_eq!(named["problems"][0]["line"], 6);
}

#[test]
fn rules_test_of_unusable_file_has_its_own_document() {
    let broken = python_rule("error").replace("component.type ==", "component.typ ==");
    for (text, code, failure_count) in [(broken, 1, 1), (python_rule("error"), 0, 0)] {
        let world = world_with_files(&[(FILE, &text)]);
        let document = call(&world).run("rules test -o json").expect(code).json();
        let schema = call(&world).run("schema rules-test").expect(0).json();
        assert_eq!(json_schema::validate_output(&schema, &document), Ok(()));
        let failures = document["failures"].as_array().unwrap();
        assert_eq!(failures.len(), failure_count, "{document}");
        if let Some(failure) = failures.first() {
            assert_eq!((&failure["line"], &failure["rule"]), (&json!(6), &json!(null)));
        }
    }
}

#[test]
fn passed_checks_of_team_rules_count_in_every_report() {
    let world = world_with_files(&[(FILE, &python_rule("warn"))]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&[]))]);
    let output = call(&world).run("check --all --report html=r.html --report junit=r.xml");
    let read = |name: &str| fs::read_to_string(world.work().join(name)).unwrap();
    let case_count = roxmltree::Document::parse(&read("r.xml"))
        .unwrap()
        .descendants()
        .filter(|node| node.has_tag_name("testcase") && !node.has_children())
        .count();
    let count = format!("{case_count} checks passed");
    assert!(output.out.contains(&count), "{count}: {}", output.all());
    assert!(read("r.html").contains(&count), "{count}");
}

#[test]
fn lint_document_has_team_rules_also_without_rules_file() {
    let broken = python_rule("error").replace("component.type ==", "component.typ ==");
    let world = world_with_files(&[(FILE, &broken)]);
    fs::remove_file(world.work().join(RULES_FILE)).unwrap();
    let document = call(&world).run("rules lint -o json").expect(1).json();
    assert_eq!(
        (&document["file"], &document["problems"]),
        (&json!(null), &json!([]))
    );
    assert_eq!(document["teamRules"]["file"], FILE);
    assert_eq!(document["teamRules"]["problems"][0]["column"], 21);
    let schema = call(&world).run("schema lint").expect(0).json();
    assert_eq!(json_schema::validate(&schema, &document), Ok(()));
    // Counterparts: a named file is `file`, and without team rules there is no `teamRules`.
    let named = call(&world).run(("rules lint -o json", FILE)).expect(1).json();
    assert_eq!(
        (&named["file"], &named["teamRules"]),
        (&json!(FILE), &json!(null))
    );
    world.git("checkout -q .");
    fs::remove_file(world.work().join(FILE)).unwrap();
    let document = call(&world).run("rules lint -o json").expect(0).json();
    assert_eq!(document["file"], RULES_FILE);
    assert!(document.get("teamRules").is_none(), "{document}");
}

#[test]
fn list_and_explain_show_team_rules() {
    let world = world_with_files(&[(FILE, &python_rule("warn"))]);
    call(&world)
        .run("rules list")
        .expect(0)
        .logging(&["team/no-python", "warn"]);
    let list = call(&world).run("rules list -o json").expect(0).json();
    assert!(
        list.as_array()
            .unwrap()
            .iter()
            .any(|rule| rule["id"] == "team/no-python" && rule["here"] == "warn")
    );
    let page = call(&world).run("rules explain team/no-python").expect(0);
    page.logging(&[
        "component.type == \"python-script\"",
        "Use SQL.",
        "type: sql-executor",
        "What fails",
    ]);
    let document = call(&world)
        .run("rules explain no-python -o json")
        .expect(0)
        .json();
    assert_eq!(document["when"], "component.type == \"python-script\"");
    let unknown = call(&world).run("rules explain team/no-pythons").expect(2);
    assert!(
        unknown.all().contains("did you mean `team/no-python`?"),
        "{}",
        unknown.all()
    );
    world.write(FILE, "rules: 5\n");
    call(&world)
        .run("rules list")
        .expect(0)
        .logging(&["skipping the team rules"]);
}

/// The text of a rule is written by the author of a change, and the list is printed to the log of its job.
#[test]
fn commands_about_rules_print_no_escapes_and_no_host_commands_of_a_rule() {
    let long_words = "word ".repeat(15);
    let rules = format!(
        r#"rules:
  - id: plain
    level: warn
    for: pipeline
    when: "false"
    message: a plain message
    help: Use SQL.
  - id: hostile
    level: error
    for: component
    paths: ["\n::error::p\e"]
    when: "component.type == \"\\u202e\""
    message: "\n::set-env name=A::x ##vso[task.setvariable variable=A]x ##teamcity[it] \e[31m\u202e {long_words}::debug::x"
    help: "\n::add-mask::x \e]0;t\a {long_words}{long_words}::debug::x"
    examples:
      fails:
        - path: "\n::error::x\e"
          pipeline: "::error::x\e\u2028::error::y\ntype: orchestration ##[error]x\n"
"#
    );
    let world = world_with_files(&[(FILE, &rules)]);
    for args in [
        "rules list",
        "rules explain team/hostile",
        "rules lint",
        "rules test",
    ] {
        let output = call(&world).run(args).all();
        assert!(
            !output.contains("##vso[") && !output.contains("##[") && !output.contains("##teamcity["),
            "{args}: {output}"
        );
        for line in output.lines() {
            let is_safe = |c: char| !c.is_control() && !matches!(c, '\u{202e}' | '\u{2028}');
            assert!(line.chars().all(is_safe), "{args}: {line:?}");
            assert!(!line.trim_start().starts_with("::"), "{args}: {line:?}");
        }
    }
    call(&world)
        .run("rules list")
        .expect(0)
        .logging(&["team/plain (warn)\n    a plain message\n", "set-env name=A::x"]);
    call(&world).run("rules explain team/plain").expect(0).logging(&[
        "\n  a plain message\n",
        "\n  Use SQL.\n",
        "\n      false\n",
    ]);
}

#[test]
fn inspected_pipeline_has_documented_schema() {
    let pipeline = "type: orchestration\npipeline:\n  components:\n    Start:\n      type: start\n      transitions:\n        unconditional: [Run]\n    \
                    Run:\n      type: run-orchestration\n      parameters: { orchestrationJob: b, limit: 5 }\n  variables:\n    v:\n      metadata: { type: TEXT }\n";
    let world = world_with_files(&[
        ("sales/a.orch.yaml", pipeline),
        ("sales/b.orch.yaml", &python_pipeline(&["Run"])),
    ]);
    let document = call(&world)
        .run("inspect sales/a.orch.yaml -o json")
        .expect(0)
        .json();
    assert_eq!(document["schema"], "sluicegate.pipeline/v1");
    assert_eq!(document["calls"][0]["target"], "sales/b.orch.yaml");
    assert_eq!(document["links"][0]["subject"], "Start -> Run");
    assert_eq!(document["components"][1]["line"], 8);
    let schema = call(&world).run("schema pipeline").expect(0).json();
    assert_eq!(json_schema::validate(&schema, &document), Ok(()));
    call(&world).run("inspect sales/a.orch.yaml").expect(0).logging(&[
        "pipeline.components[1].parameters.limit = 5",
        "pipeline.variables[0].description = \"\"",
    ]);
    call(&world).run("inspect sales/none.orch.yaml").expect(2);
    world.write("bad.orch.yaml", "type: [\n");
    call(&world)
        .run("inspect bad.orch.yaml")
        .expect(2)
        .logging(&["could not read the pipeline bad.orch.yaml"]);
}

#[test]
fn pipeline_with_design_is_inspected_without_it() {
    let pipeline = python_pipeline(&["Run"]);
    for design in [
        "design:\n  components: { Run: { position: { x: 1, y: 2 } } }\n",
        "design: &layout { notes: 5 }\n",
        "design: 5\n",
    ] {
        let world = world_with_files(&[("a.orch.yaml", &format!("{pipeline}{design}"))]);
        let text = call(&world).run("inspect a.orch.yaml").expect(0).out;
        assert!(text.contains("pipeline.components[1].name = \"Run\""), "{text}");
        let document = call(&world).run("inspect a.orch.yaml -o json").expect(0).json();
        let keys: Vec<&String> = document["document"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["type", "version", "pipeline"]);
    }
    // Counterpart: any other key is part of the document.
    let world = world_with_files(&[("a.orch.yaml", &format!("{pipeline}notes: {{ design: 5 }}\n"))]);
    call(&world)
        .run("inspect a.orch.yaml")
        .expect(0)
        .logging(&["pipeline.document.notes.design = 5"]);
}

#[test]
fn expression_does_not_see_design_of_pipeline() {
    let rule = "rules:\n  - id: no-design\n    level: error\n    for: pipeline\n    when: has(pipeline.document.design)\n    \
                message: has a design\n  - id: no-notes\n    level: error\n    for: pipeline\n    \
                when: has(pipeline.document.notes)\n    message: has notes\n";
    let world = world_with_files(&[(FILE, rule)]);
    let pipeline = python_pipeline(&["Run"]);
    commit_files(
        &world,
        &[("a.orch.yaml", &format!("{pipeline}design: {{ notes: 5 }}\n"))],
    );
    assert!(list_team_findings(&check(&world, "").expect(0).json()).is_empty());
    commit_files(&world, &[("a.orch.yaml", &format!("{pipeline}notes: 5\n"))]);
    assert_eq!(list_team_findings(&check(&world, "").expect(1).json()).len(), 1);
}

#[test]
fn new_file_is_valid_by_its_schema() {
    let world = world_with_files(&[]);
    call(&world).run("rules new first-rule").expect(0);
    let schema = call(&world).run("schema team-rules").expect(0).json();
    let text = fs::read_to_string(world.work().join(FILE)).unwrap();
    let document: serde_json::Value = serde_yaml::from_str(&text).unwrap();
    assert_eq!(json_schema::validate(&schema, &document), Ok(()));
}

#[test]
fn glob_that_no_path_can_match_is_an_error() {
    for glob in ["./prod/**", "/prod/**", "../prod/**", "!prod/**", "prod/"] {
        let rule = python_rule("error").replace("prod/**", glob);
        let world = world_with_files(&[(FILE, &rule)]);
        let problem = format!("the glob `{glob}` matches no pipeline");
        let output = call(&world).run("rules lint").expect(1);
        assert!(output.out.contains(&problem), "{}", output.all());
        call(&world).run("check --all").expect(2).saying(&[&problem]);
    }
}

#[test]
fn rule_whose_globs_match_no_pipeline_is_noted() {
    let note = "match no pipeline of the project";
    let world = world_with_files(&[
        (FILE, &python_rule("error")),
        ("sales/a.orch.yaml", &python_pipeline(&["Run"])),
    ]);
    let output = call(&world).run("rules lint").expect(0);
    assert!(output.out.contains(note), "{}", output.all());
    call(&world)
        .run("check --all")
        .expect(0)
        .logging(&["`paths` of these team rules match no pipeline of the project: `team/no-python`"]);
    commit_files(&world, &[("sales/b.orch.yaml", &python_pipeline(&["Run"]))]);
    // A check of the changes does not show whether the rule has pipelines.
    let output = call(&world).run("check").expect(0);
    assert!(!output.all().contains(note), "{}", output.all());
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&[]))]);
    for command in ["rules lint", "check --all"] {
        let output = call(&world).run(command).expect(0);
        assert!(!output.all().contains(note), "{}", output.all());
    }
}

#[test]
fn sum_of_integer_and_decimal_number_names_both_types() {
    let rule = python_rule("error").replace(
        "component.type == \"python-script\"",
        "has(component.parameters.i) && component.parameters.i + 1.0 > 2.0",
    );
    let world = world_with_files(&[(FILE, &rule)]);
    let pipeline = python_pipeline(&["Run"]) + "      parameters: { i: VALUE }\n";
    commit_files(&world, &[("prod/a.orch.yaml", &pipeline.replace("VALUE", "1"))]);
    let report = check(&world, "").expect(1).json();
    let findings = list_team_findings(&report).join("\n");
    let message = "the operator cannot be applied to an integer and a decimal number; convert the integer with `double(…)`";
    assert!(findings.contains(message), "{findings}");
    commit_files(&world, &[("prod/a.orch.yaml", &pipeline.replace("VALUE", "1.5"))]);
    let findings = list_team_findings(&check(&world, "").expect(1).json()).join("\n");
    assert!(findings.contains("is a Python script"), "{findings}");
}

#[test]
fn test_of_misnamed_rules_file_prints_how_to_rename_it() {
    let world = world_with_files(&[("sluicegate-rules.yml", &python_rule("error"))]);
    let hint = "hint: rename sluicegate-rules.yml to sluicegate-rules.yaml";
    call(&world).run("rules test").expect(2).saying(&[hint]);
    world.git("rm -q sluicegate-rules.yml");
    let hint = "hint: run `sluicegate rules new ID` to create the file";
    call(&world).run("rules test").expect(2).saying(&[hint]);
}

#[test]
fn explained_example_lists_other_pipelines_of_its_project() {
    let rule = python_rule("error").replacen(
        "        - path: prod/a.orch.yaml\n",
        "        - path: prod/a.orch.yaml\n          project: [sub/x.orch.yaml, sub/y.orch.yaml]\n",
        1,
    );
    let world = world_with_files(&[(FILE, &rule)]);
    let page = call(&world).run("rules explain team/no-python").expect(0);
    let heading =
        "# prod/a.orch.yaml\n# other pipelines: sub/x.orch.yaml, sub/y.orch.yaml\ntype: orchestration\n";
    let page = page.out.replace("\n    ", "\n").replace("\n  ", "\n");
    assert!(page.contains(heading), "{page}");
    assert_eq!(page.matches("other pipelines").count(), 1, "{page}");
}
