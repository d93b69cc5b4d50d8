//! `sluicegate mv` in a repository with team rules.

use super::mv;
use crate::support::{Call, World};

const PIPELINE: &str =
    "type: transformation\nversion: \"1.0\"\npipeline:\n  components:\n    Run: { type: python-script }\n";

/// Rules whose globs match the same files in each way to write them.
const RULES: &str = r#"rules:
  - id: no-python
    level: error
    for: component
    paths: ["prod/**", 'prod/t.tran.yaml', "**/t.tran.yaml"] # both
    exclude: prod/old.tran.yaml
    when: component.type == "python-script"
    message: "`{component.name}` is Python"
    examples:
      fails:
        - path: prod/t.tran.yaml
          project: [prod/a.tran.yaml, sandbox/b.tran.yaml]
          pipeline: |
            type: transformation
            pipeline: { components: { Run: { type: python-script } } }
      passes:
        - path: prod/old.tran.yaml
          pipeline: |
            type: transformation
            pipeline: { components: { Run: { type: python-script } } }
  - id: sandbox-python
    level: error
    for: component
    paths: ["sandbox/**"]
    when: component.type == "python-script"
    message: "`{component.name}` is Python"
    examples:
      fails:
        - path: sandbox/t.tran.yaml
          pipeline: |
            type: transformation
            pipeline: { components: { Run: { type: python-script } } }
"#;

/// Returns a project with these team rules and a pipeline in `prod` that they report.
fn world_with_rules(path: &str, rules: &str) -> World {
    let world = World::new();
    world.write(".platform/config/pipeline_quality_rules.yaml", "rules: []\n");
    world.write("prod/t.tran.yaml", PIPELINE);
    world.write(path, rules);
    world
}

#[test]
fn move_rewrites_globs_and_examples_of_team_rules() {
    let world = world_with_rules("sluicegate-rules.yaml", RULES);
    world.commit("the past");
    Call::new(&world.work()).run("check --all").expect(1);
    Call::new(&world.work()).run("rules test").expect(0);
    let output = mv(&world, "prod p2").expect(0);
    insta::assert_snapshot!(output.out, @"moved 1 pipeline; updated 3 globs, 3 rule examples");
    assert_eq!(
        world.read_text("sluicegate-rules.yaml"),
        RULES.replace("prod/", "p2/")
    );
    Call::new(&world.work()).run("rules test").expect(0);
    Call::new(&world.work()).run("check --all").expect(1);
    let output = mv(&world, "p2/t.tran.yaml p2/u.tran.yaml").expect(0);
    insta::assert_snapshot!(output.out, @"moved 1 pipeline; updated 1 glob, 1 rule example");
    let expected = RULES
        .replace("prod/", "p2/")
        .replace("'p2/t.tran.yaml'", "'p2/u.tran.yaml'")
        .replace("path: p2/t.tran.yaml", "path: p2/u.tran.yaml");
    assert_eq!(world.read_text("sluicegate-rules.yaml"), expected);
    Call::new(&world.work()).run("rules test").expect(0);
}

#[test]
fn move_lists_team_rule_whose_condition_contains_the_old_path() {
    let rules = RULES.replace(
        "when: component.type",
        "when: glob(pipeline.path, 'prod/**') && component.type",
    );
    let world = world_with_rules("sluicegate-rules.yaml", &rules);
    world.write("prod-2/a.tran.yaml", PIPELINE);
    world.commit("the past");
    let output = mv(&world, "prod p2").expect(0);
    insta::assert_snapshot!(output.out, @"
    left: sluicegate-rules.yaml:7: prod: the condition of the team rule contains this path
    left: sluicegate-rules.yaml:25: prod: the condition of the team rule contains this path
    moved 1 pipeline; updated 3 globs, 3 rule examples; 2 left
    ");
    let output = mv(&world, "prod-2 prod-3 -o json").expect(0).json();
    assert_eq!(output["left"], serde_json::json!([]));
}

#[test]
fn move_of_directory_with_team_rules_file_updates_the_setting() {
    let world = world_with_rules("gate/rules.yaml", RULES);
    world.write("sluicegate.yaml", "review:\n  team-rules: gate/rules.yaml\n");
    world.commit("the past");
    let output = mv(&world, "gate policy").expect(0);
    insta::assert_snapshot!(output.out, @"moved 1 file; updated 1 setting");
    assert_eq!(
        world.read_text("sluicegate.yaml"),
        "review:\n  team-rules: policy/rules.yaml\n"
    );
    Call::new(&world.work()).run("check --all").expect(1);
}

#[test]
fn move_of_team_rules_file_that_the_job_names_is_refused() {
    let world = world_with_rules("gate/rules.yaml", RULES);
    world.write("sluicegate.yaml", "review:\n  team-rules: gate/rules.yaml\n");
    world.write("other/rules.yaml", RULES);
    world.commit("the past");
    let flag = "gate policy --team-rules gate/rules.yaml";
    mv(&world, flag)
        .expect(2)
        .saying(&["nothing was changed", "pass its new path with `--team-rules`"]);
    let call = Call::new(&world.work()).variable("SLUICEGATE_TEAM_RULES", "gate/rules.yaml");
    call.run("mv gate policy").expect(2);
    assert_eq!(world.git("status --short"), "");
    // Counterpart: the job names another file, so only the setting names the moved one.
    let output = mv(&world, "gate policy --team-rules other/rules.yaml").expect(0);
    assert_eq!(output.out.trim(), "moved 1 file; updated 1 setting");
}

#[test]
fn setting_off_is_no_path() {
    let world = world_with_rules("off/count.sql", "select 1\n");
    let settings = "review:\n  team-rules: off\n";
    world.write("sluicegate.yaml", settings);
    world.commit("the past");
    let output = mv(&world, "off on").expect(0);
    insta::assert_snapshot!(output.out, @"moved 1 file; no references to it");
    assert_eq!(world.read_text("sluicegate.yaml"), settings);
}

#[test]
fn move_of_gate_configuration_is_refused() {
    let world = world_with_rules("sluicegate-rules.yaml", RULES);
    world.write(
        "gate/waivers.yaml",
        "- { rule: a, path: 'stage/**', reason: old }\n",
    );
    std::os::unix::fs::symlink("gate/waivers.yaml", world.work().join("sluicegate-waivers.yaml")).unwrap();
    world.write("sluicegate.yaml", "exclude: []\n");
    world.write(".platform/docs/notes.md", "notes\n");
    world.commit("the past");
    let mut messages = Vec::new();
    for args in [
        "sluicegate.yaml gate/",
        "sluicegate-rules.yaml gate/",
        "sluicegate-waivers.yaml gate/",
        "gate policy",
        ".platform .p2",
        ".platform/config config",
    ] {
        let output = mv(&world, args).expect(2);
        assert!(output.err.contains("nothing was changed"), "{}", output.err);
        let message = output.err.lines().find(|line| line.starts_with("error"));
        messages.extend(message.map(str::to_owned));
    }
    insta::assert_snapshot!(messages.join("\n"), @"
    error: cannot move `sluicegate.yaml`: the gate would no longer find its configuration `sluicegate.yaml`
    error: cannot move `sluicegate-rules.yaml`: the gate would no longer find its configuration `sluicegate-rules.yaml`
    error: cannot move `sluicegate-waivers.yaml`: the gate would no longer find its configuration `sluicegate-waivers.yaml`
    error: cannot move `gate`: the gate would no longer find its configuration `gate/waivers.yaml`
    error: cannot move `.platform`: the gate would no longer find its configuration `.platform/config/pipeline_quality_rules.yaml`
    error: cannot move `.platform/config`: the gate would no longer find its configuration `.platform/config/pipeline_quality_rules.yaml`
    ");
    assert_eq!(world.git("status --short"), "");
    // The gate does not read the other files of the hidden directory.
    mv(&world, ".platform/docs docs").expect(0);
}

#[test]
fn example_that_new_globs_would_not_match_keeps_its_path() {
    let rules = RULES
        .replace(
            r#"["prod/**", 'prod/t.tran.yaml', "**/t.tran.yaml"] # both"#,
            r#"["prod/**"]"#,
        )
        .replace("exclude: prod/old", "exclude: prod/eu/old")
        .replace("path: prod/old", "path: prod/eu/old")
        .replace("path: prod/t", "path: prod/eu/t");
    let world = world_with_rules("sluicegate-rules.yaml", &rules);
    world.write("prod/eu/t.tran.yaml", PIPELINE);
    world.commit("the past");
    Call::new(&world.work()).run("rules test").expect(0);
    let output = mv(&world, "prod/eu x").expect(0);
    insta::assert_snapshot!(output.out, @"moved 1 pipeline; updated 1 glob, 1 rule example");
    assert_eq!(
        world.read_text("sluicegate-rules.yaml"),
        rules.replace("prod/eu/old", "x/old")
    );
    Call::new(&world.work()).run("rules test").expect(0);
}

#[test]
fn move_lists_globs_and_conditions_that_contain_the_old_path_elsewhere() {
    let rules = RULES
        .replace(
            r#"["prod/**", 'prod/t.tran.yaml', "**/t.tran.yaml"] # both"#,
            r#"["{prod,stage}/**", "stage/prod/**", "**/*.tran.yaml"]"#,
        )
        .replace(
            "exclude: prod/old.tran.yaml",
            "exclude: ['{a,prod}/old.tran.yaml']",
        )
        .replace(
            "when: component.type",
            "when: pipeline.path.matches('^prod/') && component.type",
        );
    let world = world_with_rules("sluicegate-rules.yaml", &rules);
    world.write(
        "sluicegate-waivers.yaml",
        "- { rule: a, path: '{prod,stage}/**', reason: old }\n",
    );
    world.write("sluicegate.yaml", "exclude: ['**/prod/*.orch.yaml']\n");
    world.write("prod/a.orch.yaml", PIPELINE);
    world.commit("the past");
    let output = mv(&world, "prod p2").expect(0);
    insta::assert_snapshot!(output.out, @"
    left: sluicegate-waivers.yaml:1: {prod,stage}/**: the glob does not match the new path
    left: sluicegate.yaml:1: **/prod/*.orch.yaml: the glob does not match the new path
    left: sluicegate-rules.yaml:5: {prod,stage}/**: the glob does not match the new path
    left: sluicegate-rules.yaml:7: prod: the condition of the team rule contains this path
    left: sluicegate-rules.yaml:25: prod: the condition of the team rule contains this path
    moved 2 pipelines; 5 left
    ");
}

#[test]
fn move_lists_globs_without_the_plain_path_that_no_longer_match() {
    let world = World::new();
    world.write("s/a[1].orch.yaml", PIPELINE);
    world.write("s/b.orch.yaml", PIPELINE);
    world.write(
        "sluicegate-waivers.yaml",
        "- { rule: r, path: 's/a[[]1].orch.yaml', reason: one }\n\
         - { rule: r, path: 's/{a\\[1\\],c}.orch.yaml', reason: two }\n\
         - { rule: r, path: 's/a*.orch.yaml', reason: three }\n\
         - { rule: r, path: '{s,t}/b.orch.yaml', reason: four }\n\
         - { rule: r, path: '**/*.orch.yaml', reason: five }\n",
    );
    world.commit("names with glob characters");
    let output = mv(&world, "s/a[1].orch.yaml u/a1.orch.yaml").expect(0);
    insta::assert_snapshot!(output.out, @r"
    left: sluicegate-waivers.yaml:1: s/a[[]1].orch.yaml: the glob does not match the new path
    left: sluicegate-waivers.yaml:2: s/{a\[1\],c}.orch.yaml: the glob does not match the new path
    left: sluicegate-waivers.yaml:3: s/a*.orch.yaml: the glob does not match the new path
    moved 1 pipeline; 3 left
    ");
    let output = mv(&world, "s/b.orch.yaml u/b.orch.yaml").expect(0);
    insta::assert_snapshot!(output.out, @"
    left: sluicegate-waivers.yaml:4: {s,t}/b.orch.yaml: the glob does not match the new path
    moved 1 pipeline; 1 left
    ");
    let output = mv(&world, "u/b.orch.yaml t/b.orch.yaml").expect(0);
    insta::assert_snapshot!(output.out, @"moved 1 pipeline; no references to it");
}

#[test]
fn move_of_gate_configuration_of_other_project_is_refused() {
    let world = world_with_rules("sluicegate-rules.yaml", RULES);
    world.write("sluicegate.yaml", "config-dir: .platform\n");
    world.write(
        ".second/shared-pipelines.yaml",
        "version: \"1.0\"\npipelines: []\n",
    );
    world.write(".second/docs/notes.md", "notes\n");
    world.write(".tools/notes.md", "notes\n");
    world.commit("the past");
    mv(&world, ".second .third").expect(2).saying(&[
        "cannot move `.second`: the gate would no longer find its configuration `.second/shared-pipelines.yaml`",
        "nothing was changed",
    ]);
    assert_eq!(world.git("status --short"), "");
    mv(&world, ".second/docs docs").expect(0);
    mv(&world, ".tools .scripts").expect(0);
}
