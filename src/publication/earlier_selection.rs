//! Determines which files of its commit an earlier version has. The settings of that commit selected the files, and may
//! differ from the settings of this publish.

use super::publish_selection::{PublishSelection, describe_unreadable_settings};
use super::{DRAFT_VERSION, Publication, with_publish_request};
use crate::error::Failure;
use crate::job::context::PolicyRevision;
use crate::job::settings::PublishSettings;
use crate::publish::{self, FileSource, Plan};
use sluicegate_git::{CommitId, Repository};

/// The files of its commit that an earlier version has.
pub(super) enum EarlierSelection {
    /// The files that the settings of this publish select. If the job or another commit sets them, this is an
    /// assumption: the version's commit does not show what was selected.
    Equal,
    /// The files of this plan, which has the settings of the commit.
    Plan(Box<Plan>),
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
        let settings = self.settings;
        // A commit shows its selection only if a publish of it used its own configuration file.
        let is_own_configuration = matches!(self.workspace.policy_revision, PolicyRevision::Head { .. })
            && self.workspace.config_file.is_some();
        if settings.has_job_selection || !is_own_configuration {
            return Ok(EarlierSelection::Equal);
        }
        let Some(sources) = self
            .workspace
            .read_sources_at(repository, &repository.snapshot(commit.clone()))?
        else {
            return Ok(EarlierSelection::Unknown(describe_unreadable_settings(commit)));
        };
        let earlier_selection = PublishSelection::from_sources(&sources)?;
        let selection = PublishSelection {
            globs: settings.selection.clone(),
            select: settings.select,
        };
        if earlier_selection.is_same(&selection) {
            return Ok(EarlierSelection::Equal);
        }
        let earlier_settings = PublishSettings {
            selection: earlier_selection.globs,
            select: earlier_selection.select,
            ..settings.clone()
        };
        let (source, draft) = (FileSource::Commit, DRAFT_VERSION.to_owned());
        let plan = with_publish_request(
            self.workspace,
            &earlier_settings,
            self.target,
            source,
            draft,
            |request| publish::build_plan(repository, commit, request),
        );
        Ok(match plan {
            Ok(plan) => EarlierSelection::Plan(Box::new(plan)),
            Err(error) => EarlierSelection::Unknown(format!(
                "commit {} selects other files, which cannot be determined: {error}",
                commit.short()
            )),
        })
    }
}
