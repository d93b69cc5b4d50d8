//! Links of a terminal: OSC 8, see <https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda>.

use crate::file_uri::encode_path;
use sluicegate_pipelines::{project::ProjectCheck, rules};

/// Targets of the names on a terminal. The default has no links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalLinks {
    /// The absolute path of the repository root.
    pub root: Option<String>,
    /// The address of the documentation of this version, without a slash at its end.
    pub documentation: Option<String>,
}

impl TerminalLinks {
    /// Returns the text as a link to a file of the repository, or the text alone if links are disabled. The text must
    /// be escaped.
    pub(super) fn link_file(&self, text: &str, path: &str) -> String {
        match &self.root {
            Some(root) => format_link(
                text,
                &format!("file://{}/{}", encode_path(root), encode_path(path)),
            ),
            None => text.to_owned(),
        }
    }

    /// Returns the text as a link to the documentation of a rule, or the text alone if the rule has none or links are
    /// disabled. The text must be escaped.
    pub(super) fn link_rule(&self, text: &str, rule: &str) -> String {
        let page = if rules::find_rule(rule).is_some() {
            format!("RULES.md#{rule}")
        } else if ProjectCheck::find_by_id(rule).is_some() {
            "book/project-checks.md".to_owned()
        } else {
            return text.to_owned();
        };
        match &self.documentation {
            Some(documentation) => format_link(text, &format!("{documentation}/{page}")),
            None => text.to_owned(),
        }
    }
}

/// Returns the text with the escape sequences that make it a link (OSC 8). The URL must not contain control characters.
fn format_link(text: &str, url: &str) -> String {
    format!("\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_file_and_documentation() {
        let links = TerminalLinks {
            root: Some("/home/me/a b".to_owned()),
            documentation: Some("https://h/o/r/blob/v1/docs".to_owned()),
        };
        assert_eq!(
            links.link_file("x", "load/\u{1b}]8;;.orch.yaml"),
            "\u{1b}]8;;file:///home/me/a%20b/load/%1B%5D8%3B%3B.orch.yaml\u{1b}\\x\u{1b}]8;;\u{1b}\\"
        );
        for (rule, page) in [
            ("unused-components", "RULES.md#unused-components"),
            ("project/call", "book/project-checks.md"),
        ] {
            let link = links.link_rule("x", rule);
            assert!(
                link.contains(&format!("https://h/o/r/blob/v1/docs/{page}\u{1b}")),
                "{link}"
            );
        }
        for rule in ["team/no-python", "no such rule \u{1b}"] {
            assert_eq!(links.link_rule("x", rule), "x");
        }
    }

    #[test]
    fn names_without_target_stay_text() {
        let links = TerminalLinks::default();
        assert_eq!(links.link_file("x", "a"), "x");
        assert_eq!(links.link_rule("x", "unused-components"), "x");
    }
}
