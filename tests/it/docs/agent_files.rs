//! `llms.txt` and `AGENTS.md`: their lists of pages come from the index of the book, and their commands exist.

use super::book::split_words;
use super::{hold, read_workspace_file};
use clap::CommandFactory as _;
use sluicegate::job::cli::Cli;

/// A page in the index of the book.
struct IndexEntry {
    title: String,
    file: String,
    description: String,
}

impl IndexEntry {
    /// Returns the line for a list of pages.
    fn to_line(&self) -> String {
        let address = concat!(env!("CARGO_PKG_REPOSITORY"), "/raw/main");
        format!(
            "- [{}]({address}/{}): {}\n",
            self.title, self.file, self.description
        )
    }
}

/// Reads the numbered list of pages in the index, and the rules, which have a page outside the book.
fn index_entries() -> Vec<IndexEntry> {
    let index = read_workspace_file("docs/book/README.md");
    let list = index.split("\n## Pages\n").nth(1).unwrap();
    let mut items: Vec<String> = Vec::new();
    for line in list.trim().lines() {
        let number = line
            .split_once(". ")
            .filter(|(number, _)| number.parse::<u32>().is_ok());
        match (number, items.last_mut()) {
            (Some((_, item)), _) => items.push(item.to_owned()),
            (None, Some(item)) if line.starts_with("   ") => {
                item.push(' ');
                item.push_str(line.trim());
            }
            _ => break,
        }
    }
    let mut entries: Vec<IndexEntry> = items.iter().flat_map(|item| entries_of_item(item)).collect();
    entries.push(IndexEntry {
        title: "Rules".to_owned(),
        file: "docs/RULES.md".to_owned(),
        description: "every rule, its configuration, and how to fix its findings.".to_owned(),
    });
    entries
}

/// Returns the pages that an item links. The text after a single link describes it, and the text before several links
/// describes them all.
fn entries_of_item(item: &str) -> Vec<IndexEntry> {
    let links: Vec<(&str, &str)> = item
        .split('[')
        .skip(1)
        .filter_map(|part| {
            part.split_once("](")
                .map(|(title, rest)| (title, rest.split(')').next().unwrap()))
        })
        .collect();
    let before = item.split('[').next().unwrap().trim();
    let after = item
        .rsplit(')')
        .next()
        .unwrap()
        .trim_start_matches([':', ','])
        .trim();
    links
        .iter()
        .map(|&(title, file)| IndexEntry {
            title: title.to_owned(),
            file: format!("docs/book/{file}"),
            description: if links.len() == 1 {
                after.to_owned()
            } else {
                format!("{before} {title}.")
            },
        })
        .collect()
}

#[test]
fn llms_txt_lists_pages_of_book() {
    let entries = index_entries();
    assert!(entries.len() > 25, "the index was not read");
    let lines: Vec<String> = entries.iter().map(IndexEntry::to_line).collect();
    hold("llms.txt", "pages", &lines.concat());
    // Every page of the book is in the index.
    for (page, _) in super::book::pages() {
        let is_listed = entries.iter().any(|entry| entry.file == page);
        assert!(
            is_listed || ["README.md", "docs/book/README.md"].contains(&page.as_str()),
            "{page} is missing in the index"
        );
    }
}

#[test]
fn agents_md_links_pages_that_agents_need() {
    let needed = [
        "Reviewing",
        "Exit codes",
        "Troubleshooting",
        "Settings",
        "Reference",
        "Rules",
    ];
    let entries = index_entries();
    let needed_entries = needed.map(|title| entries.iter().find(|entry| entry.title == title).unwrap());
    let lines = needed_entries.map(IndexEntry::to_line);
    hold("AGENTS.md", "pages", &lines.concat());
}

#[test]
fn commands_of_agents_md_exist() {
    let text = read_workspace_file("AGENTS.md");
    let instructions: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    assert_eq!(instructions.len(), 10);
    let commands = instructions
        .iter()
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    let commands: Vec<&str> = commands
        .filter(|command| command.starts_with("sluicegate "))
        .collect();
    assert!(commands.len() >= 8, "{commands:?}");
    for command in commands {
        let parsed = Cli::command().try_get_matches_from(split_words(command));
        assert!(parsed.is_ok(), "{command}: {}", parsed.unwrap_err());
    }
}
