//! Which lines of the files the writers show, and of which files they ask what changed: most findings are known ones, or
//! more than anybody lists, and their files need not be read again.

use super::{Delivery, DeliveryPlace, steps};
use crate::commands::Run;
use crate::job::ci::Host;
use crate::job::cli::Annotations;
use crate::model::findings::{Finding, Report};
use crate::report::{AnnotationStyle, Format, terminal};
use std::collections::{BTreeMap, BTreeSet};

/// What is needed of the files.
#[derive(Default)]
pub(super) struct Needed<'a> {
    /// The lines to show, by path.
    pub lines: BTreeMap<&'a str, BTreeSet<u32>>,
    /// The files of which a writer asks whether the change touched a line.
    pub touched: BTreeSet<&'a str>,
}

impl<'a> Needed<'a> {
    pub(super) fn of(run: &Run, place: &DeliveryPlace<'_>, delivery: &Delivery<'a>) -> Self {
        let report = delivery.report;
        let mut needed = Self::default();
        if delivery.to.has_report(&[Format::Html]) {
            needed.show(report.findings());
            needed.touched = needed.lines.keys().copied().collect();
            return needed;
        }
        if delivery.to.has_report(&[Format::Sarif]) {
            needed.show(report.findings());
        } else if !run.ui.is_quiet() {
            needed.show(terminal::listed(report, delivery.to.show));
        }
        if is_annotated(place, delivery) {
            needed.touched = counting(report);
        }
        needed
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.lines.is_empty() && self.touched.is_empty()
    }

    pub(super) fn takes(&self, path: &str) -> bool {
        self.lines.contains_key(path) || self.touched.contains(path)
    }

    fn show(&mut self, findings: Vec<Finding<'a>>) {
        for finding in findings {
            self.lines.entry(finding.path).or_default().insert(finding.line);
        }
    }
}

/// Whether the host gets annotations, of which those on changed lines come first.
fn is_annotated(place: &DeliveryPlace<'_>, delivery: &Delivery<'_>) -> bool {
    let (asked, host) = (delivery.to.annotations, place.host());
    steps::annotation_style(asked, host) != AnnotationStyle::None
        || (host == Host::Bitbucket && asked != Annotations::None)
}

fn counting(report: &Report) -> BTreeSet<&str> {
    let findings = report.findings().into_iter();
    findings
        .filter(Finding::counts)
        .map(|finding| finding.path)
        .collect()
}
