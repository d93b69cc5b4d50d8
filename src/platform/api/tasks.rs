//! Agent tasks: API document, sections "Agent task" and "AI agent tasks".
//!
//! STOPPED has two meanings, told apart by `pendingDecisions`: [`Task::phase`] is the one place that does it.

use super::{Answer, Platform};
use crate::platform::http::{ErrorKind, HttpError, Method, Repeat, Request, Success, Url};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The one agent.
pub const AGENT: &str = "data_engineer_agent";

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewTask {
    pub message: String,
    /// Where and how the agent works.
    pub agent_config: AgentConfig,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub granted_permissions: Vec<Permission>,
}

/// Where and how an agent works.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentConfig {
    /// [`AGENT`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `ACT` makes changes, `PLAN` only plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The branch that is read, and that a new one begins at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_branch_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment_name: Option<String>,
    /// The new branch that is written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_branch_name: Option<String>,
    /// Whether the agent names that branch itself; ignored where it is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generate_branch: Option<bool>,
    /// A service graph of the knowledge layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph_id: Option<String>,
    /// A folder that the work is kept to.
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
    fn from(tool: &String) -> Self {
        Self {
            tool_name: tool.clone(),
        }
    }
}

/// What the platform says of a task that it made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCreated {
    pub task_id: Option<String>,
    pub status: Option<String>,
    pub agent_name: Option<String>,
    /// Since when, ISO 8601.
    pub created_at: Option<String>,
}

/// A task: an entry of the list, or the detail.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub task_id: Option<String>,
    /// `RUNNING`, `STOPPING`, `STOPPED`, `ERRORED`, or something the document does not know.
    pub status: Option<String>,
    /// Who works on it; in the list only.
    pub agent_name: Option<String>,
    /// `ACT` or `PLAN`; in the list only.
    pub mode: Option<String>,
    pub description: Option<String>,
    /// Since when, ISO 8601; in the detail only.
    pub created_at: Option<String>,
    /// When it last changed, ISO 8601.
    pub modified_at: Option<String>,
    /// The project; in the list only.
    pub project_id: Option<String>,
    /// Its own branch; in the list only.
    pub branch_id: Option<String>,
    /// Where and how the agent works; in the detail only.
    pub agent_config: Option<AgentConfig>,
    /// What the agent may use without asking; in the detail only.
    pub granted_permissions: Option<Vec<Permission>>,
    /// What the agent waits for; in the detail only.
    pub pending_decisions: Option<Vec<Answer<PendingDecision>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The agent works, or wraps up after a stop.
    Working,
    /// STOPPED with nothing pending: the end.
    Finished,
    /// STOPPED with pending decisions: the agent waits.
    Waiting,
    /// STOPPED, but the answer has no `pendingDecisions`: either of the two.
    Stopped,
    Errored,
    /// A status that the document does not know.
    Unknown,
}

impl Task {
    /// Where the task stands, by status and pending decisions together.
    pub fn phase(&self) -> Phase {
        match self
            .status
            .as_deref()
            .unwrap_or_default()
            .to_ascii_uppercase()
            .as_str()
        {
            "RUNNING" | "STOPPING" => Phase::Working,
            "ERRORED" => Phase::Errored,
            "STOPPED" => match &self.pending_decisions {
                None => Phase::Stopped,
                Some(pending) if pending.is_empty() => Phase::Finished,
                Some(_) => Phase::Waiting,
            },
            _ => Phase::Unknown,
        }
    }
}

/// Something that the agent waits for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingDecision {
    /// `tool`, `question`, or something the document does not know.
    pub r#type: Option<String>,
    pub tool_name: Option<String>,
    /// The id by which a tool is decided on.
    pub tool_id: Option<String>,
    /// What a tool wants, for people.
    pub permission_message: Option<PermissionMessage>,
    /// What a tool is to be given.
    pub tool_input: Option<Map<String, Value>>,
    /// The id by which a question is answered; the document does not show a question's fields.
    pub id: Option<String>,
}

impl PendingDecision {
    /// The id by which it is answered.
    pub fn answered_by(&self) -> Option<&str> {
        self.tool_id.as_deref().or(self.id.as_deref())
    }
}

/// What a tool wants, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct PermissionMessage {
    pub title: Option<String>,
    pub body: Option<String>,
}

/// An answer to a pending decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Decision {
    /// Whether a tool may be used.
    Tool {
        /// The pending decision's `toolId`.
        id: String,
        approved: bool,
        /// `ONCE`, or `CONVERSATION` for the rest of the task.
        scope: String,
    },
    /// What a question is answered with.
    Question {
        id: String,
        /// An answer to each of its parts.
        answers: Vec<QuestionAnswer>,
    },
}

/// The answer to a part of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionAnswer {
    /// Which part, from 0.
    pub question_index: usize,
    pub selected_options: Vec<String>,
}

/// What is still to be decided.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// Empty when everything is decided; none if the answer does not tell.
    pub pending_decisions: Option<Vec<Answer<PendingDecision>>>,
}

/// The permissions of a task, after they were replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Permissions {
    pub task_id: Option<String>,
    /// What the agent may use without asking.
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
    /// Makes a task: `POST /v1/ai/agents/tasks`. Sent again only if surely not processed.
    pub async fn create_task(&self, task: &NewTask) -> Result<Answer<TaskCreated>, HttpError> {
        let url = self.task_url(&[])?;
        self.ask(&Request::new(Method::POST, url, Repeat::OnlyIfUnprocessed).json(&json!(task)))
            .await
    }

    /// The tasks: `GET /v1/ai/agents/tasks`, page by page.
    pub async fn tasks(&self, filter: &TaskFilter) -> Result<Vec<Answer<Task>>, HttpError> {
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
        self.all(url).await
    }

    /// A task in detail: `GET /v1/ai/agents/tasks/{taskId}`.
    pub async fn task(&self, id: &str) -> Result<Answer<Task>, HttpError> {
        self.ask(&Request::get(self.task_url(&[id])?)).await
    }

    /// Answers pending decisions: `POST /v1/ai/agents/tasks/{taskId}/decisions`. Each names what it decides, and what
    /// is decided is no longer pending, so it may be repeated.
    pub async fn decide(&self, id: &str, decisions: &[Decision]) -> Result<Answer<Decided>, HttpError> {
        let url = self.task_url(&[id, "decisions"])?;
        let body = json!({ "decisions": decisions });
        let request = Request::new(Method::POST, url, Repeat::Safe).json(&body);
        self.ask(&request.succeeds_by(Success::Accepted)).await
    }

    /// Stops a task: `POST /v1/ai/agents/tasks/{taskId}/stop`. Stopping twice is stopping once.
    pub async fn stop_task(&self, id: &str) -> Result<(), HttpError> {
        let url = self.task_url(&[id, "stop"])?;
        let request = Request::new(Method::POST, url, Repeat::Safe);
        self.tell(&request.succeeds_by(Success::Nothing)).await.map(drop)
    }

    /// Deletes a task and all its data: `DELETE /v1/ai/agents/tasks/{taskId}`; 409 while it is RUNNING.
    pub async fn delete_task(&self, id: &str) -> Result<(), HttpError> {
        self.remove(self.task_url(&[id])?)
            .await
            .map_err(|error| match error.kind() {
                ErrorKind::Conflict => error.with_hint(format!(
                    "a running task is not deleted: `sluicegate tasks stop {id}` first"
                )),
                _ => error,
            })
    }

    /// Replaces all permissions: `PUT /v1/ai/agents/tasks/{taskId}/permissions`; none takes all away. It says what is
    /// to be, so it may be repeated.
    pub async fn set_task_permissions(
        &self,
        id: &str,
        granted: &[Permission],
    ) -> Result<Answer<Permissions>, HttpError> {
        let url = self.task_url(&[id, "permissions"])?;
        let body = json!({ "grantedPermissions": granted });
        self.ask(&Request::new(Method::PUT, url, Repeat::Safe).json(&body))
            .await
    }

    pub(super) fn task_url(&self, rest: &[&str]) -> Result<Url, HttpError> {
        let path: Vec<&str> = ["ai", "agents", "tasks"]
            .into_iter()
            .chain(rest.iter().copied())
            .collect();
        self.client.url(&path)
    }
}
