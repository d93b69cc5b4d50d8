//! Writes the report as Checkstyle XML, which many editors and CI plugins read.
//!
//! Checkstyle does not publish a schema. Readers expect `checkstyle/file/error` with these attributes
//! (<https://github.com/checkstyle/checkstyle/blob/master/src/main/java/com/puppycrawl/tools/checkstyle/XMLLogger.java>).

use super::ReportContext;
use super::annotation::{Annotation, Level, collect_report_annotations};
use super::junit::escape_attribute;
use sluicegate_pipelines::findings::Report;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The file of an entry about the run.
const RUN_PATH: &str = "sluicegate";

/// Writes the annotations of [`collect_report_annotations`] as `<error>` elements, grouped by file. Annotations without
/// a file are listed under the file name `sluicegate`.
pub(super) fn render(report: &Report, context: &ReportContext, writer: &mut dyn Write) -> io::Result<()> {
    let annotations = collect_report_annotations(report, context);
    let mut files: BTreeMap<&str, Vec<&Annotation>> = BTreeMap::new();
    for annotation in &annotations {
        let path = annotation.place.as_ref().map_or(RUN_PATH, |(path, _)| path);
        files.entry(path).or_default().push(annotation);
    }
    writeln!(
        writer,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">"
    )?;
    for (path, annotations) in files {
        writeln!(writer, "<file name=\"{}\">", escape_attribute(path))?;
        for annotation in annotations {
            let line = annotation.place.as_ref().map_or(1, |(_, line)| *line);
            writeln!(
                writer,
                "<error line=\"{line}\" severity=\"{}\" message=\"{}\" source=\"sluicegate.{}\"/>",
                severity_name(annotation.level),
                escape_attribute(&annotation.message),
                escape_attribute(&annotation.title),
            )?;
        }
        writeln!(writer, "</file>")?;
    }
    writeln!(writer, "</checkstyle>")
}

/// Returns the severity in Checkstyle's terms. Checkstyle has `info` instead of notices.
const fn severity_name(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Notice => "info",
    }
}
