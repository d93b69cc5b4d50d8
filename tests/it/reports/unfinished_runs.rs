//! A run that does not finish leaves no report of another run.

use crate::support::release::{publish_call, stage};
use crate::support::{
    Call, FORMATS, HOSTS, Job, Platform, World, change, one_change, orchestration_text, passed_results,
    respond_for_each, scratch, send_signal,
};
use serde_json::{Value, json};
use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;

const OLD: &str = "the report of another run";

/// Asserts that the file says, in its format, that the run did not finish.
#[track_caller]
fn assert_unfinished(folder: &Path, format: &str, file: &str) {
    let text = fs::read_to_string(folder.join(file)).unwrap();
    assert!(text.contains("he run did not finish"), "{format}: {text}");
    assert!(!text.contains(OLD), "{format}: {text}");
    let json = || serde_json::from_str::<Value>(&text).unwrap();
    match format {
        "junit" | "junit-strict" => {
            let document = roxmltree::Document::parse(&text).unwrap();
            assert!(
                document.descendants().any(|node| node.has_tag_name("error")),
                "{text}"
            );
        }
        "json" => assert_eq!(json()["verdict"], json!("undecided")),
        "sarif" => {
            let invocation = &json()["runs"][0]["invocations"][0];
            assert_eq!(invocation["executionSuccessful"], json!(false));
        }
        "gitlab" => assert_eq!(json().as_array().unwrap().len(), 1),
        _ => assert!(text.to_lowercase().contains("undecided"), "{text}"),
    }
}

/// Writes an old report in every format, and returns the flags that name them.
fn old_reports(world: &World) -> Vec<String> {
    let mut flags = Vec::new();
    for format in FORMATS {
        world.write(&format!("old/{format}"), OLD);
        flags.extend(["--report".to_owned(), format!("{format}=old/{format}")]);
    }
    flags
}

#[test]
fn failed_run_replaces_reports_of_an_earlier_run() {
    // 7: GitHub's commit is not in the clone; 2: an invalid setting, and a missing base URL.
    let cases: [(&[&str], &str, i32); 6] = [
        (&["review"], "GITHUB_SHA", 7),
        (&["check", "--head", "nothing"], "", 7),
        (&["ci"], "GITHUB_SHA", 7),
        (&["check"], "SLUICEGATE_FAIL_ON", 2),
        (&["report", "none.json"], "", 2),
        (&["report", "none.json", "--gate-changes", "fail"], "", 2),
    ];
    for (args, broken, code) in cases {
        let world = one_change();
        let flags = old_reports(&world);
        let args: Vec<&str> = args
            .iter()
            .copied()
            .chain(flags.iter().map(String::as_str))
            .collect();
        let mut program = Call::with_platform(&world.work(), "http://127.0.0.1:9")
            .variable("GITHUB_ACTIONS", "true")
            .variable("GITHUB_EVENT_NAME", "push")
            .variable("GITHUB_REF", "refs/heads/change")
            .variable("GITHUB_SHA", world.git("rev-parse HEAD"));
        if !broken.is_empty() {
            program = program.variable(broken, "1".repeat(40));
        }
        let output = program.run(&args);
        assert_eq!(output.code, code, "{args:?}: {}", output.all());
        for format in FORMATS {
            assert_unfinished(&world.work(), format, &format!("old/{format}"));
        }
    }
    // Outside of a repository.
    let folder = scratch::create_scratch_directory();
    fs::write(folder.path().join("junit.xml"), OLD).unwrap();
    Call::new(folder.path())
        .variable("SLUICEGATE_REPORT", "junit=junit.xml")
        .run("check")
        .expect(7);
    assert_unfinished(folder.path(), "junit", "junit.xml");
}

#[test]
fn call_with_invalid_arguments_replaces_reports_of_an_earlier_run() {
    for (command, code) in [
        ("review", 2),
        ("check", 2),
        ("ci", 2),
        ("report", 2),
        ("review --help", 0),
    ] {
        let world = one_change();
        let flags = old_reports(&world).join(" ");
        world.write("saved.json", OLD);
        // The last two flags are invalid, too, and name files that are not reports.
        let args = format!("{command} --bogus {flags} --fail-on saved.json --out=result.txt");
        world.write("result.txt", OLD);
        let output = Call::new(&world.work()).run(args.as_str()).expect(code);
        let read = |path: &str| fs::read_to_string(world.work().join(path)).unwrap_or_default();
        assert_eq!(read("saved.json"), OLD, "{command}");
        if code == 0 {
            assert_eq!(
                read("old/junit") + &read("result.txt"),
                OLD.repeat(2),
                "{command}"
            );
            continue;
        }
        assert_eq!(output.err.matches("error: ").count(), 1, "{}", output.all());
        assert!(!world.work().join("result.txt").exists(), "{command}");
        for format in FORMATS {
            let path = format!("old/{format}");
            assert_unfinished(&world.work(), format, &path);
            let reason = "invalid arguments: unexpected argument '--bogus' found";
            assert!(
                read(&path)
                    .replace("&#39;", "'")
                    .replace("&apos;", "'")
                    .contains(reason),
                "{}",
                read(&path)
            );
        }
    }
}

#[test]
fn call_that_fails_before_its_command_replaces_all_files_of_an_earlier_run() {
    let files = ["review.xml", "publish.xml", "receipt.json", "statement.json"];
    let policy = "review: { report: [junit=review.xml], attestation: statement.json }\n\
                  publish: { junit: publish.xml, receipt: receipt.json }\n";
    for (args, color, removed_files) in [
        ("ci --bogus", "auto", &files[..]),
        ("ci --out a.orch.yaml", "auto", &files),
        ("ci --attestation a.orch.yaml", "auto", &files[..3]),
        ("ci", "bogus", &files),
        ("review --bogus", "auto", &[files[0], files[3]]),
        ("review", "bogus", &[files[0], files[3]]),
        ("publish --bogus", "auto", &files[1..3]),
        ("publish", "bogus", &files[1..3]),
        ("check --bogus", "auto", &files[..1]),
        // The directory of the files is unknown.
        ("check --bogus -C none", "auto", &[]),
        ("ci --help", "auto", &[]),
    ] {
        let world = one_change();
        world.write("sluicegate.yaml", policy);
        for file in files {
            world.write(file, OLD);
        }
        Call::with_platform(&world.work(), "http://127.0.0.1:9")
            .variable("SLUICEGATE_COLOR", color)
            .run(args);
        for file in files {
            let text = fs::read_to_string(world.work().join(file)).unwrap_or_default();
            assert_eq!(
                text == OLD,
                !removed_files.contains(&file),
                "{args}: {file}: {text}"
            );
        }
    }
}

#[test]
fn call_with_invalid_arguments_keeps_files_that_it_may_read() {
    let world = one_change();
    for file in ["a.json", "b.json", "c.json", "d.json"] {
        world.write(file, OLD);
    }
    let reports = "--report json=a.json --report=json=b.json --report json=c.json";
    Call::new(&world.work())
        .run(
            format!("report a.json {reports} --compare b.json --bogus=c.json -- --report json=d.json")
                .as_str(),
        )
        .expect(2);
    for file in ["a.json", "b.json", "c.json", "d.json"] {
        assert_eq!(
            fs::read_to_string(world.work().join(file)).unwrap(),
            OLD,
            "{file}"
        );
    }
}

#[test]
fn call_with_invalid_arguments_replaces_reports_of_variable_and_of_host() {
    let world = one_change();
    world.write("variable.xml", OLD);
    world.write("junit.xml", OLD);
    let call = || Job::gitlab().pull_request().call(&world);
    call()
        .variable("SLUICEGATE_REPORT", "junit=variable.xml")
        .run("check --bogus")
        .expect(2);
    assert_unfinished(&world.work(), "junit", "variable.xml");
    assert_eq!(fs::read_to_string(world.work().join("junit.xml")).unwrap(), OLD);
    call().run("check --bogus").expect(2);
    assert_unfinished(&world.work(), "junit", "junit.xml");
    // The required files are missing.
    call().run("report --report junit=variable.xml").expect(2);
    let text = fs::read_to_string(world.work().join("variable.xml")).unwrap();
    assert!(text.contains("were not provided: &lt;FILE.json&gt;"), "{text}");
}

/// A host shows the reports, and may not show the log.
#[test]
fn reports_of_run_that_ends_early_contain_reason_on_every_host() {
    let world = one_change();
    let flags = old_reports(&world);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let early =
        || Call::with_platform(&world.work(), "http://127.0.0.1:9").variable("SLUICEGATE_TIMEOUT", "0");
    for (name, host) in HOSTS {
        host(&world, early()).run(("review", &flags[..])).expect(2);
        for format in FORMATS {
            let file = format!("old/{format}");
            assert_unfinished(&world.work(), format, &file);
            let text = fs::read_to_string(world.work().join(file)).unwrap();
            assert!(
                text.contains("the timeout 0 is not in the range"),
                "{name} {format}: {text}"
            );
        }
    }
    Job::gitlab()
        .pull_request()
        .extend(&world, early())
        .run("review")
        .expect(2);
    for (format, file) in [("junit", "junit.xml"), ("gitlab", "gl-code-quality-report.json")] {
        assert_unfinished(&world.work(), format, file);
        let text = fs::read_to_string(world.work().join(file)).unwrap();
        assert!(text.contains("the timeout 0 is not in the range"), "{text}");
    }
}

#[test]
fn report_that_the_change_committed_is_replaced_on_every_host() {
    for (name, host) in HOSTS {
        let old = "<testsuites><testsuite name=\"sluicegate\"/></testsuites>";
        let content = orchestration_text(&["Start", "Load", "Done"]);
        let world = change(&[("b.orch.yaml", &content), ("junit.xml", old)]);
        let platform = Platform::new();
        let output =
            host(&world, platform.call(&world)).run("review --report junit=junit.xml --base nothing");
        assert_ne!(output.code, 0, "{name}: {}", output.all());
        assert_unfinished(&world.work(), "junit", "junit.xml");
    }
}

#[test]
fn default_report_of_the_host_is_replaced_if_the_context_is_unknown() {
    let world = one_change();
    world.write("junit.xml", OLD);
    world.write("gl-code-quality-report.json", OLD);
    Call::new(&world.work())
        .variable("GITLAB_CI", "true")
        .run("check")
        .expect(7);
    assert_unfinished(&world.work(), "junit", "junit.xml");
    assert_unfinished(&world.work(), "gitlab", "gl-code-quality-report.json");
}

#[test]
fn report_that_the_policy_names_is_replaced() {
    let world = one_change();
    world.write("sluicegate.yaml", "review:\n  report: [junit=out/junit.xml]\n");
    world.write("out/junit.xml", OLD);
    Call::new(&world.work()).run("check --base nothing").expect(7);
    assert_unfinished(&world.work(), "junit", "out/junit.xml");
}

#[test]
fn killed_run_leaves_an_undecided_report() {
    let world = one_change();
    world.write("junit.xml", OLD);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let mut child = Call::with_platform(&world.work(), &url)
        .command("review --report junit=junit.xml")
        .spawn()
        .unwrap();
    // The run has begun when its request arrives.
    let (mut request, _) = silent.accept().unwrap();
    request.read_exact(&mut [0]).unwrap();
    send_signal("KILL", &child.id().to_string());
    child.wait().unwrap();
    assert_unfinished(&world.work(), "junit", "junit.xml");
}

#[test]
fn finished_run_leaves_its_own_reports() {
    let world = one_change();
    let flags = old_reports(&world);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let args: Vec<&str> = ["review"]
        .into_iter()
        .chain(flags.iter().map(String::as_str))
        .collect();
    Job::github()
        .pull_request()
        .extend(&world, platform.call(&world))
        .run(&args)
        .expect(0);
    for format in FORMATS {
        let text = fs::read_to_string(world.work().join("old").join(format)).unwrap();
        assert!(
            !text.contains("did not finish") && !text.contains(OLD),
            "{format}: {text}"
        );
    }
}

#[test]
fn dry_run_removes_reports_of_an_earlier_run() {
    let world = one_change();
    let platform = Platform::new();
    let remains = |args: &str, call: Call, code: i32, file: &str| {
        world.write(file, OLD);
        call.run(args).expect(code);
        world.work().join(file).exists()
    };
    for command in ["review", "ci"] {
        let dry_run = format!("{command} --dry-run");
        let flag = format!("{dry_run} --report junit=junit.xml");
        assert!(!remains(&flag, platform.call(&world), 0, "junit.xml"), "{flag}");
        // A dry run that fails does not write its reason either.
        let failed = format!("{flag} --head nothing");
        assert!(
            !remains(&failed, platform.call(&world), 7, "junit.xml"),
            "{failed}"
        );
        let variable = platform.call(&world).variable("SLUICEGATE_DRY_RUN", "true");
        let command = format!("{command} --report junit=junit.xml");
        assert!(!remains(&command, variable, 0, "junit.xml"), "{command}");
        let gitlab = || Job::gitlab().pull_request().extend(&world, platform.call(&world));
        for file in ["junit.xml", "gl-code-quality-report.json"] {
            assert!(!remains(&dry_run, gitlab(), 0, file), "{dry_run}: {file}");
        }
        // A report of another name is not that of this run.
        assert!(remains(&flag, platform.call(&world), 0, "other.xml"), "{flag}");
        world.write("sluicegate.yaml", "review:\n  report: [junit=out/junit.xml]\n");
        assert!(
            !remains(&dry_run, platform.call(&world), 0, "out/junit.xml"),
            "{dry_run}"
        );
        fs::remove_file(world.work().join("sluicegate.yaml")).unwrap();
    }
}

#[test]
fn dry_run_of_publish_removes_the_report_of_an_earlier_publish() {
    let (world, server) = stage();
    let publish = |args: &str| {
        publish_call(&world, &server)
            .run(("publish --version-name 1", args))
            .expect(0)
    };
    publish("--junit p.xml");
    assert!(world.work().join("p.xml").is_file());
    publish("--junit p.xml --dry-run --if-exists same-content");
    assert!(!world.work().join("p.xml").exists());
    world.write("sluicegate.yaml", "publish:\n  junit: p.xml\n");
    world.write("p.xml", OLD);
    publish("--dry-run --if-exists same-content");
    assert!(!world.work().join("p.xml").exists());
}

#[test]
fn directory_pipe_and_link_are_not_replaced() {
    let world = one_change();
    fs::create_dir(world.work().join("folder")).unwrap();
    world.write("folder/kept", "kept");
    world.write("target.txt", "kept");
    std::os::unix::fs::symlink("target.txt", world.work().join("link.xml")).unwrap();
    world.commit("link");
    world.push();
    let check = |path: &str| {
        let report = format!("junit={path}");
        Call::new(&world.work()).run(&["check", "--report", &report])
    };
    check("folder").expect(2);
    check("link.xml")
        .expect(2)
        .saying(&["is a symbolic link in the repository"]);
    check("/dev/null").expect(0);
    assert!(check("/dev/stdout").expect(0).out.starts_with("<?xml"));
    for kept in ["folder/kept", "target.txt"] {
        assert_eq!(fs::read_to_string(world.work().join(kept)).unwrap(), "kept");
    }
    assert!(world.work().join("link.xml").is_symlink());
}

#[test]
fn publish_that_fails_leaves_no_receipt_and_an_undecided_report() {
    let (world, server) = stage();
    let publish = |more: &str| {
        let args = "--receipt r.json --junit p.xml --version-name 1";
        publish_call(&world, &server).run(("publish", args, more))
    };
    publish("").expect(0);
    let receipt = fs::read_to_string(world.work().join("r.json")).unwrap();
    let verify = || publish_call(&world, &server).run("verify r.json --out verified.txt");
    verify().expect(0);
    assert!(world.work().join("verified.txt").is_file());

    publish("--head nothing").expect(7);
    assert!(!world.work().join("r.json").exists());
    assert_unfinished(&world.work(), "junit", "p.xml");
    // The results of a verification that cannot read its receipt.
    verify().expect(2);
    assert!(!world.work().join("verified.txt").exists());

    // The files that the policy names.
    world.write("sluicegate.yaml", "publish:\n  receipt: r.json\n  junit: p.xml\n");
    world.write("r.json", receipt);
    world.write("p.xml", OLD);
    publish_call(&world, &server)
        .run("publish --version-name 1 --head nothing")
        .expect(7);
    assert!(!world.work().join("r.json").exists());
    assert_unfinished(&world.work(), "junit", "p.xml");
}

#[test]
fn ci_without_a_publish_leaves_no_report_of_one() {
    let (world, server) = stage();
    world.write("r.json", OLD);
    world.write("p.xml", OLD);
    let args = "ci --receipt r.json --junit p.xml --version-name 1";
    publish_call(&world, &server)
        .run(args)
        .expect(0)
        .saying(&["nothing is published"]);
    assert!(!world.work().join("r.json").exists());
    assert!(!world.work().join("p.xml").exists());
}

#[test]
fn ci_with_failed_review_leaves_no_report_of_a_publish() {
    let (world, server) = stage();
    let before = world.git("rev-parse HEAD");
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "load it", "Done"]),
    );
    world.commit("bad");
    world.push();
    world.write("p.xml", OLD);
    Job::github()
        .push(&before)
        .extend(&world, publish_call(&world, &server))
        .run("ci --publish-on-branch main --junit p.xml --version-name 1")
        .expect(1);
    assert!(!world.work().join("p.xml").exists());
    // On GitLab, the review writes its own report to this path.
    let head = world.git("rev-parse HEAD");
    let gitlab_push = publish_call(&world, &server)
        .variable("GITLAB_CI", "true")
        .variable("CI_PIPELINE_SOURCE", "push")
        .variable("CI_DEFAULT_BRANCH", "main")
        .variable("CI_COMMIT_BRANCH", "main")
        .variable("CI_COMMIT_SHA", &head)
        .variable("CI_COMMIT_BEFORE_SHA", &before);
    let args = "ci --publish-on-branch main --junit junit.xml --version-name 1";
    gitlab_push.run(args).expect(1);
    let report = world.read_text("junit.xml");
    assert!(report.contains("component-naming-convention"), "{report}");
    // With requested reports, the review does not write its own.
    gitlab_push.run((args, "--report json=r.json")).expect(1);
    assert!(!world.work().join("junit.xml").exists());
}

#[test]
fn failure_is_shown_in_annotation_style_of_configuration_file() {
    let world = one_change();
    for command in [
        "check --head nothing",
        "report none.json",
        "publish --prefix p --version-name 1 --head nothing",
    ] {
        for (style, is_annotated) in [("github", true), ("auto", false)] {
            world.write("sluicegate.yaml", format!("review: {{ annotations: {style} }}\n"));
            let output = Call::with_platform(&world.work(), "http://127.0.0.1:9").run(command);
            assert_ne!(output.code, 0, "{command}");
            assert_eq!(
                output.err.contains("::error title="),
                is_annotated,
                "{command}: {}",
                output.all()
            );
        }
    }
}

#[test]
fn report_with_invalid_setting_replaces_default_report() {
    let world = one_change();
    Call::new(&world.work())
        .run("check --report json=r.json")
        .expect(0);
    world.write("junit.xml", OLD);
    Job::gitlab()
        .pull_request()
        .call(&world)
        .variable("SLUICEGATE_ANNOTATIONS", "bogus")
        .run("report r.json")
        .expect(2);
    assert_unfinished(&world.work(), "junit", "junit.xml");
}

#[test]
fn file_that_the_command_reads_is_never_replaced() {
    let (world, server) = stage();
    let run = |args: &str| publish_call(&world, &server).run(args);
    run("review --all --report json=review.json").expect(0);
    let review = fs::read_to_string(world.work().join("review.json")).unwrap();
    run("publish --version-name 1 --receipt receipt.json").expect(0);
    let receipt = fs::read_to_string(world.work().join("receipt.json")).unwrap();
    world.write("other.xml", OLD);
    let publish = "publish --version-name 2 --require-review review.json";
    for args in [
        "report review.json --report json=review.json --report junit=other.xml",
        "report review.json --report json=./review.json",
        "report --compare review.json receipt.json --report html=review.json",
        &format!("{publish} --receipt review.json"),
        &format!("{publish} --junit review.json"),
        "verify receipt.json --out receipt.json",
    ] {
        run(args).expect(2).saying(&["the command reads this file"]);
        for (file, content) in [("review.json", &review), ("receipt.json", &receipt)] {
            assert_eq!(&fs::read_to_string(world.work().join(file)).unwrap(), content);
        }
    }
    assert_unfinished(&world.work(), "junit", "other.xml");
}

#[test]
fn output_at_path_of_pipeline_or_script_is_refused() {
    let (world, server) = stage();
    world.write("sql/load.sql", "select 1;\n");
    let files = [
        "sales/load.orch.yaml",
        ".platform/shared-pipelines.yaml",
        "sql/load.sql",
    ];
    for file in files {
        let content = fs::read_to_string(world.work().join(file)).unwrap();
        for command in [
            "publish --version-name 1 --receipt",
            "publish --version-name 1 --attestation",
            "publish --version-name 1 --junit",
            "review --all --attestation",
            "check --report",
            "artifacts list --out",
            "diff --out",
        ] {
            let path = match command {
                "check --report" => format!("json={file}"),
                _ => file.to_owned(),
            };
            publish_call(&world, &server)
                .run((command, &[path]))
                .expect(2)
                .saying(&["this is an existing pipeline, script or shared pipelines file"]);
            assert_eq!(fs::read_to_string(world.work().join(file)).unwrap(), content);
        }
    }
    // The counterpart: a new file, and an earlier receipt.
    for version in ["1", "2"] {
        publish_call(&world, &server)
            .run(format!(
                "publish --version-name {version} --receipt sql/receipt.json"
            ))
            .expect(0);
    }
}

#[test]
fn output_at_path_of_gate_configuration_is_refused() {
    let (world, server) = stage();
    world.write("sluicegate.yaml", "review: { team-rules: rules/team.yaml }\n");
    world.write("sluicegate-waivers.yaml", "[]\n");
    world.write("rules/team.yaml", "rules: []\n");
    world.write("ci/gate.yaml", "timeout: 9\n");
    for (flags, file) in [
        ("", "sluicegate.yaml"),
        ("", "sluicegate-waivers.yaml"),
        ("", "rules/team.yaml"),
        ("", ".platform/config/pipeline_quality_rules.yaml"),
        ("--config ci/gate.yaml", "ci/gate.yaml"),
    ] {
        let content = fs::read_to_string(world.work().join(file)).unwrap();
        for command in [
            format!("check --report json={file}"),
            format!("check --out {file}"),
            format!("diff --out {file}"),
            format!("artifacts list --out {file}"),
            format!("publish --version-name 1 --receipt {file}"),
            format!("pipelines run p --environment e --wait --junit {file}"),
        ] {
            publish_call(&world, &server)
                .run(format!("{command} {flags}"))
                .expect(2)
                .saying(&["this is an existing file of the gate configuration"]);
            assert_eq!(
                fs::read_to_string(world.work().join(file)).unwrap(),
                content,
                "{command}"
            );
        }
    }
    world.write(
        "own-rules.yaml",
        world.read_text(".platform/config/pipeline_quality_rules.yaml"),
    );
    publish_call(&world, &server)
        .run("check --all --rules own-rules.yaml --report json=own-rules.yaml")
        .expect(2)
        .saying(&["the command reads this file"]);
    // The counterpart: another YAML file, and the report of an earlier run.
    for _ in 0..2 {
        publish_call(&world, &server)
            .run("check --all --report json=rules/report.yaml")
            .expect(0);
    }
}

#[test]
fn report_of_unfinished_run_has_category_and_shard_of_finished_run() {
    let world = one_change();
    world.write("sluicegate.yaml", "review: { category: sales }\n");
    let args =
        "--base nothing --shard 2/3 --report sarif=s.sarif --report markdown=m.md --report json=j.json";
    for command in ["check", "review"] {
        for (flag, category) in [("", "sales"), ("--category eu", "eu")] {
            Call::new(&world.work())
                .run(format!("{command} {args} {flag}"))
                .expect(7);
            let sarif: Value =
                serde_json::from_slice(&fs::read(world.work().join("s.sarif")).unwrap()).unwrap();
            assert_eq!(
                sarif["runs"][0]["automationDetails"]["id"],
                json!(format!("{category}/shard-2-of-3/")),
                "{command} {flag}"
            );
            let markdown = fs::read_to_string(world.work().join("m.md")).unwrap();
            let marker = format!("<!-- sluicegate-{category}-part-2-of-3 -->");
            assert!(markdown.starts_with(&marker), "{markdown}");
            let report: Value =
                serde_json::from_slice(&fs::read(world.work().join("j.json")).unwrap()).unwrap();
            assert_eq!(report["context"]["shard"], json!("2/3"));
        }
    }
}

#[test]
fn report_of_unfinished_run_has_settings_of_file_despite_invalid_setting() {
    let world = one_change();
    world.write("sluicegate.yaml", "review: { category: sales, fail-on: warn }\n");
    for (flag, fail_on) in [("", "warn"), ("--fail-on never", "never")] {
        Call::new(&world.work())
            .variable("SLUICEGATE_SHOW", "bogus")
            .run(("check --report markdown=m.md --report json=j.json", flag))
            .expect(2);
        let markdown = fs::read_to_string(world.work().join("m.md")).unwrap();
        assert!(markdown.starts_with("<!-- sluicegate-sales -->"), "{markdown}");
        let report: Value = serde_json::from_slice(&fs::read(world.work().join("j.json")).unwrap()).unwrap();
        assert_eq!(report["context"]["failOn"], fail_on);
    }
}

#[test]
fn report_of_unfinished_check_is_about_local_check_and_has_its_own_step() {
    let world = one_change();
    let args = "check --base nothing --fail-on warn --report json=j.json --report html=h.html --report markdown=m.md";
    Call::new(&world.work())
        .variable("CIRCLECI", "true")
        .run(args)
        .expect(7);
    let read = |file: &str| fs::read_to_string(world.work().join(file)).unwrap();
    let report: Value = serde_json::from_str(&read("j.json")).unwrap();
    assert_eq!(report["engine"], "local");
    assert_eq!(report["context"]["ci"], "circleci");
    assert_eq!(report["context"]["failOn"], "warn");
    for file in ["h.html", "m.md"] {
        let text = read(file);
        assert!(text.contains("Check undecided"), "{text}");
        assert!(
            !text.contains("a local run") && !text.contains("sluicegate doctor"),
            "{text}"
        );
        assert!(!text.contains("undecided: the run"), "{text}");
    }
}

#[test]
fn report_of_unfinished_review_has_one_step() {
    let world = one_change();
    Call::new(&world.work())
        .run("review --report markdown=m.md")
        .expect(2);
    let text = fs::read_to_string(world.work().join("m.md")).unwrap();
    assert_eq!(text.matches("To do: ").count(), 1, "{text}");
}

#[test]
fn entry_of_unfinished_run_is_at_existing_file() {
    let world = one_change();
    Call::new(&world.work())
        .run("check --base nothing --report gitlab=g.json")
        .expect(7);
    let entries: Value = serde_json::from_slice(&fs::read(world.work().join("g.json")).unwrap()).unwrap();
    let path = entries[0]["location"]["path"].as_str().unwrap();
    assert!(world.work().join(path).is_file(), "{path}");
}

#[test]
fn failed_command_leaves_no_result_of_an_earlier_run() {
    let world = one_change();
    for command in [
        "fix --agent --environment test -o json",
        "artifacts diff --prefix sales -o json",
        "artifacts show 9 --prefix sales -o json",
        "rules test missing.yaml",
        "waivers add --from missing.json --reason known",
        "variables apply -f missing.yaml",
        "events export",
        "verify missing.json",
    ] {
        world.write("result.json", OLD);
        let output = Call::with_platform(&world.work(), "http://127.0.0.1:9")
            .variable("SLUICEGATE_RETRIES", "0")
            .run(format!("{command} --out result.json"));
        assert_ne!(output.code, 0, "{command}: {}", output.all());
        assert!(!world.work().join("result.json").exists(), "{command}");
    }
}

/// No later run with this cursor would export the events of the file again.
#[test]
fn failed_export_with_cursor_keeps_events_of_an_earlier_run() {
    let (world, server) = stage();
    world.write("events.jsonl", OLD);
    publish_call(&world, &server)
        .variable("SLUICEGATE_TIMEOUT", "0")
        .run("events export --cursor events.cursor --out events.jsonl")
        .expect(2);
    assert_eq!(world.read_text("events.jsonl"), OLD);
}

#[test]
fn file_that_any_command_reads_is_not_replaced_by_its_result() {
    let (world, server) = stage();
    for command in [
        "waivers add --reason known --from",
        "fix --agent --environment test --from",
        "variables apply -f",
        "streaming create -f",
        "environments create -f",
        "tasks send 1 --message-file",
        "rules lint",
        "provision apply -f sales.yaml --state",
        "artifacts list --token-file",
    ] {
        world.write("input.json", OLD);
        publish_call(&world, &server)
            .run(format!("{command} input.json --out input.json"))
            .expect(2)
            .saying(&["the command reads this file"]);
        assert_eq!(world.read_text("input.json"), OLD, "{command}");
    }
}
