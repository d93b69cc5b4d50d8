//! Walks two documents side by side and collects the leaves that differ.

use super::comparison_budget::ComparisonBudget;
use super::field_groups::is_empty_value_change;
use super::leaf::{Leaf, PathStep};
use super::list_alignment::{IndexPair, ListVersions};
use super::list_names::{NAME_KEYS, is_list_of_set_variables};
use super::pair::pair_by_key;
use super::pipeline_diff::{EntryName, FieldDiff};
use sluicegate_yaml::NodeRef;
use std::sync::Arc;

/// A node of one version; `None` if the version does not have it.
pub(super) type MaybeNode<'t, 'a> = Option<NodeRef<'t, 'a>>;

/// A node without the keys that are excluded.
pub(super) struct FilteredNode<'f, 't, 'a> {
    pub node: MaybeNode<'t, 'a>,
    pub is_excluded: &'f dyn Fn(&str) -> bool,
}

/// Collects the leaves that differ, in the order of the head.
pub(super) struct DiffWalk<'b> {
    path: Vec<PathStep>,
    fields: Vec<FieldDiff>,
    /// The first cell of the current row.
    row: Option<Arc<str>>,
    /// The names of the list entries above the current node.
    entry_names: Vec<EntryName>,
    budget: &'b ComparisonBudget,
    /// True to compare list entries with those of the same content instead of the same index.
    aligns_lists: bool,
    /// Whether a list was compared differently than by index.
    has_aligned_list: bool,
}

/// The leaves that differ between two nodes.
pub(super) struct ComparedFields {
    /// Each leaf that differs, with list entries compared by index.
    pub fields: Vec<FieldDiff>,
    /// The differences to describe, with list entries compared by content; `None` if these are the same.
    pub told_fields: Option<Vec<FieldDiff>>,
}

impl ComparedFields {
    /// Collects the leaves that `compare` finds in a walk whose paths begin with `path`. All comparisons of two files
    /// share the budget.
    pub(super) fn collect(
        path: &[PathStep],
        budget: &ComparisonBudget,
        compare: impl Fn(&mut DiffWalk<'_>),
    ) -> Self {
        let mut walk = DiffWalk::at_path(path.to_vec(), budget);
        compare(&mut walk);
        let has_list_field = walk
            .fields
            .iter()
            .any(|field| field.path.iter().any(|step| step.as_key().is_none()));
        let told_fields = has_list_field.then(|| {
            let remaining_bytes = budget.field_bytes();
            let mut walk = DiffWalk {
                aligns_lists: true,
                ..DiffWalk::at_path(path.to_vec(), budget)
            };
            compare(&mut walk);
            // Changed values that the description omits are told by index, so that no change is told by nothing.
            let is_told = walk.has_aligned_list
                && !budget.is_exceeded()
                && !walk.fields.iter().all(is_empty_value_change);
            if !is_told {
                budget.restore_field_bytes(remaining_bytes);
            }
            is_told.then_some(walk.fields)
        });
        Self {
            fields: walk.fields,
            told_fields: told_fields.flatten(),
        }
    }

    /// Adds the leaves of another comparison.
    pub(super) fn extend(&mut self, comparison: Self) {
        if self.told_fields.is_some() || comparison.told_fields.is_some() {
            let told_fields = self.told_fields.get_or_insert_with(|| self.fields.clone());
            told_fields.extend(
                comparison
                    .told_fields
                    .unwrap_or_else(|| comparison.fields.clone()),
            );
        }
        self.fields.extend(comparison.fields);
    }

    /// Keeps the fields for which `is_kept` returns true.
    pub(super) fn retain(&mut self, is_kept: impl Fn(&FieldDiff) -> bool) {
        self.fields.retain(&is_kept);
        if let Some(told_fields) = &mut self.told_fields {
            told_fields.retain(is_kept);
        }
    }
}

impl<'b> DiffWalk<'b> {
    /// Creates an empty walk; the paths of its fields begin with this path. If the budget is exceeded, the walk ends
    /// early.
    const fn at_path(path: Vec<PathStep>, budget: &'b ComparisonBudget) -> Self {
        Self {
            path,
            fields: Vec::new(),
            row: None,
            entry_names: Vec::new(),
            budget,
            aligns_lists: false,
            has_aligned_list: false,
        }
    }

    /// Returns whether a leaf differs, at or below a pair of nodes.
    pub(super) fn finds_difference(base: MaybeNode<'_, '_>, head: MaybeNode<'_, '_>) -> bool {
        // The walk ends at the first difference.
        let budget = ComparisonBudget::without_fields();
        DiffWalk::at_path(Vec::new(), &budget).compare_nodes(base, head);
        budget.is_exceeded()
    }

    /// Adds a field for each leaf that differs, at or below a pair of nodes. All keys are compared.
    pub(super) fn compare_nodes(&mut self, base: MaybeNode<'_, '_>, head: MaybeNode<'_, '_>) {
        let is_excluded = &|_: &str| false;
        self.compare_filtered_nodes(
            &FilteredNode {
                node: base,
                is_excluded,
            },
            &FilteredNode {
                node: head,
                is_excluded,
            },
        );
    }

    /// Adds a field for each leaf that differs, at or below a pair of nodes. Skips the keys that `is_excluded` selects
    /// in each of the two nodes; keys of the maps below them are never skipped.
    pub(super) fn compare_filtered_nodes(
        &mut self,
        base: &FilteredNode<'_, '_, '_>,
        head: &FilteredNode<'_, '_, '_>,
    ) {
        if self.budget.is_exceeded() {
            return;
        }
        self.compare_leaves(
            base.node.and_then(Leaf::from_node),
            head.node.and_then(Leaf::from_node),
        );
        for pair in pair_by_key(base.map_entries(), head.map_entries()) {
            self.compare_step(PathStep::key(pair.key), pair.base, pair.head);
        }
        self.compare_items(base.node, head.node);
    }

    /// Adds a field for the current path if the two leaves differ. A leaf is `None` if its version has no node here, or
    /// a node that is not a leaf.
    fn compare_leaves(&mut self, base: Option<Leaf>, head: Option<Leaf>) {
        if base != head {
            let field = FieldDiff {
                path: self.path.clone(),
                before: base,
                after: head,
                row: self.row.clone(),
                entry_names: self.entry_names.clone(),
            };
            if self.budget.spend_field(&field) {
                self.fields.push(field);
            }
        }
    }

    /// Compares two nodes that are one step below the current path.
    pub(super) fn compare_step(&mut self, step: PathStep, base: MaybeNode<'_, '_>, head: MaybeNode<'_, '_>) {
        self.path.push(step);
        self.compare_nodes(base, head);
        self.path.pop();
    }

    /// Compares two lists item by item. For the text output, records which row or entry contains each field: a row of a
    /// table (a list of lists) is named after its first cell, a map in a list by one of the [`NAME_KEYS`].
    fn compare_items(&mut self, base: MaybeNode<'_, '_>, head: MaybeNode<'_, '_>) {
        let lists = ListVersions::collect(base, head);
        for pair in self.pair_items(&lists) {
            let base_item = pair.base.and_then(|index| lists.base.get(index).copied());
            let head_item = pair.head.and_then(|index| lists.head.get(index).copied());
            // A list in one version is enough, because the item may be missing in the other version.
            let is_row = [base_item, head_item]
                .into_iter()
                .flatten()
                .any(|node| node.items().is_some());
            let row = if is_row {
                find_row_name(base_item, head_item)
            } else {
                // A cell keeps the name of the row around it.
                self.row.clone()
            };
            let outer_row = std::mem::replace(&mut self.row, row);
            let name_count = self.entry_names.len();
            if let Some(name) = find_entry_name(base_item, head_item) {
                self.entry_names.push(EntryName {
                    position: self.path.len(),
                    name,
                    is_unpaired: base_item.is_none() || head_item.is_none(),
                });
            }
            let index = pair.head.or(pair.base).unwrap_or_default();
            self.compare_step(PathStep::Index(index), base_item, head_item);
            self.entry_names.truncate(name_count);
            self.row = outer_row;
        }
    }

    /// Pairs the entries of two lists by index or, to describe them, by content. The cells of a row are columns, so
    /// they are always paired by index.
    fn pair_items(&mut self, lists: &ListVersions<'_, '_>) -> Vec<IndexPair> {
        let pairs_by_index = lists.pair_by_index();
        let is_row = self.path.last().is_some_and(|step| step.as_key().is_none());
        if !self.aligns_lists || is_row || lists.base.is_empty() || lists.head.is_empty() {
            return pairs_by_index;
        }
        match lists.pair_by_content(is_list_of_set_variables(&self.path), &self.budget.alignment) {
            Some(pairs) if pairs != pairs_by_index => {
                self.has_aligned_list = true;
                pairs
            }
            _ => pairs_by_index,
        }
    }
}

/// Returns the name of a list entry in the head, or in the base if the entry was removed. Returns `None` if the entry
/// is not a map or has no name.
fn find_entry_name(base: MaybeNode<'_, '_>, head: MaybeNode<'_, '_>) -> Option<Arc<str>> {
    let entry = head.or(base)?;
    let name = NAME_KEYS.iter().find_map(|key| entry.get(key)?.text())?;
    (!name.is_empty()).then(|| name.into())
}

/// Returns the first cell of a table row in the head, or in the base if the row was removed. Returns `None` if the row
/// is empty or its first cell is not a single value.
fn find_row_name(base: MaybeNode<'_, '_>, head: MaybeNode<'_, '_>) -> Option<Arc<str>> {
    let first_cell = head.or(base)?.items()?.next()?;
    first_cell.text().map(Arc::from)
}

impl<'t, 'a> FilteredNode<'_, 't, 'a> {
    /// Returns the entries of the map without the excluded keys; no entries if the node is missing or not a map.
    fn map_entries(&self) -> impl Iterator<Item = (&'t str, NodeRef<'t, 'a>)> {
        self.node
            .into_iter()
            .flat_map(NodeRef::entries)
            .filter(move |(key, _, _)| !(self.is_excluded)(key))
            .map(|(key, _, node)| (key, node))
    }
}
