//! Writes the document from the types of `junit-report`, in one pass.
//!
//! The crate's own writer does not support `line`, `skipped` counts, properties or totals, invents a host name, and
//! does not sanitize texts. This module therefore uses only its types.
//!
//! The strict dialect contains only what both common schemas allow, that of Jenkins' xunit plugin
//! (<https://github.com/jenkinsci/xunit-plugin/blob/master/src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd>)
//! and that of Ant's reports (<https://github.com/windyroad/JUnit-Schema>), whose old versions have no skipped cases:
//! no attributes on the root, no file and line on a case, a host name, a timestamp without zone, times with three
//! decimals, and the two output elements at each suite's end.

use super::escaped_text::{escape_attribute, escape_content};
use junit_report::{Duration, OffsetDateTime, TestCase, TestResult, TestSuite};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use std::io;

/// Values of `type` that make GitLab's parser convert the content or reject the document: it is the parser of Ruby on
/// Rails (<https://api.rubyonrails.org/classes/ActiveSupport/XmlMini.html>).
const TYPES_OF_RAILS: [&str; 17] = [
    "array",
    "base64Binary",
    "binary",
    "boolean",
    "date",
    "dateTime",
    "datetime",
    "decimal",
    "double",
    "duration",
    "file",
    "float",
    "hexBinary",
    "integer",
    "string",
    "symbol",
    "yaml",
];

/// The readers that the document is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// The CI hosts, which accept further attributes.
    Hosts,
    Strict,
}

/// A suite, with the data that `junit-report` does not support.
pub(super) struct Suite {
    pub suite: TestSuite,
    /// The line of each case that belongs to a file.
    pub lines: Vec<Option<u32>>,
}

/// The numbers of cases.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CaseCounts {
    pub tests: usize,
    pub skipped_count: usize,
    pub failures: usize,
    pub errors: usize,
}

impl CaseCounts {
    /// Counts the cases of a suite by outcome.
    pub(super) fn from_suite(suite: &Suite) -> Self {
        let suite = &suite.suite;
        Self {
            tests: suite.tests(),
            skipped_count: suite.skipped(),
            failures: suite.failures(),
            errors: suite.errors(),
        }
    }
}

/// The properties of the entire document.
pub(super) struct JunitReport<'a> {
    pub dialect: Dialect,
    pub name: &'a str,
    pub counts: CaseCounts,
    pub duration: std::time::Duration,
    /// The properties of every suite.
    pub properties: &'a [(&'static str, String)],
}

/// Writes the document with a final line break: the totals of `report`, then the suites. Each suite is dropped after
/// it is written.
pub(super) fn write_document(
    writer: &mut dyn io::Write,
    suites: impl IntoIterator<Item = Suite>,
    report: &JunitReport<'_>,
) -> io::Result<()> {
    let mut document = JunitDocument {
        writer: Writer::new(writer),
        dialect: report.dialect,
    };
    document.write_event(Event::Decl(BytesDecl::new("1.0", Some("utf-8"), None)))?;
    document.write_start_tag("testsuites", &list_total_attributes(report))?;
    for (id, suite) in suites.into_iter().enumerate() {
        document.write_suite(id, &suite, report.properties)?;
    }
    document.write_end_tag("testsuites")?;
    document.write_event(Event::Text(BytesText::from_escaped("\n")))
}

/// Lists the attributes of the root element: the name and the totals. There are none in the strict dialect, which does
/// not allow them.
fn list_total_attributes(report: &JunitReport<'_>) -> Vec<(&'static str, String)> {
    if report.dialect == Dialect::Strict {
        return Vec::new();
    }
    vec![
        ("name", report.name.to_owned()),
        ("tests", report.counts.tests.to_string()),
        ("failures", report.counts.failures.to_string()),
        ("errors", report.counts.errors.to_string()),
        ("time", format!("{:.6}", report.duration.as_secs_f64())),
    ]
}

struct JunitDocument<'o> {
    writer: Writer<&'o mut dyn io::Write>,
    dialect: Dialect,
}

impl JunitDocument<'_> {
    fn write_event(&mut self, event: Event<'_>) -> io::Result<()> {
        self.writer.write_event(event)
    }

    fn write_start_tag(
        &mut self,
        name: &'static str,
        attributes: &[(&'static str, String)],
    ) -> io::Result<()> {
        self.write_event(Event::Start(build_tag(name, attributes)))
    }

    fn write_end_tag(&mut self, name: &'static str) -> io::Result<()> {
        self.write_event(Event::End(BytesEnd::new(name)))
    }

    /// Writes a suite with its cases. `id` is its position in the document. The strict schemas require a host name, so
    /// a fixed one is written. The strict dialect has no skipped cases, so their number is not written.
    fn write_suite(
        &mut self,
        id: usize,
        suite: &Suite,
        properties: &[(&'static str, String)],
    ) -> io::Result<()> {
        let TestSuite {
            name,
            package,
            timestamp,
            testcases,
            system_out,
            ..
        } = &suite.suite;
        let mut attributes = vec![
            ("id", id.to_string()),
            ("name", name.clone()),
            ("package", package.clone()),
            ("tests", suite.suite.tests().to_string()),
            ("errors", suite.suite.errors().to_string()),
            ("failures", suite.suite.failures().to_string()),
            ("timestamp", self.format_timestamp(*timestamp)),
            ("time", self.format_seconds(suite.suite.time())),
        ];
        attributes.push(match self.dialect {
            Dialect::Hosts => ("skipped", suite.suite.skipped().to_string()),
            Dialect::Strict => ("hostname", "localhost".to_owned()),
        });
        self.write_start_tag("testsuite", &attributes)?;
        self.write_properties(properties)?;
        // Without the endless `None`, `zip` would drop the cases that have no entry in `lines`.
        let lines = suite.lines.iter().copied().chain(std::iter::repeat(None));
        for (case, line) in testcases.iter().zip(lines) {
            self.write_case(case, line)?;
        }
        if let Some(text) = system_out {
            self.write_element("system-out", &[], Some(text))?;
        }
        // The strict schemas require the second output, even if it is empty.
        if self.dialect == Dialect::Strict {
            self.write_element("system-err", &[], None)?;
        }
        self.write_end_tag("testsuite")
    }

    /// Writes the properties of a suite.
    fn write_properties(&mut self, properties: &[(&'static str, String)]) -> io::Result<()> {
        self.write_start_tag("properties", &[])?;
        for (name, value) in properties {
            let attributes = [("name", (*name).to_owned()), ("value", value.clone())];
            self.write_element("property", &attributes, None)?;
        }
        self.write_end_tag("properties")
    }

    /// Writes a case. The strict dialect does not allow the attributes `file` and `line`.
    fn write_case(&mut self, case: &TestCase, line: Option<u32>) -> io::Result<()> {
        let mut attributes = vec![
            ("name", case.name.clone()),
            ("time", self.format_seconds(case.time)),
        ];
        attributes.extend(case.classname.clone().map(|name| ("classname", name)));
        if self.dialect == Dialect::Hosts {
            attributes.extend(case.filepath.clone().map(|path| ("file", path)));
            attributes.extend(line.map(|line| ("line", line.to_string())));
        }
        if matches!(case.result, TestResult::Success) && case.system_out.is_none() {
            return self.write_event(Event::Empty(build_tag("testcase", &attributes)));
        }
        self.write_start_tag("testcase", &attributes)?;
        self.write_result(&case.result)?;
        if let Some(text) = &case.system_out {
            self.write_element("system-out", &[], Some(text))?;
        }
        self.write_end_tag("testcase")
    }

    /// Writes the element for the result of a case, with its text; nothing if the case succeeded.
    fn write_result(&mut self, result: &TestResult) -> io::Result<()> {
        let (name, result_type, message, cause) = match result {
            TestResult::Success => return Ok(()),
            TestResult::Skipped => return self.write_element("skipped", &[], None),
            TestResult::SkippedWithCause {
                type_,
                message,
                cause,
            } => ("skipped", type_, message, cause),
            TestResult::Error {
                type_,
                message,
                cause,
            } => ("error", type_, message, cause),
            TestResult::Failure {
                type_,
                message,
                cause,
            } => ("failure", type_, message, cause),
        };
        let attributes = [
            ("type", replace_reserved_type(result_type)),
            ("message", message.clone()),
        ];
        self.write_element(name, &attributes, cause.as_deref())
    }

    /// Writes an element with escaped text, or an empty element if there is no text.
    fn write_element(
        &mut self,
        name: &'static str,
        attributes: &[(&'static str, String)],
        text: Option<&str>,
    ) -> io::Result<()> {
        let Some(text) = text else {
            return self.write_event(Event::Empty(build_tag(name, attributes)));
        };
        self.write_start_tag(name, attributes)?;
        self.write_event(Event::Text(BytesText::from_escaped(escape_content(text))))?;
        self.write_end_tag(name)
    }

    /// Formats a duration in seconds; the strict dialect allows only three decimals.
    fn format_seconds(&self, time: Duration) -> String {
        let seconds = time.as_seconds_f64();
        match self.dialect {
            Dialect::Hosts => seconds.to_string(),
            Dialect::Strict => format!("{seconds:.3}"),
        }
    }

    /// Formats a time in UTC; the strict dialect does not allow the `Z` for the zone.
    fn format_timestamp(&self, time: OffsetDateTime) -> String {
        let zone = if self.dialect == Dialect::Hosts { "Z" } else { "" };
        format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{zone}",
            time.year(),
            u8::from(time.month()),
            time.day(),
            time.hour(),
            time.minute(),
            time.second()
        )
    }
}

/// Returns the value for the attribute `type`: if GitLab's parser would interpret it (see [`TYPES_OF_RAILS`]), the word
/// `type` is put before it.
fn replace_reserved_type(result_type: &str) -> String {
    if TYPES_OF_RAILS.contains(&result_type) {
        format!("type {result_type}")
    } else {
        result_type.to_owned()
    }
}

/// Builds a tag whose attribute values are escaped by [`escape_attribute`]: `quick-xml` would keep line breaks, which a
/// parser replaces with spaces.
fn build_tag(name: &'static str, attributes: &[(&'static str, String)]) -> BytesStart<'static> {
    let mut tag = BytesStart::new(name);
    for (name, value) in attributes {
        tag.push_attribute((name.as_bytes(), escape_attribute(value).as_bytes()));
    }
    tag
}
