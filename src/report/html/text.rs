//! Text from outside in HTML.

use crate::text;
use std::fmt::Write as _;

/// The text as nothing but text, in an element or in a quoted attribute. Line breaks are references, so a line of the
/// page never begins with text from outside; of two `#` the second is one, so that a page on standard output holds no
/// command of a host.
pub fn escape(raw: &str) -> String {
    let safe = text::visible(raw);
    let mut shown = String::with_capacity(safe.len() + safe.len() / 8);
    for c in safe.chars() {
        match c {
            '&' | '<' | '>' | '"' | '\'' | '\n' | '`' => {
                let _ = write!(shown, "&#{};", u32::from(c));
            }
            '#' if shown.ends_with('#') => shown.push_str("&#35;"),
            _ if is_no_character(c) => shown.push('\u{fffd}'),
            _ => shown.push(c),
        }
    }
    shown
}

/// What neither HTML nor XML lets stand as text.
const fn is_no_character(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || (c as u32) & 0xfffe == 0xfffe
}
