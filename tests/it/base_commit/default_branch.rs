//! Runs on the default branch that select all pipelines: which findings are known, and what a shallow clone lacks.

use crate::support::{
    Call, Job, PROJECT, ProgramOutput, ServerProcess, TOKEN, World, ZEROS, git, orchestration_text, project,
    repository,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Creates a `main` whose last commit is harmless, after one that added a pipeline with two findings.
fn push_to_adopted_branch() -> World {
    let world = project();
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "Two", "Done"]),
    );
    world.commit("years");
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("harmless");
    world.push();
    world
}

/// Returns the variables of a run for this commit of `main`, on each host that reports no earlier commit.
fn hosts_with_default_branch(
    world: &World,
    commit: &str,
) -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let event = world.path().join("event.json");
    fs::write(
        &event,
        json!({ "repository": { "default_branch": "main" } }).to_string(),
    )
    .unwrap();
    let event = event.display().to_string();
    let rows: [(&str, &[(&str, &str)]); 13] = [
        (
            "circleci",
            &[
                ("CIRCLECI", "true"),
                ("CIRCLE_SHA1", commit),
                ("CIRCLE_BRANCH", "main"),
            ],
        ),
        (
            "buildkite",
            &[
                ("BUILDKITE", "true"),
                ("BUILDKITE_COMMIT", commit),
                ("BUILDKITE_BRANCH", "main"),
                ("BUILDKITE_PULL_REQUEST", "false"),
                ("BUILDKITE_PIPELINE_DEFAULT_BRANCH", "main"),
                ("BUILDKITE_SOURCE", "webhook"),
            ],
        ),
        (
            "buildkite by hand",
            &[
                ("BUILDKITE", "true"),
                ("BUILDKITE_COMMIT", "HEAD"),
                ("BUILDKITE_BRANCH", "main"),
                ("BUILDKITE_PULL_REQUEST", "false"),
                ("BUILDKITE_PIPELINE_DEFAULT_BRANCH", "main"),
                ("BUILDKITE_SOURCE", "ui"),
            ],
        ),
        (
            "jenkins",
            &[
                ("JENKINS_URL", "https://ci"),
                ("BUILD_ID", "7"),
                ("GIT_COMMIT", commit),
                ("BRANCH_NAME", "main"),
                ("BRANCH_IS_PRIMARY", "true"),
            ],
        ),
        (
            "azure",
            &[
                ("TF_BUILD", "True"),
                ("BUILD_SOURCEVERSION", commit),
                ("BUILD_REASON", "IndividualCI"),
                ("BUILD_SOURCEBRANCH", "refs/heads/main"),
            ],
        ),
        (
            "azure by hand",
            &[
                ("TF_BUILD", "True"),
                ("BUILD_SOURCEVERSION", commit),
                ("BUILD_REASON", "Manual"),
                ("BUILD_SOURCEBRANCH", "refs/heads/main"),
            ],
        ),
        (
            "bitbucket",
            &[
                ("BITBUCKET_BUILD_NUMBER", "7"),
                ("BITBUCKET_COMMIT", commit),
                ("BITBUCKET_BRANCH", "main"),
            ],
        ),
        (
            "github by hand",
            &[
                ("GITHUB_ACTIONS", "true"),
                ("GITHUB_EVENT_NAME", "workflow_dispatch"),
                ("GITHUB_SHA", commit),
                ("GITHUB_REF", "refs/heads/main"),
                ("GITHUB_EVENT_PATH", &event),
            ],
        ),
        (
            "github by the clock",
            &[
                ("GITHUB_ACTIONS", "true"),
                ("GITHUB_EVENT_NAME", "schedule"),
                ("GITHUB_SHA", commit),
                ("GITHUB_REF", "refs/heads/main"),
            ],
        ),
        (
            "gitea by hand",
            &[
                ("GITHUB_ACTIONS", "true"),
                ("GITEA_ACTIONS", "true"),
                ("GITHUB_EVENT_NAME", "workflow_dispatch"),
                ("GITHUB_SHA", commit),
                ("GITHUB_REF", "refs/heads/main"),
                ("GITHUB_EVENT_PATH", &event),
            ],
        ),
        (
            "gitlab by hand",
            &[
                ("GITLAB_CI", "true"),
                ("CI_PIPELINE_SOURCE", "web"),
                ("CI_COMMIT_SHA", commit),
                ("CI_COMMIT_BRANCH", "main"),
                ("CI_DEFAULT_BRANCH", "main"),
                ("CI_COMMIT_BEFORE_SHA", ZEROS),
            ],
        ),
        (
            "gitlab by the clock",
            &[
                ("GITLAB_CI", "true"),
                ("CI_PIPELINE_SOURCE", "schedule"),
                ("CI_COMMIT_SHA", commit),
                ("CI_COMMIT_BRANCH", "main"),
                ("CI_DEFAULT_BRANCH", "main"),
                ("CI_COMMIT_BEFORE_SHA", ZEROS),
            ],
        ),
        ("unknown", &[("TEAMCITY_VERSION", "2026.1")]),
    ];
    rows.iter()
        .map(|(host, variables)| {
            let owned = variables.iter().map(|(name, value)| (*name, (*value).to_owned()));
            (*host, owned.collect())
        })
        .collect()
}

fn ci_call(folder: &Path, variables: &[(&str, String)]) -> Call {
    let call = Call::new(folder).variable("CI", "true");
    variables
        .iter()
        .fold(call, |call, (name, value)| call.variable(name, value))
}

const CHECK: &str = "check --new-only --fail-on warn --report json=-";

/// Returns the numbers of new and known findings.
fn finding_totals(output: &ProgramOutput) -> (Value, Value) {
    let findings = &output.json()["findings"];
    (findings["new"].clone(), findings["known"].clone())
}

#[test]
fn run_on_default_branch_without_earlier_commit_knows_findings_of_first_parent() {
    let world = push_to_adopted_branch();
    let head = world.git("rev-parse HEAD");
    for (host, variables) in hosts_with_default_branch(&world, &head) {
        let output = ci_call(&world.work(), &variables).run(CHECK);
        assert_eq!(output.code, 0, "{host}: {}", output.all());
        assert_eq!(
            finding_totals(&output),
            (json!(0), json!(2)),
            "{host}: {}",
            output.all()
        );
        let notes = output.json()["notes"].to_string();
        let parent = world.git("rev-parse --short=7 HEAD~1");
        assert!(
            notes.contains(&format!("findings are known if they exist at {parent}"))
                && notes.contains("the first parent of head"),
            "{host}: {notes}"
        );
    }
    // A finding of the last commit is new.
    let head = push_worse_commit(&world);
    for (host, variables) in hosts_with_default_branch(&world, &head) {
        let output = ci_call(&world.work(), &variables).run(CHECK);
        assert_eq!(output.code, 1, "{host}: {}", output.all());
        assert_eq!(
            finding_totals(&output),
            (json!(1), json!(2)),
            "{host}: {}",
            output.all()
        );
    }
}

#[test]
fn review_on_default_branch_without_earlier_commit_knows_findings_of_first_parent() {
    let world = push_to_adopted_branch();
    let head = world.git("rev-parse HEAD");
    let project = format!("{PROJECT}={}", world.remote().display());
    let server = ServerProcess::start(
        world.path(),
        &["--project", &project, &format!("--token={TOKEN}=admin")],
    );
    let call = |head: &str| {
        let call = Call::with_platform(&world.work(), &server.url).variable("CI", "true");
        let (_, variables) = hosts_with_default_branch(&world, head).swap_remove(0);
        variables
            .into_iter()
            .fold(call, |call, (name, value)| call.variable(name, value))
    };
    let args = "review --new-only --fail-on warn --report json=-";
    let output = call(&head).run(args).expect(0);
    assert_eq!(finding_totals(&output), (json!(0), json!(2)));
    let head = push_worse_commit(&world);
    let output = call(&head).run(args).expect(1);
    assert_eq!(finding_totals(&output), (json!(1), json!(2)));
}

/// Pushes a commit with a new finding.
fn push_worse_commit(world: &World) -> String {
    world.write(
        "b.orch.yaml",
        orchestration_text(&["Start", "worse name", "Done"]),
    );
    let worse = world.commit("worse");
    world.push();
    worse
}

/// Pushes a commit with a new finding, and then one without. Returns both.
fn push_worse_and_harmless_commit(world: &World) -> [String; 2] {
    let worse = push_worse_commit(world);
    world.write("c.orch.yaml", orchestration_text(&["Start", "Done"]));
    let harmless = world.commit("harmless");
    world.push();
    [worse, harmless]
}

#[test]
fn commit_of_earlier_run_is_base_only_for_descendants() {
    let world = push_to_adopted_branch();
    let adoption = world.git("rev-parse HEAD");
    let [worse, head] = push_worse_and_harmless_commit(&world);
    world.git(&["checkout", "-q", "-b", "other", &adoption]);
    let other = world.commit("other");
    world.git("checkout -q main");
    let jenkins = |earlier: &[(&str, &str)]| {
        let (_, variables) = hosts_with_default_branch(&world, &head).swap_remove(3);
        let call = ci_call(&world.work(), &variables);
        earlier
            .iter()
            .fold(call, |call, (name, value)| call.variable(name, value))
            .run(CHECK)
    };
    let (successful, last) = ("GIT_PREVIOUS_SUCCESSFUL_COMMIT", "GIT_PREVIOUS_COMMIT");
    // The last successful build is older than the push with the finding, so the finding is new.
    let output = jenkins(&[(successful, &adoption), (last, &worse)]).expect(1);
    assert_eq!(finding_totals(&output), (json!(1), json!(2)));
    assert!(
        output.json()["notes"].to_string().contains(successful),
        "{}",
        output.all()
    );
    let output = jenkins(&[(last, &adoption)]).expect(1);
    assert!(
        output.json()["notes"].to_string().contains(last),
        "{}",
        output.all()
    );
    // The branch no longer has the commit: findings are known if they exist at the merge-base, or no finding is known.
    let output = jenkins(&[(successful, &other), (last, &worse)]).expect(1);
    assert_eq!(finding_totals(&output), (json!(1), json!(2)));
    output.saying(&[successful, "is not an ancestor of head"]);
    let output = jenkins(&[(successful, &"1".repeat(40)), (last, &worse)]).expect(1);
    assert_eq!(finding_totals(&output).1, Value::Null);
    output.saying(&[successful, "is not in this clone"]);
    // Head itself and text are not used.
    for unusable in [head.as_str(), "HEAD~2"] {
        let output = jenkins(&[(successful, unusable)]).expect(0);
        assert!(
            output.json()["notes"]
                .to_string()
                .contains("the first parent of head"),
            "{}",
            output.all()
        );
    }
}

/// Another branch is compared with the default branch, whatever the host's last run was.
#[test]
fn commit_of_earlier_run_is_not_the_base_of_another_branch() {
    let world = push_to_adopted_branch();
    world.git("checkout -q -b change");
    let [worse, head] = push_worse_and_harmless_commit(&world);
    let (_, variables) = hosts_with_default_branch(&world, &head).swap_remove(3);
    let output = ci_call(&world.work(), &variables)
        .variable("BRANCH_NAME", "change")
        .variable("BRANCH_IS_PRIMARY", "false")
        .variable("GIT_PREVIOUS_SUCCESSFUL_COMMIT", &worse)
        .run(CHECK)
        .expect(1);
    assert_eq!(finding_totals(&output).0, json!(1));
}

#[test]
fn branch_without_own_commits_has_no_new_findings() {
    let world = push_to_adopted_branch();
    let head = push_worse_commit(&world);
    world.git("push -q origin main:refs/heads/cut");
    world.git("fetch -q");
    let (_, mut variables) = hosts_with_default_branch(&world, &head).swap_remove(0);
    variables[2].1 = "cut".to_owned();
    let output = ci_call(&world.work(), &variables).run(CHECK).expect(0);
    assert_eq!(finding_totals(&output), (json!(0), json!(3)));
    let output = Call::new(&world.work()).run((CHECK, "--head HEAD")).expect(0);
    assert_eq!(finding_totals(&output), (json!(0), json!(3)));
}

/// The first push of a branch has no earlier commit, and neither has a tag.
#[test]
fn first_push_of_default_branch_has_no_known_findings() {
    let world = push_to_adopted_branch();
    let head = world.git("rev-parse HEAD");
    let (_, mut gitlab) = hosts_with_default_branch(&world, &head).swap_remove(10);
    gitlab[1].1 = "push".to_owned();
    let (_, mut github) = hosts_with_default_branch(&world, &head).swap_remove(7);
    github[1].1 = "push".to_owned();
    let event = world.path().join("event.json");
    let payload = json!({ "before": ZEROS, "after": head, "repository": { "default_branch": "main" } });
    fs::write(event, payload.to_string()).unwrap();
    for variables in [gitlab, github] {
        let output = ci_call(&world.work(), &variables).run(CHECK).expect(1);
        assert_eq!(output.json()["findings"]["new"], Value::Null);
        output.saying(&["no base to compare with (--new-only)"]);
    }
}

/// Clones the last commit of `main`.
fn shallow_clone(world: &World, name: &str, depth: u32) -> std::path::PathBuf {
    let url = format!("file://{}", world.remote().display());
    let depth = format!("--depth={depth}");
    git(world.path(), format!("clone -q {depth} {url} {name}"));
    world.path().join(name)
}

#[test]
fn shallow_push_to_default_branch_exits_with_7_and_prints_remedy() {
    let world = push_to_adopted_branch();
    let head = world.git("rev-parse HEAD");
    let before = world.git("rev-parse HEAD~1");
    let folder = shallow_clone(&world, "shallow", 1);
    let (_, mut github) = hosts_with_default_branch(&world, &head).swap_remove(7);
    github[1].1 = "push".to_owned();
    let (_, mut gitlab) = hosts_with_default_branch(&world, &head).swap_remove(10);
    gitlab[1].1 = "push".to_owned();
    gitlab[5].1.clone_from(&before);
    let payload = json!({ "before": before, "after": head, "repository": { "default_branch": "main" } });
    fs::write(world.path().join("event.json"), payload.to_string()).unwrap();
    for (variables, source, line) in [
        (github, "the push event's `before`", "`fetch-depth: 0`"),
        (gitlab, "CI_COMMIT_BEFORE_SHA", "`GIT_DEPTH: 0`"),
    ] {
        let call = ci_call(&folder, &variables);
        let text = format!("the base commit {before} ({source}) is not in this clone");
        call.run(CHECK).expect(7).saying(&[&text, line]);
        call.run("check --compat fail --fail-on never")
            .expect(7)
            .saying(&[&text, line]);
        // Without a comparison, no base is needed.
        call.run("check --fail-on never").expect(0);
    }
}

#[test]
fn missing_commit_before_the_push_is_reported_once() {
    let world = push_to_adopted_branch();
    let payload = json!({ "before": world.git("rev-parse HEAD~1"), "after": world.git("rev-parse HEAD"),
        "ref": "refs/heads/main", "repository": repository() });
    let job = Job::github().event("push", "refs/heads/main", &payload);
    for depth in [1, 2] {
        let folder = shallow_clone(&world, &format!("depth{depth}"), depth);
        let log = job
            .extend(&world, Call::new(&folder))
            .run("check --fail-on never")
            .expect(0)
            .err;
        assert_eq!(
            log.matches("is not in this clone").count(),
            usize::from(depth == 1),
            "{log}"
        );
        assert_eq!(log.contains("all pipelines are selected"), depth == 1, "{log}");
    }
}

#[test]
fn shallow_run_on_default_branch_needs_the_first_parent_only_to_compare() {
    let world = push_to_adopted_branch();
    let head = world.git("rev-parse HEAD");
    let (one, two) = (shallow_clone(&world, "one", 1), shallow_clone(&world, "two", 2));
    for (host, variables) in hosts_with_default_branch(&world, &head) {
        let call = ci_call(&one, &variables);
        let output = call.run(CHECK);
        assert_eq!(output.code, 7, "{host}: {}", output.all());
        output.saying(&["(the first parent of head) is not in this clone", "hint: "]);
        call.run("check --fail-on never").expect(0);
        let output = ci_call(&two, &variables).run(CHECK);
        assert_eq!(
            finding_totals(&output),
            (json!(0), json!(2)),
            "{host}: {}",
            output.all()
        );
        // The missing commits can be fetched.
        let fetching = shallow_clone(&world, &host.replace(' ', "-"), 1);
        let output = ci_call(&fetching, &variables).run((CHECK, "--deepen"));
        assert_eq!(
            finding_totals(&output),
            (json!(0), json!(2)),
            "{host}: {}",
            output.all()
        );
    }
}

/// After a forced push, the findings at the merge-base are known.
#[test]
fn forced_push_to_default_branch_is_compared_with_the_merge_base() {
    let world = push_to_adopted_branch();
    world.write(
        "c.orch.yaml",
        orchestration_text(&["Start", "worse name", "Done"]),
    );
    let before = world.commit("dropped");
    world.git("branch kept");
    world.git("reset -q --hard HEAD~1");
    world.write(
        "c.orch.yaml",
        orchestration_text(&["Start", "worst name", "Done"]),
    );
    world.commit("worst");
    world.write("d.orch.yaml", orchestration_text(&["Start", "Done"]));
    let head = world.commit("harmless");
    world.push();
    let (_, mut github) = hosts_with_default_branch(&world, &head).swap_remove(7);
    github[1].1 = "push".to_owned();
    let payload = json!({ "before": before, "after": head, "repository": { "default_branch": "main" } });
    fs::write(world.path().join("event.json"), payload.to_string()).unwrap();
    let output = ci_call(&world.work(), &github).run(CHECK).expect(1);
    assert_eq!(finding_totals(&output), (json!(1), json!(2)));
}

/// After a forced push back to an earlier commit, head itself is the merge-base, and its own findings are new.
#[test]
fn forced_push_to_an_ancestor_does_not_know_the_findings_of_head() {
    let world = push_to_adopted_branch();
    world.write(
        "c.orch.yaml",
        orchestration_text(&["Start", "worse name", "Done"]),
    );
    let head = world.commit("worse");
    world.write("d.orch.yaml", orchestration_text(&["Start", "Done"]));
    let before = world.commit("dropped");
    world.git("branch kept");
    world.git("reset -q --hard HEAD~1");
    world.push();
    let (_, mut github) = hosts_with_default_branch(&world, &head).swap_remove(7);
    github[1].1 = "push".to_owned();
    let payload = json!({ "before": before, "after": head, "repository": { "default_branch": "main" } });
    fs::write(world.path().join("event.json"), payload.to_string()).unwrap();
    let output = ci_call(&world.work(), &github).run(CHECK).expect(1);
    assert_eq!(finding_totals(&output), (json!(1), json!(2)));
}

/// A user who starts a run may combine the default branch with any commit, so what an unmerged one has is not known.
#[test]
fn manual_run_of_unmerged_commit_as_default_branch_has_no_known_findings() {
    let world = push_to_adopted_branch();
    world.git("checkout -q -b change");
    world.write(
        "c.orch.yaml",
        orchestration_text(&["Start", "worse name", "Done"]),
    );
    world.commit("worse");
    world.write("d.orch.yaml", orchestration_text(&["Start", "Done"]));
    let head = world.commit("harmless");
    let variables = [
        ("BUILDKITE", "true".to_owned()),
        ("BUILDKITE_COMMIT", head),
        ("BUILDKITE_BRANCH", "main".to_owned()),
        ("BUILDKITE_PULL_REQUEST", "false".to_owned()),
        ("BUILDKITE_PIPELINE_DEFAULT_BRANCH", "main".to_owned()),
        ("BUILDKITE_SOURCE", "ui".to_owned()),
    ];
    let call = ci_call(&world.work(), &variables);
    call.run(CHECK)
        .expect(1)
        .saying(&["no base to compare with (--new-only)"]);
    // The same commit, merged.
    world.git("push -q origin change:main");
    let output = call.run(CHECK).expect(0);
    assert_eq!(finding_totals(&output), (json!(0), json!(3)));
}

/// A failed push is followed by a harmless one. The last successful run was before both.
#[test]
fn check_in_shallow_clone_without_commit_of_earlier_run_exits_with_7() {
    let world = push_to_adopted_branch();
    let adoption = world.git("rev-parse HEAD");
    let [worse, head] = push_worse_and_harmless_commit(&world);
    let jenkins = ("GIT_PREVIOUS_SUCCESSFUL_COMMIT", "GIT_PREVIOUS_COMMIT");
    let unknown = ("DRONE_COMMIT_BEFORE", "CI_PREV_COMMIT_SHA");
    for (host_index, (successful, last)) in [(3, jenkins), (12, unknown), (12, jenkins)] {
        let (host, variables) = hosts_with_default_branch(&world, &head).swap_remove(host_index);
        let folder = shallow_clone(&world, &format!("{host}-{successful}"), 2);
        git(&folder, "remote set-head origin main");
        let call = ci_call(&folder, &variables).variable(last, &worse);
        // The commit of the earlier run is in the clone, so its findings are known.
        let output = call.clone().variable(successful, &worse).run(CHECK).expect(0);
        assert_eq!(finding_totals(&output), (json!(0), json!(3)), "{host}");
        let call = call.variable(successful, &adoption);
        let text = format!("the base commit {adoption} ({successful}) is not in this clone");
        call.run(CHECK).expect(7).saying(&[&text, "pass --deepen"]);
        // A run that has tried it does not advise it again.
        let url = git(&folder, "remote get-url origin");
        git(&folder, "remote set-url origin /nowhere");
        let output = call.run((CHECK, "--deepen")).expect(7).saying(&[&text]);
        assert!(!output.err.contains("pass --deepen"), "{}", output.all());
        git(&folder, &["remote", "set-url", "origin", &url]);
        // Without a comparison, no base is needed.
        call.run("check --fail-on never").expect(0);
        let output = call.run((CHECK, "--deepen")).expect(1);
        assert_eq!(finding_totals(&output), (json!(1), json!(2)), "{host}");
    }
}

/// The job of a branch claims to run on the default branch, where a push is compared with the commit before it.
#[test]
fn push_to_other_branch_with_name_of_default_branch_is_compared_with_merge_base() {
    let world = push_to_adopted_branch();
    let merge_base = world.git("rev-parse HEAD");
    world.git("checkout -q -b change");
    let [worse, head] = push_worse_and_harmless_commit(&world);
    let (_, mut variables) = hosts_with_default_branch(&world, &head).swap_remove(10);
    variables[1].1 = "push".to_owned();
    variables[3].1 = "change".to_owned();
    variables[5].1.clone_from(&worse);
    let call = ci_call(&world.work(), &variables);
    for args in ["context --json", "context --json --branch main"] {
        let output = call.run(args).expect(0);
        assert_eq!(output.json()["base"], merge_base.as_str(), "{args}");
    }
    // After the merge, the clone shows that the branch contains the commit.
    world.git("push -q origin change:main");
    world.git("fetch -q");
    let output = call.run("context --json --branch main").expect(0);
    assert_eq!(output.json()["base"], worse.as_str(), "{}", output.all());
}

/// The job does not pass the name of the branch, so that the branch could be any branch with the commit.
#[test]
fn run_without_branch_knows_findings_of_first_parent() {
    let world = push_to_adopted_branch();
    let head = push_worse_commit(&world);
    let names = [
        "CIRCLE_BRANCH",
        "BUILDKITE_BRANCH",
        "BRANCH_NAME",
        "BUILD_SOURCEBRANCH",
        "BITBUCKET_BRANCH",
        "GITHUB_REF",
        "CI_COMMIT_BRANCH",
    ];
    for (host, mut variables) in hosts_with_default_branch(&world, &head) {
        variables.retain(|(name, _)| !names.contains(name));
        let output = ci_call(&world.work(), &variables).run(CHECK);
        assert_eq!(output.code, 1, "{host}: {}", output.all());
        assert_eq!(finding_totals(&output), (json!(1), json!(2)), "{host}");
    }
}

#[test]
fn push_without_named_earlier_commit_has_only_new_findings() {
    let world = push_to_adopted_branch();
    let head = world.git("rev-parse HEAD");
    for host_index in [8, 9, 11] {
        let (host, mut variables) = hosts_with_default_branch(&world, &head).swap_remove(host_index);
        for (name, value) in &mut variables {
            match *name {
                "GITHUB_EVENT_NAME" | "CI_PIPELINE_SOURCE" => "push".clone_into(value),
                "GITHUB_EVENT_PATH" | "CI_COMMIT_BEFORE_SHA" => value.clear(),
                _ => {}
            }
        }
        let output = ci_call(&world.work(), &variables).run(CHECK);
        assert_eq!(output.code, 1, "{host}: {}", output.all());
        assert_eq!(finding_totals(&output).1, Value::Null, "{host}");
        output.saying(&["the commit before the push"]);
    }
}
