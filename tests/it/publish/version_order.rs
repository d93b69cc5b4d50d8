//! Neither a rerun nor a race makes an older commit the latest version, in `ci` and in `publish` alike.

use crate::publish::merged_commits::{TAGGED, call_of_push};
use crate::publish::next_version::proxy_uploads;
use crate::support::publishing::upload_response;
use crate::support::release::{publish_call, stage, versions};
use crate::support::{
    Arguments, Call, Job, Platform, ProgramOutput, ServerProcess, World, answer, git, head, in_turn,
    orchestration_text, read_json, repository,
};
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wiremock::{Request, ResponseTemplate};

/// The templates whose names no person chooses.
const TEMPLATES: [&str; 8] = [
    "auto",
    "1.0.{run-number}",
    "{short-sha}",
    "{sha}",
    "{date}",
    "{datetime}",
    "{branch}",
    "{next}",
];

/// Adds a pushed commit that changes the shared pipeline, and returns its id.
pub fn push_commit(world: &World, component: &str) -> String {
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", component, "Done"]),
    );
    let commit = world.commit(component);
    world.push();
    commit
}

/// Creates a project whose second commit is published as version 2, and checks out the first.
fn outdated_checkout() -> (World, ServerProcess) {
    let (world, server) = stage();
    let first = head(&world);
    push_commit(&world, "More");
    publish_from_push(&world, &server, "2.0.0").expect(0);
    world.git(format!("checkout -q --detach {first}"));
    (world, server)
}

/// Runs `publish` in the job of a push to `main`.
pub fn publish_from_push(world: &World, server: &ServerProcess, version: &str) -> ProgramOutput {
    let call = publish_call(world, server).variable("GITHUB_RUN_NUMBER", "7");
    call_of_push(world, call).run(format!("publish --version-name {version} --receipt receipt.json"))
}

#[test]
fn junit_of_refused_publish_has_reason() {
    let (world, server) = outdated_checkout();
    publish_from_push(&world, &server, "{next} --junit publish.xml").expect(7);
    let junit = world.read_text("publish.xml");
    for text in ["nothing was sent: ", "is older than the commit of version 2.0.0"] {
        assert!(junit.contains(text), "{text}: {junit}");
    }
}

#[test]
fn publish_refuses_older_commit_under_name_that_nobody_chose() {
    let (world, server) = outdated_checkout();
    for template in TEMPLATES {
        let output = publish_from_push(&world, &server, template).expect(7);
        output.saying(&["is older than the commit of version 2.0.0", "nothing was sent"]);
        assert_eq!(
            read_json(&world.work().join("receipt.json"))["outcome"],
            "failed",
            "{template}"
        );
        let dry = publish_call(&world, &server).variable("GITHUB_RUN_NUMBER", "7");
        call_of_push(&world, dry)
            .run(&["publish", "--version-name", template, "--dry-run"])
            .expect(7);
    }
    let file = "publish: { version-name: 1.9.0, compat: \"off\" }\n";
    // Outside of the checkout, the file belongs to the job.
    let path = world.path().join("job.yaml");
    fs::write(&path, file).unwrap();
    let path = path.display().to_string();
    let run_output = call_of_push(&world, publish_call(&world, &server)).run(&["publish", "--config", &path]);
    run_output.expect(7).saying(&["is older than the commit"]);
    assert_eq!(versions(&world, &server).len(), 1);
}

#[test]
fn rerun_of_published_older_version_reports_no_change_for_consumers() {
    let (world, server) = stage();
    let (first, shared) = (head(&world), world.work().join(".platform/shared-pipelines.yaml"));
    world.write(".git/info/exclude", "receipt.json\n");
    publish_from_push(&world, &server, "1.0.0").expect(0);
    let one_pipeline = fs::read_to_string(&shared).unwrap();
    world.write("sales/more.orch.yaml", orchestration_text(&["Start", "Done"]));
    Call::new(&world.work())
        .run("shared-pipelines add sales/more.orch.yaml")
        .expect(0);
    assert_ne!(fs::read_to_string(&shared).unwrap(), one_pipeline);
    let second = world.commit("offer more");
    world.push();
    publish_from_push(&world, &server, "2.0.0").expect(0);
    world.git(format!("checkout -q --detach {first}"));
    let rerun = |flags: &str| {
        let call = call_of_push(&world, publish_call(&world, &server));
        call.run((
            "publish --compat fail --version-name 1.0.0 --if-exists same-content",
            flags,
        ))
    };
    let output = rerun("").expect(0);
    assert!(output.out.contains("already published"), "{}", output.all());
    assert!(!output.all().contains("breaks consumers"), "{}", output.all());
    // A requested comparison, and a new version, are compared.
    let against = rerun("--against 2.0.0").expect(0);
    against.saying(&["breaks consumers of version 2.0.0"]);
    world.git(format!("checkout -q --detach {second}"));
    world.write(".platform/shared-pipelines.yaml", &one_pipeline);
    world.commit("offer less");
    world.git("push -q origin HEAD:main");
    let output = publish_from_push(&world, &server, "2.1.0").expect(0);
    output.saying(&["breaks consumers of version 2.0.0"]);
}

#[test]
fn publish_refuses_older_commit_under_name_of_the_tag_on_any_host() {
    let (world, server) = outdated_checkout();
    world.git("tag v1");
    for (host, tagged) in TAGGED {
        for version in ["{tag}", "release-{tag}", "v1"] {
            let output = tagged(&world, publish_call(&world, &server))
                .run(format!("publish --version-name {version}"));
            assert_eq!(output.code, 7, "{host} {version}: {}", output.all());
        }
    }
    assert_eq!(versions(&world, &server).len(), 1);
}

#[test]
fn publish_with_chosen_name_reports_older_commit_before_upload() {
    let (world, server) = outdated_checkout();
    let output = publish_from_push(&world, &server, "hotfix").expect(0);
    let warning = output.err.find("consumers of [Latest] will go back").unwrap();
    assert!(
        warning < output.err.find("publishing ").unwrap(),
        "{}",
        output.all()
    );
    assert_eq!(versions(&world, &server)[0].0, "hotfix");
}

#[test]
fn publish_under_templates_moves_forward_and_repeats_newest() {
    for template in TEMPLATES {
        let (world, server) = stage();
        publish_from_push(&world, &server, template).expect(0);
        let changes_name = !["{date}", "{datetime}", "{branch}", "1.0.{run-number}"].contains(&template);
        if changes_name {
            push_commit(&world, "More");
            publish_from_push(&world, &server, template).expect(0);
        }
        let newest = versions(&world, &server);
        assert_eq!(newest.len(), 1 + usize::from(changes_name), "{template}");
        // A rerun of the newest job.
        let again = publish_call(&world, &server).variable("GITHUB_RUN_NUMBER", "7");
        call_of_push(&world, again)
            .run(&[
                "publish",
                "--version-name",
                template,
                "--if-exists",
                "same-content",
            ])
            .expect(0);
        assert_eq!(versions(&world, &server), newest, "{template}");
    }
}

#[test]
fn clone_without_latest_commit_publishes_only_under_chosen_name() {
    let (world, server) = stage();
    let url = format!("file://{}", world.remote().display());
    git(world.path(), format!("clone -q {url} early"));
    let first = head(&world);
    push_commit(&world, "More");
    publish_from_push(&world, &server, "2").expect(0);
    let early = || early_job(&world, &server, &first);
    let ci = ["ci", "--version-name", "auto", "--publish-on-branch", "main"];
    for args in [&["publish", "--version-name", "auto"][..], &ci] {
        let output = early().run((args, "--compat off"));
        output
            .expect(7)
            .saying(&["this clone does not show whether version 2 of sales"]);
    }
    for args in [&["publish", "--version-name", "auto"][..], &ci] {
        let output = early().run((args, "--compat off --deepen"));
        output
            .expect(7)
            .saying(&["is older than the commit of version 2"]);
    }
    assert_eq!(versions(&world, &server).len(), 1);
    early()
        .run("publish --version-name back")
        .expect(0)
        .saying(&["consumers of [Latest]"]);
}

/// Returns a call in the job of the first commit, in the clone `early`, which was made before the second commit.
pub fn early_job(world: &World, server: &ServerProcess, first: &str) -> Call {
    let payload = json!({ "repository": repository(), "ref": "refs/heads/main", "before": "0".repeat(40),
        "after": first });
    let call = Call::with_platform(&world.path().join("early"), &server.url);
    Job::github()
        .event("push", "refs/heads/main", &payload)
        .extend(world, call)
        .variable("GITHUB_SHA", first)
        .variable("SLUICEGATE_PREFIX", "sales")
}

/// Runs `ci` in the scheduled job with this run number.
fn nightly(world: &World, server: &ServerProcess, number: &str) -> ProgramOutput {
    let payload = json!({ "repository": repository(), "schedule": "0 0 * * *" });
    let call = Job::github()
        .event("schedule", "refs/heads/main", &payload)
        .extend(world, publish_call(world, server));
    call.variable("GITHUB_RUN_NUMBER", number)
        .run("ci --version-name 1.0.{run-number} --publish-on-branch main --receipt receipt.json")
}

#[test]
fn nightly_run_publishes_each_commit_once_and_keeps_rollback() {
    let (world, server) = stage();
    nightly(&world, &server, "1").expect(0);
    push_commit(&world, "More");
    nightly(&world, &server, "2").expect(0);
    let both = versions(&world, &server);
    let rerun = nightly(&world, &server, "3").expect(0);
    let result = "this commit is already published as version 1.0.2 of sales: nothing is published\n";
    assert!(rerun.out.ends_with(result), "{}", rerun.all());
    rerun.saying(&["not publishing commit"]);
    assert_eq!(
        read_json(&world.work().join("receipt.json"))["outcome"],
        "already-published"
    );
    assert_eq!(
        read_json(&world.work().join("receipt.json"))["versionName"],
        "1.0.2"
    );
    assert_eq!(versions(&world, &server), both);
    publish_call(&world, &server).run("artifacts rollback").expect(0);
    let rolled_back = versions(&world, &server);
    for number in ["2", "4"] {
        nightly(&world, &server, number)
            .expect(0)
            .saying(&["not publishing commit", "sluicegate artifacts enable"]);
    }
    for template in TEMPLATES {
        publish_from_push(&world, &server, template)
            .expect(0)
            .saying(&["not publishing commit"]);
    }
    assert_eq!(versions(&world, &server), rolled_back);
    // A fix is published, and a person may publish the same commit again.
    push_commit(&world, "Fixed");
    nightly(&world, &server, "5").expect(0);
    assert_eq!(versions(&world, &server)[0], ("1.0.5".to_owned(), true));
    publish_from_push(&world, &server, "again")
        .expect(0)
        .saying(&["this commit is already published as version 1.0.5 of sales"]);
    assert_eq!(versions(&world, &server)[0], ("again".to_owned(), true));
}

#[test]
fn tag_on_published_commit_is_published_too() {
    let (world, server) = stage();
    publish_from_push(&world, &server, "auto").expect(0);
    world.git("tag v1");
    for (host, tagged) in &TAGGED[..1] {
        let args = "ci --version-name {tag} --publish-on-tag v*";
        tagged(&world, publish_call(&world, &server)).run(args).expect(0);
        assert_eq!(versions(&world, &server)[0].0, "v1", "{host}");
    }
}

#[test]
fn template_meets_the_planned_version_first_and_then_an_enabled_one() {
    let (world, served) = stage();
    publish_from_push(&world, &served, "{short-sha}").expect(0);
    let planned = read_json(&world.work().join("receipt.json"))["versionName"].clone();
    publish_from_push(&world, &served, "kept").expect(0);
    publish_from_push(&world, &served, "disabled").expect(0);
    publish_call(&world, &served)
        .run("artifacts disable --force --version-name disabled")
        .expect(0);
    let again = publish_call(&world, &served).variable("GITHUB_RUN_NUMBER", "7");
    call_of_push(&world, again)
        .run("publish --version-name {short-sha} --if-exists same-content --receipt receipt.json")
        .expect(0);
    assert_eq!(
        read_json(&world.work().join("receipt.json"))["versionName"],
        planned
    );
    publish_from_push(&world, &served, "1.0.{run-number}").expect(0);
    assert_eq!(
        read_json(&world.work().join("receipt.json"))["versionName"],
        "kept"
    );
}

#[test]
fn rerun_with_template_and_the_same_version_name_exits_with_0() {
    let (world, server) = stage();
    let args = "publish --if-exists fail --receipt receipt.json --version-name";
    let publish =
        |name: &str| call_of_push(&world, publish_call(&world, &server)).run(format!("{args} {name}"));
    publish("auto").expect(0);
    let published = read_json(&world.work().join("receipt.json"));
    let output = publish("auto").expect(0);
    output.saying(&["not publishing commit"]);
    let receipt = read_json(&world.work().join("receipt.json"));
    assert_eq!(receipt["outcome"], "already-published");
    assert_eq!(receipt["versionName"], published["versionName"]);
    publish("{date}").expect(0);
    // A name of a person, or a version of another commit with that name, is a conflict.
    publish("chosen").expect(0);
    publish("chosen").expect(5);
    push_commit(&world, "More");
    publish("{date}").expect(0);
    push_commit(&world, "Fixed");
    publish("{date}").expect(5);
}

#[test]
fn rerun_with_template_and_other_files_from_the_working_tree_is_a_conflict() {
    let (world, server) = stage();
    let publish = || {
        let args = "publish --from worktree --version-name {short-sha}";
        call_of_push(&world, publish_call(&world, &server)).run(args)
    };
    publish().expect(0);
    world.write(
        "sales/later.orch.yaml",
        orchestration_text(&["Start", "Later", "Done"]),
    );
    publish().expect(5);
}

#[test]
fn commits_that_only_the_details_show_are_known() {
    let (world, server) = stage();
    // An empty text names no commit.
    for listed_commit in [json!(null), json!("")] {
        let platform = Platform::new();
        let details = json!({
            "artifactDetails": { "sharedPipelineIdPrefix": "sales", "versionName": "1", "enabled": false,
                "commitHash": head(&world) },
            "sharedPipelines": [],
        });
        let version = json!({ "sharedPipelineIdPrefix": "sales", "versionName": "1", "enabled": false,
            "commitHash": listed_commit });
        platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [version] })));
        let missing = ResponseTemplate::new(404);
        platform.respond_to(
            "GET",
            "/artifacts/details$",
            in_turn(vec![answer(&details), missing]),
        );
        let call = publish_call(&world, &server).variable("SLUICEGATE_BASE_URL", platform.server.uri());
        let output = call_of_push(&world, call)
            .run("publish --version-name auto")
            .expect(0);
        output.saying(&["not publishing commit"]);
    }
}

#[test]
fn rerun_with_template_does_not_undo_rollback_of_version_with_other_spelling_of_its_commit() {
    let (world, server) = stage();
    let commit = head(&world);
    for (listed_commit, is_skipped) in [
        (commit.to_uppercase(), true),
        (commit[..10].to_owned(), true),
        // Too short, and the start of another commit.
        (commit[..6].to_owned(), false),
        ("0123456789".to_owned(), false),
    ] {
        let platform = Platform::new();
        let version = json!({ "sharedPipelineIdPrefix": "sales", "versionName": "1", "enabled": false,
            "commitHash": listed_commit });
        platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [version] })));
        platform.respond_to("GET", "/artifacts/details$", ResponseTemplate::new(404));
        let call = publish_call(&world, &server).variable("SLUICEGATE_BASE_URL", platform.server.uri());
        let output = call_of_push(&world, call)
            .run("publish --version-name {short-sha} --dry-run")
            .expect(0);
        assert_eq!(
            output.all().contains("not publishing commit"),
            is_skipped,
            "{listed_commit}: {}",
            output.all()
        );
    }
}

#[test]
fn rerun_with_template_does_not_accept_incomplete_version_of_the_commit() {
    let (world, server) = stage();
    let version = json!({ "sharedPipelineIdPrefix": "sales", "versionName": "1", "enabled": true,
        "commitHash": head(&world) });
    for (shared_pipelines, code) in [
        (json!([]), 6),
        (
            json!([{ "sharedPipelineId": "load", "sourcePipeline": "sales/load" }]),
            0,
        ),
    ] {
        let platform = Platform::new();
        platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [version] })));
        let details = json!({ "artifactDetails": version, "sharedPipelines": shared_pipelines });
        platform.respond_to("GET", "/artifacts/details$", answer(&details));
        let call = publish_call(&world, &server).variable("SLUICEGATE_BASE_URL", platform.server.uri());
        for args in [
            "publish --version-name {short-sha}",
            "publish --version-name {short-sha} --dry-run",
        ] {
            let output = call_of_push(&world, call.clone()).run(args).expect(code);
            let text = "version 1 of sales was published from this commit, but is not complete: \
                        the shared pipeline `load` (sales/load.orch.yaml) is missing";
            assert_eq!(output.all().contains(text), code == 6, "{args}: {}", output.all());
        }
    }
}

/// A version without a name cannot be compared with the plan, so it proves nothing. A version with a name decides.
#[test]
fn rerun_with_template_is_undecided_if_no_version_of_the_commit_has_a_name() {
    let (world, server) = stage();
    let commit = head(&world);
    let named_version = json!({ "sharedPipelineIdPrefix": "sales", "versionName": "1", "enabled": true, "commitHash": commit });
    let mut disabled = named_version.clone();
    disabled["enabled"] = json!(false);
    let unnamed = |enabled: bool| json!({ "sharedPipelineIdPrefix": "sales", "enabled": enabled, "commitHash": commit });
    let complete = json!([{ "sharedPipelineId": "load", "sourcePipeline": "sales/load" }]);
    for (listed_versions, shared_pipelines, code) in [
        (json!([unnamed(true)]), &complete, 3),
        (json!([unnamed(false)]), &complete, 3),
        (json!([unnamed(true), named_version]), &complete, 0),
        (json!([unnamed(true), named_version]), &json!([]), 6),
        (json!([unnamed(true), disabled]), &complete, 0),
        (json!([unnamed(false), disabled]), &complete, 0),
    ] {
        let platform = Platform::new();
        platform.respond_to(
            "GET",
            "/artifacts$",
            answer(&json!({ "results": listed_versions })),
        );
        let details = json!({ "artifactDetails": named_version, "sharedPipelines": shared_pipelines });
        platform.respond_to("GET", "/artifacts/details$", answer(&details));
        let outputs = world.path().join("outputs");
        let call = publish_call(&world, &server)
            .variable("SLUICEGATE_BASE_URL", platform.server.uri())
            .variable("GITHUB_OUTPUT", outputs.display().to_string());
        let output = call_of_push(&world, call)
            .run("publish --version-name {short-sha} --compat off")
            .expect(code);
        let text = "lists a version of sales from this commit without its name";
        assert_eq!(output.all().contains(text), code == 3, "{}", output.all());
        let written = fs::read_to_string(outputs).unwrap_or_default();
        assert!(!written.contains("without a name"), "{written}");
    }
}

#[test]
fn next_version_does_not_accept_incomplete_latest_version() {
    let (world, server) = stage();
    let version = json!({ "sharedPipelineIdPrefix": "sales", "versionName": "1.0.0", "enabled": true,
        "commitHash": head(&world) });
    for (shared_pipelines, code) in [
        (json!([]), 6),
        (
            json!([{ "sharedPipelineId": "load", "sourcePipeline": "sales/load" }]),
            0,
        ),
    ] {
        let platform = Platform::new();
        platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [version] })));
        let details = json!({ "artifactDetails": version, "sharedPipelines": shared_pipelines });
        platform.respond_to("GET", "/artifacts/details$", answer(&details));
        let outputs = world.path().join(format!("outputs-{code}"));
        let call = publish_call(&world, &server)
            .variable("SLUICEGATE_BASE_URL", platform.server.uri())
            .variable("GITHUB_OUTPUT", outputs.display().to_string());
        let output = call_of_push(&world, call)
            .run("publish --version-name {next}")
            .expect(code);
        let text = "version 1.0.0 of sales has the files of this commit, but is not complete: \
                    the shared pipeline `load` (sales/load.orch.yaml) is missing";
        assert_eq!(output.all().contains(text), code == 6, "{}", output.all());
        let outputs = fs::read_to_string(outputs).unwrap();
        assert_eq!(outputs.contains("version-name"), code == 0, "{outputs}");
    }
}

/// Publishes a commit while another job publishes `newer` between the checks and the upload.
pub fn race(world: &World, server: &ServerProcess, call: Call, args: impl Arguments) -> ProgramOutput {
    let newer = publish_call(world, server);
    let url = proxy_uploads(&server.url, move || {
        newer.run("publish --version-name newer --head main").expect(0);
    });
    call.variable("SLUICEGATE_BASE_URL", url).run(args)
}

#[test]
fn upload_after_newer_version_is_disabled() {
    let ci = ["ci", "--version-name", "auto", "--publish-on-branch", "main"];
    for args in [
        &["publish", "--version-name", "1", "--no-verify"][..],
        &["publish", "--version-name", "auto"],
        &ci,
    ] {
        let (world, server) = stage();
        let first = head(&world);
        push_commit(&world, "More");
        world.git(format!("checkout -q --detach {first}"));
        let call = call_of_push(&world, publish_call(&world, &server));
        let args = (args, "--receipt receipt.json");
        let output = race(&world, &server, call, &args).expect(5).saying(&[
            "was published while this publish was running",
            "the version was disabled",
            "consumers of [Latest] get version newer now",
        ]);
        assert!(!output.out.contains("published version"), "{}", output.all());
        let enabled: Vec<bool> = versions(&world, &server)
            .iter()
            .map(|version| version.1)
            .collect();
        assert_eq!(enabled, [false, true], "{args:?}");
        assert_eq!(
            read_json(&world.work().join("receipt.json"))["outcome"],
            "conflict"
        );
        assert_eq!(read_json(&world.work().join("receipt.json"))["verified"], false);
    }
}

#[test]
fn template_name_warns_of_version_of_same_commit_published_meanwhile() {
    let warning = "version newer of this commit was published or enabled while this publish was running";
    for (name, is_warned) in [("auto", true), ("1", false)] {
        let (world, server) = stage();
        let call = call_of_push(&world, publish_call(&world, &server));
        let output = race(&world, &server, call, ("publish --version-name", &[name])).expect(0);
        assert_eq!(output.err.contains(warning), is_warned, "{}", output.all());
        assert_eq!(versions(&world, &server).len(), 2);
    }
}

#[test]
fn upload_after_version_of_later_commit_than_the_clone_is_disabled() {
    let (world, server) = stage();
    let first = head(&world);
    let url = format!("file://{}", world.remote().display());
    git(world.path(), format!("clone -q {url} early"));
    push_commit(&world, "More");
    let early = early_job(&world, &server, &first);
    race(&world, &server, early, "publish --version-name auto")
        .expect(5)
        .saying(&["this clone does not have its commit"]);
    assert!(versions(&world, &server).contains(&("newer".to_owned(), true)));
}

#[test]
fn upload_after_version_of_same_or_older_commit_stays() {
    let (world, server) = stage();
    world.git("branch old");
    push_commit(&world, "More");
    for (version, other) in [("1", "old"), ("2", "main")] {
        let newer = publish_call(&world, &server);
        let url = proxy_uploads(&server.url, move || {
            newer
                .run(format!("publish --version-name {other} --head {other}"))
                .expect(0);
        });
        let call = call_of_push(&world, publish_call(&world, &server)).variable("SLUICEGATE_BASE_URL", url);
        call.run(format!("publish --version-name {version}")).expect(0);
    }
    let all = versions(&world, &server);
    assert!(all.len() == 4 && all.iter().all(|version| version.1), "{all:?}");
}

/// Another job publishes the same version and then a newer one. This run published nothing, so it disables nothing.
#[test]
fn version_of_another_job_stays_enabled_after_newer_version() {
    let (world, server) = stage();
    let first = head(&world);
    push_commit(&world, "More");
    world.git(format!("checkout -q --detach {first}"));
    let call = call_of_push(&world, publish_call(&world, &server));
    let (same, newer) = (call.clone(), publish_call(&world, &server));
    let url = proxy_uploads(&server.url, move || {
        same.run("publish --version-name 1").expect(0);
        newer.run("publish --version-name newer --head main").expect(0);
    });
    let output = call
        .variable("SLUICEGATE_BASE_URL", url)
        .run("publish --version-name 1 --if-exists same-content")
        .expect(0);
    assert!(
        output.out.contains("already published version 1"),
        "{}",
        output.all()
    );
    let expected = ["newer", "1"].map(|name| (name.to_owned(), true));
    assert_eq!(versions(&world, &server), expected);
}

/// Publishes the older commit under the name that a job's template has for it, after the newer commit. The platform is
/// then in the same state as after a job that was killed between its upload and the check for newer versions.
fn replaced_newer_version() -> (World, ServerProcess) {
    let (world, server) = outdated_checkout();
    publish_from_push(&world, &server, "1.0.7").expect(0);
    (world, server)
}

#[test]
fn rerun_whose_version_replaced_a_newer_one_exits_with_5_until_it_is_disabled() {
    let (world, server) = replaced_newer_version();
    let rerun = |args: &str| {
        let outputs = world.path().join("outputs");
        let call = publish_call(&world, &server)
            .variable("GITHUB_RUN_NUMBER", "7")
            .variable("GITHUB_OUTPUT", outputs.display().to_string());
        let name = "--version-name 1.0.{run-number} --if-exists same-content";
        call_of_push(&world, call).run((args, name))
    };
    let ci = "ci --publish-on-branch main";
    for args in ["publish", ci, "publish --compat off", "publish --dry-run"] {
        let output = rerun(args).expect(5).logging(&[
            "version 1.0.7 of sales is the latest version",
            "version 2.0.0, built from the newer commit",
        ]);
        let hint = "sluicegate artifacts disable 1.0.7 --prefix sales";
        assert!(output.err.contains(hint), "{}", output.all());
        assert!(!output.out.contains("already published"), "{}", output.all());
    }
    let outputs = fs::read_to_string(world.path().join("outputs")).unwrap();
    assert!(!outputs.contains("version-name"), "{outputs}");
    // The rerun leaves both versions as they are, because it published neither.
    assert!(versions(&world, &server).iter().all(|version| version.1));
    publish_call(&world, &server)
        .run("artifacts disable 1.0.7")
        .expect(0);
    rerun("publish").expect(0).saying(&["not publishing commit"]);
}

#[test]
fn rerun_for_older_commit_exits_with_5_under_each_template_and_warns_under_chosen_name() {
    let (world, server) = replaced_newer_version();
    let texts = [
        "version 1.0.7 of sales is the latest version",
        "version 2.0.0, built from the newer commit",
    ];
    let rerun = |name: &str| publish_from_push(&world, &server, &format!("{name} --if-exists same-content"));
    for template in TEMPLATES {
        rerun(template).expect(5).saying(&texts);
    }
    rerun("1.0.7").expect(0).logging(&texts);
    // The newer version is no longer offered, so nothing was replaced.
    publish_call(&world, &server)
        .run("artifacts disable 2.0.0")
        .expect(0);
    for name in ["{short-sha}", "{next}", "1.0.7"] {
        let output = rerun(name).expect(0);
        assert!(!output.err.contains("is the latest version"), "{}", output.all());
    }
}

#[test]
fn rerun_in_clone_without_the_other_commit_omits_its_version() {
    let (world, server) = stage();
    let first = head(&world);
    let url = format!("file://{}", world.remote().display());
    git(world.path(), format!("clone -q {url} early"));
    push_commit(&world, "More");
    publish_from_push(&world, &server, "2").expect(0);
    let template = "publish --version-name {short-sha} --compat off --if-exists same-content";
    let name = first[..7].to_owned();
    let early = || early_job(&world, &server, &first);
    early().run(&["publish", "--version-name", &name]).expect(0);
    let output = early().run(template).expect(0);
    for text in ["is the latest version", "artifacts disable"] {
        assert!(!output.err.contains(text), "{text}: {}", output.all());
    }
    early()
        .run((template, "--deepen"))
        .expect(5)
        .saying(&["version 2, built from the newer commit"]);
}

#[test]
fn upload_is_uncertain_if_no_list_follows() {
    let (world, server) = stage();
    let platform = Platform::new();
    let empty = answer(&json!({ "results": [] }));
    platform.respond_to(
        "GET",
        "/artifacts$",
        in_turn(vec![empty, ResponseTemplate::new(500)]),
    );
    platform.respond_to("GET", "/artifacts/details$", ResponseTemplate::new(404));
    platform.respond_to(
        "POST",
        "/artifacts$",
        answer(&json!({ "versionName": "1", "ignoredResources": [] })),
    );
    let call = publish_call(&world, &server)
        .variable("SLUICEGATE_BASE_URL", platform.server.uri())
        .variable("SLUICEGATE_RETRIES", "0");
    let args = "publish --version-name 1 --no-verify --receipt receipt.json";
    call_of_push(&world, call).run(args).expect(6).saying(&[
        "could not check whether a newer version was published",
        "500 Internal Server Error",
        "sluicegate artifacts list",
    ]);
    assert_eq!(
        read_json(&world.work().join("receipt.json"))["outcome"],
        "incomplete"
    );
}

/// Returns a platform that accepts an upload with these ignored files, and from then on has another version 2, with
/// this entry in its list and these details. Version 2 is the latest version.
fn platform_with_late_version(entry: Value, artifact: Value, ignored: Value) -> Platform {
    let uploaded = Arc::new(AtomicBool::new(false));
    let platform = Platform::new();
    let is_uploaded = Arc::clone(&uploaded);
    platform.respond_to("GET", "/artifacts$", move |_: &Request| {
        let is_listed = is_uploaded.load(Ordering::SeqCst);
        let results: Vec<&Value> = is_listed.then_some(&entry).into_iter().collect();
        answer(&json!({ "results": results }))
    });
    let is_uploaded = Arc::clone(&uploaded);
    platform.respond_to("GET", "/artifacts/details$", move |request: &Request| {
        let is_other_version = request
            .url
            .query_pairs()
            .any(|(key, value)| key == "versionName" && value != "2");
        if is_other_version || !is_uploaded.load(Ordering::SeqCst) {
            return ResponseTemplate::new(404);
        }
        answer(&json!({ "artifactDetails": artifact, "sharedPipelines": [] }))
    });
    platform.respond_to("POST", "/artifacts$", move |_: &Request| {
        uploaded.store(true, Ordering::SeqCst);
        upload_response(&ignored)
    });
    platform
}

/// The list of versions does not show commits, so the details of the late version decide.
#[test]
fn upload_after_listed_version_without_commit_is_compared_by_its_details() {
    let (world, server) = stage();
    let first = head(&world);
    let newer = push_commit(&world, "More");
    world.git(format!("checkout -q --detach {first}"));
    for (commit, code) in [(first, 0), (newer, 5)] {
        let entry = json!({ "sharedPipelineIdPrefix": "sales", "versionName": "2", "enabled": true });
        let mut artifact = entry.clone();
        artifact["commitHash"] = commit.into();
        let platform = platform_with_late_version(entry, artifact, json!([]));
        let call = publish_call(&world, &server)
            .variable("SLUICEGATE_BASE_URL", platform.server.uri())
            .variable("SLUICEGATE_RETRIES", "0");
        let output = call_of_push(&world, call)
            .run("publish --version-name 1 --no-verify")
            .expect(code);
        let text = "version 2, built from the newer commit";
        assert_eq!(output.err.contains(text), code == 5, "{}", output.all());
    }
}

#[test]
fn upload_after_newer_version_was_enabled_names_that_change() {
    let (world, server) = stage();
    let first = head(&world);
    push_commit(&world, "More");
    publish_from_push(&world, &server, "2").expect(0);
    let switch = |verb: &str| format!("artifacts {verb} --prefix sales --version-name 2");
    let call = publish_call(&world, &server);
    call.run((&switch("disable"), "--force")).expect(0);
    world.git(format!("checkout -q --detach {first}"));
    let enable = switch("enable");
    let url = proxy_uploads(&server.url, move || {
        call.run(&enable).expect(0);
    });
    let call = publish_call(&world, &server).variable("SLUICEGATE_BASE_URL", url);
    call_of_push(&world, call)
        .run("publish --version-name 1")
        .expect(5)
        .saying(&["was enabled while this publish was running"]);
}

/// The version is disabled because it is incomplete, and again because a newer version appeared. The last state
/// decides.
#[test]
fn incomplete_upload_after_newer_version_reports_the_last_state_of_the_version() {
    let (world, server) = stage();
    let first = head(&world);
    let newer = push_commit(&world, "More");
    world.git(format!("checkout -q --detach {first}"));
    let artifact = json!({ "sharedPipelineIdPrefix": "sales", "versionName": "2", "enabled": true, "commitHash": newer });
    let (failed, disabled) = (ResponseTemplate::new(500), answer(&json!({ "enabled": false })));
    let (enabled_text, disabled_text) = (
        "could not be disabled",
        "the version was disabled to protect consumers",
    );
    for (responses, text, other_text) in [
        (vec![failed.clone(), disabled], disabled_text, enabled_text),
        (vec![failed], enabled_text, disabled_text),
    ] {
        let platform = platform_with_late_version(artifact.clone(), artifact.clone(), json!(["notes.md"]));
        platform.respond_to("PATCH", "/artifacts$", in_turn(responses));
        let call = publish_call(&world, &server)
            .variable("SLUICEGATE_BASE_URL", platform.server.uri())
            .variable("SLUICEGATE_RETRIES", "0");
        let output = call_of_push(&world, call)
            .run("publish --version-name 1 --no-verify --on-ignored disable")
            .expect(5)
            .saying(&[
                "must not be the latest version",
                "the platform ignored `notes.md`",
                text,
            ]);
        assert!(!output.err.contains(other_text), "{}", output.all());
    }
}

/// A newer version appears after the upload, and the platform does not disable the uploaded one.
#[test]
fn upload_after_newer_version_that_stays_enabled_names_the_next_step() {
    let (world, server) = stage();

    let first = head(&world);
    let newer = push_commit(&world, "More");
    world.git(format!("checkout -q --detach {first}"));
    let artifact = json!({ "sharedPipelineIdPrefix": "sales", "versionName": "2", "enabled": true, "commitHash": newer });
    let platform = platform_with_late_version(artifact.clone(), artifact, json!([]));
    let call = publish_call(&world, &server)
        .variable("SLUICEGATE_BASE_URL", platform.server.uri())
        .variable("SLUICEGATE_RETRIES", "0");
    let ended = call_of_push(&world, call)
        .run("publish --version-name 1 --no-verify")
        .expect(5)
        .saying(&[
            "the older version could not be disabled",
            "run `sluicegate artifacts disable 1 --prefix sales` to hide the version from consumers",
        ]);
    for text in ["was published while this publish was running", "PATCH "] {
        assert_eq!(ended.err.matches(text).count(), 1, "{}", ended.all());
    }
}

#[test]
fn listed_version_without_details_does_not_stop_a_publish_and_failed_request_does() {
    let (world, served) = stage();
    for (status, upload_count) in [(404, 1), (500, 0), (403, 0)] {
        let platform = Platform::new();
        let listed = json!([{ "sharedPipelineIdPrefix": "sales", "versionName": "gone", "enabled": false }]);
        platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": listed })));
        platform.respond_to("GET", "/artifacts/details$", move |request: &Request| {
            let is_listed = request.url.query_pairs().any(|(_, value)| value == "gone");
            ResponseTemplate::new(if is_listed { status } else { 404 })
        });
        platform.respond_to("POST", "/artifacts$", ResponseTemplate::new(400));
        let call = publish_call(&world, &served)
            .variable("SLUICEGATE_BASE_URL", platform.server.uri())
            .variable("SLUICEGATE_RETRIES", "0");
        call_of_push(&world, call).run("publish --version-name 1 --compat off");
        let uploads = platform
            .requests()
            .into_iter()
            .filter(|request| request.method == "POST");
        assert_eq!(uploads.count(), upload_count, "{status}");
    }
}

#[test]
fn next_version_after_rollback_skips_disabled_names() {
    let (world, served) = stage();
    publish_from_push(&world, &served, "{next}").expect(0);
    push_commit(&world, "More");
    publish_from_push(&world, &served, "{next}").expect(0);
    publish_call(&world, &served).run("artifacts rollback").expect(0);
    push_commit(&world, "Fixed");
    publish_from_push(&world, &served, "{next}").expect(0);
    assert_eq!(versions(&world, &served)[0], ("1.0.2".to_owned(), true));
    // If no version is enabled, the numbers go on from the newest.
    for version in ["1.0.0", "1.0.2"] {
        publish_call(&world, &served)
            .run(format!("artifacts disable --force --version-name {version}"))
            .expect(0);
    }
    push_commit(&world, "Again");
    publish_from_push(&world, &served, "{next}").expect(0);
    assert_eq!(versions(&world, &served)[0], ("1.0.3".to_owned(), true));
}

#[test]
fn next_version_follows_the_newest_name_if_every_version_is_disabled() {
    let (world, served) = stage();
    publish_from_push(&world, &served, "2.4.0").expect(0);
    publish_call(&world, &served)
        .run("artifacts disable --force --version-name 2.4.0")
        .expect(0);
    push_commit(&world, "More");
    publish_from_push(&world, &served, "{next}").expect(0);
    assert_eq!(versions(&world, &served)[0], ("2.4.1".to_owned(), true));
}

#[test]
fn publish_waits_while_details_have_no_shared_pipeline() {
    let (world, server) = stage();
    let platform = Platform::new();
    let artifact = json!({ "sharedPipelineIdPrefix": "sales", "versionName": "1", "enabled": true,
        "commitHash": head(&world) });
    let details =
        |pipelines: Value| answer(&json!({ "artifactDetails": artifact, "sharedPipelines": pipelines }));
    let missing = || ResponseTemplate::new(404);
    let body = json!([{ "sharedPipelineId": "load", "sourcePipeline": "sales/load" }]);
    platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
    let responses = vec![missing(), missing(), details(json!([])), details(body)];
    platform.respond_to("GET", "/artifacts/details$", in_turn(responses));
    platform.respond_to(
        "POST",
        "/artifacts$",
        answer(&json!({ "versionName": "1", "ignoredResources": [] })),
    );
    let call = publish_call(&world, &server).variable("SLUICEGATE_BASE_URL", platform.server.uri());
    let output = call.run("publish --version-name 1").expect(0);
    assert!(output.out.contains(", verified"), "{}", output.all());
}

#[test]
fn publish_of_deleted_branch_does_nothing() {
    let (world, server) = stage();
    let payload = json!({ "repository": repository(), "ref": "refs/heads/main", "before": head(&world),
        "after": "0".repeat(40), "deleted": true });
    let call = Job::github()
        .event("push", "refs/heads/main", &payload)
        .extend(&world, publish_call(&world, &server));
    call.run("publish --version-name 1")
        .expect(0)
        .saying(&["nothing is published"]);
    assert_eq!(versions(&world, &server), []);
}

/// A platform whose list shows no commits, with this number of versions; the last one is of the checked-out commit and
/// disabled.
fn platform_without_listed_commits(world: &World, count: usize) -> Platform {
    let platform = Platform::new();
    let versions: Vec<Value> = (1..=count)
        .map(|number| {
            json!({ "sharedPipelineIdPrefix": "sales", "versionName": format!("v{number}"), "enabled": number == 1 })
        })
        .collect();
    platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": versions })));
    let (commit, last) = (head(world), format!("v{count}"));
    platform.respond_to("GET", "/artifacts/details$", move |request: &Request| {
        let name = request.url.query_pairs().find(|(key, _)| key == "versionName");
        let name = name.map_or_else(|| "v1".to_owned(), |(_, name)| name.into_owned());
        let commit = if name == last { commit.clone() } else { "0".repeat(40) };
        answer(&json!({
            "artifactDetails": { "sharedPipelineIdPrefix": "sales", "versionName": name, "commitHash": commit },
            "sharedPipelines": [],
        }))
    });
    platform
}

#[test]
fn commit_of_the_last_of_many_versions_is_not_published_again() {
    let (world, server) = stage();
    let platform = platform_without_listed_commits(&world, 60);
    let publish = |version: &str| {
        let call = publish_call(&world, &server).variable("SLUICEGATE_BASE_URL", platform.server.uri());
        call_of_push(&world, call).run(format!("publish --version-name {version}"))
    };
    publish("auto").expect(0).saying(&[
        "not publishing commit",
        "version v60 of sales was published from it",
    ]);
}

#[test]
fn publish_under_a_template_is_undecided_if_too_many_commits_are_unknown() {
    let (world, server) = stage();
    let platform = platform_without_listed_commits(&world, 1_010);
    let call = publish_call(&world, &server).variable("SLUICEGATE_BASE_URL", platform.server.uri());
    call_of_push(&world, call)
        .run("publish --version-name auto")
        .expect(3)
        .saying(&[
            "could not determine whether this commit was published before",
            "1,010 versions",
        ]);
}

#[test]
fn publish_is_undecided_if_the_platform_hides_the_latest_version() {
    let (world, server) = stage();
    let platform = Platform::new();
    let body = json!({ "results": [
        { "sharedPipelineIdPrefix": "sales", "versionName": "1", "enabled": true, "commitHash": "1".repeat(40) },
    ] });
    platform.respond_to("GET", "/artifacts$", answer(&body));
    platform.respond_to("GET", "/artifacts/details$", ResponseTemplate::new(404));
    let call = publish_call(&world, &server).variable("SLUICEGATE_BASE_URL", platform.server.uri());
    call_of_push(&world, call)
        .run("publish --version-name auto")
        .expect(3)
        .saying(&["the platform lists the enabled version 1, but returned no latest version"]);
}

#[test]
fn publish_under_a_template_follows_version_without_commit_after_a_warning() {
    let (world, served) = stage();
    let platform = Platform::new();
    let artifact = json!({ "sharedPipelineIdPrefix": "sales", "versionName": "0", "enabled": true });
    platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [artifact] })));
    platform.respond_to("GET", "/artifacts/details$", move |request: &Request| {
        let mut names = request.url.query_pairs().filter(|(key, _)| key == "versionName");
        if names.any(|(_, name)| name != "0") {
            return ResponseTemplate::new(404);
        }
        answer(&json!({ "artifactDetails": artifact, "sharedPipelines": [] }))
    });
    platform.respond_to("POST", "/artifacts$", answer(&json!({ "ignoredResources": [] })));
    let call = publish_call(&world, &served).variable("SLUICEGATE_BASE_URL", platform.server.uri());
    call_of_push(&world, call)
        .run("publish --version-name {short-sha} --compat off --no-verify")
        .expect(0)
        .saying(&["the platform reports no commit for version 0 of sales"]);
}

#[test]
fn hotfix_that_replaces_a_version_of_another_line_is_reported_before_upload() {
    let (world, server) = stage();
    publish_from_push(&world, &server, "1.0.0").expect(0);
    world.git("branch hotfix");
    push_commit(&world, "More");
    publish_from_push(&world, &server, "2.0.0").expect(0);
    world.git("checkout -q -f hotfix");
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "Fixed", "Done"]),
    );
    world.commit("fixed");
    world.git("push -q origin hotfix");
    let publish = |flags: &str| {
        publish_call(&world, &server).run(("publish --if-exists same-content --version-name 1.0.1", flags))
    };
    let undo = "To undo the publish afterwards, run `sluicegate artifacts disable 1.0.1 --prefix sales`";
    for (flags, verb) in [("--dry-run", "would"), ("", "will")] {
        let output = publish(flags).expect(0);
        let warning = &format!("consumers of [Latest] {verb} get version 1.0.1 instead of version 2.0.0");
        assert_eq!(output.all().contains(undo), flags.is_empty(), "{}", output.all());
        output.saying(&[
            "does not contain the commit of version 2.0.0 of sales",
            "and version 1.0.1 is lower than version 2.0.0",
            warning,
        ]);
    }
    // On a second run, the version exists, and nothing changes for anyone.
    for flags in ["--dry-run", ""] {
        let output = publish(flags).expect(0);
        assert!(!output.all().contains("instead of version"), "{}", output.all());
    }
}

#[test]
fn lower_number_of_newer_commit_is_reported_and_higher_number_is_not() {
    let (world, server) = stage();
    publish_from_push(&world, &server, "1.10.0").expect(0);
    for (version, is_lower) in [
        ("1.9.0", true),
        ("1.10.0-rc.1", false),
        ("{next}", false),
        ("auto", false),
    ] {
        push_commit(&world, &format!("After {version}"));
        let output = publish_from_push(&world, &server, version).expect(0);
        let is_reported = output.all().contains("is lower than version");
        assert_eq!(is_reported, is_lower, "{version}: {}", output.all());
        assert!(!output.all().contains("does not contain"), "{}", output.all());
    }
}

#[test]
fn rerun_of_published_version_logs_a_comparison_instead_of_a_publish() {
    let (world, server) = stage();
    let first = publish_from_push(&world, &server, "auto").expect(0);
    first.saying(&["publishing 2 files as version "]);
    let second = publish_from_push(&world, &server, "auto").expect(0);
    second.assert_logged(&["comparing 2 files with version ", ", which exists"]);
    assert!(!second.all().contains("publishing 2 files"), "{}", second.all());
}
