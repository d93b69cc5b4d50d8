//! `ci --new-only` before a publish, if the reviewed commit does not contain the commit of the published version.

use crate::support::release::{publish_call, stage};
use crate::support::{
    Call, Job, Platform, ProgramOutput, ServerProcess, World, answer, git, head, orchestration_text, project,
    repository,
};
use serde_json::{Value, json};
use wiremock::{Request, ResponseTemplate};

/// A project with a known finding in version 1.0.0, on which the branch `hotfix` is based, and with version 2.0.0 on
/// `main`.
fn project_with_release_branch() -> (World, ServerProcess) {
    let (world, server) = stage();
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    for version in ["1.0.0", "2.0.0"] {
        if version == "2.0.0" {
            world.git("branch hotfix");
        }
        world.write(
            "sales/load.orch.yaml",
            orchestration_text(&["Start", "Load", "Done"]) + "# " + version,
        );
        world.commit(version);
        world.push();
        publish_call(&world, &server)
            .run(format!("publish --version-name {version}"))
            .expect(0);
    }
    (world, server)
}

/// Commits and pushes the files of the work tree to the branch `hotfix`.
fn push_hotfix(world: &World) {
    world.commit("hotfix");
    world.git("push -q -f origin HEAD:hotfix");
}

/// Runs `ci` in the job of a push to this branch.
fn run_job(world: &World, branch: &str, call: Call, args: &str) -> ProgramOutput {
    let reference = format!("refs/heads/{branch}");
    let payload = json!({ "repository": repository(), "ref": reference, "before": "0".repeat(40),
        "after": head(world) });
    let call = Job::github()
        .event("push", &reference, &payload)
        .extend(world, call);
    call.run((
        "ci --new-only --publish-on-branch hotfix --publish-on-branch main --version-name",
        args,
    ))
}

#[test]
fn new_only_publish_of_hotfix_compares_with_last_version_that_it_contains() {
    let (world, server) = project_with_release_branch();
    world.git("checkout -q hotfix");
    let old_version = head(&world);
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "Fixed"]),
    );
    push_hotfix(&world);
    let ci = |args: &str| run_job(&world, "hotfix", publish_call(&world, &server), args);
    ci("1.0.1 --dry-run").expect(0);
    let note = format!(
        "findings are known if they exist at {}: version 1.0.0 of sales, because head does not contain commit",
        &old_version[..7]
    );
    let output = ci("1.0.1").expect(0);
    output.assert_logged(&[&note, "of version 2.0.0 of sales"]);
    assert_eq!(output.all().matches(&note).count(), 1, "{}", output.all());
    // The counterpart: the next hotfix introduces a finding.
    world.write(
        "new.orch.yaml",
        orchestration_text(&["Start", "worse name", "Done"]),
    );
    push_hotfix(&world);
    ci("1.0.2").expect(1);
}

#[test]
fn new_only_publish_names_published_version_in_reports() {
    let (world, server) = project_with_release_branch();
    let version_commit = head(&world);
    world.write(
        "new.orch.yaml",
        orchestration_text(&["Start", "worse name", "Done"]),
    );
    world.commit("bad");
    world.push();
    let args = "2.0.1 --report html=r.html --report markdown=r.md";
    let output = run_job(&world, "main", publish_call(&world, &server), args).expect(1);
    let note = format!(
        "findings are known if they exist at {}: version 2.0.0 of sales, which is published",
        &version_commit[..7]
    );
    assert_eq!(output.all().matches(&note).count(), 1, "{}", output.all());
    for file in ["r.html", "r.md"] {
        let report = world.read_text(file);
        assert!(
            report.contains("version 2.0.0 of sales, which is published"),
            "{report}"
        );
    }
}

/// The pipelines are selected since the push, and their findings are compared with the published version.
#[test]
fn page_of_publish_does_not_name_the_push_as_base_of_findings() {
    let (world, server) = project_with_release_branch();
    let version_commit = head(&world);
    world.write(
        "new.orch.yaml",
        orchestration_text(&["Start", "worse name", "Done"]),
    );
    let push_base = world.commit("bad");
    world.write("note.txt", "more");
    world.commit("note");
    world.push();
    let payload = json!({ "repository": repository(), "ref": "refs/heads/main", "before": push_base,
        "after": head(&world) });
    let job = Job::github().event("push", "refs/heads/main", &payload);
    job.extend(&world, publish_call(&world, &server))
        .run("ci --new-only --publish-on-branch main --version-name 2.0.1 --report html=r.html")
        .expect(1);
    let page = world.read_text("r.html");
    let fact = format!("<dt>Changes since</dt><dd>{}</dd>", &push_base[..12]);
    let note = format!("findings are known if they exist at {}", &version_commit[..7]);
    assert!(
        page.contains(&fact) && page.to_lowercase().contains(&note),
        "{}",
        page.split("<h2").next().unwrap()
    );
}

#[test]
fn new_only_publish_of_hotfix_has_new_finding_that_no_version_had() {
    let (world, server) = project_with_release_branch();
    // A commit between two versions introduces a finding that the next version does not have.
    let bad_pipeline = orchestration_text(&["Start", "worse name", "Done"]);
    world.write("new.orch.yaml", &bad_pipeline);
    world.commit("bad");
    world.git("branch -f hotfix");
    world.write("new.orch.yaml", orchestration_text(&["Start", "Good", "Done"]));
    world.commit("good");
    world.push();
    publish_call(&world, &server)
        .run("publish --version-name 3.0.0")
        .expect(0);
    world.git("checkout -q hotfix");
    world.write("note.txt", "more");
    push_hotfix(&world);
    let output = run_job(&world, "hotfix", publish_call(&world, &server), "2.0.1").expect(1);
    output.assert_logged(&["version 2.0.0 of sales, because head does not contain commit"]);
}

#[test]
fn new_only_publish_of_unrelated_commit_treats_every_finding_as_new() {
    let (world, server) = project_with_release_branch();
    world.git("checkout -q --orphan hotfix2");
    push_hotfix(&world);
    let output = run_job(&world, "hotfix", publish_call(&world, &server), "1.0.1").expect(1);
    output.assert_logged(&[
        "every finding is treated as new",
        "of version 2.0.0 of sales, nor that of an earlier version that is enabled",
    ]);
}

#[test]
fn new_only_publish_in_shallow_clone_without_the_version_treats_every_finding_as_new() {
    let (world, server) = project_with_release_branch();
    world.git("checkout -q hotfix");
    world.write("note.txt", "more");
    push_hotfix(&world);
    publish_call(&world, &server)
        .run("publish --version-name 1.0.1")
        .expect(0);
    world.git("checkout -q main");
    let url = format!("file://{}", world.remote().display());
    git(
        world.path(),
        format!("clone -q --depth 1 --no-single-branch {url} shallow"),
    );
    for (folder, code) in [(world.path().join("shallow"), 1), (world.work(), 0)] {
        let call = Call::with_platform(&folder, &server.url).variable("SLUICEGATE_PREFIX", "sales");
        let output = run_job(&world, "main", call, "2.0.1").expect(code);
        let reason = "or this shallow clone does not show it: fetch the full history";
        assert_eq!(output.all().contains(reason), code == 1, "{}", output.all());
    }
}

/// Creates a pushed project that shares a pipeline.
pub(super) fn project_with_shared_pipeline() -> World {
    let world = project();
    let shared = "pipelines:\n  - { pipeline: a.orch.yaml, id: a, enabled: true }\n";
    world.write(".platform/shared-pipelines.yaml", shared);
    world.commit("shared");
    world.push();
    world
}

/// Returns a platform without reviews, whose latest version has a commit that `head` does not contain. Its list and the
/// details of another version are these.
fn platform_with_versions(list: ResponseTemplate, old_details: Value) -> Platform {
    let platform = Platform::new();
    platform.reviews(ResponseTemplate::new(503));
    platform.respond_to("GET", "/artifacts$", list);
    let latest = json!({ "sharedPipelineIdPrefix": "sales", "versionName": "2", "commitHash": "a".repeat(40),
        "enabled": true });
    platform.respond_to("GET", "/artifacts/details$", move |request: &Request| {
        let is_old = request
            .url
            .query()
            .is_some_and(|query| query.contains("versionName="));
        let details = if is_old { &old_details } else { &latest };
        answer(&json!({ "sharedPipelines": [], "artifactDetails": details }))
    });
    platform
}

/// Runs `ci` for all pipelines before a publish, and returns the notes of its report.
fn read_notes(world: &World, platform: &Platform) -> String {
    let ci = "ci --all --new-only --publish-on-branch main --prefix sales --version-name 3 --report json=-";
    let output = platform.call(world).run(ci).expect(3);
    output.json()["notes"].to_string()
}

#[test]
fn earlier_versions_that_cannot_be_listed_are_no_base_but_a_reason() {
    let world = project_with_shared_pipeline();
    for (list, reason) in [
        (
            ResponseTemplate::new(503),
            "could not query the published version",
        ),
        (
            answer(&json!({ "results": [] })),
            "nor that of an earlier version that is enabled",
        ),
    ] {
        let platform = platform_with_versions(list, json!({}));
        let notes = read_notes(&world, &platform);
        assert!(notes.contains(reason), "{notes}");
    }
}

#[test]
fn earlier_version_is_base_only_if_its_details_show_that_it_is_enabled() {
    let world = project_with_shared_pipeline();
    let commit = head(&world);
    world.write("next.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("next");
    world.push();
    for (listed_fields, details_fields, is_base) in [
        (json!({}), json!({ "enabled": true, "commitHash": commit }), true),
        (
            json!({}),
            json!({ "enabled": false, "commitHash": commit }),
            false,
        ),
        (
            json!({ "enabled": true }),
            json!({ "enabled": true, "commitHash": commit }),
            true,
        ),
        (
            json!({ "commitHash": commit }),
            json!({ "enabled": false, "commitHash": commit }),
            false,
        ),
        (json!({ "enabled": true, "commitHash": commit }), json!({}), true),
    ] {
        let name_version = |mut fields: Value| {
            fields["sharedPipelineIdPrefix"] = json!("sales");
            fields["versionName"] = json!("1");
            fields
        };
        let list = answer(&json!({ "results": [name_version(listed_fields.clone())] }));
        let platform = platform_with_versions(list, name_version(details_fields.clone()));
        let notes = read_notes(&world, &platform);
        let has_base = notes.contains("version 1 of sales, because head does not contain commit");
        assert_eq!(has_base, is_base, "{listed_fields} {details_fields}: {notes}");
    }
}
