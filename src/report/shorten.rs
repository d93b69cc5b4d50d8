//! Truncates text to a limit, with a visible mark.

/// The end of a truncated text.
const MARK: char = '…';

/// Truncates the text to `limit` UTF-16 code units, with a mark at the end.
pub(super) fn to_chars(text: &str, limit: usize) -> String {
    escaped(text, limit, |c, shown| shown.push(c))
}

/// Escapes the text character by character, and truncates the result to `limit` UTF-16 code units, in which the .NET
/// runners of GitHub and Azure count. Keeps only complete escapes; a truncated text ends with a mark.
pub(super) fn escaped(text: &str, limit: usize, escape: impl Fn(char, &mut String)) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut units = 0;
    let mut fits_with_mark = 0;
    for c in text.chars() {
        let start = shown.len();
        escape(c, &mut shown);
        units += shown[start..].encode_utf16().count();
        if units > limit {
            shown.truncate(fits_with_mark);
            shown.push(MARK);
            return shown;
        }
        if units < limit {
            fits_with_mark = shown.len();
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_is_unchanged_and_cut_text_is_marked() {
        assert_eq!(to_chars("abc", 3), "abc");
        assert_eq!(to_chars("abcd", 3), "ab…");
        assert_eq!(to_chars("😀😀", 3), "😀…");
    }

    #[test]
    fn escape_is_never_cut_in_two() {
        let percent = |c, shown: &mut String| {
            if c == '%' {
                shown.push_str("%25");
            } else {
                shown.push(c);
            }
        };
        assert_eq!(escaped("a%%", 7, percent), "a%25%25");
        assert_eq!(escaped("a%%", 6, percent), "a%25…");
        assert_eq!(escaped("a%%", 4, percent), "a…");
    }
}
