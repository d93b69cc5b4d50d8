//! Renders a release note as Markdown: the changes for consumers, grouped by shared pipeline.

use super::markdown::{escape, escape_prose, render_code};
use super::truncation;
use sluicegate_base::text::{List, format_count};
use sluicegate_pipelines::interface::{ChangeClass, Compatibility, InterfaceChange, InterfaceChangeKind};
use std::fmt::Write as _;

/// Maximum number of files in the list.
const MAX_LISTED_FILES: usize = 50;

/// Maximum size of the note, in bytes; hosts accept more in a release.
const MAX_NOTE_BYTES: usize = 64_000;

/// Maximum length of a name or sentence, in characters.
const MAX_TEXT_CHARS: usize = 500;

/// The statement, without its period, that there was no version to compare with.
pub(super) const NO_ENABLED_VERSION: &str =
    "No older version is enabled, so the changes for consumers were not compared";

/// Renders the release note of a version: a heading with the prefix and the name of the version, then the changes for
/// consumers since an older version or commit.
pub fn render_release_note(prefix: &str, version_name: &str, compat: &Compatibility) -> String {
    let heading = format!(
        "## {} {}\n\n",
        shorten_and_escape(prefix),
        shorten_and_escape(version_name)
    );
    heading + &render_consumer_changes(compat)
}

/// Renders the changes for consumers, grouped by shared pipeline, the most severe first, then the changed files. Shared
/// pipelines that do not fit are only counted.
pub(super) fn render_consumer_changes(compat: &Compatibility) -> String {
    let mut note = format!("{}\n\n", describe_overall_change(compat, &compat.old_name()));
    if compat.lacks_files {
        note.push_str("The changed files could not be listed.\n\n");
    }
    let mut omitted_count = 0;
    for id in list_changed_ids(compat) {
        let section = render_shared_pipeline_changes(compat, id);
        if note.len() + section.len() < MAX_NOTE_BYTES {
            let _ = writeln!(note, "{section}");
        } else {
            omitted_count += 1;
        }
    }
    if omitted_count > 0 {
        let _ = writeln!(
            note,
            "{} omitted because the page is full.\n",
            format_count(omitted_count, "shared pipeline")
        );
    }
    note.push_str(&render_file_changes(compat));
    note.trim_end().to_owned() + "\n"
}

/// Lists the ids of the shared pipelines that changed, each once, those with the most severe changes first.
fn list_changed_ids(compat: &Compatibility) -> Vec<&str> {
    let mut ids: Vec<&str> = Vec::new();
    for change in &compat.changes {
        // A change without an id is about a file.
        if let Some(id) = change.id.as_deref().filter(|id| !ids.contains(id)) {
            ids.push(id);
        }
    }
    ids.sort_by_key(|id| std::cmp::Reverse(find_worst_class(compat, id)));
    ids
}

/// Renders the changes to the shared pipeline with this id below a heading, the most severe first.
fn render_shared_pipeline_changes(compat: &Compatibility, id: &str) -> String {
    let mut section = format!(
        "### {}\n\n",
        render_code(&truncation::truncate(id, MAX_TEXT_CHARS))
    );
    let mut id_changes: Vec<&InterfaceChange> = compat
        .changes
        .iter()
        .filter(|change| change.id.as_deref() == Some(id))
        .collect();
    id_changes.sort_by_key(|change| std::cmp::Reverse(change.class));
    section.extend(id_changes.into_iter().map(render_change));
    section
}

/// Truncates a name or sentence to its maximum length and escapes it for Markdown.
fn shorten_and_escape(text: &str) -> String {
    escape(&truncation::truncate(text, MAX_TEXT_CHARS))
}

/// Describes what the changes since the older version mean for consumers, according to the most severe class of the
/// changes. If breaking changes were accepted, adds the reason. If only ids were compared, or if there is no older
/// version, reports this instead.
fn describe_overall_change(compat: &Compatibility, old_name: &str) -> String {
    let old_name = shorten_and_escape(old_name);
    if compat.ids_only {
        return format!("Only the ids of shared pipelines could be compared with {old_name}.");
    }
    if compat.is_first() {
        return format!("{NO_ENABLED_VERSION}.");
    }
    match compat.class {
        Some(ChangeClass::Breaking) => {
            let reason = compat
                .accepted
                .as_deref()
                .map(|reason| format!(" Accepted: {}.", shorten_and_escape(reason)));
            format!(
                "**Changes since {old_name} require action by consumers.**{}",
                reason.unwrap_or_default()
            )
        }
        Some(ChangeClass::Addition) => {
            format!(
                "Changes since {old_name} only add to the shared pipelines; existing uses are unaffected."
            )
        }
        Some(ChangeClass::None) => format!("No changes since {old_name}."),
        None => format!("The changes since {old_name} are unknown."),
        _ => format!("Changes since {old_name} do not affect the ids and parameters that consumers use."),
    }
}

/// Returns the most severe class of the changes to the shared pipeline with this id.
fn find_worst_class(compat: &Compatibility, id: &str) -> ChangeClass {
    compat
        .changes
        .iter()
        .filter(|change| change.id.as_deref() == Some(id))
        .map(|change| change.class)
        .max()
        .unwrap_or(ChangeClass::None)
}

/// Renders a change as a list item, with the action that it requires from consumers.
fn render_change(change: &InterfaceChange) -> String {
    let description = escape_prose(&truncation::truncate(&change.describe(), MAX_TEXT_CHARS));
    match change.class {
        ChangeClass::Breaking => format!(
            "- **Breaking:** {description}. Consumers: {}.\n",
            escape(change.consumer_action())
        ),
        // The action, that the pipeline can be run, would only repeat the description.
        ChangeClass::Addition if change.kind == InterfaceChangeKind::PipelineAdded => {
            format!("- Added: {description}.\n")
        }
        ChangeClass::Addition => format!("- Added: {description}; {}.\n", escape(change.consumer_action())),
        _ => format!("- Note: {description}.\n"),
    }
}

/// Renders the changes without an id, which are about files; empty if there are none.
fn render_file_changes(compat: &Compatibility) -> String {
    let file_changes: Vec<&InterfaceChange> = compat
        .changes
        .iter()
        .filter(|change| change.id.is_none())
        .collect();
    if file_changes.is_empty() {
        return String::new();
    }
    let mut section = format!(
        "### Files\n\n{} changed.\n\n",
        format_count(file_changes.len(), "file")
    );
    let list = List::with_limit(&file_changes, MAX_LISTED_FILES).map(|change| {
        let subject = render_code(&truncation::truncate(&change.subject(), MAX_TEXT_CHARS));
        // The description of a change to a file is a fixed text, so it is not escaped.
        format!("{subject}: {}", change.describe())
    });
    for entry in list.entries() {
        let _ = writeln!(section, "- {entry}");
    }
    section
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_pipelines::interface::{
        ChangedKinds, ComparedVersion, Interface, InterfaceChangeKind, compare_interfaces,
    };

    fn note(old: &str, new: &str) -> String {
        let side =
            |entries: &str| Interface::parse("f", format!("pipelines:\n{entries}").as_bytes()).unwrap();
        let mut changes = compare_interfaces(&side(old), &side(new), &ChangedKinds::default());
        changes.push(InterfaceChange::for_file(
            InterfaceChangeKind::FileModified,
            "a|b.sql",
        ));
        let against = ComparedVersion {
            version: Some("1.0.0".to_owned()),
            commit: None,
        };
        render_release_note("sales", "1.1.0", &Compatibility::new(against, changes))
    }

    #[test]
    fn note_is_grouped_by_shared_pipeline_the_worst_first() {
        let old = "- { id: a, pipeline: p }\n- { id: b, pipeline: p, parameters: { x: {} } }\n";
        let new = "- { id: a, pipeline: p, description: d }\n- { id: b, pipeline: p, parameters: { y: { default: 1 } } }\n- { id: c, pipeline: p }\n";
        insta::assert_snapshot!(note(old, new), @"
        ## sales 1&#46;1.0

        **Changes since version 1.0.0 require action by consumers.**

        ### <code>b</code>

        - **Breaking:** the parameter <code>x</code> was removed. Consumers: stop setting the parameter, or set its replacement.
        - Added: the parameter <code>y</code> is new, with a default; the parameter can be set.

        ### <code>c</code>

        - Added: the shared pipeline is new.

        ### <code>a</code>

        - Note: the pipeline's description changed.

        ### Files

        1 file changed.

        - <code>a&#124;b.sql</code>: the file changed
        ");
    }

    #[test]
    fn note_without_enabled_older_version_claims_no_first_version() {
        let note = render_release_note(
            "sales",
            "1.0.0",
            &Compatibility::new(ComparedVersion::default(), Vec::new()),
        );
        insta::assert_snapshot!(note, @"
        ## sales 1&#46;0.0

        No older version is enabled, so the changes for consumers were not compared.
        ");
    }

    #[test]
    fn names_are_text() {
        let old = "- { id: \"a\\n# <b>[x](y)|@all\", pipeline: p }\n";
        let note = note(old, "- { id: z, pipeline: p }\n");
        assert!(
            !note.contains("<b>") && !note.contains("[x]") && !note.contains("\n# "),
            "{note}"
        );
        assert!(!note.contains("@all"), "{note}");
    }
}
