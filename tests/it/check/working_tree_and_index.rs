//! `sluicegate check`: evaluates the rules locally, without a platform.

use crate::support::{
    Arguments, Call, Job, RULES, RULES_FILE, World, ZEROS, bad_pipeline, change, check_folder, encode_utf_16,
    git, good_pipeline, head, orchestration_text, path_variable, project, report_paths, repository, scratch,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Returns the checked files and the exit code.
fn check_paths(folder: &Path, args: impl Arguments) -> (Vec<String>, i32) {
    let output = check_folder(folder, args);
    let report = output.json();
    let paths = report_paths(&report).into_iter().map(str::to_owned).collect();
    (paths, output.code)
}

/// Returns the paths of the pipelines in the report's list of changes.
fn changed_paths(report: &Value) -> Vec<&str> {
    let changes = report["changes"].as_array().unwrap().iter();
    changes.map(|change| change["path"].as_str().unwrap()).collect()
}

/// Runs git in the clone and returns whether it succeeded.
fn git_may_fail(world: &World, args: &[&str]) -> bool {
    let mut command = std::process::Command::new("git");
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"];
    command
        .args(identity)
        .args(args)
        .current_dir(world.work())
        .env_clear();
    command.env("PATH", path_variable()).env("HOME", world.path());
    command.output().unwrap().status.success()
}

#[test]
fn working_tree_is_compared_with_where_branch_began() {
    let world = change(&[
        ("committed.orch.yaml", &good_pipeline()),
        ("old.orch.yaml", &good_pipeline()),
        (".gitignore", "ignored*\n"),
    ]);
    world.write("staged.orch.yaml", good_pipeline());
    world.git("add staged.orch.yaml");
    world.write("sub/untracked.orch.yaml", bad_pipeline());
    world.write("ignored.orch.yaml", bad_pipeline());
    world.write("note.txt", "no pipeline");
    fs::remove_file(world.work().join("old.orch.yaml")).unwrap();
    let output = check_folder(&world.work(), "").expect(1);
    let report = output.json();
    assert_eq!(
        report_paths(&report),
        [
            "committed.orch.yaml",
            "staged.orch.yaml",
            "sub/untracked.orch.yaml"
        ]
    );
    assert_eq!(
        (&report["engine"], &report["verdict"]),
        (&json!("local"), &json!("failed"))
    );
    assert_eq!(
        report["context"],
        json!({ "ci": "none", "event": "local", "branch": "change", "head": null, "base": world.git(&["rev-parse", "origin/main"]), "failOn": "error", "include": ["**/*.orch.yaml", "**/*.tran.yaml"] })
    );
    let result = &report["files"][2]["results"][0];
    assert_eq!(
        (&result["status"], &result["findings"][0]["line"]),
        (&json!("FAILED"), &json!(11))
    );
    // A tracked file that was modified and restored is not a change.
    world.write("a.orch.yaml", bad_pipeline());
    assert!(
        check_paths(&world.work(), "")
            .0
            .contains(&"a.orch.yaml".to_owned())
    );
    world.git("checkout -q a.orch.yaml");
    assert!(
        !check_paths(&world.work(), "")
            .0
            .contains(&"a.orch.yaml".to_owned())
    );
}

#[test]
fn check_on_default_branch_selects_unpushed_changes_or_all() {
    let world = project();
    let output = check_folder(&world.work(), "").expect(0).saying(&[
        "no pipeline differs from head, and head is already in the default branch `origin/main`: all pipelines are selected",
    ]);
    assert_eq!(report_paths(&output.json()), ["a.orch.yaml"]);
    // The file that `sluicegate init` writes changes no pipeline either, but is reported.
    world.write("sluicegate.yaml", "retries: 1\n");
    let report = check_folder(&world.work(), "").expect(0).json();
    assert_eq!(report_paths(&report), ["a.orch.yaml"]);
    assert_eq!(report["gateChanges"], json!(["sluicegate.yaml"]));
    fs::remove_file(world.work().join("sluicegate.yaml")).unwrap();
    let staged_run = check_folder(&world.work(), "--staged").expect(0);
    assert_eq!(
        staged_run.json()["notes"],
        json!([
            "nothing to check: no selected pipeline changed; the index contains 1 pipeline: use --all to select it"
        ])
    );
    world.write("b.orch.yaml", bad_pipeline());
    assert_eq!(
        check_paths(&world.work(), ""),
        (vec!["b.orch.yaml".to_owned()], 1)
    );
    assert_eq!(
        check_paths(&world.work(), "--all").0,
        ["a.orch.yaml", "b.orch.yaml"]
    );
}

#[test]
fn base_of_flag_or_variable_restricts_named_files_to_changes() {
    let world = project();
    let call = Call::new(&world.work());
    let unrestricted = call.run("check a.orch.yaml").expect(0);
    assert!(
        !unrestricted.out.contains("nothing to check"),
        "{}",
        unrestricted.all()
    );
    let with_variable = call.clone().variable("SLUICEGATE_BASE", "main");
    for output in [
        call.run("check a.orch.yaml --base main"),
        with_variable.run("check a.orch.yaml"),
    ] {
        assert!(output.out.contains("nothing to check"), "{}", output.all());
    }
}

#[test]
fn check_index_reads_files_of_next_commit() {
    let world = project();
    world.write("b.orch.yaml", bad_pipeline());
    world.write("c.orch.yaml", bad_pipeline());
    world.git("add b.orch.yaml");
    world.git("add -N c.orch.yaml");
    world.write("b.orch.yaml", good_pipeline());
    assert_eq!(
        check_paths(&world.work(), "--staged"),
        (vec!["b.orch.yaml".to_owned()], 1)
    );
    world.git("add b.orch.yaml");
    world.write("b.orch.yaml", bad_pipeline());
    assert_eq!(
        check_paths(&world.work(), "--staged"),
        (vec!["b.orch.yaml".to_owned()], 0)
    );
    // A file that is not staged is not in the index.
    check_folder(&world.work(), "--staged c.orch.yaml")
        .expect(2)
        .saying(&["c.orch.yaml", "the index"]);
    Call::new(&world.work())
        .run("check --staged --head main")
        .expect(2);
}

#[test]
fn hook_judges_what_commit_would_add_to_head() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", bad_pipeline());
    world.commit("bad");
    world.write("README.md", "words\n");
    world.git("add README.md");
    check_folder(&world.work(), "--staged").expect(0);
    // The complete change still fails, and so does a commit that touches a bad pipeline.
    assert_eq!(
        check_paths(&world.work(), ""),
        (vec!["b.orch.yaml".to_owned()], 1)
    );
    assert_eq!(
        check_paths(&world.work(), "--staged --base main"),
        (vec!["b.orch.yaml".to_owned()], 1)
    );
    world.write("c.orch.yaml", bad_pipeline());
    world.git("add c.orch.yaml");
    assert_eq!(
        check_paths(&world.work(), "--staged"),
        (vec!["c.orch.yaml".to_owned()], 1)
    );
    // Findings of the last commit are known.
    world.git("commit -q -m c");
    world.write("c.orch.yaml", bad_pipeline() + "# more\n");
    world.git("add c.orch.yaml");
    assert_eq!(check_paths(&world.work(), "--staged --new-only").1, 0);
}

#[test]
fn local_shallow_clone_gets_hint_to_fetch_the_history() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", bad_pipeline());
    world.commit("b");
    world.git("push -q origin change");
    let url = format!("file://{}", world.remote().display());
    git(
        world.path(),
        format!("clone -q --depth=1 -b change {url} shallow"),
    );
    let folder = world.path().join("shallow");
    let output = Call::new(&folder).run("check").expect(1);
    let output = output.saying(&[
        "warning: there is no base to compare with",
        "because it is shallow (run `git fetch --unshallow origin",
    ]);
    assert!(output.out.contains("b.orch.yaml"), "{}", output.all());
    // The command in the hint works.
    git(
        &folder,
        "fetch -q --unshallow origin +refs/heads/*:refs/remotes/origin/*",
    );
    git(&folder, "remote set-head origin main");
    let (paths, _) = check_paths(&folder, "");
    assert_eq!(paths, ["b.orch.yaml"]);
    assert!(
        !Call::new(&folder)
            .run(&["check"])
            .all()
            .contains("every pipeline")
    );
}

#[test]
fn index_that_git_gives_to_its_hooks_is_read() {
    let world = project();
    world.write("b.orch.yaml", bad_pipeline());
    let hook = world.work().join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let sluicegate = env!("CARGO_BIN_EXE_sluicegate");
    fs::write(
        &hook,
        format!("#!/bin/sh\nexec '{sluicegate}' check --staged --report json=.git/seen\n"),
    )
    .unwrap();
    #[cfg(unix)]
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.git("add b.orch.yaml");
    world.write("a.orch.yaml", bad_pipeline());
    // Commits only `a`, through a temporary index that git names to the hook.
    let refused = git_may_fail(&world, &["commit", "-m", "x", "a.orch.yaml"]);
    assert!(!refused, "the hook refuses the commit");
    let document: Value = serde_json::from_slice(&fs::read(world.work().join(".git/seen")).unwrap()).unwrap();
    assert_eq!(
        report_paths(&document),
        ["a.orch.yaml"],
        "only a is in the commit"
    );
}

#[test]
fn staged_check_reads_gate_files_of_index() {
    let waiver = "- { rule: component-naming-convention, path: b.orch.yaml, reason: r }\n";
    let team_rule =
        "rules:\n- { id: never, level: error, for: pipeline, when: 'true', message: no pipelines }\n";
    let world = project();
    world.write("b.orch.yaml", bad_pipeline());
    world.git("add -A");
    // A file that is not staged does not apply, and neither does an edit that is not.
    for (path, text) in [
        ("sluicegate-waivers.yaml", waiver),
        ("sluicegate.yaml", "review: { fail-on: never }\n"),
    ] {
        world.write(path, text);
        let note = json!([format!("{path} on disk is not staged, so it does not apply")]);
        let report = check_folder(&world.work(), "--staged").expect(1).json();
        assert_eq!(report["findings"]["errors"], 1, "{path}");
        assert_eq!(report["notes"], note);
        world.write(path, "# none\n");
        world.git(&["add", path]);
        world.write(path, text);
        let report = check_folder(&world.work(), "--staged").expect(1).json();
        assert_eq!(report["findings"]["errors"], 1, "{path}");
        assert_eq!(report["notes"], note);
        // Staged, the file applies without its copy on disk.
        world.git(&["add", path]);
        let report = check_folder(&world.work(), "--staged").expect(0).json();
        assert_eq!(
            report["notes"],
            json!([format!(
                "until this change is merged, CI does not use the settings and waivers that it relaxes ({path})"
            )])
        );
        fs::remove_file(world.work().join(path)).unwrap();
        check_folder(&world.work(), "--staged").expect(0);
        check_folder(&world.work(), "").expect(1);
        world.git(&["rm", "-q", "--cached", path]);
    }
    world.write("sluicegate-rules.yaml", team_rule);
    world.git("add sluicegate-rules.yaml");
    fs::remove_file(world.work().join("sluicegate-rules.yaml")).unwrap();
    let output = Call::new(&world.work()).run("check --staged").expect(1);
    assert!(output.out.contains("no pipelines"), "{}", output.all());
}

#[test]
fn staged_check_of_job_that_names_its_host_follows_the_name() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    world.write("c.orch.yaml", good_pipeline());
    world.git("add -A");
    let local = Call::new(&world.work());
    let ci = local.clone().variable("CI", "true");
    // A local run compares the staged files with head, and a job compares them with the base of the branch.
    for (call, host, paths) in [
        (&local, "auto", &["c.orch.yaml"][..]),
        (&ci, "none", &["c.orch.yaml"]),
        (&ci, "unknown", &["b.orch.yaml", "c.orch.yaml"]),
        (&local, "unknown", &["b.orch.yaml", "c.orch.yaml"]),
    ] {
        let report = call
            .run(format!("check --staged -o json --ci {host}"))
            .expect(0)
            .json();
        assert_eq!(report_paths(&report), paths, "{host}");
    }
}

#[test]
fn named_configuration_file_that_is_not_staged_is_read_from_disk() {
    let world = project();
    world.write("b.orch.yaml", bad_pipeline());
    world.git("add -A");
    world.write("lax.yaml", "review: { fail-on: never }\n");
    let report = check_folder(&world.work(), "--staged --config lax.yaml")
        .expect(0)
        .json();
    assert_eq!(report["notes"], json!([]));
    // The user named the file, so a link out of the repository is followed.
    fs::rename(world.work().join("lax.yaml"), world.path().join("lax.yaml")).unwrap();
    std::os::unix::fs::symlink(world.path().join("lax.yaml"), world.work().join("link.yaml")).unwrap();
    check_folder(&world.work(), "--staged --config link.yaml").expect(0);
}

#[test]
fn commit_is_checked_as_it_is() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    world.write("b.orch.yaml", bad_pipeline());
    world.write("c.orch.yaml", bad_pipeline());
    let output = check_folder(&world.work(), "--head HEAD").expect(0);
    assert_eq!(report_paths(&output.json()), ["b.orch.yaml"]);
    assert_eq!(
        output.json()["context"]["head"],
        json!(world.git(&["rev-parse", "HEAD"]))
    );
    assert_eq!(check_paths(&world.work(), "").1, 1);
}

/// Without a base, every file is treated as changed; with a base and different rules, unchanged files are included.
#[test]
fn check_all_selects_same_files_with_and_without_base() {
    let wanted = "--include **/*.yaml --exclude old/**";
    let world = change(&[
        ("old/c.orch.yaml", &good_pipeline()),
        (RULES_FILE, "rules: []\n"),
        ("z.orch.yaml", &good_pipeline()),
    ]);
    for place in [&["--head", "HEAD"][..], &["--staged", "--base", "main"], &[]] {
        for all in [&[][..], &["--all"]] {
            let report = check_folder(&world.work(), (place, all, wanted)).json();
            assert_eq!(
                report_paths(&report),
                ["a.orch.yaml", "z.orch.yaml"],
                "{place:?} {all:?}"
            );
            assert_eq!(
                report["excludedReasons"][RULES_FILE],
                "not a file that is reviewed"
            );
            if all.is_empty() {
                assert_eq!(changed_paths(&report), ["z.orch.yaml"], "{place:?}");
            }
        }
    }
}

#[test]
fn rules_come_from_the_same_place_as_pipelines() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    world.write(RULES_FILE, "rules: []\n");
    let output = check_folder(&world.work(), "").expect(0);
    assert_eq!(
        report_paths(&output.json()),
        ["a.orch.yaml", "b.orch.yaml"],
        "a change of the rules selects all"
    );
    assert_eq!(output.json()["gateChanges"], json!([RULES_FILE]));
    assert_eq!(
        check_paths(&world.work(), "--staged --base main"),
        (vec!["b.orch.yaml".to_owned()], 1)
    );
    assert_eq!(check_paths(&world.work(), "--head HEAD").1, 1);
    fs::remove_file(world.work().join(RULES_FILE)).unwrap();
    let report = check_folder(&world.work(), "").expect(1).json();
    assert_eq!(report["gateChanges"], json!([RULES_FILE]));
    assert_eq!(
        report["files"][0]["results"][0]["errorType"],
        "designer/rules-file-retrieval-error"
    );
}

#[test]
fn files_that_are_named_are_checked_changed_or_not() {
    let world = change(&[
        ("sales/b.orch.yaml", &bad_pipeline()),
        ("sales/c.orch.yaml", &good_pipeline()),
        ("d.orch.yaml", &bad_pipeline()),
    ]);
    let work = world.work();
    let one = |path: &str| vec![path.to_owned()];
    assert_eq!(check_paths(&work, "a.orch.yaml"), (one("a.orch.yaml"), 0));
    assert_eq!(
        check_paths(&work, "sales/b.orch.yaml"),
        (one("sales/b.orch.yaml"), 1)
    );
    assert_eq!(
        check_paths(&work.join("sales"), "c.orch.yaml"),
        (one("sales/c.orch.yaml"), 0)
    );
    assert_eq!(
        check_paths(&work, "a.orch.yaml sales").0,
        ["a.orch.yaml", "sales/b.orch.yaml", "sales/c.orch.yaml"]
    );
    assert_eq!(
        check_paths(&work, "--base origin/main a.orch.yaml d.orch.yaml").0,
        ["d.orch.yaml"]
    );
    assert_eq!(
        check_paths(&work, "--staged a.orch.yaml"),
        (one("a.orch.yaml"), 0)
    );
    let rules = check_folder(&work, &[RULES_FILE]).expect(1).json();
    assert_eq!(report_paths(&rules).len(), 4, "naming the rules file checks all");
    let beside_directory = check_folder(&work, &["sales", RULES_FILE])
        .expect(1)
        .saying(&[&format!("the rules file {RULES_FILE} is one of the given paths")]);
    assert_eq!(report_paths(&beside_directory.json()).len(), 4);
    // The changes are those since the base, although all pipelines are checked.
    let whole = check_folder(&work, &[".", RULES_FILE]).expect(1).json();
    assert_eq!(
        changed_paths(&whole),
        ["d.orch.yaml", "sales/b.orch.yaml", "sales/c.orch.yaml"]
    );
    // A hook may pass the rules file for any reason; it is a gate change only if it changed.
    for args in [&[RULES_FILE][..], &["--staged", RULES_FILE]] {
        let unchanged = check_folder(&work, args).expect(1).json();
        assert_eq!(unchanged["gateChanges"], json!([]), "{args:?}");
        assert_eq!(unchanged["notes"], json!([]), "{args:?}");
    }
    let former = fs::read_to_string(work.join(RULES_FILE)).unwrap();
    world.write(RULES_FILE, format!("{former}\n# reworded\n"));
    let document = check_folder(&work, &[RULES_FILE]).expect(1).json();
    assert_eq!(document["gateChanges"], json!([RULES_FILE]));
    world.write(RULES_FILE, former);
    world.write("note.txt", "x");
    let left = check_folder(&work, "note.txt a.orch.yaml").expect(0).json();
    assert!(left["notes"].to_string().contains("note.txt was named"), "{left}");
    let beside_rules = check_folder(&work, &["note.txt", RULES_FILE]).expect(1).json();
    assert!(
        beside_rules["notes"].to_string().contains("note.txt was named"),
        "{beside_rules}"
    );
    check_folder(&work, "gone.orch.yaml")
        .expect(2)
        .saying(&["the path gone.orch.yaml is not in the working tree"]);
    check_folder(&work, "../x.orch.yaml")
        .expect(2)
        .saying(&["outside the repository"]);
}

#[test]
fn named_file_is_checked_in_job_of_deleted_branch() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let payload = json!({ "repository": repository(), "ref": "refs/heads/old", "before": head(&world),
        "after": ZEROS, "deleted": true });
    let call = Job::github()
        .event("push", "refs/heads/old", &payload)
        .call(&world);
    call.run("check").expect(0).logging(&["was deleted"]);
    let report = call.run("check b.orch.yaml --report json=-").expect(1).json();
    assert_eq!(report_paths(&report), ["b.orch.yaml"]);
}

#[test]
fn shallow_clone_is_enough_where_no_base_is_needed() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    world.write("c.orch.yaml", good_pipeline());
    world.commit("second");
    world.push();
    let url = format!("file://{}", world.remote().display());
    git(
        world.path(),
        format!("clone -q --depth 1 --no-single-branch -b change {url} shallow"),
    );
    let shallow = world.path().join("shallow");
    Call::new(&shallow)
        .run("check")
        .expect(7)
        .saying(&["shallow", "git fetch --unshallow"]);
    assert_eq!(
        check_paths(&shallow, "b.orch.yaml"),
        (vec!["b.orch.yaml".to_owned()], 1)
    );
    assert_eq!(
        check_paths(&shallow, "--head HEAD c.orch.yaml"),
        (vec!["c.orch.yaml".to_owned()], 0)
    );
    assert_eq!(check_paths(&shallow, "--all").0.len(), 3);
    Call::new(&shallow)
        .run("check --base origin/main b.orch.yaml")
        .expect(7);
    // libgit2 reads a linked worktree of a shallow clone through a substitute repository, which has no index.
    git(&shallow, "worktree add -q --detach ../linked");
    let linked = world.path().join("linked");
    fs::write(linked.join("d.orch.yaml"), good_pipeline()).unwrap();
    assert_eq!(check_paths(&linked, "--all").0.len(), 4);
    assert_eq!(check_paths(&linked, "--all --staged").0.len(), 3);
}

#[test]
fn neither_remote_nor_branch_nor_commit_is_needed() {
    let folder = scratch::create_scratch_directory();
    git(folder.path(), "init -q -b main");
    let write = |path: &str, text: &str| {
        let target = folder.path().join(path);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, text).unwrap();
    };
    write(RULES_FILE, RULES);
    write("a.orch.yaml", &bad_pipeline());
    assert_eq!(
        check_paths(folder.path(), ""),
        (vec!["a.orch.yaml".to_owned()], 1)
    );
    assert_eq!(check_paths(folder.path(), "--staged"), (vec![], 0));
    git(folder.path(), "add -A");
    assert_eq!(check_paths(folder.path(), "--staged").1, 1);
    git(folder.path(), "commit -q -m first");
    git(folder.path(), "checkout -q --detach");
    assert_eq!(check_paths(folder.path(), "--staged"), (vec![], 0));
    for args in [&[][..], &["--staged", "--all"], &["--head", "HEAD"]] {
        assert_eq!(check_paths(folder.path(), args).1, 1, "{args:?}");
    }
    let nowhere = scratch::create_scratch_directory();
    Call::new(nowhere.path())
        .run("check")
        .expect(7)
        .saying(&["hint:"]);
}

#[test]
fn bare_repository_has_commits_only() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    for args in ["check", "check --staged"] {
        Call::new(&world.remote())
            .variable("SLUICEGATE_REPO", ".")
            .run(args)
            .expect(7)
            .saying(&["bare", "--head"]);
    }
    assert_eq!(check_paths(&world.remote(), "--repo . --head change --all").1, 1);
}

/// Opening a pipe blocks until another process writes to it.
#[cfg(unix)]
#[test]
fn pipe_in_place_of_pipeline_is_not_waited_for_and_not_passed() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let file = world.work().join("b.orch.yaml");
    fs::remove_file(&file).unwrap();
    let status = std::process::Command::new("mkfifo").arg(&file).status().unwrap();
    assert!(status.success());
    let output = Call::new(&world.work()).run("check --all").expect(3);
    assert!(
        output.all().contains("b.orch.yaml: The file was not reviewed"),
        "{}",
        output.all()
    );
}

#[test]
fn check_does_not_pass_files_hidden_by_index() {
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
        world.git(&["update-index", flag, "a.orch.yaml"]);
        check_folder(&world.work(), "").expect(0);
        world.write("a.orch.yaml", bad_pipeline());
        check_folder(&world.work(), "")
            .expect(3)
            .saying(&["a.orch.yaml", "skip-worktree or assume-unchanged"]);
        // Hidden rules do not let it pass either.
        let rules = ".platform/config/pipeline_quality_rules.yaml";
        let world = change(&[("b.orch.yaml", &bad_pipeline())]);
        world.git(&["update-index", flag, rules]);
        world.write(rules, "rules: []\n");
        check_folder(&world.work(), "")
            .expect(3)
            .saying(&[rules, "skip-worktree or assume-unchanged"]);
    }
}

#[test]
fn gate_file_hidden_by_index_leaves_check_undecided() {
    let team_rules = "rules:\n- {id: no-start, level: error, for: component, when: 'component.name == \"Start\"', \
                      message: m}\n";
    let waiver = "- {rule: component-naming-convention, path: '**', reason: x}\n";
    for (path, committed_text, hidden_text) in [
        (
            "sluicegate.yaml",
            "review: {fail-on: error}\n",
            "review: {fail-on: never}\n",
        ),
        ("sluicegate-waivers.yaml", "", waiver),
        ("sluicegate-rules.yaml", team_rules, "rules: []\n"),
    ] {
        let world = change(&[("b.orch.yaml", &bad_pipeline()), (path, committed_text)]);
        for flag in ["skip-worktree", "assume-unchanged"] {
            world.write(path, committed_text);
            let check = |args: &str, code: i32| check_folder(&world.work(), args).expect(code);
            check("", 1);
            world.git(format!("update-index --{flag} {path}"));
            world.write(path, hidden_text);
            check("", 3).saying(&[path, "skip-worktree or assume-unchanged"]);
            check("--all", 3);
            check("--head HEAD", 3);
            check("--staged --all", 1);
            world.git(format!("update-index --no-{flag} {path}"));
        }
    }
}

#[test]
fn check_refuses_conflicted_files() {
    let world = change(&[("a.orch.yaml", &orchestration_text(&["Start", "Here", "Done"]))]);
    world.git("checkout -q main");
    world.write("a.orch.yaml", orchestration_text(&["Start", "There", "Done"]));
    world.commit("other");
    let merged = git_may_fail(&world, &["merge", "-q", "change"]);
    assert!(!merged);
    Call::new(&world.work())
        .run("check --staged")
        .expect(7)
        .saying(&["conflicts", "a.orch.yaml", "git add"]);
    let report = check_folder(&world.work(), "").expect(1).json();
    assert_eq!(
        report["files"][0]["results"][0]["errorType"],
        "designer/document-parse-error"
    );
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let world = project();
    let outside = world.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("x.orch.yaml"), good_pipeline()).unwrap();
    std::os::unix::fs::symlink("../outside/x.orch.yaml", world.work().join("link.orch.yaml")).unwrap();
    std::os::unix::fs::symlink("../outside", world.work().join("folder")).unwrap();
    for place in [&[][..], &["--staged"], &["--fail-on", "never"]] {
        world.git("add -A");
        let report = check_folder(&world.work(), place).expect(3).json();
        let reason = json!({ "link.orch.yaml": "a symbolic link, not a file" });
        assert_eq!(report["unreviewedReasons"], reason, "{place:?}");
    }
    check_folder(&world.work(), "folder/x.orch.yaml").expect(2);
}

/// A file that the sparse checkout excludes is ignored until it changes.
#[test]
fn check_does_not_pass_selected_file_outside_of_sparse_checkout() {
    let world = change(&[
        ("in/b.orch.yaml", &good_pipeline()),
        ("out/c.orch.yaml", &bad_pipeline()),
    ]);
    world.git("sparse-checkout set --no-cone /in/ /.platform/");
    assert!(!world.work().join("out/c.orch.yaml").exists());
    let output = check_folder(&world.work(), "").expect(3);
    let report = output.json();
    assert_eq!(report_paths(&report), ["in/b.orch.yaml"]);
    assert_eq!(
        report["unreviewed"].as_array().unwrap().len(),
        1,
        "{}",
        output.all()
    );
    assert_eq!(report["unreviewed"][0], "out/c.orch.yaml");
    // The staged content is available for the check.
    assert_eq!(
        check_paths(&world.work(), "--staged --base main").0,
        ["in/b.orch.yaml", "out/c.orch.yaml"]
    );
}

#[test]
fn file_in_utf_16_is_named_as_such() {
    let files = [
        ("sluicegate.yaml", "review: {}\n", &["check"][..], 2),
        ("sluicegate-waivers.yaml", "waivers: []\n", &["check"], 2),
        (
            "sluicegate-waivers.yaml",
            "waivers: []\n",
            &["waivers", "list"],
            2,
        ),
        (RULES_FILE, RULES, &["check"], 1),
        (RULES_FILE, RULES, &["rules", "lint"], 1),
        ("b.orch.yaml", "type: orchestration\n", &["check"], 1),
        (
            "vars.yaml",
            "variables: []\n",
            &["variables", "apply", "-f", "vars.yaml", "--dry-run"],
            2,
        ),
    ];
    for (path, text, command, code) in files {
        let world = change(&[("b.orch.yaml", &good_pipeline())]);
        world.write(path, encode_utf_16(text));
        let output = Call::with_platform(&world.work(), "http://127.0.0.1:9").run(command);
        assert!(
            output.all().contains("UTF-16"),
            "{path}: {command:?}: {}",
            output.all()
        );
        assert_eq!(output.code, code, "{path}: {command:?}: {}", output.all());
    }
}

/// Writes an executable file whose run leaves `file` behind.
#[cfg(unix)]
fn write_trap(path: &Path, file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\necho ran >> '{}'\n", file.display())).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// libgit2 reads neither format; the git program that expands them runs no command of the repository.
#[cfg(unix)]
#[test]
fn check_of_a_split_or_sparse_index_reads_every_entry() {
    let formats: [(&[u8], &[&str]); 2] = [
        (b"link", &["update-index", "--split-index"]),
        (
            b"sdir",
            &[
                "sparse-checkout",
                "set",
                "--cone",
                "--sparse-index",
                "in",
                ".platform",
            ],
        ),
    ];
    for (extension, command) in formats {
        let world = change(&[
            ("in/b.orch.yaml", &good_pipeline()),
            ("out/deep/c.orch.yaml", &bad_pipeline()),
        ]);
        world.git(command);
        let index = fs::read(world.work().join(".git/index")).unwrap();
        assert!(index.windows(4).any(|bytes| bytes == extension), "{command:?}");
        let marker = world.path().join("ran");
        let trap = world.work().join(".git/hooks/post-index-change");
        write_trap(&trap, &marker);
        for setting in ["core.fsmonitor", "core.pager", "core.editor", "core.sshCommand"] {
            world.git(&[
                "-c",
                "core.fsmonitor=false",
                "config",
                setting,
                trap.to_str().unwrap(),
            ]);
        }
        let _ = fs::remove_file(&marker);
        let staged = check_paths(&world.work(), "--staged --base main").0;
        assert_eq!(staged, ["in/b.orch.yaml", "out/deep/c.orch.yaml"], "{command:?}");
        let is_sparse = !world.work().join("out").exists();
        let output = check_folder(&world.work(), "--all").expect(if is_sparse { 3 } else { 1 });
        let report = output.json();
        if is_sparse {
            let reason = &report["unreviewedReasons"]["out/deep/c.orch.yaml"];
            assert!(reason.as_str().unwrap().contains("pass --head HEAD"), "{reason}");
            assert_eq!(report_paths(&report), ["a.orch.yaml", "in/b.orch.yaml"]);
        } else {
            let all = ["a.orch.yaml", "in/b.orch.yaml", "out/deep/c.orch.yaml"];
            assert_eq!(report_paths(&report), all);
        }
        // A modification and a new file on disk are found as in a plain index.
        world.write("in/b.orch.yaml", bad_pipeline());
        world.write("in/new.orch.yaml", good_pipeline());
        let report = check_folder(&world.work(), "in").expect(1).json();
        assert_eq!(report_paths(&report), ["in/b.orch.yaml", "in/new.orch.yaml"]);
        check_folder(&world.work(), "--head HEAD").expect(1);
        assert!(!marker.exists(), "the repository's settings ran a command");
        assert_eq!(
            fs::read(world.work().join(".git/index")).unwrap(),
            index,
            "the index is unchanged"
        );
    }
}

#[test]
fn split_index_without_the_git_program_is_explained() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    world.git("update-index --split-index");
    let call = Call::new(&world.work()).variable("PATH", "");
    call.run("check --all").expect(7).saying(&[
        "could not read the index",
        "unsupported mandatory extension: 'link'",
        "hint: check that the git program is installed",
        "--head HEAD",
    ]);
    call.run("check --all --head HEAD").expect(0);
}

#[test]
fn move_in_a_split_index_updates_callers_and_index() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    world.git("update-index --split-index");
    Call::new(&world.work())
        .run("mv b.orch.yaml c.orch.yaml")
        .expect(0);
    assert_eq!(
        world.git(&["diff", "--cached", "--name-only", "--no-renames"]),
        "b.orch.yaml\nc.orch.yaml"
    );
}

#[test]
fn submodule_is_another_repository() {
    let world = project();
    let other = World::new();
    other.write("inner.orch.yaml", bad_pipeline());
    other.commit("first");
    other.push();
    let url = format!("file://{}", other.remote().display());
    world.git(format!("submodule --quiet add {url} module"));
    git(&world.work(), format!("clone -q {url} nested"));
    assert_eq!(check_paths(&world.work(), "--all").0, ["a.orch.yaml"]);
    world.git("rm -q --cached -r module");
    assert_eq!(check_paths(&world.work(), "--all").0, ["a.orch.yaml"]);
}

#[test]
fn check_fails_for_same_levels_as_review() {
    let long = orchestration_text(&["Start", "Two", "Three", "Done"]);
    let world = change(&[("b.orch.yaml", &long)]);
    let judged = |args: &str| {
        let output = check_folder(&world.work(), args);
        (output.json()["verdict"].as_str().unwrap().to_owned(), output.code)
    };
    assert_eq!(judged(""), ("passed".to_owned(), 0));
    assert_eq!(judged("--fail-on warn"), ("failed".to_owned(), 1));
    world.write("b.orch.yaml", "type: nonsense\n");
    assert_eq!(judged(""), ("failed".to_owned(), 1));
    assert_eq!(judged("--fail-on never"), ("passed".to_owned(), 0));
    let variable = Call::new(&world.work())
        .variable("SLUICEGATE_FAIL_ON", "never")
        .run("check");
    variable.expect(0);
    world.write(
        "sluicegate.yaml",
        "review:\n  fail-on: never\n  report: [junit=out.xml]\n",
    );
    Call::new(&world.work())
        .run("check")
        .expect(0)
        .saying(&["checking"]);
    let junit = fs::read_to_string(world.work().join("out.xml")).unwrap();
    assert!(junit.contains("designer/document-parse-error"), "{junit}");
}

#[cfg(unix)]
#[test]
fn file_that_cannot_be_read_is_never_pass() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    world.write("c.orch.yaml", good_pipeline());
    let closed = world.work().join("c.orch.yaml");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&closed).is_ok() {
        // Root can read every file.
        return;
    }
    let report = check_folder(&world.work(), "").expect(3).json();
    assert_eq!(report["unreviewed"], json!(["c.orch.yaml"]));
}

#[test]
fn check_of_tracked_file_that_disk_does_not_show_is_undecided() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    // For so long a name, the system reports an error, but not that the file is missing, as for a file in a directory
    // without permissions. Root gets this error, too.
    let path = format!("{}.orch.yaml", "l".repeat(300));
    let blob = world.git("rev-parse HEAD:b.orch.yaml");
    let entry = format!("100644,{blob},{path}");
    world.git(&format!("update-index --add --cacheinfo {entry}"));
    for args in ["", "--all"] {
        let report = check_folder(&world.work(), args).expect(3).json();
        assert_eq!(report["unreviewed"], json!([path]), "{args}");
    }
    let report = check_folder(
        &world.work(),
        &format!("--team-rules {}/rules.yaml", "l".repeat(300)),
    );
    assert!(report.expect(2).all().contains("cannot be read"));
    let missing = "is not in the working tree";
    let output = check_folder(&world.work(), &"m".repeat(300)).expect(2);
    assert!(output.err.contains("could not read the path m") && !output.err.contains(missing));
    check_folder(&world.work(), "missing/m")
        .expect(2)
        .saying(&[missing]);
    // A commit and the index do not depend on the disk.
    for (flags, name) in [
        ("--staged", "is not in the index"),
        ("--head HEAD", "is not in commit"),
    ] {
        check_folder(&world.work(), &format!("{flags} {}", "m".repeat(300)))
            .expect(2)
            .saying(&[name]);
    }
    // Counterpart: a missing file is deleted, also one whose directory was replaced by a file.
    world.git(&format!("update-index --force-remove {path}"));
    for path in ["c.orch.yaml", "b.orch.yaml/d.orch.yaml"] {
        world.git(&format!(
            "update-index --add --replace --cacheinfo 100644,{blob},{path}"
        ));
        check_folder(&world.work(), "--all").expect(0);
    }
}

#[test]
fn check_in_ci_compares_checkout_with_base_of_host() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let head = world.git("rev-parse HEAD");
    world.git("checkout -q main");
    world.write("a.orch.yaml", orchestration_text(&["Start", "Later", "Done"]));
    world.commit("main goes on");
    world.push();
    world.git("checkout -q --detach main");
    world.git("merge -q --no-ff -m merge change");
    let event = json!({
        "number": 7,
        "pull_request": {
            "number": 7,
            "head": { "ref": "change", "sha": head, "repo": { "full_name": "o/fork" } },
            "base": { "ref": "main", "sha": head, "repo": { "full_name": "o/r" } },
        },
        "repository": { "full_name": "o/r", "default_branch": "main" },
    });
    let payload = world.path().join("event.json");
    fs::write(&payload, event.to_string()).unwrap();
    let output = world.path().join("output");
    let run_output = Call::new(&world.work())
        .variable("GITHUB_ACTIONS", "true")
        .variable("GITHUB_EVENT_NAME", "pull_request")
        .variable("GITHUB_EVENT_PATH", payload.display().to_string())
        .variable("GITHUB_REPOSITORY", "o/r")
        .variable("GITHUB_SHA", world.git("rev-parse HEAD"))
        .variable("GITHUB_REF", "refs/pull/7/merge")
        .variable("GITHUB_OUTPUT", output.display().to_string())
        .run("check --report json=../report.json")
        .expect(1);
    assert!(
        run_output.out.contains("::error file=b.orch.yaml,line=11"),
        "{}",
        run_output.all()
    );
    let report: Value = serde_json::from_slice(&fs::read(world.path().join("report.json")).unwrap()).unwrap();
    assert_eq!(report_paths(&report), ["b.orch.yaml"]);
    assert_eq!(
        (&report["context"]["ci"], &report["context"]["branch"]),
        (&json!("github"), &json!("change"))
    );
    assert!(fs::read_to_string(output).unwrap().contains("failed"));
}

#[test]
fn content_hidden_by_index_is_not_compared() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    world.write("a.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    for (flag, code, change) in [
        ("--skip-worktree", 3, "unreadable"),
        ("--no-skip-worktree", 0, "modified"),
    ] {
        world.git(&["update-index", flag, "a.orch.yaml"]);
        let report = check_folder(&world.work(), "").expect(code).json();
        let changes = report["changes"].as_array().unwrap().iter();
        let kinds: Vec<_> = changes
            .filter(|it| it["path"] == "a.orch.yaml")
            .map(|it| it["change"].as_str().unwrap())
            .collect();
        assert_eq!(kinds, [change], "{flag}");
    }
}

#[test]
fn path_of_other_repository_beside_file_exits_with_2() {
    let world = project();
    let other = World::new();
    other.write("inner.orch.yaml", bad_pipeline());
    other.commit("first");
    other.push();
    let url = format!("file://{}", other.remote().display());
    world.git(format!("submodule --quiet add {url} module"));
    git(&world.work(), format!("clone -q {url} nested"));
    let check = |args: &str| Call::new(&world.work()).run(("check", args));
    for path in ["module", "nested"] {
        for args in [
            path.to_owned(),
            format!("{path} a.orch.yaml"),
            format!("a.orch.yaml {path}/"),
        ] {
            check(&args)
                .expect(2)
                .saying(&["is in another repository", "pass `--repo"]);
        }
    }
    world.git("submodule --quiet deinit -f module");
    check("module a.orch.yaml").expect(2);
    check("a.orch.yaml").expect(0);
}

#[test]
fn edit_of_included_text_file_keeps_all_pipelines_selected() {
    let world = project();
    world.write("sluicegate.yaml", "include: ['s/**']\n");
    world.write("s/b.orch.yaml", bad_pipeline());
    world.write("s/notes.md", "old\n");
    world.commit("more");
    world.push();
    let check = || Call::new(&world.work()).run("check");
    let expected_lines = [
        "no pipeline differs from head",
        "checking 1 pipeline and 1 other file of",
    ];
    check().expect(1).logging(&expected_lines);
    world.write("s/notes.md", "new\n");
    check().expect(1).logging(&expected_lines);
    let context = Call::new(&world.work()).run("context --all").expect(0);
    assert!(
        context.out.contains("2 pipelines and 1 other file at head"),
        "{}",
        context.out
    );
    let plan = Call::with_platform(&world.work(), "http://127.0.0.1:9").run("review --dry-run --all");
    assert!(
        plan.out.contains("would review 1 pipeline and 1 other file"),
        "{}",
        plan.all()
    );
    let shard = Call::new(&world.work()).run("check --all --shard 1/2");
    assert!(
        shard.err.contains(" of 1 pipeline and 1 other file\n"),
        "{}",
        shard.all()
    );
    // An edited pipeline is checked alone.
    world.write("s/c.orch.yaml", good_pipeline());
    check()
        .expect(0)
        .logging(&["checking 1 pipeline and 1 other file of"]);
}
