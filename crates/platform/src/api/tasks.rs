//! Agent tasks: API document, sections "Agent task" and "AI agent tasks".
//!
//! STOPPED has two meanings, distinguished by `pendingDecisions`; only [`Task::phase`] interprets them.

use super::lenient_values::{none_if_invalid, read_resource_id, read_text_or_json};
use super::{ApiList, ApiValue, Platform};
use crate::http::{HttpError, Method, Repeat, Request, Success, Url};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Name of the only agent.
pub const AGENT_NAME: &str = "data_engineer_agent";

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewTask {
    pub message: String,
    /// Branches, environment and mode of the agent.
    pub agent_config: AgentConfig,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub granted_permissions: Vec<Permission>,
}

/// The branches, environment and mode of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentConfig {
    /// [`AGENT_NAME`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `ACT` makes changes, `PLAN` only plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The branch that is read, and that a new branch starts from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_branch_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment_name: Option<String>,
    /// The new branch that is written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_branch_name: Option<String>,
    /// Whether the agent chooses the target branch's name; ignored if the name is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generate_branch: Option<bool>,
    /// Service graph of the knowledge layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph_id: Option<String>,
    /// Directory that the work is restricted to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
}

/// A tool that the agent may use without asking.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Permission {
    pub tool_name: String,
}

impl From<&String> for Permission {
    /// Creates the permission to use this tool without asking.
    fn from(tool: &String) -> Self {
        Self {
            tool_name: tool.clone(),
        }
    }
}

/// The platform's response to the creation of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCreated {
    /// `None` if the response contains no usable id.
    #[serde(default, deserialize_with = "read_resource_id")]
    pub task_id: Option<String>,
    pub status: Option<String>,
    pub agent_name: Option<String>,
    /// Creation time, ISO 8601.
    pub created_at: Option<String>,
}

/// A task: an entry of the list, or the detail.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub task_id: Option<String>,
    /// `RUNNING`, `STOPPING`, `STOPPED`, `ERRORED`, or a value that the API document does not define.
    pub status: Option<String>,
    /// Name of the agent; in the list only.
    pub agent_name: Option<String>,
    /// `ACT` or `PLAN`; in the list only.
    pub mode: Option<String>,
    pub description: Option<String>,
    /// Creation time, ISO 8601; in the detail only.
    pub created_at: Option<String>,
    /// Time of the last change, ISO 8601.
    pub modified_at: Option<String>,
    /// Project id; in the list only.
    pub project_id: Option<String>,
    /// Id of the task's branch; in the list only.
    pub branch_id: Option<String>,
    /// Branches, environment and mode of the agent; in the detail only.
    pub agent_config: Option<AgentConfig>,
    /// Tools that the agent may use without asking; in the detail only.
    pub granted_permissions: Option<Vec<Permission>>,
    /// Decisions that the agent waits for; in the detail only.
    pub pending_decisions: Option<Vec<ApiValue<PendingDecision>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskPhase {
    /// The agent works, or finishes up after a stop.
    Working,
    /// STOPPED without pending decisions: the task is finished.
    Finished,
    /// STOPPED with pending decisions: the agent waits.
    Waiting,
    /// STOPPED, but the response has no `pendingDecisions`: finished or waiting.
    Stopped,
    Errored,
    /// A status that the API document does not define.
    Unknown,
}

impl Task {
    /// Returns the task's phase. A stopped task has finished if no decision is pending, and waits if one is. Without
    /// the list of pending decisions, the task is only known to be stopped. A status that the API document does not
    /// define is an unknown phase.
    pub fn phase(&self) -> TaskPhase {
        let status = self.status.as_deref().unwrap_or_default().to_ascii_uppercase();
        match status.as_str() {
            "RUNNING" | "STOPPING" => TaskPhase::Working,
            "ERRORED" => TaskPhase::Errored,
            "STOPPED" => match &self.pending_decisions {
                None => TaskPhase::Stopped,
                Some(pending) if pending.is_empty() => TaskPhase::Finished,
                Some(_) => TaskPhase::Waiting,
            },
            _ => TaskPhase::Unknown,
        }
    }
}

/// A decision that the agent waits for. The API document does not define the fields of a question, so each field may
/// have another type: an id is then kept as its JSON, and other values are omitted.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PendingDecision {
    /// `tool`, `question`, or a value that the API document does not define.
    #[serde(deserialize_with = "read_text_or_json")]
    pub r#type: Option<String>,
    #[serde(deserialize_with = "read_text_or_json")]
    pub tool_name: Option<String>,
    /// Id for the decision about a tool.
    #[serde(deserialize_with = "read_text_or_json")]
    pub tool_id: Option<String>,
    /// Human-readable description of the tool's request.
    #[serde(deserialize_with = "none_if_invalid")]
    pub permission_message: Option<PermissionMessage>,
    /// Input for the tool.
    #[serde(deserialize_with = "none_if_invalid")]
    pub tool_input: Option<Map<String, Value>>,
    /// Id for the answer to a question.
    #[serde(deserialize_with = "read_text_or_json")]
    pub id: Option<String>,
}

impl PendingDecision {
    /// Returns whether this is a question. Without a type, only a decision without a tool's id is one.
    pub fn is_question(&self) -> bool {
        match self.r#type.as_deref() {
            Some("question") => true,
            Some("tool") => false,
            _ => self.tool_id.is_none(),
        }
    }

    /// Returns the id that the answer to this decision must contain: the tool's id or, for a question, its own id.
    pub fn id_for_answer(&self) -> Option<&str> {
        let (id, other_id) = if self.is_question() {
            (&self.id, &self.tool_id)
        } else {
            (&self.tool_id, &self.id)
        };
        id.as_deref().or(other_id.as_deref())
    }
}

/// A human-readable description of a tool's request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct PermissionMessage {
    pub title: Option<String>,
    pub body: Option<String>,
}

/// An answer to a pending decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Decision {
    /// Decision whether a tool may be used.
    Tool {
        /// The pending decision's `toolId`.
        id: String,
        approved: bool,
        /// `ONCE`, or `CONVERSATION` for the rest of the task.
        scope: String,
    },
    /// Answer to a question.
    Question {
        id: String,
        /// An answer for each part of the question.
        answers: Vec<QuestionAnswer>,
    },
}

/// The answer to a part of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionAnswer {
    /// Index of the part, from 0.
    pub question_index: usize,
    pub selected_options: Vec<String>,
}

/// The decisions that are still pending after an answer.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemainingDecisions {
    /// Empty if everything is decided; `None` if the response has no such list.
    pub pending_decisions: Option<Vec<ApiValue<PendingDecision>>>,
}

/// The permissions of a task, after their replacement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Permissions {
    pub task_id: Option<String>,
    /// Tools that the agent may use without asking.
    pub granted_permissions: Option<Vec<Permission>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    pub project_id: Option<String>,
    pub branch_id: Option<String>,
    /// `RUNNING`, `STOPPED`, `STOPPING` or `ERRORED`.
    pub status: Option<String>,
}

impl Platform {
    /// Creates a task: `POST /v1/ai/agents/tasks`. The request is repeated only if it was certainly not processed.
    pub async fn create_task(&self, task: &NewTask) -> Result<ApiValue<TaskCreated>, HttpError> {
        let url = self.task_url(&[])?;
        self.send_and_parse(&Request::new(Method::POST, url, Repeat::OnlyIfUnprocessed).json(&json!(task)))
            .await
    }

    /// Returns the tasks: `GET /v1/ai/agents/tasks`, page by page.
    pub async fn fetch_tasks(&self, filter: &TaskFilter) -> Result<ApiList<Task>, HttpError> {
        let mut url = self.task_url(&[])?;
        for (name, value) in [
            ("projectId", &filter.project_id),
            ("branchId", &filter.branch_id),
            ("status", &filter.status),
        ] {
            if let Some(value) = value {
                url.query_pairs_mut().append_pair(name, value);
            }
        }
        self.fetch_all_entries(url).await
    }

    /// Returns a task in detail: `GET /v1/ai/agents/tasks/{taskId}`.
    pub async fn fetch_task(&self, id: &str) -> Result<ApiValue<Task>, HttpError> {
        self.send_and_parse(&Request::get(self.task_url(&[id])?)).await
    }

    /// Answers pending decisions: `POST /v1/ai/agents/tasks/{taskId}/decisions`. Each answer contains the id of its
    /// decision, which is then no longer pending, so the request may be repeated.
    pub async fn send_decisions(
        &self,
        id: &str,
        decisions: &[Decision],
    ) -> Result<ApiValue<RemainingDecisions>, HttpError> {
        let url = self.task_url(&[id, "decisions"])?;
        let body = json!({ "decisions": decisions });
        let request = Request::new(Method::POST, url, Repeat::Safe).json(&body);
        self.send_and_parse(&request.with_success(Success::Accepted))
            .await
    }

    /// Stops a task: `POST /v1/ai/agents/tasks/{taskId}/stop`. The request is idempotent.
    pub async fn stop_task(&self, id: &str) -> Result<(), HttpError> {
        let url = self.task_url(&[id, "stop"])?;
        let request = Request::new(Method::POST, url, Repeat::Safe);
        self.send_and_read_body(&request.with_success(Success::NoContent))
            .await
            .map(drop)
    }

    /// Deletes a task and all its data: `DELETE /v1/ai/agents/tasks/{taskId}`. The response for a running task is 409.
    pub async fn delete_task(&self, id: &str) -> Result<(), HttpError> {
        self.delete_resource(self.task_url(&[id])?).await
    }

    /// Replaces all permissions of a task: `PUT /v1/ai/agents/tasks/{taskId}/permissions`. An empty list removes all.
    /// The request is idempotent.
    pub async fn set_task_permissions(
        &self,
        id: &str,
        permissions: &[Permission],
    ) -> Result<ApiValue<Permissions>, HttpError> {
        let url = self.task_url(&[id, "permissions"])?;
        let body = json!({ "grantedPermissions": permissions });
        self.send_and_parse(&Request::new(Method::PUT, url, Repeat::Safe).json(&body))
            .await
    }

    pub(super) fn task_url(&self, subpath: &[&str]) -> Result<Url, HttpError> {
        self.client.url(&[&["ai", "agents", "tasks"], subpath].concat())
    }
}
