//! What is to be written, what stays, and what has to be done by hand.

use super::config;
use super::hosts::Recipe;
use super::look::Seen;
use crate::git::read_on_disk;
use crate::settings::FILE_NAME;
use std::fs;
use std::path::Path;

/// By this word a CI file is known to run the program already.
const PROGRAM: &str = "sluicegate";

/// Files of a host that are looked into, and how large they may be.
const FILES: usize = 200;
const SIZE_LIMIT: u64 = 1024 * 1024;

/// One file.
pub(super) enum Step {
    /// It is written; `then` says how it is taken up.
    Write {
        path: &'static str,
        text: String,
        then: Option<&'static str>,
    },
    /// It is there.
    Left { path: String, why: &'static str },
    /// It is there, and needs an addition that only a person can make.
    ByHand { path: &'static str, text: String },
}

/// The files, in the order in which they are told.
pub(super) struct InitPlan {
    pub(super) steps: Vec<Step>,
}

impl InitPlan {
    /// What this repository needs.
    pub(super) fn new(seen: &Seen) -> Self {
        let mut steps = vec![configuration(seen)];
        steps.extend(seen.recipe.map(|recipe| job(recipe, seen)));
        Self { steps }
    }

    /// Whether `sluicegate.yaml` is written, so that its values are ours.
    pub(super) fn writes_configuration(&self) -> bool {
        let is_it = |step: &Step| matches!(step, Step::Write { path, .. } if *path == FILE_NAME);
        self.steps.iter().any(is_it)
    }

    /// The text of the job, if there is a new one.
    pub(super) fn job(&self) -> Option<&str> {
        self.steps.iter().find_map(|step| match step {
            Step::Write { path, text, .. } if *path != FILE_NAME => Some(text.as_str()),
            Step::ByHand { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }
}

fn configuration(seen: &Seen) -> Step {
    if is_there(&seen.root, FILE_NAME) {
        return Step::Left {
            path: FILE_NAME.to_owned(),
            why: "it is there already",
        };
    }
    Step::Write {
        path: FILE_NAME,
        text: config::configuration(seen),
        then: None,
    }
}

fn job(recipe: &'static Recipe, seen: &Seen) -> Step {
    if let Some(path) = running_already(&seen.root, recipe) {
        let why = "it runs sluicegate already";
        return Step::Left { path, why };
    }
    let text = config::job(recipe.template, seen);
    let free = |path: &str| !is_there(&seen.root, path);
    match recipe.beside {
        _ if free(recipe.path) => Step::Write {
            path: recipe.path,
            text,
            then: None,
        },
        Some((path, then)) if free(path) => Step::Write {
            path,
            text,
            then: Some(then),
        },
        _ => Step::ByHand {
            path: recipe.path,
            text,
        },
    }
}

/// A link that leads nowhere is there too.
fn is_there(root: &Path, path: &str) -> bool {
    fs::symlink_metadata(root.join(path)).is_ok()
}

/// The host's file that names the program.
fn running_already(root: &Path, recipe: &Recipe) -> Option<String> {
    let beside = recipe.beside.map(|(path, _)| path);
    let mut paths: Vec<String> = [Some(recipe.sign), Some(recipe.path), beside]
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .collect();
    let folder = fs::read_dir(root.join(recipe.sign)).into_iter().flatten();
    let names = folder.take(FILES).flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.sort();
    paths.extend(names.into_iter().map(|name| format!("{}/{name}", recipe.sign)));
    paths.into_iter().find(|path| names_program(&root.join(path)))
}

fn names_program(path: &Path) -> bool {
    let content = read_on_disk(path, SIZE_LIMIT).ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(&content).contains(PROGRAM)
}
