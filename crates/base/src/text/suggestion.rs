//! Suggests the known word that a misspelled one probably means.

use super::bounded;

/// Maximum length in bytes of a word that is compared with known words. Nobody typed a longer one.
const COMPARED: usize = 200;

/// Maximum length in bytes of a known word. A longer one is not close to any word that is compared.
const COMPARED_WITH: usize = 4 * COMPARED;

/// Returns `did you mean ...?` with this name, for a hint. The name may come from outside, so a very long one is shortened;
/// the output escapes it like every other text.
pub fn did_you_mean(name: &str) -> String {
    did_you_mean_any(&[name])
}

/// Returns `did you mean ...?` with these names as alternatives, like [`did_you_mean`].
pub fn did_you_mean_any(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", bounded(name))).collect();
    format!("did you mean {}?", quoted.join(" or "))
}

/// Returns `did you mean ...?` with the known word that is closest to `word`, or `None` if no word is close enough.
pub fn suggest(word: &str, known: &[&str]) -> Option<String> {
    nearest(word, known).map(did_you_mean)
}

/// Returns the known word that is closest to `word`, or `None` if no word is close enough.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    if word.len() > COMPARED {
        return None;
    }
    let length = word.chars().count();
    // The distance is at least the difference of the lengths, and a comparison needs memory for each pair of characters.
    let is_near =
        |k: &&&str| k.len() <= COMPARED_WITH && k.chars().count().abs_diff(length) <= k.len().div_ceil(3);
    let scored = known
        .iter()
        .filter(is_near)
        .map(|k| (strsim::damerau_levenshtein(word, k), *k));
    scored
        .min()
        .filter(|(distance, k)| *distance <= k.len().div_ceil(3))
        .map(|(_, k)| k)
}

/// Minimum similarity of a name that is suggested for another one.
const SIMILAR: f64 = 0.85;

/// Minimum number of characters of a name in which one wrong character is a typo.
const TYPO_LENGTH: usize = 4;

/// Returns the known name that is most similar to `name`, or `None` if none is similar.
pub fn most_similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .filter(|other| is_similar(name, other))
        .map(|other| (similarity(name, other), other))
        .max_by(|(a, one), (b, other)| a.total_cmp(b).then_with(|| other.cmp(one)))
        .map(|(_, other)| other)
}

/// Returns whether one name is probably the other one with a typo: they are similar, or differ by one character that is
/// missing or by two that are swapped. Names that differ in a digit are not.
pub fn is_similar(one: &str, other: &str) -> bool {
    may_be_similar(one, other) && (similarity(one, other) >= SIMILAR || is_typo(one, other))
}

/// Returns whether one name lacks one character of the other, or has two swapped.
fn is_typo(one: &str, other: &str) -> bool {
    let [one_letters, other_letters] = [one, other].map(|name| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters
    });
    let is_long = one_letters.len().min(other_letters.len()) >= TYPO_LENGTH;
    let is_substitution = one_letters.len() == other_letters.len() && one_letters != other_letters;
    is_long && !is_substitution && strsim::damerau_levenshtein(one, other) == 1
}

/// Returns whether two paths are at least as similar as a suggestion must be.
pub fn is_similar_path(one: &str, other: &str) -> bool {
    may_be_similar(one, other) && similarity(one, other) >= SIMILAR
}

/// Returns whether a comparison of two names is worth its cost. A comparison needs memory for each pair of characters.
fn may_be_similar(one: &str, other: &str) -> bool {
    let [length, other_length] = [one, other].map(|name| name.chars().count());
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<Vec<_>>();
    one.len() <= COMPARED
        && other.len() <= COMPARED_WITH
        && length.abs_diff(other_length) <= 1 + length.max(other_length) * 15 / 100
        && digits(one) == digits(other)
}

/// Returns the similarity of two names regardless of case, from 0 to 1.
fn similarity(one: &str, other: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(&one.to_lowercase(), &other.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{did_you_mean, did_you_mean_any, nearest, suggest};
    use crate::text::line;
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
            let shown = line(&question);
            prop_assert!(!shown.contains(['\n', '\r', '\u{1b}']), "{shown:?}");
        }

        #[test]
        fn closest_word_is_a_known_word(word in "\\PC{0,20}", known in proptest::collection::vec("\\PC{0,20}", 0..6)) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            if let Some(found) = nearest(&word, &known) {
                prop_assert!(known.contains(&found));
            }
            if known.contains(&word.as_str()) {
                prop_assert_eq!(nearest(&word, &known), Some(word.as_str()));
            }
        }
    }
}
