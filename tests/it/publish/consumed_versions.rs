//! The version that consumers of `[Latest]` get after a publish: its warnings in every output, and the next steps.

use crate::publish::merged_commits::call_of_push;
use crate::publish::next_version::proxy_uploads;
use crate::publish::version_order::{early_job, publish_from_push, push_commit, race};
use crate::support::release::{publish_call, stage, versions};
use crate::support::{ProgramOutput, ServerProcess, World, git, head, orchestration_text};
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
fn push_after_rollback_with_the_same_content_has_a_warning() {
    let (world, server) = stage();
    publish_from_push(&world, &server, "{next}").expect(0);
    let good_text = world.read_text("sales/load.orch.yaml");
    push_commit(&world, "More");
    publish_from_push(&world, &server, "{next}").expect(0);
    publish_call(&world, &server).run("artifacts rollback").expect(0);
    let warning = "has the same content as version 1.0.1 of sales, which is disabled";
    world.write("README", "unrelated\n");
    world.commit("unrelated");
    world.push();
    for flags in ["{next} --dry-run", "auto --dry-run --compat off", "{next}"] {
        let output = publish_from_push(&world, &server, flags).expect(0);
        assert_eq!(
            output.all().matches(warning).count(),
            1,
            "{flags}: {}",
            output.all()
        );
    }
    assert_eq!(versions(&world, &server)[0], ("1.0.2".to_owned(), true));
    // Other content, and a revert, need no warning.
    publish_call(&world, &server).run("artifacts rollback").expect(0);
    for text in [orchestration_text(&["Start", "Fixed", "Done"]), good_text] {
        world.write("sales/load.orch.yaml", text);
        world.commit("other content");
        world.push();
        let output = publish_from_push(&world, &server, "{next} --dry-run").expect(0);
        assert!(!output.all().contains("has the same content"), "{}", output.all());
    }
}

#[test]
fn conflict_with_version_of_newer_commit_asks_for_no_change() {
    for (planned, published, hint) in [
        ("main~1", "main", "do not change anything"),
        ("main", "main~1", "run the job again"),
    ] {
        let (world, server) = stage();
        publish_from_push(&world, &server, "1.0.0").expect(0);
        push_commit(&world, "More");
        push_commit(&world, "Newest");
        world.git(format!("checkout -q --detach {planned}"));
        let racer = publish_call(&world, &server);
        let url = proxy_uploads(&server.url, move || {
            racer
                .run(format!("publish --version-name {{next}} --head {published}"))
                .expect(0);
        });
        let call = call_of_push(&world, publish_call(&world, &server)).variable("SLUICEGATE_BASE_URL", url);
        let output = call.run("publish --version-name {next}").expect(5);
        assert!(output.all().contains(hint), "{planned}: {}", output.all());
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
        .saying(&["hint: nothing was sent; pass --deepen to fetch the commit; "]);
    // After a force push, the remote may remove the commit.
    world.git(format!("push -q -f origin {first}:main"));
    git(&world.remote(), "gc -q --prune=now");
    publish("--deepen")
        .expect(7)
        .saying(&["force push, run `sluicegate artifacts disable 2 --prefix sales`"]);
}

#[test]
fn rerun_with_next_in_shallow_clone_accepts_the_version_of_the_commit() {
    let (world, server) = stage();
    publish_from_push(&world, &server, "{next}").expect(0);
    let second = push_commit(&world, "More");
    publish_from_push(&world, &server, "{next}").expect(0);
    let url = format!("file://{}", world.remote().display());
    git(world.path(), format!("clone -q --depth 1 {url} early"));
    push_commit(&world, "Newest");
    publish_from_push(&world, &server, "{next}").expect(0);
    for flags in ["", "--dry-run"] {
        let output = early_job(&world, &server, &second).run(("publish --version-name {next}", flags));
        let text = "this commit is already published as version 1.0.1";
        assert!(output.expect(0).out.contains(text), "{flags}");
    }
    // A commit without a version needs the comparison.
    publish_call(&world, &server)
        .run("artifacts disable 1.0.1")
        .expect(0);
    let folder = world.path().join("early");
    git(&folder, "commit -q --allow-empty -m other");
    git(&folder, "push -q -f origin HEAD:main");
    let other = git(&folder, "rev-parse HEAD");
    early_job(&world, &server, &other)
        .run("publish --version-name {next}")
        .expect(7)
        .saying(&["could not determine the changes for consumers"]);
}
