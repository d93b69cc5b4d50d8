//! Where a job may write: to any path that it names, but not through a link that the change brought.

use crate::base::error::Failure;
use crate::base::git::Repository;
use crate::commands::Run;
use crate::job::policy;
use crate::job::settings::Destinations;
use std::path::Path;

impl Run {
    /// Fails if one of these paths leads through a symbolic link that git tracks: the change decides where such a link leads.
    pub(crate) fn refuse_links<'p>(
        &self,
        repo: &Repository,
        paths: impl Iterator<Item = &'p Path>,
    ) -> Result<(), Failure> {
        for path in paths {
            let full = self.env.current_dir().join(path);
            let mut links = policy::links_on_the_way(repo.root(), &full).into_iter();
            // What git cannot tell may be the change's.
            let is_tracked = |link: &String| repo.tracks(link, self.index()).unwrap_or(true);
            if let Some(link) = links.find(is_tracked) {
                let message = format!(
                    "{} is not written: `{link}` on its way is a link of the repository, and the change decides where it leads",
                    path.display()
                );
                return Err(Failure::usage(message).hint("name a path without a link that git tracks"));
            }
        }
        Ok(())
    }

    /// The same for the reports of a review.
    pub(crate) fn refuse_linked_reports(&self, repo: &Repository, to: &Destinations) -> Result<(), Failure> {
        let paths = to.reports.iter().filter_map(|report| report.path.as_deref());
        self.refuse_links(repo, paths)
    }
}
