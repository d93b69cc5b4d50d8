//! Lists the rules of a rules file with their state and configuration, to compare two versions of the file.

use super::rule_set::{RuleSet, RuleState};
use super::rules_file::{self, RuleEntry};
use sluicegate_yaml::{DocumentError, NodeRef, Tree};
use std::collections::HashSet;

/// A rule in a rules file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleOutline {
    pub id: String,
    pub state: RuleState,
    /// The fields of `config` as written; a list or a map is only described.
    pub config: Vec<(String, String)>,
}

/// Returns the enabled and disabled rules of a rules file, in file order. If several entries have the same id, returns
/// one of them, preferably an enabled one.
pub fn list_rules(bytes: &[u8]) -> Result<Vec<RuleOutline>, DocumentError> {
    let tree = Tree::parse(bytes)?;
    let entries = rules_file::parse_rule_entries(tree.root())?;
    let rule_set = RuleSet::parse(bytes);
    let mut seen_ids = HashSet::new();
    let (enabled_entries, disabled_entries): (Vec<_>, Vec<_>) =
        entries.iter().partition(|entry| entry.is_enabled);
    let mut unique_entries: Vec<&RuleEntry<'_, '_>> = enabled_entries
        .into_iter()
        .chain(disabled_entries)
        .filter(|entry| seen_ids.insert(entry.id))
        .collect();
    unique_entries.sort_by_key(|entry| entry.node.position());
    Ok(unique_entries
        .into_iter()
        .map(|entry| outline_rule(entry, &rule_set))
        .collect())
}

/// Returns the state and the configuration of a rule, to compare versions of the rules file. A value that is a list or
/// a map is only described.
fn outline_rule(entry: &RuleEntry<'_, '_>, rule_set: &RuleSet) -> RuleOutline {
    let mut config = Vec::new();
    for (name, _, node) in entry.node.get("config").into_iter().flat_map(NodeRef::entries) {
        let value = node.text().unwrap_or("a list or a map");
        config.push((name.to_owned(), value.to_owned()));
    }
    RuleOutline {
        id: entry.id.to_owned(),
        state: rule_set.state(entry.id),
        config,
    }
}
