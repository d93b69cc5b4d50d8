//! Describes tasks as text.

use crate::error::Detail;
use crate::session::{Session, response_output};
use serde_json::Value;
use sluicegate_base::text;
use sluicegate_platform::api::{ApiValue, PendingDecision, Task, TaskPhase};
use std::fmt::Write as _;

/// The option in the command that answers a question, if the platform names no option.
pub(crate) const PLACEHOLDER_OPTION: &str = "OPTION";

/// Returns the status of the task. The status `STOPPED` has several meanings, so the possible ones are added.
pub(crate) fn describe_state(task: &Task) -> String {
    let status = task.status.as_deref().unwrap_or("(no status)");
    match task.phase() {
        TaskPhase::Finished => format!("{status} (finished)"),
        TaskPhase::Waiting => format!("{status} (waits for a decision)"),
        TaskPhase::Stopped => format!("{status} (finished, or waits for a decision)"),
        _ => status.to_owned(),
    }
}

/// Returns the first line about a task: its status.
fn describe_headline(task: &Task) -> String {
    format!("{}\n", text::escape_line(&describe_state(task)))
}

/// Describes a task: its status, its fields, and its pending decisions with the commands that answer them.
pub(crate) fn describe_task(id: &str, task: &ApiValue<Task>) -> String {
    let is_waiting = task
        .pending_decisions
        .as_ref()
        .is_some_and(|pending| !pending.is_empty());
    let mut facts = task.raw.clone();
    if let (true, Value::Object(fields)) = (is_waiting, &mut facts) {
        // The decisions follow below, each with the command to answer it.
        fields.shift_remove("pendingDecisions");
    }
    describe_headline(task)
        + &response_output::format_field_lines(&facts)
        + &describe_pending_decisions(id, task)
}

/// Describes the pending decisions of the task with the commands that answer them. Returns an empty text if there are
/// none.
fn describe_pending_decisions(id: &str, task: &Task) -> String {
    describe_decisions(id, task.pending_decisions.as_deref().unwrap_or_default())
}

/// Warns that the task waits for a decision, and prints the pending decisions with the commands that answer them.
pub(crate) fn warn_of_decisions(session: &Session, id: &str, task: &Task) {
    let details: Vec<Detail> = describe_pending_decisions(id, task)
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| Detail::Entry(line.to_owned()))
        .collect();
    session
        .ui
        .warn_with_details("the task waits for a decision", &details);
}

/// Returns whether a command can answer one of the pending decisions of the task: one of them has an id.
pub(crate) fn has_answerable_decision(task: &Task) -> bool {
    let pending = task.pending_decisions.as_deref().unwrap_or_default();
    pending.iter().any(|decision| decision.id_for_answer().is_some())
}

/// Describes that the task stopped, and that nobody knows whether its work is complete.
pub(crate) fn describe_unclear_end(id: &str) -> String {
    format!("task {id} has the status STOPPED, but the response does not show whether its work is complete")
}

/// Describes that nothing shows whether the task was resumed, so its status may be the old one.
pub(crate) fn describe_missing_resumption(id: &str, task: &Task) -> String {
    format!(
        "task {id} shows no sign that it was resumed: its status is still {}",
        describe_state(task)
    )
}

/// Describes each of the decisions with the commands that answer it.
pub(crate) fn describe_decisions(task_id: &str, pending: &[ApiValue<PendingDecision>]) -> String {
    let mut text = String::new();
    for decision in pending {
        text.push('\n');
        let _ = writeln!(text, "{}", text::escape_line(&describe_request(decision)));
        for line in list_detail_lines(decision) {
            let _ = writeln!(text, "    {}", text::escape_line(&line));
        }
        for command in list_answer_commands(task_id, decision) {
            let _ = writeln!(text, "  to answer, run: {}", text::escape_line(&command));
        }
    }
    text
}

/// Describes in one line what the agent wants the user to decide.
fn describe_request(decision: &PendingDecision) -> String {
    let title = decision
        .permission_message
        .as_ref()
        .and_then(|message| message.title.as_deref());
    match (decision.r#type.as_deref(), &decision.tool_name, title) {
        (Some("question"), _, Some(title)) => format!("the agent asks a question: {title}"),
        (Some("question"), ..) => "the agent asks a question".to_owned(),
        (_, Some(tool), Some(title)) => format!("the agent requests the tool {tool}: {title}"),
        (_, Some(tool), None) => format!("the agent requests the tool {tool}"),
        (kind, ..) => format!(
            "the agent requests a decision of type {}",
            kind.unwrap_or("(none)")
        ),
    }
}

/// Returns the details of a decision, one per line: the body of its message, and each field that `describe_request`
/// does not show.
fn list_detail_lines(decision: &ApiValue<PendingDecision>) -> Vec<String> {
    let body = decision
        .permission_message
        .as_ref()
        .and_then(|message| message.body.clone());
    let mut lines: Vec<String> = body.into_iter().collect();
    for (key, value) in decision.raw.as_object().into_iter().flatten() {
        let is_described = match key.as_str() {
            "type" => true,
            "toolName" => decision.r#type.as_deref() != Some("question"),
            "permissionMessage" => decision.permission_message.is_some(),
            _ => false,
        };
        if !is_described {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            lines.push(format!("{key}: {value}"));
        }
    }
    lines
}

/// Returns the commands that answer the decision; none if it has no id. For a question, the command has the first
/// option of each part as an example. The API document does not specify the fields of a question.
fn list_answer_commands(task_id: &str, decision: &ApiValue<PendingDecision>) -> Vec<String> {
    let command = format!("sluicegate tasks decide {}", text::quote_shell_word(task_id));
    let Some(id) = decision.id_for_answer() else {
        return Vec::new();
    };
    if !decision.is_question() {
        return vec![
            format!("{command} {}", text::format_shell_option("--approve", id)),
            format!("{command} {}", text::format_shell_option("--deny", id)),
        ];
    }
    let parts = decision.raw["questions"].as_array().map_or(1, Vec::len).max(1);
    let answers = (0..parts).map(|part| {
        let options = list_options(decision, part);
        let option = options.first().map_or(PLACEHOLDER_OPTION, |option| option);
        format!(
            " {}",
            text::format_shell_option("--answer", &format!("{id}:{part}={option}"))
        )
    });
    vec![answers.fold(command, |command, answer| command + &answer)]
}

/// Returns the names of the options of a question's part: the part has them, or the question itself. An option without
/// a name is omitted.
pub(crate) fn list_options(decision: &ApiValue<PendingDecision>, part: usize) -> Vec<&str> {
    let part_options = &decision.raw["questions"][part]["options"];
    let options = part_options.as_array().or(decision.raw["options"].as_array());
    options
        .into_iter()
        .flatten()
        .filter_map(find_option_name)
        .collect()
}

/// Returns the name of an option, which is a text or an object with one of several keys.
fn find_option_name(value: &Value) -> Option<&str> {
    let label = ["label", "value", "name"]
        .iter()
        .find_map(|key| value.get(key)?.as_str());
    value.as_str().or(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_decision_comes_with_its_command() {
        let task: Task = serde_json::from_str(include_str!("../../../tests/fixtures/api/task.json")).unwrap();
        insta::assert_snapshot!(describe_pending_decisions("t 1", &task), @r#"

        the agent requests the tool git_push: Push the branch
            The agent wants to push its commits
            toolId: tool-4
            toolInput: {"branch":"without-empty-orders"}
          to answer, run: sluicegate tasks decide 't 1' --approve tool-4
          to answer, run: sluicegate tasks decide 't 1' --deny tool-4

        the agent asks a question
            id: question-5
            title: Which orders?
            questions: [{"question":"What is an order without lines to become?","options":["removed","marked"]}]
          to answer, run: sluicegate tasks decide 't 1' --answer question-5:0=removed
        "#);
        assert_eq!(describe_state(&task), "STOPPED (waits for a decision)");
    }
}
