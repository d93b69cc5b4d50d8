//! Changes to the gate configuration are reported, and no pipeline is excluded silently.

use crate::support::{
    Arguments, Call, Job, Platform, RULES, RULES_FILE, World, bad_pipeline, change, good_pipeline,
    passed_results, project, respond_for_each,
};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use wiremock::ResponseTemplate;

/// Creates `main` with the files `before` and `change` with the files `after`; both are pushed, `change` is checked
/// out.
fn world_with_changed_files(before: &[(&str, &str)], after: &[(&str, &str)]) -> World {
    let world = project();
    for (path, content) in before {
        world.write(path, content);
    }
    world.commit("before");
    world.push();
    world.git("checkout -q -b change");
    for (path, content) in after {
        world.write(path, content);
    }
    world.commit("after");
    world.push();
    world
}

/// Checks the head commit, expects this exit code and returns the JSON report.
#[track_caller]
fn check_report(world: &World, code: i32, args: impl Arguments) -> Value {
    Call::new(&world.work())
        .run(("check --head HEAD --report json=-", args))
        .expect(code)
        .json()
}

/// Returns a call in a pull request's job on GitHub: the merge of `change` into `main` is checked out.
fn opened_pull_request(world: &World, call: Call) -> Call {
    let (base, head) = (
        world.git("rev-parse origin/main"),
        world.git("rev-parse origin/change"),
    );
    let event = json!({ "number": 7, "action": "opened", "repository": { "default_branch": "main", "full_name": "o/r" },
        "pull_request": { "number": 7,
            "base": { "ref": "main", "sha": base, "repo": { "full_name": "o/r", "id": 1 } },
            "head": { "ref": "change", "sha": head, "repo": { "full_name": "o/r", "id": 1 } } } });
    let file = world.path().join("event.json");
    fs::write(&file, event.to_string()).unwrap();
    call.variable("GITHUB_ACTIONS", "true")
        .variable("GITHUB_EVENT_NAME", "pull_request")
        .variable("GITHUB_REPOSITORY", "o/r")
        .variable("GITHUB_SHA", world.git("rev-parse HEAD"))
        .variable("GITHUB_REF", "refs/pull/7/merge")
        .variable("GITHUB_HEAD_REF", "change")
        .variable("GITHUB_BASE_REF", "main")
        .variable("GITHUB_EVENT_PATH", file.display().to_string())
        .variable(
            "GITHUB_STEP_SUMMARY",
            world.path().join("summary.md").display().to_string(),
        )
}

#[test]
fn tightened_setting_has_no_note_about_its_later_effect() {
    let world = world_with_changed_files(
        &[("sluicegate.yaml", "review: { fail-on: error }\n")],
        &[
            ("sluicegate.yaml", "review: { fail-on: warn }\n"),
            ("b.orch.yaml", &good_pipeline()),
        ],
    );
    let notes = check_report(&world, 0, "")["notes"].to_string();
    assert!(!notes.contains("merged"), "{notes}");
}

/// Returns a file of 61 team rules. All but the last one have the first level, and the last one has the second.
fn team_rules(level: &str, last_level: &str) -> String {
    let rules: Vec<String> = (0..=60)
        .map(|number| {
            let level = if number == 60 { last_level } else { level };
            format!(
                "- {{ id: r{number}, for: component, message: m, level: {level}, when: component.skipped }}\n"
            )
        })
        .collect();
    format!("rules:\n{}", rules.concat())
}

#[test]
fn relaxation_among_other_differences_has_note_about_its_later_effect() {
    let (settings, rules) = ("sluicegate.yaml", "sluicegate-rules.yaml");
    let mixed_globs = ("exclude: [z/**]\n".to_owned(), "exclude: [y/**]\n".to_owned());
    let relaxed_last = (team_rules("warn", "error"), team_rules("error", "warn"));
    let tightened = (team_rules("warn", "warn"), team_rules("error", "error"));
    for (path, (before, after), is_relaxed) in [
        (settings, mixed_globs, true),
        (rules, relaxed_last, true),
        (rules, tightened, false),
    ] {
        let world = world_with_changed_files(
            &[(path, &before)],
            &[(path, &after), ("b.orch.yaml", &good_pipeline())],
        );
        let notes = check_report(&world, 0, "")["notes"].to_string();
        let note = format!(
            "until this change is merged, CI does not use the settings and waivers that it relaxes ({path})"
        );
        assert_eq!(notes.contains(&note), is_relaxed, "{path}: {notes}");
    }
}

#[test]
fn change_of_configuration_is_described() {
    let world = world_with_changed_files(
        &[(
            "sluicegate.yaml",
            "exclude: [gone/**]\nreview: { fail-on: error }\n",
        )],
        &[
            (
                "sluicegate.yaml",
                "exclude: [gone/**, 'old/**']\nreview: { fail-on: warn }\n",
            ),
            ("b.orch.yaml", &good_pipeline()),
        ],
    );
    let report = check_report(&world, 0, "");
    assert_eq!(report["gateChanges"], json!(["sluicegate.yaml"]));
    let notes = report["notes"].to_string();
    assert!(
        notes.contains("until this change is merged, CI does not use"),
        "{notes}"
    );
    assert_eq!(
        report["gateChangesInWords"],
        json!({ "sluicegate.yaml": ["exclude: + old/** (relaxed)", "review.fail-on: error → warn (tightened)"] })
    );
}

#[test]
fn relaxation_by_merge_key_or_tag_is_described() {
    for relaxed in [
        "review:\n  <<: { fail-on: never }\n",
        "review: { fail-on: !!binary bmV2ZXI= }\n",
    ] {
        let world = world_with_changed_files(
            &[("sluicegate.yaml", "review: { fail-on: error }\n")],
            &[("sluicegate.yaml", relaxed)],
        );
        let report = check_report(&world, 0, "");
        assert_eq!(
            report["gateChangesInWords"]["sluicegate.yaml"],
            json!(["review.fail-on: error → never (relaxed)"])
        );
    }
}

#[test]
fn list_written_as_one_value_is_compared_as_its_only_entry() {
    let world = world_with_changed_files(
        &[("sluicegate.yaml", "exclude: gone/**\n")],
        &[("sluicegate.yaml", "exclude: [gone/**, old/**]\n")],
    );
    let report = check_report(&world, 0, "");
    assert_eq!(
        report["gateChangesInWords"]["sluicegate.yaml"],
        json!(["exclude: + old/** (relaxed)"])
    );
}

#[test]
fn change_of_rules_is_described_in_every_report() {
    let laxer = RULES
        .replace("enforcementLevel: error", "enforcementLevel: warn")
        .replace("maxComponents: 3", "maxComponents: 18");
    let world = world_with_changed_files(&[], &[(RULES_FILE, &laxer), ("b.orch.yaml", &good_pipeline())]);
    let expected = [
        "rules: component-naming-convention error → warn (relaxed)",
        "rules: maximum-components maxComponents 3 → 18 (relaxed)",
    ];
    let call = opened_pull_request(&world, Call::new(&world.work()));
    let formats = ["json", "junit", "sarif", "markdown", "html", "gitlab"];
    let flags: Vec<String> = formats.iter().map(|f| format!("{f}=../{f}.out")).collect();
    let mut args = vec!["check", "--head", "origin/change"];
    for flag in &flags {
        args.extend(["--report", flag]);
    }
    let output = call.run(&args).expect(0);
    let mut places = vec![("terminal", output.all())];
    for format in formats {
        places.push((
            format,
            fs::read_to_string(world.path().join(format!("{format}.out"))).unwrap(),
        ));
    }
    places.push((
        "summary",
        fs::read_to_string(world.path().join("summary.md")).unwrap(),
    ));
    let context = call.run("context").expect(0);
    places.push(("context", context.out));
    places.push(("context", call.run("context --json").expect(0).out));
    for (place, text) in places {
        let text = text
            .replace("&#58;", ":")
            .replace("&#45;", "-")
            .replace("&#40;", "(")
            .replace("&#41;", ")");
        for words in expected {
            let value = text.contains(words) || text.contains(&words.replace('→', "\\u2192"));
            assert!(value, "{place}: {words:?} is not in\n{text}");
        }
    }
}

/// Only the limit of a rule has a direction. A field that the rule does not read may have a similar name.
#[test]
fn changed_field_that_is_no_limit_of_rule_has_unknown_effect() {
    let config = |maximum: u32, minimum: u32| {
        let fields = format!("maxComponents: {maximum}, minComponents: {minimum}");
        RULES.replace("maxComponents: 3", &fields)
    };
    for (after, expected) in [
        (config(3, 2), "minComponents 1 → 2 (changed)"),
        (config(2, 1), "maxComponents 3 → 2 (tightened)"),
    ] {
        let world = world_with_changed_files(&[(RULES_FILE, &config(3, 1))], &[(RULES_FILE, &after)]);
        let sentences = &check_report(&world, 0, "")["gateChangesInWords"][RULES_FILE];
        assert_eq!(
            *sentences,
            json!([format!("rules: maximum-components {expected}")])
        );
    }
}

#[test]
fn entry_about_gate_file_is_at_existing_file() {
    let world = world_with_changed_files(
        &[("sluicegate.yaml", "review: { fail-on: error }\n")],
        &[("b.orch.yaml", &good_pipeline())],
    );
    let entry_path = || {
        let report = Call::new(&world.work())
            .run("check --base origin/main --head HEAD --report gitlab=-")
            .expect(0)
            .json();
        let entries = report.as_array().unwrap();
        let is_gate_change = |entry: &&Value| entry["check_name"] == "gate-change";
        let entry = entries.iter().find(is_gate_change).unwrap();
        assert!(entry["description"].as_str().unwrap().contains("sluicegate.yaml"));
        entry["location"]["path"].clone()
    };
    world.write("sluicegate.yaml", "review: { fail-on: warn }\n");
    world.commit("stricter");
    assert_eq!(entry_path(), "sluicegate.yaml");
    world.git("rm -q sluicegate.yaml");
    world.commit("remove the configuration");
    assert_eq!(entry_path(), "b.orch.yaml");
    // Without a pipeline, the entry is at any other file.
    world.git("rm -q b.orch.yaml");
    world.commit("remove the pipeline");
    let path = entry_path();
    assert!(world.work().join(path.as_str().unwrap()).is_file(), "{path}");
}

#[test]
fn gate_change_of_unreadable_file_is_reported() {
    let world = world_with_changed_files(&[], &[(RULES_FILE, "rules: 7\n")]);
    let words = check_report(&world, 1, "")["gateChangesInWords"][RULES_FILE].to_string();
    assert!(
        words.contains("the version of the change cannot be read: "),
        "{words}"
    );
    fs::remove_file(world.work().join(RULES_FILE)).unwrap();
    symlink("/etc/hostname", world.work().join(RULES_FILE)).unwrap();
    world.commit("link");
    let words = check_report(&world, 1, "")["gateChangesInWords"][RULES_FILE].to_string();
    assert!(
        words.contains("cannot be read: the file is a symbolic link"),
        "{words}"
    );
}

#[test]
fn text_of_the_gates_files_is_safe_and_bounded() {
    let hostile = format!(
        "exclude: [\"\\e[31m\\n::error::x ##[error]y {}\"]\n",
        "z".repeat(100_000)
    );
    let world = world_with_changed_files(&[], &[("sluicegate.yaml", &hostile)]);
    let output = Call::new(&world.work()).run("check --head HEAD").expect(0);
    assert!(output.out.contains("exclude: + "), "{}", output.all());
    assert!(output.all().len() < 10_000 && !output.all().contains('\u{1b}') && !output.all().contains("##["));
    assert!(
        !output
            .all()
            .lines()
            .any(|line| line.trim_start().starts_with("::"))
    );
}

#[test]
fn setting_that_moves_base_hides_no_change_of_gate() {
    let world = world_with_changed_files(
        &[("sluicegate.yaml", "review: { fail-on: warn }\n")],
        &[
            ("sluicegate.yaml", "review: { fail-on: never }\n"),
            ("b.orch.yaml", &good_pipeline()),
        ],
    );
    world.write("c.orch.yaml", good_pipeline());
    world.commit("later");
    world.push();
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let call = opened_pull_request(&world, platform.call(&world));
    for moved in [&["--base", "HEAD~1"][..], &["--all"]] {
        for command in ["review", "check"] {
            let report = call
                .run((&[command, "--report", "json=-"], moved))
                .expect(0)
                .json();
            assert_eq!(
                report["gateChangesInWords"],
                json!({ "sluicegate.yaml": ["review.fail-on: warn → never (relaxed)"] }),
                "{command} {moved:?}"
            );
            let notes = report["notes"].to_string();
            assert!(
                notes.contains("are in effect after the merge (sluicegate.yaml)"),
                "{notes}"
            );
        }
        let context = call.run(("context --json", moved)).expect(0).json();
        assert_eq!(context["gateChanges"], json!(["sluicegate.yaml"]), "{moved:?}");
    }
    let moved = call.variable("SLUICEGATE_BASE", "HEAD~1");
    assert_eq!(
        moved.run(&["review", "--report", "json=-"]).expect(0).json()["gateChanges"],
        json!(["sluicegate.yaml"])
    );
}

/// Without a CI host, nothing else than the requested base shows which change is meant.
#[test]
fn local_check_compares_gate_configuration_with_requested_base() {
    let rules = format!("{RULES}# more\n");
    let world = change(&[("b.orch.yaml", &good_pipeline()), (RULES_FILE, &rules)]);
    for (args, changed_files) in [
        ("", json!([RULES_FILE])),
        ("--base HEAD", json!([])),
        ("--all --base HEAD~1", json!([RULES_FILE])),
        ("--all --base HEAD", json!([])),
        ("--staged", json!([])),
    ] {
        let report = Call::new(&world.work())
            .run(("check --report json=-", args))
            .expect(0)
            .json();
        assert_eq!(report["gateChanges"], changed_files, "{args:?}");
    }
}

#[test]
fn configuration_that_is_named_or_linked_to_is_gates_own() {
    let world = project();
    world.write("ci/gate.yaml", "retries: 1\n");
    world.write("ci/real.yaml", "retries: 1\n");
    symlink("ci/real.yaml", world.work().join("sluicegate.yaml")).unwrap();
    world.commit("before");
    world.push();
    world.git("checkout -q -b change");
    world.write("ci/gate.yaml", "retries: 2\n");
    world.write("ci/real.yaml", "retries: 3\n");
    world.commit("after");
    world.push();
    let changes = |call: Call| {
        let args = "check --head HEAD --report json=-";
        call.run(args).expect(0).json()["gateChangesInWords"].clone()
    };
    assert_eq!(
        changes(Call::new(&world.work())),
        json!({ "ci/real.yaml": ["retries: 1 → 3 (changed)"] })
    );
    assert_eq!(
        changes(Call::new(&world.work()).variable("SLUICEGATE_CONFIG", "ci/gate.yaml")),
        json!({ "ci/gate.yaml": ["retries: 1 → 2 (changed)"] })
    );
}

#[test]
fn change_of_gate_and_more_fails_if_job_requests_it() {
    let config = ("sluicegate.yaml", "retries: 1\n");
    let alone = world_with_changed_files(&[], &[config]);
    let more = world_with_changed_files(&[], &[config, ("README.md", "words\n")]);
    let none = world_with_changed_files(&[], &[("README.md", "words\n")]);
    let accepted = check_report(&alone, 0, "--gate-changes fail");
    assert_eq!(accepted["verdict"], "passed");
    check_report(&none, 0, "--gate-changes fail");
    check_report(&more, 0, "");
    let failed = check_report(&more, 1, "--gate-changes fail");
    assert_eq!(failed["verdict"], "failed");
    assert!(
        failed["notes"].to_string().contains("--gate-changes fail"),
        "{failed}"
    );
    let call = Call::new(&more.work()).variable("SLUICEGATE_GATE_CHANGES", "fail");
    let output = call.run("check --head HEAD --report junit=-").expect(1);
    assert!(
        output.out.contains("<error type=\"gate-change\""),
        "JUnit is all green: {}",
        output.all()
    );
    let output = call.run("check --head HEAD --report json=../r.json").expect(1);
    assert!(output.all().contains("--gate-changes fail"), "{}", output.all());
    call.run("report ../r.json").expect(1);
    let file = more.path().join("r.json");
    let text = fs::read_to_string(&file)
        .unwrap()
        .replace("\"verdict\": \"failed\"", "\"verdict\": \"passed\"");
    fs::write(&file, text).unwrap();
    call.run("report ../r.json")
        .expect(2)
        .saying(&["that the job does not allow"]);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let call = opened_pull_request(&more, platform.call(&more));
    for command in ["review", "ci"] {
        for (moved, code) in [("", 1), ("--all", 1), ("--base HEAD", 7)] {
            call.run((command, "--gate-changes fail", moved)).expect(code);
        }
    }
    assert!(
        platform
            .requests()
            .iter()
            .all(|request| !request.url.path().contains("artifact"))
    );
}

#[test]
fn uncommitted_gate_change_and_more_fails_on_default_branch() {
    let world = world_with_changed_files(&[("sluicegate.yaml", "retries: 2\n")], &[]);
    world.git("checkout -q main");
    world.write("sluicegate.yaml", "retries: 1\n");
    let call = Call::new(&world.work());
    call.run("check --gate-changes fail").expect(0);
    world.write("README.md", "words\n");
    world.git("add README.md");
    let log = call.run("check --gate-changes fail").expect(1).out;
    assert!(
        log.contains("edits the gate configuration and other files"),
        "{log}"
    );
}

#[test]
fn name_that_is_no_text_is_more_than_gate() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = world_with_changed_files(&[], &[("sluicegate.yaml", "retries: 1\n")]);
    check_report(&world, 0, "--gate-changes fail");
    let name = std::ffi::OsStr::from_bytes(b"words\xff.md");
    fs::write(world.work().join(name), "words\n").unwrap();
    world.commit("more");
    check_report(&world, 1, "--gate-changes fail");
}

/// With a base other than the host's, a gate change could be missed.
#[test]
fn unknown_base_of_host_lets_no_gate_change_pass() {
    let world = world_with_changed_files(
        &[],
        &[("sluicegate.yaml", "retries: 1\n"), ("README.md", "words\n")],
    );
    let call = Call::new(&world.work())
        .variable("JENKINS_URL", "https://jenkins.example.com/")
        .variable("BUILD_ID", "1")
        .variable("GIT_COMMIT", world.git("rev-parse HEAD"))
        .variable("CHANGE_ID", "7")
        .variable("CHANGE_BRANCH", "change")
        .variable("CHANGE_TARGET", "gone");
    let args = "check --head HEAD --all";
    call.run(args)
        .expect(0)
        .saying(&["could not resolve the base that the CI host names"]);
    call.run((args, "--gate-changes fail"))
        .expect(7)
        .saying(&["gone"]);
}

#[test]
fn gate_changes_setting_in_file_is_refused() {
    let world = world_with_changed_files(&[], &[("sluicegate.yaml", "gate-changes: warn\n")]);
    Call::new(&world.work())
        .run("check")
        .expect(2)
        .saying(&["gate-changes", "SLUICEGATE_GATE_CHANGES"]);
}

#[test]
fn excluded_pipelines_are_listed_with_their_reason() {
    let world = change(&[
        ("old/a.orch.yaml", &bad_pipeline()),
        ("b.orch.yaml", &good_pipeline()),
        ("c.tran.yaml", "type: transformation\npipeline: {}\n"),
    ]);
    let flags = "--exclude old/** --include **/*.orch.yaml";
    let left = check_report(&world, 0, flags);
    assert_eq!(left["excluded"], json!(["c.tran.yaml", "old/a.orch.yaml"]));
    assert_eq!(
        left["excludedReasons"],
        json!({ "c.tran.yaml": "not matched by the setting `include`", "old/a.orch.yaml": "matched by the setting `exclude`" })
    );
    assert_eq!(left["counts"]["excluded"], 2);
    let output = Call::new(&world.work())
        .run((
            "check --head HEAD --report markdown=../m --report html=../h",
            flags,
        ))
        .expect(0);
    let read = |name: &str| fs::read_to_string(world.path().join(name)).unwrap();
    for text in [output.out, read("m"), read("h")] {
        let text = text
            .replace("&#58;", ":")
            .replace("&#40;", "(")
            .replace("&#45;", "-");
        assert!(
            text.contains("Excluded: 2 files: c.tran.yaml (not matched by "),
            "{text}"
        );
    }
    let merged = {
        fs::write(world.path().join("r.json"), left.to_string()).unwrap();
        Call::new(&world.work())
            .run("report ../r.json --report json=-")
            .expect(0)
            .json()
    };
    assert_eq!(merged["excludedReasons"], left["excludedReasons"]);
}

#[test]
fn names_that_only_look_like_a_pipeline_are_warned_about() {
    let world = change(&[
        ("a.ORCH.YAML", &bad_pipeline()),
        ("b.orch.yml", &bad_pipeline()),
        ("c.orch.yaml ", &bad_pipeline()),
        ("d.orch\u{200b}.yaml", &bad_pipeline()),
        ("e.orch.yaml", &good_pipeline()),
    ]);
    let call = Call::new(&world.work());
    for all in ["", "--all"] {
        let output = call
            .run(("check --head HEAD --report json=-", all))
            .expect(0)
            .saying(&[
                "4 files have names that only look like names of pipelines",
                "\"c.orch.yaml \"",
                "d.orch\\u{200b}.yaml",
            ]);
        let notes = output.json()["notes"].to_string();
        assert!(
            notes.contains("a.ORCH.YAML") && notes.contains("b.orch.yml"),
            "{notes}"
        );
    }
    call.run("context").expect(0).saying(&["a.ORCH.YAML"]);
    world.push();
    let github = Job::github().pull_request().call(&world);
    let output = github.run("check --report gitlab=q.json").expect(0);
    let text = "4 files have names that only look like";
    let annotation = format!("::warning title=review::{text}");
    assert!(output.all().contains(&annotation), "{}", output.all());
    let code_quality = fs::read_to_string(world.work().join("q.json")).unwrap();
    assert!(code_quality.contains(text), "{code_quality}");
    // A pipeline that gets such a name is deleted, and is not excluded silently.
    world.git("mv a.orch.yaml a.orch.yml");
    world.commit("hidden");
    let context = call.run("context --json").expect(0).json();
    let gone = json!({ "path": "a.orch.yaml", "change": "deleted", "selected": false, "reason": "deleted" });
    assert!(
        context["changed"].as_array().unwrap().contains(&gone),
        "{context:#}"
    );
}

#[test]
fn note_about_many_lookalikes_names_the_command_that_lists_them_all() {
    let world = project();
    for number in 10..22 {
        world.write(&format!("a{number}.ORCH.yaml"), good_pipeline());
    }
    world.commit("lookalikes");
    let call = Call::new(&world.work());
    let output = call.run("check --all --report json=-").expect(0);
    let notes = output.json()["notes"].to_string();
    assert!(
        notes.contains("a19.ORCH.yaml") && !notes.contains("a21.ORCH.yaml"),
        "{notes}"
    );
    assert!(
        notes.contains("`sluicegate context --all -o json` lists all"),
        "{notes}"
    );
    let context = call.run("context --all -o json").expect(0).json();
    let paths = context["lookalikes"].as_array().unwrap();
    assert_eq!((paths.len(), &paths[11]), (12, &json!("a21.ORCH.yaml")));
}

#[test]
fn deleted_name_that_only_looks_like_a_pipeline_is_not_reported() {
    let world = world_with_changed_files(&[("old.orch.yml", &good_pipeline())], &[]);
    world.git("rm -q old.orch.yml");
    world.commit("delete");
    let ended = Call::new(&world.work()).run("check").expect(0);
    assert!(!ended.all().contains("old.orch.yml"), "{}", ended.all());
}

#[test]
fn submodule_with_pipelines_name_is_reported_and_not_sent() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    let commit = world.git("rev-parse HEAD");
    let entry = format!("160000,{commit},sub.orch.yaml");
    world.git(&["update-index", "--add", "--cacheinfo", &entry]);
    world.git("commit -q -m submodule");
    world.push();
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    for all in [&[][..], &["--all"]] {
        let args = ("review --report json=-", all);
        let report = platform.call(&world).run(&args).expect(0).json();
        assert_eq!(
            report["excludedReasons"],
            json!({ "sub.orch.yaml": "a submodule, not a file" })
        );
    }
    let paths: Vec<String> = platform
        .requests()
        .iter()
        .flat_map(crate::support::requested_pipelines)
        .collect();
    assert!(
        !paths.is_empty() && !paths.contains(&"sub.orch.yaml".to_owned()),
        "{paths:?}"
    );
    for all in [&[][..], &["--all"]] {
        let args = ("check --head HEAD --report json=-", all);
        let report = Call::new(&world.work()).run(&args).expect(3).json();
        assert_eq!(
            report["unreviewedReasons"],
            json!({ "sub.orch.yaml": "a submodule, not a file" })
        );
    }
}

/// A change that makes a link of the gate point to its pipeline, or moves the pipeline there from a file of the gate.
#[cfg(unix)]
#[test]
fn pipeline_is_judged_wherever_gate_leads() {
    let world = change(&[("jobs/b.orch.yaml", &bad_pipeline())]);
    symlink("jobs/b.orch.yaml", world.work().join("sluicegate-waivers.yaml")).unwrap();
    world.commit("a link");
    world.push();
    let check = |args: &str| Call::new(&world.work()).run(("check --head HEAD --policy base", args));
    let report = check("--report json=-").expect(1).json();
    assert_eq!(report["files"][0]["path"], "jobs/b.orch.yaml");
    check("--gate-changes fail --fail-on never").expect(1);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    platform.call(&world).run("review --policy base").expect(0);
    let paths: Vec<String> = platform
        .requests()
        .iter()
        .flat_map(crate::support::requested_pipelines)
        .collect();
    assert_eq!(paths, ["jobs/b.orch.yaml"]);

    let words = "# The gate of this project, which its owners steer.\n".repeat(20);
    let world = world_with_changed_files(&[("sluicegate.yaml", &format!("{words}retries: 0\n"))], &[]);
    world.git("rm -q sluicegate.yaml");
    world.write("b.orch.yaml", format!("{words}{}", bad_pipeline()));
    world.commit("a move");
    world.push();
    let output = Call::new(&world.work()).run("check --head HEAD --report json=-");
    assert_eq!(output.expect(1).json()["files"][0]["path"], "b.orch.yaml");
}

#[test]
fn wrong_project_or_branch_is_not_unavailable_platform() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    for (status, code) in [
        (400, 3),
        (401, 4),
        (403, 4),
        (404, 3),
        (413, 3),
        (418, 3),
        (422, 3),
        (429, 3),
        (500, 0),
        (503, 0),
    ] {
        let platform = Platform::new();
        platform.reviews(ResponseTemplate::new(status));
        platform.is_down();
        let args = "review --on-unavailable pass --report json=-";
        let output = platform.call(&world).run(args).expect(code);
        assert_eq!(output.json()["verdict"], "undecided", "{status}");
        if code == 3 {
            assert!(output.err.contains("hint:"), "{}", output.all());
        }
    }
}

#[test]
fn only_a_200_or_a_201_is_an_answer_to_a_review() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    let passed = json!({ "reviewStatus": "PASSED", "results": { "b.orch.yaml": passed_results() } });
    for status in [202, 203, 206] {
        let platform = Platform::new();
        platform.reviews(ResponseTemplate::new(status).set_body_json(&passed));
        let call = platform.call(&world);
        let output = call.run("review --report json=-").expect(3);
        assert_eq!(output.json()["verdict"], "undecided", "{status}");
        output.saying(&[&status.to_string(), "200"]);
    }
    for status in [200, 201] {
        let platform = Platform::new();
        platform.reviews(ResponseTemplate::new(status).set_body_json(&passed));
        platform.call(&world).run("review").expect(0);
    }
}

#[test]
fn renamed_name_that_only_looks_like_a_pipeline_is_no_deleted_pipeline() {
    let world = world_with_changed_files(&[("x.orch.yml", "text")], &[]);
    world.git("mv x.orch.yml y.orch.yml");
    world.commit("rename");
    let output = Call::new(&world.work()).run("context --json").expect(0);
    let context = output.json();
    assert_eq!(context["changed"], json!([]), "{context:#}");
}

/// Not a finding fails such a review, and its report is valid all the same.
#[test]
fn report_of_refused_gate_change_is_valid_with_fail_on_never() {
    let world = world_with_changed_files(
        &[],
        &[
            ("sluicegate.yaml", "retries: 1\n"),
            ("b.orch.yaml", &good_pipeline()),
        ],
    );
    opened_pull_request(&world, Call::new(&world.work()))
        .run("check --gate-changes fail --fail-on never --report json=../r.json")
        .expect(1);
    Call::new(&world.work()).run("report ../r.json").expect(1);
}

/// A report does not show whether the change edits other files than the gate configuration.
#[test]
fn report_refuses_the_flag_for_gate_changes() {
    let world = world_with_changed_files(&[], &[("sluicegate.yaml", "retries: 1\n")]);
    let call = opened_pull_request(&world, Call::new(&world.work()));
    call.run("check --report json=../r.json").expect(0);
    call.run("report ../r.json --gate-changes fail")
        .expect(2)
        .saying(&["hint: pass it to the command that writes the report"]);
    let variable = call.clone().variable("SLUICEGATE_GATE_CHANGES", "fail");
    variable.run("report ../r.json").expect(0);
    let help = call.run("report --help").expect(0);
    assert!(!help.out.contains("gate-changes"), "{}", help.out);
}

#[test]
fn rules_of_another_hidden_directory_in_settings_are_compared() {
    let moved_rules_file = RULES_FILE.replace(".platform", ".moved");
    for (rules, is_relaxed) in [("rules: []\n", true), (RULES, false)] {
        let world = world_with_changed_files(
            &[
                (RULES_FILE, RULES),
                ("sluicegate.yaml", "config-dir: .platform\n"),
            ],
            &[
                (&moved_rules_file, rules),
                ("sluicegate.yaml", "config-dir: .moved\n"),
            ],
        );
        let output = opened_pull_request(&world, Call::new(&world.work())).run("check --report json=-");
        let report = output.expect(0).json();
        let words = report["gateChangesInWords"][&moved_rules_file].to_string();
        let sentence = "component-naming-convention error → removed (relaxed)";
        assert_eq!(words.contains(sentence), is_relaxed, "{words}");
        assert_eq!(words.contains("no rule has changed"), !is_relaxed, "{words}");
    }
}

#[test]
fn team_rules_file_with_similar_path_is_not_described_as_rules_file() {
    let path = "x/team-config/pipeline_quality_rules.yaml";
    let rule = "rules:\n  - { id: no-python, level: error, for: component, \
                when: 'component.type == \"python-script\"', message: m }\n";
    let world = world_with_changed_files(
        &[
            ("sluicegate.yaml", &format!("review: {{ team-rules: {path} }}\n")),
            (path, rule),
        ],
        &[(path, &rule.replace("error", "warn"))],
    );
    let report = check_report(&world, 0, "");
    assert_eq!(
        report["gateChangesInWords"][path],
        json!(["team/no-python error → warn (relaxed)"])
    );
}
