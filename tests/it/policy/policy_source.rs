//! The gate is configured by the job and the base of the change, never by the change.

use crate::support::{
    Arguments, Call, Job, Platform, ProgramOutput, World, change, failing_platform, orchestration_text,
    passed_results, project, push_of_branch, respond_for_each,
};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

/// The configuration of a change that tries to let its bad pipeline pass.
const LENIENT: &str = "exclude: ['**']\nreview: { fail-on: never }\n";

/// Creates a `main` with the files `main`, and a branch `change` with a bad pipeline and the files `files`.
fn bad_change_after_configuration(main: &[(&str, &str)], files: &[(&str, &str)]) -> World {
    let world = project();
    for (path, text) in main {
        world.write(path, text);
    }
    world.commit("configure");
    world.push();
    world.git("checkout -q -b change");
    world.write(
        "bad.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    for (path, text) in files {
        world.write(path, text);
    }
    world.commit("change");
    world.push();
    world
}

/// The hosts' environments for this change: pull request and push on GitHub, merge request on GitLab.
const HOSTS: [fn(&World, Call) -> Call; 3] = [github_pull_request, push_of_branch, gitlab_merge_request];

fn github_pull_request(world: &World, call: Call) -> Call {
    let base = world.git("rev-parse refs/heads/main");
    let payload = json!({
        "repository": { "default_branch": "main", "full_name": "o/p" },
        "pull_request": {
            "number": 7,
            "head": { "ref": "change", "sha": world.git(&["rev-parse", "HEAD"]), "repo": { "full_name": "o/p" } },
            "base": { "ref": "main", "sha": base, "repo": { "full_name": "o/p" } },
        },
    });
    Job::github()
        .event("pull_request", "refs/pull/7/merge", &payload)
        .extend(world, call)
}

fn gitlab_merge_request(world: &World, call: Call) -> Call {
    call.variable("CI", "true")
        .variable("GITLAB_CI", "true")
        .variable("CI_PIPELINE_SOURCE", "merge_request_event")
        .variable("CI_DEFAULT_BRANCH", "main")
        .variable("CI_COMMIT_SHA", world.git("rev-parse HEAD"))
        .variable("CI_MERGE_REQUEST_IID", "7")
        .variable("CI_MERGE_REQUEST_PROJECT_ID", "5")
        .variable("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "5")
        .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "change")
        .variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
        .variable(
            "CI_MERGE_REQUEST_DIFF_BASE_SHA",
            world.git("merge-base refs/heads/main HEAD"),
        )
}

fn review_with_json(call: &Call, args: impl Arguments) -> ProgramOutput {
    call.run(("review --report json=-", args))
}

fn notes_text(output: &ProgramOutput) -> String {
    output.json()["notes"].to_string()
}

#[test]
fn change_does_not_decide_how_it_is_judged() {
    let world = bad_change_after_configuration(
        &[("sluicegate.yaml", "retries: 0\n")],
        &[("sluicegate.yaml", LENIENT)],
    );
    let platform = failing_platform("bad name");
    for host in HOSTS {
        let output = review_with_json(&host(&world, platform.call(&world)), "").expect(1);
        assert_eq!(output.json()["gateChanges"], json!(["sluicegate.yaml"]));
        assert_eq!(output.json()["files"][0]["path"], "bad.orch.yaml");
        let head = host(&world, platform.call(&world)).variable("SLUICEGATE_POLICY", "head");
        review_with_json(&head, "").expect(0);
        // The same rules, evaluated locally.
        let check = host(&world, Call::new(&world.work()));
        check.run("check").expect(1);
    }
    // A local run uses the files of the checkout unless `--policy base` is set.
    review_with_json(&platform.call(&world), "").expect(0);
    review_with_json(&platform.call(&world), "--policy base").expect(1);
}

/// The policy also decides which files only the review excludes.
#[test]
fn change_does_not_leave_itself_out_of_review() {
    for text in [
        "review: { exclude: ['**'] }\n",
        "review: { include: ['a.orch.yaml'] }\n",
    ] {
        for main in [&[][..], &[("sluicegate.yaml", "retries: 0\n")]] {
            let world = bad_change_after_configuration(main, &[("sluicegate.yaml", text)]);
            let platform = failing_platform("bad name");
            for host in HOSTS {
                let output = review_with_json(&host(&world, platform.call(&world)), "").expect(1);
                assert_eq!(output.json()["files"][0]["path"], "bad.orch.yaml");
                let words = output.json()["gateChangesInWords"].to_string();
                assert!(words.contains("review."), "{words}");
                let head = host(&world, platform.call(&world)).variable("SLUICEGATE_POLICY", "head");
                review_with_json(&head, "").expect(0);
            }
        }
    }
}

#[test]
fn job_only_keys_in_file_are_refused_on_every_host() {
    let cases = [
        ("review: { base: HEAD }\n", "SLUICEGATE_BASE"),
        ("review: { head: origin/main }\n", "SLUICEGATE_HEAD"),
        ("review: { dry-run: true }\n", "SLUICEGATE_DRY_RUN"),
        ("review: { all: false }\n", "SLUICEGATE_ALL"),
        ("review: { branch: main }\n", "SLUICEGATE_BRANCH"),
        ("publish: { dry-run: true }\n", "SLUICEGATE_DRY_RUN"),
        ("policy: head\n", "SLUICEGATE_POLICY"),
        ("ci: none\n", "SLUICEGATE_CI"),
        ("gate-changes: warn\n", "SLUICEGATE_GATE_CHANGES"),
        ("max-known: 9\n", "SLUICEGATE_MAX_KNOWN"),
    ];
    for main in [&[][..], &[("sluicegate.yaml", "retries: 0\n")]] {
        let world = bad_change_after_configuration(main, &[]);
        let platform = failing_platform("bad name");
        for (text, instead) in cases {
            world.write("sluicegate.yaml", text);
            world.commit("steer");
            world.push();
            for host in HOSTS {
                review_with_json(&host(&world, platform.call(&world)), "")
                    .expect(2)
                    .saying(&["is not allowed in the configuration file", instead]);
            }
            review_with_json(&platform.call(&world), "").expect(2);
        }
        assert_eq!(platform.requests().len(), 0);
    }
}

#[test]
fn policy_without_base_file_uses_only_facts_and_reports_it() {
    let text = "exclude: ['bad*']\nreview:\n  fail-on: never\n  report: [json=told.json]\n";
    let world = bad_change_after_configuration(&[], &[("sluicegate.yaml", text)]);
    let platform = failing_platform("bad name");
    for host in HOSTS {
        let call = host(&world, platform.call(&world));
        call.run("review").expect(1).logging(&["--policy head"]);
        let lines = world.work().join("told.json");
        let report: Value = serde_json::from_slice(&fs::read(&lines).unwrap()).unwrap();
        let notes = report["notes"].to_string();
        for word in [
            "`exclude`",
            "`review.fail-on`",
            "--policy head",
            "`main` has no sluicegate.yaml yet",
        ] {
            assert!(notes.contains(word), "{word}: {notes}");
        }
        assert!(!notes.contains("`review.report`"), "{notes}");
        fs::remove_file(lines).unwrap();
        let output = review_with_json(&call, "--policy head").expect(0);
        assert!(!notes_of_policy(&output), "{}", output.all());
        // The setting of the job is still in force.
        let output = review_with_json(&call.variable("SLUICEGATE_FAIL_ON", "never"), "").expect(0);
        assert!(notes_of_policy(&output), "{}", output.all());
    }
}

#[test]
fn file_of_facts_that_base_lacks_is_reported() {
    let world = bad_change_after_configuration(&[], &[("sluicegate.yaml", "retries: 0\n")]);
    let platform = failing_platform("bad name");
    for host in HOSTS {
        let call = host(&world, platform.call(&world));
        let message = notes_text(&review_with_json(&call, "").expect(1));
        for words in [
            "`main` has no sluicegate.yaml yet",
            "have their defaults: the checkout's file sets none of these settings",
            "--policy head",
        ] {
            assert!(message.contains(words), "{words}: {message}");
        }
        assert!(!notes_of_policy(&review_with_json(&call, "--policy head")));
    }
    // If neither the base nor the change has a file, there is no note.
    let world = bad_change_after_configuration(&[], &[]);
    assert!(!notes_of_policy(&review_with_json(
        &github_pull_request(&world, platform.call(&world)),
        ""
    )));
}

/// The only enforcement key that a change may set for itself, because it hides no finding of the change.
#[test]
fn change_that_sets_new_only_hides_none_of_its_findings() {
    let only = [("sluicegate.yaml", "review: { new-only: true }\n")];
    let platform = failing_platform("bad name");
    for host in HOSTS {
        let first = bad_change_after_configuration(&[], &only);
        let output = review_with_json(&host(&first, platform.call(&first)), "").expect(1);
        assert_eq!(output.json()["findings"]["new"], 1);
        // If the base has the file, it decides for the change.
        let text = bad_change_after_configuration(&[("sluicegate.yaml", "retries: 0\n")], &only);
        let output = review_with_json(&host(&text, platform.call(&text)), "").expect(1);
        assert_eq!(output.json()["findings"]["new"], Value::Null);
    }
}

fn notes_of_policy(output: &ProgramOutput) -> bool {
    notes_text(output).contains("--policy head")
}

#[test]
fn policy_is_that_of_tip_not_of_older_commit() {
    let world = bad_change_after_configuration(&[("sluicegate.yaml", LENIENT)], &[]);
    world.git("checkout -q main");
    world.write("sluicegate.yaml", "retries: 0\n");
    world.commit("tighten");
    world.push();
    world.git("checkout -q change");
    let platform = failing_platform("bad name");
    for host in HOSTS {
        review_with_json(&host(&world, platform.call(&world)), "").expect(1);
    }
}

fn merge_queue_job(world: &World, call: Call, base: &str) -> Call {
    let reference = "refs/heads/gh-readonly-queue/main/pr-8";
    let payload = json!({
        "repository": { "default_branch": "main", "full_name": "o/p" },
        "merge_group": {
            "head_ref": reference, "head_sha": world.git(&["rev-parse", "HEAD"]),
            "base_ref": "refs/heads/main", "base_sha": world.git(&["rev-parse", base]),
        },
    });
    Job::github()
        .event("merge_group", reference, &payload)
        .extend(world, call)
}

/// In a queue, a change may be based on another one, which is not merged either.
#[test]
fn merge_queue_is_judged_by_branch_that_it_merges_into() {
    let world = bad_change_after_configuration(
        &[("sluicegate.yaml", "retries: 0\n")],
        &[("sluicegate.yaml", LENIENT)],
    );
    let platform = failing_platform("bad name");
    review_with_json(&merge_queue_job(&world, platform.call(&world), "main"), "").expect(1);
    world.git("tag first-group");
    world.write(
        "worse.orch.yaml",
        orchestration_text(&["Start", "worse name", "Done"]),
    );
    world.commit("second group");
    world.push();
    let output =
        review_with_json(&merge_queue_job(&world, platform.call(&world), "first-group"), "").expect(1);
    // The first group may fail, so its files are reviewed again.
    assert_eq!(output.json()["files"][1]["path"], "worse.orch.yaml");
    assert_eq!(output.json()["files"].as_array().unwrap().len(), 2);
}

#[test]
fn tag_is_judged_by_default_branch() {
    let world = bad_change_after_configuration(
        &[("sluicegate.yaml", "retries: 0\n")],
        &[("sluicegate.yaml", LENIENT)],
    );
    world.git("tag v1");
    world.git("push -q origin v1");
    let platform = failing_platform("bad name");
    let payload = json!({
        "repository": { "default_branch": "main", "full_name": "o/p" },
        "ref": "refs/tags/v1", "before": "0".repeat(40), "after": world.git(&["rev-parse", "HEAD"]),
    });
    let github = Job::github()
        .event("push", "refs/tags/v1", &payload)
        .extend(&world, platform.call(&world));
    let gitlab = platform
        .call(&world)
        .variable("GITLAB_CI", "true")
        .variable("CI_PIPELINE_SOURCE", "push")
        .variable("CI_DEFAULT_BRANCH", "main")
        .variable("CI_COMMIT_TAG", "v1")
        .variable("CI_COMMIT_SHA", world.git("rev-parse HEAD"));
    for call in [github, gitlab] {
        review_with_json(&call, "").expect(1);
        review_with_json(&call, "--policy head").expect(0);
    }
}

/// If the clone lacks the target branch, the policy is fetched too, provided that a fetch is allowed.
#[test]
fn deepen_fetches_the_branch_of_the_policy() {
    let world = bad_change_after_configuration(&[("sluicegate.yaml", "retries: 0\n")], &[]);
    world.git("checkout -q main");
    world.write("sluicegate.yaml", "review: { fail-on: never }\n");
    world.commit("relax");
    world.push();
    world.git("checkout -q change");
    let fork = world.git("merge-base main change");
    let platform = failing_platform("bad name");
    // The branch of a fork may have the name of the target.
    for source_branch in ["change", "main"] {
        for name in ["refs/remotes/origin/HEAD", "refs/remotes/origin/main"] {
            world.git(format!("update-ref -d {name}"));
        }
        let call = gitlab_merge_request(&world, platform.call(&world))
            .variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", &fork)
            .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", source_branch);
        call.run("check").expect(1);
        call.run("check --deepen")
            .expect(0)
            .saying(&["fetching the branch `main` to read the gate configuration"]);
    }
}

#[test]
fn tag_named_like_branch_chooses_no_policy() {
    let world = bad_change_after_configuration(
        &[("sluicegate.yaml", "retries: 0\n")],
        &[("sluicegate.yaml", LENIENT)],
    );
    for name in ["origin/main", "main", "refs/remotes/origin/main"] {
        world.git(format!("tag {name} HEAD"));
    }
    let platform = failing_platform("bad name");
    for host in HOSTS {
        review_with_json(&host(&world, platform.call(&world)), "").expect(1);
    }
}

#[test]
fn policy_on_default_branch_is_that_of_checkout() {
    let world = project();
    world.write("sluicegate.yaml", LENIENT);
    world.commit("configure");
    world.push();
    let platform = failing_platform("bad name");
    let output = review_with_json(&push_of_branch(&world, platform.call(&world)), "").expect(0);
    assert!(!notes_of_policy(&output), "{}", output.all());
    assert_eq!(platform.requests().len(), 0);
}

#[test]
fn clone_without_tip_takes_what_event_names() {
    let world = bad_change_after_configuration(
        &[("sluicegate.yaml", "retries: 0\n")],
        &[("sluicegate.yaml", LENIENT)],
    );
    world.git("update-ref -d refs/remotes/origin/HEAD");
    world.git("update-ref -d refs/remotes/origin/main");
    let platform = failing_platform("bad name");
    for host in [github_pull_request, gitlab_merge_request] {
        let output = review_with_json(&host(&world, platform.call(&world)), "").expect(1);
        assert!(!notes_of_policy(&output), "{}", output.all());
        let has_wrong_note = output.all().contains("no remote of this clone is the target's");
        assert!(!has_wrong_note, "{}", output.all());
    }
    // A push has no commit of the default branch.
    let output = review_with_json(&push_of_branch(&world, platform.call(&world)), "--all").expect(1);
    assert!(notes_of_policy(&output), "{}", output.all());
}

#[test]
fn file_that_job_names_in_repository_is_read_from_base() {
    let world =
        bad_change_after_configuration(&[("ci/gate.yaml", "retries: 0\n")], &[("ci/gate.yaml", LENIENT)]);
    let platform = failing_platform("bad name");
    for host in HOSTS {
        let call = host(&world, platform.call(&world)).variable("SLUICEGATE_CONFIG", "ci/gate.yaml");
        review_with_json(&call, "").expect(1);
    }
    // A link in the change leads out of the repository: the base's file is still in force.
    let outside = world.path().join("outside.yaml");
    fs::write(&outside, LENIENT).unwrap();
    fs::remove_file(world.work().join("ci/gate.yaml")).unwrap();
    symlink(&outside, world.work().join("ci/gate.yaml")).unwrap();
    world.commit("link");
    world.push();
    let call =
        github_pull_request(&world, platform.call(&world)).variable("SLUICEGATE_CONFIG", "ci/gate.yaml");
    review_with_json(&call, "").expect(1);
    // A file outside the repository belongs to the job.
    let call = github_pull_request(&world, platform.call(&world))
        .variable("SLUICEGATE_CONFIG", outside.display().to_string());
    let output = review_with_json(&call, "").expect(0);
    assert_eq!(output.json()["gateChanges"], json!([]));
}

#[test]
fn job_file_behind_link_of_the_change_is_refused() {
    let world = bad_change_after_configuration(&[], &[]);
    let outside = world.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("c.yaml"), LENIENT).unwrap();
    symlink(&outside, world.work().join("out")).unwrap();
    world.commit("link");
    world.push();
    // The job's own link leads to a directory of the checkout, which the change replaced by a link.
    symlink(world.work().join("out"), world.path().join("job-out")).unwrap();
    symlink(&outside, world.path().join("job-link")).unwrap();
    let platform = failing_platform("bad name");
    for host in HOSTS {
        let review = |file: &str| {
            let call = host(&world, platform.call(&world)).variable("SLUICEGATE_CONFIG", file);
            call.run("review --all")
        };
        review("../job-out/c.yaml")
            .expect(2)
            .saying(&["the symbolic link `out` leads out of the repository"]);
        // Counterpart: a link to a directory of the job.
        review("../job-link/c.yaml").expect(0);
    }
}

#[test]
fn job_file_that_link_of_the_change_selects_in_repository_is_refused() {
    let strict = "retries: 0\n";
    let world = bad_change_after_configuration(&[("lax/c.yaml", LENIENT), ("gate/c.yaml", strict)], &[]);
    symlink("lax", world.work().join("ci")).unwrap();
    world.commit("link");
    world.push();
    symlink(world.work().join("ci"), world.path().join("job-out")).unwrap();
    symlink(world.work().join("gate"), world.path().join("job-gate")).unwrap();
    let platform = failing_platform("bad name");
    for host in HOSTS {
        let review = |file: &str| {
            let call = host(&world, platform.call(&world)).variable("SLUICEGATE_CONFIG", file);
            call.run("review --all")
        };
        review("../job-out/c.yaml")
            .expect(2)
            .saying(&["the change controls the symbolic link `ci`"]);
        // Counterparts: a link of the job, and a link of the change that the policy revision lacks.
        review("../job-gate/c.yaml").expect(1);
        review("ci/c.yaml").expect(1);
    }
}

#[test]
fn linked_file_is_read_through_links_of_base() {
    let world = project();
    world.write("ops/gate.yaml", "retries: 0\n");
    symlink("ops/gate.yaml", world.work().join("sluicegate.yaml")).unwrap();
    world.commit("configure");
    world.push();
    world.git("checkout -q -b change");
    world.write(
        "bad.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.write("ops/gate.yaml", LENIENT);
    world.commit("change");
    world.push();
    let platform = failing_platform("bad name");
    for host in HOSTS {
        let output = review_with_json(&host(&world, platform.call(&world)), "").expect(1);
        assert_eq!(output.json()["gateChanges"], json!(["ops/gate.yaml"]));
    }
}

#[test]
fn paths_of_the_file_stay_in_the_checkout() {
    let world = bad_change_after_configuration(&[], &[]);
    let outside = world.path().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, world.work().join("out")).unwrap();
    symlink(".git", world.work().join("hidden")).unwrap();
    symlink(outside.join("nothing"), world.work().join("nowhere")).unwrap();
    let absolute = outside.join("a.xml").display().to_string();
    let inside = world.work().canonicalize().unwrap().join("a.xml");
    let paths = [
        (absolute.as_str(), "the path is not relative"),
        (inside.to_str().unwrap(), "the path is not relative"),
        ("../a.xml", "the path contains `..`"),
        ("a/../../a.xml", "the path contains `..`"),
        (".git/config", "the path is in .git"),
        ("sub/.GIT/config", "the path is in .git"),
        (".git./config", "the path is in .git"),
        ("GIT~1/config", "the path is in .git"),
        (
            "out/a.xml",
            "a symbolic link in the path leads out of the checkout",
        ),
        ("hidden/config", "a symbolic link in the path leads into .git"),
        ("nowhere", "a symbolic link in the path is broken"),
    ];
    let before = fs::read(world.work().join(".git/config")).unwrap();
    for (path, reason) in paths {
        for text in [
            format!("review:\n  report: ['junit={path}']\n"),
            format!("publish: {{ prefix: p, version-name: v, receipt: '{path}' }}\n"),
            format!("publish: {{ prefix: p, version-name: v, require-review: '{path}' }}\n"),
        ] {
            world.write("sluicegate.yaml", &text);
            let args: &[&str] = if text.starts_with("review") {
                &["check"]
            } else {
                &["publish", "--dry-run"]
            };
            Call::with_platform(&world.work(), "http://127.0.0.1:9")
                .run(args)
                .expect(2)
                .saying(&["must stay inside the checkout", reason]);
        }
    }
    assert_eq!(fs::read(world.work().join(".git/config")).unwrap(), before);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    world.write("sluicegate.yaml", "review: { report: [junit=reports/a.xml] }\n");
    fs::create_dir(world.work().join("reports")).unwrap();
    Call::new(&world.work()).run("check").expect(1);
    assert!(world.work().join("reports/a.xml").exists());
    // The job may use any path.
    let report = format!("junit={absolute}");
    Call::new(&world.work())
        .run(&["check", "--report", &report])
        .expect(1);
    assert!(outside.join("a.xml").exists());
}

#[test]
fn path_of_file_overwrites_nothing_that_git_tracks() {
    let world = project();
    world.write("in/b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write("gone.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("more");
    world.push();
    world.write("staged.md", "mine");
    world.git("add staged.md");
    world.git("rm -q --cached gone.orch.yaml");
    symlink("in", world.work().join("link")).unwrap();
    let before = world.git("diff --stat");
    let rules = ".platform/config/pipeline_quality_rules.yaml";
    let call = Call::with_platform(&world.work(), "http://127.0.0.1:9");
    for path in [
        "a.orch.yaml",
        rules,
        "gone.orch.yaml",
        "staged.md",
        "link/b.orch.yaml",
        "./a.orch.yaml",
    ] {
        let refused = |key: &str, file: String, args: &str| {
            world.write("sluicegate.yaml", file);
            call.run(args)
                .expect(2)
                .saying(&["sluicegate.yaml", key, path, "git tracks"]);
        };
        let report = format!("review: {{ report: [json=new.json, 'markdown={path}'] }}\n");
        refused("`review.report`", report, "check");
        for key in ["receipt", "junit"] {
            let file = format!("publish: {{ prefix: p, version-name: v, {key}: '{path}' }}\n");
            refused(&format!("`publish.{key}`"), file, "publish --dry-run");
        }
    }
    assert_eq!(world.git(&["diff", "--stat"]), before);
    // The job may replace a tracked file that is not part of the project.
    world.write("sluicegate.yaml", "review: { report: [json=a.orch.yaml] }\n");
    call.run("check --report json=staged.md").expect(0);
    assert_ne!(
        fs::read_to_string(world.work().join("staged.md")).unwrap(),
        "mine"
    );
    world.write("staged.md", "mine");
    call.variable("SLUICEGATE_REPORT", "json=staged.md")
        .run("check")
        .expect(0);
    assert_ne!(
        fs::read_to_string(world.work().join("staged.md")).unwrap(),
        "mine"
    );
}

#[test]
fn edit_of_publish_on_in_change_does_not_apply() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write(
        "sluicegate.yaml",
        "publish-on: { branches: ['**'] }\npublish: { prefix: p, version-name: v }\n",
    );
    world.commit("change");
    world.push();
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let output = push_of_branch(&world, platform.call(&world)).run("ci").expect(0);
    output.logging(&[
        "nothing is published: `publish-on` in the checkout's file does not apply to this run",
        "`publish-on.branches`",
    ]);
    assert_eq!(platform.requests().len(), 1);
}

#[test]
fn file_that_is_not_read_for_its_ending_is_reported() {
    let world = project();
    world.write("sluicegate.yml", LENIENT);
    world.write("sluicegate-waivers.yml", "[]\n");
    world.write("sluicegate-rules.yml", "rules: []\n");
    let call = Call::new(&world.work());
    call.run("check --all").expect(0).saying(&[
        "sluicegate.yml is ignored: rename it to sluicegate.yaml",
        "sluicegate-waivers.yml is ignored: rename it to sluicegate-waivers.yaml",
        "sluicegate-rules.yml is ignored: rename it to sluicegate-rules.yaml",
    ]);
    let own_rules = call
        .run("--team-rules sluicegate-rules.yml check --all")
        .expect(0);
    assert!(
        !own_rules.all().contains("sluicegate-rules.yml is ignored"),
        "{}",
        own_rules.all()
    );
    let named_run = call.run("--config sluicegate.yml check --all").expect(0);
    assert!(
        !named_run.all().contains("sluicegate.yml is ignored"),
        "{}",
        named_run.all()
    );
}

#[test]
fn context_shows_source_of_policy() {
    let world = bad_change_after_configuration(&[("sluicegate.yaml", "retries: 0\n")], &[]);
    let base = &world.git("rev-parse main")[..7];
    let output = github_pull_request(&world, Call::new(&world.work())).run("context --json");
    let wanted = format!("sluicegate.yaml of `main` at {base} (refs/remotes/origin/main)");
    assert_eq!(output.expect(0).json()["policy"], wanted);
    let output = Call::new(&world.work()).run("context").expect(0);
    assert!(
        output.out.contains("sluicegate.yaml of the checkout"),
        "{}",
        output.out
    );
}

#[test]
fn unknown_variable_is_named_with_the_nearest_one() {
    let world = project();
    let call = Call::new(&world.work())
        .variable("SLUICEGATE_FAILON", "never")
        .variable("SLUICEGATE_XYZZYX", "");
    let output = call.run("check").expect(0);
    assert!(!output.err.contains("XYZZYX"), "{}", output.err);
    output.saying(&["the variable SLUICEGATE_FAILON is unknown; did you mean `SLUICEGATE_FAIL_ON`?"]);
}

#[test]
fn target_of_linked_configuration_is_part_of_gate() {
    let world = project();
    world.write("ops/gate.yaml", "retries: 0\n");
    symlink("ops/gate.yaml", world.work().join("sluicegate.yaml")).unwrap();
    world.commit("configure");
    world.push();
    world.git("checkout -q -b change");
    world.write("ops/gate.yaml", "retries: 1\n");
    world.commit("change");
    world.push();
    let platform = Platform::new();
    let output = platform.call(&world).run("review --report json=-");
    assert_eq!(output.expect(0).json()["gateChanges"], json!(["ops/gate.yaml"]));
}

#[test]
fn file_that_job_names_is_part_of_gate() {
    let named = change(&[
        ("ci/gate.yaml", "retries: 0\n"),
        ("sluicegate.yaml", "retries: 0\n"),
    ]);
    let platform = Platform::new();
    let call = || {
        platform
            .call(&named)
            .variable("SLUICEGATE_CONFIG", "ci/gate.yaml")
    };
    let output = call().run("review --report json=-").expect(0);
    assert_eq!(output.json()["gateChanges"], json!(["ci/gate.yaml"]));
    // From another directory, through the flag, and through a link outside the repository.
    let outside = named.path().join("link.yaml");
    symlink(named.work().join("ci/gate.yaml"), &outside).unwrap();
    let outside = outside.display().to_string();
    let output = call().run(&["review", "--config", &outside, "--report", "json=-"]);
    assert_eq!(output.expect(0).json()["gateChanges"], json!(["ci/gate.yaml"]));
}

#[test]
fn folder_that_becomes_a_link_changes_gate() {
    let world = project();
    world.write("ci/gate.yaml", "retries: 0\n");
    world.commit("configure");
    world.push();
    world.git("checkout -q -b change");
    world.git("mv ci other");
    world.write("other/gate.yaml", "retries: 1\n");
    symlink("other", world.work().join("ci")).unwrap();
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("change");
    world.push();
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let call = platform
        .call(&world)
        .variable("SLUICEGATE_CONFIG", "ci/gate.yaml");
    let output = call.run("review --report json=-").expect(0);
    assert_eq!(
        output.json()["gateChanges"],
        json!(["ci", "ci/gate.yaml", "other/gate.yaml"])
    );
}

/// Azure Pipelines and similar hosts do not report the default branch, and anybody may push a `main` beside it.
fn push_of_azure(world: &World, branch: &str) -> Call {
    Call::new(&world.work())
        .variable("TF_BUILD", "True")
        .variable("BUILD_REASON", "IndividualCI")
        .variable("BUILD_SOURCEBRANCH", format!("refs/heads/{branch}"))
        .variable("BUILD_SOURCEVERSION", world.git("rev-parse HEAD"))
}

#[test]
fn pushed_branch_with_usual_name_chooses_no_policy() {
    let world = bad_change_after_configuration(
        &[("sluicegate.yaml", "retries: 0\n")],
        &[("sluicegate.yaml", LENIENT)],
    );
    // The default branch is `trunk`, and somebody pushes a `main`.
    world.git("push -q origin main:refs/heads/trunk");
    world.git("push -q --force origin change:refs/heads/main");
    world.git("symbolic-ref --delete refs/remotes/origin/HEAD");
    world.git("commit -q --amend -m another");
    world.git("push -q --force origin change");
    for branch in ["change", "main"] {
        let call = push_of_azure(&world, branch);
        call.run("check")
            .expect(1)
            .saying(&["does not know the remote's default branch"]);
    }
    world.git("remote set-head origin trunk");
    push_of_azure(&world, "change").run("check").expect(1);
    // Once the default branch is known, it decides.
    world.git("remote set-head origin main");
    push_of_azure(&world, "main").run("check").expect(0);
}

#[test]
fn primary_branch_of_jenkins_is_the_default_branch() {
    let world = bad_change_after_configuration(&[], &[("sluicegate.yaml", LENIENT)]);
    world.git("symbolic-ref --delete refs/remotes/origin/HEAD");
    let call = Call::new(&world.work())
        .variable("JENKINS_URL", "http://jenkins.invalid/")
        .variable("BUILD_ID", "1")
        .variable("BRANCH_NAME", "change")
        .variable("GIT_COMMIT", world.git("rev-parse HEAD"));
    call.run("check").expect(1);
    call.variable("BRANCH_IS_PRIMARY", "true").run("check").expect(0);
}

/// The rules are read from the platform's directory, as in the target branch.
/// Without `GIT_COMMIT`, the checked-out commit is that of the host.
#[test]
fn build_without_commit_reads_its_own_policy_only_for_the_checked_out_commit() {
    let world = bad_change_after_configuration(&[("sluicegate.yaml", "retries: 0\n")], &[]);
    world.git("checkout -q main");
    world.write("sluicegate.yaml", "retries: 1\n");
    let newest = world.commit("newest");
    world.push();
    let call = Call::new(&world.work())
        .variable("JENKINS_URL", "https://ci.invalid/")
        .variable("BUILD_ID", "1")
        .variable("BRANCH_NAME", "main")
        .variable("BRANCH_IS_PRIMARY", "true");
    let policy = |args: &str| call.run(args).expect(0).json()["policy"].clone();
    assert_eq!(
        policy("context --json --head HEAD"),
        "sluicegate.yaml of the checkout: head is on the default branch `main`"
    );
    let tip = format!(
        "sluicegate.yaml of `main` at {} (refs/remotes/origin/main)",
        &newest[..7]
    );
    assert_eq!(policy("context --json --head HEAD~1"), tip);
}

#[test]
fn change_with_another_hidden_folder_does_not_choose_rules() {
    let own = ".aaa/config/pipeline_quality_rules.yaml";
    let platforms = ".platform/config/pipeline_quality_rules.yaml";
    let world = bad_change_after_configuration(&[], &[(own, "rules: []\n")]);
    for host in HOSTS {
        let output = host(&world, Call::new(&world.work())).run("check --report json=-");
        let output = output.expect(1);
        assert_eq!(output.json()["gateChanges"], json!([own]));
        assert!(
            output.out.contains("component-naming-convention"),
            "{}",
            output.all()
        );
    }
    // The same if the change removes the platform's directory.
    world.git("rm -q -r .platform");
    world.commit("remove");
    world.push();
    for host in HOSTS {
        let output = host(&world, Call::new(&world.work())).run("check --report json=-");
        let output = output.expect(1);
        assert_eq!(output.json()["gateChanges"], json!([own, platforms]));
    }
}

/// Errors print the keys of a file, but the change must not see those of the runner's own files.
#[test]
fn link_out_of_checkout_shows_nothing_of_what_it_leads_to() {
    let world = bad_change_after_configuration(&[("sluicegate.yaml", "retries: 0\n")], &[]);
    let outside = world.path().join("credentials.yaml");
    fs::write(&outside, "hidden-word: 1\n").unwrap();
    let file = world.work().join("sluicegate.yaml");
    fs::remove_file(&file).unwrap();
    symlink(&outside, &file).unwrap();
    world.commit("link");
    world.push();
    let shows_nothing =
        |output: ProgramOutput| assert!(!output.all().contains("hidden-word"), "{}", output.all());
    for host in HOSTS {
        shows_nothing(host(&world, Call::new(&world.work())).run("check").expect(1));
    }
    // The same if the base has no such file.
    let world = bad_change_after_configuration(&[], &[]);
    symlink(&outside, world.work().join("sluicegate.yaml")).unwrap();
    world.commit("link");
    world.push();
    for host in HOSTS {
        let output = host(&world, Call::new(&world.work())).run("check");
        // The change fails because it adds a file that cannot be used.
        let output = output.expect(1);
        assert!(
            output
                .all()
                .contains("a symbolic link in its path leads out of the repository"),
            "{}",
            output.all()
        );
        shows_nothing(output);
    }
}

/// Creates the base's file.
type Make = fn(&World);

/// In CI, an unusable policy has the defaults, so that a change that repairs it can pass.
#[test]
fn policy_that_cannot_be_read_has_strict_defaults() {
    let link = |world: &World| {
        let outside = world.path().join("gate.yaml");
        fs::write(&outside, "review: { fail-on: never }\n").unwrap();
        symlink(&outside, world.work().join("sluicegate.yaml")).unwrap();
    };
    let large = |world: &World| world.write("sluicegate.yaml", "# long\n".repeat(200_000));
    let cases: [(Make, &str); 2] = [
        (link, "leads out of the repository"),
        (large, "the content has more than 1048576 bytes"),
    ];
    for (make, reason) in cases {
        let world = project();
        make(&world);
        world.commit("configure");
        world.push();
        world.git("checkout -q -b change");
        fs::remove_file(world.work().join("sluicegate.yaml")).unwrap();
        world.write(
            "bad.orch.yaml",
            orchestration_text(&["Start", "bad name", "Done"]),
        );
        world.commit("change");
        world.push();
        for host in HOSTS {
            host(&world, Call::new(&world.work()))
                .run("check")
                .expect(1)
                .logging(&["sluicegate.yaml of `main`", reason, "it is treated as missing"]);
        }
        Call::new(&world.work())
            .run("check --policy base")
            .expect(2)
            .saying(&["sluicegate.yaml of `main`", reason]);
    }
}

/// The checkout's file then still sets what cannot hide findings.
#[test]
fn facts_of_the_checkouts_file_apply_without_a_policy() {
    let text = "review: { fail-on: never, report: [json=told.json] }\n";
    let assert_told = |world: &World, call: &Call, reasons: &[&str]| {
        call.run("check").expect(1).logging(reasons);
        let report = world.work().join("told.json");
        assert!(report.exists());
        fs::remove_file(report).unwrap();
    };
    // The policy's version cannot be read.
    let large = "# long\n".repeat(200_000);
    let world = bad_change_after_configuration(&[("sluicegate.yaml", &large)], &[("sluicegate.yaml", text)]);
    for host in HOSTS {
        let call = host(&world, Call::new(&world.work()));
        assert_told(&world, &call, &["it is treated as missing"]);
    }
    // Nothing shows which branch has the policy.
    let world = bad_change_after_configuration(&[], &[("sluicegate.yaml", text)]);
    world.git("symbolic-ref --delete refs/remotes/origin/HEAD");
    let reasons = [
        "sluicegate.yaml cannot be read from the target branch",
        "`review.fail-on`",
    ];
    assert_told(&world, &push_of_azure(&world, "change"), &reasons);
}

/// Replaces `main` on the remote by a stricter sibling of its tip, and returns both commits. The clone's own `main`,
/// which the event names, stays at the lenient commit.
fn replace_lenient_main(world: &World) -> (String, String) {
    let lenient = world.git("rev-parse main");
    world.git("checkout -q -b strict main~1");
    world.write("sluicegate.yaml", "retries: 0\n");
    let strict = world.commit("strict");
    world.git("push -q --force origin strict:refs/heads/main");
    world.git("checkout -q change");
    (lenient, strict)
}

#[test]
fn target_that_was_replaced_after_the_event_decides_nothing() {
    let world = bad_change_after_configuration(&[("sluicegate.yaml", LENIENT)], &[]);
    let (lenient, strict) = replace_lenient_main(&world);
    let call = github_pull_request(&world, Call::new(&world.work()));
    call.run("check").expect(7).saying(&[
        "could not determine the newest commit of the target branch `main`",
        &strict[..7],
        &lenient[..7],
        "have diverged",
        "hint: a forced push replaced the branch, or the change had another target before",
        "update the change to the current `main`",
    ]);
    // A fetch finds nothing newer than the replaced branch.
    call.run("check --deepen").expect(7);
    // GitLab names only the start of the change, so the branch of the clone decides.
    let call = gitlab_merge_request(&world, Call::new(&world.work()));
    call.run("check").expect(1);
    // The event of the updated change names the new commit.
    world.git("branch -q -f main strict");
    world.git("rebase -q --onto strict change~1 change");
    world.git("push -q --force origin change");
    let call = github_pull_request(&world, Call::new(&world.work()));
    call.run("check").expect(1);
}

#[test]
fn outdated_copy_of_replaced_target_is_fetched_on_request() {
    let world = bad_change_after_configuration(&[("sluicegate.yaml", LENIENT)], &[]);
    let (lenient, _) = replace_lenient_main(&world);
    world.git("branch -q -f main strict");
    world.git(format!("update-ref refs/remotes/origin/main {lenient}"));
    let call = github_pull_request(&world, Call::new(&world.work()));
    call.run("check")
        .expect(7)
        .saying(&["git fetch origin +refs/heads/main:refs/remotes/origin/main"]);
    call.run("check --deepen").expect(1);
}

/// The event names the newest commit of the target twice: as its tip, and as the start of the change.
#[test]
fn outdated_copy_of_replaced_target_decides_nothing_about_a_merge_of_the_host() {
    let world = bad_change_after_configuration(&[("sluicegate.yaml", LENIENT)], &[]);
    let (lenient, strict) = replace_lenient_main(&world);
    world.git("rebase -q --onto strict change~1 change");
    world.git("push -q --force origin change");
    world.git("branch -q -f main strict");
    let change = world.git("rev-parse change");
    world.git("checkout -q --detach strict");
    world.git("merge -q --no-ff -m merge change");
    let call = gitlab_merge_request(&world, Call::new(&world.work()))
        .variable("CI_MERGE_REQUEST_EVENT_TYPE", "merged_result")
        .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", &change)
        .variable("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", &strict)
        .variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", &strict);
    world.git(&["update-ref", "refs/remotes/origin/main", &lenient]);
    call.run("check")
        .expect(7)
        .saying(&["could not determine the newest commit of the target branch `main`"]);
    // A current copy of the branch proves its tip.
    world.git(&["update-ref", "refs/remotes/origin/main", &strict]);
    call.run("check").expect(1);
    call.run("check --fail-on never").expect(0);
}
