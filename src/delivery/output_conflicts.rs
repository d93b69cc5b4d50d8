//! Destinations that a run must not write: files that it reads, and files of the project.

use crate::error::Failure;
use crate::job::policy;
use crate::job::settings;
use crate::session::Session;
use sluicegate_base::text::format_path;
use sluicegate_pipelines::pipelines::{GATE_FILES, SHARED_PIPELINES_FILE, is_pipeline};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// The files and directories in a git directory that git itself uses, in addition to those whose names end with `HEAD`.
const GIT_NAMES: [&str; 14] = [
    "config",
    "config.worktree",
    "description",
    "hooks",
    "index",
    "info",
    "logs",
    "modules",
    "objects",
    "packed-refs",
    "refs",
    "rr-cache",
    "shallow",
    "worktrees",
];

/// Returns whether the path is that of an existing pipeline, shared-pipelines file, SQL or Python script. No run writes
/// such a file, so it is never the result of an earlier run.
fn is_project_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_script = path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("sql") || extension.eq_ignore_ascii_case("py")
    });
    (is_script || is_pipeline(&name) || name == SHARED_PIPELINES_FILE) && path.is_file()
}

/// Returns whether the path is that of an existing file that has the name of a gate configuration file.
fn is_gate_file(path: &Path) -> bool {
    GATE_FILES.iter().any(|name| path.ends_with(name)) && path.is_file()
}

/// Returns whether git itself reads or writes the path. A hook may write its own files to the git directory.
fn is_file_of_git(path: &Path) -> bool {
    let mut parts = path
        .iter()
        .skip_while(|part| !policy::is_in_git_dir(Path::new(part)))
        .skip(1);
    parts.next().is_some_and(|part| {
        let name = part.to_string_lossy();
        name.ends_with("HEAD")
            || GIT_NAMES
                .iter()
                .any(|git_name| name.eq_ignore_ascii_case(git_name))
    })
}

/// Returns whether the paths are equal, or refer to the same existing file.
pub(crate) fn is_same_file(path: &Path, other_path: &Path) -> bool {
    path == other_path
        || matches!((path.canonicalize(), other_path.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Rejects paths that a command must not write.
pub(crate) struct OutputGuard<'g> {
    session: &'g Session,
    /// The files that only this command reads.
    inputs: &'g [PathBuf],
    /// The files that the job or the configuration file names as part of the gate configuration, so that they may have
    /// any name. They are found once for all paths, and only if a path exists.
    named_gate_files: OnceCell<Vec<PathBuf>>,
}

impl Session {
    /// Creates the guard of the paths that a command writes. `inputs` are the files that only this command reads.
    pub(crate) const fn guard_outputs<'g>(&'g self, inputs: &'g [PathBuf]) -> OutputGuard<'g> {
        OutputGuard {
            session: self,
            inputs,
            named_gate_files: OnceCell::new(),
        }
    }

    /// Returns the files that the job or the configuration file names as part of the gate configuration. The command
    /// itself reports settings that cannot be read.
    fn list_named_gate_files(&self) -> Vec<PathBuf> {
        let config_file = settings::requested_config_file(&self.global, &self.env);
        let mut files: Vec<PathBuf> = config_file.into_iter().collect();
        if let Ok(Some(repo)) = self.find_repository()
            && let Ok(sources) = self.read_setting_sources()
            && let Ok(Some(team_rules_path)) = sources.resolve_team_rules_path(&self.global, None)
        {
            files.push(repo.root().join(team_rules_path));
        }
        files
    }
}

impl OutputGuard<'_> {
    /// Returns an error for an output path other than that of `--out` if [`Self::reject_protected_output`] does, or if
    /// `--out` names the same file, because one of the two would overwrite the other.
    pub(crate) fn reject_output_path(&self, path: &Path) -> Result<(), Failure> {
        self.reject_protected_output(path)?;
        match &self.session.global.out {
            Some(result_path) if is_same_file(&self.session.env.current_dir().join(result_path), path) => {
                let message = format!(
                    "--out and another output cannot both be written to {}",
                    format_path(path)
                );
                Err(Failure::usage(message).with_hint("write to another path"))
            }
            _ => Ok(()),
        }
    }

    /// Returns an error if this output path is that of an existing file of the project, of the gate configuration, or
    /// of an input of the command, if git itself uses the path, or if a symbolic link that git tracks is in the path.
    pub(crate) fn reject_protected_output(&self, path: &Path) -> Result<(), Failure> {
        self.session.reject_repository_link(path)?;
        // A link leads to the file that would be replaced.
        let target = policy::resolve_links(path).unwrap_or_else(|| path.to_owned());
        let reason = if is_project_file(path) || is_project_file(&target) {
            "this is an existing pipeline, script or shared pipelines file"
        } else if is_file_of_git(&target) {
            "git itself uses this path"
        } else if is_gate_file(path) || is_gate_file(&target) || self.is_named_gate_file(path) {
            "this is an existing file of the gate configuration"
        } else if self.inputs.iter().any(|input| is_same_file(input, path)) {
            "the command reads this file"
        } else {
            return Ok(());
        };
        let message = format!("cannot write {}: {reason}", format_path(path));
        Err(Failure::usage(message).with_hint("write to another path"))
    }

    /// Returns whether the path is that of an existing file that the job or the configuration file names.
    fn is_named_gate_file(&self, path: &Path) -> bool {
        path.is_file() && {
            let files = self
                .named_gate_files
                .get_or_init(|| self.session.list_named_gate_files());
            files.iter().any(|file| is_same_file(file, path))
        }
    }
}
