//! Blobs straight from git's own storage, as a stream.
//!
//! libgit2 holds a packed blob as a whole and maps its pack into memory; the git program streams one, through a pipe
//! and in small pieces. A blob that git stored whole is one zlib stream, in a file of its own or in a pack
//! (<https://git-scm.com/docs/gitformat-pack>), and is read here, in flat memory. What is stored otherwise (as a
//! difference from another, or in a repository that objects are borrowed from) is left to those two. What it saves:
//! `docs/PERFORMANCE.md`.

use super::{BlobId, pack::Pack};
use flate2::bufread::ZlibDecoder;
use git2::Oid;
use std::cell::OnceCell;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How much is read from the disk at a time, in bytes.
const PIECE: usize = 128 * 1024;
/// The longest that the header of a file of its own can be: `blob`, a blank, 20 digits, a zero.
const HEADER: u64 = 32;

/// So few blobs are read in any order.
const FEW: usize = 256;

/// Where a repository stores its objects.
pub(super) struct Stored {
    objects: PathBuf,
    /// Looked for once.
    packs: OnceCell<Vec<Pack>>,
}

type Reader = Box<dyn Read + Send>;

impl Stored {
    pub(super) fn new(common_dir: &Path) -> Self {
        Self {
            objects: common_dir.join("objects"),
            packs: OnceCell::new(),
        }
    }

    /// A reader of the blob's content, if it is stored whole here and has `size` bytes. What is damaged shows as an
    /// error when it is read, by zlib's own sum at its end.
    pub(super) fn open(&self, blob: &BlobId, size: u64) -> Option<Reader> {
        if let Some((found, content)) = self.loose(blob) {
            return (found == size).then_some(content);
        }
        let (pack, found, at) = self.packed(blob)?;
        let mut file = File::open(pack.path()).ok()?;
        file.seek(SeekFrom::Start(at)).ok()?;
        (found == size).then(|| Box::new(inflated(file)) as Reader)
    }

    /// Size and content of a blob in a file of its own: `blob`, a blank, the size, a zero, the content.
    fn loose(&self, blob: &BlobId) -> Option<(u64, Reader)> {
        let id = blob.to_string();
        let (folder, name) = id.split_at_checked(2)?;
        let file = File::open(self.objects.join(folder).join(name)).ok()?;
        let mut content = BufReader::new(inflated(file));
        let mut header = Vec::new();
        content.by_ref().take(HEADER).read_until(0, &mut header).ok()?;
        let header = std::str::from_utf8(&header).ok()?;
        let size = header.strip_prefix("blob ")?.strip_suffix('\0')?;
        Some((size.parse().ok()?, Box::new(content)))
    }

    /// The order in which these blobs are read soonest: as they lie in their packs, so that what a difference is taken from
    /// was unpacked just before. What is in no pack comes first, in the order given.
    pub(super) fn order(&self, blobs: &[BlobId]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..blobs.len()).collect();
        if blobs.len() < FEW {
            return order;
        }
        let mut sorted = order.clone();
        sorted.sort_by_key(|at| blobs[*at]);
        let ids: Vec<Oid> = sorted.iter().map(|at| blobs[*at].oid()).collect();
        let mut places = vec![None; blobs.len()];
        for (number, pack) in self.packs().iter().enumerate() {
            let offsets = pack.offsets(&ids).unwrap_or_default();
            for (at, offset) in sorted.iter().zip(offsets) {
                places[*at] = places[*at].or(offset.map(|offset| (number, offset)));
            }
        }
        order.sort_by_key(|at| places[*at]);
        order
    }

    fn packs(&self) -> &[Pack] {
        self.packs.get_or_init(|| packs(&self.objects.join("pack")))
    }

    /// The pack that has the blob whole, its size, and where in the pack its content is.
    fn packed(&self, blob: &BlobId) -> Option<(&Pack, u64, u64)> {
        self.packs().iter().find_map(|pack| {
            let (size, at) = pack.whole_blob(blob.oid().as_bytes()).ok()??;
            Some((pack, size, at))
        })
    }
}

fn inflated(file: File) -> ZlibDecoder<BufReader<File>> {
    ZlibDecoder::new(BufReader::with_capacity(PIECE, file))
}

/// The packs of the folder whose index can be read.
fn packs(folder: &Path) -> Vec<Pack> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let indices = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "idx"));
    indices
        .filter_map(|index| Pack::open(&index).ok().flatten())
        .collect()
}
