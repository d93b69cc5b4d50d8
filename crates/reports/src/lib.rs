//! Writes reports for people and CI hosts: one module per format, and a single function that selects the format.
//!
//! Writers are pure: they turn a [`Report`] and a [`ReportContext`] into text or bytes, piece by piece if these may be
//! large. They do not read the environment or access files, so that tests use plain values, and a failed destination
//! never affects another one. The set of formats is closed on purpose: the compiler lists the missing parts of a new
//! one.
//!
//! The texts of a review come from outside: rule names, violations and paths. Each host has its own escape function,
//! next to the code for the host. All output can be printed in a CI job: the host does not read a line of it as a
//! command, except the intended commands.

mod annotation;
pub mod azure;
mod azure_build;
pub mod bitbucket;
mod change_list_markdown;
mod changes_markdown;
mod checkstyle;
pub mod github;
mod gitlab;
mod html;
pub mod json;
mod junit;
mod markdown;
mod report_context;
mod review_markdown;
mod run_summary;

mod file_uri;
mod finding_tone;
mod findings_markdown;
mod next_step;
mod path_base;
mod rdjson;
mod release_note;
mod remarks;
mod sarif;
mod sentences;
pub mod terminal;
mod truncation;
mod unfinished_report;
mod unreviewed_count;
mod unreviewed_files;
mod view;

pub use azure_build::AzureBuild;
pub use changes_markdown::{
    ChangedPipelineCallers, ChangesPage, ConsumerChanges, MAX_FLOWCHART_BOXES,
    render_page as changes_as_markdown,
};
pub use html::render_changes_page;
pub use junit::{
    ExecutionRun, PublishBreak, PublishRun, SmokeCase, write_execution_junit, write_publish_junit,
};
pub use path_base::PathBase;
pub use release_note::render_release_note;
pub use report_context::{
    ChangedFile, ChangedLines, NumberedLine, OMITTED_PICTURE, ReportContext, RuleText, SarifLimits,
    SourceLines, select_touched_lines,
};
pub use review_markdown::{MAX_SUMMARY_BYTES, render_comment};
pub use run_summary::{
    SummaryChanges, render_failure_annotation, render_failure_summary, render_publish_summary,
    render_warning_annotation,
};
pub use sluicegate_pipelines::findings::Verdict;
pub use unfinished_report::UnfinishedReport;

use clap::ValueEnum;
use sluicegate_base::text::JsonEscaper;
use sluicegate_pipelines::findings::Report;
use std::fmt;
use std::io::{self, BufWriter, Write};

/// A report format: the `FORMAT` in `--report FORMAT=PATH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// JUnit XML for CI hosts.
    Junit,
    /// JUnit XML that is valid for the strict schemas.
    JunitStrict,
    /// The program's own JSON report.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// GitLab's Code Quality JSON.
    Gitlab,
    /// Markdown for a comment.
    Markdown,
    /// A self-contained HTML page.
    Html,
    /// JSON in the Reviewdog Diagnostic Format.
    Rdjson,
    /// Checkstyle XML for editors and CI plugins.
    Checkstyle,
    /// Workflow commands of GitHub, for a step that prints the file.
    Github,
}

impl Format {
    /// Returns the format's name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Junit => "junit",
            Self::JunitStrict => "junit-strict",
            Self::Json => "json",
            Self::Sarif => "sarif",
            Self::Gitlab => "gitlab",
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Rdjson => "rdjson",
            Self::Checkstyle => "checkstyle",
            Self::Github => "github",
        }
    }

    /// Returns whether the report is JUnit XML, which hosts show as tests.
    pub const fn is_junit(self) -> bool {
        matches!(self, Self::Junit | Self::JunitStrict)
    }

    /// Returns whether the report shows the source lines of all findings, so that these must be read from the files.
    pub const fn needs_source_lines(self) -> bool {
        match self {
            Self::Sarif | Self::Html => true,
            Self::Junit
            | Self::JunitStrict
            | Self::Json
            | Self::Gitlab
            | Self::Markdown
            | Self::Rdjson
            | Self::Checkstyle
            | Self::Github => false,
        }
    }

    /// Returns whether the report has the list of changed pipelines.
    pub const fn needs_changes(self) -> bool {
        match self {
            Self::Json | Self::Markdown | Self::Html => true,
            Self::Junit
            | Self::JunitStrict
            | Self::Sarif
            | Self::Gitlab
            | Self::Rdjson
            | Self::Checkstyle
            | Self::Github => false,
        }
    }

    /// Returns whether the report links findings to their lines on the CI host.
    pub const fn needs_links(self) -> bool {
        match self {
            Self::Markdown | Self::Html => true,
            Self::Junit
            | Self::JunitStrict
            | Self::Json
            | Self::Sarif
            | Self::Gitlab
            | Self::Rdjson
            | Self::Checkstyle
            | Self::Github => false,
        }
    }

    /// Returns whether the report is an HTML page. Some data is prepared only for a page: pictures of unchanged
    /// pipelines, and whether the change touched the lines of known findings.
    pub const fn is_html_page(self) -> bool {
        match self {
            Self::Html => true,
            Self::Junit
            | Self::JunitStrict
            | Self::Json
            | Self::Sarif
            | Self::Gitlab
            | Self::Markdown
            | Self::Rdjson
            | Self::Checkstyle
            | Self::Github => false,
        }
    }

    /// Returns the number of findings that the report omits because of a limit of the host that reads it.
    pub fn count_omitted_findings(self, report: &Report, context: &ReportContext) -> usize {
        match self {
            Self::Sarif => sarif::count_omitted_results(report, context),
            Self::Junit
            | Self::JunitStrict
            | Self::Json
            | Self::Gitlab
            | Self::Markdown
            | Self::Html
            | Self::Rdjson
            | Self::Checkstyle
            | Self::Github => 0,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Writes the report in this format, in UTF-8 with a final line break. A CI host that prints the report does not find
/// commands in it, except in [`Format::Github`], which consists of commands. Only in Markdown and HTML is the complete
/// text in memory before it is written.
pub fn render(
    format: Format,
    report: &Report,
    context: &ReportContext,
    writer: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Junit => junit::render(report, context, junit::Dialect::Hosts, writer),
        Format::JunitStrict => junit::render(report, context, junit::Dialect::Strict, writer),
        Format::Json => json::render(report, context, writer),
        Format::Sarif => sarif::render(report, context, writer),
        Format::Gitlab => gitlab::render(report, context, writer),
        Format::Markdown => writer.write_all(render_comment(report, context).as_bytes()),
        Format::Html => writer.write_all(html::render(report, context).as_bytes()),
        Format::Rdjson => rdjson::render(report, context, writer),
        Format::Checkstyle => checkstyle::render(report, context, writer),
        Format::Github => github::render(report, context, writer),
    }
}

/// The destination of JSON output.
type JsonOut<'o> = BufWriter<JsonEscaper<&'o mut dyn Write>>;

/// Writes the JSON of `serialize` and a final line break. Characters are escaped so that a CI host that prints the
/// document does not find workflow commands in it.
fn write_json(
    writer: &mut dyn Write,
    serialize: impl FnOnce(&mut JsonOut<'_>) -> serde_json::Result<()>,
) -> io::Result<()> {
    let mut json = BufWriter::with_capacity(64 * 1024, JsonEscaper::new(writer));
    serialize(&mut json)?;
    json.write_all(b"\n")?;
    json.flush()
}

/// Returns the names and values of the outputs for later steps of a job: the verdict, the number of reviewed files, and
/// the numbers of findings. A number is empty if it is unknown.
pub fn list_review_outputs(report: &Report) -> Vec<(&'static str, String)> {
    let totals = report.finding_totals();
    let optional_number = |number: Option<usize>| number.map(|number| number.to_string()).unwrap_or_default();
    vec![
        ("verdict", report.verdict.to_string()),
        (
            "reviewed",
            unreviewed_count::count_reviewed_files(report).to_string(),
        ),
        ("errors", totals.errors.to_string()),
        ("warnings", totals.warnings.to_string()),
        ("not-evaluated", totals.not_evaluated.to_string()),
        ("new", optional_number(totals.new)),
        ("known", optional_number(totals.known)),
        ("waived", totals.waived.to_string()),
    ]
}

/// The host whose annotations are printed during a review.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnnotationStyle {
    /// GitHub's workflow commands, which Gitea and Forgejo support too.
    Github,
    /// Azure's logging commands.
    Azure,
    /// No annotations.
    #[default]
    None,
}

impl AnnotationStyle {
    /// Returns the host's command that shows an annotation, on one line; `None` if no annotations are printed.
    fn format_command(self, annotation: &annotation::Annotation) -> Option<String> {
        match self {
            Self::Github => Some(github::format_command(annotation)),
            Self::Azure => Some(azure::format_command(annotation)),
            Self::None => None,
        }
    }
}

/// Returns the annotations of files as commands of the host, to be printed unchanged to standard output, one per line.
/// The notices of the run are not included, because [`terminal::render`] writes them to the log as commands.
/// `is_passing` states whether the run passes regardless of the verdict.
pub fn list_annotations(
    style: AnnotationStyle,
    report: &Report,
    context: &ReportContext,
    is_passing: bool,
) -> Vec<String> {
    match style {
        AnnotationStyle::Github => github::list_annotations(report, context, is_passing),
        AnnotationStyle::Azure => azure::list_annotations(report, context, is_passing),
        AnnotationStyle::None => Vec::new(),
    }
}

#[cfg(test)]
mod sample;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_is_parsed_from_its_name() {
        for format in Format::value_variants() {
            assert_eq!(Format::from_str(&format.to_string(), false), Ok(*format));
        }
    }

    /// Returns reports of every kind: mixed, with states, empty, undecided, huge, unreadable.
    fn sample_reports() -> Vec<Report> {
        use sluicegate_pipelines::findings::{FindingState, Severity, Status};
        let mut compared_report = sample::report();
        compared_report.fixed_count = Some(4);
        compared_report.files[1].results[1].set_states([Some(FindingState::Known), Some(FindingState::New)]);
        compared_report.files[0].results[0].set_states([Some(FindingState::Waived)]);
        let mut undecided_report = sample::report();
        undecided_report.verdict = Verdict::Undecided;
        let many = |n: u32, severity| {
            let violations = (0..n).map(|n| sample::violation(&format!("v{n}"), Some(n + 1)));
            sample::result("r", Status::Failed(severity), violations.collect())
        };
        let mut huge_report = sample::empty(Verdict::Failed);
        huge_report.files = (0..40)
            .map(|n| {
                let results = vec![many(200, Severity::Error), many(n, Severity::Warning)];
                sample::file(&format!("f{n:02}.orch.yaml"), results)
            })
            .collect();
        let broken = || Status::Error(Some("designer/document-parse-error".to_owned()));
        let mut unreadable_report = sample::empty(Verdict::Failed);
        unreadable_report.files = vec![sample::file(
            "broken.orch.yaml",
            vec![
                sample::result("one", broken(), vec![sample::violation("no", Some(2))]),
                sample::result("two", broken(), vec![sample::violation("no", Some(2))]),
            ],
        )];
        let empty = [Verdict::Passed, Verdict::Undecided, Verdict::Failed].map(sample::empty);
        let mut reports = vec![
            sample::report(),
            compared_report,
            undecided_report,
            huge_report,
            unreadable_report,
        ];
        reports.extend(empty);
        reports
    }

    /// Returns the number before these words.
    fn number_before(text: &str, suffix: &str) -> Option<usize> {
        let (prefix, _) = text.split_once(suffix)?;
        prefix.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a test tells its story in one piece")]
    fn all_writers_show_same_numbers() {
        let about = ReportContext::default();
        for report in sample_reports() {
            let totals = report.finding_totals();
            let expected = [totals.errors, totals.warnings, totals.not_evaluated].map(Some);
            let outputs = list_review_outputs(&report);
            let output = |name| {
                let found = outputs.iter().find(|(known, _)| *known == name);
                found.and_then(|(_, value)| value.parse().ok())
            };
            assert_eq!(["errors", "warnings", "not-evaluated"].map(output), expected);
            assert_eq!((output("new"), output("known")), (totals.new, totals.known));

            let line = sentences::render_headline(&report);
            if !line.contains("no pipeline was selected") {
                let plain = line
                    .replace(" new ", " ")
                    .replace(',', "")
                    .replace(" pipeline not evaluated", " not evaluated");
                let said = [" error", " warning", " not evaluated"].map(|what| number_before(&plain, what));
                let counted = expected.map(|number| number.filter(|number| *number > 0));
                assert_eq!(said, counted, "{line}");
            }
            assert!(render_comment(&report, &about).contains(&line), "{line}");

            let json: serde_json::Value =
                serde_json::from_slice(&sample::write_to_vec(|out| json::render(&report, &about, out)))
                    .unwrap();
            let key = |name: &str| {
                json["findings"][name]
                    .as_u64()
                    .and_then(|n| usize::try_from(n).ok())
            };
            assert_eq!(["errors", "warnings", "notEvaluated"].map(key), expected);
            assert_eq!(
                [key("new"), key("known"), key("fixed")],
                [totals.new, totals.known, totals.fixed]
            );
            assert_eq!(key("waived"), Some(totals.waived));

            let insights = bitbucket::build_report(&report);
            let number = |at: usize| usize::try_from(insights["data"][at]["value"].as_u64()?).ok();
            assert_eq!([0, 1, 2].map(number), expected);

            let html = html::render(&report, &about);
            let said = ["error", "warning", "broken"].map(|class| {
                let button = format!("class=\"{class}\" name=\"level\"");
                let shown = html.split(&button).nth(1)?.split('>').nth(1)?;
                shown.split(' ').next()?.replace(',', "").parse().ok()
            });
            assert_eq!(said.map(|number| number.or(Some(0))), expected);
            let listed = ["error", "warning", "broken"].map(|class| {
                let marks = html.matches("<article ");
                assert_eq!(marks.count(), report.findings().len());
                let of = |more: &str| format!("\" class=\"{class}{more}\"><header>");
                Some(html.matches(&of("")).count() + html.matches(&of(" repeat")).count())
            });
            assert_eq!(listed, expected);

            let entries: Vec<serde_json::Value> =
                serde_json::from_slice(&sample::write_to_vec(|out| gitlab::render(&report, &about, out)))
                    .unwrap();
            let of = |severity| {
                entries
                    .iter()
                    .filter(|entry| entry["severity"] == severity)
                    .count()
            };
            let unreviewed = report.unreviewed_files.len();
            let old = report
                .findings()
                .iter()
                .filter(|finding| !finding.is_counted())
                .count();
            let verdicts = entries.iter().filter(|entry| entry["check_name"] == "verdict");
            assert_eq!(
                of("critical") - unreviewed - verdicts.count(),
                totals.not_evaluated
            );
            assert_eq!(of("major") + of("minor"), totals.errors + totals.warnings + old);

            let annotations = annotation::collect_file_annotations(&report, &about);
            let placed = annotations.iter().filter(|a| a.place.is_some()).count();
            let others = unreviewed + report.gate_changes.len();
            let counted = totals.errors + totals.warnings + totals.not_evaluated;
            assert_eq!(placed - others, counted);

            let sarif: serde_json::Value =
                serde_json::from_slice(&sample::write_to_vec(|out| sarif::render(&report, &about, out)))
                    .unwrap();
            let results = sarif["runs"][0]["results"].as_array().unwrap();
            let verdicts = results
                .iter()
                .filter(|result| result["ruleId"] == "review-verdict");
            assert_eq!(results.len() - verdicts.count(), counted + old);
            if report.verdict == Verdict::Failed {
                assert!(!results.is_empty() && !entries.is_empty());
            }
        }
    }

    #[test]
    fn style_picks_host() {
        let (report, about) = (sample::report(), ReportContext::default());
        let shown = |style| list_annotations(style, &report, &about, false);
        assert!(shown(AnnotationStyle::Github)[0].starts_with("::error "));
        assert!(shown(AnnotationStyle::Azure)[0].starts_with("##vso[task.logissue "));
        assert!(shown(AnnotationStyle::None).is_empty());
    }
}
