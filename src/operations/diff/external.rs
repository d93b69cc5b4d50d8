//! Implements git's external diff: <https://git-scm.com/docs/git#Documentation/git.txt-GITEXTERNALDIFF>.

use super::Look;
use super::sides::is_absent;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::ChangedContents;
use crate::job::cli::DiffArgs;
use crate::session::named_file::read_bounded;
use crate::session::{CommandResult, Run};
use sluicegate_pipelines::diff::{DiffLine, compare_plain_files};
use sluicegate_pipelines::findings::FileChange;
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_pipelines::yaml::MAX_DOCUMENT_BYTES;
use std::path::Path;

/// Shows one file. An unreadable file is reported and the exit code stays 0, as git would stop at any other code.
pub(crate) fn run(run: &Run, args: &DiffArgs) -> CommandResult {
    let given: Vec<String> = args
        .paths
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let look = Look::in_git(run);
    let lines = match given.as_slice() {
        [path] => vec![DiffLine::heading(&format!("{path}: not merged"))],
        [path, old, _, old_mode, new, _, new_mode, rest @ ..] if matches!(rest.len(), 0 | 2) => {
            let side = |file: &str| (!is_absent(Path::new(file))).then(|| read(run, file));
            let is_copy = rest.get(1).is_some_and(|how| how.contains("copy from "));
            let contents = ChangedContents {
                path: rest.first().unwrap_or(path).to_string(),
                previous_path: (!rest.is_empty() && !is_copy).then(|| (*path).to_owned()),
                before: side(old).filter(|_| !is_copy),
                after: side(new),
            };
            let mut lines = shown(&contents, &look, (old_mode, new_mode));
            if is_copy {
                lines.insert(1, DiffLine::remark(&format!("copied from {path}")));
            }
            lines
        }
        other => {
            let message = format!(
                "--external requires the seven arguments that git passes, but {} are given",
                other.len()
            );
            return Err(Failure::usage(message)
                .hint("run: git config diff.sluicegate.command 'sluicegate diff --external'"));
        }
    };
    let lines: Vec<String> = lines.iter().map(|line| look.line(line)).collect();
    run.ui.print_result(&(lines.join("\n") + "\n"))?;
    Ok(ExitStatus::Success)
}

fn read(run: &Run, file: &str) -> Result<Vec<u8>, String> {
    read_bounded(&run.env.current_dir().join(Path::new(file)), MAX_DOCUMENT_BYTES).map_err(|why| why.chain())
}

fn shown(contents: &ChangedContents, look: &Look, modes: (&str, &str)) -> Vec<DiffLine> {
    if !contents.differs() {
        return vec![DiffLine::heading(&format!(
            "{}: mode {} -> {}",
            contents.path, modes.0, modes.1
        ))];
    }
    let is_read = |path: &str| is_pipeline(path);
    if is_read(&contents.path) {
        let diff = contents.diff();
        if diff.change != FileChange::Unreadable {
            return look.words(&diff);
        }
    }
    let mut lines = vec![DiffLine::heading(&headline(contents))];
    let side = |read: &Option<Result<Vec<u8>, String>>| match read {
        Some(Ok(bytes)) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        Some(Err(why)) => Err(why.clone()),
        None => Ok(String::new()),
    };
    match (side(&contents.before), side(&contents.after)) {
        (Ok(before), Ok(after)) => lines.extend(compare_plain_files(&before, &after)),
        (before, after) => {
            let failed = [before.err(), after.err()];
            lines.extend(failed.iter().flatten().map(|why| DiffLine::remark(why)));
        }
    }
    lines
}

fn headline(contents: &ChangedContents) -> String {
    let path = &contents.path;
    match (&contents.previous_path, &contents.before, &contents.after) {
        (Some(old), ..) => format!("{path}: renamed from {old}"),
        (None, None, _) => format!("{path}: added"),
        (None, _, None) => format!("{path}: removed"),
        (None, Some(_), Some(_)) => format!("{path}: modified"),
    }
}
