//! Plans the files to write, the files to keep, and the edits to make by hand.

use super::config;
use super::hosts::{Recipe, contains};
use super::look::RepositoryFacts;
use crate::job::settings::FILE_NAME;
use sluicegate_pipelines::waivers;
use std::fs;
use std::path::Path;

pub(crate) enum FileStep {
    /// Write the file; `then` is how to include it.
    Write {
        path: String,
        text: String,
        then: Option<&'static str>,
    },
    Left {
        path: String,
        why: &'static str,
    },
    /// The file exists and needs an addition by the user.
    ByHand {
        path: &'static str,
        text: String,
    },
}

/// The files, in the order of the output.
pub(crate) struct InitPlan {
    files: Vec<FileStep>,
    job: Option<FileStep>,
}

impl InitPlan {
    pub(crate) fn new(seen: &RepositoryFacts) -> Self {
        let today = &seen.today;
        let rules = today.rules_file.clone();
        let waivers = today
            .waivers
            .clone()
            .map(|text| (waivers::FILE_NAME.to_owned(), text));
        let new = rules
            .into_iter()
            .chain(waivers)
            .map(|(path, text)| new_file(seen, path, text));
        let configuration = new_file(seen, FILE_NAME.to_owned(), config::configuration(seen));
        Self {
            files: std::iter::once(configuration).chain(new).collect(),
            job: seen.recipe.map(|recipe| job(recipe, seen)),
        }
    }

    pub(crate) fn steps(&self) -> impl Iterator<Item = &FileStep> {
        self.files.iter().chain(&self.job)
    }

    /// Returns whether this gate file is written, so that its values are known.
    pub(crate) fn writes(&self, file: &str) -> bool {
        let is_it = |step: &FileStep| matches!(step, FileStep::Write { path, .. } if path == file);
        self.files.iter().any(is_it)
    }

    /// Returns the text of the job, if a new one is needed.
    pub(crate) fn job(&self) -> Option<&str> {
        match self.job.as_ref()? {
            FileStep::Write { text, .. } | FileStep::ByHand { text, .. } => Some(text),
            FileStep::Left { .. } => None,
        }
    }

    /// Returns how to include the job, if the host does not find it automatically.
    pub(crate) fn then(&self) -> Option<&'static str> {
        match self.job.as_ref()? {
            FileStep::Write { then, .. } => *then,
            _ => None,
        }
    }
}

/// Returns the step for a gate file: writes it unless it exists.
fn new_file(seen: &RepositoryFacts, path: String, text: String) -> FileStep {
    if is_there(&seen.root, &path) {
        let why = "the file already exists";
        return FileStep::Left { path, why };
    }
    FileStep::Write {
        path,
        text,
        then: None,
    }
}

fn job(recipe: &'static Recipe, seen: &RepositoryFacts) -> FileStep {
    if let Some(path) = recipe.find_program_file(&seen.root) {
        let full = seen.root.join(&path);
        let has_source = seen.source.as_ref().is_none_or(|source| contains(&full, source));
        let why = if has_source {
            "the file already runs sluicegate"
        } else {
            "the file already runs sluicegate; --source does not change it, so replace the source in it by hand"
        };
        return FileStep::Left { path, why };
    }
    let text = config::job(recipe.template, seen);
    let free = |path: &str| !is_there(&seen.root, path);
    match recipe.beside {
        _ if free(recipe.path) => FileStep::Write {
            path: recipe.path.to_owned(),
            text,
            then: None,
        },
        Some((path, then)) if free(path) => FileStep::Write {
            path: path.to_owned(),
            text,
            then: Some(then),
        },
        _ => FileStep::ByHand {
            path: recipe.path,
            text,
        },
    }
}

/// Returns whether the path exists; a broken link counts too.
fn is_there(root: &Path, path: &str) -> bool {
    fs::symlink_metadata(root.join(path)).is_ok()
}
