//! `sluicegate serve` as a process: its first line, its signals, its durability.

use crate::program::{Call, PROJECT, Served, TOKEN};
use crate::repo::World;
use crate::world::pipeline;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

fn published(world: &World) {
    world.write(
        ".platform/shared-pipelines.yaml",
        "pipelines:\n  - { pipeline: a.orch.yaml, id: a, enabled: true }\n",
    );
    world.write("a.orch.yaml", pipeline(&["Start", "Done"]));
    world.commit("first");
    world.push();
}

#[cfg(unix)]
#[test]
fn signals_end_it_at_once_with_their_code_even_with_idle_connections() {
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let world = World::new();
        let mut served = Served::start(world.path(), &[]);
        let address = served.url.trim_start_matches("http://").to_owned();
        let mut idle = TcpStream::connect(&address).unwrap();
        idle.write_all(b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n")
            .unwrap();
        idle.read_exact(&mut [0; 16]).unwrap();
        let started = Instant::now();
        assert!(
            Command::new("kill")
                .args([&format!("-{signal}"), &served.child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(served.child.wait().unwrap().code(), Some(code), "{signal}");
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "{signal} took {:?}",
            started.elapsed()
        );
    }
}

#[test]
fn a_generated_token_is_a_word_of_its_own_and_works() {
    let world = World::new();
    let mut served = Served::start(world.path(), &[]);
    let line = served.line();
    let token = line
        .split_whitespace()
        .max_by_key(|word| word.len())
        .unwrap()
        .to_owned();
    assert!(token.len() >= 16, "{line}");
    let call = Call::with_platform(&world.work(), &served.url).variable("SLUICEGATE_TOKEN", &token);
    call.run(&["shared-pipelines", "list"]).expect(0);
    call.variable("SLUICEGATE_TOKEN", "another")
        .run(&["shared-pipelines", "list"])
        .expect(4);
}

#[test]
fn roles_are_kept() {
    let world = World::new();
    let served = Served::start(world.path(), &["--token", &format!("{TOKEN}=member")]);
    let call = Call::with_platform(&world.work(), &served.url);
    call.run(&["shared-pipelines", "list"])
        .expect(4)
        .saying(&["403", "Admin"]);
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let world = World::new();
    published(&world);
    let token = format!("{TOKEN}=admin");
    let data = world.path().join("deep/data").display().to_string();
    let project = format!("{PROJECT}={}", world.remote().display());
    let args = ["--data", &data, "--project", &project, "--token", &token];
    let publish = ["publish", "--prefix", "p", "--version-name", "1"];
    let mut served = Served::start(world.path(), &args);
    Call::with_platform(&world.work(), &served.url)
        .run(&publish)
        .expect(0);
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    let served = Served::start(world.path(), &args);
    Call::with_platform(&world.work(), &served.url)
        .run(&publish)
        .expect(5);
}

#[test]
fn a_vocabulary_gives_the_names() {
    let world = World::new();
    let file = world.path().join("names.yaml");
    std::fs::write(&file, "WAREHOUSE_A: alpha\n").unwrap();
    let path = file.display().to_string();
    let served = Served::start(world.path(), &["--vocabulary", &path]);
    let address = served.url.trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    stream
        .write_all(b"GET /openapi.json HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(r#"["ALPHA","WAREHOUSE_B"]"#));

    let call = Call::new(world.path());
    std::fs::write(&file, "warehouse-a: alpha\n").unwrap();
    call.run(&["serve", "--vocabulary", &path]).expect(2).saying(&[
        "names.yaml",
        "`warehouse-a`",
        "WAREHOUSE_A",
    ]);
    call.run(&["serve", "--vocabulary", "missing.yaml"])
        .expect(2)
        .saying(&["missing.yaml"]);
}

#[test]
fn wrong_flags_are_exit_2_and_a_missing_repository_7() {
    let world = World::new();
    let call = Call::new(world.path());
    call.run(&["serve", "--listen", "nowhere"]).expect(2);
    call.run(&["serve", "--token", "secret-word=king"])
        .expect(2)
        .saying(&["king"]);
    call.run(&["serve", "--token", "x"]).expect(2);
    call.run(&["serve", "--project", "42=."])
        .expect(2)
        .saying(&["42"]);
    call.run(&["serve", "--project", &format!("{PROJECT}=missing.git")])
        .expect(7)
        .saying(&["missing.git"]);
    let taken = Served::start(world.path(), &[]);
    let address = taken.url.trim_start_matches("http://").to_owned();
    call.run(&["serve", "--listen", &address])
        .expect(2)
        .saying(&[&address]);
}
