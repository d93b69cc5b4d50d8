//! The language of the project, counted: each number may only fall. What the terms mean is in the book's glossary.

use super::{book, commands, help, read_workspace_file, source_directories};
use regex::Regex;
use std::fs;
use std::path::{Path, PathBuf};

/// Doc comments that begin with a relative word, a pronoun or a preposition in place of a noun or a verb.
const BARE_STARTS: usize = 158;
/// Doc comments of functions that do not begin with a verb in the third person.
const FUNCTIONS_WITHOUT_VERB: usize = 35;
/// Doc comments of at most five words.
const SHORT_COMMENTS: usize = 566;
/// Lines of the book's prose that are longer than 120 characters.
const LONG_LINES: usize = 1;

/// Terms to avoid in help and book, the number of uses, and the term to write.
const TERMS: [(&str, usize, &str); 12] = [
    (r"\bmend(s|ed)?\b", 0, "fix"),
    (r"\bstands?\b", 0, "is, appears"),
    (r"\b(is|are|was) told\b|\btells?\b", 0, "is reported, reports"),
    (r"\blaptops?\b", 0, "local run"),
    (r"\bat hand\b", 0, "available locally"),
    (r"\bsays? so\b", 0, "reports it"),
    (r"\basked for\b|\basks? for\b", 0, "requested, requests"),
    (r"\b(is|are) none\b", 0, "is missing, is not a"),
    (r"\bas it is\b|\bas they are\b", 0, "unchanged"),
    (r"\bof (its|their) own\b", 1, "separate"),
    (r"\btries after\b", 0, "retries"),
    (r"\banswers?\b", 0, "response, responds"),
];

/// Adds the Rust files below a directory, each with its path and its content.
pub(super) fn add_sources(directory: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_sources(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            files.push((path, text));
        }
    }
}

/// A doc comment, and the line of code below it.
struct DocComment {
    text: String,
    below: String,
}

fn doc_comments() -> Vec<DocComment> {
    let mut files = Vec::new();
    for folder in source_directories() {
        add_sources(&folder, &mut files);
    }
    assert!(files.len() > 500, "only {} files were read", files.len());
    let mut comments = Vec::new();
    for (_, source) in files {
        let mut text = String::new();
        for line in source.lines().map(str::trim) {
            if let Some(part) = line.strip_prefix("///") {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(part.trim());
            } else if !text.is_empty() && !line.starts_with("#[") {
                comments.push(DocComment {
                    text: std::mem::take(&mut text),
                    below: line.to_owned(),
                });
            }
        }
    }
    comments
}

fn count_of(label: &str, values: &[String], most: usize) {
    assert!(
        values.len() <= most,
        "{label}: {} of at most {most}; for example:\n{}",
        values.len(),
        values
            .iter()
            .rev()
            .take(10)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn doc_comments_begin_with_a_noun_or_a_verb() {
    let bare = Regex::new(
        r"^(What|Which|Where|How|Whether|That|Those|It|Its|One|None|Nothing|Of|As|By|If|All of)\b",
    )
    .unwrap();
    let function = Regex::new(r"^(pub(\([a-z: ]+\))? )?(const |async )*fn ").unwrap();
    let verb = Regex::new(r"^[A-Z][a-z]+s\b").unwrap();
    let comments = doc_comments();
    let texts = |takes: &dyn Fn(&DocComment) -> bool| -> Vec<String> {
        let taken = comments.iter().filter(|comment| takes(comment));
        taken
            .map(|comment| format!("{} | {}", comment.text, comment.below))
            .collect()
    };
    count_of(
        "bare starts",
        &texts(&|entry| bare.is_match(&entry.text)),
        BARE_STARTS,
    );
    let no_verb = texts(&|entry| function.is_match(&entry.below) && !verb.is_match(&entry.text));
    count_of("functions without a verb", &no_verb, FUNCTIONS_WITHOUT_VERB);
    let short = texts(&|entry| entry.text.split_whitespace().count() <= 5);
    count_of("short comments", &short, SHORT_COMMENTS);
}

/// The prose of the book, without code, tables and markers.
fn prose() -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for (page, text) in book::pages() {
        let mut is_code = false;
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                is_code = !is_code;
            } else if !is_code && !line.starts_with(['|', '<', '!']) {
                lines.push((page.clone(), line.to_owned()));
            }
        }
    }
    lines
}

#[test]
fn lines_of_the_book_are_short() {
    let long = prose().into_iter().filter(|(page, line)| {
        line.chars().count() > 120 && !line.contains("](") && !page.contains("reference.md")
    });
    let long: Vec<String> = long.map(|(page, line)| format!("{page}: {line}")).collect();
    count_of("long lines", &long, LONG_LINES);
}

#[test]
fn help_and_book_use_the_terms_of_the_glossary() {
    let helps = commands()
        .iter()
        .flat_map(super::flags)
        .map(|arg| help(&arg))
        .collect::<Vec<_>>();
    let helps = helps.into_iter().map(|text| ("help".to_owned(), text));
    let texts: Vec<(String, String)> = prose()
        .into_iter()
        .filter(|(page, _)| !page.contains("reference.md") && !page.contains("glossary.md"))
        .chain(helps)
        .collect();
    for (term, most, instead) in TERMS {
        let pattern = Regex::new(term).unwrap();
        let matches = texts.iter().filter(|(_, text)| pattern.is_match(text));
        let matches: Vec<String> = matches.map(|(page, text)| format!("{page}: {text}")).collect();
        count_of(&format!("{term}, write: {instead}"), &matches, most);
    }
}

#[test]
fn glossary_is_sorted_and_has_each_term_once() {
    let page = read_workspace_file("docs/book/glossary.md");
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    let terms: Vec<String> = rows
        .filter_map(|row| row.split('|').nth(1))
        .map(|term| term.trim().to_lowercase())
        .collect();
    let mut sorted = terms.clone();
    sorted.sort();
    sorted.dedup();
    assert!(terms.len() >= 30, "{}", terms.len());
    assert_eq!(terms, sorted);
}
