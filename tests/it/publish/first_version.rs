//! The first and later versions in realistic repositories: calls in every style, an adopted gate, and IDs that a
//! platform continues to list.

use crate::support::release::{publish_call, stage, versions};
use crate::support::{Call, Job, Platform, Shop, World, answer, head, orchestration_text, repository};
use serde_json::json;

/// Returns an orchestration that calls `jobs/clean.tran.yaml` in this notation.
fn caller_of_transformation(written: &str) -> String {
    format!(
        "type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n    Start:\n      type: start\n      \
         parameters: {{ componentName: Start }}\n      transitions: {{ unconditional: [Run] }}\n    Run:\n      type: \
         run-transformation\n      parameters:\n        componentName: Run\n        transformationJob: {written}\n      \
         transitions: {{ unconditional: [Done] }}\n    Done:\n      type: end-success\n      parameters: {{ componentName: Done }}\n"
    )
}

#[test]
fn project_of_each_style_of_calls_can_be_published() {
    for (version, written) in [
        "jobs/clean",
        "\"jobs/clean.tran.yaml\"",
        "\"jobs/cl\\\n          ean.tran.yaml\"",
        "\"jobs/cl\\\n          ean\"",
        "clean",
        "clean.tran.yaml",
    ]
    .into_iter()
    .enumerate()
    {
        let (world, server) = stage();
        world.write("sales/load.orch.yaml", caller_of_transformation(written));
        world.write("jobs/clean.tran.yaml", "type: transformation\npipeline: {}\n");
        world.commit("style");
        world.push();
        let version = version.to_string();
        let publish = format!("publish --version-name {version}");
        publish_call(&world, &server)
            .run((&publish, "--dry-run"))
            .expect(0);
        let output = publish_call(&world, &server).run(&publish);
        assert_eq!(output.code, 0, "{written}: {}", output.all());
        assert!(
            !output.err.contains("which is not in"),
            "{written}: {}",
            output.err
        );
    }
}

#[test]
fn id_that_platform_lists_and_commit_disabled_is_no_break() {
    let shop = Shop::new();
    let entry = |id: &str, enabled: bool| {
        format!("  - {{ id: {id}, pipeline: {id}.orch.yaml, enabled: {enabled}, parameters: {{}} }}\n")
    };
    let world = &shop.world;
    world.write(
        ".platform/shared-pipelines.yaml",
        format!("pipelines:\n{}{}", entry("load", true), entry("clean", false)),
    );
    let published = world.commit("one is disabled");
    world.write("load.orch.yaml", orchestration_text(&["Start", "Other", "Done"]));
    world.commit("an edit");
    world.push();
    let platform = Platform::new();
    platform.respond_to("GET", "/artifacts/details$", answer(&json!({
        "artifactDetails": { "sharedPipelineIdPrefix": "sales", "versionName": "1.0.0", "enabled": true, "commitHash": published },
        "sharedPipelines": [
            { "sharedPipelineId": "load", "sourcePipeline": "load" },
            { "sharedPipelineId": "clean", "sourcePipeline": "clean" },
        ],
    })));
    let call = platform.call(world).variable("SLUICEGATE_PREFIX", "sales");
    let plan = call
        .run("publish --version-name {next} --compat fail --dry-run --json")
        .expect(0);
    let plan = plan.json();
    assert_eq!(plan["compat"]["class"], "content", "{plan}");
    assert_eq!(plan["versionName"], "1.0.1", "{plan}");
    let diff = call.run("artifacts diff -o json").expect(0).json();
    assert_eq!(diff["class"], "content", "{diff}");
}

pub const BAD: [&str; 3] = ["Start", "bad name", "Done"];
pub const GOOD: [&str; 3] = ["Start", "Good", "Done"];

/// Creates a project with existing findings that adopts `new-only` with one merge into `main`; returns also the commit
/// before it.
pub fn stage_with_adoption_branch() -> (World, crate::support::ServerProcess, String) {
    let (world, server) = stage();
    world.write("sales/old.orch.yaml", orchestration_text(&BAD));
    let before = world.commit("a past");
    world.push();
    world.git("checkout -q -b adopt");
    world.write(
        "sluicegate.yaml",
        "review: { new-only: true }\npublish-on: { branches: [main] }\n",
    );
    world.commit("adopt");
    world.push();
    world.git("checkout -q main");
    world.git("merge -q --no-ff -m 'adopt the gate' adopt");
    world.push();
    (world, server, before)
}

pub const CI: &str = "ci --version-name {short-sha}";

#[test]
fn adopting_new_only_publishes_the_first_version_in_one_merge() {
    let (world, server, before) = stage_with_adoption_branch();
    let output = Job::github()
        .push(&before)
        .extend(&world, publish_call(&world, &server))
        .run(CI)
        .expect(0);
    assert!(output.all().contains("1 known"), "{}", output.all());
    assert_eq!(versions(&world, &server).len(), 1);
}

#[test]
fn adopting_new_only_behind_a_link_publishes_the_first_version() {
    for links_directory in [false, true] {
        let (world, server) = stage();
        world.write("sales/old.orch.yaml", orchestration_text(&BAD));
        let before = world.commit("a past");
        world.write(
            "conf/s.yaml",
            "review: { new-only: true }\npublish-on: { branches: [main] }\n",
        );
        let target = if links_directory {
            std::os::unix::fs::symlink("conf", world.work().join("ci")).unwrap();
            "ci/s.yaml"
        } else {
            "conf/s.yaml"
        };
        std::os::unix::fs::symlink(target, world.work().join("sluicegate.yaml")).unwrap();
        world.commit("adopt");
        world.push();
        let output = Job::github()
            .push(&before)
            .extend(&world, publish_call(&world, &server))
            .run(CI)
            .expect(0);
        assert!(output.all().contains("1 known"), "{}", output.all());
        assert_eq!(versions(&world, &server).len(), 1);
    }
}

/// A damaged version of the configuration file may be the adoption: a later commit as baseline would make more findings
/// known.
#[test]
fn unreadable_configuration_file_in_the_history_is_no_later_adoption() {
    let (world, server) = stage();
    let adopted = "review: { new-only: true }\npublish-on: { branches: [main] }\n";
    world.write("sluicegate.yaml", adopted);
    world.commit("adopt");
    world.write("sales/old.orch.yaml", orchestration_text(&BAD));
    let finding_commit = world.commit("a finding after the adoption");
    world.write("sluicegate.yaml", format!("{adopted}retries: 1\n"));
    world.commit("configuration");
    world.push();
    let call = Job::github()
        .push(&finding_commit)
        .extend(&world, publish_call(&world, &server));
    call.run(CI).expect(1);
    let blob = world.git(&format!("rev-parse {finding_commit}:sluicegate.yaml"));
    let (folder, file) = blob.trim().split_at(2);
    std::fs::remove_file(world.work().join(".git/objects").join(folder).join(file)).unwrap();
    call.run(CI).expect(7).saying(&[blob.trim()]);
    assert_eq!(versions(&world, &server).len(), 0);
}

#[test]
fn findings_before_adoption_are_known_if_the_configuration_file_is_older() {
    let (world, served) = stage();
    world.write("sluicegate.yaml", "retries: 1\n");
    world.commit("configuration");
    world.write("sales/old.orch.yaml", orchestration_text(&BAD));
    let before = world.commit("a past");
    let adopted = "review: { new-only: true }\npublish-on: { branches: [main] }\n";
    world.write("sluicegate.yaml", adopted);
    world.commit("adopt");
    world.push();
    let ended = Job::github()
        .push(&before)
        .extend(&world, publish_call(&world, &served))
        .run(CI)
        .expect(0);
    assert!(ended.all().contains("1 known"), "{}", ended.all());
}

#[test]
fn red_push_after_adoption_publishes_nothing_and_neither_does_the_next() {
    let (world, server, _) = stage_with_adoption_branch();
    let before = head(&world);
    world.write("sales/new.orch.yaml", orchestration_text(&BAD));
    world.commit("red");
    world.push();
    Job::github()
        .push(&before)
        .extend(&world, publish_call(&world, &server))
        .run(CI)
        .expect(1);
    let before = head(&world);
    world.write("note.txt", "more");
    world.commit("next");
    world.push();
    Job::github()
        .push(&before)
        .extend(&world, publish_call(&world, &server))
        .run(CI)
        .expect(1);
    assert_eq!(versions(&world, &server), []);
    // The findings from the adoption are still known after the other one is fixed.
    let before = head(&world);
    world.write("sales/new.orch.yaml", orchestration_text(&GOOD));
    world.commit("mended");
    world.push();
    Job::github()
        .push(&before)
        .extend(&world, publish_call(&world, &server))
        .run(CI)
        .expect(0);
    assert_eq!(versions(&world, &server).len(), 1);
}

/// A plain `git pull` before the push: the adoption is then no longer in the first-parent history of the branch.
#[test]
fn red_push_that_merges_default_branch_into_its_commit_publishes_nothing() {
    let (world, server, past) = stage_with_adoption_branch();
    let before = head(&world);
    world.git(format!("checkout -q -B main {past}"));
    world.write("sales/new.orch.yaml", orchestration_text(&BAD));
    world.commit("red");
    world.git(format!("merge -q --no-ff -m pull {before}"));
    world.push();
    let publish = |before: &str| {
        Job::github()
            .push(before)
            .extend(&world, publish_call(&world, &server))
            .run(CI)
    };
    let output = publish(&before).expect(1);
    assert!(output.all().contains("1 new"), "{}", output.all());
    assert_eq!(versions(&world, &server), []);
    // Counterpart: the findings from the adoption are still known.
    let before = head(&world);
    world.write("sales/new.orch.yaml", orchestration_text(&GOOD));
    world.commit("mended");
    world.push();
    let output = publish(&before).expect(0);
    assert!(output.all().contains("1 known"), "{}", output.all());
}

#[test]
fn branch_that_sets_new_only_itself_publishes_no_finding_of_its_own() {
    let (world, server, past) = stage_with_adoption_branch();
    let lists_release = "review: { new-only: true }\npublish-on: { branches: [main, 'release/*'] }\n";
    world.write("sluicegate.yaml", lists_release);
    world.commit("also publish releases");
    world.push();
    let publish_branch = |branch: &str, start: &str| {
        world.git(format!("checkout -q -b {branch} {start}"));
        world.write("sluicegate.yaml", lists_release);
        world.write("note.txt", branch);
        world.commit("release");
        world.push();
        let payload = json!({ "repository": repository(), "ref": format!("refs/heads/{branch}"),
            "before": "0".repeat(40), "after": head(&world), "created": true });
        Job::github()
            .event("push", &format!("refs/heads/{branch}"), &payload)
            .extend(&world, publish_call(&world, &server))
            .run((CI, "--report json=-"))
    };
    let output = publish_branch("release/1", &past);
    assert_eq!(output.code, 1, "{}", output.all());
    let report = output.json().to_string();
    assert!(report.contains("head does not contain commit"), "{report}");
    assert_eq!(versions(&world, &server), []);
    // Counterpart: a branch that contains the adoption of the default branch.
    publish_branch("release/2", "main").expect(0);
    assert_eq!(versions(&world, &server).len(), 1);
}

#[test]
fn shallow_clone_that_lacks_adoption_names_history_to_fetch() {
    let (world, server, before) = stage_with_adoption_branch();
    world.write("note.txt", "more");
    world.commit("more");
    world.push();
    let url = format!("file://{}", world.remote().display());
    crate::support::git(world.path(), format!("clone -q --depth 1 {url} shallow"));
    let call = Call::with_platform(&world.path().join("shallow"), &server.url)
        .variable("SLUICEGATE_PREFIX", "sales");
    let output = Job::github()
        .push(&before)
        .extend(&world, call)
        .run((CI, "--report json=-"));
    assert_eq!(output.code, 1, "{}", output.all());
    let notes = output.json()["notes"].to_string();
    assert!(notes.contains("fetch-depth: 0"), "{notes}");
}

#[test]
fn init_lets_no_break_through_where_there_are_shared_pipelines() {
    let (world, _served) = stage();
    let init = "init --host github --prefix sales";
    Call::new(&world.work()).run(init).expect(0);
    let text = std::fs::read_to_string(world.work().join("sluicegate.yaml")).unwrap();
    assert!(text.contains("\n  compat: fail\n"), "{text}");
    // In a project without shared pipelines, the setting is commented out.
    let world = crate::support::project();
    Call::new(&world.work()).run(init).expect(0);
    let text = std::fs::read_to_string(world.work().join("sluicegate.yaml")).unwrap();
    assert!(text.contains("\n  # compat: fail\n"), "{text}");
}

#[test]
fn comparison_with_tag_instead_of_version_warns_or_fails() {
    let (world, server) = stage();
    world.write("sales/load.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("pipeline");
    world.push();
    let call = publish_call(&world, &server);
    call.run("publish --prefix sales --version-name 1.0.0").expect(0);
    world.git("tag 1.0.0");
    world.git("tag 2.0.0");
    for command in ["artifacts diff 2.0.0", "artifacts impact 2.0.0"] {
        let warning = "sales has no version 2.0.0: comparing the git tag with this name";
        call.run((command, "--prefix sales")).expect(0).saying(&[warning]);
        let failure = call.run((command, "--prefix slaes"));
        failure.expect(3).saying(&["no prefix \"slaes\""]);
    }
    // Counterparts: a published version, and a revision that is not a tag.
    for command in ["artifacts diff 1.0.0", "artifacts diff HEAD"] {
        let output = call.run((command, "--prefix sales")).expect(0);
        assert!(!output.all().contains("git tag"), "{}", output.all());
    }
}
