//! The gate follows links to its own files, also when it compares versions of them.

use crate::support::{Call, HOSTS, Job, RULES, RULES_FILE, World, bad_pipeline, git, good_pipeline, project};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;

/// Changes the files of a checkout.
type Edit = fn(&World);

/// Creates a link to `target`, and replaces an existing file or link.
fn write_link(world: &World, link: &str, target: &str) {
    let link = world.work().join(link);
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    let _ = fs::remove_file(&link);
    symlink(target, link).unwrap();
}

fn commit_and_push(world: &World, message: &str) {
    world.commit(message);
    world.push();
}

/// Creates a `main` with the files of `before`, which later also has those of `after`; and a branch `change` that has a
/// good pipeline and started before `after`.
fn stale_change(before: Edit, after: Edit) -> World {
    let world = project();
    before(&world);
    commit_and_push(&world, "before");
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", good_pipeline());
    commit_and_push(&world, "change");
    world.git("checkout -q main");
    after(&world);
    commit_and_push(&world, "after");
    world.git("checkout -q change");
    world
}

const LAX: &str = "review: { fail-on: error }\n";
const STRICT: &str = "review: { fail-on: warn }\n";
const WAIVER: &str = "- { rule: unused-components, path: '**', reason: r }\n";
const TEAM_RULES: &str = "rules:\n  - id: no-start\n    level: error\n    for: component\n    \
    when: component.name == 'Begin'\n    message: no start\n";

/// Makes the target of a change stricter.
struct TargetEdit {
    name: &'static str,
    before: Edit,
    after: Edit,
    args: &'static str,
}

const STRICTER_EDITS: [TargetEdit; 7] = [
    TargetEdit {
        name: "file behind a link",
        before: |world| {
            world.write("conf/s.yaml", LAX);
            write_link(world, "sluicegate.yaml", "conf/s.yaml");
        },
        after: |world| world.write("conf/s.yaml", STRICT),
        args: "",
    },
    TargetEdit {
        name: "other target of a link",
        before: |world| {
            world.write("conf/s.yaml", LAX);
            world.write("conf/strict.yaml", STRICT);
            write_link(world, "sluicegate.yaml", "conf/s.yaml");
        },
        after: |world| write_link(world, "sluicegate.yaml", "conf/strict.yaml"),
        args: "",
    },
    TargetEdit {
        name: "link in place of a file",
        before: |world| world.write("sluicegate.yaml", LAX),
        after: |world| {
            world.write("conf/s.yaml", STRICT);
            write_link(world, "sluicegate.yaml", "conf/s.yaml");
        },
        args: "",
    },
    TargetEdit {
        name: "named file behind a link to a directory",
        before: |world| {
            world.write("conf/s.yaml", LAX);
            write_link(world, "ci", "conf");
        },
        after: |world| world.write("conf/s.yaml", STRICT),
        args: "--config ci/s.yaml",
    },
    TargetEdit {
        name: "waivers",
        before: |world| {
            world.write("conf/w.yaml", WAIVER);
            write_link(world, "sluicegate-waivers.yaml", "conf/w.yaml");
        },
        after: |world| world.write("conf/w.yaml", "[]\n"),
        args: "",
    },
    TargetEdit {
        name: "team rules",
        before: |world| {
            world.write("conf/r.yaml", TEAM_RULES.replace("level: error", "level: warn"));
            write_link(world, "sluicegate-rules.yaml", "conf/r.yaml");
        },
        after: |world| world.write("conf/r.yaml", TEAM_RULES),
        args: "",
    },
    TargetEdit {
        name: "other hidden directory",
        before: |world| {
            world.write(".strict/config/pipeline_quality_rules.yaml", RULES);
            let lax_rules = RULES.replace("enforcementLevel: error", "enforcementLevel: warn");
            world.write(RULES_FILE, lax_rules);
            world.write("sluicegate.yaml", "config-dir: .platform\n");
        },
        after: |world| world.write("sluicegate.yaml", "config-dir: .strict\n"),
        args: "",
    },
];

#[test]
fn stricter_target_is_reported_for_linked_and_moved_files() {
    for edit in STRICTER_EDITS {
        let world = stale_change(edit.before, edit.after);
        for policy in ["", "--policy head"] {
            let check = || Job::github().pull_request().call(&world);
            let output = check().run(("check --gate-changes fail", edit.args, policy));
            assert_eq!(output.code, 1, "{} {policy}: {}", edit.name, output.all());
            assert!(output.all().contains("has a stricter"), "{}", output.all());
            check().run(("check", edit.args, policy)).expect(0);
        }
        world.git("merge -q -m merge main");
        world.push();
        let output = Job::github()
            .pull_request()
            .call(&world)
            .run(("check --gate-changes fail", edit.args));
        assert_eq!(output.code, 0, "{}: {}", edit.name, output.all());
    }
}

#[test]
fn team_rules_to_which_the_target_moved_are_compared() {
    let world = stale_change(
        |world| {
            world.write("lax.yaml", TEAM_RULES.replace("level: error", "level: warn"));
            world.write("strict.yaml", TEAM_RULES);
            world.write("sluicegate.yaml", "review: { team-rules: lax.yaml }\n");
        },
        |world| world.write("sluicegate.yaml", "review: { team-rules: strict.yaml }\n"),
    );
    for policy in ["", "--policy head"] {
        Job::github()
            .pull_request()
            .call(&world)
            .run(("check --gate-changes fail", policy))
            .expect(1)
            .logging(&["has a stricter strict.yaml", "no-start"]);
    }
}

#[test]
fn rules_that_the_target_only_moves_are_not_stricter() {
    let moves: [(Edit, Edit, &str, i32); 2] = [
        (
            |world| {
                world.write(RULES_FILE, RULES);
                world.write("sluicegate.yaml", "config-dir: .platform\n");
            },
            |world| {
                world.git("mv .platform .strict");
                world.write("sluicegate.yaml", "config-dir: .strict\n");
            },
            // The new name of the directory is reported: the change has no rules file there yet.
            "has a stricter .strict/",
            1,
        ),
        (
            |world| {
                world.write("old.yaml", TEAM_RULES);
                world.write("sluicegate.yaml", "review: { team-rules: old.yaml }\n");
            },
            |world| {
                world.git("mv old.yaml new.yaml");
                world.write("sluicegate.yaml", "review: { team-rules: new.yaml }\n");
            },
            "has a stricter",
            0,
        ),
    ];
    for (before, after, sentence, code_of_target_policy) in moves {
        let world = stale_change(before, after);
        for (policy, code) in [("", code_of_target_policy), ("--policy head", 0)] {
            let output = Job::github()
                .pull_request()
                .call(&world)
                .run(("check", policy))
                .expect(code);
            assert!(!output.all().contains(sentence), "{}", output.all());
            assert!(!output.all().contains("also evaluated"), "{}", output.all());
        }
    }
}

#[test]
fn change_of_link_to_directory_is_described_with_its_settings() {
    let world = project();
    world.write("lax/s.yaml", "review: { fail-on: never }\n");
    world.write("strict/s.yaml", "review: { fail-on: error }\n");
    write_link(&world, "ci", "strict");
    write_link(&world, "sluicegate.yaml", "ci/s.yaml");
    commit_and_push(&world, "configure");
    world.git("checkout -q -b change");
    write_link(&world, "ci", "lax");
    commit_and_push(&world, "change");
    for (name, host) in HOSTS {
        let output = host(&world, Call::new(&world.work())).run("check --report json=-");
        let descriptions = &output.json()["gateChangesInWords"]["ci"];
        let expected = json!(["sluicegate.yaml: review.fail-on: error → never (relaxed)"]);
        assert_eq!(*descriptions, expected, "{name}");
    }
}

#[test]
fn change_of_linked_rules_is_described_only_if_both_versions_are_linked() {
    let world = project();
    fs::remove_dir_all(world.work().join(".platform")).unwrap();
    world.write("strict/config/pipeline_quality_rules.yaml", RULES);
    world.write("lax/config/pipeline_quality_rules.yaml", "rules: []\n");
    write_link(&world, ".platform", "strict");
    commit_and_push(&world, "configure");
    world.git("checkout -q -b change");
    write_link(&world, ".platform", "lax");
    commit_and_push(&world, "change");
    let call = Job::github().pull_request().call(&world);
    call.run("check")
        .logging(&["component-naming-convention error → removed (relaxed)"]);
    // The platform does not follow a link, so a link in place of the directory removes the rules.
    let world = project();
    world.git("checkout -q -b change");
    world.git("mv .platform strict");
    write_link(&world, ".platform", "strict");
    commit_and_push(&world, "change");
    let call = Job::github().pull_request().call(&world);
    call.run("check").logging(&["the file is a symbolic link"]);
}

#[test]
fn moved_waiver_in_linked_file_causes_no_note() {
    let world = project();
    let waiver = |path: &str| format!("- {{ rule: component-naming-convention, path: {path}, reason: r }}\n");
    world.write("conf/w.yaml", waiver("z.orch.yaml"));
    write_link(&world, "sluicegate-waivers.yaml", "conf/w.yaml");
    world.write("z.orch.yaml", bad_pipeline());
    commit_and_push(&world, "waived");
    world.git("checkout -q -b change");
    world.git("mv z.orch.yaml y.orch.yaml");
    commit_and_push(&world, "moved");
    let check = || Job::github().pull_request().call(&world).run("check").expect(0);
    check().logging(&["waivers in sluicegate-waivers.yaml match by the old path"]);
    world.write("conf/w.yaml", waiver("y.orch.yaml"));
    commit_and_push(&world, "waiver");
    let output = check();
    assert!(
        !output.all().contains("match by the old path"),
        "{}",
        output.all()
    );
}

/// Adds a submodule `out` in which `x.json` is a link.
fn add_submodule_with_link(world: &World) {
    let inner = world.path().join("inner");
    fs::create_dir(&inner).unwrap();
    git(&inner, "init -q -b main");
    symlink("/tmp/x.json", inner.join("x.json")).unwrap();
    git(&inner, "add -A");
    git(&inner, "commit -q -m link");
    world.git(&["submodule", "add", "-q", inner.to_str().unwrap(), "out"]);
}

/// Each edit makes an output path of the policy unusable.
#[test]
fn change_that_blocks_a_path_of_the_settings_fails() {
    let edits: [(&str, Edit); 5] = [
        ("leads into .git", |world| write_link(world, "out", ".git")),
        ("leads out of the checkout", |world| {
            write_link(world, "out", "/tmp");
        }),
        ("is not a file", |world| {
            world.write("out/x.json/README", "x");
        }),
        ("git tracks this file", |world| {
            world.write("real/x.json", "x");
            write_link(world, "out", "real");
        }),
        ("a symbolic link in the path is broken", add_submodule_with_link),
    ];
    for (reason, edit) in edits {
        let world = project();
        world.write("sluicegate.yaml", "review: { report: [json=out/x.json] }\n");
        commit_and_push(&world, "configure");
        world.git("checkout -q -b change");
        edit(&world);
        commit_and_push(&world, "change");
        for (name, host) in HOSTS {
            let output = host(&world, Call::new(&world.work())).run("check");
            assert_eq!(output.code, 1, "{name}: {}", output.all());
            output.logging(&["makes a gate configuration file unusable", reason]);
        }
        // The path was unusable before a change on top of it.
        world.git("push -q origin HEAD:main");
        world.git("checkout -q -b next");
        world.write("b.orch.yaml", good_pipeline());
        commit_and_push(&world, "next");
        let output = Job::github().pull_request().call(&world).run("check").expect(0);
        output.logging(&["was unusable before this change", reason]);
    }
}

#[test]
fn change_that_blocks_the_required_review_of_the_settings_fails() {
    let world = project();
    world.write(
        "sluicegate.yaml",
        "publish: { prefix: sales, require-review: out/r.json }\n",
    );
    commit_and_push(&world, "configure");
    world.git("checkout -q -b change");
    let check = || Job::github().pull_request().call(&world).run("check");
    world.write("note.txt", "more");
    commit_and_push(&world, "note");
    check().expect(0);
    write_link(&world, "out", ".git");
    commit_and_push(&world, "link");
    check()
        .expect(1)
        .logging(&["makes a gate configuration file unusable", "leads into .git"]);
}
