//! Globs over paths from the repository root, with the same syntax everywhere.

use globset::{Error, Glob, GlobBuilder};

/// Parses a glob. A `*` does not match `/`, `**` does, and `\` escapes the next character.
pub fn parse_glob(pattern: &str) -> Result<Glob, Error> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
}

/// Returns why a glob can never match a path from the repository root; `None` if it can.
pub fn explain_unmatchable_glob(pattern: &str) -> Option<&'static str> {
    if pattern.starts_with('!') {
        Some("a glob cannot be negated")
    } else if ["/", "./", "../"]
        .iter()
        .any(|prefix| pattern.starts_with(prefix))
    {
        Some("a path begins with the name of a file or directory at the repository root")
    } else if pattern.ends_with('/') {
        Some("a directory is not a file; end the glob with `/**`")
    } else if has_impossible_part(pattern) {
        Some("no part of a path is empty, `.` or `..`")
    } else {
        None
    }
}

/// Returns whether a part of the glob is empty, `.` or `..`. The alternatives between braces are not examined.
fn has_impossible_part(pattern: &str) -> bool {
    let mut start = 0;
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for (index, character) in pattern.char_indices() {
        match character {
            _ if is_escaped => {}
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '/' if depth == 0 => {
                if is_impossible_part(&pattern[start..index]) {
                    return true;
                }
                start = index + 1;
            }
            _ => {}
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    is_impossible_part(&pattern[start..])
}

/// Returns whether no file or directory of a repository can have this name.
fn is_impossible_part(part: &str) -> bool {
    matches!(part, "" | "." | "..")
}

/// Returns whether the glob has a part that matches several texts: a wildcard, a class or alternatives.
pub fn has_wildcard(pattern: &str) -> bool {
    let mut is_escaped = false;
    for character in pattern.chars() {
        if !is_escaped && matches!(character, '*' | '?' | '[' | '{') {
            return true;
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    false
}

/// Returns a glob that matches only this path: each character with a meaning in globs is escaped.
pub fn escape_glob(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len());
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '!' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escaped_characters_are_no_wildcards() {
        for pattern in ["a*", "a/?", "[p-q]", "{a,b}", "\\\\*"] {
            assert!(has_wildcard(pattern), "{pattern}");
        }
        for path in ["a", "a*", "[p-q]", "{a,b}", "\\*", "a\\"] {
            assert!(!has_wildcard(&escape_glob(path)), "{path}");
        }
    }

    #[test]
    fn star_stays_within_a_folder() {
        let matcher = parse_glob("sales/*.orch.yaml").unwrap().compile_matcher();
        assert!(matcher.is_match("sales/a.orch.yaml"));
        assert!(!matcher.is_match("sales/deep/a.orch.yaml"));
    }

    #[test]
    fn glob_that_matches_no_path_is_explained() {
        for pattern in [
            "./sales/**",
            "/sales/**",
            "../sales/**",
            "!sales/**",
            "sales/",
            "a//b",
            "a/../b",
            "a/.",
            "a/**/.",
            "",
            ".",
            "..",
            "{a,b}/..",
            "../{a,b}",
            "a/{b,c}//d",
        ] {
            assert!(explain_unmatchable_glob(pattern).is_some(), "{pattern}");
        }
        for pattern in [
            "sales/**",
            "**",
            ".platform/**",
            "*.orch.yaml",
            "{a,b}/!x",
            "{a,b//c}",
            "{a/,}b",
            "{a/./b,c}/d",
            ".*",
            "...",
            "a/..b/c.",
        ] {
            assert_eq!(explain_unmatchable_glob(pattern), None, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn literal_matches_its_path_alone(path in "[a-z*?\\[\\]{},!\\\\. ü/-]{1,20}", other in "[a-z*?\\[\\]{},!\\\\. ü/-]{1,20}") {
            let matcher = parse_glob(&escape_glob(&path)).unwrap().compile_matcher();
            prop_assert!(matcher.is_match(&path));
            prop_assert_eq!(matcher.is_match(&other), path == other);
        }
    }
}
