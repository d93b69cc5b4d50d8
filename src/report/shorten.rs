//! Cuts text to a limit, visibly.

/// What stands at the end of a text that was cut.
const MARK: char = '…';

/// At most `limit` characters of the text; a cut is marked at the end.
pub(super) fn to_chars(text: &str, limit: usize) -> String {
    escaped(text, limit, |c, shown| shown.push(c))
}

/// The text escaped character by character, in at most `limit` units of UTF-16 (the unit that both .NET runners, of
/// GitHub and of Azure, count in). Only whole escapes are kept; a cut is marked at the end.
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
    fn what_fits_is_untouched_and_the_rest_is_marked() {
        assert_eq!(to_chars("abc", 3), "abc");
        assert_eq!(to_chars("abcd", 3), "ab…");
        assert_eq!(to_chars("😀😀", 3), "😀…");
    }

    #[test]
    fn an_escape_is_never_cut_in_two() {
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
