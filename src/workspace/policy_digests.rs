//! Computes the digests of the files that decide about a run: the gate configuration that applies, and the rules file.

use super::Workspace;
use super::gate_files::MAX_WAIVERS_BYTES;
use crate::attestation::{FileDigest, PolicyDigests};
use crate::error::Failure;
use crate::job::context::PolicyRevision;
use crate::job::policy::{self, CheckoutFiles, FilePresence, GateFileReader, normalize_path};
use crate::job::settings;
use crate::publish::{hash_blob, hash_bytes};
use sluicegate_git::{CommitId, FileContent, GitError, RemoteUrl, Snapshot, short_id};
use sluicegate_pipelines::findings::ReviewContext;
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
            (self.config_file.as_deref(), policy::MAX_CONFIG_BYTES),
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

    /// Returns the platform's hidden directory that the job named in place of that of the policy or, if the policy names
    /// none, of the one that the run would find. Returns `None` if the job named no other directory.
    pub(crate) fn find_config_dir_of_job(&self, snapshot: &Snapshot<'_>) -> Option<String> {
        let name = self
            .named_config_dir
            .as_ref()
            .filter(|_| self.has_config_dir_of_job)?;
        let usual_dir = match self.sources.find_policy_config_dir() {
            Some(dir) => Some(dir),
            None => self.search_config_dir(snapshot).ok().flatten(),
        };
        (usual_dir.as_ref() != Some(name)).then(|| name.clone())
    }

    /// Returns why a review did not use the gate configuration of this run, or `None` if it did: both read it from the
    /// same commit, or from commits that have the same files. The target branch may have other commits since the
    /// review. If the policy revision is unknown, this run uses no gate configuration. The report of a review does not
    /// show whether the same applied to the review.
    pub(crate) fn explain_other_policy(&self, context: &ReviewContext) -> Result<Option<String>, GitError> {
        let policy_id = self.policy_revision.commit().map(CommitId::as_str);
        let unknown_reason = match &self.policy_revision {
            PolicyRevision::Unknown { reason } => Some(reason),
            _ => None,
        };
        if context.policy.as_deref() == policy_id && unknown_reason.is_none() {
            return Ok(None);
        }
        // Without a policy commit, the gate configuration is that of the reviewed commit.
        let head_id = context.head.as_deref();
        let (Some(own_id), Some(review_id)) = (policy_id.or(head_id), context.policy.as_deref().or(head_id))
        else {
            let reason = "the review and this run use the gate configuration of different commits";
            return Ok(Some(reason.to_owned()));
        };
        let Some(review_commit) = self.repo.find_commit_with_id(review_id)? else {
            return Ok(Some(format!(
                "this clone lacks commit {}, whose gate configuration the review used",
                short_id(review_id)
            )));
        };
        let Some(own_commit) = self.repo.find_commit_with_id(own_id)? else {
            return Ok(Some(format!(
                "this clone lacks the reviewed commit {}, whose gate configuration this run uses",
                short_id(own_id)
            )));
        };
        let config_file = match (&context.config, &context.config_sha256) {
            (_, Some(_)) => None,
            (config_file, None) => Some(config_file.as_deref().unwrap_or(settings::FILE_NAME)),
        };
        let own_snapshot = self.repo.snapshot(own_commit);
        let own_policy = unknown_reason.is_none().then_some(&own_snapshot);
        let review_snapshot = self.repo.snapshot(review_commit.clone());
        let Some(path) = self.find_other_gate_file(config_file, own_policy, &review_snapshot) else {
            return Ok(None);
        };
        let commit = review_commit.short();
        Ok(Some(match unknown_reason {
            Some(reason) => {
                format!(
                    "the review may have used {path} of commit {commit}, which this run ignores: {reason}"
                )
            }
            None => {
                format!("the review used {path} of commit {commit}, which differs from that of this run")
            }
        }))
    }

    /// Returns the reason if a setting of the job that selects the configuration file or the hidden directory differs
    /// from that of the review of this clone's commit.
    pub(crate) fn explain_other_config(&self, context: &ReviewContext) -> Option<String> {
        let config_sha256 = self.config_digest_of_job.as_ref().map(|file| &file.sha256);
        if context.config != self.find_config_file_of_job() {
            return Some("the review and this run have different values of --config".to_owned());
        }
        if context.config_sha256.as_ref() != config_sha256 {
            return Some("the file of --config has other content than in the review".to_owned());
        }
        let head_id = context.head.as_deref()?;
        let reviewed_commit = self.repo.find_commit_with_id(head_id).ok().flatten()?;
        let own_dir = self.find_config_dir_of_job(&self.repo.snapshot(reviewed_commit));
        (context.config_dir != own_dir)
            .then(|| "the review and this run have different values of --config-dir".to_owned())
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
