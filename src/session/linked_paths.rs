//! Rejects paths of outputs and inputs that lead through a symbolic link of the repository, because the change controls
//! such a link.

use crate::error::Failure;
use crate::job::policy;
use crate::job::settings::ReportDestinations;
use crate::session::Session;
use sluicegate_base::text::format_path;
use sluicegate_git::Repository;
use std::path::Path;

impl Session {
    /// Returns an error if a path leads through a symbolic link that git tracks: the change controls where such a link
    /// leads, and could redirect a file that the job writes.
    pub(crate) fn reject_linked_paths<'p>(
        &self,
        repo: &Repository,
        paths: impl Iterator<Item = &'p Path>,
    ) -> Result<(), Failure> {
        for path in paths {
            if let Some(link) = self.find_tracked_link(repo, path) {
                let message = format!(
                    "cannot write {}: `{link}` is a symbolic link in the repository, and the change controls \
                     its target",
                    format_path(path)
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

    /// Returns an error if a directory, or a file in it that may be replaced, is behind a symbolic link that git
    /// tracks.
    pub(crate) fn reject_repository_links_in(&self, dir: &Path) -> Result<(), Failure> {
        self.reject_repository_link(dir)?;
        // A directory that cannot be read is missing, or the write to it fails.
        for entry in dir.read_dir().into_iter().flatten().flatten() {
            self.reject_repository_link(&entry.path())?;
        }
        Ok(())
    }

    /// Returns an error in CI if an input path leads out of the repository through a symbolic link that git tracks: a
    /// message, or a request to the platform, could contain a file of the CI host.
    pub(crate) fn reject_link_out_of_repository(&self, path: &Path) -> Result<(), Failure> {
        let full_path = self.env.current_dir().join(path);
        if !self.host().is_local()
            && policy::contains_link(&full_path)
            && let Some(repo) = self.find_repository()?
            && policy::leaves_repository(&repo, &full_path)
            && let Some(link) = self.find_tracked_link(&repo, &full_path)
        {
            let message = format!(
                "could not read {}: the symbolic link `{link}` leads out of the repository",
                format_path(path)
            );
            return Err(
                Failure::usage(message).with_hint("pass a path without a symbolic link that git tracks")
            );
        }
        Ok(())
    }

    /// Returns an error in CI if the file that the job names leads to `path_in_repository` through a symbolic link that
    /// git tracks and that is not in `path_in_repository`: the change could select another file of the repository.
    /// Links in `path_in_repository` are followed in the revision that the file is read from.
    pub(crate) fn reject_link_to_repository_file(
        &self,
        repo: &Repository,
        file: &Path,
        path_in_repository: &str,
    ) -> Result<(), Failure> {
        if self.host().is_local() {
            return Ok(());
        }
        let followed_links = policy::find_links_in_path(repo.root(), &repo.root().join(path_in_repository));
        for link in policy::find_links_in_path(repo.root(), file) {
            if !followed_links.contains(&link) && self.tracks_part_of_path(repo, &link) {
                let message = format!(
                    "could not read {}: the change controls the symbolic link `{link}`",
                    file.display()
                );
                return Err(
                    Failure::usage(message).with_hint("pass a path without a symbolic link that git tracks")
                );
            }
        }
        Ok(())
    }

    /// Returns the first symbolic link of the repository in this path that git tracks, also in a submodule.
    fn find_tracked_link(&self, repo: &Repository, path: &Path) -> Option<String> {
        let full_path = self.env.current_dir().join(path);
        policy::find_links_in_path(repo.root(), &full_path)
            .into_iter()
            .find(|link| self.tracks_part_of_path(repo, link))
    }

    /// Returns whether git tracks the file, or a link or submodule in its path: then the change controls its content.
    /// Also looks up the paths to which links lead. The path is absolute, or relative to the current directory.
    pub(crate) fn is_tracked_path(&self, repo: &Repository, path: &Path) -> bool {
        let full_path = self.env.current_dir().join(path);
        policy::list_tracked_paths(repo.root(), &full_path)
            .iter()
            .chain(&policy::find_links_in_path(repo.root(), &full_path))
            .any(|path_in_repository| self.tracks_part_of_path(repo, path_in_repository))
    }

    /// Returns whether git tracks the path or a directory in it, which is then a submodule or a link. A path that git
    /// cannot look up may belong to the change, so it is treated as tracked.
    fn tracks_part_of_path(&self, repo: &Repository, path_in_repository: &str) -> bool {
        Path::new(path_in_repository)
            .ancestors()
            .filter_map(Path::to_str)
            .filter(|ancestor| !ancestor.is_empty())
            .any(|ancestor| {
                repo.is_tracked(ancestor, self.hook_index_path(repo))
                    .unwrap_or(true)
            })
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
