//! The configuration of a task, and its status.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sluicegate_base::words::words;
use utoipa::ToSchema;

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "UPPERCASE")]
pub(crate) enum TaskStatus {
    /// The agent is working.
    Running,
    /// The agent is wrapping up.
    Stopping,
    /// The agent has finished or is waiting for a decision.
    Stopped,
    /// The task failed.
    Errored,
}

/// The mode of an agent: it acts, or it only plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(as = AgentMode, rename_all = "UPPERCASE")]
pub(crate) enum AgentMode {
    /// The agent may make changes.
    Act,
    /// The agent only describes the changes that it would make.
    Plan,
}

words! {
    TaskStatus {
        Running => "RUNNING",
        Stopped => "STOPPED",
        Stopping => "STOPPING",
        Errored => "ERRORED",
    }
}

words! {
    AgentMode {
        Act => "ACT",
        Plan => "PLAN",
    }
}

/// The configuration of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentConfig)]
pub(crate) struct TaskConfig {
    /// Name of the agent.
    pub name: String,
    pub mode: AgentMode,
    /// The ID of the project that the agent works in.
    #[schema(format = "uuid")]
    pub project_id: String,
    /// The name of the branch that the agent reads from.
    pub source_branch_name: String,
    /// The name of the environment to run pipelines in.
    pub environment_name: String,
    /// The name of the branch that the agent writes to; generated if the request does not contain a name.
    pub target_branch_name: String,
    /// Whether the request left the name of the target branch to the agent.
    pub generate_branch: bool,
    #[schema(required)]
    pub graph_id: Option<String>,
    /// The directory that the agent works in.
    #[schema(required)]
    pub working_directory: Option<String>,
}

impl TaskConfig {
    /// Returns plausible arguments for a call of the tool.
    pub(super) fn build_tool_input(&self, tool: &str) -> Value {
        let directory = self.working_directory.as_deref().unwrap_or(".");
        match tool {
            "git_commit" | "git_push" => json!({"branch": self.target_branch_name}),
            "run_pipeline" | "query_warehouse" | "execute_sql" | "sample_component" => {
                json!({"environmentName": self.environment_name})
            }
            _ => json!({"folder": directory}),
        }
    }
}
