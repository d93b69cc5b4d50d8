//! The steps of an expression that was compiled.

use super::expression_function::Function;
use super::expression_pattern::TextPattern;
use super::expression_type::ValueType;

/// An expression that can be evaluated.
#[derive(Debug)]
pub(super) struct CompiledExpression {
    pub root: ExpressionNode,
    pub root_type: ValueType,
}

/// A step of the evaluation, with its operands.
#[derive(Debug)]
pub(super) enum ExpressionNode {
    Constant(Constant),
    /// A variable, by its index in the scope.
    Variable(usize),
    /// A documented field, by its index.
    Field(Box<ExpressionNode>, usize),
    /// The value of a key of a map.
    Key(Box<ExpressionNode>, String),
    HasKey(Box<ExpressionNode>, String),
    List(Vec<ExpressionNode>),
    Map(Vec<(ExpressionNode, ExpressionNode)>),
    Not(Box<ExpressionNode>),
    Negate(Box<ExpressionNode>),
    And(Box<[ExpressionNode; 2]>),
    Or(Box<[ExpressionNode; 2]>),
    Conditional(Box<[ExpressionNode; 3]>),
    Binary(BinaryOperator, Box<[ExpressionNode; 2]>),
    Call(Function, Vec<ExpressionNode>),
    /// A call of `matches` or `glob` with a pattern that is a literal.
    Match(Box<ExpressionNode>, TextPattern),
    Macro(Box<MacroNode>),
}

#[derive(Debug)]
pub(super) enum Constant {
    Null,
    Boolean(bool),
    Integer(i64),
    Unsigned(u64),
    Double(f64),
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryOperator {
    Equal,
    NotEqual,
    LessThan,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Membership,
    Index,
}

/// A macro over the items of a list or the keys of a map. The item is the last variable of the scope.
#[derive(Debug)]
pub(super) struct MacroNode {
    pub kind: MacroKind,
    pub items: ExpressionNode,
    pub predicate: Option<ExpressionNode>,
    pub transform: Option<ExpressionNode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MacroKind {
    All,
    Exists,
    ExistsOne,
    /// `map` and `filter`: the result is a list.
    Collect,
}
