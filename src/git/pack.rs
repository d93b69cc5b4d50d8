//! Finds a blob in a pack: <https://git-scm.com/docs/gitformat-pack>.

use git2::Oid;
use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The length of an id.
const ID: usize = 20;
/// How an index begins: its mark, and version 2, the only one that git has written since 2007.
const INDEX_START: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
/// How many sums follow: how many ids begin with this byte or a lower one.
const SUMS: usize = 256;
/// Where the sorted ids begin; a checksum each follows, then an offset each, then those that need more than 31 bits.
const IDS_AT: u64 = 8 + SUMS as u64 * 4;
/// A blob stored whole, in the three bits of an object's type.
const WHOLE_BLOB: u8 = 3;

/// A pack and its index.
pub(super) struct Pack {
    path: PathBuf,
    objects: File,
    index: File,
    sums: Vec<u64>,
}

impl Pack {
    /// Opens the pack of this index; none if the index has another form.
    pub(super) fn open(index: &Path) -> io::Result<Option<Self>> {
        let path = index.with_extension("pack");
        let index = File::open(index)?;
        if bytes_at(&index, 0)? != INDEX_START {
            return Ok(None);
        }
        let sums: [u8; SUMS * 4] = bytes_at(&index, INDEX_START.len() as u64)?;
        let sum = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        Ok(Some(Self {
            objects: File::open(&path)?,
            path,
            index,
            sums: sums.chunks_exact(4).map(sum).collect(),
        }))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The size of the blob and where its content begins; none if it is not in the pack, or not whole.
    pub(super) fn whole_blob(&self, id: &[u8]) -> io::Result<Option<(u64, u64)>> {
        let Some(offset) = self.offset(id)? else {
            return Ok(None);
        };
        let mut pack = &self.objects;
        pack.seek(SeekFrom::Start(offset))?;
        let mut start = Vec::with_capacity(16);
        pack.take(16).read_to_end(&mut start)?;
        Ok(header(&start).map(|(size, length)| (size, offset + length)))
    }

    /// Where each of these objects begins, and nothing for those that are not in the pack. The ids are sorted: those that
    /// begin with the same byte stand together in the index, and are looked up in one piece of it.
    pub(super) fn offsets(&self, ids: &[Oid]) -> io::Result<Vec<Option<u64>>> {
        let mut offsets = Vec::with_capacity(ids.len());
        for wanted in ids.chunk_by(|one, other| one.as_bytes().first() == other.as_bytes().first()) {
            let (low, high) = wanted.first().map_or((0, 0), |id| self.range(id.as_bytes()));
            let count = high.saturating_sub(low);
            let known = piece(&self.index, IDS_AT + low * ID as u64, count * ID as u64)?;
            let starts = piece(&self.index, self.offsets_at() + low * 4, count * 4)?;
            let ((known, _), (starts, _)) = (known.as_chunks::<ID>(), starts.as_chunks::<4>());
            for id in wanted {
                let entry = known.binary_search_by(|known| known.as_slice().cmp(id.as_bytes()));
                let start = entry.ok().and_then(|entry| starts.get(entry));
                offsets.push(start.map(|start| self.offset_of(*start)).transpose()?);
            }
        }
        Ok(offsets)
    }

    /// The first entry whose id begins as this one does, and the first after them.
    fn range(&self, id: &[u8]) -> (u64, u64) {
        let sum = |byte: u8| self.sums.get(usize::from(byte)).copied().unwrap_or_default();
        let Some(first) = id.first() else { return (0, 0) };
        (first.checked_sub(1).map_or(0, sum), sum(*first))
    }

    fn offset(&self, id: &[u8]) -> io::Result<Option<u64>> {
        let (mut low, mut high) = self.range(id);
        while low < high {
            let middle = low.midpoint(high);
            let found: [u8; ID] = bytes_at(&self.index, IDS_AT + middle * ID as u64)?;
            match found.as_slice().cmp(id) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => {
                    let start = bytes_at(&self.index, self.offsets_at() + middle * 4)?;
                    return self.offset_of(start).map(Some);
                }
            }
        }
        Ok(None)
    }

    fn count(&self) -> u64 {
        self.sums.last().copied().unwrap_or_default()
    }

    fn offsets_at(&self) -> u64 {
        IDS_AT + self.count() * (ID as u64 + 4)
    }

    /// An offset from how the index has it: 31 bits, or the place of one with 63.
    fn offset_of(&self, start: [u8; 4]) -> io::Result<u64> {
        let offset = u32::from_be_bytes(start);
        if offset >> 31 == 0 {
            return Ok(u64::from(offset));
        }
        let large = u64::from(offset & 0x7fff_ffff);
        let large_at = self.offsets_at() + self.count() * 4;
        bytes_at(&self.index, large_at + large * 8).map(u64::from_be_bytes)
    }
}

/// Reads the header of an object: its type and size in groups of seven bits, the first of four. Gives the size of a
/// blob stored whole, and the header's length.
fn header(start: &[u8]) -> Option<(u64, u64)> {
    let first = *start.first()?;
    let (mut size, mut shift, mut length) = (u64::from(first & 15), 4, 1);
    let mut byte = first;
    while byte & 0x80 != 0 {
        byte = *start.get(length)?;
        if shift > 56 {
            return None;
        }
        size |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        length += 1;
    }
    ((first >> 4) & 7 == WHOLE_BLOB).then_some((size, length as u64))
}

/// So many bytes, or fewer where the file ends before: a damaged index may promise anything.
fn piece(mut file: &File, at: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn bytes_at<const N: usize>(mut file: &File, at: u64) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::header;

    #[test]
    fn a_header_is_read_in_groups_of_seven_bits() {
        assert_eq!(header(&[0x3f]), Some((15, 1)));
        assert_eq!(header(&[0xb0, 0x80, 0x04]), Some((0x2000, 3)));
        assert_eq!(header(&[0x6f]), None, "a difference from another object");
        assert_eq!(header(&[0xbf; 16]), None, "longer than any size");
        assert_eq!(header(&[0xbf, 0x80]), None, "cut off");
        assert_eq!(header(&[]), None);
    }
}
