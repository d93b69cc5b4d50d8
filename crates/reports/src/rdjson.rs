//! Writes the report as Reviewdog Diagnostic Format: one JSON object with a diagnostic for each finding.
//!
//! <https://github.com/reviewdog/reviewdog/tree/master/proto/rdf#rdjson>

use super::annotation::{Level, collect_report_annotations};
use super::{ReportContext, write_json};
use serde_json::{Value, json};
use sluicegate_base::text::escape_controls;
use sluicegate_pipelines::findings::Report;
use std::io::{self, Write};

/// Writes the annotations of [`collect_report_annotations`] as diagnostics. An annotation without a file has no
/// location.
pub(super) fn render(report: &Report, context: &ReportContext, writer: &mut dyn Write) -> io::Result<()> {
    let diagnostics: Vec<Value> = collect_report_annotations(report, context)
        .iter()
        .map(|annotation| {
            let mut diagnostic = json!({
                "message": escape_controls(&annotation.message),
                "severity": severity_name(annotation.level),
                "code": { "value": escape_controls(&annotation.title) },
            });
            if let Some((path, line)) = &annotation.place {
                diagnostic["location"] = json!({ "path": path, "range": { "start": { "line": line } } });
            }
            diagnostic
        })
        .collect();
    let document = json!({ "source": { "name": "sluicegate" }, "diagnostics": diagnostics });
    write_json(writer, |json| serde_json::to_writer_pretty(json, &document))
}

/// Returns the severity in the format's terms. The format has `INFO` instead of notices.
const fn severity_name(level: Level) -> &'static str {
    match level {
        Level::Error => "ERROR",
        Level::Warning => "WARNING",
        Level::Notice => "INFO",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use sluicegate_pipelines::findings::{Severity, Status, Verdict};

    #[test]
    fn control_character_in_rule_is_visible() {
        let mut report = sample::empty(Verdict::Failed);
        let result = sample::result("r\u{202e}", Status::Failed(Severity::Error), vec![]);
        report.files = vec![sample::file("a", vec![result])];
        let written = sample::write_to_vec(|out| render(&report, &ReportContext::default(), out));
        let document: Value = serde_json::from_slice(&written).unwrap();
        assert_eq!(document["diagnostics"][0]["code"]["value"], "r\\u{202e}");
    }
}
