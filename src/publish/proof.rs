//! Checks a published version against its receipt.

use super::receipt::ReceiptFile;
use super::{PublishError, Receipt, digest, hash, verify};
use crate::interface_version::{self, InterfaceVersion, LoadedInterface};
use sluicegate_git::{BlobId, CommitId, Repository};
use sluicegate_pipelines::interface::{ChangeClass, ChangeKind, Compatibility, InterfaceChange};
use sluicegate_pipelines::pipelines::SHARED_PIPELINES_FILE;
use sluicegate_platform::api::ArtifactDetails;
use std::collections::BTreeSet;

impl Receipt {
    /// Returns the receipt's contradictions in itself, a sentence each: it records no complete version, or its digest
    /// does not match its files.
    pub fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        if !matches!(self.outcome.as_str(), "published" | "already-published") {
            found.push(format!(
                "the receipt is for a publish with the outcome `{}`",
                self.outcome
            ));
        }
        let pairs: Vec<(&str, &str)> = self
            .files
            .iter()
            .map(|file| (file.path.as_str(), file.sha256.as_str()))
            .collect();
        let made = digest(&pairs);
        if made != self.digest {
            found.push(format!(
                "the receipt's digest is {}, but the digest of its files is {made}",
                self.digest
            ));
        }
        found
    }

    /// Returns the differences between the published version and the receipt.
    pub fn against_details(&self, details: &ArtifactDetails) -> Vec<String> {
        let shared = self.shared_pipelines.iter();
        let pairs = shared.map(|shared| (shared.id.as_str(), shared.path.as_str()));
        verify::differences_from(details, &self.commit_hash, pairs)
    }

    /// Returns the differences between the changes for consumers, computed again from both commits, and those in the
    /// receipt; `None` if the receipt has none, or the repository does not have both commits.
    pub fn against_both_commits(&self, repository: &Repository) -> Result<Option<Vec<String>>, PublishError> {
        let Some(compat) = self.compat.as_ref().filter(|compat| !compat.ids_only) else {
            return Ok(None);
        };
        let Some(old) = &compat.against_commit else {
            return Ok(None);
        };
        let commits = (
            repository.commit_with_id(old),
            repository.commit_with_id(&self.commit_hash),
        );
        let (Some(old), Some(new)) = commits else {
            return Ok(None);
        };
        let folder = self.files.iter().find_map(|file| {
            let folder = file.path.strip_suffix(SHARED_PIPELINES_FILE)?.strip_suffix('/')?;
            (folder.starts_with('.') && !folder.contains('/')).then_some(folder)
        });
        let snapshots = (repository.snapshot(old.clone()), repository.snapshot(new.clone()));
        let sides = (
            interface_version::read_interface(repository, &snapshots.0, folder)?,
            interface_version::read_interface(repository, &snapshots.1, folder)?,
        );
        let (LoadedInterface::Read(was, _), LoadedInterface::Read(is, _)) = sides else {
            return Ok(Some(vec![
                "the shared-pipelines file of one of the two commits cannot be read".to_owned(),
            ]));
        };
        let found = interface_version::compare_interface_versions(
            &InterfaceVersion::at_snapshot(repository, &snapshots.0, *was)?,
            &InterfaceVersion::at_snapshot(repository, &snapshots.1, *is)?,
        )?;
        Ok(Some(self.contradictions_of(
            compat,
            &found,
            &FileProof {
                repository,
                old: &old,
                new: &new,
            },
        )?))
    }

    fn contradictions_of(
        &self,
        compat: &Compatibility,
        found: &[InterfaceChange],
        files: &FileProof<'_>,
    ) -> Result<Vec<String>, PublishError> {
        let mut differences = Vec::new();
        // A shared pipeline that was only in a working tree is in no commit.
        let is_of_worktree =
            |it: &InterfaceChange| it.kind == ChangeKind::PipelineRemoved && it.old.is_none();
        let recorded = compat
            .changes
            .iter()
            .filter(|it| it.id.is_some() && !is_of_worktree(it));
        if recorded.ne(found.iter()) {
            differences.push("the changes for consumers are not those between the commits".to_owned());
        }
        let class = compat.changes.iter().map(|it| it.kind.effect().class).max();
        let class = class.unwrap_or(ChangeClass::None).for_total();
        if compat.class != Some(class) || compat.changes.iter().any(|it| it.class != it.kind.effect().class) {
            let told = compat.class.map_or("none at all", ChangeClass::name);
            differences.push(format!(
                "the receipt's class is {told}, but the class of its changes is {class}"
            ));
        }
        differences.extend(files.contradictions(compat, &self.files, found.is_empty())?);
        Ok(differences)
    }

    /// Returns the differences between the commit's files and the receipt; `None` if the repository lacks the commit.
    pub fn against_commit(&self, repository: &Repository) -> Result<Option<Vec<String>>, PublishError> {
        let is_full =
            self.commit_hash.len() == 40 && self.commit_hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_full || !repository.has_commit(&self.commit_hash) {
            return Ok(None);
        }
        let commit = repository.resolve(&self.commit_hash)?;
        let mut differences = Vec::new();
        for file in &self.files {
            let path = &file.path;
            match repository.find_file(&commit, path)? {
                None => differences.push(format!("`{path}` is not in the commit {}", commit.short())),
                Some(found) => {
                    let bytes = repository.blob_size(&found.blob)?;
                    let sha256 = hash::of(repository.open_blob(&found.blob, bytes)?, path)?;
                    if (bytes, &sha256) != (file.bytes, &file.sha256) {
                        differences.push(format!(
                            "`{path}` has different content in the commit {} and in the receipt",
                            commit.short()
                        ));
                    }
                }
            }
        }
        Ok(Some(differences))
    }
}

struct FileProof<'a> {
    repository: &'a Repository,
    old: &'a CommitId,
    new: &'a CommitId,
}

impl FileProof<'_> {
    /// Checks that the files that are listed as changed did change, and that the others did not; the shared-pipelines
    /// file may have other bytes with the same meaning.
    fn contradictions(
        &self,
        compat: &Compatibility,
        sent: &[ReceiptFile],
        with_shared: bool,
    ) -> Result<Vec<String>, PublishError> {
        let told: BTreeSet<String> = compat
            .changes
            .iter()
            .filter(|it| it.id.is_none())
            .map(InterfaceChange::subject)
            .collect();
        let mut differences = Vec::new();
        for change in compat.changes.iter().filter(|it| it.id.is_none()) {
            let path = change.subject();
            let (was, is) = self.both(&path)?;
            let is_so = match change.kind {
                ChangeKind::FileAdded => was.is_none() && is.is_some(),
                ChangeKind::FileRemoved => was.is_some(),
                _ => was.is_some() && is.is_some() && was != is,
            };
            if !is_so {
                differences.push(format!("`{path}` did not change as the receipt states"));
            }
        }
        for file in sent {
            let is_shared = file.path.ends_with(SHARED_PIPELINES_FILE);
            if told.contains(&file.path) || (is_shared && !with_shared) {
                continue;
            }
            let (was, is) = self.both(&file.path)?;
            if was != is && !is_shared {
                differences.push(format!(
                    "`{}` changed, but the receipt does not list the change",
                    file.path
                ));
            }
        }
        Ok(differences)
    }

    fn both(&self, path: &str) -> Result<(Option<BlobId>, Option<BlobId>), PublishError> {
        let blob =
            |commit| Ok::<_, PublishError>(self.repository.find_file(commit, path)?.map(|file| file.blob));
        Ok((blob(self.old)?, blob(self.new)?))
    }
}
