//! Reads the rules file and prepares its rules.

use super::error::EvaluationError;
use super::registry;
use super::rule::{Evaluator, Rule};
use super::rule_config::RuleConfig;
use crate::findings::Enforcement;
use crate::pipelines::PipelineKind;
use sluicegate_yaml::{DocumentError, NodeRef, Tree, Value, shorten};
use std::collections::{HashMap, HashSet};

/// Maximum number of entries. Each entry yields a result for each pipeline, so more are rejected.
pub(super) const MAX_RULES: usize = 1000;

pub(super) struct RulesFile {
    /// The enabled rules, in file order; a rule that is enabled more than once is listed once.
    pub rules: Vec<EnabledRule>,
    /// The valid level of each id, including disabled rules.
    pub levels: HashMap<String, Option<Enforcement>>,
}

/// A rule to evaluate, or to report as invalid.
pub(super) struct EnabledRule {
    pub id: String,
    pub enforcement: Option<Enforcement>,
    /// The kinds of pipeline that get a result.
    pub kinds: &'static [PipelineKind],
    pub evaluator: Result<Evaluator, EvaluationError>,
}

pub(super) struct RuleEntry<'t, 'a> {
    pub id: &'t str,
    pub is_enabled: bool,
    pub node: NodeRef<'t, 'a>,
}

/// Parses the rules file, and prepares the enabled rules. A rule that is enabled several times is prepared once.
pub(super) fn parse_rules_file(bytes: &[u8]) -> Result<RulesFile, DocumentError> {
    let tree = Tree::parse(bytes)?;
    let entries = parse_rule_entries(tree.root())?;
    let enabled_levels = collect_enabled_levels(&entries);
    let mut rules: Vec<EnabledRule> = Vec::new();
    let mut seen_ids: HashSet<&str> = HashSet::new();
    for entry in entries.iter().filter(|entry| entry.is_enabled) {
        if seen_ids.insert(entry.id) {
            let levels = enabled_levels
                .get(entry.id)
                .map(Vec::as_slice)
                .unwrap_or_default();
            rules.push(prepare_rule(entry, levels));
        }
    }
    Ok(RulesFile {
        rules,
        levels: collect_effective_levels(&entries, &enabled_levels),
    })
}

/// Reads the entries of the list `rules`. Fails if one of them is invalid, or if there are too many.
pub(super) fn parse_rule_entries<'t, 'a>(
    root: NodeRef<'t, 'a>,
) -> Result<Vec<RuleEntry<'t, 'a>>, DocumentError> {
    let rules = root
        .get("rules")
        .ok_or_else(|| DocumentError::at_position(root.position(), "the list `rules` is missing"))?;
    let items = rules
        .items()
        .ok_or_else(|| DocumentError::at_position(rules.position(), "`rules` is not a list"))?;
    if items.len() > MAX_RULES {
        return Err(DocumentError::at_position(
            rules.position(),
            format!("the file has {} rules; the maximum is {MAX_RULES}", items.len()),
        ));
    }
    items.map(RuleEntry::from_node).collect()
}

impl<'t, 'a> RuleEntry<'t, 'a> {
    /// Reads the id of an entry and whether it is enabled; both are required.
    pub(super) fn from_node(node: NodeRef<'t, 'a>) -> Result<Self, DocumentError> {
        let build_error = |message: &str| DocumentError::at_position(node.position(), message);
        if !node.is_map() {
            return Err(build_error("an entry of `rules` is not a map"));
        }
        let id = node
            .get("id")
            .and_then(NodeRef::string)
            .ok_or_else(|| build_error("the rule has no `id`, or its `id` is not a string"))?;
        match node.get("enabled").and_then(NodeRef::value) {
            Some(Value::Boolean(is_enabled)) => Ok(Self { id, is_enabled, node }),
            _ => Err(build_error(
                "the rule has no `enabled`, or its value is neither `true` nor `false`",
            )),
        }
    }
}

/// Returns for each id the levels of its enabled entries, in file order.
fn collect_enabled_levels<'t>(entries: &[RuleEntry<'t, '_>]) -> HashMap<&'t str, Vec<Option<Enforcement>>> {
    let mut levels: HashMap<&str, Vec<Option<Enforcement>>> = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.is_enabled) {
        levels.entry(entry.id).or_default().push(parse_level(entry));
    }
    levels
}

/// Returns the strictest of the levels. An invalid level (`None`) is stricter than `warn`, because callers treat it
/// like `error`.
fn strictest_level(levels: &[Option<Enforcement>]) -> Option<Enforcement> {
    let error = Some(Enforcement::Error);
    match levels {
        _ if levels.contains(&error) => error,
        _ if levels.contains(&None) => None,
        levels => levels.first().copied().flatten(),
    }
}

/// Returns for each id the strictest level of its enabled entries or, if all are disabled, the level of its first
/// entry.
fn collect_effective_levels(
    entries: &[RuleEntry<'_, '_>],
    enabled_levels: &HashMap<&str, Vec<Option<Enforcement>>>,
) -> HashMap<String, Option<Enforcement>> {
    let mut levels: HashMap<String, Option<Enforcement>> = enabled_levels
        .iter()
        .map(|(id, levels)| ((*id).to_owned(), strictest_level(levels)))
        .collect();
    for entry in entries {
        levels
            .entry(entry.id.to_owned())
            .or_insert_with(|| parse_level(entry));
    }
    levels
}

/// Returns the level of an entry; `None` if it is missing or invalid.
pub(super) fn parse_level(entry: &RuleEntry<'_, '_>) -> Option<Enforcement> {
    entry
        .node
        .get("enforcementLevel")
        .and_then(NodeRef::string)
        .and_then(Enforcement::parse)
}

/// Returns whether the level of an entry is missing.
pub(super) fn is_level_missing(entry: &RuleEntry<'_, '_>) -> bool {
    entry.node.get("enforcementLevel").is_none_or(NodeRef::is_null)
}

/// Prepares an enabled rule. `levels` are the levels of all entries that enable it; the strictest one applies.
fn prepare_rule(entry: &RuleEntry<'_, '_>, levels: &[Option<Enforcement>]) -> EnabledRule {
    let rule = registry::find_rule(entry.id);
    let enforcement = strictest_level(levels);
    EnabledRule {
        id: entry.id.to_owned(),
        enforcement,
        kinds: rule.map_or(&PipelineKind::ALL, |rule| rule.documentation().kinds),
        evaluator: prepare_evaluator(entry, levels.len(), rule, enforcement),
    }
}

/// Returns the evaluator of a rule, or the first reason why the rule cannot be evaluated. `entry_count` is the number
/// of entries that enable the rule, which must be 1.
fn prepare_evaluator(
    entry: &RuleEntry<'_, '_>,
    entry_count: usize,
    rule: Option<&'static dyn Rule>,
    enforcement: Option<Enforcement>,
) -> Result<Evaluator, EvaluationError> {
    if entry_count > 1 {
        let id = shorten(entry.id).into_owned();
        return Err(EvaluationError::DuplicateEnabledRule {
            id,
            times: entry_count,
        });
    }
    let rule = rule.ok_or_else(|| EvaluationError::ValidatorNotFound {
        id: shorten(entry.id).into_owned(),
        is_enabled: true,
        nearest: registry::find_nearest_rule_id(entry.id),
    })?;
    let id = rule.documentation().id;
    if enforcement.is_none() {
        return Err(EvaluationError::InvalidEnforcementLevel {
            id,
            is_missing: is_level_missing(entry),
        });
    }
    rule.prepare(&RuleConfig::new(id, entry.node.get("config")))
}
