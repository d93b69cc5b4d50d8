//! Prints where a top-level key of a YAML file has its value.
//!
//! usage: find_key FILE KEY

use sluicegate_yaml::{DocumentError, Tree};
use std::io::{self, Write as _};
use std::{env, fs};

fn main() -> io::Result<()> {
    let mut args = env::args().skip(1);
    let (Some(file), Some(key)) = (args.next(), args.next()) else {
        return writeln!(io::stderr(), "usage: find_key FILE KEY");
    };
    match find_value_position(&fs::read(&file)?, &key) {
        Ok(Some(line)) => writeln!(io::stdout(), "{file}:{line}"),
        Ok(None) => writeln!(io::stdout(), "{file} has no key {key:?}"),
        Err(error) => writeln!(io::stderr(), "could not read {file}: {error}"),
    }
}

/// Returns the line and column of the key's value, in the form `LINE:COLUMN`.
fn find_value_position(document: &[u8], key: &str) -> Result<Option<String>, DocumentError> {
    let tree = Tree::parse(document)?;
    let value = tree.root().get(key);
    Ok(value.map(|value| format!("{}:{}", value.position().line, value.position().column)))
}

#[cfg(test)]
mod tests {
    use super::find_value_position;

    const DOCUMENT: &[u8] = b"type: orchestration\nname: 'load orders'\n";

    #[test]
    fn existing_key_is_found_with_line_and_column_of_its_value() {
        let position = find_value_position(DOCUMENT, "name").unwrap();
        assert_eq!(position.as_deref(), Some("2:7"));
    }

    #[test]
    fn missing_key_has_no_position() {
        assert_eq!(find_value_position(DOCUMENT, "version").unwrap(), None);
    }

    #[test]
    fn defective_document_is_an_error_with_a_position() {
        let error = find_value_position(b"name: [1, 2\n", "name").unwrap_err();
        assert!(error.position.is_some(), "{error}");
    }
}
