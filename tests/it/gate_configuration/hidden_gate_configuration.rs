//! Files of the gate configuration whose changes on disk git's index hides.

use crate::support::{Call, change, good_pipeline};
use std::fs;

/// The beginning of the reason why such a file is refused.
const REASON: &str = "git's index tells git to ignore the file on disk";

#[test]
fn gate_file_hidden_by_index_ends_every_local_command_that_reads_it() {
    let rule = "rules:\n- {id: a, level: warn, for: pipeline, when: 'false', message: m}\n";
    let files = [
        ("sluicegate.yaml", "review: {fail-on: error}\n"),
        ("sluicegate-waivers.yaml", "[]\n"),
        ("sluicegate-rules.yaml", rule),
    ];
    let mut commands = vec![
        "check --all",
        "review --dry-run",
        "ci",
        "publish --prefix p --version-name 1",
        "publish --prefix p --version-name 1 --dry-run",
        "waivers list",
        "waivers prune",
        "waivers add --all --reason r",
        "diff",
        "diff main..HEAD",
        "rules list",
        "rules lint",
        "rules test",
        "rules explain team/a",
        "rules new b",
        "context",
        "doctor",
        "fix --dry-run",
        "mv b.orch.yaml c.orch.yaml --dry-run",
        "shared-pipelines add b.orch.yaml",
        "init --dry-run",
    ];
    let world = change(&[("b.orch.yaml", &good_pipeline()), files[0], files[1], files[2]]);
    let call = Call::with_platform(&world.work(), "http://127.0.0.1:9").variable("SLUICEGATE_RETRIES", "0");
    for (path, text) in files {
        world.git(format!("update-index --skip-worktree {path}"));
        world.write(path, format!("{text}# edited\n"));
        for command in &commands {
            let output = call.run(command).expect(3);
            output.assert_logged(&[REASON, path]);
        }
        call.run("settings").expect(0).saying(&[REASON, path]);
        world.git(format!("update-index --no-skip-worktree {path}"));
        world.write(path, text);
    }
    // Files that the index does not hide may be edited, and a sparse checkout hides files that are not on disk.
    world.write(files[0].0, "review: {fail-on: warn}\n");
    fs::remove_file(world.work().join(files[1].0)).unwrap();
    world.git(format!("update-index --skip-worktree {}", files[1].0));
    commands.retain(|command| !command.starts_with("waivers"));
    for command in commands {
        let output = call.run(command);
        assert!(!output.all().contains(REASON), "{command}: {}", output.all());
    }
}

#[test]
fn publish_with_hidden_configuration_leaves_no_receipt_of_earlier_publish() {
    let world = change(&[
        ("b.orch.yaml", &good_pipeline()),
        ("sluicegate.yaml", "publish: {receipt: receipt.json}\n"),
    ]);
    world.git("update-index --skip-worktree sluicegate.yaml");
    world.write("receipt.json", "{}");
    Call::with_platform(&world.work(), "http://127.0.0.1:9")
        .run("publish --prefix p --version-name 1")
        .expect(3)
        .saying(&[REASON]);
    assert!(!world.work().join("receipt.json").exists());
}
