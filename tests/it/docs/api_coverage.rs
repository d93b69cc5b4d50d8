//! `docs/API-COVERAGE.md`: the tests that cover each endpoint and each rule of the API document.

use super::api_coverage_rows::RULES;
use super::{read_workspace_file, root};
use serde_json::Value;
use sluicegate_local_platform::{AgentBehavior, Clock, Options, Vocabulary, start};
use std::collections::{BTreeMap, BTreeSet};
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
platform (`tests/it`). The names are those of the tests as they stand in the sources, and a test names its endpoints in a
comment. `UPDATE_DOCS=1 cargo test docs` renews the tables.

`tests/it/docs/api_coverage.rs` fails if an endpoint has no test of the client or of the command. A command's test runs
against the local platform, which needs tests of its own for what no command sends. It also fails if a rule lacks one of
the three.
";

/// Begins the comment that names an endpoint of the next test or, in the module's documentation, of all tests of a
/// file.
const MARK: &str = "Endpoint: ";

/// The tests of a directory, as `module::name`, and the endpoints that they name.
type Tests = BTreeMap<String, Vec<String>>;

fn list_tests(folder: &str) -> Tests {
    let mut tests = Tests::new();
    add_tests(&root().join(folder), "", &mut tests);
    tests
}

fn add_tests(folder: &Path, module: &str, tests: &mut Tests) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let inner = match name {
            "mod" | "main" => module.to_owned(),
            _ => format!("{module}{name}::"),
        };
        if path.is_dir() {
            add_tests(&path, &inner, tests);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            tests.extend(
                read_tests(&text)
                    .into_iter()
                    .map(|(name, endpoints)| (format!("{inner}{name}"), endpoints)),
            );
        }
    }
}

/// Returns the functions with a test attribute, and the endpoints of each.
fn read_tests(text: &str) -> Vec<(String, Vec<String>)> {
    let mut tests = Vec::new();
    let (mut of_file, mut of_test) = (Vec::new(), Vec::new());
    let mut is_test = false;
    for line in text.lines().map(str::trim_start) {
        if let Some(endpoint) = line.strip_prefix("//! ").and_then(|line| line.strip_prefix(MARK)) {
            of_file.push(endpoint.to_owned());
        } else if let Some(endpoint) = line.strip_prefix("// ").and_then(|line| line.strip_prefix(MARK)) {
            of_test.push(endpoint.to_owned());
        }
        is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        let function = line
            .split_once("fn ")
            .filter(|_| is_test && !line.starts_with('#'));
        if let Some((name, _)) = function.and_then(|(_, rest)| rest.split_once('(')) {
            is_test = false;
            let endpoints = of_file.iter().cloned().chain(of_test.drain(..)).collect();
            tests.push((name.to_owned(), endpoints));
        }
    }
    tests
}

/// Returns the tests whose names start with one of the words; each word must match a test.
fn find_tests<'a>(words: &str, tests: &'a Tests) -> Result<Vec<&'a str>, String> {
    let mut meant = Vec::new();
    for word in words.split_whitespace() {
        let before = meant.len();
        meant.extend(
            tests
                .keys()
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
fn render_coverage() -> (String, Vec<String>) {
    let sides = [
        "crates/platform/tests/api",
        "crates/local-platform/tests/service",
        "tests/it",
    ]
    .map(list_tests);
    let served_endpoints = list_endpoints();
    let mut lacks: Vec<String> = sides
        .iter()
        .flatten()
        .flat_map(|(test, endpoints)| endpoints.iter().map(move |endpoint| (test, endpoint)))
        .filter(|(_, endpoint)| !served_endpoints.contains(*endpoint))
        .map(|(test, endpoint)| format!("{test}: {endpoint} is not served"))
        .collect();
    let mut text = HEAD.to_owned();
    add_table(&mut text, "Endpoints", "endpoint");
    for endpoint in &served_endpoints {
        let cells = sides.each_ref().map(|tests| {
            let covering = tests.iter().filter(|(_, endpoints)| endpoints.contains(endpoint));
            covering.map(|(name, _)| name.as_str()).collect::<Vec<_>>()
        });
        // A command's test runs against the local platform, so it covers both.
        let [client, _, command] = &cells;
        for (side, names) in [("client", client), ("command", command)] {
            if names.is_empty() {
                lacks.push(format!("{endpoint}: no test of the {side} names it"));
            }
        }
        add_row(&mut text, &format!("`{endpoint}`"), &cells);
    }
    add_table(&mut text, "Rules and transitions", "rule");
    for (rule, client, service, command) in RULES {
        let mut sides = [client, service, command].into_iter().zip(&sides);
        let cells = [(); 3].map(|()| {
            let (words, tests) = sides.next().unwrap();
            find_tests(words, tests).unwrap_or_else(|reason| {
                lacks.push(format!("{rule}: {reason}"));
                Vec::new()
            })
        });
        add_row(&mut text, rule, &cells);
    }
    (text, lacks)
}

fn add_table(text: &mut String, title: &str, subject: &str) {
    let _ = writeln!(
        text,
        "\n## {title}\n\n| {subject} | client | local platform | command |\n|---|---|---|---|"
    );
}

fn add_row(text: &mut String, subject: &str, cells: &[Vec<&str>; 3]) {
    let cells = cells.each_ref().map(|names| {
        let names = names.iter().map(|name| format!("`{name}`"));
        names.collect::<Vec<_>>().join("<br>")
    });
    let _ = writeln!(text, "| {subject} | {} |", cells.join(" | "));
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a switch for whoever renews the documents"
)]
fn every_endpoint_and_rule_has_a_test_of_client_platform_and_command() {
    let (text, lacks) = render_coverage();
    assert!(lacks.is_empty(), "{}", lacks.join("\n"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(root().join(DOCUMENT), &text).unwrap();
    }
    assert!(
        read_workspace_file(DOCUMENT) == text,
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
        agent_behavior: AgentBehavior::default(),
    };
    let running = runtime.block_on(start(options)).unwrap();
    let mut stream = TcpStream::connect(running.address()).unwrap();
    let request = "GET /openapi.json HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// Returns the endpoints that the local platform serves, which are those of the API document, without the description.
fn list_endpoints() -> BTreeSet<String> {
    let description = description();
    let paths = description["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().keys();
        methods.map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    operations
        .filter(|endpoint| endpoint != "GET /openapi.json")
        .collect()
}

#[test]
fn tests_are_functions_below_a_test_attribute_with_their_endpoints() {
    let text = "//! Endpoint: GET /all\n\n// Endpoint: GET /one\n#[test]\nfn one() {}\nfn helper() {}\n\
        #[tokio::test(flavor = \"x\")]\n#[expect(a, reason = \"fn \")]\nasync fn two() {}\n";
    let endpoints = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let tests = [
        ("one".to_owned(), endpoints(&["GET /all", "GET /one"])),
        ("two".to_owned(), endpoints(&["GET /all"])),
    ];
    assert_eq!(read_tests(text), tests);
    let tests = Tests::from(["m::one", "m::only"].map(|name| (name.to_owned(), Vec::new())));
    assert_eq!(find_tests("m::on", &tests).unwrap(), ["m::one", "m::only"]);
    assert!(find_tests("m::one m::two", &tests).is_err());
}
