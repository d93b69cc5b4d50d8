//! Compares values, and reads the items of lists and the keys of maps. Each item costs a step.

use super::evaluation_failure::{EvaluationFailure, EvaluationResult, build_failure};
use super::expression_evaluation::{CHARACTERS_PER_STEP, ExpressionEvaluation};
use super::expression_node::BinaryOperator;
use super::expression_value::ExpressionValue;
use super::number_value::{calculate, compare_numbers, format_scalar};
use sluicegate_yaml::NodeRef;
use std::cmp::Ordering;
use std::rc::Rc;

impl<'m> ExpressionEvaluation<'m> {
    /// Returns the value of a key. Fails if the value has no such key.
    pub(super) fn read_key(&mut self, operand: &ExpressionValue<'m>, name: &str) -> EvaluationResult<'m> {
        self.find_key(operand, name)?.ok_or_else(|| {
            let name = sluicegate_yaml::shorten(name);
            build_failure(format!(
                "the field `{name}` is missing: test for it with `has(…)` first"
            ))
        })
    }

    /// Returns the value of a key, or `None` if the map or record does not have it. Fails for a value that cannot have
    /// keys. In a map of the document, each entry up to the key costs a step; in any other map, each entry does.
    pub(super) fn find_key(
        &mut self,
        operand: &ExpressionValue<'m>,
        name: &str,
    ) -> Result<Option<ExpressionValue<'m>>, EvaluationFailure> {
        match operand {
            ExpressionValue::Node(node) if node.is_map() => {
                let mut compared_count = 0;
                let value = node.entries().find_map(|(key, _, value)| {
                    compared_count += 1;
                    (key == name).then_some(value)
                });
                self.spend_steps(compared_count)?;
                Ok(value.map(ExpressionValue::from_node))
            }
            ExpressionValue::Map(entries) => {
                self.spend_steps(entries.len())?;
                let entry = entries
                    .iter()
                    .find(|(key, _)| matches!(key, ExpressionValue::Text(text) if text == name));
                Ok(entry.map(|(_, value)| value.clone()))
            }
            ExpressionValue::Record(record) => Ok(record.field(name).cloned()),
            mismatch => Err(build_failure(format!(
                "{} has no `{}`",
                mismatch.type_name(),
                sluicegate_yaml::shorten(name)
            ))),
        }
    }

    /// Returns whether two values are equal in CEL: numbers are compared by value, and other values of different types
    /// differ. A record is equal only to itself, even if all its fields are equal to those of another record.
    pub(super) fn is_equal(
        &mut self,
        left: &ExpressionValue<'m>,
        right: &ExpressionValue<'m>,
    ) -> Result<bool, EvaluationFailure> {
        self.spend_steps(1)?;
        match (left, right) {
            (ExpressionValue::Null, ExpressionValue::Null) => Ok(true),
            (ExpressionValue::Boolean(left), ExpressionValue::Boolean(right)) => Ok(left == right),
            (ExpressionValue::Text(left), ExpressionValue::Text(right)) => {
                self.spend_steps(left.len().min(right.len()) / CHARACTERS_PER_STEP)?;
                Ok(left == right)
            }
            (ExpressionValue::Record(left), ExpressionValue::Record(right)) => Ok(Rc::ptr_eq(left, right)),
            _ => {
                if let Some(order) = compare_numbers(left, right) {
                    return Ok(order == Some(Ordering::Equal));
                }
                if let (Some(left), Some(right)) = (self.find_items(left)?, self.find_items(right)?) {
                    return self.has_equal_items(&left, &right);
                }
                match (self.find_entries(left)?, self.find_entries(right)?) {
                    (Some(left), Some(right)) => self.has_equal_entries(&left, &right),
                    _ => Ok(false),
                }
            }
        }
    }

    /// Returns whether two lists have equal items in the same order.
    pub(super) fn has_equal_items(
        &mut self,
        left: &[ExpressionValue<'m>],
        right: &[ExpressionValue<'m>],
    ) -> Result<bool, EvaluationFailure> {
        if left.len() != right.len() {
            return Ok(false);
        }
        for (left, right) in left.iter().zip(right) {
            if !self.is_equal(left, right)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether two maps have equal values for the same keys, in any order.
    pub(super) fn has_equal_entries(
        &mut self,
        left: &[(ExpressionValue<'m>, ExpressionValue<'m>)],
        right: &[(ExpressionValue<'m>, ExpressionValue<'m>)],
    ) -> Result<bool, EvaluationFailure> {
        if left.len() != right.len() {
            return Ok(false);
        }
        // Both maps have the same number of keys, so it is enough to look up each key of `left` in `right`.
        for (key, value) in left {
            let mut has_equal_value = false;
            for (right_key, right_value) in right {
                if self.is_equal(key, right_key)? {
                    has_equal_value = self.is_equal(value, right_value)?;
                    break;
                }
            }
            if !has_equal_value {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the order of two strings, booleans or numbers; `None` if a number is NaN. Fails for any other values.
    pub(super) fn compare_values(
        &mut self,
        left: &ExpressionValue<'m>,
        right: &ExpressionValue<'m>,
    ) -> Result<Option<Ordering>, EvaluationFailure> {
        match (left, right) {
            (ExpressionValue::Text(left), ExpressionValue::Text(right)) => {
                self.spend_steps(left.len().min(right.len()) / CHARACTERS_PER_STEP)?;
                Ok(Some(left.cmp(right)))
            }
            (ExpressionValue::Boolean(left), ExpressionValue::Boolean(right)) => Ok(Some(left.cmp(right))),
            _ => compare_numbers(left, right).ok_or_else(|| {
                build_failure(format!(
                    "{} and {} cannot be ordered",
                    left.type_name(),
                    right.type_name()
                ))
            }),
        }
    }

    /// Applies `+`: joins two strings or two lists, or adds two numbers.
    pub(super) fn add_values(
        &mut self,
        left: ExpressionValue<'m>,
        right: ExpressionValue<'m>,
    ) -> EvaluationResult<'m> {
        match (left, right) {
            (ExpressionValue::Text(left), ExpressionValue::Text(right)) => {
                self.spend_steps((left.len() + right.len()) / CHARACTERS_PER_STEP)?;
                Ok(ExpressionValue::Text(left + right))
            }
            (left, right) => {
                let (left_items, right_items) = (self.find_items(&left)?, self.find_items(&right)?);
                if let (Some(mut items), Some(right_items)) = (left_items, right_items) {
                    items.extend(right_items);
                    return Ok(ExpressionValue::from_items(items));
                }
                calculate(BinaryOperator::Add, &left, &right)
            }
        }
    }

    /// Returns whether a list contains the item, or a map contains the key. Fails for any other collection. A path of
    /// the project and a key that is a text are looked up directly, which costs fewer steps than to compare all items.
    pub(super) fn has_item(
        &mut self,
        collection: &ExpressionValue<'m>,
        item: &ExpressionValue<'m>,
    ) -> Result<bool, EvaluationFailure> {
        if let (ExpressionValue::Paths(files), ExpressionValue::Text(path)) = (collection, item) {
            return Ok(files.has_path(path));
        }
        // A node of the document is a list or a map. The keys are looked up only in a map.
        if let (ExpressionValue::Node(_) | ExpressionValue::Map(_), ExpressionValue::Text(name)) =
            (collection, item)
            && self.find_items(collection)?.is_none()
        {
            return Ok(self.find_key(collection, name)?.is_some());
        }
        for candidate in &self.list_items_or_keys(collection)? {
            if self.is_equal(candidate, item)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the item of a list with this index, or the value of a map with this key. Fails if there is none.
    pub(super) fn read_item(
        &mut self,
        collection: &ExpressionValue<'m>,
        key: &ExpressionValue<'m>,
    ) -> EvaluationResult<'m> {
        if let Some(items) = self.find_items(collection)? {
            let index = match key {
                ExpressionValue::Integer(index) => usize::try_from(*index).ok(),
                ExpressionValue::Unsigned(index) => usize::try_from(*index).ok(),
                _ => None,
            };
            let item = index.and_then(|index| items.into_iter().nth(index));
            return item.ok_or_else(|| {
                build_failure(format!("the list has no item with the index {}", quote_key(key)))
            });
        }
        if let ExpressionValue::Text(name) = key {
            return self.read_key(collection, name);
        }
        let Some(entries) = self.find_entries(collection)? else {
            return Err(build_failure(format!("{} has no items", collection.type_name())));
        };
        for (entry_key, value) in entries {
            if self.is_equal(&entry_key, key)? {
                return Ok(value);
            }
        }
        Err(build_failure(format!("the map has no key {}", quote_key(key))))
    }

    /// Returns the items of a list, or `None` for any other value. Each item costs a step.
    pub(super) fn find_items(
        &mut self,
        value: &ExpressionValue<'m>,
    ) -> Result<Option<Vec<ExpressionValue<'m>>>, EvaluationFailure> {
        let items: Vec<ExpressionValue<'m>> = match value {
            ExpressionValue::List(items) => {
                self.spend_steps(items.len())?;
                items.as_ref().clone()
            }
            ExpressionValue::Paths(files) => {
                self.spend_steps(files.paths().len())?;
                files
                    .paths()
                    .iter()
                    .map(|path| ExpressionValue::from_text(path))
                    .collect()
            }
            ExpressionValue::Node(node) => match node.items() {
                Some(items) => {
                    self.spend_steps(items.len())?;
                    items.map(ExpressionValue::from_node).collect()
                }
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some(items))
    }

    /// Returns the items of a list, or the keys of a map. Fails for any other value.
    pub(super) fn list_items_or_keys(
        &mut self,
        collection: &ExpressionValue<'m>,
    ) -> Result<Vec<ExpressionValue<'m>>, EvaluationFailure> {
        if let Some(items) = self.find_items(collection)? {
            return Ok(items);
        }
        match self.find_entries(collection)? {
            Some(entries) => Ok(entries.into_iter().map(|(key, _)| key).collect()),
            None => Err(build_failure(format!("{} has no items", collection.type_name()))),
        }
    }

    /// Returns the entries of a map, or `None` for any other value. Each entry costs a step.
    pub(super) fn find_entries(
        &mut self,
        value: &ExpressionValue<'m>,
    ) -> Result<Option<Vec<(ExpressionValue<'m>, ExpressionValue<'m>)>>, EvaluationFailure> {
        let entries = match value {
            ExpressionValue::Map(entries) => entries.as_ref().clone(),
            ExpressionValue::Node(node) if node.is_map() => list_node_entries(*node),
            _ => return Ok(None),
        };
        self.spend_steps(entries.len())?;
        Ok(Some(entries))
    }
}

fn list_node_entries<'m>(node: NodeRef<'m, 'm>) -> Vec<(ExpressionValue<'m>, ExpressionValue<'m>)> {
    let entries = node.entries();
    entries
        .map(|(key, _, value)| (ExpressionValue::from_text(key), ExpressionValue::from_node(value)))
        .collect()
}

/// Returns a key or an index in backquotes, for a message; its type if it is not a scalar.
fn quote_key(key: &ExpressionValue<'_>) -> String {
    format_scalar(key).map_or_else(
        || key.type_name().to_owned(),
        |text| format!("`{}`", sluicegate_yaml::shorten(&text)),
    )
}
