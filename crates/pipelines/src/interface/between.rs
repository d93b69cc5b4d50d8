//! The comparison of two interfaces, used by publish, review, `diff`, `artifacts diff`, impact and receipts, so that
//! all of them report the same changes.

use super::compare::compare;
use super::offer::Kinds;
use super::{Change, Interface, Offer};
use sluicegate_git::GitError;
use std::collections::BTreeSet;

/// Returns the changes from `old` to `new` that consumers see. A file that is equal on both sides is not read.
pub fn between(old: &Offer<'_>, new: &Offer<'_>) -> Result<Vec<Change>, GitError> {
    let kinds = Kinds::read(old, new)?;
    Ok(compare(&old.interface, &new.interface, &kinds))
}

/// Compares entries without reading their files.
#[cfg(test)]
pub(crate) fn between_entries(old: &Interface, new: &Interface) -> Vec<Change> {
    compare(old, new, &Kinds::default())
}

/// Returns the removed ids that a version offers but its commit does not list, because it was published from a working
/// tree. An id that the commit's file lists, enabled or not, is compared through that file: a platform may list
/// disabled ids too.
pub fn beyond_the_commit(ids: &[String], old: &Interface, new: &Interface) -> Vec<Change> {
    let listed = old.entries.iter().chain(new.offered());
    let known: BTreeSet<&str> = listed.map(|it| it.id.as_str()).collect();
    let gone = ids.iter().filter(|id| !known.contains(id.as_str()));
    gone.map(|id| Change::gone(id, new)).collect()
}
