//! The configured remotes, and the repositories that they fetch from.

use super::{GitError, RemoteUrl, Repository};
use git2::Remote;

impl Repository {
    /// Returns the URL of the first remote; `origin` comes first. It may contain credentials.
    pub fn find_remote_url(&self) -> Result<Option<String>, GitError> {
        let remotes = self.list_remotes()?;
        let name = remotes.first().and_then(|remote| remote.name().ok().flatten());
        Ok(name.and_then(|name| self.find_fetch_url(name)))
    }

    /// Returns the names of the remotes with the repository that each fetches from, `origin` first. A remote without a
    /// usable URL has no repository.
    pub fn list_remote_repositories(&self) -> Result<Vec<(String, Option<RemoteUrl>)>, GitError> {
        let remotes = self.list_remotes()?;
        Ok(remotes
            .iter()
            .filter_map(|remote| remote.name().ok().flatten())
            .map(|name| (name.to_owned(), self.find_remote_repository(name)))
            .collect())
    }

    /// Returns the repository that git contacts for this URL: `url.<base>.insteadOf` may replace a part of it
    /// (<https://git-scm.com/docs/git-config#Documentation/git-config.txt-urlltbasegtinsteadOf>).
    pub fn resolve_remote_url(&self, url: &str) -> Option<RemoteUrl> {
        RemoteUrl::parse(&self.resolve_url(url)?)
    }

    /// Returns the URL that git contacts for this URL.
    fn resolve_url(&self, url: &str) -> Option<String> {
        if let Some(new_url) = self.replace_url(url) {
            return Some(new_url);
        }
        // libgit2 applies the settings of the repository, and those of the user if no variable may change them.
        let remote = self.library.remote_anonymous(url).ok()?;
        remote.url().ok().map(str::to_owned)
    }

    /// Returns the repository that the remote fetches from.
    fn find_remote_repository(&self, name: &str) -> Option<RemoteUrl> {
        RemoteUrl::parse(&self.find_fetch_url(name)?)
    }

    /// Returns the URL that the remote fetches from. A remote may have several URLs; git fetches from the first.
    fn find_fetch_url(&self, name: &str) -> Option<String> {
        let config = self.library.config().ok()?;
        let mut entries = config.multivar(&format!("remote.{name}.url"), None).ok()?;
        let first_url = entries.next()?.ok()?.value().ok()?.to_owned();
        self.resolve_url(&first_url)
    }

    /// Returns the configured remotes, `origin` first.
    pub(super) fn list_remotes(&self) -> Result<Vec<Remote<'_>>, GitError> {
        let list_error = GitError::library("list the remotes");
        let name_list = self.library.remotes().map_err(&list_error)?;
        let mut names: Vec<&str> = name_list.iter().filter_map(|name| name.ok().flatten()).collect();
        names.sort_by_key(|name| (*name != "origin", *name));
        names
            .into_iter()
            .map(|name| self.library.find_remote(name).map_err(&list_error))
            .collect()
    }
}
