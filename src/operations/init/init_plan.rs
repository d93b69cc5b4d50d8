//! Plans the files to write, the files to keep, and the edits that the user must make.

use super::file_templates;
use super::host_recipes::{HostRecipe, read_ci_file};
use super::repository_facts::RepositoryFacts;
use crate::job::settings::FILE_NAME;
use sluicegate_pipelines::waivers;
use std::fs;
use std::path::Path;

/// The action that signs statements on GitHub.
const SIGNING_ACTION: &str = "actions/attest@";

pub(crate) enum FileStep {
    /// Write the file; `inclusion_hint` says how to include it, if the host does not find it.
    Write {
        path: String,
        text: String,
        inclusion_hint: Option<&'static str>,
    },
    /// Keep the file. It may still have to be included.
    Keep {
        path: String,
        reason: &'static str,
        inclusion_hint: Option<&'static str>,
    },
    /// The file exists and needs an addition by the user.
    EditByHand { path: &'static str, text: String },
}

/// The files, in the order of the output.
pub(crate) struct InitPlan {
    gate_files: Vec<FileStep>,
    job: Option<FileStep>,
    /// The text of an existing job, which is kept.
    kept_job: Option<String>,
}

impl InitPlan {
    /// Plans which files to write or keep: `sluicegate.yaml`, the rules file and the waivers file if `--adopt` requests
    /// them, and the CI job.
    pub(crate) fn from_facts(facts: &RepositoryFacts) -> Self {
        let findings = &facts.findings;
        let rules = findings.rules_file.clone();
        let waivers = findings
            .waivers_file
            .clone()
            .map(|text| (waivers::FILE_NAME.to_owned(), text));
        let new_gate_files = rules
            .into_iter()
            .chain(waivers)
            .map(|(path, text)| plan_gate_file(facts, path, text));
        let config_file = plan_gate_file(
            facts,
            FILE_NAME.to_owned(),
            file_templates::render_config_file(facts),
        );
        let job = facts.recipe.map(|recipe| plan_job(recipe, facts));
        let kept_job = match &job {
            Some(FileStep::Keep { path, .. }) => Some(read_ci_file(&facts.root.join(path))),
            _ => None,
        };
        Self {
            gate_files: std::iter::once(config_file).chain(new_gate_files).collect(),
            job,
            kept_job,
        }
    }

    /// Returns the steps for all files: first the gate configuration, then the job.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &FileStep> {
        self.gate_files.iter().chain(&self.job)
    }

    /// Returns the paths of the files that this run writes.
    pub(crate) fn list_written_paths(&self) -> impl Iterator<Item = &str> {
        self.steps().filter_map(|step| match step {
            FileStep::Write { path, .. } => Some(path.as_str()),
            FileStep::Keep { .. } | FileStep::EditByHand { .. } => None,
        })
    }

    /// Returns whether this run writes the file of the gate configuration with this path. If not, an existing file is
    /// kept.
    pub(crate) fn has_write_step(&self, file: &str) -> bool {
        self.gate_files
            .iter()
            .any(|step| matches!(step, FileStep::Write { path, .. } if path == file))
    }

    /// Returns whether this run writes a file, which the user has to commit.
    pub(crate) fn writes_files(&self) -> bool {
        self.steps().any(|step| matches!(step, FileStep::Write { .. }))
    }

    /// Returns whether there is a job whose secrets the user has to set. The secrets of a kept job may be set already.
    pub(crate) fn has_new_job(&self) -> bool {
        self.job.is_some() && self.kept_job.is_none()
    }

    /// Returns the text of the CI job that is written or kept, or that the user has to add. `None` if no job is wanted.
    pub(crate) fn job_text(&self) -> Option<&str> {
        match self.job.as_ref()? {
            FileStep::Write { text, .. } | FileStep::EditByHand { text, .. } => Some(text),
            FileStep::Keep { .. } => self.kept_job.as_deref(),
        }
    }

    /// Returns the instruction to include the job in the host's main file. `None` if the host finds the job itself.
    pub(crate) fn inclusion_hint(&self) -> Option<&'static str> {
        match self.job.as_ref()? {
            FileStep::Write { inclusion_hint, .. } | FileStep::Keep { inclusion_hint, .. } => *inclusion_hint,
            FileStep::EditByHand { .. } => None,
        }
    }
}

/// Plans to write a file of the gate configuration, or to keep it if it exists.
fn plan_gate_file(facts: &RepositoryFacts, path: String, text: String) -> FileStep {
    if path_exists(&facts.root, &path) {
        let reason = "the file already exists";
        return FileStep::Keep {
            path,
            reason,
            inclusion_hint: None,
        };
    }
    FileStep::Write {
        path,
        text,
        inclusion_hint: None,
    }
}

/// Plans the file of the CI job. A file that already runs this program is kept. If the usual path is taken, uses the
/// host's alternative path, otherwise the user has to edit the file.
fn plan_job(recipe: &'static HostRecipe, facts: &RepositoryFacts) -> FileStep {
    if let Some(path) = recipe.find_ci_file_of_program(&facts.root) {
        let kept_text = read_ci_file(&facts.root.join(&path));
        let has_source = facts
            .source
            .as_ref()
            .is_none_or(|source| kept_text.contains(source));
        let reason = if !has_source {
            "the file already runs sluicegate; --source does not change it, so edit the source in the file"
        } else if facts.is_signed && !kept_text.contains(SIGNING_ACTION) {
            "the file already runs sluicegate; --sign does not change it, so add the signing steps yourself"
        } else {
            "the file already runs sluicegate"
        };
        let is_alternative = recipe
            .alternative
            .is_some_and(|(alternative, _)| alternative == path);
        return FileStep::Keep {
            path,
            reason,
            inclusion_hint: recipe.find_inclusion_hint(&facts.root).filter(|_| is_alternative),
        };
    }
    let signed_template = recipe.signed_template.filter(|_| facts.is_signed);
    let text = file_templates::render_job(signed_template.unwrap_or(recipe.template), facts);
    if !path_exists(&facts.root, recipe.path) {
        return FileStep::Write {
            path: recipe.path.to_owned(),
            text,
            inclusion_hint: None,
        };
    }
    match recipe.alternative {
        Some((path, _)) if !path_exists(&facts.root, path) => FileStep::Write {
            path: path.to_owned(),
            text,
            inclusion_hint: recipe.find_inclusion_hint(&facts.root),
        },
        _ => FileStep::EditByHand {
            path: recipe.path,
            text,
        },
    }
}

/// Returns whether the path exists. A broken symbolic link exists, too, because no file can be created there.
fn path_exists(root: &Path, path: &str) -> bool {
    fs::symlink_metadata(root.join(path)).is_ok()
}
