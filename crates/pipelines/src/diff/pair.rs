//! Joins the items of both sides by key.

use std::collections::HashMap;
use std::hash::Hash;

/// The values of one key in both versions; at least one is present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair<K, T> {
    pub key: K,
    pub base: Option<T>,
    pub head: Option<T>,
}

/// Pairs the items of base and head that have the same key. The pairs are in the order of `head`, followed by items
/// that only `base` has, in its order. Keys must be unique in each version.
pub(super) fn pair_by_key<K: Copy + Eq + Hash, T: Copy>(
    base: impl Iterator<Item = (K, T)>,
    head: impl Iterator<Item = (K, T)>,
) -> Vec<Pair<K, T>> {
    let base: Vec<(K, T)> = base.collect();
    let head: Vec<(K, T)> = head.collect();
    let has_same_keys = base
        .iter()
        .map(|(key, _)| key)
        .eq(head.iter().map(|(key, _)| key));
    // With the same keys in the same order, no search is needed.
    if has_same_keys {
        return base
            .into_iter()
            .zip(head)
            .map(|((key, old), (_, new))| Pair {
                key,
                base: Some(old),
                head: Some(new),
            })
            .collect();
    }
    let mut unpaired_base: HashMap<K, T> = base.iter().copied().collect();
    let mut pairs: Vec<Pair<K, T>> = head
        .into_iter()
        .map(|(key, value)| Pair {
            key,
            base: unpaired_base.remove(&key),
            head: Some(value),
        })
        .collect();
    // The map has no order, so the remaining items are read from the list.
    for (key, value) in base {
        if unpaired_base.contains_key(&key) {
            pairs.push(Pair {
                key,
                base: Some(value),
                head: None,
            });
        }
    }
    pairs
}
