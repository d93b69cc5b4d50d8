//! Finds the component or variable that a sentence is about.
//!
//! Reviews return only sentences, but an annotation needs a line. Sentences and names come from outside, and there may
//! be thousands of each, so the search uses sorted names and never tries every name on every text.
//!
//! A guess is good enough for a line. Waivers and known findings rely on the name, so no name is returned if the text
//! may be about something else.

use super::quotes::{self, OpenedQuote, QUOTES, is_word};

/// The beginning of a text about an entire pipeline, which has no line.
pub const ABOUT_THE_PIPELINE: &str = "the pipeline ";

/// The beginning of a text about the rules file.
pub const ABOUT_THE_RULES_FILE: &str = "the rules file ";

/// Maximum number of bytes of a text that are searched.
const MAX_TEXT: usize = 2048;

/// Maximum number of names of a pipeline in which an unquoted name is reliable, because each text is compared with all
/// of them.
const MAX_NAMES: usize = 5000;

/// Words before a name that state its kind.
const KINDS: [&str; 2] = ["component", VARIABLE];

const VARIABLE: &str = "variable";

#[derive(Debug, Clone)]
pub(super) struct Names {
    sorted: Vec<Name>,
    /// The number of names that contain a quote of each kind.
    with_quotes: [usize; QUOTES.len()],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedPipelines<'n> {
    /// The name of a component or variable; `None` if the text may be about something else.
    pub name: Option<&'n str>,
    /// The line of the key.
    pub line: u32,
}

#[derive(Debug, Clone)]
struct Name {
    text: Box<str>,
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
        let mut sorted: Vec<Name> = components
            .chain(variables)
            .map(|(text, component, variable)| Name {
                text: text.into(),
                component,
                variable,
                shorter: None,
            })
            .collect();
        sorted.sort_by(|a, b| a.text.cmp(&b.text));
        sorted.dedup_by(|later, first| {
            let is_same = later.text == first.text;
            if is_same {
                first.component = first.component.or(later.component);
                first.variable = first.variable.or(later.variable);
            }
            is_same
        });
        link_beginnings(&mut sorted);
        let with_quotes = std::array::from_fn(|kind| sorted.iter().filter(|name| name.holds(kind)).count());
        Self { sorted, with_quotes }
    }

    /// Implements [`Pipeline::named_in`](super::Pipeline::named_in).
    pub(super) fn named_in(&self, text: &str) -> Option<NamedPipelines<'_>> {
        if text.starts_with(ABOUT_THE_PIPELINE) || text.starts_with(ABOUT_THE_RULES_FILE) {
            return None;
        }
        let surely = self.surely(text).or_else(|| self.alone(text));
        let (before, found) = surely.or_else(|| self.guessed(beginning(text)))?;
        let line = if says_variable(before) {
            found.variable.or(found.component)
        } else {
            found.component.or(found.variable)
        };
        let name = surely.map(|_| &*found.text);
        line.map(|line| NamedPipelines { name, line })
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
            .filter(|other| other.text.contains(&*name.text));
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

fn says_variable(before: &str) -> bool {
    last_word(before).1.eq_ignore_ascii_case(VARIABLE)
}

/// Returns the text without a last word that states the kind of the following name.
fn without_kind(before: &str) -> &str {
    let (rest, word) = last_word(before);
    let is_kind = KINDS.iter().any(|kind| word.eq_ignore_ascii_case(kind));
    if is_kind { rest } else { before }
}

/// Returns the text before the last word, and the last word.
fn last_word(text: &str) -> (&str, &str) {
    let text = text.trim_end_matches(|c: char| !is_word(c));
    let rest = text.trim_end_matches(is_word);
    (rest, text.strip_prefix(rest).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::Names;

    /// Returns the line that `text` names, if the components are on lines 4, 5, …, then a line, then the variables.
    fn lines(names: &[&str], variables: &[&str], text: &str) -> Option<u32> {
        let below = 4 + u32::try_from(names.len().max(1)).unwrap() + 1;
        let components = names.iter().copied().zip(4..);
        Names::new(components, variables.iter().copied().zip(below..))
            .named_in(text)
            .map(|named| named.line)
    }

    /// Returns the name that `text` certainly concerns.
    fn surely<'n>(names: &[&'n str], text: &str) -> Option<&'n str> {
        let all = Names::new(names.iter().copied().zip(4..), std::iter::empty());
        let found = all.named_in(text)?.name?.to_owned();
        names.iter().copied().find(|name| *name == found)
    }

    #[test]
    fn what_is_excused_is_surely_named() {
        let long = format!("evil 'legacy load' {}", "x".repeat(2100));
        let names = ["evil", "legacy load", &long];
        let at = |text: &str| surely(&names, text);
        assert_eq!(
            at("component \"legacy load\" is wrong: rename it"),
            Some("legacy load")
        );
        assert_eq!(
            at("The name \"legacy load\" doesn't match \"[A-Z].*\""),
            Some("legacy load")
        );
        assert_eq!(at("\u{201c}legacy load\u{201d} fails"), Some("legacy load"));
        assert_eq!(at("\"evil\" must not come after \"legacy load\""), Some("evil"));
        assert_eq!(at(&format!("component \"{long}\" is wrong")), Some(&*long));
        for unsure in [
            "legacy load is wrong",
            "component \"evil legacy load\" is wrong",
            "component \"evil\\t legacy load\" is wrong",
            "component evil comes after \"legacy load\"",
            "component \"legacy load\" evil\" is wrong",
            "component \"legacy load\"s is wrong",
            "component \"legacy load",
            "component 'legacy load' is wrong",
            &format!("component \"{}\u{2026}\" is wrong", &long[..200]),
        ] {
            assert_eq!(at(unsure), None, "{unsure}");
        }
    }

    #[test]
    fn without_quotes_a_name_is_sure_where_it_is_the_only_one() {
        let names = ["Alpha", "Beta", "load", "load all"];
        let at = |text: &str| surely(&names, text);
        assert_eq!(at("Component Alpha is not connected"), Some("Alpha"));
        assert_eq!(at("component Beta isn't connected"), Some("Beta"));
        assert_eq!(at("Alpha"), Some("Alpha"));
        assert_eq!(at("component load all is wrong"), Some("load all"));
        for unsure in [
            "component load is wrong",
            "Component Alpha comes after Beta",
            "Component Alphabet is wrong",
            "Component 'Alpha is wrong",
            "Component Alpha' is wrong",
            "",
        ] {
            assert_eq!(at(unsure), None, "{unsure}");
        }
        // The rest of the other name, if the platform writes another blank or truncates it.
        assert_eq!(
            surely(&["Alpha", "evil\tAlpha"], "Component evil Alpha is wrong"),
            None
        );
    }

    #[test]
    fn a_name_with_quotes_makes_those_quotes_unsure() {
        let names = ["legacy load", "legacy load\" x\t"];
        // The other name, escaped.
        assert_eq!(surely(&names, "component \"legacy load\" x\\t\" is wrong"), None);
        assert_eq!(surely(&names, "component \"legacy load\" is wrong"), None);
        assert_eq!(
            surely(&names, "component 'legacy load' isn't right"),
            Some("legacy load")
        );
        let alone = ["it's \"so\"", "so"];
        assert_eq!(
            surely(&alone, "component \"it's \"so\"\" is wrong"),
            Some(alone[0])
        );
        assert_eq!(surely(&alone, "component it's \"so\" is wrong"), None);
    }

    #[test]
    fn a_component_called_component_is_named_too() {
        let names = ["component", "load"];
        assert_eq!(surely(&names, "component \"load\" is wrong"), Some("load"));
        assert_eq!(
            surely(&names, "Variable 'component' isn't used"),
            Some("component")
        );
    }

    #[test]
    fn the_longest_name_in_quotes_counts_before_longer_words() {
        let names = ["a", "b", "load all", "load"];
        assert_eq!(lines(&names, &[], "load all comes after 'b' and \"a\""), Some(5));
        assert_eq!(lines(&names, &[], "not \"x\" but `a`"), Some(4));
        assert_eq!(lines(&names, &[], "\u{201c}load\u{201d} fails"), Some(7));
        assert_eq!(lines(&names, &[], "\"load all\""), Some(6));
        assert_eq!(
            lines(&names, &[], "'b' or 'load all' comes after the load 'a'"),
            Some(5)
        );
    }

    #[test]
    fn without_quotes_the_longest_whole_word_counts() {
        let names = ["load", "load all", "Start", "ready?", "ü", "-"];
        assert_eq!(lines(&names, &[], "component load all is wrong"), Some(5));
        assert_eq!(lines(&names, &[], "loading Start_2 is wrong"), None);
        assert_eq!(lines(&names, &[], "component Start"), Some(6));
        assert_eq!(lines(&names, &[], "Start, load: both"), Some(6));
        assert_eq!(lines(&names, &[], "ready?yes"), Some(7));
        assert_eq!(lines(&names, &[], "über ü"), Some(8));
        assert_eq!(lines(&names, &[], "nothing"), None);
        assert_eq!(lines(&names, &[], ""), None);
    }

    #[test]
    fn names_with_quotes_and_breaks_are_found_as_they_are_written() {
        let names = ["it's \"so\"", "so", "two\nlines"];
        assert_eq!(lines(&names, &[], "component \"it's \"so\"\" is wrong"), Some(4));
        assert_eq!(lines(&names, &[], "component \"two\nlines\" is wrong"), Some(6));
    }

    #[test]
    fn a_variable_is_meant_where_the_text_says_so() {
        assert_eq!(lines(&["x"], &["x", "y"], "variable \"x\" is copied"), Some(6));
        assert_eq!(lines(&["x"], &["x", "y"], "Variable: x"), Some(6));
        assert_eq!(lines(&["x"], &["x", "y"], "component \"x\" is copied"), Some(4));
        assert_eq!(lines(&["x"], &["x", "y"], "\"y\" is copied"), Some(7));
        assert_eq!(lines(&["x"], &[], "variable \"x\""), Some(4));
    }

    #[test]
    fn a_text_about_the_whole_names_nothing() {
        assert_eq!(lines(&["components"], &[], "the pipeline has 2 components"), None);
        assert_eq!(lines(&["x"], &[], "the rules file says \"x\""), None);
        assert_eq!(lines(&["components"], &[], "2 components"), Some(4));
    }

    #[test]
    fn a_name_without_text_is_found_in_quotes_only() {
        assert_eq!(lines(&["", "x"], &[], "component \"\" is not x"), Some(4));
        assert_eq!(lines(&[""], &[], "component is wrong"), None);
    }

    #[test]
    fn many_names_that_begin_alike_are_searched_quickly() {
        let names: Vec<String> = (1..1000).map(|count| "-".repeat(count)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = format!("{}x\u{fc}", "\"-".repeat(5000));
        assert_eq!(lines(&names, &[], &text), Some(4));
        assert_eq!(lines(&names, &[], &"-".repeat(3000)), Some(1002));
    }
}
