//! Suggests the known word that a misspelled one probably means.

use super::{join_with_or, shorten_name};

/// Maximum length in bytes of a word that is compared with known words. Nobody typed a longer one.
const MAX_WORD_LENGTH: usize = 200;

/// Maximum length in bytes of a known word. A longer one is not close to any word that is compared.
const MAX_KNOWN_LENGTH: usize = 4 * MAX_WORD_LENGTH;

/// Returns `did you mean ...?` with this name, for a hint. A very long name is shortened, because a repository or a
/// server may have chosen it; the output escapes it like every other text.
pub fn did_you_mean(name: &str) -> String {
    did_you_mean_any(&[name])
}

/// Returns `did you mean ...?` with these names as alternatives, like [`did_you_mean`].
pub fn did_you_mean_any(names: &[&str]) -> String {
    let quoted_names = names.iter().map(|name| format!("`{}`", shorten_name(name)));
    format!("did you mean {}?", join_with_or(quoted_names))
}

/// Returns `did you mean ...?` with this name after a colon, to end a message; empty without a name.
pub fn suggestion_after_colon(name: Option<&str>) -> String {
    name.map(|name| format!(": {}", did_you_mean(name)))
        .unwrap_or_default()
}

/// Returns `did you mean ...?` with the known word that is closest to `word`, or `None` if no word is close enough.
pub fn suggest(word: &str, known_words: &[&str]) -> Option<String> {
    find_nearest_word(word, known_words).map(did_you_mean)
}

/// Returns the known word that is closest to `word`, or `None` if no word is close enough: the number of edits may be
/// up to a third of the known word's length. Of several words, one that differs less apart from the case is closer. A
/// word in which every character differs is never close. Words longer than `MAX_WORD_LENGTH` are not compared.
pub fn find_nearest_word<'a>(word: &str, known_words: &[&'a str]) -> Option<&'a str> {
    if word.len() > MAX_WORD_LENGTH {
        return None;
    }
    let length = word.chars().count();
    let lowercase_word = word.to_lowercase();
    // A known word whose length already differs too much is skipped, because a comparison needs memory for each pair
    // of characters.
    known_words
        .iter()
        .filter(|candidate| {
            candidate.len() <= MAX_KNOWN_LENGTH
                && candidate.chars().count().abs_diff(length) <= max_word_edits(candidate)
        })
        .map(|candidate| {
            let edits = strsim::damerau_levenshtein(&lowercase_word, &candidate.to_lowercase());
            (edits, strsim::damerau_levenshtein(word, candidate), *candidate)
        })
        .filter(|(edits, _, candidate)| {
            let is_other_word = *edits > 0 && *edits >= length.max(candidate.chars().count());
            !is_other_word && *edits <= max_word_edits(candidate)
        })
        .min()
        .map(|(_, _, candidate)| candidate)
}

/// Returns the maximum number of edits between a known word and a similar one: a third of the length, and at least one.
fn max_word_edits(known_word: &str) -> usize {
    (known_word.len() / 3).max(1)
}

/// Minimum similarity of a name that is suggested for another one.
const MIN_SIMILARITY: f64 = 0.85;

/// Minimum number of characters of a name in which one wrong character is a typo.
const MIN_TYPO_LENGTH: usize = 4;

/// A name with the counts of its letters, which show without a full comparison that most names are not similar to it.
#[derive(Debug, Clone)]
pub struct NameProfile<'n> {
    pub name: &'n str,
    /// Number of characters of the original name.
    length: usize,
    /// Number of characters of the name in lower case.
    lowercase_length: usize,
    /// Number of lower-case characters of each group: those whose code points have the same remainder.
    letter_counts: [u8; LETTER_GROUPS],
}

/// Number of groups of letters: few enough to be compared fast, enough for the letters of an alphabet.
const LETTER_GROUPS: usize = 32;

impl<'n> NameProfile<'n> {
    /// Creates the profile of a name: counts its characters, and the lowercase letters of each group in
    /// `letter_counts`.
    pub fn new(name: &'n str) -> Self {
        let mut profile = Self {
            name,
            length: 0,
            lowercase_length: 0,
            letter_counts: [0; LETTER_GROUPS],
        };
        for character in name.chars() {
            profile.length += 1;
            for letter in character.to_lowercase() {
                profile.lowercase_length += 1;
                if let Some(count) = profile.letter_counts.get_mut(letter as usize % LETTER_GROUPS) {
                    *count = count.saturating_add(1);
                }
            }
        }
        profile
    }

    /// Returns whether two names may be similar, by their lengths, letters and digits. Names for which it returns false
    /// need no comparison, which takes memory for each pair of characters. Names with different digits, and very long
    /// names, are never similar.
    pub fn can_be_similar(&self, candidate: &NameProfile<'_>) -> bool {
        let longer_length = self.length.max(candidate.length);
        let longer_lowercase_length = self.lowercase_length.max(candidate.lowercase_length);
        // Each edit changes up to two letter counts.
        self.length.abs_diff(candidate.length) <= max_edits(longer_length)
            && self.count_differing_letters(candidate) <= 2 * max_edits(longer_lowercase_length)
            && self.name.len().min(candidate.name.len()) <= MAX_WORD_LENGTH
            && self.name.len().max(candidate.name.len()) <= MAX_KNOWN_LENGTH
            && digits(self.name).eq(digits(candidate.name))
    }

    /// Returns the number of letters that one name has more often than the other. An edit changes it by two at most.
    fn count_differing_letters(&self, candidate: &NameProfile<'_>) -> usize {
        let counts = self.letter_counts.iter().zip(&candidate.letter_counts);
        counts
            .map(|(count, candidate_count)| usize::from(count.abs_diff(*candidate_count)))
            .sum()
    }

    /// Returns whether one name is probably the other one with a typo: they are similar, or differ by one character
    /// that is missing or by two that are swapped. Names that differ in a digit are not.
    pub fn is_similar(&self, candidate: &NameProfile<'_>) -> bool {
        self.can_be_similar(candidate)
            && (similarity(self.name, candidate.name) >= MIN_SIMILARITY || is_typo(self.name, candidate.name))
    }

    /// Returns the similarity of two paths, from 0 to 1, or `None` if it is less than `MIN_SIMILARITY`. The limit holds
    /// for all paths, even those that differ only by a typo, which [`Self::is_similar`] accepts.
    pub fn find_similarity(&self, candidate: &NameProfile<'_>) -> Option<f64> {
        if !self.can_be_similar(candidate) {
            return None;
        }
        Some(similarity(self.name, candidate.name)).filter(|similarity| *similarity >= MIN_SIMILARITY)
    }
}

/// Returns the maximum number of edits between similar names if the longer one has this length: the part that
/// [`MIN_SIMILARITY`] allows, and one more, because a short name with a typo is similar, too.
fn max_edits(length: usize) -> usize {
    1 + length * 15 / 100
}

/// Returns the digits of a name, in their order.
fn digits(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(char::is_ascii_digit)
}

/// Returns the known name that is most similar to `name`, or `None` if none is similar.
pub fn find_most_similar<'a>(name: &str, known_names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let profile = NameProfile::new(name);
    known_names
        .filter(|known_name| profile.is_similar(&NameProfile::new(known_name)))
        .map(|known_name| (similarity(name, known_name), known_name))
        .max_by(|(similarity, known_name), (other_similarity, other_name)| {
            similarity
                .total_cmp(other_similarity)
                .then_with(|| other_name.cmp(known_name))
        })
        .map(|(_, known_name)| known_name)
}

/// Returns whether one name lacks one character of the other, or has two swapped; a replaced character is not a typo.
/// Names shorter than [`MIN_TYPO_LENGTH`] are never typos of each other, because one character is a large part of them.
fn is_typo(first: &str, second: &str) -> bool {
    let [first_letters, second_letters] = [first, second].map(|name| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters
    });
    let is_long = first_letters.len().min(second_letters.len()) >= MIN_TYPO_LENGTH;
    // If two characters are swapped, both names have the same letters.
    let is_substitution = first_letters.len() == second_letters.len() && first_letters != second_letters;
    is_long && !is_substitution && strsim::damerau_levenshtein(first, second) == 1
}

/// Returns the similarity of two names regardless of case, from 0 to 1.
fn similarity(first: &str, second: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(&first.to_lowercase(), &second.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{
        NameProfile, did_you_mean, did_you_mean_any, find_nearest_word, is_typo, similarity, suggest,
    };
    use crate::text::escape_line;
    use proptest::prelude::*;

    #[test]
    fn question_about_misspelled_word_names_closest_word() {
        let known = ["until", "reason", "rule"];
        assert_eq!(
            suggest("untill", &known).as_deref(),
            Some("did you mean `until`?")
        );
        assert_eq!(suggest("zzz", &known), None);
        assert_eq!(did_you_mean_any(&["a", "b"]), "did you mean `a` or `b`?");
    }

    #[test]
    fn word_in_other_case_is_closest_to_itself() {
        assert_eq!(find_nearest_word("V1", &["n1", "v1"]), Some("v1"));
        assert_eq!(
            find_nearest_word("Sales", &["bales", "SALES", "sales"]),
            Some("sales")
        );
        assert_eq!(find_nearest_word("PROD", &["prod"]), Some("prod"));
    }

    #[test]
    fn word_with_other_characters_only_is_not_close() {
        assert_eq!(find_nearest_word("x", &["a", "b"]), None);
        assert_eq!(find_nearest_word("ab", &["ac"]), Some("ac"));
    }

    #[test]
    fn question_with_very_long_name_is_shortened() {
        let question = did_you_mean(&"x".repeat(100_000));
        assert!(question.chars().count() < 400, "{question}");
        assert!(question.contains('…') && question.ends_with("`?"), "{question}");
    }

    proptest! {
        #[test]
        fn question_with_any_name_is_one_bounded_safe_line(name in "(\\PC|[\\r\\n\\x1b:#\\[]){0,600}") {
            let question = did_you_mean(&name);
            prop_assert!(question.chars().count() <= 350, "{question}");
            let shown = escape_line(&question);
            prop_assert!(!shown.contains(['\n', '\r', '\u{1b}']), "{shown:?}");
        }

        #[test]
        fn similar_names_are_always_worth_comparison(
            name in "[a-dA-C_İßé]{1,40}",
            edits in proptest::collection::vec((0_usize..40, 0_u8..4, "[a-dA-C_İßé]"), 0..5),
        ) {
            let mut letters: Vec<char> = name.chars().collect();
            for (position, edit, letter) in edits {
                let position = position % letters.len().max(1);
                match edit {
                    0 => letters.insert(position, letter.chars().next().unwrap()),
                    1 if letters.len() > 1 => { letters.remove(position); }
                    2 if position > 0 => letters.swap(position, position - 1),
                    _ => {}
                }
            }
            let other: String = letters.into_iter().collect();
            if similarity(&name, &other) >= super::MIN_SIMILARITY || is_typo(&name, &other) {
                prop_assert!(NameProfile::new(&name).can_be_similar(&NameProfile::new(&other)), "{name} {other}");
            }
        }

        #[test]
        fn closest_word_is_a_known_word(word in "\\PC{0,20}", known in proptest::collection::vec("\\PC{0,20}", 0..6)) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            if let Some(found) = find_nearest_word(&word, &known) {
                prop_assert!(known.contains(&found));
            }
            if known.contains(&word.as_str()) {
                prop_assert_eq!(find_nearest_word(&word, &known), Some(word.as_str()));
            }
        }
    }
}
