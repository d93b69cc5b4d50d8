//! Patterns that readers stumbled over, counted in the sources and in the book: each number may only fall.

use super::style_counts::add_sources;
use super::{book, source_directories};
use regex::Regex;

/// Each pattern, its hits in the sources without tests, its hits in the book and README, and the text to write instead.
const PATTERNS: &[(&str, usize, usize, &str)] = &[
    (
        r"\b(writes|sends|fails|publishes|reads|sets|prints|changes|accepts|selects|lists) no [a-z]+",
        1,
        0,
        "does not write a file",
    ),
    (
        r"\bchanges? of the (gate|file|pipeline|configuration|rules)",
        0,
        0,
        "change to the gate",
    ),
    (r", as (the|it|a|an|they|this|there) ", 0, 0, ", because ..."),
    (
        r"\b(reviewed|evaluated|checked) by the rules",
        0,
        0,
        "against the rules",
    ),
    (
        r"\b(hidden|configuration|config) folder",
        0,
        0,
        "hidden directory",
    ),
    (r"\bone a line\b", 0, 0, "one per line"),
    (r"\bAfter this page\b", 0, 0, "This page explains"),
    (r"\bbeside\b", 0, 0, "next to, in the same directory as"),
    (r"\bleads? nowhere\b", 0, 0, "broken reference"),
    (r"\b(is|are) gone\b", 0, 0, "was removed"),
    (r"\b(left|leaves) out\b", 0, 0, "omitted, excluded, ignored"),
    (r"\bis not one to\b", 0, 0, "does not match"),
    (r"\bin force\b", 0, 0, "that applies to this run"),
    (r"(?m)(^|[.!?] )So ", 0, 0, "Therefore, or no word"),
    (r"\bby hand\b", 0, 0, "manually, in a terminal"),
    (r"\bthe problem above\b", 0, 0, "the next step for this cause"),
    (
        r"\bcounts? (as|for|against)\b",
        1,
        0,
        "is treated as, fails the gate",
    ),
    (r"\bends? with exit\b", 0, 0, "exits with"),
];

/// The pages that are generated from the sources, where their texts are counted already.
const GENERATED_PAGES: [&str; 2] = ["docs/book/reference.md", "docs/book/settings.md"];

#[test]
fn patterns_that_readers_stumble_over_only_become_fewer() {
    let mut files = Vec::new();
    for directory in source_directories() {
        add_sources(&directory, &mut files);
    }
    let mut sources = String::new();
    for (_, source) in files.iter().filter(|(path, _)| !path.ends_with("tests.rs")) {
        let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        sources.push_str(code);
        sources.push('\n');
    }
    let mut pages = String::new();
    for (page, text) in book::pages() {
        if !GENERATED_PAGES.contains(&page.as_str()) {
            pages.push_str(&text);
            pages.push('\n');
        }
    }
    assert!(sources.len() > 1_000_000 && pages.len() > 100_000);
    for (pattern, max_source_hits, max_page_hits, replacement) in PATTERNS {
        let regex = Regex::new(pattern).unwrap();
        for (place, text, max_hits) in [
            ("the sources", &sources, max_source_hits),
            ("the book", &pages, max_page_hits),
        ] {
            let hits: Vec<&str> = regex.find_iter(text).map(|hit| hit.as_str()).collect();
            assert!(
                hits.len() <= *max_hits,
                "{place}: {} of at most {max_hits} for {pattern}; write: {replacement}\n{hits:?}",
                hits.len()
            );
        }
    }
}
