//! The one comparison of two sides, for publish, review, `diff`, `artifacts diff`, impact and receipts: the same pair has the
//! same answer everywhere.

use super::compare::compare;
use super::offer::Kinds;
use super::{Change, Interface, Offer};
use crate::base::git::GitError;
use std::collections::BTreeSet;

/// The changes that consumers of `old` meet in `new`. A file that is the same on both sides is not read.
pub fn between(old: &Offer<'_>, new: &Offer<'_>) -> Result<Vec<Change>, GitError> {
    let kinds = Kinds::read(old, new)?;
    Ok(compare(&old.interface, &new.interface, &kinds))
}

/// The changes between entries whose files are not looked at.
#[cfg(test)]
pub(crate) fn between_entries(old: &Interface, new: &Interface) -> Vec<Change> {
    compare(old, new, &Kinds::default())
}

/// The ids that a version offers and its commit does not list, as it was published from a working tree, and that are gone now.
/// An id that the commit's file lists, enabled or not, is judged by that file: a platform may list disabled ones, too.
pub fn beyond_the_commit(ids: &[String], old: &Interface, new: &Interface) -> Vec<Change> {
    let listed = old.entries.iter().chain(new.offered());
    let known: BTreeSet<&str> = listed.map(|it| it.id.as_str()).collect();
    let gone = ids.iter().filter(|id| !known.contains(id.as_str()));
    gone.map(|id| Change::gone(id, new)).collect()
}
