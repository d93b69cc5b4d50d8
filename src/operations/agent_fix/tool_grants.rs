//! The tools that the agent may use without approval.

use crate::job::cli::ExtraTool;
use sluicegate_platform::api::Permission;
use sluicegate_platform::follow::ApprovalPolicy;

/// The tools of every task that makes changes.
const FIX_TOOLS: [&str; 4] = ["read_file", "edit_file", "git_commit", "git_push"];

/// The tools of a task that only plans.
const PLAN_TOOLS: [&str; 1] = ["read_file"];

/// The tools that a task grants, by name.
pub(super) struct ToolGrants {
    tools: Vec<&'static str>,
}

impl ToolGrants {
    /// Returns the tools that a task needs, followed by the extra tools that the user allows.
    pub(super) fn new(is_plan: bool, extra_tools: &[ExtraTool]) -> Self {
        let task_tools: &[&'static str] = if is_plan { &PLAN_TOOLS } else { &FIX_TOOLS };
        let mut tools = task_tools.to_vec();
        for tool in extra_tools.iter().map(|tool| tool.name()) {
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
        Self { tools }
    }

    /// Returns the tools as the permissions that the request to create the task contains.
    pub(super) fn permissions(&self) -> Vec<Permission> {
        self.tools
            .iter()
            .map(|tool| Permission::from(&(*tool).to_owned()))
            .collect()
    }

    /// Returns how to answer the agent's requests to use a tool: a granted tool is approved, but only for this use, not
    /// for the rest of the task.
    pub(super) fn approval_policy(&self) -> ApprovalPolicy {
        ApprovalPolicy {
            tools: self.tools.iter().map(|tool| (*tool).to_owned()).collect(),
            for_whole_task: false,
        }
    }

    /// Returns an instruction for each extra tool that is not granted: what the agent must not do without the tool.
    pub(super) fn list_restrictions(&self) -> impl Iterator<Item = &'static str> {
        let is_granted = |tool: ExtraTool| self.tools.contains(&tool.name());
        ExtraTool::ALL
            .into_iter()
            .filter(move |tool| !is_granted(*tool))
            .map(ExtraTool::restriction)
    }
}
