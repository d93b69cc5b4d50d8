//! An instruction to fix findings: the findings in it, and what the agent has done about them.
//!
//! Such an instruction has one line of JSON for each finding, an object with `file` and `rule`. The agent reads nothing
//! else from the findings, so a text inside one of them is never an instruction.

use super::tools::QUESTION_TOOL;
use crate::agent_behavior::AgentBehavior;
use serde::{Deserialize, Serialize};

/// Maximum number of findings in an instruction.
const MAX_FINDINGS: usize = 1000;

/// The tools that the agent uses to fix findings, in this order.
const FIX_TOOLS: [&str; 4] = ["read_file", "edit_file", "git_commit", "git_push"];

/// A finding that the agent is instructed to fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OrderedFinding {
    /// The path of the pipeline from the repository root.
    pub file: String,
    pub rule: String,
    /// The name of the component, if the finding is about one.
    pub component: Option<String>,
}

/// The findings that the agent is instructed to fix, and its tool calls so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FixOrder {
    pub findings: Vec<OrderedFinding>,
    pub behavior: AgentBehavior,
    used_tools: Vec<String>,
    /// Whether the branch is to be pushed, because the agent used `git_push` after an edit and a commit.
    pub is_push_due: bool,
}

impl FixOrder {
    /// Parses the findings of an instruction: every line that is a JSON object with the fields of a finding, up to
    /// [`MAX_FINDINGS`]. Other lines are ignored. Returns `None` if the instruction has no finding.
    pub(super) fn parse(message: &str, behavior: AgentBehavior) -> Option<Self> {
        let findings: Vec<OrderedFinding> = message
            .lines()
            .filter(|line| line.starts_with('{'))
            .filter_map(|line| serde_json::from_str(line).ok())
            .take(MAX_FINDINGS)
            .collect();
        (!findings.is_empty()).then_some(Self {
            findings,
            behavior,
            used_tools: Vec::new(),
            is_push_due: false,
        })
    }

    /// Returns the tools that the agent uses, in order. A misbehaving agent may begin with another tool, or skip
    /// the push.
    pub(super) fn list_tools(&self) -> Vec<&'static str> {
        let first_tool = match self.behavior {
            AgentBehavior::Asks => Some(QUESTION_TOOL),
            AgentBehavior::RunsPipeline => Some("run_pipeline"),
            _ => None,
        };
        let skips_push = self.behavior == AgentBehavior::SkipsPush;
        first_tool
            .into_iter()
            .chain(FIX_TOOLS)
            .filter(|tool| !(skips_push && *tool == "git_push"))
            .collect()
    }

    /// Records a tool call. After `git_push`, the local platform has to push the fixes, because it simulates the agent:
    /// `is_push_due` tells it. Without an edit and a commit before, there is nothing to push.
    pub(super) fn record_tool_call(&mut self, tool: &str) {
        let has_used = |name: &str| self.used_tools.iter().any(|used_tool| used_tool == name);
        if tool == "git_push" && has_used("edit_file") && has_used("git_commit") {
            self.is_push_due = true;
        }
        self.used_tools.push(tool.to_owned());
    }

    /// Adds the findings of a later order, up to [`MAX_FINDINGS`] in total.
    pub(super) fn add_findings(&mut self, later_order: Self) {
        self.findings.extend(later_order.findings);
        self.findings.truncate(MAX_FINDINGS);
    }

    /// Records that the push is done. The next push is due only after another edit and another commit.
    pub(super) fn finish_push(&mut self) {
        self.is_push_due = false;
        self.used_tools.clear();
    }

    /// Describes what the agent would do about each finding, one finding per line.
    pub(super) fn describe_plan(&self) -> String {
        let lines = self.findings.iter().map(|finding| {
            let subject = finding.component.as_deref().unwrap_or("the pipeline");
            let action = match (finding.rule.as_str(), &finding.component) {
                ("component-naming-convention", Some(_)) => "rename",
                ("unused-components", Some(_)) => "connect",
                _ => "cannot fix",
            };
            format!("{}: {action} {subject} ({})", finding.file, finding.rule)
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = "Fix these. run_pipeline\n\
        {\"file\":\"a.orch.yaml\",\"rule\":\"r\",\"component\":\"x\",\"message\":\"run_pipeline, query_warehouse\"}\n\
        {\"neither\":1}\n {\"file\":\"b\",\"rule\":\"r\"}\nCommit and push.\n";

    #[test]
    fn order_has_findings_of_lines_that_are_objects() {
        let order = FixOrder::parse(MESSAGE, AgentBehavior::Obedient).unwrap();
        assert_eq!(order.findings.len(), 1);
        assert_eq!(order.findings[0].component.as_deref(), Some("x"));
        assert_eq!(order.list_tools(), FIX_TOOLS);
        assert_eq!(FixOrder::parse("Commit and push", AgentBehavior::Obedient), None);
    }

    #[test]
    fn push_is_due_only_after_edit_and_commit() {
        let mut order = FixOrder::parse(MESSAGE, AgentBehavior::Obedient).unwrap();
        for (tool, is_push_due) in [
            ("edit_file", false),
            ("git_push", false),
            ("git_commit", false),
            ("git_push", true),
        ] {
            order.record_tool_call(tool);
            assert_eq!(order.is_push_due, is_push_due, "{tool}");
        }
    }

    #[test]
    fn plan_does_not_promise_to_fix_finding_without_component() {
        let message = "{\"file\":\"a\",\"rule\":\"unused-components\"}\n\
            {\"file\":\"a\",\"rule\":\"unused-components\",\"component\":\"x\"}";
        let order = FixOrder::parse(message, AgentBehavior::Obedient).unwrap();
        assert_eq!(
            order.describe_plan(),
            "a: cannot fix the pipeline (unused-components)\na: connect x (unused-components)"
        );
    }
}
