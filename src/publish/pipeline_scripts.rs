//! Finds the scripts that the pipelines use.

use super::content_reader::ContentReader;
use super::file_listing::{FileListing, reject_uncertain_files};
use super::pipeline_reader::PipelineFile;
use super::unusable_scripts::resolve_script_defect;
use super::{PublishError, PublishRequest};
use sluicegate_base::file_defect::FileDefect;
use sluicegate_git::SnapshotFile;
use sluicegate_pipelines::pipelines::Reference;
use sluicegate_pipelines::project::{self, ScriptSuggestions};
use std::collections::{BTreeMap, BTreeSet};

/// A script that a pipeline uses.
pub(super) enum Script {
    Sent(SnapshotFile),
    /// There is no regular file at the path. Contains the description with a hint.
    Missing(String),
    /// The reason why an existing file is not sent.
    Omitted(String),
    /// The content is not a script, so the publish fails.
    Unusable(FileDefect),
}

impl Script {
    /// Returns the file of the script, or `None` if it is not sent.
    pub(super) const fn sent_file(&self) -> Option<&SnapshotFile> {
        match self {
            Self::Sent(file) => Some(file),
            Self::Missing(_) | Self::Omitted(_) | Self::Unusable(_) => None,
        }
    }
}

/// Returns the scripts that the sent pipelines use, by path, and whether each is sent. Fails if the content of a script
/// to send is uncertain, for example because git's index hides the file.
pub(super) fn find_scripts(
    listing: &FileListing<'_>,
    contents: &ContentReader,
    request: &PublishRequest<'_>,
    sent_pipelines: &BTreeMap<String, PipelineFile>,
) -> Result<BTreeMap<String, Script>, PublishError> {
    let references = sent_pipelines.values().flat_map(PipelineFile::references);
    let paths: BTreeSet<&str> = references.filter_map(Reference::script_path).collect();
    let mut files = listing.find_existing_files(&paths)?;
    let mut scripts: BTreeMap<String, Script> = paths
        .into_iter()
        .map(|path| {
            (
                path.to_owned(),
                classify_script(request, path, files.remove(path)),
            )
        })
        .collect();
    reject_uncertain_files(scripts.values().filter_map(Script::sent_file))?;
    for (path, script) in &mut scripts {
        if let Script::Sent(file) = script
            && let Some(defect) = resolve_script_defect(contents, request.source, path, file)?
        {
            *script = Script::Unusable(defect);
        }
    }
    add_hints(listing, &mut scripts)?;
    Ok(scripts)
}

/// Adds the probable files of missing scripts to the reasons. The paths of all files serve only these hints, so they
/// are listed only if a script is missing.
fn add_hints(listing: &FileListing<'_>, scripts: &mut BTreeMap<String, Script>) -> Result<(), PublishError> {
    let is_script_missing = scripts
        .values()
        .any(|script| matches!(script, Script::Missing(_)));
    if !is_script_missing {
        return Ok(());
    }
    let regular_paths = listing.list_regular_paths()?;
    let suggestions = ScriptSuggestions::new(&regular_paths);
    for (path, script) in scripts {
        if let Script::Missing(description) = script {
            // A publish needs a git repository, in which `sluicegate mv --repair` works.
            let can_repair = true;
            let hint = suggestions.suggest_script(path, can_repair);
            description.push_str(&hint.into_text_with_command());
        }
    }
    Ok(())
}

/// Returns the paths of the sent scripts that the needed pipelines use.
pub(super) fn select_needed_scripts<'i>(
    sent_pipelines: &'i BTreeMap<String, PipelineFile>,
    needed_paths: &BTreeSet<String>,
    scripts: &BTreeMap<String, Script>,
) -> BTreeSet<&'i str> {
    needed_paths
        .iter()
        .filter_map(|path| sent_pipelines.get(path))
        .flat_map(PipelineFile::references)
        .filter_map(Reference::script_path)
        .filter(|path| {
            scripts
                .get(*path)
                .is_some_and(|script| script.sent_file().is_some())
        })
        .collect()
}

/// Returns the script as sent, or the reason why it is omitted: it is excluded, not a regular file, or missing.
fn classify_script(request: &PublishRequest<'_>, path: &str, file: Option<SnapshotFile>) -> Script {
    let Some(file) = file else {
        return Script::Missing(project::describe_missing_script(path));
    };
    match file.kind.unreadable_reason() {
        Some(description) => Script::Missing(project::describe_irregular_script(path, description)),
        None if request.globs.excludes_file(path) => {
            Script::Omitted(format!("names the script `{path}`, which is excluded"))
        }
        None => Script::Sent(file),
    }
}
