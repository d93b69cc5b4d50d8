//! Text for XML 1.0: what may not stand in it is replaced, what would end it early is taken apart.

/// An attribute's value, escaped. Breaks and tabs are references, since a parser makes blanks of what stands there plainly
/// (<https://www.w3.org/TR/xml/#AVNormalize>), and so are the marks of a CI host's command. What XML 1.0 forbids is U+FFFD.
pub fn attribute(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for c in text.chars().map(allowed) {
        match c {
            '&' => value.push_str("&amp;"),
            '<' => value.push_str("&lt;"),
            '>' => value.push_str("&gt;"),
            '"' => value.push_str("&quot;"),
            '\t' => value.push_str("&#9;"),
            '\n' => value.push_str("&#10;"),
            '\r' => value.push_str("&#13;"),
            _ => value.push(c),
        }
    }
    value.replace("##[", "#&#35;[").replace("##vso[", "#&#35;vso[")
}

/// Text for an element's content, which the writer puts raw between `<![CDATA[` and `]]>`. CR LF and CR are LF, as a
/// parser would make them anyway. The section is closed and opened again within `]]>`, and within whatever a CI host
/// would take for a command if the document is printed; a parser reads the same text from it.
pub fn content(text: &str) -> String {
    const AGAIN: &str = "]]><![CDATA[";
    let unified = text.replace("\r\n", "\n").replace('\r', "\n");
    let clean: String = unified.chars().map(allowed).collect();
    let apart = clean
        .replace("]]>", &format!("]]{AGAIN}>"))
        .replace("##[", &format!("#{AGAIN}#["))
        .replace("##vso[", &format!("#{AGAIN}#vso["));
    let lines = apart.split('\n').map(|line| {
        let blanks = line.len() - line.trim_start().len();
        match line[blanks..].strip_prefix("::") {
            Some(rest) => format!("{}:{AGAIN}:{rest}", &line[..blanks]),
            None => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What a parser gives back for [`attribute`].
#[cfg(test)]
pub fn plain(text: &str) -> String {
    text.chars().map(allowed).collect()
}

/// What a parser gives back for [`content`].
#[cfg(test)]
pub fn readable(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .chars()
        .map(allowed)
        .collect()
}

/// XML 1.0, production 2 (<https://www.w3.org/TR/xml/#charsets>).
const fn allowed(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}' => {
            c
        }
        _ => '\u{fffd}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_characters_are_replaced() {
        assert_eq!(attribute("a\u{1b}b\u{fffe}c"), "a\u{fffd}b\u{fffd}c");
    }

    #[test]
    fn breaks_and_marks_in_an_attribute_are_references() {
        assert_eq!(attribute("a\tb\nc\rd"), "a&#9;b&#10;c&#13;d");
        assert_eq!(
            attribute("<\"&\"> ##[x] ###vso[y]"),
            "&lt;&quot;&amp;&quot;&gt; #&#35;[x] ##&#35;vso[y]"
        );
    }

    #[test]
    fn a_section_never_ends_early() {
        assert_eq!(content("a]]>b"), "a]]]]><![CDATA[>b");
        assert_eq!(content("a\r\n ::error::x"), "a\n :]]><![CDATA[:error::x");
        assert_eq!(content("##[group]"), "#]]><![CDATA[#[group]");
    }
}
