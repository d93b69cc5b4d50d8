//! Arguments of a command in a test, written as one would type them.

/// The arguments of a command: a text, which is split at spaces as in a shell, a list with one argument per item, or a
/// tuple of texts and lists.
pub trait Arguments {
    /// Returns the arguments as a list with one argument per item.
    fn into_list(self) -> Vec<String>;
}

impl Arguments for &str {
    /// Splits the text at spaces.
    fn into_list(self) -> Vec<String> {
        split_at_spaces(self)
    }
}

impl Arguments for &&str {
    /// Splits the text at spaces.
    fn into_list(self) -> Vec<String> {
        split_at_spaces(self)
    }
}

impl Arguments for String {
    /// Splits the text at spaces.
    fn into_list(self) -> Vec<String> {
        split_at_spaces(&self)
    }
}

impl Arguments for &String {
    /// Splits the text at spaces.
    fn into_list(self) -> Vec<String> {
        split_at_spaces(self)
    }
}

impl<S: AsRef<str>> Arguments for &[S] {
    /// Returns each item as one argument, without splitting it.
    fn into_list(self) -> Vec<String> {
        self.iter().map(|argument| argument.as_ref().to_owned()).collect()
    }
}

impl<S: AsRef<str>> Arguments for &&[S] {
    fn into_list(self) -> Vec<String> {
        (*self).into_list()
    }
}

impl<S: AsRef<str>, const N: usize> Arguments for [S; N] {
    fn into_list(self) -> Vec<String> {
        self[..].into_list()
    }
}

impl<S: AsRef<str>, const N: usize> Arguments for &[S; N] {
    fn into_list(self) -> Vec<String> {
        self[..].into_list()
    }
}

impl<S: AsRef<str>, const N: usize> Arguments for &&[S; N] {
    fn into_list(self) -> Vec<String> {
        self[..].into_list()
    }
}

impl<S: AsRef<str>> Arguments for Vec<S> {
    fn into_list(self) -> Vec<String> {
        self[..].into_list()
    }
}

impl<S: AsRef<str>> Arguments for &Vec<S> {
    fn into_list(self) -> Vec<String> {
        self[..].into_list()
    }
}

impl<A: Arguments, B: Arguments> Arguments for (A, B) {
    fn into_list(self) -> Vec<String> {
        let mut list = self.0.into_list();
        list.extend(self.1.into_list());
        list
    }
}

impl<A: Arguments + Copy, B: Arguments + Copy> Arguments for &(A, B) {
    fn into_list(self) -> Vec<String> {
        (*self).into_list()
    }
}

impl<A: Arguments, B: Arguments, C: Arguments> Arguments for (A, B, C) {
    fn into_list(self) -> Vec<String> {
        ((self.0, self.1), self.2).into_list()
    }
}

impl<A: Arguments, B: Arguments, C: Arguments, D: Arguments> Arguments for (A, B, C, D) {
    fn into_list(self) -> Vec<String> {
        ((self.0, self.1), (self.2, self.3)).into_list()
    }
}

/// Splits a text at spaces into arguments. Text in single or double quotes is not split, and the quotes are removed.
fn split_at_spaces(text: &str) -> Vec<String> {
    let (mut list, mut argument, mut quote) = (Vec::new(), None::<String>, None);
    for letter in text.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                argument.get_or_insert_default();
            }
            (None, ' ') => list.extend(argument.take()),
            _ => argument.get_or_insert_default().push(letter),
        }
    }
    assert!(quote.is_none(), "a quote is not closed: {text}");
    list.extend(argument);
    list
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    #[test]
    fn text_is_split_at_spaces_outside_of_quotes() {
        let text = "check  --base 'a b' --reason=\"it's\" '' ";
        assert_eq!(text.into_list(), ["check", "--base", "a b", "--reason=it's", ""]);
        assert_eq!("".into_list(), [""; 0]);
    }

    #[test]
    fn list_is_not_split() {
        assert_eq!(("check", &["a b", ""]).into_list(), ["check", "a b", ""]);
    }
}
