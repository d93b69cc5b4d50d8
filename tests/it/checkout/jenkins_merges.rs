//! Jenkins sets neither the event nor the head of a pull request, and may build a merge that exists only in the clone.
//! Another commit that no reference has, such as one that was replaced by a force push, is not such a merge.

use crate::support::{Call, Job, Platform, World, head, orchestration_text, project, strict_platform};

const GOOD: [&str; 3] = ["Start", "Load", "Done"];
const BAD: [&str; 3] = ["Start", "bad name", "Done"];

fn jenkins_merge_build(platform: &Platform, world: &World, commit: &str) -> Call {
    Job::jenkins()
        .pull_request()
        .extend(world, platform.call(world))
        .variable("GIT_COMMIT", commit)
}

/// Returns the commits that the platform was asked to review since the last call.
fn reviewed_commits(platform: &Platform, seen_count: &mut usize) -> Vec<String> {
    let requests = platform.requests();
    let reviews = requests.iter().skip(*seen_count).filter_map(|request| {
        let body: serde_json::Value = serde_json::from_slice(&request.body).ok()?;
        Some(body["commitId"].as_str()?.to_owned())
    });
    let commits = reviews.collect();
    *seen_count = requests.len();
    commits
}

/// Creates `change` with a good commit, which the remote has, and a bad one, which no reference of the clone has.
fn replaced_commit() -> (World, String) {
    let world = project();
    world.git("checkout -q -b change");
    world.write("good.orch.yaml", orchestration_text(&GOOD));
    let good = world.commit("good");
    world.push();
    world.write("bad.orch.yaml", orchestration_text(&BAD));
    let bad = world.commit("bad");
    world.git(format!("update-ref refs/remotes/origin/PR-7 {good}"));
    world.git(format!("checkout -q --detach {bad}"));
    (world, bad)
}

#[test]
fn rebuild_of_replaced_commit_reviews_that_commit() {
    let (world, bad) = replaced_commit();
    let platform = strict_platform();
    let mut seen_count = 0;
    for command in ["check", "review", "ci"] {
        let output = jenkins_merge_build(&platform, &world, &bad).run(&[command]);
        assert_eq!(output.code, 1, "{command}: {}", output.all());
        let commits = reviewed_commits(&platform, &mut seen_count);
        assert!(
            commits.iter().all(|commit| *commit == bad),
            "{command}: {commits:?}"
        );
    }
    // A scripted pipeline has no GIT_COMMIT.
    let run_output = jenkins_merge_build(&platform, &world, "").run("review");
    assert_eq!(run_output.code, 1, "{}", run_output.all());
    // Counterpart: the commit that the change has now.
    let good = world.git("rev-parse HEAD~1");
    world.git(format!("checkout -q --detach {good}"));
    for command in ["check", "review", "ci"] {
        jenkins_merge_build(&platform, &world, &good)
            .run(&[command])
            .expect(0);
    }
}

/// With the strategy that discovers only the head of a pull request, Jenkins does not fetch the target branch.
#[test]
fn clone_with_only_the_head_of_the_pull_request_needs_the_target() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("good.orch.yaml", orchestration_text(&GOOD));
    let commit = world.commit("good");
    world.push();
    world.git(format!("update-ref refs/remotes/origin/PR-11 {commit}"));
    world.git(format!("checkout -q --detach {commit}"));
    let call = jenkins_merge_build(&strict_platform(), &world, &commit);
    for remedy in ["--deepen", "ref specs"] {
        world.git("config remote.origin.fetch +refs/heads/change:refs/remotes/origin/PR-11");
        for branch in ["main", "change", "HEAD"] {
            world.git(format!("update-ref --no-deref -d refs/remotes/origin/{branch}"));
        }
        call.run("check").expect(7).saying(&["main"]);
        if remedy == "--deepen" {
            call.run("check --deepen").expect(0);
        } else {
            world.git("fetch -q origin +refs/heads/*:refs/remotes/origin/*");
            call.run("check").expect(0);
        }
    }
}

/// Creates `change`, and `main` with one more commit. Both edit another part of a text.
fn world_with_diverged_branches(components: &[&str]) -> World {
    let world = project();
    let lines = |first: &str, last: &str| format!("{first}\n{}{last}\n", "line\n".repeat(20));
    world.write("note.txt", lines("first", "last"));
    world.commit("note");
    world.push();
    world.git("checkout -q -b change");
    world.write("note.txt", lines("first", "last of the change"));
    let name = if components == BAD {
        "bad.orch.yaml"
    } else {
        "good.orch.yaml"
    };
    world.write(name, orchestration_text(components));
    world.commit("change");
    world.push();
    world.git("checkout -q main");
    world.write("note.txt", lines("first of main", "last"));
    world.commit("more");
    world.push();
    world.git("checkout -q --detach change");
    world
}

#[test]
fn merge_that_its_author_edited_is_not_replaced_by_its_parent() {
    let world = world_with_diverged_branches(&GOOD);
    world.git("merge -q --no-ff --no-commit main");
    world.write("bad.orch.yaml", orchestration_text(&BAD));
    let merge = world.commit("merge with more");
    let platform = strict_platform();
    for command in ["review", "ci"] {
        let output = jenkins_merge_build(&platform, &world, &merge).run(&[command]);
        output.expect(7).saying(&[
            "could not determine whether",
            "differ from those of a clean merge of its parents",
            "--head",
        ]);
        jenkins_merge_build(&platform, &world, &merge)
            .run(&[command, "--head", &merge])
            .expect(1);
    }
    jenkins_merge_build(&platform, &world, &merge)
        .run("check")
        .expect(1);
}

#[test]
fn merge_by_jenkins_reviews_the_change() {
    for (components, code) in [(&BAD, 1), (&GOOD, 0)] {
        let world = world_with_diverged_branches(components);
        let change = head(&world);
        let platform = strict_platform();
        let mut seen_count = 0;
        for (checkout, other) in [("change", "main"), ("main", "change")] {
            world.git(&["checkout", "-q", "--detach", checkout]);
            world.git(format!("merge -q --no-edit {other}"));
            let merge = head(&world);
            for command in ["check", "review", "ci"] {
                let output = jenkins_merge_build(&platform, &world, &merge).run(&[command]);
                assert_eq!(output.code, code, "{checkout} {command}: {}", output.all());
                let commits = reviewed_commits(&platform, &mut seen_count);
                assert!(commits.iter().all(|commit| *commit == change), "{commits:?}");
            }
        }
        // Without the target, nothing shows which side is the change.
        world.git("update-ref -d refs/remotes/origin/main");
        let merge = head(&world);
        let output = jenkins_merge_build(&platform, &world, &merge)
            .run("review")
            .expect(7);
        output.saying(&["the target branch `main` is not among", "--deepen"]);
        jenkins_merge_build(&platform, &world, &merge)
            .run("review --deepen")
            .expect(code);
    }
}

#[test]
fn merge_of_two_unmerged_commits_is_refused() {
    let (world, _) = replaced_commit();
    world.git("checkout -q -b side main");
    world.write("side.orch.yaml", orchestration_text(&BAD));
    world.commit("side");
    world.git("checkout -q --detach HEAD");
    world.git("merge -q --no-edit origin/change");
    let platform = strict_platform();
    let call = jenkins_merge_build(&platform, &world, &head(&world));
    for (command, advises_deepen) in [("review", true), ("review --deepen", false)] {
        let output = call.run(command).expect(7);
        output.assert_logged(&["could not determine which parent of", "or fetch the full history"]);
        assert_eq!(
            output.err.contains("pass --deepen"),
            advises_deepen,
            "{}",
            output.all()
        );
    }
}

/// The target contains both sides, and the change is the side at which the remote has another branch.
#[test]
fn merge_by_jenkins_of_a_merged_change_names_the_change() {
    let world = world_with_diverged_branches(&GOOD);
    let change = head(&world);
    world.git("checkout -q --detach main");
    world.git("merge -q --no-edit change");
    let merge = head(&world);
    // The remote has another merge of the two.
    world.git("checkout -q main");
    world.git("merge -q --no-ff -m merged change");
    world.push();
    world.git(format!("checkout -q --detach {merge}"));
    let platform = strict_platform();
    let output = jenkins_merge_build(&platform, &world, &merge).run("review");
    let reason = format!("the change has no commits of its own: {change} is already in");
    output.expect(7).saying(&[&reason]);
}
