//! Reports that the change removed the shared-pipelines file.

use crate::error::Failure;
use crate::gate::run::GateRun;
use crate::interface_version::has_shared_pipelines;
use sluicegate_git::{GitError, Snapshot};
use sluicegate_pipelines::findings::FileResults;
use sluicegate_pipelines::pipelines::shared_pipelines_path;
use sluicegate_pipelines::project::{ProjectCheck, report_removed_shared_file};

impl GateRun<'_> {
    /// Returns the finding that the change removed the shared-pipelines file: the next publish would fail. Returns
    /// `None` if the file has moved, if no base has it, or if the check is off. A run of all pipelines has no base of
    /// its own; the commits with which it finds renamed pipelines are its bases here.
    pub(super) fn find_removed_shared_file(&self) -> Result<Option<FileResults>, Failure> {
        let levels = self.subject.settings.verdict.project_checks.levels;
        if levels.enforcement_of(ProjectCheck::Shared).is_none() {
            return Ok(None);
        }
        let workspace = self.subject.workspace;
        let snapshot = &self.subject.snapshot;
        // If the settings name the directory, a publish finds the file in no other one.
        let is_present = match workspace.find_shared_config_dir(snapshot)? {
            Some(config_dir) if workspace.named_config_dir.is_some() => {
                has_shared_pipelines(snapshot, &config_dir)?
            }
            _ => has_shared_pipelines_anywhere(snapshot)?,
        };
        if is_present {
            return Ok(None);
        }
        let (bases, _) = self.selection.pipelines.compared_changes();
        for base in bases {
            let base_snapshot = workspace.repo.snapshot(base.clone());
            if let Some(config_dir) = workspace.find_config_dir(&base_snapshot)?
                && has_shared_pipelines(&base_snapshot, &config_dir)?
            {
                let path = shared_pipelines_path(&config_dir);
                return Ok(report_removed_shared_file(&path, levels));
            }
        }
        Ok(None)
    }
}

/// Returns whether a hidden directory at the root contains a shared-pipelines file.
fn has_shared_pipelines_anywhere(snapshot: &Snapshot<'_>) -> Result<bool, GitError> {
    for folder in snapshot.list_hidden_root_folders()? {
        if has_shared_pipelines(snapshot, &folder)? {
            return Ok(true);
        }
    }
    Ok(false)
}
