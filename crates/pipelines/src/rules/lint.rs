//! Finds all problems of a rules file, each with its position.
//!
//! A review reports only the first problem of each rule. The author of the file needs all of them, with positions and
//! suggestions.

use super::config::Config;
use super::error::EvaluationError;
use super::registry;
use super::rule::Documentation;
use super::rules_file::{MAX_RULES, RuleEntry, level};
use crate::yaml::{DocumentError, NodeRef, Position, Tree, shortened};
use sluicegate_base::text;
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
    /// Whether it causes an evaluation error now, and not only when the rule is enabled.
    pub is_error: bool,
    /// A suggestion how to fix the problem.
    pub help: Option<String>,
}

/// Returns all problems of a rules file, in file order.
pub fn lint(bytes: &[u8]) -> Vec<LintProblem> {
    let mut lint = Lint::default();
    match Tree::read(bytes, None) {
        Ok(tree) => lint.file(tree.root()),
        Err(error) => lint.unreadable(&error),
    }
    lint.problems.sort_by_key(|problem| problem.position);
    lint.problems
}

#[derive(Default)]
struct Lint {
    problems: Vec<LintProblem>,
    /// The ids whose configuration was checked, enabled or not. Each is checked once, because compiling an expression
    /// is slow.
    configured: HashSet<(&'static str, bool)>,
}

impl Lint {
    fn unreadable(&mut self, error: &DocumentError) {
        let position = error.position.unwrap_or(Position { line: 1, column: 1 });
        self.of_file(position, &error.message);
    }

    /// Adds a problem that makes the entire file unusable.
    fn of_file(&mut self, position: Position, message: &str) {
        let error = EvaluationError::RulesFileParse(DocumentError {
            message: message.to_owned(),
            position: None,
        });
        self.error(position, &error, true);
    }

    fn error(&mut self, position: Position, error: &EvaluationError, is_enabled: bool) {
        let message = error.to_string();
        let help = error.suggestion();
        let start = help.as_ref().and_then(|help| message.strip_suffix(help.as_str()));
        self.problems.push(LintProblem {
            position,
            message: start
                .map_or(&*message, |start| start.trim_end_matches(": "))
                .to_owned(),
            error_type: Some(error.error_type()),
            is_error: is_enabled,
            help,
        });
    }

    fn file(&mut self, root: NodeRef<'_, '_>) {
        self.keys(root, &["rules"], "the file");
        let Some(rules) = root.get("rules") else {
            return self.of_file(root.position(), "the list `rules` is missing");
        };
        let Some(items) = rules.items() else {
            return self.of_file(rules.position(), "`rules` is not a list");
        };
        if items.len() > MAX_RULES {
            let message = format!("the file has {} rules; the maximum is {MAX_RULES}", items.len());
            return self.of_file(rules.position(), &message);
        }
        let mut enabled: HashMap<&str, u32> = HashMap::new();
        for node in items {
            match RuleEntry::read(node) {
                Ok(entry) => {
                    self.entry(&entry);
                    self.twice(&entry, &mut enabled);
                }
                Err(error) => self.unreadable(&error),
            }
        }
    }

    fn entry(&mut self, entry: &RuleEntry<'_, '_>) {
        let id = shortened(entry.id);
        self.keys(entry.node, &ENTRY_KEYS, &format!("the rule `{id}`"));
        let Some(rule) = registry::find(entry.id) else {
            let error = EvaluationError::ValidatorNotFound {
                id: id.into_owned(),
                nearest: registry::nearest(entry.id),
            };
            return self.error(place(entry.node, "id"), &error, entry.is_enabled);
        };
        let documentation = rule.documentation();
        if level(entry).is_none() {
            let error = EvaluationError::InvalidEnforcementLevel { id: documentation.id };
            self.error(place(entry.node, "enforcementLevel"), &error, entry.is_enabled);
        }
        let config = entry.node.get("config");
        if self.configured.insert((documentation.id, entry.is_enabled))
            && let Err(error) = rule.prepare(&Config::new(documentation.id, config))
        {
            self.error(
                place_of_config(entry.node, documentation),
                &error,
                entry.is_enabled,
            );
        }
        if let Some(config) = config {
            let known: Vec<&str> = documentation.config.iter().map(|field| field.name).collect();
            self.keys(config, &known, &format!("the config of `{}`", documentation.id));
        }
    }

    /// Adds unknown keys; a key that resembles a known one is an error, because it is probably misspelled.
    fn keys(&mut self, map: NodeRef<'_, '_>, known: &[&str], of: &str) {
        for (key, position, _) in map.entries().filter(|(key, ..)| !known.contains(key)) {
            let nearest = text::find_nearest(key, known);
            self.problems.push(LintProblem {
                position,
                message: format!("{of} has an unknown key `{}`, which is ignored", shortened(key)),
                error_type: None,
                is_error: nearest.is_some(),
                help: nearest.map(text::did_you_mean),
            });
        }
    }

    fn twice<'t>(&mut self, entry: &RuleEntry<'t, '_>, enabled: &mut HashMap<&'t str, u32>) {
        if !entry.is_enabled {
            return;
        }
        let position = place(entry.node, "id");
        let Some(first) = enabled.insert(entry.id, position.line) else {
            return;
        };
        enabled.insert(entry.id, first);
        let error = EvaluationError::DuplicateEnabledRule {
            id: shortened(entry.id).into_owned(),
            times: 2,
        };
        self.problems.push(LintProblem {
            position,
            message: format!(
                "the rule `{}` is already enabled on line {first}",
                shortened(entry.id)
            ),
            error_type: Some(error.error_type()),
            is_error: true,
            help: Some("enable it once".to_owned()),
        });
    }
}

/// Returns the position of a key's value, or of the map if the key is missing.
fn place(map: NodeRef<'_, '_>, key: &str) -> Position {
    map.get(key).unwrap_or(map).position()
}

/// Returns the position of the first field that exists, otherwise of the `config`, otherwise of the rule.
fn place_of_config(entry: NodeRef<'_, '_>, documentation: &Documentation) -> Position {
    let Some(config) = entry.get("config") else {
        return entry.position();
    };
    let mut fields = documentation.config.iter();
    let field = fields.find_map(|field| config.get(field.name));
    field.unwrap_or(config).position()
}
