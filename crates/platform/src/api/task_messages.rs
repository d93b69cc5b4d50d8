//! Messages of an agent task: API document, "Follow-up message request" and "Message history response".

use super::{AgentConfig, ApiValue, Permission, Platform};
use crate::http::{HttpError, Method, Repeat, Request, Success};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FollowUp {
    pub message: String,
    /// Tools to approve in addition to those already approved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub granted_permissions: Vec<Permission>,
    /// Only mode and target branch can be overridden; the name is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_config: Option<AgentConfig>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageSent {
    pub task_id: Option<String>,
}

/// A page of a task's history, in chronological order. The API document does not define an event's fields.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct MessagePage {
    pub results: Vec<Value>,
    /// Token of the next page; absent on the last.
    pub more: Option<String>,
}

impl Platform {
    /// Returns a page of a task's history: `GET /v1/ai/agents/tasks/{taskId}/messages`, at most `limit` events (up to
    /// 1000). The page starts at `page_token`, which the previous page contains; without it, at the first event.
    pub async fn fetch_task_messages(
        &self,
        id: &str,
        limit: usize,
        page_token: Option<&str>,
    ) -> Result<ApiValue<MessagePage>, HttpError> {
        let url = self.task_url(&[id, "messages"])?;
        let mut request = Request::get(url).query("limit", &limit.to_string());
        if let Some(page_token) = page_token {
            request = request.query("paginationToken", page_token);
        }
        self.send_and_parse(&request).await
    }

    /// Sends a follow-up message to a task: `POST /v1/ai/agents/tasks/{taskId}/messages`. The request is repeated only
    /// if it was certainly not processed; otherwise the agent would act twice.
    pub async fn send_task_message(
        &self,
        id: &str,
        message: &FollowUp,
    ) -> Result<ApiValue<MessageSent>, HttpError> {
        let url = self.task_url(&[id, "messages"])?;
        let request = Request::new(Method::POST, url, Repeat::OnlyIfUnprocessed).json(&json!(message));
        self.send_and_parse(&request.with_success(Success::Accepted))
            .await
    }
}
