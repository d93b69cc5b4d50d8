//! Which lines of the files the writers show, and of which files they ask what changed: most findings are known ones, or
//! more than anybody lists, and their files need not be read again.

use super::{Delivery, DeliveryPlace, steps};
use crate::commands::Run;
use crate::job::ci::Host;
use crate::job::cli::Annotations;
use crate::model::findings::Finding;
use crate::report::{AnnotationStyle, ChangedLines, Format, terminal};
use std::collections::{BTreeMap, BTreeSet};

/// What is needed of the files.
#[derive(Default)]
pub(super) struct Needed<'a> {
    /// The lines to show, by path.
    pub lines: BTreeMap<&'a str, BTreeSet<u32>>,
    /// The lines of findings of which a writer asks whether the change touched them, by path.
    pub touched: BTreeMap<&'a str, BTreeSet<u32>>,
}

impl<'a> Needed<'a> {
    /// Returns the findings of which a writer asks whether the change touched them: their order depends on it.
    pub(super) fn for_order(run: &Run, place: &DeliveryPlace<'_>, delivery: &Delivery<'a>) -> Self {
        let report = delivery.report;
        let of_each = |takes_old: bool| {
            let mut needed = Self::default();
            for finding in report
                .findings()
                .into_iter()
                .filter(|it| takes_old || it.counts())
            {
                needed
                    .touched
                    .entry(finding.path)
                    .or_default()
                    .insert(finding.line);
            }
            needed
        };
        if delivery.to.has_report(&[Format::Html]) {
            return of_each(true);
        }
        // What is new comes first, whatever else the change touches.
        let is_ordered = report.fixed.is_none()
            && (!run.ui.is_quiet() || delivery.to.has_report(&ORDERED) || delivery.to.comment);
        if is_ordered || is_annotated(place, delivery) {
            return of_each(false);
        }
        Self::default()
    }

    /// Adds the lines that the writers show.
    pub(super) fn add_lines(&mut self, run: &Run, delivery: &Delivery<'a>, changed: &ChangedLines) {
        let report = delivery.report;
        if delivery.to.has_report(&[Format::Html, Format::Sarif]) {
            self.show(report.findings());
        } else if !run.ui.is_quiet() {
            self.show(terminal::listed(report, changed, delivery.to.show));
        }
    }

    /// Returns whether the lines to show depend on which findings the change touched.
    pub(super) fn lines_depend_on_order(run: &Run, delivery: &Delivery<'_>) -> bool {
        let most = delivery.to.show.limit();
        !delivery.to.has_report(&[Format::Html, Format::Sarif])
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

/// The formats whose findings are in the order of the change.
const ORDERED: [Format; 4] = [
    Format::Junit,
    Format::JunitStrict,
    Format::Sarif,
    Format::Markdown,
];

/// Whether the host gets annotations, of which those on changed lines come first.
fn is_annotated(place: &DeliveryPlace<'_>, delivery: &Delivery<'_>) -> bool {
    let (asked, host) = (delivery.to.annotations, place.host());
    steps::annotation_style(asked, host) != AnnotationStyle::None
        || (host == Host::Bitbucket && asked != Annotations::None)
}
