//! Finds which entries of two versions of a list belong together, although entries were inserted, removed or moved.

use super::field_groups::is_empty_leaf;
use super::leaf::Leaf;
use super::line_diff::find_diff_operations;
use super::list_names::NAME_KEYS;
use super::pair::pair_by_key;
use similar::DiffOp;
use sluicegate_yaml::NodeRef;
use std::cell::Cell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

/// Maximum number of entries of each version of a list that are aligned, without the equal ones at both ends.
const MAX_ALIGNED_ENTRIES: usize = 300;

/// Maximum sum, over all lists of two files, of the products of both numbers of aligned entries. The time of the search
/// grows with this sum.
const MAX_ALIGNED_PAIRS: usize = 1_000_000;

/// What remains of [`MAX_ALIGNED_PAIRS`] in the comparison of two files.
pub(super) struct AlignmentBudget(Cell<usize>);

impl AlignmentBudget {
    pub(super) const fn new() -> Self {
        Self(Cell::new(MAX_ALIGNED_PAIRS))
    }

    /// Returns whether lists with these numbers of entries may be aligned, and reduces the budget if so.
    fn spend(&self, base_count: usize, head_count: usize) -> bool {
        if base_count.max(head_count) > MAX_ALIGNED_ENTRIES {
            return false;
        }
        let remaining_pairs = self.0.get().checked_sub(base_count * head_count);
        self.0.set(remaining_pairs.unwrap_or(self.0.get()));
        remaining_pairs.is_some()
    }
}

/// The indexes of an entry in the base and in the head; `None` in a version that does not have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexPair {
    pub base: Option<usize>,
    pub head: Option<usize>,
}

impl IndexPair {
    const fn for_removed_entry(base: usize) -> Self {
        Self {
            base: Some(base),
            head: None,
        }
    }

    const fn for_added_entry(head: usize) -> Self {
        Self {
            base: None,
            head: Some(head),
        }
    }

    /// Returns the entry of the base as a removed one, and the entry of the head as an added one.
    fn split(self) -> impl Iterator<Item = Self> {
        let removed_pair = self.base.map(Self::for_removed_entry);
        removed_pair
            .into_iter()
            .chain(self.head.map(Self::for_added_entry))
    }
}

/// The entries of a list in both versions.
pub(super) struct ListVersions<'t, 'a> {
    pub base: Vec<NodeRef<'t, 'a>>,
    pub head: Vec<NodeRef<'t, 'a>>,
}

impl<'t, 'a> ListVersions<'t, 'a> {
    /// Collects the entries of both versions; a version without the list has none.
    pub(super) fn collect(base: Option<NodeRef<'t, 'a>>, head: Option<NodeRef<'t, 'a>>) -> Self {
        let [base, head] =
            [base, head].map(|side| side.and_then(NodeRef::items).into_iter().flatten().collect());
        Self { base, head }
    }

    /// Pairs the entries with the same index. The longer list has entries without a partner at its end.
    pub(super) fn pair_by_index(&self) -> Vec<IndexPair> {
        let length = self.base.len().max(self.head.len());
        (0..length)
            .map(|index| IndexPair {
                base: (index < self.base.len()).then_some(index),
                head: (index < self.head.len()).then_some(index),
            })
            .collect()
    }

    /// Pairs the entries with the same key, in the order of the lists. Entries between them were replaced one by one if
    /// both versions have the same number of them; otherwise, they were removed and added. Returns `None` if an entry
    /// has no key, if no two entries belong together, if an added or removed entry would not be described, or if the
    /// search would take too long.
    pub(super) fn pair_by_content(
        &self,
        is_order_irrelevant: bool,
        budget: &AlignmentBudget,
    ) -> Option<Vec<IndexPair>> {
        let (start, end) = self.count_equal_ends();
        let differing_base = self.base.get(start..self.base.len() - end)?;
        let differing_head = self.head.get(start..self.head.len() - end)?;
        if !budget.spend(differing_base.len(), differing_head.len()) {
            return None;
        }
        let [base_keys, head_keys] = [find_keys(differing_base)?, find_keys(differing_head)?];
        let [base_texts, head_texts] =
            [&base_keys, &head_keys].map(|keys| keys.iter().map(String::as_str).collect::<Vec<_>>());
        let mut pairs: Vec<IndexPair> = pair_one_by_one(0..start, 0..start).collect();
        let mut is_matched = start + end > 0;
        for operation in find_diff_operations(&base_texts, &head_texts) {
            is_matched |= matches!(operation, DiffOp::Equal { .. });
            let [base, head] = [operation.old_range(), operation.new_range()]
                .map(|range| start + range.start..start + range.end);
            pairs.extend(pair_ranges(base, head));
        }
        let [base_end, head_end] = [&self.base, &self.head].map(|list| list.len() - end..list.len());
        pairs.extend(pair_one_by_one(base_end, head_end));
        if is_order_irrelevant {
            pairs = self.join_moved_entries(&pairs);
        }
        let is_described = pairs.iter().all(|pair| self.is_pair_described(*pair));
        (is_matched && is_described).then_some(pairs)
    }

    /// Returns whether both versions have the entry, or the one that has it has a value that is described.
    fn is_pair_described(&self, pair: IndexPair) -> bool {
        let entry = match (pair.base, pair.head) {
            (Some(index), None) => self.base.get(index),
            (None, Some(index)) => self.head.get(index),
            _ => return true,
        };
        entry.is_some_and(|entry| has_described_value(*entry))
    }

    /// Returns the number of equal entries at the start of both lists, and the number of further ones at the end.
    fn count_equal_ends(&self) -> (usize, usize) {
        let both = self.base.iter().zip(&self.head);
        let start = both.take_while(|(base, head)| is_equal(**base, **head)).count();
        let max_end = self.base.len().min(self.head.len()) - start;
        let both = self.base.iter().rev().zip(self.head.iter().rev()).take(max_end);
        let end = both.take_while(|(base, head)| is_equal(**base, **head)).count();
        (start, end)
    }

    /// Pairs each entry of the base with the entry of the same key in another place of the head. A pair of entries with
    /// different keys is split if one of them moved. If the lists then only differ in their order, which would not be
    /// described, the moved entries stay removed and added.
    fn join_moved_entries(&self, pairs: &[IndexPair]) -> Vec<IndexPair> {
        let moved_entries = self.find_moved_entries(pairs);
        let moved_bases: HashSet<usize> = moved_entries.values().copied().collect();
        let mut split_pairs = Vec::new();
        for pair in pairs {
            let is_base_moved = pair.base.is_some_and(|base| moved_bases.contains(&base));
            let is_head_moved = pair.head.is_some_and(|head| moved_entries.contains_key(&head));
            if is_base_moved || is_head_moved {
                split_pairs.extend(pair.split());
            } else {
                split_pairs.push(*pair);
            }
        }
        let joined_pairs: Vec<IndexPair> = split_pairs
            .iter()
            .filter(|pair| pair.head.is_some() || pair.base.is_none_or(|base| !moved_bases.contains(&base)))
            .map(|pair| IndexPair {
                base: pair.base.or_else(|| moved_entries.get(&pair.head?).copied()),
                head: pair.head,
            })
            .collect();
        let has_changes = joined_pairs.iter().any(|pair| !self.is_unchanged(*pair));
        if has_changes { joined_pairs } else { split_pairs }
    }

    /// Returns the index in the base for each entry of the head that moved: that has the key of an entry of the base
    /// with which it is not paired.
    fn find_moved_entries(&self, pairs: &[IndexPair]) -> HashMap<usize, usize> {
        let mut removed_entries: Vec<(usize, String)> = Vec::new();
        let mut added_entries: HashMap<String, VecDeque<usize>> = HashMap::new();
        for pair in pairs {
            let base_key = pair.base.and_then(|index| find_key(*self.base.get(index)?));
            let head_key = pair.head.and_then(|index| find_key(*self.head.get(index)?));
            if base_key == head_key {
                continue;
            }
            removed_entries.extend(pair.base.zip(base_key));
            if let Some((head, key)) = pair.head.zip(head_key) {
                added_entries.entry(key).or_default().push_back(head);
            }
        }
        let mut moved_entries: HashMap<usize, usize> = HashMap::new();
        for (base, key) in removed_entries {
            let head = added_entries.get_mut(&key).and_then(VecDeque::pop_front);
            moved_entries.extend(head.map(|head| (head, base)));
        }
        moved_entries
    }

    /// Returns whether both versions have the entry with the same content.
    fn is_unchanged(&self, pair: IndexPair) -> bool {
        let base = pair.base.and_then(|index| self.base.get(index));
        let head = pair.head.and_then(|index| self.head.get(index));
        matches!((base, head), (Some(base), Some(head)) if is_equal(*base, *head))
    }
}

/// Pairs entries that are in the same place of both lists. If their numbers differ, those of the base were removed and
/// those of the head were added.
fn pair_ranges(base: Range<usize>, head: Range<usize>) -> Vec<IndexPair> {
    if base.len() == head.len() {
        return pair_one_by_one(base, head).collect();
    }
    let removed_pairs = base.map(IndexPair::for_removed_entry);
    removed_pairs
        .chain(head.map(IndexPair::for_added_entry))
        .collect()
}

/// Pairs the first entries with each other, then the second ones, and so on.
fn pair_one_by_one(base: Range<usize>, head: Range<usize>) -> impl Iterator<Item = IndexPair> {
    base.zip(head).map(|(base, head)| IndexPair {
        base: Some(base),
        head: Some(head),
    })
}

/// Returns the keys of all entries; `None` if one has no key.
fn find_keys(entries: &[NodeRef<'_, '_>]) -> Option<Vec<String>> {
    entries.iter().map(|entry| find_key(*entry)).collect()
}

/// Returns the text by which people recognize an entry: the first cell of a row, the name of a map, or the value.
fn find_key(entry: NodeRef<'_, '_>) -> Option<String> {
    if let Some(mut cells) = entry.items() {
        return cells.next()?.text().map(str::to_owned);
    }
    if let Some(leaf) = Leaf::from_node(entry) {
        return Some(leaf.to_string());
    }
    let name = NAME_KEYS.iter().find_map(|key| entry.get(key)?.text())?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// Returns whether the entry contains a value that is not empty, because empty ones are omitted from a description.
fn has_described_value(entry: NodeRef<'_, '_>) -> bool {
    if let Some(leaf) = Leaf::from_node(entry) {
        return !is_empty_leaf(&leaf);
    }
    let mut items = entry.items().into_iter().flatten();
    items.any(has_described_value) || entry.entries().any(|(_, _, value)| has_described_value(value))
}

/// Returns whether both entries have the same content. The order of keys is not content.
fn is_equal(base: NodeRef<'_, '_>, head: NodeRef<'_, '_>) -> bool {
    if Leaf::from_node(base) != Leaf::from_node(head) {
        return false;
    }
    let [base_entries, head_entries] =
        [base, head].map(|node| node.entries().map(|(key, _, value)| (key, value)));
    let has_equal_values = pair_by_key(base_entries, head_entries)
        .into_iter()
        .all(|pair| matches!((pair.base, pair.head), (Some(base), Some(head)) if is_equal(base, head)));
    let lists = ListVersions::collect(Some(base), Some(head));
    let has_equal_items = lists.base.len() == lists.head.len()
        && lists
            .base
            .iter()
            .zip(&lists.head)
            .all(|(base, head)| is_equal(*base, *head));
    has_equal_values && has_equal_items
}
