//! Rejects output paths that lead through a symbolic link of the repository, because the change controls such a link.

use crate::error::Failure;
use crate::job::policy;
use crate::job::settings::ReportDestinations;
use crate::session::Run;
use sluicegate_git::Repository;
use std::path::Path;

impl Run {
    /// Returns an error if a path leads through a symbolic link that git tracks: the change controls where such a link
    /// leads, and could redirect a file that the job writes.
    pub(crate) fn reject_linked_paths<'p>(
        &self,
        repo: &Repository,
        paths: impl Iterator<Item = &'p Path>,
    ) -> Result<(), Failure> {
        for path in paths {
            let full_path = self.env.current_dir().join(path);
            // A link that git cannot look up may belong to the change.
            let tracked_link = policy::find_links_in_path(repo.root(), &full_path)
                .into_iter()
                .find(|link| repo.is_tracked(link, self.hook_index_path()).unwrap_or(true));
            if let Some(link) = tracked_link {
                let message = format!(
                    "cannot write {}: `{link}` is a symbolic link in the repository, and the change controls \
                     its target",
                    path.display()
                );
                return Err(
                    Failure::usage(message).with_hint("use a path without a symbolic link that git tracks")
                );
            }
        }
        Ok(())
    }

    /// Returns an error if an output path, whose command may need no repository, leads through a symbolic link that git
    /// tracks.
    pub(crate) fn reject_repository_link(&self, path: &Path) -> Result<(), Failure> {
        // Most paths contain no link, so that the repository is rarely opened.
        if policy::contains_link(path)
            && let Some(repo) = self.find_repository()?
        {
            self.reject_linked_paths(&repo, std::iter::once(path))?;
        }
        Ok(())
    }

    /// Returns an error if the path of a report or a statement leads through a symbolic link that git tracks.
    pub(crate) fn reject_linked_reports(
        &self,
        repo: &Repository,
        destinations: &ReportDestinations,
    ) -> Result<(), Failure> {
        let paths = destinations
            .reports
            .iter()
            .filter_map(|report| report.path.as_deref())
            .chain(destinations.attestation.list_paths());
        self.reject_linked_paths(repo, paths)
    }
}
