//! Reads the selected pipelines and keeps their references, in parallel, with a few documents at a time in memory.
//!
//! Only files that may refer to other files, or that a shared pipeline needs, are read as YAML, which is most of the
//! work.

use super::PublishError;
use super::contents::PublishContents;
use super::unchanged::{self, Checked};
use sluicegate_base::file_defect::FileDefect;
use sluicegate_base::overlap;
use sluicegate_git::Content;
use sluicegate_pipelines::pipelines::{PipelineFacts, Reference, may_name_files};
use sluicegate_pipelines::yaml::{DocumentError, MAX_DOCUMENT_BYTES};

/// A pipeline file to be read.
pub(super) struct WantedFile<'a> {
    pub content: &'a Content,
    /// Whether a shared pipeline needs it, so that it is always read as YAML.
    pub is_needed: bool,
}

/// The facts about a pipeline file.
pub(super) struct FileFacts {
    pub bytes: u64,
    /// The pipeline's references, or the reason why it is not a pipeline.
    pub facts: Result<PipelineFacts, DocumentError>,
    /// The reason why the content is not a pipeline, even if it was not read as YAML.
    pub defect: Option<FileDefect>,
    /// Hash of the content, if the file could change before it is sent.
    pub checked: Option<Checked>,
}

impl FileFacts {
    /// Returns its references; none if it could not be read.
    pub(super) fn references(&self) -> impl Iterator<Item = &Reference> {
        self.facts.iter().flat_map(|facts| &facts.references)
    }

    pub(super) fn is_skimmed(&self) -> bool {
        self.facts.as_ref().is_ok_and(|facts| facts.is_unparsed)
    }
}

/// Returns the facts of each of these files, in their order.
///
/// They are read sequentially, as threads of libgit2 only wait for each other, and parsed in parallel.
pub(super) fn read_all(
    contents: &PublishContents,
    files: &[WantedFile<'_>],
) -> Result<Vec<FileFacts>, PublishError> {
    read_those(contents, files, &may_name_files)
}

/// Like [`read_all`], but reads as YAML only files that are needed or whose bytes satisfy `may_matter`.
pub(super) fn read_those(
    contents: &PublishContents,
    files: &[WantedFile<'_>],
    may_matter: &dyn Fn(&[u8]) -> bool,
) -> Result<Vec<FileFacts>, PublishError> {
    let skimmed = files.iter().map(|wanted| {
        let skimmed = skim(contents, wanted, may_matter)?;
        let size = skimmed.held();
        Ok((skimmed, size))
    });
    overlap::computed(skimmed, &Skimmed::facts)
}

/// A file for which it is decided whether it must be read as YAML.
enum Skimmed {
    Known(FileFacts),
    ToRead {
        bytes: Vec<u8>,
        checked: Option<Checked>,
    },
}

fn skim(
    contents: &PublishContents,
    wanted: &WantedFile<'_>,
    may_matter: &dyn Fn(&[u8]) -> bool,
) -> Result<Skimmed, PublishError> {
    let Some(bytes) = contents.read(wanted.content, MAX_DOCUMENT_BYTES)? else {
        return Ok(Skimmed::Known(FileFacts {
            bytes: contents.size(wanted.content)?,
            facts: Err(DocumentError::too_large()),
            defect: None,
            checked: None,
        }));
    };
    let checked = unchanged::checked(wanted.content, &bytes);
    if let Some(defect) = FileDefect::of_document(&bytes) {
        return Ok(Skimmed::Known(FileFacts {
            bytes: bytes.len() as u64,
            facts: Err(DocumentError::for_document(format!(
                "the document {}",
                defect.reason()
            ))),
            defect: Some(defect),
            checked,
        }));
    }
    Ok(if wanted.is_needed || may_matter(&bytes) {
        Skimmed::ToRead { bytes, checked }
    } else {
        Skimmed::Known(FileFacts {
            bytes: bytes.len() as u64,
            facts: Ok(PipelineFacts::for_unparsed_file()),
            defect: None,
            checked,
        })
    })
}

impl Skimmed {
    /// Returns the number of bytes that it keeps in memory.
    const fn held(&self) -> usize {
        match self {
            Self::Known(_) => 0,
            Self::ToRead { bytes, .. } => bytes.len(),
        }
    }

    fn facts(self) -> FileFacts {
        match self {
            Self::Known(facts) => facts,
            Self::ToRead { bytes, checked } => FileFacts {
                bytes: bytes.len() as u64,
                facts: PipelineFacts::parse(&bytes),
                defect: None,
                checked,
            },
        }
    }
}
