//! Finds all problems of a rules file, each with its position.
//!
//! A review reports only the first problem of each rule. The author of the file needs all of them, with positions and
//! suggestions.

use super::error::EvaluationError;
use super::registry;
use super::rule::RuleDocumentation;
use super::rule_config::RuleConfig;
use super::rules_file::{MAX_RULES, RuleEntry, is_level_missing, parse_level};
use sluicegate_base::text;
use sluicegate_yaml::{DocumentError, NodeRef, Position, Tree, format_place, shorten};
use std::collections::{HashMap, HashSet};

/// The keys of an entry of `rules`.
const ENTRY_KEYS: [&str; 4] = ["id", "enabled", "enforcementLevel", "config"];

/// A problem in a rules file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintProblem {
    pub position: Position,
    pub message: String,
    /// The evaluation error that the problem causes; `None` if the platform ignores the problem.
    pub error_type: Option<&'static str>,
    /// Whether the problem causes an evaluation error now, and not only when the rule is enabled.
    pub is_error: bool,
    /// A suggestion for how to fix the problem.
    pub help: Option<String>,
}

impl LintProblem {
    /// Returns the place of the problem in the file `name`, as `NAME:LINE:COLUMN`.
    pub fn format_place(&self, name: &str) -> String {
        format_place(name, Some(self.position))
    }
}

/// Returns all problems of a rules file, in file order.
pub fn lint_rules_file(bytes: &[u8]) -> Vec<LintProblem> {
    let mut linter = RulesFileLinter::default();
    match Tree::parse(bytes) {
        Ok(tree) => linter.check_file(tree.root()),
        Err(error) => linter.add_parse_error(&error),
    }
    linter.problems.sort_by_key(|problem| problem.position);
    linter.problems
}

#[derive(Default)]
struct RulesFileLinter {
    problems: Vec<LintProblem>,
    /// The ids whose configuration was checked, enabled or not. Each is checked once, because compiling an expression
    /// is slow.
    checked_configs: HashSet<(&'static str, bool)>,
}

impl RulesFileLinter {
    /// Adds the error that the file or one of its entries cannot be parsed, which makes the entire file unusable.
    fn add_parse_error(&mut self, error: &DocumentError) {
        let position = error.position.unwrap_or(Position { line: 1, column: 1 });
        self.add_file_error(position, &error.message);
    }

    /// Adds a problem that makes the entire file unusable. It is always an error, because it affects all rules.
    fn add_file_error(&mut self, position: Position, message: &str) {
        let error = EvaluationError::RulesFileParse(DocumentError {
            message: message.to_owned(),
            position: None,
        });
        let is_enabled = true;
        self.add_evaluation_error(position, &error, is_enabled);
    }

    /// Adds the problem that a rule cannot be evaluated, which is an error only if the rule is enabled. A suggestion at
    /// the end of the error's message becomes the help of the problem.
    fn add_evaluation_error(&mut self, position: Position, error: &EvaluationError, is_enabled: bool) {
        let message = error.to_string();
        let help = error.suggestion();
        let message_start = help.as_ref().and_then(|help| message.strip_suffix(help.as_str()));
        self.problems.push(LintProblem {
            position,
            message: message_start
                .map_or(&*message, |start| start.trim_end_matches(": "))
                .to_owned(),
            error_type: Some(error.error_type()),
            is_error: is_enabled,
            help,
        });
    }

    /// Checks the rules file and each of its entries. Checks no entries if the list of rules is missing or too long.
    fn check_file(&mut self, root: NodeRef<'_, '_>) {
        self.check_keys(root, &["rules"], "the file");
        let Some(rules) = root.get("rules") else {
            return self.add_file_error(root.position(), "the list `rules` is missing");
        };
        let Some(items) = rules.items() else {
            return self.add_file_error(rules.position(), "`rules` is not a list");
        };
        if items.len() > MAX_RULES {
            let message = format!("the file has {} rules; the maximum is {MAX_RULES}", items.len());
            return self.add_file_error(rules.position(), &message);
        }
        let mut enabled_lines: HashMap<&str, u32> = HashMap::new();
        for node in items {
            match RuleEntry::from_node(node) {
                Ok(entry) => {
                    self.check_entry(&entry);
                    self.check_duplicate(&entry, &mut enabled_lines);
                }
                Err(error) => self.add_parse_error(&error),
            }
        }
    }

    /// Checks an entry: its keys, its rule, its level and its configuration. If several entries have the same id, the
    /// configuration is checked only for the first entry that is enabled and the first that is disabled, because
    /// compiling an expression is slow.
    fn check_entry(&mut self, entry: &RuleEntry<'_, '_>) {
        let id = shorten(entry.id);
        self.check_keys(entry.node, &ENTRY_KEYS, &format!("the rule `{id}`"));
        let Some(rule) = registry::find_rule(entry.id) else {
            let error = EvaluationError::ValidatorNotFound {
                id: id.into_owned(),
                is_enabled: entry.is_enabled,
                nearest: registry::find_nearest_rule_id(entry.id),
            };
            return self.add_evaluation_error(key_position(entry.node, "id"), &error, entry.is_enabled);
        };
        let documentation = rule.documentation();
        if parse_level(entry).is_none() {
            let error = EvaluationError::InvalidEnforcementLevel {
                id: documentation.id,
                is_missing: is_level_missing(entry),
            };
            self.add_evaluation_error(
                key_position(entry.node, "enforcementLevel"),
                &error,
                entry.is_enabled,
            );
        }
        let config = entry.node.get("config");
        if self.checked_configs.insert((documentation.id, entry.is_enabled))
            && let Err(error) = rule.prepare(&RuleConfig::new(documentation.id, config))
        {
            self.add_evaluation_error(
                config_position(entry.node, documentation),
                &error,
                entry.is_enabled,
            );
        }
        if let Some(config) = config {
            let known_fields: Vec<&str> = documentation.config.iter().map(|field| field.name).collect();
            self.check_keys(
                config,
                &known_fields,
                &format!("the config of `{}`", documentation.id),
            );
        }
    }

    /// Adds a problem for each unknown key of a map. A key that resembles a known key is an error, because it is
    /// probably misspelled. `owner` names the map in the message.
    fn check_keys(&mut self, map: NodeRef<'_, '_>, known_keys: &[&str], owner: &str) {
        for (key, position, _) in map.entries().filter(|(key, ..)| !known_keys.contains(key)) {
            let nearest = text::find_nearest_word(key, known_keys);
            self.problems.push(LintProblem {
                position,
                message: format!("{owner} has an unknown key `{}`, which is ignored", shorten(key)),
                error_type: None,
                is_error: nearest.is_some(),
                help: nearest.map(text::did_you_mean),
            });
        }
    }

    /// Adds an error if an earlier entry also enables the rule, because a rule that is enabled twice is not evaluated.
    /// The evaluation error is created only for its type; the message names the line of the first entry.
    fn check_duplicate<'t>(&mut self, entry: &RuleEntry<'t, '_>, enabled_lines: &mut HashMap<&'t str, u32>) {
        if !entry.is_enabled {
            return;
        }
        let position = key_position(entry.node, "id");
        let Some(first_line) = enabled_lines.insert(entry.id, position.line) else {
            return;
        };
        // Each further duplicate refers to the first entry as well.
        enabled_lines.insert(entry.id, first_line);
        let error = EvaluationError::DuplicateEnabledRule {
            id: shorten(entry.id).into_owned(),
            times: 2,
        };
        self.problems.push(LintProblem {
            position,
            message: format!(
                "the rule `{}` is already enabled on line {first_line}",
                shorten(entry.id)
            ),
            error_type: Some(error.error_type()),
            is_error: true,
            help: Some("enable the rule only once".to_owned()),
        });
    }
}

/// Returns the position of a key's value, or of the map if the key is missing.
fn key_position(map: NodeRef<'_, '_>, key: &str) -> Position {
    map.get(key).unwrap_or(map).position()
}

/// Returns the position for a problem in the configuration: that of its first known field, otherwise of `config`,
/// otherwise of the entry.
fn config_position(entry: NodeRef<'_, '_>, documentation: &RuleDocumentation) -> Position {
    let Some(config) = entry.get("config") else {
        return entry.position();
    };
    documentation
        .config
        .iter()
        .find_map(|field| config.get(field.name))
        .unwrap_or(config)
        .position()
}
