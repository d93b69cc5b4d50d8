//! Names the files that were not reviewed, grouped by reason.

use super::unreviewed_count::describe_missing_review;
use sluicegate_base::text::{List, format_count};
use sluicegate_pipelines::findings::{Report, UnreviewedFile};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Files that were not reviewed for the same reason.
pub(super) struct UnreviewedGroup<'a> {
    /// A sentence with the number of files or the only file. Not escaped.
    pub text: String,
    pub files: Vec<&'a str>,
    /// True if the log has already shown the reason.
    pub is_logged: bool,
}

/// Describes the unreviewed files in a sentence for each reason. The sentence omits a reason that is in
/// `logged_reasons`, because the log has already shown it.
pub(super) fn describe_unreviewed_files<'a>(
    report: &'a Report,
    logged_reasons: &[String],
) -> Vec<UnreviewedGroup<'a>> {
    let state = describe_missing_review(report);
    group_unreviewed_by_reason(report)
        .into_iter()
        .map(|(reason, files)| {
            let is_logged = logged_reasons
                .iter()
                .any(|logged_reason| *logged_reason == reason);
            UnreviewedGroup {
                text: describe_unreviewed_group((!is_logged).then_some(&reason), &files, state),
                files,
                is_logged,
            }
        })
        .collect()
}

/// Groups the paths of unreviewed files by reason and instruction, in the order of the report.
pub(super) fn group_unreviewed_by_reason(report: &Report) -> Vec<(Cow<'_, str>, Vec<&str>)> {
    let mut groups: Vec<(Cow<'_, str>, Vec<&str>)> = Vec::new();
    let mut index_by_reason: HashMap<Cow<'_, str>, usize> = HashMap::new();
    for file in &report.unreviewed_files {
        let reason = file.reason_with_step();
        let index = *index_by_reason.entry(reason.clone()).or_insert(groups.len());
        match groups.get_mut(index) {
            Some((_, paths)) => paths.push(&file.path),
            None => groups.push((reason, vec![&file.path])),
        }
    }
    groups
}

/// Describes unreviewed files that have the same reason; without a reason, only names the files. `state` is the end of the
/// sentence about them.
fn describe_unreviewed_group(reason: Option<&str>, paths: &[&str], state: &str) -> String {
    let subject = match paths {
        [path] => format!("{path}: The file was {state}"),
        several => {
            let count = format_count(several.len(), "file");
            format!("{count} were {state} ({})", List::new(several))
        }
    };
    match reason {
        Some(reason) => format!("{subject}: {reason}"),
        None => subject,
    }
}

/// Describes the state of unreviewed files, for formats that show the path themselves.
pub(super) struct UnreviewedFileStates<'r> {
    locally_checked_paths: HashSet<&'r str>,
}

impl<'r> UnreviewedFileStates<'r> {
    /// Finds the files of a report without results of the platform: only the local check reviewed them.
    pub(super) fn from_report(report: &'r Report) -> Self {
        let mut locally_checked_paths = HashSet::new();
        if !report.unreviewed_files.is_empty() {
            let local_files = report.reviewed_files().filter(|file| !file.has_platform_result());
            locally_checked_paths.extend(local_files.map(|file| file.path.as_str()));
        }
        Self {
            locally_checked_paths,
        }
    }

    /// Returns a sentence, without its end, that the unreviewed file at this path was not reviewed.
    pub(super) fn describe(&self, path: &str) -> &'static str {
        if self.locally_checked_paths.contains(path) {
            "The file was checked locally, but not reviewed by the platform"
        } else {
            "The file was not reviewed"
        }
    }

    /// Describes why a file was not reviewed. The caller must escape the result.
    pub(super) fn describe_with_reason(&self, file: &UnreviewedFile) -> String {
        format!("{}: {}", self.describe(&file.path), file.reason_with_step())
    }
}
