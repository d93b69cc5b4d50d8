//! Sample reports for the tests of the writers.

use crate::ChangedFile;
use sluicegate_pipelines::findings::{ChangeCounts, ChangeSummary, FileChange};

pub(crate) use sluicegate_test_support::sample_report::*;

/// Returns a changed file without a list of changes or a picture.
pub(crate) fn changed_file(path: &str) -> ChangedFile {
    ChangedFile {
        summary: ChangeSummary {
            path: path.to_owned(),
            previous_path: None,
            change: FileChange::Modified,
            components: ChangeCounts {
                added: 1,
                modified: 2,
                ..ChangeCounts::default()
            },
            links: ChangeCounts::default(),
            variables: ChangeCounts::default(),
            other: 0,
            layout: true,
            called_by: Some(6),
            callers: Vec::new(),
            may_be_called_by: 0,
            possible_callers: Vec::new(),
            reason: None,
        },
        change_lines: Vec::new(),
        picture: None,
        touched_ranges: None,
    }
}
