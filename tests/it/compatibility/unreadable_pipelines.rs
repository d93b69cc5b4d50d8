//! Shared pipelines whose files cannot be read or do not declare an offered parameter: a break cannot be ruled out.

use crate::support::{Call, Job, RULES_FILE, Shop, World, offer, orchestration_text, parameter, project};
use serde_json::{Value, json};
use std::fs;

const SHARED_FILE: &str = ".platform/shared-pipelines.yaml";
const PIPELINE: &str = "a.orch.yaml";
const NOTE: &str = "could not determine the changes for consumers: ";

fn pipeline(variable: &str) -> String {
    orchestration_text(&["Start", "Done"]) + &format!("  variables:\n    {variable}: {{}}\n")
}

/// Returns a Git LFS pointer with a hash of this digit.
fn lfs_pointer(digit: &str) -> String {
    let hash = digit.repeat(64);
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{hash}\nsize 10\n")
}

/// Returns the contents of a pipeline that leave breaks unknown, each with the reason.
fn unusable_contents() -> [(String, &'static str); 4] {
    [
        (": [\n".to_owned(), "could not read a.orch.yaml: not YAML"),
        (lfs_pointer("0"), "the document is a Git LFS pointer"),
        (
            "type: orchestration\n".to_owned(),
            "the key `pipeline` is missing",
        ),
        (
            pipeline("night"),
            "the shared pipeline `a` has the parameter `day`, which is not a variable of `a.orch.yaml`",
        ),
    ]
}

/// Creates a pushed `main` that shares this pipeline with the parameter `day`, and checks out the branch `change`.
fn world_with_shared_pipeline(content: &str) -> World {
    let world = project();
    world.write(SHARED_FILE, offer(&[("a", &parameter("day", ""))]));
    world.write(PIPELINE, content);
    world.commit("share");
    world.push();
    world.git("checkout -q -b change");
    world
}

fn commit_pipeline(world: &World, content: &str) {
    world.write(PIPELINE, content);
    world.commit("change");
}

/// A break anywhere reaches consumers, also of pipelines that are not reviewed or whose findings do not fail the gate.
#[test]
fn check_of_unusable_shared_pipeline_is_undecided_if_breaks_fail() {
    for (content, reason) in unusable_contents() {
        let world = world_with_shared_pipeline(&pipeline("day"));
        commit_pipeline(&world, &content);
        let call = Call::new(&world.work());
        for args in ["--exclude a.orch.yaml", "--fail-on never"] {
            let output = call.run(("check --report json=- --compat fail", args)).expect(3);
            output.assert_logged(&[reason]);
            let report = output.json();
            assert_eq!(report["verdict"], "undecided", "{reason} {args}");
            assert_eq!(report["compat"]["class"], Value::Null, "{reason} {args}");
        }
        let output = call
            .run("check --report json=- --compat warn --exclude a.orch.yaml")
            .expect(0);
        let notes = output.json()["notes"].to_string();
        assert!(notes.contains(NOTE) && notes.contains(reason), "{notes}");
        let diff = call.run("diff main..HEAD -o json").expect(0).json();
        assert_eq!(
            diff["interface"],
            json!({ "class": null, "changes": [] }),
            "{reason}"
        );
    }
}

#[test]
fn check_of_unusable_shared_pipeline_is_undecided_without_rules() {
    for (content, reason) in unusable_contents() {
        let world = world_with_shared_pipeline(&pipeline("day"));
        world.write(RULES_FILE, "rules: []\n");
        world.commit("rules");
        commit_pipeline(&world, &content);
        let call = Call::new(&world.work());
        let output = call.run("check --base HEAD~1 --compat fail").expect(3);
        output.assert_logged(&[reason]);
    }
}

#[cfg(unix)]
#[test]
fn check_of_shared_pipeline_that_became_a_link_is_undecided_if_breaks_fail() {
    let world = world_with_shared_pipeline(&pipeline("day"));
    world.git("mv a.orch.yaml b.orch.yaml");
    std::os::unix::fs::symlink("b.orch.yaml", world.work().join(PIPELINE)).unwrap();
    world.commit("link");
    let output = Call::new(&world.work())
        .run("check --compat fail --exclude a.orch.yaml")
        .expect(3);
    output.assert_logged(&["could not read a.orch.yaml: the path is a symbolic link, not a file"]);
}

#[test]
fn check_of_edited_shared_pipeline_passes_although_breaks_fail() {
    for (old, new) in [
        (pipeline("day"), pipeline("day: {}\n    night")),
        // A parameter that the base does not declare either is not a break of the change.
        (pipeline("night"), pipeline("noon")),
    ] {
        let world = world_with_shared_pipeline(&old);
        commit_pipeline(&world, &new);
        let output = Call::new(&world.work())
            .run("check --report json=- --compat fail")
            .expect(0);
        assert!(!output.all().contains(NOTE), "{}", output.all());
    }
}

#[test]
fn unreadable_shared_pipeline_that_stayed_the_same_does_not_leave_breaks_unknown() {
    for content in [": [\n", &lfs_pointer("0")] {
        let world = world_with_shared_pipeline(content);
        world.write("b.orch.yaml", pipeline("day"));
        world.commit("change");
        world.push();
        let local = Call::new(&world.work());
        let job = Job::github().pull_request().call(&world);
        for call in [local, job] {
            let output = call.run("check --compat fail").expect(0);
            assert!(!output.all().contains(NOTE), "{}", output.all());
        }
    }
}

/// A change that repairs the pipeline must be able to pass in CI.
#[test]
fn repair_of_unreadable_shared_pipeline_passes_only_in_job_if_breaks_fail() {
    let world = world_with_shared_pipeline(": [\n");
    commit_pipeline(&world, &pipeline("day"));
    world.push();
    let reason = "could not read the earlier version of a.orch.yaml: not YAML";
    let local = Call::new(&world.work());
    local
        .run("check --compat fail")
        .expect(3)
        .assert_logged(&[reason]);
    local.run("check --compat warn").expect(0);
    let job = Job::github().pull_request().call(&world);
    let output = job.run("check --compat fail").expect(0);
    assert!(output.all().contains(reason), "{}", output.all());
    commit_pipeline(&world, ": {\n");
    world.push();
    let job = Job::github().pull_request().call(&world);
    job.run("check --compat fail --fail-on never").expect(3);
}

/// The reason is the same, but the pointers show that the file changed.
#[test]
fn other_lfs_pointer_of_shared_file_leaves_breaks_unknown() {
    let world = project();
    world.write(SHARED_FILE, lfs_pointer("0"));
    world.commit("share");
    world.push();
    world.git("checkout -q -b change");
    world.write(SHARED_FILE, lfs_pointer("1"));
    world.commit("change");
    let output = Call::new(&world.work()).run("check --compat fail").expect(3);
    output.assert_logged(&[
        "determine the changes for consumers: could not read",
        "Git LFS pointer",
    ]);
}

#[test]
fn review_of_unreadable_shared_pipeline_is_undecided_if_breaks_fail() {
    let shop = Shop::new();
    shop.world.git("checkout -q -b change");
    shop.world.write("load.orch.yaml", ": [\n");
    shop.push();
    let flags = "--exclude load.orch.yaml --on-unavailable fail --compat";
    for command in ["review", "ci"] {
        let run = |mode: &str| shop.call().run((command, format!("{flags} {mode}").as_str()));
        run("fail")
            .expect(3)
            .assert_logged(&["could not read load.orch.yaml"]);
        run("warn").expect(0);
    }
}

#[test]
fn diff_summary_counts_breaks_although_a_pipeline_is_uncertain() {
    let world = world_with_shared_pipeline(&pipeline("day"));
    commit_pipeline(&world, &pipeline("other"));
    let call = Call::new(&world.work());
    let summary = "shared pipelines: unknown: a break cannot be ruled out; ";
    call.run("diff main..HEAD").expect(0).logging(&[summary]);
    world.write(PIPELINE, "[\n");
    world.write("b.orch.yaml", pipeline("id"));
    let day = parameter("day", "");
    world.write(SHARED_FILE, offer(&[("a", &day), ("b", "")]));
    world.commit("add");
    let summary = "shared pipelines: 1 addition; more changes are possible; could not read a.orch.yaml";
    call.run("diff main..HEAD").expect(0).logging(&[summary]);
    world.write(SHARED_FILE, offer(&[("a", &parameter("hour", ""))]));
    world.commit("break");
    let summary = "shared pipelines: 2 breaks; could not read a.orch.yaml";
    call.run("diff main..HEAD").expect(0).logging(&[summary]);
}

/// A version that was published from a working tree can have a commit with a pointer.
#[test]
fn publish_after_version_with_unreadable_pipeline_is_refused_if_breaks_fail() {
    let shop = Shop::new();
    let text = shop.world.read_text("load.orch.yaml");
    shop.publish("1.0.0").expect(0);
    let receipt = shop.receipt();
    let files = receipt["files"].as_array().unwrap();
    let file = files
        .iter()
        .find(|file| file["path"] == "load.orch.yaml")
        .unwrap();
    let hash = file["sha256"].as_str().unwrap();
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{hash}\nsize {}\n",
        text.len()
    );
    shop.world.write("load.orch.yaml", pointer);
    shop.push();
    shop.world.write("load.orch.yaml", &text);
    shop.publish("1.0.1 --from worktree --compat warn").expect(0);
    shop.push();
    let reason = "could not read the earlier version of load.orch.yaml: the document is a Git LFS pointer";
    shop.publish("1.0.2 --compat fail")
        .expect(7)
        .saying(&[reason, "--against VERSION"]);
    shop.publish("{next}").expect(7).saying(&[reason]);
    assert_eq!(shop.versions(), ["1.0.0", "1.0.1"]);
    let compared = shop.call().run("artifacts diff -o json").expect(0);
    assert_eq!(compared.json()["class"], Value::Null);
    assert!(compared.err.contains(reason), "{}", compared.all());
    let compared = shop.call().run("artifacts diff").expect(0);
    let summary = ": unknown: a break cannot be ruled out";
    assert!(compared.out.contains(summary), "{}", compared.all());
    shop.publish("1.0.2 --compat fail --against 1.0.0").expect(0);
    shop.publish("1.0.3 --compat warn --against 1.0.1")
        .expect(0)
        .saying(&[reason]);
    assert_eq!(shop.receipt()["compat"]["class"], Value::Null);
    let receipt = shop.world.path().join("receipt.json");
    shop.call().run(&["verify", receipt.to_str().unwrap()]).expect(0);
    let verify_class = |class: &str| {
        let mut edited_receipt = shop.receipt();
        edited_receipt["compat"]["class"] = class.into();
        fs::write(&receipt, edited_receipt.to_string()).unwrap();
        shop.call().run(&["verify", receipt.to_str().unwrap()])
    };
    // An older receipt has the class of the changes that were found.
    verify_class("none").expect(0).saying(&[
        "the receipt's class is none, but a break cannot be ruled out",
        reason,
    ]);
    verify_class("addition")
        .expect(6)
        .saying(&["the receipt's class is addition, but the class of its changes is unknown"]);
}
