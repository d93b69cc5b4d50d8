//! The decisions that an agent is waiting for, and those that callers submit.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A decision that the agent is waiting for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[schema(as = PendingDecision)]
pub(crate) enum OpenDecision {
    /// Permission to use a tool.
    Tool(PendingTool),
    /// An answer to a question.
    Question(PendingQuestion),
}

/// A tool that the agent needs permission to use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PendingTool {
    pub tool_name: String,
    /// The ID that the decision must refer to.
    pub tool_id: String,
    /// The text to show to the user.
    pub permission_message: PermissionText,
    /// The arguments of the tool call.
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub tool_input: Value,
}

/// A permission request as text for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = PermissionMessage)]
pub(crate) struct PermissionText {
    pub title: String,
    pub body: String,
}

/// Questions from the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct PendingQuestion {
    /// The ID that the decision must refer to.
    pub id: String,
    pub title: String,
    pub questions: Vec<Question>,
}

/// A question and the options to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Question {
    pub question: String,
    pub options: Vec<String>,
}

impl OpenDecision {
    /// Creates a request for permission to use a tool; `input` has the arguments of the tool call.
    pub(crate) fn for_tool(tool: &str, id: String, input: Value) -> Self {
        Self::Tool(PendingTool {
            permission_message: PermissionText {
                title: format!("Use {tool}"),
                body: format!("The agent needs your permission to use the tool {tool}"),
            },
            tool_name: tool.to_owned(),
            tool_id: id,
            tool_input: input,
        })
    }

    /// Creates a question to the user: whether to continue, with the answers yes and no.
    pub(crate) fn for_question(id: String) -> Self {
        Self::Question(PendingQuestion {
            id,
            title: "How to continue".to_owned(),
            questions: vec![Question {
                question: "Should the agent continue as instructed?".to_owned(),
                options: vec!["yes".to_owned(), "no".to_owned()],
            }],
        })
    }
}

/// A decision that a caller submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubmittedDecision {
    /// The ID of the pending decision.
    pub id: String,
    pub outcome: DecisionOutcome,
}

/// The outcome of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DecisionOutcome {
    /// Whether a tool may be used.
    Tool {
        /// Whether the tool may be used now.
        approved: bool,
        /// Whether the approval lasts for the rest of the task.
        for_whole_task: bool,
    },
    /// The answers to questions.
    Question(Vec<SubmittedAnswer>),
}

/// The answer to one of several questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubmittedAnswer {
    /// Index of the question, from 0.
    pub question_index: u64,
    /// The selected options.
    pub options: Vec<String>,
}

impl SubmittedDecision {
    /// Returns whether this decision resolves the pending one: both have the same kind and the same ID, and questions
    /// have their answers.
    pub(crate) fn resolves(&self, pending: &OpenDecision) -> bool {
        match (pending, &self.outcome) {
            (OpenDecision::Tool(tool), DecisionOutcome::Tool { .. }) => tool.tool_id == self.id,
            (OpenDecision::Question(question), DecisionOutcome::Question(answers)) => {
                question.id == self.id && question.accepts(answers)
            }
            _ => false,
        }
    }
}

impl PendingQuestion {
    /// Returns whether every question has an answer, and every answer consists of options of its question.
    fn accepts(&self, answers: &[SubmittedAnswer]) -> bool {
        let has_all_answers = (0_u64..)
            .zip(&self.questions)
            .all(|(index, _)| answers.iter().any(|answer| answer.question_index == index));
        has_all_answers && answers.iter().all(|answer| self.offers(answer))
    }

    /// Returns whether the question of this answer exists and offers all selected options, of which there is one.
    fn offers(&self, answer: &SubmittedAnswer) -> bool {
        let question = usize::try_from(answer.question_index)
            .ok()
            .and_then(|index| self.questions.get(index));
        question.is_some_and(|question| {
            !answer.options.is_empty()
                && answer
                    .options
                    .iter()
                    .all(|option| question.options.contains(option))
        })
    }
}
