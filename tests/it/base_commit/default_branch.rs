//! Runs on the default branch that select all pipelines: which findings are known, and what a shallow clone lacks.

use crate::support::{Call, Ended, PROJECT, Served, TOKEN, World, ZEROS, git, pipeline, project};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Creates a `main` whose last commit is harmless, after one that added a pipeline with two findings.
fn adopted() -> World {
    let world = project();
    world.write("old.orch.yaml", pipeline(&["Start", "bad name", "Two", "Done"]));
    world.commit("years");
    world.write("b.orch.yaml", pipeline(&["Start", "Done"]));
    world.commit("harmless");
    world.push();
    world
}

/// Returns the variables of a run for this commit of `main`, on each host that reports no earlier commit.
fn hosts(world: &World, commit: &str) -> Vec<(&'static str, Vec<(&'static str, String)>)> {
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

fn job(folder: &Path, variables: &[(&str, String)]) -> Call {
    let call = Call::new(folder).variable("CI", "true");
    variables
        .iter()
        .fold(call, |call, (name, value)| call.variable(name, value))
}

const CHECK: &str = "check --new-only --fail-on warn --report json=-";

/// Returns the numbers of new and known findings.
fn counted(ended: &Ended) -> (Value, Value) {
    let findings = &ended.json()["findings"];
    (findings["new"].clone(), findings["known"].clone())
}

#[test]
fn run_on_default_branch_without_earlier_commit_knows_findings_of_first_parent() {
    let world = adopted();
    let head = world.git("rev-parse HEAD");
    for (host, variables) in hosts(&world, &head) {
        let ended = job(&world.work(), &variables).run(CHECK);
        assert_eq!(ended.code, 0, "{host}: {}", ended.all());
        assert_eq!(counted(&ended), (json!(0), json!(2)), "{host}: {}", ended.all());
        let notes = ended.json()["notes"].to_string();
        let parent = world.git("rev-parse --short=7 HEAD~1");
        assert!(
            notes.contains(&format!("findings are known if they exist at {parent}"))
                && notes.contains("the first parent of head"),
            "{host}: {notes}"
        );
    }
    // A finding of the last commit is new.
    world.write("b.orch.yaml", pipeline(&["Start", "worse name", "Done"]));
    let head = world.commit("worse");
    world.push();
    for (host, variables) in hosts(&world, &head) {
        let ended = job(&world.work(), &variables).run(CHECK);
        assert_eq!(ended.code, 1, "{host}: {}", ended.all());
        assert_eq!(counted(&ended), (json!(1), json!(2)), "{host}: {}", ended.all());
    }
}

#[test]
fn review_on_default_branch_without_earlier_commit_knows_findings_of_first_parent() {
    let world = adopted();
    let head = world.git("rev-parse HEAD");
    let project = format!("{PROJECT}={}", world.remote().display());
    let served = Served::start(
        world.path(),
        &["--project", &project, &format!("--token={TOKEN}=admin")],
    );
    let call = |head: &str| {
        let call = Call::with_platform(&world.work(), &served.url).variable("CI", "true");
        let (_, variables) = hosts(&world, head).swap_remove(0);
        variables
            .into_iter()
            .fold(call, |call, (name, value)| call.variable(name, value))
    };
    let args = "review --new-only --fail-on warn --report json=-";
    let ended = call(&head).run(args).expect(0);
    assert_eq!(counted(&ended), (json!(0), json!(2)));
    world.write("b.orch.yaml", pipeline(&["Start", "worse name", "Done"]));
    let head = world.commit("worse");
    world.push();
    let ended = call(&head).run(args).expect(1);
    assert_eq!(counted(&ended), (json!(1), json!(2)));
}

#[test]
fn commit_of_earlier_run_is_the_base_only_if_head_descends_from_it() {
    let world = adopted();
    let adoption = world.git("rev-parse HEAD");
    world.write("b.orch.yaml", pipeline(&["Start", "worse name", "Done"]));
    world.commit("worse");
    world.write("c.orch.yaml", pipeline(&["Start", "Done"]));
    let head = world.commit("harmless");
    world.push();
    world.git(&["checkout", "-q", "-b", "other", &adoption]);
    let other = world.commit("other");
    world.git("checkout -q main");
    let jenkins = |earlier: &[(&str, &str)]| {
        let (_, variables) = hosts(&world, &head).swap_remove(3);
        let call = job(&world.work(), &variables);
        earlier
            .iter()
            .fold(call, |call, (name, value)| call.variable(name, value))
            .run(CHECK)
    };
    let (successful, last) = ("GIT_PREVIOUS_SUCCESSFUL_COMMIT", "GIT_PREVIOUS_COMMIT");
    // The last successful build is older than the push with the finding, so the finding is new.
    let ended = jenkins(&[(successful, &adoption), (last, &world.git("rev-parse HEAD~1"))]).expect(1);
    assert_eq!(counted(&ended), (json!(1), json!(2)));
    assert!(
        ended.json()["notes"].to_string().contains(successful),
        "{}",
        ended.all()
    );
    let ended = jenkins(&[(last, &adoption)]).expect(1);
    assert!(
        ended.json()["notes"].to_string().contains(last),
        "{}",
        ended.all()
    );
    // A commit of another branch, one that the clone lacks, head itself and text are not used.
    for unusable in [other.as_str(), &"1".repeat(40), &head, "HEAD~2"] {
        let ended = jenkins(&[(successful, unusable)]).expect(0);
        assert!(
            ended.json()["notes"]
                .to_string()
                .contains("the first parent of head"),
            "{}",
            ended.all()
        );
    }
}

/// Another branch is compared with the default branch, whatever the host's last run was.
#[test]
fn commit_of_earlier_run_is_not_the_base_of_another_branch() {
    let world = adopted();
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", pipeline(&["Start", "worse name", "Done"]));
    let worse = world.commit("worse");
    world.write("c.orch.yaml", pipeline(&["Start", "Done"]));
    let head = world.commit("harmless");
    world.push();
    let (_, variables) = hosts(&world, &head).swap_remove(3);
    let ended = job(&world.work(), &variables)
        .variable("BRANCH_NAME", "change")
        .variable("BRANCH_IS_PRIMARY", "false")
        .variable("GIT_PREVIOUS_SUCCESSFUL_COMMIT", &worse)
        .run(CHECK)
        .expect(1);
    assert_eq!(counted(&ended).0, json!(1));
}

#[test]
fn branch_without_own_commits_has_no_new_findings() {
    let world = adopted();
    world.write("b.orch.yaml", pipeline(&["Start", "worse name", "Done"]));
    let head = world.commit("worse");
    world.push();
    world.git("push -q origin main:refs/heads/cut");
    world.git("fetch -q");
    let (_, mut variables) = hosts(&world, &head).swap_remove(0);
    variables[2].1 = "cut".to_owned();
    let ended = job(&world.work(), &variables).run(CHECK).expect(0);
    assert_eq!(counted(&ended), (json!(0), json!(3)));
    let ended = Call::new(&world.work()).run((CHECK, "--head HEAD")).expect(0);
    assert_eq!(counted(&ended), (json!(0), json!(3)));
}

/// The first push of a branch has no earlier commit, and neither has a tag.
#[test]
fn first_push_of_default_branch_has_no_known_findings() {
    let world = adopted();
    let head = world.git("rev-parse HEAD");
    let (_, mut gitlab) = hosts(&world, &head).swap_remove(10);
    gitlab[1].1 = "push".to_owned();
    let (_, mut github) = hosts(&world, &head).swap_remove(7);
    github[1].1 = "push".to_owned();
    let event = world.path().join("event.json");
    let payload = json!({ "before": ZEROS, "after": head, "repository": { "default_branch": "main" } });
    fs::write(event, payload.to_string()).unwrap();
    for variables in [gitlab, github] {
        let ended = job(&world.work(), &variables).run(CHECK).expect(1);
        assert_eq!(ended.json()["findings"]["new"], Value::Null);
        ended.saying(&["no base to compare with (--new-only)"]);
    }
}

/// Clones the last commit of `main`.
fn shallow(world: &World, name: &str, depth: u32) -> std::path::PathBuf {
    let url = format!("file://{}", world.remote().display());
    let depth = format!("--depth={depth}");
    git(world.path(), format!("clone -q {depth} {url} {name}"));
    world.path().join(name)
}

#[test]
fn shallow_push_to_default_branch_exits_with_7_and_prints_the_line_to_add() {
    let world = adopted();
    let head = world.git("rev-parse HEAD");
    let before = world.git("rev-parse HEAD~1");
    let folder = shallow(&world, "shallow", 1);
    let (_, mut github) = hosts(&world, &head).swap_remove(7);
    github[1].1 = "push".to_owned();
    let (_, mut gitlab) = hosts(&world, &head).swap_remove(10);
    gitlab[1].1 = "push".to_owned();
    gitlab[5].1.clone_from(&before);
    let payload = json!({ "before": before, "after": head, "repository": { "default_branch": "main" } });
    fs::write(world.path().join("event.json"), payload.to_string()).unwrap();
    for (variables, source, line) in [
        (github, "the push event's `before`", "`fetch-depth: 0`"),
        (gitlab, "CI_COMMIT_BEFORE_SHA", "`GIT_DEPTH: 0`"),
    ] {
        let call = job(&folder, &variables);
        let missing = format!("the base commit {before} ({source}) is not in this clone");
        call.run(CHECK).expect(7).saying(&[&missing, line]);
        call.run("check --compat fail --fail-on never")
            .expect(7)
            .saying(&[&missing, line]);
        // Without a comparison, no base is needed.
        call.run("check --fail-on never").expect(0);
    }
}

#[test]
fn shallow_run_on_default_branch_needs_the_first_parent_only_to_compare() {
    let world = adopted();
    let head = world.git("rev-parse HEAD");
    let (one, two) = (shallow(&world, "one", 1), shallow(&world, "two", 2));
    for (host, variables) in hosts(&world, &head) {
        let call = job(&one, &variables);
        let ended = call.run(CHECK);
        assert_eq!(ended.code, 7, "{host}: {}", ended.all());
        ended.saying(&["(the first parent of head) is not in this clone", "hint: "]);
        call.run("check --fail-on never").expect(0);
        let ended = job(&two, &variables).run(CHECK);
        assert_eq!(counted(&ended), (json!(0), json!(2)), "{host}: {}", ended.all());
        // The missing commits can be fetched.
        let fetching = shallow(&world, &host.replace(' ', "-"), 1);
        let ended = job(&fetching, &variables).run((CHECK, "--deepen"));
        assert_eq!(counted(&ended), (json!(0), json!(2)), "{host}: {}", ended.all());
    }
}

/// After a forced push, the findings at the merge-base are known.
#[test]
fn forced_push_to_default_branch_is_compared_with_the_merge_base() {
    let world = adopted();
    world.write("c.orch.yaml", pipeline(&["Start", "worse name", "Done"]));
    let before = world.commit("dropped");
    world.git("branch kept");
    world.git("reset -q --hard HEAD~1");
    world.write("c.orch.yaml", pipeline(&["Start", "worst name", "Done"]));
    world.commit("worst");
    world.write("d.orch.yaml", pipeline(&["Start", "Done"]));
    let head = world.commit("harmless");
    world.push();
    let (_, mut github) = hosts(&world, &head).swap_remove(7);
    github[1].1 = "push".to_owned();
    let payload = json!({ "before": before, "after": head, "repository": { "default_branch": "main" } });
    fs::write(world.path().join("event.json"), payload.to_string()).unwrap();
    let ended = job(&world.work(), &github).run(CHECK).expect(1);
    assert_eq!(counted(&ended), (json!(1), json!(2)));
}
