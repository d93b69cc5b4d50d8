//! Checks whether the working tree matches the head commit: as git checked it out, or with the same content.

use super::contents::PublishContents;
use super::plan::PlannedFile;
use super::{PublishError, Select, Wish};
use sluicegate_base::text::List;
use sluicegate_git::{BlobId, Checkout, CommitId, FileContent, Repository};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};

/// Maximum number of files that the warning lists.
const NAMED: usize = 5;

/// Returns a warning that lists the files that differ from the commit under whose hash they would be published.
pub(super) fn warning(
    repository: &Repository,
    head: &CommitId,
    wish: &Wish<'_>,
    contents: &PublishContents,
    files: &[PlannedFile],
) -> Result<Option<String>, PublishError> {
    let planned: BTreeMap<&str, &PlannedFile> = files.iter().map(|file| (file.path.as_str(), file)).collect();
    let concerned =
        |path: &str| wish.select == Select::All && wish.selects(path) || planned.contains_key(path);
    let committed = repository.list_files(head, &concerned)?;
    let checkout = repository.load_checkout();
    let mut unknown = planned.clone();
    let mut differing = Vec::new();
    for file in committed {
        let same = match unknown.remove(file.path.as_str()) {
            Some(planned) => is_same(contents, &checkout, planned, file.blob)?,
            None => false,
        };
        if !same {
            differing.push(file.path);
        }
    }
    differing.extend(unknown.into_keys().map(str::to_owned));
    Ok((!differing.is_empty()).then(|| sentence(head, &differing)))
}

fn sentence(head: &CommitId, differing: &[String]) -> String {
    format!(
        "the working tree differs from the commit {}, whose hash is published: {}",
        head.short(),
        List::with_limit(differing, NAMED)
    )
}

fn is_same(
    contents: &PublishContents,
    checkout: &Checkout,
    planned: &PlannedFile,
    blob: BlobId,
) -> Result<bool, PublishError> {
    if let FileContent::Disk(path) = &planned.content
        && let Ok(on_disk) = path.symlink_metadata()
        && checkout.is_unmodified_blob(&planned.path, &blob, &on_disk)
    {
        return Ok(true);
    }
    let committed = FileContent::Blob(blob);
    if contents.size(&committed)? != planned.bytes {
        return Ok(false);
    }
    let mut one = contents.open(&planned.content, planned.bytes)?;
    let mut other = contents.open(&committed, planned.bytes)?;
    Ok(equal(&mut *one, &mut *other).unwrap_or(false))
}

fn equal(one: &mut dyn Read, other: &mut dyn Read) -> std::io::Result<bool> {
    let (mut left, mut right) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let size = match one.read(&mut left) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        };
        if size == 0 {
            return Ok(other.read(&mut right[..1])? == 0);
        }
        other.read_exact(&mut right[..size])?;
        if left[..size] != right[..size] {
            return Ok(false);
        }
    }
}
