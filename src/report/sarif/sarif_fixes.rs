//! Writes the proven fix of a finding as an edit, so that GitHub and editors can show it.

use super::build_artifact_location;
use super::sarif_log::{ArtifactChange, Region, Replacement, SarifFix, SarifText};
use sluicegate_base::text::shorten_name;
use sluicegate_pipelines::findings::Fix;

/// Returns the edit of the file at this path.
pub(super) fn build_fix(path: &str, fix: &Fix) -> SarifFix {
    let column = |column: u32| usize::try_from(column).ok();
    SarifFix {
        description: SarifText {
            text: format!(
                "Replace `{}` with `{}`",
                shorten_name(&fix.old_value),
                shorten_name(&fix.new_value)
            ),
        },
        artifact_changes: [ArtifactChange {
            artifact_location: build_artifact_location(path),
            replacements: [Replacement {
                deleted_region: Region {
                    start_line: fix.start_line,
                    start_column: column(fix.start_column),
                    end_line: Some(fix.end_line),
                    end_column: column(fix.end_column),
                    snippet: None,
                },
                inserted_content: SarifText {
                    text: fix.text.clone(),
                },
            }],
        }],
    }
}

/// Returns the approximate size of the edit, in bytes.
pub(super) fn estimate_size(fix: &SarifFix) -> usize {
    let [change] = &fix.artifact_changes;
    let [replacement] = &change.replacements;
    300 + fix.description.text.len()
        + change.artifact_location.uri.len()
        + replacement.inserted_content.text.len()
}
