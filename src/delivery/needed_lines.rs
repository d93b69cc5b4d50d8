//! Determines which lines of the files the writers show, and for which files they need the changes: most findings are
//! known or beyond the listing limits, and their files need not be read again.

use super::Delivery;
use crate::job::ci::Host;
use crate::job::cli::Annotations;
use crate::report::{AnnotationStyle, ChangedLines, Format, terminal};
use crate::session::Run;
use crate::session::step_report::annotation_style;
use sluicegate_pipelines::findings::Finding;
use std::collections::{BTreeMap, BTreeSet};

/// The lines needed from the files.
#[derive(Default)]
pub(super) struct Needed<'a> {
    /// The lines to show, by path.
    pub lines: BTreeMap<&'a str, BTreeSet<u32>>,
    /// The lines, by path, of findings for which a writer needs to know whether the change touched them.
    pub touched: BTreeMap<&'a str, BTreeSet<u32>>,
}

impl<'a> Needed<'a> {
    /// Returns the findings for which a writer needs to know whether the change touched them, as their order depends on
    /// it.
    pub(super) fn for_order(run: &Run, delivery: &Delivery<'a>) -> Self {
        let report = delivery.report;
        let of_each = |takes_old: bool| {
            let mut needed = Self::default();
            for finding in report
                .findings()
                .into_iter()
                .filter(|it| takes_old || it.is_counted())
            {
                needed
                    .touched
                    .entry(finding.path)
                    .or_default()
                    .insert(finding.line);
            }
            needed
        };
        if delivery.to.has_report(Format::is_page) {
            return of_each(true);
        }
        // New findings come first, regardless of which lines the change touches.
        let is_ordered = report.fixed_count.is_none()
            && (!run.ui.is_quiet() || delivery.to.has_report(Format::needs_order) || delivery.to.comment);
        if is_ordered || is_annotated(delivery) {
            return of_each(false);
        }
        Self::default()
    }

    /// Adds the lines that the writers show.
    pub(super) fn add_lines(&mut self, run: &Run, delivery: &Delivery<'a>, changed: &ChangedLines) {
        let report = delivery.report;
        if delivery.to.has_report(Format::needs_lines) {
            self.show(report.findings());
        } else if !run.ui.is_quiet() {
            self.show(terminal::listed(report, changed, delivery.to.show));
        }
    }

    /// Returns whether the selection of lines to show depends on which findings the change touched.
    pub(super) fn lines_depend_on_order(run: &Run, delivery: &Delivery<'_>) -> bool {
        let most = delivery.to.show.limit();
        !delivery.to.has_report(Format::needs_lines)
            && !run.ui.is_quiet()
            && delivery.report.findings().len() > most
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.lines.is_empty() && self.touched.is_empty()
    }

    pub(super) fn takes(&self, path: &str) -> bool {
        self.lines.contains_key(path) || self.touched.contains_key(path)
    }

    fn show(&mut self, findings: Vec<Finding<'a>>) {
        for finding in findings {
            self.lines.entry(finding.path).or_default().insert(finding.line);
        }
    }
}

/// Returns whether the host gets annotations, with those on changed lines first.
fn is_annotated(delivery: &Delivery<'_>) -> bool {
    let (asked, host) = (delivery.to.annotations, delivery.host());
    annotation_style(asked, host) != AnnotationStyle::None
        || (host == Host::Bitbucket && asked != Annotations::None)
}
