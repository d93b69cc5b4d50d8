//! Finds the hidden directory if the repository does not reveal it: lists the candidates and prompts for the name.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::session::Session;
use crate::ui::Ui;
use sluicegate_git::Snapshot;
use sluicegate_pipelines::pipelines::is_pipeline;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

/// Hidden directories that belong to git, CI hosts, editors and other tools.
const TOOL_DIRECTORIES: [&str; 26] = [
    ".azure",
    ".buildkite",
    ".cache",
    ".ci",
    ".circleci",
    ".claude",
    ".config",
    ".cursor",
    ".devcontainer",
    ".forgejo",
    ".git",
    ".gitea",
    ".github",
    ".gitlab",
    ".hg",
    ".husky",
    ".idea",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".terraform",
    ".venv",
    ".vs",
    ".vscode",
    ".woodpecker",
];

/// The placeholder for an unknown directory in a suggested command. Every shell rejects it, because a copied command
/// must not create a directory that no platform reads.
const DIRECTORY_PLACEHOLDER: &str = "<directory>";

/// Maximum length of the user's input, in bytes.
const MAX_ANSWER_BYTES: u64 = 1024;

/// Returns the hidden directories at the root that may be the platform's, sorted by name, without those of well-known
/// tools. Directories that contain pipelines are last, because the platform keeps pipelines outside its directory.
pub(crate) fn find_config_dir_candidates(snapshot: &Snapshot<'_>) -> Result<Vec<String>, Failure> {
    let pipeline_dirs = find_pipeline_dirs(snapshot)?;
    let mut names = snapshot.list_root_folders()?;
    names.retain(|name| is_hidden_dir_name(name) && !TOOL_DIRECTORIES.contains(&name.as_str()));
    names.sort_by_cached_key(|name| (pipeline_dirs.contains(name), name.clone()));
    Ok(names)
}

/// Returns the candidate if there is only one, unless it contains pipelines: then it is probably not the platform's
/// directory.
pub(crate) fn find_sole_config_dir_candidate(
    snapshot: &Snapshot<'_>,
    candidates: &[String],
) -> Result<Option<String>, Failure> {
    let [name] = candidates else { return Ok(None) };
    let has_pipelines = find_pipeline_dirs(snapshot)?.contains(name);
    Ok((!has_pipelines).then(|| name.clone()))
}

/// Returns the hidden directories at the root that contain pipelines.
fn find_pipeline_dirs(snapshot: &Snapshot<'_>) -> Result<BTreeSet<String>, Failure> {
    let pipelines = snapshot.list_files(&|path| path.starts_with('.') && is_pipeline(path))?;
    Ok(pipelines
        .iter()
        .filter_map(|file| file.path.split_once('/'))
        .map(|(dir, _)| dir.to_owned())
        .collect())
}

/// Returns the hidden directory that the user enters on a terminal. Without one, returns an error with the candidates
/// and the command to run.
pub(crate) fn require_config_dir(
    snapshot: &Snapshot<'_>,
    session: &Session,
    command: &str,
) -> Result<String, Failure> {
    let candidates = find_config_dir_candidates(snapshot)?;
    match ask_for_config_dir(session, &candidates)? {
        Some(name) => Ok(name),
        None => Err(unknown_config_dir_failure(&candidates, command)),
    }
}

/// Returns the command with the flag `--config-dir` and the first candidate; without candidates, with a placeholder
/// that the user must replace.
pub(crate) fn suggest_command(command: &str, candidates: &[String]) -> String {
    let config_dir = candidates.first().map_or(DIRECTORY_PLACEHOLDER, String::as_str);
    format!("{command} --config-dir {config_dir}")
}

/// Returns the error that the hidden directory is unknown, with the candidates and the command to run.
pub(crate) fn unknown_config_dir_failure(candidates: &[String], command: &str) -> Failure {
    let mut message =
        "no hidden directory at the repository root looks like the platform's directory".to_owned();
    if !candidates.is_empty() {
        let _ = write!(message, "; hidden directories: {}", candidates.join(", "));
    }
    Failure::usage(message).with_hint(format!(
        "set the directory named in the platform's documentation: `{}`",
        suggest_command(command, candidates)
    ))
}

/// Prompts for the hidden directory. Returns `None` if no terminal is attached or the input is empty. On a CI host
/// there is no prompt, because some give jobs a terminal that no user reads.
pub(crate) fn ask_for_config_dir(
    session: &Session,
    candidates: &[String],
) -> Result<Option<String>, Failure> {
    if session.is_ci() || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(None);
    }
    let mut question = "Which hidden directory at the repository root is the platform's?\n".to_owned();
    for (number, name) in candidates.iter().enumerate() {
        let _ = writeln!(question, "  {}  {name}", number + 1);
    }
    question.push_str("Enter a number or a name such as .platform, or press Enter to skip: ");
    Ui::print_to_stderr(&question)?;
    let mut answer = String::new();
    io::stdin()
        .lock()
        .take(MAX_ANSWER_BYTES)
        .read_line(&mut answer)
        .map_err(|error| Failure::new(ExitStatus::Usage, error))?;
    parse_answer(&answer, candidates)
}

/// Returns the directory that the answer names: the number of a candidate, or a name. Returns `None` for an empty
/// answer, and an error for a name that cannot be that of a hidden directory.
fn parse_answer(answer: &str, candidates: &[String]) -> Result<Option<String>, Failure> {
    let answer = answer.trim();
    if answer.is_empty() {
        return Ok(None);
    }
    let numbered_candidate = answer
        .parse::<usize>()
        .ok()
        .and_then(|number| candidates.get(number.checked_sub(1)?));
    match numbered_candidate.map_or(answer, String::as_str) {
        name if is_hidden_dir_name(name) => Ok(Some(name.to_owned())),
        name => Err(Failure::usage(format!(
            "{name:?} is not a valid name for a hidden directory"
        ))),
    }
}

/// Returns whether this is the name of a hidden directory that a shell accepts unquoted.
pub(crate) fn is_hidden_dir_name(name: &str) -> bool {
    name.len() > 1
        && name != ".."
        && name.starts_with('.')
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "._-".contains(character))
}

#[cfg(test)]
mod tests {
    use super::parse_answer;

    #[test]
    fn answer_is_a_number_name_or_nothing() {
        let candidates = [".acme".to_owned(), ".other".to_owned()];
        let name = |answer: &str| parse_answer(answer, &candidates).map_err(|error| error.describe());
        assert_eq!(name("2\n"), Ok(Some(".other".to_owned())));
        assert_eq!(name(" .new \r\n"), Ok(Some(".new".to_owned())));
        assert_eq!(name("\n"), Ok(None));
        for wrong in ["3", "0", "acme", "..", "../x", ".a/b", ".a;b"] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
    }
}
