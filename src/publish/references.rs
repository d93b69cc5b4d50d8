//! Reads the selected pipelines and keeps what they name: all of them, in parallel, one document per thread in memory.
//!
//! Only those that can name a file are read as YAML, which is most of the work, and those that a shared pipeline needs.

use super::PublishError;
use super::contents::Contents;
use super::plan::Content;
use crate::pipelines::{DocumentError, Pipeline, Reference};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// Larger pipelines are not read; the largest in use have a tenth of this.
const LIMIT: u64 = 32 * 1024 * 1024;

/// The keys by which a component names a file, and the escapes of a quoted YAML text that can stand for letters or
/// join lines (<https://yaml.org/spec/1.2.2/#57-escaped-characters>): without any of these there is no such key.
static NAMES_FILES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"orchestrationJob|transformationJob|fileName|\\[xuU\r\n]").ok());

/// What is known of a pipeline file.
pub(super) struct PipelineFacts {
    pub bytes: u64,
    /// What it names, or why it is no pipeline.
    pub references: Result<Vec<Reference>, DocumentError>,
    /// Whether it was not read as YAML, because it cannot name a file: it may be no pipeline at all.
    pub is_skimmed: bool,
}

/// The facts of each of these files, in their order.
pub(super) fn read_all(contents: &Contents, files: &[&Content]) -> Result<Vec<PipelineFacts>, PublishError> {
    files
        .par_iter()
        .map(|content| read(contents, content, false))
        .collect()
}

/// The facts of one file; `thorough` reads it as YAML in any case.
pub(super) fn read(
    contents: &Contents,
    content: &Content,
    thorough: bool,
) -> Result<PipelineFacts, PublishError> {
    let Some(bytes) = contents.read(content, LIMIT)? else {
        return Ok(PipelineFacts {
            bytes: contents.size(content)?,
            references: Err(too_large()),
            is_skimmed: false,
        });
    };
    let is_skimmed = !thorough && !may_name_files(&bytes);
    let references = if is_skimmed {
        Ok(Vec::new())
    } else {
        Pipeline::parse(&bytes).map(|pipeline| pipeline.references())
    };
    Ok(PipelineFacts {
        bytes: bytes.len() as u64,
        references,
        is_skimmed,
    })
}

fn may_name_files(bytes: &[u8]) -> bool {
    NAMES_FILES.as_ref().is_none_or(|keys| keys.is_match(bytes))
}

fn too_large() -> DocumentError {
    DocumentError {
        message: format!("the pipeline has more than {LIMIT} bytes"),
        position: None,
    }
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
