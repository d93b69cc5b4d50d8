//! Finds out whether current findings lack a waiver.

use super::add::{WaiverTerms, build_entries};
use crate::error::Failure;
use crate::gate::waivers::{build_waivers, today};
use crate::job::policy::NamedText;
use crate::workspace::Workspace;
use sluicegate_pipelines::findings::FileResults;
use sluicegate_pipelines::rules::RuleSet;
use sluicegate_pipelines::waivers::{FILE_NAME, OldNames};

/// Returns whether a finding in `files` can have a waiver and has none in this waivers file. A file that cannot be used
/// has no waivers.
pub(crate) fn has_unwaived_findings(
    workspace: &Workspace<'_>,
    waivers_text: String,
    rules: Option<&RuleSet>,
    files: &[FileResults],
) -> Result<bool, Failure> {
    let named_text = NamedText {
        name: FILE_NAME.to_owned(),
        text: waivers_text,
    };
    let entries = workspace.parse_waivers(&named_text, rules).unwrap_or_default();
    let mut files = files.to_vec();
    build_waivers(entries, FILE_NAME)?.mark_findings(&mut files, &OldNames::default(), today());
    let no_terms = WaiverTerms {
        reason: String::new(),
        owner: None,
        last_day: None,
    };
    Ok(!build_entries(&files, &no_terms).is_empty())
}
