//! The commits of the target branch are proven: by the URL of the remote, or by the event. A clone of a fork, a
//! reference that is out of date, and a merge that the host created prove nothing.

use crate::base_commit::several_merge_bases::world_with_crossed_merges;
use crate::support::{
    Call, Checkout, Job, Platform, Project, RULES, RULES_FILE, World, checkout, git, head,
    orchestration_text, passed_results, path_variable, project, pull_request_payload, respond_for_each,
};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

const STRICT: &str = "review: { fail-on: error }\n";
const LAX: &str = "review: { fail-on: never }\nexclude: ['**']\n";
const ABSENT: &str = "4444444444444444444444444444444444444444";
const GOOD: [&str; 3] = ["Start", "Load", "Done"];
const BAD: [&str; 3] = ["Start", "bad name", "Done"];

/// A strict repository, and a job's clone of its fork: the fork's `main` is lax, and `change` adds a pipeline.
struct Fork {
    world: World,
    clone: PathBuf,
    /// The target's `main`, from which the fork's branches started.
    main: String,
    change: String,
}

impl Fork {
    fn new(components: &[&str]) -> Self {
        let world = project();
        world.write("sluicegate.yaml", STRICT);
        let main = world.commit("strict");
        world.push();
        git(world.path(), "clone -q --bare remote.git fork.git");
        let fork = world.path().join("fork.git");
        let fork = fork.to_str().unwrap();
        world.git("checkout -q -b lax");
        world.write("sluicegate.yaml", LAX);
        world.commit("lax");
        world.git(&["push", "-q", fork, "lax:main"]);
        world.git(format!("checkout -q -b change {main}"));
        world.write("new.orch.yaml", orchestration_text(components));
        let change = world.commit("change");
        world.git(&["push", "-q", fork, "change"]);
        git(world.path(), "clone -q -b change fork.git job");
        Self {
            clone: world.path().join("job"),
            world,
            main,
            change,
        }
    }

    fn pull_request(&self, event: &str, base: &str) -> Call {
        let payload = json!({
            "repository": { "default_branch": "main", "full_name": "o/p" },
            "pull_request": {
                "number": 7,
                "head": { "ref": "change", "sha": self.change, "repo": { "full_name": "somebody/p" } },
                "base": { "ref": "main", "sha": base, "repo": { "full_name": "o/p",
                    "clone_url": "https://github.com/o/p.git" } },
            },
        });
        Job::github()
            .event(event, "refs/heads/main", &payload)
            .extend(&self.world, Call::new(&self.clone))
            .variable("GITHUB_SHA", ABSENT)
    }

    /// Returns a job that another event starts on the default branch; `own` is the host's commit.
    fn comment(&self, event: &str, own: &str) -> Call {
        let payload = json!({ "repository": { "default_branch": "main", "full_name": "o/p" } });
        Job::github()
            .event(event, "refs/heads/main", &payload)
            .extend(&self.world, Call::new(&self.clone))
            .variable("GITHUB_SHA", own)
    }

    fn merge_request(&self, base: &str) -> Call {
        self.job(&[
            ("GITLAB_CI", "true"),
            ("CI_PIPELINE_SOURCE", "merge_request_event"),
            ("CI_DEFAULT_BRANCH", "main"),
            ("CI_COMMIT_SHA", &self.change),
            ("CI_PROJECT_ID", "6"),
            ("CI_PROJECT_URL", "https://gitlab.example/somebody/p"),
            ("CI_MERGE_REQUEST_IID", "7"),
            ("CI_MERGE_REQUEST_PROJECT_ID", "5"),
            ("CI_MERGE_REQUEST_PROJECT_URL", "https://gitlab.example/o/p"),
            ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "6"),
            ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "change"),
            ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", base),
        ])
    }

    fn job(&self, variables: &[(&str, &str)]) -> Call {
        let call = Call::new(&self.clone).variable("CI", "true");
        variables
            .iter()
            .fold(call, |call, (name, value)| call.variable(name, value))
    }

    /// Returns jobs on the hosts whose events name no commit of the target.
    fn jobs_without_commit(&self) -> [(&'static str, Call); 4] {
        let azure = [
            ("TF_BUILD", "True"),
            ("BUILD_REASON", "PullRequest"),
            ("BUILD_REPOSITORY_URI", "https://dev.azure.com/o/p/_git/p"),
            ("BUILD_SOURCEVERSION", &self.change),
            ("SYSTEM_PULLREQUEST_ISFORK", "True"),
            ("SYSTEM_PULLREQUEST_SOURCEBRANCH", "refs/heads/change"),
            ("SYSTEM_PULLREQUEST_SOURCECOMMITID", &self.change),
            ("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main"),
        ];
        let buildkite = [
            ("BUILDKITE", "true"),
            ("BUILDKITE_COMMIT", &self.change),
            ("BUILDKITE_BRANCH", "somebody:change"),
            ("BUILDKITE_REPO", "git@github.com:o/p.git"),
            ("BUILDKITE_PULL_REQUEST", "7"),
            ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main"),
            ("BUILDKITE_PULL_REQUEST_REPO", "https://github.com/somebody/p.git"),
        ];
        let circleci = [
            ("CIRCLECI", "true"),
            ("CIRCLE_SHA1", self.change.as_str()),
            ("CIRCLE_BRANCH", "pull/7"),
            ("CIRCLE_PR_REPONAME", "p"),
            ("CIRCLE_PULL_REQUEST", "https://github.com/o/p/pull/7"),
            ("CIRCLE_REPOSITORY_URL", "https://github.com/o/p"),
        ];
        let jenkins = [
            ("JENKINS_URL", "https://ci.invalid/"),
            ("BUILD_ID", "1"),
            ("GIT_COMMIT", &self.change),
            ("CHANGE_ID", "7"),
            ("CHANGE_BRANCH", "change"),
            ("CHANGE_TARGET", "main"),
            ("CHANGE_FORK", "somebody"),
            ("CHANGE_URL", "https://github.com/o/p/pull/7"),
        ];
        [
            ("azure", self.job(&azure)),
            ("buildkite", self.job(&buildkite)),
            ("circleci", self.job(&circleci)),
            ("jenkins", self.job(&jenkins)),
        ]
    }
}

/// The commands that evaluate the change of a fork.
const COMMANDS: [&[&str]; 4] = [
    &["check"],
    &["check", "--gate-changes", "fail"],
    &["review", "--fork", "check"],
    &["ci", "--fork", "check"],
];

#[test]
fn clone_of_fork_supplies_no_policy_and_no_base() {
    let (bad, good) = (Fork::new(&BAD), Fork::new(&GOOD));
    let events = ["pull_request", "pull_request_target"];
    for command in COMMANDS {
        for event in events {
            let output = bad.pull_request(event, &bad.main).run(command);
            assert_eq!(output.code, 1, "{event} {command:?}: {}", output.all());
            assert!(
                output.all().contains("no remote of this clone is the target's"),
                "{}",
                output.all()
            );
            good.pull_request(event, &good.main).run(command).expect(0);
        }
        bad.merge_request(&bad.main).run(command).expect(1);
        good.merge_request(&good.main).run(command).expect(0);
    }
    for event in [
        "issue_comment",
        "workflow_run",
        "workflow_dispatch",
        "repository_dispatch",
    ] {
        bad.comment(event, &bad.main).run("check").expect(1);
        good.comment(event, &good.main).run("check").expect(0);
        for command in ["review", "ci"] {
            let call = bad.comment(event, ABSENT);
            call.run(&[command, "--head", &bad.change, "--dry-run"]).expect(7);
        }
    }
}

#[test]
fn clone_of_fork_without_commit_of_target_is_refused() {
    let fork = Fork::new(&BAD);
    let named = [
        ("github", fork.pull_request("pull_request_target", ABSENT)),
        ("gitlab", fork.merge_request(ABSENT)),
        ("comment", fork.comment("issue_comment", ABSENT)),
    ];
    for (name, call) in named.into_iter().chain(fork.jobs_without_commit()) {
        for flags in [
            &["check"][..],
            &["check", "--all"],
            &["check", "--base", "HEAD~1"],
            &["check", "--policy", "base"],
            &["check", "--policy", "head"],
            &["check", "new.orch.yaml"],
            &["check", "--deepen"],
            &["review", "--fork", "check"],
            &["context"],
        ] {
            let output = call.run(flags);
            assert_eq!(output.code, 7, "{name} {flags:?}: {}", output.all());
            output.saying(&["could not prove which commits", "`origin` is", "hint: "]);
        }
        // The job fetches the target itself, under a name of its own.
        let remote = fork.world.remote().display().to_string();
        let call = call.variable("SLUICEGATE_TARGET_REPOSITORY", &remote);
        let job = |args: &str| git(&fork.clone, args);
        job(&format!("remote add -f target {remote}"));
        job("remote set-head target main");
        let output = call.run("check");
        assert_eq!(output.code, 1, "{name}: {}", output.all());
        job("remote remove target");
    }
}

#[test]
fn report_comparison_in_clone_of_fork_is_refused() {
    let fork = Fork::new(&GOOD);
    for (head, report) in [("HEAD~1", "old.json"), ("HEAD", "new.json")] {
        Call::new(&fork.clone)
            .variable("SLUICEGATE_CI", "none")
            .run(format!("check --all --head {head} --report json={report}"))
            .expect(0);
    }
    for (name, call) in fork.jobs_without_commit() {
        let output = call.run("report --compare old.json new.json");
        assert_eq!(output.code, 7, "{name}: {}", output.all());
        output.saying(&["could not prove which commits"]);
        // A mirror that the job names is the target, also for the gate configuration of the new report.
        let url = git(&fork.clone, "config remote.origin.url");
        let call = call.variable("SLUICEGATE_TARGET_REPOSITORY", url);
        call.run("check --all --report json=newer.json");
        let output = call.run("report --compare old.json newer.json");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
    }
}

#[test]
fn deepen_fetches_commit_that_event_names_for_target() {
    let fork = Fork::new(&BAD);
    // The target went on, and the fork's server has the objects, as on a host where both share them.
    fork.world.git("checkout -q main");
    fork.world.write("note.txt", "more");
    let tip = fork.world.commit("more");
    fork.world.push();
    let shared = fork.world.path().join("fork.git");
    fork.world
        .git(&["push", "-q", shared.to_str().unwrap(), "main:refs/heads/shared"]);
    let call = fork.pull_request("pull_request_target", &tip);
    call.run("check").expect(7);
    call.run("check --deepen").expect(1);
}

#[test]
fn other_spellings_of_target_are_the_target() {
    let fork = Fork::new(&BAD);
    let clone = clone_target(&fork);
    let payload = |call: &Call| call.run("check --report json=-");
    let job = |url: &str, key: Option<(&str, &str)>| {
        git(&clone, format!("remote set-url origin {url}"));
        if let Some((key, value)) = key {
            git(&clone, &["config", key, value]);
        }
        let output = payload(&on_clone(&fork, &clone));
        if let Some((key, _)) = key {
            git(&clone, format!("config --unset {key}"));
        }
        output
    };
    for url in [
        "https://github.com/o/p",
        "https://GitHub.com/o/p.git/",
        "https://x-access-token:secret@github.com/o/p.git",
        "git@github.com:o/p.git",
        "ssh://git@github.com:22/o/p",
    ] {
        let output = job(url, None);
        assert_eq!(output.code, 1, "{url}: {}", output.all());
    }
    for url in [
        "https://github.com/somebody/p",
        "https://github.com:8443/o/p",
        "https://mirror.example/o/p.git",
        "git@github.com:o/p/fork.git",
    ] {
        let output = job(url, None);
        assert_eq!(output.code, 7, "{url}: {}", output.all());
        // A mirror that the job names is the target.
        let named = on_clone(&fork, &clone);
        named.run(format!("check --target-repository {url}")).expect(1);
        named
            .variable(
                "SLUICEGATE_TARGET_REPOSITORY",
                format!("https://other.example/x\n{url}"),
            )
            .run("check")
            .expect(1);
    }
    let short = ("url.https://github.com/.insteadOf", "gh:");
    assert_eq!(job("gh:o/p", Some(short)).code, 1);
    let disguised = ("url.https://evil.example/.insteadOf", "disguise:");
    assert_eq!(job("disguise:github.com/o/p", Some(disguised)).code, 7);
    // A setting in a variable is applied as one of the repository is.
    git(&clone, "remote set-url origin gh:o/p");
    let call = on_clone(&fork, &clone)
        .variable("GIT_CONFIG_COUNT", "1")
        .variable(
            "GIT_CONFIG_KEY_0",
            "url.https://user:secret@github.com/.insteadOf",
        );
    for (prefix, code) in [("gh:", 1), ("other:", 7)] {
        let output = call.clone().variable("GIT_CONFIG_VALUE_0", prefix).run("check");
        assert!(!output.expect(code).all().contains("secret"), "{prefix}");
    }
    let secret = job("https://user:secret@evil.example/o/p", None);
    assert!(
        secret.code == 7 && !secret.all().contains("secret"),
        "{}",
        secret.all()
    );
}

/// Clones the target with the fork's change, as the default checkout of a pull request does.
fn clone_target(fork: &Fork) -> PathBuf {
    git(fork.world.path(), "clone -q remote.git target");
    let clone = fork.world.path().join("target");
    git(&clone, "fetch -q ../fork.git change:refs/remotes/pull/7/head");
    git(&clone, &["checkout", "-q", "--detach", &fork.change]);
    clone
}

fn on_clone(fork: &Fork, clone: &Path) -> Call {
    let payload: Value = json!({
        "repository": { "default_branch": "main", "full_name": "o/p" },
        "pull_request": {
            "number": 7,
            "head": { "ref": "change", "sha": fork.change, "repo": { "full_name": "somebody/p" } },
            "base": { "ref": "main", "sha": ABSENT, "repo": { "full_name": "o/p" } },
        },
    });
    Job::github()
        .event("pull_request", "refs/pull/7/merge", &payload)
        .extend(&fork.world, Call::new(clone))
        .variable("GITHUB_SHA", ABSENT)
}

/// Creates `main` that became strict, and `change` from it. The clone's `origin/main` is still the lax commit.
fn world_with_outdated_target(components: &[&str]) -> (World, [String; 2]) {
    let world = project();
    world.write("sluicegate.yaml", LAX);
    let lax = world.commit("lax");
    world.write("sluicegate.yaml", STRICT);
    let strict = world.commit("strict");
    world.push();
    world.git("checkout -q -b change");
    world.write("new.orch.yaml", orchestration_text(components));
    world.commit("change");
    world.push();
    (world, [lax, strict])
}

fn platform_with_verdict(is_bad: bool) -> Platform {
    let failed = json!([{ "ruleName": "component-naming-convention", "status": "FAILED",
        "violations": ["component \"bad name\" is wrong"] }]);
    let platform = Platform::new();
    if is_bad {
        platform.reviews(respond_for_each("FAILED", failed));
    } else {
        platform.reviews(respond_for_each("PASSED", passed_results()));
    }
    platform
}

#[test]
fn outdated_reference_is_not_target_if_event_has_newer_commit() {
    type NamedTarget = fn(&World, Call, &str) -> Call;
    let named: [(&str, NamedTarget); 4] = [
        ("github", |world, call, _| {
            Job::github().pull_request().extend(world, call)
        }),
        ("gitea", |world, call, _| {
            Job::gitea().pull_request().extend(world, call)
        }),
        ("gitlab", |world, call, strict| {
            Job::gitlab()
                .pull_request()
                .extend(world, call)
                .variable("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", strict)
                .variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", strict)
        }),
        ("azure", |world, call, strict| {
            // The host's merge names the target by its first parent.
            let tree = world.git("rev-parse HEAD^{tree}");
            let merge = world.git(&["commit-tree", &tree, "-p", strict, "-p", "HEAD", "-m", "merge"]);
            Job::azure()
                .pull_request()
                .extend(world, call)
                .variable("BUILD_SOURCEVERSION", merge)
        }),
    ];
    for (components, code) in [(&BAD, 1), (&GOOD, 0)] {
        let (world, [lax, strict]) = world_with_outdated_target(components);
        let server = platform_with_verdict(code == 1);
        for (name, host) in named {
            for command in ["check", "review", "ci"] {
                let call = if command == "check" {
                    Call::new(&world.work())
                } else {
                    server.call(&world)
                };
                world.git(&["update-ref", "refs/remotes/origin/main", &strict]);
                let call = host(&world, call, &strict);
                world.git(&["update-ref", "refs/remotes/origin/main", &lax]);
                let output = call.run(&[command]);
                assert_eq!(output.code, code, "{name} {command}: {}", output.all());
                assert!(!output.err.contains("excluded"), "{name}: {}", output.all());
            }
        }
    }
}

#[test]
fn reference_that_nothing_confirms_is_dated_and_deepen_fetches_it() {
    let (world, [lax, _]) = world_with_outdated_target(&BAD);
    for (name, host) in crate::support::HOSTS {
        if ["github", "gitea", "gitlab"].contains(&name) {
            continue;
        }
        world.git(&["update-ref", "refs/remotes/origin/main", &lax]);
        let call = host(&world, Call::new(&world.work()));
        let output = call.run("check --report json=-");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        let notes = output.json()["notes"].to_string();
        assert!(
            notes.contains("the target branch comes from this clone's copy of")
                && notes.contains("2026-11-20"),
            "{name}: {notes}"
        );
        let output = call.run("check --deepen");
        assert_eq!(output.code, 1, "{name}: {}", output.all());
    }
}

#[test]
fn note_of_outdated_reference_names_effect_of_deepen() {
    let (world, [lax, _]) = world_with_outdated_target(&GOOD);
    let call = Job::azure().pull_request().call(&world);
    world.git(&["update-ref", "refs/remotes/origin/main", &lax]);
    let notes = || {
        let output = call.run("check --deepen --report json=-");
        output.json()["notes"].to_string()
    };
    let text = notes();
    assert!(!text.contains("out of date"), "{text}");
    world.git("remote set-url origin file:///nonexistent");
    let text = notes();
    assert!(
        text.contains("may be out of date: the branch could not be fetched"),
        "{text}"
    );
}

/// Only the first fetch fails.
#[test]
fn note_of_outdated_reference_counts_a_later_fetch() {
    let (world, [lax, _]) = world_with_outdated_target(&GOOD);
    let old_main = format!("+{lax}:refs/remotes/origin/main");
    let fetched_branch = "+refs/heads/change:refs/remotes/origin/change";
    let clone = checkout(
        &world,
        &["--depth=1", fetched_branch, &old_main],
        "refs/remotes/origin/change",
    );
    let path = path_variable().to_string_lossy().into_owned();
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *\" fetch \"*) mkdir {}/failed 2>/dev/null && exit 1;; esac\nPATH='{}' exec git \"$@\"\n",
        world.path().display(),
        path
    );
    let bin = world.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), Permissions::from_mode(0o755)).unwrap();
    let output = Job::azure()
        .pull_request()
        .extend(&world, Call::new(&clone))
        .variable("PATH", format!("{}:{path}", bin.display()))
        .run("check --deepen --report json=-")
        .saying(&["could not fetch the branch `main`"]);
    let notes = output.json()["notes"].to_string();
    assert!(!notes.contains("could not be fetched"), "{notes}");
}

/// The note distinguishes a clone without the commit of the run from one without newer commits.
#[test]
fn note_of_an_outdated_reference_names_what_the_clone_may_lack() {
    let (world, [lax, strict]) = world_with_outdated_target(&GOOD);
    let change = head(&world);
    let notes = |source: &str, branch: &str, commit: &str| {
        world.git(format!("checkout -q --detach {commit}"));
        let output = Call::new(&world.work())
            .variable("GITLAB_CI", "true")
            .variable("CI_PIPELINE_SOURCE", source)
            .variable("CI_DEFAULT_BRANCH", "main")
            .variable("CI_COMMIT_BRANCH", branch)
            .variable("CI_COMMIT_SHA", commit)
            .run("check --report json=-");
        output.json()["notes"].to_string()
    };
    let lacks_commit = "the commit of this run is not in this clone's copy of `origin/main`";
    let may_be_outdated = "the target branch comes from this clone's copy of `origin/main`";
    // Another run of an older commit of the branch, whose newer commit is the target.
    let text = notes("web", "main", &lax);
    assert!(
        text.contains(may_be_outdated) && !text.contains(lacks_commit),
        "{text}"
    );
    world.git(&["update-ref", "refs/remotes/origin/main", &lax]);
    let text = notes("push", "change", &change);
    assert!(
        text.contains(may_be_outdated) && !text.contains(lacks_commit),
        "{text}"
    );
    let text = notes("web", "main", &strict);
    assert!(
        text.contains(lacks_commit) && !text.contains(may_be_outdated),
        "{text}"
    );
}

/// Merges the change into `main` as a host does, with the change's version of the file at `path`.
fn host_merge(world: &World, path: &str, text: &str, is_squash: bool) -> String {
    world.git("checkout -q --detach origin/main");
    let kind = if is_squash { "--squash" } else { "--no-ff" };
    world.git(&["merge", "-q", "--no-commit", kind, "-X", "theirs", "change"]);
    world.write(path, text);
    world.git("add -A");
    world.git("commit -q -m 'merge of the host'");
    head(world)
}

#[test]
fn merge_by_host_has_every_merge_base_of_the_change() {
    let relaxed = RULES.replace("enforcementLevel: error", "enforcementLevel: warn");
    let cases = [
        ("x.orch.yaml", orchestration_text(&BAD), orchestration_text(&GOOD)),
        (RULES_FILE, relaxed, RULES.to_owned()),
    ];
    for (path, old, new) in &cases {
        let world = world_with_crossed_merges(path, [old, new], old);
        let change = head(&world);
        // The merge-base that GitLab names has the old version.
        let old_base = world.git("rev-parse topic");
        for is_squash in [false, true] {
            for (name, host) in crate::support::HOSTS {
                world.git("checkout -q change");
                let call = host(&world, Call::new(&world.work()));
                if is_squash && name != "gitlab" {
                    continue;
                }
                let merge = host_merge(&world, path, old, is_squash);
                let call = match name {
                    "github" | "gitea" => call.variable("GITHUB_SHA", &merge),
                    "gitlab" => call
                        .variable("CI_COMMIT_SHA", &merge)
                        .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", &change)
                        .variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", &old_base),
                    "azure" => call.variable("BUILD_SOURCEVERSION", &merge),
                    // These hosts name no merge, and a merge of a criss-cross history proves nothing.
                    _ => {
                        call.run("check").expect(7);
                        continue;
                    }
                };
                for flags in [&["check"][..], &["check", "--new-only"]] {
                    let output = call.run((flags, "--gate-changes fail"));
                    assert_eq!(
                        output.code,
                        1,
                        "{name} {path} {flags:?} {is_squash}: {}",
                        output.all()
                    );
                }
            }
        }
    }
}

#[test]
fn merge_by_host_without_criss_cross_has_the_changed_pipelines_only() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("new.orch.yaml", orchestration_text(&GOOD));
    let change = world.commit("change");
    world.push();
    world.git("checkout -q main");
    world.write("bad.orch.yaml", orchestration_text(&BAD));
    world.commit("the target's own");
    world.push();
    for (name, host) in crate::support::HOSTS {
        world.git("checkout -q change");
        let call = host(&world, Call::new(&world.work()));
        let merge = host_merge(&world, "new.orch.yaml", &orchestration_text(&GOOD), false);
        let call = match name {
            "github" | "gitea" => call.variable("GITHUB_SHA", &merge),
            "gitlab" => call
                .variable("CI_COMMIT_SHA", &merge)
                .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", &change),
            "azure" => call.variable("BUILD_SOURCEVERSION", &merge),
            _ => call,
        };
        let output = call.run("check --report json=-");
        assert_eq!(output.code, 0, "{name} {change}: {}", output.all());
        assert_eq!(output.json()["counts"]["files"], 1, "{name}");
    }
}

#[test]
fn push_job_may_check_out_a_merge_with_the_default_branch() {
    for (components, code) in [(&BAD, 1), (&GOOD, 0)] {
        let world = project();
        world.git("checkout -q -b change");
        world.write("new.orch.yaml", orchestration_text(components));
        let change = world.commit("change");
        world.push();
        world.git("checkout -q -b side");
        world.git("checkout -q main");
        world.write("note.txt", "more");
        world.commit("more");
        world.push();
        let payload = json!({ "repository": crate::support::repository(), "ref": "refs/heads/change",
            "before": "0".repeat(40), "after": change });
        let reference = "refs/heads/change";
        let call = Job::github()
            .event("push", reference, &payload)
            .extend(&world, Call::new(&world.work()))
            .variable("GITHUB_SHA", &change);
        let gitlab = Call::new(&world.work())
            .variable("GITLAB_CI", "true")
            .variable("CI_PIPELINE_SOURCE", "push")
            .variable("CI_DEFAULT_BRANCH", "main")
            .variable("CI_COMMIT_BRANCH", "change")
            .variable("CI_COMMIT_SHA", &change);
        world.git(format!("checkout -q --detach {change}"));
        world.git("merge -q --no-ff -m 'with main' origin/main");
        call.run("check").expect(code);
        gitlab.run("check").expect(code);
        // A merge with anything else is another commit.
        world.git("checkout -q side");
        world.write("side.txt", "side");
        let side = world.commit("side");
        world.git(format!("checkout -q --detach {change}"));
        world.git(format!("merge -q --no-ff -m 'with side' {side}"));
        call.run("check").expect(7);
        gitlab
            .run("check")
            .expect(7)
            .saying(&[&format!("run `git checkout {change}` first")]);
    }
}

/// Nothing shows which of the two commits is newer, so neither supplies the policy.
#[test]
fn shallow_reference_that_the_event_does_not_confirm_is_no_target() {
    let project = Project::new();
    let folder = checkout(
        &project.world,
        &["--depth=1", "+refs/heads/main:refs/remotes/origin/main"],
        &project.main,
    );
    let fetch_feature = "fetch -q origin +refs/heads/feature:refs/remotes/origin/feature";
    git(&folder, fetch_feature);
    git(&folder, "checkout -q --detach origin/feature");
    let repo = json!({ "full_name": "o/p" });
    let payload = json!({ "pull_request": {
        "number": 7,
        "head": { "ref": "feature", "sha": project.feature, "repo": repo },
        "base": { "ref": "main", "sha": project.fork, "repo": repo }
    } });
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_REF", "refs/pull/7/merge"),
        ("GITHUB_SHA", project.feature.as_str()),
    ];
    let job = Checkout::new(&folder, &variables).payload(&payload);
    job.expect_unsettled(&["the clone is shallow"]);
    // More history shows that the reference is newer.
    git(&folder, "fetch -q --unshallow origin");
    let context = job.says();
    assert_eq!(context.json["base"], project.fork.as_str());
}

/// Another host's commits are not in the history of the target, and a change without them has nothing in common with
/// it.
#[test]
fn change_without_common_history_selects_all_pipelines() {
    let world = project();
    world.git("checkout -q --orphan change");
    world.write("new.orch.yaml", orchestration_text(&GOOD));
    world.commit("unrelated");
    world.push();
    let mut host_count = 0;
    for (name, host) in crate::support::HOSTS {
        if ["github", "gitea", "gitlab"].contains(&name) {
            continue;
        }
        host_count += 1;
        let output = host(&world, Call::new(&world.work())).run("context --json");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        let context = output.json();
        assert_eq!(context["base"], Value::Null, "{name}");
        let source = context["baseSource"].to_string();
        assert!(source.contains("no commit in common"), "{name}: {source}");
    }
    assert_eq!(host_count, 4);
}

/// A merge with another branch may contain what neither the change nor its target has.
#[test]
fn unedited_merge_of_change_with_unmerged_branch_is_another_commit() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("bad.orch.yaml", orchestration_text(&BAD));
    let change = world.commit("change");
    world.push();
    let payload = pull_request_payload(&world);
    world.git("checkout -q -b side main");
    world.write("side.txt", "side");
    world.commit("side");
    world.git(&["checkout", "-q", "--detach", &change]);
    let call = |checked_out: &str| {
        world.git(&["merge", "-q", "--no-ff", "--no-edit", checked_out]);
        Job::github()
            .event("pull_request", "refs/pull/7/merge", &payload)
            .extend(&world, Call::new(&world.work()))
            .variable("GITHUB_SHA", ABSENT)
    };
    call("side")
        .run("check")
        .expect(7)
        .saying(&["the checkout is at"]);
    // The target itself may be merged.
    world.git("checkout -q main");
    world.write("note.txt", "more");
    world.commit("more");
    world.push();
    world.git(&["checkout", "-q", "--detach", &change]);
    call("main").run("check").expect(1);
}

/// Names from the event are only put into a command to copy if a shell reads them as they are.
#[test]
fn hint_has_no_command_with_special_characters_of_a_shell() {
    let world = project();
    world.git("checkout -q -b change");
    world.commit("change");
    world.push();
    for (branch, hint) in [
        ("release/1.x", "`git fetch origin +refs/heads/release/1.x:"),
        ("release;id", "fetch the branch into its remote-tracking branch"),
    ] {
        let output = Job::jenkins()
            .pull_request()
            .call(&world)
            .variable("CHANGE_TARGET", branch)
            .run("context")
            .expect(7)
            .saying(&[hint]);
        assert!(!output.err.contains("+refs/heads/release;id"), "{}", output.all());
    }
    let fork = Fork::new(&GOOD);
    for (url, is_shown) in [
        ("https://github.com/o/p", true),
        ("https://github.com/o/p;id", false),
    ] {
        let job = fork.job(&[
            ("CIRCLECI", "true"),
            ("CIRCLE_SHA1", &fork.change),
            ("CIRCLE_BRANCH", "pull/7"),
            ("CIRCLE_PR_REPONAME", "p"),
            ("CIRCLE_PULL_REQUEST", "https://github.com/o/p/pull/7"),
            ("CIRCLE_REPOSITORY_URL", url),
        ]);
        let output = job.run("context").expect(7);
        let is_command = output.err.contains("git remote add -f target");
        assert_eq!(is_command, is_shown, "{}", output.all());
    }
}
