//! Compares the gate configuration of the reviewed commit with that at the tip of the target.

use crate::error::Failure;
use crate::gate::interface_changes::interface_comparison::{ConfigDirs, compare_interfaces};
use crate::interface_version::{self, LoadedInterface};
use crate::job::policy::{
    GateFileVersion, MergeVersions, UnknownEffects, describe_stricter_settings, format_changed_rules,
};
use crate::workspace::gate_files::GateFiles;
use crate::workspace::{Workspace, find_config_dir_in};
use sluicegate_git::Snapshot;
use sluicegate_pipelines::interface::ChangeClass;
use sluicegate_pipelines::pipelines::{RULES_FILE, SHARED_PIPELINES_FILE};
use sluicegate_pipelines::rules::RuleSet;
use sluicegate_pipelines::waivers;
use std::collections::BTreeSet;

/// The comparison of the reviewed commit with the tip of its target, and the bases of both.
pub(super) struct TipComparison<'s> {
    pub(super) workspace: &'s Workspace<'s>,
    pub(super) head: &'s Snapshot<'s>,
    pub(super) tip: Snapshot<'s>,
    /// The hidden directory at the tip.
    pub(super) tip_config_dir: Option<String>,
    pub(super) bases: Vec<Snapshot<'s>>,
}

/// The versions of a gate file in head, in the target and at the bases.
pub(super) struct FileVersions {
    /// The path of the file in the target or, if the target turned the rules off, in head.
    path: String,
    /// The path of the rules file that the target replaced with this one by its settings.
    replaced_path: Option<String>,
    head: GateFileVersion,
    tip: GateFileVersion,
    bases: Vec<GateFileVersion>,
}

impl FileVersions {
    /// Returns the versions for a three-way merge.
    fn as_merge_versions(&self) -> MergeVersions<'_> {
        MergeVersions {
            head: &self.head,
            tip: &self.tip,
            bases: &self.bases,
        }
    }
}

impl TipComparison<'_> {
    /// Describes the settings that are stricter in the target than in the change, by the path of their file. In a rules
    /// file, also lists differences of unknown effect, because they may be stricter. `moved_rules` are compared with
    /// the files that they replace. Adds a hidden directory that the target renamed, and shared pipelines that
    /// consumers would lose.
    pub(super) fn find_stricter_settings(
        &self,
        files: &GateFiles,
        moved_rules: &[FileVersions],
        touched_paths: &BTreeSet<&str>,
    ) -> Result<Vec<(String, Vec<String>)>, Failure> {
        let gate_paths = [
            (self.workspace.config_file.clone(), UnknownEffects::Exclude),
            (Some(waivers::FILE_NAME.to_owned()), UnknownEffects::Exclude),
            (self.join_tip_config_dir(RULES_FILE), UnknownEffects::Include),
            (self.workspace.team_rules_path.clone(), UnknownEffects::Include),
        ];
        let mut compared_files = Vec::new();
        for (path, unknown_effects) in gate_paths {
            if let Some(path) = path.filter(|path| !is_moved(path, moved_rules)) {
                compared_files.push((self.read_versions(files, path), unknown_effects));
            }
        }
        let mut stricter_settings: Vec<(String, Vec<String>)> = Vec::new();
        let unmoved_files = compared_files
            .iter()
            .map(|(versions, unknown_effects)| (versions, *unknown_effects));
        let moved_files = moved_rules
            .iter()
            .map(|versions| (versions, UnknownEffects::Include));
        for (versions, unknown_effects) in unmoved_files.chain(moved_files) {
            let path = &versions.path;
            let differences = describe_stricter_settings(versions.as_merge_versions(), &|old, new| {
                files.list_stricter_differences(path, old, new, unknown_effects)
            });
            if !differences.is_empty() {
                stricter_settings.push((path.clone(), differences));
            }
        }
        stricter_settings.extend(self.find_renamed_config_dir()?);
        stricter_settings.extend(self.describe_lost_shared_pipelines(touched_paths)?);
        Ok(stricter_settings)
    }

    /// Reads the versions of a gate file in head, in the target and at each base.
    fn read_versions(&self, files: &GateFiles, path: String) -> FileVersions {
        let read_version = |snapshot: &Snapshot<'_>| self.workspace.read_version(snapshot, files, &path);
        FileVersions {
            head: read_version(self.head),
            tip: read_version(&self.tip),
            bases: self.bases.iter().map(read_version).collect(),
            replaced_path: None,
            path,
        }
    }

    /// Reads the rules files that the target selects by its settings in place of those that the change and a base
    /// select. A move by the change itself is a change to the gate.
    pub(super) fn read_moved_rules(&self, files: &GateFiles) -> Result<Vec<FileVersions>, Failure> {
        let mut moved_versions = Vec::new();
        for moved_file in self.workspace.find_moved_rules(self.head, &self.tip)? {
            let (old_path, new_path) = (moved_file.old_path(), moved_file.new_path());
            let mut bases = Vec::new();
            for base in &self.bases {
                if self
                    .workspace
                    .find_moved_rules(base, &self.tip)?
                    .contains(&moved_file)
                {
                    bases.push(self.workspace.read_selected_rules(base, files, old_path));
                }
            }
            if !bases.is_empty() {
                moved_versions.push(FileVersions {
                    path: moved_file.reported_path().to_owned(),
                    replaced_path: old_path.map(str::to_owned),
                    head: self.workspace.read_selected_rules(self.head, files, old_path),
                    tip: self.workspace.read_selected_rules(&self.tip, files, new_path),
                    bases,
                });
            }
        }
        Ok(moved_versions)
    }

    /// Returns the path of a file in the platform's hidden directory at the tip of the target. Returns `None` if the
    /// target has no hidden directory.
    fn join_tip_config_dir(&self, file_name: &str) -> Option<String> {
        let config_dir = self.tip_config_dir.as_ref()?;
        Some(format!("{config_dir}/{file_name}"))
    }

    /// Returns the rules that will apply after the merge. Returns `None` if these are the rules of head, or if the
    /// target has no hidden directory.
    pub(super) fn find_rules_after_merge(
        &self,
        files: &GateFiles,
        moved_rules: &[FileVersions],
    ) -> Option<RuleSet> {
        let moved_platform_rules = moved_rules
            .iter()
            .find(|versions| !files.is_team_rules(&versions.path));
        let bytes = if let Some(versions) = moved_platform_rules {
            format_changed_rules(versions.as_merge_versions())
        } else {
            let versions = self.read_versions(files, self.join_tip_config_dir(RULES_FILE)?);
            format_changed_rules(versions.as_merge_versions())
        };
        bytes.map(|bytes| RuleSet::parse(&bytes))
    }

    /// Returns the platform's hidden directory in the target, with a description, if the target renamed it since a
    /// base. An ambiguous hidden directory is treated as missing.
    fn find_renamed_config_dir(&self) -> Result<Option<(String, Vec<String>)>, Failure> {
        let read_config_dir =
            |snapshot: &Snapshot<'_>| Ok::<_, Failure>(find_config_dir_in(snapshot)?.ok().flatten());
        let (Some(head), Some(tip)) = (read_config_dir(self.head)?, read_config_dir(&self.tip)?) else {
            return Ok(None);
        };
        let mut is_renamed_by_target = false;
        for base in &self.bases {
            is_renamed_by_target |= read_config_dir(base)?.as_ref() == Some(&head);
        }
        let difference =
            format!("the platform's hidden directory is `{head}` in this change and `{tip}` in the target");
        Ok((head != tip && is_renamed_by_target).then(|| (tip, vec![difference])))
    }

    /// Returns whether head and target have the same shared-pipelines file, byte for byte. Usually they do, and the
    /// interfaces need not be compared.
    fn has_same_shared_file(&self) -> bool {
        self.join_tip_config_dir(SHARED_PIPELINES_FILE)
            .is_some_and(|path| {
                self.workspace.read_gate_file(self.head, &path)
                    == self.workspace.read_gate_file(&self.tip, &path)
            })
    }

    /// Returns the target's shared-pipelines file and a sentence for each pipeline that consumers could not use after
    /// the merge: the target began to share it, or shares it differently, while this change edits, moves or deletes it.
    fn describe_lost_shared_pipelines(
        &self,
        touched_paths: &BTreeSet<&str>,
    ) -> Result<Option<(String, Vec<String>)>, Failure> {
        if self.has_same_shared_file() {
            return Ok(None);
        }
        let (repo, config_dir) = (&self.workspace.repo, self.workspace.named_config_dir.as_deref());
        let LoadedInterface::Read(tip, _) = interface_version::read_interface(repo, &self.tip, config_dir)?
        else {
            return Ok(None);
        };
        // If a consumer of the target could not use a pipeline at a base, the target has shared or changed it since.
        let mut ids_changed_by_target = BTreeSet::new();
        for base in &self.bases {
            ids_changed_by_target.extend(self.find_broken_ids(base)?);
        }
        let broken_ids = self.find_broken_ids(self.head)?;
        let mut differences = Vec::new();
        for entry in tip.offered_entries() {
            let is_lost = broken_ids.contains(&entry.id) && ids_changed_by_target.contains(&entry.id);
            if is_lost && touched_paths.contains(entry.pipeline.as_str()) {
                differences.push(format!(
                    "the file shares {} as `{}`, and this change edits, moves or deletes that pipeline",
                    entry.pipeline, entry.id
                ));
            }
        }
        Ok((!differences.is_empty()).then(|| (tip.file.clone(), differences)))
    }

    /// Returns the ids of shared pipelines that the target offers and that a consumer could not use in `snapshot`.
    fn find_broken_ids(&self, snapshot: &Snapshot<'_>) -> Result<BTreeSet<String>, Failure> {
        let named_dir = self.workspace.named_config_dir.as_deref();
        let config_dirs = ConfigDirs::common(named_dir);
        let comparison = compare_interfaces(&self.workspace.repo, &self.tip, snapshot, &config_dirs)?;
        let changes = comparison.into_iter().flat_map(|comparison| comparison.changes);
        Ok(changes
            .filter(|change| change.class == ChangeClass::Breaking)
            .filter_map(|change| change.id)
            .collect())
    }
}

/// Returns whether the target moved its rules from or to this path, so that comparing the path itself would be wrong.
fn is_moved(path: &str, moved_rules: &[FileVersions]) -> bool {
    moved_rules
        .iter()
        .any(|versions| versions.path == path || versions.replaced_path.as_deref() == Some(path))
}
