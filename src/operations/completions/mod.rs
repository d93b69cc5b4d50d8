//! Completions: the script for a shell, and the candidates that the script asks the program for at each press of Tab.
//!
//! The scripts are those of `clap_complete`, see <https://docs.rs/clap_complete/latest/clap_complete/env/index.html>.

mod value_candidates;

use crate::env::Env;
use crate::error::Failure;
use crate::job::cli::{self, PROGRAM};
use crate::session::Session;
use clap_complete::Shell;
use clap_complete::env::{EnvCompleter, Shells};
use std::ffi::{OsStr, OsString};
use value_candidates::{ValueSource, add_candidates};

/// Contains the shell's name when a completion script calls the program. The script also passes `--` and the words of
/// the line, so the variable alone changes nothing: a job with it still runs its command.
const SHELL_VARIABLE: &str = "SLUICEGATE_COMPLETE";

/// The shells that complete file names themselves where the program offers nothing, with the quotes that a name needs.
const SHELLS_WITH_FILE_NAMES: [&str; 2] = ["bash", "powershell"];

/// The shells whose scripts pass the words as typed, with a backslash before each special character.
const SHELLS_WITH_TYPED_WORDS: [&str; 2] = ["fish", "zsh"];

/// Returns the script that registers the program's completions in this shell.
pub(crate) fn render_completion_script(shell: Shell) -> Result<String, Failure> {
    let completer = find_shell_completer(&shell.to_string())
        .ok_or_else(|| Failure::usage(format!("completions are not available for {shell}")))?;
    let mut script = Vec::new();
    completer
        .write_registration(SHELL_VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)
        .map_err(|error| Failure::usage(format!("could not write the script: {error}")))?;
    let script = String::from_utf8_lossy(&script);
    // bash completes files only with this option.
    Ok(script.replace("-o bashdefault", "-o bashdefault -o default"))
}

/// Returns the `clap_complete` support for the shell with this name; `None` if the shell is not supported.
fn find_shell_completer(shell: &str) -> Option<&'static dyn EnvCompleter> {
    const SHELLS: Shells<'static> = Shells::builtins();
    SHELLS.completer(shell)
}

/// Request of a completion script for the words that can follow.
pub(crate) struct CompletionRequest {
    shell: String,
    /// The words of the line; the first one is the program's name.
    words: Vec<OsString>,
}

impl CompletionRequest {
    /// Returns the request if a completion script called the program. `None` for a call by a user: without the
    /// variable, without `--` as the first argument, or with an unknown shell.
    pub(crate) fn from_call(args: &[OsString], env: &Env) -> Option<Self> {
        let [_, separator, words @ ..] = args else {
            return None;
        };
        if separator != "--" || words.is_empty() {
            return None;
        }
        let shell = env.get(SHELL_VARIABLE)?;
        find_shell_completer(shell)?;
        Some(Self {
            shell: shell.to_owned(),
            words: words.to_vec(),
        })
    }

    /// Prints the words that can follow, in the format that the shell's script reads. `session` is used to find the
    /// repository, because its branches and rules are candidates. Some shells pass the words with the typed
    /// backslashes, which are removed first.
    pub(crate) fn print_candidates(self, session: Session) -> Result<(), Failure> {
        let Some(completer) = find_shell_completer(&self.shell) else {
            return Ok(());
        };
        let ui = session.ui;
        let directory = session.env.current_dir().to_owned();
        let offers_paths = !SHELLS_WITH_FILE_NAMES.contains(&completer.name());
        let mut program = add_candidates(
            cli::build_completions_tree(),
            &ValueSource::new(session, offers_paths),
        );
        program.build();
        let words = if SHELLS_WITH_TYPED_WORDS.contains(&completer.name()) {
            self.words.iter().map(|word| unescape_word(word)).collect()
        } else {
            self.words
        };
        let mut candidates = Vec::new();
        completer
            .write_complete(&mut program, words, Some(&directory), &mut candidates)
            .map_err(|error| Failure::usage(format!("could not list the candidates: {error}")))?;
        ui.print_result(&String::from_utf8_lossy(&candidates))
    }
}

/// Removes the backslashes with which the shell escaped special characters.
fn unescape_word(word: &OsStr) -> OsString {
    let mut plain_word = String::new();
    let word = word.to_string_lossy();
    let mut characters = word.chars();
    while let Some(c) = characters.next() {
        let character = if c == '\\' { characters.next() } else { Some(c) };
        plain_word.extend(character);
    }
    plain_word.into()
}
