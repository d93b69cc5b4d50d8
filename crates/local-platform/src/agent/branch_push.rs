//! Pushes the branch with the fixes: creates its commit in the project's repository.

use super::fix_order::{FixOrder, OrderedFinding};
use super::pipeline_fix::{fix_pipeline, rename_component};
use super::task_config::TaskConfig;
use crate::agent_behavior::AgentBehavior;
use crate::pipeline_review::{self, find_branch_tip, read_rules};
use sluicegate_git::{CommitId, FileKind, NewCommit, Repository};
use sluicegate_pipelines::pipelines::{Pipeline, is_pipeline, is_rules_path};
use sluicegate_yaml::{MAX_DOCUMENT_BYTES, Tree};
use std::collections::BTreeMap;
use std::path::Path;

/// The author of the agent's commits.
const AUTHOR: &str = "Simulated agent";

/// The files of a commit, as path and content.
type EditedFiles = BTreeMap<String, String>;

/// Commits the fixes to a new branch, the task's target branch, in the repository at `path`. If the agent created this
/// branch itself (`has_pushed`), the commit is added to it. Returns the number of changed files, or 0 without a commit
/// if the agent cannot fix anything. A misbehaving agent also edits other files, drops the history or moves the source
/// branch. The error is the reason why the push failed.
pub(crate) fn push_branch(
    path: &Path,
    config: &TaskConfig,
    order: &FixOrder,
    has_pushed: bool,
) -> Result<usize, String> {
    let repository = pipeline_review::open_repository(path).map_err(|error| error.to_string())?;
    let source = &config.source_branch_name;
    let source_tip =
        find_tip(&repository, source)?.ok_or_else(|| format!("the repository has no branch `{source}`"))?;
    let parent = match find_tip(&repository, &config.target_branch_name)? {
        None => source_tip,
        Some(tip) if has_pushed => tip,
        Some(_) => {
            return Err(format!(
                "the branch `{}` already exists",
                config.target_branch_name
            ));
        }
    };
    let mut files = fix_pipelines(&repository, &parent, order)?;
    if files.is_empty() {
        return Ok(0);
    }
    add_misbehavior(&repository, &parent, order, &mut files)?;
    let changed_files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, content)| (path.as_str(), content.as_str()))
        .collect();
    let has_history = order.behavior != AgentBehavior::RewritesHistory;
    let mut commit = NewCommit {
        branch: &config.target_branch_name,
        parent: has_history.then_some(&parent),
        files: &changed_files,
        message: "Fix findings",
        author: AUTHOR,
    };
    repository
        .commit_files(&commit)
        .map_err(|error| error.to_string())?;
    // This misbehaving agent also adds the commit to the source branch, which it must not change.
    if order.behavior == AgentBehavior::MovesSourceBranch {
        commit.branch = source;
        repository
            .commit_files(&commit)
            .map_err(|error| error.to_string())?;
    }
    Ok(files.len())
}

/// Returns the newest commit of the branch, or `None` if the branch does not exist.
fn find_tip(repository: &Repository, branch: &str) -> Result<Option<CommitId>, String> {
    find_branch_tip(repository, branch).map_err(|error| error.to_string())
}

/// Returns the path and the fixed text of each pipeline that the agent can fix. Skips findings in files that the commit
/// does not have or that are too large, and fixed documents that are not UTF-8.
fn fix_pipelines(
    repository: &Repository,
    commit: &CommitId,
    order: &FixOrder,
) -> Result<EditedFiles, String> {
    let rules = read_rules(repository, commit).map_err(|_| "the rules file is unreadable".to_owned())?;
    let mut findings_by_file: BTreeMap<&str, Vec<&OrderedFinding>> = BTreeMap::new();
    for finding in &order.findings {
        findings_by_file.entry(&finding.file).or_default().push(finding);
    }
    let mut files = EditedFiles::new();
    for (path, findings) in findings_by_file {
        let Some(document) = read_committed_file(repository, commit, path)? else {
            continue;
        };
        let fixed_document = fix_pipeline(&rules, path, &document, &findings);
        let fixed_text = fixed_document.and_then(|document| String::from_utf8(document).ok());
        files.extend(fixed_text.map(|text| (path.to_owned(), text)));
    }
    Ok(files)
}

/// Returns the content of the file in the commit, or `None` if the file is missing, not a regular file or too large for
/// a document.
fn read_committed_file(
    repository: &Repository,
    commit: &CommitId,
    path: &str,
) -> Result<Option<Vec<u8>>, String> {
    let file = repository
        .find_file(commit, path)
        .map_err(|error| error.to_string())?;
    let Some(file) = file.filter(|file| file.kind == FileKind::Regular) else {
        return Ok(None);
    };
    repository
        .read_blob(&file.blob, MAX_DOCUMENT_BYTES)
        .map_err(|error| error.to_string())
}

/// Adds the edits of an agent that misbehaves to `files`: an edit to a pipeline that is not in `files` or to a new text
/// file, rules files without rules, or a component name that causes a finding. Other behaviors do not change `files`.
fn add_misbehavior(
    repository: &Repository,
    commit: &CommitId,
    order: &FixOrder,
    files: &mut EditedFiles,
) -> Result<(), String> {
    match order.behavior {
        AgentBehavior::EditsOtherFile => {
            let other_files = repository
                .list_files(commit, &|path| is_pipeline(path) && !files.contains_key(path))
                .map_err(|error| error.to_string())?;
            let path = other_files.first().map_or("notes.txt", |file| file.path.as_str());
            let document = read_committed_file(repository, commit, path)?.unwrap_or_default();
            let text = String::from_utf8_lossy(&document).into_owned();
            files.insert(path.to_owned(), text + "# edited by the agent\n");
        }
        AgentBehavior::EditsRules => {
            let rules_files = repository
                .list_files(commit, &is_rules_path)
                .map_err(|error| error.to_string())?;
            for file in rules_files {
                files.insert(file.path, "rules: []\n".to_owned());
            }
        }
        AgentBehavior::AddsFinding => {
            // The first fixed pipeline gets a component name that most naming conventions reject.
            if let Some(mut file) = files.first_entry()
                && let Some(text) = rename_last_component(file.get())
            {
                file.insert(text);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Renames the last component of the pipeline so that its name violates most naming conventions. Returns `None` if the
/// pipeline has no component or cannot be parsed or edited.
fn rename_last_component(text: &str) -> Option<String> {
    let tree = Tree::parse(text.as_bytes()).ok()?;
    let pipeline = Pipeline::from_tree(&tree).ok()?;
    let name = &pipeline.components.last()?.name;
    String::from_utf8(rename_component(text.as_bytes(), name, "__renamed__")?).ok()
}
