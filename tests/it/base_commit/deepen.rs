//! `--deepen`: fetches missing history in a limited number of steps, and only on request.

use crate::support::{
    ALL_OF_MAIN, Call, Checkout, EVERYTHING_FETCHED, FEATURE, ProgramOutput, Project, World, ZEROS, checkout,
    git, orchestration_text, path_variable, scratch, with_default,
};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn circle(folder: &Path, commit: &str, branch: &str) -> Checkout {
    Checkout::new(
        folder,
        &[
            ("CIRCLECI", "true"),
            ("CIRCLE_SHA1", commit),
            ("CIRCLE_BRANCH", branch),
        ],
    )
}

fn deepened_pull_request(project: &Project, folder: &Path, merge: &str) -> Checkout {
    let repo = json!({ "full_name": "o/p" });
    let payload = json!({ "pull_request": {
        "number": 7,
        "head": { "ref": "feature", "sha": project.feature, "repo": repo },
        "base": { "ref": "main", "sha": project.main, "repo": repo }
    } });
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_REF", "refs/pull/7/merge"),
        ("GITHUB_SHA", merge),
    ];
    Checkout::new(folder, &variables).payload(&payload)
}

/// Creates the default checkout of a pull request: one commit, the trial merge.
fn default_checkout(project: &Project) -> (PathBuf, String) {
    let merge = project.trial_merge("refs/pull/7/merge");
    let pull = format!("+{merge}:refs/remotes/pull/7/merge");
    (checkout(&project.world, &["--depth=1", &pull], &merge), merge)
}

#[track_caller]
fn deepen_and_read_context(call: &Call) -> (ProgramOutput, Value) {
    let output = call.run("context --json --deepen").expect(0);
    let report = output.json();
    (output, report)
}

#[track_caller]
fn selects(context: &Value, expected: &[&str]) {
    let paths: Vec<&str> = expected.iter().map(|change| &change[2..]).collect();
    assert_eq!(context["selected"], json!(paths));
}

/// Returns the output lines that report a fetch.
fn steps(output: &ProgramOutput) -> Vec<&str> {
    output
        .err
        .lines()
        .filter(|line| line.contains("(--deepen)"))
        .collect()
}

/// Creates a history of `length` commits on `main`, with `feature` two commits after the one `back` commits before the
/// tip.
fn long(length: usize, back: usize) -> (World, String, String) {
    let world = World::new();
    let mut stream = String::new();
    let mut commit = |mark: usize, branch: &str, from: usize, file: &str| {
        let _ = write!(
            stream,
            "commit refs/heads/{branch}\nmark :{mark}\ncommitter T <t@example.invalid> {} +0000\ndata 1\nx\n",
            1_700_000_000 + mark
        );
        if from > 0 {
            let _ = writeln!(stream, "from :{from}");
        }
        let _ = write!(stream, "M 100644 inline {file}\ndata 1\n{}\n\n", mark % 10);
    };
    for n in 1..=length {
        commit(n, "main", n - 1, "main.orch.yaml");
    }
    commit(length + 1, "feature", length - back, "first.orch.yaml");
    commit(length + 2, "feature", length + 1, "second.tran.yaml");
    let mut import = Command::new("git")
        .args(["fast-import", "--quiet"])
        .current_dir(world.remote())
        .env_clear()
        .env("PATH", path_variable())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    import.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());
    let tip = |name: &str| git(&world.remote(), format!("rev-parse {name}"));
    let (fork, feature) = (tip(&format!("main~{back}")), tip("feature"));
    (world, fork, feature)
}

#[test]
fn default_checkout_of_pull_request_gets_its_head_and_its_base() {
    let project = Project::new();
    let (folder, merge) = default_checkout(&project);
    let job = deepened_pull_request(&project, &folder, &merge);
    job.expect_unsettled(&[&project.feature, "--deepen"]);
    let (output, context) = deepen_and_read_context(&job.call());
    assert_eq!(
        (&context["head"], &context["base"]),
        (&json!(project.feature), &json!(project.fork))
    );
    selects(&context, &FEATURE);
    assert!(
        output
            .err
            .contains("fetching the branch `feature` and the branch `main` and commit"),
        "{}",
        output.all()
    );
    // The fetched history is kept, so nothing is fetched again.
    let (second_output, _) = deepen_and_read_context(&job.call());
    assert_eq!(steps(&second_output), [""; 0]);
    job.says().quietly().changes(&FEATURE);
}

#[test]
fn variable_asks_for_it_too_and_file_may_not() {
    let project = Project::new();
    let (folder, merge) = default_checkout(&project);
    let job = deepened_pull_request(&project, &folder, &merge);
    fs::write(folder.join("sluicegate.yaml"), "review: { deepen: true }\n").unwrap();
    Call::new(&folder)
        .run("context")
        .expect(2)
        .saying(&["`deepen` is not allowed", "SLUICEGATE_DEEPEN"]);
    fs::remove_file(folder.join("sluicegate.yaml")).unwrap();
    job.call()
        .variable("SLUICEGATE_DEEPEN", "true")
        .run("context")
        .expect(0);
}

#[test]
fn earlier_trial_merge_in_shallow_clone_is_reviewed_after_deepen() {
    let project = Project::new();
    let earlier_merge = project.trial_merge("refs/pull/7/earlier");
    project.world.git("checkout -q main");
    project.world.write("later.txt", "later");
    project.world.commit("later");
    project.world.push();
    let merge = project.trial_merge("refs/pull/7/merge");
    let pull = format!("+{earlier_merge}:refs/remotes/pull/7/merge");
    let fetch = ["--depth=1", &pull, "+main:refs/remotes/origin/main"];
    let folder = checkout(&project.world, &fetch, &earlier_merge);
    let job = deepened_pull_request(&project, &folder, &merge);
    job.expect_unsettled(&["fetch-depth: 0"]);
    let (_, context) = deepen_and_read_context(&job.call());
    selects(&context, &FEATURE);
    assert_eq!(context["head"], project.feature.as_str());
}

#[test]
fn complete_clone_fetches_nothing() {
    let project = Project::new();
    let folder = with_default(checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature));
    fs::remove_dir_all(project.world.remote()).unwrap();
    let (output, context) = deepen_and_read_context(&circle(&folder, &project.feature, "feature").call());
    selects(&context, &FEATURE);
    assert_eq!(steps(&output), [""; 0]);
}

#[test]
fn nothing_is_fetched_that_was_not_asked_for() {
    let project = Project::new();
    let (folder, merge) = default_checkout(&project);
    let before = (
        fs::read(folder.join(".git/shallow")).unwrap(),
        git(&folder, "for-each-ref"),
    );
    deepened_pull_request(&project, &folder, &merge).expect_unsettled(&["fetch-depth: 0"]);
    assert_eq!(
        (
            fs::read(folder.join(".git/shallow")).unwrap(),
            git(&folder, &["for-each-ref"])
        ),
        before
    );
}

#[test]
fn each_step_goes_further_back_until_the_merge_base_is_certain() {
    let (world, fork, feature) = long(400, 120);
    let folder = checkout(&world, &["--depth=1", EVERYTHING_FETCHED], &feature);
    let (output, context) = deepen_and_read_context(&circle(&folder, &feature, "feature").call());
    assert_eq!(context["base"], fork.as_str());
    selects(&context, &FEATURE);
    let step_lines = steps(&output);
    // The remote reports its default branch, regardless of any branch called `main`.
    assert_eq!(
        step_lines[0],
        "querying the remote for its default branch (--deepen)"
    );
    assert_eq!(
        step_lines[1..],
        [50, 200].map(|depth| format!(
            "fetching the branch `feature` and the branch `main`, up to {depth} commits further back (--deepen)"
        ))
    );
    let length: usize = git(&folder, "rev-list --count origin/main").parse().unwrap();
    assert!(
        (120..400).contains(&length),
        "{length} commits are more than was needed"
    );
}

/// The edge of the clone is a merge on `main` whose parents the history of `feature` has already brought into it.
#[test]
fn edge_whose_parents_are_in_the_clone_is_connected() {
    let world = World::new();
    let commit = |path: &str| {
        world.write(path, orchestration_text(&["Start", "Done"]));
        world.commit(path)
    };
    for index in 0..30 {
        commit(&format!("old{index}.orch.yaml"));
    }
    world.git("checkout -q -b feature");
    let first_base = commit("first.orch.yaml");
    world.git("checkout -q main");
    let second_base = commit("second.orch.yaml");
    world.git(format!("merge -q --no-ff -m merge {first_base}"));
    for index in 0..14 {
        commit(&format!("new{index}.orch.yaml"));
    }
    world.push();
    world.git("checkout -q feature");
    world.git(format!("merge -q --no-ff -m merge {second_base}"));
    for index in 0..12 {
        commit(&format!("own{index}.orch.yaml"));
    }
    world.push();
    let feature = world.git("rev-parse HEAD");
    let main = world.git("rev-parse main");
    for host in ["github", "circleci"] {
        let folder = checkout(&world, &["--depth=15", &feature], &feature);
        git(
            &folder,
            "fetch -q --depth=15 origin +refs/heads/main:refs/remotes/origin/main",
        );
        let folder = with_default(folder);
        let project = Project {
            feature: feature.clone(),
            main: main.clone(),
            fork: first_base.clone(),
            before: first_base.clone(),
            world: World::new(),
        };
        let job = match host {
            "github" => deepened_pull_request(&project, &folder, &feature),
            _ => circle(&folder, &feature, "feature"),
        };
        job.call().run("check").expect(7);
        let output = job
            .call()
            .run("check --deepen --fail-on never --report json=-")
            .expect(0);
        let fetch_count = steps(&output)
            .iter()
            .filter(|line| line.contains("fetching"))
            .count();
        assert!(fetch_count <= 1, "{host}: {}", output.all());
    }
}

#[test]
fn history_beyond_limit_stays_undecided() {
    let (world, _, feature) = long(28_000, 27_000);
    let folder = checkout(&world, &["--depth=1", EVERYTHING_FETCHED], &feature);
    let call = circle(&folder, &feature, "feature").call();
    let advice = "or pass --deepen";
    call.run("context --base main").expect(7).saying(&[advice]);
    let output = call.run("context --deepen").expect(7);
    assert_eq!(steps(&output).len(), 6, "{}", output.all());
    assert!(output.err.contains("the clone is shallow"), "{}", output.all());
    assert!(
        output.err.contains("hint: fetch the full history") && !output.err.contains(advice),
        "{}",
        output.all()
    );
}

#[test]
fn deepen_finds_commit_before_push() {
    let project = Project::new();
    let feature = format!("+{}:refs/remotes/origin/feature", project.feature);
    let main = format!("+{}:refs/remotes/origin/main", project.main);
    for (name, fetch, before, after, changed) in [
        (
            "feature",
            &feature,
            &project.before,
            &project.feature,
            json!(["first.orch.yaml", "second.tran.yaml"]),
        ),
        (
            "main",
            &main,
            &project.fork,
            &project.main,
            json!(["other.orch.yaml"]),
        ),
    ] {
        let folder = checkout(&project.world, &["--depth=1", fetch], after);
        let variables = [
            ("GITLAB_CI", "true"),
            ("CI_COMMIT_SHA", after.as_str()),
            ("CI_COMMIT_BRANCH", name),
            ("CI_COMMIT_BEFORE_SHA", before),
            ("CI_DEFAULT_BRANCH", "main"),
        ];
        let (_, context) = deepen_and_read_context(&Checkout::new(&folder, &variables).call());
        assert_eq!(
            (&context["base"], &context["selected"]),
            (&json!(project.fork), &changed)
        );
        assert_eq!(context["warnings"], json!([]));
    }
}

#[test]
fn deepen_after_forced_push_uses_default_branch() {
    let project = Project::new();
    let world = &project.world;
    world.git("checkout -q feature");
    world.git("commit -q --amend -m amended");
    world.git("push -q --force origin feature");
    let head = world.git("rev-parse HEAD");
    let folder = checkout(
        world,
        &["--depth=1", &format!("+{head}:refs/remotes/origin/feature")],
        &head,
    );
    let variables = [
        ("GITLAB_CI", "true"),
        ("CI_COMMIT_SHA", head.as_str()),
        ("CI_COMMIT_BRANCH", "feature"),
        ("CI_COMMIT_BEFORE_SHA", &project.feature),
        ("CI_DEFAULT_BRANCH", "main"),
    ];
    let (_, context) = deepen_and_read_context(&Checkout::new(&folder, &variables).call());
    assert_eq!(context["base"], project.fork.as_str());
    selects(&context, &FEATURE);
}

#[test]
fn merge_request_gets_base_that_host_names() {
    let project = Project::new();
    let pipeline = format!("+{}:refs/pipelines/1", project.feature);
    let folder = checkout(&project.world, &["--depth=1", &pipeline], &project.feature);
    let variables = [
        ("GITLAB_CI", "true"),
        ("CI_COMMIT_SHA", project.feature.as_str()),
        ("CI_MERGE_REQUEST_IID", "9"),
        ("CI_MERGE_REQUEST_PROJECT_ID", "5"),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "5"),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "feature"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &project.fork),
    ];
    let (_, context) = deepen_and_read_context(&Checkout::new(&folder, &variables).call());
    assert_eq!(
        (&context["base"], &context["baseSource"]),
        (&json!(project.fork), &json!("CI_MERGE_REQUEST_DIFF_BASE_SHA"))
    );
    selects(&context, &FEATURE);
}

#[test]
fn source_branch_that_is_gone_is_fetched_by_its_commit() {
    let project = Project::new();
    let (folder, merge) = default_checkout(&project);
    project.world.git("push -q origin :feature");
    let (output, context) = deepen_and_read_context(&deepened_pull_request(&project, &folder, &merge).call());
    assert_eq!(
        (&context["head"], &context["base"]),
        (&json!(project.feature), &json!(project.fork))
    );
    assert!(
        output.err.contains("couldn't find remote ref refs/heads/feature"),
        "{}",
        output.all()
    );
}

#[test]
fn clone_of_one_branch_asks_remote_for_its_default_branch() {
    let project = Project::new();
    git(&project.world.remote(), "branch -q -m main trunk");
    for depth in [&["--depth=1"][..], &[]] {
        let fetch = [depth, &["+refs/heads/feature:refs/remotes/origin/feature"]].concat();
        let folder = checkout(&project.world, &fetch, &project.feature);
        let (output, context) = deepen_and_read_context(&circle(&folder, &project.feature, "feature").call());
        assert_eq!(context["base"], project.fork.as_str(), "{}", output.all());
        assert!(
            context["baseSource"].as_str().unwrap().contains("origin/trunk"),
            "{}",
            output.all()
        );
        assert!(
            output.err.contains("querying the remote for its default branch"),
            "{}",
            output.all()
        );
        if depth.is_empty() {
            assert!(!folder.join(".git/shallow").exists(), "a whole clone stays whole");
        }
        selects(&context, &FEATURE);
    }
}

#[test]
fn tag_gets_branch_that_holds_it() {
    let project = Project::new();
    project.world.git(&["tag", "v1", &project.main]);
    project.world.git("push -q origin v1");
    let folder = checkout(&project.world, &["--depth=1", "+refs/tags/v1:refs/tags/v1"], "v1");
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "push"),
        ("GITHUB_REF", "refs/tags/v1"),
        ("GITHUB_SHA", project.main.as_str()),
    ];
    let payload =
        json!({ "before": ZEROS, "after": project.main, "repository": { "default_branch": "main" } });
    let (_, context) = deepen_and_read_context(&Checkout::new(&folder, &variables).payload(&payload).call());
    assert_eq!(
        (&context["branch"], &context["tag"]),
        (&json!("main"), &json!("v1"))
    );
    selects(&context, &ALL_OF_MAIN);
}

#[test]
fn worktree_of_shallow_clone_is_deepened() {
    let project = Project::new();
    let folder = checkout(
        &project.world,
        &["--depth=1", EVERYTHING_FETCHED],
        "refs/remotes/origin/main",
    );
    git(
        &folder,
        &["worktree", "add", "-q", "--detach", "../tree", &project.feature],
    );
    let tree = project.world.path().join("tree");
    let (_, context) = deepen_and_read_context(&circle(&tree, &project.feature, "feature").call());
    assert_eq!(context["base"], project.fork.as_str());
}

#[test]
fn local_shallow_clone_is_deepened_for_requested_revisions() {
    let project = Project::new();
    let folder = checkout(
        &project.world,
        &["--depth=1", "+refs/heads/main:refs/remotes/origin/main"],
        &project.main,
    );
    git(&folder, "checkout -q -B main origin/main");
    for head in ["origin/feature", project.feature.as_str()] {
        let output = Call::new(&folder)
            .run(format!(
                "context --json --deepen --head {head} --base origin/main"
            ))
            .expect(0);
        assert_eq!(output.json()["base"], project.fork.as_str(), "{}", output.all());
        selects(&output.json(), &FEATURE);
    }
}

#[test]
fn commit_that_is_nowhere_ends_at_once() {
    let project = Project::new();
    let folder = checkout(
        &project.world,
        &["--depth=1", EVERYTHING_FETCHED],
        "refs/remotes/origin/main",
    );
    let absent = "4444444444444444444444444444444444444444";
    let output = circle(&folder, absent, "feature")
        .call()
        .run("context --deepen")
        .expect(7);
    assert!(
        output.err.contains(absent) && output.err.contains("not in this clone"),
        "{}",
        output.all()
    );
}

#[test]
fn unreachable_remote_is_reported_with_its_own_message() {
    let project = Project::new();
    let (folder, merge) = default_checkout(&project);
    fs::remove_dir_all(project.world.remote()).unwrap();
    let output = deepened_pull_request(&project, &folder, &merge)
        .call()
        .run("context --deepen")
        .expect(7);
    assert!(
        output.err.contains("does not appear to be a git repository"),
        "{}",
        output.all()
    );
    assert!(
        output.err.contains(&format!("{}, which github", project.feature)),
        "{}",
        output.all()
    );
    assert!(!output.err.contains("pass --deepen"), "{}", output.all());
}

/// The remote's URL may depend on the user's configuration, and so may the credentials; programs from the repository's
/// configuration may not run.
#[test]
fn users_configuration_holds_and_no_hook_runs() {
    let project = Project::new();
    let (folder, merge) = default_checkout(&project);
    let (home, mark) = (
        scratch::create_scratch_directory(),
        project.world.path().join("mark"),
    );
    git(&folder, "remote set-url origin https://platform.invalid/o/p.git");
    let rewritten = format!(
        "[url \"file://{}\"]\n\tinsteadOf = https://platform.invalid/o/p.git\n",
        project.world.remote().display()
    );
    fs::write(home.path().join(".gitconfig"), rewritten).unwrap();
    let hooks = folder.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for name in [
        "reference-transaction",
        "post-checkout",
        "pre-auto-gc",
        "fsmonitor",
    ] {
        fs::write(
            hooks.join(name),
            format!("#!/bin/sh\ntouch '{}'\n", mark.display()),
        )
        .unwrap();
        fs::set_permissions(hooks.join(name), Permissions::from_mode(0o755)).unwrap();
    }
    git(&folder, &["config", "core.hooksPath", hooks.to_str().unwrap()]);
    git(
        &folder,
        &[
            "config",
            "core.fsmonitor",
            hooks.join("fsmonitor").to_str().unwrap(),
        ],
    );
    let call = deepened_pull_request(&project, &folder, &merge).call();
    let (output, context) =
        deepen_and_read_context(&call.variable("HOME", home.path().display().to_string()));
    assert_eq!(context["base"], project.fork.as_str(), "{}", output.all());
    assert!(!mark.exists(), "a hook was run");
}

/// A check evaluates the files that are checked out: the trial merge.
#[test]
fn check_is_deepened_from_what_is_checked_out() {
    let project = Project::new();
    let (folder, merge) = default_checkout(&project);
    let job = deepened_pull_request(&project, &folder, &merge);
    job.call()
        .run("check")
        .expect(7)
        .saying(&["`main` is not among the remote branches", "fetch-depth: 0"]);
    let output = job
        .call()
        .run("check --deepen --fail-on never --report json=-")
        .expect(0);
    let report = output.json();
    assert_eq!(
        report["context"]["base"],
        project.main.as_str(),
        "{}",
        output.all()
    );
    let files: Vec<&str> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(files, ["first.orch.yaml", "second.tran.yaml"]);
}

#[test]
fn review_and_publish_take_it_too() {
    let project = Project::new();
    let (folder, merge) = default_checkout(&project);
    // The request is sent, but no server responds, and the local check has no rules file.
    let job = deepened_pull_request(&project, &folder, &merge);
    let output = job.review_call().run("review --deepen").expect(1);
    assert!(
        output.err.contains("reviewing 2 pipelines of branch feature"),
        "{}",
        output.all()
    );
    assert!(
        !output.err.contains("could not determine whether"),
        "{}",
        output.all()
    );
    let project = Project::new();
    let (folder, merge) = default_checkout(&project);
    let job = deepened_pull_request(&project, &folder, &merge);
    let publish = [
        "publish",
        "--deepen",
        "--prefix",
        "p",
        "--version-name",
        "v",
        "--dry-run",
    ];
    assert!(
        job.review_call()
            .run(&publish)
            .err
            .contains("fetching the branch `feature`")
    );
}

/// The event names a commit of the target, but only a fetch shows whether the branch has newer ones.
#[test]
fn target_branch_that_only_the_event_shows_is_fetched() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/7/merge");
    let pull = "+refs/pull/7/merge:refs/remotes/pull/7/merge";
    let folder = checkout(&project.world, &[pull], &merge);
    let job = deepened_pull_request(&project, &folder, &merge);
    job.says()
        .base(&project.fork, "as the host saw it")
        .warns("the base may be outdated");
    for policy in ["base", "head"] {
        let args = format!("context --json --deepen --policy {policy}");
        let context = job.call().run(args).expect(0).json();
        assert_eq!(context["warnings"], json!([]), "{policy}");
        assert_eq!(context["base"], project.fork.as_str(), "{policy}");
        git(&folder, "update-ref -d refs/remotes/origin/main");
    }
}

/// The first parent is in the clone, and so is the commit before the push, but not what is between them.
#[test]
fn push_whose_way_to_before_is_cut_is_deepened_to_that_commit() {
    let project = Project::new();
    let main = "+refs/heads/main:refs/remotes/origin/main";
    let folder = checkout(&project.world, &["--depth=2", main], &project.main);
    git(&folder, &["fetch", "-q", "--depth=1", "origin", &project.fork]);
    let payload = json!({ "before": project.fork, "after": project.main,
        "repository": { "default_branch": "main", "full_name": "o/p" } });
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "push"),
        ("GITHUB_REF", "refs/heads/main"),
        ("GITHUB_SHA", project.main.as_str()),
    ];
    let job = Checkout::new(&folder, &variables).payload(&payload);
    job.says()
        .selects_everything("does not show how head descends from")
        .warns("all pipelines are selected");
    let (_, context) = deepen_and_read_context(&job.call());
    assert_eq!(context["base"], project.fork.as_str());
    assert_eq!(context["warnings"], json!([]));
}

/// Creates a clone of one commit, the tag `v1` on an older commit of `main`, without any branch.
fn clone_of_tag(project: &Project) -> PathBuf {
    project.world.git(&["tag", "v1", &project.fork]);
    project.world.git("push -q origin v1");
    checkout(&project.world, &["--depth=1", "+refs/tags/v1:refs/tags/v1"], "v1")
}

#[test]
fn branch_of_tag_is_fetched_even_if_no_base_is_needed() {
    let project = Project::new();
    let folder = clone_of_tag(&project);
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "push"),
        ("GITHUB_REF", "refs/tags/v1"),
        ("GITHUB_SHA", project.fork.as_str()),
    ];
    let payload =
        json!({ "before": ZEROS, "after": project.fork, "repository": { "default_branch": "main" } });
    let job = Checkout::new(&folder, &variables).payload(&payload);
    let output = job.call().run("context --json --deepen --all").expect(0);
    assert_eq!(output.json()["branch"], "main", "{}", output.all());
}

/// A local run names its branch, and the branch of a host's own commit is not inferred. On a host, the default branch
/// is fetched as the base of the change.
#[test]
fn branch_that_would_not_be_used_is_not_fetched() {
    let project = Project::new();
    let folder = clone_of_tag(&project);
    let jenkins = [
        ("JENKINS_URL", "https://ci.invalid/"),
        ("BUILD_ID", "1"),
        ("GIT_COMMIT", project.fork.as_str()),
    ];
    for variables in [&[][..], &jenkins] {
        let job = Checkout::new(&folder, variables);
        let output = job.call().run("context --json --deepen --all").expect(0);
        assert_eq!(output.json()["branch"], Value::Null, "{}", output.all());
        assert_eq!(
            steps(&output).is_empty(),
            variables.is_empty(),
            "{}",
            output.all()
        );
    }
}

/// A local run fetches the history of the checked-out branch, by its name on the remote.
#[test]
fn local_branch_of_shallow_clone_is_deepened() {
    let project = Project::new();
    let folder = project.world.path().join("local");
    let url = format!("file://{}", project.world.remote().display());
    let clone = format!("clone -q --depth=1 --no-single-branch -b feature {url} local");
    git(project.world.path(), clone);
    git(&folder, "branch -q -m feature mine");
    let (output, context) = deepen_and_read_context(&Call::new(&folder));
    assert_eq!(context["base"], project.fork.as_str(), "{}", output.all());
    assert!(
        steps(&output)[0].contains("the branch `feature` and the branch `main`"),
        "{}",
        output.all()
    );
}

/// The commits of a fork are on no branch of the remote, so they are fetched by their id.
#[test]
fn shallow_change_of_fork_is_deepened_by_its_commits() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/7/merge");
    project.world.git("push -q origin :feature");
    let payload = json!({ "pull_request": {
        "number": 7,
        "head": { "ref": "feature", "sha": project.feature, "repo": { "full_name": "somebody/p" } },
        "base": { "ref": "main", "sha": project.main, "repo": { "full_name": "o/p" } }
    } });
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_REF", "refs/pull/7/merge"),
        ("GITHUB_SHA", merge.as_str()),
    ];
    for (command, commit) in [("context", &project.feature), ("check", &merge)] {
        let pull = format!("+{merge}:refs/remotes/pull/7/merge");
        let folder = checkout(&project.world, &["--depth=2", &pull], &merge);
        let job = Checkout::new(&folder, &variables)
            .with_remote_as_target()
            .payload(&payload);
        job.call().run(command).expect(7);
        let output = job.call().run(format!("{command} --deepen"));
        assert_ne!(output.code, 7, "{command}: {}", output.all());
        let items = format!("fetching the branch `main` and commit {commit}, up to 50");
        assert!(steps(&output)[0].starts_with(&items), "{}", output.all());
    }
}

/// The branches are fetched one by one if one of them is gone, and then further back.
#[test]
fn deleted_branch_of_run_does_not_stop_the_steps() {
    let (world, fork, feature) = long(400, 120);
    let folder = checkout(&world, &["--depth=1", EVERYTHING_FETCHED], &feature);
    let (output, context) = deepen_and_read_context(&circle(&folder, &feature, "deleted").call());
    assert_eq!(context["base"], fork.as_str(), "{}", output.all());
}

#[test]
fn unreachable_remote_is_tried_once_for_each_branch() {
    let project = Project::new();
    let clone_commit = |commit: &str| {
        with_default(checkout(
            &project.world,
            &["--depth=1", EVERYTHING_FETCHED],
            commit,
        ))
    };
    let (on_feature, on_main) = (clone_commit(&project.feature), clone_commit(&project.main));
    fs::remove_dir_all(project.world.remote()).unwrap();
    for (folder, commit, branch, step_count) in [
        (&on_feature, &project.feature, "feature", 3),
        (&on_main, &project.main, "main", 1),
    ] {
        let output = circle(folder, commit, branch).call().run("context --deepen");
        assert_eq!(steps(&output).len(), step_count, "{branch}: {}", output.all());
    }
}

/// The event names the newest commit of the target, so the branch of the clone is known to be current.
#[test]
fn branch_that_the_event_confirms_is_not_fetched_again() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/7/merge");
    let pull = "+refs/pull/7/merge:refs/remotes/pull/7/merge";
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED, pull], &merge);
    let job = deepened_pull_request(&project, &folder, &merge);
    let (output, _) = deepen_and_read_context(&job.call());
    assert!(!output.err.contains("fetching"), "{}", output.all());
}

/// The first remote is the fork of the change, and the history of the target is missing.
#[test]
fn history_of_target_is_fetched_from_its_own_remote() {
    let project = Project::new();
    let world = &project.world;
    let fork = scratch::create_scratch_directory();
    git(
        fork.path(),
        format!("clone -q --bare {} fork.git", world.remote().display()),
    );
    let fork_path = fork.path().join("fork.git").display().to_string();
    git(
        fork.path(),
        format!("-C fork.git update-ref refs/heads/main {}", project.before),
    );
    let folder = checkout(
        world,
        &["--depth=1", "+refs/heads/feature:refs/remotes/origin/feature"],
        &project.feature,
    );
    let target_url = git(&folder, "remote get-url origin");
    git(&folder, format!("remote set-url origin {fork_path}"));
    git(&folder, format!("remote add upstream {target_url}"));
    let payload = json!({ "pull_request": {
        "number": 7,
        "head": { "ref": "feature", "sha": project.feature, "repo": { "full_name": "f/p" } },
        "base": { "ref": "main", "sha": project.main, "repo": { "full_name": "o/p", "clone_url": target_url } }
    } });
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_REF", "refs/pull/7/merge"),
        ("GITHUB_SHA", &project.feature),
    ];
    let (output, context) =
        deepen_and_read_context(&Checkout::new(&folder, &variables).payload(&payload).call());
    assert_eq!(context["base"], project.fork.as_str(), "{}", output.all());
    assert!(
        output.err.contains("the branch `main` of `upstream`"),
        "{}",
        output.all()
    );
    assert_eq!(git(&folder, "rev-parse refs/remotes/upstream/main"), project.main);
    selects(&context, &FEATURE);
}
