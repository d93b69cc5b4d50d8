//! Compares a statement with a clone: the listed files with those of the commit, and the gate configuration with that
//! of its commit.

use super::statement::{GIT_COMMIT, SHA256};
use super::{FileDigest, PolicyDigests, PublicationPredicate, ReviewPredicate, SavedStatement, Subject};
use crate::job::policy::{self, GateFileVersion};
use crate::publish::{
    DocumentFile, PublishError, check_document_files, compare_with_committed_files, compute_digest,
    hash_bytes,
};
use sluicegate_base::text::format_count;
use sluicegate_git::{CommitId, Repository};
use sluicegate_pipelines::findings::Verdict;

/// Name of the document in the messages.
const DOCUMENT: &str = "the statement";

/// Maximum size of a file of the gate configuration, in bytes.
const MAX_GATE_FILE_BYTES: u64 = 64 * 1024 * 1024;

impl SavedStatement {
    /// Returns the problems in a statement about a review: the review did not pass, a subject has no usable digest, or
    /// the number of pipelines is wrong.
    pub(crate) fn check_review(&self, predicate: &ReviewPredicate) -> Vec<String> {
        let mut problems = self.check_subjects(&predicate.commit);
        if predicate.verdict != Verdict::Passed {
            problems.push(format!("the verdict of the review is `{}`", predicate.verdict));
        }
        problems.extend(check_count(
            "file",
            self.document_files().count(),
            predicate.counts.files,
        ));
        problems
    }

    /// Returns the problems in a statement about a publication: the publish did not complete, its review did not pass
    /// or is of another commit, a subject has no usable digest, the version is not a subject, the digest of the files
    /// or a number is wrong, or a file is missing.
    pub(crate) fn check_publication(&self, predicate: &PublicationPredicate) -> Vec<String> {
        let mut problems = self.check_subjects(&predicate.commit);
        if !predicate.outcome.has_published_version() {
            problems.push(format!("the outcome of the publish is `{}`", predicate.outcome));
        }
        if let Some(review) = &predicate.review {
            problems.extend(review.list_problems(&predicate.commit, &predicate.outcome));
        }
        if !self.subjects.iter().any(|subject| predicate.is_version(subject)) {
            problems.push(format!(
                "version {} with digest {} is not a subject of the statement",
                predicate.subject_name(),
                predicate.digest
            ));
        }
        let parts: Vec<(&str, &str)> = self
            .document_files_of_version(predicate)
            .map(|file| (file.path, file.sha256))
            .collect();
        let computed_digest = compute_digest(&parts);
        if computed_digest != predicate.digest {
            problems.push(format!(
                "the statement's digest is {}, but the digest of its files is {computed_digest}",
                predicate.digest
            ));
        }
        problems.extend(check_count("file", parts.len(), predicate.counts.files));
        let paths = parts.iter().map(|(path, _)| *path).collect();
        problems.extend(check_document_files(
            DOCUMENT,
            &predicate.shared_pipelines,
            &paths,
        ));
        problems.extend(check_count(
            "shared pipeline",
            predicate.shared_pipelines.len(),
            predicate.counts.shared_pipelines,
        ));
        problems
    }

    /// Returns the differences between the pipelines and the rules file in a statement about a review and those in the
    /// commit.
    pub(crate) fn compare_review_with_commit(
        &self,
        predicate: &ReviewPredicate,
        repository: &Repository,
        commit: &CommitId,
    ) -> Result<Vec<String>, PublishError> {
        let files = self
            .document_files()
            .chain(document_rules_file(predicate.rules.as_ref()));
        compare_with_committed_files(repository, commit, files, DOCUMENT)
    }

    /// Returns the differences between the files and the rules file in a statement about a publication and those in the
    /// commit.
    pub(crate) fn compare_publication_with_commit(
        &self,
        predicate: &PublicationPredicate,
        repository: &Repository,
        commit: &CommitId,
    ) -> Result<Vec<String>, PublishError> {
        let files = self
            .document_files_of_version(predicate)
            .chain(document_rules_file(predicate.rules.as_ref()));
        compare_with_committed_files(repository, commit, files, DOCUMENT)
    }

    /// Returns a problem for each file without a name or a SHA-256, and for each commit other than `commit`, which the
    /// predicate is about. A commit needs no name, because the repository may be unknown. A statement without a commit
    /// among its subjects is valid, because `actions/attest` signs only subjects with a SHA-256.
    fn check_subjects(&self, commit: &str) -> Vec<String> {
        let mut problems = Vec::new();
        for subject in &self.subjects {
            if let Some(subject_commit) = subject.digest.get(GIT_COMMIT) {
                if subject_commit != commit {
                    problems.push(format!(
                        "the subject is commit {subject_commit}, but the predicate is about commit {commit}"
                    ));
                }
                continue;
            }
            match (subject.name.as_deref(), subject.digest.get(SHA256)) {
                (Some(_), Some(_)) => {}
                (None, Some(sha256)) => {
                    problems.push(format!("the subject with the SHA-256 {sha256} has no name"));
                }
                (name, None) => {
                    let name = name.unwrap_or("(no name)");
                    problems.push(format!("the subject `{name}` has no SHA-256"));
                }
            }
        }
        problems
    }

    /// Returns the subjects that are files.
    fn document_files(&self) -> impl Iterator<Item = DocumentFile<'_>> {
        self.subjects.iter().filter_map(to_document_file)
    }

    /// Returns the subjects that are files of the version, without the subject for the version as a whole.
    fn document_files_of_version<'s>(
        &'s self,
        predicate: &PublicationPredicate,
    ) -> impl Iterator<Item = DocumentFile<'s>> {
        self.subjects
            .iter()
            .filter(move |subject| !predicate.is_version(subject))
            .filter_map(to_document_file)
    }
}

impl PublicationPredicate {
    /// Returns whether the subject is the version as a whole, by its name and digest.
    fn is_version(&self, subject: &Subject) -> bool {
        subject.name.as_ref() == Some(&self.subject_name()) && subject.sha256() == Some(self.digest_hex())
    }
}

impl PolicyDigests {
    /// Returns the differences between the gate configuration files that a statement lists and the same files in the
    /// commit from which the review or publish read them. Returns `None` if the statement names no commit or the
    /// repository lacks it. Files that the job brought from outside the repository (`of_job`) are not compared.
    pub(crate) fn compare_with_commit(
        &self,
        repository: &Repository,
    ) -> Result<Option<Vec<String>>, PublishError> {
        let id = self.commit.as_deref().unwrap_or_default();
        let Some(commit) = repository.find_commit_with_id(id)? else {
            return Ok(None);
        };
        let snapshot = repository.snapshot(commit.clone());
        let mut differences = Vec::new();
        for FileDigest { path, sha256, .. } in self.files.iter().filter(|file| !file.of_job) {
            let committed_version =
                policy::read_gate_file_version(repository, &snapshot, path, MAX_GATE_FILE_BYTES)?;
            match committed_version {
                GateFileVersion::Text(bytes) if hash_bytes(&bytes) == *sha256 => {}
                GateFileVersion::Text(_) => differences.push(format!(
                    "the gate configuration `{path}` has different content in commit {} and in {DOCUMENT}",
                    commit.short()
                )),
                GateFileVersion::Missing => differences.push(format!(
                    "the gate configuration `{path}` is not in commit {}",
                    commit.short()
                )),
                GateFileVersion::Unreadable(reason) => {
                    differences.push(format!(
                        "the gate configuration `{path}` cannot be read: {reason}"
                    ));
                }
            }
        }
        Ok(Some(differences))
    }
}

/// Returns the subject as a file to compare; `None` if it has no name or no SHA-256, for example because it is a
/// commit.
fn to_document_file(subject: &Subject) -> Option<DocumentFile<'_>> {
    Some(DocumentFile {
        path: subject.name.as_deref()?,
        bytes: None,
        sha256: subject.sha256()?,
    })
}

/// Returns the rules file of a predicate as a file to compare, or no file if the predicate does not name one.
fn document_rules_file(rules: Option<&FileDigest>) -> impl Iterator<Item = DocumentFile<'_>> {
    rules.into_iter().map(|file| DocumentFile {
        path: &file.path,
        bytes: None,
        sha256: &file.sha256,
    })
}

/// Returns a problem if the statement does not list as many items as its predicate counts.
fn check_count(noun: &str, listed_count: usize, predicate_count: usize) -> Option<String> {
    (listed_count != predicate_count).then(|| {
        let listed_items = format_count(listed_count, noun);
        format!("the statement lists {listed_items}, but its predicate counts {predicate_count}")
    })
}
