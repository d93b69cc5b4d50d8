//! The numbers; those of findings filter.

use crate::report::tone::Tone;
use crate::report::view::View;

/// The numbers of the review, findings first.
pub(super) fn tiles(view: &View<'_>) -> String {
    let (counts, totals) = (view.report.counts(), view.report.totals());
    let old = view.number(Tone::Old);
    let shown = [
        filter("Errors", totals.errors, Tone::Error),
        filter("Warnings", totals.warnings, Tone::Warning),
        filter("Not evaluated", totals.not_evaluated, Tone::Broken),
        if old > 0 {
            filter("Known or waived", old, Tone::Old)
        } else {
            String::new()
        },
        tile("Rules passed", counts.passed),
        tile("Files", counts.files),
        if_any("Fixed", totals.fixed.unwrap_or_default()),
        if_any("Excluded", counts.excluded),
        if_any("Not reviewed", counts.unreviewed),
    ];
    format!(
        "<section class=\"tiles\" aria-label=\"Numbers\">\n{}</section>\n",
        shown.concat()
    )
}

fn filter(label: &str, number: usize, tone: Tone) -> String {
    if number == 0 {
        return tile(label, number);
    }
    let class = tone.class();
    format!(
        "<button type=\"button\" class=\"tile {class}\" name=\"level\" value=\"{class}\" aria-pressed=\"false\" \
         disabled=\"\"><b>{number}</b> {label}</button>\n"
    )
}

fn tile(label: &str, number: usize) -> String {
    format!("<div class=\"tile\"><b>{number}</b> {label}</div>\n")
}

fn if_any(label: &str, number: usize) -> String {
    if number > 0 {
        tile(label, number)
    } else {
        String::new()
    }
}
