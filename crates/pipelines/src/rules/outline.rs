//! Lists the rules of a rules file with their state and configuration, to compare two versions of the file.

use super::rule_set::{RuleSet, RuleState};
use super::rules_file::{self, RuleEntry};
use crate::yaml::{DocumentError, NodeRef, Tree};
use std::collections::HashSet;

/// A rule in a rules file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleOutline {
    pub id: String,
    pub state: RuleState,
    /// The fields of `config` as written; a list or a map is only described.
    pub config: Vec<(String, String)>,
}

/// Returns the rules of a file, each id once and in file order, both enabled and disabled.
pub fn outline(bytes: &[u8]) -> Result<Vec<RuleOutline>, DocumentError> {
    let tree = Tree::read(bytes, None)?;
    let entries = rules_file::read_entries(tree.root())?;
    let set = RuleSet::parse(bytes);
    let mut seen_ids = HashSet::new();
    let enabled = entries.iter().filter(|entry| entry.is_enabled);
    let disabled = entries.iter().filter(|entry| !entry.is_enabled);
    let mut entries_to_list: Vec<&RuleEntry<'_, '_>> = enabled
        .chain(disabled)
        .filter(|entry| seen_ids.insert(entry.id))
        .collect();
    entries_to_list.sort_by_key(|entry| entry.node.position());
    Ok(entries_to_list
        .into_iter()
        .map(|entry| describe_entry(entry, &set))
        .collect())
}

fn describe_entry(entry: &RuleEntry<'_, '_>, set: &RuleSet) -> RuleOutline {
    let config = entry.node.get("config").into_iter().flat_map(NodeRef::entries);
    let field = |(name, _, value): (&str, _, NodeRef<'_, '_>)| {
        let value = value.text().unwrap_or("a list or a map");
        (name.to_owned(), value.to_owned())
    };
    RuleOutline {
        id: entry.id.to_owned(),
        state: set.state(entry.id),
        config: config.map(field).collect(),
    }
}
