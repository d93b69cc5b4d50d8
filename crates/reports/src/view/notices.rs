//! Collects the notices of a report, which are all facts besides the findings, in their order.

use crate::PathBase;
use crate::sentences::{
    describe_changed_settings, describe_excluded_files, format_acceptance, strip_logged_reason,
};
use crate::unreviewed_files::{UnreviewedGroup, describe_unreviewed_files};
use sluicegate_pipelines::findings::{LimitKind, Report};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoticeKind {
    GateChanges,
    Breaks,
    Unreviewed,
    Notes,
    Excluded,
}

impl NoticeKind {
    /// Returns the title of the section.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::GateChanges => "Changes to the gate configuration",
            Self::Breaks => "Breaks consumers of shared pipelines",
            Self::Unreviewed => "Not reviewed",
            Self::Notes => "Notes",
            Self::Excluded => "Excluded",
        }
    }

    /// Returns whether the notices describe what the reviewed change does, and not how the run went.
    pub(crate) const fn concerns_change(self) -> bool {
        matches!(self, Self::GateChanges | Self::Breaks)
    }
}

/// The notices of one kind.
pub(crate) struct Notice<'a> {
    pub kind: NoticeKind,
    /// Whether the notices fail the gate or leave it undecided.
    pub affects_verdict: bool,
    pub entries: Vec<NoticeEntry<'a>>,
}

/// A notice, whose texts are not escaped.
#[derive(Default)]
pub(crate) struct NoticeEntry<'a> {
    pub path: Option<String>,
    /// Line number from 1; `None` if the notice is about the entire file.
    pub line_number: Option<u32>,
    pub text: String,
    /// All files of a sentence that lists only the first ones.
    pub files: Vec<&'a str>,
    /// True if the notice is a warning although others of its kind are not.
    pub is_warning: bool,
}

impl NoticeEntry<'_> {
    /// Creates an entry with only a text, without a file.
    fn from_text(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Returns the file, with the line if there is one.
    pub(crate) fn place(&self) -> Option<String> {
        let path = self.path.as_ref()?;
        Some(match self.line_number {
            Some(line) => format!("{path}:{line}"),
            None => path.clone(),
        })
    }

    /// Renders the place and the text of the notice in one line, or the one of them that it has. The path is relative
    /// to `base`.
    pub(crate) fn render_line(&self, base: &PathBase) -> String {
        match &self.place() {
            Some(place) if self.text.is_empty() => base.display_path(place).into_owned(),
            Some(place) => format!("{}: {}", base.display_path(place), self.text),
            None => self.text.clone(),
        }
    }
}

/// Collects the notices by kind, without kinds that have no entries. Notes that explain the verdict are not notices,
/// but problems of the run. The reasons in `logged_reasons` are omitted, because the log has already shown them.
pub(super) fn collect_notices<'a>(report: &'a Report, logged_reasons: &[String]) -> Vec<Notice<'a>> {
    let notes = report.other_notes().map(|note| NoticeEntry {
        is_warning: is_warning(report, note),
        ..NoticeEntry::from_text(strip_logged_reason(note, logged_reasons).to_owned())
    });
    let (logged_files, unlogged_files) = describe_unreviewed_files(report, logged_reasons)
        .into_iter()
        .partition::<Vec<_>, _>(|group| group.is_logged);
    let mut notices = vec![
        Notice {
            kind: NoticeKind::GateChanges,
            affects_verdict: report.gate_refused,
            entries: build_gate_change_entries(report),
        },
        Notice {
            kind: NoticeKind::Breaks,
            affects_verdict: report.breaks_consumers(),
            entries: build_break_entries(report),
        },
        Notice {
            kind: NoticeKind::Unreviewed,
            affects_verdict: true,
            entries: unlogged_files.into_iter().map(build_unreviewed_entry).collect(),
        },
        Notice {
            kind: NoticeKind::Notes,
            affects_verdict: false,
            // The log has already shown the error, so the files that it affects are no further error.
            entries: logged_files
                .into_iter()
                .map(build_unreviewed_entry)
                .chain(notes)
                .collect(),
        },
        Notice {
            kind: NoticeKind::Excluded,
            affects_verdict: false,
            entries: describe_excluded_files(report)
                .map(NoticeEntry::from_text)
                .into_iter()
                .collect(),
        },
    ];
    notices.retain(|notice| !notice.entries.is_empty());
    notices
}

/// Returns whether the note is about files that escape the review.
fn is_warning(report: &Report, note: &str) -> bool {
    report
        .limits
        .iter()
        .any(|limit| limit.kind == LimitKind::OutsideReview && limit.text == note)
}

/// Builds an entry for each changed file of the gate configuration.
fn build_gate_change_entries(report: &Report) -> Vec<NoticeEntry<'_>> {
    report
        .gate_changes
        .iter()
        .map(|change| NoticeEntry {
            path: Some(change.path.clone()),
            text: describe_changed_settings(change),
            ..NoticeEntry::default()
        })
        .collect()
}

/// Builds an entry for each change that breaks consumers, with the reason if such changes are accepted.
fn build_break_entries(report: &Report) -> Vec<NoticeEntry<'_>> {
    let Some(compat) = &report.compat else {
        return Vec::new();
    };
    let acceptance = format_acceptance(compat);
    compat
        .breaking_changes()
        .map(|change| {
            let (path, line) = change.shown_location();
            NoticeEntry {
                path: Some(path.to_owned()),
                line_number: line,
                text: format!("{}{acceptance}", change.describe_fully()),
                ..NoticeEntry::default()
            }
        })
        .collect()
}

/// Builds the entry of a reason why files were not reviewed. If it is about a single file, the path at the start of
/// the text becomes the place of the entry.
fn build_unreviewed_entry(group: UnreviewedGroup<'_>) -> NoticeEntry<'_> {
    let UnreviewedGroup { text, files, .. } = group;
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
