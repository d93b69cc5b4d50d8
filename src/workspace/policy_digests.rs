//! Computes the digests of the files that decide about a run: the gate configuration that applies, and the rules file.

use super::Workspace;
use super::gate_files::MAX_WAIVERS_BYTES;
use crate::attestation::{FileDigest, PolicyDigests};
use crate::error::Failure;
use crate::job::context::PolicyRevision;
use crate::job::policy::{self, CheckoutFiles, FilePresence, GateFileReader, normalize_path};
use crate::job::settings;
use crate::publish::{hash_blob, hash_bytes};
use sluicegate_git::{CommitId, FileContent, RemoteUrl};
use sluicegate_pipelines::team_rules::{MAX_TEAM_RULES_BYTES, TeamRuleSet};
use sluicegate_pipelines::waivers;
use std::collections::BTreeSet;
use std::path::Path;

impl Workspace<'_> {
    /// Returns the digests of the gate configuration that this run uses: `sluicegate.yaml`, the waivers and the rules
    /// of the team, as far as they exist. A file that cannot be used is treated as missing in CI, so it is omitted.
    /// Also returns the commit that they were read from, which is `None` for files on disk and for an unknown policy
    /// revision.
    pub(crate) fn compute_policy_digests(&self) -> Result<PolicyDigests, Failure> {
        let reader = GateFileReader {
            repo: &self.repo,
            policy_revision: &self.policy_revision,
            checkout: CheckoutFiles::for_run(&self.repo, Some(&self.ci), &self.local_files)?,
            on_unusable: self.unusable_file_treatment(),
        };
        let mut files: Vec<FileDigest> = self.config_digest_of_job.iter().cloned().collect();
        let gate_files = [
            (self.config_file.as_deref(), policy::MAX_FILE_BYTES),
            (Some(waivers::FILE_NAME), MAX_WAIVERS_BYTES),
            (self.team_rules_path.as_deref(), MAX_TEAM_RULES_BYTES),
        ];
        for (path, limit) in gate_files {
            let Some(path) = path else { continue };
            let file = reader.read_file(path, FilePresence::Optional, limit)?;
            let Some(text) = file.policy_text() else { continue };
            let bytes = text.text.as_bytes();
            if self.is_usable_gate_file(path, bytes) {
                files.push(FileDigest::new(path.to_owned(), hash_bytes(bytes)));
            }
        }
        let commit = match (&self.policy_revision, &reader.checkout) {
            (PolicyRevision::Commit { commit, .. }, _)
            | (PolicyRevision::Head { .. }, CheckoutFiles::Committed(commit)) => Some(commit.to_string()),
            _ => None,
        };
        Ok(PolicyDigests { commit, files })
    }

    /// Returns the path of the configuration file that the job named in place of the default file; only the file's name
    /// if it is not in the repository. Returns `None` if the job named no other file.
    pub(crate) fn find_config_file_of_job(&self) -> Option<String> {
        match &self.config_file {
            Some(path) => (path != settings::FILE_NAME).then(|| path.clone()),
            None => self.config_digest_of_job.as_ref().map(|file| file.path.clone()),
        }
    }

    /// Returns the platform's hidden directory that the job named in place of that of the policy; `None` if the job
    /// named no other directory.
    pub(crate) fn find_config_dir_of_job(&self) -> Option<String> {
        let name = self.named_config_dir.as_ref()?;
        let is_other_dir =
            self.has_config_dir_of_job && self.sources.find_policy_config_dir().as_ref() != Some(name);
        is_other_dir.then(|| name.clone())
    }

    /// Returns whether this run can use a file of the gate configuration with this content. A waivers file that names a
    /// missing rule is not recognized, because the rules are not known here.
    fn is_usable_gate_file(&self, path: &str, bytes: &[u8]) -> bool {
        if path == waivers::FILE_NAME {
            waivers::parse_waivers_file(bytes, &|_| true).is_ok()
        } else if self.team_rules_path.as_deref() == Some(path) {
            TeamRuleSet::parse(bytes).is_ok()
        } else {
            self.sources.unusable_reason().is_none()
        }
    }

    /// Returns the digest of the platform's rules file in a commit; `None` if the commit has none.
    pub(crate) fn compute_rules_digest(&self, commit: &CommitId) -> Result<Option<FileDigest>, Failure> {
        let Some(file) = self.find_rules_file(&self.repo.snapshot(commit.clone()))? else {
            return Ok(None);
        };
        let Some(committed_file) = self.repo.find_file(commit, &file.path)? else {
            return Ok(None);
        };
        let (_, sha256) = hash_blob(&self.repo, &committed_file.blob, &file.path)?;
        Ok(Some(FileDigest::new(file.path, sha256)))
    }

    /// Returns the digests of these files of a commit, by path. A path that the commit lacks is an error.
    pub(crate) fn hash_committed_files(
        &self,
        commit: &CommitId,
        paths: &BTreeSet<&str>,
    ) -> Result<Vec<FileDigest>, Failure> {
        // All files are looked up first, so that a partial clone fetches its missing blobs together.
        let files = self.repo.snapshot(commit.clone()).find_files_by_path(paths)?;
        let mut digests = Vec::new();
        for path in paths {
            let Some(FileContent::Blob(blob)) = files.get(*path).map(|file| &file.content) else {
                let message = format!("`{path}` is not in commit {}", commit.short());
                return Err(Failure::usage(message));
            };
            let (_, sha256) = hash_blob(&self.repo, blob, path)?;
            digests.push(FileDigest::new((*path).to_owned(), sha256));
        }
        Ok(digests)
    }

    /// Returns the host and path of the repository, from the URL that the CI host reports or else from the first
    /// remote. Returns `None` for a path on this machine, because it does not identify the repository for anybody else,
    /// and for a URL that may contain a password.
    pub(crate) fn find_repository_address(&self) -> Option<String> {
        let host_url = self.ci.target_repository.urls.first();
        let host_address = host_url.and_then(|url| RemoteUrl::parse(url));
        let address = host_address.or_else(|| {
            let remotes = self.repo.list_remote_repositories().ok()?;
            let (_, first_address) = remotes.into_iter().next()?;
            first_address
        });
        address
            .filter(|address| !address.is_on_this_machine() && !address.may_contain_password())
            .map(|address| address.to_string())
    }
}

/// Returns the digest of a configuration file outside the repository, with this text. Only the file's name is recorded,
/// because its directory depends on the runner.
pub(super) fn hash_config_file_of_job(path: &Path, text: &str) -> FileDigest {
    FileDigest {
        of_job: true,
        ..FileDigest::new(find_file_name(path), hash_bytes(text.as_bytes()))
    }
}

/// Returns the last part of a path, without `.` and `..`.
fn find_file_name(path: &Path) -> String {
    let path = normalize_path(path);
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
