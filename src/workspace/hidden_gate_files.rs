//! Refuses files of the gate configuration whose changes on disk are hidden by git's index.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::context::PolicyRevision;
use crate::job::policy::{self, CheckoutFiles};
use crate::workspace::Workspace;
use sluicegate_base::text::format_path;
use sluicegate_git::{GitError, Snapshot, is_missing};
use sluicegate_pipelines::waivers;

impl Workspace<'_> {
    /// Fails if a local run reads a file of the gate configuration from disk, but git's index hides the file's changes:
    /// they would decide the verdict, and git would neither show nor commit them.
    pub(crate) fn reject_hidden_gate_files(&self, snapshot: &Snapshot<'_>) -> Result<(), Failure> {
        let is_read_from_disk = self.ci.host.is_local()
            && self.local_files == CheckoutFiles::OnDisk
            && matches!(self.policy_revision, PolicyRevision::Head { .. });
        if !is_read_from_disk {
            return Ok(());
        }
        let sources = [
            self.config_file.as_deref(),
            Some(waivers::FILE_NAME),
            self.team_rules_path.as_deref(),
        ];
        let mut paths = Vec::new();
        for source in sources.into_iter().flatten() {
            paths.extend(policy::follow_links(&self.repo, snapshot, source)?.paths);
        }
        let Some(path) = self.find_hidden_path(snapshot, &paths)? else {
            return Ok(());
        };
        let message = format!(
            "could not evaluate {}: git's index tells git to ignore the file on disk (skip-worktree or \
             assume-unchanged), so its changes would never be committed",
            format_path(&self.repo.root().join(path))
        );
        Err(Failure::new(ExitStatus::Undecided, anyhow::anyhow!(message)).with_hint(
            "run `git update-index --no-skip-worktree FILE` and `git update-index --no-assume-unchanged FILE`",
        ))
    }

    /// Returns the first of these paths whose changes on disk are hidden by the index. A snapshot of the files on disk
    /// shows it. For a commit, the index is read; if it cannot be read, nothing is known to be hidden, because such a
    /// run does not need the index.
    fn find_hidden_path<'p>(
        &self,
        snapshot: &Snapshot<'_>,
        paths: &'p [String],
    ) -> Result<Option<&'p String>, GitError> {
        if snapshot.commit().is_some() {
            let compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let hidden_paths = self
                .repo
                .list_hidden_paths(&compared_paths, None)
                .unwrap_or_default();
            let is_on_disk = |path: &String| !is_missing(&self.repo.root().join(path));
            return Ok(paths
                .iter()
                .find(|path| hidden_paths.contains(*path) && is_on_disk(path)));
        }
        for path in paths {
            let file = snapshot.find_file(path)?;
            if file.is_some_and(|file| file.is_hidden_on_disk()) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}
