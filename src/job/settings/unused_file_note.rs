//! The note about a configuration file that is not used.

use super::config_file;
use crate::job::policy::GateFile;

/// Returns the note that the policy revision's configuration file cannot be used, or that only the checkout has a
/// configuration file. Returns `None` in other cases.
pub(super) fn describe_unused_file(
    file: &GateFile,
    unusable_reason: Option<&str>,
    is_repairable: bool,
) -> Option<String> {
    match (unusable_reason, file.missing_reason(), &file.checkout_text) {
        (Some(reason), _, _) => Some(describe_unusable_file(reason, is_repairable)),
        (None, Some(reason), Some(checkout_file)) => Some(describe_missing_file(
            reason,
            config_file::list_verdict_keys(checkout_file).as_deref(),
        )),
        (None, _, _) => None,
    }
}

/// Returns the note that the policy revision's configuration file is not used for this reason. The levels have their
/// defaults if the change repairs the file (`is_repairable`).
pub(super) fn describe_unusable_file(reason: &str, is_repairable: bool) -> String {
    let values = if is_repairable {
        "defaults, because the change edits the file"
    } else {
        "strictest values"
    };
    format!(
        "the configuration file that applies to this run cannot be used, so it is treated as missing, and its levels \
         (`fail-on`, `compat`, `project-checks`) have their {values}: {reason}"
    )
}

/// Returns the note that the target has no configuration file, with those keys of the checkout's file that are ignored.
/// They are unknown (`None`) if that file is not valid YAML.
fn describe_missing_file(reason: &str, ignored_keys: Option<&[&str]>) -> String {
    let Some(ignored_keys) = ignored_keys else {
        return format!(
            "{reason}, so settings that affect the verdict have their defaults: the checkout's file is not valid YAML"
        );
    };
    let keys: Vec<String> = ignored_keys.iter().map(|key| format!("`{key}`")).collect();
    let effect = match keys.as_slice() {
        [] => "the checkout's file sets none of these settings".to_owned(),
        [key] => format!("{key} of the checkout's file is ignored"),
        keys => format!("{} of the checkout's file are ignored", keys.join(", ")),
    };
    format!(
        "{reason}, so settings that affect the verdict, except `new-only`, have their defaults: {effect}. To use the \
         checkout's file in this run, the job can set --policy head (SLUICEGATE_POLICY)"
    )
}
