//! Estimates the memory that the values of a response will take, from the punctuation between its strings.
//!
//! A limit in bytes is not enough: 64 MB of `{},` are read into gigabytes.

use super::redact::next_literal;

/// Maximum memory of a response, and of a list from all its pages, in bytes. A review of 10,000 files with 300,000
/// findings in one response takes 400 MB, a list of 100,000 artifacts 460 MB.
pub(super) const MOST_MEMORY: u64 = 480 * 1024 * 1024;

/// Memory of an entry, of an object or a list, and of a name until they are reported, in bytes: measured with responses
/// that contain only `"",`, `{"a":1},`, `[1],` and the like.
const ENTRY: u64 = 480;
const GROUP: u64 = 300;
const NAME: u64 = 100;

/// Returns the maximum memory that a JSON body takes, in bytes.
pub(super) fn weight(body: &[u8]) -> u64 {
    let (mut weight, mut at) = (body.len() as u64, 0);
    while let Some(literal) = next_literal(body, at) {
        weight += of_marks(body.get(at..literal.start).unwrap_or_default());
        at = literal.end;
    }
    weight + of_marks(body.get(at..).unwrap_or_default())
}

fn of_marks(between: &[u8]) -> u64 {
    let each = between.iter().map(|byte| match byte {
        b',' => ENTRY,
        b'{' | b'[' => GROUP,
        b':' => NAME,
        _ => 0,
    });
    each.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_weigh_and_texts_only_as_much_as_they_are_long() {
        assert_eq!(weight(b"[1,1]"), 5 + GROUP + ENTRY);
        assert_eq!(weight(br#"{"a":[]}"#), 8 + 2 * GROUP + NAME);
        assert_eq!(weight(br#"["{,:[","\",[",""]"#), 18 + GROUP + 2 * ENTRY);
        assert_eq!(weight(b""), 0);
    }
}
