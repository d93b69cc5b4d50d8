//! The settings that select the files of a publish, from the configuration file of a run or of a commit.

use super::compared_offer::CommitOffer;
use crate::error::Failure;
use crate::job::cli::GlobArgs;
use crate::job::settings::{Selection, SelectionPurpose, SettingSources, SettingsError};
use crate::publish::FileSelection;
use crate::workspace::Workspace;
use sluicegate_git::{CommitId, GitError};

/// Which files a publish sends.
#[derive(Clone)]
pub(super) struct PublishSelection {
    pub(super) globs: Selection,
    pub(super) select: FileSelection,
}

impl PublishSelection {
    /// Resolves the selection from these sources, without flags.
    pub(super) fn from_sources(sources: &SettingSources<'_>) -> Result<Self, SettingsError> {
        Ok(Self {
            globs: sources.resolve_selection(&GlobArgs::default(), SelectionPurpose::Publish)?,
            select: sources.resolve_file_selection(None)?,
        })
    }

    /// Returns whether both selections select the same files of the same commit.
    pub(super) fn is_same(&self, selection: &Self) -> bool {
        self.globs.has_same_globs(&selection.globs) && self.select == selection.select
    }

    /// Returns the selection by the configuration file of a commit. The error is the reason why it is unknown, although
    /// the workspace has a configuration file; without such a file, the selection is this one.
    pub(super) fn find_selection_at(
        &self,
        workspace: &Workspace<'_>,
        offer: &CommitOffer,
    ) -> Result<Result<Self, String>, GitError> {
        if workspace.config_file.is_none() {
            return Ok(Ok(self.clone()));
        }
        let Some(sources) =
            workspace.read_sources_at(offer.repository(workspace), &offer.snapshot(workspace))?
        else {
            return Ok(Err(describe_unreadable_settings(&offer.commit)));
        };
        Ok(Self::from_sources(&sources).map_err(|error| {
            let reason = Failure::from(error).describe_on_one_line();
            format!(
                "the publish settings at commit {} cannot be used: {reason}",
                offer.commit.short()
            )
        }))
    }
}

/// Returns the reason why the selection at a commit is unknown if its settings cannot be read.
pub(super) fn describe_unreadable_settings(commit: &CommitId) -> String {
    format!("the publish settings at commit {} cannot be read", commit.short())
}
