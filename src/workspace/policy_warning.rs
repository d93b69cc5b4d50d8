//! The warning about settings of the checkout's configuration file that are not in force yet.

use super::Workspace;
use crate::job::settings::FILE_NAME;
use crate::session::Run;
use sluicegate_pipelines::findings::{Limit, LimitKind};

impl Workspace<'_> {
    /// Warns as [`Self::warn_of_policy`], but only if the run ends before its report, which lists these settings.
    pub(crate) fn defer_policy_warning(&self, run: &Run) {
        if let Some(note) = self.sources.note() {
            run.defer_warning(note.to_owned());
        }
        self.warn_of_misnamed(run);
    }

    /// Warns of settings in the configuration file that are not in force yet.
    pub(crate) fn warn_of_policy(&self, run: &Run) {
        if let Some(note) = self.sources.note() {
            run.ui.warn(note);
        }
        self.warn_of_misnamed(run);
    }

    /// Returns the note that settings of the checkout's configuration file are not in force, if any.
    pub(crate) fn policy_limit(&self) -> Option<Limit> {
        Some(Limit {
            kind: LimitKind::NotInForce,
            path: Some(self.config_file.as_deref().unwrap_or(FILE_NAME).to_owned()),
            text: self.sources.note()?.to_owned(),
        })
    }
}
