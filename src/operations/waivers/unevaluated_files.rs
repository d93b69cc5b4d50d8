//! Warns of files whose findings are unknown, so that they get no waivers.

use crate::gate::RunFindings;
use crate::session::Session;
use sluicegate_base::text::{List, format_count, shorten_name};

/// Maximum number of files in the warning.
const MAX_LISTED_FILES: usize = 20;

/// Warns of the files that could not be evaluated, because their findings get no waivers.
pub(crate) fn warn_of_unevaluated_files(session: &Session, run_findings: &RunFindings) {
    let files = run_findings.list_unevaluated_files();
    if !files.is_empty() {
        let message = format!(
            "{} could not be evaluated, so {} findings get no waivers: {}",
            format_count(files.len(), "file"),
            if files.len() == 1 { "its" } else { "their" },
            List::with_limit(&files, MAX_LISTED_FILES).map(|file| shorten_name(&file.path))
        );
        session
            .ui
            .warn_with_hint(&message, "run `sluicegate check --all` to see the reasons");
    }
}
