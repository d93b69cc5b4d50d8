//! Prints groups that a host can fold in its log.

use super::super::shorten;
use sluicegate_base::text;
use std::fmt::Write as _;

/// Maximum length of the name of a group, in UTF-16 code units.
const NAME_LIMIT: usize = 300;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Groups {
    /// No groups.
    #[default]
    None,
    /// GitHub's, which Gitea and Forgejo fold too
    /// (<https://docs.github.com/actions/reference/workflow-commands-for-github-actions#grouping-log-lines>).
    Github,
    Gitlab,
    Azure,
}

impl Groups {
    /// Adds the content as a group with this name, which may come from outside; `number` makes the group unique in the
    /// log. Without groups, adds only the content.
    pub(crate) fn push(self, shown: &mut String, number: usize, name: &str, content: &str) {
        let plain = shorten::to_chars(&text::line(name), NAME_LIMIT);
        let _ = match self {
            Self::None => write!(shown, "{content}"),
            Self::Github => {
                let name = plain.replace('%', "%25");
                write!(shown, "::group::{name}\n{content}::endgroup::\n")
            }
            // GitLab uses the times to show a duration, which is meaningless here.
            Self::Gitlab => write!(
                shown,
                "\u{1b}[0Ksection_start:0:sluicegate_{number}[collapsed=true]\r\u{1b}[0K{plain}\n{content}\
                 \u{1b}[0Ksection_end:0:sluicegate_{number}\r\u{1b}[0K\n"
            ),
            Self::Azure => write!(shown, "##[group]{plain}\n{content}##[endgroup]\n"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_cannot_end_its_group_or_begin_command() {
        let hostile = "a%0A\n::endgroup::\r##[error]x \u{1b}[0Ksection_end:0:y";
        let shown = [Groups::None, Groups::Github, Groups::Gitlab, Groups::Azure].map(|groups| {
            let mut shown = String::new();
            groups.push(&mut shown, 7, hostile, "content\n");
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
