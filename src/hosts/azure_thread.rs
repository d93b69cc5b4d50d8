//! The thread on a pull request of Azure Repos, identified by the first line of its comment and updated in place.
//!
//! <https://learn.microsoft.com/rest/api/azure/devops/git/pull-request-threads>. Only threads of the token's own user
//! are updated, because anybody can write a comment with the same first line.

use super::{CommentChange, MissingResult};
use serde::Deserialize;
use serde_json::{Value, json};
use sluicegate_platform::http::{ErrorKind, HostClient, HttpError, Method, Repeat, Request, Url};

const API_VERSION: &str = "7.1";
/// The version of the resource that returns the user of the token.
const CONNECTION_API_VERSION: &str = "7.1-preview";

const HINT: &str = "map SYSTEM_ACCESSTOKEN: $(System.AccessToken) in the step's `env`, and give the build service the \
     permission \"Contribute to pull requests\" on the repository";

/// A pull request of Azure Repos.
pub(crate) struct AzurePullRequest {
    pub(crate) project: String,
    /// The id of the repository.
    pub(crate) repository: String,
    pub(crate) number: u64,
}

/// The part of the connection data that this program reads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConnectionData {
    authenticated_user: ConnectionUser,
}

/// The user of the token.
#[derive(Deserialize)]
struct ConnectionUser {
    id: String,
}

/// The comment of an earlier run.
struct ThreadComment {
    thread_id: u64,
    id: u64,
    content: String,
}

impl AzurePullRequest {
    /// Updates this program's existing comment to `body`, which starts with `marker`, by which the comment is found
    /// again. Without such a comment, posts `body` if `on_missing` is `Creation`. Deletes further comments that start
    /// with the marker, which simultaneous runs may have posted. An error about a permission gets a hint.
    pub(crate) async fn write_comment(
        &self,
        client: &HostClient,
        marker: &str,
        body: &str,
        on_missing: MissingResult,
    ) -> Result<CommentChange, HttpError> {
        let change = self.update_own_comment(client, marker, body, on_missing).await;
        change.map_err(|error| match error.kind() {
            ErrorKind::Forbidden | ErrorKind::NotFound | ErrorKind::Unauthorized => error.with_hint(HINT),
            _ => error,
        })
    }

    /// Updates this program's comment in the oldest thread, and deletes its other comments. If there is none, posts one
    /// in a closed thread, unless `on_missing` forbids it.
    async fn update_own_comment(
        &self,
        client: &HostClient,
        marker: &str,
        body: &str,
        on_missing: MissingResult,
    ) -> Result<CommentChange, HttpError> {
        let mut comments = self.list_own_comments(client, marker).await?.into_iter();
        let Some(kept_comment) = comments.next() else {
            if on_missing == MissingResult::Omission {
                return Ok(CommentChange::NotFound);
            }
            let thread = json!({
                "comments": [{ "parentCommentId": 0, "content": body, "commentType": "text" }],
                // A branch policy can require that no thread is open before the merge:
                // <https://learn.microsoft.com/azure/devops/repos/git/branch-policies>.
                "status": "closed",
            });
            // A repeated POST could create a second thread.
            let post = Request::new(
                Method::POST,
                self.threads_url(client, &[])?,
                Repeat::OnlyIfUnprocessed,
            );
            client
                .send(&post.query("api-version", API_VERSION).json(&thread))
                .await?;
            return Ok(CommentChange::Posted);
        };
        for duplicate in comments {
            self.delete_comment(client, &duplicate).await?;
        }
        if kept_comment.content.trim_end() == body.trim_end() {
            return Ok(CommentChange::Unchanged);
        }
        let update = self.build_comment_request(client, Method::PATCH, &kept_comment)?;
        client.send(&update.json(&json!({ "content": body }))).await?;
        Ok(CommentChange::Updated)
    }

    /// Deletes a comment, unless another job of the change has deleted it. A thread without comments is not shown.
    async fn delete_comment(&self, client: &HostClient, comment: &ThreadComment) -> Result<(), HttpError> {
        let delete = self.build_comment_request(client, Method::DELETE, comment)?;
        match client.send(&delete).await {
            Err(error) if error.status() != Some(404) => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns a request for an existing comment.
    fn build_comment_request(
        &self,
        client: &HostClient,
        method: Method,
        comment: &ThreadComment,
    ) -> Result<Request, HttpError> {
        let (thread_id, id) = (comment.thread_id.to_string(), comment.id.to_string());
        let url = self.threads_url(client, &[&thread_id, "comments", &id])?;
        Ok(Request::new(method, url, Repeat::Safe).query("api-version", API_VERSION))
    }

    /// Returns this program's comments, that in the oldest thread first. Each begins a thread, starts with the marker,
    /// and is by the token's user.
    async fn list_own_comments(
        &self,
        client: &HostClient,
        marker: &str,
    ) -> Result<Vec<ThreadComment>, HttpError> {
        let user_request = Request::get(client.url(&["_apis", "connectionData"])?)
            .query("api-version", CONNECTION_API_VERSION);
        let connection: ConnectionData = client.send(&user_request).await?.json()?;
        let user_id = connection.authenticated_user.id;
        let list = Request::get(self.threads_url(client, &[])?).query("api-version", API_VERSION);
        let response: Value = client.send(&list).await?.json()?;
        let threads = response["value"].as_array().into_iter().flatten();
        let mut own_comments: Vec<ThreadComment> = threads
            .filter_map(|thread| parse_own_comment(thread, marker, &user_id))
            .collect();
        own_comments.sort_by_key(|comment| comment.thread_id);
        Ok(own_comments)
    }

    /// Returns the URL of the pull request's threads, or of the resource at `path` below it.
    fn threads_url(&self, client: &HostClient, path: &[&str]) -> Result<Url, HttpError> {
        let number = self.number.to_string();
        let mut segments = vec![
            self.project.as_str(),
            "_apis",
            "git",
            "repositories",
            &self.repository,
            "pullRequests",
            &number,
            "threads",
        ];
        segments.extend(path);
        client.url(&segments)
    }
}

/// Parses the first comment of a thread. Returns `None` unless it starts with the marker and is by the token's user, or
/// if it was deleted.
fn parse_own_comment(thread: &Value, marker: &str, user_id: &str) -> Option<ThreadComment> {
    let comment = thread["comments"].get(0)?;
    let content = comment["content"].as_str()?;
    let is_own = comment["author"]["id"] == *user_id;
    let is_deleted = thread["isDeleted"] == true || comment["isDeleted"] == true;
    let is_marked = content.lines().next() == Some(marker);
    if !is_own || !is_marked || is_deleted {
        return None;
    }
    Some(ThreadComment {
        thread_id: thread["id"].as_u64()?,
        id: comment["id"].as_u64()?,
        content: content.to_owned(),
    })
}
