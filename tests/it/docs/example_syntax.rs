//! Every example in the help, the README and the book can be pasted: no line is broken where a shell would not join it,
//! and every command line parses. `example_runs.rs` runs them.

use super::{commands, read_workspace_file};
use crate::support::scratch;
use clap::{Command, CommandFactory as _};
use sluicegate::job::cli::Cli;
use std::fs;

/// The width of every terminal, in columns.
const WIDTH: usize = 80;

/// Returns the help of this command and of all its subcommands, by name.
fn helps(command: &Command, called: &str) -> Vec<(String, String)> {
    let text = format!("{called} {}", command.get_name());
    let own = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let below = command.get_subcommands().flat_map(|verb| helps(verb, &text));
    std::iter::once((text.clone(), own)).chain(below).collect()
}

pub fn all_helps() -> Vec<(String, String)> {
    let all = commands();
    all.iter()
        .flat_map(|command| helps(command, "sluicegate"))
        .collect()
}

/// Returns the lines of the examples, verbatim.
fn example_lines(help: &str) -> Vec<&str> {
    let rest = help.lines().skip_while(|line| !line.starts_with("Example"));
    rest.skip(1).take_while(|line| !line.is_empty()).collect()
}

/// Returns the commands in the lines, with continued lines joined as in a shell and without variables before a command.
fn join_continued_lines(lines: &[&str]) -> Vec<String> {
    let text = lines.join("\n").replace("\\\n", " ");
    text.lines()
        .map(|line| match line.find("sluicegate ") {
            Some(at) => line[at..].to_owned(),
            None => panic!("no command: {line:?}"),
        })
        .collect()
}

#[test]
fn every_example_of_a_help_can_be_pasted() {
    let mut tried = 0;
    for (command, help) in all_helps() {
        let lines = example_lines(&help);
        for line in &lines {
            assert!(
                line.chars().count() <= WIDTH,
                "{command}: {line:?} is over {WIDTH} columns"
            );
        }
        for example in join_continued_lines(&lines) {
            let parsed = Cli::command().try_get_matches_from(super::book::split_words(&example));
            assert!(parsed.is_ok(), "{command}: {example}\n{}", parsed.unwrap_err());
            tried += 1;
        }
        assert!(!lines.is_empty(), "{command} has no example");
    }
    assert!(tried > 80, "only {tried} examples were found");
}

#[test]
fn reference_breaks_no_example() {
    let reference = read_workspace_file("docs/book/reference.md");
    for (command, help) in all_helps() {
        let lines = example_lines(&help).join("\n");
        assert!(
            reference.contains(&lines),
            "{command}: the reference breaks\n{lines}"
        );
    }
}

/// Returns the indented block of a help page after the line that starts with `before`, up to an empty line.
pub fn file_of(help: &str, before: &str) -> String {
    let block = help.lines().skip_while(|line| !line.starts_with(before)).skip(1);
    let block = block.skip_while(|line| !line.starts_with("  "));
    let lines: Vec<&str> = block
        .take_while(|line| line.starts_with("  "))
        .map(|line| &line[2..])
        .collect();
    lines.join("\n") + "\n"
}

fn run_program(folder: &std::path::Path, args: &[&str]) -> (i32, String) {
    let process_output = std::process::Command::new(env!("CARGO_BIN_EXE_sluicegate"))
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .env("DWH_PASSWORD", "a word")
        .env("SLUICEGATE_BASE_URL", "http://127.0.0.1:9")
        .env("SLUICEGATE_TOKEN", "t")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&process_output.stdout).into_owned()
        + &String::from_utf8_lossy(&process_output.stderr);
    (process_output.status.code().unwrap_or(-1), text)
}

#[test]
fn file_in_help_of_provision_is_taken_by_its_command() {
    let folder = scratch::create_scratch_directory();
    let (_, help) = all_helps()
        .into_iter()
        .find(|(command, _)| command == "sluicegate provision apply")
        .unwrap();
    let full = file_of(&help, "The file");
    fs::write(folder.path().join("sales.yaml"), &full).unwrap();
    let first = join_continued_lines(&example_lines(&help)[..1]);
    let args: Vec<String> = super::book::split_words(&first[0]);
    let args: Vec<&str> = args[1..].iter().map(String::as_str).collect();
    let (code, text) = run_program(folder.path(), &args);
    assert_eq!(code, 0, "{text}\n{full}");
    // The other deployment type, as described in the help: a repository and no secret.
    let repository = file_of(&help, "A project of another deployment");
    let without: Vec<&str> = full.split("secret:").collect();
    let rest = without[1].split_once("environment:").unwrap().1;
    let hybrid = format!("{}environment:{rest}{repository}", without[0]).replace("FULL_SAAS", "HYBRID");
    fs::write(folder.path().join("sales.yaml"), &hybrid).unwrap();
    let (code, text) = run_program(folder.path(), &args);
    assert_eq!(code, 0, "{text}\n{hybrid}");
}

#[test]
fn other_files_in_helps_are_yaml() {
    let mut tried = 0;
    for (command, help) in all_helps() {
        for before in help
            .lines()
            .filter(|line| line.ends_with(':') && !line.starts_with([' ', 'E']))
        {
            let block = file_of(&help, before);
            let read: Result<serde_json::Value, _> = serde_yaml::from_str(&block);
            assert!(
                read.is_ok_and(|value| value.is_object() || value.is_array()),
                "{command}: {before}\n{block}"
            );
            tried += 1;
        }
    }
    assert!(tried >= 2, "only {tried} files were found");
}
