//! Publishes that are killed at any moment and repeated: a version always has exactly the content of its plan.

use crate::support::{Call, ServerProcess, TOKEN, World, orchestration_text};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

const RUNS: usize = 200;
const WORKERS: usize = 4;
const SEED: u64 = 2026;

const SHARED: &str = "pipelines:\n  - { pipeline: load.orch.yaml, id: load, enabled: true }\n";

/// Creates two commits with different content and a large script, so that an upload takes a while.
fn project_with_two_commits() -> (World, [String; 2]) {
    let world = World::new();
    let script = "      parameters: { scriptLocation: File, fileName: big.sql }\n";
    world.write(".platform/shared-pipelines.yaml", SHARED);
    world.write(
        "load.orch.yaml",
        format!("type: orchestration\npipeline:\n  components:\n    A:\n      type: sql-executor\n{script}"),
    );
    let mut random = fastrand::Rng::with_seed(SEED);
    let commits = [0, 1].map(|number| {
        let noise: Vec<u8> = (0..1 << 20).map(|_| random.u8(..)).collect();
        world.write("big.sql", noise);
        world.write(
            &format!("only-{number}.orch.yaml"),
            orchestration_text(&["Start", "Done"]),
        );
        let commit = world.commit("another");
        world.push();
        commit
    });
    (world, commits)
}

fn publish_version_call(
    world: &World,
    server: &ServerProcess,
    version: usize,
    commits: &[String; 2],
) -> Call {
    Call::with_platform(&world.work(), &server.url)
        .variable("SLUICEGATE_PREFIX", "chaos")
        .variable("SLUICEGATE_VERSION_NAME", format!("v{version}"))
        .variable("SLUICEGATE_HEAD", &commits[version % 2])
        .variable("SLUICEGATE_IF_EXISTS", "same-content")
}

/// Kills a publish after `life`; returns its exit code if it ended earlier.
fn live(call: &Call, life: Duration) -> Option<i32> {
    let mut child = call
        .command("publish")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let end = Instant::now() + life;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    child.wait().unwrap().code()
}

#[test]
fn version_is_whole_or_not_there_whenever_its_publish_is_killed() {
    let (world, commits) = project_with_two_commits();
    let data = world.path().join("data");
    let token = format!("{TOKEN}=admin");
    let served = ServerProcess::start(
        world.path(),
        &["--data", &data.display().to_string(), "--token", &token],
    );
    // On a machine of any speed, some publishes must end and some must not.
    let began = Instant::now();
    publish_version_call(&world, &served, 0, &commits)
        .run("publish")
        .expect(0);
    let longest = began.elapsed() * 3;
    let (mut output, mut killed) = (0, 0);
    let versions = RUNS / 5;
    thread::scope(|scope| {
        let work = |worker: usize| {
            let (world, served, commits) = (&world, &served, &commits);
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(SEED + worker as u64);
                let mut ends = (0, 0);
                for _ in 0..RUNS / WORKERS {
                    let call = publish_version_call(world, served, random.usize(..versions), commits);
                    match live(&call, longest.mul_f64(random.f64())) {
                        // Another worker may have published the newer commit meanwhile (exit code 5).
                        Some(code) => {
                            assert!(code == 0 || code == 5, "{code}");
                            ends.0 += 1;
                        }
                        None => ends.1 += 1,
                    }
                }
                ends
            })
        };
        let workers: Vec<_> = (0..WORKERS).map(work).collect();
        for worker in workers {
            let ends = worker.join().unwrap();
            output += ends.0;
            killed += ends.1;
        }
    });
    assert!(
        output > 0 && killed > 0,
        "{output} ended by themselves, {killed} were killed"
    );
    let plans = [0, 1].map(|version| dry_run_files(&world, &served, version, &commits));
    for version in 0..versions {
        let output = publish_version_call(&world, &served, version, &commits).run("publish");
        let is_withdrawn = output.code == 5 && output.err.contains("the version is disabled");
        assert!(output.code == 0 || is_withdrawn, "v{version}: {}", output.all());
    }
    // Only one process can open the database, so the server must end first.
    drop(served);
    let stored = read_stored_versions(&data);
    assert_eq!(stored.len(), versions, "each version is there once");
    for version in 0..versions {
        assert_eq!(stored[&format!("v{version}")], plans[version % 2], "v{version}");
    }
}

type Files = BTreeMap<String, String>;

/// Returns the files of a version's plan with their hashes.
fn dry_run_files(world: &World, server: &ServerProcess, version: usize, commits: &[String; 2]) -> Files {
    let args = "publish --dry-run --receipt plan.json";
    publish_version_call(world, server, version, commits)
        .run(args)
        .expect(0);
    let receipt: Value = serde_json::from_slice(&fs::read(world.work().join("plan.json")).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let files = receipt["files"].as_array().unwrap().iter();
    files
        .map(|file| (text(&file["path"]), text(&file["sha256"])))
        .collect()
}

/// Returns the stored files of each version.
fn read_stored_versions(data: &std::path::Path) -> BTreeMap<String, Files> {
    let database = Connection::open(data.join("platform.db")).unwrap();
    let mut query = database
        .prepare("SELECT version_name, files FROM artifact")
        .unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let mut stored: BTreeMap<String, Files> = BTreeMap::new();
    for row in rows {
        let (version, files): (String, Vec<u8>) = row.unwrap();
        let files = String::from_utf8(files).unwrap();
        // Digest, size and path of each file.
        let files = files.split_terminator('\0').map(|file| {
            let parts: Vec<&str> = file.splitn(3, ' ').collect();
            (parts[2].to_owned(), parts[0].to_owned())
        });
        stored.insert(version, files.collect());
    }
    stored
}
