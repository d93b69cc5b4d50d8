//! Resolves the settings of a command from the configuration file in force. In CI, a file that cannot be used is treated
//! as missing, so that it does not stop the change that repairs it.

use crate::error::Failure;
use crate::job::context::PolicyTip;
use crate::job::policy::UnusableFile;
use crate::job::settings::{self, FILE_NAME, Selection, SettingSources, SettingsError};
use crate::session::Run;
use crate::workspace::Workspace;
use crate::workspace::unusable_gate_files::{find_empty_config_dir, find_unmatched_include};

impl Workspace<'_> {
    /// Resolves the settings of a command, with the selection in them. If the configuration file in force is the only
    /// reason for an error, or its globs or its hidden directory do not exist in the commit that it is read from, it is
    /// treated as missing.
    pub(crate) fn resolve_with_selection<T>(
        &mut self,
        run: &Run,
        read: impl Fn(&SettingSources<'_>) -> Result<T, SettingsError>,
        selection: impl Fn(&T) -> &Selection,
    ) -> Result<T, Failure> {
        let mut settings = self.sources.resolve_settings(&read)?;
        if let Some(reason) = self.find_unmatched_policy(run, selection(&settings))? {
            settings = self.sources.resolve_without_file(&reason, &read)?;
        }
        self.named_config_dir = self.sources.config_dir(&run.global)?;
        Ok(settings)
    }

    /// Returns the reason if no glob or no hidden directory of the policy exists in the commit that the policy is read
    /// from.
    fn find_unmatched_policy(&self, run: &Run, selection: &Selection) -> Result<Option<String>, Failure> {
        if self.on_unusable() == UnusableFile::Reject || self.config_file.is_none() {
            return Ok(None);
        }
        let snapshot = match &self.policy {
            PolicyTip::Commit { commit, .. } => self.repo.snapshot(commit.clone()),
            PolicyTip::Head { .. } => self.repo.disk_snapshot(run.index())?,
            PolicyTip::Unknown { .. } => return Ok(None),
        };
        let config_dir = self.sources.config_dir(&run.global)?;
        let file_config_dir = config_dir.filter(|name| {
            settings::requested_config_dir(&run.global, &run.env).is_none()
                && self.sources.sets_config_dir(name)
        });
        let reason = match find_unmatched_include(&snapshot, selection)? {
            Some(reason) => Some(reason),
            None => find_empty_config_dir(&snapshot, file_config_dir.as_deref())?,
        };
        Ok(reason.map(|reason| format!("{FILE_NAME}: {reason}")))
    }
}
