//! Checks a published version against its receipt.

use super::receipt::ReceiptFile;
use super::{
    DocumentFile, PublishError, Receipt, ReceiptOutcome, ReviewEvidence, SharedPipelineRef, SmokeRecord,
    compare_with_committed_files, compare_with_document, compute_digest, is_same_commit,
};
use crate::interface_version::{self, InterfaceVersion, LoadedInterface, OfferChanges};
use sluicegate_git::{BlobId, CommitId, Repository};
use sluicegate_pipelines::findings::Verdict;
use sluicegate_pipelines::interface::{ChangeClass, ComparedVersion, Compatibility, InterfaceChangeKind};
use sluicegate_pipelines::pipelines::SHARED_PIPELINES_FILE;
use sluicegate_platform::api::ArtifactDetails;
use std::collections::BTreeSet;

/// Name of the document in the messages.
const DOCUMENT: &str = "the receipt";

impl Receipt {
    /// Returns the problems in the receipt itself: its publish did not complete, its review did not pass or is of
    /// another commit, its smoke runs did not succeed, its digest does not match its files, a file is missing, or it
    /// lists changes of a first version.
    pub fn check_consistency(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if !self.has_published_version() {
            problems.push(format!(
                "the receipt is for a publish with the outcome `{}`",
                self.outcome
            ));
        }
        if let Some(review) = self.review() {
            problems.extend(review.list_problems(&self.commit_hash, &self.outcome));
        }
        problems.extend(self.smoke.iter().flat_map(SmokeRecord::list_problems));
        let files: Vec<(&str, &str)> = self.content_hashes().collect();
        let computed_digest = compute_digest(&files);
        if computed_digest != self.digest {
            problems.push(format!(
                "the receipt's digest is {}, but the digest of its files is {computed_digest}",
                self.digest
            ));
        }
        let paths = files.iter().map(|(path, _)| *path).collect();
        problems.extend(check_document_files(DOCUMENT, &self.shared_pipelines, &paths));
        let first_version_compat = Compatibility::new(ComparedVersion::default(), Vec::new());
        if self
            .compat
            .as_ref()
            .is_some_and(|compat| compat.is_first() && *compat != first_version_compat)
        {
            problems.push(
                "the receipt records changes for consumers, but no older version that they are compared with"
                    .to_owned(),
            );
        }
        problems
    }

    /// Returns the differences in commit, branch and shared pipelines between the receipt and the published version in
    /// the platform's response.
    pub fn compare_with_details(&self, details: &ArtifactDetails) -> Vec<String> {
        compare_with_document(
            details,
            &self.commit_hash,
            self.branch(),
            &self.shared_pipelines,
            DOCUMENT,
        )
    }

    /// Compares the changes for consumers that the receipt records with those between its two commits, the published
    /// one and the older one. Returns `None` if the receipt lists only changed ids or no comparison, or if the
    /// repository lacks one of the commits.
    pub fn compare_recorded_changes(
        &self,
        repository: &Repository,
    ) -> Result<Option<ChangeVerification>, PublishError> {
        let Some(compat) = self.compat.as_ref().filter(|compat| !compat.ids_only) else {
            return Ok(None);
        };
        let Some(old_commit) = &compat.against_commit else {
            return Ok(None);
        };
        let commits = (
            repository.find_commit_with_id(old_commit)?,
            repository.find_commit_with_id(&self.commit_hash)?,
        );
        let (Some(old_commit), Some(new_commit)) = commits else {
            return Ok(None);
        };
        // The receipt does not name the platform's hidden directory, but lists the shared-pipelines file in it.
        let config_dir = self
            .files
            .iter()
            .find_map(|file| strip_shared_file_name(&file.path));
        let old_snapshot = repository.snapshot(old_commit.clone());
        let new_snapshot = repository.snapshot(new_commit.clone());
        let old_config_dir =
            interface_version::find_old_config_dir(config_dir, &old_snapshot, &new_snapshot)?;
        let interfaces = (
            interface_version::read_interface(repository, &old_snapshot, old_config_dir.as_deref())?,
            interface_version::read_interface(repository, &new_snapshot, config_dir)?,
        );
        let (LoadedInterface::Read(old_interface, _), LoadedInterface::Read(new_interface, _)) = interfaces
        else {
            return Ok(Some(ChangeVerification {
                differences: vec![
                    "the shared-pipelines file of one of the two commits cannot be read".to_owned(),
                ],
                note: None,
            }));
        };
        let old_shared_paths = old_interface
            .offered_entries()
            .map(|entry| entry.pipeline.clone())
            .collect();
        let offer_changes = interface_version::compare_interface_versions(
            &InterfaceVersion::at_snapshot(repository, &old_snapshot, *old_interface)?,
            &InterfaceVersion::at_snapshot(repository, &new_snapshot, *new_interface)?,
        )?;
        Ok(Some(self.compare_changes(
            compat,
            &offer_changes,
            &CommitPair {
                repository,
                old_commit: &old_commit,
                new_commit: &new_commit,
                old_shared_paths,
            },
        )?))
    }

    /// Finds the mistakes in `compat`, the changes that the receipt records: its changes to shared pipelines differ
    /// from `offer_changes`, which were just computed from both commits, a class is wrong, or the list of changed files
    /// is wrong.
    fn compare_changes(
        &self,
        compat: &Compatibility,
        offer_changes: &OfferChanges,
        commits: &CommitPair<'_>,
    ) -> Result<ChangeVerification, PublishError> {
        let mut differences = Vec::new();
        let mut note = None;
        let recorded_changes = compat.changes.iter().filter(|change| {
            // A change without an id is about a file. A removed shared pipeline without an old location is known only
            // from the platform: its version was published from a working tree, so the old commit does not list it.
            let is_of_worktree = change.kind == InterfaceChangeKind::PipelineRemoved && change.old.is_none();
            change.id.is_some() && !is_of_worktree
        });
        if recorded_changes.ne(&offer_changes.changes) {
            differences
                .push("the receipt's changes for consumers differ from those between the commits".to_owned());
        }
        let class = compat
            .changes
            .iter()
            .map(|change| change.kind.effect().class)
            .max()
            .unwrap_or(ChangeClass::None)
            .to_comparison_class();
        // If a break cannot be ruled out, the class is unknown unless a break was found.
        let doubt = offer_changes
            .doubt
            .as_ref()
            .filter(|_| class != ChangeClass::Breaking);
        let expected_class = Some(class).filter(|_| doubt.is_none());
        for change in &compat.changes {
            let change_class = change.kind.effect().class;
            if change.class != change_class {
                differences.push(format!(
                    "the receipt's class of the change to `{}` is {}, but the class of that kind of change is \
                     {change_class}",
                    change.subject(),
                    change.class
                ));
            }
        }
        if let Some(doubt) = doubt.filter(|_| compat.class == Some(class)) {
            // Receipts of version 0.1 have the class of the changes that were found.
            note = Some(format!(
                "the receipt's class is {class}, but a break cannot be ruled out: {}",
                doubt.reason
            ));
        } else if compat.class != expected_class {
            let recorded_class = compat.class.map_or("missing", ChangeClass::name);
            let expected_class = expected_class.map_or("unknown", ChangeClass::name);
            differences.push(format!(
                "the receipt's class is {recorded_class}, but the class of its changes is {expected_class}"
            ));
        }
        differences.extend(commits.compare_file_changes(compat, &self.files)?);
        Ok(ChangeVerification { differences, note })
    }

    /// Returns the differences between the receipt and the files of its commit; `None` if the repository lacks the
    /// commit.
    pub fn compare_with_commit(&self, repository: &Repository) -> Result<Option<Vec<String>>, PublishError> {
        let Some(commit) = repository.find_commit_with_id(&self.commit_hash)? else {
            return Ok(None);
        };
        let files = self.files.iter().map(ReceiptFile::as_document_file);
        compare_with_committed_files(repository, &commit, files, DOCUMENT).map(Some)
    }
}

impl ReviewEvidence {
    /// Returns the problems in the review that a publish relied on: it did not pass, or it is of another commit than
    /// the version. `outcome` is that of the publish. A publish that found the version's files unchanged reviewed a
    /// newer commit than that of the version.
    pub(crate) fn list_problems(&self, commit: &str, outcome: &ReceiptOutcome) -> Vec<String> {
        let mut problems = Vec::new();
        if self.verdict != Verdict::Passed.to_string() {
            problems.push(format!("the verdict of the review is `{}`", self.verdict));
        }
        if *outcome == ReceiptOutcome::Published && !is_same_commit(Some(&self.head), commit) {
            problems.push(format!(
                "the review is of commit {}, but the version is of commit {commit}",
                self.head
            ));
        }
        problems
    }
}

impl ReceiptFile {
    fn as_document_file(&self) -> DocumentFile<'_> {
        DocumentFile {
            path: &self.path,
            bytes: Some(self.bytes),
            sha256: &self.sha256,
        }
    }
}

/// The result of verifying the changes that a receipt records.
pub struct ChangeVerification {
    pub differences: Vec<String>,
    /// The reason why a break cannot be ruled out, although the receipt has a class.
    pub note: Option<String>,
}

struct CommitPair<'a> {
    repository: &'a Repository,
    old_commit: &'a CommitId,
    new_commit: &'a CommitId,
    /// The paths of the shared pipelines of the old commit, which every version of that commit has.
    old_shared_paths: BTreeSet<String>,
}

/// Returns a problem for each file that every version with these shared pipelines has, but that is not among the
/// `files` of a document: the shared-pipelines file and the shared pipelines. `document` names the document in the
/// messages.
pub fn check_document_files(
    document: &str,
    shared_pipelines: &[SharedPipelineRef],
    files: &BTreeSet<&str>,
) -> Vec<String> {
    let mut problems = Vec::new();
    if files.iter().all(|path| strip_shared_file_name(path).is_none()) {
        problems.push(format!("{document} does not list the shared-pipelines file"));
    }
    for SharedPipelineRef { id, path } in shared_pipelines {
        if !files.contains(path.as_str()) {
            problems.push(format!(
                "{document} does not list `{path}`, the file of the shared pipeline `{id}`"
            ));
        }
    }
    problems
}

/// Returns the platform's hidden directory if this is the path of the shared-pipelines file in it.
fn strip_shared_file_name(path: &str) -> Option<&str> {
    let config_dir = path.strip_suffix(SHARED_PIPELINES_FILE)?.strip_suffix('/')?;
    (config_dir.starts_with('.') && !config_dir.contains('/')).then_some(config_dir)
}

impl CommitPair<'_> {
    /// Returns a difference for each file that the receipt lists as changed although it did not change between the
    /// commits, and for each of the published `files` that changed although the receipt does not list it as changed.
    /// The shared-pipelines file need not be listed, because it may have other bytes with the same meaning.
    fn compare_file_changes(
        &self,
        compat: &Compatibility,
        files: &[ReceiptFile],
    ) -> Result<Vec<String>, PublishError> {
        let mut listed_paths = BTreeSet::new();
        let mut differences = Vec::new();
        // A change without an id is about a file.
        for change in compat.changes.iter().filter(|change| change.id.is_none()) {
            let path = change.subject();
            let (old_blob, new_blob) = self.find_blobs(&path)?;
            let has_changed = match change.kind {
                // The old commit may contain a file that its version did not contain, and the new commit may still
                // contain a file that the version no longer contains: the publish settings select the files.
                InterfaceChangeKind::FileAdded => {
                    let is_in_old_version = old_blob.is_some() && self.old_shared_paths.contains(&path);
                    new_blob.is_some() && !is_in_old_version
                }
                InterfaceChangeKind::FileRemoved => old_blob.is_some(),
                _ => old_blob.is_some() && new_blob.is_some() && old_blob != new_blob,
            };
            if !has_changed {
                differences.push(format!(
                    "`{path}` did not change in the way that the receipt states"
                ));
            }
            listed_paths.insert(path);
        }
        for file in files {
            let is_shared_file = strip_shared_file_name(&file.path).is_some();
            if is_shared_file || listed_paths.contains(&file.path) {
                continue;
            }
            let (old_blob, new_blob) = self.find_blobs(&file.path)?;
            if old_blob == new_blob {
                continue;
            }
            // A publish compares contents: Git LFS may store the same content as a pointer in one of the commits.
            let is_unchanged = match old_blob {
                Some(old_blob) => file
                    .as_document_file()
                    .is_committed_as(self.repository, &old_blob)?,
                None => false,
            };
            if !is_unchanged {
                differences.push(format!(
                    "`{}` changed, but the receipt does not list the change",
                    file.path
                ));
            }
        }
        Ok(differences)
    }

    /// Returns the blobs of a file in the old and in the new commit; `None` if a commit lacks the file.
    fn find_blobs(&self, path: &str) -> Result<(Option<BlobId>, Option<BlobId>), PublishError> {
        let old_file = self.repository.find_file(self.old_commit, path)?;
        let new_file = self.repository.find_file(self.new_commit, path)?;
        Ok((old_file.map(|file| file.blob), new_file.map(|file| file.blob)))
    }
}
