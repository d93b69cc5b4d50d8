//! Evaluates an expression, with a bound on its cost.

use super::evaluation_failure::{EvaluationFailure, EvaluationResult, build_failure};
use super::expression_function::Function;
use super::expression_node::{BinaryOperator, Constant, ExpressionNode, MacroKind, MacroNode};
use super::expression_pattern::TextPattern;
use super::expression_value::ExpressionValue;
use super::number_value::{calculate, convert_value, negate};
use sluicegate_base::text::join_with_and;
use std::borrow::Cow;
use std::rc::Rc;

/// Number of characters that cost as much as one step.
pub(super) const CHARACTERS_PER_STEP: usize = 16;

/// Number of positions of a pattern for which matching a text costs as much as reading it.
const POSITIONS_PER_STEP: usize = 8;

/// Cost of a pattern that is compiled during the evaluation, in steps.
const PATTERN_COST: usize = 5000;

/// Additional cost of each byte of such a pattern, in steps. A byte may be a class such as `\W`, which takes long to
/// read.
const PATTERN_BYTE_COST: usize = 20;

/// Evaluates expressions with the same budget and the same variables.
pub(super) struct ExpressionEvaluation<'m> {
    /// The variables of the scope, in the order of the compiler.
    pub variables: Vec<ExpressionValue<'m>>,
    /// Number of steps that are left.
    pub remaining_steps: usize,
}

impl<'m> ExpressionEvaluation<'m> {
    /// Computes the value of an expression. Each part of the expression costs at least one step of the budget.
    pub(super) fn compute_value(&mut self, node: &'m ExpressionNode) -> EvaluationResult<'m> {
        self.spend_steps(1)?;
        match node {
            ExpressionNode::Constant(constant) => Ok(constant_value(constant)),
            ExpressionNode::Variable(index) => self.variable_value(*index),
            ExpressionNode::Field(operand, index) => match self.compute_value(operand)? {
                ExpressionValue::Record(record) => record
                    .fields
                    .get(*index)
                    .cloned()
                    .ok_or_else(|| build_failure("the field is missing")),
                mismatch => Err(build_failure(format!("{} has no fields", mismatch.type_name()))),
            },
            ExpressionNode::Key(operand, name) => {
                let operand = self.compute_value(operand)?;
                self.read_key(&operand, name)
            }
            ExpressionNode::HasKey(operand, name) => {
                let operand = self.compute_value(operand)?;
                let is_found = operand.can_have_keys() && self.find_key(&operand, name)?.is_some();
                Ok(ExpressionValue::Boolean(is_found))
            }
            ExpressionNode::List(items) => Ok(ExpressionValue::from_items(self.compute_values(items)?)),
            ExpressionNode::Map(entries) => self.evaluate_map(entries),
            ExpressionNode::Not(operand) => Ok(ExpressionValue::Boolean(!self.evaluate_condition(operand)?)),
            ExpressionNode::Negate(operand) => negate(&self.compute_value(operand)?),
            // The result of `&&` is decided by an operand that is false, the result of `||` by one that is true.
            ExpressionNode::And(operands) => self.combine_conditions(operands, false),
            ExpressionNode::Or(operands) => self.combine_conditions(operands, true),
            ExpressionNode::Conditional(parts) => {
                let [condition, value, other_value] = parts.as_ref();
                if self.evaluate_condition(condition)? {
                    self.compute_value(value)
                } else {
                    self.compute_value(other_value)
                }
            }
            ExpressionNode::Binary(operator, operands) => {
                let [left, right] = operands.as_ref();
                let (left, right) = (self.compute_value(left)?, self.compute_value(right)?);
                self.apply_operator(*operator, left, right)
            }
            ExpressionNode::Call(function, arguments) => {
                let values = self.compute_values(arguments)?;
                self.call_function(*function, &values)
            }
            ExpressionNode::Match(text, pattern) => {
                let text = self.evaluate_text(text)?;
                self.match_pattern(&text, pattern).map(ExpressionValue::Boolean)
            }
            ExpressionNode::Macro(node) => self.evaluate_macro(node),
        }
    }

    fn compute_values(
        &mut self,
        nodes: &'m [ExpressionNode],
    ) -> Result<Vec<ExpressionValue<'m>>, EvaluationFailure> {
        nodes.iter().map(|node| self.compute_value(node)).collect()
    }

    /// Evaluates an expression that must be a boolean.
    pub(super) fn evaluate_condition(&mut self, node: &'m ExpressionNode) -> Result<bool, EvaluationFailure> {
        match self.compute_value(node)? {
            ExpressionValue::Boolean(value) => Ok(value),
            mismatch => Err(build_failure(format!(
                "a condition is {}, not a boolean",
                mismatch.type_name()
            ))),
        }
    }

    /// Takes steps from the budget of the rule. Fails if the budget is exceeded.
    pub(super) fn spend_steps(&mut self, steps: usize) -> Result<(), EvaluationFailure> {
        let remaining_steps = self.remaining_steps.checked_sub(steps);
        self.remaining_steps = remaining_steps.unwrap_or_default();
        remaining_steps.map(|_| ()).ok_or(EvaluationFailure::CostLimit)
    }

    /// Takes the steps for reading this text from the budget of the rule.
    fn spend_steps_for_text(&mut self, text: &str) -> Result<(), EvaluationFailure> {
        self.spend_steps(text.len() / CHARACTERS_PER_STEP)
    }

    /// Returns the value of the variable with this index in the scope. Fails if there is no such variable.
    fn variable_value(&self, index: usize) -> EvaluationResult<'m> {
        let value = self.variables.get(index);
        value
            .cloned()
            .ok_or_else(|| build_failure("the variable is missing"))
    }

    /// Evaluates an expression that must be a string. Reading the string costs steps.
    fn evaluate_text(&mut self, node: &'m ExpressionNode) -> Result<Cow<'m, str>, EvaluationFailure> {
        match self.compute_value(node)? {
            ExpressionValue::Text(text) => {
                self.spend_steps_for_text(&text)?;
                Ok(text)
            }
            mismatch => Err(build_failure(format!(
                "expected a string, not {}",
                mismatch.type_name()
            ))),
        }
    }

    /// Evaluates a map. Fails if two of its keys are equal.
    fn evaluate_map(&mut self, entries: &'m [(ExpressionNode, ExpressionNode)]) -> EvaluationResult<'m> {
        let mut values: Vec<(ExpressionValue<'m>, ExpressionValue<'m>)> = Vec::new();
        for (key, value) in entries {
            let key = self.compute_value(key)?;
            for (earlier_key, _) in &values {
                if self.is_equal(earlier_key, &key)? {
                    return Err(build_failure("a map has the same key twice"));
                }
            }
            values.push((key, self.compute_value(value)?));
        }
        Ok(ExpressionValue::Map(Rc::new(values)))
    }

    /// Evaluates `&&` or `||`. An operand with the value `decisive_value` decides the result, even if the other operand
    /// fails. If the first one exceeds the budget, the evaluation ends.
    fn combine_conditions(
        &mut self,
        operands: &'m [ExpressionNode; 2],
        decisive_value: bool,
    ) -> EvaluationResult<'m> {
        let [left, right] = operands;
        let left = self.evaluate_condition(left);
        if left == Ok(decisive_value) || left == Err(EvaluationFailure::CostLimit) {
            return left.map(ExpressionValue::Boolean);
        }
        let right = self.evaluate_condition(right)?;
        if right == decisive_value {
            return Ok(ExpressionValue::Boolean(decisive_value));
        }
        left.map(ExpressionValue::Boolean)
    }

    /// Applies an operator to two values. `<`, `<=`, `>` and `>=` are all false if a value is NaN, which has no order.
    fn apply_operator(
        &mut self,
        operator: BinaryOperator,
        left: ExpressionValue<'m>,
        right: ExpressionValue<'m>,
    ) -> EvaluationResult<'m> {
        match operator {
            BinaryOperator::Equal => Ok(ExpressionValue::Boolean(self.is_equal(&left, &right)?)),
            BinaryOperator::NotEqual => Ok(ExpressionValue::Boolean(!self.is_equal(&left, &right)?)),
            BinaryOperator::LessThan
            | BinaryOperator::LessOrEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterOrEqual => {
                let order = self.compare_values(&left, &right)?;
                Ok(ExpressionValue::Boolean(order.is_some_and(
                    |order| match operator {
                        BinaryOperator::LessThan => order.is_lt(),
                        BinaryOperator::LessOrEqual => order.is_le(),
                        BinaryOperator::Greater => order.is_gt(),
                        _ => order.is_ge(),
                    },
                )))
            }
            BinaryOperator::Add => self.add_values(left, right),
            BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Remainder => calculate(operator, &left, &right),
            // The operator is `in`: the item is on its left, the collection on its right.
            BinaryOperator::Membership => self.has_item(&right, &left).map(ExpressionValue::Boolean),
            BinaryOperator::Index => self.read_item(&left, &right),
        }
    }

    /// Calls a function with these arguments. Fails if it cannot be applied to values of their types.
    fn call_function(
        &mut self,
        function: Function,
        arguments: &[ExpressionValue<'m>],
    ) -> EvaluationResult<'m> {
        match (function, arguments) {
            (Function::Size, [value]) => self.measure_size(value),
            (Function::Lower, [ExpressionValue::Text(text)]) => {
                self.spend_steps_for_text(text)?;
                Ok(ExpressionValue::Text(text.to_lowercase().into()))
            }
            (
                Function::ToText
                | Function::ToInteger
                | Function::ToUnsigned
                | Function::ToDouble
                | Function::ToBoolean,
                [value],
            ) => convert_value(function, value),
            // The functions that compare a text with another text, such as `contains`.
            (_, [ExpressionValue::Text(text), ExpressionValue::Text(pattern)]) => {
                self.spend_steps_for_text(text)?;
                self.match_text(function, text, pattern)
                    .map(ExpressionValue::Boolean)
            }
            _ => Err(build_failure(format!(
                "`{function}` cannot be applied to {}",
                join_with_and(arguments.iter().map(ExpressionValue::type_name))
            ))),
        }
    }

    /// Evaluates a function that searches a text for another text, or matches the text against a regular expression or
    /// a glob. A pattern that is not a literal is compiled here, which costs many steps.
    fn match_text(
        &mut self,
        function: Function,
        text: &str,
        pattern: &str,
    ) -> Result<bool, EvaluationFailure> {
        match function {
            Function::Contains => Ok(text.contains(pattern)),
            Function::StartsWith => Ok(text.starts_with(pattern)),
            Function::EndsWith => Ok(text.ends_with(pattern)),
            // The only other functions with two texts are `matches` and `glob`.
            _ => {
                let byte_cost = pattern.len().saturating_mul(PATTERN_BYTE_COST);
                self.spend_steps(PATTERN_COST.saturating_add(byte_cost))?;
                let pattern =
                    TextPattern::compile_computed(function, pattern).map_err(EvaluationFailure::Failed)?;
                self.match_pattern(text, &pattern)
            }
        }
    }

    /// Matches a text that was read with a pattern. This costs further steps if the pattern is large.
    fn match_pattern(&mut self, text: &str, pattern: &TextPattern) -> Result<bool, EvaluationFailure> {
        let comparison_count = text.len().saturating_mul(pattern.position_count);
        self.spend_steps(comparison_count / (CHARACTERS_PER_STEP * POSITIONS_PER_STEP))?;
        Ok(pattern.is_match(text))
    }

    /// Returns the number of characters of a string, of items of a list, or of entries of a map.
    fn measure_size(&mut self, value: &ExpressionValue<'m>) -> EvaluationResult<'m> {
        let size = match value {
            ExpressionValue::Text(text) => {
                self.spend_steps_for_text(text)?;
                text.chars().count()
            }
            ExpressionValue::List(items) => items.len(),
            ExpressionValue::Map(entries) => entries.len(),
            ExpressionValue::Paths(files) => files.paths().len(),
            ExpressionValue::Node(node) => node
                .items()
                .map_or_else(|| node.entries().count(), |items| items.len()),
            mismatch => return Err(build_failure(format!("{} has no size", mismatch.type_name()))),
        };
        Ok(ExpressionValue::Integer(i64::try_from(size).unwrap_or(i64::MAX)))
    }

    /// Evaluates a macro for each item of a list or each key of a map, until the result is decided.
    fn evaluate_macro(&mut self, node: &'m MacroNode) -> EvaluationResult<'m> {
        let collection = self.compute_value(&node.items)?;
        let items = self.list_items_or_keys(&collection)?;
        let scope_size = self.variables.len();
        let mut state = MacroState::default();
        for item in items {
            self.variables.push(item.clone());
            let is_decided = self.evaluate_macro_item(node, item, &mut state);
            self.variables.truncate(scope_size);
            if is_decided? {
                break;
            }
        }
        state.into_value(node.kind)
    }

    /// Evaluates the predicate and the transformation of a macro for one item, and adds the outcome to `state`. Returns
    /// whether the result is decided, because the macro then skips the other items.
    fn evaluate_macro_item(
        &mut self,
        node: &'m MacroNode,
        item: ExpressionValue<'m>,
        state: &mut MacroState<'m>,
    ) -> Result<bool, EvaluationFailure> {
        let is_match = match &node.predicate {
            Some(predicate) => match (self.evaluate_condition(predicate), node.kind) {
                // As with `&&` and `||`, another item may decide the result, so the first failure is only stored.
                (Err(EvaluationFailure::Failed(reason)), MacroKind::All | MacroKind::Exists) => {
                    state.failure.get_or_insert(EvaluationFailure::Failed(reason));
                    return Ok(false);
                }
                (is_match, _) => is_match?,
            },
            // Without a predicate, `map` adds a value for each item.
            None => true,
        };
        match node.kind {
            // One item without a match makes `all` false, and one match makes `exists` true.
            MacroKind::All => state.is_decided = !is_match,
            MacroKind::Exists => state.is_decided = is_match,
            MacroKind::ExistsOne => state.match_count += usize::from(is_match),
            MacroKind::Collect if is_match => {
                let value = match &node.transform {
                    Some(transform) => self.compute_value(transform)?,
                    None => item,
                };
                state.values.push(value);
            }
            MacroKind::Collect => {}
        }
        Ok(state.is_decided)
    }
}

/// Intermediate result of a macro over a list.
#[derive(Default)]
struct MacroState<'m> {
    is_decided: bool,
    match_count: usize,
    values: Vec<ExpressionValue<'m>>,
    failure: Option<EvaluationFailure>,
}

impl<'m> MacroState<'m> {
    /// Returns the result of the macro. The failure of one item matters only if no other item decided the result.
    fn into_value(self, kind: MacroKind) -> EvaluationResult<'m> {
        match (self.is_decided, self.failure) {
            (false, Some(failure)) => Err(failure),
            (is_decided, _) => Ok(match kind {
                MacroKind::All => ExpressionValue::Boolean(!is_decided),
                MacroKind::Exists => ExpressionValue::Boolean(is_decided),
                MacroKind::ExistsOne => ExpressionValue::Boolean(self.match_count == 1),
                MacroKind::Collect => ExpressionValue::from_items(self.values),
            }),
        }
    }
}

fn constant_value(constant: &Constant) -> ExpressionValue<'_> {
    match constant {
        Constant::Null => ExpressionValue::Null,
        Constant::Boolean(value) => ExpressionValue::Boolean(*value),
        Constant::Integer(number) => ExpressionValue::Integer(*number),
        Constant::Unsigned(number) => ExpressionValue::Unsigned(*number),
        Constant::Double(number) => ExpressionValue::Double(*number),
        Constant::Text(text) => ExpressionValue::from_text(text),
    }
}
