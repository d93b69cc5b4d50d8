//! `sluicegate shared-pipelines add`, and disabled entries of the shared-pipelines file.

use crate::support::publishing;
use crate::support::{Arguments, Call, ProgramOutput, World, at_once, orchestration_text, project};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

const FILE: &str = ".platform/shared-pipelines.yaml";

const VARIABLES: &str = "  variables:\n    day: { metadata: { type: TEXT, visibility: PUBLIC }, defaultValue: today }\n    \
                         size: { metadata: { type: NUMBER } }\n    own: { metadata: { type: TEXT, visibility: PRIVATE } }\n";

fn add(world: &World, args: impl Arguments) -> ProgramOutput {
    Call::new(&world.work()).run(("shared-pipelines add", args))
}

#[test]
fn shared_pipeline_is_added_with_variables_as_parameters_and_passes_check() {
    let world = project();
    world.write(
        "sales/Load it.orch.yaml",
        orchestration_text(&["Start", "Done"]) + VARIABLES,
    );
    let output = add(&world, "'sales/Load it.orch.yaml'").expect(0);
    assert_eq!(
        output.out,
        "added sales/Load it.orch.yaml as `load-it` with 2 parameters to .platform/shared-pipelines.yaml\n"
    );
    output.saying(&["skipped 1 private variable", "own"]);
    let text = world.read_text(FILE);
    for line in [
        "version: \"1.0\"",
        "  - pipeline: sales/Load it.orch.yaml",
        "      day: { type: TEXT, exportAllowed: false, default: \"today\" }",
        "      size: { type: NUMERIC, exportAllowed: false }",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}: {text}");
    }
    // A second entry keeps the first, with its comments.
    let commented = text.replace("  - pipeline", "  # the daily load\n  - pipeline") + "# the end\n";
    world.write(FILE, &commented);
    let report = add(&world, "a.orch.yaml --id first -o json").expect(0).json();
    let expected = json!({ "file": FILE, "id": "first", "pipeline": "a.orch.yaml", "parameters": [] });
    assert_eq!(report, expected);
    let both = world.read_text(FILE);
    assert!(
        both.starts_with(commented.trim_end_matches("# the end\n")),
        "{both}"
    );
    assert!(both.ends_with("    parameters: {}\n# the end\n"), "{both}");
    world.write("sluicegate.yaml", "project-checks: { shared: error }\n");
    Call::new(&world.work()).run("check --all").expect(0);
}

#[test]
fn default_rows_of_grid_are_added_unless_they_contain_a_map() {
    let world = project();
    let rows = |value: &str| {
        format!(
            "    rows: {{ metadata: {{ type: GRID, columns: {{ c: {{ columnType: TEXT }} }} }}, defaultValue: {value} }}\n"
        )
    };
    world.write(
        "b.orch.yaml",
        orchestration_text(&["Start", "Done"]) + "  variables:\n" + &rows("[[berlin, 7], ['a: b', null]]"),
    );
    world.write(
        "c.orch.yaml",
        orchestration_text(&["Start", "Done"]) + "  variables:\n" + &rows("[{ c: berlin }]"),
    );
    add(&world, "b.orch.yaml").expect(0);
    add(&world, "c.orch.yaml").expect(0);
    let columns = "columns: { c: { columnType: TEXT } } }";
    let text = world.read_text(FILE);
    for line in [
        format!(
            "      rows: {{ type: GRID, exportAllowed: false, default: [[\"berlin\", 7], [\"a: b\", null]], {columns}"
        ),
        format!("      rows: {{ type: GRID, exportAllowed: false, {columns}"),
    ] {
        assert!(text.lines().any(|known| known == line), "{line}: {text}");
    }
    Call::new(&world.work()).run("check --all").expect(0);
}

#[test]
fn edited_files_keep_their_permissions() {
    let world = project();
    let team_rules = "sluicegate-rules.yaml";
    let waivers = "sluicegate-waivers.yaml";
    add(&world, "a.orch.yaml").expect(0);
    Call::new(&world.work()).run("rules new first").expect(0);
    world.write(waivers, "- { rule: r, path: a, reason: r }\n");
    let files = [FILE, team_rules, waivers].map(|file| world.work().join(file));
    for file in &files {
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    }
    world.write("b.orch.yaml", orchestration_text(&["Start", "bad name", "Done"]));
    add(&world, "b.orch.yaml").expect(0);
    let call = Call::new(&world.work());
    call.run("rules new own").expect(0);
    world.write(waivers, "");
    call.run("waivers add component-naming-convention b.orch.yaml --reason old")
        .expect(0);
    for file in files {
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    }
}

#[test]
fn edits_of_the_same_file_at_the_same_time_are_all_kept() {
    let world = project();
    let mut commands = Vec::new();
    for name in ["first", "second", "third"] {
        let path = format!("{name}.orch.yaml");
        world.write(&path, orchestration_text(&["Start", "bad name", "Done"]));
        commands.push(format!("rules new {name}"));
        commands.push(format!("shared-pipelines add {path}"));
        commands.push(format!(
            "waivers add component-naming-convention {path} --reason old"
        ));
    }
    at_once(&commands, |command| {
        Call::new(&world.work()).run(command).expect(0);
    });
    for (file, word) in [
        ("sluicegate-rules.yaml", "- id: "),
        ("sluicegate-waivers.yaml", "rule: "),
        (FILE, "- pipeline: "),
    ] {
        let text = world.read_text(file);
        assert_eq!(text.matches(word).count(), 3, "{text}");
    }
}

/// Locks the checkout, as a command does while it edits files.
fn lock_checkout(world: &World) -> fs::File {
    let lock = fs::File::create(world.work().join(".git/sluicegate-edits")).unwrap();
    lock.lock().unwrap();
    lock
}

#[test]
fn command_that_cannot_lock_the_checkout_warns_and_edits_it() {
    let world = project();
    let warning = "could not lock ";
    let lock = world.work().join(".git/sluicegate-edits");
    std::os::unix::fs::symlink("missing/lock", &lock).unwrap();
    let output = Call::new(&world.work()).run("rules new first").expect(0);
    output.saying(&[warning, "sluicegate-edits", "at the same time"]);
    fs::remove_file(&lock).unwrap();
    let output = Call::new(&world.work()).run("rules new second").expect(0);
    assert!(!output.err.contains(warning), "{}", output.err);
}

#[test]
fn command_that_waits_for_another_one_reports_it_once() {
    let notice = "waiting for another sluicegate command that edits this checkout";
    let commands = [
        "rules new first",
        "init --git-diff",
        "init --host none",
        "fix",
        "shared-pipelines add a.orch.yaml",
    ];
    let worlds = commands.map(|_| project());
    at_once(commands.iter().zip(&worlds), |(command, world)| {
        let lock = lock_checkout(world);
        let output = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| Call::new(&world.work()).run(command).expect(0));
            std::thread::sleep(Duration::from_secs(3));
            drop(lock);
            waiting.join().unwrap()
        });
        assert_eq!(output.err.matches(notice).count(), 1, "{command}: {}", output.err);
    });
    let output = Call::new(&worlds[0].work()).run("rules new second").expect(0);
    assert!(!output.err.contains(notice), "{}", output.err);
}

#[test]
fn directory_is_asked_for_before_the_command_waits_for_another_one() {
    let world = project();
    fs::remove_dir_all(world.work().join(".platform")).unwrap();
    for directory in [".first", ".second"] {
        world.write(&format!("{directory}/note.yaml"), "a: 1\n");
    }
    world.commit("directories");
    let lock = lock_checkout(&world);
    let output = add(&world, "a.orch.yaml").expect(2);
    assert!(
        !output.err.contains("another sluicegate command"),
        "{}",
        output.err
    );
    drop(lock);
    assert_eq!(add(&world, "a.orch.yaml").expect(2).err, output.err);
}

#[test]
fn shared_pipeline_that_cannot_be_added_leaves_file_unchanged() {
    let world = project();
    let text = "pipelines:\n  - { pipeline: a.orch.yaml, id: first }\n";
    world.write(FILE, text);
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write("broken.orch.yaml", "type: [\n");
    for (args, reason) in [
        (&["a.orch.yaml"][..], "is already shared as `first` on line 2"),
        (
            &["b.orch.yaml", "--id", "first"],
            "the id `first` is already used on line 2",
        ),
        (&["b.orch.yaml", "--id", ""], "the value is empty"),
        (&["gone.orch.yaml"], "the pipeline gone.orch.yaml does not exist"),
        (
            &["broken.orch.yaml"],
            "could not read the pipeline broken.orch.yaml",
        ),
        (&["README.md"], "README.md is not a pipeline"),
    ] {
        add(&world, args).expect(2).saying(&[reason]);
        assert_eq!(world.read_text(FILE), text, "{args:?}");
    }
    world.write(FILE, "pipelines: 7\n");
    add(&world, "b.orch.yaml")
        .expect(2)
        .saying(&["`pipelines` is not a list"]);
    // Paths are relative to the current directory.
    world.write(FILE, text);
    world.write("sales/c.tran.yaml", "type: transformation\npipeline: {}\n");
    Call::new(&world.work().join("sales"))
        .run("shared-pipelines add c.tran.yaml")
        .expect(0);
    assert!(
        world.read_text(FILE).contains("- pipeline: sales/c.tran.yaml\n"),
        "{}",
        world.read_text(FILE)
    );
}

#[test]
fn shared_pipeline_is_added_to_missing_list_and_to_list_in_brackets() {
    let world = project();
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]) + VARIABLES);
    world.write("sluicegate.yaml", "project-checks: { shared: error }\n");
    for (text, start, ids) in [
        (
            "version: \"1.0\"\npipelines:\n",
            "version: \"1.0\"\npipelines:\n  - pipeline: b",
            1,
        ),
        (
            "pipelines: null # none\n",
            "pipelines: # none\n  - pipeline: b",
            1,
        ),
        ("pipelines: []\n", "pipelines:\n  - pipeline: b", 1),
        (
            "pipelines: [ { pipeline: a.orch.yaml, id: first } ] # all\n",
            "pipelines: [ { pipeline: a.orch.yaml, id: first } , { pipeline: b.orch.yaml,",
            2,
        ),
        (
            "pipelines: [\n  { pipeline: a.orch.yaml, id: first },\n]\n",
            "pipelines: [\n  { pipeline: a.orch.yaml, id: first },\n { pipeline: b.orch.yaml,",
            2,
        ),
    ] {
        world.write(FILE, text);
        add(&world, "b.orch.yaml").expect(0);
        let edited = world.read_text(FILE);
        assert!(edited.starts_with(start), "{text}: {edited}");
        assert_eq!(edited.matches("id: ").count(), ids, "{edited}");
        assert!(
            edited.contains("size: { type: NUMERIC, exportAllowed: false }"),
            "{edited}"
        );
        Call::new(&world.work()).run("check --all").expect(0);
        add(&world, "b.orch.yaml")
            .expect(2)
            .saying(&["is already shared"]);
    }
}

#[test]
fn disabled_entry_without_file_is_warning_of_publish_and_of_check() {
    let world = publishing::project_to_publish();
    let entry = |enabled: bool| {
        format!(
            "pipelines:\n  - {{ pipeline: sales/load.orch.yaml, id: load }}\n  - {{ pipeline: gone.orch.yaml, id: gone, enabled: {enabled} }}\n"
        )
    };
    world.write(FILE, entry(false));
    world.write("sluicegate.yaml", "project-checks: { shared: error }\n");
    world.commit("gone");
    world.push();
    world.git("remote set-head origin main");
    let platform = publishing::publish_platform(&world, publishing::upload_response(&json!([])));
    let args = "publish --prefix p --version-name 1";
    platform
        .call(&world)
        .run(args)
        .expect(0)
        .saying(&["warning: ", "`gone` is `gone.orch.yaml`, which"]);
    let report = Call::new(&world.work()).run("check --all");
    let finding = report.out.lines().find(|line| line.contains("gone.orch.yaml"));
    assert!(
        finding.is_some_and(|line| line.contains("warn")),
        "{}",
        report.all()
    );
    // An enabled entry still stops the publish.
    world.write(FILE, entry(true));
    world.commit("enabled");
    world.push();
    platform
        .call(&world)
        .run("publish --prefix p --version-name 2")
        .expect(2)
        .saying(&["gone.orch.yaml"]);
}
