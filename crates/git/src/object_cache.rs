//! Caches of the objects that were read first. Selecting, evaluating, comparing and sending read the same blobs and the
//! same trees in the same order, so the first ones are the next ones needed.

use git2::Oid;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Size of the cache, in bytes: enough for both sides of some thousand pipelines, or for the trees of 200,000 files.
const MAX_CACHE_SIZE: usize = 16 * 1024 * 1024;

/// Maximum size of a cached object, in bytes.
const MAX_OBJECT_SIZE: usize = MAX_CACHE_SIZE / 16;

/// Maximum number of trees that are recognized when they are read again.
const MAX_SEEN_TREES: usize = 200_000;

pub(super) struct ObjectCache {
    contents: HashMap<Oid, Arc<[u8]>>,
    size: usize,
    max_size: usize,
}

impl Default for ObjectCache {
    fn default() -> Self {
        Self {
            max_size: MAX_CACHE_SIZE,
            ..Self::with_zero_capacity()
        }
    }
}

impl ObjectCache {
    /// Creates a cache that keeps nothing.
    pub(super) fn with_zero_capacity() -> Self {
        Self {
            contents: HashMap::new(),
            size: 0,
            max_size: 0,
        }
    }

    pub(super) fn get(&self, id: Oid) -> Option<Arc<[u8]>> {
        self.contents.get(&id).map(Arc::clone)
    }

    /// Caches the content if there is room.
    pub(super) fn add(&mut self, id: Oid, content: &[u8]) {
        let has_room = content.len() <= MAX_OBJECT_SIZE && self.size + content.len() <= self.max_size;
        if has_room && self.contents.insert(id, Arc::from(content)).is_none() {
            self.size += content.len();
        }
    }
}

/// The trees that were read more than once. Most runs in a large repository read each tree once, so a copy would be
/// useless.
#[derive(Default)]
pub(super) struct TreeCache {
    seen_ids: HashSet<Oid>,
    repeated_trees: ObjectCache,
}

impl TreeCache {
    pub(super) fn get(&self, id: Oid) -> Option<Arc<[u8]>> {
        self.repeated_trees.get(id)
    }

    /// Caches the content of a tree that was read before. Otherwise remembers only that the tree was read, because most
    /// trees are read once. Remembers up to [`MAX_SEEN_TREES`] trees.
    pub(super) fn record_tree_read(&mut self, id: Oid, content: &[u8]) {
        if self.seen_ids.contains(&id) {
            self.repeated_trees.add(id, content);
        } else if self.seen_ids.len() < MAX_SEEN_TREES {
            self.seen_ids.insert(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> Oid {
        Oid::from_str(&format!("{number:040x}")).unwrap()
    }

    #[test]
    fn object_cache_keeps_the_first_objects_within_its_limit() {
        let mut kept = ObjectCache::default();
        let content = vec![b'x'; MAX_OBJECT_SIZE];
        for number in 0..40 {
            kept.add(id(number), &content);
            kept.add(id(number), &content);
        }
        assert_eq!((kept.size, kept.contents.len()), (MAX_CACHE_SIZE, 16));
        assert!(kept.get(id(15)).is_some() && kept.get(id(16)).is_none());
        let mut other = ObjectCache::default();
        other.add(id(50), &vec![b'x'; MAX_OBJECT_SIZE + 1]);
        assert!(other.get(id(50)).is_none());
        let mut none = ObjectCache::with_zero_capacity();
        none.add(id(60), b"blob");
        assert!(none.get(id(60)).is_none());
    }

    #[test]
    fn tree_is_cached_when_it_is_read_again() {
        let mut trees = TreeCache::default();
        trees.record_tree_read(id(1), b"tree");
        assert!(trees.get(id(1)).is_none());
        trees.record_tree_read(id(1), b"tree");
        assert_eq!(trees.get(id(1)).as_deref(), Some(&b"tree"[..]));
    }
}
