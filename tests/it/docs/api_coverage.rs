//! `docs/API-COVERAGE.md`: the tests that cover each endpoint and each rule of the API document.

use super::api_coverage_rows::{ENDPOINTS, RULES, Row};
use super::{read, root};
use serde_json::Value;
use sluicegate_local_platform::{Clock, Options, Vocabulary, start};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use tokio::runtime::Runtime;

const DOCUMENT: &str = "docs/API-COVERAGE.md";

const HEAD: &str = "# API coverage

By which tests each endpoint and each rule of the API document is held: the client against the fixtures
(`crates/platform/tests/api`), the local platform (`crates/local-platform/tests/service`), and the command against the local
platform (`tests/it`). The names are those of the tests
as they stand in the sources; `UPDATE_DOCS=1 cargo test docs` renews them, and `tests/it/docs/api_coverage.rs` fails where
one of the three is missing.
";

/// Returns all tests of a directory, as `module::name`.
fn tests(folder: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(&root().join(folder), "", &mut found);
    found
}

fn collect(folder: &Path, module: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let inner = match name {
            "mod" | "main" => module.to_owned(),
            _ => format!("{module}{name}::"),
        };
        if path.is_dir() {
            collect(&path, &inner, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.extend(names(&text).map(|name| format!("{inner}{name}")));
        }
    }
}

/// Returns the functions with a test attribute.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let mut is_test = false;
    text.lines().filter_map(move |line| {
        let line = line.trim_start();
        is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        let (_, rest) = line
            .split_once("fn ")
            .filter(|_| is_test && !line.starts_with('#'))?;
        is_test = false;
        rest.split_once('(').map(|(name, _)| name)
    })
}

/// Returns the tests whose names start with one of the words; each word must match a test.
fn meant<'a>(words: &str, tests: &'a BTreeSet<String>) -> Result<Vec<&'a str>, String> {
    let mut meant = Vec::new();
    for word in words.split_whitespace() {
        let before = meant.len();
        meant.extend(
            tests
                .iter()
                .map(String::as_str)
                .filter(|name| name.starts_with(word)),
        );
        if meant.len() == before {
            return Err(format!("no test begins with {word}"));
        }
    }
    meant.sort_unstable();
    meant.dedup();
    Ok(meant)
}

/// Returns the document and a list of missing tests.
fn document() -> (String, Vec<String>) {
    let sides = [
        "crates/platform/tests/api",
        "crates/local-platform/tests/service",
        "tests/it",
    ]
    .map(tests);
    let (mut text, mut lacks) = (HEAD.to_owned(), Vec::new());
    let parts: [(&str, &str, &[Row]); 2] = [
        ("Endpoints", "endpoint", &ENDPOINTS),
        ("Rules and transitions", "rule", &RULES),
    ];
    for (title, what, rows) in parts {
        let _ = writeln!(
            text,
            "\n## {title}\n\n| {what} | client | local platform | command |\n|---|---|---|---|"
        );
        for (name, client, service, command) in rows {
            let cells = [client, service, command]
                .into_iter()
                .zip(&sides)
                .map(|(words, tests)| {
                    let meant = meant(words, tests).unwrap_or_else(|why| {
                        lacks.push(format!("{name}: {why}"));
                        Vec::new()
                    });
                    let names = meant.iter().map(|name| format!("`{name}`"));
                    names.collect::<Vec<_>>().join("<br>")
                });
            let cells = cells.collect::<Vec<_>>().join(" | ");
            let name = if what == "endpoint" {
                format!("`{name}`")
            } else {
                (*name).to_owned()
            };
            let _ = writeln!(text, "| {name} | {cells} |");
        }
    }
    (text, lacks)
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a switch for whoever renews the documents"
)]
fn every_endpoint_and_rule_has_a_test_of_client_platform_and_command() {
    let (text, lacks) = document();
    assert!(lacks.is_empty(), "{}", lacks.join("\n"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(root().join(DOCUMENT), &text).unwrap();
    }
    assert!(
        read(DOCUMENT) == text,
        "{DOCUMENT} is stale: renew it by `UPDATE_DOCS=1 cargo test docs`"
    );
}

/// Returns the API description of the local platform.
fn description() -> Value {
    let runtime = Runtime::new().unwrap();
    let options = Options {
        listen: (Ipv4Addr::LOCALHOST, 0).into(),
        data: None,
        projects: Vec::new(),
        tokens: Vec::new(),
        vocabulary: Vocabulary::default(),
        clock: Clock::default(),
    };
    let running = runtime.block_on(start(options)).unwrap();
    let mut stream = TcpStream::connect(running.address()).unwrap();
    let request = "GET /openapi.json HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// The table contains the endpoints that the local platform describes, which are those of the API document.
#[test]
fn every_endpoint_that_is_served_has_its_row() {
    let served = description();
    let mut described = BTreeSet::new();
    for (path, item) in served["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            described.insert(format!("{} {path}", method.to_uppercase()));
        }
    }
    described.remove("GET /openapi.json");
    let rows: BTreeSet<String> = ENDPOINTS.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(rows.len(), ENDPOINTS.len(), "an endpoint stands twice");
    assert_eq!(rows, described);
}

#[test]
fn names_are_those_behind_a_test_attribute() {
    let text = "#[test]\nfn one() {}\nfn helper() {}\n#[tokio::test(flavor = \"x\")]\n#[expect(a, reason = \"fn \")]\n\
        async fn two() {}\n";
    assert_eq!(names(text).collect::<Vec<_>>(), ["one", "two"]);
    let tests = BTreeSet::from(["m::one".to_owned(), "m::only".to_owned()]);
    assert_eq!(meant("m::on", &tests).unwrap(), ["m::one", "m::only"]);
    assert!(meant("m::one m::two", &tests).is_err());
}
