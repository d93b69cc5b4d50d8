//! Objects of git that a full disk, a killed fetch or a fault of the disk damaged.

use crate::support::{Call, ProgramOutput, World, orchestration_text};
use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
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

fn loose_file(world: &World, revision: &str) -> PathBuf {
    let id = world.git(("rev-parse", &[revision]));
    let (folder, name) = id.split_at(2);
    world.work().join(".git/objects").join(folder).join(name)
}

fn truncate_loose_object(world: &World, revision: &str) {
    let path = loose_file(world, revision);
    let content = fs::read(&path).unwrap();
    write_read_only_file(&path, content.get(..60).unwrap());
}

fn write_read_only_file(path: &Path, content: &[u8]) {
    fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    fs::write(path, content).unwrap();
}

/// Runs the program, which may take at most 20 s of processor time: libgit2 would read the object forever.
fn run_with_limit(world: &World, arguments: &str) -> ProgramOutput {
    let output = Call::new(&world.work())
        .command_in_shell("ulimit -t 20", arguments)
        .output()
        .unwrap();
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
    assert!(loose_file(&world, "HEAD").exists());
    for command in COMMANDS {
        run_with_limit(&world, command).expect(0);
    }
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
    let with_extension = |name: &str| {
        let has_extension = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == name);
        files.iter().find(has_extension).unwrap()
    };
    let index = with_extension("idx").display().to_string();
    let listing = world.git(("verify-pack", &["-v", &index]));
    let line = listing.lines().find(|line| line.starts_with(&blob)).unwrap();
    let offset: usize = line.split_whitespace().nth(4).unwrap().parse().unwrap();
    let pack = with_extension("pack");
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
