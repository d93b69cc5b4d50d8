//! Measures the similarity of two files as git does.
//!
//! Content is cut into pieces at line ends, or after 64 bytes. The similarity depends on the number of bytes in pieces
//! that both files have (git: `diffcore-delta.c`). The order of the pieces does not matter.

use memchr::memmem;
use std::borrow::Cow;

/// The similarity of equal files. The resolution is that of git, so that candidates are ranked in the same order.
pub(super) const FULL_SIMILARITY: u64 = 60_000;
/// Maximum length of a piece, in bytes.
const MAX_PIECE_LENGTH: usize = 64;

/// Returns the maximum similarity of two files of these sizes, which depends on the smaller one.
pub(super) fn max_similarity(size: u64, other_size: u64) -> u64 {
    similarity_of_sizes(size.min(other_size), size.max(other_size))
}

/// Returns the share of the common bytes in the larger file, where [`FULL_SIMILARITY`] is the whole; 0 for empty files.
fn similarity_of_sizes(common_size: u64, larger_size: u64) -> u64 {
    (common_size * FULL_SIMILARITY)
        .checked_div(larger_size)
        .unwrap_or(0)
}

/// The pieces of a file, as pairs of hash and total bytes, sorted by hash. As in git, `size` is the full size of
/// the file, even if some bytes are not counted.
pub(super) struct Pieces {
    size: u64,
    hash_sizes: Vec<(u64, u64)>,
}

impl Pieces {
    /// Cuts a file into pieces, its lines or parts of long lines, and adds up the sizes of equal pieces. A carriage
    /// return before a line feed is ignored, so lines with different line endings are equal; the
    /// size of the file includes it.
    pub(super) fn from_content(content: &[u8]) -> Self {
        let counted_content = remove_carriage_returns(content);
        let mut hash_sizes: Vec<(u64, u64)> = counted_content
            .split_inclusive(|byte| *byte == b'\n')
            .flat_map(|line| line.chunks(MAX_PIECE_LENGTH))
            .map(hash_piece)
            .collect();
        hash_sizes.sort_unstable();
        hash_sizes.dedup_by(|(hash, size), (previous_hash, previous_size)| {
            let is_equal = hash == previous_hash;
            *previous_size += if is_equal { *size } else { 0 };
            is_equal
        });
        hash_sizes.shrink_to_fit();
        Self {
            size: content.len() as u64,
            hash_sizes,
        }
    }

    pub(super) const fn piece_count(&self) -> usize {
        self.hash_sizes.len()
    }

    /// Returns the share of the larger file that is also in the smaller one; [`FULL_SIMILARITY`] if they are equal.
    pub(super) fn similarity(&self, other: &Self) -> u64 {
        similarity_of_sizes(self.count_common_bytes(other), self.size.max(other.size))
    }

    /// Returns how many bytes both contents have in common. Both lists of pieces are sorted by hash, so one pass is
    /// enough.
    fn count_common_bytes(&self, other: &Self) -> u64 {
        let mut pieces = self.hash_sizes.iter().peekable();
        let mut other_pieces = other.hash_sizes.iter().peekable();
        let mut common_size = 0;
        while let (Some((hash, size)), Some((other_hash, other_size))) = (pieces.peek(), other_pieces.peek())
        {
            match hash.cmp(other_hash) {
                std::cmp::Ordering::Less => drop(pieces.next()),
                std::cmp::Ordering::Greater => drop(other_pieces.next()),
                std::cmp::Ordering::Equal => {
                    common_size += size.min(other_size);
                    pieces.next();
                    other_pieces.next();
                }
            }
        }
        common_size
    }
}

/// Returns the content without the carriage return before each line feed. Git also removes it before it cuts long lines
/// into pieces.
fn remove_carriage_returns(content: &[u8]) -> Cow<'_, [u8]> {
    if memmem::find(content, b"\r\n").is_none() {
        return Cow::Borrowed(content);
    }
    let mut output = Vec::with_capacity(content.len());
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(text) => {
                output.extend_from_slice(text);
                output.push(b'\n');
            }
            None => output.extend_from_slice(line),
        }
    }
    Cow::Owned(output)
}

/// Returns the FNV-1a hash (<http://www.isthe.com/chongo/tech/comp/fnv/>) of a piece and its size. The hash is fast for
/// short pieces, and a deliberate collision can only make two files look like a rename.
fn hash_piece(piece: &[u8]) -> (u64, u64) {
    let hash = piece.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash, piece.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::{FULL_SIMILARITY, Pieces, max_similarity};

    fn similarity(one: &str, other: &str) -> u64 {
        Pieces::from_content(one.as_bytes()).similarity(&Pieces::from_content(other.as_bytes()))
    }

    #[test]
    fn equal_files_are_wholly_similar_whatever_the_order_of_their_lines() {
        assert_eq!(similarity("a\nb\nc\n", "a\nb\nc\n"), FULL_SIMILARITY);
        assert_eq!(similarity("a\nb\nc\n", "c\na\nb\n"), FULL_SIMILARITY);
    }

    #[test]
    fn carriage_return_counts_in_the_size_alone() {
        assert_eq!(similarity("aa\nbb\n", "aa\r\nbb\r\n"), FULL_SIMILARITY / 4 * 3);
        assert_eq!(similarity("aa\r\n", "aa\r\n"), FULL_SIMILARITY / 4 * 3);
        // The carriage return is the last byte that would fit into the piece.
        let line = "a".repeat(63);
        let value = similarity(&format!("{line}\n"), &format!("{line}\r\n"));
        assert_eq!(value, 64 * FULL_SIMILARITY / 65);
    }

    #[test]
    fn half_of_the_larger_file_is_half() {
        assert_eq!(
            similarity("one\ntwo\n", "one\ntwo\nsix\nten\n"),
            FULL_SIMILARITY / 2
        );
        assert_eq!(similarity("one\n", "two\n"), 0);
        assert_eq!(similarity("one\n", "one"), 0, "a line without its end is another");
        assert_eq!(similarity("", ""), 0);
    }

    #[test]
    fn repeated_lines_count_as_often_as_both_have_them() {
        assert_eq!(similarity("x\nx\nx\nx\n", "x\nx\ny\ny\n"), FULL_SIMILARITY / 2);
    }

    #[test]
    fn sizes_rule_out_what_cannot_be_similar() {
        assert_eq!(max_similarity(4, 12), FULL_SIMILARITY / 3);
        assert_eq!(max_similarity(8, 4), FULL_SIMILARITY / 2);
        assert_eq!(max_similarity(0, 0), 0);
    }
}
