//! A waiver, and how it is written.

use crate::model::findings::{Finding, Waiver};
use crate::model::rules;
use crate::model::yaml::in_double_quotes;
use jiff::civil::Date;
use std::fmt;

/// Words that some readers of YAML take for something else than text.
const WORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];

/// A waiver: what it allows, why, and until when.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaiverEntry {
    pub rule: String,
    /// A glob over paths from the repository root.
    pub path: String,
    /// The component or variable, else the words; none for all findings of the rule there.
    pub about: Option<String>,
    /// The worst size that is allowed, for the rules that count; none for any.
    pub size: Option<u64>,
    pub reason: String,
    pub owner: Option<String>,
    /// The last day (UTC) on which it holds; none without an end.
    pub until: Option<Date>,
}

impl WaiverEntry {
    /// What it is about, without why and until when: the order of the file.
    pub fn subject(&self) -> (&str, &str, Option<&str>) {
        (&self.rule, &self.path, self.about.as_deref())
    }

    /// Whether its last day was before `today`.
    pub fn is_over(&self, today: Date) -> bool {
        self.until.is_some_and(|until| until < today)
    }

    /// Whether it is about this finding of a file that its path matches. A size that is not known is not allowed.
    pub fn is_about(&self, finding: &Finding<'_>) -> bool {
        let identity = finding.identity();
        let is_small_enough = match (self.size, finding.size) {
            (None, _) => true,
            (Some(worst), Some(size)) => !rules::got_worse(&self.rule, worst, size),
            (Some(_), None) => false,
        };
        self.rule == finding.rule
            && (self.about.is_none() || self.about.as_deref() == identity.about)
            && is_small_enough
    }

    /// What it says of a finding.
    pub fn waiver(&self) -> Waiver {
        Waiver {
            reason: self.reason.clone(),
            owner: self.owner.clone(),
            until: self.until,
        }
    }

    /// What it is about, for people.
    pub fn in_words(&self) -> String {
        let about = self.about.as_ref().map(|about| format!(", {about}"));
        format!("{} in {}{}", self.rule, self.path, about.unwrap_or_default())
    }
}

impl fmt::Display for WaiverEntry {
    /// The entry of the file, without its dash: one line, whatever its texts are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{ rule: {}, path: {}", scalar(&self.rule), scalar(&self.path))?;
        if let Some(about) = &self.about {
            write!(f, ", about: {}", scalar(about))?;
        }
        if let Some(size) = self.size {
            write!(f, ", size: {size}")?;
        }
        write!(f, ", reason: {}", scalar(&self.reason))?;
        if let Some(owner) = &self.owner {
            write!(f, ", owner: {}", scalar(owner))?;
        }
        if let Some(until) = self.until {
            write!(f, ", until: {until}")?;
        }
        f.write_str(" }")
    }
}

/// The text as a scalar of YAML: plain where every reader takes it for this text, else quoted.
fn scalar(text: &str) -> String {
    let is_safe = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '/' | '.' | '_' | '-');
    let is_plain = text.starts_with(char::is_alphabetic)
        && text.chars().all(is_safe)
        && !text.ends_with(' ')
        && !WORDS.contains(&text.to_lowercase().as_str());
    if is_plain {
        return text.to_owned();
    }
    in_double_quotes(text)
}
