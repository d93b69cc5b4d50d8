//! The operators of an expression: their names in the syntax tree, and the types that they accept.

use super::expression_node::BinaryOperator;
use super::expression_type::ValueType;
use cel::common::ast::operators;

const OPERATORS: [(&str, BinaryOperator); 13] = [
    (operators::EQUALS, BinaryOperator::Equal),
    (operators::NOT_EQUALS, BinaryOperator::NotEqual),
    (operators::LESS, BinaryOperator::LessThan),
    (operators::LESS_EQUALS, BinaryOperator::LessOrEqual),
    (operators::GREATER, BinaryOperator::Greater),
    (operators::GREATER_EQUALS, BinaryOperator::GreaterOrEqual),
    (operators::ADD, BinaryOperator::Add),
    (operators::SUBSTRACT, BinaryOperator::Subtract),
    (operators::MULTIPLY, BinaryOperator::Multiply),
    (operators::DIVIDE, BinaryOperator::Divide),
    (operators::MODULO, BinaryOperator::Remainder),
    (operators::IN, BinaryOperator::Membership),
    (operators::INDEX, BinaryOperator::Index),
];

/// Returns the operator with this name in the syntax tree; `None` for a function.
pub(super) fn find_operator(name: &str) -> Option<BinaryOperator> {
    OPERATORS
        .iter()
        .find_map(|(operator_name, operator)| (*operator_name == name).then_some(*operator))
}

/// Returns the type of an operator's result; `None` if it cannot be applied to values of these types. A value that may
/// be null can be compared with null, and numbers of different types with each other, but arithmetic requires the same
/// type.
pub(super) fn find_result_type(
    operator: BinaryOperator,
    left: &ValueType,
    right: &ValueType,
) -> Option<ValueType> {
    match operator {
        BinaryOperator::Equal | BinaryOperator::NotEqual => {
            let is_null_comparison = (*left == ValueType::Null && right.empty_value().is_none())
                || (*right == ValueType::Null && left.empty_value().is_none());
            (left.is_comparable(right) || is_null_comparison).then_some(ValueType::Boolean)
        }
        BinaryOperator::LessThan
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual => {
            (left.is_comparable(right) && has_order(left) && has_order(right)).then_some(ValueType::Boolean)
        }
        BinaryOperator::Add => find_sum_type(left, right),
        BinaryOperator::Subtract
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Remainder => {
            let can_be_number = |type_: &ValueType| type_.is_number() || *type_ == ValueType::Any;
            (left.is_compatible(right) && can_be_number(left) && can_be_number(right))
                .then(|| choose_known_type(left, right))
        }
        // The operator is `in`: the collection is on its right.
        BinaryOperator::Membership => match right {
            ValueType::List(item) => left.is_comparable(item).then_some(ValueType::Boolean),
            ValueType::Map(_) | ValueType::Any => Some(ValueType::Boolean),
            _ => None,
        },
        BinaryOperator::Index => match left {
            ValueType::List(item) => right.is_compatible(&ValueType::Integer).then(|| (**item).clone()),
            ValueType::Map(value) => Some((**value).clone()),
            ValueType::Any => Some(ValueType::Any),
            _ => None,
        },
    }
}

/// Returns whether values of this type can be ordered; an unknown type may be.
fn has_order(value_type: &ValueType) -> bool {
    value_type.is_number() || matches!(value_type, ValueType::Text | ValueType::Boolean | ValueType::Any)
}

/// Returns whether values of this type can be added; an unknown type may be.
fn can_add(value_type: &ValueType) -> bool {
    value_type.is_number() || matches!(value_type, ValueType::Text | ValueType::List(_) | ValueType::Any)
}

/// Returns the type of a sum; `None` if values of these types cannot be added.
fn find_sum_type(left: &ValueType, right: &ValueType) -> Option<ValueType> {
    if let (ValueType::List(item), ValueType::List(other_item)) = (left, right) {
        return Some(ValueType::list_of((**item).clone().unite(other_item)));
    }
    let can_be_added = left.is_compatible(right) && can_add(left) && can_add(right);
    can_be_added.then(|| choose_known_type(left, right))
}

/// Returns the left one of two compatible types or, if it is unknown, the right one.
fn choose_known_type(left: &ValueType, right: &ValueType) -> ValueType {
    if *left == ValueType::Any {
        right.clone()
    } else {
        left.clone()
    }
}

/// Returns the help for a comparison with null that is never true; `None` for other operations.
pub(super) fn suggest_empty_value(
    operator: BinaryOperator,
    left: &ValueType,
    right: &ValueType,
) -> Option<String> {
    let (BinaryOperator::Equal | BinaryOperator::NotEqual) = operator else {
        return None;
    };
    let empty_value = match (left, right) {
        (ValueType::Null, value) | (value, ValueType::Null) => value.empty_value()?,
        _ => return None,
    };
    Some(format!("compare with an empty value: `{empty_value}`"))
}

/// Returns the message that an operator cannot be applied to values of these types.
pub(super) fn describe_type_conflict(
    operator: BinaryOperator,
    left: &ValueType,
    right: &ValueType,
) -> String {
    match operator {
        BinaryOperator::Equal | BinaryOperator::NotEqual => {
            format!(
                "{} is never equal to {}",
                left.describe_with_items(),
                right.describe_with_items()
            )
        }
        BinaryOperator::Membership => format!("{left} cannot be in {right}"),
        BinaryOperator::Index => format!("{left} cannot be indexed by {right}"),
        BinaryOperator::LessThan
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual => format!("{left} and {right} cannot be ordered"),
        _ => format!("the operator cannot be applied to {left} and {right}"),
    }
}
