//! The shapes of the agent tasks' bodies (API document, "Agent task").

use crate::service::agent::{AgentConfig, Mode, PendingDecision, Status, TOOLS};
use crate::service::clock::Moment;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use uuid::Uuid;

/// The body of a task creation.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
pub(super) struct TaskRequest {
    /// The opening instruction.
    #[schema(min_length = 1)]
    pub(super) message: String,
    pub(super) agent_config: AgentConfigRequest,
    /// Tools that are approved in advance.
    pub(super) granted_permissions: Option<Vec<GrantedTool>>,
}

/// What a task is to be done with.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
pub(super) struct AgentConfigRequest {
    #[schema(inline)]
    pub(super) name: AgentName,
    #[schema(inline)]
    pub(super) mode: Mode,
    #[schema(value_type = String, format = "uuid")]
    pub(super) project_id: Uuid,
    /// The branch that is read from.
    #[schema(min_length = 1)]
    pub(super) source_branch_name: String,
    /// Where pipelines are run.
    #[schema(min_length = 1)]
    pub(super) environment_name: String,
    /// The branch that is written to; needed unless `generateBranch` is true.
    #[schema(min_length = 1)]
    pub(super) target_branch_name: Option<String>,
    /// Lets the agent name that branch.
    pub(super) generate_branch: Option<bool>,
    pub(super) graph_id: Option<String>,
    pub(super) working_directory: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "it describes a value")]
pub(super) enum AgentName {
    DataEngineerAgent,
}

/// A tool that needs no leave.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GrantedTool {
    #[schema(schema_with = tool_names)]
    pub(super) tool_name: String,
}

pub(super) fn tool_names() -> Schema {
    let names = ObjectBuilder::new().schema_type(Type::String);
    names.enum_values(Some(TOOLS)).into()
}

/// A task that was begun.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreatedTask {
    #[schema(value_type = String, format = "uuid")]
    pub(super) task_id: Uuid,
    pub(super) status: Status,
    pub(super) agent_name: &'static str,
    #[schema(value_type = String, format = DateTime)]
    pub(super) created_at: Moment,
}

/// A task in a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskItem {
    #[schema(value_type = String, format = "uuid")]
    pub(super) task_id: Uuid,
    pub(super) status: Status,
    pub(super) agent_name: &'static str,
    pub(super) mode: Mode,
    pub(super) description: String,
    #[schema(value_type = String, format = DateTime)]
    pub(super) modified_at: Moment,
    #[schema(value_type = String, format = "uuid")]
    pub(super) project_id: Uuid,
    #[schema(value_type = String, format = "uuid")]
    pub(super) branch_id: Uuid,
}

/// A page of tasks.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TaskPage {
    pub(super) tasks: Vec<TaskItem>,
    pub(super) page: u64,
    pub(super) size: u32,
    pub(super) total: u64,
}

/// A task in full.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskDetail {
    #[schema(value_type = String, format = "uuid")]
    pub(super) task_id: Uuid,
    pub(super) status: Status,
    pub(super) description: String,
    #[schema(value_type = String, format = DateTime)]
    pub(super) created_at: Moment,
    #[schema(value_type = String, format = DateTime)]
    pub(super) modified_at: Moment,
    pub(super) agent_config: AgentConfig,
    pub(super) granted_permissions: Vec<GrantedTool>,
    /// What the agent waits for; empty if it works or has finished.
    pub(super) pending_decisions: Vec<PendingDecision>,
}
