//! Finds the parts of a macro in the comprehension to which the parser expanded it.

use super::expression_node::MacroKind;
use cel::common::ast::{ComprehensionExpr, Expr, IdedExpr, LiteralValue, operators};

/// The parts of a macro before the parser expanded it.
pub(super) struct MacroParts<'e> {
    pub kind: MacroKind,
    pub predicate: Option<&'e IdedExpr>,
    pub transform: Option<&'e IdedExpr>,
}

impl<'e> MacroParts<'e> {
    /// Returns the parts of an expanded macro; `None` for a comprehension of another form. The first value of its
    /// accumulator and the operator of its step show which macro was expanded.
    pub(super) fn from_comprehension(comprehension: &'e ComprehensionExpr) -> Option<Self> {
        let Expr::Call(step) = &comprehension.loop_step.expr else {
            return None;
        };
        let (kind, predicate, transform) = match (
            &comprehension.accu_init.expr,
            step.func_name.as_str(),
            step.args.as_slice(),
        ) {
            // `all`: the accumulator && the predicate.
            (Expr::Literal(LiteralValue::Boolean(_)), operators::LOGICAL_AND, [_, predicate]) => {
                (MacroKind::All, Some(predicate), None)
            }
            // `exists`: the accumulator || the predicate.
            (Expr::Literal(LiteralValue::Boolean(_)), operators::LOGICAL_OR, [_, predicate]) => {
                (MacroKind::Exists, Some(predicate), None)
            }
            // `exists_one`: a number that each match increases.
            (Expr::Literal(LiteralValue::Int(_)), operators::CONDITIONAL, [predicate, ..]) => {
                (MacroKind::ExistsOne, Some(predicate), None)
            }
            // `filter`, or `map` with a predicate: a list to which each match adds an item.
            (Expr::List(_), operators::CONDITIONAL, [predicate, addition, _]) => (
                MacroKind::Collect,
                Some(predicate),
                Some(find_added_item(&addition.expr)?),
            ),
            // `map` without a predicate: a list to which each step adds an item.
            (Expr::List(_), operators::ADD, [..]) => (
                MacroKind::Collect,
                None,
                Some(find_added_item(&comprehension.loop_step.expr)?),
            ),
            _ => return None,
        };
        Some(Self {
            kind,
            predicate,
            transform,
        })
    }
}

/// Returns the item that a step of `map` or `filter` adds to the list. The step is a sum: the list so far, and a list
/// with only this item.
fn find_added_item(step: &Expr) -> Option<&IdedExpr> {
    let Expr::Call(addition) = step else { return None };
    match &addition.args.get(1)?.expr {
        Expr::List(list) => list.elements.first(),
        _ => None,
    }
}
