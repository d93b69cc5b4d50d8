//! The first lines of a change: the change to the file, and the components that will no longer run.

use super::leaf::{Leaf, PathStep};
use super::pipeline_diff::{ComponentChange, ComponentDiff, FieldDiff, PipelineDiff};
use super::value_text::truncate_name;
use crate::findings::{FileChange, format_copy_source, format_part_counts, format_rename};
use sluicegate_yaml::{NodeRef, Value};

/// The prefix of component types that the platform's designer does not know.
const UNKNOWN_TYPE: &str = "unknown-";

/// Returns the first line of a description: the path and the change to the file as a whole.
pub(super) fn describe_file_change(diff: &PipelineDiff) -> String {
    let path = &diff.path;
    match diff.change {
        FileChange::Added => {
            let counts = describe_part_counts(diff);
            format!(
                "{path}: new pipeline{counts}{}",
                format_copy_source(diff.previous_path.as_deref())
            )
        }
        FileChange::Removed => format!("{path}: pipeline removed{}", describe_part_counts(diff)),
        FileChange::Renamed => {
            let is_only_renamed = !diff.has_content_change() && !diff.layout;
            let rename = format_rename(diff.previous_path.as_deref(), is_only_renamed);
            format!("{path}: {rename}")
        }
        FileChange::Modified => format!("{path}: modified"),
        FileChange::Layout => format!("{path}: only the layout changed, not the behavior"),
        FileChange::Unreadable => {
            // The reason begins with the version: `in the base: …`.
            let reason = diff.reason.as_deref().unwrap_or_default();
            format!("{path}: cannot be read {reason}")
        }
    }
}

/// Returns the numbers of components, links and variables of an added or removed pipeline, after a colon; empty if it
/// has none of them.
fn describe_part_counts(diff: &PipelineDiff) -> String {
    let parts = [
        (diff.components.len(), "component"),
        (diff.links.len(), "link"),
        (diff.variables.len(), "variable"),
    ];
    format_part_counts(&parts)
}

/// Returns whether a run executes the component: it is not skipped, and the platform knows its type.
pub(super) fn is_executed(component: NodeRef<'_, '_>) -> bool {
    let is_skipped = component.get("skipped").and_then(NodeRef::value) == Some(Value::Boolean(true));
    let kind = component.get("type").and_then(NodeRef::text);
    !is_skipped && !kind.is_some_and(|kind| kind.starts_with(UNKNOWN_TYPE))
}

/// Returns why a component that ran before no longer runs: it is skipped now, or the platform does not know its new
/// type. Returns `None` for all other changes, and for components that were added or removed.
pub(super) fn find_stop_reason(component: &ComponentDiff) -> Option<String> {
    let is_in_both_versions = matches!(
        component.change,
        ComponentChange::Modified | ComponentChange::Renamed
    );
    if !is_in_both_versions || !component.runs_in_base {
        return None;
    }
    if find_field(component, "skipped").is_some_and(|field| field.after == Some(Leaf::Boolean(true))) {
        return Some("it is skipped".to_owned());
    }
    let kind = component
        .kind
        .as_ref()
        .filter(|kind| kind.starts_with(UNKNOWN_TYPE))?;
    Some(format!("the component's type is {}", truncate_name(kind)))
}

/// Returns the changed field with this key at the top level of the component, or `None` if that field did not change.
fn find_field<'c>(component: &'c ComponentDiff, key: &str) -> Option<&'c FieldDiff> {
    component
        .fields
        .iter()
        .find(|field| field.path == [PathStep::key(key)])
}
