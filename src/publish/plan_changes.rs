//! Compares two plans, which is possible because a plan is data.

use super::{Plan, PublishError};
use serde::Serialize;
use std::collections::BTreeMap;

/// The paths that differ between two plans; each list is sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PlanChanges {
    pub added: Vec<String>,
    pub modified: Vec<String>,
    pub removed: Vec<String>,
}

/// Returns the files that differ between two plans. `hashes` are the content hashes of the new plan's files, in the
/// order of these files. The old plan's files are hashed only if one of the plans has files from disk, because blobs
/// can be compared by their ids.
pub fn compare_plans(old: &Plan, new: &Plan, hashes: &[String]) -> Result<PlanChanges, PublishError> {
    let old_hashes = if old.has_disk_files() || new.has_disk_files() {
        old.hash_all_files()?
    } else {
        Vec::new()
    };
    // The position of each file of the old plan. The loop removes the files that the new plan has, too.
    let mut remaining_indices: BTreeMap<&str, usize> = old
        .files
        .iter()
        .enumerate()
        .map(|(index, file)| (file.path.as_str(), index))
        .collect();
    let mut changes = PlanChanges::default();
    for (index, file) in new.files.iter().enumerate() {
        match remaining_indices.remove(file.path.as_str()) {
            None => changes.added.push(file.path.clone()),
            Some(old_index) => {
                // A blob and a file on disk are different contents even if their bytes are equal: the hashes decide.
                let is_unchanged = old.files[old_index].content == file.content
                    || old_hashes
                        .get(old_index)
                        .is_some_and(|hash| hashes.get(index) == Some(hash));
                if !is_unchanged {
                    changes.modified.push(file.path.clone());
                }
            }
        }
    }
    changes
        .removed
        .extend(remaining_indices.into_keys().map(str::to_owned));
    Ok(changes)
}
