//! A user's first hour: clone a repository with history, set up the gate, have a bad change stopped, fixed and merged,
//! and publish two versions. The platform is `sluicegate serve`; a fake of GitHub's API stores the comments.

use crate::support::{
    Arguments, Call, Comments, PROJECT, ProgramOutput, ServerProcess, TOKEN, World, git, orchestration_text,
};
use serde_json::{Value, json};
use std::fs;

const SHARED: &str = "\
version: \"1.0\"
type: shared-pipelines-config
pipelines:
  - { pipeline: sales/load.orch.yaml, displayName: Load, id: load, enabled: true, parameters: {} }
";
const LOAD: &str = "sales/load.orch.yaml";
const LOST: &str = "    Lost:\n      type: sql-executor\n      parameters: { componentName: Lost }\n";

/// The user, the platform, and the repository's host.
struct Hour {
    world: World,
    platform: ServerProcess,
    comments: Comments,
}

impl Hour {
    /// Clones a repository in which one of two pipelines is larger than the rules allow, and with one version that was
    /// published manually.
    fn begin() -> Self {
        let world = World::new();
        let steps: Vec<String> = (1..=12).map(|n| format!("Step {n}")).collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        world.write(".platform/shared-pipelines.yaml", SHARED);
        world.write(".github/workflows/build.yml", "on: push\n");
        world.write("sales/old.orch.yaml", orchestration_text(&steps));
        world.write(LOAD, orchestration_text(&["Start", "Load", "Done"]));
        world.commit("some years");
        world.push();
        fs::remove_dir_all(world.work()).unwrap();
        git(world.path(), "clone -q remote.git work");
        let project = format!("{PROJECT}={}", world.remote().display());
        let token = format!("{TOKEN}=admin");
        let platform = ServerProcess::start(world.path(), &["--project", &project, "--token", &token]);
        let hour = Self {
            world,
            platform,
            comments: Comments::github(Vec::new()),
        };
        let by_hand = "publish --prefix remote --version-name 1.0.0";
        hour.run(by_hand).expect(0);
        hour
    }

    /// Runs the program in the user's clone.
    fn run(&self, args: impl Arguments) -> ProgramOutput {
        Call::with_platform(&self.world.work(), &self.platform.url).run(args)
    }

    fn id(&self, revision: &str) -> String {
        self.world.git(format!("rev-parse {revision}"))
    }

    /// Runs the job on GitHub, with version names that depend on the changes.
    fn job(&self, event: &str, reference: &str, payload: &Value) -> ProgramOutput {
        self.job_of_init(event, reference, payload)
            .variable("SLUICEGATE_VERSION_NAME", "{next}")
            .run("ci")
    }

    /// Returns the job on GitHub: address and token are its variables, all other settings are in the file.
    fn job_of_init(&self, event: &str, reference: &str, payload: &Value) -> Call {
        let file = self.world.path().join("event.json");
        fs::write(&file, payload.to_string()).unwrap();
        Call::with_platform(&self.world.work(), &self.platform.url)
            .without("SLUICEGATE_PROJECT_ID")
            .without("SLUICEGATE_AGENT_VERSION")
            .variable("SLUICEGATE_COMMENT", "true")
            .variable("CI", "true")
            .variable("GITHUB_ACTIONS", "true")
            .variable("GITHUB_EVENT_NAME", event)
            .variable("GITHUB_REF", reference)
            .variable("GITHUB_SHA", self.id("HEAD"))
            .variable("GITHUB_REPOSITORY", "o/r")
            .variable("GITHUB_EVENT_PATH", file.display().to_string())
            .variable("GITHUB_API_URL", self.comments.url())
            .variable("GITHUB_TOKEN", "job-s3cret")
    }

    /// Commits to a branch, pushes it, and runs the job of its pull request.
    fn propose(&self, branch: &str) -> ProgramOutput {
        self.world.git(format!("checkout -q -B {branch}"));
        self.world.commit("a change");
        self.world.push();
        let side = |name: &str, id: String| json!({ "ref": name, "sha": id, "repo": { "full_name": "o/r" } });
        let payload = json!({
            "number": 12,
            "repository": { "default_branch": "main", "full_name": "o/r" },
            "pull_request": {
                "number": 12,
                "head": side(branch, self.id("HEAD")),
                "base": side("main", self.id("origin/main")),
            },
        });
        self.job("pull_request", "refs/pull/12/merge", &payload)
    }

    /// Merges the branch and runs the job of the default branch.
    fn merge(&self, branch: &str) -> ProgramOutput {
        let before = self.id("origin/main");
        self.world.git("checkout -q main");
        self.world.git(format!("merge -q --no-ff -m merge {branch}"));
        self.world.push();
        self.job("push", "refs/heads/main", &self.push_event(&before))
    }

    /// Returns GitHub's payload of a push to the default branch.
    fn push_event(&self, before: &str) -> Value {
        json!({
            "ref": "refs/heads/main",
            "before": before,
            "after": self.id("HEAD"),
            "repository": { "default_branch": "main", "full_name": "o/r" },
        })
    }

    fn versions(&self) -> Vec<String> {
        let report = self.run("artifacts list -o json").expect(0).json();
        let versions = report["results"].as_array().unwrap().iter();
        let mut names: Vec<String> = versions
            .map(|version| version["versionName"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    }

    /// Returns the only comment on the pull request.
    fn comment(&self) -> String {
        let bodies = self.comments.bodies();
        assert_eq!(bodies.len(), 1, "{bodies:?}");
        bodies[0].clone()
    }
}

fn has(output: &ProgramOutput, words: &[&str]) {
    for word in words {
        assert!(output.all().contains(word), "{word:?}: {}", output.all());
    }
}

#[test]
fn repository_with_history_adopts_gate_and_publishes_two_versions() {
    let hour = Hour::begin();
    let output = hour.run("init").expect(0);
    has(
        &output,
        &[
            "findings today    1 of 2 pipelines",
            "--adopt",
            "wrote             sluicegate.yaml",
            "wrote             .github/workflows/sluicegate.yml",
        ],
    );
    // Each missing item is reported with a fix, and the fixes are enough.
    has(
        &hour.run("doctor").expect(2),
        &[
            "1 check failed",
            "run `sluicegate rules init` to create a rules file",
        ],
    );
    has(
        &hour.run("check").expect(0),
        &[
            "1 warning",
            "The default rules were evaluated",
            "`sluicegate rules init` writes it",
        ],
    );
    let output = hour.run("init --adopt new-only").expect(0);
    has(
        &output,
        &["Set `new-only: true` under `review` in sluicegate.yaml"],
    );
    let file = hour.world.work().join("sluicegate.yaml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("# new-only: true", "new-only: true")).unwrap();
    has(
        &hour.run("doctor").expect(2),
        &["1 check failed", "commit the file, and push"],
    );
    hour.world.commit("gate");
    has(&hour.run("doctor").expect(0), &["all checks passed"]);
    has(&hour.run("check").expect(0), &["Check passed", "1 known"]);

    // The change that adds the gate passes, and its merge has nothing to publish.
    has(
        &hour.propose("gate").expect(0),
        &["Review passed", "1 known", "posted"],
    );
    hour.merge("gate").expect(0);
    assert_eq!(hour.versions(), ["1.0.0"]);
    // All pipelines of the default branch: the existing finding is known.
    has(
        &hour.run("check").expect(0),
        &["all pipelines are selected", "Check passed", "1 known"],
    );

    // A bad change: the job exits with 1, and the comment on the pull request states why.
    let grown = orchestration_text(&["Start", "Load", "Count", "Done"]);
    hour.world.write(LOAD, grown.clone() + LOST);
    has(
        &hour.propose("faster").expect(1),
        &["Review failed", "unused-components", "updated"],
    );
    let comment = hour.comment();
    assert!(
        comment.contains("failed") && comment.contains("Lost"),
        "{comment}"
    );
    assert_eq!(hour.versions(), ["1.0.0"]);

    // The fix is reported in the same comment.
    hour.world.write(LOAD, grown);
    has(&hour.propose("faster").expect(0), &["Review passed", "updated"]);
    let comment = hour.comment();
    assert!(
        comment.contains("passed") && !comment.contains("Lost"),
        "{comment}"
    );
    hour.merge("faster").expect(0);
    assert_eq!(hour.versions(), ["1.0.0", "1.0.1"]);
    // A rerun of the job has nothing to publish.
    let receipt = hour.run("publish --version-name {next} --dry-run").expect(0);
    has(&receipt, &["1.0.1"]);

    // With the names that `init` chose: the commit of 1.0.1 is not published again, and the next commit is published
    // once, regardless of how often the job runs.
    let payload = hour.push_event(&hour.id("HEAD^"));
    let job = hour.job_of_init("push", "refs/heads/main", &payload);
    has(
        &job.run("ci").expect(0),
        &["this commit is already published as version 1.0.1"],
    );
    hour.world.write("README.md", "more\n");
    hour.world.commit("describe the project");
    hour.world.push();
    let payload = hour.push_event(&hour.id("HEAD^"));
    for expected_text in ["published version", "already"] {
        let job = hour.job_of_init("push", "refs/heads/main", &payload);
        has(&job.run("ci").expect(0), &[expected_text]);
        assert_eq!(hour.versions().len(), 3);
    }
}
