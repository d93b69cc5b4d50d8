//! Waits until an agent task finishes, fails, or needs a decision.

use super::{Pace, silent};
use crate::api::{Answer, Decision, PendingDecision, Phase, Platform, Task};
use crate::http::HttpError;
use std::collections::HashSet;

/// Number of times in a row that a task must look finished right after it was resumed.
const LOOKS: usize = 3;

/// The tools that are approved automatically.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    pub tools: Vec<String>,
    /// Whether to approve each for the rest of the task, not only once.
    pub for_the_task: bool,
}

/// Returns the platform's word for the scope of an approval.
pub const fn scope_word(for_the_task: bool) -> &'static str {
    if for_the_task { "CONVERSATION" } else { "ONCE" }
}

impl Policy {
    /// Returns the decisions for everything that is pending, or `None` if the policy does not cover all of it.
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

/// The outcome of waiting for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskEnd {
    Finished,
    /// STOPPED with nothing pending, after STOPPING was seen: somebody stopped it.
    Halted,
    /// STOPPED with pending decisions that the policy does not cover.
    Waiting,
    Errored,
    /// STOPPED, but the response does not show whether decisions are pending.
    Unclear,
    /// The deadline passed before any of these.
    Deadline,
}

#[derive(Debug)]
pub enum Turn<'a> {
    Status(&'a str),
    Approved(&'a str),
}

/// The state of the task when it was last resumed.
#[derive(Debug, Default)]
struct Resumed {
    /// Time of the task's last change.
    modified_at: Option<String>,
    /// Ids of answered decisions, which may still look pending.
    answered: HashSet<String>,
    /// Number of times it looked finished since.
    looks: usize,
    /// Whether it was seen working since, so that its status is a new one.
    worked: bool,
}

/// Polls until the task ends or needs a decision. `before` is the task before the caller resumed it, with the answered
/// ids; `None` for a new task. The document does not define the status right after that, so an unchanged status is not
/// trusted at once.
pub async fn task(
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

/// Returns the ids for the answers to these decisions.
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

    /// Returns whether the task's status is newer than its resumption.
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
    fn policy_answers_everything_or_nothing() {
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
    fn old_status_is_not_believed_right_after_decision() {
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
