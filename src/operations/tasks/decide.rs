//! Runs `sluicegate tasks decide`.

use super::shown;
use super::wait::{TaskWait, told_to_go_on};
use super::{no_task, platform};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{ApprovalScope, DecideArgs};
use crate::session::{CommandResult, Run};
use sluicegate_base::text;
use sluicegate_platform::api::{ApiValue, Decision, Platform, QuestionAnswer, RemainingDecisions, Task};
use sluicegate_platform::follow::{scope_word, send_before_deadline};

pub(crate) fn decide(run: &Run, args: &DecideArgs) -> CommandResult {
    let decisions = decisions(args)?;
    let waiting = TaskWait::quiet(run, args.wait, &args.pace)?;
    let platform = platform(run)?;
    run.requests(async {
        let before = before(&platform, &args.id, waiting.as_ref()).await?;
        all_pending(&args.id, &before, &decisions)?;
        let pace = waiting.as_ref().map(|it| &it.pace);
        let answer = match send_before_deadline(pace, platform.send_decisions(&args.id, &decisions)).await {
            Ok(answer) => answer,
            Err(error) => return Err(no_task(&platform, &args.id, error).await),
        };
        if let Some(waiting) = waiting {
            let answered = decisions.iter().map(|it| id(it).to_owned()).collect();
            let before = Some((before, answered));
            return waiting
                .follow(run, &platform, &args.id, before, args.output)
                .await;
        }
        run.show(args.output, &answer.raw, || {
            let left = answer.pending_decisions.as_deref().unwrap_or_default();
            words(&answer, &decisions) + &shown::pending(&args.id, left)
        })?;
        held(&args.id, &answer, &decisions)
    })?
}

/// Returns the task before the decisions: the platform's response to a decision does not mention decisions that are not
/// pending.
async fn before(
    platform: &Platform,
    id: &str,
    waiting: Option<&TaskWait>,
) -> Result<ApiValue<Task>, Failure> {
    if let Some(task) = told_to_go_on(platform, id, waiting).await? {
        return Ok(task);
    }
    match platform.task(id).await {
        Ok(task) => Ok(task),
        Err(error) => Err(no_task(platform, id, error).await),
    }
}

/// Returns an error if a decision is not pending, as far as the task lists pending ones.
fn all_pending(task: &str, before: &Task, decisions: &[Decision]) -> Result<(), Failure> {
    let Some(pending) = &before.pending_decisions else {
        return Ok(());
    };
    let known: Vec<&str> = pending.iter().filter_map(|it| it.decision_id()).collect();
    let unknown = |it: &&str| !known.contains(it);
    let Some(id) = decisions.iter().map(id).find(unknown) else {
        return Ok(());
    };
    let state = shown::state(before);
    let said = format!("{id} is not pending, so nothing was decided; the task {task} is {state}");
    let hint = match text::suggest(id, &known) {
        Some(question) => question,
        None if known.is_empty() => "the task waits for no decision".to_owned(),
        None => format!("the task waits for {}", known.join(", ")),
    };
    Err(Failure::new(ExitStatus::Undecided, anyhow::Error::msg(said)).hint(hint))
}

/// Returns the decisions that are still pending in the response.
fn undone<'d>(answer: &RemainingDecisions, decisions: &'d [Decision]) -> Vec<&'d str> {
    let left: Vec<&str> = answer
        .pending_decisions
        .iter()
        .flatten()
        .filter_map(|it| it.decision_id())
        .collect();
    decisions.iter().map(id).filter(|id| left.contains(id)).collect()
}

fn words(answer: &RemainingDecisions, decisions: &[Decision]) -> String {
    let left = answer.pending_decisions.as_ref().map(Vec::len);
    match left {
        None => "the decisions were sent\n".to_owned(),
        Some(0) => "no decision is pending, the task continues\n".to_owned(),
        Some(_) if !undone(answer, decisions).is_empty() => String::new(),
        Some(1) => "decided; 1 more decision is pending\n".to_owned(),
        Some(count) => format!("decided; {count} more decisions are pending\n"),
    }
}

/// Checks that the platform applied the decisions.
fn held(task: &str, answer: &RemainingDecisions, decisions: &[Decision]) -> CommandResult {
    let failed = |status, said: String| {
        let hint = format!("run `sluicegate tasks show {task}` to list the pending decisions");
        Err(Failure::new(status, anyhow::Error::msg(said)).hint(hint))
    };
    if answer.pending_decisions.is_none() {
        let said = "the response does not list the pending decisions";
        return failed(ExitStatus::Undecided, said.to_owned());
    }
    let undone = undone(answer, decisions);
    if undone.is_empty() {
        return Ok(ExitStatus::Success);
    }
    let said = format!(
        "the platform accepted the decisions, but these are still pending: {}",
        undone.join(", ")
    );
    failed(ExitStatus::RemoteFailed, said)
}

fn id(decision: &Decision) -> &str {
    match decision {
        Decision::Tool { id, .. } | Decision::Question { id, .. } => id,
    }
}

fn decisions(args: &DecideArgs) -> Result<Vec<Decision>, Failure> {
    let scope = scope_word(args.scope == ApprovalScope::Conversation);
    let tool = |id: &String, approved| Decision::Tool {
        id: id.clone(),
        approved,
        scope: scope.to_owned(),
    };
    let mut decisions: Vec<Decision> = args.approve.iter().map(|id| tool(id, true)).collect();
    decisions.extend(args.deny.iter().map(|id| tool(id, false)));
    if let Some(both) = args.approve.iter().find(|id| args.deny.contains(id)) {
        return Err(Failure::usage(format!("{both} is both approved and denied")));
    }
    for text in &args.answer {
        add_answer(&mut decisions, text)?;
    }
    Ok(decisions)
}

/// Adds `ID:PART=OPTION` to the question's answers; options of the same part are grouped.
fn add_answer(decisions: &mut Vec<Decision>, text: &str) -> Result<(), Failure> {
    let wrong = || {
        Failure::usage(format!(
            "--answer {text}: expected ID:PART=OPTION, for example `question-5:0=removed`"
        ))
    };
    let (place, option) = text.split_once('=').ok_or_else(wrong)?;
    let (question, part) = place.rsplit_once(':').ok_or_else(wrong)?;
    let part: usize = part.parse().map_err(|_| wrong())?;
    let known = decisions.iter_mut().find_map(|decision| match decision {
        Decision::Question { id, answers } if id == question => Some(answers),
        _ => None,
    });
    let answer = QuestionAnswer {
        question_index: part,
        selected_options: vec![option.to_owned()],
    };
    match known {
        None => decisions.push(Decision::Question {
            id: question.to_owned(),
            answers: vec![answer],
        }),
        Some(answers) => match answers.iter_mut().find(|it| it.question_index == part) {
            Some(same) => same.selected_options.extend(answer.selected_options),
            None => answers.push(answer),
        },
    }
    Ok(())
}
