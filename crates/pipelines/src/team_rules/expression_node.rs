//! The steps of an expression that was compiled.

use super::expression_function::Function;
use super::expression_type::ValueType;
use globset::GlobMatcher;
use regex::Regex;

/// An expression that can be evaluated.
#[derive(Debug)]
pub(super) struct CompiledExpression {
    pub root: Node,
    pub root_type: ValueType,
}

/// A step of the evaluation, with its operands.
#[derive(Debug)]
pub(super) enum Node {
    Constant(Constant),
    /// A variable, by its index in the scope.
    Variable(usize),
    /// A documented field, by its index.
    Field(Box<Node>, usize),
    /// The value of a key of a map.
    Key(Box<Node>, String),
    HasKey(Box<Node>, String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    Not(Box<Node>),
    Negate(Box<Node>),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    Conditional(Box<[Node; 3]>),
    Binary(BinaryOperator, Box<[Node; 2]>),
    Call(Function, Vec<Node>),
    /// A call with a pattern that is a literal.
    Regex(Box<Node>, Regex),
    Glob(Box<Node>, GlobMatcher),
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
    pub items: Node,
    pub predicate: Option<Node>,
    pub transform: Option<Node>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MacroKind {
    All,
    Exists,
    ExistsOne,
    /// `map` and `filter`: the result is a list.
    Collect,
}
