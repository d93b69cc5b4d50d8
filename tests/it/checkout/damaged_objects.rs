//! Objects of git that a full disk, a killed fetch or a fault of the disk damaged.

use crate::support::publishing::shared_pipelines_file;
use crate::support::{
    Call, Job, ProgramOutput, World, change, git, loose_object_path, orchestration_text, project,
    strict_platform, write_read_only_file,
};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The commands that read the commit, its files, or both.
const COMMANDS: [&str; 6] = [
    "context --base HEAD~1",
    "check --all",
    "check --base HEAD~1 --head HEAD",
    "doctor",
    "diff HEAD~1..HEAD",
    "mv a.orch.yaml c.orch.yaml",
];

/// Creates two commits with loose objects. The second one edits a pipeline whose blob is longer than 60 bytes.
fn world_with_loose_objects() -> World {
    let world = World::new();
    world.write("a.orch.yaml", orchestration_text(&["Start"]));
    world.write("b.orch.yaml", orchestration_text(&["Start"]));
    world.commit("first");
    let mut content = orchestration_text(&["Start"]);
    for number in 1_u64..60 {
        let _ = writeln!(content, "# {}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    world.write("a.orch.yaml", content);
    world.commit("second");
    world
}

/// Creates two commits with loose objects, and two commits above them that were fetched as a pack.
fn world_with_pack_above_loose_objects() -> World {
    let world = world_with_loose_objects();
    world.push();
    git(world.path(), "clone -q remote.git other");
    let other = world.path().join("other");
    git(&other, "commit -q --allow-empty -m third");
    git(&other, "commit -q --allow-empty -m fourth");
    git(&other, "push -q origin HEAD");
    world.git("-c transfer.unpackLimit=1 pull -q --ff-only origin main");
    assert!(!loose_object_path(&world, "HEAD~1").exists());
    assert!(loose_object_path(&world, "HEAD~2").exists());
    world
}

/// Creates two commits, and a branch of the remote that no command needs and whose object is an empty file.
fn world_with_damaged_remote_branch() -> World {
    let world = world_with_loose_objects();
    world.write(
        ".platform/shared-pipelines.yaml",
        shared_pipelines_file(&[("b.orch.yaml", "6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10", true)]),
    );
    world.commit("third");
    world.push();
    world.git("commit -q --allow-empty -m other");
    world.git("update-ref refs/remotes/origin/other HEAD");
    let file = loose_object_path(&world, "HEAD");
    world.git("reset -q --hard HEAD~1");
    write_read_only_file(&file, b"");
    world
}

fn truncate_loose_object(world: &World, revision: &str) {
    let path = loose_object_path(world, revision);
    let content = fs::read(&path).unwrap();
    write_read_only_file(&path, content.get(..60).unwrap());
}

/// Runs the program, which may take at most 20 s of processor time: libgit2 would read the object forever.
fn run_with_limit(world: &World, arguments: &str) -> ProgramOutput {
    run_call_with_limit(&Call::new(&world.work()), arguments)
}

fn run_call_with_limit(call: &Call, arguments: &str) -> ProgramOutput {
    let output = call.command_in_shell("ulimit -t 20", arguments).output().unwrap();
    ProgramOutput {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn command_with_truncated_commit_exits_with_7() {
    let world = world_with_loose_objects();
    truncate_loose_object(&world, "HEAD");
    for command in COMMANDS {
        let output = run_with_limit(&world, command).expect(7);
        assert!(output.all().contains("is corrupt: the file"), "{}", output.all());
        assert!(output.all().contains("hint: run `git fsck`"), "{}", output.all());
    }
}

#[test]
fn command_with_truncated_tree_exits_with_7() {
    let world = world_with_loose_objects();
    truncate_loose_object(&world, "HEAD^{tree}");
    for command in COMMANDS {
        let output = run_with_limit(&world, command).expect(7);
        assert!(output.all().contains("is corrupt: the file"), "{}", output.all());
    }
}

#[test]
fn command_with_truncated_blob_exits_with_7() {
    let world = world_with_loose_objects();
    truncate_loose_object(&world, "HEAD:a.orch.yaml");
    for command in ["check --base HEAD~1 --head HEAD", "diff HEAD~1..HEAD"] {
        run_with_limit(&world, command)
            .expect(7)
            .logging(&["is corrupt: the file", "hint: run `git fsck`"]);
    }
}

#[test]
fn merge_base_behind_truncated_commit_is_not_searched() {
    let world = world_with_loose_objects();
    world.git("commit -q --allow-empty -m third");
    world.git("commit -q --allow-empty -m fourth");
    let first = world.git("rev-parse HEAD~3");
    truncate_loose_object(&world, "HEAD~1");
    run_with_limit(&world, &format!("check --base {first} --head HEAD"))
        .expect(7)
        .logging(&["is corrupt: the file"]);
}

#[test]
fn commands_with_intact_loose_objects_succeed() {
    let world = world_with_loose_objects();
    assert!(loose_object_path(&world, "HEAD").exists());
    for command in COMMANDS {
        run_with_limit(&world, command).expect(0);
    }
}

#[test]
fn pull_request_with_truncated_parent_exits_with_7() {
    let world = change(&[("sluicegate.yaml", "exclude: [gone/**]\n")]);
    world.write("sluicegate.yaml", "exclude: [old/**]\n");
    world.commit("second change");
    world.push();
    truncate_loose_object(&world, "HEAD~1");
    // The first error of a search for the merge-base is ignored, which decides on a notice about sluicegate.yaml.
    run_call_with_limit(&Job::github().pull_request().call(&world), "check")
        .expect(7)
        .logging(&["is corrupt: the file"]);
}

#[test]
fn truncated_commit_below_pack_exits_with_7() {
    let world = world_with_pack_above_loose_objects();
    let first = world.git("rev-parse HEAD~3");
    truncate_loose_object(&world, "HEAD~2");
    run_with_limit(&world, &format!("check --base {first} --head HEAD"))
        .expect(7)
        .logging(&["is corrupt: the file"]);
}

#[test]
fn commands_with_intact_commits_below_pack_succeed() {
    let world = world_with_pack_above_loose_objects();
    for command in COMMANDS {
        run_with_limit(&world, command).expect(0);
    }
}

#[test]
fn damaged_remote_branch_stops_only_its_own_comparison() {
    let world = world_with_damaged_remote_branch();
    let publish = "publish --dry-run --compat off --prefix p --version-name v1";
    for command in COMMANDS.into_iter().chain([publish]) {
        run_with_limit(&world, command).expect(0);
    }
    run_with_limit(&world, "check --base origin/other --head HEAD")
        .expect(7)
        .logging(&["is corrupt: the file"]);
}

/// Creates a merge that only the clone has, whose parents both edit a file. Only the files are loose objects.
fn world_with_merge_of_loose_files() -> World {
    let world = project();
    let lines: Vec<String> = (1..1_000).map(|number| number.to_string()).collect();
    let text = lines.join("\n");
    world.write("notes.txt", &text);
    world.commit("notes");
    world.push();
    world.git("checkout -q -b change");
    world.write("notes.txt", text.replace("\n5\n", "\nfive\n"));
    world.commit("start");
    world.push();
    world.git("checkout -q main");
    world.write("notes.txt", text.replace("\n500\n", "\nmiddle\n"));
    world.commit("middle");
    world.push();
    world.git("checkout -q --detach change");
    world.git("merge -q -m merge origin/main");
    let pack = "alias.pack=!git rev-list --objects --all HEAD --filter=blob:none | cut -d ' ' -f 1 \
                | git pack-objects -q .git/objects/pack/pack";
    world.git(["-c", pack, "pack"]);
    world.git("prune-packed");
    world
}

#[test]
fn merge_of_truncated_file_below_pack_exits_with_7() {
    let world = world_with_merge_of_loose_files();
    let platform = strict_platform();
    let call = || {
        Job::jenkins()
            .pull_request()
            .extend(&world, platform.call(&world))
    };
    run_call_with_limit(&call(), "review").expect(0);
    truncate_loose_object(&world, "HEAD^1:notes.txt");
    run_call_with_limit(&call(), "review")
        .expect(7)
        .logging(&["is corrupt: the file"]);
}

#[test]
fn truncated_commit_with_described_name_exits_with_7() {
    let world = world_with_loose_objects();
    world.git("tag -m v1 v1 HEAD~1");
    let name = world.git("describe");
    let check = format!("check --base {name} --head {}", world.git("rev-parse HEAD~1"));
    run_with_limit(&world, &check).expect(0);
    truncate_loose_object(&world, "HEAD");
    run_with_limit(&world, &check)
        .expect(7)
        .logging(&["is corrupt: the file"]);
}

pub(super) fn find_file<'f>(files: &'f [PathBuf], extension: &str) -> &'f Path {
    let mut matches = files
        .iter()
        .filter(|file| file.extension().is_some_and(|name| name == extension));
    matches.next().unwrap()
}

/// Packs all objects, and gives the blob of `a.orch.yaml` in HEAD a type that git does not have.
fn damage_type_in_pack(world: &World) {
    world.git("gc -q");
    let blob = world.git("rev-parse HEAD:a.orch.yaml");
    let packs = world.work().join(".git/objects/pack");
    let files: Vec<PathBuf> = fs::read_dir(packs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let index = find_file(&files, "idx").display().to_string();
    let listing = world.git(("verify-pack", &["-v", &index]));
    let line = listing.lines().find(|line| line.starts_with(&blob)).unwrap();
    let offset: usize = line.split_whitespace().nth(4).unwrap().parse().unwrap();
    let pack = find_file(&files, "pack");
    let mut content = fs::read(pack).unwrap();
    // The three bits after the first one are the type.
    content[offset] &= 0b1000_1111;
    write_read_only_file(pack, &content);
}

#[test]
fn command_with_invalid_type_in_pack_exits_with_7() {
    let world = world_with_loose_objects();
    damage_type_in_pack(&world);
    for command in ["check --base HEAD~1 --head HEAD", "diff HEAD~1..HEAD"] {
        let output = Call::new(&world.work()).run(command).expect(7);
        output.logging(&["is corrupt: its type is invalid", "hint: run `git fsck`"]);
    }
}

#[test]
fn commands_with_intact_pack_succeed() {
    let world = world_with_loose_objects();
    world.git("gc -q");
    for command in COMMANDS {
        run_with_limit(&world, command).expect(0);
    }
}
