//! Formats annotations, step outputs and the step summary for GitHub Actions, Gitea and Forgejo.
//!
//! <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>

mod outputs;

pub use outputs::format_outputs;

use super::annotation::{self, Annotation, AnnotationLimits, Level};
use super::{ReportContext, review_markdown, truncation};
use sluicegate_base::text;
use sluicegate_pipelines::findings::Report;
use std::io::{self, Write};

/// A step shows ten errors, ten warnings and ten notices, see <https://docs.github.com/actions/reference/limits>.
const ANNOTATION_LIMITS: AnnotationLimits = AnnotationLimits {
    level_count: 10,
    has_notices: true,
    overflow_place: "the step summary and the report",
};

/// Maximum length of a message, in UTF-16 code units: the runner truncates longer ones.
const MESSAGE_LIMIT: usize = 4_096;

/// Maximum length of a title, in UTF-16 code units: the runner defines no limit, but the page shows about this much.
const TITLE_LIMIT: usize = 200;

/// Returns the annotations of files, one workflow command per line, the errors first. GitHub shows at most ten of each
/// level, including the notices in the log. If there are more, the last one states the number of omitted annotations
/// and where to find them.
pub fn list_annotations(report: &Report, context: &ReportContext, is_passing: bool) -> Vec<String> {
    let annotations =
        annotation::collect_limited_file_annotations(report, context, &ANNOTATION_LIMITS, is_passing);
    annotations.iter().map(format_command).collect()
}

/// Writes the annotations of a report as a file with one workflow command per line. A step that prints the file shows
/// them.
pub(super) fn render(report: &Report, context: &ReportContext, writer: &mut dyn Write) -> io::Result<()> {
    for annotation in annotation::collect_report_annotations(report, context) {
        writeln!(writer, "{}", format_command(&annotation))?;
    }
    Ok(())
}

/// Renders the step summary, which is Markdown that GitHub shows on the page of the run. It is smaller than 1,000 KiB,
/// because GitHub drops a summary over 1 MiB.
pub fn render_step_summary(report: &Report, context: &ReportContext) -> String {
    review_markdown::render_summary(report, context)
}

/// Returns the workflow command that shows an annotation, such as `::error file=a.orch.yaml,line=3,title=…::message`.
pub(super) fn format_command(annotation: &Annotation) -> String {
    let level = match annotation.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Notice => "notice",
    };
    let place = match &annotation.place {
        Some((path, line)) => {
            let path = truncation::escape_and_truncate(
                &annotation::escape_property_text(path),
                MESSAGE_LIMIT,
                push_escaped_property,
            );
            format!("file={path},line={line},")
        }
        None => String::new(),
    };
    let title = truncation::escape_and_truncate(
        &annotation::escape_property_text(&annotation.title),
        TITLE_LIMIT,
        push_escaped_property,
    );
    let message = truncation::escape_and_truncate(
        &text::escape_lines(&annotation.message),
        MESSAGE_LIMIT,
        push_escaped_data,
    );
    format!("::{level} {place}title={title}::{message}")
}

/// Adds a character of a command's message to `output`. The runner reverts exactly these three replacements, `%` last.
fn push_escaped_data(c: char, output: &mut String) {
    match c {
        '%' => output.push_str("%25"),
        '\r' => output.push_str("%0D"),
        '\n' => output.push_str("%0A"),
        _ => output.push(c),
    }
}

/// Adds a character of a command's property to `output`: `:` would end the properties, and `,` this property.
fn push_escaped_property(c: char, output: &mut String) {
    match c {
        ':' => output.push_str("%3A"),
        ',' => output.push_str("%2C"),
        _ => push_escaped_data(c, output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use proptest::prelude::*;
    use sluicegate_pipelines::findings::{Severity, Status, Verdict};

    #[test]
    fn report_as_commands() {
        insta::assert_snapshot!(list_annotations(&sample::report(), &ReportContext::default(), false).join("\n"), @"
        ::error file=load/it.orch.yaml,line=9,title=component-naming-convention::`Run B` is not
        ::error file=a.tran.yaml,line=1,title=unused-components::the rule could not be evaluated: designer/no-start-component
        ::error file=load/it.orch.yaml,line=12,title=component-naming-convention::`Run A` is not in the pattern
        ::warning file=a.tran.yaml,line=1,title=maximum-outputs::3 outputs
        ");
    }

    #[test]
    fn notice_without_place_is_one_command() {
        let notice = Annotation {
            level: Level::Error,
            place: None,
            title: "review".to_owned(),
            message: "503 from the platform,\nfour times: 100%".to_owned(),
        };
        insta::assert_snapshot!(format_command(&notice), @"::error title=review::503 from the platform,%0Afour times: 100%25");
    }

    #[test]
    fn ten_errors_and_ten_warnings_at_most() {
        let mut report = sample::empty(Verdict::Failed);
        let results = |n, severity| {
            (0..n)
                .map(|n| sample::result(&format!("r{n}"), Status::Failed(severity), vec![]))
                .collect()
        };
        report.files = vec![
            sample::file("a", results(11, Severity::Warning)),
            sample::file("b", results(10, Severity::Error)),
        ];
        let lines = list_annotations(&report, &ReportContext::default(), false);
        assert_eq!(lines.len(), 20);
        assert!(lines[9].starts_with("::error file=b,"), "ten fit: {}", lines[9]);
        assert_eq!(
            lines[19],
            "::warning title=review::2 warnings omitted: see the step summary and the report"
        );
    }

    #[test]
    fn long_message_is_cut_within_limit() {
        let mut report = sample::empty(Verdict::Failed);
        let long = sample::violation(&"%😀".repeat(3_000), None);
        report.files = vec![sample::file(
            "a",
            vec![sample::result("r", Status::Failed(Severity::Error), vec![long])],
        )];
        let line = &list_annotations(&report, &ReportContext::default(), false)[0];
        let message = line.rsplit("::").next().unwrap();
        assert!(message.encode_utf16().count() <= MESSAGE_LIMIT && message.len() > MESSAGE_LIMIT - 8);
        assert!(message.ends_with('…'));
    }

    #[test]
    fn property_names_the_file_that_starts_like_a_command() {
        let place = |path: &str| {
            let annotation = Annotation {
                level: Level::Error,
                place: Some((path.to_owned(), 1)),
                title: "review".to_owned(),
                message: String::new(),
            };
            let command = format_command(&annotation);
            let (_, rest) = command.split_once("file=").unwrap();
            unescape(rest.split_once(",line=").unwrap().0)
        };
        for path in ["::error::hi.orch.yaml", "a::b, c%.orch.yaml", "a.orch.yaml"] {
            assert_eq!(place(path), path);
        }
        // The runner has no escape for these characters, and reads them as a command anywhere in a line.
        assert_eq!(place("##[error]a.orch.yaml"), "# #[error]a.orch.yaml");
    }

    /// Reverts the escapes like the runner, `%` last.
    fn unescape(text: &str) -> String {
        let pairs = [
            ("%0D", "\r"),
            ("%0A", "\n"),
            ("%3A", ":"),
            ("%2C", ","),
            ("%25", "%"),
        ];
        pairs
            .iter()
            .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }

    fn escaped(text: &str, push: fn(char, &mut String)) -> String {
        truncation::escape_and_truncate(text, usize::MAX, push)
    }

    proptest! {
        #[test]
        fn runner_reads_text_back(raw in "(\\PC|[%:,\\r\\n]|%0A|%25|::){0,60}") {
            let property = escaped(&raw, push_escaped_property);
            prop_assert!(!property.contains(['\r', '\n', ':', ',']));
            prop_assert_eq!(unescape(&property), raw.as_str());
            let data = escaped(&raw, push_escaped_data);
            prop_assert!(!data.contains(['\r', '\n']));
            let data_pairs = data.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%");
            prop_assert_eq!(data_pairs, raw);
        }

        #[test]
        fn every_text_is_one_command_per_line(raw in "(\\PC|[%:,\\r\\n\\x1b]|::|##\\[){0,40}") {
            let mut report = sample::empty(Verdict::Failed);
            let found = sample::violation(&raw, Some(3));
            report.files = vec![sample::file(&raw, vec![sample::result(&raw, Status::Failed(Severity::Error), vec![found])])];
            let lines = list_annotations(&report, &ReportContext::default(), false);
            prop_assert_eq!(lines.len(), 1);
            prop_assert!(lines[0].starts_with("::error file="));
            prop_assert!(!lines[0].contains(['\r', '\n', '\x1b']));
            prop_assert!(!lines[0].contains("##["), "{}", lines[0]);
            let (properties, message) = lines[0][2..].split_once("::").unwrap();
            prop_assert_eq!(properties.matches(',').count(), 2, "{}", properties);
            prop_assert_eq!(message.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%"), text::escape_lines(&sample::shown_message(&raw)).into_owned());
        }
    }
}
