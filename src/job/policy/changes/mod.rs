//! Describes the changes in a file of the gate configuration, as sentences about its two versions.
//!
//! These are pure functions from texts to differences, one for each setting or rule, with a sentence for people. The
//! sentence states whether the change relaxes or tightens the gate, if that can be determined. Text from the files is
//! sanitized, and descriptions are bounded. Decisions use the differences, never the sentences. To support another
//! file, add a function that uses [`compare_file_versions`].

mod rule_changes;
mod setting_changes;
mod team_rule_changes;
mod waiver_changes;

pub(super) use rule_changes::find_rule;
pub use rule_changes::{compare_rules_files, describe_missing_rules_file};
pub use setting_changes::{KnownSetting, Strictness, compare_config_files};
pub use team_rule_changes::compare_team_rules_files;
pub use waiver_changes::compare_waivers_files;

use sluicegate_base::text::{self, List};
use sluicegate_pipelines::findings::Enforcement;
use sluicegate_pipelines::rules::is_worse_size;
use sluicegate_yaml::{DocumentError, shorten};
use std::cmp::{Ordering, Reverse};

/// Maximum number of sentences about one file.
const MAX_SENTENCES: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateFileVersion {
    Missing,
    /// The file exists but cannot be read, for this reason.
    Unreadable(String),
    Text(Vec<u8>),
}

/// The description of the changes in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeDescription {
    /// The differences, one sentence for each, in limited number.
    pub sentences: Vec<String>,
    /// Any difference, listed or not, relaxes the gate, if only in one respect.
    pub relaxes_gate: bool,
}

impl ChangeDescription {
    /// Creates a description of these differences. It has at most [`MAX_SENTENCES`], and the number of the others.
    pub fn from_differences(differences: Vec<Difference>) -> Self {
        let relaxes_gate = differences.iter().any(Difference::is_laxer);
        let sentences = differences.into_iter().map(|difference| difference.sentence);
        Self {
            sentences: List::with_limit(sentences, MAX_SENTENCES).entries().collect(),
            relaxes_gate,
        }
    }

    /// Adds the sentences of another description that this one does not have, and its effect.
    pub fn add(&mut self, description: Self) {
        let new_sentences: Vec<String> = description
            .sentences
            .into_iter()
            .filter(|sentence| !self.sentences.contains(sentence))
            .collect();
        self.sentences.extend(new_sentences);
        self.relaxes_gate |= description.relaxes_gate;
    }

    /// Returns the description with the path of the file before each sentence.
    #[must_use]
    pub fn with_path(mut self, path: &str) -> Self {
        for sentence in &mut self.sentences {
            *sentence = format!("{path}: {sentence}");
        }
        self
    }
}

/// The differences that a comparison lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceScope {
    /// The differences for people: of long lists, only the first ones and their number.
    Short,
    /// Every difference, to compare lists of differences with each other.
    Complete,
}

/// A difference between two versions of a file. Differences with the same sentence are not equal if the sentence omits
/// a part of a text in which they differ.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    pub sentence: String,
    /// The texts that the sentence shortens or omits, in full.
    full_texts: Vec<String>,
    /// `None` if the sentence is about the entire file.
    effect: Option<Effect>,
}

impl Difference {
    /// Creates a difference of the entire file, whose effect the sentence does not state.
    fn for_file(sentence: impl Into<String>) -> Self {
        Self {
            sentence: sentence.into(),
            full_texts: Vec::new(),
            effect: None,
        }
    }

    /// Returns the difference with texts that its sentence shortens or omits.
    fn with_full_texts<T: Into<String>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        self.full_texts.extend(texts.into_iter().map(Into::into));
        self
    }

    /// Returns whether the difference relaxes the gate, if only in one respect.
    const fn is_laxer(&self) -> bool {
        matches!(self.effect, Some(Effect::Relaxed | Effect::Mixed))
    }

    /// Returns whether the difference tightens the gate, if only in one respect, or may do so.
    pub fn is_stricter(&self, unknown_effects: UnknownEffects) -> bool {
        match self.effect {
            Some(Effect::Tightened | Effect::Mixed) => true,
            Some(Effect::Unknown) => unknown_effects == UnknownEffects::Include,
            Some(Effect::Relaxed) | None => false,
        }
    }
}

/// The effect of a difference on the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    Relaxed,
    Tightened,
    /// The change relaxes the gate in one respect, for example for some files, and tightens it in another.
    Mixed,
    /// The effect is unknown, or the difference has no effect.
    Unknown,
}

/// The treatment of differences with an unknown effect in a search for stricter settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownEffects {
    Include,
    Exclude,
}

impl Effect {
    /// Returns the effect of a change between two ranks of laxity: a higher rank relaxes the gate. The effect of a
    /// change that keeps the rank is unknown.
    fn from_laxity<T: Ord>(old: &T, new: &T) -> Self {
        match new.cmp(old) {
            Ordering::Greater => Self::Relaxed,
            Ordering::Less => Self::Tightened,
            Ordering::Equal => Self::Unknown,
        }
    }

    /// Returns the effect of a new level of a rule; `None` is a rule that is off or missing.
    fn from_levels(old: Option<Enforcement>, new: Option<Enforcement>) -> Self {
        Self::from_laxity(&Reverse(old), &Reverse(new))
    }

    /// Returns the effect of a new size that the gate accepts for this rule: the size of a waiver, or the limit of the
    /// rule itself. For a minimum, a smaller size is laxer. The effect is unknown if it is not known whether more or
    /// less is worse.
    fn from_sizes(rule: &str, old_size: u64, new_size: u64) -> Self {
        match (
            is_worse_size(rule, old_size, new_size),
            is_worse_size(rule, new_size, old_size),
        ) {
            (true, false) => Self::Relaxed,
            (false, true) => Self::Tightened,
            _ => Self::Unknown,
        }
    }

    /// Returns the opposite effect, for example for a minimum, whose larger values tighten the gate.
    const fn opposite(self) -> Self {
        match self {
            Self::Relaxed => Self::Tightened,
            Self::Tightened => Self::Relaxed,
            Self::Mixed => Self::Mixed,
            Self::Unknown => Self::Unknown,
        }
    }

    /// Returns the effect of two simultaneous changes: it is mixed if one relaxes the gate and the other tightens it.
    fn combine(self, second: Self) -> Self {
        match (self, second) {
            (effect, Self::Unknown) | (Self::Unknown, effect) => effect,
            (Self::Relaxed, Self::Relaxed) => Self::Relaxed,
            (Self::Tightened, Self::Tightened) => Self::Tightened,
            _ => Self::Mixed,
        }
    }

    /// Creates a difference with this effect, which the sentence states at its end, for example "(relaxed)".
    fn build_difference(self, sentence: &str) -> Difference {
        let label = match self {
            Self::Relaxed => "relaxed",
            Self::Tightened => "tightened",
            Self::Mixed => "relaxed and tightened",
            Self::Unknown => "changed",
        };
        Difference {
            sentence: format!("{sentence} ({label})"),
            full_texts: Vec::new(),
            effect: Some(self),
        }
    }
}

/// Lists the differences between two versions of a file, which are parsed with `parse` and compared with
/// `list_differences`. A missing version is listed as a new or removed file. If a version cannot be parsed, the
/// result contains the reason instead of the differences.
fn compare_file_versions<T: Default>(
    old: &GateFileVersion,
    new: &GateFileVersion,
    parse: impl Fn(&[u8]) -> Result<T, DocumentError>,
    list_differences: impl Fn(&T, &T) -> Vec<Difference>,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    if *old == GateFileVersion::Missing {
        differences.push(Difference::for_file("the file is new"));
    }
    let old_value = match parse_version(old, &parse) {
        Ok(value) => Some(value),
        Err(reason) => {
            differences.push(build_unreadable_difference("the version of the base", &reason));
            None
        }
    };
    if *new == GateFileVersion::Missing {
        differences.push(Difference::for_file("the file was removed"));
    }
    let new_value = match parse_version(new, &parse) {
        Ok(value) => Some(value),
        Err(reason) => {
            differences.push(build_unreadable_difference("the version of the change", &reason));
            None
        }
    };
    if let (Some(old_value), Some(new_value)) = (old_value, new_value) {
        differences.extend(list_differences(&old_value, &new_value));
    }
    differences
}

/// Parses a version of a file. For a missing file, the result is the default value. The error is the reason why the
/// version cannot be used.
fn parse_version<T: Default>(
    version: &GateFileVersion,
    parse: impl Fn(&[u8]) -> Result<T, DocumentError>,
) -> Result<T, String> {
    match version {
        GateFileVersion::Missing => Ok(T::default()),
        GateFileVersion::Unreadable(reason) => Err(reason.clone()),
        GateFileVersion::Text(bytes) => parse(bytes).map_err(|error| error.to_string()),
    }
}

fn build_unreadable_difference(version: &str, reason: &str) -> Difference {
    Difference::for_file(format!("{version} cannot be read: {}", text::escape_line(reason)))
}

/// Makes a name or a value from a file safe to print: long text is shortened, and control characters are escaped.
fn sanitize(text: &str) -> String {
    text::escape_line(&shorten(text))
}
