//! The branch of a run is the one that the job runs for. After a branch cut, several branches contain its commit.

use crate::support::release::{publish_call, stage, versions};
use crate::support::{Call, Host, Job, World, head, repository};
use serde_json::json;

const CI: &str = "ci --version-name 1";

/// Returns a job outside of multibranch pipelines.
fn jenkins_detached_build(world: &World, call: Call) -> Call {
    call.variable("JENKINS_URL", "https://ci.invalid/")
        .variable("BUILD_ID", "1")
        .variable("GIT_COMMIT", head(world))
}

/// Pushes a policy that publishes on `main` and on release branches, and cuts these branches from that commit.
fn cut(world: &World, branches: &[&str]) {
    world.write(
        "sluicegate.yaml",
        "publish-on: { branches: [main, 'release/*'] }\n",
    );
    world.commit("publish");
    world.push();
    for branch in branches {
        world.git(format!("push -q origin HEAD:refs/heads/{branch}"));
    }
    world.git("fetch -q origin");
    world.git("checkout -q --detach");
}

#[test]
fn jenkins_job_of_development_branch_does_not_publish() {
    let (world, server) = stage();
    cut(&world, &["develop"]);
    for reference in ["origin/develop", "refs/remotes/origin/develop", "develop"] {
        let job =
            jenkins_detached_build(&world, publish_call(&world, &server)).variable("GIT_BRANCH", reference);
        job.run(CI).expect(0).saying(&["nothing is published"]);
        assert_eq!(
            job.run(&["context", "--json"]).expect(0).json()["branch"],
            "develop"
        );
    }
    assert_eq!(versions(&world, &server), []);
}

#[test]
fn jenkins_job_publishes_on_listed_branch() {
    for branch in ["main", "release/1"] {
        let (world, server) = stage();
        cut(&world, &["release/1", "develop"]);
        jenkins_detached_build(&world, publish_call(&world, &server))
            .variable("GIT_BRANCH", format!("origin/{branch}"))
            .run(CI)
            .expect(0);
        assert_eq!(versions(&world, &server), [("1".to_owned(), true)], "{branch}");
    }
}

/// A release branch that has commits of its own publishes them, too.
#[test]
fn jenkins_job_publishes_own_commit_of_release_branch() {
    let (world, server) = stage();
    cut(&world, &["release/1"]);
    world.git("checkout -q -B release/1 origin/release/1");
    world.write("note.txt", "fix");
    world.commit("fix");
    world.git("push -q origin HEAD:release/1");
    world.git("checkout -q --detach");
    jenkins_detached_build(&world, publish_call(&world, &server))
        .variable("GIT_BRANCH", "origin/release/1")
        .run(CI)
        .expect(0);
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
}

#[test]
fn branch_that_host_does_not_name_is_not_guessed() {
    let (world, server) = stage();
    cut(&world, &["develop"]);
    let jobs: [(&str, Host); 4] = [
        ("jenkins", jenkins_detached_build),
        ("jenkins detached", |world, call| {
            jenkins_detached_build(world, call).variable("GIT_BRANCH", "detached")
        }),
        ("azure", |world, call| {
            call.variable("TF_BUILD", "True")
                .variable("BUILD_REASON", "Manual")
                .variable("BUILD_SOURCEVERSION", head(world))
        }),
        ("circleci", |world, call| {
            call.variable("CIRCLECI", "true")
                .variable("CIRCLE_SHA1", head(world))
        }),
    ];
    for (name, job) in jobs {
        let job = job(&world, publish_call(&world, &server));
        for command in [CI, "review"] {
            let output = job.run(command);
            assert_eq!(output.code, 7, "{name}: {}", output.all());
            output.saying(&["the branch of this run is unknown", "--branch"]);
        }
        assert_eq!(
            job.run(&["context", "--json"]).expect(0).json()["branch"],
            json!(null)
        );
        job.run("check").expect(0);
        job.run("review --branch develop").expect(0);
        job.run((CI, "--branch develop"))
            .expect(0)
            .saying(&["nothing is published"]);
    }
    assert_eq!(versions(&world, &server), []);
}

/// A commit that the job selects is on several branches, and the job names none.
#[test]
fn branch_of_selected_commit_is_not_guessed_for_publish() {
    let (world, server) = stage();
    cut(&world, &["develop"]);
    let first = world.git("rev-parse HEAD~1");
    let payload = json!({ "repository": repository() });
    let job = Job::github()
        .event("workflow_dispatch", "refs/heads/develop", &payload)
        .extend(&world, publish_call(&world, &server));
    // For a commit that the job selects, only the URL of the remote proves the target.
    let remote = world.remote().display().to_string();
    let job = job.variable("SLUICEGATE_TARGET_REPOSITORY", remote);
    let selected = format!("{CI} --head {first}");
    job.run(&selected)
        .expect(7)
        .saying(&["the branch of this run is unknown", "--branch"]);
    job.run(format!(
        "publish --version-name {{branch}} --head {first} --dry-run"
    ))
    .expect(2);
    assert_eq!(versions(&world, &server), []);
    job.run(format!("review --head {first}")).expect(0);
    job.run((&selected, "--branch main")).expect(0);
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
}

/// The commit is on two branches beside the default branch, and only the second one is published.
#[test]
fn branch_of_selected_commit_is_not_guessed_among_several_branches() {
    let (world, server) = stage();
    cut(&world, &[]);
    world.write("note.txt", "text");
    let commit = world.commit("note");
    for branch in ["develop", "release/1"] {
        world.git(format!("push -q origin HEAD:refs/heads/{branch}"));
    }
    world.git("fetch -q origin");
    world.git("checkout -q --detach origin/main");
    let payload = json!({ "repository": repository() });
    let job = Job::github()
        .event("workflow_dispatch", "refs/heads/main", &payload)
        .extend(&world, publish_call(&world, &server))
        .variable(
            "SLUICEGATE_TARGET_REPOSITORY",
            world.remote().display().to_string(),
        );
    let selected = format!("{CI} --head {commit}");
    job.run(&selected)
        .expect(7)
        .saying(&["the branch of this run is unknown", "--branch"]);
    job.run((&selected, "--branch develop"))
        .expect(0)
        .saying(&["branch develop does not match `publish-on`"]);
    assert_eq!(versions(&world, &server), []);
}

/// A change is never published, so nothing depends on the branch of a commit that its job selects.
#[test]
fn branch_of_selected_commit_may_be_inferred_in_job_of_change() {
    let (world, server) = stage();
    let first = head(&world);
    world.git("checkout -q -b change");
    world.write("note.txt", "text");
    world.commit("change");
    world.push();
    let remote = world.remote().display().to_string();
    let call = publish_call(&world, &server).variable("SLUICEGATE_TARGET_REPOSITORY", remote);
    Job::github()
        .pull_request()
        .extend(&world, call)
        .run(format!("{CI} --publish-on-branch main --all --head {first}"))
        .expect(0)
        .saying(&["this is the job of a pull or merge request (event pull_request)"]);
    assert_eq!(versions(&world, &server), []);
}

/// A local branch does not show which branch the host's run is about.
#[test]
fn branch_that_host_does_not_name_is_not_the_checked_out_one() {
    let (world, _server) = stage();
    world.git("checkout -q -b change");
    world.write("note.txt", "text");
    world.commit("change");
    world.push();
    let job = Call::new(&world.work())
        .variable("CI", "true")
        .variable("JENKINS_URL", "https://ci.invalid/")
        .variable("BUILD_ID", "1");
    let context = job.run("context --json").expect(0).json();
    assert_eq!(context["branch"], serde_json::Value::Null, "{context:#}");
    let local = Call::new(&world.work()).run("context --json").expect(0).json();
    assert_eq!(local["branch"], "change");
}
