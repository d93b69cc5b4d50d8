//! Warnings that do not stop a publish: one for each place, and summaries for people.

use sluicegate_base::text::{List, format_count};
use std::collections::BTreeMap;

/// How to publish without the pipelines that no shared pipeline needs.
const TURN_OFF: &str = "hint: no shared pipeline needs these pipelines; to publish without them and without this \
                        warning, set `publish.select: closure` (--select closure)";

/// Number of places that a summary lists.
const NAMED: usize = 3;

/// The kind of a warning, for summaries of hundreds of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WarningKind {
    Disabled,
    NotSent,
    Ambiguous,
    Expression,
    Unread,
    Submodule,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Warning {
    pub kind: WarningKind,
    /// Whether a shared pipeline may need the file, so that consumers may notice.
    pub is_needed: bool,
    /// The file, with the line if there is one.
    pub place: String,
    pub text: String,
}

/// Returns a line for each kind: the warning itself if there is only one, otherwise their number and the first places.
/// The warnings about pipelines that no shared pipeline needs have one line, with the setting that turns them off.
pub(super) fn summed(warnings: &[Warning]) -> Vec<String> {
    let mut kinds: BTreeMap<WarningKind, Vec<&Warning>> = BTreeMap::new();
    let mut unneeded = Vec::new();
    for warning in warnings {
        if warning.is_needed {
            kinds.entry(warning.kind).or_default().push(warning);
        } else {
            unneeded.push(warning);
        }
    }
    let mut lines = Vec::new();
    for (kind, warnings) in kinds {
        lines.push(match warnings.as_slice() {
            [one] => one.text.clone(),
            several => format!("{}: {}", kind.sentence(several.len()), places(several)),
        });
    }
    let line = match unneeded.as_slice() {
        [] => return lines,
        [one] => one.text.clone(),
        several => format!("{}: {}", unneeded_sentence(several), places(several)),
    };
    lines.push(format!("{line}\n{TURN_OFF}"));
    lines
}

/// Describes warnings about pipelines that no shared pipeline needs.
fn unneeded_sentence(warnings: &[&Warning]) -> String {
    match warnings {
        [first, rest @ ..] if rest.iter().all(|warning| warning.kind == first.kind) => {
            first.kind.sentence(warnings.len())
        }
        _ => format!(
            "{} in pipelines that no shared pipeline needs",
            format_count(warnings.len(), "unclear or broken reference")
        ),
    }
}

fn places(warnings: &[&Warning]) -> String {
    let list = List::with_limit(warnings, NAMED).map(|warning| &warning.place);
    match list.omitted_count() {
        0 => list.to_string(),
        _ => format!("{list} (--dry-run --json lists them)"),
    }
}

impl WarningKind {
    fn sentence(self, times: usize) -> String {
        let references = || format_count(times, "reference");
        match self {
            Self::Disabled => {
                let what = format_count(times, "shared pipeline");
                format!("{what} are disabled, so the version does not offer them")
            }
            Self::NotSent => {
                let what = references();
                format!("{what} in pipelines that no shared pipeline needs refer to files that are not sent")
            }
            Self::Ambiguous => format!("{} may refer to any of several pipelines", references()),
            Self::Expression => {
                let what = references();
                format!("{what} are expressions, so it is unknown whether their files are sent")
            }
            Self::Unread => {
                let what = format_count(times, "file");
                format!("{what} that no shared pipeline needs cannot be read as pipelines")
            }
            Self::Submodule => {
                let what = format_count(times, "submodule");
                format!("{what}, whose files are not part of this repository, are skipped")
            }
        }
    }
}
