//! The changes to a file as numbers, for reports.

use serde::{Deserialize, Serialize};
use sluicegate_base::text::{List, format_count};
use sluicegate_base::words::words;

/// The kind of change to a pipeline's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileChange {
    Added,
    Removed,
    /// The path changed; other changes are listed separately.
    Renamed,
    /// The behavior or the description changed.
    Modified,
    /// Only the canvas or the formatting of the file changed.
    Layout,
    /// One of the two versions cannot be read.
    Unreadable,
}

words!(FileChange {
    Added => "added",
    Removed => "removed",
    Renamed => "renamed",
    Modified => "modified",
    Layout => "layout",
    Unreadable => "unreadable",
});

/// The number of changes to one kind of item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeCounts {
    pub added: usize,
    pub removed: usize,
    pub renamed: usize,
    pub modified: usize,
}

impl ChangeCounts {
    /// Returns the numbers in text form, such as `2 components added, 1 removed` for the noun `component`. Returns
    /// `None` if there are no changes.
    pub(crate) fn describe(self, noun: &str) -> Option<String> {
        let counts = [
            (self.added, "added"),
            (self.removed, "removed"),
            (self.renamed, "renamed"),
            (self.modified, "changed"),
        ];
        let mut parts: Vec<String> = Vec::new();
        for (part_count, verb) in counts.into_iter().filter(|(part_count, _)| *part_count > 0) {
            // Only the first number has the noun.
            let first = parts.is_empty().then(|| format_count(part_count, noun));
            parts.push(format!(
                "{} {verb}",
                first.unwrap_or_else(|| part_count.to_string())
            ));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The changes to a file between base and head.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangeSummary {
    /// The path from the repository root; the old path if the file was deleted.
    pub path: String,
    /// The path in the base of a renamed file, or of the file from which a new one was copied.
    pub previous_path: Option<String>,
    pub change: FileChange,
    pub components: ChangeCounts,
    pub links: ChangeCounts,
    pub variables: ChangeCounts,
    pub other: usize,
    /// Whether the canvas or the formatting of the file changed too.
    pub layout: bool,
    /// The number of pipelines in the repository that call it; `None` if unknown.
    pub called_by: Option<usize>,
    /// The first callers, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<String>,
    /// The number of pipelines with a call that may be to another file of the same name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub may_be_called_by: usize,
    /// The first of these pipelines, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub possible_callers: Vec<String>,
    /// The version that cannot be read (`in the base: …` or `in the head: …`), and the reason. It is not in reports in
    /// JSON.
    #[serde(skip)]
    pub reason: Option<String>,
}

impl ChangeSummary {
    /// Returns the path that the file had before it was renamed. A copy has none: its source is another file.
    pub fn old_path(&self) -> Option<&str> {
        match self.change {
            FileChange::Added => None,
            _ => self.previous_path.as_deref(),
        }
    }

    /// Returns whether only the layout of the file changed, so that the pipeline behaves as before.
    pub const fn is_layout_only(&self) -> bool {
        matches!(self.change, FileChange::Layout)
    }

    /// Returns whether neither a part nor the layout of the file changed.
    fn has_only_new_path(&self) -> bool {
        let counts = [self.components, self.links, self.variables];
        counts.iter().all(|counts| *counts == ChangeCounts::default()) && self.other == 0 && !self.layout
    }

    /// Returns the change as a phrase, such as `modified: 2 links removed; called by 6 pipelines`. It contains paths,
    /// which the caller must escape.
    pub fn describe(&self) -> String {
        let start = match self.change {
            FileChange::Layout => "only the layout changed, not the behavior".to_owned(),
            FileChange::Unreadable => match &self.reason {
                Some(reason) => format!("cannot be read {reason}"),
                None => "cannot be read".to_owned(),
            },
            FileChange::Renamed => format_rename(self.previous_path.as_deref(), self.has_only_new_path()),
            // All parts of a new or removed pipeline are new or removed, so only their numbers are given.
            FileChange::Added => {
                return self.describe_with_part_counts("new pipeline")
                    + &format_copy_source(self.previous_path.as_deref())
                    + &self.describe_callers();
            }
            FileChange::Removed => {
                return self.describe_with_part_counts("pipeline removed") + &self.describe_callers();
            }
            FileChange::Modified => FileChange::Modified.name().to_owned(),
        };
        let other_values = (self.other > 0).then(|| format_count(self.other, "other value"));
        let is_layout_too = self.layout && self.change != FileChange::Layout;
        let parts = [
            self.components.describe("component"),
            self.links.describe("link"),
            self.variables.describe("variable"),
            other_values,
            is_layout_too.then(|| "the layout changed".to_owned()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            return start + &self.describe_callers();
        }
        format!("{start}: {}{}", parts.join("; "), self.describe_callers())
    }

    /// Returns the description of an added or removed pipeline, followed by the numbers of its components, links and
    /// variables.
    fn describe_with_part_counts(&self, description: &str) -> String {
        let count_added_or_removed = |counts: ChangeCounts| counts.added + counts.removed;
        let parts = [
            (count_added_or_removed(self.components), "component"),
            (count_added_or_removed(self.links), "link"),
            (count_added_or_removed(self.variables), "variable"),
        ];
        format!("{description}{}", format_part_counts(&parts))
    }

    /// Returns a clause with the number of pipelines that call this one, and a clause with the number of those that may
    /// call it, each with the first paths. A clause is omitted if there is no such pipeline or the callers are unknown.
    fn describe_callers(&self) -> String {
        let certain = format_callers("called by", self.called_by.unwrap_or(0), &self.callers);
        let possible = format_callers("may be called by", self.may_be_called_by, &self.possible_callers);
        certain + &possible
    }
}

/// Returns a clause with the number of these callers and the first of their paths; empty if there are none.
fn format_callers(verb: &str, caller_count: usize, paths: &[String]) -> String {
    if caller_count == 0 {
        return String::new();
    }
    let description = format!("; {verb} {}", format_count(caller_count, "pipeline"));
    match paths {
        [] => description,
        paths => format!("{description} ({})", List::new(paths).with_total(caller_count)),
    }
}

/// Returns whether a number is 0, so that the report omits it.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Returns the numbers of parts after a colon, such as `: 3 components, 1 link`. Numbers of 0 are omitted; if all are
/// 0, the text is empty.
pub(crate) fn format_part_counts(parts: &[(usize, &str)]) -> String {
    match sluicegate_base::text::format_counts(parts) {
        counts if counts.is_empty() => counts,
        counts => format!(": {counts}"),
    }
}

/// Returns the phrase for a renamed pipeline, with its old path. `is_only_renamed` is true if nothing else changed.
pub(crate) fn format_rename(previous_path: Option<&str>, is_only_renamed: bool) -> String {
    let remark = if is_only_renamed {
        ", without other changes"
    } else {
        ""
    };
    format!("renamed from {}{remark}", previous_path.unwrap_or_default())
}

/// Returns a clause with the path of the pipeline from which a new one was copied; empty if it is no copy.
pub(crate) fn format_copy_source(path: Option<&str>) -> String {
    path.map(|path| format!("; copied from {path}"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_parts_follow_a_colon_unless_all_are_zero() {
        assert_eq!(
            format_part_counts(&[(3, "component"), (0, "variable"), (1, "link")]),
            ": 3 components, 1 link"
        );
        assert_eq!(format_part_counts(&[(0, "component"), (0, "link")]), "");
    }

    #[test]
    fn change_summary_describes_counts() {
        let changed = ChangeSummary {
            path: "a".to_owned(),
            previous_path: None,
            change: FileChange::Modified,
            components: ChangeCounts {
                added: 1,
                modified: 2,
                ..ChangeCounts::default()
            },
            links: ChangeCounts {
                removed: 2,
                ..ChangeCounts::default()
            },
            variables: ChangeCounts::default(),
            other: 1,
            layout: true,
            called_by: Some(6),
            callers: Vec::new(),
            may_be_called_by: 0,
            possible_callers: Vec::new(),
            reason: None,
        };
        insta::assert_snapshot!(changed.describe(), @"modified: 1 component added, 2 changed; 2 links removed; 1 other value; the layout changed; called by 6 pipelines");
        let moved = ChangeSummary {
            change: FileChange::Layout,
            components: ChangeCounts::default(),
            links: ChangeCounts::default(),
            other: 0,
            called_by: Some(5),
            callers: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            may_be_called_by: 1,
            possible_callers: vec!["e".to_owned()],
            ..changed
        };
        insta::assert_snapshot!(moved.describe(), @"only the layout changed, not the behavior; called by 5 pipelines (a, b, c and 2 more); may be called by 1 pipeline (e)");
    }
}
