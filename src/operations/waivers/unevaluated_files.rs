//! Warns of files whose findings are unknown, so that they get no waivers.

use crate::gate::RunFindings;
use crate::session::Run;
use sluicegate_base::text::{List, format_count, shorten_name};
use std::collections::BTreeSet;

/// Maximum number of files in the warning.
const MAX_LISTED_FILES: usize = 20;

/// Warns of the files that could not be evaluated, because their findings get no waivers.
pub(crate) fn warn_of_unevaluated_files(run: &Run, run_findings: &RunFindings) {
    let unreviewed_paths = run_findings
        .unreviewed_files
        .iter()
        .map(|file| file.path.as_str());
    let mut paths: BTreeSet<&str> = unreviewed_paths.collect();
    for file in &run_findings.files {
        if file.has_unevaluated_result() {
            paths.insert(&file.path);
        }
    }
    if !paths.is_empty() {
        run.ui.warn(&format!(
            "{} could not be evaluated, so their findings get no waivers: {}\nhint: run `sluicegate check --all` to see \
             the reasons",
            format_count(paths.len(), "file"),
            List::with_limit(&paths, MAX_LISTED_FILES).map(|path| shorten_name(path))
        ));
    }
}
