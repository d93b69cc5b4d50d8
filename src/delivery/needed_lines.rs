//! Determines which lines of the files the report writers show, and for which lines they must know whether the change
//! touched them. Most findings are known or beyond the limits of lists, so their files need not be read again.

use super::Delivery;
use sluicegate_pipelines::findings::Finding;
use sluicegate_reports::{ChangedLines, Format, terminal};
use std::collections::{BTreeMap, BTreeSet};

/// The lines that must be read from the files, or compared with the base.
#[derive(Default)]
pub(super) struct NeededLines<'a> {
    /// The lines to show, by path.
    pub shown_lines: BTreeMap<&'a str, BTreeSet<u32>>,
    /// The lines, by path, of findings for which a writer needs to know whether the change touched them.
    pub compared_lines: BTreeMap<&'a str, BTreeSet<u32>>,
}

impl<'a> NeededLines<'a> {
    /// Returns the lines of the findings for which an output must know whether the change touched them: the HTML page
    /// marks such findings, other outputs list or annotate them first.
    pub(super) fn for_sorting(delivery: &Delivery<'a>) -> Self {
        let report = delivery.report;
        // The page marks every finding on a touched line, including known and waived ones.
        if delivery.destinations.has_report(Format::is_html_page) {
            return Self::for_findings(report.findings());
        }
        let mut findings = report.findings();
        findings.retain(Finding::is_counted);
        Self::for_findings(findings)
    }

    /// Returns the lines of these findings, as lines to compare with the base.
    fn for_findings(findings: Vec<Finding<'a>>) -> Self {
        let mut needed_lines = Self::default();
        for finding in findings {
            needed_lines
                .compared_lines
                .entry(finding.path)
                .or_default()
                .insert(finding.line);
        }
        needed_lines
    }

    /// Adds the lines whose text the outputs show: of all findings, or only of those that the log lists.
    pub(super) fn add_shown_lines(&mut self, delivery: &Delivery<'a>, changed_lines: &ChangedLines) {
        let report = delivery.report;
        if delivery.destinations.has_report(Format::needs_source_lines) {
            self.add_findings(report.findings());
        } else {
            self.add_findings(terminal::select_excerpt_findings(
                report,
                changed_lines,
                delivery.destinations.show,
            ));
        }
    }

    /// Returns whether the change's lines must be known before the shown lines are read. This is so if only the log
    /// shows lines and it omits some findings: findings on changed lines come first in its list.
    pub(super) fn depends_on_touched_lines(delivery: &Delivery<'_>) -> bool {
        let limit = delivery.destinations.show.unwrap_or_default().max_findings();
        !delivery.destinations.has_report(Format::needs_source_lines)
            && delivery.report.findings().len() > limit
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shown_lines.is_empty() && self.compared_lines.is_empty()
    }

    /// Returns the paths of the files with needed lines.
    pub(super) fn collect_paths(&self) -> BTreeSet<&'a str> {
        let shown_paths = self.shown_lines.keys();
        shown_paths.chain(self.compared_lines.keys()).copied().collect()
    }

    /// Adds the lines of these findings, as lines to show.
    fn add_findings(&mut self, findings: Vec<Finding<'a>>) {
        for finding in findings {
            self.shown_lines
                .entry(finding.path)
                .or_default()
                .insert(finding.line);
        }
    }
}
