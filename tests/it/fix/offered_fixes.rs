//! The findings that `sluicegate fix` can fix name it, in every report.

use super::{EMPTY, HEADER, append, call, fix, project, script};
use crate::support::{Call, FORMATS, Job, PROJECT, ServerProcess, TOKEN, World, json_schema};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

fn world_with_bare_call() -> World {
    let main = format!("{HEADER}{}", call("Call", "'load' # é"));
    project(&[("sales/load.orch.yaml", EMPTY), ("main.orch.yaml", &main)])
}

/// Creates a project with these files, each a path and its text.
fn project_with_files(files: &[(String, String)]) -> World {
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    project(&files)
}

#[test]
fn finding_names_command_once_in_each_format() {
    let world = world_with_bare_call();
    for format in FORMATS.iter().filter(|format| **format != "github") {
        let args = format!("check --all --fail-on never --report {format}=-");
        let report = Call::new(&world.work()).run(args.as_str()).expect(0).out;
        let text = "without its folder: write the full path, ";
        let mention_count = report.matches("sluicegate fix").count();
        assert_eq!(mention_count, report.matches(text).count(), "{format}: {report}");
        assert!(mention_count > 0, "{format}: {report}");
        assert!(!report.contains("mv --repair` writes"), "{format}: {report}");
    }
    let output = Call::new(&world.work())
        .run("check --all --fail-on never")
        .expect(0);
    assert_eq!(
        output.all().matches("`sluicegate fix` corrects it").count(),
        1,
        "{}",
        output.all()
    );
}

#[test]
fn flag_for_the_agent_with_a_local_fix_exits_with_2() {
    let world = world_with_bare_call();
    for flag in [
        "--plan",
        "--from report.json",
        "--head HEAD",
        "--branch main",
        "--environment test",
        "--target-branch t",
        "--allow run_pipeline",
        "--timeout 5",
        "--poll-interval 1",
    ] {
        fix(&world, flag).expect(2).saying(&["required", "--agent"]);
        for local_flag in ["--dry-run", "--staged"] {
            let output = fix(&world, (local_flag, flag)).expect(2);
            output.saying(&["cannot be used with", local_flag]);
        }
    }
    fix(&world, "--dry-run --staged").expect(0);
}

#[test]
fn fix_of_all_pipelines_in_a_directory_reports_only_their_number() {
    let world = world_with_bare_call();
    fix(&world, "--all --dry-run sales")
        .expect(0)
        .saying(&["checking 1 pipeline of"]);
    fix(&world, "--all --dry-run")
        .expect(0)
        .saying(&["checking 2 pipelines of"]);
}

#[test]
fn annotations_of_run_with_short_log_name_command() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let mut files = vec![("sales/load.orch.yaml".to_owned(), EMPTY.to_owned())];
    for number in 0..9 {
        files.push((format!("main{number}.orch.yaml"), caller.clone()));
    }
    let world = project_with_files(&files);
    let local_call = Call::new(&world.work());
    let job = Job::github().pull_request().extend(&world, local_call.clone());
    let args = "check --all --fail-on never --show 1";
    for output in [job.run(args), local_call.run((args, "--annotations github"))] {
        let log = output.expect(0).all();
        let annotations: Vec<&str> = log.lines().filter(|line| line.starts_with("::warning")).collect();
        let fixed_count = annotations
            .iter()
            .filter(|line| line.contains("`sluicegate fix` corrects it"))
            .count();
        assert_eq!(fixed_count, 9, "{log}");
    }
}

#[test]
fn error_that_short_log_lists_first_names_command() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let last_pipeline = format!("{HEADER}{}", script("Script", "SQL/count.sql"));
    let settings = "project-checks: { script: error }\n";
    let mut files = vec![
        ("sluicegate.yaml".to_owned(), settings.to_owned()),
        ("sales/load.orch.yaml".to_owned(), EMPTY.to_owned()),
        ("sql/Count.sql".to_owned(), "select 1\n".to_owned()),
        ("z.orch.yaml".to_owned(), last_pipeline),
    ];
    for number in 0..9 {
        files.push((format!("main{number}.orch.yaml"), caller.clone()));
    }
    let log = Call::new(&project_with_files(&files).work())
        .run("check --all --fail-on never --show 1")
        .expect(0)
        .out;
    assert!(log.contains("error[project/script]"), "{log}");
    assert_eq!(log.matches("`sluicegate fix` corrects it").count(), 1, "{log}");
}

#[test]
fn each_finding_that_log_of_large_project_lists_names_command() {
    let mut files = vec![("sales/load.orch.yaml".to_owned(), EMPTY.to_owned())];
    for number in 0..230 {
        let caller = format!("{HEADER}{}", call(&format!("Call {number}"), "load"));
        files.push((format!("callers/main{number:03}.orch.yaml"), caller));
    }
    let world = project_with_files(&files);
    let count_hints = |args: &str| {
        let output = Call::new(&world.work()).run(args).expect(0);
        output.out.matches("`sluicegate fix` corrects it").count()
    };
    let log = Call::new(&world.work())
        .run("check --all --fail-on never")
        .expect(0)
        .out;
    assert!(log.contains("Not listed: 180 more findings"), "{log}");
    assert_eq!(log.matches("`sluicegate fix` corrects it").count(), 50, "{log}");
    assert_eq!(count_hints("check --all --fail-on never --show all"), 230);
    let report = Call::new(&world.work())
        .run("check --all --fail-on never --report json=-")
        .expect(0)
        .out;
    assert_eq!(report.matches("\"startColumn\"").count(), 230);
    // The log lists a changed file first, and proves its fix although others come before it in the alphabet.
    let last_caller = "callers/main229.orch.yaml";
    let changed_text = world.read_text(last_caller).replace("Call 229", "Call again");
    world.write(last_caller, changed_text);
    world.write(
        ".platform/config/pipeline_quality_rules.yaml",
        "rules: [] # selects all pipelines\n",
    );
    let log = Call::new(&world.work())
        .run("check --fail-on never")
        .expect(0)
        .out;
    let changed_finding = log.lines().find(|line| line.contains("`Call again`"));
    assert!(
        changed_finding.is_some_and(|line| line.contains("`sluicegate fix` corrects it")),
        "{log}"
    );
    fix(&world, "--all").expect(0);
    assert_eq!(count_hints("check --all"), 0);
}

#[test]
fn sarif_and_json_have_the_edit_that_fix_makes() {
    let world = world_with_bare_call();
    // A commit is checked here, and the files on disk are fixed below.
    let report = |format: &str| -> Value {
        let args = format!("check --all --head HEAD --fail-on never --report {format}=-");
        Call::new(&world.work()).run(args.as_str()).expect(0).json()
    };
    let json_report = report("json");
    let finding = &json_report["files"][0]["results"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()["findings"][0];
    assert_eq!(
        finding["fix"],
        json!({ "from": "load", "to": "sales/load", "startLine": 8, "startColumn": 27, "endLine": 8, "endColumn": 33, "text": "'sales/load'" })
    );
    let schema = Call::new(&world.work()).run("schema report").expect(0).json();
    assert_eq!(json_schema::validate(&schema, &json_report), Ok(()));
    let sarif = report("sarif");
    let fixes = &sarif["runs"][0]["results"][0]["fixes"];
    assert_eq!(
        fixes[0]["artifactChanges"],
        json!([{
            "artifactLocation": { "uri": "main.orch.yaml", "uriBaseId": "%SRCROOT%" },
            "replacements": [{
                "deletedRegion": { "startLine": 8, "startColumn": 27, "endLine": 8, "endColumn": 33 },
                "insertedContent": { "text": "'sales/load'" }
            }]
        }])
    );
    // A report that is rendered again still has the fix.
    let file = world.path().join("report.json");
    fs::write(&file, json_report.to_string()).unwrap();
    let args = ["report", file.to_str().unwrap(), "--report", "sarif=-"];
    let again = Call::new(&world.work()).run(&args).json();
    assert_eq!(&again["runs"][0]["results"][0]["fixes"], fixes);
    fix(&world, "--all").expect(0);
    let expected = format!("{HEADER}{}", call("Call", "'sales/load' # é"));
    assert_eq!(world.read_text("main.orch.yaml"), expected);
}

#[test]
fn finding_without_proven_fix_names_no_command() {
    let world = project(&[
        ("a/main.orch.yaml", &format!("{HEADER}{}", call("Call", "B/sub"))),
        ("b/sub.orch.yaml", &format!("{HEADER}{}", call("Back", "a/main"))),
    ]);
    let output = Call::new(&world.work())
        .run("check --all --fail-on never --report json=-")
        .expect(0);
    assert!(
        output.out.contains("differs only in letter case"),
        "{}",
        output.all()
    );
    assert!(!output.out.contains("sluicegate fix"), "{}", output.all());
    assert!(!output.out.contains("\"fix\""), "{}", output.all());
}

/// Returns whether a finding of the check names the command, and whether its JSON report has an edit.
fn find_offer(world: &World, args: &str) -> (bool, bool) {
    let command = format!("check {args} --fail-on never --report json=-");
    let output = Call::new(&world.work()).run(command.as_str());
    assert!(output.out.contains("without its folder"), "{}", output.all());
    (
        output.out.contains("` corrects it"),
        output.json().to_string().contains("\"fix\":"),
    )
}

/// A review proves the fixes while the platform responds, before the waivers mark any finding.
#[test]
fn review_offers_fixes_of_check_unless_finding_is_waived() {
    let main = format!("{HEADER}{}", call("Call", "load"));
    let pipelines = [("sales/load.orch.yaml", EMPTY), ("main.orch.yaml", &main)];
    let waivers = "- { rule: project/call, path: main.orch.yaml, reason: legacy }\n";
    for waiver_file in [None, Some(("sluicegate-waivers.yaml", waivers))] {
        let files: Vec<(&str, &str)> = pipelines.into_iter().chain(waiver_file).collect();
        let world = project(&files);
        let project = format!("{PROJECT}={}", world.remote().display());
        let token = format!("{TOKEN}=admin");
        let server = ServerProcess::start(world.path(), &["--project", &project, "--token", &token]);
        let program = Call::with_platform(&world.work(), &server.url).variable("SLUICEGATE_BRANCH", "main");
        let [reviewed_files, checked_files] = ["review", "check --head HEAD"].map(|command| {
            let args = format!("{command} --all --report json=-");
            program.run(args.as_str()).expect(0).json()["files"].clone()
        });
        let offers_fix = |files: &Value| files.to_string().contains("\"fix\":");
        assert_eq!(
            offers_fix(&reviewed_files),
            waiver_file.is_none(),
            "{reviewed_files}"
        );
        assert_eq!(
            offers_fix(&checked_files),
            waiver_file.is_none(),
            "{checked_files}"
        );
        let find_text = |files: &Value| files.to_string().contains("` corrects it");
        assert_eq!(find_text(&reviewed_files), find_text(&checked_files));
    }
}

#[test]
fn finding_in_file_outside_of_sparse_checkout_has_no_fix() {
    let world = world_with_bare_call();
    assert_eq!(find_offer(&world, "--all"), (true, true));
    world.git("sparse-checkout set --no-cone /sales/ /.platform/");
    assert_eq!(find_offer(&world, "--all"), (false, false));
    // The staged content is known.
    assert_eq!(find_offer(&world, "--all --staged"), (false, true));
    let output = fix(&world, "--all").expect(1);
    let left = "left: main.orch.yaml:8: load: the file is not checked out (sparse checkout): check out the file first\n";
    assert!(output.out.starts_with(left), "{}", output.all());
    let output = fix(&world, "--all --staged").expect(1);
    assert!(output.out.starts_with(left), "{}", output.all());
}

#[test]
fn finding_in_file_that_fix_cannot_change_names_no_command() {
    let world = world_with_bare_call();
    append(&world, "main.orch.yaml", "# staged\n");
    world.git("add main.orch.yaml");
    assert_eq!(find_offer(&world, "--all --staged"), (true, true));
    world.git("update-index --assume-unchanged main.orch.yaml");
    assert_eq!(find_offer(&world, "--all --staged"), (false, true));
    world.git("update-index --no-assume-unchanged main.orch.yaml");
    append(&world, "main.orch.yaml", "# not staged\n");
    assert_eq!(find_offer(&world, "--all --staged"), (false, true));
    assert_eq!(find_offer(&world, "--all"), (true, true));
    let main = world.work().join("main.orch.yaml");
    fs::set_permissions(&main, fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(find_offer(&world, "--all"), (false, true));
}

#[test]
fn finding_in_commit_names_command_only_if_file_on_disk_is_the_same() {
    let world = world_with_bare_call();
    world.write("sales/load.orch.yaml", format!("{EMPTY}# changed\n"));
    world.commit("called");
    for args in ["--all --head HEAD", "--all --head HEAD~1"] {
        assert_eq!(find_offer(&world, args), (true, true), "{args}");
    }
    // Git may convert line endings.
    let text = world.read_text("main.orch.yaml");
    world.write("main.orch.yaml", text.replace('\n', "\r\n"));
    assert_eq!(find_offer(&world, "--all --head HEAD"), (true, true));
    world.write("main.orch.yaml", format!("{text}# changed\n"));
    assert_eq!(find_offer(&world, "--all --head HEAD"), (false, true));
}
