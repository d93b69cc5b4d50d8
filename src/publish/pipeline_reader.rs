//! Reads the selected pipelines and keeps their references, in parallel, with a few documents at a time in memory.
//!
//! Only files that may refer to other files, or that a shared pipeline needs, are read as YAML, which is most of the
//! work.

use super::PublishError;
use super::content_reader::{ContentHash, ContentReader, hash_changeable_content};
use sluicegate_base::file_defect::FileDefect;
use sluicegate_base::overlap;
use sluicegate_git::FileContent;
use sluicegate_pipelines::pipelines::{PipelineFacts, Reference, may_refer_to_files};
use sluicegate_yaml::{DocumentError, MAX_DOCUMENT_BYTES};

/// A pipeline file to be read.
pub(super) struct PipelineToRead<'a> {
    pub content: &'a FileContent,
    /// Whether a shared pipeline needs the file, so that it is always read as YAML.
    pub is_needed: bool,
}

/// The facts about a pipeline file.
pub(super) struct PipelineFile {
    pub size: u64,
    /// The pipeline's references, or the reason why it is not a pipeline.
    pub facts: Result<PipelineFacts, DocumentError>,
    /// The reason why the content is not a pipeline, even if it was not read as YAML.
    pub defect: Option<FileDefect>,
    /// Hash of the content, if the file could change before it is sent.
    pub checked_hash: Option<ContentHash>,
}

impl PipelineFile {
    /// Returns the references of the pipeline to other files; empty if the pipeline could not be read.
    pub(super) fn references(&self) -> impl Iterator<Item = &Reference> {
        self.facts.iter().flat_map(|facts| &facts.references)
    }

    /// Returns whether the content was only searched for references to files, and not parsed because it has none.
    pub(super) fn is_skimmed(&self) -> bool {
        self.facts.as_ref().is_ok_and(|facts| facts.is_skimmed)
    }
}

/// Reads these files, and returns the facts about each in the same order. To save time, parses only the files that are
/// needed or may refer to other files.
pub(super) fn read_pipelines(
    contents: &ContentReader,
    files: &[PipelineToRead<'_>],
) -> Result<Vec<PipelineFile>, PublishError> {
    read_matching_pipelines(contents, files, &may_refer_to_files)
}

/// Reads these files, and parses those that are needed or whose bytes `needs_parsing` accepts. The others have no
/// references in the result. The files are parsed in parallel, but read one after the other, because threads that read
/// with libgit2 only wait for each other.
pub(super) fn read_matching_pipelines(
    contents: &ContentReader,
    files: &[PipelineToRead<'_>],
    needs_parsing: &dyn Fn(&[u8]) -> bool,
) -> Result<Vec<PipelineFile>, PublishError> {
    let searched_files = files.iter().map(|file| {
        let searched_file = search_file(contents, file, needs_parsing)?;
        let size = searched_file.held_bytes();
        Ok((searched_file, size))
    });
    overlap::compute_all(searched_files, &SearchedFile::into_pipeline_file)
}

/// A file that was searched for references: either complete, or still to be parsed as YAML.
enum SearchedFile {
    Complete(PipelineFile),
    Pending {
        bytes: Vec<u8>,
        checked_hash: Option<ContentHash>,
    },
}

/// Reads a file, and decides whether it must be parsed: if it is needed or `needs_parsing` accepts its bytes. Files
/// that are too large or defective are not parsed.
fn search_file(
    contents: &ContentReader,
    file: &PipelineToRead<'_>,
    needs_parsing: &dyn Fn(&[u8]) -> bool,
) -> Result<SearchedFile, PublishError> {
    let Some(bytes) = contents.read_content(file.content, MAX_DOCUMENT_BYTES)? else {
        return Ok(SearchedFile::Complete(PipelineFile {
            size: contents.read_content_size(file.content)?,
            facts: Err(DocumentError::too_large()),
            defect: None,
            checked_hash: None,
        }));
    };
    let checked_hash = hash_changeable_content(file.content, &bytes);
    if let Some(defect) = FileDefect::find_in_document(&bytes) {
        return Ok(SearchedFile::Complete(PipelineFile {
            size: bytes.len() as u64,
            facts: Err(DocumentError::for_document(format!(
                "the document {}",
                defect.reason()
            ))),
            defect: Some(defect),
            checked_hash,
        }));
    }
    Ok(if file.is_needed || needs_parsing(&bytes) {
        SearchedFile::Pending { bytes, checked_hash }
    } else {
        SearchedFile::Complete(PipelineFile {
            size: bytes.len() as u64,
            facts: Ok(PipelineFacts::for_skimmed_file()),
            defect: None,
            checked_hash,
        })
    })
}

impl SearchedFile {
    /// Returns the number of bytes that stay in memory until the file is parsed.
    const fn held_bytes(&self) -> usize {
        match self {
            Self::Complete(_) => 0,
            Self::Pending { bytes, .. } => bytes.len(),
        }
    }

    /// Returns the facts about the file. Parses its bytes if `search_file` decided that this is necessary.
    fn into_pipeline_file(self) -> PipelineFile {
        match self {
            Self::Complete(file) => file,
            Self::Pending { bytes, checked_hash } => PipelineFile {
                size: bytes.len() as u64,
                facts: PipelineFacts::parse(&bytes),
                defect: None,
                checked_hash,
            },
        }
    }
}
