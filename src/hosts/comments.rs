//! One comment on a pull request or merge request, identified by its first line and updated in place.
//!
//! Anybody can write a comment with the same first line, and other programs of the project may do so with their bots.
//! Therefore only comments by the author of the token are updated. An app's token may not query its user, so it queries
//! its viewer; a token that may query neither is assumed to be the job's own, whose author is known. If a token of
//! GitLab may not query its user, the response to a new comment names the author.

use super::comment_thread::{OwnComment, Thread};
use super::{MissingResult, azure_thread};
use serde::Deserialize;
use serde_json::{Value, json};
use sluicegate_platform::http::{HostClient, HttpError, Method, Repeat, Request, Response};

/// Comments per page, the maximum of GitHub and GitLab.
const COMMENTS_PER_PAGE: usize = 100;

/// Maximum number of pages that are searched.
const MAX_PAGES: usize = 100;

/// Author of comments with a job's own token: <https://docs.github.com/actions/concepts/security/github_token>.
const JOB_BOT_LOGIN: &str = "github-actions[bot]";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommentChange {
    /// The comment was posted, because there was no comment of an earlier run.
    Posted,
    Updated,
    /// The comment of an earlier run already has the same text.
    Unchanged,
    /// There is no comment of an earlier run, and none was posted.
    NotFound,
}

enum CommentAuthor {
    /// The user with this id.
    User(u64),
    /// The bot of a job's own token.
    JobBot,
}

/// The part of a user that this program reads.
#[derive(Deserialize)]
struct User {
    id: u64,
}

/// The response of GitLab to the creation of a note.
#[derive(Deserialize)]
struct PostedNote {
    id: u64,
    author: User,
}

/// Updates this program's existing comment that starts with `marker` to `body`, which starts with the marker, too.
/// Without such a comment, posts `body` if `on_missing` is `Creation`. Deletes further comments that start with the
/// marker, which simultaneous runs may have posted. An error about access gets a hint for the host.
pub(crate) async fn write_comment(
    client: &HostClient,
    thread: &Thread,
    marker: &str,
    body: &str,
    on_missing: MissingResult,
) -> Result<CommentChange, HttpError> {
    update_own_comment(client, thread, marker, body, on_missing)
        .await
        .map_err(|error| thread.add_hint(error))
}

/// Updates this program's first comment on the change, and deletes its other comments there, which concurrent jobs may
/// have posted. Without a comment, posts one if `on_missing` is `Creation`. If the author of the token is unknown, only
/// a new comment shows which comments are this program's own, so none is updated without one.
async fn update_own_comment(
    client: &HostClient,
    thread: &Thread,
    marker: &str,
    body: &str,
    on_missing: MissingResult,
) -> Result<CommentChange, HttpError> {
    let Some(own_comments) = list_own_comments(client, thread, marker).await? else {
        return match on_missing {
            MissingResult::Creation => replace_own_notes(client, thread, marker, body).await,
            MissingResult::Omission => Ok(CommentChange::NotFound),
        };
    };
    let mut comments = own_comments.into_iter();
    let Some(kept_comment) = comments.next() else {
        if on_missing == MissingResult::Omission {
            return Ok(CommentChange::NotFound);
        }
        post_comment(client, thread, body).await?;
        return Ok(CommentChange::Posted);
    };
    for duplicate in comments {
        delete_comment(client, duplicate).await?;
    }
    if kept_comment.body.trim_end() == body.trim_end() {
        return Ok(CommentChange::Unchanged);
    }
    let update = Request::new(thread.update_method(), kept_comment.url, Repeat::Safe);
    client.send(&update.json(&thread.build_update(body))).await?;
    Ok(CommentChange::Updated)
}

/// Returns this program's comments on the change, the oldest first; `None` if the author of the token is unknown.
async fn list_own_comments(
    client: &HostClient,
    thread: &Thread,
    marker: &str,
) -> Result<Option<Vec<OwnComment>>, HttpError> {
    if let Thread::Azure { .. } = thread {
        return azure_thread::list_own_threads(client, thread, marker)
            .await
            .map(Some);
    }
    match fetch_comment_author(client, thread).await? {
        Some(author) => list_comments(client, thread, marker, &author).await.map(Some),
        None => Ok(None),
    }
}

/// Posts a note on GitLab, and deletes the notes of earlier runs: those that begin with the marker and are by the
/// author that the response names. Used if the token may not query its user.
async fn replace_own_notes(
    client: &HostClient,
    thread: &Thread,
    marker: &str,
    body: &str,
) -> Result<CommentChange, HttpError> {
    let note: PostedNote = post_comment(client, thread, body).await?.json()?;
    let author = CommentAuthor::User(note.author.id);
    for earlier_note in list_comments(client, thread, marker, &author).await? {
        if earlier_note.id < note.id {
            delete_comment(client, earlier_note).await?;
        }
    }
    Ok(CommentChange::Posted)
}

async fn post_comment(client: &HostClient, thread: &Thread, body: &str) -> Result<Response, HttpError> {
    // A repeated POST could create a second comment.
    let post = Request::new(
        Method::POST,
        thread.comments_url(client)?,
        Repeat::OnlyIfUnprocessed,
    );
    client.send(&post.json(&thread.build_creation(body))).await
}

/// Deletes a comment, unless another job of the change has deleted it. A thread without comments is not shown.
async fn delete_comment(client: &HostClient, comment: OwnComment) -> Result<(), HttpError> {
    let delete = Request::new(Method::DELETE, comment.url, Repeat::Safe);
    match client.send(&delete).await {
        Err(error) if error.status() != Some(404) => Err(error),
        _ => Ok(()),
    }
}

/// Requests the author of comments that are posted with this token. If the host rejects the request with status 403,
/// GitHub is queried for the viewer instead, and on GitLab the author is unknown (`None`).
async fn fetch_comment_author(
    client: &HostClient,
    thread: &Thread,
) -> Result<Option<CommentAuthor>, HttpError> {
    match client.send(&Request::get(client.url(&["user"])?)).await {
        Ok(response) => Ok(Some(CommentAuthor::User(response.json::<User>()?.id))),
        Err(error) if error.status() == Some(403) => match thread {
            Thread::GitHub { .. } => query_comment_author(client).await.map(Some),
            Thread::GitLab { .. } | Thread::Azure { .. } => Ok(None),
        },
        Err(error) => Err(error),
    }
}

/// Returns the author of the comments that the token posts. Queries the viewer, because the tokens of apps and jobs may
/// not query a user: <https://docs.github.com/graphql/reference/queries#user>. If the host rejects this query, too
/// (status 403 or 404), or responds without an id, the token is assumed to be the job's own.
async fn query_comment_author(client: &HostClient) -> Result<CommentAuthor, HttpError> {
    let mut url = client.url(&["graphql"])?;
    // A self-hosted server has GraphQL next to the REST API, not below it.
    if let Some(parent_path) = url.path().strip_suffix("/v3/graphql").map(str::to_owned) {
        url.set_path(&format!("{parent_path}/graphql"));
    }
    let query = json!({ "query": "{ viewer { databaseId } }" });
    match client
        .send(
            &Request::new(Method::POST, url, Repeat::Safe)
                .read_only()
                .json(&query),
        )
        .await
    {
        Ok(response) => {
            let viewer_id = response.json::<Value>()?["data"]["viewer"]["databaseId"].as_u64();
            Ok(viewer_id.map_or(CommentAuthor::JobBot, CommentAuthor::User))
        }
        Err(error) if matches!(error.status(), Some(403 | 404)) => Ok(CommentAuthor::JobBot),
        Err(error) => Err(error),
    }
}

/// Returns the comments of this author that begin with the marker, the oldest first. At most [`MAX_PAGES`] pages are
/// searched.
async fn list_comments(
    client: &HostClient,
    thread: &Thread,
    marker: &str,
    author: &CommentAuthor,
) -> Result<Vec<OwnComment>, HttpError> {
    let mut own_comments = Vec::new();
    for page in 1..=MAX_PAGES {
        let request = Request::get(thread.comments_url(client)?)
            .query("per_page", &COMMENTS_PER_PAGE.to_string())
            .query("page", &page.to_string());
        let comments: Vec<Value> = client.send(&request).await?.json()?;
        for comment in &comments {
            if let Some((id, body)) = parse_own_comment(comment, thread, marker, author) {
                let (url, body) = (thread.comment_url(client, &[&id.to_string()])?, body.to_owned());
                own_comments.push(OwnComment { id, url, body });
            }
        }
        if comments.len() < COMMENTS_PER_PAGE {
            break;
        }
    }
    own_comments.sort_by_key(|comment| comment.id);
    Ok(own_comments)
}

/// Returns the id and the body of the comment if it is by this author and begins with the marker.
fn parse_own_comment<'c>(
    comment: &'c Value,
    thread: &Thread,
    marker: &str,
    author: &CommentAuthor,
) -> Option<(u64, &'c str)> {
    let body = comment["body"].as_str()?;
    if body.lines().next()? != marker {
        return None;
    }
    let comment_author = match thread {
        Thread::GitHub { .. } => &comment["user"],
        Thread::GitLab { .. } | Thread::Azure { .. } => &comment["author"],
    };
    let is_by_author = match author {
        CommentAuthor::User(id) => comment_author["id"] == *id,
        CommentAuthor::JobBot => comment_author["type"] == "Bot" && comment_author["login"] == JOB_BOT_LOGIN,
    };
    is_by_author.then_some((comment["id"].as_u64()?, body))
}
