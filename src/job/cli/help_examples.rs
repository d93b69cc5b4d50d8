//! Finds the examples in the help of a command.

use super::PROGRAM;

/// Returns the examples in the help of a command, each in one line: a `\` at the end continues an example.
pub(super) fn list_examples(help: &str) -> Vec<String> {
    let mut examples: Vec<String> = Vec::new();
    let mut is_continued = false;
    for line in help.lines().map(str::trim) {
        let text = line.trim_end_matches('\\').trim_end();
        match examples.last_mut() {
            Some(example) if is_continued => {
                example.push(' ');
                example.push_str(text);
            }
            _ if line.starts_with(PROGRAM) => examples.push(text.to_owned()),
            _ => {}
        }
        is_continued = line.ends_with('\\');
    }
    examples
}
