//! Runs `sluicegate tasks decide`.

use super::task_request_failure;
use super::task_text;
use super::task_wait::{TaskWait, fetch_task_before_resume};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{ApprovalScope, DecideArgs};
use crate::session::{CommandResult, Session};
use sluicegate_base::text;
use sluicegate_platform::api::{
    ApiValue, Decision, PendingDecision, Platform, QuestionAnswer, RemainingDecisions, Task,
};
use sluicegate_platform::follow::{approval_scope, send_change};

/// Sends the user's decisions to a waiting task, and checks that the task accepted them. With `--wait`, follows the
/// task until it ends.
pub(crate) fn send_task_decisions(session: &Session, args: &DecideArgs) -> CommandResult {
    // Without pending decisions, this only checks the arguments.
    parse_decisions(args, &[])?;
    let wait = TaskWait::without_approvals(session, args.wait, &args.pace)?;
    let platform = session.create_account_client()?;
    session.block_on(async {
        let earlier_task = fetch_task_before_decisions(&platform, &args.id, wait.as_ref()).await?;
        let pending_ids = list_pending_ids(earlier_task.pending_decisions.as_deref().unwrap_or_default());
        let decisions = parse_decisions(args, &pending_ids)?;
        reject_unknown_decisions(&args.id, &earlier_task, &decisions)?;
        reject_decisions_of_wrong_kind(&earlier_task, &decisions)?;
        reject_placeholder_answers(&args.id, &earlier_task, &decisions)?;
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
                .follow_task(session, &platform, &args.id, earlier_state, args.output)
                .await;
        }
        session.print_response(args.output, &response.raw, || {
            let pending_decisions = response.pending_decisions.as_deref().unwrap_or_default();
            describe_outcome(&response, &decisions, &pending_ids)
                + &task_text::describe_decisions(&args.id, pending_decisions)
        })?;
        // The response is also printed if a decision was not made.
        check_decisions_made(&args.id, &response, &decisions, &pending_ids)
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
/// mention it. Does nothing if the task has no list of pending decisions, or if the decision may be a pending one that
/// has no id.
fn reject_unknown_decisions(task_id: &str, task: &Task, decisions: &[Decision]) -> Result<(), Failure> {
    let Some(pending) = &task.pending_decisions else {
        return Ok(());
    };
    let pending_ids = list_pending_ids(pending);
    let unknown_decision = decisions
        .iter()
        .find(|decision| !pending_ids.contains(&decided_id(decision)) && !may_be_unnamed(decision, pending));
    let Some(id) = unknown_decision.map(decided_id) else {
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
    Err(Failure::from_message(ExitStatus::Undecided, message).with_hint(hint))
}

/// Returns the ids of the pending decisions that have one.
fn list_pending_ids(pending: &[ApiValue<PendingDecision>]) -> Vec<&str> {
    pending
        .iter()
        .filter_map(|decision| decision.id_for_answer())
        .collect()
}

/// Returns whether the user's decision may be about a pending one whose id is not known: the API document does not
/// define the fields of a question.
fn may_be_unnamed(decision: &Decision, pending: &[ApiValue<PendingDecision>]) -> bool {
    let other_type = match decision {
        Decision::Tool { .. } => "question",
        Decision::Question { .. } => "tool",
    };
    pending
        .iter()
        .any(|pending| pending.id_for_answer().is_none() && pending.r#type.as_deref() != Some(other_type))
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
                        "answer the question with {}",
                        text::format_shell_option("--answer", &format!("{id}:PART=OPTION"))
                    ),
                ),
                (Some("tool"), Decision::Question { .. }) => (
                    format!("{id} is a tool call, so it cannot be answered"),
                    format!(
                        "decide about the tool call with {}",
                        text::format_shell_option("--approve or --deny", id)
                    ),
                ),
                _ => continue,
            };
            return Err(Failure::usage(message).with_hint(hint));
        }
    }
    Ok(())
}

/// Fails before anything is sent if an answer is the placeholder of the printed command, and the platform does not
/// offer such an option.
fn reject_placeholder_answers(task_id: &str, task: &Task, decisions: &[Decision]) -> Result<(), Failure> {
    let placeholder = task_text::PLACEHOLDER_OPTION;
    for decision in decisions {
        let Decision::Question { id, answers } = decision else {
            continue;
        };
        for answer in answers {
            let is_offered = task.pending_decisions.iter().flatten().any(|pending| {
                pending.id_for_answer() == Some(id)
                    && task_text::list_options(pending, answer.question_index).contains(&placeholder)
            });
            if !is_offered && answer.selected_options.iter().any(|option| option == placeholder) {
                let message = format!("{placeholder} is a placeholder for the answer to {id}");
                return Err(Failure::usage(message).with_hint(format!(
                    "replace {placeholder} with your answer; run `sluicegate tasks show {}` to see the question",
                    text::quote_shell_word(task_id)
                )));
            }
        }
    }
    Ok(())
}

/// Returns the ids of the sent decisions that are still pending according to the response.
fn list_undecided_ids<'d>(response: &RemainingDecisions, decisions: &'d [Decision]) -> Vec<&'d str> {
    let pending_ids = list_pending_ids(response.pending_decisions.as_deref().unwrap_or_default());
    decisions
        .iter()
        .map(decided_id)
        .filter(|id| pending_ids.contains(id))
        .collect()
}

/// Returns the id of a sent decision that may still be pending under an unknown id. `earlier_ids` are the ids of the
/// decisions that were pending before.
fn find_unclear_id<'d>(
    response: &RemainingDecisions,
    decisions: &'d [Decision],
    earlier_ids: &[&str],
) -> Option<&'d str> {
    let pending = response.pending_decisions.as_deref().unwrap_or_default();
    decisions
        .iter()
        .find(|decision| !earlier_ids.contains(&decided_id(decision)) && may_be_unnamed(decision, pending))
        .map(decided_id)
}

/// Describes how many decisions are still pending. Returns an empty text if a sent decision is or may be among them,
/// because `check_decisions_made` reports this decision.
fn describe_outcome(response: &RemainingDecisions, decisions: &[Decision], earlier_ids: &[&str]) -> String {
    let pending_count = response.pending_decisions.as_ref().map(Vec::len);
    match pending_count {
        None => "the decisions were sent\n".to_owned(),
        Some(0) => "all decisions are made, and the task continues\n".to_owned(),
        Some(_) if !list_undecided_ids(response, decisions).is_empty() => String::new(),
        Some(_) if find_unclear_id(response, decisions, earlier_ids).is_some() => String::new(),
        Some(1) => "decided; 1 more decision is pending\n".to_owned(),
        Some(pending_count) => format!("decided; {pending_count} more decisions are pending\n"),
    }
}

/// Fails if a sent decision is still pending, or if the response does not show whether it is.
fn check_decisions_made(
    task: &str,
    response: &RemainingDecisions,
    decisions: &[Decision],
    earlier_ids: &[&str],
) -> CommandResult {
    let undecided_ids = list_undecided_ids(response, decisions);
    let (status, message) = if response.pending_decisions.is_none() {
        let message = "the response does not list the pending decisions";
        (ExitStatus::Undecided, message.to_owned())
    } else if let Some(id) = find_unclear_id(response, decisions, earlier_ids) {
        let message = format!(
            "the response lists a pending decision without an id, so it is unknown whether {id} was decided"
        );
        (ExitStatus::Undecided, message)
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
    Err(Failure::from_message(status, message).with_hint(hint))
}

/// Returns the id of the tool call or of the question that the user decided.
fn decided_id(decision: &Decision) -> &str {
    match decision {
        Decision::Tool { id, .. } | Decision::Question { id, .. } => id,
    }
}

/// Converts the values of `--approve`, `--deny` and `--answer` to decisions. An id that is repeated gives one decision.
/// Fails if an id is both approved and denied, or both decided and answered. `pending_ids` are the ids of the pending
/// decisions.
fn parse_decisions(args: &DecideArgs, pending_ids: &[&str]) -> Result<Vec<Decision>, Failure> {
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
        let tool_id = parse_answer(text, pending_ids)
            .map(|(id, ..)| id.to_owned())
            .filter(|id| args.approve.contains(id) || args.deny.contains(id));
        if let Some(id) = tool_id {
            return Err(Failure::usage(format!(
                "{id} is both an answered question and a decided tool call"
            )));
        }
        add_answer(&mut decisions, text, pending_ids)?;
    }
    Ok(decisions)
}

/// Splits `ID:PART=OPTION` into the id of the question, the index of its part, and the chosen option. The id and the
/// option may contain the separators: the id of a pending decision is preferred, then the shortest id.
fn parse_answer<'t>(text: &'t str, pending_ids: &[&str]) -> Option<(&'t str, usize, &'t str)> {
    let mut shortest_split = None;
    for (position, _) in text.match_indices('=') {
        let Some((question, part)) = text[..position].rsplit_once(':') else {
            continue;
        };
        let Ok(part) = part.parse() else {
            continue;
        };
        let split = (question, part, &text[position + 1..]);
        if pending_ids.contains(&question) {
            return Some(split);
        }
        shortest_split = shortest_split.or(Some(split));
    }
    shortest_split
}

/// Adds the answer `ID:PART=OPTION` to the decisions. A question has one decision with an answer for each of its parts,
/// and an answer has all options that the user chose for its part.
fn add_answer(decisions: &mut Vec<Decision>, text: &str, pending_ids: &[&str]) -> Result<(), Failure> {
    let Some((question, part, option)) = parse_answer(text, pending_ids) else {
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
