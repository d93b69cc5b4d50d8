//! Compares the interfaces of two sides: used by publish, review, `diff`, `artifacts diff`, impact and receipts, so that
//! all of them report the same changes.

use super::interface_change::source_location;
use super::{Change, ChangedKinds, Interface, What};
use crate::pipelines::{SharedColumn, SharedEntry, SharedParameter};
use crate::yaml::Position;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the changes that consumers of `old` see in `new`, by id: the ids in the order of `new`, then the removed
/// ids.
pub fn compare(old: &Interface, new: &Interface, kinds: &ChangedKinds) -> Vec<Change> {
    let mut old_entries: BTreeMap<&str, &SharedEntry> =
        old.offered().map(|entry| (entry.id.as_str(), entry)).collect();
    let comparison = InterfaceComparison { old, new, kinds };
    let mut changes = Vec::new();
    for entry in new.offered() {
        if let Some(old_entry) = old_entries.remove(entry.id.as_str()) {
            comparison.compare_entry(&mut changes, old_entry, entry);
            continue;
        }
        let addition = Change::for_kind(What::PipelineAdded, &entry.id);
        changes.push(addition.with_locations(None, Some(source_location(&new.file, entry.position))));
    }
    changes.extend(
        old_entries
            .into_values()
            .map(|entry| comparison.pipeline_removal(entry)),
    );
    changes
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

struct InterfaceComparison<'a> {
    old: &'a Interface,
    new: &'a Interface,
    kinds: &'a ChangedKinds,
}

impl InterfaceComparison<'_> {
    fn pipeline_removal(&self, old_entry: &SharedEntry) -> Change {
        let disabled_entry = self.new.find_entry(&old_entry.id);
        let kind = match disabled_entry {
            Some(_) => What::PipelineDisabled,
            None => What::PipelineRemoved,
        };
        Change::for_kind(kind, &old_entry.id).with_locations(
            Some(source_location(&self.old.file, old_entry.position)),
            disabled_entry.map(|entry| source_location(&self.new.file, entry.position)),
        )
    }

    fn compare_entry(&self, changes: &mut Vec<Change>, old_entry: &SharedEntry, new_entry: &SharedEntry) {
        let start = changes.len();
        let [old_kind, new_kind] = self.kinds.kinds_of(old_entry, new_entry);
        if old_kind != new_kind {
            changes.push(Change::for_kind(What::KindChanged, &new_entry.id).with_values(old_kind, new_kind));
        }
        let texts = [
            (
                What::DescriptionChanged,
                &old_entry.description,
                &new_entry.description,
            ),
            (
                What::NameChanged,
                &old_entry.display_name,
                &new_entry.display_name,
            ),
        ];
        for (kind, old_text, new_text) in texts {
            if old_text != new_text {
                changes.push(
                    Change::for_kind(kind, &new_entry.id)
                        .with_values(old_text.as_deref(), new_text.as_deref()),
                );
            }
        }
        if old_entry.pipeline != new_entry.pipeline {
            let moved = Change::for_kind(What::PathChanged, &new_entry.id);
            changes.push(moved.with_values(Some(&old_entry.pipeline), Some(&new_entry.pipeline)));
        }
        for change in &mut changes[start..] {
            change.old = Some(source_location(&self.old.file, old_entry.position));
            change.new = Some(source_location(&self.new.file, new_entry.position));
        }
        self.compare_parameters(changes, old_entry, new_entry);
    }

    fn compare_parameters(
        &self,
        changes: &mut Vec<Change>,
        old_entry: &SharedEntry,
        new_entry: &SharedEntry,
    ) {
        let mut old_parameters: BTreeMap<&str, &SharedParameter> = old_entry
            .parameters
            .iter()
            .map(|it| (it.name.as_str(), it))
            .collect();
        for parameter in &new_entry.parameters {
            if let Some(old_parameter) = old_parameters.remove(parameter.name.as_str()) {
                let found = compare_parameter(&new_entry.id, old_parameter, parameter);
                changes.extend(found.into_iter().map(|(change, (old, new))| {
                    let old = old.map(|position| source_location(&self.old.file, position));
                    change.with_locations(old, Some(source_location(&self.new.file, new)))
                }));
                continue;
            }
            // A breaking addition has two locations: the entry that had no such parameter, and the parameter.
            let (kind, old) = match parameter.default {
                Some(_) => (What::ParameterAdded, None),
                None => (
                    What::ParameterRequired,
                    Some(source_location(&self.old.file, old_entry.position)),
                ),
            };
            let new = source_location(&self.new.file, parameter.position);
            let added = Change::for_kind(kind, &new_entry.id).with_parameter(&parameter.name);
            changes.push(added.with_locations(old, Some(new)));
        }
        let gone = old_entry
            .parameters
            .iter()
            .filter(|it| old_parameters.contains_key(it.name.as_str()));
        changes.extend(gone.map(|parameter| {
            Change::for_kind(What::ParameterRemoved, &new_entry.id)
                .with_parameter(&parameter.name)
                .with_locations(
                    Some(source_location(&self.old.file, parameter.position)),
                    Some(source_location(&self.new.file, new_entry.position)),
                )
        }));
    }
}

/// A change, its position on the old side if there is one, and its position on the new side.
type PlacedChange = (Change, (Option<Position>, Position));

fn compare_parameter(
    id: &str,
    old_parameter: &SharedParameter,
    new_parameter: &SharedParameter,
) -> Vec<PlacedChange> {
    let mut found = Vec::new();
    let change = |kind| Change::for_kind(kind, id).with_parameter(&new_parameter.name);
    let (old_type, new_type) = (
        normalize_type(old_parameter.kind.as_deref()),
        normalize_type(new_parameter.kind.as_deref()),
    );
    if old_type != new_type {
        found.push(
            change(What::TypeChanged)
                .with_values(old_parameter.kind.as_deref(), new_parameter.kind.as_deref()),
        );
    }
    match (&old_parameter.default, &new_parameter.default) {
        (Some(_), None) => {
            found.push(change(What::DefaultRemoved).with_values(old_parameter.default.as_deref(), None))
        }
        (None, Some(_)) => {
            found.push(change(What::DefaultAdded).with_values(None, new_parameter.default.as_deref()))
        }
        (old_default, new_default) if old_default != new_default => {
            found.push(
                change(What::DefaultChanged).with_values(old_default.as_deref(), new_default.as_deref()),
            );
        }
        _ => {}
    }
    match (old_parameter.export_allowed, new_parameter.export_allowed) {
        (true, false) => found.push(change(What::ExportWithdrawn)),
        (false, true) => found.push(change(What::ExportAllowed)),
        _ => {}
    }
    if old_parameter.description != new_parameter.description {
        let texts = (
            old_parameter.description.as_deref(),
            new_parameter.description.as_deref(),
        );
        found.push(change(What::ParameterDescriptionChanged).with_values(texts.0, texts.1));
    }
    let both = (Some(old_parameter.position), new_parameter.position);
    let mut placed: Vec<PlacedChange> = found.into_iter().map(|change| (change, both)).collect();
    // A parameter that is no longer a grid has no columns, which its type change already reports.
    if old_type == new_type {
        placed.extend(compare_columns(id, old_parameter, new_parameter));
    }
    placed
}

fn compare_columns(
    id: &str,
    old_parameter: &SharedParameter,
    new_parameter: &SharedParameter,
) -> Vec<PlacedChange> {
    let change = |kind, column: &SharedColumn| {
        Change::for_kind(kind, id)
            .with_parameter(&new_parameter.name)
            .with_column(&column.name)
    };
    let mut old_columns: BTreeMap<&str, &SharedColumn> = old_parameter
        .columns
        .iter()
        .map(|it| (it.name.as_str(), it))
        .collect();
    let mut found = Vec::new();
    for column in &new_parameter.columns {
        match old_columns.remove(column.name.as_str()) {
            None => found.push((change(What::ColumnAdded, column), (None, column.position))),
            Some(old) if normalize_type(old.kind.as_deref()) != normalize_type(column.kind.as_deref()) => {
                found.push((
                    change(What::ColumnTypeChanged, column)
                        .with_values(old.kind.as_deref(), column.kind.as_deref()),
                    (Some(old.position), column.position),
                ))
            }
            Some(_) => {}
        }
    }
    let gone = old_parameter
        .columns
        .iter()
        .filter(|it| old_columns.contains_key(it.name.as_str()));
    found.extend(gone.map(|column| {
        (
            change(What::ColumnRemoved, column),
            (Some(column.position), new_parameter.position),
        )
    }));
    found
}

/// Returns the type; NUMERIC and NUMBER are the same.
fn normalize_type(type_name: Option<&str>) -> Option<&str> {
    match type_name {
        Some("NUMERIC") => Some("NUMBER"),
        type_name => type_name,
    }
}
