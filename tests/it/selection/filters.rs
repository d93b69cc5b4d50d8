//! The selection of files: `check` of a clean clone, `context` and `review --dry-run` select the same files, and a
//! filter that matches no file is rejected.

use crate::support::{
    Call, Job, Platform, ProgramOutput, RULES, RULES_FILE, World, bad_pipeline, change, git, good_pipeline,
    orchestration_text, project,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Returns the selection of each of the three commands from their own output; no request is sent to the platform.
fn list_selections(call: &impl Fn() -> Call) -> [Vec<String>; 3] {
    let strings = |values: &Value| values.as_array().unwrap().iter().map(value_text).collect();
    let report = call()
        .run("check --fail-on never --report json=-")
        .expect(0)
        .json();
    let checked = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| value_text(&file["path"]))
        .collect();
    let context = call().run("context --json").expect(0).json();
    let output = call().run("review --dry-run").expect(0);
    let lines = output.out.lines().filter_map(|line| line.strip_prefix("  "));
    [
        checked,
        strings(&context["selected"]),
        lines.map(str::to_owned).collect(),
    ]
}

fn value_text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Clones the world's remote and checks out this branch, as another user would.
fn clone_of_branch(world: &World, branch: &str) -> PathBuf {
    let folder = world.path().join("clone");
    git(world.path(), format!("clone -q -b {branch} remote.git clone"));
    folder
}

/// Returns calls in a job on GitHub for a push to this branch.
fn push_calls(world: &World, folder: &Path, branch: &str, before: &str) -> impl Fn() -> Call + use<> {
    let event = world.path().join("event.json");
    let payload = json!({ "before": before, "repository": { "default_branch": "main" } });
    std::fs::write(&event, payload.to_string()).unwrap();
    let (folder, branch) = (folder.to_owned(), branch.to_owned());
    let head = git(&folder, "rev-parse HEAD");
    move || {
        Call::new(&folder)
            .variable("GITHUB_ACTIONS", "true")
            .variable("GITHUB_EVENT_NAME", "push")
            .variable("GITHUB_EVENT_PATH", event.display().to_string())
            .variable("GITHUB_REF", format!("refs/heads/{branch}"))
            .variable("GITHUB_SHA", &head)
    }
}

#[test]
fn check_of_clean_clone_context_and_dry_run_select_the_same() {
    let new = orchestration_text(&["Start", "Load", "Done"]);
    let world = change(&[("b.orch.yaml", &new), ("sub/c.orch.yaml", &new)]);
    let main = world.git("rev-parse origin/main");
    let on_branch = clone_of_branch(&world, "change");
    let all_three =
        |paths: &[&str]| [(); 3].map(|()| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>());
    let laptop = |folder: &Path| {
        let folder = folder.to_owned();
        move || Call::new(&folder)
    };
    let changed = ["b.orch.yaml", "sub/c.orch.yaml"];
    assert_eq!(
        list_selections(&laptop(&on_branch)),
        all_three(&changed),
        "a branch on a laptop"
    );
    assert_eq!(
        list_selections(&push_calls(&world, &on_branch, "change", &main)),
        all_three(&changed),
        "a push to a branch"
    );
    world.git("push -q origin change:main");
    git(&on_branch, "checkout -q main");
    git(&on_branch, "pull -q");
    let every = ["a.orch.yaml", "b.orch.yaml", "sub/c.orch.yaml"];
    assert_eq!(
        list_selections(&push_calls(&world, &on_branch, "main", &main)),
        all_three(&changed),
        "a push to the default branch"
    );
    assert_eq!(
        list_selections(&laptop(&on_branch)),
        all_three(&every),
        "the default branch on a laptop"
    );
    // A file that is not a pipeline makes no difference, for example a report.
    std::fs::write(on_branch.join("report.xml"), "").unwrap();
    assert_eq!(
        list_selections(&laptop(&on_branch)),
        all_three(&every),
        "with other files"
    );
    git(&on_branch, "checkout -q --detach");
    assert_eq!(
        list_selections(&laptop(&on_branch)),
        all_three(&every),
        "a detached head"
    );
    git(&on_branch, "checkout -q change");
    assert_eq!(
        list_selections(&laptop(&on_branch)),
        all_three(&every),
        "a branch that is merged"
    );
}

/// Checks that all three commands reject these arguments.
fn assert_refused_by_commands(world: &World, args: &[&str], words: &[&str]) {
    let platform = Platform::new();
    for command in ["check", "context", "review"] {
        let args: Vec<&str> = [command].iter().chain(args).copied().collect();
        let output: ProgramOutput = platform.call(world).run(&args).expect(2);
        let output = output
            .saying(words)
            .saying(&["which contains 2 pipelines", "hint: "]);
        assert!(!output.err.contains("error: error"), "{}", output.all());
    }
    assert_eq!(platform.requests().len(), 0);
}

#[test]
fn path_that_holds_no_pipeline_is_a_slip() {
    let world = change(&[
        ("docs/note.md", "no pipeline"),
        ("sales/b.orch.yaml", &orchestration_text(&["Start", "Done"])),
    ]);
    assert_refused_by_commands(
        &world,
        &["docs"],
        &["the path docs does not match any pipeline in "],
    );
    assert_refused_by_commands(
        &world,
        &["sales", "docs"],
        &["the path docs does not match any pipeline in "],
    );
    assert_refused_by_commands(
        &world,
        &["docs/note.md"],
        &["the path docs/note.md does not match any pipeline in "],
    );
    Call::new(&world.work()).run("check .").expect(0);
}

/// Returns a repository with a pipeline in `sales`, on the branch `gone`.
fn project_with_folder() -> World {
    let world = project().with_file("sales/b.orch.yaml", &orchestration_text(&["Start", "Done"]));
    world.commit("sales");
    world.push();
    world.git("checkout -q -b gone");
    world
}

/// Runs each command that selects pipelines with these arguments, on the machine of a user and in a job.
fn assert_exit_of_selections(world: &World, args: &str, code: i32) {
    let platform = Platform::new();
    world.push();
    for command in ["check", "context", "review"] {
        for call in [
            platform.call(world),
            Job::github().pull_request().extend(world, platform.call(world)),
        ] {
            call.run((command, args)).expect(code);
        }
    }
    assert_eq!(platform.requests().len(), 0, "{args}");
}

#[test]
fn named_folder_or_glob_whose_pipelines_moved_elsewhere_is_refused() {
    let world = project_with_folder();
    world.git("mv sales finance");
    world.write("sales/kept.md", "");
    // Rewritten so that no comparison recognizes the file.
    world.write("finance/b.orch.yaml", bad_pipeline());
    world.commit("moved");
    for args in ["sales", "--include sales/**", "sales/b.orch.yaml"] {
        assert_exit_of_selections(&world, args, 2);
    }
    Call::new(&world.work()).run("check sales").expect(2).saying(&[
        "the path sales does not match any pipeline in ",
        "adds other pipelines",
    ]);
    // A glob for other files does not hide that no pipeline is left.
    world.write("sql/a.sql", "select 1;\n");
    world.commit("script");
    assert_exit_of_selections(&world, "--include sql/** --include sales/**", 2);
    // Nor does a note that stays in the folder, if a glob includes it.
    world.write("sales/kept.md", "");
    world.commit("note");
    assert_exit_of_selections(&world, "sales --include **", 2);
    // The comparison of versions reviews nothing, and shows the move.
    Call::new(&world.work()).run("diff sales").expect(0);
    // If the job selects the new place, too, the moved pipelines are reviewed.
    for args in ["sales finance", "--include sales/** --include finance/**"] {
        Call::new(&world.work()).run(("check", args)).expect(1);
    }
}

#[test]
fn settings_file_whose_globs_match_only_former_paths_is_refused() {
    let world = project().with_file("sluicegate.yaml", "include: ['sales/**']\n");
    world.write("sales/b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("sales");
    world.push();
    world.git("checkout -q -b gone");
    world.git("mv sales finance");
    world.write("sales/kept.md", "");
    world.commit("moved");
    assert_exit_of_selections(&world, "", 2);
}

#[test]
fn named_folder_or_glob_whose_pipelines_were_deleted_passes() {
    let world = project_with_folder();
    world.git("rm -q sales/b.orch.yaml");
    // A change of another pipeline does not hide a moved one.
    world.write("a.orch.yaml", orchestration_text(&["Start", "Other"]));
    world.commit("deleted");
    for args in ["sales", "--include sales/**", "sales/b.orch.yaml"] {
        assert_exit_of_selections(&world, args, 0);
    }
    // Neither does a new file that is no pipeline, nor a new pipeline that the job excludes.
    world.write("other/note.md", "");
    world.write("sandbox/x.orch.yaml", bad_pipeline());
    world.commit("other files");
    assert_exit_of_selections(&world, "sales --include **", 2);
    assert_exit_of_selections(&world, "sales --include ** --exclude sandbox/**", 0);
    // No base has a misspelled path.
    assert_exit_of_selections(&world, "sale", 2);
    assert_exit_of_selections(&world, "--all sales", 2);
}

#[test]
fn globs_of_the_file_that_match_nothing_are_a_slip() {
    let world = project();
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write(
        "sluicegate.yaml",
        "include: ['sale/**/*.orch.yaml', 'stocks/**']\n",
    );
    world.commit("a file");
    world.push();
    world.git("checkout -q -b change");
    world.commit("a change");
    world.push();
    assert_refused_by_commands(
        &world,
        &[],
        &["no glob in `include` of sluicegate.yaml matches a file in "],
    );
    assert_refused_by_commands(
        &world,
        &["--all"],
        &["no glob in `include` of sluicegate.yaml matches a file in "],
    );
    // One filter of several may be a permanent rule for a future directory.
    world.write(
        "sluicegate.yaml",
        "include: ['sale/**/*.orch.yaml', '*.orch.yaml']\n",
    );
    let loose = "check --policy head";
    Call::new(&world.work()).run(loose).expect(0);
    // All filters may be, if there is no pipeline at all.
    let empty = World::new();
    empty.write("sluicegate.yaml", "include: ['sale/**/*.orch.yaml']\n");
    empty.commit("first");
    Call::new(&empty.work()).run(loose).expect(0);
}

#[test]
fn glob_of_settings_that_no_path_can_match_is_refused() {
    for glob in [
        "./sales/**",
        "/sales/**",
        "../sales/**",
        "!sales/**",
        "sales/",
        "a//b",
        "a/../b",
    ] {
        let world = project_with_folder();
        let problem = format!("the glob \"{glob}\" matches no file: ");
        for option in ["--include", "--exclude"] {
            let refused = Call::new(&world.work())
                .run(["check", "--all", option, glob])
                .expect(2);
            refused.saying(&[&problem, "hint: "]);
        }
        let call = Call::new(&world.work()).variable("SLUICEGATE_EXCLUDE", glob);
        call.run("context").expect(2).saying(&[&problem]);
        for section in ["exclude", "review: {exclude", "publish: {include"] {
            let end = if section.contains('{') { "]}" } else { "]" };
            world.write("sluicegate.yaml", format!("{section}: [\"{glob}\"{end}\n"));
            let refused = Call::new(&world.work())
                .run("check --all --policy head")
                .expect(2);
            refused.saying(&["sluicegate.yaml:1:", &problem]);
        }
    }
}

#[test]
fn glob_with_dots_and_exclamation_marks_within_a_path_is_valid() {
    let world = project_with_folder();
    world.write(
        "sluicegate.yaml",
        "exclude: [.hidden/**, 'a/!b', 'sales/.c/..d']\n",
    );
    Call::new(&world.work())
        .run("check --all --policy head")
        .expect(0);
}

/// Keys of a section override the common keys for that section.
#[test]
fn folder_that_review_leaves_out_is_still_published() {
    let world = project();
    world.write(
        ".platform/shared-pipelines.yaml",
        "pipelines:\n  - { pipeline: a.orch.yaml, id: a, enabled: true }\n",
    );
    world.write(
        "sluicegate.yaml",
        "exclude: ['tests/**']\nreview: { exclude: ['tests/**', 'old/**'] }\npublish: { exclude: ['draft/**'] }\n",
    );
    world.commit("settings");
    world.push();
    world.git("checkout -q -b change");
    let new = orchestration_text(&["Start", "Load", "Done"]);
    for folder in ["sales", "old", "draft", "tests"] {
        world.write(&format!("{folder}/b.orch.yaml"), &new);
    }
    world.commit("change");
    world.push();
    let work = world.work();
    let call = || Call::new(&work);
    let reviewed = ["draft/b.orch.yaml", "sales/b.orch.yaml"];
    for found in list_selections(&call) {
        assert_eq!(found, reviewed);
    }
    let diff = call().run("diff --format json").expect(0).json();
    let text = diff["pipelines"].as_array().unwrap().iter();
    assert_eq!(
        text.map(|it| value_text(&it["path"])).collect::<Vec<_>>(),
        [
            "draft/b.orch.yaml",
            "old/b.orch.yaml",
            "sales/b.orch.yaml",
            "tests/b.orch.yaml"
        ]
    );
    let left = call().run("check --report json=-").expect(0).json();
    assert_eq!(left["excluded"], json!(["old/b.orch.yaml", "tests/b.orch.yaml"]));

    let planned = |args: &str| {
        let plan = [
            "publish",
            "--dry-run",
            "--json",
            "--prefix",
            "p",
            "--version-name",
            "1",
        ];
        let platform = Platform::new();
        platform.respond_to("GET", "/artifacts", wiremock::ResponseTemplate::new(404));
        let plan = platform.call(&world).run((&plan, args)).expect(0).json();
        let files = plan["files"].as_array().unwrap().iter();
        let paths = files.map(|file| value_text(&file["path"]));
        paths
            .filter(|path| path.ends_with(".orch.yaml"))
            .collect::<Vec<_>>()
    };
    let all = [
        "a.orch.yaml",
        "old/b.orch.yaml",
        "sales/b.orch.yaml",
        "tests/b.orch.yaml",
    ];
    assert_eq!(planned(""), all);
    // The settings of the job override all of them.
    assert_eq!(planned("--exclude [a-z]*/**"), ["a.orch.yaml"]);
    let excluding_call = call().variable("SLUICEGATE_EXCLUDE", "sales/**");
    let report = excluding_call.run("context --json").expect(0).json();
    assert_eq!(
        report["selected"],
        json!(["draft/b.orch.yaml", "old/b.orch.yaml", "tests/b.orch.yaml"])
    );
    let vain = "review: { include: ['gone/**'] }\n";
    world.write("sluicegate.yaml", vain);
    let output = call().run("check").expect(2);
    output.saying(&["no glob in `review.include` of sluicegate.yaml matches a file"]);
}

#[test]
fn changed_rules_of_the_named_directory_select_all_pipelines() {
    let rules = RULES.replace("maxComponents: 3", "maxComponents: 9");
    let world = change(&[(RULES_FILE, &rules)]);
    for call in [
        Call::new(&world.work()),
        Call::new(&world.work()).variable("SLUICEGATE_CONFIG_DIR", ".platform"),
    ] {
        let context = call.run("context --json").expect(0).json();
        assert_eq!(context["selected"], json!(["a.orch.yaml"]));
    }
}

#[test]
fn file_beside_the_rules_file_or_with_its_name_elsewhere_does_not_select_all_pipelines() {
    let world = change(&[
        (".platform/note.txt", "no rules"),
        (".other/note.txt", "no rules"),
        ("docs/config/pipeline_quality_rules.yaml", "rules: []\n"),
        ("b.orch.yaml", &orchestration_text(&["Start", "Done"])),
    ]);
    for call in [
        Call::new(&world.work()),
        Call::new(&world.work()).variable("SLUICEGATE_CONFIG_DIR", ".platform"),
    ] {
        let context = call.run("context --json").expect(0).json();
        assert_eq!(context["selected"], json!(["b.orch.yaml"]));
    }
}

#[test]
fn all_without_pipeline_in_given_path_does_not_advise_all() {
    let pipeline = orchestration_text(&["Start", "Done"]);
    let world = project().with_file("sales/b.orch.yaml", &pipeline);
    world.commit("sales");
    world.push();
    let call = Call::new(&world.work());
    let output = call.run("check --all sales --exclude sales/**").expect(0);
    output.assert_logged(&["contains 1 pipeline, but the globs select no pipeline in the given paths"]);
    assert!(!output.all().contains("use --all"), "{}", output.all());
    // Without --all, the advice helps.
    call.run("check sales --base HEAD")
        .expect(0)
        .assert_logged(&["use --all to select them all"]);
}

#[test]
fn change_that_removes_or_renames_a_file_whose_name_is_not_utf8_passes() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = project();
    world.write(
        "sluicegate-rules.yaml",
        "rules:\n  - { id: a, level: error, for: pipeline, when: 'false', message: m }\n",
    );
    let name = std::ffi::OsStr::from_bytes(b"old\xff.orch.yaml");
    let path = world.work().join(name);
    std::fs::write(&path, good_pipeline()).unwrap();
    world.commit("odd name");
    world.push();
    for (branch, new_name) in [("removal", None), ("renaming", Some("new.orch.yaml"))] {
        world.git(format!("checkout -q -b {branch} main"));
        match new_name {
            Some(new_name) => std::fs::rename(&path, world.work().join(new_name)).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        // The comparison of the disk with a commit is another one than that of two commits.
        let local = Call::new(&world.work());
        local.run("check --base main").expect(0);
        world.commit("change");
        world.push();
        for args in ["", "--new-only", "--all", "--exclude none/**"] {
            Job::github()
                .pull_request()
                .call(&world)
                .run(("check", args))
                .expect(0);
        }
        // It is a change outside the gate configuration.
        world.write("sluicegate.yaml", "retries: 1\n");
        world.commit("gate");
        world.push();
        let strict = "check --gate-changes fail";
        Job::github().pull_request().call(&world).run(strict).expect(1);
    }
    // The search for copies reads the base, too.
    world.git("checkout -q removal");
    world.write("c.orch.yaml", good_pipeline());
    world.commit("new pipeline");
    let diff = Call::new(&world.work()).run("diff main..HEAD").expect(0);
    assert!(diff.out.contains("c.orch.yaml"), "{}", diff.all());
    // A file that remains is never passed.
    world.git("checkout -q -b change main");
    world.write("b.orch.yaml", good_pipeline());
    world.commit("change");
    world.push();
    Job::github()
        .pull_request()
        .call(&world)
        .run("check --all")
        .expect(7);
}

#[test]
fn path_in_nested_repository_is_refused_with_its_root() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    world.write("inner/sales/a.orch.yaml", good_pipeline());
    world.git("init -q inner");
    let inner = world.work().join("inner");
    let call = Call::new(&world.work());
    for path in ["inner/sales", "inner/sales/a.orch.yaml"] {
        call.run(("check", &[path])).expect(2).saying(&[
            &format!("the path {path} is in another repository"),
            &format!("hint: pass `--repo {}`", inner.display()),
        ]);
    }
    call.run("check b.orch.yaml").expect(0);
    call.run("check innner")
        .expect(2)
        .saying(&["is not in the working tree"]);
}
