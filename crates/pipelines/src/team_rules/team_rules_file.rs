//! Reads the file of the team's rules strictly: anything that is not a valid rule is a problem with its position.

use super::cel_source::parse_expression;
use super::expression_node::CompiledExpression;
use super::expression_pattern::MAX_REGEX_BYTES_OF_FILE;
use super::expression_problem::ExpressionProblem;
use super::expression_type::ValueType;
use super::message_template::MessageTemplate;
use super::record_field::RuleSubject;
use super::source_location::SourceText;
use super::team_rule::{MAX_ID_BYTES, TeamRule, is_rule_id, parse_path_glob};
use crate::findings::Enforcement;
use crate::rules::{self, LintProblem};
use globset::{GlobSet, GlobSetBuilder};
use sluicegate_base::text;
use sluicegate_yaml::{DocumentError, NodeRef, Position, Tree, is_blank, shorten};
use std::collections::HashMap;

/// Maximum size of a team rules file, in bytes.
pub const MAX_TEAM_RULES_BYTES: u64 = 512 << 10;

const MAX_RULES: usize = 200;

/// Maximum number of globs of a rule.
pub(super) const MAX_GLOBS: usize = 200;

/// Maximum length of a message or a help text, in bytes.
const MAX_TEXT_BYTES: usize = 2000;

const RULE_KEYS: [&str; 9] = [
    "id", "level", "for", "paths", "exclude", "when", "message", "help", "examples",
];

/// The result of reading a team rules file: its valid rules, and its problems in file order.
#[derive(Debug, Default)]
pub(super) struct TeamRulesFile {
    pub rules: Vec<TeamRule>,
    pub problems: Vec<LintProblem>,
}

/// Reads a team rules file. A blank file has no rules. A file that is too large, or that is not YAML, has only one
/// problem.
pub(super) fn read_team_rules_file(bytes: &[u8]) -> TeamRulesFile {
    if bytes.len() as u64 > MAX_TEAM_RULES_BYTES {
        let message = format!("the file has more than {MAX_TEAM_RULES_BYTES} bytes");
        return TeamRulesFile {
            rules: Vec::new(),
            problems: vec![build_problem(Position { line: 1, column: 1 }, message, None)],
        };
    }
    if is_blank(bytes) {
        return TeamRulesFile::default();
    }
    let tree = match Tree::parse(bytes) {
        Ok(tree) => tree,
        Err(error) => {
            return TeamRulesFile {
                rules: Vec::new(),
                problems: vec![convert_document_error(&error)],
            };
        }
    };
    let mut reader = FileReader {
        source: SourceText::new(bytes),
        problems: Vec::new(),
        remaining_regex_bytes: MAX_REGEX_BYTES_OF_FILE,
    };
    let rules = reader.read_rules(tree.root());
    let mut problems = reader.problems;
    problems.sort_by_key(|problem| problem.position);
    TeamRulesFile { rules, problems }
}

/// Converts the error of a document to a problem, which is shown at the beginning if the error has no position.
fn convert_document_error(error: &DocumentError) -> LintProblem {
    let position = error.position.unwrap_or(Position { line: 1, column: 1 });
    build_problem(position, error.message.clone(), None)
}

/// Builds a problem that makes the rule unusable.
pub(super) fn build_problem(
    position: Position,
    message: impl Into<String>,
    help: Option<String>,
) -> LintProblem {
    LintProblem {
        position,
        message: message.into(),
        error_type: None,
        is_error: true,
        help,
    }
}

/// Reads a file, and collects its problems.
pub(super) struct FileReader {
    source: SourceText,
    pub(super) problems: Vec<LintProblem>,
    remaining_regex_bytes: usize,
}

impl FileReader {
    pub(super) fn add_problem(&mut self, node: NodeRef<'_, '_>, message: impl Into<String>) {
        self.problems.push(build_problem(node.position(), message, None));
    }

    /// Adds a problem of an expression, at its position within the text of the node.
    fn add_expression_problem(&mut self, node: NodeRef<'_, '_>, text: &str, problem: ExpressionProblem) {
        let position = self.source.locate(node.position(), text, problem.offset);
        self.problems
            .push(build_problem(position, problem.message, problem.help));
    }

    /// Reads the rules of the file that have no error, and adds a problem for each error. If several rules have the
    /// same id, only the first is used.
    fn read_rules(&mut self, root: NodeRef<'_, '_>) -> Vec<TeamRule> {
        if !root.is_map() {
            self.add_problem(root, "the file is not a map with the key `rules`");
            return Vec::new();
        }
        self.check_keys(root, &["rules"], "the file");
        let Some(rules_node) = root.get("rules") else {
            self.add_problem(root, "the list `rules` is missing");
            return Vec::new();
        };
        let Some(items) = rules_node.items() else {
            self.add_problem(rules_node, "`rules` is not a list");
            return Vec::new();
        };
        if items.len() > MAX_RULES {
            let message = format!("the file has {} rules; the maximum is {MAX_RULES}", items.len());
            self.add_problem(rules_node, message);
            return Vec::new();
        }
        let mut lines_by_id: HashMap<String, u32> = HashMap::new();
        let mut rules = Vec::new();
        for item in items {
            let problem_count = self.problems.len();
            let Some(rule) = self.read_rule(item) else {
                continue;
            };
            // With a misspelled key, such as `path`, the rule would apply to other pipelines than the team wants.
            let mut problems = self.problems.iter().skip(problem_count);
            let is_valid = !problems.any(|problem| problem.is_error);
            if let Some(first_line) = lines_by_id.get(&rule.id) {
                let message = format!("the rule `{}` is already defined on line {first_line}", rule.id);
                self.add_problem(item.get("id").unwrap_or(item), message);
            } else {
                lines_by_id.insert(rule.id.clone(), item.position().line);
                rules.extend(is_valid.then_some(rule));
            }
        }
        rules
    }

    /// Adds a problem for each key that is not known. `owner` names the map in the message.
    pub(super) fn check_keys(&mut self, map: NodeRef<'_, '_>, known_keys: &[&str], owner: &str) {
        for (key, position, _) in map.entries().filter(|(key, ..)| !known_keys.contains(key)) {
            let help = text::suggest(key, known_keys).or_else(|| {
                let names: Vec<String> = known_keys.iter().map(|key| format!("`{key}`")).collect();
                Some(format!("valid keys are {}", names.join(", ")))
            });
            let message = format!("{owner} has an unknown key `{}`", shorten(key));
            self.problems.push(build_problem(position, message, help));
        }
    }

    /// Reads a rule, and adds a problem for each error in it. Returns `None` if a required part is missing or invalid,
    /// but only after all parts were read, so that one run reports all errors.
    fn read_rule(&mut self, item: NodeRef<'_, '_>) -> Option<TeamRule> {
        if !item.is_map() {
            self.add_problem(item, "an entry of `rules` is not a map");
            return None;
        }
        self.check_keys(item, &RULE_KEYS, "the rule");
        let id = self.read_id(item);
        let level = self.read_level(item);
        let subject = self.read_subject(item);
        let paths = self.read_globs(item, "paths");
        let exclude = self.read_globs(item, "exclude");
        let condition = self.read_required_text(item, "when");
        let message = self.read_required_text(item, "message");
        let help = self.read_help(item);
        let examples = self.read_examples(item);
        let (subject, condition, message) = (subject?, condition?, message?);
        let expression = self.compile_condition(item, &condition, subject);
        let template = self.parse_message(item, &message, subject);
        let (paths, included_paths) = paths?;
        let (exclude, excluded_paths) = exclude?;
        Some(TeamRule {
            id: id?,
            level: level?,
            subject,
            paths,
            exclude,
            condition,
            message,
            help,
            examples: examples?,
            position: item.position(),
            expression: expression?,
            template: template?,
            included_paths,
            excluded_paths,
        })
    }

    /// Reads the id of a rule. It must differ from the ids of the platform's rules, because `rules explain` also finds
    /// a team rule without its prefix `team/`.
    fn read_id(&mut self, item: NodeRef<'_, '_>) -> Option<String> {
        let id = self.read_required_text(item, "id")?;
        let node = item.get("id").unwrap_or(item);
        if !is_rule_id(&id) {
            self.add_problem(
                node,
                format!(
                    "the id `{}` must begin with a lowercase letter and may contain lowercase letters, digits and \
                     hyphens, up to {MAX_ID_BYTES} characters",
                    shorten(&id)
                ),
            );
            return None;
        }
        if rules::find_rule(&id).is_some() {
            self.add_problem(
                node,
                format!("`{id}` is the id of a platform rule: use another id"),
            );
            return None;
        }
        Some(id)
    }

    /// Reads the level of a rule. The outer `None` means that the level is invalid, which adds a problem. The inner
    /// `None` means that the rule is off.
    #[expect(clippy::option_option, reason = "`off` is a valid level")]
    fn read_level(&mut self, item: NodeRef<'_, '_>) -> Option<Option<Enforcement>> {
        let Some(level) = item.get("level") else {
            self.add_missing_key(item, "level");
            return None;
        };
        match level.text() {
            Some("off") => Some(None),
            Some(name) if Enforcement::parse(name).is_some() => Some(Enforcement::parse(name)),
            _ => {
                self.add_problem(level, "`level` must be `error`, `warn` or `off`");
                None
            }
        }
    }

    /// Reads the kind of subject that the rule is about. An error adds a problem and returns `None`.
    fn read_subject(&mut self, item: NodeRef<'_, '_>) -> Option<RuleSubject> {
        let Some(node) = item.get("for") else {
            self.add_missing_key(item, "for");
            return None;
        };
        let word = node.text().unwrap_or_default();
        let subject = RuleSubject::parse(word);
        if subject.is_none() {
            let names: Vec<&str> = RuleSubject::ALL.iter().map(|subject| subject.name()).collect();
            let quoted_names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("`for` must be one of {}", quoted_names.join(", "));
            let help = text::suggest(word, &names);
            self.problems.push(build_problem(node.position(), message, help));
        }
        subject
    }

    fn add_missing_key(&mut self, item: NodeRef<'_, '_>, key: &str) {
        self.add_problem(item, format!("the required key `{key}` is missing"));
    }

    /// Reads a string that must not be blank. An error adds a problem and returns `None`.
    pub(super) fn read_required_text(&mut self, item: NodeRef<'_, '_>, key: &str) -> Option<String> {
        let Some(node) = item.get(key) else {
            self.add_missing_key(item, key);
            return None;
        };
        match node.text() {
            Some(text) if !text.trim().is_empty() && !node.is_null() => Some(text.to_owned()),
            _ => {
                self.add_problem(node, format!("`{key}` is empty or not a string"));
                None
            }
        }
    }

    /// Reads the optional help of a rule, and adds a problem if it is blank, not a string or too long. A help that is
    /// too long is also returned, but its rule is not used.
    fn read_help(&mut self, item: NodeRef<'_, '_>) -> Option<String> {
        item.get("help")?;
        let help = self.read_required_text(item, "help")?;
        if help.len() > MAX_TEXT_BYTES {
            let node = item.get("help").unwrap_or(item);
            self.add_problem(node, format!("`help` has more than {MAX_TEXT_BYTES} bytes"));
        }
        Some(help.trim_end().to_owned())
    }

    /// Reads a glob or a list of globs. Returns the globs as written and compiled; if the key is missing, the list is
    /// empty and the compiled set is `None`. An error adds a problem and returns `None`.
    fn read_globs(&mut self, item: NodeRef<'_, '_>, key: &str) -> Option<(Vec<String>, Option<GlobSet>)> {
        let Some(node) = item.get(key) else {
            return Some((Vec::new(), None));
        };
        let patterns = self.read_texts(node, key, MAX_GLOBS)?;
        let mut builder = GlobSetBuilder::new();
        for pattern in &patterns {
            match parse_path_glob(pattern) {
                Ok(glob) => builder.add(glob),
                Err(reason) => {
                    self.add_problem(node, reason);
                    return None;
                }
            };
        }
        match builder.build() {
            Ok(globs) => Some((patterns, Some(globs))),
            Err(error) => {
                self.add_problem(node, format!("could not combine the globs of `{key}`: {error}"));
                None
            }
        }
    }

    /// Reads a string or a list of 1 to `max_count` strings. Returns the strings; if one of them is empty or is not a
    /// scalar, or if there are too few or too many, adds a problem about `key` and returns `None`.
    pub(super) fn read_texts(
        &mut self,
        node: NodeRef<'_, '_>,
        key: &str,
        max_count: usize,
    ) -> Option<Vec<String>> {
        let nodes: Vec<NodeRef<'_, '_>> = match node.items() {
            Some(items) => items.collect(),
            None => vec![node],
        };
        let texts: Option<Vec<String>> = nodes
            .iter()
            .map(|node| {
                let text = node.text().filter(|text| !text.is_empty() && !node.is_null());
                text.map(str::to_owned)
            })
            .collect();
        match texts {
            Some(texts) if !texts.is_empty() && texts.len() <= max_count => Some(texts),
            _ => {
                self.add_problem(
                    node,
                    format!("`{key}` must be a string or a list of 1 to {max_count} strings"),
                );
                None
            }
        }
    }

    /// Compiles the condition of a rule, which must be a boolean. An error adds a problem and returns `None`.
    fn compile_condition(
        &mut self,
        item: NodeRef<'_, '_>,
        condition: &str,
        subject: RuleSubject,
    ) -> Option<CompiledExpression> {
        let result =
            parse_expression(condition, subject, &mut self.remaining_regex_bytes).and_then(|expression| {
                if expression.root_type.is_compatible(&ValueType::Boolean) {
                    return Ok(expression);
                }
                let message = format!("the expression is {}, not a boolean", expression.root_type);
                Err(ExpressionProblem::at_start(message))
            });
        result
            .map_err(|problem| {
                self.add_expression_problem(item.get("when").unwrap_or(item), condition, problem);
            })
            .ok()
    }

    /// Parses the message of a rule with its placeholders. An error adds a problem and returns `None`.
    fn parse_message(
        &mut self,
        item: NodeRef<'_, '_>,
        message: &str,
        subject: RuleSubject,
    ) -> Option<MessageTemplate> {
        let node = item.get("message").unwrap_or(item);
        if message.len() > MAX_TEXT_BYTES {
            self.add_problem(node, format!("`message` has more than {MAX_TEXT_BYTES} bytes"));
            return None;
        }
        MessageTemplate::parse(message.trim_end(), subject, &mut self.remaining_regex_bytes)
            .map_err(|problem| self.add_expression_problem(node, message, problem))
            .ok()
    }
}
