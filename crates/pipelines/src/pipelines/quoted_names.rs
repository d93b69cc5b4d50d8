//! The names of a pipeline that contain a quote.
//!
//! In a sentence, such a name can look like another name in quotes: the name `set "load"` without further quotes, and
//! the name `load" all` with quotes. A platform may also escape or replace other characters of the name.

use super::quotes::QUOTES;

/// Maximum total length of the names that are searched, in bytes, because each sentence is compared with all of them.
const MAX_LETTERS: usize = 16 * 1024;

/// The names that contain quotes of one kind, such as `"`.
#[derive(Debug, Clone, Default)]
pub(super) struct QuotedNames {
    /// The number of these names.
    count: usize,
    /// The letters and digits of each name, one name per line.
    letters: String,
    /// True if a platform may show one of the names in other letters.
    may_change_letters: bool,
}

impl QuotedNames {
    /// Creates the lists of the names with each kind of quote, in the order of [`QUOTES`].
    pub(super) fn from_names(names: &[&str]) -> [Self; QUOTES.len()] {
        QUOTES.map(|(open_quote, close_quote)| {
            let mut quoted_names = Self::default();
            for name in names {
                if name.contains([open_quote, close_quote]) {
                    quoted_names.add(name);
                }
            }
            quoted_names
        })
    }

    fn add(&mut self, name: &str) {
        self.count += 1;
        self.may_change_letters |= name
            .chars()
            .any(|c| !c.is_ascii() && !QUOTES.iter().any(|(open, close)| c == *open || c == *close));
        self.letters.push_str(&filter_letters(name));
        self.letters.push('\n');
    }

    /// Returns whether `name` in quotes can also be a part of another one of these names. `has_quote` is set if `name`
    /// is one of them. A backslash in the name may be an escape of the platform.
    pub(super) fn may_contain(&self, name: &str, has_quote: bool) -> bool {
        let own_count = usize::from(has_quote);
        if self.count <= own_count {
            return false;
        }
        if self.letters.len() > MAX_LETTERS || self.may_change_letters || name.contains('\\') {
            return true;
        }
        let letters = filter_letters(name);
        let containing_names = self.letters.lines().filter(|line| line.contains(&letters));
        containing_names.count() > own_count
    }
}

/// Returns the letters and digits of a name, in lower case. A platform may replace all other characters.
fn filter_letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
