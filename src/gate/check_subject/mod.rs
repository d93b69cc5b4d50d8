//! The subject of a local check: the files to evaluate, and what they are compared with.

pub(crate) mod check_paths;
pub(crate) mod check_rules;

use crate::error::Failure;
use crate::gate::check_subject::check_paths::CheckPaths;
use crate::gate::run::SelectedRun;
use crate::gate::run::report_subject::ReviewedFiles;
use crate::job::context::{self, Comparison, RequestedRevisions};
use crate::job::settings::CheckSettings;
use crate::session::Session;
use crate::workspace::Workspace;
use crate::workspace::unusable_gate_files::ResolveSelection;
use sluicegate_git::{CommitId, FileKind, Snapshot};
use sluicegate_pipelines::pipelines::is_pipeline;
use std::mem;
use std::path::PathBuf;

/// The settings of a check, and where they apply.
pub(crate) struct CheckSubject<'a> {
    pub(crate) session: &'a Session,
    pub(crate) workspace: &'a Workspace<'a>,
    pub(crate) settings: &'a CheckSettings,
}

impl<'a> CheckSubject<'a> {
    /// Returns the files to check: the staged files, those on disk, or those of a commit. `has_input` states that
    /// standard input replaces a file on disk. With standard input or `--staged`, the commit is ignored, in CI too,
    /// because the job then checks other files than those of the commit.
    pub(crate) fn open_snapshot(&self, has_input: bool) -> Result<Snapshot<'a>, Failure> {
        let workspace = self.workspace;

        if self.settings.staged || has_input {
            return self.open_local_files();
        }
        if self.settings.gate.revisions.head.is_none() {
            return workspace.read_checkout_snapshot(self.session);
        }
        let all_revisions = self.revisions_for_all();
        Ok(workspace
            .repo
            .snapshot(workspace.resolve_target(self.session, &all_revisions)?.head))
    }

    /// Returns the staged files with `--staged`, otherwise the files on disk. In a git hook, reads the index that git
    /// passes to the hook.
    pub(crate) fn open_local_files(&self) -> Result<Snapshot<'a>, Failure> {
        let repo = &self.workspace.repo;
        let index = self.session.hook_index_path(repo);
        Ok(if self.settings.staged {
            repo.read_staged_snapshot(index)?
        } else {
            repo.read_disk_snapshot(index)?
        })
    }

    /// Builds the run that checks the files of this snapshot. `comparison` describes the change, and also selects the
    /// pipelines. Selects submodules with a pipeline's name, too: a local evaluation reports that it cannot evaluate
    /// them. Fails if a path that restricts the run does not exist.
    pub(crate) fn build_run(
        &self,
        snapshot: Snapshot<'a>,
        paths: CheckPaths,
        comparison: Comparison,
        resolve: &ResolveSelection<'_>,
    ) -> Result<SelectedRun<'a>, Failure> {
        paths.require_existing_paths(self.workspace, &snapshot, &comparison)?;
        let paths = paths.without_root_restriction();
        let files = ReviewedFiles {
            workspace: self.workspace,
            settings: &self.settings.gate,
            snapshot,
            paths,
            change: comparison.clone(),
            comparison,
        };
        let mut run = self.select_changed_or_all(files, resolve)?;
        run.selection.pipelines.select_submodules();
        Ok(run)
    }

    /// Returns the requested revisions as if all pipelines were requested, so that no base is needed.
    fn revisions_for_all(&self) -> RequestedRevisions {
        RequestedRevisions {
            all: true,
            ..self.settings.gate.revisions.clone()
        }
    }

    /// Separates the typed paths into files, which are checked even if they are unchanged, and restrictions of the
    /// changes. Without the setting `checks_unchanged_paths`, every path is a restriction.
    pub(crate) fn resolve_paths(
        &self,
        snapshot: &Snapshot<'_>,
        typed_paths: &[PathBuf],
    ) -> Result<CheckPaths, Failure> {
        let mut paths = CheckPaths::default();
        for typed_path in typed_paths {
            let path = self.workspace.resolve_typed_path(self.session, typed_path)?;
            let file = snapshot.find_file(&path)?;
            let is_submodule = file.as_ref().is_some_and(|file| file.kind == FileKind::Submodule);
            // A submodule with a pipeline's name is reported by the evaluation.
            let is_other_repository = is_submodule && !is_pipeline(&path);
            if is_other_repository {
                self.workspace
                    .reject_path_in_nested_repository(&path, typed_path)?;
            }
            if self.settings.checks_unchanged_paths && file.is_some() && !is_other_repository {
                paths.named_files.push(path);
            } else {
                paths.restrictions.push((path, typed_path.clone()));
            }
        }
        Ok(paths)
    }

    /// Finds the base with which the files are compared: head for staged files in a local run, as in a git hook,
    /// otherwise the base of a review. If the user named only files, they are checked in any case, even if the base
    /// cannot be resolved or the event has nothing to review.
    pub(crate) fn find_comparison(&self, paths: &CheckPaths) -> Result<Comparison, Failure> {
        let revisions = &self.settings.gate.revisions;
        if let Some(head) = self.find_staged_base() {
            return Ok(Comparison {
                bases: vec![head],
                base_source: "the checked-out commit, to which the staged files would be added".to_owned(),
                ..self.find_comparison_without_base()?
            });
        }
        if !paths.has_only_named_files() {
            return self.resolve_comparison(revisions);
        }
        let comparison = self
            .resolve_comparison(revisions)
            .or_else(|_| self.find_comparison_without_base())?;
        Ok(Comparison {
            idle_reason: None,
            ..comparison
        })
    }

    /// Finds the comparison of a run over all pipelines, which needs no base.
    pub(crate) fn find_comparison_without_base(&self) -> Result<Comparison, Failure> {
        self.resolve_comparison(&self.revisions_for_all())
    }

    /// Finds the base of the commit that the job sets as head, or of the checkout if the job does not set a head.
    /// `revisions` contains the requested base, and whether all pipelines are requested.
    fn resolve_comparison(&self, revisions: &RequestedRevisions) -> Result<Comparison, Failure> {
        match self.settings.gate.revisions.head {
            Some(_) => self
                .workspace
                .resolve_target(self.session, revisions)
                .map(Comparison::from),
            None => self
                .workspace
                .resolve_checkout_comparison(self.session, revisions),
        }
    }

    /// Returns head as the base of staged files, so that a git hook checks only the files that the commit would add.
    /// Returns `None` without `--staged`, in a CI job, with a base that the user names, with `--all`, and in a
    /// repository without a commit.
    fn find_staged_base(&self) -> Option<CommitId> {
        let revisions = &self.settings.gate.revisions;
        let is_local_staged_check = self.settings.staged && self.workspace.ci.host.is_local();
        let has_no_base = revisions.base.is_none() && !revisions.all;
        if !is_local_staged_check || !has_no_base {
            return None;
        }
        Some(self.workspace.repo.head().ok()?.commit)
    }

    /// Selects the changed pipelines, or all pipelines if none changed and the commit head has no base of its own.
    fn select_changed_or_all(
        &self,
        files: ReviewedFiles<'a>,
        resolve: &ResolveSelection<'_>,
    ) -> Result<SelectedRun<'a>, Failure> {
        let mut run = SelectedRun::select_pipelines(self.session, files, resolve)?;
        let Some(reason) = self.find_reason_to_check_all(&run) else {
            run.report_reason_for_all();
            return Ok(run);
        };
        self.session.ui.say(&format!(
            "no pipeline differs from head, and {reason}: all pipelines are selected"
        ));
        // Without a base, the second selection contains all pipelines. It cannot find changes to the gate
        // configuration, so those of the first selection remain.
        run.subject.comparison.bases = Vec::new();
        run.subject.comparison.base_source = reason;
        let first_selection = mem::replace(
            &mut run.selection,
            run.subject.select_pipelines(self.session, resolve)?,
        );
        run.selection.pipelines.gate_changes = first_selection.pipelines.gate_changes;
        run.selection.rejects_gate_change = first_selection.rejects_gate_change;
        Ok(run)
    }

    /// Returns why all pipelines are checked if the working tree was compared with head and no pipeline differs: the
    /// commit head has no base of its own, for example because it is on the default branch. Otherwise returns `None`.
    fn find_reason_to_check_all(&self, run: &SelectedRun<'_>) -> Option<String> {
        if run.selection.pipelines.has_pipelines() || !self.is_compared_with_head(run) {
            return None;
        }
        let revisions = &self.settings.gate.revisions;
        let target = context::resolve_target(&self.workspace.repo, &self.workspace.ci, revisions).ok()?;
        target.bases.is_empty().then_some(target.base_source)
    }

    /// Returns whether the working tree was compared with head because the user did not name a base. Returns false for
    /// staged files: an index that equals head adds nothing that could be checked. Returns false for named files, too,
    /// which are checked in any case.
    fn is_compared_with_head(&self, run: &SelectedRun<'_>) -> bool {
        let revisions = &self.settings.gate.revisions;
        let is_working_tree =
            !self.settings.staged && revisions.head.is_none() && run.subject.paths.named_files.is_empty();
        if !is_working_tree || revisions.base.is_some() {
            return false;
        }
        let bases = &run.subject.comparison.bases;
        matches!(self.workspace.repo.head(), Ok(head) if bases.contains(&head.commit))
    }
}
