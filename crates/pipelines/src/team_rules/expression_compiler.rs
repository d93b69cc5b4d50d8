//! Compiles the syntax tree of an expression, and checks names and types on the way.

use super::expression_function::Function;
use super::expression_node::{
    BinaryOperator, CompiledExpression, Constant, ExpressionNode, MacroKind, MacroNode,
};
use super::expression_pattern::TextPattern;
use super::expression_problem::ExpressionProblem;
use super::expression_type::ValueType;
use super::macro_parts::MacroParts;
use super::operator_type::{describe_type_conflict, find_operator, find_result_type, suggest_empty_value};
use super::record_field::{FieldType, RecordKind, RuleSubject};
use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, MapExpr, SelectExpr, SourceInfo,
    operators,
};
use sluicegate_base::text;

/// Maximum depth of the syntax tree. Its evaluation recurses.
const MAX_DEPTH: usize = 64;

type CompilationResult = Result<(ExpressionNode, ValueType), ExpressionProblem>;

/// Compiles an expression about this kind of subject. Its variables are `pipeline`, `project` and the subject. The size
/// of its regular expressions is subtracted from `remaining_regex_bytes`.
pub(super) fn compile_expression(
    root: &IdedExpr,
    info: &SourceInfo,
    subject: RuleSubject,
    remaining_regex_bytes: &mut usize,
) -> Result<CompiledExpression, ExpressionProblem> {
    let mut scope = vec![
        ("pipeline".to_owned(), ValueType::Record(RecordKind::Pipeline)),
        ("project".to_owned(), ValueType::Record(RecordKind::Project)),
    ];
    if subject != RuleSubject::Pipeline {
        let subject_type = ValueType::Record(subject.record_kind());
        scope.push((subject.name().to_owned(), subject_type));
    }
    let mut compiler = Compiler {
        info,
        scope,
        depth: 0,
        remaining_regex_bytes,
    };
    let (root, root_type) = compiler.compile(root)?;
    Ok(CompiledExpression { root, root_type })
}

struct Compiler<'s> {
    info: &'s SourceInfo,
    /// The variables with their types; a later one hides an earlier one of the same name.
    scope: Vec<(String, ValueType)>,
    depth: usize,
    remaining_regex_bytes: &'s mut usize,
}

impl Compiler<'_> {
    /// Creates a problem at the position of this expression, which for a field or a function is that of its name.
    fn problem_at(&self, expression: &IdedExpr, message: impl Into<String>) -> ExpressionProblem {
        let token_start = self.info.offset_for(expression.id).map_or(0, |(start, _)| start);
        let token_start = usize::try_from(token_start).unwrap_or_default();
        let text_before = self.info.source.get(..token_start).unwrap_or_default();
        let offset = text_before.chars().count();
        // The parser gives the offset of the period before a field, and of the parenthesis after a function's name.
        let name_offset = match &expression.expr {
            Expr::Select(_) => offset + 1,
            Expr::Call(call) if text_before.ends_with(&call.func_name) => {
                offset - call.func_name.chars().count()
            }
            _ => offset,
        };
        ExpressionProblem::new(name_offset, message)
    }

    /// Compiles an expression, and returns its type with it. The depth is limited because the evaluation recurses.
    fn compile(&mut self, expression: &IdedExpr) -> CompilationResult {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("the expression has more than {MAX_DEPTH} nested parts");
            return Err(self.problem_at(expression, message));
        }
        let result = match &expression.expr {
            Expr::Ident(name) => self.compile_variable(expression, name),
            Expr::Literal(literal) => self.compile_literal(expression, literal),
            Expr::Select(select) => self.compile_selection(expression, select),
            Expr::Call(call) => self.compile_call(expression, call),
            Expr::List(list) => self.compile_list(&list.elements),
            Expr::Map(map) => self.compile_map(expression, map),
            Expr::Comprehension(comprehension) => self.compile_macro(expression, comprehension),
            Expr::Struct(_) | Expr::Unspecified => {
                Err(self.problem_at(expression, "an expression cannot create an object"))
            }
        };
        self.depth -= 1;
        result
    }

    /// Compiles a variable to its index in the scope. Of several variables with the same name, the innermost is used.
    fn compile_variable(&self, expression: &IdedExpr, name: &str) -> CompilationResult {
        let position = self.scope.iter().rposition(|(known_name, _)| known_name == name);
        if let Some((index, (_, variable_type))) =
            position.and_then(|index| Some((index, self.scope.get(index)?)))
        {
            return Ok((ExpressionNode::Variable(index), variable_type.clone()));
        }
        let names: Vec<&str> = self.scope.iter().map(|(name, _)| name.as_str()).collect();
        let is_subject = RuleSubject::parse(name).is_some();
        let help = if is_subject {
            Some(format!("`{name}` exists only in rules with `for: {name}`"))
        } else {
            text::suggest(name, &names).or_else(|| Some(format!("the variables are {}", quote_names(&names))))
        };
        let message = format!("unknown variable `{}`", sluicegate_yaml::shorten(name));
        Err(self.problem_at(expression, message).with_help(help))
    }

    /// Compiles a literal to a constant of its type. Bytes are not supported.
    fn compile_literal(&self, expression: &IdedExpr, literal: &LiteralValue) -> CompilationResult {
        let (constant, literal_type) = match literal {
            LiteralValue::Null => (Constant::Null, ValueType::Null),
            LiteralValue::Boolean(value) => (Constant::Boolean(*value.inner()), ValueType::Boolean),
            LiteralValue::Int(value) => (Constant::Integer(*value.inner()), ValueType::Integer),
            LiteralValue::UInt(value) => (Constant::Unsigned(*value.inner()), ValueType::Unsigned),
            LiteralValue::Double(value) => (Constant::Double(*value.inner()), ValueType::Double),
            LiteralValue::String(value) => (Constant::Text(value.inner().to_owned()), ValueType::Text),
            LiteralValue::Bytes(_) => {
                return Err(self.problem_at(expression, "bytes are not supported: write a string"));
            }
        };
        Ok((ExpressionNode::Constant(constant), literal_type))
    }

    /// Compiles `operand.name` for a field of a record or a key of a map, and `has(operand.name)` for a key.
    fn compile_selection(&mut self, expression: &IdedExpr, select: &SelectExpr) -> CompilationResult {
        let (operand, operand_type) = self.compile(&select.operand)?;
        let operand = Box::new(operand);
        let (name, is_has_macro) = (&select.field, select.test);
        match operand_type {
            ValueType::Record(kind) => {
                let Some((index, field)) = find_record_field(kind, name) else {
                    return Err(self.unknown_field_problem(expression, kind, name));
                };
                if is_has_macro {
                    let message = format!("`{kind}.{name}` always exists: compare it with an empty value");
                    return Err(self.problem_at(expression, message));
                }
                Ok((ExpressionNode::Field(operand, index), ValueType::of_field(field)))
            }
            ValueType::Map(_) | ValueType::Any if is_has_macro => {
                Ok((ExpressionNode::HasKey(operand, name.clone()), ValueType::Boolean))
            }
            ValueType::Map(value_type) => Ok((ExpressionNode::Key(operand, name.clone()), *value_type)),
            ValueType::Any => Ok((ExpressionNode::Key(operand, name.clone()), ValueType::Any)),
            mismatch => {
                let message = format!("{mismatch} has no field `{}`", sluicegate_yaml::shorten(name));
                Err(self.problem_at(expression, message))
            }
        }
    }

    /// Creates the problem for a field that this kind of record lacks. The help suggests a similar field, or lists all
    /// fields.
    fn unknown_field_problem(
        &self,
        expression: &IdedExpr,
        kind: RecordKind,
        name: &str,
    ) -> ExpressionProblem {
        let names: Vec<&str> = kind.fields().iter().map(|field| field.name).collect();
        let help = text::suggest(name, &names)
            .or_else(|| Some(format!("the fields of `{kind}` are {}", quote_names(&names))));
        let message = format!("`{kind}` has no field `{}`", sluicegate_yaml::shorten(name));
        self.problem_at(expression, message).with_help(help)
    }

    /// Compiles a list. The type of its items is unknown if they have different types.
    fn compile_list(&mut self, items: &[IdedExpr]) -> CompilationResult {
        let mut nodes = Vec::new();
        let mut item_type = None;
        for item in items {
            let (node, type_) = self.compile(item)?;
            nodes.push(node);
            item_type = Some(match item_type {
                None => type_,
                Some(earlier_type) => type_.unite(&earlier_type),
            });
        }
        let list_type = ValueType::list_of(item_type.unwrap_or(ValueType::Any));
        Ok((ExpressionNode::List(nodes), list_type))
    }

    /// Compiles a map. The types of its values are not tracked.
    fn compile_map(&mut self, expression: &IdedExpr, map: &MapExpr) -> CompilationResult {
        let mut entries = Vec::new();
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else {
                return Err(self.problem_at(expression, "an expression cannot create an object"));
            };
            let (key, _) = self.compile(&entry.key)?;
            let (value, _) = self.compile(&entry.value)?;
            entries.push((key, value));
        }
        Ok((
            ExpressionNode::Map(entries),
            ValueType::Map(Box::new(ValueType::Any)),
        ))
    }

    /// Compiles an operator or a function; the syntax tree represents both as calls. The value that a method is called
    /// on becomes the first argument.
    fn compile_call(&mut self, expression: &IdedExpr, call: &CallExpr) -> CompilationResult {
        let arguments: Vec<&IdedExpr> = call.target.as_deref().into_iter().chain(&call.args).collect();
        match (call.func_name.as_str(), arguments.as_slice()) {
            (operators::LOGICAL_AND, [left, right]) => {
                let operands = [self.compile_condition(left)?, self.compile_condition(right)?];
                Ok((ExpressionNode::And(Box::new(operands)), ValueType::Boolean))
            }
            (operators::LOGICAL_OR, [left, right]) => {
                let operands = [self.compile_condition(left)?, self.compile_condition(right)?];
                Ok((ExpressionNode::Or(Box::new(operands)), ValueType::Boolean))
            }
            (operators::LOGICAL_NOT, [operand]) => {
                let operand = self.compile_condition(operand)?;
                Ok((ExpressionNode::Not(Box::new(operand)), ValueType::Boolean))
            }
            (operators::NEGATE, [operand]) => self.compile_negation(operand),
            (operators::CONDITIONAL, [condition, value, other_value]) => {
                let condition = self.compile_condition(condition)?;
                let (value, value_type) = self.compile(value)?;
                let (other_value, other_type) = self.compile(other_value)?;
                let node = ExpressionNode::Conditional(Box::new([condition, value, other_value]));
                Ok((node, value_type.unite(&other_type)))
            }
            (name, arguments) => match (find_operator(name), arguments) {
                (Some(operator), [left, right]) => self.compile_binary(expression, operator, left, right),
                _ => self.compile_function(expression, name, arguments),
            },
        }
    }

    /// Compiles an expression that must be a boolean.
    fn compile_condition(&mut self, expression: &IdedExpr) -> Result<ExpressionNode, ExpressionProblem> {
        let (node, type_) = self.compile(expression)?;
        if type_.is_compatible(&ValueType::Boolean) {
            return Ok(node);
        }
        Err(self.problem_at(
            expression,
            format!("expected a condition, but the expression is {type_}"),
        ))
    }

    /// Compiles the negation of an expression whose value is a number. An unsigned integer cannot be negated.
    fn compile_negation(&mut self, operand: &IdedExpr) -> CompilationResult {
        let (node, type_) = self.compile(operand)?;
        if matches!(type_, ValueType::Integer | ValueType::Double | ValueType::Any) {
            return Ok((ExpressionNode::Negate(Box::new(node)), type_));
        }
        Err(self.problem_at(operand, format!("{type_} cannot be negated")))
    }

    /// Compiles an operator with two operands, and checks that it can be applied to their types.
    fn compile_binary(
        &mut self,
        expression: &IdedExpr,
        operator: BinaryOperator,
        left: &IdedExpr,
        right: &IdedExpr,
    ) -> CompilationResult {
        let (left, left_type) = self.compile(left)?;
        let (right, right_type) = self.compile(right)?;
        let Some(result_type) = find_result_type(operator, &left_type, &right_type) else {
            let message = describe_type_conflict(operator, &left_type, &right_type);
            let help = suggest_empty_value(operator, &left_type, &right_type);
            return Err(self.problem_at(expression, message).with_help(help));
        };
        Ok((
            ExpressionNode::Binary(operator, Box::new([left, right])),
            result_type,
        ))
    }

    /// Compiles a function call. Checks the function's name, the number of its arguments, and their types.
    fn compile_function(
        &mut self,
        expression: &IdedExpr,
        name: &str,
        arguments: &[&IdedExpr],
    ) -> CompilationResult {
        let Some(function) = Function::parse(name) else {
            let names = Function::list_names();
            let suggestion = match name {
                "not" => Some(text::did_you_mean("!")),
                _ => text::suggest(name, &names),
            };
            let help = suggestion.or_else(|| Some(format!("the functions are {}", quote_names(&names))));
            let message = format!("unknown function `{}`", sluicegate_yaml::shorten(name));
            return Err(self.problem_at(expression, message).with_help(help));
        };
        let expected_count = function.argument_count();
        if arguments.len() != expected_count {
            let message = format!(
                "`{name}` needs {}, but has {}",
                text::format_count(expected_count, "value"),
                arguments.len()
            );
            return Err(self.problem_at(expression, message));
        }
        let mut nodes = Vec::new();
        for argument in arguments {
            let (node, kind) = self.compile(argument)?;
            if !function.accepts(&kind) {
                return Err(self.problem_at(argument, format!("`{name}` cannot be applied to {kind}")));
            }
            nodes.push(node);
        }
        let node = self.build_call_node(function, nodes, arguments)?;
        Ok((node, function.result_type()))
    }

    /// Builds the node of a function call from the compiled arguments. A pattern that is a literal, the second argument
    /// of `matches` and `glob`, is compiled now, to find its errors in the rules file.
    fn build_call_node(
        &mut self,
        function: Function,
        mut nodes: Vec<ExpressionNode>,
        arguments: &[&IdedExpr],
    ) -> Result<ExpressionNode, ExpressionProblem> {
        let (
            Function::Matches | Function::Glob,
            [_, ExpressionNode::Constant(Constant::Text(pattern))],
            [_, pattern_argument],
        ) = (function, nodes.as_slice(), arguments)
        else {
            return Ok(ExpressionNode::Call(function, nodes));
        };
        let pattern = TextPattern::compile_literal(function, pattern, self.remaining_regex_bytes)
            .map_err(|reason| self.problem_at(pattern_argument, reason))?;
        Ok(ExpressionNode::Match(Box::new(nodes.swap_remove(0)), pattern))
    }

    /// Compiles a macro such as `all` or `map`, which the parser expanded to a comprehension. The macro's own variable
    /// is in scope only for its predicate and its transformation.
    fn compile_macro(
        &mut self,
        expression: &IdedExpr,
        comprehension: &ComprehensionExpr,
    ) -> CompilationResult {
        let Some(parts) = MacroParts::from_comprehension(comprehension) else {
            return Err(self.problem_at(expression, "this macro is not supported"));
        };
        let (items, items_type) = self.compile(&comprehension.iter_range)?;
        let item_type = match items_type {
            ValueType::List(item_type) => *item_type,
            // A macro gets the keys of a map, not its values. Only a map of the document has nothing but texts as keys.
            ValueType::Map(_) if matches!(comprehension.iter_range.expr, Expr::Map(_)) => ValueType::Any,
            ValueType::Map(_) => ValueType::Text,
            ValueType::Any => ValueType::Any,
            mismatch => {
                let message = format!("expected a list or a map, but the expression is {mismatch}");
                return Err(self.problem_at(&comprehension.iter_range, message));
            }
        };
        self.scope
            .push((comprehension.iter_var.clone(), item_type.clone()));
        let predicate = parts
            .predicate
            .map(|predicate| self.compile_condition(predicate))
            .transpose()?;
        let transform = parts
            .transform
            .map(|transform| self.compile(transform))
            .transpose()?;
        self.scope.pop();
        let (transform, transform_type) = transform.unzip();
        let result_type = match parts.kind {
            MacroKind::Collect => ValueType::list_of(transform_type.unwrap_or(item_type)),
            MacroKind::All | MacroKind::Exists | MacroKind::ExistsOne => ValueType::Boolean,
        };
        let node = MacroNode {
            kind: parts.kind,
            items,
            predicate,
            transform,
        };
        Ok((ExpressionNode::Macro(Box::new(node)), result_type))
    }
}

/// Returns the index and the type of a documented field; `None` if this kind of record has no such field.
fn find_record_field(kind: RecordKind, name: &str) -> Option<(usize, FieldType)> {
    let index = kind.find_field_index(name)?;
    Some((index, kind.fields().get(index)?.field_type))
}

fn quote_names(names: &[&str]) -> String {
    let quoted_names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted_names.join(", ")
}
