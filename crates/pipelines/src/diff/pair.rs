//! Joins the items of both sides by key.

use std::collections::HashMap;
use std::hash::Hash;

/// The values of one key on both sides; at least one is present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair<K, T> {
    pub key: K,
    pub before: Option<T>,
    pub after: Option<T>,
}

/// Returns the pairs in the order of `after`, followed by removed items in the order of `before`. Keys must be unique
/// on each side.
pub(super) fn pairs<K: Copy + Eq + Hash, T: Copy>(
    before: impl Iterator<Item = (K, T)>,
    after: impl Iterator<Item = (K, T)>,
) -> Vec<Pair<K, T>> {
    let before: Vec<(K, T)> = before.collect();
    let after: Vec<(K, T)> = after.collect();
    let alike = before.len() == after.len() && before.iter().zip(&after).all(|(old, new)| old.0 == new.0);
    if alike {
        let together = before.into_iter().zip(after);
        return together
            .map(|((key, old), (_, new))| both(key, Some(old), Some(new)))
            .collect();
    }
    let mut old: HashMap<K, T> = before.iter().copied().collect();
    let mut all: Vec<Pair<K, T>> = after
        .into_iter()
        .map(|(key, new)| both(key, old.remove(&key), Some(new)))
        .collect();
    let gone = before.into_iter().filter(|(key, _)| old.contains_key(key));
    all.extend(gone.map(|(key, value)| both(key, Some(value), None)));
    all
}

const fn both<K, T>(key: K, before: Option<T>, after: Option<T>) -> Pair<K, T> {
    Pair { key, before, after }
}
