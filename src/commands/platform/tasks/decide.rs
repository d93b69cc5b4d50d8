//! `sluicegate tasks decide`.

use super::shown;
use super::wait::{Waiting, told_to_go_on};
use super::{no_task, platform};
use crate::api::{Decision, QuestionAnswer};
use crate::cli::{ApprovalScope, DecideArgs};
use crate::commands::{CommandResult, Run};
use crate::error::Failure;
use crate::follow::{changed_in_time, scope_word};
use crate::text;

pub(super) fn decide(run: &Run, args: &DecideArgs) -> CommandResult {
    let decisions = decisions(args)?;
    let waiting = Waiting::quiet(run, args.wait, &args.pace)?;
    let platform = platform(run)?;
    run.requests(async {
        let before = told_to_go_on(&platform, &args.id, waiting.as_ref()).await?;
        let pace = waiting.as_ref().map(|it| &it.pace);
        let answer = match changed_in_time(pace, platform.decide(&args.id, &decisions)).await {
            Ok(answer) => answer,
            Err(error) => return Err(no_task(&platform, &args.id, error).await),
        };
        if let Some(waiting) = waiting {
            let answered = decisions.iter().map(id).collect();
            let before = before.map(|task| (task, answered));
            return waiting
                .follow(run, &platform, &args.id, before, args.output)
                .await;
        }
        run.show(args.output, &answer.raw, || {
            let left = answer.pending_decisions.as_deref().unwrap_or_default();
            let words = match left.len() {
                0 => "everything is decided, the task goes on".to_owned(),
                count => format!("{count} decisions are still pending"),
            };
            text::line(&words) + "\n" + &shown::pending(&args.id, left)
        })
    })?
}

fn id(decision: &Decision) -> String {
    match decision {
        Decision::Tool { id, .. } | Decision::Question { id, .. } => id.clone(),
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

/// Adds `ID:PART=OPTION` to the question's answers; options of the same part stand together.
fn add_answer(decisions: &mut Vec<Decision>, text: &str) -> Result<(), Failure> {
    let wrong = || {
        Failure::usage(format!(
            "--answer {text}: is not ID:PART=OPTION, as `question-5:0=removed`"
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
