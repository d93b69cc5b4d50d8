//! Determines which files of its commit an earlier version has. The settings of that commit selected the files, and may
//! differ from the settings of this publish.

use super::publish_selection::{PublishSelection, describe_unreadable_settings};
use super::{Publication, build_publish_request};
use crate::error::Failure;
use crate::job::context::PolicyRevision;
use crate::publish::{self, FileSource, Plan, PublishRequest};
use sluicegate_git::{CommitId, Repository};

/// The files of its commit that an earlier version has.
pub(super) enum EarlierSelection {
    /// The files of this plan of the commit. It has the settings of the commit; if the job or another commit sets them,
    /// those of this publish, which is an assumption: the version's commit does not show what was selected.
    Plan(Box<Plan>),
    /// The files that the settings of this publish select. The commit has no plan, for example because it lacks a file
    /// that its shared pipelines need.
    Globs,
    /// Unknown, for this reason.
    Unknown(String),
}

impl Publication<'_> {
    /// Returns which files of `commit` the version has that was published from it. `repository` has the commit.
    pub(super) fn find_earlier_selection(
        &self,
        repository: &Repository,
        commit: &CommitId,
    ) -> Result<EarlierSelection, Failure> {
        let mut settings = self.settings.clone();
        let mut has_other_selection = false;
        // A commit shows its selection only if a publish of it used its own configuration file.
        let is_own_configuration = matches!(self.workspace.policy_revision, PolicyRevision::Head { .. })
            && self.workspace.config_file.is_some();
        if is_own_configuration && !settings.has_job_selection {
            let Some(sources) = self
                .workspace
                .read_sources_at(repository, &repository.snapshot(commit.clone()))?
            else {
                return Ok(EarlierSelection::Unknown(describe_unreadable_settings(commit)));
            };
            let selection = PublishSelection {
                globs: settings.selection.clone(),
                select: settings.select,
            };
            let earlier_selection = PublishSelection::from_sources(&sources)?;
            has_other_selection = !earlier_selection.is_same(&selection);
            settings.selection = earlier_selection.globs;
            settings.select = earlier_selection.select;
        }
        let request = PublishRequest {
            source: FileSource::Commit,
            ..build_publish_request(self.workspace, &settings, self.target)
        };
        Ok(match publish::build_plan(repository, commit, &request) {
            Ok(plan) => EarlierSelection::Plan(Box::new(plan)),
            Err(_) if !has_other_selection => EarlierSelection::Globs,
            Err(error) => EarlierSelection::Unknown(format!(
                "commit {} selects other files, which cannot be determined: {error}",
                commit.short()
            )),
        })
    }
}
