//! Estimates the memory that the values of a response will take, from the punctuation between its strings.
//!
//! A limit in bytes is not enough: 64 MB of `{},` are read into gigabytes.

use sluicegate_base::redaction::find_quoted_string;

/// Maximum memory of a response, and of a list from all its pages, in bytes. A review of 10,000 files with 300,000
/// findings in one response takes 400 MB, a list of 100,000 artifacts 460 MB.
pub(super) const MAX_RESPONSE_MEMORY: u64 = 480 * 1024 * 1024;

/// Memory that an entry, an object or list, and a name take until they are reported, in bytes. Measured with responses
/// that contain only `"",`, `{"a":1},`, `[1],` and the like.
const ENTRY_MEMORY: u64 = 480;
const GROUP_MEMORY: u64 = 300;
const NAME_MEMORY: u64 = 100;

/// Returns the maximum memory that the values of a JSON body take, in bytes: the body's size, and an amount for each
/// punctuation mark outside of strings.
pub(super) fn estimate_memory(body: &[u8]) -> u64 {
    let (mut memory, mut position) = (body.len() as u64, 0);
    while let Some(literal) = find_quoted_string(body, position) {
        memory += estimate_punctuation_memory(body.get(position..literal.start).unwrap_or_default());
        position = literal.end;
    }
    memory + estimate_punctuation_memory(body.get(position..).unwrap_or_default())
}

/// Returns the memory of the values that this punctuation shows: a comma stands for an entry, an opening bracket or
/// brace for a list or object, and a colon for a name.
fn estimate_punctuation_memory(punctuation: &[u8]) -> u64 {
    punctuation
        .iter()
        .map(|byte| match byte {
            b',' => ENTRY_MEMORY,
            b'{' | b'[' => GROUP_MEMORY,
            b':' => NAME_MEMORY,
            _ => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_weigh_and_texts_only_as_much_as_they_are_long() {
        assert_eq!(estimate_memory(b"[1,1]"), 5 + GROUP_MEMORY + ENTRY_MEMORY);
        assert_eq!(
            estimate_memory(br#"{"a":[]}"#),
            8 + 2 * GROUP_MEMORY + NAME_MEMORY
        );
        assert_eq!(
            estimate_memory(br#"["{,:[","\",[",""]"#),
            18 + GROUP_MEMORY + 2 * ENTRY_MEMORY
        );
        assert_eq!(estimate_memory(b""), 0);
    }
}
