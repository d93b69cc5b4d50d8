//! Finds the entries that only moved within their list. They were removed from one place and added in another one, but
//! a reader only needs to know that their order changed.

use super::field_groups::{FieldGroup, format_path_steps};
use super::leaf::{Leaf, PathStep};
use super::pipeline_diff::{EntryName, FieldDiff};
use super::value_text::truncate_name;
use sluicegate_base::text::List;
use std::collections::HashMap;

/// The content of a list entry: the path of the list, the paths of the entry's values below it, and the values.
type EntryContent<'f> = (&'f [PathStep], Vec<(&'f [PathStep], &'f Leaf)>);

/// A list entry that only one version has.
struct UnpairedEntry<'f> {
    name: &'f str,
    is_added: bool,
    content: EntryContent<'f>,
    /// The names of the entries that contain the list.
    outer_entries: &'f [EntryName],
}

/// Replaces the entries of a list that were removed from one place and added with the same content in another place by
/// one group for each list, in the place of the first such entry.
pub(super) fn join_moved_entries(groups: Vec<FieldGroup<'_>>) -> Vec<FieldGroup<'_>> {
    // How often each content was removed and added.
    let mut counts: HashMap<EntryContent<'_>, [usize; 2]> = HashMap::new();
    for entry in groups.iter().filter_map(find_moved_candidate) {
        counts.entry(entry.content).or_default()[usize::from(entry.is_added)] += 1;
    }
    for [removed_count, added_count] in counts.values_mut() {
        let moved_count = (*removed_count).min(*added_count);
        (*removed_count, *added_count) = (moved_count, moved_count);
    }
    let mut joined_groups: Vec<FieldGroup<'_>> = Vec::new();
    let mut indices_by_list: HashMap<&[PathStep], usize> = HashMap::new();
    for group in groups {
        let Some(entry) = find_moved_candidate(&group).filter(|entry| take_moved_entry(&mut counts, entry))
        else {
            joined_groups.push(group);
            continue;
        };
        let (list_path, _) = entry.content;
        let group_index = *indices_by_list.entry(list_path).or_insert(joined_groups.len());
        if group_index == joined_groups.len() {
            joined_groups.push(FieldGroup::Moved {
                list_path,
                outer_entries: entry.outer_entries,
                names: Vec::new(),
            });
        }
        if let Some(FieldGroup::Moved { names, .. }) = joined_groups.get_mut(group_index)
            && entry.is_added
        {
            names.push(entry.name);
        }
    }
    joined_groups
}

/// Takes the entry from the counts. Returns whether it moved.
fn take_moved_entry<'f>(
    counts: &mut HashMap<EntryContent<'f>, [usize; 2]>,
    entry: &UnpairedEntry<'f>,
) -> bool {
    let Some(side_counts) = counts.get_mut(&entry.content) else {
        return false;
    };
    let count = &mut side_counts[usize::from(entry.is_added)];
    let is_moved = *count > 0;
    *count = count.saturating_sub(1);
    is_moved
}

/// Returns the row or the entry if only one version has it.
fn find_moved_candidate<'f>(group: &FieldGroup<'f>) -> Option<UnpairedEntry<'f>> {
    let (name, fields, list_length) = match group {
        FieldGroup::Row { name, cells } => (name, cells, cells.first()?.path.len().checked_sub(2)?),
        FieldGroup::Entry { name, fields } => (name, fields, fields.first()?.unpaired_entry()?.position),
        FieldGroup::Single(_) | FieldGroup::Moved { .. } => return None,
    };
    let is_added = fields.iter().all(|field| field.before.is_none());
    let is_removed = fields.iter().all(|field| field.after.is_none());
    if !is_added && !is_removed {
        return None;
    }
    let first_field: &FieldDiff = fields.first()?;
    let mut values = Vec::new();
    for field in fields {
        let leaf = field.after.as_ref().or(field.before.as_ref())?;
        values.push((field.path.get(list_length + 1..)?, leaf));
    }
    Some(UnpairedEntry {
        name,
        is_added,
        content: (first_field.path.get(..list_length)?, values),
        outer_entries: &first_field.entry_names,
    })
}

/// Describes the entries of a list that only moved within it.
pub(super) fn describe_moved_entries(
    list_path: &[PathStep],
    outer_entries: &[EntryName],
    names: &[&str],
) -> String {
    let list = List::new(names).map(|name| truncate_name(name));
    format!("{}: {list} moved", format_path_steps(list_path, outer_entries))
}
