//! Conventions that users know from other programs.

use crate::support::{
    Call, Job, NAMING, Platform, Shop, bad_pipeline, change, passed_results, project, respond_for_each,
    scratch,
};
use serde_json::json;
use std::fs;

#[test]
fn json_output_has_one_spelling_in_every_command() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let call = Call::new(&world.work());
    let check = call.run("check --all -o json").expect(1);
    let report = check.json();
    assert_eq!(report["verdict"], "failed");
    assert!(check.err.contains(NAMING), "{}", check.all());
    call.run("check --all -o json --out check.json").expect(1);
    let file = fs::read_to_string(world.work().join("check.json")).unwrap();
    assert!(
        file.contains("\"verdict\": \"failed\"") || file.contains("\"verdict\":\"failed\""),
        "{file}"
    );
    // The report of a file stays beside the one on standard output.
    let both = call.run("check --all -o json --report junit=j.xml").expect(1);
    assert_eq!(both.json()["verdict"], "failed");
    assert!(
        fs::read_to_string(world.work().join("j.xml"))
            .unwrap()
            .contains("<testsuite")
    );
    let same = call.run("report check.json -o json").expect(1).json();
    assert_eq!(same["counts"], report["counts"]);
    assert_eq!(call.run("context -o json").expect(0).json()["ci"], "none");
    assert_eq!(call.run("doctor -o json").expect(0).json()["ok"], true);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let review = platform.call(&world);
    for command in [
        "review --all -o json",
        "ci --all -o json --prefix sales --version-name x",
    ] {
        assert_eq!(
            review.run(command).expect(0).json()["verdict"],
            "passed",
            "{command}"
        );
    }
    let plan = review.run("review --all --dry-run -o json").expect(0).json();
    assert_eq!(
        (&plan["schema"], &plan["requests"]),
        (&json!("sluicegate.review-plan/v1"), &json!(1))
    );
    // Text stays the default.
    let text = call.run("check --all").expect(1).out;
    assert!(text.ends_with("Check failed: 1 error\n"), "{text}");
    let init = call.run("rules init -o json --config-dir .other").expect(2);
    assert_eq!(init.out, "");
}

#[test]
fn json_output_of_publish_is_its_receipt() {
    let shop = Shop::new();
    let output = shop.call().run("publish --version-name 1.0.0 -o json").expect(0);
    let receipt = output.json();
    assert_eq!(receipt["schema"], "sluicegate.receipt/v1");
    assert_eq!(receipt["outcome"], "published");
    assert!(receipt["files"][0]["sha256"].is_string(), "{receipt}");
    let again = shop
        .call()
        .run("publish --version-name 1.0.0 -o json")
        .expect(5)
        .json();
    assert_eq!(again["outcome"], "conflict");
    let plan = shop
        .call()
        .run("publish --version-name 1.0.1 --dry-run -o json")
        .expect(0)
        .json();
    assert_eq!(plan["schema"], "sluicegate.plan/v1");
}

#[test]
fn quiet_run_shows_findings_and_verdict_only() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let call = Call::new(&world.work());
    let quiet = call.run("check --all -q").expect(1);
    let loud = call.run("check --all").expect(1);
    assert_eq!(quiet.err, "");
    assert!(
        quiet.out.contains(NAMING) && quiet.out.contains("--> b.orch.yaml"),
        "{}",
        quiet.out
    );
    assert!(loud.out.contains("\nExplain a rule: ") && !quiet.out.contains("Explain a rule"));
    let concise = call.run("check --all -q --show concise").expect(1).out;
    assert_eq!(concise.lines().count(), 2, "{concise}");
    let passed = Call::new(&project().work()).run("check --all -q").expect(0);
    assert_eq!(passed.out.lines().count(), 1, "{}", passed.out);
}

#[test]
fn check_is_called_check_and_states_verdict_once() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let call = Call::new(&world.work());
    for (arguments, code) in [
        ("check --all", 1),
        ("check a.orch.yaml", 0),
        ("check --all -q", 1),
    ] {
        let output = call.run(arguments).expect(code);
        assert_eq!(output.out.matches("Check ").count(), 1, "{}", output.all());
        assert!(!output.out.contains("Review "), "{}", output.all());
    }
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let review = platform.call(&world).run("review --all").expect(0);
    assert_eq!(review.out.matches("Review passed").count(), 1, "{}", review.all());
}

#[test]
fn finding_names_command_that_explains_its_rule_once() {
    let world = change(&[("b.orch.yaml", &bad_pipeline()), ("c.orch.yaml", &bad_pipeline())]);
    let call = Call::new(&world.work());
    let output = call.run("check --all").expect(1);
    let command = format!("rules explain {NAMING}");
    assert_eq!(output.out.matches(&command).count(), 1, "{}", output.all());
    call.run(command).expect(0);
    let passed = call.run("check a.orch.yaml").expect(0);
    assert!(!passed.out.contains("rules explain"), "{}", passed.all());
}

#[test]
fn list_of_rules_fits_80_columns() {
    let world = project();
    let text = Call::new(&world.work()).run("rules list").expect(0).out;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(
        text.contains("component-naming-convention (error)\n    "),
        "{text}"
    );
    assert!(
        text.contains("unused-components (not in the rules file)\n"),
        "{text}"
    );
    let nowhere = scratch::create_scratch_directory();
    let text = Call::new(nowhere.path()).run("rules list").expect(0).out;
    assert!(text.contains("\nmaximum-components\n    "), "{text}");
}

#[test]
fn doctor_without_platform_checks_what_check_needs() {
    let world = project();
    let call = Call::new(&world.work());
    let report = call.run("doctor -o json").expect(0).json();
    let states: Vec<_> = report["checks"].as_array().unwrap().iter().collect();
    let state = |name: &str| {
        states
            .iter()
            .find(|check| check["check"] == name)
            .map(|check| &check["status"])
    };
    assert_eq!(state("rules-file"), Some(&json!("ok")));
    assert_eq!(state("platform"), Some(&json!("not-applicable")));
    assert_eq!(state("token"), None);
    call.run("doctor")
        .expect(0)
        .logging(&["SLUICEGATE_BASE_URL", "all checks passed"]);
    // A part of the connection is a mistake, and a CI job needs the platform.
    let partial = call.clone().variable("SLUICEGATE_BASE_URL", "http://127.0.0.1:9");
    partial.run("doctor").expect(3).logging(&["there is no token"]);
    call.variable("CI", "true").run("doctor").expect(2);
    // Without a rules file, the default rules are evaluated.
    let bare = scratch::create_scratch_directory();
    crate::support::git(bare.path(), "init -q");
    let plain = Call::new(bare.path());
    plain
        .run("doctor")
        .expect(0)
        .logging(&["evaluates the default rules"]);
}

#[test]
fn program_runs_as_if_started_in_directory() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let outside = Call::new(world.path());
    let directory = world.work();
    let directory = directory.file_name().unwrap().to_str().unwrap();
    let output = outside.run(("-C", &[directory, "check", "--all", "--report", "json=r.json"]));
    assert!(output.expect(1).out.contains("--> b.orch.yaml"));
    assert!(world.work().join("r.json").is_file() && !world.path().join("r.json").exists());
    outside.run(("check --all -C", &[directory])).expect(1);
    outside.run("check --all").expect(7);
    outside
        .run("-C gone check")
        .expect(2)
        .saying(&["could not change to the directory", "gone"]);
    let job = Job::github().pull_request().extend(&world, outside);
    let log = job.run("-C gone check").expect(2).all();
    assert_eq!(
        log.matches("could not change to the directory").count(),
        1,
        "{log}"
    );
    assert!(log.contains("::error"), "{log}");
}

#[test]
fn named_file_that_is_not_checked_has_the_reason() {
    let world = change(&[("b.orch.yaml", &bad_pipeline()), ("README.md", "words\n")]);
    let log = Call::new(&world.work())
        .run("check README.md b.orch.yaml")
        .expect(1)
        .all();
    assert!(
        log.contains("README.md was named but is not checked: the file is not a pipeline"),
        "{log}"
    );
    // Waivers alone are part of the gate configuration.
    world.write("sluicegate-waivers.yaml", "[]\n");
    Call::new(&world.work())
        .run("check sluicegate-waivers.yaml")
        .expect(0);
}

#[test]
fn named_files_beyond_the_limit_are_counted() {
    let names: Vec<String> = (0..23).map(|number| format!("notes/{number:02}.md")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "words\n")).collect();
    let pipeline = bad_pipeline();
    files.push(("b.orch.yaml", &pipeline));
    let world = change(&files);
    let check_named = |count: usize| {
        Call::new(&world.work()).run(format!("check b.orch.yaml {}", names[..count].join(" ")))
    };
    let log = check_named(23).expect(1).all();
    assert!(
        log.contains("19.md was named") && !log.contains("20.md was named"),
        "{log}"
    );
    assert!(log.contains("3 more named files"), "{log}");
    assert!(!check_named(20).expect(1).all().contains("more named file"));
}

/// A file is part of the gate configuration by its name, not by the end of its name.
#[test]
fn file_whose_name_only_ends_like_a_gate_file_is_no_gate_file() {
    let world = change(&[
        ("my-sluicegate-waivers.yaml", "[]\n"),
        ("b.orch.yaml", &bad_pipeline()),
    ]);
    Call::new(&world.work())
        .run("check my-sluicegate-waivers.yaml")
        .expect(2)
        .saying(&["does not match any pipeline"]);
}

#[cfg(unix)]
#[test]
fn path_that_is_not_utf_8_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let directory = world.work().join(std::ffi::OsStr::from_bytes(b"a\xff"));
    fs::create_dir(&directory).unwrap();
    let call = Call::new(&directory);
    call.run("check .").expect(2).saying(&["is not UTF-8"]);
    call.run("check ../b.orch.yaml").expect(1);
}

/// At the root of the repository, `.` selects what a run without paths selects.
#[test]
fn path_of_the_root_restricts_nothing() {
    let world = change(&[("sales/b.orch.yaml", &bad_pipeline())]);
    let job = Job::github().pull_request().call(&world);
    let output = job.run("check . --report json=-").expect(1);
    assert_eq!(
        output.json()["paths"],
        job.run("check --report json=-").expect(1).json()["paths"]
    );
    let output = job.run("check .").expect(1);
    let command = output
        .out
        .lines()
        .find(|line| line.starts_with("Reproduce locally: "));
    assert!(!command.unwrap().contains(" -- "), "{command:?}");
    let call = Call::new(&world.work());
    call.run("inspect .")
        .expect(2)
        .saying(&["the pipeline . does not exist"]);
    // Beside the root, another path must exist as without it.
    for args in ["check . missing.orch.yaml", "fix . missing.orch.yaml"] {
        call.run(args).expect(2).saying(&["missing.orch.yaml"]);
    }
    // A directory restricts the run, also if it is the current one.
    let job = Job::github()
        .pull_request()
        .extend(&world, Call::new(&world.work().join("sales")));
    let output = job.run("check .").expect(1);
    let command = output
        .out
        .lines()
        .find(|line| line.starts_with("Reproduce locally: "));
    assert!(command.unwrap().ends_with(" -- sales"), "{command:?}");
}

#[test]
fn hidden_configuration_file_causes_warning() {
    let world = project();
    let call = Call::new(&world.work());
    let clean = call.run("check --all").expect(0);
    assert!(!clean.err.contains("is ignored"), "{}", clean.all());
    world.write(".sluicegate.yaml", "review: { fail-on: never }\n");
    world.write(".sluicegate-waivers.yml", "waivers: []\n");
    call.run("check --all").expect(0).saying(&[
        ".sluicegate.yaml is ignored: rename it to sluicegate.yaml",
        ".sluicegate-waivers.yml is ignored: rename it to sluicegate-waivers.yaml",
    ]);
}

#[test]
fn bare_repository_is_called_so() {
    let world = project();
    let bare = Call::new(&world.remote());
    for command in ["check", "review", "context", "check ."] {
        bare.run(command)
            .expect(7)
            .saying(&["is a bare repository", "--repo"]);
    }
    let remote = world.remote().to_str().unwrap().to_owned();
    Call::new(world.path())
        .run(("context --head main --repo", &[&*remote]))
        .expect(0);
    let nowhere = scratch::create_scratch_directory();
    Call::new(nowhere.path())
        .run("context")
        .expect(7)
        .saying(&["no git repository at"]);
}

#[test]
fn manual_page_is_printed() {
    let folder = scratch::create_scratch_directory();
    let call = Call::new(folder.path());
    let page = call.run("man review").expect(0).out;
    assert!(page.contains(".TH sluicegate-review 1"), "{page}");
    assert!(call.run("man").expect(0).out.contains(".TH sluicegate 1"));
    assert!(
        call.run("man artifacts list")
            .expect(0)
            .out
            .contains(".TH sluicegate-artifacts-list 1")
    );
    call.run("man chek").expect(2).saying(&["did you mean `check`?"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn json_output_of_dry_run_of_ci_is_one_document() {
    let shop = Shop::new();
    let call = shop.call().variable("SLUICEGATE_PUBLISH_ON_BRANCHES", "main");
    let args = "ci --dry-run --version-name 1.0.0";
    let output = call.run((args, "-o json")).expect(0);
    assert_eq!(output.json()["schema"], "sluicegate.review-plan/v1");
    assert!(output.err.contains("1.0.0"), "{}", output.err);
    // The text has both plans.
    let text = call.run(args).expect(0).out;
    assert!(text.contains("would review") && text.contains("1.0.0"), "{text}");
}

/// A later step reads the verdict even if it is not the one of a review.
#[test]
fn invalid_arguments_leave_verdict_undecided() {
    let world = project();
    let outputs = world.path().join("outputs");
    let github = Call::new(&world.work())
        .variable("GITHUB_ACTIONS", "true")
        .variable("GITHUB_OUTPUT", outputs.display().to_string());
    for (args, is_set) in [
        ("review --fail-on nope", true),
        ("ci --fail-on nope", true),
        ("check -C missing-directory", true),
        ("--color diff review --fail-on nope", true),
        ("--color report diff --format nope", false),
        ("diff --format nope", false),
        ("nope", false),
    ] {
        fs::write(&outputs, "").unwrap();
        github.run(args).expect(2);
        let text = fs::read_to_string(&outputs).unwrap();
        assert_eq!(text.contains("\nundecided\n"), is_set, "{args}: {text}");
    }
    let azure = Call::new(&world.work()).variable("TF_BUILD", "True");
    azure
        .run("review --fail-on nope")
        .expect(2)
        .saying(&["##vso[task.setvariable variable=verdict;isOutput=true]undecided"]);
}

/// GitHub drops the complete summary of a step if it is too long.
#[test]
fn step_summary_of_several_runs_stays_within_limit() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let summary = world.path().join("summary.md");
    let call = Call::new(&world.work()).variable("GITHUB_STEP_SUMMARY", summary.display().to_string());
    for (length, expected, is_complete) in [
        (0, "## ❌ Check failed: 1 error", true),
        (
            1_023_900,
            "## ❌ Check failed: 1 error\n\n> The rest of this summary was omitted",
            false,
        ),
        (1_045_000, "x", false),
    ] {
        fs::write(&summary, "x".repeat(length)).unwrap();
        call.run("check --all").expect(1);
        let text = fs::read_to_string(&summary).unwrap();
        assert!(text.len() < 1024 * 1024, "{}", text.len());
        assert!(text.contains(expected), "{length}");
        assert_eq!(text.contains(NAMING), is_complete, "{length}");
    }
}
