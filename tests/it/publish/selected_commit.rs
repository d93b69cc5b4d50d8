//! A host that does not name the event also builds any commit that a user combines with a branch. Only the clone's
//! version of that branch shows that the commit is on it.

use crate::support::release::{publish_call, stage, versions};
use crate::support::{Call, World, head, orchestration_text};

type Build = fn(&World, Call) -> Call;

/// Builds of `main` at HEAD on hosts that do not name the event.
const BUILDS: [(&str, Build); 6] = [
    ("circleci", |world, call| {
        call.variable("CIRCLECI", "true")
            .variable("CIRCLE_SHA1", head(world))
            .variable("CIRCLE_BRANCH", "main")
    }),
    ("bitbucket", |world, call| {
        call.variable("BITBUCKET_BUILD_NUMBER", "1")
            .variable("BITBUCKET_COMMIT", head(world))
            .variable("BITBUCKET_BRANCH", "main")
    }),
    ("jenkins", |world, call| {
        jenkins_primary_build(call).variable("GIT_COMMIT", head(world))
    }),
    ("jenkins without GIT_COMMIT", |_, call| {
        jenkins_primary_build(call)
    }),
    ("buildkite without source", |world, call| {
        call.variable("BUILDKITE", "true")
            .variable("BUILDKITE_COMMIT", head(world))
            .variable("BUILDKITE_BRANCH", "main")
            .variable("BUILDKITE_PULL_REQUEST", "false")
            .variable("BUILDKITE_PIPELINE_DEFAULT_BRANCH", "main")
    }),
    ("azure without reason", |world, call| {
        call.variable("TF_BUILD", "True")
            .variable("BUILD_SOURCEVERSION", head(world))
            .variable("BUILD_SOURCEBRANCH", "refs/heads/main")
    }),
];

const POLICY: &str = "publish-on: { branches: [main] }\n";
const WAIVERS: &str = "- { rule: component-naming-convention, path: '**', reason: x }\n";

fn jenkins_primary_build(call: Call) -> Call {
    call.variable("JENKINS_URL", "https://ci.invalid/")
        .variable("BUILD_ID", "1")
        .variable("BRANCH_NAME", "main")
        .variable("BRANCH_IS_PRIMARY", "true")
}

const COMMANDS: [&[&str]; 2] = [
    &["ci", "--version-name", "1", "--compat", "off"],
    &["publish", "--version-name", "1", "--compat", "off"],
];

/// Commits a bad pipeline and the waiver that lets it pass.
fn commit_change(world: &World) -> String {
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.write("sluicegate-waivers.yaml", WAIVERS);
    world.commit("change")
}

#[test]
fn build_of_unmerged_commit_as_main_publishes_nothing() {
    let (world, server) = stage();
    world.write("sluicegate.yaml", POLICY);
    world.commit("policy");
    world.push();
    world.git("checkout -q -b change");
    let change = commit_change(&world);
    world.push();
    // As CircleCI does: the local branch is at the selected commit.
    world.git(format!("checkout -q -B main {change}"));
    for (host, build) in BUILDS {
        let output = build(&world, Call::new(&world.work())).run("check");
        assert_eq!(output.code, 1, "{host} check: {}", output.all());
        for command in COMMANDS {
            let output = build(&world, publish_call(&world, &server)).run(command);
            assert_eq!(output.code, 7, "{host} {command:?}: {}", output.all());
            output.saying(&["is not merged", "merge the commit first", "--deepen"]);
            // The remote's branch does not have the commit either.
            let output = build(&world, publish_call(&world, &server)).run((command, "--deepen"));
            assert_eq!(output.code, 7, "{host} {command:?} --deepen: {}", output.all());
        }
    }
    assert_eq!(versions(&world, &server), []);
}

#[test]
fn build_of_pushed_commit_of_main_publishes() {
    for (host, build) in BUILDS {
        let (world, server) = stage();
        world.write("sluicegate.yaml", POLICY);
        world.commit("policy");
        world.push();
        world.write(
            "sales/load.orch.yaml",
            orchestration_text(&["Start", "More", "Done"]),
        );
        world.commit("more");
        world.push();
        let output = build(&world, publish_call(&world, &server)).run(COMMANDS[0]);
        assert_eq!(output.code, 0, "{host}: {}", output.all());
        assert_eq!(versions(&world, &server), [("1".to_owned(), true)], "{host}");
    }
}

#[test]
fn outdated_clone_gets_advice_and_deepen_publishes() {
    for (host, build) in BUILDS {
        let (world, server) = stage();
        world.write("sluicegate.yaml", POLICY);
        let policy = world.commit("policy");
        world.push();
        world.write(
            "sales/load.orch.yaml",
            orchestration_text(&["Start", "More", "Done"]),
        );
        world.commit("more");
        world.push();
        world.git(&["update-ref", "refs/remotes/origin/main", &policy]);
        let check_output = build(&world, Call::new(&world.work())).run("check --report json=-");
        let notes = check_output.expect(0).json()["notes"].to_string();
        assert!(
            notes.contains("is not in this clone's copy of `origin/main`"),
            "{host}: {notes}"
        );
        for command in COMMANDS {
            let output = build(&world, publish_call(&world, &server)).run(command);
            assert_eq!(output.code, 7, "{host}: {}", output.all());
            output.saying(&[
                "git fetch origin +refs/heads/main:refs/remotes/origin/main",
                "--deepen",
            ]);
        }
        let output = build(&world, publish_call(&world, &server)).run((COMMANDS[0], "--deepen"));
        assert_eq!(output.code, 0, "{host}: {}", output.all());
        assert_eq!(versions(&world, &server), [("1".to_owned(), true)], "{host}");
    }
}
