//! Determines what a change does to the gate configuration, compared with the host's information about the change.
//!
//! A setting that moves the base must not hide such a change. Both versions of the files are read as far as possible;
//! unreadable files are reported.

use crate::error::Failure;
use crate::job::ci::BaseHint;
use crate::job::cli::GateChanges;
use crate::job::context::{
    self, Comparison, ContextError, EarlierCommit, PolicyRevision, RequestedRevisions,
};
use crate::job::policy::{self, ChangeDescription, GateFileVersion};
use crate::session::Session;
use crate::workspace::gate_files::{GateFiles, MovedRulesFile};
use crate::workspace::{Workspace, print_warnings};
use sluicegate_git::{Change, CommitId, FileKind, Snapshot, SnapshotFile};

impl Workspace<'_> {
    /// Returns the commits with which the gate configuration is compared. These are the bases that the host implies
    /// (for a tag, those on the default branch), so that a job cannot hide a change by naming another base. If the
    /// bases of the host cannot be resolved, returns the requested bases, in CI with a warning. That is an error
    /// instead if changes to the gate configuration can fail the run. `named_base` is the base that the job names
    /// together with `--all`.
    pub(crate) fn resolve_gate_bases(
        &self,
        session: &Session,
        comparison: &Comparison,
        revisions: &RequestedRevisions,
        named_base: Option<&Comparison>,
    ) -> Result<Vec<CommitId>, Failure> {
        // Only a tag has the hint `All`.
        if let (BaseHint::All { .. }, PolicyRevision::Commit { commit, branch, .. }) =
            (&self.ci.base, &self.target_revision)
        {
            return self.resolve_tag_bases(session, comparison, commit, branch);
        }
        // A local run has no host base, and a base named there is intended.
        let is_base_named_locally = self.ci.host.is_local() && revisions.base.is_some();
        if let Some(named_base) = named_base.filter(|_| self.ci.host.is_local()) {
            return Ok(named_base.bases.clone());
        }
        // Without a request of the job, the comparison already uses the bases of the host.
        let is_host_base_used = revisions.base.is_none() && !revisions.all;
        if is_base_named_locally || (is_host_base_used && self.ci.host.is_local()) {
            return Ok(comparison.bases.clone());
        }
        let host_bases = if is_host_base_used {
            self.select_host_bases(comparison)
        } else {
            self.resolve_unrequested_bases(comparison, revisions)
        };
        match host_bases {
            Ok(bases) => Ok(bases),
            Err(error) if self.gate_changes == GateChanges::Fail => Err(error.into()),
            // The run has already warned of a missing base.
            Err(_) if self.ci.host.is_local() || (is_host_base_used && !comparison.warnings.is_empty()) => {
                Ok(comparison.bases.clone())
            }
            Err(error) if is_host_base_used => {
                session.ui.warn(&format!(
                    "changes to the gate configuration are not reported: {error}"
                ));
                Ok(comparison.bases.clone())
            }
            Err(error) => {
                let consequence = if comparison.bases.is_empty() {
                    "changes to the gate configuration are not reported"
                } else {
                    "the gate configuration is compared with the requested base"
                };
                session.ui.warn(&format!(
                    "could not resolve the base that the CI host names ({error}), so {consequence}"
                ));
                Ok(comparison.bases.clone())
            }
        }
    }

    /// Returns the bases of a tag: its merge bases with the default branch `branch`, whose newest commit is `tip`. If
    /// there are none or they cannot be found, prints a warning and returns an empty list. If changes to the gate
    /// configuration can fail the run, this is an error instead.
    fn resolve_tag_bases(
        &self,
        session: &Session,
        comparison: &Comparison,
        tip: &CommitId,
        branch: &str,
    ) -> Result<Vec<CommitId>, Failure> {
        let head = self.find_reviewed_commit(comparison.head.as_ref())?;
        let error: Failure = match self.repo.find_merge_bases(tip, &head) {
            Ok(bases) if bases.is_empty() => ContextError::NoCommonHistory {
                revision: branch.to_owned(),
                head,
            }
            .into(),
            Ok(bases) => return Ok(bases),
            Err(error) => error.into(),
        };
        if self.gate_changes == GateChanges::Fail {
            return Err(error);
        }
        session.ui.warn(&format!(
            "changes to the gate configuration since `{branch}` are not reported: {}",
            error.describe_on_one_line()
        ));
        Ok(Vec::new())
    }

    /// Returns the bases that would be used if the job did not name a base and did not request all pipelines: those of
    /// the CI host.
    fn resolve_unrequested_bases(
        &self,
        comparison: &Comparison,
        revisions: &RequestedRevisions,
    ) -> Result<Vec<CommitId>, ContextError> {
        let unrequested_revisions = RequestedRevisions {
            base: None,
            ..revisions.clone()
        };
        self.select_host_bases(&self.resolve_comparison_without_all(comparison, &unrequested_revisions)?)
    }

    /// Returns the commits that the host compares with: the bases or, in a run that reviews all pipelines, the earlier
    /// commit of the branch. There are none for a run that may repeat an earlier one, for a head that is already in the
    /// branch that it is compared with, and for the first push of a branch. Fails if the commits are unknown.
    fn select_host_bases(&self, comparison: &Comparison) -> Result<Vec<CommitId>, ContextError> {
        if !comparison.bases.is_empty() || self.ci.host.is_local() || comparison.may_repeat_run(&self.ci) {
            return Ok(comparison.bases.clone());
        }
        if comparison.earlier_commit == EarlierCommit::Unknown {
            return Err(ContextError::BaseUnknown {
                reason: comparison.base_source.clone(),
            });
        }
        let (bases, _) = comparison.select_baseline_commits()?;
        let head = self.find_reviewed_commit(comparison.head.as_ref())?;
        // Compared with itself, head has no changes. An earlier commit of a change is head, or the change in a merge.
        if comparison.is_change || bases.contains(&head) {
            return Ok(Vec::new());
        }
        Ok(bases)
    }

    /// Resolves the base that the job names together with `--all`, and prints the warnings. The run selects all
    /// pipelines, but the base shows known findings, renames and changes to the gate configuration. Returns `None` if
    /// the job does not name both.
    pub(crate) fn resolve_base_named_with_all(
        &self,
        session: &Session,
        comparison: &Comparison,
        revisions: &RequestedRevisions,
    ) -> Result<Option<Comparison>, ContextError> {
        if !revisions.all || revisions.base.is_none() {
            return Ok(None);
        }
        let named_base = self.resolve_comparison_without_all(comparison, revisions)?;
        print_warnings(session, &named_base);
        Ok(Some(named_base))
    }

    /// Returns the comparison that would be used without `--all`.
    pub(crate) fn resolve_comparison_without_all(
        &self,
        comparison: &Comparison,
        revisions: &RequestedRevisions,
    ) -> Result<Comparison, ContextError> {
        let changed_revisions = RequestedRevisions {
            all: false,
            ..revisions.clone()
        };
        match comparison.head {
            Some(_) => {
                context::resolve_target(&self.repo, &self.ci, &changed_revisions).map(Comparison::from)
            }
            None => context::resolve_checkout(&self.repo, &self.ci, &changed_revisions),
        }
    }

    /// Describes how a file of the gate configuration changed since `commit`, one line for each difference. The file
    /// may have been renamed. A rules file that the change selects by its settings is compared with the one that it
    /// replaces. If the change does not edit it, the differences are in the description of the settings.
    pub(crate) fn describe_gate_change(
        &self,
        snapshot: &Snapshot<'_>,
        files: &GateFiles,
        commit: &CommitId,
        change: &Change,
    ) -> ChangeDescription {
        let base = self.repo.snapshot(commit.clone());
        // The selection has already failed if these settings cannot be read.
        let moved_files = self.find_moved_rules(&base, snapshot).unwrap_or_default();
        let moved_file = moved_files
            .iter()
            .find(|moved_file| moved_file.new_path() == Some(change.path.as_str()));
        let link_description = match moved_file {
            None => self.describe_changed_link(&base, snapshot, files, &change.path),
            Some(_) => None,
        };
        let mut description = link_description.unwrap_or_else(|| {
            let old = if let Some(moved_file) = moved_file {
                // If the settings turned the rules off, all rules of the file become active.
                self.read_selected_rules(&base, files, moved_file.old_path())
            } else {
                let old_path = change.rename_source().unwrap_or(&change.path);
                self.read_version(&base, files, old_path)
            };
            let new = self.read_version(snapshot, files, &change.path);
            files.describe_changes(&change.path, &old, &new)
        });
        if files.is_settings(&change.path) {
            for moved_file in &moved_files {
                description.add(self.describe_moved_rules(&base, snapshot, files, moved_file));
            }
        }
        description
    }

    /// Describes the differences between the files to which a link leads that the change edits, adds or removes. The
    /// link may lead to the directory of several files. Returns `None` if no other path leads through the link. The
    /// platform does not follow links, so its rules files are compared only if both versions have the link.
    fn describe_changed_link(
        &self,
        base: &Snapshot<'_>,
        snapshot: &Snapshot<'_>,
        files: &GateFiles,
        link: &str,
    ) -> Option<ChangeDescription> {
        let (was_link, is_link) = (is_link_in(base, link), is_link_in(snapshot, link));
        if !was_link && !is_link {
            return None;
        }
        let mut description: Option<ChangeDescription> = None;
        for source in files.sources() {
            let is_compared = if files.may_be_link(source) {
                source != link
            } else {
                was_link && is_link
            };
            let is_behind_link =
                self.is_behind_link(base, source, link) || self.is_behind_link(snapshot, source, link);
            if !is_compared || !is_behind_link {
                continue;
            }
            let (old, new) = (
                self.read_linked_gate_file(base, source),
                self.read_linked_gate_file(snapshot, source),
            );
            let source_description = files.describe_changes(source, &old, &new);
            description.get_or_insert_default().add(if source == link {
                source_description
            } else {
                source_description.with_path(source)
            });
        }
        description
    }

    /// Returns whether the file at `path` is behind `link`.
    fn is_behind_link(&self, snapshot: &Snapshot<'_>, path: &str, link: &str) -> bool {
        policy::follow_links(&self.repo, snapshot, path)
            .is_ok_and(|resolved_path| resolved_path.paths.iter().any(|part| part == link))
    }

    /// Describes the differences between a rules file that the change does not edit and the one that it replaces.
    /// Returns an empty description for an edited file, which has its own description, and if no file is replaced.
    fn describe_moved_rules(
        &self,
        base: &Snapshot<'_>,
        snapshot: &Snapshot<'_>,
        files: &GateFiles,
        moved_file: &MovedRulesFile,
    ) -> ChangeDescription {
        let (old_path, new_path) = (moved_file.old_path(), moved_file.new_path());
        let (old, new) = (
            self.read_selected_rules(base, files, old_path),
            self.read_selected_rules(snapshot, files, new_path),
        );
        let is_edited = match moved_file {
            MovedRulesFile::Moved { new_path, .. } | MovedRulesFile::TurnedOn { new_path } => {
                self.read_version(base, files, new_path) != new
            }
            MovedRulesFile::TurnedOff { old_path } => {
                self.read_version(snapshot, files, old_path) == GateFileVersion::Missing
            }
        };
        if old == GateFileVersion::Missing || is_edited {
            return ChangeDescription::default();
        }
        if new == GateFileVersion::Missing {
            // Without a rules file before the change, nothing is lost.
            let MovedRulesFile::Moved { old_path, new_path } = moved_file else {
                return ChangeDescription::default();
            };
            return policy::describe_missing_rules_file(old_path, new_path);
        }
        let path = moved_file.reported_path();
        files.describe_changes(path, &old, &new).with_path(path)
    }

    /// Reads the rules file that the settings select. If they turn the rules off, returns a file without rules.
    pub(crate) fn read_selected_rules(
        &self,
        snapshot: &Snapshot<'_>,
        files: &GateFiles,
        path: Option<&str>,
    ) -> GateFileVersion {
        match path {
            Some(path) => self.read_version(snapshot, files, path),
            None => GateFileVersion::Text(Vec::new()),
        }
    }

    /// Reads a file of the gate configuration as the gate does: a link to a file in the repository is followed, except
    /// for the files that the platform reads.
    pub(crate) fn read_version(
        &self,
        snapshot: &Snapshot<'_>,
        files: &GateFiles,
        path: &str,
    ) -> GateFileVersion {
        if files.may_be_link(path) {
            self.read_linked_gate_file(snapshot, path)
        } else {
            self.read_gate_file(snapshot, path)
        }
    }

    /// Like [`Self::read_gate_file`], but follows links to a file in the repository.
    pub(crate) fn read_linked_gate_file(&self, snapshot: &Snapshot<'_>, path: &str) -> GateFileVersion {
        let resolved_path = match policy::follow_links(&self.repo, snapshot, path) {
            Ok(resolved_path) => resolved_path,
            Err(error) => return GateFileVersion::Unreadable(error.to_string()),
        };
        match (resolved_path.file, resolved_path.defect) {
            (Some(file), _) => self.read_gate_content(&file),
            (None, Some(reason)) => match self.read_gate_file(snapshot, path) {
                // A link to a directory hides the path.
                GateFileVersion::Missing => GateFileVersion::Unreadable(reason.to_owned()),
                version => version,
            },
            (None, None) => GateFileVersion::Missing,
        }
    }

    /// Reads a file of the gate configuration at this snapshot. An error is a possible version of the file, because
    /// errors are compared and reported in the same way as contents.
    pub(crate) fn read_gate_file(&self, snapshot: &Snapshot<'_>, path: &str) -> GateFileVersion {
        match snapshot.find_file(path) {
            Ok(None) => GateFileVersion::Missing,
            Ok(Some(file)) => self.read_gate_content(&file),
            Err(error) => GateFileVersion::Unreadable(error.to_string()),
        }
    }

    /// Reads the content of a gate configuration file, or the reason why it cannot be read.
    fn read_gate_content(&self, file: &SnapshotFile) -> GateFileVersion {
        if let Some(reason) = file.kind.unreadable_reason() {
            return GateFileVersion::Unreadable(format!("the file is {reason}"));
        }
        match self.read_document(file) {
            Ok(Ok(bytes)) => GateFileVersion::Text(bytes),
            Ok(Err(error)) => GateFileVersion::Unreadable(error.to_string()),
            Err(failure) => GateFileVersion::Unreadable(failure.describe_on_one_line()),
        }
    }
}

/// Returns whether the snapshot has a symbolic link at this path.
fn is_link_in(snapshot: &Snapshot<'_>, path: &str) -> bool {
    snapshot
        .find_file(path)
        .is_ok_and(|file| file.is_some_and(|file| file.kind == FileKind::Symlink))
}
