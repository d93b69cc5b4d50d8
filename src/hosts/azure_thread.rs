//! This program's comments on a pull request of Azure Repos. Each begins a thread.

use super::comment_thread::{OwnComment, Thread};
use serde::Deserialize;
use serde_json::Value;
use sluicegate_platform::http::{HostClient, HttpError, Request};

/// The version of the resource that returns the user of the token.
const CONNECTION_API_VERSION: &str = "7.1-preview";

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

/// Returns the comments that begin a thread, start with the marker, and are by the token's user, the oldest first.
pub(super) async fn list_own_threads(
    client: &HostClient,
    thread: &Thread,
    marker: &str,
) -> Result<Vec<OwnComment>, HttpError> {
    let user_request =
        Request::get(client.url(&["_apis", "connectionData"])?).query("api-version", CONNECTION_API_VERSION);
    let connection: ConnectionData = client.send(&user_request).await?.json()?;
    let user_id = connection.authenticated_user.id;
    let list = Request::get(thread.comments_url(client)?);
    let response: Value = client.send(&list).await?.json()?;
    let mut own_comments = Vec::new();
    for listed_thread in response["value"].as_array().into_iter().flatten() {
        if let Some((thread_id, comment_id, body)) = parse_own_comment(listed_thread, marker, &user_id) {
            let path = [&thread_id.to_string(), "comments", &comment_id.to_string()];
            own_comments.push(OwnComment {
                id: thread_id,
                url: thread.comment_url(client, &path)?,
                body: body.to_owned(),
            });
        }
    }
    own_comments.sort_by_key(|comment| comment.id);
    Ok(own_comments)
}

/// Parses the first comment of a thread: the ids of both, and the text. Returns `None` unless it starts with the marker
/// and is by the token's user, or if it was deleted.
fn parse_own_comment<'t>(thread: &'t Value, marker: &str, user_id: &str) -> Option<(u64, u64, &'t str)> {
    let comment = thread["comments"].get(0)?;
    let content = comment["content"].as_str()?;
    let is_own = comment["author"]["id"] == *user_id;
    let is_deleted = thread["isDeleted"] == true || comment["isDeleted"] == true;
    let is_marked = content.lines().next() == Some(marker);
    if !is_own || !is_marked || is_deleted {
        return None;
    }
    Some((thread["id"].as_u64()?, comment["id"].as_u64()?, content))
}
