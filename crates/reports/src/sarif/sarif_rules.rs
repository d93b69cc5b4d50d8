//! Collects the rules of a review, with their help texts.

use super::sarif_log::{Configuration, Help, SarifRule, SarifText};
use crate::markdown::escape;
use crate::remarks::find_verdict_remark;
use crate::sentences::capitalize;
use crate::{ReportContext, truncation};
use sluicegate_base::text::escape_controls;
use sluicegate_pipelines::findings::{Report, Severity, Verdict};
use std::collections::HashMap;

/// Maximum number of rules: GitHub rejects a run with more
/// (<https://docs.github.com/code-security/code-scanning/troubleshooting-sarif-uploads/results-exceed-limit>).
const MAX_RULES: usize = 25_000;

/// Maximum length of a rule name in a help text, in characters.
const NAME_LIMIT: usize = 200;

/// The id of the rule for the verdict of a run that no finding fails.
const VERDICT_RULE: &str = "review-verdict";

/// The rules, and the index of each.
pub(super) struct SarifRules<'a> {
    pub list: Vec<SarifRule<'a>>,
    indices_by_id: HashMap<&'a str, usize>,
}

impl<'a> SarifRules<'a> {
    /// Collects the rules with results, up to [`MAX_RULES`], in the order of the results, then the rule for unreadable
    /// pipelines, which only findings have. A rule has the level of its worst result, or `warning` if it passed. If the
    /// review failed without a finding that fails it, a rule for the verdict is added. An undecided review does not
    /// have this rule, because notifications explain it.
    pub(super) fn from_report(report: &'a Report, context: &ReportContext) -> Self {
        let mut rules = Self {
            list: Vec::new(),
            indices_by_id: HashMap::new(),
        };
        for result in report.files.iter().flat_map(|file| &file.results) {
            let severity = result.severity().unwrap_or(Severity::Warning);
            rules.add_rule(&result.rule, severity, context);
        }
        for finding in report.findings() {
            rules.add_rule(finding.rule, finding.severity, context);
        }
        let needs_verdict_rule =
            report.verdict == Verdict::Failed && find_verdict_remark(report, context).is_some();
        if needs_verdict_rule
            && !rules.indices_by_id.contains_key(VERDICT_RULE)
            && rules.list.len() < MAX_RULES
        {
            rules.indices_by_id.insert(VERDICT_RULE, rules.list.len());
            rules.list.push(build_verdict_rule());
        }
        rules
    }

    /// Adds a rule, unless there are already [`MAX_RULES`]. If the rule is already in the list, it gets the level
    /// `error` if one of its severities is [`Severity::Error`].
    fn add_rule(&mut self, id: &'a str, severity: Severity, context: &ReportContext) {
        if let Some(rule_index) = self.indices_by_id.get(id) {
            if severity == Severity::Error {
                self.list[*rule_index].default_configuration.level = level_name(severity);
            }
        } else if self.list.len() < MAX_RULES {
            self.indices_by_id.insert(id, self.list.len());
            self.list.push(build_rule(id, severity, context));
        }
    }

    /// Returns the id and the index of the rule for the verdict; `None` if the review does not need it.
    pub(super) fn find_verdict_rule(&self) -> Option<(&'static str, usize)> {
        Some((VERDICT_RULE, self.find_index(VERDICT_RULE)?))
    }

    /// Returns the index of the rule; `None` if it is beyond the maximum number of rules.
    pub(super) fn find_index(&self, id: &str) -> Option<usize> {
        self.indices_by_id.get(id).copied()
    }
}

/// Returns the level in SARIF for a severity.
pub(super) const fn level_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// Returns the name of the rule or notification with this id, as one word because Azure DevOps requires it:
/// `MaximumComponents` for `maximum-components`. SARIF requires that the name differs from the id, so an id of one word
/// gets an addition: `NoteRule` for `note`.
pub(super) fn build_descriptor_name(id: &str) -> String {
    let words = id.split(|c: char| !c.is_alphanumeric());
    let name: String = words.map(capitalize).collect();
    if name.eq_ignore_ascii_case(id) {
        return format!("{name}Rule");
    }
    name
}

/// Creates the rule that a review violates if it fails for a reason other than a finding.
fn build_verdict_rule<'a>() -> SarifRule<'a> {
    const SUMMARY: &str = "The review must pass.";
    const HELP: &str =
        "The review must pass. The review failed for a reason that is not a finding in a pipeline.";
    SarifRule {
        id: VERDICT_RULE,
        name: build_descriptor_name(VERDICT_RULE),
        short_description: SUMMARY.into(),
        full_description: HELP.into(),
        help: Help {
            text: HELP.to_owned(),
            markdown: format!("{HELP}\n"),
        },
        default_configuration: Configuration {
            level: level_name(Severity::Error),
        },
    }
}

/// Describes a rule with its documentation, or with a general description if this program does not know the rule.
fn build_rule<'a>(id: &'a str, severity: Severity, context: &ReportContext) -> SarifRule<'a> {
    let short_name = truncation::truncate(id, NAME_LIMIT);
    let (summary, sentences) = match context.find_rule(id) {
        Some(text) => (text.summary.clone(), text.help.clone()),
        None => (
            format!("Pipelines must comply with the quality rule {short_name} of the project."),
            vec!["The platform evaluates this rule; sluicegate has no description of the rule.".to_owned()],
        ),
    };
    let description = SarifText::from(format!("{summary} {}", sentences.join(" ")));
    let list = escape_controls(&sentences.join("\n- "));
    let help = Help {
        text: description.text.clone(),
        markdown: format!("**{}**\n\n- {list}\n", escape(&summary)),
    };
    SarifRule {
        id,
        name: build_descriptor_name(&short_name),
        short_description: summary.as_str().into(),
        full_description: description,
        help,
        default_configuration: Configuration {
            level: level_name(severity),
        },
    }
}
