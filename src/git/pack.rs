//! Finds a blob in a pack: <https://git-scm.com/docs/gitformat-pack>.

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

    fn offset(&self, id: &[u8]) -> io::Result<Option<u64>> {
        let sum = |byte: u8| self.sums.get(usize::from(byte)).copied().unwrap_or_default();
        let Some(first) = id.first() else { return Ok(None) };
        let (mut low, mut high) = (first.checked_sub(1).map_or(0, sum), sum(*first));
        while low < high {
            let middle = low.midpoint(high);
            let found: [u8; ID] = bytes_at(&self.index, IDS_AT + middle * ID as u64)?;
            match found.as_slice().cmp(id) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return self.offset_of(middle, sum(u8::MAX)).map(Some),
            }
        }
        Ok(None)
    }

    /// The offset of entry number `entry` of `count`.
    fn offset_of(&self, entry: u64, count: u64) -> io::Result<u64> {
        let offsets_at = IDS_AT + count * (ID as u64 + 4);
        let offset = u32::from_be_bytes(bytes_at(&self.index, offsets_at + entry * 4)?);
        if offset >> 31 == 0 {
            return Ok(u64::from(offset));
        }
        let large = u64::from(offset & 0x7fff_ffff);
        bytes_at(&self.index, offsets_at + count * 4 + large * 8).map(u64::from_be_bytes)
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
