//! Files whose findings `sluicegate fix` does not know.

use super::{EMPTY, HEADER, append, call, fix, project};
use crate::support::{Call, RULES, World, json_schema};
use serde_json::json;

const MAIN: &str = "main.orch.yaml";

/// Creates a project with rules, in which the bare calls in two files can be fixed.
fn project_with_two_bare_calls() -> World {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let world = project(&[
        ("sales/load.orch.yaml", EMPTY),
        (MAIN, &caller),
        ("next.orch.yaml", &caller),
    ]);
    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    world.commit("rules");
    world
}

/// Asserts that the fix exits with this code and names `main.orch.yaml` and the reason, and that the other file can be
/// fixed.
fn assert_main_is_unevaluated(world: &World, args: &str, code: i32, reason: &str) {
    let warning = format!("1 file could not be evaluated, so its findings may have no fix: {MAIN}: {reason}");
    let output = fix(world, format!("{args} --dry-run"))
        .expect(code)
        .saying(&[&warning]);
    assert_eq!(
        output.out,
        "next.orch.yaml:8: load -> sales/load\nwould fix 1 finding in 1 file; 1 file not evaluated\n"
    );
    let check_args = format!("check {args} --fail-on error");
    Call::new(&world.work()).run(check_args.as_str()).expect(code);
}

#[test]
fn fix_reports_file_that_cannot_be_parsed_and_fails() {
    let world = project_with_two_bare_calls();
    world.write(MAIN, "type: [\n");
    append(&world, "next.orch.yaml", "# changed\n");
    world.git("add -A");
    for args in ["--all", "--staged"] {
        assert_main_is_unevaluated(&world, args, 1, "the pipeline cannot be read: ");
    }
    world.write("sluicegate.yaml", "review: { fail-on: never }\n");
    fix(&world, "--all --dry-run")
        .expect(0)
        .saying(&["1 file could not be evaluated"]);
}

#[test]
fn fix_reports_file_that_index_hides_and_is_undecided() {
    let world = project_with_two_bare_calls();
    world.git("update-index --assume-unchanged main.orch.yaml");
    assert_main_is_unevaluated(
        &world,
        "--all",
        3,
        "git's index tells git to ignore the file on disk",
    );
    world.git("update-index --no-assume-unchanged main.orch.yaml");
    let output = fix(&world, "--all").expect(0);
    assert!(
        output.out.ends_with("\nfixed 2 findings in 2 files\n"),
        "{}",
        output.all()
    );
    assert!(!output.err.contains("could not be evaluated"), "{}", output.all());
}

#[test]
fn fix_reports_changed_file_that_a_filter_converts_and_is_undecided() {
    let world = project_with_two_bare_calls();
    world.write(".gitattributes", "main.orch.yaml filter=up\n");
    append(&world, MAIN, "# changed\n");
    assert_main_is_unevaluated(
        &world,
        "--all",
        3,
        "git would store different bytes than those on disk",
    );
}

#[test]
fn json_lists_files_that_could_not_be_evaluated_without_advice_for_other_commands() {
    let world = project_with_two_bare_calls();
    world.git("update-index --assume-unchanged main.orch.yaml");
    let document = fix(&world, "--all --dry-run -o json").expect(3).json();
    let reason = "git's index tells git to ignore the file on disk (skip-worktree or assume-unchanged, as in a sparse checkout)";
    assert_eq!(
        document["unevaluated"],
        json!([{ "path": MAIN, "reason": reason }])
    );
    let schema = Call::new(&world.work()).run("schema fix").expect(0).json();
    assert_eq!(json_schema::validate(&schema, &document), Ok(()));
}

#[test]
fn fix_of_folder_reports_no_unevaluated_file_elsewhere() {
    let world = project_with_two_bare_calls();
    world.write("other/broken.orch.yaml", "type: [\n");
    world.commit("broken");
    Call::new(&world.work()).run("check --all sales").expect(0);
    let output = fix(&world, "--all sales --dry-run").expect(0);
    assert_eq!(output.out, "no finding has an automatic fix\n");
    assert!(!output.err.contains("could not be evaluated"), "{}", output.all());
    // The counterpart: the folder of the file, and the hint for the same files.
    Call::new(&world.work())
        .run("check --all --base HEAD other sales")
        .expect(1);
    fix(&world, "--all --base HEAD other sales --dry-run")
        .expect(1)
        .saying(&[
            "other/broken.orch.yaml: the pipeline cannot be read: ",
            "hint: run `sluicegate check --all --base HEAD other sales` to see what to do",
        ]);
}

#[test]
fn fix_without_enabled_rule_notes_what_it_did_not_check() {
    let world = project_with_two_bare_calls();
    let note = "note: No enabled rule applies to the reviewed files (3 pipelines)";
    let output = fix(&world, "--all --dry-run").expect(0);
    assert!(!output.err.contains("No enabled rule"), "{}", output.all());
    world.write(".platform/config/pipeline_quality_rules.yaml", "rules: []\n");
    for format in ["text", "json"] {
        let output = fix(&world, format!("--all --dry-run -o {format}"))
            .expect(0)
            .saying(&[note]);
        assert!(!output.out.contains("No enabled rule"), "{}", output.all());
    }
}
