//! Consumers do not break: what a publish changes for them, told before anything is sent.

use crate::policy;
use crate::program::{Call, Ended, PROJECT, Served, TOKEN};
use crate::repo::{World, git};
use crate::world::{RULES, pipeline};
use serde_json::Value;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// A shared-pipelines file with these entries, each with its parameters.
pub fn offer(entries: &[(&str, &str)]) -> String {
    let entry = |(id, parameters): &(&str, &str)| {
        format!(
            "  - id: {id}\n    pipeline: {id}.orch.yaml\n    enabled: true\n    parameters:\n{parameters}"
        )
    };
    format!("pipelines:\n{}", entries.iter().map(entry).collect::<String>())
}

/// A parameter, as a line of the file.
pub fn parameter(name: &str, rest: &str) -> String {
    format!("      {name}: {{ type: TEXT{rest} }}\n")
}

/// A project that shares `load` and `clean`, and the platform that serves it.
pub struct Shop {
    pub world: World,
    served: Served,
}

impl Shop {
    pub fn new() -> Self {
        let world = World::new();
        for id in ["load", "clean", "more"] {
            let text = pipeline(&["Start", "Work", "Done"])
                + "  variables:\n    day: {}\n    hour: {}\n    zone: {}\n";
            world.write(&format!("{id}.orch.yaml"), text);
        }
        world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
        let project = format!("{PROJECT}={}", world.remote().display());
        let token = format!("--token={TOKEN}=super-admin");
        let served = Served::start(world.path(), &["--project", &project, &token]);
        let shop = Self { world, served };
        shop.offer(&[
            ("load", &parameter("day", "")),
            ("clean", &parameter("day", ", default: x")),
        ]);
        shop.world.git(&["remote", "set-head", "origin", "main"]);
        shop
    }

    /// Commits and pushes another shared-pipelines file.
    pub fn offer(&self, entries: &[(&str, &str)]) {
        self.world
            .write(".platform/shared-pipelines.yaml", offer(entries));
        self.push();
    }

    pub fn push(&self) {
        self.world.commit("change");
        self.world.push();
    }

    pub fn call(&self) -> Call {
        self.call_in(&self.world.work())
    }

    pub fn call_in(&self, folder: &Path) -> Call {
        Call::with_platform(folder, &self.served.url)
            .variable("SLUICEGATE_RETRIES", "0")
            .variable("SLUICEGATE_PREFIX", "sales")
    }

    /// Publishes with a receipt and outputs.
    pub fn publish(&self, args: &[&str]) -> Ended {
        let _ = fs::remove_file(self.world.path().join("outputs"));
        let receipt = self.world.path().join("receipt.json");
        let receipt = receipt.to_str().unwrap();
        self.call()
            .variable(
                "GITHUB_OUTPUT",
                self.world.path().join("outputs").to_str().unwrap(),
            )
            .run(&[&["publish", "--receipt", receipt, "--version-name"], args].concat())
    }

    pub fn receipt(&self) -> Value {
        serde_json::from_slice(&fs::read(self.world.path().join("receipt.json")).unwrap()).unwrap()
    }

    pub fn outputs(&self) -> String {
        fs::read_to_string(self.world.path().join("outputs")).unwrap()
    }

    /// The published versions, the last first.
    pub fn versions(&self) -> Vec<String> {
        let listed = self
            .call()
            .run(&["artifacts", "list", "-o", "json"])
            .expect(0)
            .json();
        let all = listed["results"].as_array().unwrap();
        let mut names: Vec<String> = all
            .iter()
            .map(|it| it["versionName"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    }

    /// `load` loses its parameter.
    fn break_it(&self) {
        self.offer(&[("load", ""), ("clean", &parameter("day", ", default: x"))]);
    }
}

fn output(outputs: &str, name: &str) -> String {
    let mut lines = outputs
        .lines()
        .skip_while(|line| !line.starts_with(&format!("{name}<<")));
    lines.nth(1).unwrap_or_default().to_owned()
}

#[test]
fn a_break_is_refused_with_both_places_and_nothing_is_sent() {
    let shop = Shop::new();
    shop.publish(&["1.0.0", "--compat", "fail"]).expect(0);
    assert_eq!(shop.receipt()["compat"]["class"], "none");
    assert_eq!(shop.receipt()["compat"]["against"], Value::Null);
    shop.offer(&[("load", &parameter("hour", ", default: 1"))]);
    let junit = shop.world.path().join("publish.xml");
    let fail = ["1.1.0", "--compat", "fail", "--junit", junit.to_str().unwrap()];
    shop.publish(&fail).expect(1).saying(&[
        "version 1.1.0 of sales breaks consumers of version 1.0.0",
        ".platform/shared-pipelines.yaml:2: `load`: the parameter `day` is gone",
        "(before: .platform/shared-pipelines.yaml:6 in version 1.0.0)",
        "`clean`: it is not offered any more; consumers: run another shared pipeline",
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
    let words: Vec<&str> = changes.iter().map(|it| it["change"].as_str().unwrap()).collect();
    assert_eq!(
        words,
        ["parameter-added", "parameter-removed", "pipeline-removed"]
    );
    let outputs = shop.outputs();
    assert_eq!(
        (output(&outputs, "compat"), output(&outputs, "next-version")),
        ("breaking".into(), "2.0.0".into())
    );
    let junit = fs::read_to_string(junit).unwrap();
    assert!(
        junit.contains("name=\"publish\"") && junit.contains("failures=\"3\""),
        "{junit}"
    );
}

#[test]
fn a_break_is_told_by_default_and_published() {
    let shop = Shop::new();
    shop.publish(&["1.0.0"]).expect(0);
    shop.break_it();
    let junit = shop.world.path().join("publish.xml");
    shop.publish(&["1.1.0", "--junit", junit.to_str().unwrap()])
        .expect(0)
        .saying(&[
            "warning: version 1.1.0 of sales breaks consumers",
            "the parameter `day` is gone",
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
fn a_break_is_accepted_by_a_reason_of_the_job_alone() {
    let shop = Shop::new();
    shop.publish(&["1.0.0"]).expect(0);
    shop.break_it();
    for empty in ["", "  "] {
        shop.publish(&["1.1.0", "--compat", "fail", "--accept-breaking", empty])
            .expect(2)
            .saying(&["the reason of --accept-breaking is empty"]);
    }
    shop.world
        .write("sluicegate.yaml", "publish: { accept-breaking: because }\n");
    shop.publish(&["1.1.0", "--compat", "fail"]).expect(2).saying(&[
        "`accept-breaking` must not stand in",
        "SLUICEGATE_ACCEPT_BREAKING",
    ]);
    fs::remove_file(shop.world.work().join("sluicegate.yaml")).unwrap();
    shop.publish(&[
        "1.1.0",
        "--compat",
        "fail",
        "--accept-breaking",
        "agreed with sales",
    ])
    .expect(0)
    .saying(&["accepted: agreed with sales"]);
    assert_eq!(shop.receipt()["compat"]["accepted"], "agreed with sales");
    // Where nothing breaks, nothing is accepted.
    shop.publish(&["1.1.1", "--accept-breaking", "agreed"]).expect(0);
    assert_eq!(shop.receipt()["compat"]["accepted"], Value::Null);
}

#[test]
fn names_that_announce_a_break_accept_it_and_counted_ones_do_not() {
    let shop = Shop::new();
    shop.publish(&["v1.4.0"]).expect(0);
    shop.break_it();
    shop.publish(&["v1.5.0", "--compat", "fail"]).expect(1);
    shop.publish(&["2026.11.20", "--compat", "fail"]).expect(1);
    shop.publish(&["{next}", "--compat", "fail"])
        .expect(1)
        .saying(&["version v2.0.0 of sales breaks consumers"]);
    assert_eq!(shop.versions(), ["v1.4.0"]);
    shop.publish(&["v2.0.0", "--compat", "fail"]).expect(0);
    let accepted = &shop.receipt()["compat"]["accepted"];
    assert_eq!(accepted, "v2.0.0 has a higher major number than v1.4.0");
}

#[test]
fn the_next_version_is_counted_from_what_changed() {
    let shop = Shop::new();
    let next = |expected: &str| {
        shop.publish(&["{next}"]).expect(0);
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
    // A file that no shared pipeline needs is content all the same.
    shop.world.write("other.orch.yaml", pipeline(&["Start", "Done"]));
    shop.push();
    next("1.1.1");
    shop.world.write("README.md", "no part of a version\n");
    shop.push();
    let said = shop.publish(&["{next}"]).expect(0);
    assert!(
        said.out
            .contains("nothing changed since version 1.1.1 of sales: nothing is published"),
        "{}",
        said.all()
    );
    assert_eq!(shop.receipt()["outcome"], "already-published");
    assert_eq!(shop.receipt()["versionName"], "1.1.1");
    assert_eq!(output(&shop.outputs(), "compat"), "none");
    // Order is nothing, a description is a note, a removed file is content.
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
}

#[test]
fn what_cannot_be_counted_is_exit_2() {
    let shop = Shop::new();
    shop.publish(&["{next}", "--compat", "off"])
        .expect(2)
        .saying(&["--compat off compares nothing"]);
    shop.publish(&["2026-11-20"]).expect(0);
    shop.break_it();
    shop.publish(&["{next}"])
        .expect(2)
        .saying(&["the latest enabled version is called `2026-11-20`, which is no semantic version"]);
    shop.publish(&["x", "--compat", "off"]).expect(0);
    assert_eq!(shop.receipt().get("compat"), None);
}

#[test]
fn a_clone_without_the_published_commit_compares_ids_and_says_so() {
    let shop = Shop::new();
    shop.publish(&["1.0.0"]).expect(0);
    shop.offer(&[("load", &parameter("hour", ", default: x"))]);
    let url = format!("file://{}", shop.world.remote().display());
    git(shop.world.path(), &["clone", "-q", "--depth=1", &url, "shallow"]);
    let folder = shop.world.path().join("shallow");
    let publish = |args: &[&str]| {
        shop.call_in(&folder).run(
            &[
                &[
                    "publish",
                    "--receipt",
                    "../receipt.json",
                    "--branch",
                    "main",
                    "--version-name",
                ],
                args,
            ]
            .concat(),
        )
    };
    for args in [["1.1.0", "--compat", "fail"].as_slice(), &["{next}"]] {
        publish(args)
            .expect(7)
            .saying(&["the clone does not have the commit", "--deepen"]);
    }
    publish(&["1.1.0", "--dry-run"])
        .expect(0)
        .saying(&["only the ids of shared pipelines are compared"]);
    let compat = shop.receipt()["compat"].clone();
    assert_eq!(
        (&compat["class"], &compat["idsOnly"]),
        (&"breaking".into(), &true.into())
    );
    let said = publish(&["{next}", "--deepen"])
        .expect(0)
        .saying(&["fetching the commit", "the parameter `day` is gone"]);
    assert!(said.out.contains("2.0.0"), "{}", said.all());
}

#[test]
fn another_version_can_be_compared_with() {
    let shop = Shop::new();
    shop.publish(&["1.0.0"]).expect(0);
    shop.break_it();
    shop.publish(&["1.1.0"]).expect(0);
    shop.publish(&["1.1.1", "--compat", "fail"]).expect(0);
    assert_eq!(shop.receipt()["compat"]["class"], "none");
    shop.publish(&["1.1.2", "--compat", "fail", "--against", "1.0.0"])
        .expect(1);
    shop.publish(&["1.1.2", "--against", "1.0"])
        .expect(3)
        .saying(&["1.0"]);
}

#[test]
fn what_a_version_offers_beyond_its_commit_is_not_forgotten() {
    let shop = Shop::new();
    shop.world.write(
        ".platform/shared-pipelines.yaml",
        offer(&[("load", &parameter("day", "")), ("more", "")]),
    );
    shop.publish(&["1.0.0", "--from", "worktree"]).expect(0);
    shop.world.git(&["checkout", "-q", "."]);
    shop.publish(&["1.1.0", "--compat", "fail"])
        .expect(1)
        .saying(&["`more`: it is not offered any more"]);
}

#[test]
fn a_dry_run_tells_what_would_break() {
    let shop = Shop::new();
    shop.publish(&["1.0.0"]).expect(0);
    shop.break_it();
    let said = shop.publish(&["{next}", "--dry-run"]).expect(0);
    for words in [
        "version  2.0.0",
        "for consumers of version 1.0.0: breaking",
        "the parameter `day` is gone",
    ] {
        assert!(said.out.contains(words), "{words}: {}", said.all());
    }
    let said = shop
        .publish(&["1.1.0", "--dry-run", "--compat", "fail", "--json"])
        .expect(1)
        .json();
    assert_eq!(said["compat"]["class"], "breaking");
    assert!(said["refused"][0]["what"].as_str().unwrap().contains("is gone"));
    assert_eq!(shop.versions(), ["1.0.0"]);
}

#[test]
fn a_change_does_not_say_what_its_breaks_mean() {
    let shop = Shop::new();
    shop.world.write("sluicegate.yaml", "publish: { compat: fail }\n");
    shop.push();
    shop.publish(&["1.0.0"]).expect(0);
    shop.world.git(&["checkout", "-q", "-b", "change"]);
    shop.world.write("sluicegate.yaml", "publish: { compat: off }\n");
    shop.break_it();
    let call = policy::push(&shop.world, shop.call());
    call.run(&["publish", "--version-name", "1.0.1"])
        .expect(1)
        .saying(&["the parameter `day` is gone"]);
    assert_eq!(shop.versions(), ["1.0.0"]);
}

#[test]
fn names_in_the_file_are_text_wherever_they_are_told() {
    let shop = Shop::new();
    shop.publish(&["1.0.0"]).expect(0);
    let evil = "\"x\\e[31m\\n::error::##[group]<script>|{next}\"";
    shop.offer(&[("load", &parameter("day", ", default: x"))]);
    let entry = format!(
        "  - id: {evil}\n    pipeline: more.orch.yaml\n    displayName: {evil}\n    description: {evil}\n"
    );
    let file = shop.world.work().join(".platform/shared-pipelines.yaml");
    let text = fs::read_to_string(&file).unwrap() + &entry;
    fs::write(&file, text).unwrap();
    shop.push();
    shop.publish(&["1.1.0"]).expect(0);
    shop.offer(&[("load", &parameter("day", ", default: x"))]);
    let junit = shop.world.path().join("publish.xml");
    let said = shop
        .publish(&["1.2.0", "--compat", "fail", "--junit", junit.to_str().unwrap()])
        .expect(1);
    let junit = fs::read_to_string(junit).unwrap();
    for shown in [
        said.all(),
        junit,
        shop.publish(&["1.2.0", "--dry-run"]).expect(0).all(),
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
fn a_rerun_of_an_older_version_is_settled_by_what_is_there() {
    let shop = Shop::new();
    shop.publish(&["1.0.0"]).expect(0);
    let day = parameter("day", "");
    shop.offer(&[
        ("load", &day),
        ("clean", &parameter("day", ", default: x")),
        ("more", ""),
    ]);
    shop.publish(&["1.1.0"]).expect(0);
    shop.world.git(&["checkout", "-q", "HEAD~1"]);
    let again = [
        "1.0.0",
        "--compat",
        "fail",
        "--branch",
        "main",
        "--if-exists",
        "same-content",
    ];
    shop.publish(&again).expect(0);
    shop.publish(&again[..5]).expect(1);
}

#[test]
fn ci_holds_to_it_too() {
    let shop = Shop::new();
    shop.publish(&["1.0.0"]).expect(0);
    shop.break_it();
    let args = [
        "ci",
        "--publish-on-branch",
        "main",
        "--version-name",
        "{next}",
        "--compat",
        "fail",
    ];
    shop.call()
        .run(&args)
        .expect(1)
        .saying(&["version 2.0.0 of sales breaks consumers"]);
    assert_eq!(shop.versions(), ["1.0.0"]);
    shop.call()
        .run(&[&args[..], &["--accept-breaking", "agreed"]].concat())
        .expect(0);
    assert_eq!(shop.versions(), ["1.0.0", "2.0.0"]);
}

/// Hands connections on to the platform, and holds each upload back until as many are there as are to race.
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

    /// The address of a proxy before the platform.
    fn before(racers: usize, platform: &str) -> String {
        let barrier = Arc::new(Self {
            arrived: Mutex::new(0),
            all: Condvar::new(),
            racers,
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let platform = platform.trim_start_matches("http://").to_owned();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(&platform).unwrap();
                let (back, forth) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let barrier = Arc::clone(&barrier);
                std::thread::spawn(move || hand_on(server, back, || {}));
                std::thread::spawn(move || hand_on(client, forth, || barrier.wait()));
            }
        });
        url
    }
}

fn hand_on(mut from: TcpStream, mut to: TcpStream, before_upload: impl Fn()) {
    let mut piece = [0; 8 * 1024];
    while let Ok(size @ 1..) = from.read(&mut piece) {
        if piece.starts_with(b"POST ") {
            before_upload();
        }
        if to.write_all(&piece[..size]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[test]
fn a_race_for_the_next_version_has_one_winner_and_one_conflict() {
    let shop = Shop::new();
    shop.publish(&["1.0.0"]).expect(0);
    shop.offer(&[
        ("load", &parameter("day", "")),
        ("clean", &parameter("day", ", default: x")),
        ("more", ""),
    ]);
    let url = Barrier::before(2, &shop.served.url);
    let racer = || {
        let call = shop.call().variable("SLUICEGATE_BASE_URL", &url);
        std::thread::scope(|_| call.run(&["publish", "--version-name", "{next}"]))
    };
    let ended = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..2).map(|_| scope.spawn(racer)).collect();
        racers
            .into_iter()
            .map(|racer| racer.join().unwrap())
            .collect::<Vec<_>>()
    });
    let mut codes: Vec<i32> = ended.iter().map(|ended| ended.code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [0, 5], "{}{}", ended[0].all(), ended[1].all());
    assert_eq!(shop.versions(), ["1.0.0", "1.1.0"]);
}

#[test]
fn what_a_receipt_says_of_consumers_is_proved_again() {
    let shop = Shop::new();
    shop.publish(&["1.0.0"]).expect(0);
    shop.offer(&[("load", &parameter("hour", ", default: x"))]);
    shop.publish(&["2.0.0"]).expect(0);
    let verify = || {
        let receipt = shop.world.path().join("receipt.json");
        shop.call().run(&["verify", receipt.to_str().unwrap()])
    };
    let told = shop.receipt();
    verify().expect(0);
    let lie = |change: &dyn Fn(&mut Value), words: &str| {
        let mut receipt = told.clone();
        change(&mut receipt["compat"]);
        fs::write(shop.world.path().join("receipt.json"), receipt.to_string()).unwrap();
        verify().expect(6).saying(&[words]);
    };
    lie(
        &|compat| compat["class"] = "addition".into(),
        "the receipt's class is addition, that of its changes breaking",
    );
    lie(
        &|compat| {
            compat["class"] = "none".into();
            compat["changes"] = Value::Array(Vec::new());
        },
        "the changes for consumers are not those between the two commits",
    );
    lie(
        &|compat| compat["against"] = "0.9.0".into(),
        "which the platform does not have",
    );
    let head = shop.world.git(&["rev-parse", "HEAD"]);
    lie(
        &|compat| compat["againstCommit"] = head.clone().into(),
        "which is of another commit",
    );
    let file = "README.md";
    lie(
        &|compat| {
            let change = serde_json::json!({ "class": "content", "change": "file-removed", "id": null, "parameter": null,
                "column": null, "before": null, "after": null, "old": { "path": file, "line": null }, "new": null });
            compat["changes"].as_array_mut().unwrap().push(change);
        },
        "did not change as the receipt says",
    );
}

#[test]
fn versions_and_revisions_are_compared_for_people_tools_and_releases() {
    let shop = Shop::new();
    shop.publish(&["1.0.0"]).expect(0);
    shop.offer(&[
        ("load", &parameter("hour", ", default: x")),
        ("clean", &parameter("day", ", default: x")),
    ]);
    let said = shop.call().run(&["artifacts", "diff"]).expect(0);
    for words in [
        "version 1.0.0 to",
        ": breaking, 1 break, 1 addition",
        "`load`: the parameter `day` is gone",
    ] {
        assert!(said.out.contains(words), "{words}: {}", said.all());
    }
    shop.publish(&["2.0.0"]).expect(0);
    let json = shop
        .call()
        .run(&["artifacts", "diff", "1.0.0", "2.0.0", "-o", "json"])
        .expect(0)
        .json();
    assert_eq!(
        (&json["class"], &json["from"]["version"]),
        (&"breaking".into(), &"1.0.0".into())
    );
    assert_eq!(json["changes"], shop.receipt()["compat"]["changes"]);
    let note = shop
        .call()
        .run(&["artifacts", "diff", "1.0.0", "-o", "markdown"])
        .expect(0);
    assert!(
        note.out.contains("### <code>load</code>") && note.out.contains("**Breaking:**"),
        "{}",
        note.all()
    );
    // Two revisions need no platform.
    let alone = shop.call().without("SLUICEGATE_BASE_URL");
    let same = alone
        .run(&["artifacts", "diff", "HEAD", "HEAD", "-o", "json"])
        .expect(0)
        .json();
    assert_eq!(
        (&same["class"], &same["changes"]),
        (&"none".into(), &serde_json::json!([]))
    );
    shop.call()
        .run(&["artifacts", "diff", "1.0"])
        .expect(3)
        .saying(&["1.0"]);
    let diff = alone
        .run(&["diff", "HEAD~1..HEAD", "--format", "json"])
        .expect(0)
        .json();
    assert_eq!(diff["interface"]["class"], "breaking");
    assert_eq!(diff["interface"]["changes"], json["changes"]);
    let diff = alone
        .run(&["diff", "HEAD..HEAD", "--format", "json"])
        .expect(0)
        .json();
    assert_eq!(diff["interface"], Value::Null);
}

#[test]
fn consumers_in_the_repositories_at_hand_are_named() {
    let shop = Shop::new();
    shop.publish(&["1.0.0"]).expect(0);
    shop.break_it();
    let consumer = World::new();
    let runs = |version: &str, parameters: &str| {
        format!(
            "type: orchestration\npipeline:\n  components:\n    Run it:\n      type: run-shared-pipeline\n      parameters:\n        \
             sharedPipeline: sales#load\n        version: '{version}'\n{parameters}"
        )
    };
    consumer.write(
        "a/uses.orch.yaml",
        runs("[Latest]", "        variables:\n          - [day, x]\n"),
    );
    consumer.write("spared.orch.yaml", runs("[Latest]", ""));
    consumer.write("broken.orch.yaml", "a: [");
    consumer.commit("first");
    let folder = consumer.work();
    let args = ["artifacts", "impact", "--repos", folder.to_str().unwrap()];
    let said = shop
        .call()
        .run(&args)
        .expect(0)
        .saying(&["not looked through", "broken.orch.yaml"]);
    for words in [
        "a/uses.orch.yaml:4: component `Run it` runs `load`, [Latest]",
        "breaking: the parameter `day` is gone; stop setting it",
        "1 component of 3 pipelines in 1 repository name what changed since version 1.0.0; others were not looked through",
    ] {
        assert!(said.out.contains(words), "{words}: {}", said.all());
    }
    let json = shop
        .call()
        .run(&[&args[..], &["-o", "json"]].concat())
        .expect(0)
        .json();
    assert_eq!(json["consumers"].as_array().unwrap().len(), 1);
    assert_eq!(json["consumers"][0]["version"], "[Latest]");
}

/// A branch `change` on which `load` loses its parameter.
fn breaking_change() -> Shop {
    let shop = Shop::new();
    shop.world.git(&["checkout", "-q", "-b", "change"]);
    shop.break_it();
    shop
}

#[test]
fn a_review_and_a_check_tell_what_a_change_breaks() {
    let shop = breaking_change();
    for command in ["review", "check"] {
        let reports = ["junit", "html", "markdown", "sarif", "gitlab", "json"];
        let files = reports.map(|format| shop.world.path().join(format));
        let flags: Vec<String> = reports
            .iter()
            .zip(&files)
            .map(|(format, file)| format!("--report={format}={}", file.display()))
            .collect();
        let run = |more: &[&str]| {
            let flags = flags.iter().map(String::as_str);
            let args: Vec<&str> = [command]
                .into_iter()
                .chain(flags)
                .chain(more.iter().copied())
                .collect();
            shop.call().variable("GITHUB_ACTIONS", "").run(&args)
        };
        let json = || -> Value { serde_json::from_slice(&fs::read(&files[5]).unwrap()).unwrap() };
        let told = run(&[]).expect(0);
        assert!(
            told.all()
                .contains("warning: breaks consumers: .platform/shared-pipelines.yaml:2"),
            "{}",
            told.all()
        );
        for file in &files {
            let text = fs::read_to_string(file).unwrap();
            assert!(text.contains("is gone"), "{}: {text}", file.display());
        }
        assert_eq!(
            (&json()["verdict"], &json()["compat"]["class"]),
            (&"passed".into(), &"breaking".into())
        );
        run(&["--compat", "fail"]).expect(1).saying(&[]);
        assert_eq!(
            (&json()["verdict"], &json()["compat"]["refused"]),
            (&"failed".into(), &true.into())
        );
        let junit = fs::read_to_string(&files[0]).unwrap();
        assert!(
            junit.contains("<failure") && junit.contains("breaks consumers"),
            "{junit}"
        );
        // What was written is read strictly, and made again.
        let from = files[5].to_str().unwrap();
        let again = shop
            .call()
            .run(&["report", from, "--report", "markdown=-"])
            .expect(1);
        assert!(
            again.out.contains("Breaks consumers of shared pipelines"),
            "{}",
            again.all()
        );
        let lie = fs::read_to_string(from)
            .unwrap()
            .replace("\"verdict\": \"failed\"", "\"verdict\": \"passed\"");
        fs::write(shop.world.path().join("lie.json"), lie).unwrap();
        let lie = shop.world.path().join("lie.json");
        shop.call()
            .run(&["report", lie.to_str().unwrap()])
            .expect(2)
            .saying(&["breaks consumers"]);
        run(&["--compat", "fail", "--accept-breaking", "agreed"]).expect(0);
        assert_eq!(json()["compat"]["accepted"], "agreed");
        run(&["--compat", "off"]).expect(0);
        assert_eq!(json().get("compat"), None);
    }
}

#[test]
fn nobody_inherits_a_break_of_the_base() {
    let shop = Shop::new();
    shop.publish(&["1.0.0"]).expect(0);
    shop.break_it();
    shop.world.git(&["checkout", "-q", "-b", "change"]);
    shop.world.write("other.orch.yaml", pipeline(&["Start", "Done"]));
    shop.push();
    let told = shop.call().run(&["review", "--compat", "fail"]).expect(0);
    assert!(!told.all().contains("breaks consumers"), "{}", told.all());
}

#[test]
fn a_change_does_not_steer_what_its_breaks_mean_in_a_review() {
    let shop = Shop::new();
    shop.world.write("sluicegate.yaml", "publish: { compat: fail }\n");
    shop.push();
    shop.world.git(&["checkout", "-q", "-b", "change"]);
    shop.world.write("sluicegate.yaml", "publish: { compat: off }\n");
    shop.break_it();
    policy::push(&shop.world, shop.call()).run(&["review"]).expect(1);
    let unreadable = "pipelines: [\n";
    shop.world.write(".platform/shared-pipelines.yaml", unreadable);
    shop.push();
    let told = policy::push(&shop.world, shop.call()).run(&["review"]).expect(3);
    assert!(
        told.all()
            .contains("What the change does to consumers cannot be told"),
        "{}",
        told.all()
    );
}
