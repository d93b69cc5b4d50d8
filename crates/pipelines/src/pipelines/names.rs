//! Finds the component or variable that a sentence is about.
//!
//! Reviews return only sentences, but an annotation needs a line. Sentences and names come from outside, and there may
//! be thousands of each, so the search uses sorted names and never tries every name on every text.
//!
//! A guess is good enough for a line. Waivers and known findings rely on the name, so no name is returned if the text
//! may be about something else. A platform may trim the names in its texts; the name that is returned is always the one
//! that is written in the file.

use super::quotes::{self, OpenedQuote, QUOTES, is_word};
use sluicegate_base::words::words;

/// The beginning of a text about an entire pipeline, which has no line.
pub(crate) const ABOUT_THE_PIPELINE: &str = "the pipeline ";

/// The beginning of a text about the rules file.
pub(crate) const ABOUT_THE_RULES_FILE: &str = "the rules file ";

/// Maximum number of bytes of a text that are searched.
const MAX_TEXT: usize = 2048;

/// Maximum number of names of a pipeline in which an unquoted name is reliable, because each text is compared with all
/// of them.
const MAX_NAMES: usize = 5000;

/// The kind of the part of a pipeline that a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SubjectKind {
    Component,
    Variable,
}

words!(SubjectKind { Component => "component", Variable => "variable" });

/// The component or variable that a text certainly is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedSubject<'n> {
    pub kind: SubjectKind,
    /// The name as it is written in the file.
    pub name: &'n str,
}

#[derive(Debug, Clone)]
pub(super) struct Names {
    sorted: Vec<Name>,
    /// The number of names that contain a quote of each kind.
    with_quotes: [usize; QUOTES.len()],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedPipelines<'n> {
    /// The component or variable; `None` if the text may be about something else.
    pub subject: Option<NamedSubject<'n>>,
    /// The line of the key.
    pub line: u32,
}

#[derive(Debug, Clone)]
struct Name {
    /// The name, as written or trimmed.
    text: Box<str>,
    /// The name in the file, if `text` is trimmed.
    written: Option<Box<str>>,
    /// True if several names in the file have this text when they are trimmed.
    is_ambiguous: bool,
    component: Option<u32>,
    variable: Option<u32>,
    /// The index of the longest other name that is a prefix of this one.
    shorter: Option<usize>,
}

impl Names {
    /// Creates the index from the names of components and of variables, with their lines.
    pub(super) fn new<'n>(
        components: impl Iterator<Item = (&'n str, u32)>,
        variables: impl Iterator<Item = (&'n str, u32)>,
    ) -> Self {
        let components = components.map(|(text, line)| (text, Some(line), None));
        let variables = variables.map(|(text, line)| (text, None, Some(line)));
        let mut sorted: Vec<Name> = Vec::new();
        for (text, component, variable) in components.chain(variables) {
            let trimmed = trim(text);
            let is_trimmed = trimmed.len() < text.len() && !trimmed.is_empty();
            let name = |text: &str, written: Option<&str>| Name {
                text: text.into(),
                written: written.map(Into::into),
                is_ambiguous: false,
                component,
                variable,
                shorter: None,
            };
            sorted.push(name(text, None));
            if is_trimmed {
                sorted.push(name(trimmed, Some(text)));
            }
        }
        sorted.sort_by(|a, b| (&a.text, &a.written).cmp(&(&b.text, &b.written)));
        sorted.dedup_by(|later, first| {
            let is_same = later.text == first.text;
            if is_same {
                first.is_ambiguous |= later.written != first.written;
                first.component = first.component.or(later.component);
                first.variable = first.variable.or(later.variable);
            }
            is_same
        });
        link_beginnings(&mut sorted);
        let written = || sorted.iter().filter(|name| name.written.is_none());
        let with_quotes = std::array::from_fn(|kind| written().filter(|name| name.holds(kind)).count());
        Self { sorted, with_quotes }
    }

    /// Implements [`Pipeline::named_in`](super::Pipeline::named_in).
    pub(super) fn named_in(&self, text: &str) -> Option<NamedPipelines<'_>> {
        if text.starts_with(ABOUT_THE_PIPELINE) || text.starts_with(ABOUT_THE_RULES_FILE) {
            return None;
        }
        let surely = self.surely(text).or_else(|| self.alone(text));
        let (before, found) = surely.or_else(|| self.guessed(beginning(text)))?;
        let stated = stated_kind(before);
        let line = if stated == Some(SubjectKind::Variable) {
            found.variable.or(found.component)
        } else {
            found.component.or(found.variable)
        };
        let subject = surely.and_then(|_| found.subject(stated));
        line.map(|line| NamedPipelines { subject, line })
    }

    /// Returns the first quoted name of a text and the text before it, if neither the quotes nor the words before them
    /// can be part of another name. A name that contains such quotes may be truncated or escaped in the text.
    fn surely<'t>(&self, text: &'t str) -> Option<(&'t str, &Name)> {
        let first = quotes::first(text)?;
        let name = self.in_quotes(&first)?;
        let behind = first.after.get(name.text.len()..)?.strip_prefix(first.closing)?;
        let with_quotes = self.with_quotes.get(first.kind)?;
        let is_sure = *with_quotes == usize::from(name.holds(first.kind))
            && first.leaves_whole(behind)
            && first.before.len() <= MAX_TEXT
            && self.longest_word(without_kind(first.before)).is_none();
        is_sure.then_some((first.before, name))
    }

    /// Returns the only name in a text without quotes and the text before it, if no other name contains it; otherwise
    /// it could be a fragment of that name. Not used for pipelines with very many names.
    fn alone<'t>(&self, text: &'t str) -> Option<(&'t str, &Name)> {
        if text.len() > MAX_TEXT || self.sorted.len() > MAX_NAMES || quotes::has_any(text) {
            return None;
        }
        let (before, name) = self.longest_word(text)?;
        let after = text.get(before.len() + name.text.len()..)?;
        let holders = self
            .sorted
            .iter()
            .filter(|other| other.written.is_none() && other.text.contains(trim(&name.text)));
        let is_alone =
            self.longest_word(without_kind(before)).is_none() && self.longest_word(after).is_none();
        (is_alone && holders.count() == 1).then_some((before, name))
    }

    fn guessed<'t>(&self, text: &'t str) -> Option<(&'t str, &Name)> {
        self.quoted(text).or_else(|| self.longest_word(text))
    }

    /// Returns the longest quoted name, the first of several, and the text before the quote.
    fn quoted<'t>(&self, text: &'t str) -> Option<(&'t str, &Name)> {
        let quoted = quotes::opened(text).filter_map(|quote| Some((quote.before, self.in_quotes(&quote)?)));
        quoted.reduce(|first, next| {
            if next.1.text.len() > first.1.text.len() {
                next
            } else {
                first
            }
        })
    }

    fn in_quotes(&self, quote: &OpenedQuote<'_>) -> Option<&Name> {
        self.longest_start(quote.after, |_, after| after.starts_with(quote.closing))
    }

    /// Returns the longest name that is not part of a longer word, the first of several.
    fn longest_word<'t>(&self, text: &'t str) -> Option<(&'t str, &Name)> {
        let mut longest: Option<(&str, &Name)> = None;
        let mut in_word = false;
        for (at, c) in text.char_indices() {
            let (before, rest) = text.split_at(at);
            let begins = !(in_word && is_word(c));
            in_word = is_word(c);
            let found = begins.then(|| self.longest_start(rest, ends_word));
            if let Some(name) = found.flatten()
                && longest.is_none_or(|(_, known)| known.text.len() < name.text.len())
            {
                longest = Some((before, name));
            }
        }
        longest
    }

    /// Returns the longest name that is a prefix of `text` and for which `fits` accepts the rest.
    ///
    /// All names that are prefixes of `text` are prefixes of the last name that is not greater than `text`, or that
    /// name itself. The length of the prefix that it shares with `text` limits their length.
    fn longest_start(&self, text: &str, fits: impl Fn(&Name, &str) -> bool) -> Option<&Name> {
        let not_greater = self.sorted.partition_point(|name| *name.text <= *text);
        let last = not_greater.checked_sub(1)?;
        let shared = shared_bytes(&self.sorted.get(last)?.text, text);
        let mut next = Some(last);
        while let Some(name) = next.and_then(|at| self.sorted.get(at)) {
            let after = (name.text.len() <= shared).then(|| text.get(name.text.len()..));
            if after.flatten().is_some_and(|after| fits(name, after)) {
                return Some(name);
            }
            next = name.shorter;
        }
        None
    }
}

impl Name {
    /// Returns the only component or variable with this text, if the kind that the text states, if any, is its kind.
    fn subject(&self, stated: Option<SubjectKind>) -> Option<NamedSubject<'_>> {
        let kind = match (self.component, self.variable, stated) {
            _ if self.is_ambiguous => return None,
            (Some(_), _, Some(SubjectKind::Component)) | (Some(_), None, None) => SubjectKind::Component,
            (_, Some(_), Some(SubjectKind::Variable)) | (None, Some(_), None) => SubjectKind::Variable,
            _ => return None,
        };
        let name = self.written.as_deref().unwrap_or(&self.text);
        Some(NamedSubject { kind, name })
    }

    /// Returns whether the name contains a quote of this kind.
    fn holds(&self, kind: usize) -> bool {
        let quotes = QUOTES.get(kind);
        quotes.is_some_and(|(opening, closing)| self.text.contains([*opening, *closing]))
    }
}

/// Returns the part of a text that is searched.
fn beginning(text: &str) -> &str {
    let end = (0..=MAX_TEXT.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

fn shared_bytes(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// Returns whether the name ends at a word boundary. A name that ends in a symbol, such as `ready?`, always does; the
/// empty name never does.
fn ends_word(name: &Name, after: &str) -> bool {
    let is_cut = name.text.ends_with(is_word) && after.starts_with(is_word);
    !name.text.is_empty() && !is_cut
}

/// Sets each name's `shorter`. Prefixes of a name come before it in the order.
fn link_beginnings(sorted: &mut [Name]) {
    let mut open: Vec<usize> = Vec::new();
    for at in 0..sorted.len() {
        let (before, rest) = sorted.split_at_mut(at);
        let Some(name) = rest.first_mut() else { return };
        while let Some(last) = open.last()
            && !before
                .get(*last)
                .is_some_and(|shorter| name.text.starts_with(&*shorter.text))
        {
            open.pop();
        }
        name.shorter = open.last().copied();
        open.push(at);
    }
}

/// Returns the kind of the following name, if the last word of the text states it.
fn stated_kind(before: &str) -> Option<SubjectKind> {
    let word = last_word(before).1;
    let mut kinds = SubjectKind::ALL.iter().copied();
    kinds.find(|kind| word.eq_ignore_ascii_case(kind.name()))
}

/// Returns the text without a last word that states the kind of the following name.
fn without_kind(before: &str) -> &str {
    match stated_kind(before) {
        Some(_) => last_word(before).0,
        None => before,
    }
}

/// Removes whitespace and control characters around a name, which a platform may trim.
fn trim(name: &str) -> &str {
    name.trim_matches(|c: char| c.is_whitespace() || c.is_control())
}

/// Returns the text before the last word, and the last word.
fn last_word(text: &str) -> (&str, &str) {
    let text = text.trim_end_matches(|c: char| !is_word(c));
    let rest = text.trim_end_matches(is_word);
    (rest, text.strip_prefix(rest).unwrap_or_default())
}

#[cfg(test)]
mod tests;
