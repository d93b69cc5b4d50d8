//! Renders what a CI host shows for a run without a report: a failure, and the result of a publish.

use super::annotation::{Annotation, Level};
use super::markdown::{escape, escape_prose, render_code};
use super::release_note::{NO_ENABLED_VERSION, render_consumer_changes};
use super::{AnnotationStyle, truncation};
use sluicegate_pipelines::interface::Compatibility;
use std::fmt::Write as _;

/// Maximum number of lines of a failure in a summary.
const MAX_LINES: usize = 100;

/// Maximum length of a line, in characters.
const LINE_LENGTH_LIMIT: usize = 1_000;

/// Returns the host's command that shows a failure as an annotation, to be printed unchanged on a line; `None` if no
/// annotations are printed.
pub fn render_failure_annotation(style: AnnotationStyle, title: &str, message: &str) -> Option<String> {
    render_run_annotation(style, Level::Error, title, message)
}

/// Returns the host's command for a warning, as [`render_failure_annotation`] does for a failure.
pub fn render_warning_annotation(style: AnnotationStyle, title: &str, message: &str) -> Option<String> {
    render_run_annotation(style, Level::Warning, title, message)
}

/// Returns the host's command for an annotation of this level about the run.
fn render_run_annotation(style: AnnotationStyle, level: Level, title: &str, message: &str) -> Option<String> {
    let annotation = Annotation {
        level,
        place: None,
        title: title.to_owned(),
        message: message.to_owned(),
    };
    style.format_command(&annotation)
}

/// Renders the step summary of a failed run. The first line of `message` is the failure; each of the others is a
/// detail, or a next step if it begins with `hint: `. Lines beyond [`MAX_LINES`] are omitted with a note.
pub fn render_failure_summary(title: &str, is_undecided: bool, message: &str) -> String {
    let mark = if is_undecided { "⚠️" } else { "❌" };
    let mut page = format!("## {mark} {}\n\n", shorten_and_escape(title));
    let mut lines = message.lines().filter(|line| !line.trim().is_empty());
    if let Some(first) = lines.next() {
        let _ = writeln!(page, "**{}**\n", shorten_and_escape(first));
    }
    let mut steps = String::new();
    for line in lines.by_ref().take(MAX_LINES) {
        match line.strip_prefix("hint: ") {
            Some(hint) => {
                let hint = escape_prose(&truncation::truncate(hint, LINE_LENGTH_LIMIT));
                let _ = writeln!(steps, "To do: {hint}\n");
            }
            None => {
                let _ = writeln!(page, "- {}", shorten_and_escape(line));
            }
        }
    }
    if lines.next().is_some() {
        page.push_str("- see the log for further lines\n");
    }
    page + "\n" + &steps
}

/// The changes for consumers in the step summary of a publish.
#[derive(Debug, Clone, Copy)]
pub enum SummaryChanges<'a> {
    /// No changes: they are unknown, or nothing was published.
    Omitted,
    /// The changes since an older version or commit.
    Compared(&'a Compatibility),
    /// No older version exists.
    FirstVersion,
    /// All older versions are disabled, and the newest has this name, if it is known.
    OnlyDisabledVersions(Option<&'a str>),
}

/// Renders the step summary of a publish that succeeded or was only planned: facts about the version, then the changes
/// for consumers.
pub fn render_publish_summary(title: &str, facts: &[(&str, &str)], changes: SummaryChanges<'_>) -> String {
    let mut page = format!("## ✅ {}\n\n", shorten_and_escape(title));
    for (name, value) in facts {
        let value = render_code(&truncation::truncate(value, LINE_LENGTH_LIMIT));
        let _ = writeln!(page, "- {}: {value}", escape(name));
    }
    match changes {
        SummaryChanges::Omitted => {}
        SummaryChanges::Compared(compat) => {
            let _ = write!(page, "\n{}", render_consumer_changes(compat));
        }
        SummaryChanges::FirstVersion => {
            page.push_str("\nThis is the first version: there is no older version to compare with.\n");
        }
        SummaryChanges::OnlyDisabledVersions(newest_name) => {
            let suffix = newest_name.map(|name| {
                let name = shorten_and_escape(name);
                format!(" (newest disabled version: {name})")
            });
            let _ = writeln!(page, "\n{NO_ENABLED_VERSION}{}.", suffix.unwrap_or_default());
        }
    }
    page + "\n"
}

/// Truncates a line to its maximum length and escapes it for Markdown.
fn shorten_and_escape(line: &str) -> String {
    escape(&truncation::truncate(line, LINE_LENGTH_LIMIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_summary_has_reason_details_and_step() {
        let message = "could not read `x`\n  caused by: no <b>file</b>\nhint: run `sluicegate doctor`";
        insta::assert_snapshot!(render_failure_summary("Publish failed", false, message), @"
        ## ❌ Publish failed

        **could not read &#96;x&#96;**

        - caused by: no &#60;b>file&#60;/b>

        To do: run <code>sluicegate doctor</code>
        ");
    }

    #[test]
    fn failure_annotation_is_one_command() {
        let annotation = |style| render_failure_annotation(style, "a,b", "one\n::error::two ##vso[x]");
        let github = annotation(AnnotationStyle::Github).unwrap();
        assert!(github.starts_with("::error title=a%2Cb::one%0A"), "{github}");
        assert!(!github.contains('\n'), "{github}");
        let azure = annotation(AnnotationStyle::Azure).unwrap();
        assert!(
            azure.starts_with("##vso[task.logissue type=error;code=a,b;]one%0A"),
            "{azure}"
        );
        assert_eq!(azure.matches("##vso[").count(), 1, "{azure}");
        assert_eq!(annotation(AnnotationStyle::None), None);
    }
}
