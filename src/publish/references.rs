//! Reads the selected pipelines and keeps what they name: all of them, in parallel, one document per thread in memory.

use super::PublishError;
use super::contents::Contents;
use super::plan::Content;
use crate::pipelines::{DocumentError, Pipeline, Reference};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// Larger pipelines are not read; the largest in use have a tenth of this.
const LIMIT: u64 = 32 * 1024 * 1024;

/// Larger pipelines are read as YAML only if they can name a file, unless a shared pipeline needs them.
const SURE: u64 = 1024 * 1024;

/// The keys by which a component names a file.
static KEYS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("orchestrationJob|transformationJob|scriptLocation").ok());

/// What is known of a pipeline file.
pub(super) struct PipelineFacts {
    pub bytes: u64,
    /// What it names, or why it is no pipeline.
    pub references: Result<Vec<Reference>, DocumentError>,
}

impl PipelineFacts {
    /// Whether the file was not read as YAML, because it is large and seems to name nothing.
    pub fn is_skimmed(&self) -> bool {
        self.bytes > SURE && self.references.as_ref().is_ok_and(Vec::is_empty)
    }
}

/// The facts of each of these files, in their order.
pub(super) fn read_all(contents: &Contents, files: &[&Content]) -> Result<Vec<PipelineFacts>, PublishError> {
    files
        .par_iter()
        .map(|content| read(contents, content, false))
        .collect()
}

/// The facts of one file; `thorough` reads it as YAML whatever its size.
pub(super) fn read(
    contents: &Contents,
    content: &Content,
    thorough: bool,
) -> Result<PipelineFacts, PublishError> {
    let Some(bytes) = contents.read(content, LIMIT)? else {
        return Ok(PipelineFacts {
            bytes: contents.size(content)?,
            references: Err(too_large()),
        });
    };
    let names_nothing = || KEYS.as_ref().is_some_and(|keys| !keys.is_match(&bytes));
    let references = if !thorough && bytes.len() as u64 > SURE && names_nothing() {
        Ok(Vec::new())
    } else {
        Pipeline::parse(&bytes).map(|pipeline| pipeline.references())
    };
    Ok(PipelineFacts {
        bytes: bytes.len() as u64,
        references,
    })
}

fn too_large() -> DocumentError {
    DocumentError {
        message: format!("the pipeline has more than {LIMIT} bytes"),
        position: None,
    }
}
