//! `check` of files that are not in a git repository, or in another one than the current directory.

use crate::support::{
    Call, RULES, RULES_FILE, bad_pipeline, change, check_folder, git, good_pipeline, project, report_paths,
    scratch,
};
use serde_json::Value;
use std::fs;
use std::path::Path;

const WITHOUT_GIT: &str = "is not in a git repository";

fn write_file(folder: &Path, path: &str, content: &str) {
    let full = folder.join(path);
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    fs::write(full, content).unwrap();
}

/// Returns a pipeline that calls the pipeline with this path.
fn caller(path: &str) -> String {
    format!(
        "type: orchestration\npipeline:\n  components:\n    Start: {{ type: start, transitions: {{ unconditional: [Call] }} }}\n    \
         Call: {{ type: run-orchestration, parameters: {{ componentName: Call, orchestrationJob: {path} }}, \
         transitions: {{ success: [Done] }} }}\n    Done: {{ type: end-success }}\n"
    )
}

#[test]
fn check_of_plain_directory_evaluates_all_pipelines_below_it() {
    let folder = scratch::create_scratch_directory();
    let export = folder.path().join("export");
    write_file(&export, RULES_FILE, RULES);
    write_file(&export, "a.orch.yaml", &good_pipeline());
    write_file(&export, "sales/b.orch.yaml", &bad_pipeline());
    write_file(&export, "sales/deep/c.orch.yaml", &good_pipeline());
    write_file(folder.path(), "elsewhere/d.orch.yaml", &bad_pipeline());
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), export.join("link")).unwrap();
    std::os::unix::fs::symlink(&export, export.join("sales/loop")).unwrap();
    let absolute = export.to_str().unwrap();
    for (here, args) in [
        (folder.path(), ["export"]),
        (&export, ["."]),
        (Path::new("/"), [absolute]),
    ] {
        let report = check_folder(here, &args).expect(1).json();
        assert_eq!(
            report_paths(&report),
            ["a.orch.yaml", "sales/b.orch.yaml", "sales/deep/c.orch.yaml"],
            "{args:?}"
        );
        assert_eq!(report["context"]["base"], Value::Null);
        assert_eq!(report["notes"].as_array().unwrap().len(), 1, "{report}");
        assert!(
            report["notes"][0].as_str().unwrap().contains(WITHOUT_GIT),
            "{report}"
        );
    }
    let report = check_folder(&export, "sales/deep").expect(0).json();
    assert_eq!(report_paths(&report), ["sales/deep/c.orch.yaml"]);
    // The rules file of the directory is used, and without one the default rules.
    fs::remove_dir_all(export.join(".platform")).unwrap();
    let report = check_folder(folder.path(), "export").expect(0).json();
    let notes = report["notes"].to_string();
    assert!(
        notes.contains("because the directory has no rules file"),
        "{notes}"
    );
}

#[test]
fn check_of_file_in_plain_directory_finds_called_pipelines() {
    let folder = scratch::create_scratch_directory();
    write_file(folder.path(), RULES_FILE, RULES);
    write_file(folder.path(), "sales/a.orch.yaml", &caller("sales/b"));
    write_file(folder.path(), "sales/b.orch.yaml", &good_pipeline());
    write_file(folder.path(), "sales/c.orch.yaml", &caller("sales/gone"));
    // The directory with the platform's files is the root, also if the current directory is below it.
    for (here, prefix) in [
        (folder.path().to_owned(), "sales/"),
        (folder.path().join("sales"), ""),
    ] {
        for (name, code) in [("a.orch.yaml", 0), ("c.orch.yaml", 1)] {
            let output = check_folder(&here, &[&format!("{prefix}{name}"), "--fail-on", "warn"]).expect(code);
            assert_eq!(report_paths(&output.json()), [format!("sales/{name}")]);
        }
    }
    fs::remove_dir_all(folder.path().join(".platform")).unwrap();
    for (name, code) in [("a.orch.yaml", 0), ("c.orch.yaml", 1)] {
        check_folder(folder.path(), format!("sales/{name} --fail-on warn")).expect(code);
    }
    write_file(folder.path(), RULES_FILE, RULES);
    // An editor's buffer.
    let buffer = folder.path().join("buffer");
    fs::write(&buffer, bad_pipeline()).unwrap();
    let output = Call::new(folder.path())
        .input(&buffer)
        .run("check - --stdin-path sales/b.orch.yaml");
    assert!(output.expect(1).out.contains("sales/b.orch.yaml"));
}

#[test]
fn check_that_needs_git_in_plain_directory_exits_with_7() {
    let folder = scratch::create_scratch_directory();
    write_file(folder.path(), "a.orch.yaml", &good_pipeline());
    let call = Call::new(folder.path());
    call.run("check")
        .expect(7)
        .saying(&["no git repository", "`sluicegate check .`"]);
    call.run("fix").expect(7).saying(&[
        "no git repository",
        "directory or file to fix: `sluicegate fix .`",
    ]);
    call.run("fix .").expect(0);
    for args in [
        "check --staged .",
        "check --base main .",
        "check --head main .",
        "check --deepen .",
        "check --repo . .",
        "review .",
    ] {
        call.run(args).expect(7).saying(&["no git repository"]);
    }
    Call::new(folder.path())
        .variable("CI", "true")
        .run("check .")
        .expect(7)
        .saying(&["no git repository"]);
    call.run("check .").expect(0);
    call.run("check gone.orch.yaml")
        .expect(2)
        .saying(&["gone.orch.yaml"]);
}

#[test]
fn check_of_plain_directory_has_bounded_depth() {
    let folder = scratch::create_scratch_directory();
    write_file(folder.path(), "a.orch.yaml", &good_pipeline());
    let deep = format!("{}b.orch.yaml", "d/".repeat(70));
    write_file(folder.path(), &deep, &bad_pipeline());
    Call::new(folder.path())
        .run("check .")
        .expect(7)
        .saying(&["more than 64 levels deep"]);
}

#[test]
fn check_of_absolute_path_finds_its_repository() {
    let (here, other) = (project(), change(&[("b.orch.yaml", &bad_pipeline())]));
    let plain = scratch::create_scratch_directory();
    let file = other.work().join("b.orch.yaml");
    let file = file.to_str().unwrap();
    let folder = other.work();
    for current in [&here.work(), plain.path()] {
        for path in [file, folder.to_str().unwrap()] {
            let report = check_folder(current, &[path]).expect(1).json();
            assert_eq!(report_paths(&report), ["b.orch.yaml"]);
            assert_eq!(report["context"]["branch"], "change");
        }
    }
    // The log shows where the file is.
    let output = Call::new(&here.work()).run(&["check", file]).expect(1);
    assert!(output.out.contains(&format!("--> {file}:11")), "{}", output.all());
    Call::with_platform(&here.work(), "http://127.0.0.1:9")
        .run(&["review", "--dry-run", file])
        .expect(0);
    // A job, and an explicit repository, mean that repository.
    for call in [
        Call::new(&here.work()).variable("CI", "true"),
        Call::new(&here.work()).variable("SLUICEGATE_REPO", "."),
    ] {
        call.run(&["check", file])
            .expect(2)
            .saying(&["is outside the repository"]);
    }
}

#[test]
fn path_selects_its_repository_unless_the_named_host_is_a_ci_host() {
    let (here, other) = (project(), change(&[("b.orch.yaml", &bad_pipeline())]));
    let plain = scratch::create_scratch_directory();
    write_file(plain.path(), "a.orch.yaml", &good_pipeline());
    let other = other.work().display().to_string();
    for (ci, host, is_local) in [
        ("true", "none", true),
        ("true", "unknown", false),
        ("false", "unknown", false),
        ("false", "none", true),
    ] {
        let [clone_call, plain_call] = [here.work().as_path(), plain.path()].map(|folder| {
            Call::new(folder)
                .variable("CI", ci)
                .variable("SLUICEGATE_CI", host)
        });
        clone_call
            .run(&["check", &other])
            .expect(if is_local { 1 } else { 2 });
        let output = plain_call.run("check").expect(7);
        assert_eq!(
            output.err.contains("pass the directory or file to check"),
            is_local,
            "{}",
            output.err
        );
    }
}

#[test]
fn paths_in_log_are_relative_to_current_directory() {
    let world = change(&[
        ("sales/b.orch.yaml", &bad_pipeline()),
        ("stock/c.orch.yaml", &bad_pipeline()),
    ]);
    let sales = world.work().join("sales");
    let report = check_folder(&sales, "").expect(1);
    assert_eq!(
        report_paths(&report.json()),
        ["sales/b.orch.yaml", "stock/c.orch.yaml"]
    );
    let output = Call::new(&sales).run("check").expect(1);
    for place in ["--> b.orch.yaml:11", "--> ../stock/c.orch.yaml:11"] {
        assert!(output.out.contains(place), "{place}: {}", output.all());
    }
    let output = Call::new(&sales).run("check --show concise").expect(1);
    assert!(
        output.out.contains("\nb.orch.yaml:11:5: error") || output.out.starts_with("b.orch.yaml:11:5: error"),
        "{}",
        output.all()
    );
    // At the root and in a job, the paths are those of the reports.
    let output = Call::new(&world.work()).run("check").expect(1);
    assert!(
        output.out.contains("--> sales/b.orch.yaml:11"),
        "{}",
        output.all()
    );
    let job = Call::new(&sales).variable("CI", "true");
    let output = job.run("check").expect(1);
    assert!(
        output.out.contains("--> sales/b.orch.yaml:11"),
        "{}",
        output.all()
    );
}

#[test]
fn check_of_plain_directory_does_not_name_commands_that_need_git() {
    let folder = scratch::create_scratch_directory();
    write_file(folder.path(), "sales/main.orch.yaml", &caller("old/part"));
    write_file(folder.path(), "sales/deep/part.orch.yaml", &good_pipeline());
    write_file(folder.path(), "sales/other.orch.yaml", &caller("SALES/main"));
    let output = check_folder(folder.path(), &["."]).expect(0);
    assert!(output.out.contains("has that name"), "{}", output.out);
    assert!(
        output.out.contains("`sluicegate fix PATH` corrects it"),
        "{}",
        output.out
    );
    Call::new(folder.path()).run("fix . --dry-run").expect(0);
    assert!(!output.all().contains("mv --repair"), "{}", output.all());
    // In git, the command works, so it is named.
    git(folder.path(), "init -q");
    let output = check_folder(folder.path(), &["."]).expect(0);
    assert!(
        output.out.contains("`sluicegate mv --repair` writes"),
        "{}",
        output.out
    );
}

/// Creates a clone with a bad pipeline and its rules, next to a directory without git.
fn clone_beside_plain_directory() -> tempfile::TempDir {
    let folder = scratch::create_scratch_directory();
    for (name, path) in [("one", "a.orch.yaml"), ("two", "b.orch.yaml")] {
        let clone = folder.path().join(name);
        write_file(&clone, RULES_FILE, RULES);
        write_file(&clone, path, &bad_pipeline());
        git(&clone, "init -q -b main");
    }
    write_file(folder.path(), "plain/c.orch.yaml", &good_pipeline());
    folder
}

#[test]
fn check_of_paths_in_different_repositories_exits_with_2() {
    let folder = clone_beside_plain_directory();
    let elsewhere = project();
    for args in [
        "one two",
        "one/a.orch.yaml two/b.orch.yaml",
        "one/a.orch.yaml plain/c.orch.yaml",
        "plain one",
    ] {
        for command in ["check", "fix"] {
            Call::new(folder.path()).run((command, args)).expect(2).saying(&[
                "the paths are not in the same repository",
                "once for each repository",
            ]);
        }
    }
    let absolute = ["one", "two"].map(|name| folder.path().join(name).display().to_string());
    Call::new(&elsewhere.work())
        .run(&["check", &absolute[0], &absolute[1]])
        .expect(2)
        .saying(&["the paths are not in the same repository"]);
    // The paths of one repository are checked with its rules.
    for args in ["one", "one one/a.orch.yaml"] {
        Call::new(folder.path()).run(("check", args)).expect(1);
    }
    Call::new(folder.path())
        .run("check plain plain/c.orch.yaml")
        .expect(0);
}

#[test]
fn check_of_plain_directory_does_not_enter_repositories() {
    let folder = clone_beside_plain_directory();
    let report = check_folder(folder.path(), ".").expect(0).json();
    assert_eq!(report_paths(&report), ["plain/c.orch.yaml"]);
}

#[test]
fn entry_named_git_without_a_repository_hides_no_pipeline() {
    let folder = scratch::create_scratch_directory();
    write_file(folder.path(), RULES_FILE, RULES);
    write_directories_with_git_entries(folder.path());
    let report = check_folder(folder.path(), ".").expect(1).json();
    let paths = ["directory/a.orch.yaml", "file/a.orch.yaml"];
    assert_eq!(report_paths(&report), paths);
    assert_eq!(report["notes"].as_array().unwrap().len(), 2, "{report}");
    assert_eq!(report["notes"][1], "skipped other git repositories: repository");
}

#[test]
fn entry_named_git_without_a_repository_hides_no_pipeline_in_clone() {
    let world = project();
    world.write(".gitignore", "ignored*\n");
    write_directories_with_git_entries(&world.work());
    world.write("file/ignored.orch.yaml", bad_pipeline());
    world.write("file/ignored/b.orch.yaml", bad_pipeline());
    world.write("file/tests/b.orch.yaml", bad_pipeline());
    let report = check_folder(&world.work(), "").expect(1).json();
    // git lists the same pipelines.
    let paths = world.git("ls-files --others --exclude-standard -- *.orch.yaml");
    let listed_paths: Vec<&str> = paths.lines().collect();
    assert_eq!(
        listed_paths,
        [
            "directory/a.orch.yaml",
            "file/a.orch.yaml",
            "file/tests/b.orch.yaml"
        ]
    );
    assert_eq!(report_paths(&report), listed_paths);
    let report = check_folder(&world.work(), "directory").expect(1).json();
    assert_eq!(report_paths(&report), ["directory/a.orch.yaml"]);
    check_folder(&world.work(), "repository")
        .expect(2)
        .saying(&["the path repository is in another repository", "pass `--repo"]);
}

/// Creates three directories with a pipeline and an entry named `.git`: an empty file, an empty directory, and a
/// repository.
fn write_directories_with_git_entries(root: &Path) {
    for name in ["file", "directory", "repository"] {
        write_file(root, &format!("{name}/a.orch.yaml"), &bad_pipeline());
    }
    fs::write(root.join("file/.git"), "").unwrap();
    fs::create_dir(root.join("directory/.git")).unwrap();
    git(&root.join("repository"), "init -q");
}
