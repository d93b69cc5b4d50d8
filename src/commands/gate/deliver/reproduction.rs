//! The command that shows a failed review of a CI job on another machine, without the platform.

use crate::ci::{CiContext, Host};
use crate::findings::{FailOn, Report, Verdict};

/// Characters of a commit's id: enough for any repository, and short enough for a line.
const ID: usize = 12;

/// The command for a shell; none where nothing failed, and none on the user's own machine.
pub(super) fn command(ci: &CiContext, report: &Report) -> Option<String> {
    let context = &report.context;
    // What two reports come to cannot be had from the repository.
    let is_of_reports = context.compared_with.is_some();
    if ci.host == Host::None || report.verdict != Verdict::Failed || is_of_reports {
        return None;
    }
    let short = |id: &str| id.chars().take(ID).collect::<String>();
    let mut words = vec!["sluicegate check".to_owned()];
    words.push(match &context.base {
        Some(base) => format!("--base {}", short(base)),
        None => "--all".to_owned(),
    });
    // A working tree has no commit; the host says which one it is of.
    let is_id = |id: &&String| id.chars().all(|c| c.is_ascii_hexdigit());
    if let Some(head) = context.head.as_ref().or(ci.commit.as_ref()).filter(is_id) {
        words.push(format!("--head {}", short(head)));
    }
    if let Some(fail_on) = context.fail_on.filter(|limit| *limit != FailOn::default()) {
        words.push(format!("--fail-on {fail_on}"));
    }
    if report.fixed.is_some() {
        words.push("--new-only".to_owned());
    }
    if let Some(most) = context.max_known {
        words.push(format!("--max-known {most}"));
    }
    if !context.paths.is_empty() {
        words.push("--".to_owned());
        words.extend(context.paths.iter().map(|path| quoted(path)));
    }
    Some(words.join(" "))
}

/// A word of a shell, in quotes where it holds more than plain characters.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word() {
        assert_eq!(
            quoted("sales/load it's $(x).orch.yaml"),
            r"'sales/load it'\''s $(x).orch.yaml'"
        );
        assert_eq!(quoted("sales/ü.orch.yaml"), "sales/ü.orch.yaml");
    }
}
