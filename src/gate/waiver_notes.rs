//! The notes about waivers: which can be removed, and which must be changed because the change renames their subject.

use super::reviewed_waivers::{ReviewedWaivers, allows_at_path};
use super::waivers::PolicyWaivers;
use sluicegate_base::globs::escape_glob;
use sluicegate_base::text::{List, format_count};
use sluicegate_pipelines::findings::{FileResults, Finding, FindingState};
use sluicegate_pipelines::waivers::{FILE_NAME, OldNames, WaiverEntry, WaiverStatus};
use std::collections::BTreeSet;

/// Maximum number of waivers in a note.
const MAX_LISTED_WAIVERS: usize = 3;

/// The place to edit the waivers if the job refuses a change that edits them together with other files.
const SEPARATE_EDIT: &str = "in a separate change that is merged first (--gate-changes fail)";

impl PolicyWaivers {
    /// Returns the notes about waivers that can be removed or must be changed in this change. Omits those that the
    /// change has already removed or changed.
    pub(super) fn describe_needed_edits(
        &self,
        statuses: &[WaiverStatus],
        old_names: &OldNames,
        files: &[FileResults],
    ) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(self.describe_expired_waivers(statuses));
        notes.extend(self.describe_unneeded_waivers(statuses));
        // After the merge, there are no waivers to edit.
        if !matches!(self.reviewed_waivers, ReviewedWaivers::Removed) {
            notes.extend(self.describe_old_paths(old_names, files));
            notes.extend(self.describe_outdated_waivers(old_names, files));
        }
        notes
    }

    /// Describes the waivers that match a renamed component only by its old name. These waivers stop matching after
    /// the merge, because the old name is then unknown.
    fn describe_outdated_waivers(&self, old_names: &OldNames, files: &[FileResults]) -> Option<String> {
        let mut lines: Vec<String> = Vec::new();
        for finding in files.iter().flat_map(list_waived_findings) {
            let Some(old_subject) = old_names.find_old_subject(&finding) else {
                continue;
            };
            let old_finding = finding.with_subject(&old_subject);
            let old_path = old_names.paths.get(finding.path).map(String::as_str);
            let paths: Vec<&str> = std::iter::once(finding.path).chain(old_path).collect();
            for entry in self.list_outdated_entries(&finding, &old_finding, &paths) {
                lines.push(self.describe_new_line(entry, &finding, &paths));
            }
        }
        lines.sort();
        lines.dedup();
        if lines.is_empty() {
            return None;
        }
        let waiver_count = format_count(lines.len(), "waiver");
        let next_step = if self.needs_separate_edit {
            format!("add the new name {SEPARATE_EDIT}")
        } else {
            let first_step = self.reviewed_waivers.describe_first_step();
            format!("{first_step}write the new name in this change")
        };
        Some(format!(
            "{FILE_NAME} has {waiver_count} with the old name of a component: {next_step}, because the old name \
             does not match after the merge: {}",
            List::with_limit(&lines, MAX_LISTED_WAIVERS)
        ))
    }

    /// Describes the line that allows the finding after the merge. It replaces the line of the waiver with the old
    /// name, unless that waiver must stay: its path may match other files, too, or the new line is merged first.
    fn describe_new_line(&self, entry: &WaiverEntry, finding: &Finding<'_>, paths: &[&str]) -> String {
        let new_line = WaiverEntry {
            about: finding.about.map(str::to_owned),
            ..entry.clone()
        };
        let old_name = entry.about.as_deref().unwrap_or_default();
        let is_for_one_file = paths.iter().any(|path| is_literal_path(entry, path));
        if is_literal_path(entry, finding.path) && !self.needs_separate_edit {
            return format!("`- {new_line}` instead of `about: {old_name}`");
        }
        let line_of_file = WaiverEntry {
            path: escape_glob(finding.path),
            ..new_line
        };
        // The change also renamed the file of the waiver.
        if is_for_one_file && !self.needs_separate_edit {
            let old_path = &entry.path;
            return format!("`- {line_of_file}` instead of `path: {old_path}, about: {old_name}`");
        }
        format!("`- {line_of_file}` in addition to `about: {old_name}`")
    }

    /// Returns the waivers that match the finding at one of these paths only by the old name of its component, which
    /// `old_finding` has. Returns none if another waiver matches by the new name and path, and so still matches after
    /// the merge.
    fn list_outdated_entries(
        &self,
        finding: &Finding<'_>,
        old_finding: &Finding<'_>,
        paths: &[&str],
    ) -> Vec<&WaiverEntry> {
        let mut outdated_entries = Vec::new();
        if self.is_allowed_after_merge(finding) {
            return outdated_entries;
        }
        for path in paths {
            let entries = self.waivers.find_valid_entries(path, old_finding, self.today);
            // A waiver without the name of a component matches by the old path; it has its own note.
            outdated_entries.extend(entries.filter(|entry| entry.about.is_some()));
        }
        outdated_entries
    }

    /// Returns whether a waiver allows this finding without old names: one of the policy or one of the reviewed
    /// version, so that the finding is waived after the merge, too.
    fn is_allowed_after_merge(&self, finding: &Finding<'_>) -> bool {
        allows_at_path(&self.waivers, finding, self.today)
            || self.reviewed_waivers.allows(finding, self.today)
    }

    /// Describes the waivers that match a renamed file only by its old path. These waivers stop matching after the
    /// merge, because the old path is then unknown.
    fn describe_old_paths(&self, old_names: &OldNames, files: &[FileResults]) -> Vec<String> {
        let mut renamed_paths = BTreeSet::new();
        let mut paths_of_shared_waivers = BTreeSet::new();
        for finding in files.iter().flat_map(list_waived_findings) {
            let Some(old_path) = old_names.paths.get(finding.path) else {
                continue;
            };
            // The old name of a component has its own note.
            let old_subject = old_names.find_old_subject(&finding);
            let old_finding = old_subject.as_deref().map(|about| finding.with_subject(about));
            let findings: Vec<&Finding<'_>> = std::iter::once(&finding).chain(&old_finding).collect();
            if findings
                .iter()
                .any(|finding| self.is_allowed_after_merge(finding))
            {
                continue;
            }
            let mut entries = findings
                .iter()
                .flat_map(|finding| self.waivers.find_valid_entries(old_path, finding, self.today));
            let paths = if entries.any(|entry| is_literal_path(entry, old_path)) {
                &mut renamed_paths
            } else {
                &mut paths_of_shared_waivers
            };
            paths.insert(format!("{old_path} → {}", finding.path));
        }
        let mut notes = Vec::new();
        notes.extend(self.describe_renamed_paths(
            &renamed_paths,
            "run `sluicegate mv --repair` to update their `path` in this change",
        ));
        notes.extend(self.describe_renamed_paths(
            &paths_of_shared_waivers,
            "add waivers with the new path in this change, because these may match other files, too",
        ));
        notes
    }

    /// Describes the renamed pipelines that waivers match only by the old path, with the next step. If the job does
    /// not allow to edit the waivers in this change, that is always an earlier change. Returns `None` without paths.
    fn describe_renamed_paths(&self, renamed_paths: &BTreeSet<String>, next_step: &str) -> Option<String> {
        if renamed_paths.is_empty() {
            return None;
        }
        let next_step = if self.needs_separate_edit {
            format!("add waivers with the new path {SEPARATE_EDIT}")
        } else {
            format!("{}{next_step}", self.reviewed_waivers.describe_first_step())
        };
        Some(format!(
            "waivers in {FILE_NAME} match by the old path of {}: {next_step}, or they stop matching after the \
             merge ({})",
            format_count(renamed_paths.len(), "renamed pipeline"),
            List::with_limit(renamed_paths, MAX_LISTED_WAIVERS).join_with_semicolons()
        ))
    }

    /// Describes the waivers whose findings are no longer waived because the waivers expired. Omits those whose
    /// findings another waiver allows. Returns `None` if there are no such waivers.
    fn describe_expired_waivers(&self, statuses: &[WaiverStatus]) -> Option<String> {
        let mut expired_waivers = Vec::new();
        for (entry, status) in self.waivers.entries().iter().zip(statuses) {
            if let Some(last_day) = entry.last_day
                && status.has_lost_finding()
                && self.reviewed_waivers.keeps(entry)
            {
                expired_waivers.push(format!("{}, valid until {last_day}", entry.describe()));
            }
        }
        if expired_waivers.is_empty() {
            return None;
        }
        Some(format!(
            "{} in {FILE_NAME} expired, so findings are no longer waived: fix them, or change the `until` of these \
             waivers ({})",
            format_count(expired_waivers.len(), "waiver"),
            List::with_limit(&expired_waivers, MAX_LISTED_WAIVERS).join_with_semicolons(),
        ))
    }

    /// Describes the waivers that can be removed because they match no finding or have expired. Omits expired waivers
    /// that still match a finding, because they have their own note. Returns `None` if there are no such waivers.
    fn describe_unneeded_waivers(&self, statuses: &[WaiverStatus]) -> Option<String> {
        let mut unneeded_waivers = Vec::new();
        let mut expired_count = 0;
        for (entry, status) in self.waivers.entries().iter().zip(statuses) {
            if status.is_unneeded() && !status.has_lost_finding() && self.reviewed_waivers.keeps(entry) {
                unneeded_waivers.push(entry);
                expired_count += usize::from(status.is_expired);
            }
        }
        if unneeded_waivers.is_empty() {
            return None;
        }
        let unneeded_count = unneeded_waivers.len();
        let unused_count = unneeded_count - expired_count;
        let parts: Vec<String> = [(unused_count, "without a finding"), (expired_count, "expired")]
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(waiver_count, description)| format!("{waiver_count} {description}"))
            .collect();
        Some(format!(
            "{} in {FILE_NAME} can be removed: {} ({}); run `sluicegate waivers prune` to remove unneeded waivers",
            format_count(unneeded_count, "waiver"),
            parts.join(", "),
            List::with_limit(unneeded_waivers, MAX_LISTED_WAIVERS)
                .map(WaiverEntry::describe)
                .join_with_semicolons(),
        ))
    }
}

/// Returns whether the path of the waiver is this path, and not a glob that may match other files, too.
fn is_literal_path(entry: &WaiverEntry, path: &str) -> bool {
    entry.path == path || entry.path == escape_glob(path)
}

/// Returns the findings of a file that a waiver allows.
fn list_waived_findings(file: &FileResults) -> Vec<Finding<'_>> {
    let findings = file.results.iter().flat_map(|result| result.findings(&file.path));
    findings
        .filter(|finding| finding.state == Some(FindingState::Waived))
        .collect()
}
