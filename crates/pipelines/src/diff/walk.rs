//! Walks two documents side by side and collects the leaves that differ.

use super::leaf::{Leaf, PathStep};
use super::model::Field;
use super::pair::pair_by_key;
use crate::yaml::NodeRef;

/// A node of one side, if the side has it.
pub(super) type MaybeNode<'t, 'a> = Option<NodeRef<'t, 'a>>;

/// A node, and a predicate for the keys that are excluded.
pub(super) type Aside<'f, 't, 'a> = (MaybeNode<'t, 'a>, &'f dyn Fn(&str) -> bool);

/// Collects the leaves that differ, in the order of the head.
pub(super) struct DiffWalk {
    path: Vec<PathStep>,
    fields: Vec<Field>,
    /// The first cell of the current row.
    row: Option<String>,
}

impl DiffWalk {
    pub(super) fn below_keys(path: &[&str]) -> Self {
        Self::at_path(path.iter().map(|key| PathStep::key(key)).collect())
    }

    pub(super) const fn at_path(path: Vec<PathStep>) -> Self {
        Self {
            path,
            fields: Vec::new(),
            row: None,
        }
    }

    pub(super) fn into_fields(self) -> Vec<Field> {
        self.fields
    }

    /// Compares the leaves at and below a pair of nodes.
    pub(super) fn compare(&mut self, base: MaybeNode<'_, '_>, head: MaybeNode<'_, '_>) {
        self.compare_without((base, &|_| false), (head, &|_| false));
    }

    /// Like [`Self::compare`], without the keys that each side excludes.
    pub(super) fn compare_without(&mut self, base: Aside<'_, '_, '_>, head: Aside<'_, '_, '_>) {
        self.compare_leaf(base.0.and_then(Leaf::from_node), head.0.and_then(Leaf::from_node));
        for pair in pair_by_key(entries(base), entries(head)) {
            self.compare_step(PathStep::key(pair.key), pair.base, pair.head);
        }
        self.compare_items(base.0, head.0);
    }

    fn compare_leaf(&mut self, base: Option<Leaf>, head: Option<Leaf>) {
        if base != head {
            self.fields.push(Field {
                path: self.path.clone(),
                before: base,
                after: head,
                row: self.row.clone(),
            });
        }
    }

    /// Compares the leaves below one more step.
    pub(super) fn compare_step(&mut self, step: PathStep, base: MaybeNode<'_, '_>, head: MaybeNode<'_, '_>) {
        self.path.push(step);
        self.compare(base, head);
        self.path.pop();
    }

    fn compare_items(&mut self, base: MaybeNode<'_, '_>, head: MaybeNode<'_, '_>) {
        let mut base_items = base.and_then(NodeRef::items);
        let mut head_items = head.and_then(NodeRef::items);
        for index in 0.. {
            let pair = (
                base_items.as_mut().and_then(Iterator::next),
                head_items.as_mut().and_then(Iterator::next),
            );
            if pair.0.is_none() && pair.1.is_none() {
                return;
            }
            let is_row = [pair.0, pair.1]
                .into_iter()
                .flatten()
                .any(|node| node.items().is_some());
            let inside = if is_row { row_name(pair) } else { self.row.clone() };
            let outer_row = std::mem::replace(&mut self.row, inside);
            self.compare_step(PathStep::Index(index), pair.0, pair.1);
            self.row = outer_row;
        }
    }
}

/// Returns the first cell of a row in the head, or in the base if the row was removed.
fn row_name((before, after): (MaybeNode<'_, '_>, MaybeNode<'_, '_>)) -> Option<String> {
    let first = after.or(before)?.items()?.next()?;
    first.text().map(str::to_owned)
}

fn entries<'f, 't: 'f, 'a: 'f>(
    (side, aside): Aside<'f, 't, 'a>,
) -> impl Iterator<Item = (&'t str, NodeRef<'t, 'a>)> + 'f {
    let entries = side.into_iter().flat_map(NodeRef::entries);
    let kept = entries.filter(move |(key, _, _)| !aside(key));
    kept.map(|(key, _, node)| (key, node))
}
