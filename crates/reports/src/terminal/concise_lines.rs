//! Prints one line for each finding, in the format of compiler messages for editors and other programs.

use super::super::view::{FindingEntry, View};
use super::{Style, bold, describe_for_log, finding_color, paint};
use sluicegate_base::text;
use sluicegate_pipelines::findings::Finding;
use std::fmt::Write as _;

/// Adds a line `path:line:column: level: message [rule]` for each listed finding, and for each file that an error in
/// the rules file affects. The column is that of the first visible character of the line, or 1 if the line is unknown.
pub(super) fn push_concise_lines(output: &mut String, view: &View<'_>, style: Style) {
    let base = &view.context.path_base;
    for finding in view.entries.iter().flat_map(FindingEntry::findings) {
        let column = view
            .context
            .sources
            .line(finding.path, finding.line)
            .map_or(1, text_start_column);
        let place = format!("{}:{}:{column}", base.display_path(finding.path), finding.line);
        let place = view
            .context
            .links
            .link_file(&text::escape_line(&place), finding.path);
        push_finding_line(output, &place, finding, view, style);
    }
    for cause in &view.causes {
        for path in &cause.paths {
            let place = format!("{}:1:1", base.display_path(path));
            let place = view.context.links.link_file(&text::escape_line(&place), path);
            push_finding_line(output, &place, &cause.finding, view, style);
        }
    }
}

/// Adds the line of a finding after `place`, which must be escaped and may be a link.
fn push_finding_line(output: &mut String, place: &str, finding: &Finding<'_>, view: &View<'_>, style: Style) {
    let level = paint(&finding.severity.to_string(), bold(finding_color(finding)), style);
    let message = describe_for_log(finding);
    let rule = format!("[{}]", text::escape_line(finding.rule));
    let rule = view.context.links.link_rule(&rule, finding.rule);
    let _ = writeln!(output, "{place}: {level}: {} {rule}", text::escape_line(&message));
}

/// Returns the column, from 1, of the first character after the indentation.
fn text_start_column(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).count() + 1
}

#[cfg(test)]
mod tests {
    use crate::terminal::{Style, render};
    use crate::{ReportContext, sample};
    use sluicegate_pipelines::findings::ShowMode;
    use std::collections::BTreeSet;

    #[test]
    fn each_finding_is_one_line() {
        let mut about = ReportContext {
            show: Some(ShowMode::Concise),
            ..ReportContext::default()
        };
        let text = "\n".repeat(8) + "    Run B:\n";
        about
            .sources
            .keep_lines_near("load/it.orch.yaml", text.as_bytes(), &BTreeSet::from([9]));
        let shown = render(&sample::report(), &about, Style::default());
        let lines: Vec<&str> = shown.lines().take(4).collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        load/it.orch.yaml:9:5: error: `Run B` is not [component-naming-convention]
        load/it.orch.yaml:12:1: error: `Run A` is not in the pattern [component-naming-convention]
        a.tran.yaml:1:1: error: the rule could not be evaluated: designer/no-start-component [unused-components]
        a.tran.yaml:1:1: warning: 3 outputs [maximum-outputs]
        ");
    }
}
