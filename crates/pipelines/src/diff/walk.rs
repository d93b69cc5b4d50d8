//! Walks two documents side by side and collects the leaves that differ.

use super::leaf::{Leaf, PathStep};
use super::model::Field;
use super::pair::pairs;
use crate::yaml::NodeRef;

/// A node of one side, if the side has it.
pub(super) type MaybeNode<'t, 'a> = Option<NodeRef<'t, 'a>>;

/// A node, and a predicate for the keys that are excluded.
pub(super) type Aside<'f, 't, 'a> = (MaybeNode<'t, 'a>, &'f dyn Fn(&str) -> bool);

/// Collects the leaves that differ, in the order of the head.
pub(super) struct Walk {
    path: Vec<PathStep>,
    fields: Vec<Field>,
    /// The first cell of the current row.
    row: Option<String>,
}

impl Walk {
    pub(super) fn below(path: &[&str]) -> Self {
        Self::at(path.iter().map(|key| PathStep::key(key)).collect())
    }

    pub(super) const fn at(path: Vec<PathStep>) -> Self {
        Self {
            path,
            fields: Vec::new(),
            row: None,
        }
    }

    pub(super) fn finish(self) -> Vec<Field> {
        self.fields
    }

    /// Compares the leaves at and below a pair of nodes.
    pub(super) fn compare(&mut self, before: MaybeNode<'_, '_>, after: MaybeNode<'_, '_>) {
        self.compare_without((before, &|_| false), (after, &|_| false));
    }

    /// Like [`Self::compare`], without the keys that each side excludes.
    pub(super) fn compare_without(&mut self, before: Aside<'_, '_, '_>, after: Aside<'_, '_, '_>) {
        self.leaf(before.0.and_then(Leaf::at), after.0.and_then(Leaf::at));
        for pair in pairs(entries(before), entries(after)) {
            self.step(PathStep::key(pair.key), pair.before, pair.after);
        }
        self.items(before.0, after.0);
    }

    fn leaf(&mut self, before: Option<Leaf>, after: Option<Leaf>) {
        if before != after {
            self.fields.push(Field {
                path: self.path.clone(),
                before,
                after,
                row: self.row.clone(),
            });
        }
    }

    /// Compares the leaves below one more step.
    pub(super) fn step(&mut self, step: PathStep, before: MaybeNode<'_, '_>, after: MaybeNode<'_, '_>) {
        self.path.push(step);
        self.compare(before, after);
        self.path.pop();
    }

    fn items(&mut self, before: MaybeNode<'_, '_>, after: MaybeNode<'_, '_>) {
        let mut old = before.and_then(NodeRef::items);
        let mut new = after.and_then(NodeRef::items);
        for index in 0.. {
            let pair = (
                old.as_mut().and_then(Iterator::next),
                new.as_mut().and_then(Iterator::next),
            );
            if pair.0.is_none() && pair.1.is_none() {
                return;
            }
            let is_row = [pair.0, pair.1]
                .into_iter()
                .flatten()
                .any(|node| node.items().is_some());
            let inside = if is_row { row_name(pair) } else { self.row.clone() };
            let above = std::mem::replace(&mut self.row, inside);
            self.step(PathStep::Index(index), pair.0, pair.1);
            self.row = above;
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
