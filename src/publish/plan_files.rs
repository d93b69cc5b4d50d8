//! Creates the plan of a publish: selects the files, checks that they are complete, and builds the metadata.

use super::closure_check::{self, ClosureContents};
use super::content_reader::ContentReader;
use super::file_listing::{FileListing, reject_uncertain_files};
use super::pipeline_reader::{self, PipelineFile, PipelineToRead};
use super::plan_warnings::{self, Warning, WarningKind};
use super::shared_pipelines_file::PlannedSharedFile;
use super::version_name::{self, PlaceholderValues};
use super::worktree_drift;
use super::{FileSelection, FileSource, Plan, PlannedFile, PublishError, PublishRequest, SharedPipelineRef};
use sluicegate_base::text::List;
use sluicegate_git::{CommitId, GitError, Repository, SnapshotFile};
use sluicegate_pipelines::pipelines::{self, PipelineKind, SharedEntry};
use sluicegate_platform::api::{escape_part_name, to_header_value};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Maximum number of warnings in a plan.
const MAX_WARNINGS: usize = 200;

/// Plans the publish of the files in `head` or on disk: selects the files, checks that they are complete, and collects
/// the warnings. Sends nothing. Fails if a file that the offered pipelines need is missing; the error lists each
/// reference to such a file with its position.
pub fn build_plan(
    repository: &Repository,
    head: &CommitId,
    request: &PublishRequest<'_>,
) -> Result<Plan, PublishError> {
    let prefix = version_name::validate_header_value("prefix", request.prefix.clone())?;
    let version_name = build_version_name(repository, head, request)?;
    let listing = FileListing::load(repository, head, request)?;
    let contents = Arc::new(ContentReader::new(repository.root().to_owned()));
    let config_dir = choose_config_dir(&listing, request)?;
    let shared_file = PlannedSharedFile::load(&listing, &contents, &config_dir)?;
    let mut selected_files = select_files(&listing, request)?;
    let sent_pipelines = read_selected_pipelines(&contents, &selected_files, &shared_file)?;
    let closure = closure_check::check_closure(closure_check::ClosureInput {
        listing: &listing,
        contents: &contents,
        request,
        shared_file: &shared_file,
        sent_pipelines,
    })?;
    let closure = require_complete(closure)?;
    // The check has then removed the pipelines that no offered pipeline needs.
    if request.selection == FileSelection::Closure {
        selected_files.retain(|path, _| closure.sent_pipelines.contains_key(path));
    }
    let files = build_planned_files(&contents, selected_files, &shared_file, &closure)?;
    reject_same_part_names(&files)?;
    let (branch, branch_warning) = find_sendable_branch(request);
    let mut warnings = closure.warnings;
    warnings.extend(listing.submodules.iter().map(build_submodule_warning));
    let mut other_warnings: Vec<String> = branch_warning
        .into_iter()
        .chain(describe_empty_offer(&shared_file))
        .collect();
    if request.source == FileSource::Worktree {
        other_warnings.extend(worktree_drift::find_worktree_drift(
            repository, head, request, &contents, &files,
        )?);
    }
    let warning_summary = plan_warnings::summarize_warnings(&warnings)
        .into_iter()
        .chain(other_warnings.iter().cloned())
        .collect();
    Ok(Plan {
        prefix,
        version_name,
        commit_hash: head.as_str().to_owned(),
        branch,
        config_dir,
        files,
        shared_pipelines: shared_file
            .offered_entries()
            .map(SharedPipelineRef::from)
            .collect(),
        interface: shared_file.interface,
        warnings: list_warning_texts(warnings, other_warnings),
        warning_summary,
        source: request.source,
        selection: request.selection,
        // The shared-pipelines file is needed, too.
        needed_count: closure.needed_count + 1,
        reader: contents,
    })
}

/// Returns the contents of a closure without problems, otherwise fails.
fn require_complete(closure: ClosureContents) -> Result<ClosureContents, PublishError> {
    if closure.problems.is_empty() {
        return Ok(closure);
    }
    if closure.problems.len() == closure.undeclared_count {
        return Err(PublishError::UndeclaredParameters(closure.problems));
    }
    Err(PublishError::Incomplete(closure.problems))
}

/// Returns the version name: the template of the request with its placeholders replaced.
pub fn build_version_name(
    repository: &Repository,
    head: &CommitId,
    request: &PublishRequest<'_>,
) -> Result<String, PublishError> {
    let values = build_placeholder_values(repository, head, request)?;
    Ok(version_name::expand_template(&request.version_template, &values)?)
}

/// Returns the values for the placeholders in the version name, from the request and the commit.
fn build_placeholder_values(
    repository: &Repository,
    head: &CommitId,
    request: &PublishRequest<'_>,
) -> Result<PlaceholderValues, PublishError> {
    Ok(PlaceholderValues {
        tag: request.tag.clone(),
        branch: request.branch.clone(),
        sha: head.as_str().to_owned(),
        committed_at: match repository.commit_time(head) {
            Err(GitError::TimeOutOfRange { .. }) => None,
            time => Some(time?),
        },
        run_number: request.run_number.clone(),
        next_version: request.next_version.clone(),
    })
}

/// Returns the branch to send as an HTTP header, and a warning. If its name cannot be a header value, the branch is
/// omitted with a warning, because it is only metadata. An unknown branch is omitted without a warning.
fn find_sendable_branch(request: &PublishRequest<'_>) -> (Option<String>, Option<String>) {
    let Some(branch) = request.branch.clone().filter(|branch| !branch.is_empty()) else {
        return (None, None);
    };
    match to_header_value(&branch) {
        Ok(_) => (Some(branch), None),
        Err(reason) => (
            None,
            Some(format!(
                "the branch `{branch}` will not be sent, because it cannot be the value of a header: {reason}"
            )),
        ),
    }
}

/// Returns the hidden directory with the platform's files: the requested one, otherwise the only such directory. Fails
/// if there is none or more than one.
fn choose_config_dir(
    listing: &FileListing<'_>,
    request: &PublishRequest<'_>,
) -> Result<String, PublishError> {
    if let Some(config_dir) = &request.config_dir {
        return Ok(config_dir.trim_matches('/').to_owned());
    }
    let exists = |path: &str| Ok::<_, PublishError>(listing.find_file(path)?.is_some());
    pipelines::find_config_dir(&listing.list_root_dirs()?, &exists)??.ok_or(PublishError::NoConfigDir)
}

impl From<&SharedEntry> for SharedPipelineRef {
    fn from(entry: &SharedEntry) -> Self {
        Self {
            id: entry.id.clone(),
            path: entry.pipeline.clone(),
        }
    }
}

/// Returns the selected files by path. Fails if the content of one is uncertain, for example because it is a symbolic
/// link.
fn select_files(
    listing: &FileListing<'_>,
    request: &PublishRequest<'_>,
) -> Result<BTreeMap<String, SnapshotFile>, PublishError> {
    let selected_files = listing
        .listed_files()
        .iter()
        .filter(|(path, _)| request.globs.selects_file(path));
    reject_uncertain_files(selected_files.clone().map(|(_, file)| file))?;
    Ok(selected_files
        .map(|(path, file)| (path.clone(), file.clone()))
        .collect())
}

/// Reads the selected pipelines, and returns the facts about each by path. Offered pipelines are always parsed, others
/// only if they may refer to a file.
fn read_selected_pipelines(
    contents: &ContentReader,
    selected_files: &BTreeMap<String, SnapshotFile>,
    shared_file: &PlannedSharedFile,
) -> Result<BTreeMap<String, PipelineFile>, PublishError> {
    let offered_paths: HashSet<&str> = shared_file
        .offered_entries()
        .map(|entry| entry.pipeline.as_str())
        .collect();
    let (mut paths, mut files) = (Vec::new(), Vec::new());
    for (path, file) in selected_files {
        if PipelineKind::from_path(path).is_some() {
            paths.push(path.clone());
            files.push(PipelineToRead {
                content: &file.content,
                is_needed: offered_paths.contains(path.as_str()),
            });
        }
    }
    // The results have the order of the files.
    let pipelines = pipeline_reader::read_pipelines(contents, &files)?;
    Ok(paths.into_iter().zip(pipelines).collect())
}

/// Returns all files to send, sorted by path: the selected `files`, the scripts and the shared-pipelines file. A file
/// on disk that was already checked gets the hash of its checked content: the upload fails if the file has changed.
fn build_planned_files(
    contents: &ContentReader,
    mut files: BTreeMap<String, SnapshotFile>,
    shared_file: &PlannedSharedFile,
    closure: &ClosureContents,
) -> Result<Vec<PlannedFile>, PublishError> {
    files.insert(shared_file.path().to_owned(), shared_file.file.clone());
    files.extend(
        closure
            .scripts
            .iter()
            .map(|(path, file)| (path.clone(), file.clone())),
    );
    let mut planned_files = Vec::new();
    for (path, SnapshotFile { content, .. }) in files {
        let (bytes, checked_hash) = match closure.sent_pipelines.get(&path) {
            Some(pipeline) => (pipeline.size, pipeline.checked_hash),
            None if path == shared_file.path() => {
                (contents.read_content_size(&content)?, shared_file.checked_hash)
            }
            None => (contents.read_content_size(&content)?, None),
        };
        planned_files.push(PlannedFile {
            path,
            bytes,
            content,
            checked_hash,
        });
    }
    Ok(planned_files)
}

/// Fails if the upload parts of two files would have the same name, because one of them would be lost. `files` is
/// sorted by path.
fn reject_same_part_names(files: &[PlannedFile]) -> Result<(), PublishError> {
    let mut paths_by_part_name: HashMap<String, &str> = HashMap::new();
    let mut pairs = Vec::new();
    for path in files.iter().map(|file| file.path.as_str()) {
        // Paths are unique, so only an escaped name can occur twice.
        let Cow::Owned(name) = escape_part_name(path) else {
            continue;
        };
        // The path of another file may be the escaped name.
        let same_path_index = files.binary_search_by(|file| file.path.as_str().cmp(&name));
        if let Ok(index) = same_path_index {
            pairs.push(format!("`{path}` and `{}`", files[index].path));
        } else if let Some(other_path) = paths_by_part_name.insert(name, path) {
            pairs.push(format!("`{path}` and `{other_path}`"));
        }
    }
    if pairs.is_empty() {
        return Ok(());
    }
    Err(PublishError::SamePartName(pairs))
}

/// Returns the warning that the files of a submodule are not sent. `is_needed` is set because an offered pipeline may
/// need one of these files.
fn build_submodule_warning(path: &String) -> Warning {
    Warning {
        kind: WarningKind::Submodule,
        is_needed: true,
        location: path.clone(),
        text: format!("{path}: a submodule, whose files are not part of this repository, is skipped"),
    }
}

/// Returns the warning that the version would not offer any pipelines; `None` if a shared pipeline is enabled.
fn describe_empty_offer(shared_file: &PlannedSharedFile) -> Option<String> {
    let path = shared_file.path();
    shared_file.offered_entries().next().is_none().then(|| {
        format!("{path}: no shared pipeline is enabled, so the version would not offer any pipelines")
    })
}

/// Returns the texts of the first [`MAX_WARNINGS`] warnings, followed by the number of omitted warnings.
fn list_warning_texts(warnings: Vec<Warning>, other_warnings: Vec<String>) -> Vec<String> {
    let mut texts: Vec<String> = warnings.into_iter().map(|warning| warning.text).collect();
    texts.extend(other_warnings);
    let list = List::with_limit(texts, MAX_WARNINGS).with_noun("warning");
    list.entries().collect()
}
