//! Formats a comparison for the terminal.

use super::{ChangeClass, Compatibility, InterfaceChangeKind};
use sluicegate_base::text::{List, format_count, shorten_name};

/// Maximum number of listed changes in each class.
const MAX_LISTED_CHANGES: usize = 50;

/// Maximum number of new shared pipelines that a note lists.
const MAX_LISTED_IDS: usize = 10;

/// The line above the changes to files.
pub const FILE_CHANGES_HEADING: &str = "other changes:";

/// The classes in descending order of importance, with their headings.
const HEADINGS: [(ChangeClass, &str); 4] = [
    (ChangeClass::Breaking, "breaks:"),
    (ChangeClass::Addition, "additions:"),
    (ChangeClass::Note, "notes:"),
    (ChangeClass::Content, FILE_CHANGES_HEADING),
];

/// Returns the changes by class, one per line, below a line with the heading of the class. At most
/// [`MAX_LISTED_CHANGES`] changes are listed for each class; a class without changes is omitted.
pub fn list_changes(compat: &Compatibility) -> Vec<String> {
    let old_name = compat.old_name();
    let mut lines = Vec::new();
    for (class, heading) in HEADINGS {
        let changes_of_class = compat.changes.iter().filter(|change| change.class == class);
        let list = List::with_limit(changes_of_class, MAX_LISTED_CHANGES)
            .map(|change| change.format_line(&old_name));
        if list.items().is_empty() {
            continue;
        }
        lines.push(heading.to_owned());
        lines.extend(list.entries().map(|entry| format!("  {entry}")));
    }
    lines
}

/// Returns the breaking changes, one per line. If there are more than [`MAX_LISTED_CHANGES`], the last line is the
/// number of omitted changes.
pub fn list_breaking_changes(compat: &Compatibility) -> Vec<String> {
    let old_name = compat.old_name();
    let list = List::with_limit(compat.breaking_changes(), MAX_LISTED_CHANGES)
        .map(|change| change.format_line(&old_name));
    list.entries().collect()
}

/// Returns a note that lists the ids of shared pipelines that are new in this version, or `None` if there are none. An
/// id can contain any text, so the caller must escape the note.
pub fn describe_new_pipelines(compat: &Compatibility) -> Option<String> {
    let new_pipelines = compat
        .changes
        .iter()
        .filter(|change| change.kind == InterfaceChangeKind::PipelineAdded);
    let ids: Vec<String> = new_pipelines
        .filter_map(|change| change.id.as_deref())
        .map(|id| format!("`{}`", shorten_name(id)))
        .collect();
    let description = format_count(ids.len(), "new shared pipeline");
    (!ids.is_empty()).then(|| format!("{description}: {}", List::with_limit(&ids, MAX_LISTED_IDS)))
}

/// Returns the number of changes of each kind that do not affect consumers, such as `1 description changed, no effect
/// on consumers`.
fn summarize_neutral_changes(kinds: &[InterfaceChangeKind]) -> String {
    let nouns: Vec<&str> = kinds
        .iter()
        .map(|kind| match kind {
            InterfaceChangeKind::DescriptionChanged | InterfaceChangeKind::ParameterDescriptionChanged => {
                "description"
            }
            InterfaceChangeKind::DefaultChanged => "default",
            InterfaceChangeKind::NameChanged => "name",
            InterfaceChangeKind::PathChanged => "path",
            _ => "detail",
        })
        .collect();
    let counts: Vec<String> = ["default", "description", "name", "path", "detail"]
        .into_iter()
        .map(|noun| {
            (
                nouns.iter().filter(|equal_noun| **equal_noun == noun).count(),
                noun,
            )
        })
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| format_count(count, noun))
        .collect();
    // A changed default is used by consumers that do not set the parameter.
    let effect = if nouns.contains(&"default") {
        "no action required of consumers"
    } else {
        "no effect on consumers"
    };
    format!("{} changed, {effect}", counts.join(" and "))
}

/// Returns the number of changes of each class, on one line, such as `1 break, 2 additions`. Adds a remark if only the
/// ids were compared, because the parameters may have changed, too, and if the changes are unknown for another reason.
pub fn summarize_changes(compat: &Compatibility) -> String {
    let parts: Vec<String> = [
        (ChangeClass::Breaking, "break"),
        (ChangeClass::Addition, "addition"),
        (ChangeClass::Note, "change"),
        (ChangeClass::Content, "other change"),
    ]
    .into_iter()
    .filter_map(|(class, noun)| {
        let changes = compat.changes.iter().filter(|change| change.class == class);
        let kinds: Vec<_> = changes.map(|change| change.kind).collect();
        match (class, kinds.as_slice()) {
            (_, []) => None,
            (ChangeClass::Note, _) => Some(summarize_neutral_changes(&kinds)),
            _ => Some(format_count(kinds.len(), noun)),
        }
    })
    .collect();
    let counts = parts.join(", ");
    match (parts.is_empty(), compat.ids_only) {
        (true, true) => "no id was removed; the parameters were not compared".to_owned(),
        (false, true) => counts + "; the parameters were not compared",
        (true, false) if compat.lacks_files => "unknown: the changed files could not be listed".to_owned(),
        (false, false) if compat.lacks_files => counts + "; the changed files could not be listed",
        (true, false) if compat.class.is_none() => "unknown: a break cannot be ruled out".to_owned(),
        (false, false) if compat.class.is_none() => counts + "; more changes are possible",
        (true, false) => "nothing changed".to_owned(),
        (false, false) => counts,
    }
}
