//! What a run is about: files that it reviews, or reports of earlier runs.

use crate::error::Failure;
use crate::gate::check_subject::check_paths::CheckPaths;
use crate::gate::selection::{SelectionRequest, SelectionResult};
use crate::job::ci::CiContext;
use crate::job::cli::CompatMode;
use crate::job::context::Comparison;
use crate::job::settings::{GateSettings, Selection};
use crate::session::Session;
use crate::workspace::Workspace;
use crate::workspace::unusable_gate_files::ResolveSelection;
use sluicegate_git::{Repository, Snapshot};
use sluicegate_pipelines::pipelines::shared_pipelines_path;
use sluicegate_pipelines::project::ProjectCheck;

/// The subject of a report: the files of a run, or the reports of earlier runs. Every report is delivered in the same
/// way.
pub(crate) trait ReportSubject {
    /// Returns the CI host's description of this run.
    fn ci(&self) -> &CiContext;

    /// Returns the repository, and the files that the report is about. Returns `None` if no clone has them.
    fn files(&self) -> Option<(&Repository, &Snapshot<'_>)>;

    /// Returns the selection of files, if it is known.
    fn selection(&self) -> Option<&Selection>;

    /// Returns how this run treats changes that break consumers. Returns `None` for reports of earlier runs.
    fn compat_mode(&self) -> Option<CompatMode> {
        None
    }

    /// Returns the workspace of the reviewed files. Returns `None` for reports of earlier runs.
    fn workspace(&self) -> Option<&Workspace<'_>>;

    /// Returns the workspace with the gate configuration of the run, if there is one. By default, it is the workspace
    /// of the reviewed files.
    fn policy_workspace(&self) -> Option<&Workspace<'_>> {
        self.workspace()
    }

    /// Returns the reason why the event has nothing to review, for example a deleted branch.
    fn idle_reason(&self) -> Option<&str> {
        None
    }
}

/// The files that a run reviews, and what they are compared with.
pub(crate) struct ReviewedFiles<'a> {
    pub(crate) workspace: &'a Workspace<'a>,
    pub(crate) settings: &'a GateSettings,
    /// The files to evaluate: of a commit, the index or the working tree.
    pub(crate) snapshot: Snapshot<'a>,
    pub(crate) paths: CheckPaths,
    /// The comparison of the change with its base.
    pub(crate) change: Comparison,
    /// The comparison that selects the pipelines: that of the change, or one without a base if every pipeline is
    /// selected.
    pub(crate) comparison: Comparison,
}

impl ReviewedFiles<'_> {
    /// Selects the pipelines to review, see [`SelectedRun::select_pipelines`](super::SelectedRun::select_pipelines).
    pub(crate) fn select_pipelines(
        &self,
        session: &Session,
        resolve: &ResolveSelection<'_>,
    ) -> Result<SelectionResult, Failure> {
        let request = SelectionRequest {
            selection: &self.settings.selection,
            paths: &self.paths.list_restricting_paths(),
            named_files: &self.paths.named_files,
            revisions: &self.settings.revisions,
            resolve,
        };
        self.workspace
            .select_pipelines(session, &self.snapshot, &self.comparison, &request)
    }

    /// Returns the path of the platform's shared-pipelines file if the project checks examine it.
    pub(super) fn find_examined_shared_file(&self) -> Result<Option<String>, Failure> {
        let levels = self.settings.verdict.project_checks.levels;
        if levels.enforcement_of(ProjectCheck::Shared).is_none() {
            return Ok(None);
        }
        let config_dir = self.workspace.find_shared_config_dir(&self.snapshot)?;
        Ok(config_dir.map(|dir| shared_pipelines_path(&dir)))
    }
}

impl ReportSubject for ReviewedFiles<'_> {
    fn ci(&self) -> &CiContext {
        &self.workspace.ci
    }

    /// Returns the repository and the reviewed files.
    fn files(&self) -> Option<(&Repository, &Snapshot<'_>)> {
        Some((&self.workspace.repo, &self.snapshot))
    }

    fn selection(&self) -> Option<&Selection> {
        Some(&self.settings.selection)
    }

    fn compat_mode(&self) -> Option<CompatMode> {
        Some(self.settings.verdict.compatibility.mode)
    }

    fn workspace(&self) -> Option<&Workspace<'_>> {
        Some(self.workspace)
    }

    /// Returns the reason why there is nothing to review, for example a deleted branch.
    fn idle_reason(&self) -> Option<&str> {
        self.change.idle_reason.as_deref()
    }
}
