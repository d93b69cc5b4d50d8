//! Refuses files of the gate configuration whose changes on disk are hidden by git's index.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::context::PolicyRevision;
use crate::job::policy::{self, CheckoutFiles};
use crate::session::Session;
use crate::workspace::Workspace;
use sluicegate_base::text::format_path;
use sluicegate_git::is_missing;
use sluicegate_pipelines::waivers;

impl Workspace<'_> {
    /// Fails if a local run reads a file of the gate configuration from disk, but git's index hides the file's changes:
    /// they would decide the result, and git would neither show nor commit them.
    pub(crate) fn reject_hidden_gate_files(&self, session: &Session) -> Result<(), Failure> {
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
        let root = self.repo.root();
        let mut paths = Vec::new();
        for source in sources.into_iter().flatten() {
            let file = root.join(source);
            paths.extend(policy::find_links_in_path(root, &file));
            paths.extend(policy::list_tracked_paths(root, &file));
        }
        // A sparse checkout marks files that are not on disk.
        paths.retain(|path| !is_missing(&root.join(path)));
        let Some(path) = self.find_hidden_path(session, &paths) else {
            return Ok(());
        };
        let message = format!(
            "could not evaluate {}: git's index tells git to ignore the file on disk (skip-worktree or \
             assume-unchanged), so its changes would never be committed",
            format_path(&root.join(path))
        );
        Err(Failure::new(ExitStatus::Undecided, anyhow::anyhow!(message)).with_hint(
            "run `git update-index --no-skip-worktree FILE` and `git update-index --no-assume-unchanged FILE`",
        ))
    }

    /// Returns the first of these paths whose changes on disk are hidden by the index. If the index cannot be read, no
    /// path is known to be hidden: a run that needs the index fails where it reads the index.
    fn find_hidden_path<'p>(&self, session: &Session, paths: &'p [String]) -> Option<&'p String> {
        let compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let index_path = session.hook_index_path(&self.repo);
        let hidden_paths = self
            .repo
            .list_hidden_paths(&compared_paths, index_path)
            .unwrap_or_default();
        paths.iter().find(|path| hidden_paths.contains(*path))
    }
}
