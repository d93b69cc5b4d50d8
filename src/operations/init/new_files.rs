//! Writes the planned files without overwriting existing files.

use super::init_plan::{FileStep, InitPlan};
use crate::error::Failure;
use crate::exit::ExitStatus;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Component, Path};

/// Writes the planned files in their order, and fails at the first that cannot be written. Earlier files stay.
pub(crate) fn write_files(root: &Path, plan: &InitPlan) -> Result<(), Failure> {
    for step in plan.steps() {
        if let FileStep::Write { path, text, .. } = step {
            create_file(root, path, text).map_err(|error| {
                let context = format!("could not write {}", root.join(path).display());
                Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(context))
            })?;
        }
    }
    Ok(())
}

/// Creates the file and its directories. Fails if the file exists, or if a directory is a symbolic link. A file that
/// cannot be written completely is removed, because the next run would treat it as the user's.
pub(crate) fn create_file(root: &Path, path: &str, text: &str) -> io::Result<()> {
    let target = root.join(path);
    if let Some(parent) = Path::new(path).parent() {
        reject_linked_directories(root, parent)?;
        fs::create_dir_all(root.join(parent))?;
    }
    let mut file = File::create_new(&target)?;
    file.write_all(text.as_bytes()).inspect_err(|_| {
        let _ = fs::remove_file(&target);
    })
}

/// Fails if a directory on the path `dir` is a symbolic link, because the file could be written outside the repository.
fn reject_linked_directories(root: &Path, dir: &Path) -> io::Result<()> {
    let mut current_dir = root.to_path_buf();
    for part in dir
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
    {
        current_dir.push(part);
        if fs::symlink_metadata(&current_dir).is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(io::Error::other(format!(
                "{} is a symbolic link",
                current_dir.display()
            )));
        }
    }
    Ok(())
}
