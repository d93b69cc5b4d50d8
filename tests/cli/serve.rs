//! `sluicegate serve` as a process: its first line, its signals, its durability.

use crate::program::{Call, PROJECT, Served, TOKEN};
use crate::repo::World;
use crate::world::pipeline;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// What the platform acknowledged to one writer.
#[derive(Default)]
struct Acknowledged {
    made: BTreeSet<String>,
    removed: BTreeSet<String>,
    projects: BTreeSet<String>,
}

/// Makes variables and projects and removes every third variable again, until the platform is gone.
async fn write(client: Client, url: String, writer: usize, count: Arc<AtomicUsize>) -> Acknowledged {
    let mut known = Acknowledged::default();
    let variables = format!("{url}/v1/projects/{PROJECT}/variables");
    for number in 0.. {
        let name = format!("w{writer}-{number}");
        let variable = json!({"name": name, "type": "NUMBER", "behaviour": "SHARED", "value": number});
        let project = json!({"name": name, "warehouse": "WAREHOUSE_A", "agentDeploymentType": "HYBRID"});
        let Some(_) = acknowledged(client.post(&variables).json(&variable)).await else {
            return known;
        };
        known.made.insert(name.clone());
        let Some(made) = acknowledged(client.post(format!("{url}/v1/projects")).json(&project)).await else {
            return known;
        };
        known
            .projects
            .insert(made["projectId"].as_str().unwrap().to_owned());
        if number % 3 == 0 {
            // Until this is answered, it may be there or not.
            known.made.remove(&name);
            let Some(_) = acknowledged(client.delete(format!("{variables}/{name}"))).await else {
                return known;
            };
            known.removed.insert(name);
        }
        count.fetch_add(1, Ordering::SeqCst);
    }
    known
}

/// The body of an acknowledgement; none once the platform is gone.
async fn acknowledged(request: RequestBuilder) -> Option<Value> {
    let response = request.bearer_auth(TOKEN).send().await.ok()?;
    assert!(response.status().is_success(), "{}", response.status());
    let text = response.text().await.ok()?;
    Some(serde_json::from_str(if text.is_empty() { "null" } else { &text }).unwrap())
}

/// All items of a list, page by page.
async fn all(client: &Client, url: &str) -> Vec<Value> {
    let mut found = Vec::new();
    for page in 0.. {
        let request = client.get(format!("{url}?size=100&page={page}"));
        let answer = acknowledged(request).await.unwrap();
        let items = answer["results"].as_array().unwrap();
        if items.is_empty() {
            break;
        }
        found.extend(items.clone());
    }
    found
}

#[test]
fn a_kill_under_load_loses_nothing_acknowledged() {
    let world = World::new();
    let token = format!("{TOKEN}=super-admin");
    let data = world.path().join("data").display().to_string();
    let project = format!("{PROJECT}={}", world.remote().display());
    let args = ["--data", &data, "--project", &project, "--token", &token];
    // A second test of the process finds it installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut served = Served::start(world.path(), &args);
    let count = Arc::new(AtomicUsize::new(0));
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            runtime.spawn(write(
                client.clone(),
                served.url.clone(),
                writer,
                Arc::clone(&count),
            ))
        })
        .collect();
    while count.load(Ordering::SeqCst) < 200 {
        assert!(
            writers.iter().all(|writer| !writer.is_finished()),
            "a writer ended early"
        );
        std::thread::yield_now();
    }
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    let known: Vec<Acknowledged> = writers
        .into_iter()
        .map(|writer| runtime.block_on(writer).unwrap())
        .collect();

    let served = Served::start(world.path(), &args);
    let list = |path: &str| runtime.block_on(all(&client, &format!("{}{path}", served.url)));
    let names = |items: Vec<Value>, member: &str| -> BTreeSet<String> {
        items
            .iter()
            .map(|item| item[member].as_str().unwrap().to_owned())
            .collect()
    };
    let variables = names(list(&format!("/v1/projects/{PROJECT}/variables")), "name");
    let projects = names(list("/v1/projects"), "id");
    let mut events = list("/v1/events");
    events.retain(|event| event["eventName"] == "Project created");
    let (told, events) = (events.len(), names(events, "eventSubjectId"));
    for known in known {
        assert!(known.made.is_subset(&variables));
        assert!(known.removed.is_disjoint(&variables));
        assert!(known.projects.is_subset(&projects));
    }
    let made: BTreeSet<String> = projects.into_iter().filter(|id| id != PROJECT).collect();
    assert_eq!(
        (told, events),
        (made.len(), made),
        "each project and its event stand or fall together"
    );
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
