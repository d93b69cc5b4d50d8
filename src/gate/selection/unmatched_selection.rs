//! Rejects paths and globs that match nothing: they are typing errors, or the change renamed the files that they match.

use crate::error::Failure;
use crate::gate::selection::SelectionRequest;
use crate::gate::{is_within, looks_like_pipeline};
use crate::job::settings;
use crate::workspace::Workspace;
use sluicegate_base::text::format_count;
use sluicegate_git::{CommitId, Snapshot};
use sluicegate_pipelines::pipelines::{GATE_FILES, SHARED_PIPELINES_FILE, is_pipeline};
use std::collections::BTreeSet;

/// The hint if the files of a path or glob may now have names that are not selected.
const MOVED_FILES_HINT: &str =
    "the change removes these files and adds other pipelines, so select the paths of those, too";

impl Workspace<'_> {
    /// Fails if a path or a glob of the job matches no file of the snapshot, or if all globs of the configuration file
    /// together match none. That is probably a typing error, and the run would pass without a review. A change may
    /// delete the files that matched. But if it also adds pipelines that are not selected, they may be the same ones
    /// under another name, so the run fails, too.
    pub(crate) fn reject_unmatched_selection(
        &self,
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
        request: &SelectionRequest<'_>,
    ) -> Result<(), Failure> {
        match self.find_unmatched_filter(snapshot, bases, request)? {
            Some(filter) if !filter.is_in_base => Err(filter.failure),
            Some(filter) if filter.may_have_moved => Err(filter.failure.with_hint(MOVED_FILES_HINT)),
            _ => Ok(()),
        }
    }

    /// Fails as [`Self::reject_unmatched_selection`] does, unless the path or glob matches a file of a base: a
    /// comparison that reviews nothing shows where the file is now.
    pub(crate) fn reject_unknown_selection(
        &self,
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
        request: &SelectionRequest<'_>,
    ) -> Result<(), Failure> {
        match self.find_unmatched_filter(snapshot, bases, request)? {
            Some(filter) if !filter.is_in_base => Err(filter.failure),
            _ => Ok(()),
        }
    }

    /// Returns the first path or glob that matches no file of the snapshot, or no pipeline although it matches one of a
    /// base. Also returns what the bases show about it.
    fn find_unmatched_filter(
        &self,
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
        request: &SelectionRequest<'_>,
    ) -> Result<Option<UnmatchedFilter>, Failure> {
        let selection = request.selection;
        if request.paths.is_empty() && request.named_files.is_empty() && !selection.is_customized() {
            return Ok(None);
        }
        let is_candidate = |path: &str| is_pipeline(path) || selection.includes(path);
        let files = snapshot.list_files(&is_candidate)?;
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let pipeline_count = paths.iter().filter(|path| is_pipeline(path)).count();
        let searched_files = SearchedFiles {
            description: format!(
                "{}, which contains {}",
                snapshot.name(),
                format_count(pipeline_count, "pipeline")
            ),
            snapshot,
        };
        let mut base_files = Vec::new();
        for base in bases {
            base_files.extend(self.repo.list_base_files(base, &is_candidate)?);
        }
        let base_paths: BTreeSet<&str> = base_files.iter().map(|file| file.path.as_str()).collect();
        let known_paths: Vec<&str> = paths.iter().chain(&base_paths).copied().collect();
        let unknown_filter = find_filter_failure(&known_paths, request, &searched_files);
        let is_in_base = unknown_filter.is_none();
        let failure = unknown_filter
            .or_else(|| find_filter_failure(&paths, request, &searched_files))
            .or_else(|| find_abandoned_filter(&paths, &base_paths, request, &searched_files));
        Ok(failure.map(|failure| UnmatchedFilter {
            failure,
            is_in_base,
            may_have_moved: paths
                .iter()
                .any(|path| is_pipeline(path) && !base_paths.contains(path) && request.omits(path)),
        }))
    }
}

/// The files among which paths and globs match none, for errors.
struct SearchedFiles<'s> {
    snapshot: &'s Snapshot<'s>,
    /// The name of the snapshot and the number of its pipelines.
    description: String,
}

/// A path or glob that matches no file of the snapshot.
struct UnmatchedFilter {
    failure: Failure,
    /// Whether each path and glob matches a file of the snapshot or of a base.
    is_in_base: bool,
    /// Whether the snapshot has a pipeline that is in no base and neither selected nor excluded.
    may_have_moved: bool,
}

impl SelectionRequest<'_> {
    /// Returns whether the include globs or the paths leave out this pipeline. One that the exclude globs match is left
    /// out on purpose.
    fn omits(&self, path: &str) -> bool {
        let mut restrictions = self.paths.iter().chain(self.named_files).peekable();
        let is_unrestricted = restrictions.peek().is_none();
        let is_selected = self.selection.selects(path)
            && (is_unrestricted || restrictions.any(|restriction| is_within(path, restriction)));
        !is_selected && !self.selection.excludes(path)
    }
}

/// Returns the error for the first glob or path that matches none of the known files. Returns `None` if each matches
/// one.
fn find_filter_failure(
    known_paths: &[&str],
    request: &SelectionRequest<'_>,
    searched_files: &SearchedFiles<'_>,
) -> Option<Failure> {
    let selection = request.selection;
    if let Some(glob) = selection.find_unmatched_glob(known_paths) {
        return Some(unmatched_glob_failure(glob, "file", searched_files));
    }
    // In a repository without pipelines so far, an unmatched glob in the settings file is not a typo.
    let matches_none = || !known_paths.is_empty() && !known_paths.iter().any(|path| selection.includes(path));
    if let Some(key) = selection.include_key().filter(|_| matches_none()) {
        return Some(unmatched_key_failure(key, "file", searched_files));
    }
    // An empty path means the whole repository.
    let unmatched_path = request.paths.iter().find(|requested_path| {
        !requested_path.is_empty() && !known_paths.iter().any(|path| is_within(path, requested_path))
    });
    let path = unmatched_path.or_else(|| find_unmatched_named_file(known_paths, request))?;
    Some(unmatched_path_failure(path, searched_files))
}

/// Returns the error for the first glob or path of the job that matches pipelines of a base but none of the snapshot,
/// or for the globs of the configuration file if that is true for all of them together. Other files that they match,
/// such as a note, are no pipelines to review.
fn find_abandoned_filter(
    paths: &[&str],
    base_paths: &BTreeSet<&str>,
    request: &SelectionRequest<'_>,
    searched_files: &SearchedFiles<'_>,
) -> Option<Failure> {
    let selection = request.selection;
    let pipelines: Vec<&str> = paths.iter().copied().filter(|path| is_pipeline(path)).collect();
    let base_pipelines: Vec<&str> = base_paths
        .iter()
        .copied()
        .filter(|path| is_pipeline(path))
        .collect();
    if let Some(glob) = selection.find_abandoned_glob(&base_pipelines, &pipelines) {
        return Some(unmatched_glob_failure(glob, "pipeline", searched_files));
    }
    let has_pipeline = |paths: &[&str], folder: &str| paths.iter().any(|path| is_within(path, folder));
    let abandoned_path = request
        .paths
        .iter()
        .find(|path| has_pipeline(&base_pipelines, path) && !has_pipeline(&pipelines, path));
    if let Some(path) = abandoned_path {
        return Some(unmatched_path_failure(path, searched_files));
    }
    let is_abandoned = base_pipelines.iter().any(|path| selection.includes(path))
        && !pipelines.iter().any(|path| selection.includes(path));
    let key = selection.include_key().filter(|_| is_abandoned)?;
    Some(unmatched_key_failure(key, "pipeline", searched_files))
}

/// Returns the error that a path of the job contains no pipeline, or is a submodule or in one.
fn unmatched_path_failure(path: &str, searched_files: &SearchedFiles<'_>) -> Failure {
    // A submodule that cannot be listed must not hide the error about the path.
    let submodules = searched_files
        .snapshot
        .list_nested_repositories()
        .unwrap_or_default();
    if let Some(submodule) = submodules.iter().find(|submodule| is_within(path, submodule)) {
        let message = if path == submodule {
            format!("the path {path} is a submodule, which is another repository")
        } else {
            format!("the path {path} is in the submodule {submodule}, which is another repository")
        };
        return Failure::usage(message).with_hint("run the command in the submodule, or omit the path");
    }
    let location = &searched_files.description;
    let message = format!("the path {path} does not match any pipeline in {location}");
    Failure::usage(message).with_hint("pass a pipeline or a directory with pipelines, or omit the path")
}

/// Returns the error that a glob of the job matches no file, or no pipeline (`noun`).
fn unmatched_glob_failure(glob: &str, noun: &str, searched_files: &SearchedFiles<'_>) -> Failure {
    let location = &searched_files.description;
    let message = format!("the include glob {glob:?} does not match any {noun} in {location}");
    Failure::usage(message).with_hint(
        "globs match full paths from the repository root; without --include every pipeline is selected",
    )
}

/// Returns the error that the globs of the configuration file match no file, or no pipeline (`noun`).
fn unmatched_key_failure(key: &str, noun: &str, searched_files: &SearchedFiles<'_>) -> Failure {
    let (file_name, location) = (settings::FILE_NAME, &searched_files.description);
    let message = format!("no glob in `{key}` of {file_name} matches a {noun} in {location}");
    Failure::usage(message).with_hint(
        "globs match full paths from the repository root; without `include` every pipeline is selected",
    )
}

/// Returns whether the file at this path has this name, which may include directories.
pub(in crate::gate) fn is_named(path: &str, name: &str) -> bool {
    let directory = path.strip_suffix(name);
    directory.is_some_and(|directory| directory.is_empty() || directory.ends_with('/'))
}

/// Returns the first named file if no named file is a known file, looks like a pipeline or belongs to the gate
/// configuration. One such file is enough, because a git hook passes all files of a commit. Returns `None` if the user
/// also named a directory, because its pipelines are then reviewed.
fn find_unmatched_named_file<'r>(
    known_paths: &[&str],
    request: &'r SelectionRequest<'_>,
) -> Option<&'r String> {
    if !request.paths.is_empty() {
        return None;
    }
    let is_relevant = request.named_files.iter().any(|path| {
        known_paths.contains(&path.as_str())
            || is_named(path, SHARED_PIPELINES_FILE)
            || GATE_FILES.iter().any(|name| is_named(path, name))
            || looks_like_pipeline(path)
    });
    if is_relevant {
        None
    } else {
        request.named_files.first()
    }
}
