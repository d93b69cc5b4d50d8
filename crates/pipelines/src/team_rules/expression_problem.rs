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

    /// Creates a problem of the complete expression, which is shown at its first character.
    pub(super) fn at_start(message: impl Into<String>) -> Self {
        let offset = 0;
        Self::new(offset, message)
    }

    pub(super) fn with_help(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }
}
