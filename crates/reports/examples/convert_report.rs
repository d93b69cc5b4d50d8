//! Writes a JSON report in another format.
//!
//! usage: convert_report REPORT FORMAT

use clap::ValueEnum as _;
use sluicegate_reports::{Format, ReportContext, json, render};
use std::io::{self, Write};
use std::{env, fs};

fn main() -> io::Result<()> {
    let mut args = env::args().skip(1);
    let (Some(file), Some(format)) = (args.next(), args.next()) else {
        return writeln!(io::stderr(), "usage: convert_report REPORT FORMAT");
    };
    match Format::from_str(&format, false) {
        Ok(format) => convert_report(&fs::read(&file)?, format, &mut io::stdout()),
        Err(error) => writeln!(io::stderr(), "{error}"),
    }
}

/// Writes the JSON report in this format. A report that is not valid is an error of the kind `InvalidData`.
fn convert_report(text: &[u8], format: Format, writer: &mut dyn Write) -> io::Result<()> {
    let report = json::parse_json_report(text, |_| None)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
    render(format, &report, &ReportContext::default(), writer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_test_support::sample_report;

    #[test]
    fn json_report_is_written_as_junit_with_its_failures() {
        let (mut json, mut junit) = (Vec::new(), Vec::new());
        let context = ReportContext::default();
        render(Format::Json, &sample_report::report(), &context, &mut json).unwrap();
        convert_report(&json, Format::Junit, &mut junit).unwrap();
        let junit = String::from_utf8(junit).unwrap();
        assert!(junit.contains("`Run A` is not in the pattern"), "{junit}");
    }

    #[test]
    fn other_json_is_reported_as_error() {
        let error = convert_report(b"{}", Format::Junit, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.to_string().starts_with("not a valid report"), "{error}");
    }
}
