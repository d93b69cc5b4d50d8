//! Reads the policy revision's configuration file, and resolves the settings of a command from it. In CI, a file that
//! cannot be used is treated as missing, so that it does not stop the change that repairs it.

use crate::attestation::FileDigest;
use crate::error::Failure;
use crate::job::context::PolicyRevision;
use crate::job::policy::{
    self, CheckoutFiles, FilePresence, GateFile, GateFileReader, UnusableFile, normalize_path,
};
use crate::job::settings::{self, Checkout, FILE_NAME, Selection, SettingSources, SettingsError};
use crate::session::Session;
use crate::workspace::empty_settings::{explain_unmatched_include, explain_unsuitable_config_dir};
use crate::workspace::policy_digests::hash_config_file_of_job;
use crate::workspace::{Workspace, file_edits};
use sluicegate_git::Repository;

/// The settings of the policy revision.
pub(super) struct PolicySettings<'a> {
    pub(super) sources: SettingSources<'a>,
    pub(super) named_config_dir: Option<String>,
    pub(super) policy_revision: PolicyRevision,
    pub(super) config_file: Option<String>,
    pub(super) config_digest_of_job: Option<FileDigest>,
    pub(super) team_rules_path: Option<String>,
}

impl Session {
    /// Reads the configuration file from the policy revision, and resolves the settings that locate other files: the
    /// hidden directory and the team rules file. A configuration file outside the repository, which only the job can
    /// set, is read from disk and must be valid. `on_unusable` applies to a file in the repository.
    pub(super) fn read_policy_settings(
        &self,
        repo: &Repository,
        policy: PolicyRevision,
        checkout_files: CheckoutFiles,
        on_unusable: UnusableFile,
    ) -> Result<PolicySettings<'_>, Failure> {
        let requested_file = settings::requested_config_file(&self.global, &self.env);
        let (presence, file) = match requested_file {
            Some(file) => (FilePresence::Required, file),
            None => (FilePresence::Optional, repo.root().join(FILE_NAME)),
        };
        // The path in the repository; `None` for a file outside it.
        let config_file = policy::find_path_in_repository(repo.root(), &file);
        let gate_file = if let Some(path) = &config_file {
            self.reject_link_to_repository_file(repo, &normalize_path(&file), path)?;
            let reader = GateFileReader {
                repo,
                policy_revision: &policy,
                checkout: checkout_files,
                on_unusable,
            };
            let gate_file = reader.read_file(path, presence, policy::MAX_CONFIG_BYTES)?;
            GateFile {
                is_edited: gate_file.has_other_version_in_checkout()
                    && file_edits::is_edited_in_checkout(repo, &policy, path, policy::MAX_CONFIG_BYTES),
                ..gate_file
            }
        } else {
            let job_file = normalize_path(&file);
            self.reject_link_out_of_repository(&job_file)?;
            policy::read_job_file(&job_file, presence)?
        };
        let config_digest_of_job = match (&config_file, gate_file.policy_text()) {
            (None, Some(text)) => Some(hash_config_file_of_job(&file, &text.text)),
            _ => None,
        };
        let checkout = Checkout {
            root: repo.root(),
            config_file: config_file.as_deref().unwrap_or(FILE_NAME),
            // If git cannot read its index, the file is treated as tracked, so that it is not overwritten.
            is_tracked: &|path| repo.is_tracked(path, self.hook_index_path(repo)).unwrap_or(true),
        };
        let mut sources = if config_file.is_some() {
            SettingSources::new(&self.env, &gate_file, Some(&checkout), on_unusable)?
        } else {
            let no_checkout = None;
            SettingSources::new(&self.env, &gate_file, no_checkout, UnusableFile::Reject)?
        };
        let named_config_dir =
            sources.resolve_or_drop_file(|sources| sources.resolve_config_dir(&self.global))?;
        let team_rules_path = sources.resolve_or_drop_file(|sources| {
            sources.resolve_team_rules_path(&self.global, config_file.as_deref())
        })?;
        Ok(PolicySettings {
            team_rules_path,
            sources,
            named_config_dir,
            policy_revision: policy,
            config_file,
            config_digest_of_job,
        })
    }
}

impl Workspace<'_> {
    /// Resolves the settings of a command with `resolve`; `selection` returns their part that selects pipelines. The
    /// configuration file is dropped, so that its values do not apply, if it alone causes an error, or if its globs or
    /// its hidden directory match nothing in the policy revision. Resolves the hidden directory and the path of the
    /// team rules file again, because a dropped file may have set them.
    pub(crate) fn resolve_settings<T>(
        &mut self,
        session: &Session,
        resolve: impl Fn(&SettingSources<'_>) -> Result<T, SettingsError>,
        selection: impl Fn(&T) -> &Selection,
    ) -> Result<T, Failure> {
        let mut settings = self.sources.resolve_or_drop_file(&resolve)?;
        if let Some(reason) = self.explain_unmatched_policy(session, selection(&settings))? {
            settings = self.sources.resolve_without_file(&reason, &resolve)?;
        }
        self.named_config_dir = self.sources.resolve_config_dir(&session.global)?;
        self.team_rules_path = self
            .sources
            .resolve_team_rules_path(&session.global, self.config_file.as_deref())?;
        Ok(settings)
    }

    /// Returns the problem if the globs or the hidden directory of the policy match nothing in the revision that the
    /// policy is read from. Returns `None` in a local run and for a configuration file outside the repository, because
    /// those files are never dropped.
    fn explain_unmatched_policy(
        &self,
        session: &Session,
        selection: &Selection,
    ) -> Result<Option<String>, Failure> {
        if self.unusable_file_treatment() == UnusableFile::Reject || self.config_file.is_none() {
            return Ok(None);
        }
        let snapshot = match &self.policy_revision {
            PolicyRevision::Commit { commit, .. } => self.repo.snapshot(commit.clone()),
            PolicyRevision::Head { .. } => self
                .repo
                .read_disk_snapshot(session.hook_index_path(&self.repo))?,
            PolicyRevision::Unknown { .. } => return Ok(None),
        };
        let config_dir = self.sources.resolve_config_dir(&session.global)?;
        // Only a directory that the configuration file sets is checked, not one that the job sets.
        let file_config_dir = config_dir.filter(|name| {
            settings::requested_config_dir(&session.global, &session.env).is_none()
                && self.sources.sets_config_dir(name)
        });
        let reason = match explain_unmatched_include(&snapshot, selection)? {
            Some(reason) => Some(reason),
            None => explain_unsuitable_config_dir(&snapshot, file_config_dir.as_deref())?,
        };
        Ok(reason.map(|reason| format!("{}: {reason}", self.sources.file_name())))
    }
}
