//! Maps an instruction to the tools that it needs.

use super::tools::{ASK, TOOLS};

/// Word stems and the tool that each stands for. Stems of up to [`WHOLE`] letters must match the complete word.
const WORDS: [(&str, &str); 26] = [
    ("creat", "create_file"),
    ("write", "create_file"),
    ("build", "create_file"),
    ("edit", "edit_file"),
    ("chang", "edit_file"),
    ("updat", "edit_file"),
    ("modif", "edit_file"),
    ("fix", "edit_file"),
    ("delet", "delete_file"),
    ("remov", "delete_file"),
    ("copy", "copy_file"),
    ("copies", "copy_file"),
    ("duplicat", "copy_file"),
    ("renam", "rename_file"),
    ("run", "run_pipeline"),
    ("runs", "run_pipeline"),
    ("running", "run_pipeline"),
    ("execut", "run_pipeline"),
    ("commit", "git_commit"),
    ("push", "git_push"),
    ("query", "query_warehouse"),
    ("queries", "query_warehouse"),
    ("sampl", "sample_component"),
    ("read", "read_file"),
    ("ask", ASK),
    ("connector", "create_custom_connector"),
];

/// Maximum length of a stem that must match the complete word.
const WHOLE: usize = 4;

/// Returns the tools that the message mentions, by a verb or by tool name, each once and in order of first mention.
pub(super) fn tools_for(message: &str) -> Vec<&'static str> {
    let mut tools: Vec<&str> = Vec::new();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    for word in message.split(|c| !is_part(c)).filter(|word| !word.is_empty()) {
        let tool = tool_for(&word.to_lowercase());
        tools.extend(tool.filter(|tool| !tools.contains(tool)));
    }
    tools
}

fn tool_for(word: &str) -> Option<&'static str> {
    let by_name = TOOLS.into_iter().find(|tool| *tool == word);
    by_name.or_else(|| {
        let stands =
            |(start, _): &&(&str, &str)| word == *start || (start.len() > WHOLE && word.starts_with(start));
        WORDS.iter().find(stands).map(|(_, tool)| *tool)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_follows_message() {
        let chain = ["create_file", "run_pipeline", "git_commit", "git_push"];
        for message in [
            "Create a pipeline, run it, commit and push",
            "create_file run_pipeline git_commit git_push",
            "CREATING … running, committing; push! (push)",
        ] {
            assert_eq!(tools_for(message), chain, "{message}");
        }
        assert_eq!(
            tools_for("Push, then delete the old one"),
            ["git_push", "delete_file"]
        );
        assert_eq!(
            tools_for("Ask me which orders to sample"),
            ["ask_user_question", "sample_component"]
        );
        assert!(tools_for("Describe the runtime of a task").is_empty());
        assert!(tools_for("").is_empty());
    }
}
