//! Renames that are uncertain because another file of the change is equally similar: nothing is fixed then.

use super::{EMPTY, HEADER, call, fix, project, script};
use crate::support::{Call, World, check};

const SQL: &str = "select count(*) from orders where total > 100 and customer_id is not null\n";
const SHARED_FILE: &str = "pipelines:\n  - { pipeline: a/load.orch.yaml, id: load, enabled: true }\n";

/// Creates a project with the folders `a` and `b`, which have the same pipeline and the same script. `main` uses both.
fn project_with_equal_folders() -> World {
    let callers = [
        call("Call a", "a/load"),
        call("Call b", "b/load"),
        script("Script a", "a/count.sql"),
        script("Script b", "b/count.sql"),
    ];
    project(&[
        ("a/load.orch.yaml", EMPTY),
        ("b/load.orch.yaml", EMPTY),
        ("a/count.sql", SQL),
        ("b/count.sql", SQL),
        ("main.orch.yaml", &format!("{HEADER}{}", callers.concat())),
        (".platform/shared-pipelines.yaml", SHARED_FILE),
    ])
}

/// Moves the files of a folder to another one, each with this text added.
fn move_folder(world: &World, old_folder: &str, new_folder: &str, text: &str) {
    for name in ["load.orch.yaml", "count.sql"] {
        let content = world.read_text(&format!("{old_folder}/{name}"));
        world.write(&format!("{new_folder}/{name}"), content + text);
    }
    world.git(&["rm", "-qr", old_folder]);
}

#[test]
fn fix_after_move_beside_deleted_copy_follows_the_moved_folder() {
    for text in ["", "\n"] {
        let world = project_with_equal_folders();
        world.git("rm -qr a");
        move_folder(&world, "b", "new/b", text);
        world.commit("delete and move");
        let log = check(&world, "").expect(0).all();
        assert!(
            !log.contains("to `new/b/load.orch.yaml`; set `pipeline:`"),
            "{log}"
        );
        let output = fix(&world, "").expect(0);
        assert_eq!(
            output.out,
            "main.orch.yaml:12: b/load -> new/b/load\nmain.orch.yaml:22: b/count.sql -> new/b/count.sql\n\
             fixed 2 findings in 1 file\n"
        );
    }
}

#[test]
fn rename_from_one_of_two_equal_files_has_no_fix_in_any_report() {
    for text in ["", "\n"] {
        let world = project_with_equal_folders();
        world.git("rm -qr a");
        move_folder(&world, "b", "new", text);
        world.commit("delete and move");
        assert_eq!(fix(&world, "").expect(0).out, "no finding has an automatic fix\n");
        let output =
            Call::new(&world.work()).run("check --fail-on never --report json=- --report sarif=s.json");
        let report = output.expect(0).out;
        let sarif = world.read_text("s.json");
        for report in [&report, &sarif] {
            assert!(
                report.contains("this change may have renamed it to `new/load.orch.yaml`"),
                "{report}"
            );
            assert!(
                report.contains("this change may have renamed it to `new/count.sql`"),
                "{report}"
            );
            assert!(!report.contains("renamed in this change"), "{report}");
        }
        assert!(!report.contains("\"fix\""), "{report}");
        assert!(!sarif.contains("\"fixes\""), "{sarif}");
        let repair = Call::new(&world.work()).run("mv --repair").expect(0);
        let reason = "may have renamed the file to `new/load.orch.yaml`, but another file is equally similar";
        assert!(repair.out.contains(reason), "{}", repair.out);
    }
}

/// The twin: without a second equal file, the rename is certain.
#[test]
fn rename_beside_different_deleted_file_is_fixed_and_reported() {
    let world = project_with_equal_folders();
    for name in ["load.orch.yaml", "count.sql"] {
        world.write(
            &format!("b/{name}"),
            format!("# other\n{}", world.read_text(&format!("b/{name}"))),
        );
    }
    world.commit("different");
    world.git("push -q origin HEAD:main");
    world.git("rm -qr b");
    move_folder(&world, "a", "new", "");
    world.commit("delete and move");
    let log = check(&world, "").expect(0).all();
    assert!(
        log.contains("renamed in this change to `new/load.orch.yaml`; set `pipeline:`"),
        "{log}"
    );
    let output = fix(&world, "").expect(0).out;
    assert!(output.contains("a/load -> new/load\n"), "{output}");
    assert!(output.contains("a/count.sql -> new/count.sql\n"), "{output}");
}
