//! The statement about a review: its content, and the runs that leave none.

use super::{OLD, hash_file, predicate_type, read_outputs, read_statement};
use crate::support::{
    Call, Job, Platform, RULES_FILE, World, bad_pipeline, change, failing_platform, good_pipeline, head,
    one_change, passed_results, read_json, repository, respond_for_each,
};
use serde_json::{Value, json};
use std::fs;

fn passing_platform() -> Platform {
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    platform
}

/// Returns a pull request that edits the configuration file of `main`, and adds a pipeline.
fn change_of_policy() -> World {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    world.git("checkout -q main");
    world.write("sluicegate.yaml", "review: { fail-on: warn }\n");
    world.write("sluicegate-waivers.yaml", "[]\n");
    world.commit("policy");
    world.push();
    world.git("checkout -q change");
    world.git("merge -q --no-edit main");
    world.write("sluicegate.yaml", "review: { fail-on: error }\n");
    world.commit("relax");
    world.push();
    world
}

#[test]
fn review_that_passed_writes_statement_about_commit_and_pipelines() {
    let (world, platform) = (one_change(), passing_platform());
    let job = || Job::github().pull_request().extend(&world, platform.call(&world));
    let args = "review --attestation s.json --attestation-predicate p.json";
    job().run(args).expect(0);
    let statement = read_statement(&world.work().join("s.json"));
    assert_eq!(statement["predicateType"], predicate_type("review"));
    let commit = head(&world);
    assert_eq!(
        statement["subject"],
        json!([
            { "name": "github.com/o/p", "digest": { "gitCommit": commit } },
            { "name": "b.orch.yaml", "digest": { "sha256": hash_file(&world.work().join("b.orch.yaml")) } },
        ])
    );
    let predicate = &statement["predicate"];
    assert_eq!(*predicate, read_json(&world.work().join("p.json")));
    let main = world.git("rev-parse origin/main");
    for (key, value) in [
        ("commit", json!(commit)),
        ("branch", json!("change")),
        ("repository", json!("github.com/o/p")),
        ("bases", json!([main])),
        ("verdict", json!("passed")),
        ("engine", json!("remote")),
        ("failOn", json!("error")),
        ("policy", json!({ "commit": main, "files": [] })),
        (
            "rules",
            json!({ "path": RULES_FILE, "sha256": hash_file(&world.work().join(RULES_FILE)) }),
        ),
    ] {
        assert_eq!(predicate[key], value, "{key}");
    }
    assert_eq!(predicate["counts"]["files"], 1);
    assert_eq!(predicate["platform"]["project"], crate::support::PROJECT);
    assert_eq!(predicate["tool"]["version"], env!("CARGO_PKG_VERSION"));
    // The same facts give the same bytes.
    let bytes = fs::read(world.work().join("s.json")).unwrap();
    job().run(args).expect(0);
    assert_eq!(fs::read(world.work().join("s.json")).unwrap(), bytes);
}

#[test]
fn policy_of_statement_is_that_of_target_branch() {
    let (world, platform) = (change_of_policy(), passing_platform());
    let job = Job::github().pull_request().extend(&world, platform.call(&world));
    job.run("review --attestation s.json").expect(0);
    let predicate = &read_statement(&world.work().join("s.json"))["predicate"];
    let of_main = "review: { fail-on: warn }\n";
    assert_eq!(
        predicate["policy"],
        json!({
            "commit": world.git("rev-parse origin/main"),
            "files": [
                { "path": "sluicegate.yaml", "sha256": sluicegate::publish::hash_bytes(of_main.as_bytes()) },
                { "path": "sluicegate-waivers.yaml", "sha256": sluicegate::publish::hash_bytes(b"[]\n") },
            ],
        })
    );
    assert_eq!(predicate["failOn"], "warn");
    assert_eq!(predicate["gateChanges"], json!(["sluicegate.yaml"]));
    // A file that the job brings is recorded by its name only.
    fs::write(world.path().join("job.yaml"), of_main).unwrap();
    job.run("review --config ../job.yaml --attestation s.json")
        .expect(0);
    let predicate = &read_statement(&world.work().join("s.json"))["predicate"];
    assert_eq!(predicate["policy"]["files"][0]["path"], "job.yaml");
    assert_eq!(predicate["policy"]["files"][0]["ofJob"], true);
}

#[test]
fn review_that_did_not_pass_leaves_no_statement() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let statement = world.work().join("s.json");
    let failing = failing_platform("bad name");
    for (platform, args, code, reason) in [
        (&failing, "", 1, "the verdict is failed"),
        (&failing, "--fail-on never", 0, "--fail-on never"),
    ] {
        fs::write(&statement, OLD).unwrap();
        platform
            .call(&world)
            .run(("review --attestation s.json --attestation-predicate p.json", args))
            .expect(code)
            .saying(&["no statement about the review is written", reason]);
        assert!(
            !statement.exists() && !world.work().join("p.json").exists(),
            "{args}"
        );
    }
    // A platform without a usable response leaves the verdict open.
    let unreachable = one_change();
    for (args, code) in [("", 3), ("--on-unavailable pass", 0)] {
        fs::write(unreachable.work().join("s.json"), OLD).unwrap();
        failing
            .call(&unreachable)
            .variable("SLUICEGATE_BASE_URL", "http://127.0.0.1:9")
            .run(("review --attestation s.json", args))
            .expect(code)
            .saying(&["the verdict is undecided"]);
        assert!(!unreachable.work().join("s.json").exists());
    }
}

#[test]
fn review_of_part_has_no_statement() {
    let (world, platform) = (one_change(), passing_platform());
    for (args, reason) in [
        ("b.orch.yaml", "the review is restricted to b.orch.yaml"),
        ("--shard 1/2", "the review covers only shard 1/2"),
    ] {
        platform
            .call(&world)
            .run(("review --attestation s.json", args))
            .expect(0)
            .saying(&[reason]);
        assert!(!world.work().join("s.json").exists(), "{args}");
    }
}

#[test]
fn check_with_other_rules_has_no_statement() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    world.write("../lenient.yaml", "rules: []\n");
    let call = Call::new(&world.work());
    call.run("check --all --head HEAD --rules ../lenient.yaml --report json=../r.json")
        .expect(0);
    call.run("report ../r.json --attestation s.json")
        .expect(0)
        .saying(&["no statement about the review is written", "../lenient.yaml"]);
    assert!(!world.work().join("s.json").exists());
}

#[test]
fn statement_names_checks_that_job_turned_off() {
    let (world, platform) = (one_change(), passing_platform());
    let read_settings = |args: &str| {
        platform
            .call(&world)
            .run(("review --attestation s.json", args))
            .expect(0);
        let statement = read_statement(&world.work().join("s.json"));
        let predicate = &statement["predicate"];
        (
            predicate["projectChecksOff"].clone(),
            predicate["teamRulesOff"].clone(),
        )
    };
    assert_eq!(read_settings(""), (Value::Null, Value::Null));
    assert_eq!(
        read_settings("--project-checks off --team-rules off"),
        (json!(true), json!(true))
    );
}

#[test]
fn statement_names_team_rules_file_of_job() {
    let (world, platform) = (one_change(), passing_platform());
    world.write("gate/rules.yaml", "rules: []\n");
    platform
        .call(&world)
        .run("review --attestation s.json --team-rules gate/rules.yaml")
        .expect(0);
    let statement = read_statement(&world.work().join("s.json"));
    assert_eq!(statement["predicate"]["teamRules"], "gate/rules.yaml");
}

#[test]
fn event_without_review_has_no_statement() {
    let (world, platform) = (one_change(), passing_platform());
    let payload = json!({ "repository": repository(), "ref": "refs/heads/old", "before": head(&world),
        "after": "0".repeat(40), "deleted": true });
    let pull_request = Job::github().pull_request().extend(&world, platform.call(&world));
    pull_request.run("review --report json=../1.json").expect(0);
    let job = Job::github().event("push", "refs/heads/old", &payload);
    let call = job.extend(&world, platform.call(&world));
    for args in [
        "review --attestation s.json",
        "report ../1.json --attestation s.json",
    ] {
        call.run(args)
            .expect(0)
            .saying(&["no statement about the review is written", "was deleted"]);
        assert!(!world.work().join("s.json").exists(), "{args}");
    }
}

#[test]
fn run_that_ends_early_leaves_no_statement_of_earlier_run() {
    let (world, platform) = (one_change(), passing_platform());
    let statement = world.work().join("s.json");
    let run = |args: &str, code: i32| {
        fs::write(&statement, OLD).unwrap();
        platform.call(&world).run(args).expect(code);
        statement.exists()
    };
    for args in [
        "review --head nothing --attestation s.json",
        "review --head nothing --attestation-predicate s.json",
        "ci --head nothing --attestation s.json",
        "ci --head nothing --publish-attestation s.json",
        "publish --prefix p --version-name 1 --head nothing --attestation s.json",
    ] {
        assert!(!run(args, 7), "{args}");
    }
    assert!(!run("report missing.json --attestation s.json", 2));
    // Nothing is reviewed in a dry run, but a later step would sign a file of the change.
    assert!(!run("review --dry-run --attestation s.json", 0));
    platform
        .call(&world)
        .run("review --dry-run --attestation s.json")
        .expect(0)
        .saying(&["no statement about the review is written: a dry run reviews nothing"]);
    // The files that the policy names.
    let policy = "review: { attestation: s.json }\npublish: { attestation: t.json }\n";
    world.write("sluicegate.yaml", policy);
    assert!(!run("review --head nothing", 7));
    assert!(!run("review --dry-run", 0));
    world.write("t.json", OLD);
    platform
        .call(&world)
        .run("ci --dry-run --prefix p --version-name 1")
        .expect(0);
    assert!(!world.work().join("t.json").exists());
    // A check writes no statement, so it keeps the file.
    assert!(run("check", 0));
}

#[test]
fn merged_shards_have_statement_of_complete_review() {
    let files: Vec<(String, String)> = (0..6)
        .map(|number| (format!("sales/p{number}.orch.yaml"), good_pipeline()))
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let (world, platform) = (change(&files), passing_platform());
    let job = || Job::github().pull_request().extend(&world, platform.call(&world));
    job().run("review --attestation s.json").expect(0);
    for shard in 1..=2 {
        let args = format!("review --shard {shard}/2 --report json=../{shard}.json");
        job().run(args).expect(0);
    }
    job()
        .run("report ../1.json ../2.json --attestation m.json")
        .expect(0);
    let merged = read_statement(&world.work().join("m.json"));
    assert_eq!(merged, read_statement(&world.work().join("s.json")));
    let missing_shard = job().run("report ../1.json --attestation m.json");
    missing_shard.expect(3).saying(&["the verdict is undecided"]);
    assert!(!world.work().join("m.json").exists());
    // A statement needs the commit.
    Call::with_platform(world.path(), &platform.server.uri())
        .run("report 1.json 2.json --attestation m.json")
        .expect(0)
        .saying(&["there is no clone with the reviewed commit"]);
}

#[test]
fn report_of_comparison_has_no_statement() {
    let (world, platform) = (one_change(), passing_platform());
    for name in ["old", "new"] {
        let args = format!("review --all --report json=../{name}.json");
        platform.call(&world).run(args).expect(0);
    }
    let report = |more: &str| {
        platform
            .call(&world)
            .run(("report ../new.json --attestation s.json", more))
            .expect(0)
    };
    report("--compare ../old.json").saying(&["comparison with an older report"]);
    assert!(!world.work().join("s.json").exists());
    report("");
    read_statement(&world.work().join("s.json"));
}

#[test]
fn report_with_other_gate_files_than_its_review_has_no_statement() {
    let (world, platform) = (one_change(), passing_platform());
    world.write("ci/sluicegate.yaml", "review: { fail-on: error }\n");
    let statement_path = world.work().join("s.json");
    let run = |command: &str, args: &str| platform.call(&world).run((command, args)).expect(0);
    let other_files = [
        ("--team-rules off", "--team-rules"),
        ("--team-rules ci/rules.yaml", "--team-rules"),
        ("--config ci/sluicegate.yaml", "--config"),
        ("--config-dir .other", "--config-dir"),
    ];
    world.write("ci/rules.yaml", "rules: []\n");
    world.commit("files of the job");
    world.push();
    // The name of the directory that the run finds is no other setting.
    run("review --report json=../r.json", "--config-dir .platform");
    run("report ../r.json --attestation s.json", "");
    read_statement(&statement_path);
    fs::remove_file(&statement_path).unwrap();
    for (args, setting) in other_files {
        run("review --report json=../r.json", args);
        let reason = format!("the review and this run have different values of {setting}");
        run("report ../r.json --attestation s.json", "").saying(&[&reason]);
        assert!(!statement_path.exists(), "{args}");
        run("report ../r.json --attestation s.json", args);
        read_statement(&statement_path);
        fs::remove_file(&statement_path).unwrap();
        run("review --report json=../r.json", "");
        run("report ../r.json --attestation s.json", args).saying(&[&reason]);
        assert!(!statement_path.exists(), "{args}");
    }
}

#[test]
fn report_with_other_content_of_job_file_than_its_review_has_no_statement() {
    let (world, platform) = (one_change(), passing_platform());
    let statement_path = world.work().join("s.json");
    let run = |command: &str, args: &str| platform.call(&world).run((command, args));
    for (directory, comment) in [("first", ""), ("second", "# another file\n"), ("copy", "")] {
        let path = world.path().join(directory);
        fs::create_dir(&path).unwrap();
        let text = format!("{comment}review: {{ fail-on: warn }}\n");
        fs::write(path.join("job.yaml"), text).unwrap();
    }
    run("review --report json=../r.json", "--config ../first/job.yaml").expect(0);
    let reason = "the file of --config has other content than in the review";
    let other_args = "--config ../second/job.yaml";
    run("report ../r.json --attestation s.json", other_args)
        .expect(0)
        .saying(&[reason]);
    assert!(!statement_path.exists());
    // The same content in another directory is the same file.
    run(
        "report ../r.json --attestation s.json",
        "--config ../copy/job.yaml",
    )
    .expect(0);
    let predicate = &read_statement(&statement_path)["predicate"];
    assert_eq!(predicate["policy"]["files"][0]["path"], "job.yaml");
    // Shards that used different files are not of the same review.
    run(
        "review --shard 1/2 --report json=../1.json",
        "--config ../first/job.yaml",
    )
    .expect(0);
    run(
        "review --shard 2/2 --report json=../2.json",
        "--config ../second/job.yaml",
    )
    .expect(0);
    run("report ../1.json ../2.json", "")
        .expect(2)
        .saying(&["cannot merge these reports: the configuration file is \"job.yaml\" with the SHA-256"]);
}

#[test]
fn outputs_of_review_have_subjects_for_action() {
    let (world, platform) = (one_change(), passing_platform());
    let outputs = world.path().join("outputs");
    let job = || {
        let call = platform
            .call(&world)
            .variable("GITHUB_OUTPUT", outputs.display().to_string());
        Job::github().pull_request().extend(&world, call)
    };
    job().run("review").expect(0);
    assert!(!read_outputs(&outputs).contains_key("review-subjects"));
    job().run("review --attestation-predicate p.json").expect(0);
    let lines = read_outputs(&outputs);
    let hash = hash_file(&world.work().join("b.orch.yaml"));
    assert_eq!(lines["review-subjects"], format!("{hash}  b.orch.yaml"));
    assert_eq!(lines["review-predicate-type"], predicate_type("review"));
    assert!(!world.work().join("s.json").exists());
    // The variables of Azure Pipelines have one line, and there is no such action.
    let azure = Job::azure().pull_request().extend(&world, platform.call(&world));
    let output = azure.run("review --attestation s.json").expect(0);
    assert!(!output.all().contains("review-subjects"), "{}", output.all());
    read_statement(&world.work().join("s.json"));
}

#[test]
fn statement_omits_gate_file_that_is_treated_as_missing() {
    let (world, platform) = (change_of_policy(), passing_platform());
    world.git("checkout -q main");
    world.write("sluicegate-waivers.yaml", "- { rule: unused-components }\n");
    world.commit("break the waivers");
    world.push();
    world.git("checkout -q change");
    world.git("merge -q --no-edit main");
    world.push();
    let job = Job::github().pull_request().extend(&world, platform.call(&world));
    job.run("review --attestation s.json").expect(0);
    let statement = read_statement(&world.work().join("s.json"));
    let files = &statement["predicate"]["policy"]["files"];
    assert_eq!(files.as_array().unwrap().len(), 1, "{files}");
    assert_eq!(files[0]["path"], "sluicegate.yaml");
    let verify = "verify --attestation s.json";
    platform.call(&world).run(verify).expect(0);
    // The settings are not used either if their globs match no file.
    world.git("checkout -q main");
    world.write("sluicegate.yaml", "review: { include: [absent/**] }\n");
    world.commit("break the settings");
    world.push();
    world.git("checkout -q change");
    world.git("merge -q --no-edit -X theirs main");
    world.push();
    let job = Job::github().pull_request().extend(&world, platform.call(&world));
    job.run("review --attestation s.json").expect(0);
    let statement = read_statement(&world.work().join("s.json"));
    assert_eq!(statement["predicate"]["policy"]["files"], json!([]));
    platform.call(&world).run(verify).expect(0);
}

#[test]
fn review_without_pipelines_has_statement_about_commit() {
    let (world, platform) = (change(&[("notes.md", "text")]), passing_platform());
    platform.call(&world).run("review --attestation s.json").expect(0);
    let statement = read_statement(&world.work().join("s.json"));
    // The remote is a directory of this machine, which names no repository.
    assert_eq!(
        statement["subject"],
        json!([{ "digest": { "gitCommit": head(&world) } }])
    );
    assert_eq!(statement["predicate"]["repository"], Value::Null);
    assert_eq!(statement["predicate"]["counts"]["files"], 0);
}

#[test]
fn statement_of_repository_with_password_in_url_does_not_contain_it() {
    let (world, platform) = (one_change(), passing_platform());
    let address = json!("git.example:8443/o/p");
    for (url, repository) in [
        ("https://user:hidden-word@git.example:8443/o/p.git", &address),
        (
            "https://git.example:8443/o/p.git?private_token=hidden-word",
            &address,
        ),
        (
            "https://user:hidden-word/x@git.example:8443/o/p.git",
            &Value::Null,
        ),
        ("https:/user:hidden-word@git.example:8443/o/p.git", &Value::Null),
    ] {
        world.git(["remote", "set-url", "origin", url]);
        let args = "review --attestation s.json --report html=r.html";
        platform.call(&world).run(args).expect(0);
        let statement = read_statement(&world.work().join("s.json"));
        assert_eq!(statement["predicate"]["repository"], *repository, "{url}");
        let page = fs::read_to_string(world.work().join("r.html")).unwrap();
        assert!(!statement.to_string().contains("hidden-word"), "{url}");
        assert!(!page.contains("hidden-word"), "{url}");
    }
}

#[test]
fn outputs_with_same_path_exit_with_2() {
    let (world, platform) = (one_change(), passing_platform());
    for args in [
        "review --attestation s.json --attestation-predicate s.json",
        "review --attestation s.json --report json=s.json",
        "publish --prefix p --version-name 1 --receipt s.json --attestation s.json",
        "ci --attestation s.json --publish-attestation s.json",
        "ci --report json=s.json --receipt s.json",
        "ci --attestation s.json --receipt a/../s.json",
    ] {
        platform
            .call(&world)
            .run(args)
            .expect(2)
            .saying(&["two outputs cannot both be written to"]);
    }
}

#[test]
fn statement_behind_link_of_change_is_refused() {
    let (world, platform) = (one_change(), passing_platform());
    fs::write(world.path().join("target"), OLD).unwrap();
    std::os::unix::fs::symlink("../target", world.work().join("s.json")).unwrap();
    world.commit("link");
    world.push();
    platform
        .call(&world)
        .run("review --attestation s.json")
        .expect(2)
        .saying(&["is a symbolic link in the repository"]);
    assert_eq!(fs::read_to_string(world.path().join("target")).unwrap(), OLD);
}
