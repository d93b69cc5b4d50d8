//! `-o` sets the format of every command with output, `--out` the file for it.

use crate::support::{Call, Platform, World, answer, orchestration_text, project, read_json, release};
use serde_json::{Value, json};
use std::fs;

/// Creates a change on disk.
fn project_with_longer_pipeline() -> World {
    let world = project();
    world.write("a.orch.yaml", orchestration_text(&["Start", "More", "Done"]));
    world
}

#[test]
fn value_that_is_no_format_names_flag_for_file() {
    let world = project_with_longer_pipeline();
    let call = Call::new(&world.work());
    for args in [
        "diff -o page.html",
        "rules list -o rules.json",
        "variables list --output x.json",
        "artifacts diff -o note.md",
        "events export -o week.csv",
    ] {
        let output = call.run(args).expect(2);
        assert!(
            output
                .err
                .contains("use --out PATH to write the result to a file"),
            "{}",
            output.all()
        );
    }
    assert_eq!(world.git(&["status", "--porcelain"]), " M a.orch.yaml");
}

#[test]
fn result_goes_to_file_whole_or_not_at_all() {
    let world = project_with_longer_pipeline();
    let call = Call::new(&world.work());
    let diff = call.run("diff -o json").expect(0);
    let to_file = call.run("diff -o json --out out/diff.json").expect(0);
    assert_eq!(to_file.out, "");
    let path = world.work().join("out/diff.json");
    assert_eq!(fs::read_to_string(&path).unwrap(), diff.out);
    // The old name of the option still works.
    assert_eq!(call.run(&["diff", "--format", "json"]).expect(0).out, diff.out);
    // A command that fails before it prints leaves no file, because the old file would be taken for its result.
    call.run("diff no-such-thing --out out/diff.json").expect(2);
    assert_eq!(fs::read_dir(world.work().join("out")).unwrap().count(), 0);
    call.run("rules list -o json --out a.orch.yaml/x")
        .expect(2)
        .saying(&["could not write"]);

    let platform = Platform::new();
    platform.respond_to(
        "GET",
        "/variables$",
        answer(&json!({ "results": [], "total": 0 })),
    );
    platform
        .call(&world)
        .run("variables list -o json --out v.json")
        .expect(0);
    let document: Value = serde_json::from_slice(&fs::read(world.work().join("v.json")).unwrap()).unwrap();
    assert_eq!(document["results"], json!([]));
}

#[cfg(unix)]
#[test]
fn result_goes_through_no_link_of_repository() {
    let world = project_with_longer_pipeline();
    let outside = world.path().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, world.work().join("link")).unwrap();
    world.git("add link");
    Call::new(&world.work())
        .run("diff --out link/x")
        .expect(2)
        .saying(&["is a symbolic link in the repository"]);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn local_commands_write_json_too() {
    let world = project_with_longer_pipeline();
    let call = Call::new(&world.work());
    let read = |args: &str, code: i32| call.run((args, "-o json")).expect(code).json();
    let rule = read("rules explain maximum-components", 0);
    assert_eq!(rule["schema"], "sluicegate.rule/v1");
    assert_eq!(rule["config"][0]["name"], "maxComponents");
    assert_eq!(rule["kinds"], json!(["orchestration", "transformation"]));

    let lint = read("rules lint", 0);
    assert_eq!(
        (&lint["schema"], &lint["problems"]),
        (&json!("sluicegate.lint/v1"), &json!([]))
    );
    world.write(
        "rules.yaml",
        "rules:\n  - { id: no-such-rule, enabled: true, enforcementLevel: warn }\n",
    );
    let lint = read("rules lint rules.yaml", 1);
    let problem = &lint["problems"][0];
    assert_eq!(
        (&problem["line"], &problem["level"], &problem["errorType"]),
        (&json!(2), &json!("error"), &json!("designer/validator-not-found"))
    );

    let init = read("init --dry-run", 0);
    assert_eq!(
        (&init["schema"], &init["dryRun"]),
        (&json!("sluicegate.init/v1"), &json!(true))
    );
    assert_eq!(init["files"][0]["path"], "sluicegate.yaml");
    assert_eq!(
        init["missing"][0]["hint"],
        "set the CI host with --host; use --host none to write only sluicegate.yaml"
    );
    assert!(!world.work().join("sluicegate.yaml").exists());

    // The document fits its schema with a file of each kind: one to write, and one that exists.
    world.write("sluicegate.yaml", "retries: 1\n");
    let schema = call.run("schema init").expect(0).json();
    let existing = read("init --dry-run --host github", 0);
    assert_eq!(existing["files"][0]["action"], "leave", "{existing}");
    for document in [&init, &existing] {
        crate::support::json_schema::validate(&schema, document).unwrap();
    }
    fs::remove_file(world.work().join("sluicegate.yaml")).unwrap();

    let context = read("context", 0);
    assert_eq!(context, call.run(&["context", "--json"]).expect(0).json());
    let doctor = read("doctor", 0);
    assert_eq!(doctor["schema"], "sluicegate.doctor/v1");
    call.run("context --json -o text").expect(2);
}

#[cfg(target_os = "linux")]
#[test]
fn publish_that_cannot_print_its_result_names_the_version() {
    let (world, server) = release::stage();
    let call = release::publish_call(&world, &server);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = call
        .command("publish --version-name 1.0.0")
        .stdout(full)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(
        text.contains("version 1.0.0 of sales is published, but"),
        "{text}"
    );
    assert_eq!(release::versions(&world, &server), [("1.0.0".to_owned(), true)]);
}

#[cfg(target_os = "linux")]
#[test]
fn publish_that_cannot_print_its_result_writes_receipt_and_junit_report() {
    let (world, server) = release::stage();
    let call = release::publish_call(&world, &server);
    let args = "publish --version-name 1 --if-exists same-content --receipt ../r.json --junit ../j.xml";
    // The second run finds the version of the first one.
    for problem in [
        "version 1 of sales is published, but",
        "could not write the output",
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = call.command(args).stdout(full).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(problem), "{text}");
        let receipt = read_json(&world.path().join("r.json"));
        assert_eq!(receipt["versionName"], "1", "{receipt}");
        let junit = fs::read_to_string(world.path().join("j.xml")).unwrap();
        assert!(junit.contains("<failure") && junit.contains(problem), "{junit}");
        assert!(!junit.contains("did not finish"), "{junit}");
    }
    // Counterpart: a run that can print the result.
    call.run(args).expect(0);
    let junit = fs::read_to_string(world.path().join("j.xml")).unwrap();
    assert!(!junit.contains("<failure"), "{junit}");
}

#[cfg(target_os = "linux")]
#[test]
fn text_that_cannot_be_printed_is_an_error() {
    let world = project();
    for args in ["--version", "--help", "help exit-codes", "check --help"] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = Call::new(&world.work())
            .command(args)
            .stdout(full)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args}: {text}");
        assert!(text.contains("could not write the output"), "{args}: {text}");
        Call::new(&world.work()).run(args).expect(0);
    }
}

/// In other programs, `-` means standard output.
#[test]
fn output_file_called_dash_is_refused() {
    let world = project();
    for args in [
        "rules list --out -",
        "publish --receipt -",
        "publish --junit=-",
        "ci --publish-attestation -",
        "ci --publish-attestation-predicate -",
        "review --attestation -",
        "report r.json --attestation-predicate -",
        "pipelines run x --environment y --wait --junit -",
        "events export --cursor -",
        "provision apply -f p.yaml --state -",
    ] {
        Call::with_platform(&world.work(), "http://127.0.0.1:9")
            .run(args)
            .expect(2)
            .saying(&["pass the path of a file: `-` does not mean standard output here"]);
    }
    for (variable, args) in [
        ("SLUICEGATE_RECEIPT", "publish --prefix p --version-name 1"),
        ("SLUICEGATE_PUBLISH_JUNIT", "publish --prefix p --version-name 1"),
        ("SLUICEGATE_ATTESTATION", "review --all"),
    ] {
        Call::with_platform(&world.work(), "http://127.0.0.1:9")
            .variable(variable, "-")
            .run(args)
            .expect(2)
            .saying(&[&format!("`{variable}`: pass the path of a file")]);
    }
    assert_eq!(world.git("status --porcelain"), "");
    Call::new(&world.work()).run("rules list --out ./-").expect(0);
    Call::new(&world.work())
        .run("check --all --report json=-")
        .expect(0)
        .json();
}
