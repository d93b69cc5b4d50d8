//! Outputs that would overwrite each other, because they have the same destination.

use super::SettingsError;
use crate::job::cli::ReportFlag;
use crate::job::policy::{normalize_path, resolve_links};
use sluicegate_base::text::format_path;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Fails if two reports have the same destination. Reports are written concurrently, so either of them might remain.
pub(super) fn reject_duplicate_destinations(flags: &[ReportFlag]) -> Result<(), SettingsError> {
    let mut paths = HashSet::new();
    let Some(duplicate) = flags
        .iter()
        .find(|flag| !paths.insert(flag.path.as_deref().map(resolve_destination)))
    else {
        return Ok(());
    };
    let destination = match &duplicate.path {
        Some(path) => format_path(path),
        None => "standard output".to_owned(),
    };
    Err(SettingsError::new(format!(
        "two reports cannot both be written to {destination}"
    )))
}

/// Fails if two outputs have the same path, because the second would overwrite the first.
pub(super) fn reject_shared_paths<'p>(paths: impl Iterator<Item = &'p Path>) -> Result<(), SettingsError> {
    let mut known_paths = Vec::new();
    for path in paths {
        let destination = resolve_destination(path);
        if known_paths.contains(&destination) {
            return Err(SettingsError::new(format!(
                "two outputs cannot both be written to {}",
                format_path(path)
            )));
        }
        known_paths.push(destination);
    }
    Ok(())
}

/// Returns the path of the file to which an output path leads, so that two names of the same file are equal.
fn resolve_destination(path: &Path) -> PathBuf {
    normalize_path(&resolve_links(path).unwrap_or_else(|| path.to_owned()))
}
