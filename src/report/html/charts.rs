//! Where the findings are: bars by rule and by folder, in tables, so that they can be read without being seen.

use crate::findings::{Finding, Severity};
use crate::report::shorten;
use crate::report::wording::count;
use crate::text::markup as escape;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The most bars of a chart; the rest is summed up.
const MOST: usize = 12;

/// The longest label, in characters.
const LABEL_LIMIT: usize = 120;

/// Errors, warnings, not evaluated.
#[derive(Clone, Copy, Default)]
struct Bar([usize; 3]);

impl Bar {
    fn total(self) -> usize {
        self.0.iter().sum()
    }
}

/// Both charts; nothing where there are no findings.
pub fn charts(findings: &[Finding<'_>]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let by_rule = chart("Findings by rule", "Rule", findings, |finding| finding.rule);
    let by_folder = chart("Findings by folder", "Folder", findings, |finding| {
        folder(finding.path)
    });
    format!(
        "<section aria-labelledby=\"charts\"><h2 id=\"charts\">Where the findings are</h2>\n\
         <div class=\"charts\">\n{by_rule}{by_folder}</div>\n\
         <ul class=\"key\"><li class=\"error\">error</li><li class=\"warning\">warning</li>\
         <li class=\"broken\">not evaluated</li></ul>\n</section>\n"
    )
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("(root)", |(folder, _)| folder)
}

fn chart<'a>(
    title: &str,
    what: &str,
    findings: &[Finding<'a>],
    key: impl Fn(&Finding<'a>) -> &'a str,
) -> String {
    let mut bars: BTreeMap<&str, Bar> = BTreeMap::new();
    for finding in findings {
        let kind = match (finding.error_type, finding.severity) {
            (Some(_), _) => 2,
            (None, Severity::Warning) => 1,
            (None, Severity::Error) => 0,
        };
        bars.entry(key(finding)).or_default().0[kind] += 1;
    }
    let mut ranked: Vec<(&str, Bar)> = bars.into_iter().collect();
    ranked.sort_by_key(|(_, bar)| Reverse(bar.total()));
    let longest = ranked.first().map_or(1, |(_, bar)| bar.total());
    let mut table = format!(
        "<div class=\"card\"><table><caption>{title}</caption><thead hidden=\"\"><tr><th scope=\"col\">{what}</th>\
         <th scope=\"col\">Share</th><th scope=\"col\">Findings</th></tr></thead><tbody>\n"
    );
    for (name, bar) in ranked.iter().take(MOST) {
        table.push_str(&row(name, *bar, longest));
    }
    table.push_str("</tbody></table>\n");
    if ranked.len() > MOST {
        let rest = &ranked[MOST..];
        let findings = rest.iter().map(|(_, bar)| bar.total()).sum();
        let _ = writeln!(
            table,
            "<p class=\"place\">and {} in {}</p>",
            count(findings, "finding"),
            count(rest.len(), &format!("more {}", what.to_lowercase()))
        );
    }
    table + "</div>\n"
}

fn row(name: &str, bar: Bar, longest: usize) -> String {
    let [errors, warnings, broken] = bar.0;
    let words = format!(
        "{}, {}, {broken} not evaluated",
        count(errors, "error"),
        count(warnings, "warning")
    );
    let mut rects = String::new();
    let mut from = 0;
    for (number, tone) in bar.0.into_iter().zip(["error", "warning", "broken"]) {
        if number > 0 {
            let _ = write!(
                rects,
                "<rect class=\"{tone}\" x=\"{}\" y=\"0\" width=\"{}\" height=\"10\"/>",
                thousandths(from, longest),
                thousandths(number, longest)
            );
        }
        from += number;
    }
    format!(
        "<tr><th scope=\"row\">{}</th><td><svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"{words}\">{rects}</svg></td><td class=\"number\">{}</td></tr>\n",
        escape(&shorten::to_chars(name, LABEL_LIMIT)),
        bar.total()
    )
}

const fn thousandths(number: usize, whole: usize) -> usize {
    number * 1_000 / whole
}
