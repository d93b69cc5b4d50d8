//! A rule of the team, as its file defines it.

use super::expression_node::CompiledExpression;
use super::message_template::MessageTemplate;
use super::record_field::RuleSubject;
use crate::findings::{Enforcement, TEAM_PREFIX};
use globset::{Glob, GlobSet};
use sluicegate_base::globs::{explain_unmatchable_glob, parse_glob};
use sluicegate_yaml::{Position, shorten};
use std::fmt;

/// Maximum length of an id, in bytes.
pub(super) const MAX_ID_BYTES: usize = 80;

/// A rule that the team wrote.
pub struct TeamRule {
    /// The id in the file, without `team/`.
    pub id: String,
    /// `None` if the rule is off.
    pub level: Option<Enforcement>,
    pub subject: RuleSubject,
    /// The globs of the pipelines that the rule applies to; empty for all.
    pub paths: Vec<String>,
    pub exclude: Vec<String>,
    /// The expression as written in the file.
    pub condition: String,
    /// The message as written in the file.
    pub message: String,
    pub help: Option<String>,
    pub examples: Vec<RuleExample>,
    pub position: Position,
    pub(super) expression: CompiledExpression,
    pub(super) template: MessageTemplate,
    pub(super) included_paths: Option<GlobSet>,
    pub(super) excluded_paths: Option<GlobSet>,
}

/// An example of a rule: a pipeline, and whether the rule has a finding in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleExample {
    pub fails: bool,
    /// The path at which the pipeline is evaluated; the file need not exist.
    pub path: String,
    /// The text of the pipeline, in YAML.
    pub pipeline: String,
    /// The paths of other pipelines of the project.
    pub project: Vec<String>,
    pub position: Position,
}

impl fmt::Debug for TeamRule {
    /// Formats only the id of the rule, which identifies it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamRule")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl TeamRule {
    /// Returns the id that reports and waivers use: `team/ID`.
    pub fn full_id(&self) -> String {
        format!("{TEAM_PREFIX}{}", self.id)
    }

    /// Returns the level as in the rules file: `off` if the rule is not enforced.
    pub fn level_name(&self) -> &'static str {
        self.level.map_or("off", Enforcement::name)
    }

    /// Returns whether the rule is enforced, but its `paths` match none of the pipelines at these paths.
    pub fn matches_no_pipeline(&self, pipeline_paths: &[String]) -> bool {
        let Some(globs) = &self.included_paths else {
            return false;
        };
        self.level.is_some() && !pipeline_paths.iter().any(|path| globs.is_match(path))
    }

    /// Returns whether the rule's globs include the pipeline at this path and do not exclude it.
    pub(super) fn applies_to(&self, path: &str) -> bool {
        let is_included = self
            .included_paths
            .as_ref()
            .is_none_or(|globs| globs.is_match(path));
        is_included
            && !self
                .excluded_paths
                .as_ref()
                .is_some_and(|globs| globs.is_match(path))
    }
}

/// Parses a glob of pipelines. The error is a message: the glob is not valid, or no path can match it.
pub(super) fn parse_path_glob(pattern: &str) -> Result<Glob, String> {
    if let Some(reason) = explain_unmatchable_glob(pattern) {
        return Err(format!(
            "the glob `{}` matches no pipeline: {reason}",
            shorten(pattern)
        ));
    }
    parse_glob(pattern)
        .map_err(|error| format!("the glob `{}` is not valid: {}", shorten(pattern), error.kind()))
}

/// Returns whether the text has the form of a team rule's id in reports and waivers: `team/ID`.
pub fn is_team_rule_id(id: &str) -> bool {
    id.strip_prefix(TEAM_PREFIX).is_some_and(is_rule_id)
}

/// Returns whether the text has the form of a rule's id.
pub(super) fn is_rule_id(id: &str) -> bool {
    id.len() <= MAX_ID_BYTES
        && id.starts_with(|c: char| c.is_ascii_lowercase())
        && id
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}
