//! `{next}`: the version that follows from the changes for consumers, and which publish gets it.

use crate::support::orchestration_text;
use crate::support::{Shop, job_output, parameter};
use serde_json::json;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

#[test]
fn name_that_nothing_counts_on_from_is_refused_the_first_time() {
    let shop = Shop::new();
    let output = shop.publish("release-{next}").expect(2);
    assert!(
        output.err.contains("`release-1.0.0` is not a semantic version"),
        "{}",
        output.err
    );
    assert!(shop.versions().is_empty());
    shop.publish("v{next}+{short-sha}").expect(0);
}

#[test]
fn next_version_is_counted_from_what_changed() {
    let shop = Shop::new();
    let next = |expected: &str| {
        shop.publish("{next}").expect(0);
        assert_eq!(shop.receipt()["versionName"], expected);
    };
    next("1.0.0");
    let day = parameter("day", "");
    shop.offer(&[
        ("load", &day),
        ("clean", &parameter("day", ", default: x")),
        ("more", ""),
    ]);
    next("1.1.0");
    // A file that no shared pipeline needs is still content.
    shop.world
        .write("other.orch.yaml", orchestration_text(&["Start", "Done"]));
    shop.push();
    next("1.1.1");
    assert_eq!(job_output(&shop.outputs(), "next-version"), "1.1.1");
    let published_commit = shop.receipt()["commitHash"].clone();
    let plan = shop.publish("{next} --dry-run -o json").expect(0).json();
    assert_eq!(plan["versionName"], json!(null), "{plan}");
    shop.world.write("README.md", "no part of a version\n");
    shop.push();
    let output = shop.publish("{next}").expect(0);
    // Every push without changes would get this warning, so it is only a note.
    assert!(
        output.err.contains("files were ignored") && !output.err.contains("warning"),
        "{}",
        output.all()
    );
    assert!(
        output
            .out
            .contains("nothing changed since version 1.1.1 of sales: nothing is published"),
        "{}",
        output.all()
    );
    assert_eq!(shop.receipt()["outcome"], "already-published");
    assert_eq!(shop.receipt()["versionName"], "1.1.1");
    assert_eq!(shop.receipt()["commitHash"], published_commit);
    assert_eq!(job_output(&shop.outputs(), "compat"), "none");
    assert_eq!(job_output(&shop.outputs(), "next-version"), "");
    // The order has no meaning, a description is only a note, a removed file changes the content.
    shop.offer(&[
        ("more", ""),
        ("load", &day),
        ("clean", &parameter("day", ", default: x")),
    ]);
    assert!(
        shop.publish(&["{next}"])
            .expect(0)
            .out
            .contains("nothing changed")
    );
    fs::remove_file(shop.world.work().join("other.orch.yaml")).unwrap();
    shop.push();
    next("1.1.2");
    shop.offer(&[("load", &day)]);
    next("2.0.0");
    assert_eq!(shop.versions(), ["1.0.0", "1.1.0", "1.1.1", "1.1.2", "2.0.0"]);
    // An entry that is not offered changes the meaning of the file alone.
    let path = ".platform/shared-pipelines.yaml";
    let disabled = "  - id: off\n    pipeline: more.orch.yaml\n    enabled: false\n    parameters: {}\n";
    shop.world.write(path, shop.world.read_text(path) + disabled);
    shop.push();
    next("2.0.1");
}

#[test]
fn next_version_after_uncountable_name_exits_with_2() {
    let shop = Shop::new();
    shop.publish("{next} --compat off")
        .expect(2)
        .saying(&["but --compat off disables it"]);
    shop.publish("2026-11-20").expect(0);
    shop.break_it();
    shop.publish("{next}")
        .expect(2)
        .saying(&["the previous version is named `2026-11-20`, which is not a semantic version"]);
    shop.publish("x --compat off").expect(0);
    assert_eq!(shop.receipt().get("compat"), None);
}

/// A proxy that holds each upload back until as many uploads have arrived as there are racers.
struct Barrier {
    arrived: Mutex<usize>,
    all: Condvar,
    racers: usize,
}

impl Barrier {
    fn wait(&self) {
        let mut arrived = self.arrived.lock().unwrap();
        *arrived += 1;
        self.all.notify_all();
        let missing = |arrived: &mut usize| *arrived < self.racers;
        let _all = self
            .all
            .wait_timeout_while(arrived, Duration::from_secs(60), missing)
            .unwrap();
    }

    /// Starts the proxy and returns its address.
    fn racing_publishes(racers: usize, platform: &str) -> String {
        let barrier = Self {
            arrived: Mutex::new(0),
            all: Condvar::new(),
            racers,
        };
        proxy_uploads(platform, move || barrier.wait())
    }
}

/// Starts a proxy that calls `before_upload` before it forwards an upload, and returns its address.
pub fn proxy_uploads(platform: &str, before_upload: impl Fn() + Send + Sync + 'static) -> String {
    proxy_requests(platform, "POST /v1/shared-pipelines/artifacts", move |_| {
        before_upload();
    })
}

/// Starts a proxy that calls `before_request` with the number of the request before it forwards a request that begins
/// with `start`, and returns its address.
pub fn proxy_requests(
    platform: &str,
    start: &'static str,
    before_request: impl Fn(usize) + Send + Sync + 'static,
) -> String {
    let request_count = AtomicUsize::new(0);
    let before_request = Arc::new(move || before_request(request_count.fetch_add(1, Ordering::SeqCst) + 1));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let platform = platform.trim_start_matches("http://").to_owned();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(&platform).unwrap();
            let (back, forth) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            let before_request = Arc::clone(&before_request);
            std::thread::spawn(move || hand_on(server, back, start, || {}));
            std::thread::spawn(move || hand_on(client, forth, start, || before_request()));
        }
    });
    url
}

fn hand_on(mut from: TcpStream, mut to: TcpStream, start: &str, before_request: impl Fn()) {
    let mut piece = [0; 8 * 1024];
    while let Ok(size @ 1..) = from.read(&mut piece) {
        if piece.starts_with(start.as_bytes()) {
            before_request();
        }
        if to.write_all(&piece[..size]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[test]
fn race_for_the_next_version_has_one_winner_and_one_conflict() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.offer(&[
        ("load", &parameter("day", "")),
        ("clean", &parameter("day", ", default: x")),
        ("more", ""),
    ]);
    let url = Barrier::racing_publishes(2, &shop.server.url);
    let racer = || {
        let call = shop.call().variable("SLUICEGATE_BASE_URL", &url);
        std::thread::scope(|_| call.run("publish --version-name {next}"))
    };
    let output = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..2).map(|_| scope.spawn(racer)).collect();
        racers
            .into_iter()
            .map(|racer| racer.join().unwrap())
            .collect::<Vec<_>>()
    });
    let mut codes: Vec<i32> = output.iter().map(|output| output.code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [0, 5], "{}{}", output[0].all(), output[1].all());
    assert_eq!(shop.versions(), ["1.0.0", "1.1.0"]);
}

#[test]
fn older_commit_that_becomes_the_latest_version_is_reported() {
    let shop = Shop::new();
    let older = shop.world.git("rev-parse HEAD");
    shop.world
        .write("other.orch.yaml", orchestration_text(&["Start", "Done"]));
    shop.push();
    let newer = shop.publish("2").expect(0);
    assert!(!newer.err.contains("go back"), "{}", newer.err);
    let back = ["1", "--head", older.trim()];
    shop.publish(&back).expect(0).saying(&[
        "is older than the commit of version 2 of sales",
        "consumers of [Latest] will go back",
        "sluicegate artifacts disable",
    ]);
    // On a second run, the version exists, and nothing changes for anyone.
    let second_run = shop.publish((&back[..], "--if-exists same-content")).expect(0);
    assert!(!second_run.err.contains("go back"), "{}", second_run.err);
}

/// Publishes with `{next}` and build metadata, and returns the version name.
fn publish_with_build_metadata(shop: &Shop, expected_version: &str) -> String {
    shop.publish("{next}+{short-sha}").expect(0);
    let version = shop.receipt()["versionName"].as_str().unwrap().to_owned();
    assert_eq!(version.split('+').next().unwrap(), expected_version);
    version
}

/// Commits and pushes a pipeline with this component.
fn push_component(shop: &Shop, component: &str) {
    shop.world
        .write("other.orch.yaml", orchestration_text(&["Start", component]));
    shop.push();
}

#[test]
fn number_is_not_used_again_with_other_build_metadata() {
    let shop = Shop::new();
    publish_with_build_metadata(&shop, "1.0.0");
    push_component(&shop, "One");
    let second_version = publish_with_build_metadata(&shop, "1.0.1");
    shop.call()
        .run(format!(
            "artifacts disable --prefix sales --version-name {second_version}"
        ))
        .expect(0);
    push_component(&shop, "Two");
    publish_with_build_metadata(&shop, "1.0.2");
}

#[test]
fn rerun_of_next_version_warns_if_ignored_files_are_unknown() {
    // The closure has only files that the details of the version list.
    for (selection, has_warning) in [("--select all", true), ("--select closure", false)] {
        let shop = Shop::new();
        shop.publish(&format!("{{next}} {selection}")).expect(0);
        for mode in ["", "--dry-run"] {
            let rerun = shop.publish(&format!("{{next}} {selection} {mode}")).expect(0);
            rerun.assert_logged(&["nothing changed since version 1.0.0 of sales"]);
            assert_eq!(
                rerun
                    .err
                    .contains("cannot check whether files were ignored when the version was published"),
                has_warning,
                "{}",
                rerun.all()
            );
        }
    }
}

#[test]
fn push_without_changes_notes_that_ignored_files_of_the_version_are_unknown() {
    // The closure has only files that the details of the version list.
    for (selection, has_note) in [("--select all", true), ("--select closure", false)] {
        let shop = Shop::new();
        shop.publish(&format!("{{next}} {selection}")).expect(0);
        shop.world.write("README.md", "no part of a version\n");
        shop.push();
        for mode in ["", "--dry-run"] {
            let push = shop.publish(&format!("{{next}} {selection} {mode}")).expect(0);
            push.assert_logged(&["nothing changed since version 1.0.0 of sales"]);
            let log = push.all();
            let note = "cannot check whether files were ignored when the version was published";
            assert_eq!(log.contains(note), has_note, "{log}");
            // Each push without changes repeats the note, so it is no warning.
            assert!(!log.contains("warning"), "{log}");
        }
    }
}

#[test]
fn content_of_older_version_is_published_again_after_a_revert() {
    let shop = Shop::new();
    shop.publish("{next}").expect(0);
    let path = "other.orch.yaml";
    shop.world.write(path, orchestration_text(&["Start"]));
    shop.push();
    shop.publish("{next}").expect(0);
    fs::remove_file(shop.world.work().join(path)).unwrap();
    shop.push();
    shop.publish("{next} --against 1.0.0").expect(0);
    let receipt = shop.receipt();
    assert_eq!(
        (&receipt["outcome"], &receipt["versionName"]),
        (&"published".into(), &"1.0.2".into())
    );
}

#[test]
fn commit_that_was_counted_is_not_counted_again() {
    let shop = Shop::new();
    shop.publish("{next}").expect(0);
    let older = shop.world.git("rev-parse HEAD");
    shop.offer(&[("load", &parameter("day", "")), ("clean", ""), ("more", "")]);
    shop.publish("{next}").expect(0);
    let versions = shop.versions();
    // The job of the first commit runs again.
    let second_args = ["{next}", "--head", older.trim()];
    let output = shop.publish(&second_args).expect(0);
    let expected_text = "this commit is already published as version 1.0.0 of sales: nothing is published";
    assert!(output.out.contains(expected_text), "{}", output.all());
    // The version has a file that is no shared pipeline, and only the first run knew whether the platform ignored it.
    output.assert_logged(&["cannot check whether files were ignored"]);
    assert_eq!(shop.versions(), versions);
    let receipt = shop.receipt();
    assert_eq!(
        (
            &receipt["outcome"],
            &receipt["versionName"],
            &receipt["commitHash"]
        ),
        (&"already-published".into(), &"1.0.0".into(), &older.trim().into())
    );
    // A dry run reports the same.
    let dry = shop.publish((&second_args[..], "--dry-run")).expect(0);
    let expected_text = "would publish nothing: this commit is already published as version 1.0.0 of sales";
    assert!(dry.out.starts_with(expected_text), "{}", dry.all());
    // The next name belongs to no version.
    assert!(dry.out.contains("  version  (none)\n"), "{}", dry.out);
    assert_eq!(shop.receipt()["versionName"], "1.0.0");
    // A later step must not deploy what a dry run predicts.
    assert_eq!(job_output(&shop.outputs(), "version-name"), "");
    // A rerun does not undo a rollback, and a later step does not deploy the disabled version.
    shop.call()
        .run("artifacts disable --prefix sales --version-name 1.0.0")
        .expect(0);
    shop.publish(&second_args)
        .expect(0)
        .saying(&["not publishing commit", "so do not change anything"]);
    assert!(!shop.outputs().contains("version-name"), "{}", shop.outputs());
    assert_eq!(shop.versions().len(), versions.len());
    let by_hand = ["1.0.1", "--head", older.trim()];
    shop.publish(&by_hand).expect(0).saying(&[
        "go back",
        "this commit is already published as version 1.0.0 of sales, which is disabled",
    ]);
    assert_eq!(shop.versions().len(), versions.len() + 1);
}

#[test]
fn receipt_of_unchanged_version_matches_its_commit() {
    let shop = Shop::new();
    shop.publish("{next}").expect(0);
    let digest = shop.receipt()["digest"].clone();
    // The order has no meaning, but the bytes of the file differ.
    shop.offer(&[
        ("clean", &parameter("day", ", default: x")),
        ("load", &parameter("day", "")),
    ]);
    let output = shop.publish("{next}").expect(0);
    assert!(output.out.contains("nothing changed"), "{}", output.all());
    assert_eq!(shop.receipt()["digest"], digest);
    let receipt = shop.world.path().join("receipt.json");
    shop.call().run(&["verify", receipt.to_str().unwrap()]).expect(0);
}

/// Publishes `{next}`, and returns the version and the outcome in the receipt, which must match the platform.
fn publish_next(shop: &Shop, args: &str) -> (String, String) {
    shop.publish(&format!("{{next}} {args}")).expect(0);
    let receipt = shop.receipt();
    let text = |key: &str| receipt[key].as_str().unwrap().to_owned();
    let path = shop.world.path().join("receipt.json");
    shop.call().run(&["verify", path.to_str().unwrap()]).expect(0);
    (text("versionName"), text("outcome"))
}

/// Commits and pushes a configuration file with this glob to exclude from publishing.
fn push_exclude(shop: &Shop, glob: &str) {
    let text = format!("publish:\n  exclude: [\"{glob}\"]\n");
    shop.world.write("sluicegate.yaml", text);
    shop.push();
}

#[test]
fn next_version_has_files_that_an_edited_configuration_file_selects() {
    let shop = Shop::new();
    shop.world
        .write("drafts/draft.orch.yaml", orchestration_text(&["Start", "Done"]));
    push_exclude(&shop, "drafts/**");
    let published = |version: &str| (version.to_owned(), "published".to_owned());
    assert_eq!(publish_next(&shop, ""), published("1.0.0"));
    push_exclude(&shop, "nothing/**");
    let diff = shop.call().run("artifacts diff -o json").expect(0).json();
    assert_eq!(diff["changes"][0]["change"], "file-added", "{diff}");
    let preview = shop.publish("{next} --dry-run").expect(0);
    assert!(
        preview.out.contains("drafts/draft.orch.yaml"),
        "{}",
        preview.all()
    );
    assert_eq!(publish_next(&shop, ""), published("1.0.1"));
    assert_eq!(
        shop.receipt()["compat"]["changes"][0]["new"]["path"],
        "drafts/draft.orch.yaml"
    );
    let between = shop
        .call()
        .run("artifacts diff 1.0.0 1.0.1 -o json")
        .expect(0)
        .json();
    assert_eq!(between["changes"], diff["changes"]);
    // Another glob that selects the same files changes nothing.
    push_exclude(&shop, "absent/**");
    let unchanged = ("1.0.1".to_owned(), "already-published".to_owned());
    assert_eq!(publish_next(&shop, ""), unchanged);
    shop.world
        .write("sluicegate.yaml", "publish:\n  select: closure\n");
    shop.push();
    assert_eq!(publish_next(&shop, ""), published("1.0.2"));
    // A file that the shared pipelines do not need is not among the published ones.
    push_component(&shop, "One");
    assert_eq!(publish_next(&shop, "").1, "already-published");
}

#[test]
fn diff_of_versions_lists_only_files_that_the_closure_has() {
    let shop = Shop::new();
    shop.world
        .write("sluicegate.yaml", "publish:\n  select: closure\n");
    shop.push();
    publish_next(&shop, "");
    // No shared pipeline needs this file.
    push_component(&shop, "One");
    let diff = || shop.call().run("artifacts diff -o json").expect(0);
    assert_eq!(diff().json()["changes"], json!([]));
    let load = orchestration_text(&["Start", "Other", "Done"]) + "  variables:\n    day: {}\n";
    shop.world.write("load.orch.yaml", load);
    shop.push();
    assert_eq!(diff().json()["changes"][0]["new"]["path"], "load.orch.yaml");
    // With other settings, the unneeded pipelines are new files.
    shop.world.write("sluicegate.yaml", "publish:\n  select: all\n");
    shop.push();
    assert!(diff().out.contains("more.orch.yaml"), "{}", diff().all());
}

/// The text of a pipeline that calls the pipeline `helper`, and runs the script at `script_path`.
fn helper_and_script_caller(helper: &str, script_path: &str) -> String {
    format!(
        "type: orchestration\nversion: '1.0'\npipeline:\n  components:\n    Start:\n      type: start\n      \
         transitions:\n        unconditional: [Call]\n    Call:\n      type: run-orchestration\n      transitions:\n        \
         success: [Script]\n      parameters:\n        orchestrationJob: {helper}\n    Script:\n      type: \
         python-pushdown-v2\n      parameters:\n        scriptLocation: File\n        fileName: {script_path}\n  \
         variables:\n    day: {{}}\n"
    )
}

#[test]
fn diff_and_receipt_list_moved_files_as_removed_with_each_selection() {
    for select in ["closure", "all"] {
        let shop = Shop::new();
        shop.world
            .write("sluicegate.yaml", format!("publish:\n  select: {select}\n"));
        shop.world
            .write("helper.orch.yaml", orchestration_text(&["Start", "Done"]));
        shop.world.write("scripts/load.py", "print(1)\n");
        shop.world.write(
            "load.orch.yaml",
            helper_and_script_caller("helper", "scripts/load.py"),
        );
        shop.push();
        publish_next(&shop, "");
        shop.world.git("mv helper.orch.yaml renamed.orch.yaml");
        shop.world.git("mv scripts/load.py scripts/renamed.py");
        shop.world.write(
            "load.orch.yaml",
            helper_and_script_caller("renamed", "scripts/renamed.py"),
        );
        shop.push();
        let diff = shop.call().run("artifacts diff -o json").expect(0).json();
        publish_next(&shop, "");
        let changes = shop.receipt()["compat"]["changes"].clone();
        assert_eq!(changes, diff["changes"], "{select}");
        let removed_paths: Vec<_> = changes
            .as_array()
            .unwrap()
            .iter()
            .filter(|change| change["change"] == "file-removed")
            .map(|change| change["old"]["path"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(removed_paths, ["helper.orch.yaml", "scripts/load.py"], "{select}");
        shop.call().run("verify ../receipt.json").expect(0);
    }
}

#[test]
fn diff_of_version_whose_settings_cannot_be_used_has_a_warning() {
    let shop = Shop::new();
    let diff = || shop.call().run("artifacts diff -o json").expect(0);
    let warning = "listing the changed files by the current publish settings";
    for (settings, is_warned) in [
        ("publish:\n  exclude: [\"drafts/**\"]\n", false),
        ("publish:\n  exclude: [\"drafts/[\"]\n", true),
        ("publish: [\n", true),
    ] {
        shop.world.write("sluicegate.yaml", settings);
        shop.push();
        shop.world.write("sluicegate.yaml", "publish: {}\n");
        let number = shop.versions().len();
        shop.publish(&format!("{number}.0.0 --from worktree")).expect(0);
        shop.push();
        let output = diff();
        assert_eq!(
            output.err.contains(warning),
            is_warned,
            "{settings}: {}",
            output.all()
        );
    }
}

#[test]
fn next_version_with_selection_of_the_job_is_published_only_after_a_change_of_these_files() {
    let shop = Shop::new();
    shop.world
        .write("drafts/draft.orch.yaml", orchestration_text(&["Start", "Done"]));
    shop.push();
    let exclude = "--exclude drafts/**";
    publish_next(&shop, exclude);
    shop.world.write(
        "drafts/draft.orch.yaml",
        orchestration_text(&["Start", "Load", "Done"]),
    );
    shop.push();
    let unchanged = shop.publish(&format!("{{next}} {exclude}")).expect(0);
    let reason =
        "nothing changed since version 1.0.0 of sales, if its job selected the same files as this job";
    assert!(unchanged.out.contains(reason), "{}", unchanged.all());
    assert_eq!(
        publish_next(&shop, "--exclude nothing/**"),
        ("1.0.1".to_owned(), "published".to_owned())
    );
}

#[test]
fn hint_after_name_that_is_not_semantic_suggests_a_free_higher_version() {
    let shop = Shop::new();
    for (versions, suggestion) in [
        (&["2026.11.27"][..], "1.0.0"),
        (&["1.9.0", "v1.10.0", "2026.11.28"], "v1.10.1"),
    ] {
        for version in versions {
            shop.publish(version).expect(0);
        }
        let output = shop.publish("{next}").expect(2);
        output.saying(&[&format!(
            "a semantic version such as {suggestion}, which {{next}}"
        )]);
    }
}

#[test]
fn next_version_announces_a_break_although_no_version_is_enabled() {
    let shop = Shop::new();
    shop.publish("{next}").expect(0);
    let disable = |name: &str| {
        shop.call()
            .run(&[
                "artifacts",
                "disable",
                "--prefix",
                "sales",
                "--force",
                "--version-name",
                name,
            ])
            .expect(0);
    };
    disable("1.0.0");
    shop.break_it();
    shop.publish("{next}").expect(0).saying(&[
        "no version of sales is enabled, so the version name follows from the changes since the newest \
                   disabled version, 1.0.0",
    ]);
    assert_eq!(shop.versions(), ["1.0.0", "2.0.0"]);
    disable("2.0.0");
    shop.world
        .write("other.orch.yaml", orchestration_text(&["Start", "Done"]));
    shop.push();
    shop.publish("{next}").expect(0);
    assert_eq!(shop.versions(), ["1.0.0", "2.0.0", "2.0.1"]);
}
