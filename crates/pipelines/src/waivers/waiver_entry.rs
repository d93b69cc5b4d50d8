//! A waiver and its text in the file.

use crate::findings::{Finding, Waiver, is_waiver_expired};
use crate::rules;
use jiff::civil::Date;
use sluicegate_yaml::format_plain_or_quoted;
use std::fmt;

/// What a waiver does for a finding that it is about. The later variants take precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaiverEffect {
    /// The size of the finding is worse than the allowed size, so the finding is not waived.
    Exceeded,
    /// The waiver allowed the finding until it expired.
    Expired,
    Allowed,
}

/// A waiver: the findings that it allows, the reason, and the last valid day.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaiverEntry {
    pub rule: String,
    /// A glob over paths from the repository root.
    pub path: String,
    /// The component or variable, otherwise the text; `None` for all findings of the rule in these files.
    pub about: Option<String>,
    /// The worst allowed size, for counting rules; `None` for any size.
    pub size: Option<u64>,
    pub reason: String,
    pub owner: Option<String>,
    /// The last day (UTC) on which it is valid; `None` if it never expires.
    pub last_day: Option<Date>,
}

impl WaiverEntry {
    /// Returns the rule, the path, and the component, variable or text. The entries in the file are ordered by these
    /// values.
    pub fn subject(&self) -> (&str, &str, Option<&str>) {
        (&self.rule, &self.path, self.about.as_deref())
    }

    /// Returns whether the waiver is no longer valid on this day.
    pub(crate) fn is_expired(&self, today: Date) -> bool {
        is_waiver_expired(self.last_day, today)
    }

    /// Returns whether the waiver is about this finding in a file that its path matches: the rule is the same, and the
    /// component is the same or not restricted. A finding that engines word in different ways has two texts.
    pub(super) fn is_about(&self, finding: &Finding<'_>) -> bool {
        let is_same_text =
            finding.identity_text.is_some() && self.about.as_deref() == finding.text.as_deref();
        self.rule == finding.rule
            && (self.about.is_none() || self.about.as_deref() == finding.identity().about || is_same_text)
    }

    /// Returns whether the size of the finding is not worse than the allowed size. If the waiver has a size, a finding
    /// of unknown size is not allowed.
    pub(super) fn allows_size_of(&self, finding: &Finding<'_>) -> bool {
        match (self.size, finding.size) {
            (None, _) => true,
            (Some(max_size), Some(size)) => !rules::is_worse_size(&self.rule, max_size, size),
            (Some(_), None) => false,
        }
    }

    /// Returns the data that reports show with a finding for which there is this waiver.
    pub(super) fn to_waiver(&self, effect: WaiverEffect) -> Waiver {
        Waiver {
            reason: self.reason.clone(),
            owner: self.owner.clone(),
            until: self.last_day,
            exceeded_size: self.size.filter(|_| effect == WaiverEffect::Exceeded),
        }
    }

    /// Describes the waiver for people: rule, path and, if the waiver has one, the component.
    pub fn describe(&self) -> String {
        let about = self.about.as_ref().map(|about| format!(", {about}"));
        format!("{} in {}{}", self.rule, self.path, about.unwrap_or_default())
    }
}

impl fmt::Display for WaiverEntry {
    /// Writes the entry as YAML on one line, without the dash before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{{ rule: {}, path: {}",
            format_plain_or_quoted(&self.rule),
            format_plain_or_quoted(&self.path)
        )?;
        if let Some(about) = &self.about {
            write!(f, ", about: {}", format_plain_or_quoted(about))?;
        }
        if let Some(size) = self.size {
            write!(f, ", size: {size}")?;
        }
        write!(f, ", reason: {}", format_plain_or_quoted(&self.reason))?;
        if let Some(owner) = &self.owner {
            write!(f, ", owner: {}", format_plain_or_quoted(owner))?;
        }
        if let Some(last_day) = self.last_day {
            write!(f, ", until: {last_day}")?;
        }
        f.write_str(" }")
    }
}
