//! Configures `git diff` to show pipelines by component: the program, in git's configuration of this repository, and
//! the files, in `.gitattributes`. Existing settings are not changed.

use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::session::{CommandResult, Run};
use sluicegate_base::input;
use sluicegate_base::text;
use sluicegate_git::read_disk_file;
use std::fs;
use std::path::Path;

/// The setting of the diff driver, and its program.
const SETTING: &str = "diff.sluicegate.command";
const COMMAND: &str = "sluicegate diff --external";
const PROGRAM: &str = "sluicegate";

const ATTRIBUTES: &str = ".gitattributes";
const PATTERNS: [&str; 2] = ["*.orch.yaml", "*.tran.yaml"];
const DRIVER: &str = "diff=sluicegate";

const LEFT: &str = "not changed       ";
const NEXT: &str = "\nCommit .gitattributes. The setting applies to this clone only: run `sluicegate init --git-diff` \
                    in every other clone.";

/// Maximum size of a `.gitattributes` file, in bytes.
const SIZE_LIMIT: u64 = 1024 * 1024;

pub(crate) fn run(run: &Run, dry_run: bool) -> CommandResult {
    let repo = run.open_repository()?;
    if repo.is_bare() {
        return Err(Failure::usage("a bare repository has no files to show").hint("run this in a clone"));
    }
    let wrote = if dry_run {
        "would write       "
    } else {
        "wrote             "
    };
    let mut told = vec![match repo.local_setting(SETTING)? {
        None => {
            if !dry_run {
                repo.set_local_setting(SETTING, COMMAND)?;
            }
            format!("{wrote}{SETTING} = {COMMAND}, in git's configuration of this clone")
        }
        Some(value) if value == COMMAND => format!("{LEFT}{SETTING}: already set"),
        Some(value) => format!("{LEFT}{SETTING}: already set to {}", text::escape_line(&value)),
    }];
    let path = repo.root().join(ATTRIBUTES);
    let (lines, left) = missing(&attributes(&path)?);
    told.extend(
        left.iter()
            .map(|line| format!("{LEFT}{ATTRIBUTES}: {}", text::escape_line(line))),
    );
    if !lines.is_empty() {
        if !dry_run {
            add(&path, &lines)?;
        }
        told.extend(lines.iter().map(|line| format!("{wrote}{line}, in {ATTRIBUTES}")));
        told.push(NEXT.to_owned());
    }
    if !is_on_path(run) {
        run.ui.warn(&format!(
            "`{PROGRAM}` is not on the PATH, so `git diff` would fail\n\
             hint: add it to the PATH, or set its full path: git config {SETTING} '/path/to/{COMMAND}'"
        ));
    }
    run.ui.print_result(&(told.join("\n") + "\n"))?;
    Ok(ExitStatus::Success)
}

/// Returns whether a shell would find the program, as git does.
fn is_on_path(run: &Run) -> bool {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let path = run.env.get("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|folder| folder.join(&name).is_file())
}

/// Returns the text of the file. Rejects a symbolic link, as it may lead out of the repository.
fn attributes(path: &Path) -> Result<String, Failure> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(String::new());
    }
    let cannot = |why: String| Failure::usage(format!("could not extend {ATTRIBUTES}: {why}"));
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Err(cannot("the file is a symbolic link".to_owned()));
    }
    let bytes = read_disk_file(path, SIZE_LIMIT).map_err(|why| cannot(why.to_string()))?;
    let bytes = bytes.ok_or_else(|| cannot("the file is too large".to_owned()))?;
    input::decode_utf_8(bytes).map_err(|reason| cannot(reason.to_owned()))
}

/// Returns the lines to add, and the existing lines about these files.
fn missing(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut add, mut left) = (Vec::new(), Vec::new());
    for pattern in PATTERNS {
        let mut lines = text.lines().map(str::trim);
        let about_diff = |line: &&str| {
            let mut words = line.split_whitespace();
            words.next() == Some(pattern)
                && words.any(|word| word.trim_start_matches(['-', '!']).starts_with("diff"))
        };
        match lines.rfind(about_diff) {
            Some(line) => left.push(line.to_owned()),
            None => add.push(format!("{pattern} {DRIVER}")),
        }
    }
    (add, left)
}

fn add(path: &Path, lines: &[String]) -> Result<(), Failure> {
    let mut text = attributes(path)?;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    atomic_file::write_file(path, text.as_bytes())
        .map_err(|why| Failure::usage(format!("could not write {ATTRIBUTES}: {why}")))
}
