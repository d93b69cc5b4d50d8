//! The subject of a local check: the files to evaluate, and what they are compared with.

pub(crate) mod check_paths;
pub(crate) mod check_rules;

use crate::error::Failure;
use crate::gate::check_subject::check_paths::CheckPaths;
use crate::gate::run::GateRun;
use crate::job::context::{self, Comparison};
use crate::job::settings::{CheckSettings, Revisions};
use crate::session::{Run, is_ci};
use crate::workspace::unusable_gate_files::ResolveSelection;
use crate::workspace::{Workspace, to_requested_revisions};
use sluicegate_git::{CommitId, Snapshot};
use std::path::PathBuf;

/// The settings of a check, and where they apply.
pub(crate) struct CheckSubject<'a> {
    pub(crate) session: &'a Run,
    pub(crate) workspace: &'a Workspace<'a>,
    pub(crate) settings: &'a CheckSettings,
}

impl<'a> CheckSubject<'a> {
    /// Returns the files to check: those of the checkout, staged, or of a commit. In CI, `--staged` and standard input
    /// state that the job means other files than those of the commit.
    pub(crate) fn snapshot(&self, has_input: bool) -> Result<Snapshot<'a>, Failure> {
        let workspace = self.workspace;
        let repo = &workspace.repo;
        let index = self.session.index();
        if self.settings.staged {
            return Ok(repo.staged_snapshot(index)?);
        }
        if has_input {
            return Ok(repo.disk_snapshot(index)?);
        }
        if self.settings.gate.revisions.head.is_none() {
            return workspace.checkout_snapshot(self.session);
        }
        let all_revisions = self.all_revisions();
        Ok(repo.snapshot(workspace.resolve_target(self.session, all_revisions)?.head))
    }

    /// Returns the requested revisions with all pipelines, for which no base is resolved.
    fn all_revisions(&self) -> Revisions {
        Revisions {
            all: true,
            ..self.settings.gate.revisions.clone()
        }
    }

    /// Returns the typed paths as files of the snapshot that are checked in any case, and as restrictions.
    pub(crate) fn paths(
        &self,
        snapshot: &Snapshot<'_>,
        typed_paths: &[PathBuf],
    ) -> Result<CheckPaths, Failure> {
        let mut paths = CheckPaths::default();
        for typed_path in typed_paths {
            let path = self.workspace.resolve_typed_path(self.session, typed_path)?;
            if self.settings.checks_unchanged_paths && snapshot.find_file(&path)?.is_some() {
                paths.named_files.push(path);
            } else {
                paths.restrictions.push((path, typed_path.clone()));
            }
        }
        Ok(paths)
    }

    /// Returns the comparison of the files. Named files need no base, so a base that cannot be resolved is ignored for
    /// them.
    pub(crate) fn comparison(&self, paths: &CheckPaths) -> Result<Comparison, Failure> {
        let revisions = self.settings.gate.revisions.clone();
        if let Some(head) = self.find_staged_base() {
            return Ok(Comparison {
                bases: vec![head],
                base_source: "the checked-out commit, to which the staged files would be added".to_owned(),
                ..self.resolve_comparison(self.all_revisions())?
            });
        }
        if !paths.has_only_named_files() {
            return self.resolve_comparison(revisions);
        }
        let comparison = self
            .resolve_comparison(revisions)
            .or_else(|_| self.resolve_comparison(self.all_revisions()))?;
        Ok(Comparison {
            idle_reason: None,
            ..comparison
        })
    }

    fn resolve_comparison(&self, revisions: Revisions) -> Result<Comparison, Failure> {
        match self.settings.gate.revisions.head {
            Some(_) => self
                .workspace
                .resolve_target(self.session, revisions)
                .map(Comparison::from),
            None => self.workspace.resolve_checkout(self.session, revisions),
        }
    }

    /// Returns the commit that the staged files are compared with: a hook reviews the changes that the commit would
    /// add. In a job, or with an explicit base, the base is that of a review.
    fn find_staged_base(&self) -> Option<CommitId> {
        let revisions = &self.settings.gate.revisions;
        let is_hook = self.settings.staged && !is_ci(&self.session.env);
        let has_no_base = revisions.base.is_none() && !revisions.all;
        if !is_hook || !has_no_base {
            return None;
        }
        Some(self.workspace.repo.head().ok()?.commit)
    }

    /// Selects the pipelines. If no pipeline differs from head, head is checked, with the same base as in a review: if
    /// head is on the default branch already, every pipeline is selected.
    pub(crate) fn select_pipelines(
        &self,
        run: &mut GateRun<'_>,
        resolve: &ResolveSelection<'_>,
    ) -> Result<(), Failure> {
        run.select_pipelines(resolve)?;
        if !run.selection.pipelines.is_empty() || !self.is_compared_with_head(run) {
            run.report_reason_for_all();
            return Ok(());
        }
        let request = to_requested_revisions(self.settings.gate.revisions.clone());
        let reason = match context::resolve_target(&self.workspace.repo, &self.workspace.ci, &request) {
            Ok(head) if head.bases.is_empty() => head.base_source,
            _ => return Ok(()),
        };
        self.session.ui.say(&format!(
            "no pipeline differs from head, and {reason}: all pipelines are selected"
        ));
        run.subject.comparison.bases = Vec::new();
        run.subject.comparison.base_source = reason;
        let gate_changes = std::mem::take(&mut run.selection.pipelines.gate_changes);
        run.select_pipelines(resolve)?;
        run.selection.pipelines.gate_changes = gate_changes;
        Ok(())
    }

    /// Returns whether the working tree was compared with its head without an explicit base. Staged files are never
    /// compared this way: an index equal to head adds no change.
    fn is_compared_with_head(&self, run: &GateRun<'_>) -> bool {
        let revisions = &self.settings.gate.revisions;
        let is_tree =
            !self.settings.staged && revisions.head.is_none() && run.subject.paths.named_files.is_empty();
        if !is_tree || revisions.base.is_some() {
            return false;
        }
        let bases = &run.subject.comparison.bases;
        matches!(self.workspace.repo.head(), Ok(head) if bases.contains(&head.commit))
    }
}
