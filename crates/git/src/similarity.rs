//! Measures the similarity of two files as git does.
//!
//! Content is cut into pieces at line ends, or after 64 bytes. The similarity depends on the number of bytes in pieces
//! that both files have (git: `diffcore-delta.c`). The order of the pieces does not matter.

/// The similarity of equal files. The resolution is that of git, so that candidates are ranked in the same order.
pub(super) const WHOLE: u64 = 60_000;
/// Maximum length of a piece, in bytes.
const PIECE: usize = 64;

/// Returns the maximum similarity of two files of these sizes, which depends on the smaller one.
pub(super) fn at_most(one: u64, other: u64) -> u64 {
    share(one.min(other), one.max(other))
}

fn share(part: u64, larger: u64) -> u64 {
    (part * WHOLE).checked_div(larger).unwrap_or(0)
}

/// The pieces of a file, as pairs of hash and total bytes, sorted by hash. As in git, `size` is the full size of
/// the file, even if some bytes are not counted.
pub(super) struct Pieces {
    size: u64,
    counts: Vec<(u64, u64)>,
}

impl Pieces {
    /// Cuts a file into pieces. A carriage return before a line feed is ignored, so that a change of line endings
    /// does not affect the similarity.
    pub(super) fn of(content: &[u8]) -> Self {
        let mut hashes: Vec<(u64, u64)> = content
            .split_inclusive(|byte| *byte == b'\n')
            .flat_map(|line| line.chunks(PIECE))
            .map(hash)
            .collect();
        hashes.sort_unstable();
        hashes.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        hashes.shrink_to_fit();
        Self {
            size: content.len() as u64,
            counts: hashes,
        }
    }

    pub(super) const fn count(&self) -> usize {
        self.counts.len()
    }

    /// Returns the share of the larger file that is also in the smaller one; [`WHOLE`] if they are equal.
    pub(super) fn similarity(&self, other: &Self) -> u64 {
        share(self.common(other), self.size.max(other.size))
    }

    fn common(&self, other: &Self) -> u64 {
        let (mut mine, mut theirs) = (self.counts.iter().peekable(), other.counts.iter().peekable());
        let mut common = 0;
        while let (Some((hash, bytes)), Some((other_hash, other_bytes))) = (mine.peek(), theirs.peek()) {
            match hash.cmp(other_hash) {
                std::cmp::Ordering::Less => drop(mine.next()),
                std::cmp::Ordering::Greater => drop(theirs.next()),
                std::cmp::Ordering::Equal => {
                    common += bytes.min(other_bytes);
                    mine.next();
                    theirs.next();
                }
            }
        }
        common
    }
}

/// Returns the FNV-1a hash (<http://www.isthe.com/chongo/tech/comp/fnv/>) of a piece and its size. The hash is fast
/// for short pieces, and a deliberate collision can only make two files look like a rename.
fn hash(piece: &[u8]) -> (u64, u64) {
    let (content, end): (&[u8], &[u8]) = match piece {
        [content @ .., b'\r', b'\n'] => (content, b"\n"),
        _ => (piece, b""),
    };
    let hash = content
        .iter()
        .chain(end)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    (hash, (content.len() + end.len()) as u64)
}

#[cfg(test)]
mod tests {
    use super::{Pieces, WHOLE, at_most};

    fn similarity(one: &str, other: &str) -> u64 {
        Pieces::of(one.as_bytes()).similarity(&Pieces::of(other.as_bytes()))
    }

    #[test]
    fn equal_files_are_wholly_similar_whatever_the_order_of_their_lines() {
        assert_eq!(similarity("a\nb\nc\n", "a\nb\nc\n"), WHOLE);
        assert_eq!(similarity("a\nb\nc\n", "c\na\nb\n"), WHOLE);
    }

    #[test]
    fn carriage_return_is_in_size_alone() {
        assert_eq!(similarity("aa\nbb\n", "aa\r\nbb\r\n"), WHOLE / 4 * 3);
        assert_eq!(similarity("aa\r\n", "aa\r\n"), WHOLE / 4 * 3);
    }

    #[test]
    fn half_of_the_larger_file_is_half() {
        assert_eq!(similarity("one\ntwo\n", "one\ntwo\nsix\nten\n"), WHOLE / 2);
        assert_eq!(similarity("one\n", "two\n"), 0);
        assert_eq!(similarity("one\n", "one"), 0, "a line without its end is another");
        assert_eq!(similarity("", ""), 0);
    }

    #[test]
    fn repeated_lines_count_as_often_as_both_have_them() {
        assert_eq!(similarity("x\nx\nx\nx\n", "x\nx\ny\ny\n"), WHOLE / 2);
    }

    #[test]
    fn sizes_rule_out_what_cannot_be_similar() {
        assert_eq!(at_most(4, 12), WHOLE / 3);
        assert_eq!(at_most(8, 4), WHOLE / 2);
        assert_eq!(at_most(0, 0), 0);
    }
}
