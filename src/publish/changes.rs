//! Compares two plans, which is possible because a plan is data.

use super::{Plan, PublishError};
use serde::Serialize;
use sluicegate_git::FileContent;
use std::collections::BTreeMap;

/// The paths that differ between two plans; each list is sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PlanChanges {
    pub added: Vec<String>,
    pub modified: Vec<String>,
    pub removed: Vec<String>,
}

/// Returns the differences from `old` to `new`, whose content hashes are `hashes`. Contents are read only if one of the
/// plans has files from disk.
pub fn changes(old: &Plan, new: &Plan, hashes: &[String]) -> Result<PlanChanges, PublishError> {
    let is_on_disk = |plan: &Plan| {
        plan.files
            .iter()
            .any(|file| matches!(file.content, FileContent::Disk(_)))
    };
    let old_hashes = if is_on_disk(old) || is_on_disk(new) {
        old.hash_all()?
    } else {
        Vec::new()
    };
    let mut gone: BTreeMap<&str, usize> = old
        .files
        .iter()
        .enumerate()
        .map(|(index, file)| (file.path.as_str(), index))
        .collect();
    let mut changes = PlanChanges::default();
    for (index, file) in new.files.iter().enumerate() {
        match gone.remove(file.path.as_str()) {
            None => changes.added.push(file.path.clone()),
            Some(before) => {
                let is_same = old.files[before].content == file.content
                    || old_hashes
                        .get(before)
                        .is_some_and(|hash| hashes.get(index) == Some(hash));
                if !is_same {
                    changes.modified.push(file.path.clone());
                }
            }
        }
    }
    changes.removed.extend(gone.into_keys().map(str::to_owned));
    Ok(changes)
}
