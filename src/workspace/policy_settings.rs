//! Resolves the settings of a command from the policy revision's configuration file. In CI, a file that cannot be used
//! is treated as missing, so that it does not stop the change that repairs it.

use crate::error::Failure;
use crate::job::context::PolicyRevision;
use crate::job::policy::UnusableFile;
use crate::job::settings::{self, Selection, SettingSources, SettingsError};
use crate::session::Run;
use crate::workspace::Workspace;
use crate::workspace::empty_settings::{explain_unmatched_include, explain_unsuitable_config_dir};

impl Workspace<'_> {
    /// Resolves the settings of a command with `resolve`; `selection` returns their part that selects pipelines. The
    /// configuration file is dropped, so that its values do not apply, if it alone causes an error, or if its globs or
    /// its hidden directory match nothing in the policy revision. Resolves the hidden directory and the path of the
    /// team rules file again, because a dropped file may have set them.
    pub(crate) fn resolve_settings<T>(
        &mut self,
        run: &Run,
        resolve: impl Fn(&SettingSources<'_>) -> Result<T, SettingsError>,
        selection: impl Fn(&T) -> &Selection,
    ) -> Result<T, Failure> {
        let mut settings = self.sources.resolve_or_drop_file(&resolve)?;
        if let Some(reason) = self.explain_unmatched_policy(run, selection(&settings))? {
            settings = self.sources.resolve_without_file(&reason, &resolve)?;
        }
        self.named_config_dir = self.sources.resolve_config_dir(&run.global)?;
        self.team_rules_path = self
            .sources
            .resolve_team_rules_path(&run.global, self.config_file.as_deref())?;
        Ok(settings)
    }

    /// Returns the problem if the globs or the hidden directory of the policy match nothing in the revision that the
    /// policy is read from. Returns `None` in a local run and for a configuration file outside the repository, because
    /// those files are never dropped.
    fn explain_unmatched_policy(&self, run: &Run, selection: &Selection) -> Result<Option<String>, Failure> {
        if self.unusable_file_treatment() == UnusableFile::Reject || self.config_file.is_none() {
            return Ok(None);
        }
        let snapshot = match &self.policy_revision {
            PolicyRevision::Commit { commit, .. } => self.repo.snapshot(commit.clone()),
            PolicyRevision::Head { .. } => self.repo.read_disk_snapshot(run.hook_index_path())?,
            PolicyRevision::Unknown { .. } => return Ok(None),
        };
        let config_dir = self.sources.resolve_config_dir(&run.global)?;
        // Only a directory that the configuration file sets is checked, not one that the job sets.
        let file_config_dir = config_dir.filter(|name| {
            settings::requested_config_dir(&run.global, &run.env).is_none()
                && self.sources.sets_config_dir(name)
        });
        let reason = match explain_unmatched_include(&snapshot, selection)? {
            Some(reason) => Some(reason),
            None => explain_unsuitable_config_dir(&snapshot, file_config_dir.as_deref())?,
        };
        Ok(reason.map(|reason| format!("{}: {reason}", self.sources.file_name())))
    }
}
