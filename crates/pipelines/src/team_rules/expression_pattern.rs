//! Compiles the patterns of an expression.

use globset::GlobMatcher;
use regex::{Regex, RegexBuilder};
use sluicegate_base::globs::parse_glob;

/// Maximum size of a compiled regular expression, in bytes.
const MAX_REGEX_BYTES: usize = 1 << 20;

/// Compiles a regular expression. No pattern takes long, because its size is limited and `regex` matches in linear
/// time. An error contains only the last line of the library's message, because the lines before it show the pattern.
pub(super) fn compile_regex(pattern: &str) -> Result<Regex, String> {
    let regex = RegexBuilder::new(pattern)
        .size_limit(MAX_REGEX_BYTES)
        .dfa_size_limit(MAX_REGEX_BYTES)
        .build();
    regex.map_err(|error| {
        let reason = error.to_string();
        let reason = reason
            .lines()
            .last()
            .unwrap_or_default()
            .trim_start_matches("error: ");
        format!("the regular expression is not valid: {reason}")
    })
}

pub(super) fn compile_glob(pattern: &str) -> Result<GlobMatcher, String> {
    parse_glob(pattern)
        .map(|glob| glob.compile_matcher())
        .map_err(|error| format!("the glob is not valid: {}", error.kind()))
}
