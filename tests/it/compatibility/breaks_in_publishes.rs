//! Compatibility: the effects of a publish on consumers, reported before the upload.

use crate::support::{
    Platform, Shop, answer, git, job_output, offer, orchestration_text, parameter, push_of_branch,
};
use serde_json::{Value, json};
use std::fs;
use wiremock::{Request, ResponseTemplate};

#[test]
fn review_of_ci_accepts_no_break_if_compared_version_is_missing() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    let args = "ci --publish --base HEAD~1 --compat fail --publish-on-branch main --version-name 1.1.0";
    let output = shop.call().run((args, "--against 0.9.0"));
    assert_ne!(output.code, 0, "{}", output.all());
    assert!(
        !output.all().contains("is enabled, so it has no consumers"),
        "{}",
        output.all()
    );
    assert_eq!(shop.versions(), ["1.0.0"]);
}

#[test]
fn flag_of_a_comparison_that_is_off_exits_with_2() {
    let shop = Shop::new();
    let run = |args: &str| shop.call().run(args);
    for (command, flag, value) in [
        ("check", "--accept-breaking", "known"),
        ("review", "--accept-breaking", "known"),
        ("ci --version-name 1", "--accept-breaking", "known"),
        (
            "ci --publish --publish-on-branch main --version-name 1",
            "--against",
            "0.9",
        ),
        ("publish --version-name 1", "--accept-breaking", "known"),
        ("publish --version-name 1", "--against", "0.9"),
    ] {
        let args = format!("{command} {flag} {value}");
        run(&format!("{args} --compat off")).expect(2).saying(&[
            &format!("{flag} has no effect with --compat off"),
            &format!("hint: pass --compat warn or --compat fail, or remove {flag}"),
        ]);
        // The flag precedes the configuration file.
        shop.world.write("sluicegate.yaml", "publish:\n  compat: off\n");
        run(&args).expect(2).saying(&["has no effect with --compat off"]);
        let output = run(&format!("{args} --compat warn"));
        assert!(!output.all().contains("has no effect"), "{}", output.all());
        fs::remove_file(shop.world.work().join("sluicegate.yaml")).unwrap();
    }
    // A variable may be set for several commands.
    shop.call()
        .variable("SLUICEGATE_ACCEPT_BREAKING", "known")
        .variable("SLUICEGATE_AGAINST", "0.9")
        .run("publish --version-name 2 --compat off")
        .expect(0);
}

#[test]
fn break_is_refused_with_both_places_and_nothing_is_sent() {
    let shop = Shop::new();
    shop.publish("1.0.0 --compat fail").expect(0);
    assert_eq!(shop.receipt()["compat"]["class"], "none");
    assert_eq!(shop.receipt()["compat"]["against"], Value::Null);
    shop.offer(&[("load", &parameter("hour", ", default: 1"))]);
    let junit = shop.world.path().join("publish.xml");
    let fail = ["1.1.0", "--compat", "fail", "--junit", junit.to_str().unwrap()];
    shop.publish(&fail).expect(1).saying(&[
        "version 1.1.0 of sales breaks consumers of version 1.0.0",
        ".platform/shared-pipelines.yaml:2: `load`: the parameter `day` was removed",
        "(before: .platform/shared-pipelines.yaml:6 in version 1.0.0)",
        ".platform/shared-pipelines.yaml:7 in version 1.0.0: `clean`: the shared pipeline is no longer \
         offered; consumers: run another shared pipeline",
        "hint: nothing was sent",
        "--accept-breaking",
        "2.0.0",
    ]);
    assert_eq!(shop.versions(), ["1.0.0"]);
    let receipt = shop.receipt();
    assert_eq!(
        (&receipt["outcome"], &receipt["compat"]["class"]),
        (&"failed".into(), &"breaking".into())
    );
    assert_eq!(receipt["compat"]["against"], "1.0.0");
    assert_eq!(receipt["compat"]["accepted"], Value::Null);
    let changes = receipt["compat"]["changes"].as_array().unwrap();
    let words: Vec<&str> = changes
        .iter()
        .map(|entry| entry["change"].as_str().unwrap())
        .collect();
    assert_eq!(
        words,
        ["parameter-added", "parameter-removed", "pipeline-removed"]
    );
    let outputs = shop.outputs();
    assert_eq!(
        (
            job_output(&outputs, "compat"),
            job_output(&outputs, "next-version")
        ),
        ("breaking".into(), "2.0.0".into())
    );
    let junit = fs::read_to_string(junit).unwrap();
    assert!(
        junit.contains("name=\"publish\"") && junit.contains("failures=\"3\""),
        "{junit}"
    );
}

#[test]
fn break_is_reported_by_default_and_published() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    let junit = shop.world.path().join("publish.xml");
    shop.publish(&["1.1.0", "--junit", junit.to_str().unwrap()])
        .expect(0)
        .saying(&[
            "warning: version 1.1.0 of sales breaks consumers",
            "the parameter `day` was removed",
        ]);
    assert_eq!(shop.receipt()["compat"]["accepted"], Value::Null);
    let junit = fs::read_to_string(junit).unwrap();
    assert!(
        junit.contains("failures=\"0\"") && junit.contains("<skipped"),
        "{junit}"
    );
    assert_eq!(shop.versions(), ["1.0.0", "1.1.0"]);
}

#[test]
fn break_is_no_failure_of_rerun_for_an_existing_version() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let first_commit = shop.world.git("rev-parse HEAD");
    let day = parameter("day", "");
    shop.offer(&[
        ("load", &day),
        ("clean", &parameter("day", ", default: x")),
        ("more", ""),
    ]);
    shop.publish("1.1.0").expect(0);
    let junit = shop.world.path().join("publish.xml");
    let args = "1.0.0 --compat fail --if-exists same-content";
    let args = format!("{args} --head {first_commit} --junit {}", junit.display());
    shop.publish(args.as_str()).expect(0);
    let junit = fs::read_to_string(junit).unwrap();
    // Consumers do not go back to this version, so the report has no breaks.
    assert!(
        junit.contains("failures=\"0\"") && !junit.contains("<skipped"),
        "{junit}"
    );
}

#[test]
fn break_is_accepted_by_reason_of_job_alone() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    for empty in ["", "  "] {
        shop.publish(&["1.1.0", "--compat", "fail", "--accept-breaking", empty])
            .expect(2)
            .saying(&["the reason for --accept-breaking is empty"]);
    }
    shop.world
        .write("sluicegate.yaml", "publish: { accept-breaking: because }\n");
    shop.publish("1.1.0 --compat fail").expect(2).saying(&[
        "`accept-breaking` is not allowed in",
        "SLUICEGATE_ACCEPT_BREAKING",
    ]);
    fs::remove_file(shop.world.work().join("sluicegate.yaml")).unwrap();
    shop.publish("1.1.0 --compat fail --accept-breaking 'agreed with sales'")
        .expect(0)
        .saying(&["accepted: agreed with sales"]);
    assert_eq!(shop.receipt()["compat"]["accepted"], "agreed with sales");
    // Without a breaking change, the receipt records no acceptance.
    shop.publish("1.1.1 --accept-breaking agreed").expect(0);
    assert_eq!(shop.receipt()["compat"]["accepted"], Value::Null);
}

#[test]
fn rerun_reports_the_break_that_the_first_run_accepted() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    let accept = "--compat fail --accept-breaking agreed --if-exists same-content";
    shop.publish(format!("1.1.0 {accept}")).expect(0);
    let first_receipt = shop.receipt();
    for version_name in ["1.1.0", "{short-sha}", "{next}"] {
        shop.publish(format!("{version_name} {accept}")).expect(0);
        let receipt = shop.receipt();
        assert_eq!(receipt["outcome"], "already-published", "{version_name}");
        assert_eq!(receipt["compat"], first_receipt["compat"], "{version_name}");
        assert_eq!(
            job_output(&shop.outputs(), "compat"),
            "breaking",
            "{version_name}"
        );
        assert_eq!(job_output(&shop.outputs(), "next-version"), "", "{version_name}");
    }
}

/// The version before is disabled meanwhile.
#[test]
fn rerun_reports_the_break_since_a_disabled_version() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    let args = "1.1.0 --if-exists same-content";
    shop.publish(args).expect(0);
    let first_receipt = shop.receipt();
    shop.call()
        .run("artifacts disable --prefix sales --version-name 1.0.0")
        .expect(0);
    shop.publish(args).expect(0);
    let receipt = shop.receipt();
    assert_eq!(receipt["compat"]["against"], "1.0.0");
    assert_eq!(receipt["compat"], first_receipt["compat"]);
}

#[test]
fn rerun_of_second_version_of_a_commit_does_not_repeat_the_break_of_the_first() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    shop.publish("1.1.0").expect(0);
    let args = "1.1.1 --if-exists same-content";
    shop.publish(args).expect(0);
    let first_receipt = shop.receipt();
    shop.publish(args).expect(0);
    let receipt = shop.receipt();
    assert_eq!(receipt["compat"]["against"], "1.1.0");
    assert_eq!(receipt["compat"], first_receipt["compat"]);
    assert_eq!(job_output(&shop.outputs(), "compat"), "none");
}

/// The comparison only completes the report of a rerun.
#[test]
fn rerun_succeeds_with_a_warning_if_the_earlier_version_cannot_be_compared() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let blob = shop.world.git("rev-parse HEAD:.platform/shared-pipelines.yaml");
    shop.break_it();
    let args = "1.1.0 --if-exists same-content";
    shop.publish(args).expect(0);
    let object_path = format!(".git/objects/{}/{}", &blob[..2], &blob[2..]);
    fs::remove_file(shop.world.work().join(object_path)).unwrap();
    shop.publish(args)
        .expect(0)
        .saying(&["could not determine the changes for consumers: "]);
    assert_eq!(shop.receipt()["outcome"], "already-published");
}

#[test]
fn second_version_of_a_commit_changes_nothing_for_consumers() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    shop.publish("1.1.0 --compat fail --accept-breaking agreed")
        .expect(0);
    shop.publish("1.1.1 --compat fail").expect(0);
    let compat = &shop.receipt()["compat"];
    assert_eq!(
        (&compat["against"], &compat["class"]),
        (&"1.1.0".into(), &"none".into())
    );
}

#[test]
fn names_that_announce_a_break_accept_it_and_counted_ones_do_not() {
    let shop = Shop::new();
    shop.publish("v1.4.0").expect(0);
    shop.break_it();
    shop.publish("v1.5.0 --compat fail").expect(1);
    shop.publish("2026.11.20 --compat fail").expect(1);
    shop.publish("{next} --compat fail").expect(1).saying(&[
        "version v2.0.0 of sales breaks consumers",
        "`{next}` does not accept a break: pass --version-name v2.0.0, or accept the break",
    ]);
    assert_eq!(shop.versions(), ["v1.4.0"]);
    shop.publish("v2.0.0 --compat fail").expect(0);
    let accepted = &shop.receipt()["compat"]["accepted"];
    assert_eq!(accepted, "v2.0.0 has a higher major version than v1.4.0");
}

#[test]
fn clone_without_published_commit_compares_ids_and_reports_it() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.offer(&[("load", &parameter("hour", ", default: x"))]);
    let url = format!("file://{}", shop.world.remote().display());
    git(shop.world.path(), format!("clone -q --depth=1 {url} shallow"));
    let folder = shop.world.path().join("shallow");
    let publish = |args: &[&str]| {
        shop.call_in(&folder).run((
            "publish --receipt ../receipt.json --branch main --version-name",
            args,
        ))
    };
    for args in [["1.1.0", "--compat", "fail"].as_slice(), &["{next}"]] {
        publish(args)
            .expect(7)
            .saying(&["the clone does not have commit", "--deepen"]);
        let receipt = shop.receipt();
        assert_eq!(
            (&receipt["outcome"], &receipt["versionName"]),
            (&"failed".into(), &args[0].into())
        );
        let text = if args[0] == "{next}" {
            "no version was published: the publish failed before it had a version name"
        } else {
            "the platform has no version 1.1.0 of sales"
        };
        let verify = shop.call().run("verify ../receipt.json").expect(6);
        assert!(!verify.err.contains("no version {next}"), "{}", verify.all());
        verify.saying(&[text]);
        fs::remove_file(shop.world.path().join("receipt.json")).unwrap();
    }
    // A wrong address does not show that the version is missing.
    publish(&["1.1.0", "--compat", "fail"]).expect(7);
    shop.call()
        .run(format!(
            "verify ../receipt.json --base-url {}/wrong",
            shop.server.url
        ))
        .expect(3)
        .saying(&["hint: check the base URL, the prefix and the version"]);
    publish(&["1.1.0", "--dry-run"])
        .expect(0)
        .saying(&["comparing only the ids of shared pipelines"]);
    let compat = shop.receipt()["compat"].clone();
    assert_eq!(
        (&compat["class"], &compat["idsOnly"]),
        (&"breaking".into(), &true.into())
    );
    let output = publish(&["{next}", "--deepen"])
        .expect(0)
        .saying(&["fetching commit", "the parameter `day` was removed"]);
    assert!(output.out.contains("2.0.0"), "{}", output.all());
}

#[test]
fn hint_for_commit_of_replaced_history_fits_a_full_clone() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.world.git("commit -q --amend -m other");
    shop.world.git("push -q -f origin main");
    let url = format!("file://{}", shop.world.remote().display());
    git(shop.world.path(), format!("clone -q {url} full"));
    let publish = |args: &str| {
        shop.call_in(&shop.world.path().join("full"))
            .run(("publish --branch main", args))
            .expect(7)
    };
    let output = publish("--version-name {next}").saying(&["hint: pass --deepen to fetch the commit"]);
    assert!(!output.err.contains("full history"), "{}", output.all());
    // The remote no longer has the commit.
    shop.world.git(format!(
        "--git-dir {} gc -q --prune=now",
        shop.world.remote().display()
    ));
    publish("--version-name {next} --deepen").saying(&["or a --version-name without `{next}`"]);
    let output = publish("--version-name 1.1.0 --compat fail --deepen").saying(&["pass --against VERSION"]);
    assert!(!output.err.contains("{next}"), "{}", output.all());
}

#[test]
fn clone_that_compared_only_ids_never_reports_unchanged_files() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    let url = format!("file://{}", shop.world.remote().display());
    git(shop.world.path(), format!("clone -q --depth=1 {url} shallow"));
    let receipt = shop.world.path().join("receipt.json");
    let version = "--version-name 1.1.0 --branch main";
    let output = shop
        .call_in(&shop.world.path().join("shallow"))
        .run((&["publish", "--receipt", receipt.to_str().unwrap()], version));
    let output = output.expect(0).saying(&[
        "the clone does not have commit",
        "hint: pass --deepen to fetch the commit",
        "since version 1.0.0: no id was removed; the parameters were not compared",
    ]);
    assert!(!output.all().contains("nothing changed"), "{}", output.all());
    assert_eq!(shop.receipt()["compat"]["class"], Value::Null);
}

#[test]
fn impact_in_clone_without_version_reports_uncompared_parameters() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    let url = format!("file://{}", shop.world.remote().display());
    git(shop.world.path(), format!("clone -q --depth=1 {url} shallow"));
    let args = ["artifacts", "impact", "--repos", "."];
    let remark = "in 1 repository); the parameters were not compared\n";
    for (folder, is_incomplete) in [
        (shop.world.path().join("shallow"), true),
        (shop.world.work(), false),
    ] {
        let call = shop.call_in(&folder);
        let output = call.run(&args).expect(0);
        assert_eq!(output.out.ends_with(remark), is_incomplete, "{}", output.all());
        let document = call.run((&args, "-o json")).expect(0).json();
        assert_eq!(document["idsOnly"], is_incomplete, "{document}");
    }
}

#[test]
fn version_that_cannot_be_asked_for_leaves_receipt() {
    let shop = Shop::new();
    let platform = Platform::new();
    platform.respond_to("GET", "/details$", ResponseTemplate::new(500));
    let (receipt, junit) = (
        shop.world.path().join("receipt.json"),
        shop.world.path().join("junit.xml"),
    );
    let call = platform.call(&shop.world).variable("SLUICEGATE_PREFIX", "sales");
    let files = [
        "--receipt",
        receipt.to_str().unwrap(),
        "--junit",
        junit.to_str().unwrap(),
    ];
    let version = "publish --version-name 1.0.0 --compat fail";
    call.run((version, &files[..])).expect(3);
    assert_eq!(shop.receipt()["outcome"], "failed");
    assert_eq!(shop.receipt()["files"].as_array().unwrap().len(), 4);
    let junit = fs::read_to_string(junit).unwrap();
    assert!(junit.contains("nothing was sent"), "{junit}");
}

#[test]
fn another_version_can_be_compared_with() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    shop.publish("1.1.0").expect(0);
    shop.publish("1.1.1 --compat fail").expect(0);
    assert_eq!(shop.receipt()["compat"]["class"], "none");
    shop.publish("1.1.2 --compat fail --against 1.0.0").expect(1);
    shop.publish("1.1.2 --against 1.0").expect(3).saying(&["1.0"]);
}

#[test]
fn publish_compares_entries_that_version_has_beyond_its_commit() {
    let shop = Shop::new();
    shop.world.write(
        ".platform/shared-pipelines.yaml",
        offer(&[("load", &parameter("day", "")), ("more", "")]),
    );
    shop.publish("1.0.0 --from worktree").expect(0);
    shop.world.git("checkout -q .");
    shop.publish("1.1.0 --compat fail")
        .expect(1)
        .saying(&["`more`: the shared pipeline is no longer offered"]);
}

#[test]
fn dry_run_lists_breaks_for_consumers() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    let output = shop.publish("{next} --dry-run").expect(0);
    for words in [
        "version  2.0.0",
        "for consumers of version 1.0.0: 1 break\n",
        "the parameter `day` was removed",
        "changed since the latest version",
        "modified ",
    ] {
        assert!(output.out.contains(words), "{words}: {}", output.all());
    }
    let report = shop
        .publish("1.1.0 --dry-run --compat fail --json")
        .expect(1)
        .json();
    assert_eq!(report["compat"]["class"], "breaking");
    let refused = report["refused"].as_array().unwrap();
    assert_eq!(refused.len(), 1, "{report:#}");
    let reason = refused[0]["what"].as_str().unwrap();
    assert!(
        reason.contains("was removed") && !reason.contains("breaks consumers of"),
        "{reason}"
    );
    assert!(refused[0]["hint"].is_string(), "{report:#}");
    // The hint is about all breaks, so it is not repeated.
    shop.offer(&[("load", "")]);
    let report = shop
        .publish("1.1.0 --dry-run --compat fail --json")
        .expect(1)
        .json();
    let hints: Vec<bool> = report["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|refusal| refusal["hint"].is_string())
        .collect();
    assert_eq!(hints, [false, true], "{report:#}");
    assert_eq!(shop.versions(), ["1.0.0"]);
}

#[test]
fn edit_of_compat_in_change_does_not_apply() {
    let shop = Shop::new();
    shop.world.write("sluicegate.yaml", "publish: { compat: fail }\n");
    shop.push();
    shop.publish("1.0.0").expect(0);
    shop.world.git("checkout -q -b change");
    shop.world.write("sluicegate.yaml", "publish: { compat: off }\n");
    shop.break_it();
    let call = push_of_branch(&shop.world, shop.call()).variable("SLUICEGATE_PUBLISH_ON_BRANCHES", "change");
    call.run("publish --version-name 1.0.1")
        .expect(1)
        .saying(&["the parameter `day` was removed"]);
    assert_eq!(shop.versions(), ["1.0.0"]);
}

#[test]
fn names_in_the_file_are_text_in_every_message() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let evil = "\"x\\e[31m\\n::error::##[group]<script>|{next}\"";
    shop.offer(&[("load", &parameter("day", ", default: x"))]);
    let entry = format!(
        "  - id: {evil}\n    pipeline: more.orch.yaml\n    displayName: {evil}\n    description: {evil}\n"
    );
    let file = shop.world.work().join(".platform/shared-pipelines.yaml");
    let text = fs::read_to_string(&file).unwrap() + &entry;
    fs::write(&file, text).unwrap();
    shop.push();
    shop.publish("1.1.0").expect(0);
    shop.offer(&[("load", &parameter("day", ", default: x"))]);
    let junit = shop.world.path().join("publish.xml");
    let output = shop
        .publish(&["1.2.0", "--compat", "fail", "--junit", junit.to_str().unwrap()])
        .expect(1);
    let junit = fs::read_to_string(junit).unwrap();
    for shown in [
        output.all(),
        junit,
        shop.publish("1.2.0 --dry-run").expect(0).all(),
    ] {
        assert!(shown.contains("group]"), "{shown}");
        assert!(!shown.contains('\u{1b}') && !shown.contains("##["), "{shown}");
        assert!(
            !shown.lines().any(|line| line.trim_start().starts_with("::")),
            "{shown}"
        );
    }
}

#[test]
fn rerun_of_older_version_is_settled_by_what_is_there() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let day = parameter("day", "");
    shop.offer(&[
        ("load", &day),
        ("clean", &parameter("day", ", default: x")),
        ("more", ""),
    ]);
    shop.publish("1.1.0").expect(0);
    shop.world.git("checkout -q HEAD~1");
    let second_args = "1.0.0 --compat fail --branch main";
    shop.publish((second_args, "--if-exists same-content")).expect(0);
    shop.publish(second_args).expect(5);
}

#[test]
fn ci_accepts_revert_of_a_break_that_was_not_published() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let ci = |flags: &str| {
        let args = "ci --publish --base HEAD~1 --compat fail --version-name {next}";
        shop.call().run((args, flags))
    };
    let published = shop.world.read_text(".platform/shared-pipelines.yaml");
    shop.offer(&[
        ("load", &parameter("hour", "")),
        ("clean", &parameter("day", ", default: x")),
    ]);
    ci("--publish-on-branch main").expect(1);
    shop.world.write(".platform/shared-pipelines.yaml", &published);
    shop.world.write("README", "reverted\n");
    shop.push();
    // Without a publish, no version shows who consumes the base.
    ci("").expect(1);
    let output = ci("--publish-on-branch main").expect(0);
    let reason = "accepted: nothing breaks for consumers of version 1.0.0, the latest version of sales";
    assert!(output.out.contains(reason), "{}", output.all());
    assert_eq!(shop.versions(), ["1.0.0"]);
    // A removed parameter of the published version is refused, even if the base does not have it either.
    shop.offer(&[
        ("load", &parameter("hour", "")),
        ("clean", &parameter("day", ", default: x")),
    ]);
    shop.offer(&[("load", ""), ("clean", &parameter("day", ", default: x"))]);
    ci("--publish-on-branch main").expect(1);
}

#[test]
fn review_of_ci_accepts_break_where_its_publish_does() {
    let shop = Shop::new();
    let ci = |version: &str| {
        let change = "ci --publish --base HEAD~1 --compat fail";
        let publish = format!("--publish-on-branch main --version-name {version}");
        // A rerun ends with the same exit code.
        let rerun = "--if-exists same-content";
        shop.call().run((change, &publish, rerun))
    };
    // No consumer uses a version yet.
    shop.break_it();
    ci("1.2.3").expect(0);
    shop.offer(&[("more", "")]);
    for version in ["1.3.0", "{next}"] {
        let log = ci(version).expect(1).all();
        assert!(log.contains("breaks consumers"), "{log}");
    }
    assert_eq!(shop.versions(), ["1.2.3"]);
    let log = ci("2.0.0").expect(0).all();
    assert!(
        log.contains("(accepted: 2.0.0 has a higher major version than 1.2.3)"),
        "{log}"
    );
    ci("2.0.0").expect(0);
    assert_eq!(shop.versions(), ["1.2.3", "2.0.0"]);
}

#[test]
fn ci_reports_missing_publish_settings_before_review() {
    let shop = Shop::new();
    let args = "ci --publish --publish-on-branch main --version-name 1.0.0";
    let output = shop
        .call()
        .variable("SLUICEGATE_PREFIX", "")
        .run(args)
        .expect(2)
        .saying(&["the prefix is not set"]);
    assert!(!output.all().contains("reviewing"), "{}", output.all());
    // An invalid plan is reported when the publish is due: the results of the review are in the reports.
    let offered = "pipelines:\n- { id: gone, pipeline: gone.orch.yaml }\n";
    shop.world.write(".platform/shared-pipelines.yaml", offered);
    shop.push();
    let output = shop.call().run(args).expect(2);
    assert!(output.out.contains("Review passed"), "{}", output.all());
    output.saying(&["gone.orch.yaml"]);
    assert_eq!(shop.versions(), Vec::<String>::new());
}

#[test]
fn ci_refuses_breaks_as_publish_does() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    let args = "ci --publish --publish-on-branch main --version-name {next} --compat fail";
    shop.call()
        .run(args)
        .expect(1)
        .saying(&["version 2.0.0 of sales breaks consumers"]);
    assert_eq!(shop.versions(), ["1.0.0"]);
    shop.call().run((args, "--accept-breaking agreed")).expect(0);
    assert_eq!(shop.versions(), ["1.0.0", "2.0.0"]);
}

/// The next version follows the latest one, so it does not announce a break for a version with a higher number.
#[test]
fn refused_break_names_a_version_only_if_it_would_accept_the_break() {
    let shop = Shop::new();
    shop.publish("5.0.0").expect(0);
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    let hint = "publish a higher major version (--version-name 2.0.0)";
    shop.publish("1.1.0 --compat fail").expect(1).saying(&[hint]);
    let output = shop.publish("1.1.0 --compat fail --against 5.0.0").expect(1);
    assert!(!output.err.contains("--version-name"), "{}", output.all());
    output.saying(&["accept the break with --accept-breaking"]);
}

#[test]
fn refused_break_before_1_0_suggests_a_higher_minor_version() {
    let shop = Shop::new();
    shop.publish("v0.1.0").expect(0);
    shop.break_it();
    let hint = "publish a higher minor version (--version-name v0.2.0)";
    shop.publish("v0.1.1 --compat fail").expect(1).saying(&[hint]);
    shop.publish("v0.2.0 --compat fail").expect(0);
}

#[test]
fn break_is_refused_only_if_platform_shows_that_the_version_is_missing() {
    let shop = Shop::new();
    let old_commit = shop.world.git("rev-parse HEAD");
    shop.break_it();
    for (status, code) in [(404, 1), (503, 3)] {
        let platform = Platform::new();
        let latest = json!({
            "artifactDetails": { "sharedPipelineIdPrefix": "sales", "versionName": "1.0.0", "enabled": true,
                "commitHash": old_commit },
            "sharedPipelines": [],
        });
        platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
        platform.respond_to(
            "GET",
            "/artifacts/details$",
            move |request: &Request| match request.url.query() {
                Some(query) if query.contains("versionName") => ResponseTemplate::new(status),
                _ => answer(&latest),
            },
        );
        let call = platform.call(&shop.world).variable("SLUICEGATE_PREFIX", "sales");
        let args = "publish --version-name 1.0.1 --compat fail --if-exists same-content";
        let output = call.run(args).expect(code);
        assert_eq!(
            output.err.contains("breaks consumers"),
            status == 404,
            "{}",
            output.all()
        );
    }
}

#[test]
fn refused_break_suggests_no_version_that_exists() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.publish("2.0.0").expect(0);
    shop.call().run("artifacts disable 2.0.0").expect(0);
    shop.break_it();
    let hint = "publish a higher major version (--version-name 2.0.1)";
    shop.publish("1.0.1 --compat fail").expect(1).saying(&[hint]);
    shop.publish("2.0.1 --compat fail").expect(0);
}

#[test]
fn dry_run_with_deepen_lists_changes_since_the_fetched_commit() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let published_commit = shop.world.git("rev-parse HEAD");
    shop.world
        .write("more.orch.yaml", orchestration_text(&["Start", "Done"]));
    shop.push();
    let url = format!("file://{}", shop.world.remote().display());
    git(shop.world.path(), format!("clone -q --depth=1 {url} shallow"));
    let call = shop.call_in(&shop.world.path().join("shallow"));
    let dry_run = "publish --branch main --version-name 1.1.0 --dry-run --json";
    let plan = call.run(dry_run).expect(0).json();
    assert!(
        plan["changesUnknown"]
            .as_str()
            .is_some_and(|reason| reason.contains("the clone does not have commit")),
        "{plan}"
    );
    let plan = call.run((dry_run, "--deepen")).expect(0).json();
    assert_eq!(
        plan["changes"],
        json!({ "since": published_commit, "added": [], "modified": ["more.orch.yaml"], "removed": [] })
    );
}

#[test]
fn publish_and_artifacts_diff_list_the_same_changes_after_move_of_hidden_directory() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.world.git("mv .platform .moved");
    let changed_offer = offer(&[("load", ""), ("clean", &parameter("day", ", default: x"))]);
    shop.world.write(".moved/shared-pipelines.yaml", changed_offer);
    shop.push();
    let plan = shop.publish("2.0.0 --dry-run --json").expect(0).json();
    let diff = shop.call().run("artifacts diff 1.0.0 -o json").expect(0).json();
    assert_eq!(plan["compat"]["changes"], diff["changes"]);
    let kinds: Vec<&Value> = diff["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| &change["change"])
        .collect();
    assert_eq!(kinds, ["parameter-removed"], "{diff}");
}
