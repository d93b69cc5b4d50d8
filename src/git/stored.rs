//! Blobs straight from git's own storage, as a stream.
//!
//! libgit2 holds a packed blob as a whole and maps its pack into memory; the git program streams one, through a pipe
//! and in small pieces. A blob that git stored whole is one zlib stream, in a file of its own or in a pack
//! (<https://git-scm.com/docs/gitformat-pack>), and is read here, in flat memory. What is stored otherwise (as a
//! difference from another, or in a repository that objects are borrowed from) is left to those two.

use super::BlobId;
use flate2::bufread::ZlibDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How much is read from the disk at a time, in bytes.
const PIECE: usize = 128 * 1024;
/// The length of an id.
const ID: usize = 20;
/// How an index of a pack begins: its mark, and version 2, the only one written since 2007.
const INDEX_START: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
/// Where the table of ids begins: after the start and 256 sums of 4 bytes.
const IDS_AT: u64 = 8 + 256 * 4;
/// A blob stored whole, in the three bits of an object's type.
const WHOLE_BLOB: u8 = 3;
/// The longest that the header of a file of its own can be: `blob`, a blank, 20 digits, a zero.
const HEADER: u64 = 32;

/// Where a repository stores its objects.
pub(super) struct Stored {
    objects: PathBuf,
}

impl Stored {
    pub(super) fn new(common_dir: &Path) -> Self {
        Self {
            objects: common_dir.join("objects"),
        }
    }

    /// A reader of the blob's content, if it is stored whole here and has `size` bytes. What is damaged shows as an
    /// error when it is read, by zlib's own sum at its end.
    pub(super) fn open(&self, blob: &BlobId, size: u64) -> Option<Box<dyn Read + Send>> {
        let id = blob.to_string();
        if let Some(content) = self.open_loose(&id, size) {
            return Some(content);
        }
        let packs = self.objects.join("pack").read_dir().ok()?;
        let mut indices = packs
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "idx"));
        indices.find_map(|index| open_packed(&index, blob.oid().as_bytes(), size).ok().flatten())
    }

    fn open_loose(&self, id: &str, size: u64) -> Option<Box<dyn Read + Send>> {
        let (folder, name) = id.split_at_checked(2)?;
        let file = File::open(self.objects.join(folder).join(name)).ok()?;
        let mut content = BufReader::new(inflated(file));
        let mut header = Vec::new();
        content.by_ref().take(HEADER).read_until(0, &mut header).ok()?;
        (header == format!("blob {size}\0").as_bytes()).then(|| Box::new(content) as Box<dyn Read + Send>)
    }
}

fn inflated(file: File) -> ZlibDecoder<BufReader<File>> {
    ZlibDecoder::new(BufReader::with_capacity(PIECE, file))
}

/// The blob in the pack of this index; none if it is not there, or not whole.
fn open_packed(index: &Path, id: &[u8], size: u64) -> io::Result<Option<Box<dyn Read + Send>>> {
    let Some(offset) = offset_in_pack(&mut File::open(index)?, id)? else {
        return Ok(None);
    };
    let mut pack = File::open(index.with_extension("pack"))?;
    pack.seek(SeekFrom::Start(offset))?;
    let mut pack = BufReader::with_capacity(PIECE, pack);
    if whole_blob(&mut pack)? != Some(size) {
        return Ok(None);
    }
    Ok(Some(Box::new(ZlibDecoder::new(pack))))
}

/// Looks the id up in the index: 256 sums by its first byte, the sorted ids, a checksum each, an offset each, and the
/// offsets that do not fit into 31 bits.
fn offset_in_pack(index: &mut File, id: &[u8]) -> io::Result<Option<u64>> {
    let Some(first) = id.first() else { return Ok(None) };
    if bytes_at::<8>(index, 0)? != INDEX_START {
        return Ok(None);
    }
    let sum_at = |byte: u8| 8 + u64::from(byte) * 4;
    let count = u64::from(number_at(index, sum_at(u8::MAX))?);
    let mut high = u64::from(number_at(index, sum_at(*first))?);
    let mut low = match first.checked_sub(1) {
        Some(before) => u64::from(number_at(index, sum_at(before))?),
        None => 0,
    };
    let after_ids = IDS_AT + count * ID as u64;
    while low < high {
        let middle = low.midpoint(high);
        let found: [u8; ID] = bytes_at(index, IDS_AT + middle * ID as u64)?;
        match found.as_slice().cmp(id) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => {
                let offset = number_at(index, after_ids + count * 4 + middle * 4)?;
                let large = u64::from(offset & 0x7fff_ffff);
                return Ok(Some(if offset >> 31 == 0 {
                    u64::from(offset)
                } else {
                    u64::from_be_bytes(bytes_at(index, after_ids + count * 8 + large * 8)?)
                }));
            }
        }
    }
    Ok(None)
}

/// Reads the header of an object in a pack, type and size in groups of seven bits, the first of four; gives the size
/// of a blob stored whole.
fn whole_blob(pack: &mut impl Read) -> io::Result<Option<u64>> {
    let mut byte = [0];
    pack.read_exact(&mut byte)?;
    let kind = (byte[0] >> 4) & 7;
    let mut size = u64::from(byte[0] & 15);
    let mut shift = 4;
    while byte[0] & 0x80 != 0 {
        pack.read_exact(&mut byte)?;
        if shift > 56 {
            return Ok(None);
        }
        size |= u64::from(byte[0] & 0x7f) << shift;
        shift += 7;
    }
    Ok((kind == WHOLE_BLOB).then_some(size))
}

fn number_at(file: &mut File, at: u64) -> io::Result<u32> {
    bytes_at(file, at).map(u32::from_be_bytes)
}

fn bytes_at<const N: usize>(file: &mut File, at: u64) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}
