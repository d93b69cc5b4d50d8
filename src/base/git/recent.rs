//! The blobs that were read last: who selects, judges, compares and tells a change reads the same ones, each once.

use super::BlobId;
use std::collections::{HashMap, VecDeque};

/// How much is kept, in bytes: both sides of some thousand pipelines.
const KEPT: usize = 32 * 1024 * 1024;

/// A larger blob is not kept, in bytes.
const LARGEST: usize = KEPT / 16;

#[derive(Default)]
pub(super) struct RecentBlobs {
    contents: HashMap<BlobId, Vec<u8>>,
    /// The oldest first.
    order: VecDeque<BlobId>,
    bytes: usize,
}

impl RecentBlobs {
    pub(super) fn get(&self, blob: &BlobId) -> Option<&[u8]> {
        self.contents.get(blob).map(Vec::as_slice)
    }

    pub(super) fn keep(&mut self, blob: BlobId, content: &[u8]) {
        if content.len() > LARGEST || self.contents.contains_key(&blob) {
            return;
        }
        self.bytes += content.len();
        self.contents.insert(blob, content.to_vec());
        self.order.push_back(blob);
        while self.bytes > KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.bytes -= self.contents.remove(&oldest).map_or(0, |content| content.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> BlobId {
        BlobId::new(git2::Oid::from_str(&format!("{number:040x}")).unwrap())
    }

    #[test]
    fn it_keeps_the_last_ones_within_its_bound() {
        let mut recent = RecentBlobs::default();
        let content = vec![b'x'; LARGEST];
        for number in 0..40 {
            recent.keep(id(number), &content);
            recent.keep(id(number), &content);
        }
        assert_eq!((recent.bytes, recent.order.len()), (KEPT, 16));
        assert!(recent.get(&id(39)).is_some() && recent.get(&id(23)).is_none());
        recent.keep(id(50), &vec![b'x'; LARGEST + 1]);
        assert!(recent.get(&id(50)).is_none());
    }
}
