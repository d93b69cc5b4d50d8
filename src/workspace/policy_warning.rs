//! The warning about settings of the checkout's configuration file that are not used yet.

use super::Workspace;
use crate::job::settings::FILE_NAME;
use crate::session::Run;
use sluicegate_pipelines::findings::{LimitKind, VerdictLimit};

impl Workspace<'_> {
    /// Warns if settings of the checkout's configuration file are not used, because the policy revision has no such
    /// file or an unusable one. A run with a report prints the warning only if it ends before its report, which
    /// contains it.
    pub(crate) fn warn_of_unused_settings(&self, run: &Run, has_report: bool) {
        match self.sources.note() {
            Some(note) if has_report => run.defer_warning(note.to_owned()),
            Some(note) => run.ui.warn(note),
            None => {}
        }
        self.warn_of_misnamed(run);
    }

    /// Returns a limit of the verdict if settings of the checkout's configuration file are not used, because the policy
    /// revision has no such file or an unusable one.
    pub(crate) fn limit_of_unused_settings(&self) -> Option<VerdictLimit> {
        Some(VerdictLimit {
            kind: LimitKind::NotInForce,
            path: Some(self.config_file.as_deref().unwrap_or(FILE_NAME).to_owned()),
            text: self.sources.note()?.to_owned(),
        })
    }
}
