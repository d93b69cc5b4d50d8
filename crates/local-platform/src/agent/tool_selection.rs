//! Maps an instruction to the tools that it needs.

use super::tools::{QUESTION_TOOL, TOOLS};

/// Word stems, each with the tool that it means. Stems of up to [`MAX_WHOLE_WORD_LENGTH`] letters must match the
/// complete word.
const TOOL_STEMS: [(&str, &str); 26] = [
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
    ("ask", QUESTION_TOOL),
    ("connector", "create_custom_connector"),
];

/// Maximum length of a stem that must match the complete word.
const MAX_WHOLE_WORD_LENGTH: usize = 4;

/// Returns the tools that the message mentions, by a verb or by tool name, each once and in order of first mention.
pub(super) fn select_tools(message: &str) -> Vec<&'static str> {
    let mut tools: Vec<&str> = Vec::new();
    for word in message.split(|c: char| !c.is_alphanumeric() && c != '_') {
        if let Some(tool) = find_tool(&word.to_lowercase())
            && !tools.contains(&tool)
        {
            tools.push(tool);
        }
    }
    tools
}

/// Returns the tool that a word of the instruction means: the word is the tool's name, or one of [`TOOL_STEMS`]. A long
/// stem also matches each word that begins with it. A short stem does not, because unrelated words begin with it, for
/// example `ready` with `read`.
fn find_tool(word: &str) -> Option<&'static str> {
    TOOLS.into_iter().find(|tool| *tool == word).or_else(|| {
        TOOL_STEMS
            .iter()
            .find(|(stem, _)| word == *stem || (stem.len() > MAX_WHOLE_WORD_LENGTH && word.starts_with(stem)))
            .map(|(_, tool)| *tool)
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
            assert_eq!(select_tools(message), chain, "{message}");
        }
        assert_eq!(
            select_tools("Push, then delete the old one"),
            ["git_push", "delete_file"]
        );
        assert_eq!(
            select_tools("Ask me which orders to sample"),
            ["ask_user_question", "sample_component"]
        );
        assert!(select_tools("Describe the runtime of a task").is_empty());
        assert!(select_tools("").is_empty());
    }
}
