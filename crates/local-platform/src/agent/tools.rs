//! The tools that an agent can be granted.

use crate::store::events::EventKind;

/// All names of tools: those in the API document's list, and two more from its example.
pub(crate) const TOOLS: [&str; 16] = [
    "git_push",
    "git_commit",
    "run_pipeline",
    "query_warehouse",
    "edit_file",
    "create_file",
    "delete_file",
    "copy_file",
    "rename_file",
    "ask_user_question",
    "sample_component",
    "enter_plan_mode",
    "exit_plan_mode",
    "create_custom_connector",
    "execute_sql",
    "read_file",
];

/// The tool that an agent uses to ask a question.
pub(super) const QUESTION_TOOL: &str = "ask_user_question";

/// Tools that change nothing; an agent in plan mode uses only these.
const READ_ONLY_TOOLS: [&str; 5] = [
    "query_warehouse",
    "sample_component",
    "read_file",
    "enter_plan_mode",
    QUESTION_TOOL,
];

/// Returns whether the tool may change something; an agent in plan mode skips it.
pub(super) fn makes_changes(tool: &str) -> bool {
    !READ_ONLY_TOOLS.contains(&tool)
}

/// Returns the audit event that records the approval of the tool, or `None` if its approval is not recorded.
pub(crate) fn find_acceptance_event(tool: &str) -> Option<EventKind> {
    match tool {
        "sample_component" => Some(EventKind::SamplingAccepted),
        "run_pipeline" => Some(EventKind::ExecutionAccepted),
        "git_commit" | "git_push" => Some(EventKind::GitActionAccepted),
        _ => None,
    }
}
