//! Every part is the commit's blob, byte for byte, with exactly its path as the name.

use crate::publish::faulty_server::{Fault, Faulty, Shows};
use crate::publish::planned_project::{CONFIG, pipeline_with_parameters, plan_world, script};
use crate::publish::server_faults::{fast_publish_options, run_publish};
use crate::support::World;
use crate::support::publishing::shared_pipelines_file;
use sluicegate::publish::OutcomeKind;
use std::collections::BTreeMap;
use std::process::Command;

const NAMES: [&str; 9] = [
    "with space.orch.yaml",
    "quo\"te.orch.yaml",
    "semi;colon; name=\"x\".orch.yaml",
    "back\\slash.orch.yaml",
    "ünïcödé/日本.orch.yaml",
    "per%22cent%0D.orch.yaml",
    "new\nline\rreturn.orch.yaml",
    "apo'strophe*=utf-8''x.orch.yaml",
    ".hidden/.deep.orch.yaml",
];

/// Returns the parts of a form by name, with the bytes between the head and the next boundary.
fn parts(body: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let end = body.windows(2).position(|pair| pair == b"\r\n").unwrap();
    let boundary = [b"\r\n", &body[..end]].concat();
    let mut rest = body[end..].to_vec();
    let mut parts = BTreeMap::new();
    loop {
        let head_end = match find_bytes(&rest, b"\r\n\r\n") {
            Some(at) if !rest.starts_with(b"--") => at,
            _ => return parts,
        };
        let head = String::from_utf8(rest[..head_end].to_vec()).unwrap();
        let name = head.split_once("form-data; name=\"").unwrap().1;
        let name = name.split_once("\"\r\n").unwrap().0.to_owned();
        let content_end = head_end + 4 + find_bytes(&rest[head_end + 4..], &boundary).unwrap();
        assert!(!head.contains("filename") && !head.contains("name*"), "{head}");
        let former = parts.insert(name.clone(), rest[head_end + 4..content_end].to_vec());
        assert!(former.is_none(), "{name} is sent twice");
        rest.drain(..content_end + boundary.len());
    }
}

fn find_bytes(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|window| window == word)
}

fn blob(world: &World, path: &str) -> Vec<u8> {
    let output = Command::new("git")
        .args(["cat-file", "blob", &format!("HEAD:{path}")])
        .current_dir(world.work())
        .output()
        .unwrap();
    assert!(output.status.success(), "{path}");
    output.stdout
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_part_is_the_blob_of_its_path() {
    let world = World::new();
    let text = pipeline_with_parameters("orchestration", &[]);
    for (number, name) in NAMES.into_iter().enumerate() {
        let ending = if number % 2 == 0 { "\r\n" } else { "\n" };
        world.write(name, text.replace('\n', ending));
    }
    world.write("empty.orch.yaml", "");
    let binary: Vec<u8> = (0..=255).cycle().take(70_000).chain(*b"\r\n--\r\n").collect();
    world.write("sql/all bytes.sql", &binary);
    world.write("sql/short.sql", ";");
    let scripts = [script("sql/all bytes.sql"), script("sql/short.sql")];
    world.write(
        "load.orch.yaml",
        pipeline_with_parameters("orchestration", &scripts),
    );
    world.write(
        CONFIG,
        shared_pipelines_file(&[("load.orch.yaml", "load-it", true)]),
    );
    let plan = plan_world(&world);
    let server = Faulty::start(&[], 0, Shows::Truth);
    assert_eq!(
        run_publish(&server, &plan, fast_publish_options()).await.kind,
        OutcomeKind::Published
    );

    let sent = parts(&server.stored_versions()[0].body);
    let expected: BTreeMap<String, Vec<u8>> = plan
        .files
        .iter()
        .map(|file| {
            let name = file
                .path
                .replace('"', "%22")
                .replace('\r', "%0D")
                .replace('\n', "%0A");
            (name, blob(&world, &file.path))
        })
        .collect();
    assert_eq!(sent.len(), NAMES.len() + 5);
    let names = |parts: &BTreeMap<String, Vec<u8>>| parts.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&sent), names(&expected));
    for (name, content) in &expected {
        assert!(sent[name] == *content, "{name} came as other bytes");
    }
}

/// Large files are read ahead by other threads, again for each attempt.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_files_of_second_attempt_are_complete_and_in_order() {
    let world = World::new();
    let names: Vec<String> = (0..6).map(|index| format!("sql/large{index}.sql")).collect();
    for (index, name) in names.iter().enumerate() {
        let size = if index == 3 { 5_000_000 } else { 1_100_000 + index };
        let content: Vec<u8> = (0..=250_u8).cycle().skip(index).take(size).collect();
        world.write(name, content);
    }
    let scripts: Vec<String> = names.iter().map(|name| script(name)).collect();
    world.write(
        "load.orch.yaml",
        pipeline_with_parameters("orchestration", &scripts),
    );
    world.write(
        CONFIG,
        shared_pipelines_file(&[("load.orch.yaml", "load-it", true)]),
    );
    let plan = plan_world(&world);
    let server = Faulty::start(&[Fault::MidBody], 0, Shows::Truth);
    assert_eq!(
        run_publish(&server, &plan, fast_publish_options()).await.kind,
        OutcomeKind::Published
    );
    let sent_parts = parts(&server.stored_versions()[0].body);
    for name in &names {
        assert!(
            sent_parts[name] == blob(&world, name),
            "{name} came as other bytes"
        );
    }
}
