//! Every report format, the default paths of each host, shards of a review, and rendering from saved reports.

use crate::support::{
    Call, FORMATS, Job, PROJECT, Platform, World, bad_pipeline, change, encode_utf_16, orchestration_text,
    requested_pipelines, respond_for_each,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Creates a branch with one new pipeline that violates a rule on its line 11.
fn change_with_bad_sales_pipeline() -> World {
    change(&[(
        "sales/b.orch.yaml",
        &orchestration_text(&["Start", "load it", "Done"]),
    )])
}

fn naming_results() -> Value {
    json!([
        { "ruleName": "component-naming-convention", "status": "FAILED", "violations": ["`load it` is not in the pattern"] },
        { "ruleName": "maximum-components", "status": "PASSED", "violations": [] },
    ])
}

fn platform_with_failed_naming() -> Platform {
    let platform = Platform::new();
    platform.reviews(respond_for_each("FAILED", naming_results()));
    platform
}

fn read_file(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json_of(path: &Path) -> Value {
    serde_json::from_str(&read_file(path)).unwrap()
}

/// Returns `--report FORMAT=FOLDER/FORMAT` for each format.
fn all_report_args(folder: &str) -> Vec<String> {
    let flag = |format: &&str| ["--report".to_owned(), format!("{format}={folder}/{format}")];
    FORMATS.iter().flat_map(flag).collect()
}

fn run_command(call: &Call, command: &[&str], extra_args: &[String]) -> crate::support::ProgramOutput {
    let args: Vec<&str> = command
        .iter()
        .copied()
        .chain(extra_args.iter().map(String::as_str))
        .collect();
    call.run(&args)
}

#[test]
fn annotations_beyond_limit_of_host_are_cut_by_rank_and_counted() {
    let (world, platform) = (change_with_bad_sales_pipeline(), Platform::new());
    let many = |rule: &str, count: usize| {
        let violations: Vec<String> = (0..count).map(|number| format!("number {number}")).collect();
        json!({ "ruleName": rule, "status": "FAILED", "violations": violations })
    };
    let results = json!([
        many("maximum-components", 5_100),
        many("component-naming-convention", 50),
    ]);
    platform.reviews(respond_for_each("FAILED", results));
    let levels = |name: &str| {
        let log = json_of(&world.work().join(name));
        let results = log["runs"][0]["results"].as_array().unwrap().clone();
        let errors = results.iter().filter(|result| result["level"] == "error");
        (results.len(), errors.count())
    };
    let expected_text = "the SARIF report omits the 150 least severe findings";
    let review = |call: Call, name: &str| {
        let report = format!("sarif={name}");
        call.run(&["review", "--base", "origin/main", "--report", &report])
            .expect(1)
    };
    let output = review(platform.call(&world), "whole.sarif");
    assert!(!output.err.contains("omits"), "{}", output.all());
    assert_eq!(levels("whole.sarif"), (5_150, 50));
    let head = world.git("rev-parse HEAD");
    let on_github = platform
        .call(&world)
        .variable("GITHUB_ACTIONS", "true")
        .variable("GITHUB_EVENT_NAME", "workflow_dispatch")
        .variable("GITHUB_REF", "refs/heads/change")
        .variable("GITHUB_SHA", head);
    review(on_github, "cut.sarif").saying(&[expected_text]);
    assert_eq!(levels("cut.sarif"), (5_000, 50));
}

#[test]
fn failure_to_write_a_report_counts_towards_the_errors_that_github_shows() {
    let names: Vec<String> = (0..14).map(|number| format!("bad name {number}")).collect();
    let components: Vec<&str> = ["Start"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    let world = change(&[("b.orch.yaml", &orchestration_text(&components))]);
    for args in ["check", "check --report json=/proc/none/report.json"] {
        let output = Job::github().pull_request().call(&world).run(args);
        let lines = output.out.lines().chain(output.err.lines());
        let error_count = lines.filter(|line| line.starts_with("::error")).count();
        assert_eq!(error_count, 10, "{args}: {}", output.all());
    }
}

#[test]
fn reports_for_machines_have_the_faulty_gate_next_to_a_finding() {
    let formats = ["junit", "sarif", "gitlab", "rdjson", "checkstyle"];
    let reports = formats
        .map(|format| format!("--report {format}=../{format}"))
        .join(" ");
    for (level, is_faulty) in [("nope", true), ("warn", false)] {
        let settings = format!("review: {{ fail-on: {level} }}\n");
        let bad = orchestration_text(&["Start", "bad name", "Done"]);
        let world = change(&[("b.orch.yaml", &bad), ("sluicegate.yaml", &settings)]);
        Job::github()
            .pull_request()
            .call(&world)
            .run(format!("check {reports}"))
            .expect(1);
        for format in formats {
            let report = read_file(&world.path().join(format));
            let has_fault = report.contains("makes a gate configuration file unusable");
            assert_eq!(has_fault, is_faulty, "{format}: {report}");
        }
        let junit = read_file(&world.path().join("junit"));
        assert_eq!(
            (junit.contains("<failure "), junit.contains("<error ")),
            (true, is_faulty),
            "{junit}"
        );
    }
}

#[test]
fn page_links_to_lines_where_host_shows_them() {
    let (world, platform) = (change_with_bad_sales_pipeline(), platform_with_failed_naming());
    run_command(&platform.call(&world), &["review"], &all_report_args("out")).expect(1);
    let head = json_of(&world.work().join("out/json"))["context"]["head"].clone();
    let head = head.as_str().unwrap();
    let bitbucket = [
        ("BITBUCKET_BUILD_NUMBER", "4"),
        ("BITBUCKET_COMMIT", head),
        ("BITBUCKET_BRANCH", "feature"),
        ("BITBUCKET_REPO_FULL_NAME", "o/r"),
    ];
    let azure = [
        ("TF_BUILD", "True"),
        ("BUILD_REASON", "IndividualCI"),
        ("BUILD_SOURCEBRANCH", "refs/heads/feature"),
        ("BUILD_SOURCEVERSION", head),
        ("BUILD_BUILDNUMBER", "20261120.3"),
        ("BUILD_REPOSITORY_NAME", "r"),
        ("BUILD_REPOSITORY_PROVIDER", "TfsGit"),
        (
            "BUILD_REPOSITORY_URI",
            "https://somebody@dev.azure.com/o/p/_git/r",
        ),
    ];
    let version = format!("path=/sales/b.orch.yaml&#38;version=GC{head}&#38;line=11&#38;");
    for (variables, name, address) in [
        (
            bitbucket.as_slice(),
            "o/r",
            format!("https://bitbucket.org/o/r/src/{head}/sales/b.orch.yaml#lines-11"),
        ),
        (&azure, "r", format!("https://dev.azure.com/o/p/_git/r?{version}")),
    ] {
        let mut call = Call::new(&world.work());
        for (variable, value) in variables {
            call = call.variable(variable, value);
        }
        let flags = "report out/json --annotations none --report html=page";
        call.run(&flags).expect(1);
        let page = read_file(&world.work().join("page"));
        assert!(page.contains(&address), "{address}: {page}");
        assert!(page.contains(&format!("<strong>{name}</strong>")), "{page}");
    }
}

#[test]
fn report_from_json_equals_all_formats_of_run() {
    let (world, platform) = (change_with_bad_sales_pipeline(), platform_with_failed_naming());
    run_command(&platform.call(&world), &["review"], &all_report_args("out")).expect(1);
    let out = world.work().join("out");
    let call = Call::new(&world.work()).variable("SLUICEGATE_PROJECT_ID", PROJECT);
    run_command(&call, &["report", "out/json"], &all_report_args("again")).expect(1);
    let page = read_file(&out.join("html"));
    assert!(
        page.contains(&format!("<dt>Project</dt><dd>{PROJECT}</dd>")),
        "{page}"
    );
    let explained = "<h3>Why</h3>\n<p>Names that follow a convention show what a component does";
    assert!(page.contains(explained), "{page}");
    for format in FORMATS {
        let (first, second_args) = (
            read_file(&out.join(format)),
            read_file(&world.work().join("again").join(format)),
        );
        assert!(first.contains("load it"), "{format}: {first}");
        assert_eq!(first, second_args, "{format}");
    }
    let sarif = json_of(&out.join("sarif"));
    let result = &sarif["runs"][0]["results"][0];
    let region = &result["locations"][0]["physicalLocation"]["region"];
    assert_eq!(
        (&region["startLine"], &region["snippet"]["text"]),
        (&json!(11), &json!("    \"load it\":"))
    );
    let rule = &sarif["runs"][0]["tool"]["driver"]["rules"][0];
    assert!(rule["help"]["text"].as_str().unwrap().len() > 60, "{rule}");
    assert_eq!(json_of(&out.join("gitlab"))[0]["location"]["lines"]["begin"], 11);
}

#[test]
fn file_holds_what_standard_output_would() {
    let (world, platform) = (change_with_bad_sales_pipeline(), platform_with_failed_naming());
    let call = platform.call(&world);
    let json = "review --base origin/main --report json=first.json";
    call.run(&json).expect(1);
    run_command(&call, &["report", "first.json"], &all_report_args("files")).expect(1);
    for format in FORMATS {
        let flag = format!("{format}=-");
        let output = call
            .run(&["report", "first.json", "--report", &flag])
            .expect(1)
            .out;
        assert_eq!(
            output,
            read_file(&world.work().join("files").join(format)),
            "{format}"
        );
    }
}

#[test]
fn findings_are_shown_with_their_lines() {
    let (world, platform) = (change_with_bad_sales_pipeline(), platform_with_failed_naming());
    let output = platform.call(&world).run(&["review"]).expect(1);
    insta::assert_snapshot!(output.out, @r#"
    error[component-naming-convention]: `load it` is not in the pattern
      --> sales/b.orch.yaml:11

    Explain a rule: sluicegate rules explain component-naming-convention
    1 check passed in 1 pipeline
    Review failed: 1 error
    "#);
    let run_output = platform
        .call(&world)
        .run(&["review", "--color", "always"])
        .expect(1);
    assert!(run_output.out.contains("\u{1b}["));
    let plain = platform
        .call(&world)
        .variable("NO_COLOR", "1")
        .run(&["review"])
        .expect(1);
    assert!(!plain.out.contains('\u{1b}'));
}

#[test]
fn folders_that_are_not_named_are_counted() {
    let content = orchestration_text(&["Start", "load it", "Done"]);
    let names: Vec<String> = (1..=7).map(|index| format!("f{index}/b.orch.yaml")).collect();
    let files: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), content.as_str()))
        .collect();
    for (folders, terminal, page) in [
        (5, None, None),
        (
            6,
            Some("\nand 1 more folder\n"),
            Some("\n| and 1 more folder | | |\n"),
        ),
        (
            7,
            Some("\nand 2 more folders\n"),
            Some("\n| and 2 more folders | | |\n"),
        ),
    ] {
        let world = change(&files[..folders]);
        let output = Call::new(&world.work())
            .run(&["check", "--report", "markdown=r.md"])
            .expect(1);
        let markdown = read_file(&world.work().join("r.md"));
        assert!(output.out.contains("\nf5 "), "{}", output.all());
        for (shown, expected) in [(&output.out, terminal), (&markdown, page)] {
            match expected {
                Some(more) => assert_eq!(shown.matches(more).count(), 1, "{shown}"),
                None => assert!(!shown.contains("more folder"), "{shown}"),
            }
        }
    }
}

#[test]
fn errors_on_changed_lines_are_annotated_first() {
    let world = crate::support::project();
    world.write(
        "a.orch.yaml",
        orchestration_text(&["Start", "load it", "Then", "Done"]),
    );
    world.commit("old");
    world.push();
    world.git("checkout -q -b change");
    world.write(
        "a.orch.yaml",
        orchestration_text(&["Start", "load it", "Then", "sum up", "Done"]),
    );
    world.commit("new");
    world.push();
    let platform = Platform::new();
    platform.reviews(respond_for_each(
        "FAILED",
        json!([{ "ruleName": "component-naming-convention", "status": "FAILED",
            "violations": ["`load it` is not in the pattern", "`sum up` is not in the pattern"] }]),
    ));
    let output = platform
        .call(&world)
        .run(&["review", "--annotations", "github"])
        .expect(1);
    let first = output
        .out
        .lines()
        .find(|line| line.starts_with("::error"))
        .unwrap();
    assert!(first.contains("sum up"), "{}", output.out);
}

#[test]
fn default_report_that_is_not_written_is_not_named() {
    let world = change_with_bad_sales_pipeline();
    std::os::unix::fs::symlink("/nowhere/r.xml", world.work().join("TEST-sluicegate.xml")).unwrap();
    std::os::unix::fs::symlink("/nowhere/r.xml", world.work().join("junit.xml")).unwrap();
    world.commit("links");
    world.push();
    let azure = Job::azure()
        .pull_request()
        .call(&world)
        .run("check")
        .expect(1)
        .saying(&["could not write the report junit=TEST-sluicegate.xml"]);
    assert!(
        azure.all().contains("variable=junit;isOutput=true]\n"),
        "{}",
        azure.all()
    );
    let gitlab = Job::gitlab().pull_request().call(&world).run("check").expect(1);
    assert!(
        gitlab.out.contains("Reports: gl-code-quality-report.json\n"),
        "{}",
        gitlab.all()
    );
}

#[test]
fn default_report_whose_write_fails_is_not_named() {
    let world = change_with_bad_sales_pipeline();
    world.write("junit.xml/file", "a directory where the report would be");
    let output = Job::gitlab().pull_request().call(&world).run("check").expect(1);
    assert!(
        output.out.contains("Reports: gl-code-quality-report.json\n"),
        "{}",
        output.all()
    );
    fs::remove_dir_all(world.work().join("junit.xml")).unwrap();
    let output = Job::gitlab().pull_request().call(&world).run("check").expect(1);
    assert!(
        output
            .out
            .contains("Reports: gl-code-quality-report.json, junit.xml\n"),
        "{}",
        output.all()
    );
}

#[test]
fn step_summary_is_named_only_if_job_has_one() {
    let world = change_with_bad_sales_pipeline();
    let call = Job::github().pull_request().call(&world);
    let summary = world.path().join("step-summary.md").display().to_string();
    for (call, is_named) in [
        (call.clone().without("GITHUB_STEP_SUMMARY"), false),
        (call.variable("GITHUB_STEP_SUMMARY", summary), true),
    ] {
        let output = call.run("check").expect(1);
        assert_eq!(
            output.out.contains("Reports: the step summary\n"),
            is_named,
            "{}",
            output.all()
        );
    }
}

#[test]
fn default_reports_of_job_in_subfolder_are_below_root_of_checkout() {
    let world = change_with_bad_sales_pipeline();
    let subfolder = world.work().join("sales");
    let job = Job::gitlab().pull_request();
    for (folder, is_subfolder) in [(world.work(), false), (subfolder.clone(), true)] {
        // A report of an earlier run is replaced at the same path.
        world.write("junit.xml", "old");
        let call = job.extend(&world, Call::new(&folder));
        let output = call.run("check").expect(1);
        assert!(read_file(&world.work().join("junit.xml")).contains("load it"));
        assert!(!subfolder.join("junit.xml").exists());
        let complete_path = world.work().join("junit.xml").display().to_string();
        let path = if is_subfolder { &complete_path } else { "junit.xml" };
        output.saying(&[&format!("wrote {path} for gitlab")]);
    }
    // The step `junit` of Jenkins looks below its current folder.
    let call = Job::jenkins().extend(&world, Call::new(&subfolder));
    call.run("check").expect(1);
    assert!(subfolder.join("build/reports/sluicegate.xml").exists());
    // A requested path is relative to the current folder.
    let call = job.extend(&world, Call::new(&subfolder));
    call.run("check --report junit=own.xml").expect(1);
    assert!(subfolder.join("own.xml").exists());
}

#[test]
fn each_host_finds_its_reports_where_it_looks() {
    let hosts = [
        ("gitlab", vec!["gl-code-quality-report.json", "junit.xml"]),
        ("azure", vec!["TEST-sluicegate.xml"]),
        ("bitbucket", vec!["test-results/sluicegate.xml"]),
        ("jenkins", vec!["build/reports/sluicegate.xml"]),
        ("circleci", vec!["test-results/sluicegate/results.xml"]),
        ("buildkite", vec!["tmp/junit-sluicegate.xml"]),
    ];
    for (host, places) in hosts {
        let (world, platform) = (change_with_bad_sales_pipeline(), platform_with_failed_naming());
        let head = world.git("rev-parse HEAD");
        let mut call = platform.call(&world).variable("SLUICEGATE_CI", host);
        for name in [
            "CI_COMMIT_SHA",
            "BUILD_SOURCEVERSION",
            "BITBUCKET_COMMIT",
            "GIT_COMMIT",
            "CIRCLE_SHA1",
            "BUILDKITE_COMMIT",
        ] {
            call = call.variable(name, &head);
        }
        for name in [
            "CI_COMMIT_BRANCH",
            "BITBUCKET_BRANCH",
            "BRANCH_NAME",
            "CIRCLE_BRANCH",
            "BUILDKITE_BRANCH",
        ] {
            call = call.variable(name, "change");
        }
        call = call
            .variable("BUILD_SOURCEBRANCH", "refs/heads/change")
            .variable("BUILD_REASON", "IndividualCI")
            .variable("SLUICEGATE_BITBUCKET_PROXY", "http://127.0.0.1:9");
        let output = call.run(&["review", "--base", "origin/main"]).expect(1);
        for place in places {
            assert!(
                read_file(&world.work().join(place)).contains("load it"),
                "{host}: {}",
                output.all()
            );
        }
        if host == "azure" {
            assert!(
                output
                    .out
                    .contains("##vso[task.setvariable variable=verdict;isOutput=true]failed\n"),
                "{}",
                output.out
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn usual_report_is_not_written_through_link_out_of_checkout() {
    let hosts = [
        ("bitbucket", "test-results", "sluicegate.xml"),
        ("jenkins", "build", "reports/sluicegate.xml"),
        ("circleci", "test-results", "sluicegate/results.xml"),
        ("buildkite", "tmp", "junit-sluicegate.xml"),
    ];
    let world = change_with_bad_sales_pipeline();
    let elsewhere = world.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    for link in ["test-results", "build", "tmp"] {
        std::os::unix::fs::symlink(&elsewhere, world.work().join(link)).unwrap();
    }
    let head = world.commit("links");
    for (host, folder, name) in hosts {
        let in_folder = |folder: &Path| {
            let call = Call::new(folder).variable("SLUICEGATE_CI", host);
            let names = ["BITBUCKET", "CIRCLE", "BUILDKITE"].map(|name| format!("{name}_BRANCH"));
            let names = names.iter().map(String::as_str).chain(["BRANCH_NAME"]);
            let call = names.fold(call, |call, name| call.variable(name, "change"));
            [
                "BITBUCKET_COMMIT",
                "GIT_COMMIT",
                "CIRCLE_SHA1",
                "BUILDKITE_COMMIT",
            ]
            .into_iter()
            .fold(call, |call, name| call.variable(name, &head))
        };
        let call = in_folder(&world.work());
        let check = "check --base origin/main --head HEAD";
        call.run((check, "--report json=one.json"));
        let text = format!("{folder}/{name} for ");
        let expected_text = "a symbolic link in the path leads out of the checkout";
        for args in [&["check", "--base", "origin/main"][..], &["report", "one.json"]] {
            call.run(args).saying(&[&text, expected_text]);
            assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "{host} {args:?}");
        }
        fs::copy(world.work().join("one.json"), world.path().join("one.json")).unwrap();
        in_folder(world.path())
            .run(&["report", "one.json"])
            .saying(&["wrote "]);
        assert!(world.path().join(folder).join(name).is_file(), "{host}");
    }
}

/// A change can contain a link to a device; a pipe in the checkout may belong to another step and have no reader.
#[cfg(unix)]
#[test]
fn usual_report_is_not_written_into_pipe_or_device() {
    let world = change_with_bad_sales_pipeline();
    let place = world.work().join("junit.xml");
    let call = Call::new(&world.work())
        .variable("SLUICEGATE_CI", "gitlab")
        .variable("CI_COMMIT_BRANCH", "change")
        .variable("CI_COMMIT_SHA", world.git("rev-parse HEAD"));
    let refused = |error: &str| {
        call.run(&["check", "--base", "origin/main"])
            .expect(1)
            .saying(&["could not write the report junit=junit.xml for ", error]);
    };
    let pipe = |path: &Path| {
        let status = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(status.success());
    };
    for outside in ["/dev/full", "/dev/null"] {
        std::os::unix::fs::symlink(outside, &place).unwrap();
        refused("a symbolic link in the path leads out of the checkout");
        fs::remove_file(&place).unwrap();
    }
    pipe(&place);
    refused("the path exists and is not a file");
    fs::rename(&place, world.work().join("pipe")).unwrap();
    std::os::unix::fs::symlink("pipe", &place).unwrap();
    refused("the path exists and is not a file");
    fs::remove_file(&place).unwrap();
    fs::create_dir(&place).unwrap();
    refused("the path exists and is not a file");
}

#[test]
fn merged_shards_equal_whole_review() {
    let names: Vec<String> = (0..9).map(|n| format!("p{n}.orch.yaml")).collect();
    let content = orchestration_text(&["Start", "Done"]);
    let files: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), content.as_str()))
        .collect();
    let world = change(&files);
    let platform = Platform::new();
    platform.reviews(respond_for_each(
        "PASSED",
        json!([{ "ruleName": "r", "status": "PASSED" }]),
    ));
    let call = platform.call(&world);
    call.run(&["review", "--report", "json=whole.json"]).expect(0);
    call.run(&["review", "--shard", "1/3", "--report", "json=part-1.json"])
        .expect(0);
    for index in ["2", "3"] {
        let report = format!("json=part-{index}.json");
        let output = platform
            .call(&world)
            .variable("CI_NODE_TOTAL", "3")
            .variable("CI_NODE_INDEX", index)
            .variable("CI_JOB_NAME", format!("review {index}/3"))
            .run(&["review", "--report", &report])
            .expect(0);
        assert!(output.err.contains(&format!("shard {index}/3")), "{}", output.err);
    }
    let paths: Vec<Vec<String>> = platform.requests().iter().map(requested_pipelines).collect();
    let mut parts: Vec<String> = paths[1..].concat();
    parts.sort();
    assert_eq!(parts, names, "each once");

    let report = Call::new(&world.work());
    let parts = ["part-1.json", "part-2.json", "part-3.json"];
    let merged = report
        .run(&["report", parts[0], parts[1], parts[2], "--report", "json=-"])
        .expect(0)
        .json();
    let whole = json_of(&world.work().join("whole.json"));
    assert_eq!(
        (&merged["files"], &merged["counts"]),
        (&whole["files"], &whole["counts"])
    );
    let output = report.run(&["report", parts[0], parts[2]]).expect(3);
    for text in [
        "The report of a shard is missing: 2/3.",
        ": shard 2/3 is missing; ",
        "hint: run the review for each missing shard with --shard",
    ] {
        assert!(output.out.contains(text), "{text}: {}", output.out);
    }
    assert!(!output.out.contains("sluicegate doctor"), "{}", output.out);
}

/// PowerShell writes files with a byte order mark or in UTF-16.
#[test]
fn report_with_byte_order_mark_is_read_and_utf_16_is_named() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let call = Call::new(&world.work());
    let report = call.run("check --all -o json").expect(1).out;
    world.write("r.json", format!("\u{feff}{report}"));
    call.run("report r.json -o json").expect(1);
    world.write("r.json", encode_utf_16(&report));
    let output = call.run("report r.json -o json").expect(2);
    output.saying(&["the content is UTF-16: save it as UTF-8"]);
    let receipt = encode_utf_16("{ \"schema\": \"sluicegate.receipt/v1\" }");
    world.write("receipt.json", receipt);
    let output = call.run("verify receipt.json").expect(2);
    output.saying(&["the content is UTF-16: save it as UTF-8"]);
}

#[test]
fn report_names_files_that_cannot_be_merged_or_read() {
    let (world, platform) = (change_with_bad_sales_pipeline(), platform_with_failed_naming());
    platform
        .call(&world)
        .run(&["review", "--report", "json=a.json"])
        .expect(1);
    let mut other = json_of(&world.work().join("a.json"));
    other["context"]["head"] = json!("1".repeat(40));
    world.write("b.json", other.to_string());
    world.write("c.json", "{\"schema\": 1}");
    let call = Call::new(&world.work());
    call.run(&["report", "a.json", "b.json"])
        .expect(2)
        .saying(&["the commit is"]);
    call.run(&["report", "a.json", "c.json"])
        .expect(2)
        .saying(&["c.json", "schema"]);
    call.run(&["report", "none.json"])
        .expect(2)
        .saying(&["none.json"]);
    call.run(&["report"]).expect(2);
    for shard in ["0/2", "3/2", "x"] {
        platform
            .call(&world)
            .run(&["review", "--shard", shard])
            .expect(2)
            .saying(&[shard, "I/N"]);
    }
}

/// GitHub Advanced Security for Azure DevOps drops a run that does not name its build and its phase.
#[test]
fn sarif_of_azure_names_build_and_phase_if_job_has_them() {
    let world = change_with_bad_sales_pipeline();
    let build = [
        ("SYSTEM_COLLECTIONURI", "https://dev.azure.com/team/"),
        ("SYSTEM_TEAMPROJECT", "warehouse"),
        ("SYSTEM_DEFINITIONID", "12"),
        ("BUILD_DEFINITIONNAME", "pipelines"),
        ("SYSTEM_PHASEID", "3f1f0a52-7c1e-4d0e-9e0b-52a0f6b9c001"),
        ("SYSTEM_PHASEDISPLAYNAME", "check"),
        ("BUILD_BUILDID", "7"),
        ("BUILD_SOURCEBRANCH", "refs/pull/3/merge"),
    ];
    let details = |variables: &[(&str, &str)]| {
        let mut call = Job::azure().pull_request().call(&world);
        for (name, value) in variables {
            call = call.variable(name, *value);
        }
        call.run("check --report sarif=azure.sarif").expect(1);
        json_of(&world.work().join("azure.sarif"))["runs"][0]["automationDetails"].clone()
    };
    let complete = details(&build);
    let id = complete["id"].as_str().unwrap();
    let start = "azuredevops/pipeline/build/team/warehouse/12/3f1f0a52-7c1e-4d0e-9e0b-52a0f6b9c001/";
    assert!(id.starts_with(start) && id.ends_with("/7/sluicegate/"), "{id}");
    assert_eq!(
        complete["properties"]["azuredevops/pipeline/build/buildDefinitionId"],
        "12"
    );
    let incomplete = details(&build[..5]);
    assert_eq!(incomplete, json!({ "id": "sluicegate/" }));
}

#[test]
fn junit_message_names_each_component_and_path_once() {
    let world = change(&[(
        "sales/b.orch.yaml",
        &orchestration_text(&["Start", "load it", "join it", "Done"]),
    )]);
    Call::new(&world.work())
        .run("check --report junit=review.xml")
        .expect(1);
    let xml = read_file(&world.work().join("review.xml"));
    let read = roxmltree::Document::parse(&xml).unwrap();
    let failure = read
        .descendants()
        .find(|node| node.has_tag_name("failure"))
        .unwrap();
    let message = failure.attribute("message").unwrap();
    assert!(
        message.contains("load it") && message.contains("and 1 more: join it"),
        "{message}"
    );
    assert_eq!(
        failure.text().unwrap().matches("sales/b.orch.yaml").count(),
        1,
        "{xml}"
    );
}

/// Returns a pipeline with this number of components that break the naming convention.
fn with_bad_names(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|number| format!("load it {number}")).collect();
    let mut row = vec!["Start"];
    row.extend(names.iter().map(String::as_str));
    row.push("Done");
    orchestration_text(&row)
}

#[test]
fn log_lists_many_findings_of_rule_in_file_as_one_block() {
    for (count, blocks) in [(10, 10), (11, 1)] {
        let world = change(&[("sales/b.orch.yaml", &with_bad_names(count))]);
        let ended = Call::new(&world.work()).run("check").expect(1);
        let found = ended.out.matches("error[component-naming-convention]").count();
        assert_eq!(found, blocks, "{}", ended.out);
        for number in 0..count {
            assert!(ended.out.contains(&format!("load it {number}")), "{}", ended.out);
        }
    }
}

#[test]
fn log_shows_no_source_for_name_and_source_for_value() {
    let call = "type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n    Start:\n      type: start\n      \
                transitions:\n        unconditional: [load it]\n    load it:\n      type: run-orchestration\n      \
                parameters:\n        orchestrationJob: \"nowhere\"\n";
    let world = change(&[("sales/b.orch.yaml", call)]);
    let ended = Call::new(&world.work()).run("check");
    assert!(!ended.out.contains("|     load it:"), "{}", ended.out);
    assert!(
        ended.out.contains("orchestrationJob: \"nowhere\""),
        "{}",
        ended.out
    );
}

#[test]
fn first_failing_group_of_gitlab_log_is_open() {
    let world = change(&[
        ("a/warned.orch.yaml", &orchestration_text(&["Start", "Done"])),
        (
            "sales/b.orch.yaml",
            &orchestration_text(&["Start", "load it", "Done"]),
        ),
        (
            "sales/c.orch.yaml",
            &orchestration_text(&["Start", "load it", "join it", "Done"]),
        ),
    ]);
    let ended = Job::gitlab().pull_request().call(&world).run("check").expect(1);
    let sections: Vec<bool> = ended
        .out
        .match_indices("[collapsed=")
        .map(|(start, text)| ended.out[start + text.len()..].starts_with("false"))
        .collect();
    assert_eq!(
        sections.iter().filter(|is_open| **is_open).count(),
        1,
        "{}",
        ended.out
    );
}

#[test]
fn scope_counts_only_pipelines_that_could_be_evaluated() {
    let good = orchestration_text(&["Start", "Done"]);
    let world = change(&[("a/good.orch.yaml", &*good), ("a/bad.orch.yaml", "a: [")]);
    let output = Call::new(&world.work()).run("check a").expect(1);
    assert!(
        output.out.contains("checks passed in 1 pipeline\n"),
        "{}",
        output.out
    );
    assert!(
        output.out.ends_with("1 pipeline not evaluated\n"),
        "{}",
        output.out
    );
    // Counterpart: all pipelines can be evaluated.
    world.write("a/bad.orch.yaml", &*good);
    let output = Call::new(&world.work()).run("check a").expect(0);
    assert!(
        output.out.contains("checks passed in 2 pipelines\n"),
        "{}",
        output.out
    );
}

#[test]
fn log_group_of_equal_findings_names_all_of_its_files_and_counts_places() {
    let content = orchestration_text(&["Start", "load it", "Done"]);
    let files = [("sales/b.orch.yaml", &*content), ("sales/c.orch.yaml", &content)];
    let group_names = |world: &World| {
        let output = Job::github().pull_request().call(world).run("check").expect(1);
        let lines = output
            .out
            .lines()
            .filter_map(|line| line.strip_prefix("::group::"));
        let files = lines.filter(|name| *name != "annotations");
        files.map(str::to_owned).collect::<Vec<_>>()
    };
    let groups_of_two_files = group_names(&change(&files));
    assert_eq!(groups_of_two_files, ["sales/b.orch.yaml, sales/c.orch.yaml (2)"]);
    // Counterpart: the finding is in one file.
    assert_eq!(group_names(&change(&files[..1])), ["sales/b.orch.yaml (1)"]);
}

#[test]
fn findings_are_written_for_reviewdog_checkstyle_and_github() {
    let (world, platform) = (change_with_bad_sales_pipeline(), platform_with_failed_naming());
    let run = |format: &str| {
        platform
            .call(&world)
            .run(format!("review --report {format}=-"))
            .expect(1)
            .out
    };
    let rdjson: Value = serde_json::from_str(&run("rdjson")).unwrap();
    assert_eq!(
        rdjson["diagnostics"][0],
        json!({
            "message": "`load it` is not in the pattern",
            "severity": "ERROR",
            "code": { "value": "component-naming-convention" },
            "location": { "path": "sales/b.orch.yaml", "range": { "start": { "line": 11 } } },
        })
    );
    let checkstyle = run("checkstyle");
    assert!(
        checkstyle.contains(
            "<file name=\"sales/b.orch.yaml\">\n<error line=\"11\" severity=\"error\" \
             message=\"`load it` is not in the pattern\" source=\"sluicegate.component-naming-convention\"/>"
        ),
        "{checkstyle}"
    );
    let commands = run("github");
    assert!(
        commands.starts_with("::error file=sales/b.orch.yaml,line=11,title=component-naming-convention::"),
        "{commands}"
    );
    // A run without findings writes valid documents without entries.
    let passed = crate::support::project();
    let run = |format: &str| {
        Call::new(&passed.work())
            .run(format!("check --all --report {format}=-"))
            .expect(0)
            .out
    };
    let rdjson: Value = serde_json::from_str(&run("rdjson")).unwrap();
    assert_eq!(rdjson["diagnostics"], json!([]));
    assert!(run("checkstyle").ends_with("<checkstyle version=\"4.3\">\n</checkstyle>\n"));
    assert_eq!(run("github"), "");
}

/// The problem matcher `$gcc` of VS Code: `^(.*?):(\d+):(\d*):?\s+(?:fatal\s+)?(warning|error):\s+(.*)$`.
#[test]
fn concise_line_has_format_of_compiler() {
    let (world, platform) = (change_with_bad_sales_pipeline(), platform_with_failed_naming());
    let output = platform.call(&world).run("review --show concise").expect(1);
    assert!(
        output.out.starts_with(
            "sales/b.orch.yaml:11:5: error: `load it` is not in the pattern [component-naming-convention]\n"
        ),
        "{}",
        output.all()
    );
}

#[test]
fn report_without_subjects_gets_them_from_the_reported_commit() {
    let world = change_with_bad_sales_pipeline();
    Call::new(&world.work())
        .run("check --head HEAD --report json=../new.json")
        .expect(1);
    let text = fs::read_to_string(world.path().join("new.json")).unwrap();
    let mut report: Value = serde_json::from_str(&text).unwrap();
    let mut removed_count = 0;
    for result in report["files"][0]["results"].as_array_mut().unwrap() {
        for finding in result["findings"].as_array_mut().unwrap() {
            let finding = finding.as_object_mut().unwrap();
            let is_about_component = finding.remove("about") == Some(json!("load it"));
            removed_count += usize::from(is_about_component);
            finding.remove("aboutKind");
        }
    }
    assert_eq!(removed_count, 1, "{text}");
    fs::write(world.path().join("old.json"), report.to_string()).unwrap();
    let completed = Call::new(&world.work())
        .run("report ../old.json --report json=-")
        .expect(1)
        .json();
    assert_eq!(
        completed["files"],
        serde_json::from_str::<Value>(&text).unwrap()["files"]
    );
}
