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
    /// Returns the tools of a task, with those that the user allows.
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

    /// Returns the permissions of a new task.
    pub(super) fn permissions(&self) -> Vec<Permission> {
        self.tools
            .iter()
            .map(|tool| Permission::from(&(*tool).to_owned()))
            .collect()
    }

    /// Returns the policy for decisions that the agent requests: only a granted tool is approved, once each time.
    pub(super) fn approval_policy(&self) -> ApprovalPolicy {
        ApprovalPolicy {
            tools: self.tools.iter().map(|tool| (*tool).to_owned()).collect(),
            for_whole_task: false,
        }
    }

    /// Returns what the agent must not do because a tool is not granted.
    pub(super) fn list_restrictions(&self) -> impl Iterator<Item = &'static str> {
        let is_granted = |tool: ExtraTool| self.tools.contains(&tool.name());
        ExtraTool::ALL
            .into_iter()
            .filter(move |tool| !is_granted(*tool))
            .map(ExtraTool::restriction)
    }
}
