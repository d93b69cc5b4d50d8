//! The results, file by file: each finding with the lines around it, then the passed rules.

use crate::findings::{FileResults, Finding, RuleResult, Severity, Status};
use crate::report::wording::count;
use crate::report::{About, Sources, shorten, uri};
use crate::text::markup as escape;
use std::collections::HashMap;
use std::fmt::Write as _;

/// The longest message, in characters.
const MESSAGE_LIMIT: usize = 4_000;

/// The longest rule name, in characters.
const NAME_LIMIT: usize = 200;

/// The rules of a review, numbered for the filter.
pub type RuleNumbers<'a> = HashMap<&'a str, usize>;

/// The status of a finding: the word of the filter, and that for people.
pub const fn status(finding: &Finding<'_>) -> (&'static str, &'static str) {
    match (finding.error_type, finding.severity) {
        (Some(_), _) => ("broken", "not evaluated"),
        (None, Severity::Error) => ("error", "error"),
        (None, Severity::Warning) => ("warning", "warning"),
    }
}

/// One file with its results, open if it has findings and not too many have. Its findings are numbered on.
pub fn file(
    file: &FileResults,
    open: bool,
    numbers: &RuleNumbers<'_>,
    number_before: &mut usize,
    about: &About,
) -> String {
    let findings = file.findings();
    let passed: Vec<&RuleResult> = file
        .results
        .iter()
        .filter(|r| r.status == Status::Passed)
        .collect();
    let open = if open && !findings.is_empty() {
        " open=\"\""
    } else {
        ""
    };
    let mut shown = format!(
        "<details class=\"file card\"{open}><summary><h3 class=\"mono\">{}</h3> <span class=\"tally\">{}, {} passed</span></summary>\n",
        escape(&file.path),
        count(findings.len(), "finding"),
        passed.len()
    );
    for finding in &findings {
        *number_before += 1;
        push_finding(&mut shown, finding, *number_before, numbers, about);
    }
    for result in passed {
        let _ = writeln!(
            shown,
            "<article class=\"passed\" data-status=\"passed\" data-rule=\"{}\"><header><span class=\"badge\">passed</span> \
             <code>{}</code></header></article>",
            number(numbers, &result.rule),
            name(&result.rule)
        );
    }
    shown + "</details>\n"
}

fn number(numbers: &RuleNumbers<'_>, rule: &str) -> usize {
    numbers.get(rule).copied().unwrap_or_default()
}

/// A rule's name, cut to what a heading can hold.
pub fn name(rule: &str) -> String {
    escape(&shorten::to_chars(rule, NAME_LIMIT))
}

fn push_finding(
    shown: &mut String,
    finding: &Finding<'_>,
    id: usize,
    numbers: &RuleNumbers<'_>,
    about: &About,
) {
    let (status, word) = status(finding);
    let _ = write!(
        shown,
        "<article id=\"finding-{id}\" class=\"{status}\" data-status=\"{status}\" data-rule=\"{}\"><header><span class=\"badge\">{word}</span> \
         <code>{}</code> <span class=\"place\">{}</span> \
         <a class=\"place\" href=\"#finding-{id}\">link</a></header>\n<p class=\"message\">{}</p>\n",
        number(numbers, finding.rule),
        name(finding.rule),
        place(finding, about),
        escape(&shorten::to_chars(&finding.message(), MESSAGE_LIMIT))
    );
    push_lines(shown, finding, &about.sources);
    shown.push_str("</article>\n");
}

fn place(finding: &Finding<'_>, about: &About) -> String {
    let line = finding.line;
    let changed = if about.changed.touch(finding.path, line) {
        ", changed here"
    } else {
        ""
    };
    match about
        .blob_url
        .as_deref()
        .filter(|base| base.starts_with("https://"))
    {
        Some(base) => {
            let address = escape(&uri::blob(base, finding.path, line));
            format!("<a href=\"{address}\" rel=\"noreferrer\">line {line}</a>{changed}")
        }
        None => format!("line {line}{changed}"),
    }
}

fn push_lines(shown: &mut String, finding: &Finding<'_>, sources: &Sources) {
    let lines = sources.around(finding.path, finding.line, Sources::AROUND);
    let (Some((first, _)), Some((last, _))) = (lines.first(), lines.last()) else {
        return;
    };
    let _ = write!(
        shown,
        "<figure><figcaption>Lines {first} to {last}</figcaption><pre>"
    );
    for (number, line) in &lines {
        let hit = if *number == finding.line {
            " class=\"hit\""
        } else {
            ""
        };
        let _ = write!(shown, "<span{hit}><i>{number}</i><b>{}</b></span>", escape(line));
    }
    shown.push_str("</pre></figure>\n");
}
