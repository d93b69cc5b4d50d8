//! Publishing files from disk.

use crate::publish::planned_project::{
    PlanInput, pipeline_with_parameters, plan_world, planned_paths, world_to_plan,
};
use crate::support::release::stage;
use crate::support::{Call, World};
use sluicegate::publish::{FileSource, Plan, PublishError};
use sluicegate_git::{GitError, Repository};
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

fn worktree_request() -> PlanInput {
    PlanInput {
        source: FileSource::Worktree,
        ..PlanInput::default()
    }
}

pub fn on_disk(world: &World) -> Plan {
    worktree_request().plan(world).unwrap()
}

#[test]
fn clean_tree_is_the_same_as_commit() {
    let world = world_to_plan();
    let committed = plan_world(&world);
    let plan = on_disk(&world);
    assert_eq!(planned_paths(&plan), planned_paths(&committed));
    assert_eq!(
        plan.hash_all_files().unwrap(),
        committed.hash_all_files().unwrap()
    );
    assert_eq!(plan.warnings, committed.warnings);
}

#[test]
fn worktree_publish_lists_differences_from_commit() {
    let world = world_to_plan();
    world.commit("all");
    world.write("new.orch.yaml", pipeline_with_parameters("orchestration", &[]));
    world.write("sql/load.sql", "select 3;\n");
    std::fs::remove_file(world.work().join(".hidden/other.orch.yaml")).unwrap();
    let plan = on_disk(&world);
    let head = world.git("rev-parse --short=7 HEAD");
    insta::assert_snapshot!(plan.warnings.join("\n").replace(&head, "<commit>"), @"
    .platform/shared-pipelines.yaml:8: the shared pipeline `old` is disabled, so the version does not offer it
    the working tree differs from commit <commit>, whose hash is published: .hidden/other.orch.yaml, sql/load.sql, new.orch.yaml
    ");
    assert!(
        planned_paths(&plan).contains(&"new.orch.yaml")
            && !planned_paths(&plan).contains(&".hidden/other.orch.yaml")
    );
}

#[test]
fn touched_file_with_the_committed_content_is_no_difference() {
    let world = world_to_plan();
    world.commit("all");
    let path = world.work().join("sql/load.sql");
    let earlier = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(earlier).unwrap();
    let warnings = on_disk(&world).warnings.join("\n");
    assert!(!warnings.contains("the working tree differs"), "{warnings}");
}

#[test]
fn worktree_publish_leaves_out_ignored_files_unless_committed() {
    let world = world_to_plan();
    world.write(".gitignore", "build/\n*.sql\n");
    world.write(
        "build/x.orch.yaml",
        pipeline_with_parameters("orchestration", &[]),
    );
    world.git("add -f sql/load.sql");
    world.commit("all");
    let plan = on_disk(&world);
    assert!(!planned_paths(&plan).contains(&"build/x.orch.yaml"));
    assert!(planned_paths(&plan).contains(&"sql/load.sql"));
    world.git("rm -q --cached sql/load.sql");
    world.git("commit -q -m forgotten");
    assert!(
        worktree_request()
            .plan(&world)
            .unwrap_err()
            .to_full_text()
            .contains("sql/load.sql")
    );
}

#[test]
fn git_folders_other_repositories_and_links_are_never_sent() {
    let world = world_to_plan();
    world.commit("all");
    world.write(".git/x.orch.yaml", pipeline_with_parameters("orchestration", &[]));
    world.git("init -q lib");
    world.write("lib/x.orch.yaml", pipeline_with_parameters("orchestration", &[]));
    let plan = on_disk(&world);
    assert!(
        !planned_paths(&plan)
            .iter()
            .any(|path| path.ends_with("x.orch.yaml"))
    );
    insta::assert_snapshot!(plan.warnings.join("\n"), @"
    .platform/shared-pipelines.yaml:8: the shared pipeline `old` is disabled, so the version does not offer it
    lib: a submodule, whose files are not part of this repository, is skipped
    ");
    symlink("load.orch.yaml", world.work().join("link.orch.yaml")).unwrap();
    insta::assert_snapshot!(worktree_request().plan(&world).unwrap_err().to_full_text(), @"
    symbolic links are not published:
      link.orch.yaml
    ");
}

/// `check` reads the same working tree: files that were force-added, hidden, excluded by a sparse checkout, or are not
/// regular.
#[test]
fn worktree_publish_warns_of_files_hidden_from_git() {
    let world = world_to_plan();
    world.write(".gitignore", "ignored.orch.yaml\n");
    world.commit("all");
    world.write(
        "ignored.orch.yaml",
        pipeline_with_parameters("orchestration", &[]),
    );
    world.git("add -f ignored.orch.yaml");
    assert!(planned_paths(&on_disk(&world)).contains(&"ignored.orch.yaml"));

    for flag in ["skip-worktree", "assume-unchanged"] {
        world.git(&[
            "update-index",
            &format!("--{flag}"),
            "load.orch.yaml",
            "sql/load.sql",
        ]);
        insta::allow_duplicates! { insta::assert_snapshot!(worktree_request().plan(&world).unwrap_err().to_full_text(), @"
        git's index hides the state on disk (skip-worktree or assume-unchanged):
          load.orch.yaml
        "); }
        world.git(&["update-index", &format!("--no-{flag}"), "load.orch.yaml"]);
        let error = worktree_request().plan(&world).unwrap_err().to_full_text();
        assert!(
            error.contains("hides") && error.contains("sql/load.sql"),
            "{error}"
        );
        world.git(&["update-index", &format!("--no-{flag}"), "sql/load.sql"]);
    }

    let committed = plan_world(&world);
    world.git("update-index --skip-worktree load.orch.yaml");
    std::fs::remove_file(world.work().join("load.orch.yaml")).unwrap();
    assert!(
        planned_paths(&on_disk(&world)).contains(&"load.orch.yaml"),
        "a sparse checkout loses no file"
    );
    assert_eq!(
        planned_paths(&committed)
            .iter()
            .filter(|path| **path == "load.orch.yaml")
            .count(),
        1
    );
    world.git("update-index --no-skip-worktree load.orch.yaml");

    let status = std::process::Command::new("mkfifo")
        .arg(world.work().join("load.orch.yaml"))
        .status();
    assert!(status.unwrap().success());
    let error = worktree_request().plan(&world).unwrap_err().to_full_text();
    assert!(
        error.contains("load.orch.yaml") && error.contains("not a regular file"),
        "{error}"
    );
}

#[test]
fn script_outside_of_repository_is_not_there() {
    let world = world_to_plan();
    std::fs::write(world.path().join("secret.sql"), "x").unwrap();
    for path in [
        "../secret.sql",
        "/etc/hostname",
        ".git/config",
        "sql/../sql/load.sql",
        "linked/load.sql",
    ] {
        symlink("sql", world.work().join("linked")).ok();
        world.write(
            "load.orch.yaml",
            pipeline_with_parameters("orchestration", &[crate::publish::planned_project::script(path)]),
        );
        world.commit("all");
        let error = worktree_request().plan(&world).unwrap_err().to_full_text();
        assert!(error.contains(&format!("names the script `{path}`")), "{error}");
        let error = PlanInput::default().plan(&world).unwrap_err().to_full_text();
        assert!(error.contains(&format!("names the script `{path}`")), "{error}");
    }
}

/// git treats a tracked file behind a linked directory as deleted, also if the index hides the file.
#[test]
fn tracked_script_behind_linked_directory_is_not_published() {
    let plan = "publish --dry-run --prefix p --version-name 1 --from worktree";
    for is_hidden in [false, true] {
        let world = world_to_plan();
        world.commit("all");
        let outside = world.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("load.sql"), "secret\n").unwrap();
        if is_hidden {
            world.git("update-index --assume-unchanged sql/load.sql");
        }
        std::fs::remove_dir_all(world.work().join("sql")).unwrap();
        symlink(&outside, world.work().join("sql")).unwrap();
        let call = Call::new(&world.work());
        let missing = "names the script `sql/load.sql`, which is not in the project";
        call.run(plan).expect(2).saying(&[missing]);
        call.run("check --all").expect(1).logging(&[missing]);
    }
}

/// The counterpart: a link to the root of the working tree is not in it.
#[test]
fn tracked_script_below_linked_root_is_published() {
    let world = world_to_plan();
    world.commit("all");
    let link = world.path().join("link");
    symlink(world.work(), &link).unwrap();
    world.write("sql/load.sql", "select 3;\n");
    let output = Call::new(&link)
        .run("publish --dry-run --json --prefix p --version-name 1 --from worktree")
        .expect(0);
    assert!(output.out.contains("sql/load.sql"), "{}", output.all());
}

/// With `core.autocrlf`, which git for Windows sets, the files on disk have other line endings than those in the
/// commit.
#[test]
fn unmodified_files_with_converted_line_endings_are_published_once() {
    let (world, server) = stage();
    for setting in ["true", "input"] {
        let url = format!("file://{}", world.remote().display());
        crate::support::git(
            world.path(),
            format!("clone -q -c core.autocrlf={setting} {url} {setting}"),
        );
        let clone = world.path().join(setting);
        let file = clone.join("sales/load.orch.yaml");
        let text = std::fs::read_to_string(&file).unwrap().replace("\r\n", "\n");
        std::fs::write(&file, text.replace('\n', "\r\n")).unwrap();
        // The test helper's git turns the conversion off.
        crate::support::git(&clone, format!("-c core.autocrlf={setting} add ."));
        let publish = |args: &str| {
            let call = Call::with_platform(&clone, &server.url).variable("SLUICEGATE_PREFIX", setting);
            call.run(("publish --version-name {next} --from worktree", args))
                .expect(0)
        };
        publish("--receipt receipt.json");
        let output = publish("");
        assert!(output.out.contains("nothing is published"), "{}", output.all());
        Call::with_platform(&clone, &server.url)
            .run("verify receipt.json")
            .expect(0);
        // Without the setting, git reports the file as modified, and its bytes on disk are published.
        crate::support::git(&clone, "config core.autocrlf false");
        std::fs::File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
        assert!(publish("").all().contains("the working tree differs"));
    }
}

#[test]
fn bare_repository_has_no_files_on_disk() {
    let world = world_to_plan();
    world.commit("all");
    world.push();
    let bare = Repository::open(&world.remote()).unwrap();
    let head = bare.head().unwrap().commit;
    let error = worktree_request().plan_of(&bare, &head).unwrap_err();
    assert!(matches!(error, PublishError::Git(GitError::NoWorkTree { .. })));
    assert!(error.hint().unwrap().contains("(--head)"));
}

#[test]
fn change_that_keeps_size_and_time_is_noticed() {
    let world = world_to_plan();
    world.commit("all");
    let path = world.work().join("sql/load.sql");
    let before = std::fs::metadata(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("select", "delete")).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), before.len());
    let warnings = on_disk(&world).warnings.join("\n");
    assert!(
        warnings.ends_with("whose hash is published: sql/load.sql"),
        "{warnings}"
    );
}
