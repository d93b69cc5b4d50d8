//! Why the gate says what it says: what fails it, how much each rule found, and each rule in words.

use super::results::name;
use crate::findings::{FailOn, Report, Verdict};
use crate::report::About;
use crate::report::overview::{Overview, Row};
use crate::report::wording::count;
use crate::text::markup as escape;
use std::fmt::Write as _;

/// The section; nothing where there are no findings.
pub fn section(report: &Report, about: &About) -> String {
    let overview = Overview::of(report, about.show);
    if overview.rules.is_empty() {
        return String::new();
    }
    let mut shown = format!(
        "<section aria-labelledby=\"why\"><h2 id=\"why\">What was found</h2>\n<p>{}</p>\n",
        escape(&limit(report))
    );
    for row in &overview.rules {
        push_rule(&mut shown, row, about);
    }
    if let Some(command) = &about.reproduce {
        let _ = writeln!(
            shown,
            "<p>The same on your machine: <code>{}</code></p>",
            escape(command)
        );
    }
    shown + "</section>\n"
}

/// What fails the gate, in a sentence.
fn limit(report: &Report) -> String {
    let fail_on = report.fail_on();
    let what = match fail_on {
        FailOn::Error => "findings of level error, and what could not be evaluated, fail the gate",
        FailOn::Warn => "findings of any level, and what could not be evaluated, fail the gate",
        FailOn::Never => "findings are only reported, and fail nothing",
    };
    let start = match report.verdict {
        Verdict::Failed => "The gate failed: ",
        Verdict::Passed => "The gate passed: ",
        Verdict::Undecided => "The gate is undecided: ",
    };
    format!("{start}{what} (--fail-on {fail_on}).")
}

fn push_rule(shown: &mut String, row: &Row<'_>, about: &About) {
    let tone = match row.level {
        "error" => "error",
        "warning" => "warning",
        _ => "broken",
    };
    let head = format!(
        "<code>{}</code> <span class=\"tally\">{} in {}</span>",
        name(row.name),
        count(row.findings, "finding"),
        count(row.files, "file")
    );
    let badge = format!("<span class=\"badge\">{}</span>", row.level);
    let Some(rule) = about.rule(row.name) else {
        let _ = writeln!(shown, "<p class=\"rule card {tone}\">{badge} {head}</p>");
        return;
    };
    let _ = write!(
        shown,
        "<details class=\"rule card {tone}\"><summary>{badge} {head}</summary>\n<p>{}</p>\n",
        escape(&rule.summary)
    );
    for sentence in &rule.help {
        let _ = writeln!(shown, "<p>{}</p>", escape(sentence));
    }
    shown.push_str("</details>\n");
}
