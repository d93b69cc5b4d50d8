//! Finds the platform's hidden directory if the repository does not reveal it: lists the candidates and prompts for the
//! name.

use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::base::git::Snapshot;
use crate::base::ui::Ui;
use crate::commands::{Run, is_ci};
use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _};
use std::path::Path;

/// Hidden directories with YAML that belong to CI hosts and editors.
const OF_OTHERS: [&str; 12] = [
    ".azure",
    ".buildkite",
    ".ci",
    ".circleci",
    ".config",
    ".forgejo",
    ".git",
    ".gitea",
    ".github",
    ".gitlab",
    ".idea",
    ".vscode",
];

/// Maximum length of the user's input, in bytes.
const ANSWER: u64 = 1024;

/// Returns the hidden directories at the root that contain YAML and may be the platform's, sorted by name.
pub(crate) fn candidates(snapshot: &Snapshot<'_>) -> Result<Vec<String>, Failure> {
    let is_yaml = |path: &str| {
        let extension = Path::new(path).extension();
        extension.is_some_and(|extension| extension == "yaml" || extension == "yml")
    };
    let files = snapshot.files(&|path| path.starts_with('.') && is_yaml(path))?;
    let folders = files.iter().filter_map(|file| Some(file.path.split_once('/')?.0));
    let mut names: Vec<String> = folders
        .filter(|name| is_name(name) && !OF_OTHERS.contains(name))
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// Prompts on a terminal; otherwise returns an error with the candidates and the command to run.
pub(crate) fn must_be_named(snapshot: &Snapshot<'_>, run: &Run, command: &str) -> Result<String, Failure> {
    let candidates = candidates(snapshot)?;
    match ask(run, &candidates)? {
        Some(name) => Ok(name),
        None => Err(unknown(&candidates, command)),
    }
}

/// Returns the directory name for a suggested command.
pub(crate) fn first_or_any(candidates: &[String]) -> &str {
    candidates.first().map_or(".NAME", String::as_str)
}

/// Returns the error that the platform's directory is unknown, with the candidates and the command to run.
pub(crate) fn unknown(candidates: &[String], command: &str) -> Failure {
    let mut message = "no hidden directory at the repository root looks like the platform's".to_owned();
    if !candidates.is_empty() {
        let _ = write!(
            message,
            "; hidden directories with YAML: {}",
            candidates.join(", ")
        );
    }
    let first = first_or_any(candidates);
    Failure::usage(message).hint(format!(
        "set the directory named in the platform's documentation: `{command} --config-dir {first}`"
    ))
}

/// Prompts for the directory; `None` if no terminal is attached or the input is empty. Some CI hosts give jobs a
/// terminal that no user reads.
pub(crate) fn ask(run: &Run, candidates: &[String]) -> Result<Option<String>, Failure> {
    if is_ci(&run.env) || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(None);
    }
    let mut question = "Which hidden directory at the repository root is the platform's?\n".to_owned();
    for (number, name) in candidates.iter().enumerate() {
        let _ = writeln!(question, "  {}  {name}", number + 1);
    }
    question.push_str("Enter a number or a name such as .platform, or press Enter to skip: ");
    Ui::out_beside(&question)?;
    let mut answer = String::new();
    let read = io::stdin().lock().take(ANSWER).read_line(&mut answer);
    read.map_err(|error| Failure::new(ExitStatus::Usage, error))?;
    chosen(&answer, candidates)
}

fn chosen(answer: &str, candidates: &[String]) -> Result<Option<String>, Failure> {
    let answer = answer.trim();
    if answer.is_empty() {
        return Ok(None);
    }
    let by_number = answer
        .parse::<usize>()
        .ok()
        .and_then(|number| candidates.get(number.checked_sub(1)?));
    match by_number.map_or(answer, String::as_str) {
        name if is_name(name) => Ok(Some(name.to_owned())),
        other => Err(Failure::usage(format!(
            "{other:?} is not a valid name of a hidden directory"
        ))),
    }
}

/// Returns whether this is the name of a hidden directory that a shell accepts unquoted.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    name.len() > 1 && name != ".." && name.starts_with('.') && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn an_answer_is_a_number_a_name_or_nothing() {
        let candidates = [".acme".to_owned(), ".other".to_owned()];
        let name = |answer: &str| chosen(answer, &candidates).map_err(|error| error.render());
        assert_eq!(name("2\n"), Ok(Some(".other".to_owned())));
        assert_eq!(name(" .new \r\n"), Ok(Some(".new".to_owned())));
        assert_eq!(name("\n"), Ok(None));
        for wrong in ["3", "0", "acme", "..", "../x", ".a/b", ".a;b"] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
    }
}
