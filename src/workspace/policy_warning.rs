//! The warning about settings of the checkout's configuration file that are not used yet.

use super::Workspace;
use crate::job::settings::FILE_NAME;
use crate::session::Run;
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
    /// Warns if settings of the checkout's configuration file are not used, because the policy revision has no such
    /// file or an unusable one. With [`WarningTiming::IfNotReported`], the warning waits, and is not printed if the log
    /// shows a report, which contains it. Also warns of misnamed files, always at once.
    pub(crate) fn warn_of_unused_settings(&self, run: &Run, timing: WarningTiming) {
        if let Some(note) = self.sources.note() {
            match timing {
                WarningTiming::AtOnce => run.ui.warn(note),
                WarningTiming::IfNotReported => run.defer_warning(note.to_owned()),
            }
        }
        self.warn_of_misnamed_files(run);
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
