//! Renders the descriptions of the rules for the terminal, the reference and a new rules file.

use super::registry::registry;
use super::rule::RuleDocumentation;
use crate::findings::{DocumentationBlock, Enforcement};
use crate::pipelines::PipelineKind;
use std::fmt::Write as _;

impl RuleDocumentation {
    /// Describes the kinds of pipeline that the rule applies to.
    pub fn describe_kinds(&self) -> &'static str {
        match self.kinds {
            [PipelineKind::Orchestration] => "orchestrations",
            [PipelineKind::Transformation] => "transformations",
            _ => "both kinds of pipeline",
        }
    }

    /// Returns the entry of the rule for a rules file, at this level and with the platform's default values.
    pub(crate) fn format_rules_file_entry(&self, level: Enforcement) -> String {
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

    /// Returns the description of the rule: summary, reason, fix, details, assumptions, configuration and examples.
    pub fn build_blocks(&self) -> Vec<DocumentationBlock> {
        let mut blocks = vec![
            DocumentationBlock::Text(format!("{} Applies to {}.", self.summary, self.describe_kinds())),
            DocumentationBlock::Heading("Why"),
            DocumentationBlock::Text(self.reason.to_owned()),
            DocumentationBlock::Heading("How to fix it"),
            DocumentationBlock::Text(self.fix.to_owned()),
            DocumentationBlock::Heading("How it is checked"),
            build_points(self.details),
            DocumentationBlock::Text(
                "The platform's documentation does not define the following, so sluicegate assumes:"
                    .to_owned(),
            ),
            build_points(self.assumptions),
            DocumentationBlock::Heading("How to configure it"),
            DocumentationBlock::Yaml(self.format_rules_file_entry(Enforcement::Warn)),
        ];
        if !self.config.is_empty() {
            let fields = self
                .config
                .iter()
                .map(|field| format!("`{}` is {}; it is required.", field.name, field.meaning));
            blocks.push(DocumentationBlock::Points(fields.collect()));
        }
        let config_phrase = match self.example_config {
            "" => String::new(),
            config => format!(" with `{config}`"),
        };
        blocks.extend([
            DocumentationBlock::Heading("What passes"),
            DocumentationBlock::Text(format!("This pipeline passes{config_phrase}:")),
            DocumentationBlock::Yaml(self.passing_example.to_owned()),
            DocumentationBlock::Heading("What fails"),
            DocumentationBlock::Text(format!("This pipeline fails{config_phrase}:")),
            DocumentationBlock::Yaml(self.failing_example.to_owned()),
        ]);
        blocks
    }
}

/// Renders the documentation of all rules as Markdown.
pub fn render_rules_reference() -> String {
    let mut page = String::from(
        "# Rules\n\nThe quality rules of a project, and how to configure them in \
         `config/pipeline_quality_rules.yaml` in the platform's\nhidden directory. `sluicegate rules explain ID` prints one \
         rule; `sluicegate rules init` creates a file with all rules.\n\
         Each configuration below is an entry of the list `rules` in that file.\n\n\
         | rule | applies to | requirement |\n|---|---|---|\n",
    );
    for rule in registry() {
        let documentation = rule.documentation();
        let _ = writeln!(
            page,
            "| [{0}](#{0}) | {1} | {2} |",
            documentation.id,
            documentation.describe_kinds(),
            documentation.summary
        );
    }
    for rule in registry() {
        let documentation = rule.documentation();
        let _ = writeln!(page, "\n## {}", documentation.id);
        for block in documentation.build_blocks() {
            page.push_str(&block.to_markdown());
        }
    }
    page
}

/// Renders a rules file that enables all rules at this level, with the platform's default values. Comments explain each
/// rule and its fields.
pub fn render_rules_file_template(level: Enforcement) -> String {
    let mut file = String::from(
        "# Quality rules for this project's pipelines. To see what a rule does, run: sluicegate rules explain ID\n\
         # enforcementLevel: `warn` only reports a violation; `error` also blocks the change. \
         `enabled: false` turns a rule off.\n\
         rules:\n",
    );
    for rule in registry() {
        let documentation = rule.documentation();
        let _ = writeln!(
            file,
            "\n  # {} Applies to {}.",
            documentation.summary,
            documentation.describe_kinds()
        );
        for field in documentation.config {
            let _ = writeln!(file, "  # {}: {}", field.name, field.meaning);
        }
        for line in documentation.format_rules_file_entry(level).lines() {
            let _ = writeln!(file, "  {line}");
        }
    }
    file
}

/// Builds a list with one item for each sentence.
fn build_points(sentences: &[&str]) -> DocumentationBlock {
    DocumentationBlock::Points(sentences.iter().map(|sentence| (*sentence).to_owned()).collect())
}
