//! Defines how a finding is presented, for all pages.

use sluicegate_base::text::format_count;
use sluicegate_pipelines::findings::{Finding, Severity};

/// The presentation of a finding: its level, or `Old` if it is known or waived. The worst comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tone {
    Error,
    Broken,
    Warning,
    Old,
}

impl Tone {
    pub(super) const ALL: [Self; 4] = [Self::Error, Self::Broken, Self::Warning, Self::Old];

    /// Returns the tone of a finding: `Old` if it is known or waived, otherwise its level.
    pub(super) const fn for_finding(finding: &Finding<'_>) -> Self {
        if finding.is_counted() {
            Self::for_finding_in_any_state(finding)
        } else {
            Self::Old
        }
    }

    /// Returns the tone of a finding by its level alone, as if it were neither known nor waived.
    pub(super) const fn for_finding_in_any_state(finding: &Finding<'_>) -> Self {
        match (finding.error_type, finding.severity) {
            (Some(_), _) => Self::Broken,
            (None, Severity::Error) => Self::Error,
            (None, Severity::Warning) => Self::Warning,
        }
    }

    /// Returns the CSS class of the tone in HTML pages, which is also the value of the page's level filter.
    pub(super) const fn css_class(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Broken => "broken",
            Self::Warning => "warning",
            Self::Old => "old",
        }
    }

    /// Returns the tone's label for people, in the singular.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Broken => "not evaluated",
            Self::Warning => "warning",
            Self::Old => "known or waived",
        }
    }

    /// Returns a number of findings with their label, such as `2 errors` or `3 not evaluated`.
    pub(super) fn describe_count(self, number: usize) -> String {
        match self {
            Self::Error | Self::Warning => format_count(number, self.label()),
            Self::Broken | Self::Old => format!("{number} {}", self.label()),
        }
    }
}
