//! Collects the notices of a report, which are all facts besides the findings, in their order.

use crate::report::PathBase;
use crate::report::wording::{accepted, excluded, gate_words, unanswered, without_told};
use sluicegate_pipelines::findings::{GateChange, Report};

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
    pub path: Option<String>,
    /// Line number from 1; `None` if the notice is about the entire file.
    pub line_number: Option<u32>,
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

    /// Returns the file, with the line if there is one.
    pub(in crate::report) fn place(&self) -> Option<String> {
        let path = self.path.as_ref()?;
        Some(match self.line_number {
            Some(line) => format!("{path}:{line}"),
            None => path.clone(),
        })
    }

    /// Returns the notice in one line.
    pub(in crate::report) fn line(&self, base: &PathBase) -> String {
        match &self.place() {
            Some(place) if self.text.is_empty() => base.shown(place).into_owned(),
            Some(place) => format!("{}: {}", base.shown(place), self.text),
            None => self.text.clone(),
        }
    }
}

/// Returns the notices by kind, without empty kinds. The notes that explain the verdict are problems of the run instead.
/// The reasons in `told` are left out, because the log has shown them.
pub(super) fn notices<'a>(report: &'a Report, told: &[String]) -> Vec<Notice<'a>> {
    let notes = report
        .other_notes()
        .map(|note| without_told(note, told).to_owned());
    let all = [
        (NoticeKind::GateChanges, report.gate_refused, gate_changes(report)),
        (NoticeKind::Breaks, report.breaks_consumers(), breaks(report)),
        (NoticeKind::Unreviewed, true, unreviewed(report, told)),
        (NoticeKind::Notes, false, notes.map(NoticeEntry::alone).collect()),
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
        path: Some(change.path.clone()),
        text: gate_words(change),
        ..NoticeEntry::default()
    };
    report.gate_changes.iter().map(entry).collect()
}

fn breaks(report: &Report) -> Vec<NoticeEntry<'_>> {
    let found = report.compat.iter();
    let entries = found.flat_map(|found| {
        let accepted = accepted(found);
        found.breaking_changes().map(move |change| {
            let (path, line) = change.shown_location();
            NoticeEntry {
                path: Some(path.to_owned()),
                line_number: Some(line),
                text: format!("{}{accepted}", change.describe_fully()),
                ..NoticeEntry::default()
            }
        })
    });
    entries.collect()
}

fn unreviewed<'a>(report: &'a Report, told: &[String]) -> Vec<NoticeEntry<'a>> {
    let causes = unanswered(report, told).into_iter();
    causes
        .map(|(text, files)| unreviewed_entry(text, files))
        .collect()
}

/// Returns the entry of a reason; it has a place if it is about a single file.
fn unreviewed_entry(text: String, files: Vec<&str>) -> NoticeEntry<'_> {
    if let [path] = files[..]
        && let Some(text) = text.strip_prefix(&format!("{path}: "))
    {
        return NoticeEntry {
            path: Some(path.to_owned()),
            text: text.to_owned(),
            ..NoticeEntry::default()
        };
    }
    NoticeEntry {
        text,
        files,
        ..NoticeEntry::default()
    }
}
