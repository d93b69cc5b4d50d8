//! A cache of the blobs that were read first. Selecting, evaluating, comparing and sending read the same blobs in
//! the same order, so the first blobs are the next ones needed.

use super::BlobId;
use std::collections::HashMap;

/// Size of the cache, in bytes: enough for both sides of some thousand pipelines.
const KEPT: usize = 16 * 1024 * 1024;

/// Maximum size of a cached blob, in bytes.
const LARGEST: usize = KEPT / 16;

#[derive(Default)]
pub(super) struct KeptBlobs {
    contents: HashMap<BlobId, Vec<u8>>,
    bytes: usize,
}

impl KeptBlobs {
    pub(super) fn get(&self, blob: &BlobId) -> Option<&[u8]> {
        self.contents.get(blob).map(Vec::as_slice)
    }

    /// Caches the content if there is room.
    pub(super) fn keep(&mut self, blob: BlobId, content: &[u8]) {
        let has_room = content.len() <= LARGEST && self.bytes + content.len() <= KEPT;
        if has_room && self.contents.insert(blob, content.to_vec()).is_none() {
            self.bytes += content.len();
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
    fn it_keeps_the_first_ones_within_its_bound() {
        let mut kept = KeptBlobs::default();
        let content = vec![b'x'; LARGEST];
        for number in 0..40 {
            kept.keep(id(number), &content);
            kept.keep(id(number), &content);
        }
        assert_eq!((kept.bytes, kept.contents.len()), (KEPT, 16));
        assert!(kept.get(&id(15)).is_some() && kept.get(&id(16)).is_none());
        let mut other = KeptBlobs::default();
        other.keep(id(50), &vec![b'x'; LARGEST + 1]);
        assert!(other.get(&id(50)).is_none());
    }
}
