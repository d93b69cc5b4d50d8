//! Runs `sluicegate tasks decide`.

use super::task_text;
use super::task_wait::{TaskWait, fetch_task_before_resume};
use super::{create_platform_client, task_request_failure};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{ApprovalScope, DecideArgs};
use crate::session::{CommandResult, Run};
use sluicegate_base::text;
use sluicegate_platform::api::{ApiValue, Decision, Platform, QuestionAnswer, RemainingDecisions, Task};
use sluicegate_platform::follow::{approval_scope, send_change};

/// Sends the user's decisions to a waiting task, and checks that the task accepted them. With `--wait`, follows the
/// task until it ends.
pub(crate) fn send_task_decisions(run: &Run, args: &DecideArgs) -> CommandResult {
    let decisions = parse_decisions(args)?;
    let wait = TaskWait::without_approvals(run, args.wait, &args.pace)?;
    let platform = create_platform_client(run)?;
    run.block_on(async {
        let earlier_task = fetch_task_before_decisions(&platform, &args.id, wait.as_ref()).await?;
        reject_unknown_decisions(&args.id, &earlier_task, &decisions)?;
        reject_decisions_of_wrong_kind(&earlier_task, &decisions)?;
        // The time limit of `--wait` applies to this request, too.
        let pace = wait.as_ref().map(|wait| &wait.pace);
        let response = match send_change(pace, platform.send_decisions(&args.id, &decisions)).await {
            Ok(response) => response,
            Err(error) => return Err(task_request_failure(&platform, &args.id, error).await),
        };
        if let Some(wait) = wait {
            // The platform may list the decided ids for a while: the wait must not treat them as pending.
            let decided_ids = decisions
                .iter()
                .map(|decision| decided_id(decision).to_owned())
                .collect();
            // The next response may still show the task as it was before the decisions.
            let earlier_state = Some((earlier_task, decided_ids));
            return wait
                .follow_task(run, &platform, &args.id, earlier_state, args.output)
                .await;
        }
        run.print_response(args.output, &response.raw, || {
            let pending_decisions = response.pending_decisions.as_deref().unwrap_or_default();
            describe_outcome(&response, &decisions)
                + &task_text::describe_decisions(&args.id, pending_decisions)
        })?;
        // The response is also printed if a decision was not made.
        check_decisions_made(&args.id, &response, &decisions)
    })?
}

/// Requests the state of the task before the decisions are sent: it lists the decisions that are pending. With
/// `--wait`, the time limit of the wait applies to this request, too.
async fn fetch_task_before_decisions(
    platform: &Platform,
    id: &str,
    wait: Option<&TaskWait>,
) -> Result<ApiValue<Task>, Failure> {
    // Without `--wait`, this function returns `None` and requests nothing.
    if let Some(task) = fetch_task_before_resume(platform, id, wait).await? {
        return Ok(task);
    }
    match platform.fetch_task(id).await {
        Ok(task) => Ok(task),
        Err(error) => Err(task_request_failure(platform, id, error).await),
    }
}

/// Fails before anything is sent if one of the user's decisions is not pending: the platform's response would not
/// mention it. Does nothing if the task has no list of pending decisions.
fn reject_unknown_decisions(task_id: &str, task: &Task, decisions: &[Decision]) -> Result<(), Failure> {
    let Some(pending) = &task.pending_decisions else {
        return Ok(());
    };
    let pending_ids: Vec<&str> = pending
        .iter()
        .filter_map(|decision| decision.id_for_answer())
        .collect();
    let Some(id) = decisions
        .iter()
        .map(decided_id)
        .find(|id| !pending_ids.contains(id))
    else {
        return Ok(());
    };
    let state = task_text::describe_state(task);
    let message = format!("decision {id} is not pending, so nothing was decided; task {task_id} is {state}");
    let hint = match text::suggest(id, &pending_ids) {
        Some(question) => question,
        None if pending.is_empty() => format!(
            "run `sluicegate tasks show {}` to see whether the task waits for a decision",
            text::quote_shell_word(task_id)
        ),
        None if pending_ids.is_empty() => "the pending decisions of the task have no id".to_owned(),
        None => format!("the task is waiting for {}", pending_ids.join(", ")),
    };
    Err(Failure::new(ExitStatus::Undecided, anyhow::Error::msg(message)).with_hint(hint))
}

/// Fails before anything is sent if a question is to be approved or denied, or if a tool call is to be answered. Does
/// not check the options of an answer, because the API document does not define the fields of a question.
fn reject_decisions_of_wrong_kind(task: &Task, decisions: &[Decision]) -> Result<(), Failure> {
    for pending in task.pending_decisions.iter().flatten() {
        for decision in decisions
            .iter()
            .filter(|decision| pending.id_for_answer() == Some(decided_id(decision)))
        {
            let id = decided_id(decision);
            let (message, hint) = match (pending.r#type.as_deref(), decision) {
                (Some("question"), Decision::Tool { .. }) => (
                    format!("{id} is a question, so it cannot be approved or denied"),
                    format!(
                        "answer the question with --answer {}",
                        text::quote_shell_word(&format!("{id}:PART=OPTION"))
                    ),
                ),
                (Some("tool"), Decision::Question { .. }) => (
                    format!("{id} is a tool call, so it cannot be answered"),
                    format!(
                        "decide about the tool call with --approve or --deny {}",
                        text::quote_shell_word(id)
                    ),
                ),
                _ => continue,
            };
            return Err(Failure::usage(message).with_hint(hint));
        }
    }
    Ok(())
}

/// Returns the ids of the sent decisions that are still pending according to the response.
fn list_undecided_ids<'d>(response: &RemainingDecisions, decisions: &'d [Decision]) -> Vec<&'d str> {
    let pending_ids: Vec<&str> = response
        .pending_decisions
        .iter()
        .flatten()
        .filter_map(|decision| decision.id_for_answer())
        .collect();
    decisions
        .iter()
        .map(decided_id)
        .filter(|id| pending_ids.contains(id))
        .collect()
}

/// Describes how many decisions are still pending. Returns an empty text if a sent decision is among them, because
/// `check_decisions_made` reports this decision.
fn describe_outcome(response: &RemainingDecisions, decisions: &[Decision]) -> String {
    let pending_count = response.pending_decisions.as_ref().map(Vec::len);
    match pending_count {
        None => "the decisions were sent\n".to_owned(),
        Some(0) => "all decisions are made, and the task continues\n".to_owned(),
        Some(_) if !list_undecided_ids(response, decisions).is_empty() => String::new(),
        Some(1) => "decided; 1 more decision is pending\n".to_owned(),
        Some(pending_count) => format!("decided; {pending_count} more decisions are pending\n"),
    }
}

/// Fails if a sent decision is still pending, or if the response does not show whether it is.
fn check_decisions_made(task: &str, response: &RemainingDecisions, decisions: &[Decision]) -> CommandResult {
    let undecided_ids = list_undecided_ids(response, decisions);
    let (status, message) = if response.pending_decisions.is_none() {
        let message = "the response does not list the pending decisions";
        (ExitStatus::Undecided, message.to_owned())
    } else if undecided_ids.is_empty() {
        return Ok(ExitStatus::Success);
    } else {
        let message = format!(
            "the platform accepted the decisions, but these are still pending: {}",
            undecided_ids.join(", ")
        );
        (ExitStatus::RemoteFailed, message)
    };
    let hint = format!(
        "run `sluicegate tasks show {}` to list the pending decisions",
        text::quote_shell_word(task)
    );
    Err(Failure::new(status, anyhow::Error::msg(message)).with_hint(hint))
}

/// Returns the id of the tool call or of the question that the user decided.
fn decided_id(decision: &Decision) -> &str {
    match decision {
        Decision::Tool { id, .. } | Decision::Question { id, .. } => id,
    }
}

/// Converts the values of `--approve`, `--deny` and `--answer` to decisions. An id that is repeated gives one decision.
/// Fails if an id is both approved and denied, or both decided and answered.
fn parse_decisions(args: &DecideArgs) -> Result<Vec<Decision>, Failure> {
    let for_whole_task = args.scope == ApprovalScope::Conversation;
    let scope = approval_scope(for_whole_task);
    let approvals = args.approve.iter().map(|id| (id, true));
    let denials = args.deny.iter().map(|id| (id, false));
    let mut decisions: Vec<Decision> = Vec::new();
    for (id, is_approved) in approvals.chain(denials) {
        if !decisions.iter().any(|decision| decided_id(decision) == id) {
            decisions.push(Decision::Tool {
                id: id.clone(),
                approved: is_approved,
                scope: scope.to_owned(),
            });
        }
    }
    if let Some(id) = args.approve.iter().find(|id| args.deny.contains(id)) {
        return Err(Failure::usage(format!("{id} is both approved and denied")));
    }
    for text in &args.answer {
        let tool_id = parse_answer(text)
            .map(|(id, ..)| id.to_owned())
            .filter(|id| args.approve.contains(id) || args.deny.contains(id));
        if let Some(id) = tool_id {
            return Err(Failure::usage(format!(
                "{id} is both an answered question and a decided tool call"
            )));
        }
        add_answer(&mut decisions, text)?;
    }
    Ok(decisions)
}

/// Splits `ID:PART=OPTION` into the id of the question, the index of its part, and the chosen option. The id may
/// contain colons.
fn parse_answer(text: &str) -> Option<(&str, usize, &str)> {
    let (question_part, option) = text.split_once('=')?;
    let (question, part) = question_part.rsplit_once(':')?;
    Some((question, part.parse().ok()?, option))
}

/// Adds the answer `ID:PART=OPTION` to the decisions. A question has one decision with an answer for each of its parts,
/// and an answer has all options that the user chose for its part.
fn add_answer(decisions: &mut Vec<Decision>, text: &str) -> Result<(), Failure> {
    let Some((question, part, option)) = parse_answer(text) else {
        return Err(Failure::usage(format!(
            "--answer {text}: expected ID:PART=OPTION, for example `question-5:0=removed`"
        )));
    };
    let answer = QuestionAnswer {
        question_index: part,
        selected_options: vec![option.to_owned()],
    };
    let earlier_answers = decisions.iter_mut().find_map(|decision| match decision {
        Decision::Question { id, answers } if id == question => Some(answers),
        _ => None,
    });
    let Some(answers) = earlier_answers else {
        decisions.push(Decision::Question {
            id: question.to_owned(),
            answers: vec![answer],
        });
        return Ok(());
    };
    match answers.iter_mut().find(|answer| answer.question_index == part) {
        Some(answer_of_part) => answer_of_part.selected_options.extend(answer.selected_options),
        None => answers.push(answer),
    }
    Ok(())
}
