//! The notes about waivers: which can be removed, and which must be changed because the change renames their subject.

use super::reviewed_waivers::{ReviewedWaivers, allows_at_path};
use super::waivers::{PolicyWaivers, today};
use sluicegate_base::text::{List, format_count};
use sluicegate_pipelines::findings::{FileResults, Finding, FindingState};
use sluicegate_pipelines::waivers::{FILE_NAME, OldNames, WaiverEntry, WaiverStatus};
use std::collections::BTreeSet;

/// Maximum number of waivers in a note.
const MAX_LISTED_WAIVERS: usize = 3;

impl PolicyWaivers {
    /// Returns the notes about waivers that can be removed or must be changed in this change. Omits those that the
    /// change has already removed or changed.
    pub(super) fn describe_needed_edits(
        &self,
        statuses: &[WaiverStatus],
        former_names: &OldNames,
        files: &[FileResults],
    ) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(self.describe_unneeded_waivers(statuses));
        // After the merge, there are no waivers to edit.
        if !matches!(self.reviewed_waivers, ReviewedWaivers::Removed) {
            notes.extend(self.describe_former_paths(former_names, files));
            notes.extend(self.describe_outdated_waivers(former_names, files));
        }
        notes
    }

    /// Describes the waivers that match a renamed component only by its former name. These waivers stop matching after
    /// the merge, because the former name is then unknown.
    fn describe_outdated_waivers(&self, former_names: &OldNames, files: &[FileResults]) -> Option<String> {
        let mut lines: Vec<String> = Vec::new();
        for finding in files.iter().flat_map(list_waived_findings) {
            let (Some(new_name), Some(old_name)) = (finding.about, former_names.find_old_subject(&finding))
            else {
                continue;
            };
            let old_finding = finding.with_subject(&old_name);
            let former_path = former_names.paths.get(finding.path).map(String::as_str);
            let paths: Vec<&str> = std::iter::once(finding.path).chain(former_path).collect();
            for entry in self.list_outdated_entries(&finding, &old_finding, &paths) {
                let renamed_waiver = WaiverEntry {
                    about: Some(new_name.to_owned()),
                    ..entry.clone()
                };
                lines.push(format!("`- {renamed_waiver}` instead of `about: {old_name}`"));
            }
        }
        lines.sort();
        lines.dedup();
        let waiver_count = lines.len();
        (waiver_count > 0).then(|| {
            format!(
                "{FILE_NAME} has {} with the former name of a component: {}write the new name in this change, \
                 because the former name does not match after the merge: {}",
                format_count(waiver_count, "waiver"),
                self.reviewed_waivers.describe_first_step(),
                List::with_limit(&lines, MAX_LISTED_WAIVERS)
            )
        })
    }

    /// Returns the waivers that match the finding at one of these paths only by the former name of its component, which
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
        let today = today();
        for path in paths {
            let entries = self.waivers.list_valid_entries(path, old_finding, today);
            // A waiver without the name of a component matches by the former path; it has its own note.
            outdated_entries.extend(entries.into_iter().filter(|entry| entry.about.is_some()));
        }
        outdated_entries
    }

    /// Returns whether a waiver allows this finding without former names: one of the policy or one of the reviewed
    /// version, so that the finding is waived after the merge, too.
    fn is_allowed_after_merge(&self, finding: &Finding<'_>) -> bool {
        let today = today();
        allows_at_path(&self.waivers, finding, today) || self.reviewed_waivers.allows(finding, today)
    }

    /// Describes the waivers that match a renamed file only by its former path. These waivers stop matching after the
    /// merge, because the former path is then unknown.
    fn describe_former_paths(&self, former_names: &OldNames, files: &[FileResults]) -> Option<String> {
        let mut renamed_paths = BTreeSet::new();
        for finding in files.iter().flat_map(list_waived_findings) {
            let Some(former_path) = former_names.paths.get(finding.path) else {
                continue;
            };
            // The former name of a component has its own note.
            let old_name = former_names.find_old_subject(&finding);
            let old_finding = old_name.as_deref().map(|about| finding.with_subject(about));
            let is_allowed_by_new_path = std::iter::once(&finding)
                .chain(&old_finding)
                .any(|finding| self.is_allowed_after_merge(finding));
            if !is_allowed_by_new_path {
                renamed_paths.insert(format!("{former_path} → {}", finding.path));
            }
        }
        if renamed_paths.is_empty() {
            return None;
        }
        Some(format!(
            "waivers in {FILE_NAME} match by the former path of {}: {}update their `path` in this change, or they stop \
             matching after the merge ({})",
            format_count(renamed_paths.len(), "renamed pipeline"),
            self.reviewed_waivers.describe_first_step(),
            List::with_limit(&renamed_paths, MAX_LISTED_WAIVERS).join_with_semicolons()
        ))
    }

    /// Describes the waivers that can be removed because they match no finding or have expired. Returns `None` if there
    /// are no such waivers.
    fn describe_unneeded_waivers(&self, statuses: &[WaiverStatus]) -> Option<String> {
        let mut unneeded_waivers = Vec::new();
        let mut expired_count = 0;
        for (entry, status) in self.waivers.entries().iter().zip(statuses) {
            if status.is_unneeded() && self.reviewed_waivers.keeps(entry) {
                unneeded_waivers.push(entry);
                expired_count += usize::from(status.is_expired);
            }
        }
        if unneeded_waivers.is_empty() {
            return None;
        }
        let unneeded_count = unneeded_waivers.len();
        let unused_count = unneeded_count - expired_count;
        let parts = [(unused_count, "without a finding"), (expired_count, "expired")];
        let parts: Vec<String> = parts
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

/// Returns the findings of a file that a waiver allows.
fn list_waived_findings(file: &FileResults) -> Vec<Finding<'_>> {
    let findings = file.results.iter().flat_map(|result| result.findings(&file.path));
    findings
        .filter(|finding| finding.state == Some(FindingState::Waived))
        .collect()
}
