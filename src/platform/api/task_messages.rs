//! What is said in an agent task: API document, "Follow-up message request" and "Message history response".

use super::{AgentConfig, Answer, Permission, Platform};
use crate::platform::http::{HttpError, Method, Repeat, Request, Success};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FollowUp {
    pub message: String,
    /// Tools approved besides those that are already.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub granted_permissions: Vec<Permission>,
    /// Only mode and target branch can be overridden; the name must be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_config: Option<AgentConfig>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageSent {
    pub task_id: Option<String>,
}

/// A page of a task's history, in chronological order. The document does not show an event's fields.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Messages {
    pub results: Vec<Value>,
    /// The token of the next page; absent at the end.
    pub more: Option<String>,
}

impl Platform {
    /// A page of the history: `GET /v1/ai/agents/tasks/{taskId}/messages`, at most `limit` events (up to 1000),
    /// from where `token` says.
    pub async fn task_messages(
        &self,
        id: &str,
        limit: usize,
        token: Option<&str>,
    ) -> Result<Answer<Messages>, HttpError> {
        let url = self.task_url(&[id, "messages"])?;
        let mut request = Request::get(url).query("limit", &limit.to_string());
        if let Some(token) = token {
            request = request.query("paginationToken", token);
        }
        self.ask(&request).await
    }

    /// Sends a follow-up message: `POST /v1/ai/agents/tasks/{taskId}/messages`. Sent again only if surely not
    /// processed: the agent would act twice.
    pub async fn send_task_message(
        &self,
        id: &str,
        message: &FollowUp,
    ) -> Result<Answer<MessageSent>, HttpError> {
        let url = self.task_url(&[id, "messages"])?;
        let request = Request::new(Method::POST, url, Repeat::OnlyIfUnprocessed).json(&json!(message));
        self.ask(&request.succeeds_by(Success::Accepted)).await
    }
}
