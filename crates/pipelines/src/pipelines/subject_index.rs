//! Finds the component or variable that a sentence is about.
//!
//! Reviews return only sentences, but an annotation needs a line. A review may have thousands of sentences and a
//! pipeline thousands of names, so the search uses sorted names and never tries every name on every text.
//!
//! A guess is good enough for a line. Waivers and known findings rely on the name, so no name is returned if the text
//! may be about something else. A platform may trim the names in its texts; the name that is returned is always the one
//! that is written in the file.

use super::quoted_names::QuotedNames;
use super::quotes::{self, OpenedQuote, QUOTES, is_word_char};
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
    /// The name in the spelling of the file.
    pub name: &'n str,
}

/// The names in a pipeline, sorted once, because there can be many texts.
#[derive(Debug, Clone)]
pub struct SubjectIndex {
    sorted_names: Vec<IndexedName>,
    /// The names that contain a quote of each kind.
    quoted_names: [QuotedNames; QUOTES.len()],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubjectMatch<'n> {
    /// The component or variable; `None` if the text may be about something else.
    pub subject: Option<NamedSubject<'n>>,
    /// The line of the key.
    pub line: u32,
}

#[derive(Debug, Clone)]
struct IndexedName {
    /// The name, as written or trimmed.
    text: Box<str>,
    /// The name in the file, if `text` is trimmed.
    original: Option<Box<str>>,
    /// True if several names in the file have this text when they are trimmed.
    is_ambiguous: bool,
    /// The line of the component of this name.
    component: Option<u32>,
    /// The line of the variable of this name.
    variable: Option<u32>,
    /// The index of the longest other name that is a prefix of this name.
    longest_prefix_index: Option<usize>,
}

impl SubjectIndex {
    /// Creates the index from the names of components and of variables, with their lines. A name with blanks at its
    /// ends is also indexed without them, because a platform may trim it. Equal names are merged into one, which is
    /// ambiguous if the names in the file differ.
    pub(super) fn new<'n>(
        components: impl Iterator<Item = (&'n str, u32)>,
        variables: impl Iterator<Item = (&'n str, u32)>,
    ) -> Self {
        let components = components.map(|(text, line)| (text, Some(line), None));
        let variables = variables.map(|(text, line)| (text, None, Some(line)));
        let mut sorted_names: Vec<IndexedName> = Vec::new();
        for (text, component_line, variable_line) in components.chain(variables) {
            let trimmed_text = trim_name(text);
            let is_trimmed = trimmed_text.len() < text.len() && !trimmed_text.is_empty();
            let name = IndexedName {
                text: text.into(),
                original: None,
                is_ambiguous: false,
                component: component_line,
                variable: variable_line,
                longest_prefix_index: None,
            };
            if is_trimmed {
                sorted_names.push(IndexedName {
                    text: trimmed_text.into(),
                    original: Some(text.into()),
                    ..name.clone()
                });
            }
            sorted_names.push(name);
        }
        sorted_names.sort_by(|a, b| (&a.text, &a.original).cmp(&(&b.text, &b.original)));
        // Merge the names with equal texts: the later one is removed, and its data are added to the first one.
        sorted_names.dedup_by(|later, first| {
            let is_same = later.text == first.text;
            if is_same {
                first.is_ambiguous |= later.original != first.original;
                first.component = first.component.or(later.component);
                first.variable = first.variable.or(later.variable);
            }
            is_same
        });
        set_prefix_indices(&mut sorted_names);
        // Each name in the file is listed once: its trimmed form contains the same quotes.
        let names_in_file = sorted_names.iter().filter(|name| name.original.is_none());
        let quoted_names =
            QuotedNames::from_names(&names_in_file.map(|name| &*name.text).collect::<Vec<_>>());
        Self {
            sorted_names,
            quoted_names,
        }
    }

    /// Returns the component or variable that the text of a violation names, and its line. Returns `None` if the text
    /// names none, or is about the entire pipeline or the rules file.
    ///
    /// The first quoted name, or the only name in a text without quotes, is used if the text cannot be about anything
    /// else. Otherwise only the line is guessed: from the longest quoted name, otherwise from the longest name that is
    /// a separate word. If a variable and a component have the same name, the text is about one of them only if the
    /// word `component` or `variable` precedes the name; otherwise the line is that of the component.
    pub fn find_subject(&self, text: &str) -> Option<SubjectMatch<'_>> {
        if text.starts_with(ABOUT_THE_PIPELINE) || text.starts_with(ABOUT_THE_RULES_FILE) {
            return None;
        }
        let certain_name = self.find_certain_name(text).or_else(|| self.find_only_name(text));
        let (text_before, name) = certain_name.or_else(|| self.guess_name(truncate_text(text)))?;
        let stated_kind = find_stated_kind(text_before);
        let line = if stated_kind == Some(SubjectKind::Variable) {
            name.variable.or(name.component)
        } else {
            name.component.or(name.variable)
        };
        let subject = certain_name.and_then(|_| name.resolve_subject(stated_kind));
        line.map(|line| SubjectMatch { subject, line })
    }

    /// Returns the first quoted name of a text and the text before it, if the text is certainly about this name: there
    /// is no name before the quotes, apart from the word `component` or `variable`, and the text after the quotes
    /// cannot be a part of a longer name. If another name contains such quotes and this name, the result is `None`,
    /// because that name may be truncated or escaped in the text.
    fn find_certain_name<'t>(&self, text: &'t str) -> Option<(&'t str, &IndexedName)> {
        let quote = quotes::find_first_quote(text)?;
        let name = self.find_quoted_name(&quote)?;
        let text_behind_quote = quote
            .text_after
            .get(name.text.len()..)?
            .strip_prefix(quote.close_quote)?;
        let quoted_names = self.quoted_names.get(quote.kind)?;
        let is_certain = !quoted_names.may_contain(&name.text, name.contains_quote(quote.kind))
            && quote.is_name_complete_before(text_behind_quote)
            // A longer text is not searched, so it may contain another name.
            && quote.text_before.len() <= MAX_TEXT
            && self
                .find_longest_name(strip_stated_kind(quote.text_before))
                .is_none();
        is_certain.then_some((quote.text_before, name))
    }

    /// Returns the only name in a text without quotes, and the text before it. `None` if another name of the pipeline
    /// contains this name, because the text may be about the longer one. Also `None` for a long text or very many
    /// names, because the search would take too long.
    fn find_only_name<'t>(&self, text: &'t str) -> Option<(&'t str, &IndexedName)> {
        if text.len() > MAX_TEXT || self.sorted_names.len() > MAX_NAMES || quotes::contains_quote(text) {
            return None;
        }
        let (text_before, name) = self.find_longest_name(text)?;
        let text_after = text.get(text_before.len() + name.text.len()..)?;
        let containing_names = self.sorted_names.iter().filter(|candidate| {
            candidate.original.is_none() && candidate.text.contains(trim_name(&name.text))
        });
        // "component" or "variable" before the name states its kind, even if another name is equal to that word.
        let is_only_name = self.find_longest_name(strip_stated_kind(text_before)).is_none()
            && self.find_longest_name(text_after).is_none();
        // Of the names as written in the file, only one contains this name: the name itself, or its form with blanks.
        (is_only_name && containing_names.count() == 1).then_some((text_before, name))
    }

    /// Returns the name that the text is probably about, and the text before it. Prefers a quoted name.
    fn guess_name<'t>(&self, text: &'t str) -> Option<(&'t str, &IndexedName)> {
        self.find_longest_quoted_name(text)
            .or_else(|| self.find_longest_name(text))
    }

    /// Returns the longest quoted name and the text before the quote. Among names of equal length, the first one wins.
    fn find_longest_quoted_name<'t>(&self, text: &'t str) -> Option<(&'t str, &IndexedName)> {
        let quoted_names = quotes::list_opening_quotes(text)
            .filter_map(|quote| Some((quote.text_before, self.find_quoted_name(&quote)?)));
        quoted_names.reduce(|longest, next| {
            let ((_, longest_name), (_, next_name)) = (longest, next);
            if next_name.text.len() > longest_name.text.len() {
                next
            } else {
                longest
            }
        })
    }

    /// Returns the longest indexed name between this opening quote and a closing quote of the same kind.
    fn find_quoted_name(&self, quote: &OpenedQuote<'_>) -> Option<&IndexedName> {
        self.find_longest_prefix(quote.text_after, |_, text_after| {
            text_after.starts_with(quote.close_quote)
        })
    }

    /// Returns the longest name in the text that is not part of a longer word, and the text before it. Among names of
    /// equal length, the first one wins.
    fn find_longest_name<'t>(&self, text: &'t str) -> Option<(&'t str, &IndexedName)> {
        let mut longest: Option<(&str, &IndexedName)> = None;
        let mut in_word = false;
        for (index, c) in text.char_indices() {
            let (text_before, text_from_here) = text.split_at(index);
            let is_word_start = !(in_word && is_word_char(c));
            in_word = is_word_char(c);
            let name_here = is_word_start.then(|| self.find_longest_prefix(text_from_here, is_word_end));
            if let Some(name) = name_here.flatten()
                && longest.is_none_or(|(_, current)| current.text.len() < name.text.len())
            {
                longest = Some((text_before, name));
            }
        }
        longest
    }

    /// Returns the longest name that is a prefix of `text` and for which `accepts_rest` accepts the text after it.
    ///
    /// The search starts at the last name in the sort order that is not greater than `text`: every name that is a
    /// prefix of `text` is this name or one of its prefixes. These are tried from the longest to the shortest, but only
    /// if they are not longer than the start that this name and `text` have in common.
    fn find_longest_prefix(
        &self,
        text: &str,
        accepts_rest: impl Fn(&IndexedName, &str) -> bool,
    ) -> Option<&IndexedName> {
        let not_greater_count = self.sorted_names.partition_point(|name| *name.text <= *text);
        let last_index = not_greater_count.checked_sub(1)?;
        let shared_length = shared_prefix_length(&self.sorted_names.get(last_index)?.text, text);
        let mut next_index = Some(last_index);
        while let Some(name) = next_index.and_then(|index| self.sorted_names.get(index)) {
            let is_prefix = name.text.len() <= shared_length;
            if is_prefix
                && let Some(text_after) = text.get(name.text.len()..)
                && accepts_rest(name, text_after)
            {
                return Some(name);
            }
            next_index = name.longest_prefix_index;
        }
        None
    }
}

impl IndexedName {
    /// Returns the component or variable with this name. `None` if several different names in the file are equal to
    /// this name when they are trimmed, if the text states another kind, or if it states no kind although both a
    /// component and a variable have the name.
    fn resolve_subject(&self, stated_kind: Option<SubjectKind>) -> Option<NamedSubject<'_>> {
        let kind = match (self.component, self.variable, stated_kind) {
            _ if self.is_ambiguous => return None,
            (Some(_), _, Some(SubjectKind::Component)) | (Some(_), None, None) => SubjectKind::Component,
            (_, Some(_), Some(SubjectKind::Variable)) | (None, Some(_), None) => SubjectKind::Variable,
            _ => return None,
        };
        let name = self.original.as_deref().unwrap_or(&self.text);
        Some(NamedSubject { kind, name })
    }

    /// Returns whether the name contains a quote of this kind.
    fn contains_quote(&self, quote_kind: usize) -> bool {
        let quotes = QUOTES.get(quote_kind);
        quotes.is_some_and(|(open_quote, close_quote)| self.text.contains([*open_quote, *close_quote]))
    }
}

/// Returns at most the first [`MAX_TEXT`] bytes of a text, because only these are searched. Does not cut a character.
fn truncate_text(text: &str) -> &str {
    let end = (0..=MAX_TEXT.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Returns the number of bytes at the start that both texts have in common.
fn shared_prefix_length(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// Returns whether the name ends at a word boundary. A name that ends in a symbol, such as `ready?`, always does; the
/// empty name never does.
fn is_word_end(name: &IndexedName, text_after: &str) -> bool {
    let is_cut = name.text.ends_with(is_word_char) && text_after.starts_with(is_word_char);
    !name.text.is_empty() && !is_cut
}

/// Sets each name's `longest_prefix_index` to the index of the longest other name that the name begins with. In the
/// sorted list, prefixes of a name come before it.
fn set_prefix_indices(sorted_names: &mut [IndexedName]) {
    // A stack of earlier names, each a prefix of the next. Only these can be prefixes of the next name in the list.
    let mut prefix_indices: Vec<usize> = Vec::new();
    for index in 0..sorted_names.len() {
        let (earlier_names, later_names) = sorted_names.split_at_mut(index);
        let Some(name) = later_names.first_mut() else {
            return;
        };
        while let Some(prefix_index) = prefix_indices.last()
            && !earlier_names
                .get(*prefix_index)
                .is_some_and(|prefix| name.text.starts_with(&*prefix.text))
        {
            prefix_indices.pop();
        }
        name.longest_prefix_index = prefix_indices.last().copied();
        prefix_indices.push(index);
    }
}

/// Returns the kind of the name that follows this text if the text ends in `component` or `variable`.
fn find_stated_kind(text_before: &str) -> Option<SubjectKind> {
    let (_, word) = split_last_word(text_before);
    SubjectKind::ALL
        .iter()
        .copied()
        .find(|kind| word.eq_ignore_ascii_case(kind.name()))
}

/// Returns the text without its last word if this word is `component` or `variable`, which states a name's kind.
fn strip_stated_kind(text_before: &str) -> &str {
    let (text_before_word, _) = split_last_word(text_before);
    if find_stated_kind(text_before).is_some() {
        text_before_word
    } else {
        text_before
    }
}

/// Removes whitespace and control characters around a name, which a platform may trim.
fn trim_name(name: &str) -> &str {
    name.trim_matches(|c: char| c.is_whitespace() || c.is_control())
}

/// Returns the text before the last word, and the last word.
fn split_last_word(text: &str) -> (&str, &str) {
    let text = text.trim_end_matches(|c: char| !is_word_char(c));
    let text_before = text.trim_end_matches(is_word_char);
    (text_before, text.strip_prefix(text_before).unwrap_or_default())
}

#[cfg(test)]
mod tests;
