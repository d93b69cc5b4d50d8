//! Collects the notices of a report, which are all facts besides the findings, in their order.

use super::Medium;
use crate::model::findings::{GateChange, Report};
use crate::report::wording::{accepted, excluded, gate_words, run_problem, unanswered};
use crate::report::{About, PathBase};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum NoticeKind {
    GateChanges,
    Breaks,
    Unreviewed,
    Notes,
    Excluded,
}

impl NoticeKind {
    /// Returns the title of the section.
    pub(in crate::report) const fn title(self) -> &'static str {
        match self {
            Self::GateChanges => "Changes to the gate configuration",
            Self::Breaks => "Breaks consumers of shared pipelines",
            Self::Unreviewed => "Not reviewed",
            Self::Notes => "Notes",
            Self::Excluded => "Excluded",
        }
    }
}

/// The notices of one kind.
pub(in crate::report) struct Notice<'a> {
    pub kind: NoticeKind,
    /// Whether they fail the gate or leave it undecided.
    pub weighs: bool,
    pub entries: Vec<NoticeEntry<'a>>,
}

/// A notice; contains text from outside.
#[derive(Default)]
pub(in crate::report) struct NoticeEntry<'a> {
    /// The file, with the line if there is one.
    pub place: Option<String>,
    pub text: String,
    /// All files of a sentence that lists only the first ones.
    pub files: Vec<&'a str>,
}

impl NoticeEntry<'_> {
    fn alone(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Returns the notice in one line.
    pub(in crate::report) fn line(&self, base: &PathBase) -> String {
        match &self.place {
            Some(place) if self.text.is_empty() => base.shown(place).into_owned(),
            Some(place) => format!("{}: {}", base.shown(place), self.text),
            None => self.text.clone(),
        }
    }
}

/// Returns the notices by kind, without empty kinds. If the run has a problem, its notes are part of the problem
/// instead.
pub(super) fn notices<'a>(report: &'a Report, about: &About, medium: Medium) -> Vec<Notice<'a>> {
    let told: &[String] = match medium {
        Medium::Log => &about.told,
        Medium::Page => &[],
    };
    let notes = report.notes.iter().filter(|_| run_problem(report).is_none());
    let all = [
        (NoticeKind::GateChanges, report.gate_refused, gate_changes(report)),
        (NoticeKind::Breaks, report.breaks_consumers(), breaks(report)),
        (NoticeKind::Unreviewed, true, unreviewed(report, told)),
        (
            NoticeKind::Notes,
            false,
            notes.cloned().map(NoticeEntry::alone).collect(),
        ),
        (
            NoticeKind::Excluded,
            false,
            excluded(report).map(NoticeEntry::alone).into_iter().collect(),
        ),
    ];
    let all = all.into_iter().filter(|(_, _, entries)| !entries.is_empty());
    all.map(|(kind, weighs, entries)| Notice {
        kind,
        weighs,
        entries,
    })
    .collect()
}

fn gate_changes(report: &Report) -> Vec<NoticeEntry<'_>> {
    let entry = |change: &GateChange| NoticeEntry {
        place: Some(change.path.clone()),
        text: gate_words(change),
        files: Vec::new(),
    };
    report.gate_changes.iter().map(entry).collect()
}

fn breaks(report: &Report) -> Vec<NoticeEntry<'_>> {
    let found = report.compat.iter();
    let entries = found.flat_map(|found| {
        let accepted = accepted(found);
        found.breaks().map(move |change| {
            let (path, line) = change.at();
            NoticeEntry {
                place: Some(format!("{path}:{line}")),
                text: format!("{}{accepted}", change.sentence()),
                files: Vec::new(),
            }
        })
    });
    entries.collect()
}

fn unreviewed<'a>(report: &'a Report, told: &[String]) -> Vec<NoticeEntry<'a>> {
    let entry = |(text, files)| NoticeEntry {
        place: None,
        text,
        files,
    };
    unanswered(report, told).into_iter().map(entry).collect()
}
