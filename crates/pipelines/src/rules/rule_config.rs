//! Reads a rule's `config` in the rules file, field by field.

use super::error::EvaluationError;
use sluicegate_yaml::{NodeRef, Value, shorten};

/// The `config` of one rule. There are no default values: every field that a rule needs must be set.
#[derive(Debug, Clone, Copy)]
pub struct RuleConfig<'t, 'a> {
    id: &'static str,
    node: Option<NodeRef<'t, 'a>>,
}

impl<'t, 'a> RuleConfig<'t, 'a> {
    /// Creates the configuration of the rule `id`; `node` is `None` if its entry has no `config`.
    pub(crate) const fn new(id: &'static str, node: Option<NodeRef<'t, 'a>>) -> Self {
        Self { id, node }
    }

    /// Returns the value of a field that must be a non-negative integer. An integer that is too large for the type
    /// becomes the maximum, because no pipeline reaches either.
    pub(crate) fn require_count(&self, field: &str) -> Result<u64, EvaluationError> {
        let node = self.require_field(field)?;
        match node.natural() {
            Some(count) => Ok(count),
            None => Err(self.value_error(field, "a non-negative integer", node.value())),
        }
    }

    /// Returns the text of a field of the rule's configuration, or the error that it is missing or not a string.
    pub(crate) fn require_text(&self, field: &str) -> Result<&'t str, EvaluationError> {
        match self.require_field(field)?.value() {
            Some(Value::Text(text)) => Ok(text),
            value => Err(self.value_error(field, "a string (in quotes if it looks like a number)", value)),
        }
    }

    /// Returns a field of the rule's configuration, or the error that it is missing.
    fn require_field(&self, field: &str) -> Result<NodeRef<'t, 'a>, EvaluationError> {
        let config = self
            .node
            .filter(|node| !node.is_null())
            .ok_or_else(|| self.config_error(format!("`config` is missing, so `{field}` is not set")))?;
        if !config.is_map() {
            return Err(self.config_error("`config` is not a map".to_owned()));
        }
        config
            .get(field)
            .ok_or_else(|| self.config_error(format!("`{field}` is missing")))
    }

    /// Builds the error that a field does not have the required value.
    fn value_error(&self, field: &str, requirement: &str, value: Option<Value<'_>>) -> EvaluationError {
        let description = match value {
            None => "a list or a map".to_owned(),
            Some(Value::Null) => "empty".to_owned(),
            Some(Value::Boolean(value)) => format!("`{value}`"),
            Some(Value::Natural(value)) => format!("`{value}`"),
            Some(Value::OtherNumber) => "a negative or fractional number".to_owned(),
            Some(Value::Text(text)) => format!("the string `{}`", shorten(text)),
        };
        self.config_error(format!("`{field}` must be {requirement}, but is {description}"))
    }

    /// Builds the error for an invalid configuration of the rule.
    fn config_error(&self, problem: String) -> EvaluationError {
        EvaluationError::InvalidRuleConfiguration { id: self.id, problem }
    }
}
