//! The kinds of findings that `sluicegate fix` fixes.

use super::{EMPTY, HEADER, append, call, fix, list_findings, project, read_all, script};
use crate::support::{Call, Job, World, ZEROS, encode_utf_16, head, repository};
use serde_json::json;
use std::fs;

/// Calls in every style that users and exporters write.
fn callers_in_all_styles() -> String {
    let text = format!(
        "\u{feff}# calls é\n{HEADER}{}{}    Flow:\n      type: run-orchestration\n      parameters: {{ orchestrationJob: \"load.orch.yaml\" }} # 😀\n{}{}",
        call("Plain", "load   # why"),
        call("Quoted", "'load'"),
        call("Folded", "\"lo\\\n          ad\""),
        call("Whole", "sales/load"),
    );
    text.replace('\n', "\r\n")
}

#[test]
fn bare_names_get_full_paths_and_other_bytes_stay() {
    let text = callers_in_all_styles();
    let world = project(&[("sales/load.orch.yaml", EMPTY)]);
    world.write("main.orch.yaml", &text);
    let output = fix(&world, "--dry-run").expect(0);
    assert_eq!(world.read_text("main.orch.yaml"), text);
    let lines = "\
main.orch.yaml:9: load -> sales/load
main.orch.yaml:13: load -> sales/load
main.orch.yaml:16: load.orch.yaml -> sales/load.orch.yaml
main.orch.yaml:20: load -> sales/load
";
    assert_eq!(output.out, format!("{lines}would fix 4 findings in 1 file\n"));
    let output = fix(&world, "").expect(0).saying(&["not staged"]);
    assert_eq!(output.out, format!("{lines}fixed 4 findings in 1 file\n"));
    let expected = text
        .replace(": load   #", ": sales/load   #")
        .replace("'load'", "'sales/load'")
        .replace("\"load.orch.yaml\"", "\"sales/load.orch.yaml\"")
        .replace("\"lo\\\r\n          ad\"", "\"sales/load\"");
    assert_eq!(world.read_text("main.orch.yaml"), expected);
    assert_eq!(list_findings(&world), [""; 0]);
    assert_eq!(fix(&world, "").expect(0).out, "no finding has an automatic fix\n");
}

#[test]
fn references_to_renamed_files_and_components_are_fixed() {
    let loader = format!(
        "{HEADER}    Load:\n      type: sql-executor\n      parameters:\n        query: select * from a_long_table_name\n        schema: sales\n      transitions:\n        success: [ Done ]\n    Done:\n      type: end-success\n    Start:\n      type: start\n      transitions:\n        unconditional: [ Load ] # first\n"
    );
    let main = format!(
        "{HEADER}{}{}",
        call("Call", "sales/load"),
        script("Script", "sql/count.sql")
    );
    let files = [
        ("sales/load.orch.yaml", loader.as_str()),
        ("sql/count.sql", "select count(*) from a_long_table_name\n"),
        ("main.orch.yaml", &main),
        ("old.orch.yaml", &format!("{HEADER}{}", call("Bare", "load"))),
    ];
    let world = project(&files);
    world.git("mv sales/load.orch.yaml sales/daily.orch.yaml");
    fs::create_dir_all(world.work().join("scripts")).unwrap();
    world.git("mv sql/count.sql scripts/total.sql");
    world.write(
        "sales/daily.orch.yaml",
        loader.replace("    Load:", "    Load Orders:"),
    );
    let (before, _) = read_all(&world);
    // `main` and `old` are not in the change, but the change breaks their calls.
    let output = fix(&world, "").expect(0);
    assert_eq!(
        output.out,
        "\
main.orch.yaml:8: sales/load -> sales/daily
main.orch.yaml:13: sql/count.sql -> scripts/total.sql
old.orch.yaml:8: load -> sales/daily
sales/daily.orch.yaml:17: Load -> Load Orders
fixed 4 findings in 3 files
"
    );
    assert!(
        world
            .read_text("sales/daily.orch.yaml")
            .contains("unconditional: [ Load Orders ] # first\n")
    );
    assert_eq!(list_findings(&world), [""; 0]);
    assert_eq!(
        fix(&world, "--all").expect(0).out,
        "no finding has an automatic fix\n"
    );
    world.git("checkout -q main.orch.yaml old.orch.yaml");
    world.write(
        "sales/daily.orch.yaml",
        loader.replace("    Load:", "    Load Orders:"),
    );
    assert_eq!(read_all(&world).0, before);
}

#[test]
fn call_of_renamed_script_is_fixed_if_no_pipeline_changed() {
    let main = format!("{HEADER}{}", script("Script", "sql/count.sql"));
    let world = project(&[
        ("main.orch.yaml", &main),
        ("sql/count.sql", "select count(*) from orders\n"),
    ]);
    world.git("mv sql/count.sql sql/total.sql");
    world.commit("rename the script");
    let output = fix(&world, "").expect(0).saying(&["nothing to check"]);
    assert_eq!(
        output.out,
        "main.orch.yaml:9: sql/count.sql -> sql/total.sql\nfixed 1 finding in 1 file\n"
    );
}

#[test]
fn names_in_other_spelling_are_fixed_if_only_one_file_is_meant() {
    let main = format!(
        "{HEADER}{}{}{}{}{}",
        call("Case", "Sales/LOAD"),
        call("Form", "verk\u{e4}ufe/geb\u{fc}hr"),
        script("Script", "SQL/count.sql"),
        call("Several", "sales/twice"),
        call("Elsewhere", "other/lOad"),
    );
    let world = project(&[
        ("sales/load.orch.yaml", EMPTY),
        ("sales/Twice.orch.yaml", EMPTY),
        ("sales/tWice.orch.yaml", EMPTY),
        ("verka\u{308}ufe/gebu\u{308}hr.orch.yaml", EMPTY),
        ("sql/Count.sql", "select 1\n"),
        ("main.orch.yaml", &main),
    ]);
    let output = Call::new(&world.work())
        .run("check --all --fail-on never")
        .expect(0);
    output.assert_logged(&[
        "the name of `sales/load.orch.yaml` differs only in letter case; `sluicegate fix` corrects it",
        "differs only in its Unicode normal form; `sluicegate fix` corrects it",
        "the name of `sql/Count.sql` differs only in letter case; `sluicegate fix` corrects it",
    ]);
    let output = fix(&world, "--all").expect(0);
    assert!(
        output.out.ends_with("fixed 3 findings in 1 file\n"),
        "{}",
        output.all()
    );
    let expected = main
        .replace("Sales/LOAD", "sales/load")
        .replace("verk\u{e4}ufe/geb\u{fc}hr", "verka\u{308}ufe/gebu\u{308}hr")
        .replace("SQL/count.sql", "sql/Count.sql");
    assert_eq!(world.read_text("main.orch.yaml"), expected);
    assert_eq!(
        list_findings(&world),
        [
            "main.orch.yaml project/call Several",
            "main.orch.yaml project/call Elsewhere"
        ]
    );
}

#[test]
fn call_that_fits_two_spellings_names_both_files() {
    let main = format!("{HEADER}{}", call("Several", "sales/twice"));
    let world = project(&[
        ("sales/Twice.orch.yaml", EMPTY),
        ("sales/tWice.orch.yaml", EMPTY),
        ("main.orch.yaml", &main),
    ]);
    Call::new(&world.work())
        .run("check --all --fail-on never")
        .expect(0)
        .assert_logged(&[
            "`sales/Twice.orch.yaml` and `sales/tWice.orch.yaml` differ only in their spelling",
        ]);
}

#[test]
fn extension_in_upper_case_is_fixed() {
    let main = format!("{HEADER}{}", call("Case", "sales/LOAD.ORCH.YAML"));
    let bare_main = format!("{HEADER}{}", call("Bare", "Load.ORCH.YAML"));
    let world = project(&[
        ("sales/Load.orch.yaml", EMPTY),
        ("main.orch.yaml", &main),
        ("bare.orch.yaml", &bare_main),
    ]);
    Call::new(&world.work())
        .run("check --all --fail-on never")
        .expect(0)
        .assert_logged(&["`sales/Load.orch.yaml` has that name"]);
    let output = fix(&world, "--all").expect(0);
    assert_eq!(
        output.out,
        "main.orch.yaml:8: sales/LOAD.ORCH.YAML -> sales/Load.orch.yaml\nfixed 1 finding in 1 file\n"
    );
}

#[test]
fn paths_and_selection_limit_the_fixes() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let files = ["a/one.orch.yaml", "a/two.orch.yaml", "b/three.orch.yaml"];
    let world = project(&[
        ("sales/load.orch.yaml", EMPTY),
        (files[0], &caller),
        (files[1], &caller),
        (files[2], &caller),
    ]);
    world.write("notes.txt", "x");
    world.commit("no pipeline changed");
    let output = fix(&world, "").expect(0).saying(&["nothing to check"]);
    assert_eq!(output.out, "no finding has an automatic fix\n");
    world.write(files[1], caller.replace("Call", "Run"));
    world.write(files[2], caller.replace("Call", "Run"));
    let fixed_paths = |args: &str| {
        let report = fix(&world, format!("{args} --dry-run -o json").as_str())
            .expect(0)
            .json();
        let entries = report["fixed"].as_array().unwrap().iter();
        entries
            .map(|fix| fix["path"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(fixed_paths(""), files[1..]);
    assert_eq!(fixed_paths("--all"), files);
    assert_eq!(fixed_paths("a"), files[1..2]);
    assert_eq!(
        fixed_paths("a/one.orch.yaml"),
        files[..1],
        "a named file need not be changed"
    );
    assert_eq!(fixed_paths("--all b a/one.orch.yaml"), [files[0], files[2]]);
    let output = fix(&world, "nowhere").expect(2);
    assert!(output.err.contains("nowhere"), "{}", output.all());
}

#[test]
fn json_lists_fixed_and_left_values() {
    let text = format!("{HEADER}{}{}", call("Call", "load"), call("Anchor", "&a load"));
    let world = project(&[("sales/load.orch.yaml", EMPTY), ("main.orch.yaml", &text)]);
    let report = fix(&world, "--all -o json").expect(1).json();
    insta::assert_snapshot!(serde_json::to_string_pretty(&report).unwrap());
    // The value with the anchor stays, the other one is fixed.
    let expected = text.replace("orchestrationJob: load", "orchestrationJob: sales/load");
    assert_eq!(world.read_text("main.orch.yaml"), expected);
}

#[test]
fn files_without_git_are_fixed() {
    let world = project(&[("sales/load.orch.yaml", EMPTY)]);
    world.write("main.orch.yaml", format!("{HEADER}{}", call("Call", "load")));
    fs::remove_dir_all(world.work().join(".git")).unwrap();
    let output = Call::new(&world.work()).run("fix .").expect(0);
    assert_eq!(
        output.out,
        "main.orch.yaml:8: load -> sales/load\nfixed 1 finding in 1 file\n"
    );
    assert!(!output.err.contains("git add"), "{}", output.all());
    let output = Call::new(&world.work()).run("fix . --staged").expect(7);
    assert!(output.err.contains("hint:"), "{}", output.all());
}

#[test]
fn line_ends_on_disk_stay_if_git_converts_them() {
    let world = project(&[
        ("sales/load.orch.yaml", EMPTY),
        (".gitattributes", "*.yaml text eol=crlf\n"),
    ]);
    let text = format!("{HEADER}{}", call("Call", "load")).replace('\n', "\r\n");
    world.write("main.orch.yaml", &text);
    world.commit("caller");
    fix(&world, "").expect(0);
    assert_eq!(
        world.read_text("main.orch.yaml"),
        text.replace(": load", ": sales/load")
    );
    assert_eq!(
        world
            .git("diff --stat --shortstat")
            .lines()
            .last()
            .unwrap()
            .trim(),
        "1 file changed, 1 insertion(+), 1 deletion(-)"
    );
}

/// Git stores the file as UTF-8 and checks it out as UTF-16.
#[test]
fn file_that_git_checks_out_as_utf_16_is_left_with_its_reason() {
    let world = project(&[
        ("sales/load.orch.yaml", EMPTY),
        (
            ".gitattributes",
            "main.orch.yaml text working-tree-encoding=UTF-16\n",
        ),
    ]);
    let bytes = encode_utf_16(&format!("{HEADER}{}", call("Call", "load")));
    world.write("main.orch.yaml", &bytes);
    world.commit("wide");
    let left =
        "left: main.orch.yaml:8: load: git attributes convert the file to an encoding other than UTF-8";
    for args in ["--all", "--all --staged"] {
        let output = fix(&world, args).expect(1);
        assert!(output.out.starts_with(left), "{}", output.all());
    }
    let output = Call::new(&world.work()).run("check --all").expect(0);
    assert!(output.out.contains("without its folder"), "{}", output.all());
    assert!(!output.out.contains("corrects it"), "{}", output.all());
    assert_eq!(fs::read(world.work().join("main.orch.yaml")).unwrap(), bytes);
}

#[test]
fn fix_in_job_of_deleted_branch_changes_only_named_files() {
    let main = format!("{HEADER}{}", call("Call", "load"));
    let world = project(&[("sales/load.orch.yaml", EMPTY), ("main.orch.yaml", &main)]);
    let payload = json!({ "repository": repository(), "ref": "refs/heads/old", "before": head(&world),
        "after": ZEROS, "deleted": true });
    let job = Job::github()
        .event("push", "refs/heads/old", &payload)
        .call(&world);
    let output = job.run("fix").expect(0).saying(&["was deleted"]);
    assert_eq!(output.out, "no finding has an automatic fix\n");
    assert_eq!(world.read_text("main.orch.yaml"), main);
    let output = job.run("fix main.orch.yaml").expect(0);
    assert_eq!(
        output.out,
        "main.orch.yaml:8: load -> sales/load\nfixed 1 finding in 1 file\n"
    );
}

/// Returns a project without a remote, in which a pipeline and its component are renamed but not committed.
fn project_without_remote() -> World {
    let sub = format!(
        "{HEADER}    Start: {{ type: start, transitions: {{ unconditional: [Load] }} }}\n    Load:\n      type: sql-executor\n      transitions: {{ success: [End] }}\n      parameters: {{ sql: x, a: 1 }}\n    End: {{ type: end-success }}\n"
    );
    let main = format!("{HEADER}{}", call("Run", "s/load"));
    let world = project(&[("main.orch.yaml", &main), ("s/load.orch.yaml", &sub)]);
    world.git("remote remove origin");
    world.git("mv s/load.orch.yaml s/laden.orch.yaml");
    world.write("s/laden.orch.yaml", sub.replace("    Load:", "    Laden:"));
    world
}

#[test]
fn uncommitted_rename_is_fixed_in_clone_without_remote() {
    for args in ["--dry-run", "--all --dry-run", "--base HEAD --dry-run"] {
        let output = fix(&project_without_remote(), args).expect(0);
        output.logging(&[
            "main.orch.yaml:8: s/load -> s/laden",
            "s/laden.orch.yaml:5: Load -> Laden",
            "would fix 2 findings in 2 files",
        ]);
    }
    let output = Call::new(&project_without_remote().work()).run("check").expect(0);
    output.logging(&["it was renamed in this change to `s/laden.orch.yaml`; `sluicegate fix` corrects it"]);
}

#[test]
fn committed_rename_in_clone_without_remote_has_no_fix() {
    let world = project_without_remote();
    world.git("add .");
    world.commit("rename");
    fix(&world, "--dry-run")
        .expect(0)
        .logging(&["no finding has an automatic fix"]);
}

#[test]
fn findings_that_remain_are_counted_like_those_of_the_next_check() {
    let world = project(&[("sales/load.orch.yaml", EMPTY)]);
    world.write(
        "main.orch.yaml",
        format!("{HEADER}{}{}", call("Plain", "load"), call("Gone", "nowhere")),
    );
    fix(&world, "--dry-run")
        .expect(0)
        .saying(&["1 warning would remain: run `sluicegate check`"]);
    let document = fix(&world, "--dry-run -o json").expect(0).json();
    assert_eq!(document["remaining"], json!({ "errors": 0, "warnings": 1 }));
    fix(&world, "")
        .expect(0)
        .saying(&["1 warning remains: run `sluicegate check`"]);
    assert_eq!(list_findings(&world).len(), 1);
    // Only files within the named paths are counted.
    let output = fix(&world, "sales").expect(0);
    assert!(!output.all().contains("remain"), "{}", output.all());
    world.write("main.orch.yaml", format!("{HEADER}{}", call("Plain", "load")));
    let output = fix(&world, "").expect(0);
    assert!(!output.all().contains("remain"), "{}", output.all());
}

#[test]
fn known_findings_do_not_remain_with_new_only() {
    let world = project(&[
        ("sales/load.orch.yaml", EMPTY),
        ("main.orch.yaml", &format!("{HEADER}{}", call("Gone", "nowhere"))),
    ]);
    append(&world, "main.orch.yaml", &call("Plain", "load"));
    // A check of all pipelines treats every finding as new if no base is named.
    for (args, known_count) in [("", 1), ("--all", 0), ("--all --base origin/main", 1)] {
        for (config, count) in [("", 1), ("review: { new-only: true }\n", 1 - known_count)] {
            world.write("sluicegate.yaml", config);
            let output = fix(&world, ("--dry-run -o json", args)).expect(0);
            let document = output.json();
            assert_eq!(document["remaining"]["warnings"], count, "{config}: {args}");
            assert_eq!(document["fixed"].as_array().unwrap().len(), 1, "{config}: {args}");
            assert_eq!(output.err.contains("remain"), count > 0, "{}", output.all());
            let check = Call::new(&world.work()).run(("check --report json=-", args));
            assert_eq!(
                check.json()["findings"]["warnings"],
                count + 1,
                "{config}: {args}"
            );
        }
    }
    // A new finding remains, and the fix of a known finding is still made.
    append(&world, "main.orch.yaml", &call("Lost", "somewhere"));
    let document = fix(&world, "--dry-run -o json").expect(0).json();
    assert_eq!(document["remaining"]["warnings"], 1);
    world.commit("change");
    world.git("push -q origin HEAD:main");
    world.git("fetch -q");
    fix(&world, "--all")
        .expect(0)
        .logging(&["fixed 1 finding in 1 file"]);
}
