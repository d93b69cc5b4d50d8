//! Warnings that do not stop a publish: one for each location, and summaries for people.

use sluicegate_base::text::{List, format_count, format_note};
use std::collections::BTreeMap;

/// The end of the line about pipelines that no shared pipeline needs: this fact, and how to publish without them.
const SELECT_CLOSURE_HINT: &str = "no shared pipeline needs these files; to publish without them and without this \
                        warning, set `publish.select: closure` (--select closure)";

/// Maximum number of locations that a summary lists.
const MAX_LISTED_LOCATIONS: usize = 3;

/// The kind of a warning, for summaries of hundreds of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WarningKind {
    Disabled,
    DisabledWithoutFile,
    Unsent,
    Ambiguous,
    Expression,
    Unreadable,
    Submodule,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Warning {
    pub kind: WarningKind,
    /// Whether a shared pipeline may need the file, so that consumers may notice.
    pub is_needed: bool,
    /// The file, with the line if there is one.
    pub location: String,
    pub text: String,
}

/// Returns one line for each kind of warning: the warning itself, or the number of warnings and the first locations.
/// Warnings about pipelines that no shared pipeline needs share one line, with the setting that excludes these files.
pub(super) fn summarize_warnings(warnings: &[Warning]) -> Vec<String> {
    let mut kinds: BTreeMap<WarningKind, Vec<&Warning>> = BTreeMap::new();
    let mut unneeded_warnings = Vec::new();
    for warning in warnings {
        if warning.is_needed {
            kinds.entry(warning.kind).or_default().push(warning);
        } else {
            unneeded_warnings.push(warning);
        }
    }
    let mut lines = Vec::new();
    for (kind, warnings) in kinds {
        lines.push(match warnings.as_slice() {
            [one] => one.text.clone(),
            several => format!("{}: {}", kind.describe(several.len()), format_locations(several)),
        });
    }
    let line = match unneeded_warnings.as_slice() {
        [] => return lines,
        [one] => one.text.clone(),
        several => format!(
            "{}: {}",
            describe_unneeded_warnings(several),
            format_locations(several)
        ),
    };
    lines.push(format_note(&line, Some(SELECT_CLOSURE_HINT)));
    lines
}

/// Describes several warnings about pipelines that no shared pipeline needs: by their kind if all have the same,
/// otherwise only by their number.
fn describe_unneeded_warnings(warnings: &[&Warning]) -> String {
    match warnings {
        [first, other_warnings @ ..] if other_warnings.iter().all(|warning| warning.kind == first.kind) => {
            first.kind.describe(warnings.len())
        }
        _ => format_count(warnings.len(), "unclear or broken reference"),
    }
}

/// Returns the locations of the first warnings, with a note on how to list all if some are omitted.
fn format_locations(warnings: &[&Warning]) -> String {
    let list = List::with_limit(warnings, MAX_LISTED_LOCATIONS).map(|warning| &warning.location);
    match list.omitted_count() {
        0 => list.to_string(),
        _ => format!("{list} (`publish --dry-run -o json` lists them)"),
    }
}

impl WarningKind {
    /// Describes `warning_count` warnings of this kind in one phrase, for example `3 submodules, …, are skipped`.
    fn describe(self, warning_count: usize) -> String {
        let noun = match self {
            Self::Disabled => "shared pipeline",
            Self::DisabledWithoutFile => "disabled shared pipeline",
            Self::Unsent | Self::Ambiguous | Self::Expression => "reference",
            Self::Unreadable => "file",
            Self::Submodule => "submodule",
        };
        let predicate = match self {
            Self::Disabled => " are disabled, so the version does not offer them",
            Self::DisabledWithoutFile => " have no file",
            Self::Unsent => " refer to files that are not sent",
            Self::Ambiguous => " may refer to any of several pipelines",
            Self::Expression => " are expressions, so it is unknown whether their files are sent",
            Self::Unreadable => " cannot be read as pipelines",
            Self::Submodule => ", whose files are not part of this repository, are skipped",
        };
        format_count(warning_count, noun) + predicate
    }
}
