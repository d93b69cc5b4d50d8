//! Implements git's external diff: <https://git-scm.com/docs/git#Documentation/git.txt-GITEXTERNALDIFF>.

use super::TextStyle;
use super::compared_sides::is_null_device;
use super::plain_change::render_plain_contents;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::ChangedContents;
use crate::job::cli::DiffArgs;
use crate::session::{CommandResult, Session};
use sluicegate_pipelines::diff::DiffLine;
use sluicegate_pipelines::findings::FileChange;
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_yaml::MAX_DOCUMENT_BYTES;
use std::path::Path;

/// Prints the difference of one file, for a call by git as its external diff program. For an unmerged file, git passes
/// only the path; for a renamed or copied file, also the new path and a description. If the file is unreadable, prints
/// the reason and returns success, because git stops at any other exit code.
pub(crate) fn run(session: &Session, args: &DiffArgs) -> CommandResult {
    let path_texts: Vec<String> = args
        .paths
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let git_args: Vec<&str> = path_texts.iter().map(String::as_str).collect();
    let style = TextStyle::for_git(session);
    let lines = match git_args.as_slice() {
        [path] => vec![DiffLine::heading(&format!("{path}: not merged"))],
        // The path, then the file, the object id and the mode of each version. For a renamed or copied file, the new
        // path and a description follow.
        [path, old, _, old_mode, new, _, new_mode, rename_args @ ..]
            if matches!(rename_args.len(), 0 | 2) =>
        {
            let is_copy = rename_args
                .get(1)
                .is_some_and(|description| description.contains("copy from "));
            let contents = ChangedContents {
                path: rename_args.first().unwrap_or(path).to_string(),
                previous_path: (!rename_args.is_empty() && !is_copy).then(|| (*path).to_owned()),
                // A copy leaves the original unchanged, so it is shown as an added file.
                old_content: read_passed_file(session, old).filter(|_| !is_copy),
                new_content: read_passed_file(session, new),
            };
            let mut lines = render_change(&contents, &style, old_mode, new_mode);
            if is_copy {
                // The remark is shown below the heading.
                lines.insert(1, DiffLine::remark(&format!("copied from {path}")));
            }
            lines
        }
        args => {
            let message = format!(
                "--external requires the seven arguments that git passes, but {} were given",
                args.len()
            );
            return Err(Failure::usage(message)
                .with_hint("run: git config diff.sluicegate.command 'sluicegate diff --external'"));
        }
    };
    let lines: Vec<String> = lines.iter().map(|line| style.format_line(line)).collect();
    session.ui.print_result(&(lines.join("\n") + "\n"))?;
    Ok(ExitStatus::Success)
}

/// Reads a file whose path git passes; `None` for the null device. An error is returned as text to print, because git
/// would stop at a failure.
fn read_passed_file(session: &Session, file: &str) -> Option<Result<Vec<u8>, String>> {
    let path = Path::new(file);
    (!is_null_device(path)).then(|| {
        session
            .read_user_file(&session.env.current_dir().join(path), MAX_DOCUMENT_BYTES)
            .map_err(|failure| failure.describe_on_one_line())
    })
}

/// Returns the lines to print for the file. If the contents are equal, only the mode of the file has changed. Otherwise
/// a changed mode is shown below the heading. The mode of a missing file is `.`.
fn render_change(
    contents: &ChangedContents,
    style: &TextStyle,
    old_mode: &str,
    new_mode: &str,
) -> Vec<DiffLine> {
    if !contents.is_different() {
        return vec![DiffLine::heading(&format!(
            "{}: mode {old_mode} -> {new_mode}",
            contents.path
        ))];
    }
    let mut lines = render_contents(contents, style);
    if old_mode != new_mode && ![old_mode, new_mode].contains(&".") {
        lines.insert(1, DiffLine::remark(&format!("mode {old_mode} -> {new_mode}")));
    }
    lines
}

/// Returns the lines for the changed content. A readable pipeline is described in words, any other file line by line.
fn render_contents(contents: &ChangedContents, style: &TextStyle) -> Vec<DiffLine> {
    if is_pipeline(&contents.path) {
        let diff = contents.diff();
        if diff.change != FileChange::Unreadable {
            return style.render_diff(&diff);
        }
    }
    render_plain_contents(contents)
}
