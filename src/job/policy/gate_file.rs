//! Reads a file of the gate configuration from the policy revision.

use super::checkout_version::{CheckoutFiles, leaves_repository};
use super::symlinks::BROKEN_LINK;
use super::{DecidingVersion, GateFileVersion, NamedText, PolicyError, follow_links};
use crate::job::context::PolicyRevision;
use sluicegate_base::input;
use sluicegate_base::text::format_path;
use sluicegate_git::{CommitId, FileContent, GitError, Repository, Snapshot, is_missing, read_disk_file};
use std::path::Path;

/// Maximum size of a configuration file, in bytes.
pub const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

const LEAVES_REPOSITORY: &str = "a symbolic link in its path leads out of the repository";

/// The treatment of a configuration file that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnusableFile {
    /// Reports an error: in a local run, and for a file of the job.
    Reject,
    /// Treats the file as missing: in CI, where a merged file must not stop every later change.
    TreatAsMissing,
}

/// The treatment of a missing file of the gate configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePresence {
    /// Reports an error, because the job names the file.
    Required,
    /// Uses the defaults instead.
    Optional,
}

/// The versions of one file of the gate configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GateFile {
    pub deciding_version: DecidingVersion,
    /// The checkout's version, if another version decides.
    pub checkout_text: Option<NamedText>,
    /// Whether the checked-out change edits the file.
    pub is_edited: bool,
}

impl GateFile {
    /// Creates the versions of a file that the checked-out change is not known to edit.
    const fn new(deciding_version: DecidingVersion, checkout_text: Option<NamedText>) -> Self {
        Self {
            deciding_version,
            checkout_text,
            is_edited: false,
        }
    }

    /// Returns the text of the version that decides; `None` if there is no such file or it cannot be used.
    pub const fn policy_text(&self) -> Option<&NamedText> {
        match &self.deciding_version {
            DecidingVersion::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns why the target branch has no such file; `None` in other cases.
    pub fn missing_reason(&self) -> Option<&str> {
        match &self.deciding_version {
            DecidingVersion::NotInTarget(reason) => Some(reason),
            _ => None,
        }
    }

    /// Returns why the version that decides cannot be read; `None` in other cases.
    pub fn unusable_reason(&self) -> Option<&str> {
        match &self.deciding_version {
            DecidingVersion::Unusable(reason) => Some(reason),
            _ => None,
        }
    }

    /// Returns whether the checkout has the file with another text than the policy revision.
    pub fn has_other_version_in_checkout(&self) -> bool {
        let policy_text = self.policy_text().map(|text| &text.text);
        let checkout_text = self.checkout_text.as_ref().map(|text| &text.text);
        checkout_text.is_some() && checkout_text != policy_text
    }
}

/// The source of the gate configuration's files, and the treatment of files that cannot be used.
pub struct GateFileReader<'r> {
    pub repo: &'r Repository,
    pub policy_revision: &'r PolicyRevision,
    pub checkout: CheckoutFiles,
    pub on_unusable: UnusableFile,
}

impl GateFileReader<'_> {
    /// Reads a file of the gate configuration of at most `limit` bytes from the policy revision. If the policy revision
    /// is not head, the checkout's version is read, too. `path` is relative to the repository root.
    ///
    /// With [`UnusableFile::TreatAsMissing`], the result contains the reason why a version cannot be read, instead of
    /// an error. A required file that is missing is an error even then.
    pub fn read_file(&self, path: &str, presence: FilePresence, limit: u64) -> Result<GateFile, PolicyError> {
        let repo = self.repo;
        // The error for a required file that the checkout lacks is returned even with `TreatAsMissing`.
        let is_optional_or_present =
            presence == FilePresence::Optional || self.checkout.has_file(repo, path)?;
        let on_unusable = if is_optional_or_present {
            self.on_unusable
        } else {
            UnusableFile::Reject
        };
        let read_checkout = |presence| self.read_checkout_version(path, presence, on_unusable, limit);
        match self.policy_revision {
            // Head is the checkout, so its version decides and there is no second version.
            PolicyRevision::Head { .. } => {
                let deciding_version = match self.read_deciding_version(path, presence, limit) {
                    Err(error @ PolicyError::Unreadable { .. })
                        if on_unusable == UnusableFile::TreatAsMissing =>
                    {
                        DecidingVersion::Unusable(error.to_string())
                    }
                    result => result?.into(),
                };
                Ok(GateFile::new(deciding_version, None))
            }
            PolicyRevision::Commit { commit, branch, .. } => {
                match read_at_commit(repo, commit, branch, path, limit) {
                    // The branch has the file, so this is not the error for a missing file.
                    Err(error @ PolicyError::Unreadable { .. })
                        if self.on_unusable == UnusableFile::TreatAsMissing =>
                    {
                        let version = DecidingVersion::Unusable(error.to_string());
                        Ok(GateFile::new(version, read_checkout(presence)?))
                    }
                    Err(error) => Err(error),
                    Ok(Some(text)) => Ok(GateFile {
                        deciding_version: DecidingVersion::Text(text),
                        // The target's file still applies to this run, so a link that the change adds is not an error.
                        checkout_text: if self.checkout.leaves_repository(repo, path)? {
                            None
                        } else {
                            read_checkout(FilePresence::Optional)?
                        },
                        ..GateFile::default()
                    }),
                    Ok(None) => Ok(GateFile {
                        checkout_text: read_checkout(presence)?,
                        deciding_version: DecidingVersion::NotInTarget(format!(
                            "`{branch}` has no {path} yet ({})",
                            commit.short()
                        )),
                        ..GateFile::default()
                    }),
                }
            }
            PolicyRevision::Unknown { reason } => Ok(GateFile {
                checkout_text: read_checkout(presence)?,
                deciding_version: DecidingVersion::NotInTarget(format!(
                    "{path} cannot be read from the target branch: {reason}"
                )),
                ..GateFile::default()
            }),
        }
    }

    /// Reads the checkout's version with [`Self::read_change_version`], in addition to the policy revision's version,
    /// which decides about this run. With [`UnusableFile::TreatAsMissing`], an unreadable file is treated as missing
    /// here; the review reports unusable files of the change separately.
    fn read_checkout_version(
        &self,
        path: &str,
        presence: FilePresence,
        on_unusable: UnusableFile,
        limit: u64,
    ) -> Result<Option<NamedText>, PolicyError> {
        match self.read_change_version(path, presence, limit) {
            Err(PolicyError::Unreadable { .. }) if on_unusable == UnusableFile::TreatAsMissing => Ok(None),
            result => result,
        }
    }

    /// Reads the checkout's version as the version that decides, because the policy revision is head. If git converts a
    /// file at the checkout, the committed version is used. In CI ([`UnusableFile::TreatAsMissing`]), a link out of the
    /// repository is an error, because the change may have written it. A local run follows the link.
    fn read_deciding_version(
        &self,
        path: &str,
        presence: FilePresence,
        limit: u64,
    ) -> Result<Option<NamedText>, PolicyError> {
        let (repo, disk) = (self.repo, self.repo.root().join(path));
        match &self.checkout.choose_for_file(repo, path)? {
            CheckoutFiles::Committed(commit) => read_file_at_head(repo, commit, path, presence, limit),
            CheckoutFiles::Staged(index) => {
                // Listing the index takes time, so it is listed once.
                let snapshot = repo.read_staged_snapshot(index.as_deref())?;
                if follow_links(repo, &snapshot, path)?.leaves_repository {
                    return read_from_disk(&disk, presence, limit);
                }
                match read_staged_file(repo, &snapshot, path, limit)? {
                    None if presence == FilePresence::Required => read_from_disk(&disk, presence, limit),
                    text => Ok(text),
                }
            }
            CheckoutFiles::OnDisk => match read_committed_if_converted(repo, path, limit)? {
                Some(text) => Ok(Some(text)),
                None if self.on_unusable == UnusableFile::TreatAsMissing => {
                    read_inside_repository(repo, &disk, presence, limit)
                }
                None => read_from_disk(&disk, presence, limit),
            },
        }
    }

    /// Reads the checkout's version, which the change may have written. A link out of the repository is therefore an
    /// error, so that messages do not show content from there.
    fn read_change_version(
        &self,
        path: &str,
        presence: FilePresence,
        limit: u64,
    ) -> Result<Option<NamedText>, PolicyError> {
        let repo = self.repo;
        match &self.checkout.choose_for_file(repo, path)? {
            CheckoutFiles::Committed(commit) => read_file_at_head(repo, commit, path, presence, limit),
            CheckoutFiles::Staged(index) => {
                let snapshot = repo.read_staged_snapshot(index.as_deref())?;
                match read_staged_file(repo, &snapshot, path, limit)? {
                    None if presence == FilePresence::Required => {
                        read_inside_repository(repo, &repo.root().join(path), presence, limit)
                    }
                    text => Ok(text),
                }
            }
            CheckoutFiles::OnDisk => read_inside_repository(repo, &repo.root().join(path), presence, limit),
        }
    }
}

/// Reads the file of the checked-out commit. A missing file that is required is an error.
fn read_file_at_head(
    repo: &Repository,
    commit: &CommitId,
    path: &str,
    presence: FilePresence,
    limit: u64,
) -> Result<Option<NamedText>, PolicyError> {
    let text = read_at_commit(repo, commit, "HEAD", path, limit)?;
    if presence == FilePresence::Required && text.is_none() {
        let name = format!("{path} of `HEAD` ({})", commit.short());
        let reason = "the commit has no such file, and in CI the files of the commit are used".to_owned();
        return Err(unreadable_error(name, reason));
    }
    Ok(text)
}

/// Reads the file of the index, or returns `None` if it is not staged. Callers then read a file that the job names from
/// disk, because it is not part of the next commit.
fn read_staged_file(
    repo: &Repository,
    snapshot: &Snapshot<'_>,
    path: &str,
    limit: u64,
) -> Result<Option<NamedText>, PolicyError> {
    read_snapshot_file(repo, snapshot, format!("{path} of the index"), path, limit)
}

/// Reads a file that is outside the repository, or in a directory without git. Such a file belongs to the job, so the
/// version on disk decides.
pub fn read_job_file(file: &Path, presence: FilePresence) -> Result<GateFile, PolicyError> {
    Ok(GateFile {
        deciding_version: read_from_disk(file, presence, MAX_CONFIG_BYTES)?.into(),
        ..GateFile::default()
    })
}

/// Reads the committed version of a file if git converts the file at the checkout, for example because of the attribute
/// `working-tree-encoding`. The file on disk then differs from the file that readers of the commit see. Returns `None`
/// if git does not convert the file, or if the file on disk equals the committed version.
fn read_committed_if_converted(
    repo: &Repository,
    path: &str,
    limit: u64,
) -> Result<Option<NamedText>, PolicyError> {
    if repo.is_bare() {
        return Ok(None);
    }
    match repo.head() {
        // Attributes are read last, because libgit2 reads the complete index for them.
        Ok(head) if !repo.is_same_as_committed(&head.commit, path) && repo.is_converted(path) => {
            read_at_commit(repo, &head.commit, "HEAD", path, limit)
        }
        _ => Ok(None),
    }
}

/// Reads a file on disk that the change may have written. Fails if a link in the path leads out of the repository, so
/// that messages do not show content from there.
fn read_inside_repository(
    repo: &Repository,
    file: &Path,
    presence: FilePresence,
    limit: u64,
) -> Result<Option<NamedText>, PolicyError> {
    if leaves_repository(repo, file) {
        return Err(unreadable_error(format_path(file), LEAVES_REPOSITORY.to_owned()));
    }
    read_from_disk(file, presence, limit)
}

/// Reads a file on disk. Returns `None` for a missing file that is not required.
fn read_from_disk(file: &Path, presence: FilePresence, limit: u64) -> Result<Option<NamedText>, PolicyError> {
    let name = format_path(file);
    if !file.exists() && file.is_symlink() {
        return Err(unreadable_error(name, BROKEN_LINK.to_owned()));
    }
    if is_missing(file) {
        return match presence {
            FilePresence::Optional => Ok(None),
            FilePresence::Required => Err(PolicyError::MissingFile { name }),
        };
    }
    match input::read_text_file(file, limit) {
        Ok(text) => Ok(Some(NamedText { name, text })),
        Err(error) => Err(unreadable_error(name, error.to_string())),
    }
}

/// Reads the file of a commit, or returns `None` if the commit lacks the file. A symbolic link that leads out of the
/// repository is an error. `branch` is only for messages.
fn read_at_commit(
    repo: &Repository,
    commit: &CommitId,
    branch: &str,
    path: &str,
    limit: u64,
) -> Result<Option<NamedText>, PolicyError> {
    let name = format!("{path} of `{branch}` ({})", commit.short());
    read_snapshot_file(repo, &repo.snapshot(commit.clone()), name, path, limit)
}

/// Reads the file of a snapshot, or returns `None` if it is missing. A symbolic link that leads out of the repository
/// is an error. `name` is only for messages.
fn read_snapshot_file(
    repo: &Repository,
    snapshot: &Snapshot<'_>,
    name: String,
    path: &str,
    limit: u64,
) -> Result<Option<NamedText>, PolicyError> {
    match read_gate_file_version(repo, snapshot, path, limit)? {
        GateFileVersion::Missing => Ok(None),
        GateFileVersion::Unreadable(reason) => Err(unreadable_error(name, reason)),
        GateFileVersion::Text(bytes) => match input::decode_utf_8(bytes) {
            Ok(text) => Ok(Some(NamedText { name, text })),
            Err(reason) => Err(unreadable_error(name, reason.to_owned())),
        },
    }
}

/// Reads a file of the gate configuration from a commit, the index or the disk, and follows symbolic links within the
/// repository. A link that leads to no file is unreadable, so that a change cannot hide a file behind it. A missing or
/// unreadable file is a value, because versions with it can be compared; only a failure of git is an error.
pub fn read_gate_file_version(
    repo: &Repository,
    snapshot: &Snapshot<'_>,
    path: &str,
    limit: u64,
) -> Result<GateFileVersion, GitError> {
    let resolved_path = follow_links(repo, snapshot, path)?;
    if resolved_path.leaves_repository {
        return Ok(GateFileVersion::Unreadable(LEAVES_REPOSITORY.to_owned()));
    }
    let Some(file) = resolved_path.file else {
        return Ok(match resolved_path.defect {
            Some(reason) => GateFileVersion::Unreadable(reason.to_owned()),
            None => GateFileVersion::Missing,
        });
    };
    Ok(match &file.content {
        FileContent::Blob(blob) => match repo.read_blob(blob, limit)? {
            Some(bytes) => GateFileVersion::Text(bytes),
            None => build_too_large_version(limit),
        },
        FileContent::Disk(full) => match read_disk_file(full, limit) {
            Ok(Some(bytes)) => GateFileVersion::Text(bytes),
            Ok(None) => build_too_large_version(limit),
            Err(error) => GateFileVersion::Unreadable(error.to_string()),
        },
    })
}

fn build_too_large_version(limit: u64) -> GateFileVersion {
    GateFileVersion::Unreadable(format!("the content has more than {limit} bytes"))
}

const fn unreadable_error(name: String, reason: String) -> PolicyError {
    PolicyError::Unreadable { name, reason }
}
