//! Runs a review: reads the rules file and the pipelines from the requested commit and evaluates the rules.
//!
//! All of this waits for disks and processors, so it runs on blocking threads.

use super::problem::Problem;
use serde::Serialize;
use sluicegate_base::text::List;
use sluicegate_git::{BlobId, CommitId, FileKind, GitError, Repository, TreeFile};
use sluicegate_pipelines::findings::{Enforcement, FileResults, RuleResult, Severity, Status};
use sluicegate_pipelines::pipelines::{find_config_dir, is_pipeline, rules_path};
use sluicegate_pipelines::rules::RuleSet;
use sluicegate_yaml::{DocumentError, MAX_DOCUMENT_BYTES};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use utoipa::ToSchema;

/// Maximum number of paths that are looked up one by one; for more paths, one walk through the commit is faster.
const MAX_SINGLE_LOOKUPS: usize = 200;

/// Maximum number of missing paths that a response lists.
const MAX_LISTED_PATHS: usize = 10;

/// A review request.
#[derive(Debug)]
pub(super) struct ReviewSubject {
    /// The branch that must contain the commit.
    pub branch: String,
    /// The full ID of the commit.
    pub commit: String,
    pub pipelines: Vec<String>,
}

/// A review in the format of the API document.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Review)]
pub(super) struct ReviewOutcome {
    /// Whether the pipelines may be merged.
    #[serde(rename = "reviewStatus")]
    status: ReviewStatus,
    /// The results by file.
    results: BTreeMap<String, Vec<ReviewedRule>>,
    /// Files of a type that is not reviewed.
    excluded_files: Vec<String>,
}

/// The overall status of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
enum ReviewStatus {
    Passed,
    Failed,
}

/// The status of a rule on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
enum RuleStatus {
    Passed,
    Failed,
    Error,
}

/// The result of one rule on one file.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReviewedRule {
    /// ID of the rule.
    rule_name: String,
    status: RuleStatus,
    /// With status ERROR: the reason why the rule could not be evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error_detail: Option<EvaluationProblem>,
    /// The violations of the rule.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    violations: Vec<String>,
}

/// The reason why a rule could not be evaluated.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = ErrorDetail)]
struct EvaluationProblem {
    /// One of the error types of the API document.
    #[serde(rename = "type")]
    kind: String,
}

/// Opens the repository at `path`, or the repository whose work tree contains `path`.
pub(super) fn open_repository(path: &Path) -> Result<Repository, GitError> {
    Repository::open(path)
}

/// Reviews the requested pipelines in the repository at `path` with the rules of the same commit. Requested files that
/// are not pipelines are listed as excluded.
pub(super) fn review_pipelines(path: &Path, request: &ReviewSubject) -> Result<ReviewOutcome, Problem> {
    let repository = open_repository(path)?;
    let commit = find_requested_commit(&repository, request)?;
    let files = find_requested_files(&repository, &commit, request)?;
    let (pipelines, other_files): (Vec<TreeFile>, Vec<TreeFile>) =
        files.into_iter().partition(|file| is_pipeline(&file.path));
    let rules = read_rules(&repository, &commit)?;
    let results = evaluate_files(&repository, &rules, &pipelines)?;
    Ok(ReviewOutcome {
        status: overall_status(&results),
        results: results.into_iter().map(to_reviewed_rules).collect(),
        excluded_files: other_files.into_iter().map(|file| file.path).collect(),
    })
}

/// Returns the tip of the local branch with exactly this name, or `None` if there is no such branch.
pub(super) fn find_branch_tip(repository: &Repository, branch: &str) -> Result<Option<CommitId>, GitError> {
    // libgit2 requires names without NUL bytes, and no branch name contains a control character.
    if branch.contains(char::is_control) {
        return Ok(None);
    }
    repository.find_local_branch_tip(branch)
}

/// Returns the requested commit. Returns a 404 if the branch does not exist or does not contain the commit, or the ID
/// is not complete.
fn find_requested_commit(repository: &Repository, request: &ReviewSubject) -> Result<CommitId, Problem> {
    let ReviewSubject { branch, commit, .. } = request;
    let tip = find_branch_tip(repository, branch)?;
    let tip = tip.ok_or_else(|| Problem::not_found(format!("the repository has no branch `{branch}`")))?;
    let is_hexadecimal = !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hexadecimal && repository.has_commit(commit) {
        let resolved_commit = repository.resolve(commit)?;
        if resolved_commit.as_str().eq_ignore_ascii_case(commit)
            && repository.contains_commit(&tip, &resolved_commit)?
        {
            return Ok(resolved_commit);
        }
    }
    Err(Problem::not_found(format!(
        "the branch `{branch}` has no commit with the full id `{commit}`"
    )))
}

/// Returns the requested files, each once, sorted by path. Returns a 404 that lists the files which are not in the
/// commit; a submodule is not a file.
fn find_requested_files(
    repository: &Repository,
    commit: &CommitId,
    request: &ReviewSubject,
) -> Result<Vec<TreeFile>, Problem> {
    let requested_paths: BTreeSet<&str> = request.pipelines.iter().map(String::as_str).collect();
    let mut files = find_files(repository, commit, &requested_paths)?;
    files.retain(|file| file.kind != FileKind::Submodule);
    let commit_files: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let missing_paths: Vec<&str> = requested_paths.difference(&commit_files).copied().collect();
    if missing_paths.is_empty() {
        return Ok(files);
    }
    let list = List::with_limit(missing_paths, MAX_LISTED_PATHS).map(|path| format!("`{path}`"));
    Err(Problem::not_found(format!("the commit does not contain {list}")))
}

/// Returns the files at these paths, without those that are not in the commit. Up to [`MAX_SINGLE_LOOKUPS`] files are
/// looked up one by one; for more, one walk through the commit is faster.
fn find_files(
    repository: &Repository,
    commit: &CommitId,
    requested_paths: &BTreeSet<&str>,
) -> Result<Vec<TreeFile>, GitError> {
    if requested_paths.len() > MAX_SINGLE_LOOKUPS {
        return repository.list_files(commit, &|path| requested_paths.contains(path));
    }
    let files = requested_paths
        .iter()
        .map(|path| repository.find_file(commit, path));
    files.filter_map(Result::transpose).collect()
}

/// Returns the rules of the commit, from the rules file in the platform's hidden directory. If several directories look
/// like the platform's, or the file is missing or not a regular one, returns the rule set that reports a missing file.
pub(super) fn read_rules(repository: &Repository, commit: &CommitId) -> Result<RuleSet, Problem> {
    let directories = repository.list_root_folders(commit)?;
    let has_file = |path: &str| Ok::<_, GitError>(repository.find_file(commit, path)?.is_some());
    let Ok(Some(directory)) = find_config_dir(&directories, &has_file)? else {
        return Ok(RuleSet::without_file());
    };
    match repository.find_file(commit, &rules_path(&directory))? {
        Some(file) if file.kind == FileKind::Regular => {
            Ok(RuleSet::from_document(&read_document(repository, &file.blob)?))
        }
        _ => Ok(RuleSet::without_file()),
    }
}

/// Returns the blob's content; the inner error reports that the blob is too large for a document.
pub(super) fn read_document(
    repository: &Repository,
    blob: &BlobId,
) -> Result<Result<Vec<u8>, DocumentError>, GitError> {
    let bytes = repository.read_blob(blob, MAX_DOCUMENT_BYTES)?;
    Ok(bytes.ok_or_else(DocumentError::too_large))
}

/// Returns the results of the rules for each file. Files are read one after the other, because a repository can be used
/// by only one thread.
fn evaluate_files(
    repository: &Repository,
    rules: &RuleSet,
    files: &[TreeFile],
) -> Result<Vec<FileResults>, Problem> {
    let documents = files
        .iter()
        .map(|file| Ok((file.path.clone(), read_document(repository, &file.blob)?)));
    // The callback would receive each parsed pipeline, which the review does not need.
    rules.evaluate_all(documents, &|_, _, _| {})
}

/// Returns the status of the complete review: failed if any result fails the review.
fn overall_status(files: &[FileResults]) -> ReviewStatus {
    let is_failed = files.iter().flat_map(|file| &file.results).any(fails_review);
    if is_failed {
        ReviewStatus::Failed
    } else {
        ReviewStatus::Passed
    }
}

/// Returns whether a result fails the review: the rule failed with severity error, or could not be evaluated. A rule
/// that only warns never fails the review.
fn fails_review(result: &RuleResult) -> bool {
    match &result.status {
        Status::Passed => false,
        Status::Failed(severity) => *severity == Severity::Error,
        Status::Error(_) => result.enforcement != Some(Enforcement::Warn),
    }
}

/// Converts the results of a file to the format of the response. Returns the path of the file, and its rules with their
/// violations.
fn to_reviewed_rules(file: FileResults) -> (String, Vec<ReviewedRule>) {
    let rules = file.results.into_iter().map(|result| {
        let (status, error_kind) = match result.status {
            Status::Passed => (RuleStatus::Passed, None),
            Status::Failed(_) => (RuleStatus::Failed, None),
            Status::Error(error_kind) => (RuleStatus::Error, error_kind),
        };
        ReviewedRule {
            rule_name: result.rule,
            status,
            error_detail: error_kind.map(|kind| EvaluationProblem { kind }),
            violations: result
                .violations
                .into_iter()
                .map(|violation| violation.text)
                .collect(),
        }
    });
    (file.path, rules.collect())
}

impl From<GitError> for Problem {
    /// Logs the error and converts it to a 500.
    fn from(error: GitError) -> Self {
        tracing::error!(%error, "could not read the repository");
        Self::internal(format!("could not read the repository: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(status: Status, enforcement: Option<Enforcement>) -> RuleResult {
        RuleResult::new("r".into(), status, enforcement, Vec::new())
    }

    #[test]
    fn only_error_enforcement_and_unknown_enforcement_fail_a_review() {
        let error = || Status::Error(Some("designer/x".into()));
        for (result, fails) in [
            (result(Status::Passed, Some(Enforcement::Error)), false),
            (
                result(Status::Failed(Severity::Error), Some(Enforcement::Error)),
                true,
            ),
            (
                result(Status::Failed(Severity::Warning), Some(Enforcement::Warn)),
                false,
            ),
            (result(error(), Some(Enforcement::Error)), true),
            (result(error(), Some(Enforcement::Warn)), false),
            (result(error(), None), true),
        ] {
            assert_eq!(fails_review(&result), fails, "{result:?}");
        }
    }

    #[test]
    fn review_leaves_out_missing_fields_of_rule() {
        let file = FileResults {
            path: "a".into(),
            results: vec![
                result(Status::Passed, None),
                result(Status::Error(Some("designer/x".into())), None),
            ],
            is_reviewed: true,
        };
        let (_, rules) = to_reviewed_rules(file);
        assert_eq!(
            serde_json::to_string(&rules).unwrap(),
            r#"[{"ruleName":"r","status":"PASSED"},{"ruleName":"r","status":"ERROR","errorDetail":{"type":"designer/x"}}]"#
        );
    }
}
