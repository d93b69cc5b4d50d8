//! Reads from invalid arguments those that name files of the run, so that the files of an earlier run can be replaced.

use super::{Cli, PROGRAM};
use clap::Parser as _;
use std::ffi::OsString;

/// The commands that write reports or receipts.
const COMMANDS: [&str; 5] = ["review", "check", "report", "publish", "ci"];

/// The flags that name a file to write or to read, and those that decide where files are and what is in them.
const FILE_FLAGS: [&str; 17] = [
    "--report",
    "--receipt",
    "--junit",
    "--attestation",
    "--attestation-predicate",
    "--publish-attestation",
    "--publish-attestation-predicate",
    "--require-review",
    "--compare",
    "--out",
    "--directory",
    "-C",
    "--repo",
    "--config",
    "--ci",
    "--category",
    "--shard",
];

/// The flag of a run that writes no report.
const DRY_RUN: &str = "--dry-run";

/// Returns the command with those of its arguments that name files and are valid; `None` for a command that does not
/// write reports. `args` begin with the program's name, and cannot be parsed as a whole.
#[must_use]
pub fn parse_file_arguments(args: &[OsString]) -> Option<Cli> {
    let words = args.get(1..)?;
    let command = words
        .iter()
        .find(|word| COMMANDS.iter().any(|command| word == command))?;
    let mut kept_words = vec![OsString::from(PROGRAM), command.clone()];
    if command == "report" {
        kept_words.extend(list_possible_inputs(words));
    }
    let mut cli = Cli::try_parse_from(&kept_words).ok()?;
    for (index, word) in words.iter().enumerate() {
        let argument = read_file_argument(word, words.get(index + 1));
        if argument.is_empty() {
            continue;
        }
        let extended_words: Vec<OsString> = kept_words.iter().cloned().chain(argument).collect();
        // A flag with an invalid value is skipped, and so is one that may be given only once.
        if let Ok(extended_cli) = Cli::try_parse_from(&extended_words) {
            (kept_words, cli) = (extended_words, extended_cli);
        }
    }
    Some(cli)
}

/// Returns the words of a flag of [`FILE_FLAGS`] with its value, or of [`DRY_RUN`]; empty for any other word.
fn read_file_argument(word: &OsString, next_word: Option<&OsString>) -> Vec<OsString> {
    let text = word.to_string_lossy();
    let (name, has_value) = match text.split_once('=') {
        Some((name, _)) => (name, true),
        None => (text.as_ref(), false),
    };
    if name == DRY_RUN || (has_value && FILE_FLAGS.contains(&name)) {
        return vec![word.clone()];
    }
    if FILE_FLAGS.contains(&name) {
        return std::iter::once(word).chain(next_word).cloned().collect();
    }
    Vec::new()
}

/// Returns the words that may be reports to read, which must not be replaced. It is unknown which words are values of
/// unknown flags, so all words that are not flags are returned, or the name of no file.
fn list_possible_inputs(words: &[OsString]) -> Vec<OsString> {
    let mut inputs: Vec<OsString> = words
        .iter()
        .filter(|word| !word.to_string_lossy().starts_with('-'))
        .cloned()
        .collect();
    if inputs.is_empty() {
        inputs.push(OsString::from("-"));
    }
    inputs
}
