//! A part of a rule's description, independent of the output format.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentationBlock {
    Heading(&'static str),
    Text(String),
    Points(Vec<String>),
    /// YAML as written in a file.
    Yaml(String),
}

impl DocumentationBlock {
    /// Renders the block as Markdown for `docs/RULES.md`, with an empty line before it.
    pub(crate) fn to_markdown(&self) -> String {
        match self {
            Self::Heading(heading) => format!("\n### {heading}\n"),
            Self::Text(text) => format!("\n{text}\n"),
            Self::Points(points) => format!("\n- {}\n", points.join("\n- ")),
            Self::Yaml(yaml) => format!("\n```yaml\n{yaml}```\n"),
        }
    }
}
