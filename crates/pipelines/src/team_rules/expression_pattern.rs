//! Compiles the patterns of an expression.

use super::expression_function::Function;
use globset::GlobSet;
use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};
use sluicegate_base::globs::parse_glob;

/// Maximum size of all literal regular expressions in a file, in compiled bytes.
pub(super) const MAX_REGEX_BYTES_OF_FILE: usize = 128 << 20;

/// Maximum size of a literal regular expression, in compiled bytes. `\w` needs about 40 KiB, because it includes the
/// letters of every script.
const MAX_LITERAL_BYTES: usize = 1 << 20;

/// First limit on the size of a literal regular expression, in compiled bytes; doubles with each attempt.
const FIRST_LITERAL_BYTES: usize = 1 << 10;

/// Maximum size of a regular expression that is not a literal, in compiled bytes. It is compiled at each evaluation.
const MAX_COMPUTED_BYTES: usize = 128 << 10;

/// A pattern for texts: a regular expression or a glob.
#[derive(Debug)]
pub(super) struct TextPattern {
    matcher: PatternMatcher,
    /// Number of characters and classes in the pattern, including repetitions. In the worst case, each character of a
    /// text is compared with all of them.
    pub position_count: usize,
}

#[derive(Debug)]
enum PatternMatcher {
    Regex(Regex),
    Glob(GlobSet),
}

impl TextPattern {
    /// Compiles the literal pattern of `matches` or `glob`. `remaining_bytes` limits the regular expressions of the
    /// file. The library does not return the size of a regular expression, so the limit on its size is doubled until it
    /// is large enough, and each attempt counts.
    pub(super) fn compile_literal(
        function: Function,
        pattern: &str,
        remaining_bytes: &mut usize,
    ) -> Result<Self, String> {
        if function != Function::Matches {
            return compile_glob(pattern);
        }
        let mut max_bytes = FIRST_LITERAL_BYTES;
        loop {
            *remaining_bytes = remaining_bytes
                .checked_sub(max_bytes)
                .ok_or("the regular expressions of the file are too large together")?;
            match compile_regex(pattern, max_bytes) {
                Err(regex::Error::CompiledTooBig(_)) if max_bytes < MAX_LITERAL_BYTES => max_bytes *= 2,
                result => return result.map_err(|error| describe_regex_error(&error)),
            }
        }
    }

    /// Compiles the pattern of `matches` or `glob` during the evaluation.
    pub(super) fn compile_computed(function: Function, pattern: &str) -> Result<Self, String> {
        if function != Function::Matches {
            return compile_glob(pattern);
        }
        compile_regex(pattern, MAX_COMPUTED_BYTES).map_err(|error| describe_regex_error(&error))
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        match &self.matcher {
            PatternMatcher::Regex(regex) => regex.is_match(text),
            PatternMatcher::Glob(glob) => glob.is_match(text),
        }
    }
}

fn compile_regex(pattern: &str, max_bytes: usize) -> Result<TextPattern, regex::Error> {
    let regex = RegexBuilder::new(pattern)
        .size_limit(max_bytes)
        .dfa_size_limit(MAX_LITERAL_BYTES)
        .build()?;
    let parsed_pattern = regex_syntax::parse(pattern);
    Ok(TextPattern {
        matcher: PatternMatcher::Regex(regex),
        position_count: parsed_pattern.map_or(pattern.len(), |hir| count_positions(&hir)),
    })
}

/// Describes an error in a regular expression. It contains only the last line of the library's message, because the
/// lines before it show the pattern.
fn describe_regex_error(error: &regex::Error) -> String {
    let reason = error.to_string();
    let reason = match error {
        regex::Error::CompiledTooBig(_) => {
            "it is too large; `[A-Za-z0-9_]` is smaller than `\\w`, which includes the letters of every script"
        }
        _ => reason.lines().last().unwrap_or_default(),
    };
    let reason = reason.trim_start_matches("error: ");
    format!("the regular expression is not valid: {reason}")
}

/// Compiles a glob to a set of one glob: for deeply nested alternatives, a set returns an error, but a matcher panics.
fn compile_glob(pattern: &str) -> Result<TextPattern, String> {
    let glob = parse_glob(pattern).map_err(|error| format!("the glob is not valid: {}", error.kind()))?;
    let glob = GlobSet::builder()
        .add(glob)
        .build()
        .map_err(|_| "the glob is not valid: it is too large or too deeply nested")?;
    Ok(TextPattern {
        matcher: PatternMatcher::Glob(glob),
        position_count: pattern.len(),
    })
}

/// Returns the number of characters and classes in a pattern, with repetitions written out.
fn count_positions(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(_) => 1,
        HirKind::Capture(capture) => count_positions(&capture.sub),
        HirKind::Repetition(repetition) => {
            let repeats = repetition.max.unwrap_or(repetition.min.max(1));
            count_positions(&repetition.sub).saturating_mul(usize::try_from(repeats).unwrap_or(usize::MAX))
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(count_positions).fold(0, usize::saturating_add)
        }
    }
}
