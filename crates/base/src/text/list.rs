//! Lists in sentences and on lines of their own, with a limit.

use super::{format_count, format_number, to_single_line};
use std::fmt;

/// Maximum number of items of a list in a sentence, unless another limit is given.
const DEFAULT_LIMIT: usize = 3;

/// The first items of a list, and the number of omitted ones. The items may be untrusted text. Each is written on one
/// line, and the output escapes it like every other text.
pub struct List<T> {
    items: Vec<T>,
    omitted_count: usize,
    noun: Option<&'static str>,
}

impl<T> List<T> {
    /// Creates a list that shows up to three items and counts the others.
    pub fn new(items: impl IntoIterator<Item = T>) -> Self {
        Self::with_limit(items, DEFAULT_LIMIT)
    }

    /// Creates a list that shows up to `limit` items and counts the others.
    pub fn with_limit(items: impl IntoIterator<Item = T>, limit: usize) -> Self {
        let mut remaining_items = items.into_iter();
        let items = remaining_items.by_ref().take(limit).collect();
        Self {
            items,
            omitted_count: remaining_items.count(),
            noun: None,
        }
    }

    /// Sets the number of all items, for a caller that has only the first ones.
    #[must_use]
    pub fn with_total(mut self, total_count: usize) -> Self {
        self.omitted_count = total_count.saturating_sub(self.items.len());
        self
    }

    /// Names the kind of the omitted items: `and 3 more files`.
    #[must_use]
    pub const fn with_noun(mut self, noun: &'static str) -> Self {
        self.noun = Some(noun);
        self
    }

    /// Applies a function to the items that are shown.
    pub fn map<U>(self, function: impl FnMut(T) -> U) -> List<U> {
        List {
            items: self.items.into_iter().map(function).collect(),
            omitted_count: self.omitted_count,
            noun: self.noun,
        }
    }

    /// Returns the items that are shown.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Returns the number of items that are not shown.
    pub const fn omitted_count(&self) -> usize {
        self.omitted_count
    }

    /// Returns `and 3 more` for the omitted items, or `None` if all are shown.
    pub fn remark(&self) -> Option<String> {
        (self.omitted_count > 0).then(|| match self.noun {
            Some(noun) => format_and_more_of(self.omitted_count, noun),
            None => format_and_more(self.omitted_count),
        })
    }
}

impl<T: fmt::Display> List<T> {
    /// Returns the items that are shown, and `and 3 more` for the others: an entry for each line of a list.
    pub fn entries(&self) -> impl Iterator<Item = String> {
        let texts = self.items.iter().map(T::to_string);
        texts
            .map(|text| to_single_line(&text).into_owned())
            .chain(self.remark())
    }

    /// Joins the entries with semicolons, for items that contain commas: `a; b; and 3 more`.
    pub fn join_with_semicolons(&self) -> String {
        self.entries().collect::<Vec<_>>().join("; ")
    }
}

/// Writes the list for a sentence: `a, b and 3 more`.
impl<T: fmt::Display> fmt::Display for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.items.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(&to_single_line(&item.to_string()))?;
        }
        match self.remark() {
            Some(remark) if self.items.is_empty() => f.write_str(&remark),
            Some(remark) => write!(f, " {remark}"),
            None => Ok(()),
        }
    }
}

/// Returns `3 more`, for items that are not shown.
pub fn format_more(omitted_count: usize) -> String {
    format!("{} more", format_number(omitted_count))
}

/// Returns `and 3 more`, for items that are not shown.
pub fn format_and_more(omitted_count: usize) -> String {
    format!("and {}", format_more(omitted_count))
}

/// Returns `and 3 more files`, for items of a kind that are not shown.
pub fn format_and_more_of(omitted_count: usize, noun: &str) -> String {
    format!("and {}", format_count(omitted_count, &format!("more {noun}")))
}

/// Returns the first names that fit `max_length` bytes, separated by commas, and the number of the others: `A, B and 3
/// more`. The last comma and `and 3 more` may exceed the limit. `None` if not even the first name fits.
pub fn join_names_within(names: &[impl AsRef<str>], max_length: usize) -> Option<String> {
    let mut joined_names = String::new();
    for (index, name) in names.iter().enumerate() {
        let name = name.as_ref();
        if joined_names.len() + name.len() > max_length {
            let omission = format_and_more(names.len() - index);
            return (index > 0).then(|| format!("{joined_names} {omission}"));
        }
        joined_names.push_str(if index == 0 { "" } else { ", " });
        joined_names.push_str(name);
    }
    Some(joined_names)
}

/// Joins the items of a short list: `a and b and c`.
pub fn join_with_and(items: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    join_with_word(items, " and ")
}

/// Joins the items of a list of any length: `a`, `a and b`, `a, b and c`.
pub fn join_with_commas_and(items: &[impl AsRef<str>]) -> String {
    let Some((last_item, first_items)) = items.split_last() else {
        return String::new();
    };
    if first_items.is_empty() {
        return last_item.as_ref().to_owned();
    }
    let first_items: Vec<&str> = first_items.iter().map(AsRef::as_ref).collect();
    format!("{} and {}", first_items.join(", "), last_item.as_ref())
}

/// Joins the items of a short list: `a or b or c`.
pub fn join_with_or(items: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    join_with_word(items, " or ")
}

fn join_with_word(items: impl IntoIterator<Item = impl AsRef<str>>, word: &str) -> String {
    let mut text = String::new();
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            text.push_str(word);
        }
        text.push_str(item.as_ref());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_names_beyond_length_are_counted() {
        let names = ["one", "two", "three"];
        assert_eq!(join_names_within(&names, 100).as_deref(), Some("one, two, three"));
        assert_eq!(
            join_names_within(&names, 8).as_deref(),
            Some("one, two and 1 more")
        );
        assert_eq!(join_names_within(&names, 2), None);
    }
    use crate::text::escape_line;
    use proptest::prelude::*;

    #[test]
    fn list_within_its_limit_has_no_remark() {
        let list = List::new(["a", "b", "c"]);
        assert_eq!(list.to_string(), "a, b, c");
        assert_eq!(list.remark(), None);
        assert_eq!(List::new([""; 0]).to_string(), "");
    }

    #[test]
    fn list_over_its_limit_ends_with_number_of_omitted_items() {
        assert_eq!(List::new(["a", "b", "c", "d"]).to_string(), "a, b, c and 1 more");
        assert_eq!(
            List::with_limit(0..2000, 1).join_with_semicolons(),
            "0; and 1,999 more"
        );
        assert_eq!(
            List::with_limit(["a", "b"], 1).with_noun("file").to_string(),
            "a and 1 more file"
        );
        assert_eq!(
            List::new(["a"]).with_total(9).with_noun("file").to_string(),
            "a and 8 more files"
        );
        assert_eq!(List::with_limit(["a", "b"], 0).to_string(), "and 2 more");
    }

    proptest! {
        #[test]
        fn list_of_any_names_is_bounded_and_safe(
            names in proptest::collection::vec("(\\PC|[\\r\\n\\x1b:#\\[]){0,8}", 0..30),
            limit in 0_usize..12,
        ) {
            let list = List::with_limit(&names, limit);
            prop_assert_eq!(list.items().len() + list.omitted_count(), names.len());
            prop_assert!(list.items().len() <= limit && list.entries().count() <= limit + 1);
            prop_assert!(list.omitted_count() == 0 || list.items().len() == limit);
            prop_assert_eq!(list.entries().count() - list.items().len(), usize::from(list.omitted_count() > 0));
            let shown = escape_line(&list.to_string());
            prop_assert!(!shown.contains(['\n', '\r', '\u{1b}']), "{shown:?}");
        }
    }
}
