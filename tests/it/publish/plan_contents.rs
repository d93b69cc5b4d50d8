//! The content of a plan, and the errors that stop a publish before anything is sent.

use crate::publish::planned_project::{
    CONFIG, PlanInput, call_parameter, pipeline_with_parameters, plan_world, planned_paths,
    refused_plan_text, script, world_to_plan,
};
use crate::support::World;
use crate::support::publishing::shared_pipelines_file;
use sluicegate::publish::{FileSelection, FileSource, PlanChanges, SharedPipelineRef, compare_plans};
use std::fmt::Write as _;
use std::os::unix::fs::symlink;

/// The warning about the disabled entry `old`, which every plan contains.
const DISABLED: &str = ".platform/shared-pipelines.yaml:8: the shared pipeline `old` is disabled, so the version does not offer it";

#[test]
fn pipelines_their_scripts_and_the_configuration_are_sent() {
    let world = world_to_plan();
    let plan = plan_world(&world);
    let expected = [
        ".hidden/other.orch.yaml",
        ".platform/shared-pipelines.yaml",
        "jobs/clean.tran.yaml",
        "load.orch.yaml",
        "old.orch.yaml",
        "sql/load.sql",
    ];
    assert_eq!(planned_paths(&plan), expected);
    assert_eq!(plan.warnings, [DISABLED]);
    assert_eq!(
        (plan.prefix.as_str(), plan.version_name.as_str()),
        ("demo", "1.0 2026-11-20")
    );
    assert_eq!(
        (plan.commit_hash, plan.branch.as_deref()),
        (world.git(&["rev-parse", "HEAD"]), Some("main"))
    );
    assert_eq!(plan.config_dir, ".platform");
    let load = SharedPipelineRef {
        id: "load-it".to_owned(),
        path: "load.orch.yaml".to_owned(),
    };
    assert_eq!(plan.shared_pipelines, [load]);
}

#[test]
fn dirty_working_tree_changes_nothing() {
    let world = world_to_plan();
    let clean = plan_world(&world);
    world.write("load.orch.yaml", "broken: [");
    world.write("new.orch.yaml", pipeline_with_parameters("orchestration", &[]));
    assert_eq!(PlanInput::default().plan(&world).unwrap(), clean);
}

#[test]
fn hashes_and_digest_are_those_of_the_contents() {
    let world = world_to_plan();
    world.write(
        "a \"b\"; c\\d ü.orch.yaml",
        "type: orchestration\r\npipeline: {}\r\n",
    );
    world.write("empty.orch.yaml", "");
    let plan = plan_world(&world);
    let hashes = plan.hash_all_files().unwrap();
    let mut listed = String::new();
    for (file, hash) in plan.files.iter().zip(&hashes) {
        let content = std::fs::read(world.work().join(&file.path)).unwrap();
        assert_eq!(file.bytes, content.len() as u64, "{}", file.path);
        let _ = writeln!(listed, "{hash}  {}", file.path);
    }
    world.write("listed", &listed);
    let sums = sha256sum(&world, "listed");
    assert_eq!(plan.compute_digest(&hashes), format!("sha256:{sums}"));
    let load = plan
        .files
        .iter()
        .position(|file| file.path == "sql/load.sql")
        .unwrap();
    assert_eq!(hashes[load], sha256sum(&world, "sql/load.sql"));
}

fn sha256sum(world: &World, path: &str) -> String {
    let output = std::process::Command::new("sha256sum")
        .arg(world.work().join(path))
        .output()
        .unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .to_owned()
}

#[test]
fn shared_pipeline_with_missing_file_stops_publish() {
    type Breaker = fn(&World);
    let breakers: [(&str, Breaker); 8] = [
        ("entry", |world| remove_file(world, "load.orch.yaml")),
        ("no pipeline", |world| {
            world.write(CONFIG, shared_pipelines_file(&[("README.md", "x", true)]));
        }),
        ("child", |world| remove_file(world, "jobs/clean.tran.yaml")),
        ("grandchild", |world| {
            world.write(
                "jobs/clean.tran.yaml",
                pipeline_with_parameters(
                    "transformation",
                    &[call_parameter("orchestrationJob", "jobs/none")],
                ),
            );
        }),
        ("script", |world| remove_file(world, "sql/load.sql")),
        ("wrong kind", |world| {
            world.write(
                "load.orch.yaml",
                pipeline_with_parameters(
                    "orchestration",
                    &[call_parameter("orchestrationJob", "jobs/clean")],
                ),
            );
        }),
        ("unreadable", |world| {
            world.write("jobs/clean.tran.yaml", "type: transformation\npipeline: [");
        }),
        ("script is a link", |world| {
            remove_file(world, "sql/load.sql");
            symlink("unused.sql", world.work().join("sql/load.sql")).unwrap();
        }),
    ];
    let mut text = String::new();
    for (name, breaker) in breakers {
        let world = world_to_plan();
        breaker(&world);
        let commit = world.commit("broken");
        let error = refused_plan_text(&world).replace(&commit[..7], "<commit>");
        let head = world.git("rev-parse --short=7 HEAD");
        let _ = writeln!(text, "# {name}\n{}", error.replace(&head, "<commit>"));
    }
    insta::assert_snapshot!(text, @"
    # entry
    the shared pipelines would be incomplete:
      .platform/shared-pipelines.yaml:4: the shared pipeline `load-it` is `load.orch.yaml`, which is not in the project
    # no pipeline
    the shared pipelines would be incomplete:
      .platform/shared-pipelines.yaml:4: the shared pipeline `x` is `README.md`, which is not a pipeline file (`.orch.yaml`, `.tran.yaml`)
    # child
    the shared pipelines would be incomplete:
      load.orch.yaml:8: component `Step 0` calls the transformation `jobs/clean`, which is not in the project
    # grandchild
    the shared pipelines would be incomplete:
      jobs/clean.tran.yaml:8: component `Step 0` calls the orchestration `jobs/none`, which is not in the project
    # script
    the shared pipelines would be incomplete:
      load.orch.yaml:14: component `Step 1` names the script `sql/load.sql`, which is not in the project
    # wrong kind
    the shared pipelines would be incomplete:
      load.orch.yaml:8: component `Step 0` calls the orchestration `jobs/clean`, which is not in the project
    # unreadable
    the shared pipelines would be incomplete:
      jobs/clean.tran.yaml:3: cannot be read as a pipeline: not YAML: while parsing a node, did not find expected node content
    # script is a link
    the shared pipelines would be incomplete:
      load.orch.yaml:14: component `Step 1` names the script `sql/load.sql`, which is a symbolic link, not a file
    ");
}

fn remove_file(world: &World, path: &str) {
    std::fs::remove_file(world.work().join(path)).unwrap();
}

#[test]
fn plan_without_excluded_file_is_not_whole() {
    let world = world_to_plan();
    world.commit("all");
    let without_child = PlanInput {
        exclude: |path| path.starts_with("jobs/"),
        ..PlanInput::default()
    };
    insta::assert_snapshot!(without_child.plan(&world).unwrap_err().to_full_text(), @"
    the shared pipelines would be incomplete:
      load.orch.yaml:8: component `Step 0` calls `jobs/clean.tran.yaml`, which is not among the selected files
    ");
    let without_script = PlanInput {
        exclude: |path| path.starts_with("sql/"),
        ..PlanInput::default()
    };
    insta::assert_snapshot!(without_script.plan(&world).unwrap_err().to_full_text(), @"
    the shared pipelines would be incomplete:
      load.orch.yaml:14: component `Step 1` names the script `sql/load.sql`, which is excluded
    ");
    let without_entry = PlanInput {
        exclude: |path| path == "load.orch.yaml",
        ..PlanInput::default()
    };
    insta::assert_snapshot!(without_entry.plan(&world).unwrap_err().to_full_text(), @"
    the shared pipelines would be incomplete:
      .platform/shared-pipelines.yaml:4: the shared pipeline `load-it` is `load.orch.yaml`, which is not among the selected files
    ");
    let without_disabled = PlanInput {
        exclude: |path| path == "old.orch.yaml",
        ..PlanInput::default()
    };
    let plan = without_disabled.plan(&world).unwrap();
    assert_eq!(plan.warnings, [DISABLED]);
}

#[test]
fn unclear_or_unshared_reference_is_a_warning() {
    let world = world_to_plan();
    let calls = [
        call_parameter("orchestrationJob", "${job}"),
        call_parameter("transformationJob", "twin"),
        call_parameter("transformationJob", "jobs/clean"),
    ];
    world.write(
        "load.orch.yaml",
        pipeline_with_parameters("orchestration", &calls),
    );
    world.write(
        "a/twin.tran.yaml",
        pipeline_with_parameters("transformation", &[]),
    );
    world.write(
        "b/twin.tran.yaml",
        pipeline_with_parameters("transformation", &[]),
    );
    let broken = [
        call_parameter("transformationJob", "nowhere"),
        script("sql/none.sql"),
    ];
    world.write(
        ".hidden/other.orch.yaml",
        pipeline_with_parameters("orchestration", &broken),
    );
    world.write(
        "broken.orch.yaml",
        "type: orchestration # has an orchestrationJob\npipeline: [",
    );
    let plan = plan_world(&world);
    let head = world.git("rev-parse --short=7 HEAD");
    insta::assert_snapshot!(plan.warnings.join("\n").replace(&head, "<commit>"), @"
    .platform/shared-pipelines.yaml:8: the shared pipeline `old` is disabled, so the version does not offer it
    .hidden/other.orch.yaml:8: component `Step 0` calls the transformation `nowhere`, which is not in the project
    .hidden/other.orch.yaml:14: component `Step 1` names the script `sql/none.sql`, which is not in the project
    broken.orch.yaml:3: cannot be read as a pipeline: not YAML: while parsing a node, did not find expected node content
    load.orch.yaml:8: component `Step 0` names `${job}`, which is an expression, so it is unknown whether its file is sent
    load.orch.yaml:13: component `Step 1` calls the transformation `twin` without its folder, but `a/twin.tran.yaml` and `b/twin.tran.yaml` have that name
    ");
    assert!(
        planned_paths(&plan).contains(&"broken.orch.yaml"),
        "it is sent all the same"
    );
}

#[test]
fn warnings_of_two_kinds_about_unneeded_pipelines_are_counted_together() {
    let world = world_to_plan();
    let unneeded = [
        call_parameter("transformationJob", "nowhere"),
        call_parameter("orchestrationJob", "${job}"),
    ];
    world.write(
        ".hidden/other.orch.yaml",
        pipeline_with_parameters("orchestration", &unneeded),
    );
    let summary = plan_world(&world).warning_summary.join("\n");
    let expected = "2 unclear or broken references: .hidden/other.orch.yaml:8, .hidden/other.orch.yaml:13 (no shared \
                    pipeline needs these files; ";
    assert!(summary.contains(expected), "{summary}");
}

#[test]
fn disabled_shared_pipeline_without_file_has_its_own_warning() {
    let world = world_to_plan();
    let entries = [
        ("load.orch.yaml", "load-it", true),
        ("old.orch.yaml", "old", false),
        ("gone.orch.yaml", "gone", false),
        ("lost.orch.yaml", "lost", false),
    ];
    world.write(CONFIG, shared_pipelines_file(&entries));
    let summary = plan_world(&world).warning_summary.join("\n");
    assert!(
        summary.contains(DISABLED) && summary.contains("2 disabled shared pipelines have no file: "),
        "{summary}"
    );
}

#[test]
fn warnings_of_a_kind_are_one_sentence_for_people() {
    let world = world_to_plan();
    let calls: Vec<_> = (0..5)
        .map(|index| call_parameter("orchestrationJob", &format!("${{job{index}}}")))
        .collect();
    world.write(
        "load.orch.yaml",
        pipeline_with_parameters("orchestration", &calls),
    );
    let broken = [
        call_parameter("transformationJob", "nowhere"),
        script("sql/none.sql"),
    ];
    world.write(
        ".hidden/other.orch.yaml",
        pipeline_with_parameters("orchestration", &broken),
    );
    let plan = plan_world(&world);
    assert_eq!(plan.warnings.len(), 8, "each stands in the plan as data");
    insta::assert_snapshot!(plan.warning_summary.join("\n"), @"
    .platform/shared-pipelines.yaml:8: the shared pipeline `old` is disabled, so the version does not offer it
    5 references are expressions, so it is unknown whether their files are sent: load.orch.yaml:8, load.orch.yaml:13, load.orch.yaml:18 and 2 more (`publish --dry-run -o json` lists them)
    2 references refer to files that are not sent: .hidden/other.orch.yaml:8, .hidden/other.orch.yaml:14 (no shared pipeline needs these files; to publish without them and without this warning, set `publish.select: closure` (--select closure))
    ");
}

#[test]
fn closure_is_what_shared_pipelines_need() {
    let world = world_to_plan();
    let calls = [
        call_parameter("orchestrationJob", "deep/one"),
        call_parameter("transformationJob", "${which}"),
    ];
    world.write(
        "load.orch.yaml",
        pipeline_with_parameters("orchestration", &calls),
    );
    world.write(
        "deep/one.orch.yaml",
        pipeline_with_parameters(
            "orchestration",
            &[
                call_parameter("transformationJob", "clean"),
                script("sql/load.sql"),
            ],
        ),
    );
    world.write(
        ".hidden/other.orch.yaml",
        pipeline_with_parameters("orchestration", &[script("sql/unused.sql")]),
    );
    world.commit("all");
    let input = PlanInput {
        select: FileSelection::Closure,
        ..PlanInput::default()
    };
    let plan = input.plan(&world).unwrap();
    let expected = [
        CONFIG,
        "deep/one.orch.yaml",
        "jobs/clean.tran.yaml",
        "load.orch.yaml",
        "sql/load.sql",
    ];
    assert_eq!(planned_paths(&plan), expected);
    let expression = "load.orch.yaml:13: component `Step 1` names `${which}`, which is an expression, so it is unknown whether its file is sent";
    assert_eq!(plan.warnings, [DISABLED, expression]);
    let excluded = PlanInput {
        exclude: |path| path.starts_with("deep/"),
        ..input
    };
    insta::assert_snapshot!(excluded.plan(&world).unwrap_err().to_full_text(), @"
    the shared pipelines would be incomplete:
      load.orch.yaml:8: component `Step 0` calls `deep/one.orch.yaml`, which is not among the selected files
    ");
    let on_disk = PlanInput {
        select: FileSelection::Closure,
        source: FileSource::Worktree,
        ..PlanInput::default()
    };
    assert_eq!(on_disk.plan(&world).unwrap().warnings, plan.warnings);
}

#[test]
fn parameter_that_pipeline_does_not_declare_stops_publish() {
    let world = world_to_plan();
    world.write(
        "load.orch.yaml",
        "type: orchestration\npipeline:\n  components: {}\n  variables:\n    known: { metadata: { type: TEXT } }\n",
    );
    let entry = |id: &str, enabled: bool, parameter: &str| {
        format!(
            "  - pipeline: load.orch.yaml\n    id: {id}\n    enabled: {enabled}\n    parameters:\n      known: {{ type: TEXT }}\n      {parameter}: {{ type: TEXT }}\n"
        )
    };
    let list = entry("a", true, "other") + &entry("b", false, "third");
    world.write(CONFIG, format!("pipelines:\n{list}"));
    insta::assert_snapshot!(refused_plan_text(&world), @"
    the shared-pipelines file declares parameters that are not variables:
      .platform/shared-pipelines.yaml:7: the shared pipeline `a` has the parameter `other`, which is not a variable of `load.orch.yaml`
    ");
    world.write(
        CONFIG,
        format!(
            "pipelines:\n{}",
            entry("a", true, "\"known\"").replace("      known: { type: TEXT }\n", "")
        ),
    );
    assert_eq!(plan_world(&world).shared_pipelines.len(), 1);
}

#[test]
fn plan_comparison_lists_changes() {
    let world = world_to_plan();
    let before = plan_world(&world);
    world.write("sql/load.sql", "select 3;\n");
    world.write("new.orch.yaml", pipeline_with_parameters("orchestration", &[]));
    remove_file(&world, ".hidden/other.orch.yaml");
    let expected = PlanChanges {
        added: vec!["new.orch.yaml".to_owned()],
        modified: vec!["sql/load.sql".to_owned()],
        removed: vec![".hidden/other.orch.yaml".to_owned()],
    };
    let on_disk = PlanInput {
        source: FileSource::Worktree,
        ..PlanInput::default()
    };
    let on_disk = on_disk.plan(&world).unwrap();
    let hashes = on_disk.hash_all_files().unwrap();
    assert_eq!(compare_plans(&before, &on_disk, &hashes).unwrap(), expected);
    let after = plan_world(&world);
    let hashes = after.hash_all_files().unwrap();
    assert_eq!(compare_plans(&before, &after, &hashes).unwrap(), expected);
    assert_eq!(
        compare_plans(&after, &after, &hashes).unwrap(),
        PlanChanges::default()
    );
    assert_eq!(
        compare_plans(&after, &on_disk, &hashes).unwrap(),
        PlanChanges::default()
    );
}

#[test]
fn twin_that_is_not_sent_stops_publish() {
    let world = world_to_plan();
    world.write(
        "load.orch.yaml",
        pipeline_with_parameters("orchestration", &[call_parameter("transformationJob", "twin")]),
    );
    world.write(
        "a/twin.tran.yaml",
        pipeline_with_parameters("transformation", &[]),
    );
    world.write(
        "b/twin.tran.yaml",
        pipeline_with_parameters("transformation", &[]),
    );
    world.commit("all");
    let input = PlanInput {
        exclude: |path| path.starts_with("b/"),
        ..PlanInput::default()
    };
    insta::assert_snapshot!(input.plan(&world).unwrap_err().to_full_text(), @"
    the shared pipelines would be incomplete:
      load.orch.yaml:8: component `Step 0` calls the transformation `twin` without its folder, but `a/twin.tran.yaml` and `b/twin.tran.yaml` have that name: `b/twin.tran.yaml` is not among the selected files
    ");
}

#[test]
fn pipelines_that_call_each_other_end() {
    let world = world_to_plan();
    world.write(
        "load.orch.yaml",
        pipeline_with_parameters("orchestration", &[call_parameter("orchestrationJob", "old")]),
    );
    world.write(
        "old.orch.yaml",
        pipeline_with_parameters("orchestration", &[call_parameter("orchestrationJob", "load")]),
    );
    assert_eq!(plan_world(&world).warnings, [DISABLED]);
}

#[test]
fn large_shared_pipeline_is_read_to_its_end() {
    let world = world_to_plan();
    let padding = format!("# {}\n", "x".repeat(2 * 1024 * 1024));
    let hidden_key = call_parameter("\\x6frchestrationJob", "none")
        .replace("\\x6frchestrationJob", "\"\\x6frchestrationJob\"");
    world.write(
        "load.orch.yaml",
        format!(
            "{padding}{}",
            pipeline_with_parameters("orchestration", &[hidden_key])
        ),
    );
    assert!(refused_plan_text(&world).contains("calls the orchestration `none`"));
}

#[test]
fn configuration_must_be_there_and_right() {
    let errors = [
        ("none", ""),
        ("empty", "version: 1"),
        (
            "twins",
            "pipelines:\n- { pipeline: load.orch.yaml, id: a }\n- { pipeline: old.orch.yaml, id: a }\n",
        ),
    ];
    let mut text = String::new();
    for (name, content) in errors {
        let world = world_to_plan();
        world.write(CONFIG, content);
        if content.is_empty() {
            remove_file(&world, CONFIG);
        }
        let _ = writeln!(text, "{name}: {}", refused_plan_text(&world));
    }
    let world = world_to_plan();
    world.write(".second/shared-pipelines.yaml", "pipelines: []");
    let _ = writeln!(text, "two: {}", refused_plan_text(&world));
    let input = PlanInput {
        config_dir: Some(".third".to_owned()),
        ..PlanInput::default()
    };
    let head = world.git("rev-parse --short=7 HEAD");
    text.push_str(&format!("named: {}", input.plan(&world).unwrap_err()).replace(&head, "<commit>"));
    insta::assert_snapshot!(text, @"
    none: no hidden directory at the repository root contains `shared-pipelines.yaml` or `config/pipeline_quality_rules.yaml`
    empty: .platform/shared-pipelines.yaml:1:1: the list `pipelines` is missing
    twins: .platform/shared-pipelines.yaml:3:3: the id `a` is already used on line 2
    two: several hidden directories contain `shared-pipelines.yaml` or `config/pipeline_quality_rules.yaml`: .platform, .second
    named: the shared-pipelines file `.third/shared-pipelines.yaml` is not in commit <commit>, but `.platform/shared-pipelines.yaml` is
    ");
    let input = PlanInput {
        config_dir: Some(".platform".to_owned()),
        ..PlanInput::default()
    };
    assert!(input.plan(&world).is_ok());
}

#[test]
fn links_are_refused_and_submodules_are_skipped() {
    let world = world_to_plan();
    world.write(
        ".gitmodules",
        "[submodule \"lib\"]\n\tpath = lib\n\turl = ./lib\n",
    );
    let commit = world.commit("all");
    world.git(format!("update-index --add --cacheinfo 160000,{commit},lib"));
    world.git("commit -q -m submodule");
    let plan = PlanInput::default().plan(&world).unwrap();
    assert_eq!(
        plan.warnings,
        [
            DISABLED,
            "lib: a submodule, whose files are not part of this repository, is skipped"
        ]
    );
    assert!(!planned_paths(&plan).contains(&"lib"));

    symlink("/etc/passwd", world.work().join("secret.orch.yaml")).unwrap();
    world.git("add secret.orch.yaml");
    world.git("commit -q -m link");
    insta::assert_snapshot!(PlanInput::default().plan(&world).unwrap_err().to_full_text(), @"
    symbolic links are not published:
      secret.orch.yaml
    ");
}

#[test]
fn files_whose_parts_would_have_one_name_are_refused() {
    let world = world_to_plan();
    for name in [
        "a\"b.orch.yaml",
        "a%22b.orch.yaml",
        "c\"%22.orch.yaml",
        "c%22\".orch.yaml",
        "100%25.orch.yaml",
    ] {
        std::fs::copy(world.work().join("load.orch.yaml"), world.work().join(name)).unwrap();
    }
    world.git("add .");
    world.git("commit -q -m twins");
    let error = PlanInput::default().plan(&world).unwrap_err();
    insta::assert_snapshot!(error.to_full_text(), @r#"
    two files would have the same name in the upload:
      `a"b.orch.yaml` and `a%22b.orch.yaml`
      `c%22".orch.yaml` and `c"%22.orch.yaml`
    "#);
    insta::assert_snapshot!(error.hint().unwrap(), @r#"rename one of the files, or pass --exclude: in a part name, `"` becomes %22, CR %0D and LF %0A"#);
}

#[test]
fn bare_repository_is_published_from_its_commit() {
    let world = world_to_plan();
    let plan = plan_world(&world);
    world.push();
    let bare = sluicegate_git::Repository::open(&world.remote()).unwrap();
    let head = bare.head().unwrap().commit;
    let from_bare = PlanInput::default().plan_of(&bare, &head).unwrap();
    assert_eq!(from_bare.files, plan.files);
    assert_eq!(
        from_bare.hash_all_files().unwrap(),
        plan.hash_all_files().unwrap()
    );
}
