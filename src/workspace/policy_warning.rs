//! The warning about settings of the checkout's configuration file that are not used yet.

use super::Workspace;
use crate::job::settings::FILE_NAME;
use crate::session::Session;
use sluicegate_pipelines::findings::{LimitKind, VerdictLimit};

/// The time to print a warning that the report of a run contains, too.
#[derive(Clone, Copy)]
pub(crate) enum WarningTiming {
    /// The warning is printed immediately, because the run has no report.
    AtOnce,
    /// The warning is printed only if the run ends before its report is written.
    IfNotReported,
}

impl Workspace<'_> {
    /// Prints the warnings about configuration files: about settings of the checkout that are not used, because the
    /// policy revision has no such file or an unusable one, and about misnamed and misplaced files. With
    /// [`WarningTiming::IfNotReported`], the first warning waits: the report contains it, too.
    pub(crate) fn warn_of_config_files(&self, session: &Session, timing: WarningTiming) {
        if let Some(unused_settings_note) = self.sources.note() {
            match timing {
                WarningTiming::AtOnce => session.ui.warn(unused_settings_note),
                WarningTiming::IfNotReported => session.defer_warning(unused_settings_note.to_owned()),
            }
        }
        self.warn_of_misnamed_files(session);
        session.warn_of_unread_config_file(&self.repo);
    }

    /// Returns a limit of the verdict, a fact that reports show next to it, if settings of the checkout's configuration
    /// file are not used, because the policy revision has no such file or an unusable one.
    pub(crate) fn build_unused_settings_limit(&self) -> Option<VerdictLimit> {
        Some(VerdictLimit {
            kind: LimitKind::NotInForce,
            path: Some(self.config_file.as_deref().unwrap_or(FILE_NAME).to_owned()),
            text: self.sources.note()?.to_owned(),
        })
    }
}
