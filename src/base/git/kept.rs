//! A cache of the objects that were read first. Selecting, evaluating, comparing and sending read the same blobs and the
//! same trees in the same order, so the first ones are the next ones needed.

use git2::Oid;
use std::collections::HashMap;
use std::sync::Arc;

/// Size of the cache, in bytes: enough for both sides of some thousand pipelines, or for the trees of 200,000 files.
const KEPT: usize = 16 * 1024 * 1024;

/// Maximum size of a cached object, in bytes.
const LARGEST: usize = KEPT / 16;

#[derive(Default)]
pub(super) struct KeptObjects {
    contents: HashMap<Oid, Arc<[u8]>>,
    bytes: usize,
}

impl KeptObjects {
    pub(super) fn get(&self, id: Oid) -> Option<Arc<[u8]>> {
        self.contents.get(&id).map(Arc::clone)
    }

    /// Caches the content, and returns it for sharing, if there is room.
    pub(super) fn keep(&mut self, id: Oid, content: &[u8]) -> Option<Arc<[u8]>> {
        if content.len() > LARGEST || self.bytes + content.len() > KEPT {
            return None;
        }
        let shared: Arc<[u8]> = Arc::from(content);
        if self.contents.insert(id, Arc::clone(&shared)).is_none() {
            self.bytes += content.len();
        }
        Some(shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> Oid {
        Oid::from_str(&format!("{number:040x}")).unwrap()
    }

    #[test]
    fn it_keeps_the_first_ones_within_its_bound() {
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
    }
}
