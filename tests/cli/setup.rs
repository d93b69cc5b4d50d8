//! `sluicegate schema`, `completions` and `man`.

use crate::program::Call;
use clap::{Command, CommandFactory as _};
use std::fs;

fn program() -> Command {
    let mut program = sluicegate::cli::Cli::command().disable_help_subcommand(true);
    program.build();
    program
}

/// The names of a command and of its verbs, as `sluicegate-artifacts-list`.
fn names(command: &Command) -> Vec<String> {
    let own = command.get_display_name().unwrap_or("sluicegate").to_owned();
    let below = command.get_subcommands().flat_map(names);
    std::iter::once(own).chain(below).collect()
}

#[test]
fn every_shell_completes_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let call = Call::new(folder.path());
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = call.run(&["completions", shell]).expect(0).out;
        for command in program().get_subcommands() {
            assert!(
                script.contains(command.get_name()),
                "{shell}: {}",
                command.get_name()
            );
        }
        for word in ["fail-on", "project-id", "rollback"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    call.run(&["completions", "tcsh"])
        .expect(2)
        .saying(&["tcsh", "bash"]);
}

#[test]
fn every_command_has_its_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let call = Call::new(folder.path());
    let said = call.run(&["man", "deep/man1"]).expect(0).out;
    let mut written: Vec<String> = fs::read_dir(folder.path().join("deep/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut expected: Vec<String> = names(&program()).iter().map(|name| format!("{name}.1")).collect();
    written.sort();
    expected.sort();
    assert_eq!(written, expected);
    assert!(
        said.contains(&format!("wrote {} manual pages", expected.len())),
        "{said}"
    );
    for file in &written {
        let page = fs::read_to_string(folder.path().join("deep/man1").join(file)).unwrap();
        well_formed(file, &page);
    }
    let page = fs::read_to_string(folder.path().join("deep/man1/sluicegate-review.1")).unwrap();
    assert!(
        page.contains(".nf\nExamples:\n  sluicegate review \\-\\-report junit=review.xml"),
        "{page}"
    );
    // A second time replaces them; a file in the way is named.
    call.run(&["man", "deep/man1"]).expect(0);
    fs::write(folder.path().join("file"), "").unwrap();
    call.run(&["man", "file"]).expect(2).saying(&["file"]);
}

/// What `mandoc -Tlint` would refuse: no title first, requests that nobody knows, sections without a name or that
/// stand twice, text blocks that are not closed.
fn well_formed(file: &str, page: &str) {
    assert!(page.is_ascii(), "{file}: {page}");
    let known = [
        "TH", "SH", "TP", "PP", "IP", "RS", "RE", "nf", "fi", "br", "ie", "el", "ds",
    ];
    let requests: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with(['.', '\'']))
        .map(|line| line[1..].split_whitespace().next().unwrap_or_default())
        .collect();
    for request in &requests {
        assert!(known.contains(request), "{file}: {request:?}");
    }
    let first = requests
        .iter()
        .find(|request| !["ie", "el", "ds"].contains(request));
    assert_eq!(first, Some(&"TH"), "{file}");
    let title = format!(
        ".TH {} 1 \"\" \"sluicegate {}\" \"sluicegate manual\"",
        file.trim_end_matches(".1"),
        env!("CARGO_PKG_VERSION")
    );
    assert!(page.lines().any(|line| line == title), "{file}: {page}");
    let times = |name: &str| requests.iter().filter(|request| **request == name).count();
    assert_eq!(
        (times("TH"), times("nf"), times("RS")),
        (1, times("fi"), times("RE")),
        "{file}"
    );
    let mut sections: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix(".SH "))
        .collect();
    let wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "VERSION"];
    assert!(
        wanted.iter().all(|name| sections.contains(name)),
        "{file}: {sections:?}"
    );
    let count = sections.len();
    sections.sort_unstable();
    sections.dedup();
    assert_eq!(sections.len(), count, "{file}");
}

#[test]
fn the_schema_is_one_and_knows_the_examples() {
    let folder = tempfile::tempdir().unwrap();
    let schema = Call::new(folder.path()).run(&["schema"]).expect(0).json();
    let validator = jsonschema::draft7::new(&schema).unwrap();
    assert!(jsonschema::draft7::meta::is_valid(&schema));
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/book");
    let pages: String = fs::read_dir(book)
        .unwrap()
        .map(|page| fs::read_to_string(page.unwrap().path()).unwrap())
        .collect();
    let examples: Vec<serde_json::Value> = pages
        .split("```yaml\n")
        .filter(|block| block.starts_with("# sluicegate.yaml"))
        .map(|block| serde_yaml::from_str(block.split("```").next().unwrap()).unwrap())
        .collect();
    assert!(
        examples
            .iter()
            .any(|example| example["review"]["fail-on"] == "error")
    );
    for example in examples {
        assert!(validator.is_valid(&example), "{example}");
    }
    let wrong = serde_json::json!({ "review": { "fail_on": "error" } });
    assert!(!validator.is_valid(&wrong));
}
