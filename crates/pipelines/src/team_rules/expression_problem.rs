//! The reason why an expression cannot be used.

/// The reason why an expression cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExpressionProblem {
    /// The position of the problem in the expression, in characters.
    pub offset: usize,
    pub message: String,
    pub help: Option<String>,
}

impl ExpressionProblem {
    pub(super) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self {
            offset,
            message: message.into(),
            help: None,
        }
    }

    pub(super) fn with_help(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }
}
