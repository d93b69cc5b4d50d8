//! The text of a pipeline.

use std::fmt::Write as _;

/// Returns an orchestration with these components in a row; the last one ends it.
pub fn pipeline(components: &[&str]) -> String {
    let mut text = String::from("type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n");
    for (place, name) in components.iter().enumerate() {
        let kind = match place {
            0 => "start",
            last if last + 1 == components.len() => "end-success",
            _ => "sql-executor",
        };
        let _ = write!(
            text,
            "    {name:?}:\n      type: {kind}\n      parameters: {{ componentName: {name:?} }}\n"
        );
        if let Some(next) = components.get(place + 1) {
            let _ = write!(
                text,
                "      transitions:\n        unconditional:\n          - {next:?}\n"
            );
        }
    }
    text
}
