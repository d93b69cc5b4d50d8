//! Formats logging commands of Azure Pipelines that mark issues of a run.
//!
//! <https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands#logissue-log-an-error-or-warning>

use super::annotation::{self, Annotation, AnnotationLimits, Level};
use super::{ReportContext, truncation};
use sluicegate_base::text;
use sluicegate_pipelines::findings::Report;

/// Azure shows ten issues of each type in a run's summary. It has no notices.
const ISSUE_LIMITS: AnnotationLimits = AnnotationLimits {
    level_count: 10,
    has_notices: false,
    overflow_place: "the report and the log",
};

/// Maximum length of an issue's code, in UTF-16 code units.
const CODE_LIMIT: usize = 200;

/// Maximum length of a message, in UTF-16 code units.
const MESSAGE_LIMIT: usize = 4_096;

/// Returns the issues of files, one `##vso` command per line, the errors first. Azure shows at most ten of each type,
/// including the notices in the log. If there are more, the last one states the number of omitted issues.
pub fn list_annotations(report: &Report, context: &ReportContext, is_passing: bool) -> Vec<String> {
    let annotations =
        annotation::collect_limited_file_annotations(report, context, &ISSUE_LIMITS, is_passing);
    annotations.iter().map(format_command).collect()
}

/// Returns the `##vso` commands that set the step's outputs, one per line. Later steps and other jobs read an output as
/// `<step>.<name>`, such as `<step>.verdict`
/// (<https://learn.microsoft.com/azure/devops/pipelines/process/set-variables-scripts>).
pub fn format_outputs(pairs: &[(&str, String)]) -> Vec<String> {
    pairs
        .iter()
        .map(|(name, value)| {
            let escaped_value = escape(&text::escape_line(value));
            format!("##vso[task.setvariable variable={name};isOutput=true]{escaped_value}")
        })
        .collect()
}

/// Returns the logging command that shows an annotation. Azure has no notices, so they become warnings.
pub(super) fn format_command(annotation: &Annotation) -> String {
    let issue_type = if annotation.level == Level::Error {
        "error"
    } else {
        "warning"
    };
    let place = annotation
        .place
        .as_ref()
        .map_or_else(String::new, |(path, line)| {
            format!(
                "sourcepath={};linenumber={line};columnnumber=1;",
                escape(&annotation::escape_property_text(path))
            )
        });
    let code = truncation::escape_and_truncate(
        &annotation::escape_property_text(&annotation.title),
        CODE_LIMIT,
        push_escaped_char,
    );
    let message = truncation::escape_and_truncate(
        &text::escape_lines(&annotation.message),
        MESSAGE_LIMIT,
        push_escaped_char,
    );
    format!("##vso[task.logissue type={issue_type};{place}code={code};]{message}")
}

/// Escapes text for a logging command. The agent reverts these replacements, in properties and in the message alike.
fn escape(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    text.chars().for_each(|c| push_escaped_char(c, &mut output));
    output
}

/// Adds a character to `output`, escaped if it has a meaning in a logging command. `%AZP25` is Azure's code for `%`.
fn push_escaped_char(c: char, output: &mut String) {
    match c {
        '%' => output.push_str("%AZP25"),
        ';' => output.push_str("%3B"),
        '\r' => output.push_str("%0D"),
        '\n' => output.push_str("%0A"),
        ']' => output.push_str("%5D"),
        _ => output.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use proptest::prelude::*;
    use sluicegate_pipelines::findings::{Severity, Status, Verdict};

    /// Reverts the replacements in the agent's order.
    fn unescape(text: &str) -> String {
        let pairs = [
            ("%3B", ";"),
            ("%0D", "\r"),
            ("%0A", "\n"),
            ("%5D", "]"),
            ("%AZP25", "%"),
        ];
        pairs
            .iter()
            .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }

    #[test]
    fn report_as_commands() {
        insta::assert_snapshot!(list_annotations(&sample::report(), &ReportContext::default(), false).join("\n"), @"
        ##vso[task.logissue type=error;sourcepath=load/it.orch.yaml;linenumber=9;columnnumber=1;code=component-naming-convention;]`Run B` is not
        ##vso[task.logissue type=error;sourcepath=a.tran.yaml;linenumber=1;columnnumber=1;code=unused-components;]the rule could not be evaluated: designer/no-start-component
        ##vso[task.logissue type=error;sourcepath=load/it.orch.yaml;linenumber=12;columnnumber=1;code=component-naming-convention;]`Run A` is not in the pattern
        ##vso[task.logissue type=warning;sourcepath=a.tran.yaml;linenumber=1;columnnumber=1;code=maximum-outputs;]3 outputs
        ");
    }

    #[test]
    fn properties_and_message_cannot_end_early() {
        let mut report = sample::empty(Verdict::Failed);
        let found = sample::violation("50 %; [x] ##vso[task.complete result=Succeeded]", None);
        report.files = vec![sample::file(
            "a;b]%.orch.yaml",
            vec![sample::result(
                "r;]",
                Status::Failed(Severity::Error),
                vec![found],
            )],
        )];
        insta::assert_snapshot!(list_annotations(&report, &ReportContext::default(), false).join("\n"), @"##vso[task.logissue type=error;sourcepath=a%3Bb%5D%AZP25.orch.yaml;linenumber=1;columnnumber=1;code=r%3B%5D;]50 %AZP25%3B [x%5D # #vso[task.complete result=Succeeded%5D");
    }

    #[test]
    fn property_names_the_file_that_starts_like_a_command_of_another_host() {
        let annotation = |path: &str| Annotation {
            level: Level::Error,
            place: Some((path.to_owned(), 1)),
            title: "review".to_owned(),
            message: String::new(),
        };
        let command = format_command(&annotation("::error::hi.orch.yaml"));
        assert!(command.contains("sourcepath=::error::hi.orch.yaml;"), "{command}");
        let command = format_command(&annotation("##vso[task.complete]a.orch.yaml"));
        assert_eq!(command.matches("##").count(), 1, "{command}");
    }

    #[test]
    fn output_cannot_become_another_command() {
        let pairs = [
            ("verdict", "failed".to_owned()),
            ("junit", "a]\n##vso[task.complete]%;".to_owned()),
        ];
        insta::assert_snapshot!(format_outputs(&pairs).join("\n"), @"
        ##vso[task.setvariable variable=verdict;isOutput=true]failed
        ##vso[task.setvariable variable=junit;isOutput=true]a%5D # #vso[task.complete%5D%AZP25%3B
        ");
    }

    proptest! {
        #[test]
        fn agent_reads_text_back(text in "(\\PC|[%;\\]\\r\\n]|%3B|%AZP25){0,60}") {
            let escaped = escape(&text);
            prop_assert!(!escaped.contains(['\r', '\n', ';', ']']));
            prop_assert_eq!(unescape(&escaped), text);
        }

        #[test]
        fn every_text_is_one_command_per_line(raw in "(\\PC|[%;\\]\\r\\n\\x1b]|::|##\\[|##vso\\[){0,40}") {
            let command = format_command(&Annotation {
                level: Level::Error,
                place: Some((raw.clone(), 1)),
                title: raw.clone(),
                message: raw,
            });
            prop_assert_eq!(command.matches("##vso[").count(), 1, "{}", command);
            prop_assert!(!command.contains("##[") && !command.contains(['\r', '\n', '\x1b']), "{}", command);
        }
    }
}
