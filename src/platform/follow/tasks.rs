//! An agent task until it is finished, failed, or in need of somebody.

use super::{Pace, silent};
use crate::platform::api::{Answer, Decision, PendingDecision, Phase, Platform, Task};
use crate::platform::http::HttpError;
use std::collections::HashSet;

/// How often in a row a task must look finished right after it was told to go on.
const LOOKS: usize = 3;

/// Which tools are approved without asking anybody.
#[derive(Debug, Clone, Default)]
pub(crate) struct Policy {
    pub tools: Vec<String>,
    /// Approve each for the rest of the task, not only once.
    pub for_the_task: bool,
}

/// The word for how long an approval holds.
pub(crate) const fn scope_word(for_the_task: bool) -> &'static str {
    if for_the_task { "CONVERSATION" } else { "ONCE" }
}

impl Policy {
    /// The answers to all that is pending, if the policy has an answer to everything.
    fn answers(&self, pending: &[Answer<PendingDecision>]) -> Option<Vec<Decision>> {
        pending
            .iter()
            .map(|decision| {
                let tool = decision.tool_name.as_ref()?;
                let is_tool = decision.r#type.as_deref() == Some("tool");
                (is_tool && self.tools.contains(tool)).then_some(())?;
                Some(Decision::Tool {
                    id: decision.tool_id.clone()?,
                    approved: true,
                    scope: scope_word(self.for_the_task).to_owned(),
                })
            })
            .collect()
    }
}

/// How a task ended, for whoever waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskEnd {
    Finished,
    /// STOPPED with nothing pending, after STOPPING was seen: somebody stopped it.
    Halted,
    /// STOPPED with pending decisions that no policy answers.
    Waiting,
    Errored,
    /// STOPPED, but the answer does not tell which of the two it is.
    Unclear,
    /// None of these before the deadline.
    Deadline,
}

#[derive(Debug)]
pub(crate) enum Turn<'a> {
    Status(&'a str),
    Approved(&'a str),
}

/// What was known when the task was last told to go on.
#[derive(Debug, Default)]
struct Resumed {
    /// When the task had last changed.
    modified_at: Option<String>,
    /// What was answered, and may still look pending.
    answered: HashSet<String>,
    /// How often it looked finished since.
    looks: usize,
    /// Whether it was seen at work since, so that its status is a new one.
    worked: bool,
}

/// Asks until the task ends or needs somebody. `before` is the task as it was before it was told to go on by whoever
/// calls; none for a new one. The document does not show the status right after that, so an old one is not believed
/// at once.
pub(crate) async fn task(
    platform: &Platform,
    id: &str,
    policy: &Policy,
    before: Option<(&Task, Vec<String>)>,
    mut pace: Pace,
    mut told: impl FnMut(Turn<'_>),
) -> Result<(Answer<Task>, TaskEnd), HttpError> {
    let mut resumed = before.map(|(task, answered)| Resumed::after(task, answered));
    let (mut status, mut stopping, mut last) = (None, false, None);
    loop {
        let Some(answer) = pace.in_time(platform.task(id)).await else {
            return last.map(|answer| (answer, TaskEnd::Deadline)).ok_or_else(silent);
        };
        let answer = answer?;
        if answer.status != status {
            status.clone_from(&answer.status);
            told(Turn::Status(status.as_deref().unwrap_or("(no status)")));
        }
        stopping |= is_stopping(&answer);
        let settling = resumed.as_mut().is_some_and(|resumed| !resumed.is_over(&answer));
        let end = if settling { None } else { end(&answer, stopping) };
        match end {
            Some(TaskEnd::Waiting) => {
                let pending = answer.pending_decisions.as_deref().unwrap_or_default();
                let Some(decisions) = policy.answers(pending) else {
                    return Ok((answer, TaskEnd::Waiting));
                };
                pace.in_time(platform.decide(id, &decisions))
                    .await
                    .ok_or_else(silent)??;
                for decision in pending {
                    told(Turn::Approved(decision.tool_name.as_deref().unwrap_or_default()));
                }
                resumed = Some(Resumed::after(&answer, ids(pending)));
                pace.hasten();
            }
            Some(end) => return Ok((answer, end)),
            None => {}
        }
        if !pace.pause().await {
            return Ok((answer, TaskEnd::Deadline));
        }
        last = Some(answer);
    }
}

fn is_stopping(task: &Task) -> bool {
    let status = task.status.as_deref().unwrap_or_default();
    status.eq_ignore_ascii_case("STOPPING")
}

fn end(task: &Task, stopping: bool) -> Option<TaskEnd> {
    match task.phase() {
        Phase::Finished if stopping => Some(TaskEnd::Halted),
        Phase::Finished => Some(TaskEnd::Finished),
        Phase::Waiting => Some(TaskEnd::Waiting),
        Phase::Stopped => Some(TaskEnd::Unclear),
        Phase::Errored => Some(TaskEnd::Errored),
        Phase::Working | Phase::Unknown => None,
    }
}

/// The ids by which these are answered.
fn ids(pending: &[Answer<PendingDecision>]) -> Vec<String> {
    let id = |decision: &Answer<PendingDecision>| decision.answered_by().map(str::to_owned);
    pending.iter().filter_map(id).collect()
}

impl Resumed {
    fn after(task: &Task, answered: Vec<String>) -> Self {
        Self {
            modified_at: task.modified_at.clone(),
            answered: answered.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Whether what the task says now is said after it went on.
    fn is_over(&mut self, task: &Task) -> bool {
        let pending = task.pending_decisions.as_deref().unwrap_or_default();
        self.worked |= matches!(task.phase(), Phase::Working | Phase::Unknown);
        let old_question = !pending.is_empty() && ids(pending).iter().all(|id| self.answered.contains(id));
        if old_question && !self.worked {
            return false;
        }
        self.looks += 1;
        self.worked || task.modified_at != self.modified_at || !pending.is_empty() || self.looks >= LOOKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn seen(value: Value) -> Task {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn both_meanings_of_stopped_are_told_apart() {
        let ended = |task| end(&seen(task), false);
        assert_eq!(
            ended(json!({ "status": "STOPPED", "pendingDecisions": [] })),
            Some(TaskEnd::Finished)
        );
        assert_eq!(
            ended(json!({ "status": "STOPPED", "pendingDecisions": [{}] })),
            Some(TaskEnd::Waiting)
        );
        assert_eq!(ended(json!({ "status": "STOPPED" })), Some(TaskEnd::Unclear));
        assert_eq!(
            ended(json!({ "status": "ERRORED", "pendingDecisions": [] })),
            Some(TaskEnd::Errored)
        );
        for status in ["RUNNING", "STOPPING", "DREAMING"] {
            assert_eq!(
                ended(json!({ "status": status, "pendingDecisions": [] })),
                None,
                "{status}"
            );
        }
        let stopped = seen(json!({ "status": "STOPPED", "pendingDecisions": [] }));
        assert_eq!(end(&stopped, true), Some(TaskEnd::Halted));
    }

    #[test]
    fn a_policy_answers_everything_or_nothing() {
        let policy = Policy {
            tools: vec!["git_push".to_owned()],
            for_the_task: true,
        };
        let pending = |value| {
            seen(json!({ "pendingDecisions": value }))
                .pending_decisions
                .unwrap()
        };
        let push = json!({ "type": "tool", "toolName": "git_push", "toolId": "1" });
        assert_eq!(
            policy.answers(&pending(json!([push]))).unwrap(),
            [Decision::Tool {
                id: "1".into(),
                approved: true,
                scope: "CONVERSATION".into()
            }]
        );
        let edit = json!({ "type": "tool", "toolName": "edit_file", "toolId": "2" });
        assert!(policy.answers(&pending(json!([push, edit]))).is_none());
        assert!(
            policy
                .answers(&pending(
                    json!([{ "type": "question", "id": "3", "toolName": "git_push", "toolId": "1" }])
                ))
                .is_none()
        );
    }

    #[test]
    fn an_old_status_is_not_believed_right_after_a_decision() {
        let waiting =
            json!({ "status": "STOPPED", "modifiedAt": "1", "pendingDecisions": [{ "toolId": "a" }] });
        let finished = json!({ "status": "STOPPED", "modifiedAt": "1", "pendingDecisions": [] });
        let fresh = || Resumed::after(&seen(waiting.clone()), vec!["a".to_owned()]);
        let mut resumed = fresh();
        assert!(!resumed.is_over(&seen(waiting.clone())));
        assert!(!resumed.is_over(&seen(finished.clone())));
        assert!(resumed.is_over(&seen(json!({ "status": "RUNNING", "modifiedAt": "1" }))));
        assert!(resumed.is_over(&seen(finished.clone())));
        let mut changed = fresh();
        assert!(changed.is_over(&seen(
            json!({ "status": "STOPPED", "modifiedAt": "2", "pendingDecisions": [] })
        )));
        let mut other = fresh();
        assert!(other.is_over(&seen(
            json!({ "status": "STOPPED", "modifiedAt": "1", "pendingDecisions": [{ "toolId": "b" }] })
        )));
        let mut thrice = fresh();
        let looks: Vec<bool> = (0..3).map(|_| thrice.is_over(&seen(finished.clone()))).collect();
        assert_eq!(looks, [false, false, true]);
    }
}
