//! Prints groups that a host can fold in its log.

use super::super::truncation;
use sluicegate_base::text;
use std::fmt::Write as _;

/// Maximum length of the name of a group, in UTF-16 code units.
const NAME_LIMIT: usize = 300;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GroupStyle {
    /// No groups.
    #[default]
    None,
    /// GitHub's, which Gitea and Forgejo fold too
    /// (<https://docs.github.com/actions/reference/workflow-commands-for-github-actions#grouping-log-lines>).
    Github,
    Gitlab,
    Azure,
}

/// The first state of a group. Only GitLab can show one open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    Open,
    Closed,
}

impl GroupStyle {
    /// Adds the content as a group that the host can fold. Escapes and truncates the name, but not the content.
    /// `number` makes the group unique in the log. If the host has no groups, adds only the content.
    pub fn push_group(self, output: &mut String, number: usize, fold: Fold, name: &str, content: &str) {
        let short_name = truncation::truncate(&text::escape_line(name), NAME_LIMIT);
        let _ = match self {
            Self::None => write!(output, "{content}"),
            Self::Github => {
                let escaped_name = short_name.replace('%', "%25");
                write!(output, "::group::{escaped_name}\n{content}::endgroup::\n")
            }
            // GitLab uses the times to show a duration, which is meaningless here.
            Self::Gitlab => write!(
                output,
                "\u{1b}[0Ksection_start:0:sluicegate_{number}[collapsed={}]\r\u{1b}[0K{short_name}\n{content}\
                 \u{1b}[0Ksection_end:0:sluicegate_{number}\r\u{1b}[0K\n",
                fold == Fold::Closed
            ),
            Self::Azure => write!(output, "##[group]{short_name}\n{content}##[endgroup]\n"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_cannot_end_its_group_or_begin_command() {
        let hostile = "a%0A\n::endgroup::\r##[error]x \u{1b}[0Ksection_end:0:y";
        let shown = [
            GroupStyle::None,
            GroupStyle::Github,
            GroupStyle::Gitlab,
            GroupStyle::Azure,
        ]
        .map(|groups| {
            let mut shown = String::new();
            groups.push_group(&mut shown, 7, Fold::Closed, hostile, "content\n");
            shown.escape_debug().to_string()
        });
        insta::assert_snapshot!(shown.join("\n"), @r"
        content\n
        ::group::a%250A ::endgroup:: # #[error]x \\u{1b}[0Ksection_end:0:y\ncontent\n::endgroup::\n
        \u{1b}[0Ksection_start:0:sluicegate_7[collapsed=true]\r\u{1b}[0Ka%0A ::endgroup:: # #[error]x \\u{1b}[0Ksection_end:0:y\ncontent\n\u{1b}[0Ksection_end:0:sluicegate_7\r\u{1b}[0K\n
        ##[group]a%0A ::endgroup:: # #[error]x \\u{1b}[0Ksection_end:0:y\ncontent\n##[endgroup]\n
        ");
    }
}
