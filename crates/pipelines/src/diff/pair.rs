//! Joins the items of both sides by key.

use std::collections::HashMap;
use std::hash::Hash;

/// The values of one key on both sides; at least one is present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair<K, T> {
    pub key: K,
    pub base: Option<T>,
    pub head: Option<T>,
}

/// Returns the pairs in the order of `after`, followed by removed items in the order of `before`. Keys must be unique
/// on each side.
pub(super) fn pair_by_key<K: Copy + Eq + Hash, T: Copy>(
    base: impl Iterator<Item = (K, T)>,
    head: impl Iterator<Item = (K, T)>,
) -> Vec<Pair<K, T>> {
    let base: Vec<(K, T)> = base.collect();
    let head: Vec<(K, T)> = head.collect();
    let has_same_keys = base.len() == head.len() && base.iter().zip(&head).all(|(old, new)| old.0 == new.0);
    if has_same_keys {
        let together = base.into_iter().zip(head);
        return together
            .map(|((key, old), (_, new))| both(key, Some(old), Some(new)))
            .collect();
    }
    let mut old: HashMap<K, T> = base.iter().copied().collect();
    let mut all: Vec<Pair<K, T>> = head
        .into_iter()
        .map(|(key, new)| both(key, old.remove(&key), Some(new)))
        .collect();
    let gone = base.into_iter().filter(|(key, _)| old.contains_key(key));
    all.extend(gone.map(|(key, value)| both(key, Some(value), None)));
    all
}

const fn both<K, T>(key: K, before: Option<T>, after: Option<T>) -> Pair<K, T> {
    Pair {
        key,
        base: before,
        head: after,
    }
}
