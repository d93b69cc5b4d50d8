//! Describes the changes in a file of the gate configuration, as sentences about its two versions.
//!
//! These are pure functions from texts to sentences, one for each setting or rule. A sentence states whether the change
//! relaxes or tightens the gate, if that can be determined. Text from the files is sanitized, and all output is
//! bounded. To support another file, add a function that uses [`compared`].

mod rules;
mod settings;
mod waivers;

pub use rules::of_rules;
pub use settings::{KnownSetting, Strictness, of_settings};
pub use waivers::of_waivers;

use sluicegate_base::text::{self, List};
use sluicegate_pipelines::yaml::{DocumentError, shortened};

/// Maximum number of sentences about one file.
const MOST: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateFileSide {
    Missing,
    /// The file exists but cannot be read, for this reason.
    Unreadable(String),
    Text(Vec<u8>),
}

/// The effect of a difference on the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shift {
    Relaxed,
    Tightened,
    /// The effect is unknown, or there is none.
    Other,
}

impl Shift {
    /// Compares the laxity before and after.
    fn of<T: Ord>(old: &T, new: &T) -> Self {
        match new.cmp(old) {
            std::cmp::Ordering::Greater => Self::Relaxed,
            std::cmp::Ordering::Less => Self::Tightened,
            std::cmp::Ordering::Equal => Self::Other,
        }
    }

    const fn reversed(self) -> Self {
        match self {
            Self::Relaxed => Self::Tightened,
            Self::Tightened => Self::Relaxed,
            Self::Other => Self::Other,
        }
    }

    fn told(self, sentence: &str) -> String {
        format!("{sentence}{}", self.suffix())
    }

    const fn suffix(self) -> &'static str {
        match self {
            Self::Relaxed => " (relaxed)",
            Self::Tightened => " (tightened)",
            Self::Other => " (changed)",
        }
    }
}

/// Returns the sentences about changes that tighten the gate; with `or_other`, also about those that may.
pub(super) fn stricter_of(mut said: Vec<String>, or_other: bool) -> Vec<String> {
    let is_of = |sentence: &String, shift: Shift| sentence.ends_with(shift.suffix());
    said.retain(|sentence| is_of(sentence, Shift::Tightened) || (or_other && is_of(sentence, Shift::Other)));
    said
}

/// Returns the sentences about two versions, parsed with `read`. A version that cannot be read is reported instead of
/// compared.
fn compared<T: Default>(
    (old, new): (&GateFileSide, &GateFileSide),
    read: impl Fn(&[u8]) -> Result<T, DocumentError>,
    differences: impl Fn(&T, &T) -> Vec<String>,
) -> Vec<String> {
    let mut said = Vec::new();
    let mut take = |side: &GateFileSide, version: &str, missing: &str| {
        let why = match side {
            GateFileSide::Missing => {
                said.push(missing.to_owned());
                return Some(T::default());
            }
            GateFileSide::Unreadable(why) => why.clone(),
            GateFileSide::Text(bytes) => match read(bytes) {
                Ok(value) => return Some(value),
                Err(error) => error.to_string(),
            },
        };
        said.push(format!("{version} cannot be read: {}", text::line(&why)));
        None
    };
    let old = take(old, "the version of the base", "the file is new");
    let new = take(new, "the version of the change", "the file is gone");
    if let (Some(old), Some(new)) = (old, new) {
        said.extend(differences(&old, &new));
    }
    List::with_limit(said, MOST).entries().collect()
}

/// Sanitizes a name or a value from a file for output.
fn shown(text: &str) -> String {
    text::line(&shortened(text))
}
