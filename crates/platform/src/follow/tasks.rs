//! Waits until an agent task finishes, fails, or needs a decision.

use super::{Pace, send_change};
use crate::api::{ApiValue, Decision, PendingDecision, Platform, Task, TaskPhase};
use crate::http::HttpError;
use std::collections::HashSet;
use std::fmt;
use std::time::Duration;
use tokio::time::Instant;

/// Time after a task was resumed during which the platform may still report its old status, if no modification time
/// shows whether the status is old.
const RESUMPTION_LIMIT: Duration = Duration::from_secs(10);

/// Time after a task was resumed after which an unchanged modification time no longer shows that its status is old. The
/// API document does not define whether a resumption changes this time.
const UNCHANGED_TIME_LIMIT: Duration = Duration::from_secs(60);

/// The tools that are approved automatically.
#[derive(Debug, Clone, Default)]
pub struct ApprovalPolicy {
    pub tools: Vec<String>,
    /// Whether to approve each tool for the rest of the task, not only once.
    pub for_whole_task: bool,
}

/// Returns the platform's word for the scope of an approval: the complete task or one use of the tool.
pub const fn approval_scope(is_for_whole_task: bool) -> &'static str {
    if is_for_whole_task { "CONVERSATION" } else { "ONCE" }
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
    /// The task ended after it was resumed, or before: nothing in the responses shows that it was resumed.
    Unresumed,
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
#[derive(Debug)]
struct ResumedTask {
    /// The status before the resumption; `None` if the task was working, because the end of that work shows nothing.
    status: Option<String>,
    /// Time of the task's last change.
    modified_at: Option<String>,
    /// Ids of answered decisions, which may still look pending.
    answered_ids: HashSet<String>,
    /// The time of the resumption.
    resumed_at: Instant,
    /// Whether the task was seen working since then, so that its status is new.
    has_worked: bool,
    /// Age of the last status.
    status_age: StatusAge,
}

/// The age of a task's status, compared with its resumption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatusAge {
    Old,
    Unknown,
    New,
}

/// Polls the task until it ends, needs a decision that the policy does not cover, or the deadline of `pace` passes.
/// Approves the decisions that the policy covers.
///
/// `resumed_from` is the task before the caller resumed it, with the ids of the decisions that the caller answered;
/// `None` for a new task. Right after a task is resumed, the platform may still return its old status, so a status
/// without a change is not the result.
pub async fn follow_task_to_end(
    platform: &Platform,
    id: &str,
    policy: &ApprovalPolicy,
    resumed_from: Option<(&Task, Vec<String>)>,
    mut pace: Pace,
    mut report: impl FnMut(TaskEvent<'_>),
) -> Result<(ApiValue<Task>, TaskEnd), HttpError> {
    let mut was_stopping = resumed_from.as_ref().is_some_and(|(task, _)| is_stopping(task));
    let mut resumed_task =
        resumed_from.map(|(task, answered_ids)| ResumedTask::from_task(task, answered_ids));
    let (mut last_status, mut last_task) = (None, None);
    loop {
        let task = match pace.await_before_deadline(platform.fetch_task(id)).await {
            Ok(result) => result?,
            Err(error) => {
                let end = end_at_deadline(resumed_task.as_ref());
                return last_task.map(|task| (task, end)).ok_or(error);
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
        let end = match &mut resumed_task {
            Some(resumed_task) => {
                let waiting_time = resumed_task.resumed_at.elapsed();
                resumed_task.classify_poll(&task, was_stopping, waiting_time)
            }
            None => classify_end(&task, was_stopping),
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
            return Ok((task, end_at_deadline(resumed_task.as_ref())));
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
/// was seen before (`is_halted`), somebody stopped the task, and an answer would resume it. STOPPED alone does not
/// tell whether somebody stopped it or it was done, so it is unclear.
fn classify_end(task: &Task, is_halted: bool) -> Option<TaskEnd> {
    match task.phase() {
        TaskPhase::Finished | TaskPhase::Waiting if is_halted => Some(TaskEnd::Halted),
        TaskPhase::Finished => Some(TaskEnd::Finished),
        TaskPhase::Waiting => Some(TaskEnd::Waiting),
        TaskPhase::Stopped => Some(TaskEnd::Unclear),
        TaskPhase::Errored => Some(TaskEnd::Errored),
        TaskPhase::Working | TaskPhase::Unknown => None,
    }
}

/// Returns the end of a wait whose deadline has passed. A task without a sign of its resumption may have ended.
fn end_at_deadline(resumed_task: Option<&ResumedTask>) -> TaskEnd {
    match resumed_task.map(|resumed_task| resumed_task.status_age) {
        Some(StatusAge::Old | StatusAge::Unknown) => TaskEnd::Unresumed,
        Some(StatusAge::New) | None => TaskEnd::Deadline,
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
            status: task.status.clone().filter(|_| task.phase() != TaskPhase::Working),
            modified_at: task.modified_at.clone(),
            answered_ids: answered_ids.into_iter().collect(),
            resumed_at: Instant::now(),
            has_worked: false,
            status_age: StatusAge::Unknown,
        }
    }

    /// Returns whether this decision is already answered. A decision without an id cannot be answered, so it is new.
    fn has_answer(&self, decision: &PendingDecision) -> bool {
        decision
            .id_for_answer()
            .is_some_and(|id| self.answered_ids.contains(id))
    }

    /// Returns whether the task has another status than before its resumption. The letter case does not matter.
    fn has_other_status(&self, task: &Task) -> bool {
        match (&self.status, &task.status) {
            (Some(old_status), Some(status)) => !old_status.eq_ignore_ascii_case(status),
            _ => false,
        }
    }

    /// Records a poll of the task, and returns its end as [`classify_end`] does: `None` while the status may be that from
    /// before the resumption. Without any sign, the end is [`TaskEnd::Unresumed`] after [`RESUMPTION_LIMIT`], or after
    /// [`UNCHANGED_TIME_LIMIT`] if the modification time is unchanged and no decision is pending.
    /// `waiting_time` is the time since the resumption.
    fn classify_poll(&mut self, task: &Task, is_halted: bool, waiting_time: Duration) -> Option<TaskEnd> {
        self.status_age = self.record_poll(task);
        let has_pending_decision = task
            .pending_decisions
            .as_ref()
            .is_some_and(|pending| !pending.is_empty());
        let limit = match self.status_age {
            StatusAge::New => return classify_end(task, is_halted),
            StatusAge::Old if has_pending_decision => return None,
            StatusAge::Old => UNCHANGED_TIME_LIMIT,
            StatusAge::Unknown => RESUMPTION_LIMIT,
        };
        (waiting_time >= limit).then_some(TaskEnd::Unresumed)
    }

    /// Records a poll of the task, and returns the age of its status. The status is new if the task has worked or
    /// changed since the resumption, has another status, or waits for another decision. It is old if the modification
    /// time has not changed. While only answered decisions are pending, it is old until the task has worked.
    fn record_poll(&mut self, task: &Task) -> StatusAge {
        let pending = task.pending_decisions.as_deref().unwrap_or_default();
        self.has_worked |= matches!(task.phase(), TaskPhase::Working | TaskPhase::Unknown);
        let is_old_decision = !pending.is_empty() && pending.iter().all(|decision| self.has_answer(decision));
        let is_decided = !is_old_decision || task.phase() == TaskPhase::Errored;
        if self.has_worked || (is_decided && self.has_other_status(task)) {
            return StatusAge::New;
        }
        // A decision that is already answered may still look pending, even if the task has changed.
        if is_old_decision {
            return StatusAge::Old;
        }
        if !pending.is_empty() {
            return StatusAge::New;
        }
        match (&self.modified_at, &task.modified_at) {
            (Some(old_time), Some(new_time)) if old_time == new_time => StatusAge::Old,
            (Some(_), Some(_)) => StatusAge::New,
            _ => StatusAge::Unknown,
        }
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
        assert_eq!(resumed.record_poll(&seen(waiting.clone())), StatusAge::Old);
        for _ in 0..4 {
            assert_eq!(resumed.record_poll(&seen(finished.clone())), StatusAge::Old);
        }
        let running = json!({ "status": "RUNNING", "modifiedAt": "1" });
        assert_eq!(resumed.record_poll(&seen(running)), StatusAge::New);
        assert_eq!(resumed.record_poll(&seen(finished)), StatusAge::New);
        for pending in [json!([{ "toolId": "b" }]), json!([{ "toolId": "a" }, {}])] {
            let task = json!({ "status": "STOPPED", "modifiedAt": "1", "pendingDecisions": pending });
            assert_eq!(fresh().record_poll(&seen(task)), StatusAge::New, "{pending}");
        }
        let changed = json!({ "status": "STOPPED", "modifiedAt": "2", "pendingDecisions": [] });
        assert_eq!(fresh().record_poll(&seen(changed)), StatusAge::New);
    }

    #[test]
    fn other_status_ends_wait_at_once() {
        let stopped = seen(json!({ "status": "STOPPED", "pendingDecisions": [] }));
        let mut resumed = ResumedTask::from_task(&stopped, Vec::new());
        let errored = seen(json!({ "status": "ERRORED", "pendingDecisions": [] }));
        assert_eq!(
            resumed.classify_poll(&errored, false, Duration::ZERO),
            Some(TaskEnd::Errored)
        );
        let lower_case = seen(json!({ "status": "stopped", "pendingDecisions": [] }));
        assert_eq!(resumed.classify_poll(&lower_case, false, Duration::ZERO), None);
    }

    #[test]
    fn end_of_earlier_work_is_no_sign_of_the_resumption() {
        let stopped = seen(json!({ "status": "STOPPED", "pendingDecisions": [] }));
        for status in ["RUNNING", "STOPPING"] {
            let working = seen(json!({ "status": status }));
            let mut resumed = ResumedTask::from_task(&working, Vec::new());
            assert_eq!(
                resumed.classify_poll(&stopped, false, Duration::ZERO),
                None,
                "{status}"
            );
        }
        let answered = seen(json!({ "status": "STOPPED", "pendingDecisions": [{ "toolId": "a" }] }));
        let errored = seen(json!({ "status": "ERRORED", "pendingDecisions": [] }));
        let mut resumed = ResumedTask::from_task(&errored, vec!["a".to_owned()]);
        assert_eq!(resumed.classify_poll(&answered, false, Duration::ZERO), None);
    }

    #[test]
    fn unchanged_modification_time_ends_wait_only_after_longer_limit() {
        let finished = seen(json!({ "status": "STOPPED", "modifiedAt": "1", "pendingDecisions": [] }));
        let mut resumed = ResumedTask::from_task(&finished, vec!["a".to_owned()]);
        assert_eq!(resumed.classify_poll(&finished, false, RESUMPTION_LIMIT), None);
        let end = resumed.classify_poll(&finished, false, UNCHANGED_TIME_LIMIT);
        assert_eq!(end, Some(TaskEnd::Unresumed));
        let waiting =
            json!({ "status": "STOPPED", "modifiedAt": "1", "pendingDecisions": [{ "toolId": "a" }] });
        assert_eq!(
            resumed.classify_poll(&seen(waiting), false, UNCHANGED_TIME_LIMIT),
            None
        );
        let changed = seen(json!({ "status": "STOPPED", "modifiedAt": "2", "pendingDecisions": [] }));
        assert_eq!(
            resumed.classify_poll(&changed, false, Duration::ZERO),
            Some(TaskEnd::Finished)
        );
    }

    #[test]
    fn status_without_modification_time_is_unclear_after_limit() {
        let finished = seen(json!({ "status": "STOPPED", "pendingDecisions": [] }));
        let mut resumed = ResumedTask::from_task(&finished, Vec::new());
        assert_eq!(resumed.classify_poll(&finished, false, Duration::ZERO), None);
        let end = resumed.classify_poll(&finished, false, RESUMPTION_LIMIT);
        assert_eq!(end, Some(TaskEnd::Unresumed));
        let running = seen(json!({ "status": "RUNNING" }));
        assert_eq!(resumed.classify_poll(&running, false, Duration::ZERO), None);
        assert_eq!(
            resumed.classify_poll(&finished, false, Duration::ZERO),
            Some(TaskEnd::Finished)
        );
    }
}
