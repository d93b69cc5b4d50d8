//! Only merged commits are published, and no rerun makes an old state the latest version.

use crate::support::release::{publish_call, stage, versions};
use crate::support::{
    Call, Job, RULES, RULES_FILE, World, git, head, orchestration_text, pull_request_payload, repository,
};
use serde_json::json;

pub type Tagged = fn(&World, Call) -> Call;

/// Every host's environment for the tag `v1` at HEAD.
pub const TAGGED: [(&str, Tagged); 7] = [
    ("github", |world, call| {
        let payload = json!({ "repository": repository(), "ref": "refs/tags/v1", "after": head(world) });
        Job::github()
            .event("push", "refs/tags/v1", &payload)
            .extend(world, call)
    }),
    ("gitlab", |world, call| {
        call.variable("GITLAB_CI", "true")
            .variable("CI_PIPELINE_SOURCE", "push")
            .variable("CI_DEFAULT_BRANCH", "main")
            .variable("CI_COMMIT_SHA", head(world))
            .variable("CI_COMMIT_TAG", "v1")
    }),
    ("azure", |world, call| {
        call.variable("TF_BUILD", "True")
            .variable("BUILD_REASON", "IndividualCI")
            .variable("BUILD_SOURCEVERSION", head(world))
            .variable("BUILD_SOURCEBRANCH", "refs/tags/v1")
    }),
    ("bitbucket", |world, call| {
        call.variable("BITBUCKET_BUILD_NUMBER", "1")
            .variable("BITBUCKET_COMMIT", head(world))
            .variable("BITBUCKET_TAG", "v1")
    }),
    ("jenkins", |world, call| {
        call.variable("JENKINS_URL", "https://ci.invalid/")
            .variable("BUILD_ID", "1")
            .variable("GIT_COMMIT", head(world))
            .variable("BRANCH_NAME", "v1")
            .variable("TAG_NAME", "v1")
    }),
    ("circleci", |world, call| {
        call.variable("CIRCLECI", "true")
            .variable("CIRCLE_SHA1", head(world))
            .variable("CIRCLE_TAG", "v1")
    }),
    ("buildkite", |world, call| {
        call.variable("BUILDKITE", "true")
            .variable("BUILDKITE_COMMIT", head(world))
            .variable("BUILDKITE_BRANCH", "v1")
            .variable("BUILDKITE_TAG", "v1")
            .variable("BUILDKITE_PULL_REQUEST", "false")
            .variable("BUILDKITE_SOURCE", "webhook")
    }),
];

const CI: &str = "ci --version-name {tag} --publish-on-tag v*";

#[test]
fn tag_on_commit_that_nobody_merged_publishes_nothing_on_any_host() {
    let (world, server) = stage();
    world.git("checkout -q -b change");
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "More", "Done"]),
    );
    world.commit("not merged");
    world.push();
    world.git("tag v1");
    for (name, host) in TAGGED {
        for args in [CI, "publish --version-name {tag}", &format!("{CI} --dry-run")] {
            let output = host(&world, publish_call(&world, &server)).run(args);
            assert_eq!(output.code, 7, "{name} {args:?}: {}", output.all());
            assert!(output.err.contains("is not merged"), "{name}: {}", output.all());
            assert!(
                !output.err.contains("reviewing"),
                "{name}: it was sent: {}",
                output.all()
            );
        }
    }
    assert_eq!(versions(&world, &server), []);
    // A branch of publish-on that contains the commit is enough.
    let listed = (CI, "--publish-on-branch change");
    (TAGGED[0].1)(&world, publish_call(&world, &server))
        .run(&listed)
        .expect(0);
}

#[test]
fn tag_on_merged_commit_is_published_on_every_host() {
    for (name, host) in TAGGED {
        let (world, server) = stage();
        world.git("tag v1");
        // `main` may have advanced meanwhile.
        world.write("note.txt", "more");
        world.commit("more");
        world.push();
        world.git("checkout -q --detach v1");
        let output = host(&world, publish_call(&world, &server)).run(CI);
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        assert_eq!(versions(&world, &server), [("v1".to_owned(), true)], "{name}");
    }
}

#[test]
fn push_is_published_if_the_branch_of_the_clone_is_older_and_not_if_it_differs() {
    let ci = "ci --version-name 1 --publish-on-branch main";
    let (world, served) = stage();
    world.write("note.txt", "more");
    world.commit("more");
    world.push();
    world.git("update-ref refs/remotes/origin/main HEAD~1");
    call_of_push(&world, publish_call(&world, &served))
        .run(ci)
        .expect(0);
    assert_eq!(versions(&world, &served).len(), 1);
    let (world, served) = stage();
    world.git("checkout -q -b other");
    world.write("note.txt", "other");
    world.commit("other");
    world.git("push -q origin other");
    world.git("checkout -q main");
    world.write("note.txt", "more");
    world.commit("more");
    world.push();
    world.git("checkout -q other");
    let ended = call_of_push(&world, publish_call(&world, &served)).run(ci);
    assert_eq!(versions(&world, &served), [], "{}", ended.all());
}

#[test]
fn tag_in_shallow_clone_publishes_nothing() {
    let (world, server) = stage();
    world.git("tag v1");
    world.git("push -q origin v1");
    let clone = world.path().join("shallow");
    let url = format!("file://{}", world.remote().display());
    git(
        world.path(),
        format!("clone -q --depth 1 --branch v1 {url} shallow"),
    );
    let call = Call::with_platform(&clone, &server.url).variable("SLUICEGATE_PREFIX", "sales");
    let output = (TAGGED[0].1)(&world, call).run(CI).expect(7);
    output.saying(&["could not determine whether", "`fetch-depth: 0`"]);
    assert_eq!(versions(&world, &server), []);
}

#[test]
fn gate_changes_of_tag_are_compared_with_default_branch() {
    let (world, server) = stage();
    world.git("checkout -q -b change");
    world.write(
        RULES_FILE,
        RULES.replace("enforcementLevel: error", "enforcementLevel: warn"),
    );
    world.write("note.txt", "more");
    world.commit("relaxed");
    world.push();
    for (name, host) in TAGGED {
        let args = ["review", "--gate-changes", "fail", "--report", "json=-"];
        let output = host(&world, publish_call(&world, &server)).run(&args);
        assert_eq!(output.code, 1, "{name}: {}", output.all());
        assert_eq!(output.json()["gateChanges"], json!([RULES_FILE]), "{name}");
    }
    world.git("checkout -q main");
    for (name, host) in TAGGED {
        let args = ["review", "--gate-changes", "fail", "--report", "json=-"];
        let output = host(&world, publish_call(&world, &server)).run(&args);
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        assert_eq!(output.json()["gateChanges"], json!([]), "{name}");
    }
}

#[test]
fn gate_changes_of_tag_are_undecided_in_clone_without_its_history() {
    let (world, _served) = stage();
    world.git("checkout -q -b change");
    world.write("note.txt", "more");
    world.commit("more");
    world.git("tag v1");
    world.git("push -q origin HEAD v1");
    let url = format!("file://{}", world.remote().display());
    git(
        world.path(),
        format!("clone -q --depth 1 --no-single-branch --branch v1 {url} shallow"),
    );
    let call = TAGGED[0].1(&world, Call::new(&world.path().join("shallow")));
    call.run("check --gate-changes fail").expect(7);
    call.run("check")
        .expect(0)
        .saying(&["warning: changes to the gate configuration since `main` are not reported"]);
}

#[test]
fn gate_changes_of_tag_are_undecided_without_common_history_with_default_branch() {
    let (world, _served) = stage();
    world.git("checkout -q --orphan unrelated");
    world.commit("another beginning");
    world.git("tag v1");
    world.git("push -q origin HEAD v1");
    let call = TAGGED[0].1(&world, Call::new(&world.work()));
    call.run("check --gate-changes fail")
        .expect(7)
        .saying(&["have no commit in common"]);
    call.run("check").expect(0).saying(&[
        "warning: changes to the gate configuration since `main` are not reported: `main` and",
        "have no commit in common",
    ]);
}

/// The base belongs to a host, and a local run has none.
#[test]
fn local_check_of_all_pipelines_in_shallow_clone_has_no_warning_about_the_base() {
    let (world, _served) = stage();
    world.git("checkout -q -b change");
    world.write("note.txt", "more");
    world.commit("more");
    world.push();
    let url = format!("file://{}", world.remote().display());
    git(
        world.path(),
        format!("clone -q --depth 1 --no-single-branch --branch change {url} shallow"),
    );
    let call = Call::new(&world.path().join("shallow"));
    let output = call.run("check --all").expect(0);
    assert!(
        !output
            .err
            .contains("could not resolve the base that the CI host names"),
        "{}",
        output.all()
    );
    call.run("check --all --gate-changes fail").expect(7);
}

/// Returns a call in the job of a push of HEAD to `main` on GitHub.
pub fn call_of_push(world: &World, call: Call) -> Call {
    let payload = json!({ "repository": repository(), "ref": "refs/heads/main", "before": "0".repeat(40),
        "after": head(world) });
    Job::github()
        .event("push", "refs/heads/main", &payload)
        .extend(world, call)
}

#[test]
fn rerun_of_older_run_does_not_become_the_latest_version() {
    for version in ["{next}", "{sha}", "{run-number}"] {
        let (world, server) = stage();
        let first = head(&world);
        world.write(
            "sales/load.orch.yaml",
            orchestration_text(&["Start", "More", "Done"]),
        );
        world.commit("second");
        world.push();
        let args = format!("ci --version-name {version} --publish-on-branch main");
        let call = |run: &str| publish_call(&world, &server).variable("GITHUB_RUN_NUMBER", run);
        call_of_push(&world, call("2")).run(&args).expect(0);
        let published = versions(&world, &server);
        world.git(format!("checkout -q --detach {first}"));
        for flags in [
            &[][..],
            &["--compat", "off"],
            &["--if-exists", "same-content"],
            &["--dry-run"],
        ] {
            if version == "{next}" && flags.contains(&"off") {
                continue;
            }
            let output = call_of_push(&world, call("1")).run((&args, flags));
            assert_eq!(output.code, 7, "{version} {flags:?}: {}", output.all());
            assert!(
                output.all().contains("a rerun for an older commit"),
                "{}",
                output.all()
            );
        }
        assert_eq!(versions(&world, &server), published);
        // An explicit version name is intentional; the run prints a warning first.
        let by_hand = "publish --version-name back";
        call_of_push(&world, call("1"))
            .run(by_hand)
            .expect(0)
            .saying(&["is older than the commit of version", "go back"]);
        assert_eq!(versions(&world, &server).len(), 2, "{version}");
    }
}

#[test]
fn rerun_of_run_that_made_version_stays_what_it_was() {
    let (world, server) = stage();
    let args = "ci --version-name {sha} --publish-on-branch main --if-exists same-content";
    call_of_push(&world, publish_call(&world, &server))
        .run(args)
        .expect(0);
    let first = head(&world);
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "More", "Done"]),
    );
    world.commit("second");
    world.push();
    call_of_push(&world, publish_call(&world, &server))
        .run(args)
        .expect(0);
    world.git(format!("checkout -q --detach {first}"));
    call_of_push(&world, publish_call(&world, &server))
        .run(args)
        .expect(0)
        .saying(&[]);
    assert_eq!(versions(&world, &server).len(), 2);
}

/// Adds the variables of a Jenkins build of `main`.
fn jenkins_build(call: Call) -> Call {
    call.variable("JENKINS_URL", "https://ci.invalid/")
        .variable("BUILD_ID", "1")
        .variable("BRANCH_NAME", "main")
}

#[test]
fn change_is_recognized_by_event_and_not_by_number() {
    type Odd = fn(Call) -> Call;
    let odd: [(&str, Odd); 9] = [
        ("CHANGE_ID", |call| {
            call.variable("CHANGE_ID", "abc")
                .variable("CHANGE_BRANCH", "main")
                .variable("CHANGE_TARGET", "main")
        }),
        ("CHANGE_ID without branch", |call| {
            call.variable("CHANGE_ID", "abc")
                .variable("CHANGE_TARGET", "main")
        }),
        ("gerrit", |call| {
            call.variable("GERRIT_CHANGE_NUMBER", "7")
                .variable("GERRIT_EVENT_TYPE", "patchset-created")
                .variable("GERRIT_BRANCH", "main")
        }),
        ("gitlab plugin", |call| {
            call.variable("gitlabActionType", "MERGE")
                .variable("gitlabTargetBranch", "main")
        }),
        ("ghprb", |call| {
            call.variable("ghprbPullId", "7")
                .variable("ghprbTargetBranch", "main")
        }),
        ("gitlab", |call| {
            call.variable("CI_MERGE_REQUEST_IID", "x")
                .variable("CI_MERGE_REQUEST_PROJECT_ID", "5")
                .variable("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "5")
                .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "main")
                .variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
        }),
        ("circleci", |call| {
            call.variable("CIRCLE_PULL_REQUEST", "https://git.invalid/o/p/pull/x")
        }),
        ("buildkite", |call| {
            call.variable("BUILDKITE_PULL_REQUEST", "x")
                .variable("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main")
        }),
        ("bitbucket", |call| {
            call.variable("BITBUCKET_PR_ID", "x")
                .variable("BITBUCKET_PR_DESTINATION_BRANCH", "main")
        }),
    ];
    let (world, server) = stage();
    // A head that the target does not have yet, as in a change.
    world.git("checkout -q -b change");
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "More", "Done"]),
    );
    world.commit("more");
    world.git("push -q origin HEAD:change");
    let args = "ci --version-name 1 --publish-on-branch ** --branch change";
    for (name, with) in odd {
        // Some of these events do not name the target's repository.
        let remote = world.remote().display().to_string();
        let call = publish_call(&world, &server).variable("SLUICEGATE_TARGET_REPOSITORY", remote);
        let call = match name {
            "gitlab" => call
                .variable("GITLAB_CI", "true")
                .variable("CI_COMMIT_SHA", head(&world))
                .variable("CI_DEFAULT_BRANCH", "main"),
            "circleci" => call
                .variable("CIRCLECI", "true")
                .variable("CIRCLE_SHA1", head(&world))
                .variable("CIRCLE_BRANCH", "change"),
            "buildkite" => call
                .variable("BUILDKITE", "true")
                .variable("BUILDKITE_COMMIT", head(&world))
                .variable("BUILDKITE_BRANCH", "change"),
            "bitbucket" => call
                .variable("BITBUCKET_BUILD_NUMBER", "1")
                .variable("BITBUCKET_COMMIT", head(&world))
                .variable("BITBUCKET_BRANCH", "change"),
            _ => jenkins_build(call),
        };
        let output = with(call).run(args);
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        assert!(
            output.err.contains("the job of a pull or merge request"),
            "{name}: {}",
            output.all()
        );
    }
    assert_eq!(versions(&world, &server), []);
}

#[test]
fn build_of_merged_gerrit_change_publishes() {
    let (world, server) = stage();
    let merged = jenkins_build(publish_call(&world, &server))
        .variable("GERRIT_CHANGE_NUMBER", "7")
        .variable("GERRIT_EVENT_TYPE", "change-merged");
    merged
        .run("ci --version-name 1 --publish-on-branch main")
        .expect(0);
    assert_eq!(versions(&world, &server).len(), 1);
}

#[test]
fn run_by_hand_that_names_branch_publishes_only_commit_of_it() {
    type Manual = fn(&World, Call) -> Call;
    let manual: [(&str, Manual); 3] = [
        ("buildkite", |world, call| {
            call.variable("BUILDKITE", "true")
                .variable("BUILDKITE_SOURCE", "ui")
                .variable("BUILDKITE_BRANCH", "main")
                .variable("BUILDKITE_PIPELINE_DEFAULT_BRANCH", "main")
                .variable("BUILDKITE_PULL_REQUEST", "false")
                .variable("BUILDKITE_COMMIT", head(world))
        }),
        ("azure", |world, call| {
            call.variable("TF_BUILD", "True")
                .variable("BUILD_REASON", "Manual")
                .variable("BUILD_SOURCEBRANCH", "refs/heads/main")
                .variable("BUILD_SOURCEVERSION", head(world))
        }),
        ("gitlab", |world, call| {
            call.variable("GITLAB_CI", "true")
                .variable("CI_PIPELINE_SOURCE", "web")
                .variable("CI_DEFAULT_BRANCH", "main")
                .variable("CI_COMMIT_BRANCH", "main")
                .variable("CI_COMMIT_SHA", head(world))
        }),
    ];
    let (world, server) = stage();
    world.git("checkout -q -b change");
    world.write(
        "sluicegate.yaml",
        "publish-on: { branches: [main] }\nreview: { fail-on: never }\n",
    );
    world.commit("not merged");
    world.push();
    let args = ["publish", "--version-name", "1"];
    for (name, host) in manual {
        for args in [
            &args[..],
            &["ci", "--version-name", "1", "--publish-on-branch", "main"],
        ] {
            let output = host(&world, publish_call(&world, &server)).run(args);
            assert_eq!(output.code, 7, "{name} {args:?}: {}", output.all());
        }
        let context = host(&world, publish_call(&world, &server))
            .run("context")
            .expect(0);
        assert!(
            !context.out.contains("sluicegate.yaml of the checkout"),
            "{name}: {}",
            context.out
        );
    }
    assert_eq!(versions(&world, &server), []);
    world.git("checkout -q main");
    for (number, (name, host)) in manual.into_iter().enumerate() {
        let version = number.to_string();
        let output =
            host(&world, publish_call(&world, &server)).run(format!("publish --version-name {version}"));
        assert_eq!(output.code, 0, "{name}: {}", output.all());
    }
}

#[test]
fn branch_of_another_remote_is_not_default_branch() {
    let (world, server) = stage();
    let fork = world.path().join("fork.git");
    git(world.path(), "init -q --bare -b main fork.git");
    world.git("checkout -q -b change");
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "More", "Done"]),
    );
    world.commit("not merged");
    world.push();
    world.git(&["remote", "add", "fork", &fork.display().to_string()]);
    world.git("push -q fork HEAD:main");
    world.git("fetch -q fork");
    world.git("tag v1");
    for (name, host) in TAGGED {
        for args in [CI, "publish --version-name {tag}"] {
            let output = host(&world, publish_call(&world, &server)).run(args);
            assert_eq!(output.code, 7, "{name} {args:?}: {}", output.all());
        }
    }
    assert_eq!(versions(&world, &server), []);
}

#[test]
fn rerun_in_shallow_clone_with_unknown_order_publishes_nothing() {
    let (world, server) = stage();
    let url = format!("file://{}", world.remote().display());
    git(world.path(), format!("clone -q --depth 1 {url} old"));
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "More", "Done"]),
    );
    world.commit("second");
    world.push();
    let args = "ci --version-name {sha} --publish-on-branch main --compat off";
    call_of_push(&world, publish_call(&world, &server))
        .run(args)
        .expect(0);
    let before = versions(&world, &server);
    let old = world.path().join("old");
    let first = git(&old, "rev-parse HEAD");
    let rerun = Call::with_platform(&old, &server.url).variable("SLUICEGATE_PREFIX", "sales");
    let rerun = call_of_push(&world, rerun).variable("GITHUB_SHA", &first);
    rerun
        .run(args)
        .expect(7)
        .saying(&["does not show whether version", "fetch-depth: 0"]);
    assert_eq!(versions(&world, &server), before);
    // The first version needs no history.
    let (world, server) = stage();
    git(
        world.path(),
        &[
            "clone",
            "-q",
            "--depth",
            "1",
            &format!("file://{}", world.remote().display()),
            "first",
        ],
    );
    let call =
        Call::with_platform(&world.path().join("first"), &server.url).variable("SLUICEGATE_PREFIX", "sales");
    call_of_push(&world, call).run(args).expect(0);
}

#[test]
fn commit_that_the_remote_lacks_is_published_locally_after_warning() {
    let (world, server) = stage();
    let args = "publish --receipt receipt.json --version-name";
    let branch = || {
        let receipt = std::fs::read(world.work().join("receipt.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&receipt).unwrap()["branch"].clone()
    };
    let pushed_commit = publish_call(&world, &server).run((args, "1")).expect(0);
    assert!(!pushed_commit.err.contains("warning"), "{}", pushed_commit.all());
    assert_eq!(branch(), json!("main"));
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "More", "Done"]),
    );
    world.commit("not pushed");
    let unpushed_commit = publish_call(&world, &server).run((args, "2")).expect(0);
    let unpushed_commit = unpushed_commit.saying(&[
        "no known branch of the remote contains commit",
        "its hash is published, but not its branch",
    ]);
    assert_eq!(
        unpushed_commit.err.matches("warning").count(),
        1,
        "{}",
        unpushed_commit.err
    );
    assert_eq!(branch(), json!(null));
    // In a job, the same commit is refused.
    let refusal = call_of_push(&world, publish_call(&world, &server)).run((args, "3 --head HEAD"));
    assert_eq!(refusal.code, 7, "{}", refusal.all());
    // Without a remote, the warning does not mention one.
    world.git("remote remove origin");
    let local_commit = publish_call(&world, &server).run((args, "3")).expect(0);
    let local_commit = local_commit.saying(&["this clone knows no remote branch that contains commit"]);
    assert!(
        !local_commit.err.contains("of the remote"),
        "{}",
        local_commit.all()
    );
    assert_eq!(branch(), json!("main"));
}

/// Only the commit that the host names may be ahead of the clone's copy of the branch.
#[test]
fn commit_that_a_job_creates_and_selects_is_published_only_after_its_push() {
    let (world, server) = stage();
    // For a commit that the job selects, only the URL of the remote proves the target.
    let remote = world.remote().display().to_string();
    let job = call_of_push(&world, publish_call(&world, &server))
        .variable("SLUICEGATE_TARGET_REPOSITORY", remote)
        .variable("SLUICEGATE_PUBLISH_ON_BRANCHES", "main");
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "More", "Done"]),
    );
    world.commit("a step of the job commits");
    let args = "publish --version-name 1 --branch main --head HEAD";
    job.run(args).expect(7).saying(&["is not merged"]);
    assert_eq!(versions(&world, &server), []);
    world.push();
    job.run(args).expect(0);
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
}

/// Returns a call in the job of a host that names the branch, but no commit.
fn job_without_commit(call: Call) -> Call {
    call.variable("CI", "true")
        .variable("BUILDKITE", "true")
        .variable("BUILDKITE_COMMIT", "HEAD")
        .variable("BUILDKITE_BRANCH", "main")
        .variable("BUILDKITE_PIPELINE_DEFAULT_BRANCH", "main")
        .variable("BUILDKITE_PULL_REQUEST", "false")
        .variable("BUILDKITE_SOURCE", "webhook")
}

#[test]
fn publish_of_unpushed_commit_in_job_exits_with_7() {
    let (world, server) = stage();
    world.write("sluicegate.yaml", "publish-on: { branches: [main] }\n");
    world.commit("configured");
    world.push();
    let run = |args: &[&str]| job_without_commit(publish_call(&world, &server)).run(args);
    run(&["publish", "--version-name", "1"]).expect(0);
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "More", "Done"]),
    );
    world.commit("a step of the job commits");
    for args in [
        &["publish", "--version-name", "2"][..],
        &["publish", "--version-name", "2", "--dry-run"],
        &["publish", "--version-name", "2", "--branch", "main"],
        &["ci", "--version-name", "2"],
    ] {
        let output = run(args);
        assert_eq!(output.code, 7, "{args:?}: {}", output.all());
        assert!(
            output.err.contains("it is not in `main` on the remote"),
            "{}",
            output.all()
        );
    }
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
    world.push();
    run(&["publish", "--version-name", "2"]).expect(0);
}

/// The history of a complete clone needs no fetch.
#[test]
fn publish_without_known_default_branch_advises_to_name_it() {
    let (world, server) = stage();
    world.git("symbolic-ref --delete refs/remotes/origin/HEAD");
    let publish = || {
        publish_call(&world, &server)
            .variable("BITBUCKET_BUILD_NUMBER", "1")
            .variable("BITBUCKET_COMMIT", head(&world))
            .variable("BITBUCKET_BRANCH", "main")
            .run("publish --version-name 1")
    };
    let output = publish().expect(7).saying(&[
        "this clone does not know the remote's default branch",
        "hint: name the branch: `git remote set-head origin BRANCH`",
    ]);
    assert!(!output.err.contains("full history"), "{}", output.err);
    world.git("remote set-head origin main");
    publish().expect(0);
}

/// Only a clone whose branch may be outdated is advised to fetch it.
#[test]
fn publish_of_unmerged_commit_advises_a_fetch_only_if_the_branch_may_be_outdated() {
    let (world, server) = stage();
    world.write("note.txt", "not merged");
    world.commit("on main");
    let publish = |branch: &str| {
        let payload = json!({ "repository": repository(), "ref": format!("refs/heads/{branch}") });
        Job::github()
            .event("workflow_dispatch", &format!("refs/heads/{branch}"), &payload)
            .extend(&world, publish_call(&world, &server))
            .variable("GITHUB_SHA", world.git("rev-parse origin/main"))
            .variable(
                "SLUICEGATE_TARGET_REPOSITORY",
                world.remote().display().to_string(),
            )
            .run("publish --version-name 1 --head HEAD")
            .expect(7)
    };
    publish("main").saying(&[
        "is not merged",
        "if the branch already contains it, this clone is outdated",
    ]);
    // The commit is on the branch of the run, but a fetch of that branch does not merge it.
    world.git("push -q origin HEAD:refs/heads/other");
    world.git("fetch -q origin");
    publish("other").saying(&["is not merged", "hint: push and merge the commit first"]);
    // The clone's branch has another commit instead.
    world.git("checkout -q --detach main~1");
    world.write("note.txt", "replaced");
    world.commit("replaced");
    world.git("update-ref refs/remotes/origin/main origin/other");
    publish("main").saying(&["is not merged", "hint: push and merge the commit first"]);
    assert_eq!(versions(&world, &server), []);
}

/// CircleCI names an open pull request in every run of its branch, for example one from `main` to `production`.
#[test]
fn push_to_default_branch_with_open_pull_request_is_published() {
    let (world, server) = stage();
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("known finding");
    world.write("sales/more.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("more");
    world.push();
    let add_variables = |call: Call| {
        call.variable("CIRCLECI", "true")
            .variable("CIRCLE_SHA1", head(&world))
            .variable("CIRCLE_BRANCH", "main")
            .variable("CIRCLE_PULL_REQUEST", "https://github.com/o/p/pull/5")
            .variable("CIRCLE_REPOSITORY_URL", world.remote().display().to_string())
    };
    let check = add_variables(Call::new(&world.work()));
    check.run("check --new-only").expect(0);
    world.write("sales/load.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("fixed");
    world.push();
    let publish = add_variables(publish_call(&world, &server));
    let args = "ci --version-name 1 --publish-on-branch main";
    // The branch of a fork may have the same name.
    let fork = publish.clone().variable("CIRCLE_PR_NUMBER", "5");
    fork.run(args).saying(&["the job of a pull or merge request"]);
    // A commit that the branch does not contain is not published either.
    world.git("update-ref refs/remotes/origin/main HEAD~1");
    publish
        .run(args)
        .expect(0)
        .saying(&["the job of a pull or merge request"]);
    assert_eq!(versions(&world, &server), []);
    world.git("fetch -q origin");
    publish.run(args).expect(0);
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
}

/// The author of a change chooses its target branch, and so the `publish-on` of that branch's configuration file.
#[test]
fn publish_in_job_of_change_to_branch_of_its_author_is_refused() {
    let (world, server) = stage();
    world.write("sluicegate.yaml", "publish-on: { branches: [main] }\n");
    world.commit("configuration");
    world.push();
    world.git("checkout -q -b lax");
    world.write("sluicegate.yaml", "publish-on: { branches: ['**'] }\n");
    world.commit("lax");
    world.push();
    world.git("checkout -q -b change");
    world.write("note.txt", "not merged");
    world.commit("change");
    world.push();
    let mut payload = pull_request_payload(&world);
    payload["pull_request"]["base"] = json!({
        "ref": "lax", "sha": world.git("rev-parse lax"), "repo": { "full_name": "o/p" },
    });
    let github = Job::github()
        .event("pull_request", "refs/pull/7/merge", &payload)
        .extend(&world, publish_call(&world, &server));
    let gitlab = Job::gitlab()
        .pull_request()
        .extend(&world, publish_call(&world, &server))
        .variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "lax");
    for call in [&github, &gitlab] {
        for head in ["", "--head origin/main"] {
            call.run(("publish --version-name 1", head))
                .expect(7)
                .saying(&["the job of a pull or merge request"]);
        }
    }
    assert_eq!(versions(&world, &server), []);
    // Counterpart: the push of the merge.
    world.git("checkout -q main");
    world.git("merge -q --ff-only change");
    world.push();
    call_of_push(&world, publish_call(&world, &server))
        .run("publish --version-name 1")
        .expect(0);
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
}

/// GitHub sends `pull_request` with the action `closed` after the merge.
#[test]
fn publish_in_job_of_merged_pull_request_does_not_call_it_unmerged() {
    let (world, server) = stage();
    world.git("checkout -q -b change");
    world.write("note.txt", "merged");
    world.commit("change");
    world.push();
    let mut payload = pull_request_payload(&world);
    payload["action"] = json!("closed");
    payload["pull_request"]["merged"] = json!(true);
    world.git("push -q origin change:main");
    world.git("fetch -q origin");
    let call = Job::github()
        .event("pull_request", "refs/pull/7/merge", &payload)
        .extend(&world, publish_call(&world, &server));
    let output = call.run("publish --version-name 1").expect(7).saying(&[
        "cannot publish in the job of a pull or merge request (event pull_request)",
        "hint: publish in the job of a push",
    ]);
    assert!(!output.err.contains("not merged"), "{}", output.all());
    call.run("ci --version-name 1 --publish-on-branch **")
        .expect(0)
        .saying(&["nothing is published: this is the job of a pull or merge request (event pull_request)"]);
    assert_eq!(versions(&world, &server), []);
}

/// The job of an unmerged branch names the default branch, which `publish-on` lists.
#[test]
fn publish_of_unmerged_commit_with_name_of_other_branch_exits_with_7() {
    let (world, server) = stage();
    world.write("sluicegate.yaml", "publish-on: { branches: [main] }\n");
    world.commit("configure");
    world.push();
    world.git("checkout -q -b change");
    world.write("note.txt", "more");
    world.commit("not merged");
    world.push();
    let url = format!("file://{}", world.remote().display());
    git(
        world.path(),
        format!("clone -q --single-branch -b change {url} single"),
    );
    let with_host = |call: Call, host: &str| match host {
        "github" => {
            let payload = json!({ "repository": repository(), "ref": "refs/heads/change",
                "before": "0".repeat(40), "after": head(&world) });
            Job::github()
                .event("push", "refs/heads/change", &payload)
                .extend(&world, call)
        }
        "gitlab" => call
            .variable("GITLAB_CI", "true")
            .variable("CI_PIPELINE_SOURCE", "push")
            .variable("CI_DEFAULT_BRANCH", "main")
            .variable("CI_COMMIT_BRANCH", "change")
            .variable("CI_COMMIT_SHA", head(&world)),
        _ => call
            .variable("CIRCLECI", "true")
            .variable("CIRCLE_BRANCH", "change")
            .variable("CIRCLE_SHA1", head(&world)),
    };
    let commands = [
        "publish --version-name 1 --policy head",
        "ci --version-name 1 --policy head",
    ];
    for host in ["github", "gitlab", "circleci"] {
        for folder in [world.work(), world.path().join("single")] {
            let call = Call::with_platform(&folder, &server.url).variable("SLUICEGATE_PREFIX", "sales");
            let call = with_host(call, host).variable("SLUICEGATE_BRANCH", "main");
            for command in commands {
                let output = call.run(command);
                assert_eq!(output.code, 7, "{host} {command}: {}", output.all());
            }
        }
    }
    assert_eq!(versions(&world, &server), []);
    // After the merge, the clone shows that the branch contains the commit.
    world.git("push -q origin change:main");
    world.git("fetch -q");
    with_host(publish_call(&world, &server), "github")
        .run((commands[0], "--branch main"))
        .expect(0);
}
