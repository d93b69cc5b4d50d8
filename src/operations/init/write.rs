//! Writes the planned files, never over existing ones.

use super::plan::{FileStep, InitPlan};
use crate::error::Failure;
use crate::exit::ExitStatus;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Component, Path};

pub(crate) fn all(root: &Path, plan: &InitPlan) -> Result<(), Failure> {
    for step in plan.steps() {
        if let FileStep::Write { path, text, .. } = step {
            one(root, path, text).map_err(|error| {
                let what = format!("could not write {}", root.join(path).display());
                Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(what))
            })?;
        }
    }
    Ok(())
}

fn one(root: &Path, path: &str, text: &str) -> io::Result<()> {
    let target = root.join(path);
    if let Some(folder) = Path::new(path).parent() {
        refuse_links(root, folder)?;
        fs::create_dir_all(root.join(folder))?;
    }
    File::create_new(target)?.write_all(text.as_bytes())
}

/// Returns an error if a directory is a link, as it may lead out of the repository.
fn refuse_links(root: &Path, folder: &Path) -> io::Result<()> {
    let mut reached = root.to_path_buf();
    for part in folder
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
    {
        reached.push(part);
        if fs::symlink_metadata(&reached).is_ok_and(|found| found.is_symlink()) {
            return Err(io::Error::other(format!(
                "{} is a symbolic link",
                reached.display()
            )));
        }
    }
    Ok(())
}
