//! Objects and commit-graphs that an earlier job left in a reused checkout, to replace the content of the change.

use super::damaged_objects::find_file;
use crate::support::publishing::project_to_publish;
use crate::support::{
    Call, Job, ProgramOutput, World, bad_pipeline, change, git, good_pipeline, loose_object_path,
    orchestration_text, plant_object, strict_platform, write_read_only_file,
};
use std::fs;
use std::path::{Path, PathBuf};

const MISMATCH: [&str; 2] = ["its content does not match its id", "hint: run `git fsck`"];

/// Runs a command in the job of a pull request.
fn run_in_pull_request(world: &World, arguments: &str) -> ProgramOutput {
    Job::github().pull_request().call(world).run(arguments)
}

/// Creates a change with a finding and, as the reference `merged`, a child of the change with the files of its target.
fn change_with_finding() -> World {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let merged = world.git("commit-tree -m merged -p HEAD origin/main^{tree}");
    world.git(format!("update-ref refs/job/merged {merged}"));
    world
}

#[test]
fn change_with_planted_object_is_not_reviewed() {
    for (object, other) in [
        ("HEAD:b.orch.yaml", "HEAD:a.orch.yaml"),
        ("HEAD^{tree}", "origin/main^{tree}"),
        ("HEAD", "origin/main"),
        ("origin/main", "refs/job/merged"),
    ] {
        let world = change_with_finding();
        let platform = strict_platform();
        let run = |command: &str| {
            let call = Job::github().pull_request();
            call.extend(&world, platform.call(&world)).run(command)
        };
        run("check").expect(1);
        plant_object(&world, object, other);
        for command in ["check", "check --new-only", "diff origin/main..HEAD", "review"] {
            run(command).expect(7).logging(&MISMATCH);
        }
    }
}

#[test]
fn commit_with_planted_object_is_not_published() {
    for object in [
        "HEAD:sql/it.sql",
        "HEAD:sales/load.orch.yaml",
        "HEAD:sales",
        "HEAD^{tree}",
        "HEAD",
    ] {
        let world = project_to_publish();
        // The git program streams a large file.
        world.write("sql/it.sql", "select 1;".repeat(600_000));
        world.commit("large script");
        world.push();
        world.git("checkout -q -b evil");
        world.write("sql/it.sql", "select 2;".repeat(600_000));
        world.write("sales/load.orch.yaml", good_pipeline());
        world.commit("evil");
        world.git("checkout -q main");
        let before = world.git("rev-parse HEAD~1");
        let in_job = |call: Call| Job::github().push(&before).extend(&world, call);
        let call = in_job(Call::new(&world.work()));
        let publish = "publish --prefix p --version-name 1 --compat off";
        call.run(format!("{publish} --dry-run")).expect(0);
        plant_object(&world, object, &object.replace("HEAD", "evil"));
        call.run(format!("{publish} --dry-run"))
            .expect(7)
            .logging(&MISMATCH);
        let platform = strict_platform();
        in_job(platform.call(&world))
            .run(publish)
            .expect(7)
            .logging(&MISMATCH[..1]);
        let is_upload = |request: &wiremock::Request| request.method.as_str() == "POST";
        assert!(!platform.requests().iter().any(is_upload), "{object}");
    }
}

/// Adds a pack with one object, the content of `a.orch.yaml`, whose index names the blob of `b.orch.yaml`.
fn plant_pack(world: &World) {
    let blob = world.git("rev-parse HEAD:b.orch.yaml");
    let pack = "alias.pack=!git rev-parse HEAD:a.orch.yaml | git pack-objects -q .git/objects/pack/pack";
    world.git(["-c", pack, "pack"]);
    let files: Vec<PathBuf> = fs::read_dir(world.work().join(".git/objects/pack"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let index = find_file(&files, "idx");
    let id: Vec<u8> = (0..20)
        .map(|position| u8::from_str_radix(&blob[2 * position..][..2], 16).unwrap())
        .collect();
    // The index has a header of 8 bytes, the number of ids up to each first byte, and the ids.
    let mut content = fs::read(index).unwrap();
    for first_byte in 0..256_usize {
        let count = u32::from(first_byte >= usize::from(id[0]));
        content[8 + 4 * first_byte..][..4].copy_from_slice(&count.to_be_bytes());
    }
    content[8 + 4 * 256..][..20].copy_from_slice(&id);
    write_read_only_file(index, &content);
    fs::remove_file(loose_object_path(world, "HEAD:b.orch.yaml")).unwrap();
}

#[test]
fn change_with_pack_whose_index_is_wrong_is_not_reviewed() {
    let world = change_with_finding();
    plant_pack(&world);
    run_in_pull_request(&world, "check").expect(7).logging(&MISMATCH);
}

/// Writes a commit-graph in the version that libgit2 reads, too.
fn write_commit_graph(world: &World, option: &str) {
    world.git(format!(
        "-c commitGraph.generationVersion=1 commit-graph write --reachable{option}"
    ));
}

/// Returns the start of the chunk with this name in a commit-graph, whose table of chunks follows a header of 8 bytes.
fn find_chunk(graph: &[u8], name: &[u8]) -> usize {
    let entry = graph[8..]
        .chunks(12)
        .find(|entry| entry.starts_with(name))
        .unwrap();
    usize::try_from(u64::from_be_bytes(entry[4..].try_into().unwrap())).unwrap()
}

/// Returns the position of a commit in the sorted list of ids of a commit-graph.
fn find_commit_position(world: &World, graph: &[u8], commit: &str) -> usize {
    let id = world.git(("rev-parse", &[commit]));
    let ids = graph[find_chunk(graph, b"OIDL")..].chunks(20);
    let to_hex = |bytes: &[u8]| {
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        digits.concat()
    };
    ids.map(to_hex).position(|other| other == id).unwrap()
}

/// Changes the first parent of `origin/main` in the commit-graph to the parent of HEAD.
fn forge_parent(world: &World, path: &Path) {
    let mut graph = fs::read(path).unwrap();
    let child = find_commit_position(world, &graph, "origin/main");
    let parent = u32::try_from(find_commit_position(world, &graph, "HEAD~1")).unwrap();
    // The data of a commit are the id of its tree, the positions of two parents, its generation, and its time.
    let start = find_chunk(&graph, b"CDAT") + 36 * child + 20;
    graph[start..start + 4].copy_from_slice(&parent.to_be_bytes());
    graph[start + 8..start + 11].copy_from_slice(&[0, 1, 0]);
    write_read_only_file(path, &graph);
}

#[test]
fn commit_graph_does_not_decide_that_a_change_is_merged() {
    for (option, folder) in [("", "info"), (" --split", "info/commit-graphs")] {
        let world = change_with_finding();
        let second = world.git("commit-tree -m second -p origin/main origin/main^{tree}");
        world.git("commit -q --allow-empty -m later");
        world.git(format!("push -q origin HEAD {second}:main"));
        world.git("worktree add -q --detach ../tree HEAD");
        write_commit_graph(&world, option);
        let call = |folder: &Path| {
            let call = Job::github().pull_request().extend(&world, Call::new(folder));
            call.run("check")
        };
        let folders = [world.work(), world.path().join("tree")];
        // A genuine commit-graph changes nothing.
        for folder in &folders {
            call(folder).expect(1);
        }
        let files: Vec<PathBuf> = fs::read_dir(world.work().join(".git/objects").join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file() && !path.ends_with("commit-graph-chain"))
            .filter(|path| path.file_name().is_some_and(|name| name != "packs"))
            .collect();
        forge_parent(&world, &files[0]);
        for folder in &folders {
            call(folder).expect(1);
        }
    }
}

/// libgit2 writes to a temporary directory in a clone with a commit-graph.
#[test]
fn moved_pipeline_is_staged_in_clone_with_commit_graph() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    world.write("c.orch.yaml", orchestration_text(&["Start"]));
    world.commit("third");
    write_commit_graph(&world, "");
    Call::new(&world.work())
        .run("mv b.orch.yaml d.orch.yaml")
        .expect(0);
    assert_eq!(
        git(&world.work(), "diff --cached --name-status"),
        "R100\tb.orch.yaml\td.orch.yaml"
    );
    world.git("fsck --strict");
}
