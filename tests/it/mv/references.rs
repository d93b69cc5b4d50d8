//! `sluicegate mv`: moves files and updates every reference to them, and changes nothing else.

use super::mv;
use crate::support::{Call, World, at_once, orchestration_text, project};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// References in every style that users and exporters write.
const MAIN: &str = "# calls é\r\ntype: orchestration\r\nversion: \"1.0\"\r\npipeline:\r\n  components:\r\n    Plain:\r\n      type: run-orchestration\r\n      parameters:\r\n        orchestrationJob: sales/load   # why\r\n    Quoted:\r\n      type: run-orchestration\r\n      parameters: { orchestrationJob: 'sales/load.orch.yaml' }\r\n    Folded:\r\n      type: run-transformation\r\n      parameters:\r\n        transformationJob: \"sales/\\\r\n          clean it\"\r\n    Script:\r\n      type: sql-executor\r\n      parameters:\r\n        scriptLocation: File\r\n        fileName: sales/count.sql\r\n    Other:\r\n      type: run-orchestration\r\n      parameters:\r\n        orchestrationJob: ${sales/load}\r\n        note: sales/load\r\n";

const EMPTY: &str = "type: orchestration\nversion: \"1.0\"\npipeline:\n  components: {}\n";
const TRANSFORMATION: &str = "type: transformation\nversion: \"1.0\"\npipeline:\n  components: {}\n";
const SHARED: &str = "version: \"1.0\"\npipelines:\n  - pipeline: \"sales/load.orch.yaml\" # offered\n    id: load\n    enabled: true\n";
const WAIVERS: &str = "# why\n- { rule: component-naming-convention, path: sales/load.orch.yaml, reason: old }\n- { rule: component-naming-convention, path: 'sales/**', reason: all }\n- { rule: component-naming-convention, path: '**/load.orch.yaml', reason: any }\n";
const SETTINGS: &str = "exclude:\n  - sales/load.orch.yaml\n  - other/**\n";

fn world_with_references() -> World {
    let world = World::new();
    world.write("main.orch.yaml", MAIN);
    world.write("sales/load.orch.yaml", EMPTY);
    world.write("sales/clean it.tran.yaml", TRANSFORMATION);
    world.write("sales/count.sql", "select 1\n");
    world.write(".platform/shared-pipelines.yaml", SHARED);
    world.write("sluicegate-waivers.yaml", WAIVERS);
    world.write("sluicegate.yaml", SETTINGS);
    world.commit("the past");
    world
}

#[test]
fn pipeline_that_is_also_a_script_is_counted_once() {
    let world = World::new();
    let caller = crate::fix::script("Script", "a.orch.yaml");
    world.write("main.orch.yaml", format!("{}{caller}", crate::fix::HEADER));
    world.write("a.orch.yaml", EMPTY);
    world.commit("first");
    let log = mv(&world, "a.orch.yaml b.orch.yaml").expect(0).all();
    assert!(log.contains("1 pipeline"), "{log}");
}

#[cfg(target_os = "linux")]
#[test]
fn file_moves_in_checkout_whose_directory_is_not_utf8() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = world_with_references();
    for name in [&b"plain"[..], b"not\xffutf8"] {
        let root = world.path().join(std::ffi::OsStr::from_bytes(name));
        let copied = std::process::Command::new("cp")
            .arg("-r")
            .args([world.work(), root.clone()])
            .status();
        assert!(copied.unwrap().success());
        let output = Call::new(&root).run("mv sales/load.orch.yaml sales/other.orch.yaml");
        output.expect(0);
        assert!(root.join("sales/other.orch.yaml").is_file());
        assert!(!root.join("sales/load.orch.yaml").exists());
    }
}

/// Returns every file of the working tree with its content, and the index.
fn all(world: &World) -> (Vec<(String, String)>, String) {
    let paths = world.git("ls-files --cached --others");
    let files = paths.lines().map(|path| {
        let bytes = fs::read(world.work().join(path.trim_matches('"'))).unwrap_or_default();
        (path.to_owned(), String::from_utf8(bytes).unwrap())
    });
    (files.collect(), world.git("ls-files --stage"))
}

/// Runs a move that must be refused and checks that it changes nothing; returns the message.
fn refused_move_text(world: &World, args: &str) -> String {
    let before = all(world);
    let output = mv(world, args).expect(2);
    assert_eq!(all(world), before, "{args}");
    assert!(output.err.contains("hint:"), "{}", output.err);
    output.err.lines().next().unwrap().to_owned()
}

#[test]
fn pipeline_moves_with_every_reference_and_every_other_byte_stays() {
    let world = world_with_references();
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.work().join("main.orch.yaml"), executable).unwrap();
    world.commit("to be run");
    let output = mv(&world, "sales/load.orch.yaml 'new place/load: it.orch.yaml'").expect(0);
    insta::assert_snapshot!(output.out, @"moved 1 pipeline; updated 2 calls in 1 file, 1 shared pipeline, 1 waiver, 1 glob");
    let expected = MAIN
        .replace("sales/load   #", "'new place/load: it'   #")
        .replace("'sales/load.orch.yaml'", "'new place/load: it.orch.yaml'");
    assert_eq!(world.read_text("main.orch.yaml"), expected);
    assert_eq!(
        world.read_text(".platform/shared-pipelines.yaml"),
        SHARED.replace("sales/load", "new place/load: it")
    );
    assert_eq!(
        world.read_text("sluicegate-waivers.yaml"),
        WAIVERS.replacen("sales/load.orch.yaml", "'new place/load: it.orch.yaml'", 1)
    );
    assert_eq!(
        world.read_text("sluicegate.yaml"),
        SETTINGS.replace("sales/load.orch.yaml", "'new place/load: it.orch.yaml'")
    );
    let mode = fs::metadata(world.work().join("main.orch.yaml"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o755);
    insta::assert_snapshot!(world.git(&["status", "--short"]), @r#"
    M  .platform/shared-pipelines.yaml
    M  main.orch.yaml
    R  sales/load.orch.yaml -> "new place/load: it.orch.yaml"
    M  sluicegate-waivers.yaml
    M  sluicegate.yaml
    "#);
    let check_output = Call::new(&world.work()).run("check --all --fail-on never --report json=-");
    // The settings also exclude the shared pipeline, so a publish would omit it.
    let finding_count = check_output.out.matches("\"rule\": \"project/").count();
    assert_eq!(finding_count, 1, "{}", check_output.out);
    assert!(
        check_output.out.contains("excludes from publishing"),
        "{}",
        check_output.out
    );
}

#[test]
fn folder_moves_with_what_is_in_it_and_back_again() {
    let world = world_with_references();
    world.write("sales/untracked.txt", "x");
    world.write("sales/load.orch.yaml", EMPTY.replace("{}", "\n    Beside:\n      type: run-transformation\n      parameters:\n        transformationJob: clean it\n    Whole:\n      type: run-transformation\n      parameters:\n        transformationJob: sales/clean it\n"));
    world.commit("calls within the folder");
    let (before, _) = all(&world);
    let report = mv(&world, "sales deep/down -o json").expect(0).json();
    insta::assert_snapshot!(serde_json::to_string_pretty(&report).unwrap());
    assert!(
        world
            .read_text("deep/down/load.orch.yaml")
            .contains("transformationJob: deep/down/clean it\n")
    );
    assert!(world.work().join("deep/down/untracked.txt").exists());
    assert!(!world.work().join("sales").exists());
    mv(&world, "deep/down sales").expect(0);
    let one_line = before
        .into_iter()
        .map(|(path, text)| (path, text.replace("\\\r\n          ", "")));
    assert_eq!(
        all(&world).0,
        one_line.collect::<Vec<_>>(),
        "what it rewrote itself is no change that is not committed"
    );
    assert_eq!(world.git(&["status", "--short"]), "M  main.orch.yaml");
}

#[test]
fn dry_run_shows_each_value_and_changes_nothing() {
    let world = world_with_references();
    let before = all(&world);
    let output = mv(&world, "sales warehouse --dry-run").expect(0);
    insta::assert_snapshot!(output.out, @"
    sales -> warehouse
    main.orch.yaml:9: sales/load -> warehouse/load
    main.orch.yaml:12: sales/load.orch.yaml -> warehouse/load.orch.yaml
    main.orch.yaml:16: sales/clean it -> warehouse/clean it
    main.orch.yaml:22: sales/count.sql -> warehouse/count.sql
    .platform/shared-pipelines.yaml:3: sales/load.orch.yaml -> warehouse/load.orch.yaml
    sluicegate-waivers.yaml:2: sales/load.orch.yaml -> warehouse/load.orch.yaml
    sluicegate-waivers.yaml:3: sales/** -> warehouse/**
    sluicegate.yaml:2: sales/load.orch.yaml -> warehouse/load.orch.yaml
    would move 2 pipelines, 1 script; would update 3 calls, 1 script name in 1 file, 1 shared pipeline, 2 waivers, 1 glob
    ");
    assert_eq!(all(&world), before);
}

#[test]
fn paths_are_taken_as_git_takes_them() {
    let world = world_with_references();
    fs::create_dir(world.work().join("there")).unwrap();
    let below = world.work().join("sales");
    let output = Call::new(&below).run("mv count.sql ../there").expect(0);
    insta::assert_snapshot!(output.out, @"moved 1 script; updated 1 script name in 1 file");
    assert!(
        world
            .read_text("main.orch.yaml")
            .contains("fileName: there/count.sql\r\n")
    );
    assert_eq!(world.git(&["ls-files", "there"]), "there/count.sql");
}

#[test]
fn refused_move_changes_nothing() {
    let world = world_with_references();
    world.write("untracked.orch.yaml", EMPTY);
    world.write("Kept.sql", "x");
    world.write("caf\u{e9}.sql", "x");
    let mut messages = Vec::new();
    for args in [
        "sales/load.orch.yaml main.orch.yaml",
        "sales/gone.orch.yaml x.orch.yaml",
        "untracked.orch.yaml x.orch.yaml",
        "sales/load.orch.yaml sales/load.orch.yaml",
        "sales/load.orch.yaml sales/load.yaml",
        "sales/load.orch.yaml nowhere/",
        "sales sales/deeper",
        "sales ../elsewhere",
        "sales/count.sql kept.SQL",
        "sales/count.sql cafe\u{301}.sql",
        "sales/load.orch.yaml sales/.orch.yaml",
        "sales/load.orch.yaml 'sales/${x}.orch.yaml'",
        "sales 'sales-${x}'",
        "sales/count.sql '${x}.sql'",
        "sales/count.sql .git/count.sql",
        ". x",
    ] {
        messages.push(refused_move_text(&world, args));
    }
    insta::assert_snapshot!(messages.join("\n"));
}

/// The hint must not suggest the path that the file has.
#[test]
fn move_to_another_kind_of_pipeline_has_hint_for_its_cause() {
    let world = world_with_references();
    let call = Call::new(&world.work());
    call.run("mv sales/load.orch.yaml sales/load.tran.yaml")
        .expect(2)
        .saying(&["hint: nothing was changed: a move keeps the kind of the pipeline (orchestration)"]);
    call.run("mv sales/load.orch.yaml sales/more.tran.yaml")
        .expect(2)
        .saying(&["hint: nothing was changed: use `sales/more.orch.yaml`"]);
}

#[test]
fn changes_that_are_not_committed_stay_where_they_are() {
    let world = world_with_references();
    world.write("sales/load.orch.yaml", format!("{EMPTY}# mine\n"));
    let message = refused_move_text(&world, "sales/load.orch.yaml x.orch.yaml");
    insta::assert_snapshot!(message, @"error: `sales/load.orch.yaml` has uncommitted changes");
    insta::assert_snapshot!(refused_move_text(&world, "sales elsewhere"), @"error: `sales/load.orch.yaml` has uncommitted changes");
    mv(&world, "sales/load.orch.yaml x.orch.yaml --force").expect(0);
    assert!(world.read_text("x.orch.yaml").ends_with("# mine\n"));
}

#[test]
fn second_move_takes_along_what_the_first_one_rewrote() {
    let world = world_with_references();
    mv(&world, "sales/load.orch.yaml a.orch.yaml").expect(0);
    mv(&world, "a.orch.yaml b.orch.yaml").expect(0);
    mv(&world, "main.orch.yaml sales/main.orch.yaml").expect(0);
    assert!(
        world
            .read_text("sales/main.orch.yaml")
            .contains("orchestrationJob: b   # why")
    );
    world.git("add -A");
    mv(&world, "sales/main.orch.yaml again.orch.yaml").expect(0);
    let text = world.read_text("again.orch.yaml") + "# mine\n";
    world.write("again.orch.yaml", text);
    refused_move_text(&world, "again.orch.yaml more.orch.yaml");
}

#[test]
fn reference_that_cannot_be_rewritten_is_named_with_its_place() {
    for (value, line) in [
        ("&name sales/load\n        again: *name", 7),
        (">\n          sales/load\n", 0),
        ("!!str sales/load", 7),
    ] {
        let world = world_with_references();
        world.write(
            "odd.orch.yaml",
            EMPTY.replace(
                "{}",
                &format!("\n    A:\n      parameters:\n        orchestrationJob: {value}\n"),
            ),
        );
        world.commit("odd");
        if line == 0 {
            mv(&world, "sales/load.orch.yaml x.orch.yaml").expect(0);
            continue;
        }
        let message = refused_move_text(&world, "sales/load.orch.yaml x.orch.yaml");
        assert!(
            message.starts_with(&format!("error: odd.orch.yaml:{line}: the value ")),
            "{message}"
        );
    }
    let world = world_with_references();
    world.write("broken.orch.yaml", "type: [\norchestrationJob: sales/load\n");
    let message = refused_move_text(&world, "sales/load.orch.yaml x.orch.yaml");
    assert!(
        message
            .starts_with("error: broken.orch.yaml:2: this file contains `sales/load` and cannot be parsed"),
        "{message}"
    );
    mv(&world, "sales/count.sql x.sql").expect(0);
}

#[test]
fn repair_writes_what_can_be_one_file_alone_and_lists_the_rest() {
    let world = world_with_references();
    world.write("a/twice.orch.yaml", EMPTY);
    world.write("b/twice.orch.yaml", EMPTY);
    let calls = [
        "old/load",
        "load.orch.yaml",
        "old/twice",
        "never/was",
        "${x}",
        "sales/load",
        "lib/away",
    ];
    let mut components = String::new();
    for (index, call) in calls.iter().enumerate() {
        let _ = write!(
            components,
            "\n    C{index}:\n      parameters:\n        orchestrationJob: {call}"
        );
    }
    world.write("c/calls.orch.yaml", EMPTY.replace("{}", &format!("{components}\n    S:\n      parameters:\n        scriptLocation: File\n        fileName: old/count.sql")));
    // A pipeline does not call itself, and globs may contain the extension that a call omits.
    world.write(
        "c/self.orch.yaml",
        EMPTY.replace(
            "{}",
            "\n    C:\n      parameters:\n        orchestrationJob: out/self",
        ),
    );
    world.write("away/load.tran.yaml", EMPTY);
    let external_call = "\n    C:\n      parameters:\n        transformationJob: ext/load";
    world.write("c/external.orch.yaml", EMPTY.replace("{}", external_call));
    world.write(
        "sluicegate.yaml",
        "project-checks: { external: ['lib/**', 'ext/*.tran.yaml'] }\n",
    );
    world.commit("dead calls");
    let before = all(&world);
    let dry = mv(&world, "--repair --dry-run").expect(0);
    assert_eq!(all(&world), before);
    insta::assert_snapshot!(dry.out, @"
    c/calls.orch.yaml:7: old/load -> sales/load
    c/calls.orch.yaml:10: load.orch.yaml -> sales/load.orch.yaml
    c/calls.orch.yaml:29: old/count.sql -> sales/count.sql
    left: c/calls.orch.yaml:13: old/twice: several files have that name: a/twice.orch.yaml, b/twice.orch.yaml
    left: c/calls.orch.yaml:16: never/was: no file has that name
    left: c/self.orch.yaml:7: out/self: no file has that name
    would repair 2 calls, 1 script name in 1 file; 3 left
    ");
    let check_output = Call::new(&world.work()).run("check --all --report json=-");
    assert!(
        !check_output.out.contains("c/self.orch.yaml` has that name"),
        "{}",
        check_output.out
    );
    assert!(
        check_output
            .out
            .contains("`sales/load.orch.yaml` has that name; `sluicegate mv --repair` writes that path"),
        "{}",
        check_output.out
    );
    let output = mv(&world, "--repair").expect(0);
    insta::assert_snapshot!(output.out, @"
    left: c/calls.orch.yaml:13: old/twice: several files have that name: a/twice.orch.yaml, b/twice.orch.yaml
    left: c/calls.orch.yaml:16: never/was: no file has that name
    left: c/self.orch.yaml:7: out/self: no file has that name
    repaired 2 calls, 1 script name in 1 file; 3 left
    ");
    let text = world.read_text("c/calls.orch.yaml");
    let targets = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("orchestrationJob: "));
    let expected = [
        "sales/load",
        "sales/load.orch.yaml",
        "old/twice",
        "never/was",
        "${x}",
        "sales/load",
        "lib/away",
    ];
    assert_eq!(targets.collect::<Vec<_>>(), expected);
    assert!(text.contains("fileName: sales/count.sql"));
    insta::assert_snapshot!(mv(&world, &["--repair"]).expect(0).out, @"
    left: c/calls.orch.yaml:13: old/twice: several files have that name: a/twice.orch.yaml, b/twice.orch.yaml
    left: c/calls.orch.yaml:16: never/was: no file has that name
    left: c/self.orch.yaml:7: out/self: no file has that name
    nothing to repair; 3 left
    ");
}

/// Returns a project in which two files call a moved pipeline by its old path.
fn world_with_two_dead_calls() -> World {
    let world = World::new();
    let call = "\n    A:\n      parameters:\n        orchestrationJob: old/load";
    world.write("a.orch.yaml", EMPTY.replace("{}", call));
    world.write("b.orch.yaml", EMPTY.replace("{}", call));
    world.write("lib/load.orch.yaml", EMPTY);
    world
}

#[test]
fn repair_lists_value_that_cannot_be_rewritten_and_repairs_others() {
    let world = world_with_two_dead_calls();
    let text = world.read_text("a.orch.yaml");
    let calls = text.replace(": old/load", ": &x old/load")
        + "    B:\n      parameters:\n        orchestrationJob: old/load\n";
    world.write("a.orch.yaml", &calls);
    world.commit("dead calls");
    let output = mv(&world, "--repair").expect(0);
    insta::assert_snapshot!(output.out, @"
    left: a.orch.yaml:7: old/load: the value has a YAML anchor, so a YAML alias elsewhere may use it
    repaired 2 calls in 2 files; 1 left
    ");
    assert!(world.read_text("b.orch.yaml").contains(": lib/load\n"));
    let expected = calls.replace(": old/load", ": lib/load");
    assert_eq!(world.read_text("a.orch.yaml"), expected);
}

#[test]
fn repair_lists_shared_value_once_and_in_file_order() {
    let world = World::new();
    let mut calls = String::new();
    for (index, call) in ["&x old/load", "*x", "never/was", "&y old/load", "*y"]
        .iter()
        .enumerate()
    {
        write!(
            calls,
            "\n    C{index}:\n      parameters:\n        orchestrationJob: {call}"
        )
        .unwrap();
    }
    world.write("a.orch.yaml", EMPTY.replace("{}", &calls));
    world.write("lib/load.orch.yaml", EMPTY);
    world.commit("dead calls");
    let output = mv(&world, "--repair").expect(0);
    insta::assert_snapshot!(output.out, @"
    left: a.orch.yaml:7: old/load: the value has a YAML anchor, so a YAML alias elsewhere may use it
    left: a.orch.yaml:13: never/was: no file has that name
    left: a.orch.yaml:16: old/load: the value has a YAML anchor, so a YAML alias elsewhere may use it
    nothing to repair; 3 left
    ");
}

#[test]
fn path_that_would_be_an_expression_is_not_offered_as_repair() {
    let world = World::new();
    let call =
        "\n    A:\n      type: run-orchestration\n      parameters:\n        orchestrationJob: old/load";
    world.write("a.orch.yaml", EMPTY.replace("{}", call));
    world.write("${x}/load.orch.yaml", EMPTY);
    world.write(".platform/config/pipeline_quality_rules.yaml", "rules: []\n");
    world.commit("dead call");
    let report = Call::new(&world.work()).run("check --all --report json=-").out;
    assert!(report.contains("`${x}/load.orch.yaml` has that name"), "{report}");
    assert!(!report.contains("mv --repair"), "{report}");
    let output = mv(&world, "--repair").expect(0);
    insta::assert_snapshot!(output.out, @"
    left: a.orch.yaml:8: old/load: `${x}/load.orch.yaml` has that name, but a reference with `${` is an expression
    nothing to repair; 1 left
    ");
}

#[test]
fn repair_lists_file_outside_of_sparse_checkout_and_repairs_others() {
    let world = world_with_two_dead_calls();
    world.commit("dead calls");
    world.git("sparse-checkout set --no-cone /b.orch.yaml /lib/");
    let output = mv(&world, "--repair").expect(0);
    insta::assert_snapshot!(output.out, @"
    left: a.orch.yaml:7: old/load: the file is not checked out (sparse checkout)
    repaired 1 call in 1 file; 1 left
    ");
    assert!(world.read_text("b.orch.yaml").contains(": lib/load\n"));
}

#[test]
fn repair_ignores_deleted_file_behind_a_link_and_repairs_others() {
    let world = world_with_two_dead_calls();
    world.write("calls/c.orch.yaml", world.read_text("a.orch.yaml"));
    world.commit("dead calls");
    let outside = link_directory_outside(&world, "calls");
    let before = fs::read(outside.path().join("target/c.orch.yaml")).unwrap();
    let output = mv(&world, "--repair").expect(0);
    insta::assert_snapshot!(output.out, @"
    repaired 2 calls in 2 files
    ");
    let after = fs::read(outside.path().join("target/c.orch.yaml")).unwrap();
    assert_eq!(after, before);
}

#[test]
fn move_that_git_refuses_is_undone() {
    let world = world_with_references();
    let before = all(&world);
    world.write(".git/index.lock", "");
    let output = mv(&world, "sales/load.orch.yaml deep/er/x.orch.yaml").expect(2);
    assert!(output.err.contains("index.lock"), "{}", output.err);
    fs::remove_file(world.work().join(".git/index.lock")).unwrap();
    assert_eq!(all(&world), before);
    assert!(!world.work().join("deep").exists());
}

#[test]
fn link_of_repository_is_not_written_through() {
    let world = world_with_references();
    std::os::unix::fs::symlink("sales", world.work().join("link")).unwrap();
    world.commit("a link");
    let message = refused_move_text(&world, "main.orch.yaml link/main.orch.yaml");
    assert!(message.contains("behind the symbolic link `link`"), "{message}");
    let output = mv(&world, "main.orch.yaml sales/main.orch.yaml -o json").expect(0);
    let document: Value = output.json();
    assert_eq!(document["edits"], Value::Array(Vec::new()));
}

#[test]
fn line_ends_that_git_converts_stay_as_they_are_on_disk() {
    let world = world_with_references();
    world.write(".gitattributes", "*.yaml text eol=crlf\n");
    world.write("plain.orch.yaml", MAIN.replace("\r\n", "\n"));
    world.commit("line ends");
    fs::remove_file(world.work().join("plain.orch.yaml")).unwrap();
    world.git("checkout -- plain.orch.yaml");
    assert_eq!(world.read_text("plain.orch.yaml"), MAIN);
    assert_eq!(world.git(&["status", "--short"]), "");
    mv(&world, "sales/load.orch.yaml a.orch.yaml").expect(0);
    let expected = MAIN
        .replace("sales/load   #", "a   #")
        .replace("'sales/load.orch.yaml'", "'a.orch.yaml'");
    assert_eq!(world.read_text("plain.orch.yaml"), expected);
    mv(&world, "plain.orch.yaml b.orch.yaml").expect(0);
    assert_eq!(world.read_text("b.orch.yaml"), expected);
}

#[test]
fn move_behind_an_untracked_link_is_refused() {
    let world = project();
    let outside = crate::support::scratch::create_scratch_directory();
    std::os::unix::fs::symlink(outside.path(), world.work().join("out")).unwrap();
    let output = Call::new(&world.work())
        .run("mv a.orch.yaml out/a.orch.yaml")
        .expect(2);
    output.saying(&["behind the symbolic link `out`"]);
    assert!(world.work().join("a.orch.yaml").is_file());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

/// Replaces a directory of tracked files with a link to the same files outside of the repository.
fn link_directory_outside(world: &World, directory: &str) -> tempfile::TempDir {
    let outside = crate::support::scratch::create_scratch_directory();
    let target = outside.path().join("target");
    fs::rename(world.work().join(directory), &target).unwrap();
    std::os::unix::fs::symlink(&target, world.work().join(directory)).unwrap();
    outside
}

#[test]
fn moves_do_not_write_through_links() {
    let world = project();
    world.write("sales/load.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write("calls/main.orch.yaml", MAIN);
    world.commit("calls");
    // A file behind a link is not moved.
    let outside = link_directory_outside(&world, "sales");
    let output = mv(&world, "sales/load.orch.yaml stock/load.orch.yaml --force").expect(2);
    output.saying(&[
        "behind the symbolic link `sales`",
        "hint: pass paths without a symbolic link",
    ]);
    assert!(outside.path().join("target/load.orch.yaml").is_file());
    fs::remove_file(world.work().join("sales")).unwrap();
    world.git("checkout -q -- sales");
    // For git, a tracked file behind a link is deleted, so it is not rewritten.
    let outside = link_directory_outside(&world, "calls");
    let linked_file = outside.path().join("target/main.orch.yaml");
    let before = fs::read(&linked_file).unwrap();
    mv(&world, "sales/load.orch.yaml stock/load.orch.yaml").expect(0);
    assert_eq!(fs::read(&linked_file).unwrap(), before);
    // A link of the repository can be moved itself.
    let twin = project();
    std::os::unix::fs::symlink("a.orch.yaml", twin.work().join("link")).unwrap();
    twin.commit("link");
    mv(&twin, "link other").expect(0);
}

#[test]
fn commit_after_move_contains_the_rewritten_references() {
    let world = world_with_references();
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.work().join("main.orch.yaml"), executable).unwrap();
    world.commit("executable");
    mv(&world, "sales/load.orch.yaml stock/load.orch.yaml").expect(0);
    world.git("commit -q -m moved");
    assert_eq!(world.git(&["status", "--short"]), "");
    assert!(world.git(&["show", "HEAD:main.orch.yaml"]).contains("stock/load"));
    // The mode of a rewritten file stays.
    let entry = world.git("ls-tree HEAD main.orch.yaml");
    assert!(entry.starts_with("100755 "), "{entry}");
}

#[test]
fn move_does_not_stage_changes_that_were_not_staged_before() {
    let world = world_with_references();
    world.write("main.orch.yaml", MAIN.replace("# calls é", "# half done"));
    let output = mv(&world, "sales/load.orch.yaml stock/load.orch.yaml").expect(0);
    output.saying(&[
        "the rewritten references in main.orch.yaml are not staged (these files had unstaged changes, ",
        "run `git add` before you commit the move",
    ]);
    let status = world.git("status --short main.orch.yaml sluicegate.yaml");
    assert_eq!(status, " M main.orch.yaml\nM  sluicegate.yaml");
    let json = mv(&world, "stock sales -o json").expect(0).json();
    assert_eq!(json["unstaged"], serde_json::json!(["main.orch.yaml"]));
    let repaired = project();
    let call = "      parameters: { orchestrationJob: old/a.orch.yaml }\n";
    let caller = orchestration_text(&["Start", "Run", "Done"]).replacen(
        "      parameters: { componentName: \"Run\" }\n",
        call,
        1,
    );
    repaired.write(
        "caller.orch.yaml",
        caller.replace("sql-executor", "run-orchestration"),
    );
    repaired.commit("dead call");
    mv(&repaired, "--repair")
        .expect(0)
        .saying(&["the repaired files are not staged"]);
}

#[test]
fn repair_writes_the_path_of_a_bare_name_that_check_names() {
    let world = World::new();
    let caller = "type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n    Call:\n      type: run-orchestration\n      parameters:\n        orchestrationJob: load\n";
    for path in ["AI/load.orch.yaml", "BI/load.orch.yaml"] {
        world.write(path, EMPTY);
    }
    world.write("AI/main.orch.yaml", caller);
    world.write("main.orch.yaml", caller);
    world.commit("the past");
    let check_output = Call::new(&world.work()).run("check --all --fail-on never");
    assert!(
        check_output
            .out
            .contains("write the full path, `AI/load.orch.yaml`"),
        "{}",
        check_output.all()
    );
    let output = mv(&world, "--repair").expect(0);
    insta::assert_snapshot!(output.out, @"
    left: main.orch.yaml:8: load: several files have that name: AI/load.orch.yaml, BI/load.orch.yaml
    repaired 1 call in 1 file; 1 left
    ");
    assert!(
        world
            .read_text("AI/main.orch.yaml")
            .contains("orchestrationJob: AI/load\n")
    );
    // Of several files, none of them beside the caller, none is chosen.
    assert_eq!(world.read_text("main.orch.yaml"), caller);
}

/// A file system may store a name in another Unicode normal form than the call is written in.
#[test]
fn repair_fixes_names_that_differ_in_their_unicode_normal_form() {
    let world = World::new();
    let caller = "type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n    Call:\n      type: run-orchestration\n      parameters:\n        orchestrationJob: verk\u{e4}ufe/geb\u{fc}hr\n    Script:\n      type: sql-executor\n      parameters:\n        scriptLocation: File\n        fileName: sql/z\u{e4}hlung.sql\n";
    world.write("verka\u{308}ufe/gebu\u{308}hr.orch.yaml", EMPTY);
    world.write("sql/za\u{308}hlung.sql", "select 1\n");
    world.write("main.orch.yaml", caller);
    world.commit("the past");
    let check_output = Call::new(&world.work()).run("check --all --fail-on never");
    assert!(
        check_output
            .out
            .contains("differs only in its Unicode normal form; `sluicegate fix` corrects it"),
        "{}",
        check_output.all()
    );
    mv(&world, "--repair").expect(0);
    let repaired = caller
        .replace("verk\u{e4}ufe/geb\u{fc}hr", "verka\u{308}ufe/gebu\u{308}hr")
        .replace("z\u{e4}hlung", "za\u{308}hlung");
    assert_eq!(world.read_text("main.orch.yaml"), repaired);
    let check_output = Call::new(&world.work()).run("check --all --fail-on never");
    assert!(!check_output.out.contains("project/"), "{}", check_output.all());
}

/// In the linked working tree of a shallow clone, libgit2 reads a temporary copy of the repository.
#[test]
fn rewritten_file_is_stored_in_the_clone_of_a_linked_working_tree() {
    let world = world_with_references();
    world.push();
    let url = format!("file://{}", world.remote().display());
    crate::support::git(world.path(), format!("clone -q --depth 1 {url} shallow"));
    let shallow = world.path().join("shallow");
    crate::support::git(&shallow, "worktree add -q ../linked -b linked");
    let linked = world.path().join("linked");
    Call::new(&linked)
        .run("mv sales/load.orch.yaml a.orch.yaml")
        .expect(0);
    crate::support::git(&linked, "write-tree");
    let staged = crate::support::git(&linked, "show :main.orch.yaml");
    assert!(staged.contains("'a.orch.yaml'"), "{staged}");
    assert_eq!(crate::support::git(&linked, "diff --name-only"), "");
}

/// Only git could run the filter, so the rewritten file is left unstaged.
#[test]
fn rewritten_file_that_a_filter_converts_is_not_staged() {
    let world = world_with_references();
    world.write(".gitattributes", "main.orch.yaml filter=hide\n");
    world.git("config filter.hide.smudge \"sed 's/# why/# how/'\"");
    world.git("config filter.hide.clean \"sed 's/# how/# why/'\"");
    world.commit("filter");
    fs::remove_file(world.work().join("main.orch.yaml")).unwrap();
    world.git("checkout -q -- main.orch.yaml");
    let earlier = world.git("show :main.orch.yaml");
    mv(&world, "sales/load.orch.yaml a.orch.yaml").expect(0);
    assert_eq!(world.git("show :main.orch.yaml"), earlier);
}

/// Returns a project in which `a/main.orch.yaml` calls the orchestration `target`.
fn world_with_call(target: &str, called_path: &str) -> World {
    let world = World::new();
    let call = format!(
        "type: orchestration\npipeline:\n  components:\n    Run:\n      type: run-orchestration\n      parameters:\n        orchestrationJob: {target}\n"
    );
    world.write("a/main.orch.yaml", call);
    world.write(called_path, EMPTY);
    world.commit("first");
    world
}

#[test]
fn pipeline_that_leaves_the_root_is_called_with_its_folder() {
    for target in ["load", "load.orch.yaml"] {
        let world = world_with_call(target, "load.orch.yaml");
        let log = mv(&world, "load.orch.yaml b/load.orch.yaml").expect(0).all();
        assert!(log.contains("1 call in 1 file"), "{log}");
        let text = world.read_text("a/main.orch.yaml");
        assert!(text.contains(&format!("Job: b/{target}\n")), "{text}");
        let log = Call::new(&world.work()).run("check --all --show all").all();
        assert!(!log.contains("project/call"), "{log}");
    }
}

#[test]
fn pipeline_that_was_in_the_root_meanwhile_is_called_as_before() {
    let world = world_with_call("b/load", "b/load.orch.yaml");
    let before = world.read_text("a/main.orch.yaml");
    mv(&world, "b/load.orch.yaml load.orch.yaml").expect(0);
    assert_ne!(world.read_text("a/main.orch.yaml"), before);
    mv(&world, "load.orch.yaml b/load.orch.yaml").expect(0);
    assert_eq!(world.read_text("a/main.orch.yaml"), before);
}

#[test]
fn pipeline_with_the_name_of_a_neighbor_of_its_caller_does_not_move_to_the_root() {
    let world = world_with_call("b/load", "b/load.orch.yaml").with_file("a/load.orch.yaml", EMPTY);
    world.commit("second");
    let message = refused_move_text(&world, "b/load.orch.yaml load.orch.yaml");
    assert!(
        message.contains("the file of that name in its folder"),
        "{message}"
    );
    mv(&world, "b/load.orch.yaml c/load.orch.yaml").expect(0);
    assert!(world.read_text("a/main.orch.yaml").contains("Job: c/load\n"));
}

#[test]
fn move_that_makes_an_unchanged_call_read_like_a_neighbor_is_refused() {
    for (caller, neighbor, args) in [
        ("main", "a/load", "main.orch.yaml a/main.orch.yaml"),
        ("b/main", "a/load", "b/main.orch.yaml a/main.orch.yaml"),
        ("b/main", "a/load", "a/load.orch.yaml b/load.orch.yaml"),
        ("b/main", "b/load2", "load.orch.yaml load2.orch.yaml"),
    ] {
        let world = world_with_call("load", "load.orch.yaml");
        let text = world.read_text("a/main.orch.yaml");
        fs::remove_file(world.work().join("a/main.orch.yaml")).unwrap();
        world.write(&format!("{caller}.orch.yaml"), text);
        world.write(&format!("{neighbor}.orch.yaml"), EMPTY);
        world.commit("second");
        let message = refused_move_text(&world, args);
        assert!(
            message.contains("the file of that name in its folder"),
            "{args}: {message}"
        );
    }
}

#[test]
fn call_that_read_like_a_neighbor_before_the_move_is_listed() {
    let world = world_with_call("load", "load.orch.yaml").with_file("a/load.orch.yaml", EMPTY);
    world.write("a/other.orch.yaml", EMPTY);
    world.commit("second");
    let log = mv(&world, "a/other.orch.yaml a/third.orch.yaml").expect(0).all();
    assert!(!log.contains("left"), "{log}");
    let log = mv(&world, "a c").expect(0).all();
    assert!(
        log.contains(
            "left: c/main.orch.yaml:7: load: the reference reads like `c/load.orch.yaml`, as before the move"
        ),
        "{log}"
    );
    assert!(log.contains("; 1 left"), "{log}");
}

#[test]
fn call_that_means_one_file_only_after_the_move_is_listed() {
    let world = world_with_call("load", "b/load.orch.yaml").with_file("c/load.orch.yaml", EMPTY);
    world.commit("second");
    let log = mv(&world, "b/load.orch.yaml b/new.orch.yaml").expect(0).all();
    assert!(
        log.contains("left: a/main.orch.yaml:7: load: several files had that name before the move, and now the call means `c/load.orch.yaml`"),
        "{log}"
    );
    assert!(log.contains("moved 1 pipeline; 1 left"), "{log}");
    // A call that means several files before and after the move stays a finding of `check`.
    let world = world_with_call("load", "b/load.orch.yaml").with_file("c/load.orch.yaml", EMPTY);
    world.commit("second");
    let log = mv(&world, "b/load.orch.yaml d/load.orch.yaml").expect(0).all();
    assert!(log.contains("moved 1 pipeline; no references to it"), "{log}");
}

/// A pipeline that calls the orchestration and names the script at these paths.
fn caller_with_script(pipeline: &str, script: &str) -> String {
    let parts = [
        crate::fix::call("Call", pipeline),
        crate::fix::script("Script", script),
    ];
    format!("{}{}", crate::fix::HEADER, parts.concat())
}

#[test]
fn repair_writes_new_path_of_renamed_file_and_not_of_another_file_of_that_name() {
    for name in ["sales/load", "load"] {
        let world = crate::fix::project(&[
            ("sales/load.orch.yaml", EMPTY),
            ("hr/load.orch.yaml", "# hr\n"),
            ("sql/count.sql", "select 1 from orders\n"),
            ("hr/count.sql", "-- another script\n"),
            ("sales/main.orch.yaml", &caller_with_script(name, "sql/count.sql")),
        ]);
        world.git("mv sales/load.orch.yaml sales/ingest.orch.yaml");
        world.git("mv sql/count.sql sql/total.sql");
        world.commit("rename");
        mv(&world, "--repair").expect(0);
        assert_eq!(
            world.read_text("sales/main.orch.yaml"),
            caller_with_script("sales/ingest", "sql/total.sql")
        );
    }
}

#[test]
fn repair_leaves_call_that_means_another_file_since_the_change() {
    let world = crate::fix::project(&[
        ("sales/load.orch.yaml", EMPTY),
        ("hr/load.orch.yaml", "# hr\n"),
        (
            "sales/main.orch.yaml",
            &caller_with_script("load", "sql/count.sql"),
        ),
        ("sql/count.sql", "select 1 from orders\n"),
    ]);
    world.git("rm -q sales/load.orch.yaml");
    world.git("mv sql/count.sql count.sql");
    world.commit("delete");
    let output = mv(&world, "--repair").expect(0);
    assert!(
        output.out.contains(
            "left: sales/main.orch.yaml:8: load: before this change, the call meant `sales/load.orch.yaml`"
        ),
        "{}",
        output.out
    );
    // After the change, the base has the same files, and the only file of that name is written.
    world.git("checkout -q main");
    world.git("merge -q change");
    world.push();
    let output = mv(&world, "--repair").expect(0);
    assert!(output.out.contains("repaired 1 call in 1 file"), "{}", output.out);
}

#[test]
fn repair_leaves_call_of_pipeline_that_became_another_kind_and_names_the_reason() {
    let text = crate::fix::call("Load", "${some}") + &crate::fix::script("Script", "sql/a.sql");
    let orchestration = format!("{}{text}", crate::fix::HEADER);
    for (target, reason) in [
        (
            "load",
            "before this change, the call meant `sales/load.orch.yaml`",
        ),
        (
            "sales/load",
            "the file is a transformation, but is called as an orchestration",
        ),
    ] {
        let main = format!("{}{}", crate::fix::HEADER, crate::fix::call("Call", target));
        let mut files = vec![
            ("sales/load.orch.yaml", orchestration.as_str()),
            ("sales/main.orch.yaml", &main),
            ("sql/a.sql", "select 1\n"),
        ];
        if target == "load" {
            files.push(("hr/load.orch.yaml", EMPTY));
        }
        let world = crate::fix::project(&files);
        world.git("mv sales/load.orch.yaml sales/load.tran.yaml");
        world.commit("rename");
        let log = mv(&world, "--repair").expect(0).out;
        assert!(
            log.contains(&format!("left: sales/main.orch.yaml:8: {target}: {reason}")),
            "{log}"
        );
    }
}

#[test]
fn repair_without_base_shows_a_note_and_with_wrong_base_fails() {
    let world = crate::fix::project(&[
        ("sales/load.orch.yaml", EMPTY),
        (
            "sales/main.orch.yaml",
            &caller_with_script("load", "sql/count.sql"),
        ),
        ("sql/count.sql", "select 1 from orders\n"),
    ]);
    let unknown = "it is unknown what the change renamed";
    let output = mv(&world, "--repair --dry-run").expect(0);
    assert!(!output.err.contains(unknown), "{}", output.err);
    let call = Call::new(&world.work()).variable("SLUICEGATE_BASE", "gone");
    call.run("mv --repair").expect(7).saying(&["gone"]);
    world.git("update-ref -d refs/remotes/origin/main");
    world.git("remote remove origin");
    let output = mv(&world, "--repair").expect(0);
    assert!(output.err.contains(unknown), "{}", output.err);
    assert!(output.out.contains("repaired 1 call in 1 file"), "{}", output.out);
    // Without a broken reference, nothing depends on the base.
    let output = mv(&world, "--repair").expect(0);
    assert!(!output.err.contains(unknown), "{}", output.err);
}

#[test]
fn moves_at_the_same_time_keep_every_edit() {
    let world = World::new();
    let names = ["r1", "r2", "r3", "r4"];
    let mut shared = "version: \"1.0\"\npipelines:\n".to_owned();
    for name in names {
        world.write(&format!("sales/{name}.orch.yaml"), EMPTY);
        let _ = write!(
            shared,
            "  - pipeline: sales/{name}.orch.yaml\n    id: {name}\n    enabled: true\n"
        );
    }
    world.write(".platform/shared-pipelines.yaml", shared);
    world.commit("first");
    at_once(names, |name| {
        mv(&world, &format!("sales/{name}.orch.yaml store/{name}.orch.yaml")).expect(0);
    });
    let text = world.read_text(".platform/shared-pipelines.yaml");
    assert_eq!(text.matches("pipeline: store/").count(), names.len(), "{text}");
}

#[test]
fn call_of_existing_pipeline_of_other_kind_names_its_kind() {
    let world = project();
    let call = |key: &str, target: &str| {
        format!(
            "type: orchestration\npipeline:\n  components:\n    Run: {{ type: run-{key}, parameters: {{ {key}Job: \"{target}\" }} }}\n"
        )
    };
    world.write("s/a.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write("b.orch.yaml", call("transformation", "s/a.orch.yaml"));
    world.write("c.orch.yaml", call("transformation", "s/gone.tran.yaml"));
    world.commit("calls");
    let mv = Call::new(&world.work()).run("mv --repair --dry-run").out;
    for text in [
        "s/a.orch.yaml: the file is an orchestration, but is called as a transformation",
        "s/gone.tran.yaml: no file has that name",
    ] {
        assert!(mv.contains(text), "{mv}");
    }
    let check = Call::new(&world.work()).run("check --all").all();
    for text in [
        "calls the transformation `s/a.orch.yaml`, which is an orchestration",
        "calls the transformation `s/gone.tran.yaml`, which is not in the project",
    ] {
        assert!(check.contains(text), "{check}");
    }
}

#[test]
fn entry_in_second_hidden_directory_follows_moved_pipeline() {
    let world = world_with_references();
    world.write(
        ".finance/shared-pipelines.yaml",
        SHARED.replace("sales/load", "finance/pay"),
    );
    world.write("finance/pay.orch.yaml", EMPTY);
    world.write("sluicegate.yaml", format!("config-dir: .platform\n{SETTINGS}"));
    world.commit("second project");
    let log = mv(&world, "finance/pay.orch.yaml finance/wages.orch.yaml")
        .expect(0)
        .all();
    assert!(log.contains("updated 1 shared pipeline"), "{log}");
    let read = |path: &str| fs::read_to_string(world.work().join(path)).unwrap();
    let finance = read(".finance/shared-pipelines.yaml");
    assert!(
        finance.contains("\"finance/wages.orch.yaml\" # offered"),
        "{finance}"
    );
    assert_eq!(read(".platform/shared-pipelines.yaml"), SHARED);
}

#[test]
fn file_with_merge_conflict_is_not_moved() {
    let world = world_with_references();
    world.git("checkout -q -b other");
    world.write("sales/load.orch.yaml", format!("{EMPTY}# theirs\n"));
    world.commit("theirs");
    world.git("checkout -q main");
    world.write("sales/load.orch.yaml", format!("{EMPTY}# ours\n"));
    world.commit("ours");
    let merge = std::process::Command::new("git")
        .args(["merge", "-q", "other"])
        .current_dir(world.work())
        .output();
    assert!(!merge.unwrap().status.success());
    for args in ["sales/load.orch.yaml sales/new.orch.yaml", "--force sales new"] {
        mv(&world, args).expect(7).saying(&[
            "the index has conflicts: sales/load.orch.yaml",
            "hint: resolve the conflicts and stage the files (`git add`)",
        ]);
    }
    // Another file can be moved during the merge.
    mv(&world, "sales/count.sql sales/sum.sql").expect(0);
}

/// git would replace the submodule in the index by the moved file.
#[test]
fn move_into_submodule_is_refused_and_keeps_submodule() {
    let world = world_with_references();
    let other = World::new();
    other.write("lib.sql", "select 1\n");
    other.commit("first");
    other.push();
    world.git(format!(
        "submodule --quiet add file://{} vendor",
        other.remote().display()
    ));
    world.commit("submodule");
    for new_path in ["vendor", "vendor/new.sql", "vendor/deeper/new.sql"] {
        mv(&world, ("sales/count.sql", new_path))
            .expect(2)
            .saying(&["is in the submodule `vendor`"]);
    }
    assert_eq!(world.git("status --short"), "");
    // The submodule stays in the index if its directory is deleted.
    fs::remove_dir_all(world.work().join("vendor")).unwrap();
    for (new_path, message) in [
        ("vendor", "`vendor` is a submodule"),
        ("vendor/new.sql", "`vendor/new.sql` is in the submodule `vendor`"),
    ] {
        mv(&world, ("sales/count.sql", new_path))
            .expect(2)
            .saying(&[message]);
    }
    mv(&world, "sales/count.sql other/count.sql").expect(0);
    assert!(world.git("ls-files --stage vendor").starts_with("160000 "));
}

#[test]
fn move_into_directory_in_place_of_removed_file_is_accepted() {
    let world = world_with_references();
    world.write("reports", "text");
    world.commit("file");
    world.git("rm -q reports");
    world.write("reports/notes.txt", "text");
    mv(&world, "sales/count.sql reports/count.sql").expect(0);
    assert_eq!(world.git("ls-files reports"), "reports/count.sql");
}
