//! The comments on a pull request or merge request in each host's API: their addresses, bodies and permissions.

use serde_json::{Value, json};
use sluicegate_platform::http::{ErrorKind, HostClient, HttpError, Method, Url};

const AZURE_API_VERSION: &str = "7.1";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Thread {
    GitHub {
        owner: String,
        repository: String,
        number: u64,
    },
    GitLab {
        project: String,
        /// Number of the merge request in its project.
        number: u64,
    },
    /// A pull request of Azure Repos, where each comment of this program begins a thread of its own:
    /// <https://learn.microsoft.com/rest/api/azure/devops/git/pull-request-threads>.
    Azure {
        project: String,
        /// The id of the repository.
        repository: String,
        number: u64,
    },
}

/// The comment of an earlier run.
pub(super) struct OwnComment {
    /// The number of the comment or, on Azure Repos, of its thread: an older comment has a lower one.
    pub(super) id: u64,
    pub(super) url: Url,
    pub(super) body: String,
}

impl Thread {
    /// Returns the URL of the list of comments, or of the list of threads on Azure Repos.
    pub(super) fn comments_url(&self, client: &HostClient) -> Result<Url, HttpError> {
        match self {
            Self::GitHub {
                owner,
                repository,
                number,
            } => client.url(&[
                "repos",
                owner,
                repository,
                "issues",
                &number.to_string(),
                "comments",
            ]),
            Self::GitLab { project, number } => client.url(&[
                "projects",
                project,
                "merge_requests",
                &number.to_string(),
                "notes",
            ]),
            Self::Azure {
                project,
                repository,
                number,
            } => {
                let number = number.to_string();
                let mut url = client.url(&[
                    project,
                    "_apis",
                    "git",
                    "repositories",
                    repository,
                    "pullRequests",
                    &number,
                    "threads",
                ])?;
                url.query_pairs_mut()
                    .append_pair("api-version", AZURE_API_VERSION);
                Ok(url)
            }
        }
    }

    /// Returns the URL of the comment at this path: its id or, on Azure Repos, its path below the threads.
    pub(super) fn comment_url(&self, client: &HostClient, path: &[&str]) -> Result<Url, HttpError> {
        if let Self::GitHub {
            owner, repository, ..
        } = self
        {
            return client.url(&[&["repos", owner, repository, "issues", "comments"], path].concat());
        }
        let mut url = self.comments_url(client)?;
        // Only URLs without a host have no segments.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(path);
        }
        Ok(url)
    }

    /// Returns the HTTP method that updates a comment on this host.
    pub(super) const fn update_method(&self) -> Method {
        match self {
            Self::GitHub { .. } | Self::Azure { .. } => Method::PATCH,
            Self::GitLab { .. } => Method::PUT,
        }
    }

    /// Returns the content of the request that updates a comment.
    pub(super) fn build_update(&self, body: &str) -> Value {
        match self {
            Self::GitHub { .. } | Self::GitLab { .. } => json!({ "body": body }),
            Self::Azure { .. } => json!({ "content": body }),
        }
    }

    /// Returns the content of the request that posts a comment. On Azure Repos, its thread is closed, because a branch
    /// policy can require that no thread is open before the merge:
    /// <https://learn.microsoft.com/azure/devops/repos/git/branch-policies>.
    pub(super) fn build_creation(&self, body: &str) -> Value {
        match self {
            Self::GitHub { .. } | Self::GitLab { .. } => json!({ "body": body }),
            Self::Azure { .. } => json!({
                "comments": [{ "parentCommentId": 0, "content": body, "commentType": "text" }],
                "status": "closed",
            }),
        }
    }

    /// Adds the hint for a token that may not comment. A token that may not see a private project gets 404.
    pub(super) fn add_hint(&self, error: HttpError) -> HttpError {
        let hint = match (self, error.kind()) {
            (Self::GitHub { .. }, ErrorKind::Forbidden | ErrorKind::NotFound) => {
                "give the job that comments the permission `pull-requests: write`; a pull request from a fork gets a \
                 read-only token"
            }
            (Self::GitLab { .. }, ErrorKind::Forbidden | ErrorKind::NotFound) => {
                "use a project access token with the scope `api` and at least the role Reporter as GITLAB_TOKEN"
            }
            (Self::GitHub { .. }, ErrorKind::Unauthorized) => {
                "check GITHUB_TOKEN: it may have expired, or belong to another server"
            }
            (Self::GitLab { .. }, ErrorKind::Unauthorized) => {
                "check GITLAB_TOKEN: it may have expired or been revoked, or belong to another server"
            }
            (Self::Azure { .. }, ErrorKind::Forbidden | ErrorKind::NotFound | ErrorKind::Unauthorized) => {
                "map SYSTEM_ACCESSTOKEN: $(System.AccessToken) in the step's `env`, and give the build service the \
                 permission \"Contribute to pull requests\" on the repository"
            }
            _ => return error,
        };
        error.with_hint(hint)
    }
}
