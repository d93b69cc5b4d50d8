//! The text of a pipeline.

use std::fmt::Write as _;

/// Returns the YAML of an orchestration with these components, each connected to the next. The first is the start
/// component, and the last is an End Success component.
pub fn orchestration_text(components: &[&str]) -> String {
    let mut text = String::from("type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n");
    for (index, name) in components.iter().enumerate() {
        let kind = match index {
            0 => "start",
            last if last + 1 == components.len() => "end-success",
            _ => "sql-executor",
        };
        let _ = write!(
            text,
            "    {name:?}:\n      type: {kind}\n      parameters: {{ componentName: {name:?} }}\n"
        );
        if let Some(next) = components.get(index + 1) {
            let _ = write!(
                text,
                "      transitions:\n        unconditional:\n          - {next:?}\n"
            );
        }
    }
    text
}
