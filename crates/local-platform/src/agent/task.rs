//! A task: its state, and how time and callers advance it.

use super::decision::{DecisionOutcome, OpenDecision, SubmittedDecision};
use super::fix_order::FixOrder;
use super::message::Message;
use super::task_config::{AgentMode, TaskConfig, TaskStatus};
use super::tool_selection::select_tools;
use super::tools::{QUESTION_TOOL, makes_changes};
use crate::agent_behavior::AgentBehavior;
use crate::clock::Moment;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;

/// Duration of the agent's thinking before its first step.
const THINKING_TIME: Duration = Duration::from_secs(1);

/// Duration of one tool call.
const TOOL_CALL_TIME: Duration = Duration::from_millis(400);

/// Time until the next step of an agent that never stops.
const ENDLESS_TIME: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Duration of the agent's wrap-up after a stop.
const WRAP_UP_TIME: Duration = Duration::from_secs(1);

/// A tool call that is still to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct AgentStep {
    tool: String,
    approved: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum TaskPhase {
    /// The agent is working; it takes its next step at `next`.
    Working {
        #[serde(serialize_with = "Moment::as_number")]
        next: Moment,
    },
    /// A caller stopped the agent; it comes to rest at `until`.
    WrappingUp {
        #[serde(serialize_with = "Moment::as_number")]
        until: Moment,
    },
    /// The agent waits for a decision on the first remaining step.
    Waiting(OpenDecision),
    Finished,
    Errored,
}

/// The state of a task. Fields with `rename` have another name in stored tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentTask {
    pub config: TaskConfig,
    /// The tools that the agent may use without permission.
    pub granted: Vec<String>,
    /// Time of the last state change.
    #[serde(serialize_with = "Moment::as_number")]
    pub modified_at: Moment,
    /// The reason why the task cannot succeed, if there is one.
    #[serde(rename = "trouble")]
    failure_reason: Option<String>,
    phase: TaskPhase,
    /// The steps that the agent has yet to take.
    #[serde(rename = "left")]
    remaining_steps: VecDeque<AgentStep>,
    /// Number of instructions so far; names the group of the current messages.
    #[serde(rename = "turns")]
    turn_count: u32,
    /// Number of decisions requested so far; makes their IDs unique.
    #[serde(rename = "asked")]
    decision_count: u32,
    /// The behavior of the agent if it is instructed to fix findings.
    #[serde(default)]
    behavior: AgentBehavior,
    /// The findings that the agent is instructed to fix; `None` for any other instruction.
    #[serde(default)]
    fix_order: Option<FixOrder>,
    /// The branch that the agent pushed last, and may therefore push again.
    #[serde(default)]
    pushed_branch: Option<String>,
}

impl AgentTask {
    /// Creates a task and starts it with its first instruction. Returns the task and the message that records the
    /// instruction. If `failure_reason` is set, the task fails with this reason at its first step.
    pub(crate) fn with_instruction(
        config: TaskConfig,
        granted_tools: Vec<String>,
        failure_reason: Option<String>,
        behavior: AgentBehavior,
        message: &str,
        now: Moment,
    ) -> (Self, Vec<Message>) {
        let mut task = Self {
            config,
            granted: Vec::new(),
            modified_at: now,
            failure_reason,
            phase: TaskPhase::Finished,
            remaining_steps: VecDeque::new(),
            turn_count: 0,
            decision_count: 0,
            behavior,
            fix_order: None,
            pushed_branch: None,
        };
        task.grant_tools(granted_tools);
        let prompt = task.add_instruction(message, now);
        (task, vec![prompt])
    }

    /// Returns the status for a response; a task that waits for a decision is also stopped.
    pub(crate) const fn status(&self) -> TaskStatus {
        match self.phase {
            TaskPhase::Working { .. } => TaskStatus::Running,
            TaskPhase::WrappingUp { .. } => TaskStatus::Stopping,
            TaskPhase::Waiting(_) | TaskPhase::Finished => TaskStatus::Stopped,
            TaskPhase::Errored => TaskStatus::Errored,
        }
    }

    /// Returns the decisions that the agent waits for: one, or none.
    pub(crate) fn pending_decisions(&self) -> Vec<OpenDecision> {
        match &self.phase {
            TaskPhase::Waiting(pending) => vec![pending.clone()],
            _ => Vec::new(),
        }
    }

    /// Adds tools that the agent may use without permission.
    pub(crate) fn grant_tools(&mut self, tools: impl IntoIterator<Item = String>) {
        for tool in tools {
            if !self.granted.contains(&tool) {
                self.granted.push(tool);
            }
        }
    }

    /// Replaces the list of tools that the agent may use without permission. A decision that the agent already waits
    /// for stays pending.
    pub(crate) fn replace_granted_tools(&mut self, tools: Vec<String>, now: Moment) {
        self.granted.clear();
        self.grant_tools(tools);
        self.modified_at = now;
    }

    /// Advances the task to `now`, step by step at the times that are due, and returns the messages of these steps.
    pub(crate) fn advance(&mut self, now: Moment) -> Vec<Message> {
        let mut messages = Vec::new();
        loop {
            match self.phase {
                TaskPhase::Working { next } if next <= now => messages.push(self.take_step(next)),
                TaskPhase::WrappingUp { until } if until <= now => {
                    messages.push(
                        self.finish_with(until, json!({"type": "stopped", "text": "The agent was stopped"})),
                    );
                }
                _ => return messages,
            }
        }
    }

    /// Gives the agent an instruction and returns the message that records it. A working agent finishes its remaining
    /// steps first; otherwise, these steps and a pending decision are dropped. In plan mode, the agent skips tools that
    /// make changes. An instruction without findings keeps those of an earlier one; a working agent also keeps them if
    /// the instruction has findings, because it may not have pushed their fixes yet.
    pub(crate) fn add_instruction(&mut self, message: &str, now: Moment) -> Message {
        let is_working = matches!(self.phase, TaskPhase::Working { .. });
        if !is_working {
            self.remaining_steps.clear();
            self.phase = TaskPhase::Working {
                next: now + THINKING_TIME,
            };
        }
        let order = FixOrder::parse(message, self.behavior);
        let tools = order
            .as_ref()
            .map_or_else(|| select_tools(message), FixOrder::list_tools);
        match (&mut self.fix_order, order) {
            (Some(earlier_order), Some(order)) if is_working => earlier_order.add_findings(order),
            (fix_order, Some(order)) => *fix_order = Some(order),
            (_, None) => {}
        }
        for tool in tools {
            if self.config.mode == AgentMode::Act || !makes_changes(tool) {
                self.remaining_steps.push_back(AgentStep {
                    tool: tool.to_owned(),
                    approved: false,
                });
            }
        }
        self.turn_count += 1;
        self.create_message(now, json!({"type": "prompt", "text": message}))
    }

    /// Stops the agent and drops any pending decision. Returns no message if the agent is already at rest or stopping.
    pub(crate) fn stop(&mut self, now: Moment) -> Option<Message> {
        self.remaining_steps.clear();
        match self.phase {
            TaskPhase::Working { .. } => {
                self.phase = TaskPhase::WrappingUp {
                    until: now + WRAP_UP_TIME,
                };
                Some(self.create_message(now, json!({"type": "stopping", "text": "The agent is stopping"})))
            }
            TaskPhase::Waiting(_) => {
                Some(self.finish_with(now, json!({"type": "stopped", "text": "The agent was stopped"})))
            }
            TaskPhase::WrappingUp { .. } | TaskPhase::Finished | TaskPhase::Errored => None,
        }
    }

    /// Applies the decision that the agent waits for, and lets the agent continue. Returns this decision, the name of
    /// the tool and the message that records the decision. Returns `None` if the agent does not wait for a decision, or
    /// `decisions` does not contain it. All other decisions are ignored.
    pub(crate) fn apply_decision<'d>(
        &mut self,
        decisions: &'d [SubmittedDecision],
        now: Moment,
    ) -> Option<(&'d SubmittedDecision, String, Message)> {
        let TaskPhase::Waiting(pending) = &self.phase else {
            return None;
        };
        let decision = decisions.iter().find(|decision| decision.resolves(pending))?;
        let tool = match pending {
            OpenDecision::Tool(tool) => tool.tool_name.clone(),
            OpenDecision::Question(_) => QUESTION_TOOL.to_owned(),
        };
        let data = match &decision.outcome {
            DecisionOutcome::Tool {
                approved,
                for_whole_task,
            } => {
                if *approved && *for_whole_task {
                    self.grant_tools([tool.clone()]);
                }
                self.approve_or_drop_step(*approved);
                let outcome = if *approved { "approved" } else { "denied" };
                json!({"type": "decision", "toolName": tool, "toolId": decision.id, "outcome": outcome})
            }
            DecisionOutcome::Question(answers) => {
                // The question was the first remaining step.
                self.remaining_steps.pop_front();
                let answer_values: Vec<Value> = answers
                    .iter()
                    .map(
                        |answer| json!({"questionIndex": answer.question_index, "selectedOptions": answer.options}),
                    )
                    .collect();
                json!({"type": "answers", "id": decision.id, "answers": answer_values})
            }
        };
        self.phase = TaskPhase::Working {
            next: now + THINKING_TIME,
        };
        Some((decision, tool, self.create_message(now, data)))
    }

    /// Approves the first remaining step, or drops it if it is not approved.
    fn approve_or_drop_step(&mut self, is_approved: bool) {
        if is_approved {
            if let Some(step) = self.remaining_steps.front_mut() {
                step.approved = true;
            }
        } else {
            self.remaining_steps.pop_front();
        }
    }

    /// Takes the next step and returns its message: an error if the task is set to fail, the final answer if no step
    /// remains, a request if the tool needs a permission or is a question, otherwise the tool call.
    fn take_step(&mut self, time: Moment) -> Message {
        if let Some(failure_reason) = self.failure_reason.clone() {
            self.phase = TaskPhase::Errored;
            self.remaining_steps.clear();
            return self.create_message(time, json!({"type": "error", "text": failure_reason}));
        }
        let Some(step) = self.remaining_steps.front() else {
            return self.finish_work(time);
        };
        let tool = step.tool.clone();
        if !step.approved && !self.granted.contains(&tool) {
            return self.ask_for_decision(&tool, time);
        }
        self.remaining_steps.pop_front();
        if let Some(order) = &mut self.fix_order {
            order.record_tool_call(&tool);
        }
        self.phase = TaskPhase::Working {
            next: time + TOOL_CALL_TIME,
        };
        let input = self.config.build_tool_input(&tool);
        self.create_message(
            time,
            json!({"type": "tool", "toolName": tool, "toolInput": input, "outcome": "done"}),
        )
    }

    /// Ends the agent's work after its last step and returns the final message; if the agent planned fixes, it is the
    /// plan. If an agent that never stops has findings to fix, it schedules another step instead.
    fn finish_work(&mut self, time: Moment) -> Message {
        if self.fix_order.is_some() && self.behavior == AgentBehavior::NeverStops {
            self.phase = TaskPhase::Working {
                next: time + ENDLESS_TIME,
            };
            return self.create_message(
                time,
                json!({"type": "thought", "text": "The agent is looking for more findings to fix"}),
            );
        }
        let plan = match (&self.fix_order, self.config.mode) {
            (Some(order), AgentMode::Plan) => Some(order.describe_plan()),
            _ => None,
        };
        let text = plan.unwrap_or_else(|| "The agent has finished".to_owned());
        self.finish_with(time, json!({"type": "answer", "text": text}))
    }

    /// Returns the order to fix findings whose branch is to be pushed now; `None` if no push is due.
    pub(crate) fn find_due_push(&self) -> Option<&FixOrder> {
        self.fix_order.as_ref().filter(|order| order.is_push_due)
    }

    /// Returns whether the agent itself created the target branch, so that it may add a commit to it.
    pub(crate) fn has_pushed_target_branch(&self) -> bool {
        self.pushed_branch.as_ref() == Some(&self.config.target_branch_name)
    }

    /// Records the result of the push and returns its message. `result` is the number of changed files, 0 if the agent
    /// could not fix anything, or the reason why the push failed. A failed push ends the task.
    pub(crate) fn record_push(&mut self, result: &Result<usize, String>, now: Moment) -> Message {
        if let Some(order) = &mut self.fix_order {
            order.finish_push();
        }
        let branch = self.config.target_branch_name.clone();
        if matches!(result, Ok(file_count) if *file_count > 0) {
            self.pushed_branch = Some(branch.clone());
        }
        match result {
            Ok(0) => self.create_message(
                now,
                json!({"type": "note", "text": "The agent could not fix any finding"}),
            ),
            Ok(file_count) => self.create_message(
                now,
                json!({"type": "pushed", "branch": branch, "files": file_count}),
            ),
            Err(reason) => {
                self.phase = TaskPhase::Errored;
                self.remaining_steps.clear();
                self.create_message(now, json!({"type": "error", "text": reason}))
            }
        }
    }

    /// Makes the task wait for the user's decision: the answer to a question, or the permission to use a tool. Returns
    /// the message that requests the decision.
    fn ask_for_decision(&mut self, tool: &str, time: Moment) -> Message {
        self.decision_count += 1;
        let (pending, data) = if tool == QUESTION_TOOL {
            let id = format!("question-{}", self.decision_count);
            let data = json!({"type": "question", "id": id});
            (OpenDecision::for_question(id), data)
        } else {
            let id = format!("tool-{}", self.decision_count);
            let data = json!({"type": "permission", "toolName": tool, "toolId": id});
            (
                OpenDecision::for_tool(tool, id, self.config.build_tool_input(tool)),
                data,
            )
        };
        self.phase = TaskPhase::Waiting(pending);
        self.create_message(time, data)
    }

    /// Ends the agent's work and returns its last message, which has this `data`.
    fn finish_with(&mut self, time: Moment, data: Value) -> Message {
        self.phase = TaskPhase::Finished;
        self.create_message(time, data)
    }

    /// Creates a message of the current turn, and sets the time at which the task was last modified.
    fn create_message(&mut self, time: Moment, data: Value) -> Message {
        self.modified_at = time;
        Message {
            data,
            group_id: format!("turn-{}", self.turn_count),
            timestamp: time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: &str = "create a pipeline, run it, commit and push";

    fn moment(millis: u64) -> Moment {
        Moment::from(jiff::Timestamp::UNIX_EPOCH) + Duration::from_millis(millis)
    }

    fn config(mode: AgentMode) -> TaskConfig {
        TaskConfig {
            name: "data_engineer_agent".into(),
            mode,
            project_id: String::new(),
            source_branch_name: "main".into(),
            environment_name: "production".into(),
            target_branch_name: "work".into(),
            generate_branch: false,
            graph_id: None,
            working_directory: None,
        }
    }

    fn begin(mode: AgentMode, granted: &[&str], message: &str) -> AgentTask {
        let granted = granted.iter().map(|tool| (*tool).to_owned()).collect();
        AgentTask::with_instruction(
            config(mode),
            granted,
            None,
            AgentBehavior::Obedient,
            message,
            moment(0),
        )
        .0
    }

    fn kinds(said: &[Message]) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        said.iter()
            .map(|message| {
                format!(
                    "{} {}",
                    text(&message.data["type"]),
                    text(&message.data["toolName"])
                )
            })
            .collect()
    }

    #[test]
    fn with_everything_granted_it_works_through_the_message_without_asking() {
        let mut task = begin(AgentMode::Act, &super::super::TOOLS, CHAIN);
        assert!(task.advance(moment(999)).is_empty());
        assert_eq!(task.status(), TaskStatus::Running);
        let said = task.advance(moment(10_000));
        assert_eq!(
            kinds(&said),
            [
                "tool create_file",
                "tool run_pipeline",
                "tool git_commit",
                "tool git_push",
                "answer "
            ]
        );
        assert_eq!(
            (task.status(), task.pending_decisions()),
            (TaskStatus::Stopped, Vec::new())
        );
        assert!(task.modified_at < moment(3_000));
    }

    #[test]
    fn in_whatever_steps_the_time_is_looked_at_the_same_happens() {
        let whole = begin(AgentMode::Act, &super::super::TOOLS, CHAIN).advance(moment(10_000));
        let mut task = begin(AgentMode::Act, &super::super::TOOLS, CHAIN);
        let pieces: Vec<Message> = (0..100)
            .flat_map(|step| task.advance(moment(step * 100)))
            .collect();
        assert_eq!(whole, pieces);
    }

    #[test]
    fn each_tool_that_is_not_granted_is_asked_for_in_turn() {
        let mut task = begin(AgentMode::Act, &["run_pipeline"], CHAIN);
        let mut asked = Vec::new();
        for turn in 1..=3 {
            task.advance(moment(turn * 10_000));
            let Some(OpenDecision::Tool(tool)) = task.pending_decisions().pop() else {
                panic!("{task:?}");
            };
            assert_eq!(task.status(), TaskStatus::Stopped);
            asked.push(tool.tool_name);
            let decision = SubmittedDecision {
                id: tool.tool_id,
                outcome: DecisionOutcome::Tool {
                    approved: turn != 2,
                    for_whole_task: turn == 3,
                },
            };
            let unknown = SubmittedDecision {
                id: "other".into(),
                ..decision.clone()
            };
            assert_eq!(task.apply_decision(&[unknown], moment(turn * 10_000)), None);
            assert!(task.apply_decision(&[decision], moment(turn * 10_000)).is_some());
            assert_eq!(
                (task.status(), task.pending_decisions()),
                (TaskStatus::Running, Vec::new())
            );
        }
        assert_eq!(asked, ["create_file", "git_commit", "git_push"]);
        let said = task.advance(moment(90_000));
        assert_eq!(kinds(&said), ["tool git_push", "answer "]);
        assert_eq!(task.granted, ["run_pipeline", "git_push"]);
    }

    #[test]
    fn plan_needs_no_leave_for_changes() {
        let mut task = begin(AgentMode::Plan, &[], CHAIN);
        assert_eq!(kinds(&task.advance(moment(10_000))), ["answer "]);
        task = begin(AgentMode::Plan, &[], "sample the orders and push");
        task.advance(moment(10_000));
        assert!(
            matches!(task.pending_decisions().as_slice(), [OpenDecision::Tool(tool)] if tool.tool_name == "sample_component")
        );
    }

    #[test]
    fn questions_are_answered_by_their_id() {
        let mut task = begin(AgentMode::Act, &["git_push"], "ask me, then push");
        task.advance(moment(2_000));
        let Some(OpenDecision::Question(question)) = task.pending_decisions().pop() else {
            panic!("{task:?}");
        };
        let wrong = SubmittedDecision {
            id: question.id.clone(),
            outcome: DecisionOutcome::Tool {
                approved: true,
                for_whole_task: false,
            },
        };
        assert_eq!(task.apply_decision(&[wrong], moment(2_000)), None);
        let answer = crate::agent::decision::SubmittedAnswer {
            question_index: 0,
            options: vec!["yes".to_owned()],
        };
        let right = SubmittedDecision {
            id: question.id,
            outcome: DecisionOutcome::Question(vec![answer]),
        };
        assert!(task.apply_decision(&[right], moment(2_000)).is_some());
        assert_eq!(kinds(&task.advance(moment(9_000))), ["tool git_push", "answer "]);
    }

    #[test]
    fn stop_is_seen_and_leaves_nothing_to_decide() {
        let mut task = begin(AgentMode::Act, &[], CHAIN);
        assert!(task.stop(moment(500)).is_some());
        assert_eq!(task.status(), TaskStatus::Stopping);
        assert!(task.stop(moment(600)).is_none());
        assert!(task.advance(moment(1_499)).is_empty());
        assert_eq!(kinds(&task.advance(moment(1_500))), ["stopped "]);
        assert_eq!(task.status(), TaskStatus::Stopped);

        let mut task = begin(AgentMode::Act, &[], CHAIN);
        task.advance(moment(5_000));
        assert_eq!(task.pending_decisions().len(), 1);
        task.stop(moment(5_000));
        assert_eq!(
            (task.status(), task.pending_decisions()),
            (TaskStatus::Stopped, Vec::new())
        );
    }

    #[test]
    fn instruction_wakes_it_up_and_more_work_is_put_at_end() {
        let mut task = begin(AgentMode::Act, &super::super::TOOLS, "create it");
        task.add_instruction("and push it", moment(100));
        assert_eq!(
            kinds(&task.advance(moment(10_000))),
            ["tool create_file", "tool git_push", "answer "]
        );
        let said = task.add_instruction("commit", moment(10_000));
        assert_eq!(
            (said.group_id.as_str(), task.status()),
            ("turn-3", TaskStatus::Running)
        );
        assert_eq!(
            kinds(&task.advance(moment(20_000))),
            ["tool git_commit", "answer "]
        );
    }

    #[test]
    fn trouble_ends_it_with_the_reason_in_the_messages() {
        let failure_reason = Some("no such branch".to_owned());
        let (mut task, _) = AgentTask::with_instruction(
            config(AgentMode::Act),
            Vec::new(),
            failure_reason,
            AgentBehavior::Obedient,
            CHAIN,
            moment(0),
        );
        let said = task.advance(moment(5_000));
        assert_eq!(said[0].data, json!({"type": "error", "text": "no such branch"}));
        assert_eq!(task.status(), TaskStatus::Errored);
    }

    #[test]
    fn state_is_read_back_as_it_was_written() {
        let mut task = begin(AgentMode::Act, &[], CHAIN);
        task.advance(moment(5_000));
        let text = serde_json::to_string(&task).unwrap();
        assert_eq!(serde_json::from_str::<AgentTask>(&text).unwrap(), task);
    }
}
