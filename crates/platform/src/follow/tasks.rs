//! Waits until an agent task finishes, fails, or needs a decision.

use super::{Pace, send_change};
use crate::api::{ApiValue, Decision, PendingDecision, Platform, Task, TaskPhase};
use crate::http::HttpError;
use std::collections::HashSet;
use std::fmt;

/// Number of times in a row that a task must look finished right after it was resumed.
const MIN_FINISHED_POLLS: usize = 3;

/// The tools that are approved automatically.
#[derive(Debug, Clone, Default)]
pub struct ApprovalPolicy {
    pub tools: Vec<String>,
    /// Whether to approve each tool for the rest of the task, not only once.
    pub for_whole_task: bool,
}

/// Returns the platform's word for the scope of an approval: the complete task or one use of the tool.
pub const fn approval_scope(for_whole_task: bool) -> &'static str {
    if for_whole_task { "CONVERSATION" } else { "ONCE" }
}

impl ApprovalPolicy {
    /// Returns an approval for each pending decision, or `None` if the policy does not cover all of them. It covers
    /// only decisions about the use of one of its tools.
    fn build_approvals(&self, pending: &[ApiValue<PendingDecision>]) -> Option<Vec<Decision>> {
        pending
            .iter()
            .map(|decision| {
                let tool = decision.tool_name.as_ref()?;
                let is_tool = decision.r#type.as_deref() == Some("tool");
                if !is_tool || !self.tools.contains(tool) {
                    return None;
                }
                Some(Decision::Tool {
                    id: decision.tool_id.clone()?,
                    approved: true,
                    scope: approval_scope(self.for_whole_task).to_owned(),
                })
            })
            .collect()
    }
}

/// The outcome of waiting for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskEnd {
    Finished,
    /// STOPPED after STOPPING was seen: somebody stopped the task. A decision may still be pending.
    Halted,
    /// STOPPED with pending decisions that the policy does not cover.
    Waiting,
    Errored,
    /// STOPPED, but the response does not show whether decisions are pending.
    Unclear,
    /// The deadline passed before the task ended or needed a decision.
    Deadline,
}

/// A fact that is reported while a task is followed.
#[derive(Debug)]
pub enum TaskEvent<'a> {
    /// The task's new status.
    Status(&'a str),
    /// The name of a tool that was approved, and whether for the rest of the task or only once.
    Approved { tool: &'a str, for_whole_task: bool },
}

impl fmt::Display for TaskEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Status(status) => write!(f, "the task is {status}"),
            Self::Approved { tool, for_whole_task } => {
                let scope = if for_whole_task {
                    "for the whole task"
                } else {
                    "once"
                };
                write!(f, "approved the tool {tool} {scope}")
            }
        }
    }
}

/// The state of the task when it was last resumed.
#[derive(Debug, Default)]
struct ResumedTask {
    /// Time of the task's last change.
    modified_at: Option<String>,
    /// Ids of answered decisions, which may still look pending.
    answered_ids: HashSet<String>,
    /// Number of polls since then in which the task looked finished.
    finished_polls: usize,
    /// Whether the task was seen working since then, so that its status is new.
    has_worked: bool,
}

/// Polls the task until it ends, needs a decision that the policy does not cover, or the deadline of `pace` passes.
/// Approves the decisions that the policy covers.
///
/// `resumed_from` is the task before the caller resumed it, with the ids of the decisions that the caller answered;
/// `None` for a new task. Right after a task is resumed, the platform may still return its old status, so an unchanged
/// status is not trusted at once.
pub async fn follow_task_to_end(
    platform: &Platform,
    id: &str,
    policy: &ApprovalPolicy,
    resumed_from: Option<(&Task, Vec<String>)>,
    mut pace: Pace,
    mut report: impl FnMut(TaskEvent<'_>),
) -> Result<(ApiValue<Task>, TaskEnd), HttpError> {
    let mut resumed_task =
        resumed_from.map(|(task, answered_ids)| ResumedTask::from_task(task, answered_ids));
    let (mut last_status, mut was_stopping, mut last_task) = (None, false, None);
    loop {
        let task = match pace.await_before_deadline(platform.fetch_task(id)).await {
            Ok(result) => result?,
            Err(error) => {
                return last_task.map(|task| (task, TaskEnd::Deadline)).ok_or(error);
            }
        };
        if task.status != last_status {
            last_status.clone_from(&task.status);
            report(TaskEvent::Status(last_status.as_deref().unwrap_or("(no status)")));
        }
        // Work after STOPPING shows that somebody resumed the task.
        if task.phase() == TaskPhase::Working {
            was_stopping = is_stopping(&task);
        }
        // An old status is that from before the task was resumed.
        let is_status_old = resumed_task
            .as_mut()
            .is_some_and(|resumed_task| !resumed_task.record_poll(&task));
        let end = if is_status_old {
            None
        } else {
            classify_end(&task, was_stopping)
        };
        match end {
            Some(TaskEnd::Waiting) => {
                let pending = task.pending_decisions.as_deref().unwrap_or_default();
                let Some(approvals) = policy.build_approvals(pending) else {
                    return Ok((task, TaskEnd::Waiting));
                };
                send_change(Some(&pace), platform.send_decisions(id, &approvals)).await?;
                for decision in pending {
                    report(TaskEvent::Approved {
                        tool: decision.tool_name.as_deref().unwrap_or_default(),
                        for_whole_task: policy.for_whole_task,
                    });
                }
                // The approvals resume the task.
                resumed_task = Some(ResumedTask::from_task(&task, list_answer_ids(pending)));
                pace.reset_wait();
            }
            Some(end) => return Ok((task, end)),
            None => {}
        }
        if !pace.pause().await {
            return Ok((task, TaskEnd::Deadline));
        }
        last_task = Some(task);
    }
}

fn is_stopping(task: &Task) -> bool {
    task.status
        .as_deref()
        .is_some_and(|status| status.eq_ignore_ascii_case("STOPPING"))
}

/// Returns how the task ended, or that it waits for an answer; `None` if it is still working. If the status STOPPING
/// was seen before (`was_stopping`), somebody stopped the task, and an answer would resume it. STOPPED alone does not
/// tell whether somebody stopped it or it was done, so it is unclear.
fn classify_end(task: &Task, was_stopping: bool) -> Option<TaskEnd> {
    match task.phase() {
        TaskPhase::Finished | TaskPhase::Waiting if was_stopping => Some(TaskEnd::Halted),
        TaskPhase::Finished => Some(TaskEnd::Finished),
        TaskPhase::Waiting => Some(TaskEnd::Waiting),
        TaskPhase::Stopped => Some(TaskEnd::Unclear),
        TaskPhase::Errored => Some(TaskEnd::Errored),
        TaskPhase::Working | TaskPhase::Unknown => None,
    }
}

/// Returns the ids that the answers to these decisions must contain. A decision without such an id is omitted.
fn list_answer_ids(pending: &[ApiValue<PendingDecision>]) -> Vec<String> {
    pending
        .iter()
        .filter_map(|decision| decision.id_for_answer().map(str::to_owned))
        .collect()
}

impl ResumedTask {
    /// Creates the state of a task that was just resumed. The decisions in `answered_ids` may still look pending.
    fn from_task(task: &Task, answered_ids: Vec<String>) -> Self {
        Self {
            modified_at: task.modified_at.clone(),
            answered_ids: answered_ids.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Returns whether this decision is already answered. A decision without an id cannot be answered, so it is new.
    fn has_answer(&self, decision: &PendingDecision) -> bool {
        decision
            .id_for_answer()
            .is_some_and(|id| self.answered_ids.contains(id))
    }

    /// Records a poll of the task, and returns whether the task's status is newer than its resumption: the task has
    /// worked or changed since, or waits for another decision. Without such a sign, the status is accepted after
    /// [`MIN_FINISHED_POLLS`] polls. While only answered decisions are pending, it is accepted only if the task has
    /// worked.
    fn record_poll(&mut self, task: &Task) -> bool {
        let pending = task.pending_decisions.as_deref().unwrap_or_default();
        self.has_worked |= matches!(task.phase(), TaskPhase::Working | TaskPhase::Unknown);
        let is_old_decision = !pending.is_empty() && pending.iter().all(|decision| self.has_answer(decision));
        // A decision that is already answered may still look pending, even if the task has changed.
        if is_old_decision && !self.has_worked {
            return false;
        }
        self.finished_polls += 1;
        self.has_worked
            || task.modified_at != self.modified_at
            || !pending.is_empty()
            || self.finished_polls >= MIN_FINISHED_POLLS
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
    fn both_meanings_of_stopped_are_distinguished() {
        let ended = |task| classify_end(&seen(task), false);
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
        assert_eq!(classify_end(&stopped, true), Some(TaskEnd::Halted));
    }

    #[test]
    fn policy_answers_everything_or_nothing() {
        let policy = ApprovalPolicy {
            tools: vec!["git_push".to_owned()],
            for_whole_task: true,
        };
        let pending = |value| {
            seen(json!({ "pendingDecisions": value }))
                .pending_decisions
                .unwrap()
        };
        let push = json!({ "type": "tool", "toolName": "git_push", "toolId": "1" });
        assert_eq!(
            policy.build_approvals(&pending(json!([push]))).unwrap(),
            [Decision::Tool {
                id: "1".into(),
                approved: true,
                scope: "CONVERSATION".into()
            }]
        );
        let edit = json!({ "type": "tool", "toolName": "edit_file", "toolId": "2" });
        assert!(policy.build_approvals(&pending(json!([push, edit]))).is_none());
        assert!(
            policy
                .build_approvals(&pending(
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
        let fresh = || ResumedTask::from_task(&seen(waiting.clone()), vec!["a".to_owned()]);
        let mut resumed = fresh();
        assert!(!resumed.record_poll(&seen(waiting.clone())));
        assert!(!resumed.record_poll(&seen(finished.clone())));
        assert!(resumed.record_poll(&seen(json!({ "status": "RUNNING", "modifiedAt": "1" }))));
        assert!(resumed.record_poll(&seen(finished.clone())));
        let mut changed = fresh();
        assert!(changed.record_poll(&seen(
            json!({ "status": "STOPPED", "modifiedAt": "2", "pendingDecisions": [] })
        )));
        let mut other = fresh();
        assert!(other.record_poll(&seen(
            json!({ "status": "STOPPED", "modifiedAt": "1", "pendingDecisions": [{ "toolId": "b" }] })
        )));
        let mut without_id = fresh();
        assert!(without_id.record_poll(&seen(
            json!({ "status": "STOPPED", "modifiedAt": "1", "pendingDecisions": [{ "toolId": "a" }, {}] })
        )));
        let mut thrice = fresh();
        let looks: Vec<bool> = (0..3)
            .map(|_| thrice.record_poll(&seen(finished.clone())))
            .collect();
        assert_eq!(looks, [false, false, true]);
    }
}
