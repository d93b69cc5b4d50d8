//! The warning about settings of the checkout's configuration file that are not in force yet.

use super::Workspace;
use crate::job::settings::FILE_NAME;
use crate::session::Run;
use sluicegate_pipelines::findings::{LimitKind, VerdictLimit};

impl Workspace<'_> {
    /// Warns of settings in the configuration file that are not in force yet. A run with a report prints the warning
    /// only if it ends before its report, which lists these settings.
    pub(crate) fn warn_of_policy(&self, run: &Run, has_report: bool) {
        match self.sources.note() {
            Some(note) if has_report => run.defer_warning(note.to_owned()),
            Some(note) => run.ui.warn(note),
            None => {}
        }
        self.warn_of_misnamed(run);
    }

    /// Returns the note that settings of the checkout's configuration file are not in force, if any.
    pub(crate) fn policy_limit(&self) -> Option<VerdictLimit> {
        Some(VerdictLimit {
            kind: LimitKind::NotInForce,
            path: Some(self.config_file.as_deref().unwrap_or(FILE_NAME).to_owned()),
            text: self.sources.note()?.to_owned(),
        })
    }
}
