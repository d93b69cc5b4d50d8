//! `sluicegate diff`: what changed, by component.

use crate::program::{Call, Ended};
use crate::repo::World;
use crate::world::{change, pipeline, project};
use serde_json::json;

const LOAD: &str = r#"type: orchestration
version: "1.0"
pipeline:
  components:
    Start: { type: start, parameters: { componentName: Start }, transitions: { unconditional: [Load] } }
    Load:
      type: sql-executor
      parameters: { componentName: Load, sqlQuery: "select 1", schema: sales, limit: 10, mode: append }
      transitions: { success: [Done] }
    Done: { type: end-success, parameters: { componentName: Done } }
  variables:
    region: { metadata: { type: TEXT }, defaultValue: eu }
design:
  components:
    Start: { position: { x: 0, y: 0 } }
    Load: { position: { x: 200, y: 0 } }
"#;

/// `load.orch.yaml` is on `main`; the working tree has it as given.
fn edited(after: &str) -> World {
    let world = project();
    world.write("load.orch.yaml", LOAD);
    world.commit("load");
    world.push();
    world.git(&["checkout", "-q", "-b", "edit"]);
    world.write("load.orch.yaml", after);
    world
}

fn diff(world: &World, args: &[&str]) -> Ended {
    Call::new(&world.work()).run(&[&["diff"], args].concat())
}

#[test]
fn what_changed_is_told_by_component() {
    let after = LOAD
        .replace("select 1", "select 2")
        .replace("success: [Done]", "unconditional: [Done]")
        .replace("defaultValue: eu", "defaultValue: us")
        .replace("x: 200", "x: 300");
    let world = edited(&after);
    let text = diff(&world, &[]).expect(0);
    insta::assert_snapshot!(text.out, @"
    load.orch.yaml: modified
      ~ Load (sql-executor)
        ~ parameters.sqlQuery: select 1 -> select 2
      - Load -> Done (success)
      + Load -> Done (unconditional)
      ~ region (variable)
        ~ defaultValue: eu -> us
      and layout
    1 pipeline changed
    ");
    text.saying(&["comparing the working tree with the commit"]);
    diff(&world, &["--exit-code"]).expect(1);

    let report = diff(&world, &["--format", "json"]).expect(0).json();
    assert_eq!(report["schema"], "sluicegate.diff/v1");
    assert_eq!(report["base"], json!(world.git(&["rev-parse", "origin/main"])));
    assert_eq!(report["head"], json!(null));
    assert_eq!(
        report["pipelines"][0]["components"][0]["fields"],
        json!([{ "path": ["parameters", "sqlQuery"], "before": "select 1", "after": "select 2" }])
    );
    assert_eq!(report["pipelines"][0]["layout"], json!(true));
}

#[test]
fn the_index_a_commit_and_two_revisions_are_compared_as_they_are() {
    let world = edited(&LOAD.replace("limit: 10", "limit: 20"));
    world.git(&["add", "-A"]);
    world.write("load.orch.yaml", LOAD.replace("limit: 10", "limit: 30"));
    let after = |args: &[&str]| {
        let report = diff(&world, &[args, &["--format", "json"]].concat())
            .expect(0)
            .json();
        report["pipelines"][0]["components"][0]["fields"][0]["after"].clone()
    };
    assert_eq!((after(&[]), after(&["--staged"])), (json!(30), json!(20)));
    world.git(&["commit", "-q", "-m", "twenty"]);
    assert_eq!(after(&["--head", "HEAD"]), 20);
    assert_eq!(after(&["main..HEAD"]), 20);
    assert_eq!(after(&["HEAD..main", "load.orch.yaml"]), 10);
    assert_eq!(after(&["main..HEAD", "a.orch.yaml"]), json!(null));
    diff(&world, &["main...HEAD"])
        .expect(2)
        .saying(&["hint: --base main --head HEAD"]);
    diff(&world, &["main..gone"]).expect(7).saying(&["gone"]);
    diff(&world, &["nowhere"]).expect(2).saying(&["nowhere"]);
}

#[test]
fn a_renamed_component_and_a_renamed_file_are_no_new_ones() {
    let after = LOAD
        .replace("Load:\n", "Load all:\n")
        .replace("[Load]", "[Load all]")
        .replace("componentName: Load,", "componentName: Load all,");
    let world = edited(&after);
    world.git(&["mv", "load.orch.yaml", "all.orch.yaml"]);
    world.commit("renamed");
    let text = diff(&world, &[]).expect(0);
    insta::assert_snapshot!(text.out, @"
    all.orch.yaml: renamed from load.orch.yaml
      ~ Load all (sql-executor), was Load
    1 pipeline changed
    ");
}

#[test]
fn layout_alone_is_told_as_such_and_is_no_change_for_the_exit_code() {
    let world = edited(
        &LOAD
            .replace("x: 200", "x: 300")
            .replace("schema: sales", "schema: 'sales'"),
    );
    let text = diff(&world, &["--exit-code"]).expect(0);
    assert_eq!(
        text.out,
        "load.orch.yaml: layout only, what it does is the same\n1 pipeline changed in layout only\n"
    );
    // Neither the same content nor another mode alone is a change.
    world.write("load.orch.yaml", LOAD);
    world.git(&["update-index", "--chmod=+x", "load.orch.yaml"]);
    for args in [&["--exit-code"][..], &["--staged", "--exit-code"]] {
        let text = diff(&world, args).expect(0);
        assert_eq!(text.out, "no pipeline differs\n");
    }
}

#[test]
fn a_broken_file_is_told_beside_the_others() {
    let world = change(&[("broken.orch.yaml", "type: [\n"), ("new.orch.yaml", LOAD)]);
    world.git(&["rm", "-q", "a.orch.yaml"]);
    let text = diff(&world, &[]).expect(0);
    insta::assert_snapshot!(text.out, @"
    a.orch.yaml: removed, orchestration
      - Start (start)
      - Done (end-success)
    broken.orch.yaml: cannot be read in the head: not YAML: while parsing a node, did not find expected node content (line 2, column 1)
    new.orch.yaml: added, orchestration
      + Start (start)
      + Load (sql-executor)
      + Done (end-success)
    3 pipelines changed
    ");
    diff(&world, &["--exit-code", "broken.orch.yaml"]).expect(1);
    let report = diff(&world, &["--format", "json"]).expect(0).json();
    assert_eq!(report["pipelines"].as_array().unwrap().len(), 3);
    diff(&world, &["--format", "svg", "broken.orch.yaml"])
        .expect(2)
        .saying(&["broken.orch.yaml cannot be drawn"]);
}

#[test]
fn two_files_need_no_repository() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("old.yaml", LOAD);
    write("new.yaml", &LOAD.replace("limit: 10", "limit: 20"));
    let call = Call::new(folder.path());
    let text = call.run(&["diff", "--files", "old.yaml", "new.yaml"]).expect(0);
    assert!(
        text.out.contains("~ parameters.limit: 10 -> 20"),
        "{}",
        text.all()
    );
    let same = call.run(&["diff", "--files", "old.yaml", "old.yaml", "--exit-code"]);
    assert_eq!(same.expect(0).out, "no pipeline differs\n");
    call.run(&["diff", "--files", "old.yaml", "gone.yaml"])
        .expect(2)
        .saying(&["gone.yaml cannot be read"]);
}

#[test]
fn one_pipeline_is_drawn() {
    let world = edited(&LOAD.replace("success: [Done]", "failure: [Done]"));
    let chart = diff(&world, &["--format", "mermaid"]).expect(0).out;
    assert!(
        chart.starts_with("flowchart LR\n") && chart.contains("+ failure"),
        "{chart}"
    );
    diff(&world, &["--format", "svg", "-o", "out/load.svg"]).expect(0);
    let picture = std::fs::read_to_string(world.work().join("out/load.svg")).unwrap();
    assert!(
        picture.starts_with("<svg ") && picture.contains("Load"),
        "{picture}"
    );
    world.write("new.orch.yaml", pipeline(&["Start", "Done"]));
    diff(&world, &["--format", "mermaid"])
        .expect(2)
        .saying(&["2 differ", "hint: name one of them"]);
}

#[test]
fn no_name_leaves_its_place() {
    let name = "x\n::error::y \u{1b}[31m##[group]z ##vso[task]\"]; --> <script>%%{init}";
    let quoted = serde_json::to_string(name).unwrap();
    let hostile = pipeline(&["Start", "NAME", "Done"]).replace("\"NAME\"", &quoted);
    let world = change(&[("h.orch.yaml", &hostile)]);
    for format in ["text", "json", "mermaid", "svg"] {
        let shown = diff(&world, &["--format", format]).expect(0);
        let lines = || shown.out.lines().map(str::trim_start);
        assert!(!lines().any(|line| line.starts_with("::")), "{}", shown.all());
        for part in ["\u{1b}", "##[", "##vso["] {
            assert!(!shown.out.contains(part), "{part:?}: {}", shown.all());
        }
    }
    let page = diff(&world, &["--format", "svg"]).expect(0).out;
    assert!(!page.contains("<script"), "{page}");
    let chart = diff(&world, &["--format", "mermaid"]).expect(0).out;
    assert!(!chart.contains("%%{") && !chart.contains("\"];"), "{chart}");
}

#[test]
fn what_is_no_file_on_disk_any_more_is_told_and_not_waited_for() {
    let world = edited(LOAD);
    let path = world.work().join("load.orch.yaml");
    std::fs::remove_file(&path).unwrap();
    std::os::unix::net::UnixListener::bind(&path).unwrap();
    let text = diff(&world, &["--exit-code"]).expect(1);
    assert!(text.out.contains("it is no regular file"), "{}", text.all());
}
