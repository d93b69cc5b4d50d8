//! Writes the proven fix of a finding as an edit, so that GitHub and editors can show it.

use super::build_artifact_location;
use super::sarif_log::{ArtifactChange, Region, Replacement, SarifFix, SarifText};
use sluicegate_base::text::shorten_name;
use sluicegate_pipelines::findings::Fix;

/// Converts a proven fix of a finding to an edit of the file at this path. The description has the values without YAML
/// quotes, the edit has the YAML text with its quotes.
pub(super) fn build_fix(path: &str, fix: &Fix) -> SarifFix {
    let to_column = |column: u32| usize::try_from(column).ok();
    SarifFix {
        description: format!(
            "Replace `{}` with `{}`",
            shorten_name(&fix.old_value),
            shorten_name(&fix.new_value)
        )
        .into(),
        artifact_changes: [ArtifactChange {
            artifact_location: build_artifact_location(path),
            replacements: [Replacement {
                deleted_region: Region {
                    start_line: fix.start_line,
                    start_column: to_column(fix.start_column),
                    end_line: Some(fix.end_line),
                    end_column: to_column(fix.end_column),
                    snippet: None,
                },
                inserted_content: SarifText {
                    text: fix.text.clone(),
                },
            }],
        }],
    }
}

/// Estimates the size of an edit in bytes: its texts, and 300 bytes for the keys and values of fixed size.
pub(super) fn estimate_size(fix: &SarifFix) -> usize {
    let [change] = &fix.artifact_changes;
    let [replacement] = &change.replacements;
    300 + fix.description.text.len()
        + change.artifact_location.uri.len()
        + replacement.inserted_content.text.len()
}
