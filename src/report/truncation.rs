//! Truncates text to a limit, with a visible mark.

/// The end of a truncated text.
const ELLIPSIS: char = '…';

/// Truncates the text to `limit` UTF-16 code units. A truncated text ends with `…`.
pub(super) fn truncate(text: &str, limit: usize) -> String {
    escape_and_truncate(text, limit, |c, output| output.push(c))
}

/// Escapes the text character by character, and truncates the result to `limit` UTF-16 code units, which the .NET
/// runners of GitHub and Azure count. Never truncates within an escape; a truncated text ends with `…`.
pub(super) fn escape_and_truncate(text: &str, limit: usize, escape: impl Fn(char, &mut String)) -> String {
    let mut output = String::with_capacity(text.len());
    let mut units = 0;
    let mut end_before_mark = 0;
    for c in text.chars() {
        let start = output.len();
        escape(c, &mut output);
        units += output[start..].encode_utf16().count();
        if units > limit {
            output.truncate(end_before_mark);
            output.push(ELLIPSIS);
            return output;
        }
        if units < limit {
            end_before_mark = output.len();
        }
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_is_unchanged_and_cut_text_is_marked() {
        assert_eq!(truncate("abc", 3), "abc");
        assert_eq!(truncate("abcd", 3), "ab…");
        assert_eq!(truncate("😀😀", 3), "😀…");
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
        assert_eq!(escape_and_truncate("a%%", 7, percent), "a%25%25");
        assert_eq!(escape_and_truncate("a%%", 6, percent), "a%25…");
        assert_eq!(escape_and_truncate("a%%", 4, percent), "a…");
    }
}
