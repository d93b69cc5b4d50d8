//! The repository, its settings and the CI host's context: what a command in a repository begins with.

use super::Run;
use crate::ci::{self, CiContext};
use crate::context::{self, Target, Wish};
use crate::error::Failure;
use crate::gate::{self, Scope, Selected};
use crate::git::{CommitId, Repository};
use crate::pipelines;
use crate::settings::{self, FILE_NAME, Global, Revisions, Selection, Sources};
use std::path::{Component, Path, PathBuf};

/// A repository with its settings and the host's context.
pub(crate) struct Workspace<'a> {
    pub(crate) repo: Repository,
    pub(crate) sources: Sources<'a>,
    pub(crate) global: Global,
    pub(crate) ci: CiContext,
}

impl Run {
    /// Opens the repository and reads what surrounds it.
    pub(crate) fn workspace(&self) -> Result<Workspace<'_>, Failure> {
        let repo = Repository::discover(&settings::repository_folder(&self.global, &self.env))?;
        let sources = Sources::load(&self.env, self.global.config.as_deref(), Some(repo.root()))?;
        let global = sources.global(&self.global)?;
        let ci = ci::detect(&self.env, global.ci).map_err(context::ContextError::from)?;
        Ok(Workspace {
            repo,
            sources,
            global,
            ci,
        })
    }

    /// The settings where no repository is needed; the file is read if there is a repository.
    pub(crate) fn sources(&self) -> Result<Sources<'_>, Failure> {
        let folder = settings::repository_folder(&self.global, &self.env);
        let repo = Repository::discover(&folder).ok();
        let root = repo.as_ref().map(Repository::root);
        Ok(Sources::load(&self.env, self.global.config.as_deref(), root)?)
    }
}

impl Workspace<'_> {
    /// The commit, branch and base that are meant; its warnings are shown.
    pub(crate) fn target(&self, run: &Run, wish: Revisions) -> Result<Target, Failure> {
        let wish = Wish {
            base: wish.base,
            head: wish.head,
            branch: wish.branch,
            all: wish.all,
        };
        let target = context::settle(&self.repo, &self.ci, &wish)?;
        for warning in &target.warnings {
            run.ui.warn(warning);
        }
        Ok(target)
    }

    /// The platform's hidden folder in `commit`: as set, else the one that holds its files.
    pub(crate) fn config_dir(&self, commit: &CommitId) -> Result<Option<String>, Failure> {
        if let Some(name) = &self.global.config_dir {
            return Ok(Some(name.clone()));
        }
        let folders = self.repo.root_folders(commit)?;
        let holds = |path: &str| matches!(self.repo.find_file(commit, path), Ok(Some(_)));
        let found = pipelines::config_folder(&folders, &holds);
        found.map_err(|error| {
            Failure::usage(error.to_string()).hint("name it by --config-dir or SLUICEGATE_CONFIG_DIR")
        })
    }

    /// The pipelines that are meant.
    pub(crate) fn select(
        &self,
        target: &Target,
        selection: &Selection,
        paths: &[String],
    ) -> Result<Selected, Failure> {
        let config_dir = self.config_dir(&target.head)?;
        let scope = Scope {
            repo: &self.repo,
            head: &target.head,
            base: target.base.as_ref(),
            base_source: &target.base_source,
            config_dir: config_dir.as_deref(),
            config_file: FILE_NAME,
            is_pipeline: &settings::is_pipeline,
            includes: &|path| selection.includes(path),
            excludes: &|path| selection.excludes(path),
            paths,
        };
        Ok(gate::select(&scope)?)
    }

    /// Paths as typed, from the current folder, as paths from the repository root; each must exist in the commit or
    /// in the base.
    pub(crate) fn paths(
        &self,
        run: &Run,
        typed: &[PathBuf],
        target: &Target,
    ) -> Result<Vec<String>, Failure> {
        typed
            .iter()
            .map(|path| self.path(run.env.current_dir(), path, target))
            .collect()
    }

    fn path(&self, from: &Path, typed: &Path, target: &Target) -> Result<String, Failure> {
        let Some(inside) = inside(self.repo.root(), from, typed) else {
            let root = self.repo.root().display();
            let message = format!("the path {} is outside the repository {root}", typed.display());
            return Err(Failure::usage(message));
        };
        let parts: Vec<&str> = inside.iter().filter_map(|part| part.to_str()).collect();
        let path = parts.join("/");
        let commits = [Some(&target.head), target.base.as_ref()];
        let exists = |commit: &CommitId| matches!(self.repo.has_path(commit, &path), Ok(true));
        if path.is_empty() || commits.into_iter().flatten().any(exists) {
            return Ok(path);
        }
        let message = format!(
            "the path {} is not in the commit {}",
            typed.display(),
            target.head.short()
        );
        Err(Failure::usage(message).hint("paths are relative to the current folder"))
    }
}

/// The part of `typed` below `root`, if it is below it; the current folder may be reached by a symbolic link.
fn inside(root: &Path, from: &Path, typed: &Path) -> Option<PathBuf> {
    let root = plain(root);
    let below = |from: &Path| {
        plain(&from.join(typed))
            .strip_prefix(&root)
            .map(Path::to_path_buf)
            .ok()
    };
    below(from).or_else(|| below(&from.canonicalize().ok()?))
}

/// The path without `.` and `..`, by its words alone, so that it may name a file that exists in a commit only.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
