//! Writes the planned files without overwriting existing files.

use super::init_plan::{FileStep, InitPlan};
use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use sluicegate_base::text::format_path;
use std::fs;
use std::io;
use std::path::{Component, Path};

/// Writes the planned files in their order, and fails at the first that cannot be written. Earlier files stay, so the
/// directories of all files are checked before the first file is written.
pub(crate) fn write_files(root: &Path, plan: &InitPlan) -> Result<(), Failure> {
    for step in plan.steps() {
        if let FileStep::Write { path, .. } = step {
            reject_unusable_parent(root, path).map_err(|error| {
                unwritable_file_failure(root, path, error)
                    .with_hint("move or remove it, then run `sluicegate init` again")
            })?;
        }
    }
    for step in plan.steps() {
        if let FileStep::Write { path, text, .. } = step {
            create_file(root, path, text).map_err(|error| unwritable_file_failure(root, path, error))?;
        }
    }
    Ok(())
}

/// Returns the failure that the file cannot be written.
fn unwritable_file_failure(root: &Path, path: &str, error: io::Error) -> Failure {
    let context = format!("could not write {}", format_path(&root.join(path)));
    Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(context))
}

/// Creates the file and its directories. Fails if the file exists, or if a directory is a symbolic link or a file.
pub(crate) fn create_file(root: &Path, path: &str, text: &str) -> io::Result<()> {
    reject_unusable_parent(root, path)?;
    atomic_file::create_file(&root.join(path), text.as_bytes())
}

/// Fails if a directory of the file is a symbolic link, because the file could be written outside the repository, or if
/// it is a file.
fn reject_unusable_parent(root: &Path, path: &str) -> io::Result<()> {
    let parent = Path::new(path).parent().unwrap_or(Path::new(""));
    let mut current_dir = root.to_path_buf();
    for part in parent
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
    {
        current_dir.push(part);
        let Ok(metadata) = fs::symlink_metadata(&current_dir) else {
            break;
        };
        if !metadata.is_dir() {
            let kind = if metadata.is_symlink() {
                "a symbolic link"
            } else {
                "not a directory"
            };
            return Err(io::Error::other(format!(
                "{} is {kind}",
                format_path(&current_dir)
            )));
        }
    }
    Ok(())
}
