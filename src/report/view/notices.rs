//! What is to be known besides the findings, in the order in which people are told.

use super::Medium;
use crate::model::findings::{GateChange, Report};
use crate::report::About;
use crate::report::wording::{accepted, excluded, gate_words, run_problem, unanswered};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum NoticeKind {
    GateChanges,
    Breaks,
    Unreviewed,
    Notes,
    Excluded,
}

impl NoticeKind {
    /// What a section of them is called.
    pub(in crate::report) const fn title(self) -> &'static str {
        match self {
            Self::GateChanges => "Changes to the gate itself",
            Self::Breaks => "Breaks consumers of shared pipelines",
            Self::Unreviewed => "Not reviewed",
            Self::Notes => "Notes",
            Self::Excluded => "Excluded",
        }
    }
}

/// All of one kind.
pub(in crate::report) struct Notice<'a> {
    pub kind: NoticeKind,
    /// They fail the gate, or leave it open.
    pub weighs: bool,
    pub entries: Vec<NoticeEntry<'a>>,
}

/// Holds text from outside.
#[derive(Default)]
pub(in crate::report) struct NoticeEntry<'a> {
    /// The file, and the line in it if one is meant.
    pub place: Option<String>,
    pub text: String,
    /// The files that a sentence about several names the first of.
    pub files: Vec<&'a str>,
}

impl NoticeEntry<'_> {
    fn alone(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// In one line.
    pub(in crate::report) fn line(&self) -> String {
        match &self.place {
            Some(place) if self.text.is_empty() => place.clone(),
            Some(place) => format!("{place}: {}", self.text),
            None => self.text.clone(),
        }
    }
}

/// The kinds that there is something of. The notes of a run that is no pass by itself stand in what is said of the run.
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
