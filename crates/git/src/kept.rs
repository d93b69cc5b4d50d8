//! Caches of the objects that were read first. Selecting, evaluating, comparing and sending read the same blobs and the
//! same trees in the same order, so the first ones are the next ones needed.

use git2::Oid;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Size of the cache, in bytes: enough for both sides of some thousand pipelines, or for the trees of 200,000 files.
const KEPT: usize = 16 * 1024 * 1024;

/// Maximum size of a cached object, in bytes.
const LARGEST: usize = KEPT / 16;

/// Maximum number of trees that are recognized when they are read again.
const RECOGNIZED: usize = 200_000;

pub(super) struct KeptObjects {
    contents: HashMap<Oid, Arc<[u8]>>,
    bytes: usize,
    most_bytes: usize,
}

impl Default for KeptObjects {
    fn default() -> Self {
        Self {
            most_bytes: KEPT,
            ..Self::none()
        }
    }
}

impl KeptObjects {
    /// Creates a cache that keeps nothing.
    pub(super) fn none() -> Self {
        Self {
            contents: HashMap::new(),
            bytes: 0,
            most_bytes: 0,
        }
    }

    pub(super) fn get(&self, id: Oid) -> Option<Arc<[u8]>> {
        self.contents.get(&id).map(Arc::clone)
    }

    /// Caches the content if there is room.
    pub(super) fn keep(&mut self, id: Oid, content: &[u8]) {
        let has_room = content.len() <= LARGEST && self.bytes + content.len() <= self.most_bytes;
        if has_room && self.contents.insert(id, Arc::from(content)).is_none() {
            self.bytes += content.len();
        }
    }
}

/// The trees that were read more than once. Most runs in a large repository read each tree once, and need no copy.
#[derive(Default)]
pub(super) struct KeptTrees {
    seen: HashSet<Oid>,
    again: KeptObjects,
}

impl KeptTrees {
    pub(super) fn get(&self, id: Oid) -> Option<Arc<[u8]>> {
        self.again.get(id)
    }

    /// Remembers that the tree was read, and caches it if that was not the first time.
    pub(super) fn read(&mut self, id: Oid, content: &[u8]) {
        if self.seen.contains(&id) {
            self.again.keep(id, content);
        } else if self.seen.len() < RECOGNIZED {
            self.seen.insert(id);
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
    fn cache_keeps_first_entries_within_its_bound() {
        let mut kept = KeptObjects::default();
        let content = vec![b'x'; LARGEST];
        for number in 0..40 {
            kept.keep(id(number), &content);
            kept.keep(id(number), &content);
        }
        assert_eq!((kept.bytes, kept.contents.len()), (KEPT, 16));
        assert!(kept.get(id(15)).is_some() && kept.get(id(16)).is_none());
        let mut other = KeptObjects::default();
        other.keep(id(50), &vec![b'x'; LARGEST + 1]);
        assert!(other.get(id(50)).is_none());
        let mut none = KeptObjects::none();
        none.keep(id(60), b"blob");
        assert!(none.get(id(60)).is_none());
    }

    #[test]
    fn tree_is_kept_once_it_is_read_again() {
        let mut trees = KeptTrees::default();
        trees.read(id(1), b"tree");
        assert!(trees.get(id(1)).is_none());
        trees.read(id(1), b"tree");
        assert_eq!(trees.get(id(1)).as_deref(), Some(&b"tree"[..]));
    }
}
