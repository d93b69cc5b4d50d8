//! Configures `git diff` to show pipelines by component: the program, in git's configuration of this repository, and
//! the files, in `.gitattributes`. Existing settings are not changed.

use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::PROGRAM;
use crate::session::{CommandResult, Session};
use crate::workspace::checkout_lock::CheckoutLock;
use crate::workspace::omitted_file::reject_omitted_file;
use sluicegate_base::input;
use sluicegate_base::text;
use sluicegate_git::{is_missing, read_disk_file};
use std::path::Path;

/// The setting of the diff driver, and its program.
const SETTING: &str = "diff.sluicegate.command";
const COMMAND: &str = "sluicegate diff --external";

const ATTRIBUTES: &str = ".gitattributes";
const PATTERNS: [&str; 2] = ["*.orch.yaml", "*.tran.yaml"];
const DRIVER: &str = "diff=sluicegate";

const NOT_CHANGED: &str = "not changed       ";
const NEXT_STEPS: &str = "\nCommit .gitattributes. The setting applies to this clone only: run `sluicegate init --git-diff` \
                    in every other clone.";

/// Maximum size of a `.gitattributes` file, in bytes.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Runs `sluicegate init --git-diff`: sets up this clone so that `git diff` describes changes to pipelines in words.
/// Keeps existing settings, prints what was written, and warns if git would not find the program.
pub(crate) fn run(session: &Session, is_dry_run: bool) -> CommandResult {
    let repo = session.open_repository()?;
    if repo.is_bare() {
        return Err(
            Failure::usage("a bare repository has no files to show").with_hint("run the command in a clone")
        );
    }
    let label = if is_dry_run {
        "would write       "
    } else {
        "wrote             "
    };
    // Held until the file is written.
    let _lock = if is_dry_run {
        None
    } else {
        CheckoutLock::acquire(session, &repo)?
    };
    let path = repo.root().join(ATTRIBUTES);
    reject_omitted_file(&repo, ATTRIBUTES)?;
    // Read first, so that nothing is written if the file cannot be extended.
    let old_text = read_attributes(&path)?;
    let (new_lines, existing_lines) = plan_attribute_lines(&old_text);
    let existing_command = repo.read_local_setting(SETTING)?;
    if existing_command.is_none() && !is_dry_run {
        // libgit2 would leave its lock file if a signal ended the run meanwhile.
        session
            .signals
            .hold_during(|| repo.set_local_setting(SETTING, COMMAND))
            .map_err(|error| Failure::from(error).with_status(ExitStatus::Usage))?;
    }
    let mut report_lines = vec![describe_diff_command(existing_command.as_deref(), label)];
    report_lines.extend(
        existing_lines
            .iter()
            .map(|line| format!("{NOT_CHANGED}{ATTRIBUTES}: {}", text::escape_line(line))),
    );
    if !new_lines.is_empty() {
        if !is_dry_run {
            append_attribute_lines(&path, &old_text, &new_lines)?;
        }
        report_lines.extend(
            new_lines
                .iter()
                .map(|line| format!("{label}{line}, in {ATTRIBUTES}")),
        );
        report_lines.push(NEXT_STEPS.to_owned());
    }
    // With another command, git does not search the PATH for this program.
    let uses_path = existing_command.is_none_or(|command| command == COMMAND);
    if uses_path && !is_program_on_path(session) {
        session.ui.warn_with_hint(
            &format!("`{PROGRAM}` is not on the PATH, so `git diff` would fail"),
            &format!("add it to the PATH, or set its full path: git config {SETTING} '/path/to/{COMMAND}'"),
        );
    }
    session.ui.print_result(&(report_lines.join("\n") + "\n"))?;
    Ok(session.signals.pending_status().unwrap_or(ExitStatus::Success))
}

/// Returns the line of the report about the program of the diff driver. The line begins with `label` if the setting is
/// new.
fn describe_diff_command(existing_command: Option<&str>, label: &str) -> String {
    match existing_command {
        None => format!("{label}{SETTING} = {COMMAND}, in git's configuration of this clone"),
        Some(COMMAND) => format!("{NOT_CHANGED}{SETTING}: already set"),
        Some(command) => format!(
            "{NOT_CHANGED}{SETTING}: already set to {}",
            text::escape_line(command)
        ),
    }
}

/// Returns whether `PATH` contains the program, because git starts it by its name.
fn is_program_on_path(session: &Session) -> bool {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let path = session.env.get("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|dir| dir.join(&name).is_file())
}

/// Reads `.gitattributes`; a missing file is empty. Rejects a symbolic link, because it may lead out of the repository.
fn read_attributes(path: &Path) -> Result<String, Failure> {
    if is_missing(path) {
        return Ok(String::new());
    }
    if path.is_symlink() {
        return Err(attributes_failure("the file is a symbolic link"));
    }
    let bytes = read_disk_file(path, MAX_FILE_BYTES)
        .map_err(|error| attributes_failure(&error.to_string()))?
        .ok_or_else(|| attributes_failure("the file is too large"))?;
    input::decode_utf_8(bytes).map_err(attributes_failure)
}

/// Returns the error for a `.gitattributes` file that cannot be extended.
fn attributes_failure(reason: &str) -> Failure {
    Failure::usage(format!("could not extend {ATTRIBUTES}: {reason}"))
}

/// Returns the lines to add to `.gitattributes`, and the existing lines to keep. A line is added for each pattern of
/// pipelines for which `text`, the current content, does not set a diff driver. Of several existing lines, the last is
/// returned, because git uses it.
fn plan_attribute_lines(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut new_lines, mut existing_lines) = (Vec::new(), Vec::new());
    for pattern in PATTERNS {
        let mut lines = text.lines().map(str::trim);
        match lines.rfind(|line| is_diff_attribute(line, pattern)) {
            Some(line) => existing_lines.push(line.to_owned()),
            None => new_lines.push(format!("{pattern} {DRIVER}")),
        }
    }
    (new_lines, existing_lines)
}

/// Returns whether this line of `.gitattributes` sets or unsets the diff driver for exactly this pattern.
fn is_diff_attribute(line: &str, pattern: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some(pattern) && words.any(|word| word.trim_start_matches(['-', '!']).starts_with("diff"))
}

/// Appends these lines to `.gitattributes`, whose content is `old_text`, and creates the file if it is missing.
fn append_attribute_lines(path: &Path, old_text: &str, lines: &[String]) -> Result<(), Failure> {
    let mut text = old_text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    atomic_file::replace_file(path, old_text.as_bytes(), text.as_bytes())
        .map_err(|error| Failure::usage(format!("could not write {ATTRIBUTES}: {error}")))
}
