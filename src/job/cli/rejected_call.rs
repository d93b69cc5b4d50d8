//! Reads the valid part of arguments that clap rejects. The destinations in it show which files an earlier run may have
//! left, so that none of them is taken for a result of the rejected call.

use super::{Cli, PROGRAM, command_tree, single_command};
use clap::{Command, FromArgMatches as _};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The valid part of rejected arguments.
pub struct RejectedCall {
    /// The command with its valid flags.
    pub cli: Cli,
    /// The words that are neither a valid flag nor the value of one.
    other_words: Vec<OsString>,
}

impl RejectedCall {
    /// Reads the arguments; the first is the program's name. Returns `None` if they contain no command that writes
    /// reports.
    #[must_use]
    pub fn from_args(args: &[OsString]) -> Option<Self> {
        let name = command_tree::find_called_command(args)?;
        let program = single_command::build_lenient_program(name)?;
        let mut valid_words = vec![OsString::from(PROGRAM), OsString::from(name)];
        let mut other_words = Vec::new();
        let command_index = args.iter().skip(1).position(|word| word == name)? + 1;
        let words_before = args.get(1..command_index).unwrap_or_default();
        let words_after = args.get(command_index + 1..).unwrap_or_default();
        let mut words = words_before.iter().chain(words_after).peekable();
        while let Some(word) = words.next() {
            if word == "--" {
                other_words.extend(words.cloned());
                break;
            }
            if !word.as_encoded_bytes().starts_with(b"-") {
                other_words.push(word.clone());
            } else if can_parse_words(&program, &valid_words, &[word]) {
                valid_words.push(word.clone());
            } else if let Some(value) =
                words.next_if(|next| can_parse_words(&program, &valid_words, &[word, next]))
            {
                valid_words.extend([word.clone(), value.clone()]);
            } else {
                other_words.push(word.clone());
            }
        }
        let mut matches = program.try_get_matches_from(valid_words).ok()?;
        let cli = Cli::from_arg_matches_mut(&mut matches).ok()?;
        Some(Self { cli, other_words })
    }

    /// Returns the files that the words may name which are no valid flag: each word, and each part after a `=`.
    #[must_use]
    pub fn list_possible_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for word in &self.other_words {
            files.push(PathBuf::from(word));
            let text = word.to_string_lossy();
            let values = text
                .match_indices('=')
                .filter_map(|(index, _)| text.get(index + 1..));
            files.extend(values.map(PathBuf::from));
        }
        files
    }
}

/// Returns whether the program can parse these words after the others.
fn can_parse_words(program: &Command, valid_words: &[OsString], words: &[&OsString]) -> bool {
    let valid_words = valid_words.iter().map(OsString::as_os_str);
    let words = words.iter().map(OsStr::new);
    program
        .clone()
        .try_get_matches_from(valid_words.chain(words))
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_call(args: &str) -> Option<RejectedCall> {
        let args: Vec<OsString> = args.split(' ').map(OsString::from).collect();
        RejectedCall::from_args(&args)
    }

    #[test]
    fn valid_flags_before_and_after_the_invalid_one_are_read() {
        let call = find_call(
            "sluicegate -C dir check --report junit=a.xml --bogus=x.json --report=json=b.json --show many c.json \
             --report sarif --out o.txt -- --report html=d.html",
        )
        .unwrap();
        let super::super::Command::Check(args) = &call.cli.command else {
            panic!("{:?}", call.cli);
        };
        let reports = args.gate.destinations.report.iter();
        let paths: Vec<_> = reports.filter_map(|report| report.path.clone()).collect();
        assert_eq!(paths, [PathBuf::from("a.xml"), PathBuf::from("b.json")]);
        assert_eq!(call.cli.global.directory, Some(PathBuf::from("dir")));
        assert_eq!(call.cli.global.out, Some(PathBuf::from("o.txt")));
        let files = call.list_possible_files();
        for file in ["x.json", "c.json", "sarif", "d.html"] {
            assert!(files.contains(&PathBuf::from(file)), "{file}: {files:?}");
        }
    }

    #[test]
    fn arguments_without_command_that_writes_reports_are_not_read() {
        for args in [
            "sluicegate",
            "sluicegate --bogus",
            "sluicegate chekc --report junit=a.xml",
        ] {
            assert!(find_call(args).is_none(), "{args}");
        }
        // The required files are missing.
        assert!(find_call("sluicegate report --report junit=a.xml").is_some());
    }
}
