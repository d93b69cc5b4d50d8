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

/// The words and the functions of the sources.
struct SourceNames<'s> {
    words: BTreeSet<&'s str>,
    functions: BTreeSet<&'s str>,
}

impl<'s> SourceNames<'s> {
    fn from_sources(sources: &'s str) -> Self {
        let word = Regex::new(r"\w+").unwrap();
        let function = Regex::new(r"\bfn (\w+)").unwrap();
        Self {
            words: word.find_iter(sources).map(|found| found.as_str()).collect(),
            functions: function
                .captures_iter(sources)
                .map(|found| found.get(1).unwrap().as_str())
                .collect(),
        }
    }

    /// Returns the names in these texts that the sources do not have: types and functions of methods such as
    /// `Store::change`, and words with underscores.
    fn find_unknown_names(&self, texts: &[&str]) -> BTreeSet<String> {
        let methods = Regex::new(r"\b([A-Z]\w+)(?:<[^>]*>)?::([a-z]\w*)").unwrap();
        let terms = Regex::new(r"\b[a-z]+(?:_[a-z]+)+\b").unwrap();
        let mut unknown_names = BTreeSet::new();
        for text in texts {
            for method in methods.captures_iter(text) {
                if !self.words.contains(&method[1]) || !self.functions.contains(&method[2]) {
                    unknown_names.insert(format!("{}::{}", &method[1], &method[2]));
                }
            }
            let unknown_terms = terms
                .find_iter(text)
                .map(|term| term.as_str())
                .filter(|term| !self.words.contains(term));
            unknown_names.extend(unknown_terms.map(str::to_owned));
        }
        unknown_names
    }
}

#[test]
fn names_of_code_in_documents_for_developers_exist() {
    let sources = read_program_sources().concat();
    let source_names = SourceNames::from_sources(&sources);
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
        let unknown_names = source_names.find_unknown_names(&texts);
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
    let unknown_names = SourceNames::from_sources(sources).find_unknown_names(&texts);
    assert_eq!(
        unknown_names.into_iter().collect::<Vec<_>>(),
        ["Store::attempt", "search_it"]
    );
}

/// Returns the names and versions of the JSON schemas in a text of code, without `sluicegate.`.
fn list_schema_names(sources: &str) -> BTreeSet<String> {
    let schema = Regex::new(r#""sluicegate\.([a-z-]+/v[0-9]+)""#).unwrap();
    schema
        .captures_iter(sources)
        .map(|found| found[1].to_owned())
        .collect()
}

#[test]
fn support_page_lists_every_schema_of_a_json_document() {
    let names = list_schema_names(&read_program_sources().join("\n"));
    assert!(names.len() > 15, "{names:?}");
    let page = read_workspace_file("SUPPORT.md");
    let stable = page
        .split("## Stable")
        .nth(1)
        .unwrap()
        .split("## ")
        .next()
        .unwrap();
    for name in names {
        let (short_name, version) = name.split_once('/').unwrap();
        let is_listed = stable.contains(&format!("`sluicegate.{name}`"))
            || version == "v1" && stable.contains(&format!("`{short_name}`"));
        // The program reads version 1 of a report only to refuse it.
        assert!(is_listed || name == "report/v1", "{name}");
    }
}
