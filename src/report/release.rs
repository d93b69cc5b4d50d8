//! Renders a release note as Markdown: the changes for consumers, grouped by shared pipeline.

use super::markdown::{code, escape, prose};
use super::shorten;
use sluicegate_base::text::{List, count};
use sluicegate_pipelines::interface::{ChangeClass, Compatibility, InterfaceChange};
use std::fmt::Write as _;

/// Maximum number of files in the list.
const FILES: usize = 50;

/// Maximum size of the note, in bytes; hosts accept more in a release.
const WHOLE: usize = 64_000;

/// Maximum length of a name or sentence, in characters.
const LONGEST: usize = 500;

/// Returns the release note of the version `to`, compared with an older version or commit.
pub(crate) fn release_note(prefix: &str, to: &str, compat: &Compatibility) -> String {
    let heading = format!("## {} {}\n\n", named(prefix), named(to));
    heading + &consumer_changes(compat)
}

/// Returns the changes for consumers, grouped by shared pipeline, without a heading.
pub(super) fn consumer_changes(compat: &Compatibility) -> String {
    let mut note = format!("{}\n\n", lead(compat, &compat.old_name()));
    let (mut ids, mut left_out): (Vec<&str>, usize) = (Vec::new(), 0);
    for change in &compat.changes {
        if let Some(id) = change.id.as_deref().filter(|id| !ids.contains(id)) {
            ids.push(id);
        }
    }
    ids.sort_by_key(|id| std::cmp::Reverse(worst(compat, id)));
    for id in ids {
        let mut section = format!("### {}\n\n", code(&shorten::to_chars(id, LONGEST)));
        let mut of_id: Vec<&InterfaceChange> = compat
            .changes
            .iter()
            .filter(|it| it.id.as_deref() == Some(id))
            .collect();
        of_id.sort_by_key(|change| std::cmp::Reverse(change.class));
        section.extend(of_id.iter().map(|change| line(change)));
        if note.len() + section.len() < WHOLE {
            let _ = writeln!(note, "{section}");
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        let _ = writeln!(
            note,
            "{} omitted because the page is full.\n",
            count(left_out, "shared pipeline")
        );
    }
    note.push_str(&files(compat));
    note.trim_end().to_owned() + "\n"
}

fn named(text: &str) -> String {
    escape(&shorten::to_chars(text, LONGEST))
}

fn lead(compat: &Compatibility, old: &str) -> String {
    let old = named(old);
    if compat.ids_only {
        return format!("Since {old}; only the ids of shared pipelines could be compared.");
    }
    if compat.is_first() {
        return "This is the first version: there is no older one to compare with.".to_owned();
    }
    match compat.class {
        Some(ChangeClass::Breaking) => {
            let reason = compat
                .accepted
                .as_deref()
                .map(|why| format!(" Accepted: {}.", named(why)));
            format!(
                "**Changes since {old} require action by consumers.**{}",
                reason.unwrap_or_default()
            )
        }
        Some(ChangeClass::Addition) => {
            format!("Changes since {old} only add to the shared pipelines; existing uses are unaffected.")
        }
        Some(ChangeClass::None) => format!("No changes since {old}."),
        _ => format!("Changes since {old} do not affect the ids and parameters that consumers use."),
    }
}

fn worst(compat: &Compatibility, id: &str) -> ChangeClass {
    let of_id = compat.changes.iter().filter(|it| it.id.as_deref() == Some(id));
    of_id.map(|it| it.class).max().unwrap_or(ChangeClass::None)
}

fn line(change: &InterfaceChange) -> String {
    let words = prose(&shorten::to_chars(&change.describe(), LONGEST));
    match change.class {
        ChangeClass::Breaking => format!(
            "- **Breaking:** {words}. Consumers: {}.\n",
            escape(change.consumer_action())
        ),
        ChangeClass::Addition => format!("- Added: {words}; {}.\n", escape(change.consumer_action())),
        _ => format!("- Note: {words}.\n"),
    }
}

fn files(compat: &Compatibility) -> String {
    let files: Vec<&InterfaceChange> = compat.changes.iter().filter(|it| it.id.is_none()).collect();
    if files.is_empty() {
        return String::new();
    }
    let mut section = format!("### Files\n\n{}.\n\n", count(files.len(), "file") + " changed");
    let list = List::with_limit(&files, FILES).map(|change| {
        let subject = code(&shorten::to_chars(&change.subject(), LONGEST));
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
        ChangeKind, ChangedKinds, ComparedVersion, Interface, compare_interfaces,
    };

    fn note(old: &str, new: &str) -> String {
        let side =
            |entries: &str| Interface::parse("f", format!("pipelines:\n{entries}").as_bytes()).unwrap();
        let mut changes = compare_interfaces(&side(old), &side(new), &ChangedKinds::default());
        changes.push(InterfaceChange::for_file(ChangeKind::FileModified, "a|b.sql"));
        let against = ComparedVersion {
            version: Some("1.0.0".to_owned()),
            commit: None,
        };
        release_note("sales", "1.1.0", &Compatibility::new(against, changes))
    }

    #[test]
    fn a_note_is_grouped_by_shared_pipeline_the_worst_first() {
        let old = "- { id: a, pipeline: p }\n- { id: b, pipeline: p, parameters: { x: {} } }\n";
        let new = "- { id: a, pipeline: p, description: d }\n- { id: b, pipeline: p, parameters: { y: { default: 1 } } }\n- { id: c, pipeline: p }\n";
        insta::assert_snapshot!(note(old, new), @"
        ## sales 1&#46;1.0

        **Changes since version 1.0.0 require action by consumers.**

        ### <code>b</code>

        - **Breaking:** the parameter <code>x</code> is gone. Consumers: stop setting it, or set its replacement.
        - Added: the parameter <code>y</code> is new, with a default; it can be set.

        ### <code>c</code>

        - Added: it is new; it can be run.

        ### <code>a</code>

        - Note: its description changed.

        ### Files

        1 file changed.

        - <code>a&#124;b.sql</code>: the file changed
        ");
    }

    #[test]
    fn the_first_version_has_a_note() {
        let first = release_note(
            "sales",
            "1.0.0",
            &Compatibility::new(ComparedVersion::default(), Vec::new()),
        );
        insta::assert_snapshot!(first, @"
        ## sales 1&#46;0.0

        This is the first version: there is no older one to compare with.
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
