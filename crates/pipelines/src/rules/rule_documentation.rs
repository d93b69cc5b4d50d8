//! Renders the descriptions of the rules for the terminal, the reference and a new rules file.

use super::registry::registry;
use super::rule::Documentation;
use crate::findings::{Block, Enforcement};
use crate::pipelines::Kind;
use std::fmt::Write as _;

impl Documentation {
    /// Returns the kinds of pipeline that the rule applies to, as text.
    pub fn applies_to(&self) -> &'static str {
        match self.kinds {
            [Kind::Orchestration] => "orchestrations",
            [Kind::Transformation] => "transformations",
            _ => "both kinds of pipeline",
        }
    }

    /// Returns the entry of the rule for a rules file, at this level and with the platform's default values.
    pub(crate) fn entry(&self, level: Enforcement) -> String {
        let mut entry = format!(
            "- id: {}\n  enabled: true\n  enforcementLevel: {level}\n",
            self.id
        );
        if !self.config.is_empty() {
            entry.push_str("  config:\n");
        }
        for field in self.config {
            let _ = writeln!(entry, "    {}: {}", field.name, field.default);
        }
        entry
    }

    /// Returns the description of the rule: check, reason, configuration and examples.
    pub fn blocks(&self) -> Vec<Block> {
        let points = |sentences: &[&str]| Block::Points(sentences.iter().map(|s| (*s).to_owned()).collect());
        let mut blocks = vec![
            Block::Text(format!("{} Applies to {}.", self.summary, self.applies_to())),
            Block::Heading("Why"),
            Block::Text(self.reason.to_owned()),
            Block::Heading("How to fix it"),
            Block::Text(self.fix.to_owned()),
            Block::Heading("How it is checked"),
            points(self.details),
            Block::Text(
                "The platform's documentation does not define the following, so sluicegate assumes:"
                    .to_owned(),
            ),
            points(self.assumed),
            Block::Heading("How to configure it"),
            Block::Yaml(self.entry(Enforcement::Warn)),
        ];
        if !self.config.is_empty() {
            let fields = self
                .config
                .iter()
                .map(|field| format!("`{}` is {}; it is required.", field.name, field.meaning));
            blocks.push(Block::Points(fields.collect()));
        }
        let with_config = match self.example_config {
            "" => String::new(),
            config => format!(" with `{config}`"),
        };
        blocks.extend([
            Block::Heading("What passes"),
            Block::Text(format!("This pipeline passes{with_config}:")),
            Block::Yaml(self.passes.to_owned()),
            Block::Heading("What fails"),
            Block::Text(format!("This pipeline fails{with_config}:")),
            Block::Yaml(self.fails.to_owned()),
        ]);
        blocks
    }
}

/// Returns the reference of all rules, as Markdown.
pub fn reference() -> String {
    let mut page = String::from(
        "# Rules\n\nThe quality rules of a project, and how to configure them in \
         `config/pipeline_quality_rules.yaml` of the platform's\nhidden folder. `sluicegate rules explain ID` prints one \
         rule; `sluicegate rules init` creates a file with all rules.\n\n\
         | rule | applies to | requirement |\n|---|---|---|\n",
    );
    for rule in registry() {
        let rule = rule.documentation();
        let _ = writeln!(
            page,
            "| [{0}](#{0}) | {1} | {2} |",
            rule.id,
            rule.applies_to(),
            rule.summary
        );
    }
    for rule in registry() {
        let rule = rule.documentation();
        let _ = writeln!(page, "\n## {}", rule.id);
        for block in rule.blocks() {
            page.push_str(&block.markdown());
        }
    }
    page
}

/// Returns a rules file with all rules enabled at this level, with the platform's default values. Each rule has a
/// comment with its purpose.
pub fn template(level: Enforcement) -> String {
    let mut file = String::from(
        "# The quality rules for this project's pipelines. To explain a rule, run: sluicegate rules explain ID\n\
         # enforcementLevel: `warn` reports a violation, `error` also stops the change. `enabled: false` turns a rule off.\n\
         rules:\n",
    );
    for rule in registry() {
        let rule = rule.documentation();
        let _ = writeln!(file, "\n  # {} Applies to {}.", rule.summary, rule.applies_to());
        for field in rule.config {
            let _ = writeln!(file, "  # {}: {}", field.name, field.meaning);
        }
        for line in rule.entry(level).lines() {
            let _ = writeln!(file, "  {line}");
        }
    }
    file
}
