//! Parses the text of an expression with the crate `cel`.
//!
//! The crate's parser recurses without a limit that fits a thread's default stack. This module therefore limits size
//! and nesting first, and runs the parser on a thread with a stack for these limits.

use super::expression_compiler::compile_expression;
use super::expression_node::CompiledExpression;
use super::expression_problem::ExpressionProblem;
use super::record_field::RuleSubject;
use cel::parser::{ParseErrors, Parser};
use sluicegate_base::text;
use std::thread;

/// Maximum size of an expression, in bytes.
pub(super) const MAX_EXPRESSION_BYTES: usize = 4096;

/// Maximum number of brackets that are open at the same time.
const MAX_OPEN_BRACKETS: usize = 32;

/// Stack of the thread that parses. The deepest expression within the limits takes a quarter of it in a debug build.
const PARSER_STACK_BYTES: usize = 64 << 20;

/// Parses and compiles an expression about this kind of subject. The parser runs on a thread with a large stack,
/// because it recurses; if it panics, the expression is reported as invalid. The size of the regular expressions is
/// subtracted from `remaining_regex_bytes`.
pub(super) fn parse_expression(
    source: &str,
    subject: RuleSubject,
    remaining_regex_bytes: &mut usize,
) -> Result<CompiledExpression, ExpressionProblem> {
    reject_empty_or_large_expression(source)?;
    let parser = thread::Builder::new().stack_size(PARSER_STACK_BYTES);
    thread::scope(|scope| {
        parser
            .spawn_scoped(scope, || {
                compile_on_this_thread(source, subject, remaining_regex_bytes)
            })
            .map_err(|error| ExpressionProblem::at_start(format!("could not parse the expression: {error}")))?
            .join()
            .unwrap_or_else(|_| Err(ExpressionProblem::at_start("the expression is not valid CEL")))
    })
}

/// Parses and compiles an expression. Its thread must have a large stack, because the parser recurses deeply.
fn compile_on_this_thread(
    source: &str,
    subject: RuleSubject,
    remaining_regex_bytes: &mut usize,
) -> Result<CompiledExpression, ExpressionProblem> {
    let (root, info) = Parser::new()
        .parse_with_source_info(source)
        .map_err(|errors| convert_first_parse_error(source, &errors))?;
    compile_expression(&root, &info, subject, remaining_regex_bytes)
}

/// Rejects an expression that is empty, or too long or too deeply nested for the parser.
fn reject_empty_or_large_expression(source: &str) -> Result<(), ExpressionProblem> {
    if source.trim().is_empty() {
        return Err(ExpressionProblem::at_start("the expression is empty"));
    }
    if source.len() > MAX_EXPRESSION_BYTES {
        return Err(ExpressionProblem::at_start(format!(
            "the expression has {} bytes; the maximum is {MAX_EXPRESSION_BYTES}",
            source.len()
        )));
    }
    // Brackets in strings are counted, too. A closing bracket in a string therefore allows one more open bracket.
    let mut open_count = 0_usize;
    for (offset, character) in source.chars().enumerate() {
        match character {
            '(' | '[' | '{' => open_count += 1,
            ')' | ']' | '}' => open_count = open_count.saturating_sub(1),
            _ => {}
        }
        if open_count > MAX_OPEN_BRACKETS {
            let message = format!("the expression has more than {MAX_OPEN_BRACKETS} open brackets");
            return Err(ExpressionProblem::new(offset, message));
        }
    }
    Ok(())
}

/// Returns the first error of the parser as a problem at the character where it occurred.
fn convert_first_parse_error(source: &str, errors: &ParseErrors) -> ExpressionProblem {
    let Some(error) = errors.errors.first() else {
        return ExpressionProblem::at_start("the expression is not valid CEL");
    };
    let (line, column) = error.pos;
    let lines_before = usize::try_from(line).unwrap_or(1).saturating_sub(1);
    let offset_of_line: usize = source
        .split_inclusive('\n')
        .take(lines_before)
        .map(|line| line.chars().count())
        .sum();
    let offset = offset_of_line + usize::try_from(column).unwrap_or(1).saturating_sub(1);
    ExpressionProblem::new(offset, describe_parse_error(&error.msg))
        .with_help(suggest_operator(source, offset))
}

/// Returns the question whether the operator of CEL was meant that corresponds to the text at this offset: a single
/// `=`, or `and` or `or`. A `not` is before the offset, because the parser reads it as a name.
fn suggest_operator(source: &str, offset: usize) -> Option<String> {
    let text_after: String = source.chars().skip(offset).collect();
    let words_before: String = source.chars().take(offset).collect();
    let word_end = text_after
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(text_after.len());
    let operator = match text_after.split_at(word_end) {
        ("", operator) if operator.starts_with('=') => "==",
        ("and", _) => "&&",
        ("or", _) => "||",
        _ if words_before.split_whitespace().next_back() == Some("not") => "!",
        _ => return None,
    };
    Some(text::did_you_mean(operator))
}

/// Returns a message for people. The parser's own messages list its tokens, so only the unexpected text is taken from
/// them.
fn describe_parse_error(message: &str) -> String {
    let message = message.trim_start_matches("Syntax error: ");
    if message.starts_with("invalid argument to has()") {
        return "`has` needs a field, as in `has(component.parameters.name)`".to_owned();
    }
    if message.starts_with("argument must be a simple name") {
        return "the first argument must be the name of a new variable".to_owned();
    }
    // The parser quotes the text: `input 'TEXT'`, `input 'TEXT' expecting ...` or `at: 'TEXT'`.
    let unexpected_text = message
        .split_once("input '")
        .or_else(|| message.split_once("at: '"))
        .map(|(_, tail)| tail.split_once("' expecting").map_or(tail, |(text, _)| text))
        .map(|text| text.strip_suffix('\'').unwrap_or(text));
    match unexpected_text {
        Some(text) if text.contains("<EOF>") => "the expression is incomplete".to_owned(),
        Some(text) => format!("unexpected `{}`", sluicegate_yaml::shorten(text)),
        None => "the expression is not valid CEL".to_owned(),
    }
}
