//! The message of a rule: text with expressions in braces.

use super::cel_source::parse_expression;
use super::evaluation_failure::EvaluationFailure;
use super::expression_evaluation::{CHARACTERS_PER_STEP, ExpressionEvaluation};
use super::expression_node::{CompiledExpression, ExpressionNode};
use super::expression_problem::ExpressionProblem;
use super::expression_type::ValueType;
use super::number_value::format_scalar;
use super::record_field::RuleSubject;
use sluicegate_yaml::shorten;
use std::iter::Peekable;
use std::str::Chars;

/// Maximum number of expressions in a message.
const MAX_PLACEHOLDERS: usize = 20;

/// A message with placeholders such as `{component.name}`; `{{` and `}}` are braces.
#[derive(Debug)]
pub(super) struct MessageTemplate {
    parts: Vec<MessagePart>,
}

#[derive(Debug)]
enum MessagePart {
    Text(String),
    Placeholder(CompiledExpression),
}

impl MessageTemplate {
    /// Parses a message of a rule about this kind of subject. `{` and `}` enclose an expression; `{{` and `}}` are
    /// braces.
    pub(super) fn parse(
        source: &str,
        subject: RuleSubject,
        remaining_regex_bytes: &mut usize,
    ) -> Result<Self, ExpressionProblem> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut characters = source.chars().peekable();
        // The number of characters that were read, for errors.
        let mut offset = 0;
        while let Some(character) = characters.next() {
            offset += 1;
            let is_doubled = characters.peek() == Some(&character);
            match character {
                '{' | '}' if is_doubled => {
                    characters.next();
                    offset += 1;
                    text.push(character);
                }
                '{' => {
                    parts.push(MessagePart::Text(std::mem::take(&mut text)));
                    let expression = read_placeholder(&mut characters, offset)?;
                    parts.push(MessagePart::Placeholder(parse_placeholder(
                        &expression,
                        offset,
                        subject,
                        remaining_regex_bytes,
                    )?));
                    // The expression and its closing brace.
                    offset += expression.chars().count() + 1;
                }
                '}' => {
                    let help = Some("write `}}` for a literal brace".to_owned());
                    return Err(ExpressionProblem::new(offset - 1, "`}` has no matching `{`").with_help(help));
                }
                character => text.push(character),
            }
            // Each placeholder adds two parts: the text before it, and itself.
            if parts.len() > 2 * MAX_PLACEHOLDERS {
                let message = format!("the message has more than {MAX_PLACEHOLDERS} placeholders");
                return Err(ExpressionProblem::new(offset, message));
            }
        }
        parts.push(MessagePart::Text(text));
        Ok(Self { parts })
    }

    /// Returns the message with the value of each placeholder. The length of the message costs steps.
    pub(super) fn render<'m>(
        &'m self,
        evaluation: &mut ExpressionEvaluation<'m>,
    ) -> Result<String, EvaluationFailure> {
        let mut message = String::new();
        for part in &self.parts {
            match part {
                MessagePart::Text(text) => message.push_str(text),
                MessagePart::Placeholder(expression) => {
                    message.push_str(&render_placeholder(&expression.root, evaluation)?);
                }
            }
        }
        evaluation.spend_steps(message.len() / CHARACTERS_PER_STEP)?;
        Ok(message)
    }
}

/// Returns the text up to the first closing brace, even if this brace is in a string of the expression. `offset` is
/// the position after the opening brace, for errors.
fn read_placeholder(
    characters: &mut Peekable<Chars<'_>>,
    offset: usize,
) -> Result<String, ExpressionProblem> {
    let mut expression = String::new();
    for character in characters.by_ref() {
        if character == '}' {
            return Ok(expression);
        }
        expression.push(character);
    }
    let help = Some("write `{{` for a literal brace".to_owned());
    Err(ExpressionProblem::new(offset - 1, "`{` has no matching `}`").with_help(help))
}

/// Parses the expression of a placeholder, which begins at `offset` in the message. A list, a map and a record have no
/// short text, so they are rejected.
fn parse_placeholder(
    source: &str,
    offset: usize,
    subject: RuleSubject,
    remaining_regex_bytes: &mut usize,
) -> Result<CompiledExpression, ExpressionProblem> {
    let expression =
        parse_expression(source, subject, remaining_regex_bytes).map_err(|problem| ExpressionProblem {
            offset: problem.offset + offset,
            ..problem
        })?;
    match &expression.root_type {
        ValueType::List(_) | ValueType::Map(_) | ValueType::Record(_) => {
            let message = format!("a message cannot show {}", expression.root_type);
            Err(ExpressionProblem::new(offset, message))
        }
        _ => Ok(expression),
    }
}

/// Returns the value of a placeholder as text, shortened if it is long.
fn render_placeholder<'m>(
    node: &'m ExpressionNode,
    evaluation: &mut ExpressionEvaluation<'m>,
) -> Result<String, EvaluationFailure> {
    let value = evaluation.compute_value(node)?;
    let text = format_scalar(&value)
        .ok_or_else(|| EvaluationFailure::Failed(format!("the message cannot show {}", value.type_name())))?;
    Ok(shorten(&text).into_owned())
}
