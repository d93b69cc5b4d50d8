//! Reads the selected pipelines and keeps what they name, in parallel, a few documents at a time in memory.
//!
//! Only those that can name a file are read as YAML, which is most of the work, and those that a shared pipeline needs.

use super::PublishError;
use super::contents::PublishContents;
use super::unchanged::{self, Checked};
use crate::base::git::Content;
use crate::model::pipelines::{Pipeline, Reference};
use crate::model::yaml::{DOCUMENT_LIMIT, DocumentError};
use rayon::iter::{IntoParallelIterator, ParallelExtend, ParallelIterator};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// So much is held in memory before it is read as YAML, in bytes.
const HELD: usize = 4 * 1024 * 1024;

/// The keys by which a component names a file, and the escapes of a quoted YAML text that can stand for letters or
/// join lines (<https://yaml.org/spec/1.2.2/#57-escaped-characters>): without any of these there is no such key.
static NAMES_FILES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"orchestrationJob|transformationJob|fileName|\\[xuU\r\n]").ok());

/// A pipeline file to be read.
pub(super) struct WantedFile<'a> {
    pub content: &'a Content,
    /// Whether a shared pipeline needs it, so that it is read as YAML whatever it names.
    pub is_needed: bool,
}

/// What is known of a pipeline file.
pub(super) struct PipelineFacts {
    pub bytes: u64,
    /// What it names, or why it is no pipeline.
    pub references: Result<Box<[Reference]>, DocumentError>,
    /// The names of its variables, of a file that a shared pipeline needs.
    pub variables: Vec<String>,
    /// The hash of what was read, where the file could change before it is sent.
    pub checked: Option<Checked>,
    /// Whether it was not read as YAML, because it cannot name a file: it may be no pipeline at all.
    pub is_skimmed: bool,
}

/// The facts of each of these files, in their order.
///
/// They are read one after the other, as libgit2's threads only wait for each other, and parsed in parallel.
pub(super) fn read_all(
    contents: &PublishContents,
    files: &[WantedFile<'_>],
) -> Result<Vec<PipelineFacts>, PublishError> {
    let mut facts = Vec::with_capacity(files.len());
    let mut rest = files.iter();
    while rest.len() > 0 {
        let window = skim_some(contents, &mut rest)?;
        facts.par_extend(window.into_par_iter().map(Skimmed::facts));
    }
    Ok(facts)
}

/// The next files, until enough is held in memory.
fn skim_some<'w>(
    contents: &PublishContents,
    rest: &mut impl Iterator<Item = &'w WantedFile<'w>>,
) -> Result<Vec<Skimmed>, PublishError> {
    let (mut window, mut held) = (Vec::new(), 0);
    while held < HELD
        && let Some(wanted) = rest.next()
    {
        let skimmed = skim(contents, wanted)?;
        held += skimmed.held();
        window.push(skimmed);
    }
    Ok(window)
}

/// A file of which is known whether it must be read as YAML.
enum Skimmed {
    Known(PipelineFacts),
    ToRead {
        bytes: Vec<u8>,
        is_needed: bool,
        checked: Option<Checked>,
    },
}

fn skim(contents: &PublishContents, wanted: &WantedFile<'_>) -> Result<Skimmed, PublishError> {
    let Some(bytes) = contents.read(wanted.content, DOCUMENT_LIMIT)? else {
        return Ok(Skimmed::Known(PipelineFacts {
            bytes: contents.size(wanted.content)?,
            references: Err(DocumentError::too_large()),
            variables: Vec::new(),
            checked: None,
            is_skimmed: false,
        }));
    };
    let checked = unchanged::checked(wanted.content, &bytes);
    Ok(if wanted.is_needed || may_name_files(&bytes) {
        Skimmed::ToRead {
            bytes,
            is_needed: wanted.is_needed,
            checked,
        }
    } else {
        Skimmed::Known(PipelineFacts {
            bytes: bytes.len() as u64,
            references: Ok(Box::default()),
            variables: Vec::new(),
            checked,
            is_skimmed: true,
        })
    })
}

impl Skimmed {
    /// How many bytes it keeps in memory.
    const fn held(&self) -> usize {
        match self {
            Self::Known(_) => 0,
            Self::ToRead { bytes, .. } => bytes.len(),
        }
    }

    fn facts(self) -> PipelineFacts {
        match self {
            Self::Known(facts) => facts,
            Self::ToRead {
                bytes,
                is_needed,
                checked,
            } => {
                let pipeline = Pipeline::parse(&bytes);
                let variables = pipeline.iter().filter(|_| is_needed);
                PipelineFacts {
                    bytes: bytes.len() as u64,
                    variables: variables
                        .flat_map(|pipeline| pipeline.variables.iter().map(|variable| variable.name.clone()))
                        .collect(),
                    references: pipeline.map(|pipeline| pipeline.references().into()),
                    checked,
                    is_skimmed: false,
                }
            }
        }
    }
}

fn may_name_files(bytes: &[u8]) -> bool {
    NAMES_FILES.as_ref().is_none_or(|keys| keys.is_match(bytes))
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
            let named = Pipeline::parse(text.as_bytes()).unwrap().references();
            prop_assert_eq!(named.len(), 1);
            prop_assert!(may_name_files(text.as_bytes()));
        }
    }
}
