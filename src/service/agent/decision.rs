//! What an agent waits for, and what it is told.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Something that the agent waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[schema(as = PendingDecision)]
pub(crate) enum OpenDecision {
    /// Leave to use a tool.
    Tool(PendingTool),
    /// The answer to a question.
    Question(PendingQuestion),
}

/// A tool that the agent needs leave for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PendingTool {
    /// The tool.
    pub tool_name: String,
    /// What a decision names.
    pub tool_id: String,
    /// What to show to people.
    pub permission_message: PermissionText,
    /// What the tool would be called with.
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub tool_input: Value,
}

/// What to show to people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = PermissionMessage)]
pub(crate) struct PermissionText {
    /// In short.
    pub title: String,
    /// In full.
    pub body: String,
}

/// Questions of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct PendingQuestion {
    /// What a decision names.
    pub id: String,
    /// What they are about.
    pub title: String,
    /// The questions.
    pub questions: Vec<Question>,
}

/// A question and the answers to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Question {
    /// The question.
    pub question: String,
    /// The answers.
    pub options: Vec<String>,
}

impl OpenDecision {
    /// Asks for leave to use a tool.
    pub(crate) fn tool(tool: &str, id: String, input: Value) -> Self {
        Self::Tool(PendingTool {
            permission_message: PermissionText {
                title: format!("Use {tool}"),
                body: format!("The agent needs your leave to use the tool {tool}"),
            },
            tool_name: tool.to_owned(),
            tool_id: id,
            tool_input: input,
        })
    }

    /// Asks how to go on.
    pub(crate) fn question(id: String) -> Self {
        Self::Question(PendingQuestion {
            id,
            title: "How to go on".to_owned(),
            questions: vec![Question {
                question: "Shall the agent go on as the instruction says?".to_owned(),
                options: vec!["yes".to_owned(), "no".to_owned()],
            }],
        })
    }
}

/// A decision on something that the agent waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenDecision {
    /// The id of what is decided.
    pub id: String,
    /// What is decided.
    pub verdict: Verdict,
}

/// What is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Whether a tool may be used.
    Tool {
        /// It may.
        approved: bool,
        /// And for the rest of the task too.
        for_good: bool,
    },
    /// The answers to questions.
    Question(Vec<GivenAnswer>),
}

/// The answer to one of several questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenAnswer {
    /// Which of them, from 0.
    pub question: u64,
    /// What was chosen.
    pub options: Vec<String>,
}

impl GivenDecision {
    /// Whether it is this that is decided.
    pub(crate) fn is_on(&self, pending: &OpenDecision) -> bool {
        match (pending, &self.verdict) {
            (OpenDecision::Tool(tool), Verdict::Tool { .. }) => tool.tool_id == self.id,
            (OpenDecision::Question(question), Verdict::Question(_)) => question.id == self.id,
            _ => false,
        }
    }
}
