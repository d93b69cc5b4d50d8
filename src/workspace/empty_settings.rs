//! Explains settings of the configuration file that select no file.

use crate::error::Failure;
use crate::job::settings::Selection;
use crate::workspace::find_config_dir_in;
use sluicegate_git::{FileKind, Snapshot};
use sluicegate_pipelines::pipelines::{
    RULES_FILE, SHARED_PIPELINES_FILE, is_pipeline, rules_path, shared_pipelines_path,
};

/// Returns the problem that the snapshot has pipelines, but the include globs of the configuration file match no file.
/// Returns `None` if there is no such problem, or if the file does not set include globs.
pub(crate) fn explain_unmatched_include(
    snapshot: &Snapshot<'_>,
    selection: &Selection,
) -> Result<Option<String>, Failure> {
    let Some(key) = selection.include_key() else {
        return Ok(None);
    };
    let files = snapshot.list_files(&|path| is_pipeline(path) || selection.includes(path))?;
    let mut regular_files = files
        .iter()
        .filter(|file| file.kind == FileKind::Regular)
        .peekable();
    let is_unmatched =
        regular_files.peek().is_some() && !regular_files.any(|file| selection.includes(&file.path));
    Ok(is_unmatched.then(|| format!("no glob in `{key}` matches a file")))
}

/// Returns the problem that the directory in the setting `config-dir` has neither of the platform's files, although
/// another directory has one. Returns `None` if there is no such problem, without the setting, and if several other
/// directories have such files.
pub(crate) fn explain_unsuitable_config_dir(
    snapshot: &Snapshot<'_>,
    config_dir: Option<&str>,
) -> Result<Option<String>, Failure> {
    let Some(config_dir) = config_dir else {
        return Ok(None);
    };
    for path in [rules_path(config_dir), shared_pipelines_path(config_dir)] {
        if snapshot.find_file(&path)?.is_some() {
            return Ok(None);
        }
    }
    // The inner error means that several directories have such files.
    let Ok(Some(found_dir)) = find_config_dir_in(snapshot)? else {
        return Ok(None);
    };
    Ok(Some(format!(
        "`config-dir` is `{config_dir}`, which contains neither `{RULES_FILE}` nor `{SHARED_PIPELINES_FILE}`, but `{found_dir}` contains such a file"
    )))
}
