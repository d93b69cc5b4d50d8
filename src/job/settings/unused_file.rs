//! The note about a configuration file that is not used.

use super::config_file;
use crate::job::policy::{GateFile, UNUSABLE_POLICY_FILE};
use std::fmt;

/// A configuration file that is not used, although the policy revision or the checkout has it.
pub(super) enum UnusedFile<'a> {
    /// The policy revision's file cannot be used, for this reason. The levels have their defaults if the change repairs
    /// the file.
    Unusable { reason: &'a str, is_repairable: bool },
    /// Only the checkout has a file. It does not decide, for this reason, so these of its keys are ignored.
    NotInTarget {
        reason: &'a str,
        ignored_keys: Vec<&'static str>,
    },
    /// Only the checkout has a file, and it is not valid YAML. The reason states why it would not decide either.
    InvalidInCheckout { reason: &'a str },
}

impl<'a> UnusedFile<'a> {
    /// Finds the file that is not used; `unusable_reason` is why the policy revision's file cannot be used.
    pub(super) fn find(
        file: &'a GateFile,
        unusable_reason: Option<&'a str>,
        is_repairable: bool,
    ) -> Option<Self> {
        if let Some(reason) = unusable_reason {
            return Some(Self::Unusable {
                reason,
                is_repairable,
            });
        }
        let reason = file.missing_reason()?;
        Some(
            match config_file::list_verdict_keys(file.checkout_text.as_ref()?) {
                Some(ignored_keys) => Self::NotInTarget { reason, ignored_keys },
                None => Self::InvalidInCheckout { reason },
            },
        )
    }
}

impl fmt::Display for UnusedFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unusable {
                reason,
                is_repairable,
            } => {
                let values = if *is_repairable {
                    "defaults, because the change edits the file"
                } else {
                    "strictest values"
                };
                write!(
                    f,
                    "the configuration file {UNUSABLE_POLICY_FILE}, so it is treated as missing, and \
                     its levels (`fail-on`, `compat`, `project-checks`) have their {values}: {reason}"
                )
            }
            Self::NotInTarget { reason, ignored_keys } => {
                let effect = describe_ignored_keys(ignored_keys);
                write!(
                    f,
                    "{reason}, so settings that affect the verdict, except `new-only`, have their defaults: {effect}. \
                     To use the checkout's file in this run, the job can set --policy head (SLUICEGATE_POLICY)"
                )
            }
            Self::InvalidInCheckout { reason } => write!(
                f,
                "{reason}, so settings that affect the verdict have their defaults: the checkout's file is not valid \
                 YAML"
            ),
        }
    }
}

/// Describes the keys of the checkout's file that are ignored.
fn describe_ignored_keys(ignored_keys: &[&str]) -> String {
    match ignored_keys {
        [] => "the checkout's file sets none of these settings".to_owned(),
        [key] => format!("`{key}` of the checkout's file is ignored"),
        keys => format!("`{}` of the checkout's file are ignored", keys.join("`, `")),
    }
}
