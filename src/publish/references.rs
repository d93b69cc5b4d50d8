//! Reads the selected pipelines and keeps what they name, in parallel, a few documents at a time in memory.
//!
//! Only those that can name a file are read as YAML, which is most of the work, and those that a shared pipeline needs.

use super::PublishError;
use super::contents::PublishContents;
use super::unchanged::{self, Checked};
use crate::base::git::Content;
use crate::model::pipelines::{PipelineFacts, Reference, may_name_files};
use crate::model::yaml::{DOCUMENT_LIMIT, DocumentError};
use rayon::iter::{IntoParallelIterator, ParallelExtend, ParallelIterator};

/// So much is held in memory before it is read as YAML, in bytes.
const HELD: usize = 4 * 1024 * 1024;

/// A pipeline file to be read.
pub(super) struct WantedFile<'a> {
    pub content: &'a Content,
    /// Whether a shared pipeline needs it, so that it is read as YAML whatever it names.
    pub is_needed: bool,
}

/// What is known of a pipeline file.
pub(super) struct FileFacts {
    pub bytes: u64,
    /// What it names, or why it is no pipeline.
    pub facts: Result<PipelineFacts, DocumentError>,
    /// The hash of what was read, where the file could change before it is sent.
    pub checked: Option<Checked>,
}

impl FileFacts {
    /// What it names; nothing where it cannot be read.
    pub(super) fn references(&self) -> impl Iterator<Item = &Reference> {
        self.facts.iter().flat_map(|facts| &facts.references)
    }

    pub(super) fn is_skimmed(&self) -> bool {
        self.facts.as_ref().is_ok_and(|facts| facts.is_skimmed)
    }
}

/// The facts of each of these files, in their order.
///
/// They are read one after the other, as libgit2's threads only wait for each other, and parsed in parallel.
pub(super) fn read_all(
    contents: &PublishContents,
    files: &[WantedFile<'_>],
) -> Result<Vec<FileFacts>, PublishError> {
    read_those(contents, files, &may_name_files)
}

/// Like [`read_all`], but reads as YAML only the files of whose bytes `may_matter` is true.
pub(super) fn read_those(
    contents: &PublishContents,
    files: &[WantedFile<'_>],
    may_matter: &dyn Fn(&[u8]) -> bool,
) -> Result<Vec<FileFacts>, PublishError> {
    let mut facts = Vec::with_capacity(files.len());
    let mut rest = files.iter();
    while rest.len() > 0 {
        let window = skim_some(contents, &mut rest, may_matter)?;
        facts.par_extend(window.into_par_iter().map(Skimmed::facts));
    }
    Ok(facts)
}

/// The next files, until enough is held in memory.
fn skim_some<'w>(
    contents: &PublishContents,
    rest: &mut impl Iterator<Item = &'w WantedFile<'w>>,
    may_matter: &dyn Fn(&[u8]) -> bool,
) -> Result<Vec<Skimmed>, PublishError> {
    let (mut window, mut held) = (Vec::new(), 0);
    while held < HELD
        && let Some(wanted) = rest.next()
    {
        let skimmed = skim(contents, wanted, may_matter)?;
        held += skimmed.held();
        window.push(skimmed);
    }
    Ok(window)
}

/// A file of which is known whether it must be read as YAML.
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
    let Some(bytes) = contents.read(wanted.content, DOCUMENT_LIMIT)? else {
        return Ok(Skimmed::Known(FileFacts {
            bytes: contents.size(wanted.content)?,
            facts: Err(DocumentError::too_large()),
            checked: None,
        }));
    };
    let checked = unchanged::checked(wanted.content, &bytes);
    Ok(if wanted.is_needed || may_matter(&bytes) {
        Skimmed::ToRead { bytes, checked }
    } else {
        Skimmed::Known(FileFacts {
            bytes: bytes.len() as u64,
            facts: Ok(PipelineFacts::skimmed()),
            checked,
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

    fn facts(self) -> FileFacts {
        match self {
            Self::Known(facts) => facts,
            Self::ToRead { bytes, checked } => FileFacts {
                bytes: bytes.len() as u64,
                facts: PipelineFacts::parse(&bytes),
                checked,
            },
        }
    }
}
