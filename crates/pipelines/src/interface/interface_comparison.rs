//! Compares the interfaces of two versions: used by publish, review, `diff`, `artifacts diff`, impact and receipts, so
//! that all of them report the same changes.

use super::interface_change::source_location;
use super::{ChangedKinds, Interface, InterfaceChange, InterfaceChangeKind};
use crate::pipelines::{SharedColumn, SharedEntry, SharedParameter};
use sluicegate_yaml::Position;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the changes that consumers of `old` see in `new`. Changes to ids that `new` offers are first, in the order
/// of `new`; removed ids are last. Disabled entries are treated as not offered.
pub fn compare_interfaces(old: &Interface, new: &Interface, kinds: &ChangedKinds) -> Vec<InterfaceChange> {
    let mut old_entries: BTreeMap<&str, &SharedEntry> = old
        .offered_entries()
        .map(|entry| (entry.id.as_str(), entry))
        .collect();
    let comparison = InterfaceComparison { old, new, kinds };
    let mut changes = Vec::new();
    for entry in new.offered_entries() {
        if let Some(old_entry) = old_entries.remove(entry.id.as_str()) {
            comparison.compare_entry(&mut changes, old_entry, entry);
            continue;
        }
        let addition = InterfaceChange::for_kind(InterfaceChangeKind::PipelineAdded, &entry.id);
        changes.push(addition.with_locations(None, Some(source_location(&new.file, entry.position))));
    }
    changes.extend(
        old_entries
            .into_values()
            .map(|entry| comparison.build_pipeline_removal(entry)),
    );
    changes
}

/// Returns the removals that [`compare_interfaces`] cannot find: `ids` that the platform lists for the old version, but
/// that neither the file of its commit (`old`) lists nor `new` offers. A version that was published from a working tree
/// can have such ids. Disabled ids in `old` are skipped, because a platform may list disabled ids, too.
pub fn find_unlisted_removals(ids: &[String], old: &Interface, new: &Interface) -> Vec<InterfaceChange> {
    let listed_ids: BTreeSet<&str> = old
        .entries
        .iter()
        .chain(new.offered_entries())
        .map(|entry| entry.id.as_str())
        .collect();
    ids.iter()
        .filter(|id| !listed_ids.contains(id.as_str()))
        .map(|id| InterfaceChange::for_removed_pipeline(id, new))
        .collect()
}

/// The two versions that are compared, and the kinds of their pipelines.
struct InterfaceComparison<'a> {
    old: &'a Interface,
    new: &'a Interface,
    kinds: &'a ChangedKinds,
}

impl InterfaceComparison<'_> {
    /// Creates the change for a shared pipeline that is no longer offered, because its entry was removed or disabled.
    fn build_pipeline_removal(&self, old_entry: &SharedEntry) -> InterfaceChange {
        let disabled_entry = self.new.find_entry(&old_entry.id);
        let kind = match disabled_entry {
            Some(_) => InterfaceChangeKind::PipelineDisabled,
            None => InterfaceChangeKind::PipelineRemoved,
        };
        InterfaceChange::for_kind(kind, &old_entry.id).with_locations(
            Some(source_location(&self.old.file, old_entry.position)),
            disabled_entry.map(|entry| source_location(&self.new.file, entry.position)),
        )
    }

    /// Compares the kind, description, display name, path and parameters of two versions of a shared pipeline, and adds
    /// the differences to `changes`.
    fn compare_entry(
        &self,
        changes: &mut Vec<InterfaceChange>,
        old_entry: &SharedEntry,
        new_entry: &SharedEntry,
    ) {
        let first_new_index = changes.len();
        let [old_kind, new_kind] = self.kinds.kind_names(old_entry, new_entry);
        if old_kind != new_kind {
            changes.push(
                InterfaceChange::for_kind(InterfaceChangeKind::KindChanged, &new_entry.id)
                    .with_values(old_kind, new_kind),
            );
        }
        // The texts of the entry that are compared in the same way: the kind of change, the old and the new text.
        let texts = [
            (
                InterfaceChangeKind::DescriptionChanged,
                &old_entry.description,
                &new_entry.description,
            ),
            (
                InterfaceChangeKind::NameChanged,
                &old_entry.display_name,
                &new_entry.display_name,
            ),
        ];
        for (kind, old_text, new_text) in texts {
            if old_text != new_text {
                changes.push(
                    InterfaceChange::for_kind(kind, &new_entry.id)
                        .with_values(old_text.as_deref(), new_text.as_deref()),
                );
            }
        }
        if old_entry.pipeline != new_entry.pipeline {
            changes.push(
                InterfaceChange::for_kind(InterfaceChangeKind::PathChanged, &new_entry.id)
                    .with_values(Some(&old_entry.pipeline), Some(&new_entry.pipeline)),
            );
        }
        // The changes so far concern the entry itself, so it is their location.
        for change in &mut changes[first_new_index..] {
            change.old = Some(source_location(&self.old.file, old_entry.position));
            change.new = Some(source_location(&self.new.file, new_entry.position));
        }
        self.compare_parameters(changes, old_entry, new_entry);
    }

    /// Compares the parameters of two versions of a shared pipeline by name, and adds the differences to `changes`. A
    /// new parameter without a default breaks consumers, because they must set it.
    fn compare_parameters(
        &self,
        changes: &mut Vec<InterfaceChange>,
        old_entry: &SharedEntry,
        new_entry: &SharedEntry,
    ) {
        let mut old_parameters: BTreeMap<&str, &SharedParameter> = old_entry
            .parameters
            .iter()
            .map(|parameter| (parameter.name.as_str(), parameter))
            .collect();
        for parameter in &new_entry.parameters {
            if let Some(old_parameter) = old_parameters.remove(parameter.name.as_str()) {
                for positioned_change in compare_parameter(&new_entry.id, old_parameter, parameter) {
                    let old_location = positioned_change
                        .old_position
                        .map(|position| source_location(&self.old.file, position));
                    let new_location = source_location(&self.new.file, positioned_change.new_position);
                    changes.push(
                        positioned_change
                            .change
                            .with_locations(old_location, Some(new_location)),
                    );
                }
                continue;
            }
            // A breaking addition has two locations: the entry that had no such parameter, and the parameter.
            let (kind, old_location) = match parameter.default {
                Some(_) => (InterfaceChangeKind::ParameterAdded, None),
                None => (
                    InterfaceChangeKind::ParameterRequired,
                    Some(source_location(&self.old.file, old_entry.position)),
                ),
            };
            let new_location = source_location(&self.new.file, parameter.position);
            changes.push(
                InterfaceChange::for_kind(kind, &new_entry.id)
                    .with_parameter(&parameter.name)
                    .with_locations(old_location, Some(new_location)),
            );
        }
        for parameter in &old_entry.parameters {
            if old_parameters.contains_key(parameter.name.as_str()) {
                changes.push(
                    InterfaceChange::for_kind(InterfaceChangeKind::ParameterRemoved, &new_entry.id)
                        .with_parameter(&parameter.name)
                        .with_locations(
                            Some(source_location(&self.old.file, parameter.position)),
                            Some(source_location(&self.new.file, new_entry.position)),
                        ),
                );
            }
        }
    }
}

/// A change to a parameter or a column, with its position in the old version, if it has one, and in the new version.
struct PositionedChange {
    change: InterfaceChange,
    old_position: Option<Position>,
    new_position: Position,
}

/// Compares the type, default, export, description and columns of two versions of a parameter. `id` is that of the
/// shared pipeline.
fn compare_parameter(
    id: &str,
    old_parameter: &SharedParameter,
    new_parameter: &SharedParameter,
) -> Vec<PositionedChange> {
    let mut changes = Vec::new();
    let build_change = |kind| InterfaceChange::for_kind(kind, id).with_parameter(&new_parameter.name);
    let old_type = normalize_type(old_parameter.kind.as_deref());
    let new_type = normalize_type(new_parameter.kind.as_deref());
    if old_type != new_type {
        let (old_kind, new_kind) = (old_parameter.kind.as_deref(), new_parameter.kind.as_deref());
        changes.push(build_change(InterfaceChangeKind::TypeChanged).with_values(old_kind, new_kind));
    }
    let old_default = old_parameter.default.as_deref();
    let new_default = new_parameter.default.as_deref();
    match (old_default, new_default) {
        (Some(_), None) => {
            changes.push(build_change(InterfaceChangeKind::DefaultRemoved).with_values(old_default, None));
        }
        (None, Some(_)) => {
            changes.push(build_change(InterfaceChangeKind::DefaultAdded).with_values(None, new_default));
        }
        _ if old_default != new_default => {
            changes.push(
                build_change(InterfaceChangeKind::DefaultChanged).with_values(old_default, new_default),
            );
        }
        _ => {}
    }
    match (old_parameter.export_allowed, new_parameter.export_allowed) {
        (true, false) => changes.push(build_change(InterfaceChangeKind::ExportWithdrawn)),
        (false, true) => changes.push(build_change(InterfaceChangeKind::ExportAllowed)),
        _ => {}
    }
    let old_description = old_parameter.description.as_deref();
    let new_description = new_parameter.description.as_deref();
    if old_description != new_description {
        changes.push(
            build_change(InterfaceChangeKind::ParameterDescriptionChanged)
                .with_values(old_description, new_description),
        );
    }
    let mut positioned_changes: Vec<PositionedChange> = changes
        .into_iter()
        .map(|change| PositionedChange {
            change,
            old_position: Some(old_parameter.position),
            new_position: new_parameter.position,
        })
        .collect();
    // If the parameter became a grid or is no longer one, its type change already covers the columns.
    if old_type == new_type {
        positioned_changes.extend(compare_columns(id, old_parameter, new_parameter));
    }
    positioned_changes
}

/// Compares the columns of two versions of a parameter by name. Only a grid has columns.
fn compare_columns(
    id: &str,
    old_parameter: &SharedParameter,
    new_parameter: &SharedParameter,
) -> Vec<PositionedChange> {
    let mut old_columns: BTreeMap<&str, &SharedColumn> = old_parameter
        .columns
        .iter()
        .map(|column| (column.name.as_str(), column))
        .collect();
    let mut changes = Vec::new();
    for column in &new_parameter.columns {
        let Some(old_column) = old_columns.remove(column.name.as_str()) else {
            changes.push(PositionedChange {
                change: build_column_change(InterfaceChangeKind::ColumnAdded, id, new_parameter, column),
                old_position: None,
                new_position: column.position,
            });
            continue;
        };
        let (old_kind, new_kind) = (old_column.kind.as_deref(), column.kind.as_deref());
        if normalize_type(old_kind) != normalize_type(new_kind) {
            changes.push(PositionedChange {
                change: build_column_change(
                    InterfaceChangeKind::ColumnTypeChanged,
                    id,
                    new_parameter,
                    column,
                )
                .with_values(old_kind, new_kind),
                old_position: Some(old_column.position),
                new_position: column.position,
            });
        }
    }
    for column in &old_parameter.columns {
        if old_columns.contains_key(column.name.as_str()) {
            changes.push(PositionedChange {
                change: build_column_change(InterfaceChangeKind::ColumnRemoved, id, new_parameter, column),
                old_position: Some(column.position),
                // The column has no position in the new version, so the change is shown at its parameter.
                new_position: new_parameter.position,
            });
        }
    }
    changes
}

/// Creates a change to a column of a parameter.
fn build_column_change(
    kind: InterfaceChangeKind,
    id: &str,
    parameter: &SharedParameter,
    column: &SharedColumn,
) -> InterfaceChange {
    InterfaceChange::for_kind(kind, id)
        .with_parameter(&parameter.name)
        .with_column(&column.name)
}

/// Returns the type, with `NUMERIC` replaced by its synonym `NUMBER`.
fn normalize_type(type_name: Option<&str>) -> Option<&str> {
    match type_name {
        Some("NUMERIC") => Some("NUMBER"),
        type_name => type_name,
    }
}
