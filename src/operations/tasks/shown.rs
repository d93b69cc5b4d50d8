//! Describes tasks as text.

use crate::session::output;
use serde_json::Value;
use sluicegate_base::text;
use sluicegate_platform::api::{ApiValue, PendingDecision, Task, TaskPhase};
use std::fmt::Write as _;

/// Returns the status, with the meaning of a STOPPED.
pub(crate) fn state(task: &Task) -> String {
    let status = task.status.as_deref().unwrap_or("(no status)");
    match task.phase() {
        TaskPhase::Finished => format!("{status} (finished)"),
        TaskPhase::Waiting => format!("{status} (waits for a decision)"),
        TaskPhase::Stopped => format!("{status} (finished, or waits for a decision)"),
        _ => status.to_owned(),
    }
}

/// Returns the status and its meaning in one line.
fn headline(task: &Task) -> String {
    format!("{}\n", text::escape_line(&state(task)))
}

/// Returns everything about a task: its status, its fields, and its pending decisions.
pub(crate) fn whole(id: &str, task: &ApiValue<Task>) -> String {
    let waits = task
        .pending_decisions
        .as_ref()
        .is_some_and(|pending| !pending.is_empty());
    let mut facts = task.raw.clone();
    if let (true, Value::Object(fields)) = (waits, &mut facts) {
        // The decisions follow below, each with the command to answer it.
        fields.shift_remove("pendingDecisions");
    }
    headline(task) + &output::facts(&facts) + &decisions(id, task)
}

/// Returns the pending decisions with the commands to answer them; empty without any.
pub(crate) fn decisions(id: &str, task: &Task) -> String {
    pending(id, task.pending_decisions.as_deref().unwrap_or_default())
}

/// Returns each decision with the exact commands to answer it.
pub(crate) fn pending(task: &str, pending: &[ApiValue<PendingDecision>]) -> String {
    let mut shown = String::new();
    for decision in pending {
        shown.push('\n');
        let _ = writeln!(shown, "{}", text::escape_line(&what(decision)));
        for line in details(decision) {
            let _ = writeln!(shown, "    {}", text::escape_line(&line));
        }
        for command in commands(task, decision) {
            let _ = writeln!(shown, "  answer it by: {}", text::escape_line(&command));
        }
    }
    shown
}

fn what(decision: &PendingDecision) -> String {
    let title = decision
        .permission_message
        .as_ref()
        .and_then(|message| message.title.as_deref());
    match (decision.r#type.as_deref(), &decision.tool_name, title) {
        (_, Some(tool), Some(title)) => format!("the agent requests the tool {tool}: {title}"),
        (_, Some(tool), None) => format!("the agent requests the tool {tool}"),
        (Some("question"), ..) => "the agent asks a question".to_owned(),
        (kind, ..) => format!(
            "the agent requests a decision of type {}",
            kind.unwrap_or("(none)")
        ),
    }
}

/// Returns the other fields of the decision.
fn details(decision: &ApiValue<PendingDecision>) -> Vec<String> {
    let body = decision
        .permission_message
        .as_ref()
        .and_then(|message| message.body.clone());
    let mut lines: Vec<String> = body.into_iter().collect();
    let said = ["type", "toolName", "permissionMessage"];
    for (key, value) in decision.raw.as_object().into_iter().flatten() {
        if !said.contains(&key.as_str()) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            lines.push(format!("{key}: {value}"));
        }
    }
    lines
}

/// Returns the commands that answer the decision. The API document does not specify a question's fields: if it has
/// parts with options, the first option of each is used as an example.
fn commands(task: &str, decision: &ApiValue<PendingDecision>) -> Vec<String> {
    let begin = format!("sluicegate tasks decide {}", text::quote_shell_word(task));
    if let Some(tool) = &decision.tool_id {
        let id = text::quote_shell_word(tool);
        return vec![format!("{begin} --approve {id}"), format!("{begin} --deny {id}")];
    }
    let Some(question) = &decision.id else {
        return Vec::new();
    };
    let parts = decision.raw["questions"].as_array().map_or(1, Vec::len).max(1);
    let answers = (0..parts).map(|part| {
        let option = option(&decision.raw["questions"][part]["options"][0]);
        format!(
            " --answer {}",
            text::quote_shell_word(&format!("{question}:{part}={option}"))
        )
    });
    vec![answers.fold(begin, |command, answer| command + &answer)]
}

fn option(value: &Value) -> String {
    let label = ["label", "value", "name"]
        .iter()
        .find_map(|key| value.get(key)?.as_str());
    value.as_str().or(label).unwrap_or("OPTION").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_decision_comes_with_its_command() {
        let task: Task = serde_json::from_str(include_str!("../../../tests/fixtures/api/task.json")).unwrap();
        insta::assert_snapshot!(decisions("t 1", &task), @r#"

        the agent requests the tool git_push: Push the branch
            The agent wants to push its commits
            toolId: tool-4
            toolInput: {"branch":"without-empty-orders"}
          answer it by: sluicegate tasks decide 't 1' --approve tool-4
          answer it by: sluicegate tasks decide 't 1' --deny tool-4

        the agent asks a question
            id: question-5
            title: Which orders?
            questions: [{"question":"What is an order without lines to become?","options":["removed","marked"]}]
          answer it by: sluicegate tasks decide 't 1' --answer question-5:0=removed
        "#);
        assert_eq!(state(&task), "STOPPED (waits for a decision)");
    }
}
