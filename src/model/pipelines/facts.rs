//! What is to be known of a pipeline by whoever looks at a whole project: what it names, what it can be told, and links that lead
//! nowhere. The rest of it is not kept, since a project has thousands.

use super::model::{LinkRole, Pipeline};
use super::references::Reference;
use crate::model::yaml::{DocumentError, Position};
use regex::bytes::Regex;
use std::collections::HashSet;
use std::sync::LazyLock;

/// The keys by which a component names a file, and the escapes of a quoted YAML text that can stand for letters or
/// join lines (<https://yaml.org/spec/1.2.2/#57-escaped-characters>): without any of these there is no such key.
static NAMES_FILES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"orchestrationJob|transformationJob|fileName|\\[xuU\r\n]").ok());

/// Whether a pipeline with these bytes may name a file, told without reading it as YAML.
pub fn may_name_files(bytes: &[u8]) -> bool {
    NAMES_FILES.as_ref().is_none_or(|keys| keys.is_match(bytes))
}

/// What a whole project's checks, callers and publishes need of a pipeline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PipelineFacts {
    pub references: Box<[Reference]>,
    /// The names of its variables, in file order.
    pub variables: Box<[String]>,
    /// The links to components that are not there.
    pub dangling: Box<[DanglingLink]>,
    /// Whether it was not read as YAML, because it cannot name a file: its variables and links are not known, and it may be no
    /// pipeline at all.
    pub is_skimmed: bool,
}

/// A link to a component that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DanglingLink {
    pub component: String,
    pub role: LinkRole,
    /// The name that no component has.
    pub name: String,
    pub position: Position,
}

impl PipelineFacts {
    pub fn of(pipeline: &Pipeline) -> Self {
        let variables = pipeline.variables.iter().map(|variable| variable.name.clone());
        Self {
            references: pipeline.references().into(),
            variables: variables.collect(),
            dangling: dangling(pipeline),
            is_skimmed: false,
        }
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        Pipeline::parse(bytes).map(|pipeline| Self::of(&pipeline))
    }

    /// Of a pipeline that was not read as YAML, because it cannot name a file.
    pub fn skimmed() -> Self {
        Self {
            is_skimmed: true,
            ..Self::default()
        }
    }
}

fn dangling(pipeline: &Pipeline) -> Box<[DanglingLink]> {
    let names: HashSet<&str> = pipeline
        .components
        .iter()
        .map(|component| component.name.as_str())
        .collect();
    let links = pipeline
        .components
        .iter()
        .flat_map(|component| component.links.iter().map(move |link| (component, link)));
    let nowhere = links.filter(|(_, link)| !names.contains(link.name.as_str()));
    nowhere
        .map(|(component, link)| DanglingLink {
            component: component.name.clone(),
            role: link.role,
            name: link.name.clone(),
            position: link.position,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_is_skimmed_only_if_no_key_of_a_reference_can_be_in_it() {
        for text in [
            "orchestrationJob: a",
            "\"transformation\\u004aob\": a",
            "\"file\\x4eame\": a",
            "\"file\\U0000004eame\": a",
            "\"file\\\n  Name\": a",
        ] {
            assert!(may_name_files(text.as_bytes()), "{text}");
        }
        assert!(!may_name_files(b"sqlScript: \"select '\\t' as filename\""));
    }

    /// A key in double quotes, some of its letters escaped.
    fn quoted(key: &str, escapes: &[u8]) -> String {
        let written = key.chars().zip(escapes).map(|(letter, escape)| match escape {
            0 => format!("\\x{:02x}", u32::from(letter)),
            1 => format!("\\u{:04X}", u32::from(letter)),
            2 => format!("\\U{:08x}", u32::from(letter)),
            _ => letter.to_string(),
        });
        format!("\"{}\"", written.collect::<String>())
    }

    proptest! {
        #[test]
        fn what_is_skimmed_names_nothing(
            key in "orchestrationJob|transformationJob",
            escapes in prop::collection::vec(0_u8..12, 20),
        ) {
            let text = format!(
                "type: orchestration\npipeline:\n  components:\n    A:\n      parameters:\n        {}: b\n",
                quoted(&key, &escapes)
            );
            let named = PipelineFacts::parse(text.as_bytes()).unwrap().references;
            prop_assert_eq!(named.len(), 1);
            prop_assert!(may_name_files(text.as_bytes()));
        }
    }
}
