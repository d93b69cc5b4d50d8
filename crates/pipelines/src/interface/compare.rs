//! Compares the interfaces of two sides: used by publish, review, `diff`, `artifacts diff`, impact and receipts, so that
//! all of them report the same changes.

use super::change::place;
use super::{Change, ChangedKinds, Interface, What};
use crate::pipelines::{SharedColumn, SharedEntry, SharedParameter};
use crate::yaml::Position;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the changes that consumers of `old` see in `new`, by id: the ids in the order of `new`, then the removed
/// ids.
pub fn compare(old: &Interface, new: &Interface, kinds: &ChangedKinds) -> Vec<Change> {
    let mut before: BTreeMap<&str, &SharedEntry> =
        old.offered().map(|entry| (entry.id.as_str(), entry)).collect();
    let sides = InterfaceSides { old, new, kinds };
    let mut changes = Vec::new();
    for entry in new.offered() {
        if let Some(was) = before.remove(entry.id.as_str()) {
            sides.entry(&mut changes, was, entry);
            continue;
        }
        let added = Change::of(What::PipelineAdded, &entry.id);
        changes.push(added.places(None, Some(place(&new.file, entry.position))));
    }
    changes.extend(before.into_values().map(|entry| sides.gone(entry)));
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

struct InterfaceSides<'a> {
    old: &'a Interface,
    new: &'a Interface,
    kinds: &'a ChangedKinds,
}

impl InterfaceSides<'_> {
    fn gone(&self, was: &SharedEntry) -> Change {
        let disabled = self.new.entry(&was.id);
        let what = match disabled {
            Some(_) => What::PipelineDisabled,
            None => What::PipelineRemoved,
        };
        Change::of(what, &was.id).places(
            Some(place(&self.old.file, was.position)),
            disabled.map(|entry| place(&self.new.file, entry.position)),
        )
    }

    fn entry(&self, changes: &mut Vec<Change>, was: &SharedEntry, is: &SharedEntry) {
        let start = changes.len();
        let [before, after] = self.kinds.of(was, is);
        if before != after {
            changes.push(Change::of(What::KindChanged, &is.id).values(before, after));
        }
        let texts = [
            (What::DescriptionChanged, &was.description, &is.description),
            (What::NameChanged, &was.display_name, &is.display_name),
        ];
        for (what, before, after) in texts {
            if before != after {
                changes.push(Change::of(what, &is.id).values(before.as_deref(), after.as_deref()));
            }
        }
        if was.pipeline != is.pipeline {
            let moved = Change::of(What::PathChanged, &is.id);
            changes.push(moved.values(Some(&was.pipeline), Some(&is.pipeline)));
        }
        for change in &mut changes[start..] {
            change.old = Some(place(&self.old.file, was.position));
            change.new = Some(place(&self.new.file, is.position));
        }
        self.parameters(changes, was, is);
    }

    fn parameters(&self, changes: &mut Vec<Change>, was: &SharedEntry, is: &SharedEntry) {
        let mut before: BTreeMap<&str, &SharedParameter> =
            was.parameters.iter().map(|it| (it.name.as_str(), it)).collect();
        for parameter in &is.parameters {
            if let Some(was) = before.remove(parameter.name.as_str()) {
                let found = of_parameter(&is.id, was, parameter);
                changes.extend(found.into_iter().map(|(change, (old, new))| {
                    let old = old.map(|position| place(&self.old.file, position));
                    change.places(old, Some(place(&self.new.file, new)))
                }));
                continue;
            }
            // A breaking addition has two locations: the entry that had no such parameter, and the parameter.
            let (what, old) = match parameter.default {
                Some(_) => (What::ParameterAdded, None),
                None => (What::ParameterRequired, Some(place(&self.old.file, was.position))),
            };
            let new = place(&self.new.file, parameter.position);
            let added = Change::of(what, &is.id).parameter(&parameter.name);
            changes.push(added.places(old, Some(new)));
        }
        let gone = was
            .parameters
            .iter()
            .filter(|it| before.contains_key(it.name.as_str()));
        changes.extend(gone.map(|parameter| {
            Change::of(What::ParameterRemoved, &is.id)
                .parameter(&parameter.name)
                .places(
                    Some(place(&self.old.file, parameter.position)),
                    Some(place(&self.new.file, is.position)),
                )
        }));
    }
}

/// A change, its position on the old side if there is one, and its position on the new side.
type PlacedChange = (Change, (Option<Position>, Position));

fn of_parameter(id: &str, was: &SharedParameter, is: &SharedParameter) -> Vec<PlacedChange> {
    let mut found = Vec::new();
    let change = |what| Change::of(what, id).parameter(&is.name);
    let (old_type, new_type) = (type_of(was.kind.as_deref()), type_of(is.kind.as_deref()));
    if old_type != new_type {
        found.push(change(What::TypeChanged).values(was.kind.as_deref(), is.kind.as_deref()));
    }
    match (&was.default, &is.default) {
        (Some(_), None) => found.push(change(What::DefaultRemoved).values(was.default.as_deref(), None)),
        (None, Some(_)) => found.push(change(What::DefaultAdded).values(None, is.default.as_deref())),
        (before, after) if before != after => {
            found.push(change(What::DefaultChanged).values(before.as_deref(), after.as_deref()));
        }
        _ => {}
    }
    match (was.export_allowed, is.export_allowed) {
        (true, false) => found.push(change(What::ExportWithdrawn)),
        (false, true) => found.push(change(What::ExportAllowed)),
        _ => {}
    }
    if was.description != is.description {
        let texts = (was.description.as_deref(), is.description.as_deref());
        found.push(change(What::ParameterDescriptionChanged).values(texts.0, texts.1));
    }
    let both = (Some(was.position), is.position);
    let mut placed: Vec<PlacedChange> = found.into_iter().map(|change| (change, both)).collect();
    // A parameter that is no longer a grid has no columns, which its type change already reports.
    if old_type == new_type {
        placed.extend(of_columns(id, was, is));
    }
    placed
}

fn of_columns(id: &str, was: &SharedParameter, is: &SharedParameter) -> Vec<PlacedChange> {
    let change = |what, column: &SharedColumn| Change::of(what, id).parameter(&is.name).column(&column.name);
    let mut before: BTreeMap<&str, &SharedColumn> =
        was.columns.iter().map(|it| (it.name.as_str(), it)).collect();
    let mut found = Vec::new();
    for column in &is.columns {
        match before.remove(column.name.as_str()) {
            None => found.push((change(What::ColumnAdded, column), (None, column.position))),
            Some(old) if type_of(old.kind.as_deref()) != type_of(column.kind.as_deref()) => found.push((
                change(What::ColumnTypeChanged, column).values(old.kind.as_deref(), column.kind.as_deref()),
                (Some(old.position), column.position),
            )),
            Some(_) => {}
        }
    }
    let gone = was
        .columns
        .iter()
        .filter(|it| before.contains_key(it.name.as_str()));
    found.extend(gone.map(|column| {
        (
            change(What::ColumnRemoved, column),
            (Some(column.position), is.position),
        )
    }));
    found
}

/// Returns the type; NUMERIC and NUMBER are the same.
fn type_of(written: Option<&str>) -> Option<&str> {
    match written {
        Some("NUMERIC") => Some("NUMBER"),
        other => other,
    }
}
