//! The version that consumers of `[Latest]` get after a publish: its warnings in every output, and the next steps.

use crate::publish::merged_commits::call_of_push;
use crate::publish::version_order::{early_job, publish_from_push, push_commit, race};
use crate::support::release::{publish_call, stage, versions};
use crate::support::{ProgramOutput, ServerProcess, World, git, head};
use std::fs;

/// Publishes in the job of a push to `main` with a step summary and a JUnit report, and returns both.
fn publish_with_reports(
    world: &World,
    server: &ServerProcess,
    version: &str,
) -> (ProgramOutput, [String; 2]) {
    let summary = world.path().join("summary.md");
    fs::write(&summary, "").unwrap();
    let call = publish_call(world, server);
    let output = call_of_push(world, call)
        .variable("GITHUB_STEP_SUMMARY", summary.display().to_string())
        .run(format!("publish --version-name {version} --junit publish.xml"));
    let texts = [
        fs::read_to_string(&summary).unwrap(),
        world.read_text("publish.xml"),
    ];
    (output, texts)
}

#[test]
fn rerun_after_protective_disable_does_not_offer_the_older_commit() {
    let (world, server) = stage();
    let first = head(&world);
    push_commit(&world, "More");
    world.git(format!("checkout -q --detach {first}"));
    let call = call_of_push(&world, publish_call(&world, &server));
    race(&world, &server, call, "publish --version-name auto").expect(5);
    let (output, texts) = publish_with_reports(&world, &server, "auto");
    let step = "version newer, built from the newer commit";
    let output = output.expect(0).saying(&[step, "so do not change anything"]);
    assert!(!output.all().contains("artifacts enable"), "{}", output.all());
    for text in texts {
        assert!(text.contains(step), "{text}");
    }
    // After a rollback of the newer version, consumers may get the older commit.
    publish_call(&world, &server)
        .run("artifacts disable newer --force")
        .expect(0);
    publish_from_push(&world, &server, "auto").expect(0).saying(&[
        "may have been disabled because it was incomplete",
        "run `sluicegate artifacts enable",
    ]);
}

#[test]
fn enable_names_the_version_that_consumers_get() {
    let (world, server) = stage();
    for version in ["1", "2"] {
        push_commit(&world, &format!("Part{version}"));
        publish_from_push(&world, &server, version).expect(0);
    }
    for version in ["2", "1"] {
        let call = publish_call(&world, &server);
        call.run(format!("artifacts disable {version}")).expect(0);
        let output = call.run(format!("artifacts enable {version}")).expect(0);
        let result = format!("enabled version {version} of sales: consumers of [Latest] get version 2 now\n");
        assert_eq!(output.out, result);
    }
}

#[test]
fn warning_about_lower_version_is_in_annotation_summary_and_junit() {
    let (world, server) = stage();
    publish_from_push(&world, &server, "1.10.0").expect(0);
    let warning = "version 1.9.0 is lower than version 1.10.0";
    for (version, is_lower) in [("1.9.0", true), ("1.11.0", false)] {
        push_commit(&world, &format!("After {version}"));
        let (output, [summary, junit]) = publish_with_reports(&world, &server, version);
        let log = output.expect(0).err;
        let annotation = format!("::warning title=Publish warning::{warning}");
        assert_eq!(log.contains(&annotation), is_lower, "{log}");
        assert_eq!(log.matches(warning).count(), usize::from(is_lower), "{log}");
        for text in [summary, junit] {
            assert_eq!(text.contains(warning), is_lower, "{text}");
        }
    }
}

#[test]
fn unknown_order_of_commits_names_the_way_out() {
    let (world, server) = stage();
    let first = head(&world);
    let url = format!("file://{}", world.remote().display());
    git(world.path(), format!("clone -q {url} early"));
    push_commit(&world, "More");
    publish_from_push(&world, &server, "2").expect(0);
    let publish = |flags: &str| {
        early_job(&world, &server, &first).run(("publish --version-name auto --compat off", flags))
    };
    publish("")
        .expect(7)
        .saying(&["hint: nothing was sent; pass --deepen"]);
    // After a force push, the remote may remove the commit.
    world.git(format!("push -q -f origin {first}:main"));
    git(&world.remote(), "gc -q --prune=now");
    publish("--deepen")
        .expect(7)
        .saying(&["force push, run `sluicegate artifacts disable 2 --prefix sales`"]);
}
