//! Describes the changed lines of a file that is not a pipeline.

use super::TextStyle;
use crate::exit::ExitStatus;
use crate::gate::ChangedContents;
use crate::job::cli::{DiffArgs, DiffFormat};
use crate::session::{CommandResult, Session};
use sluicegate_pipelines::diff::{DiffLine, compare_plain_files};
use sluicegate_pipelines::findings::FileChange;
use sluicegate_pipelines::pipelines::is_pipeline;
use std::borrow::Cow;

/// The reason for the exit status of a command with `--exit-code`.
pub(crate) const DIFFERENCE_REASON: &str = "the compared versions differ (--exit-code)";

/// Returns whether the comparison of two files is shown as text and line by line: neither the name nor the content is
/// that of a pipeline.
pub(crate) fn is_plain_change(args: &DiffArgs, contents: &ChangedContents) -> bool {
    args.output == DiffFormat::Text
        && contents.is_different()
        && !is_pipeline(&contents.path)
        && contents.diff().change == FileChange::Unreadable
}

/// Prints the changed lines of a file. With `--exit-code`, exits with the status of a failed gate, because the files
/// differ.
pub(crate) fn print_plain_change(
    session: &Session,
    args: &DiffArgs,
    contents: &ChangedContents,
) -> CommandResult {
    let style = TextStyle::for_terminal(session);
    let lines: Vec<String> = render_plain_contents(contents)
        .iter()
        .map(|line| style.format_line(line))
        .collect();
    session.ui.print_result(&(lines.join("\n") + "\n"))?;
    if args.exit_code {
        session.annotate_printed_failure(ExitStatus::GateFailed, DIFFERENCE_REASON);
        return Ok(ExitStatus::GateFailed);
    }
    Ok(ExitStatus::Success)
}

/// Returns the lines to print for a file that is not a pipeline, or not a readable one: its changed lines.
pub(crate) fn render_plain_contents(contents: &ChangedContents) -> Vec<DiffLine> {
    let mut lines = vec![DiffLine::heading(&describe_file_change(contents))];
    match (
        content_as_text(contents.old_content.as_ref()),
        content_as_text(contents.new_content.as_ref()),
    ) {
        (Ok(old_text), Ok(new_text)) => lines.extend(compare_plain_files(&old_text, &new_text)),
        (old_text, new_text) => {
            let reasons = [old_text.err(), new_text.err()];
            lines.extend(reasons.into_iter().flatten().map(DiffLine::remark));
        }
    }
    lines
}

/// Returns the content of a file as text, or the reason why the file could not be read. The text of a missing file is
/// empty.
fn content_as_text(content: Option<&Result<Vec<u8>, String>>) -> Result<Cow<'_, str>, &str> {
    match content {
        Some(Ok(bytes)) => Ok(String::from_utf8_lossy(bytes)),
        Some(Err(reason)) => Err(reason),
        None => Ok(Cow::Borrowed("")),
    }
}

/// Describes whether the file was renamed, added, removed or modified.
fn describe_file_change(contents: &ChangedContents) -> String {
    let path = &contents.path;
    match (
        &contents.previous_path,
        &contents.old_content,
        &contents.new_content,
    ) {
        (Some(old), ..) => format!("{path}: renamed from {old}"),
        (None, None, _) => format!("{path}: added"),
        (None, _, None) => format!("{path}: removed"),
        (None, Some(_), Some(_)) => format!("{path}: modified"),
    }
}
