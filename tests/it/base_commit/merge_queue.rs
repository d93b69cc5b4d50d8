//! A queued change is compared with its target, too: the host's base is the change before it in the queue, which is not
//! merged yet.

use crate::support::{
    Call, Job, RULES, RULES_FILE, World, head, orchestration_text, project, repository, strict_platform,
};
use serde_json::json;

const GOOD: [&str; 3] = ["Start", "Load", "Done"];
const BAD: [&str; 3] = ["Start", "bad name", "Done"];
const QUEUE: &str = "refs/heads/gh-readonly-queue/main/pr-8";

/// Pushes the entries to the queue. Each is the path and the content of its only file.
fn queue(entries: &[(&str, &str)]) -> (World, Vec<String>) {
    let world = project();
    world.write("old.orch.yaml", orchestration_text(&BAD));
    let mut commits = vec![world.commit("known")];
    world.push();
    world.git("checkout -q -b queue");
    for (path, content) in entries {
        world.write(path, content);
        commits.push(world.commit(path));
    }
    world.git(&["push", "-q", "origin", &format!("HEAD:{QUEUE}")]);
    world.git("fetch -q origin");
    (world, commits)
}

fn group(world: &World, call: Call, base: &str) -> Call {
    let payload = json!({ "repository": repository(), "merge_group": {
        "head_ref": QUEUE, "head_sha": head(world), "base_sha": base, "base_ref": "refs/heads/main" } });
    Job::github()
        .event("merge_group", QUEUE, &payload)
        .extend(world, call)
}

#[test]
fn bad_change_before_queued_change_fails_its_run() {
    let (good, bad) = (orchestration_text(&GOOD), orchestration_text(&BAD));
    let (world, commits) = queue(&[
        ("bad.orch.yaml", &bad),
        ("b.orch.yaml", &good),
        ("c.orch.yaml", &good),
    ]);
    let platform = strict_platform();
    let base = &commits[2];
    for flags in [&["check"][..], &["check", "--new-only"]] {
        let output = group(&world, Call::new(&world.work()), base).run(flags);
        assert_eq!(output.code, 1, "{flags:?}: {}", output.all());
    }
    for command in ["review", "ci"] {
        let output = group(&world, platform.call(&world), base).run(&[command]);
        assert_eq!(output.code, 1, "{command}: {}", output.all());
    }
}

#[test]
fn single_queued_change_is_compared_with_its_target_only() {
    let good = orchestration_text(&GOOD);
    let (world, commits) = queue(&[("b.orch.yaml", &good)]);
    let call = group(&world, Call::new(&world.work()), &commits[0]);
    for flags in ["check", "check --new-only"] {
        let output = call.run((flags, "--report json=-")).expect(0);
        assert_eq!(output.json()["counts"]["files"], 1, "{}", output.out);
    }
    // A queue of good changes passes.
    let (world, commits) = queue(&[("b.orch.yaml", &good), ("c.orch.yaml", &good)]);
    let call = group(&world, Call::new(&world.work()), &commits[1]);
    let output = call.run("check --gate-changes fail --report json=-").expect(0);
    assert_eq!(output.json()["counts"]["files"], 2, "{}", output.out);
    // A finding that the target has is known.
    let (world, commits) = queue(&[
        ("b.orch.yaml", &good),
        (
            "old.orch.yaml",
            &format!("{}\n# touched\n", orchestration_text(&BAD)),
        ),
    ]);
    let call = group(&world, Call::new(&world.work()), &commits[1]);
    call.run("check").expect(1);
    call.run("check --new-only").expect(0);
}

#[test]
fn rules_relaxed_earlier_in_queue_are_a_gate_change() {
    let relaxed = RULES.replace("enforcementLevel: error", "enforcementLevel: warn");
    let (world, commits) = queue(&[
        (RULES_FILE, &relaxed),
        ("bad.orch.yaml", &orchestration_text(&BAD)),
    ]);
    let call = group(&world, Call::new(&world.work()), &commits[1]);
    let output = call.run("check --gate-changes fail").expect(1);
    assert!(output.all().contains("relaxed"), "{}", output.all());
}
