//! The names of code in the documents for developers exist in the sources.

use super::{read_program_sources, read_workspace_file};
use regex::Regex;
use std::collections::BTreeSet;

/// Returns the texts between backticks that are on one line.
fn code_spans(text: &str) -> Vec<&str> {
    let spans = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    // A path of a file is no name of code.
    spans.filter(|span| !span.contains('/')).collect()
}

/// Returns the names in these texts that the sources do not have: types and functions of methods such as
/// `Store::change`, and words with underscores.
fn find_unknown_names(texts: &[&str], sources: &str) -> BTreeSet<String> {
    let words: BTreeSet<&str> = Regex::new(r"\w+")
        .unwrap()
        .find_iter(sources)
        .map(|word| word.as_str())
        .collect();
    let functions: BTreeSet<&str> = Regex::new(r"\bfn (\w+)")
        .unwrap()
        .captures_iter(sources)
        .map(|function| function.get(1).unwrap().as_str())
        .collect();
    let methods = Regex::new(r"\b([A-Z]\w+)(?:<[^>]*>)?::([a-z]\w*)").unwrap();
    let terms = Regex::new(r"\b[a-z]+(?:_[a-z]+)+\b").unwrap();
    let mut unknown_names = BTreeSet::new();
    for text in texts {
        for method in methods.captures_iter(text) {
            if !words.contains(&method[1]) || !functions.contains(&method[2]) {
                unknown_names.insert(format!("{}::{}", &method[1], &method[2]));
            }
        }
        let unknown_terms = terms
            .find_iter(text)
            .map(|term| term.as_str())
            .filter(|term| !words.contains(term));
        unknown_names.extend(unknown_terms.map(str::to_owned));
    }
    unknown_names
}

#[test]
fn names_of_code_in_documents_for_developers_exist() {
    let sources = read_program_sources().concat();
    let testing = read_workspace_file("docs/TESTING.md");
    let (_, accepted_mutants) = testing.split_once("\n### Accepted mutants\n").unwrap();
    let architecture = read_workspace_file("docs/ARCHITECTURE.md");
    let mutants = read_workspace_file(".cargo/mutants.toml");
    let (_, excluded_mutants) = mutants.split_once("\nexclude_re = [\n").unwrap();
    let excluded_mutants = excluded_mutants.split("\n]\n").next().unwrap();
    let excluded_mutants: Vec<&str> = excluded_mutants.lines().collect();
    for (document, texts) in [
        ("docs/TESTING.md", code_spans(accepted_mutants)),
        ("docs/ARCHITECTURE.md", code_spans(&architecture)),
        (".cargo/mutants.toml", excluded_mutants),
    ] {
        assert!(texts.len() > 30, "{document}");
        let unknown_names = find_unknown_names(&texts, &sources);
        assert!(unknown_names.is_empty(), "{document}: {unknown_names:?}");
    }
}

#[test]
fn method_that_no_type_has_and_term_that_is_gone_are_unknown_names() {
    let sources = "struct Store; impl Store { fn change() {} } fn find_it() {}";
    let texts = [
        "Store::change",
        "Store<'_>::attempt",
        "find_it",
        "search_it",
        "a.rs",
    ];
    let unknown_names = find_unknown_names(&texts, sources);
    assert_eq!(
        unknown_names.into_iter().collect::<Vec<_>>(),
        ["Store::attempt", "search_it"]
    );
}
