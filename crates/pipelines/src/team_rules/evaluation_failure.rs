//! The reason why an expression has no value.

use super::expression_value::ExpressionValue;

/// The reason why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EvaluationFailure {
    /// The evaluation needs more steps than the rule may use for a file.
    CostLimit,
    Failed(String),
}

pub(super) type EvaluationResult<'m> = Result<ExpressionValue<'m>, EvaluationFailure>;

/// Builds the failure of an expression that has no value for this reason.
pub(super) fn build_failure(reason: impl Into<String>) -> EvaluationFailure {
    EvaluationFailure::Failed(reason.into())
}
