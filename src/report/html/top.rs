//! The verdict, why the gate says so, and what was reviewed.

use super::parts::{copy, rule};
use crate::base::text::markup as escape;
use crate::model::findings::{FailOn, Report, ReviewContext, Verdict};
use crate::report::tone::Tone;
use crate::report::view::{UnjudgedCause, View};
use crate::report::wording::numbers;
use jiff::Timestamp;
use std::fmt::Write as _;

/// Rules that are named as the ones that fail the gate.
const NAMED: usize = 6;

pub(super) fn header(view: &View<'_>) -> String {
    let report = view.report;
    let (sign, tone) = match report.verdict {
        Verdict::Passed => ("M5 13l5 5L20 7", "passed"),
        Verdict::Failed => ("M6 6l12 12M18 6L6 18", "failed"),
        Verdict::Undecided => ("M12 5v9M12 18v1", "undecided"),
    };
    let name = repository(view).map(|name| format!("<strong>{}</strong> ", escape(name)));
    let mut shown = format!(
        "<header class=\"top {tone}\">\n<p class=\"brand\">{}Pipeline review</p>\n\
         <h1><svg class=\"sign\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"{sign}\"/></svg>Review {}</h1>\n",
        name.unwrap_or_default(),
        report.verdict,
    );
    let _ = writeln!(shown, "<p class=\"numbers\">{}</p>", escape(&numbers_line(view)));
    shown.push_str(&why(view));
    if let Some(command) = &view.about.reproduce {
        let _ = writeln!(
            shown,
            "<p class=\"again\">The same on your machine: <code class=\"copied\">{}</code> {}</p>",
            escape(command),
            copy("Copy")
        );
    }
    shown.push_str("<dl class=\"facts\">");
    for (label, value) in facts(view) {
        let _ = write!(shown, "<div><dt>{label}</dt><dd>{}</dd></div>", escape(&value));
    }
    shown + "</dl>\n</header>\n"
}

/// The numbers of the headline, and what passed.
fn numbers_line(view: &View<'_>) -> String {
    let numbers = Some(numbers(view.report)).filter(|numbers| !numbers.is_empty());
    let parts: Vec<String> = numbers.into_iter().chain(view.scope.clone()).collect();
    parts.join(". ")
}

pub(super) fn repository<'a>(view: &View<'a>) -> Option<&'a str> {
    let of_url = |url: &'a String| url.trim_start_matches("https://");
    let named = view.about.repository.as_deref();
    named.or_else(|| view.about.repository_url.as_ref().map(of_url))
}

/// Why the gate says what it says: what fails it, by rule, and what would.
fn why(view: &View<'_>) -> String {
    let report = view.report;
    let mut shown = String::new();
    if let Some(problem) = &view.problem {
        let _ = writeln!(shown, "<p class=\"lead\">{}</p>", escape(problem));
    }
    if let Some(step) = view.step {
        let _ = writeln!(shown, "<p class=\"lead\">To do: {}.</p>", escape(step));
    }
    match failing(view) {
        Some(failing) => shown.push_str(&failing),
        None if report.verdict == Verdict::Passed => {
            let _ = writeln!(shown, "<p class=\"lead\">{}</p>", passed(view));
        }
        None => {}
    }
    for cause in &view.causes {
        let _ = writeln!(
            shown,
            "<p class=\"lead\">{} It concerns {}.{}</p>",
            escape(&cause.finding.message()),
            escape(&cause.concerns()),
            places(view, cause)
        );
    }
    if let Some(praise) = &view.praise {
        let _ = writeln!(shown, "<p class=\"lead\">{praise}</p>");
    }
    let _ = writeln!(shown, "<p class=\"limit\">{}</p>", limit(report));
    shown
}

/// Where the rules file is wrong.
fn places(view: &View<'_>, cause: &UnjudgedCause<'_>) -> String {
    let named = view.about.named_places(&cause.finding);
    let shown = named
        .iter()
        .map(|place| format!("<code>{}</code>", escape(place)));
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() {
        return String::new();
    }
    format!(" It stands at {}.", shown.join(", "))
}

/// The findings that fail the gate, by rule; none where no finding does.
fn failing(view: &View<'_>) -> Option<String> {
    let fail_on = view.report.fail_on();
    let fails = |tone: Tone| match tone {
        Tone::Error | Tone::Broken => fail_on != FailOn::Never,
        Tone::Warning => fail_on == FailOn::Warn,
        Tone::Old => false,
    };
    let mut all = 0;
    let mut rules = Vec::new();
    for (name, tally) in &view.rules {
        let parts: Vec<(Tone, usize)> = tally.parts().filter(|(tone, _)| fails(*tone)).collect();
        all += parts.iter().map(|(_, number)| number).sum::<usize>();
        let words = parts.iter().map(|(tone, number)| {
            let words = tone.counted(*number);
            format!("<span class=\"{}\">{words}</span>", tone.class())
        });
        let words: Vec<String> = words.collect();
        if !words.is_empty() {
            rules.push(format!("<li>{} {}</li>", rule(view, name), words.join(", ")));
        }
    }
    let more = rules.len().saturating_sub(NAMED);
    rules.truncate(NAMED);
    if more > 0 {
        rules.push(format!("<li>and {more} more</li>"));
    }
    let start = match all {
        0 => return None,
        1 => "1 finding fails the gate:".to_owned(),
        all => format!("{all} findings fail the gate:"),
    };
    Some(format!(
        "<div class=\"lead\"><p>{start}</p><ul class=\"causes\">{}</ul></div>\n",
        rules.concat()
    ))
}

fn passed(view: &View<'_>) -> String {
    let report = view.report;
    if report.reviewed().next().is_none() {
        return numbers(report);
    }
    let found = if view.findings.is_empty() {
        "There is no finding."
    } else {
        "No finding fails the gate."
    };
    found.to_owned()
}

/// What fails the gate, in a sentence.
fn limit(report: &Report) -> String {
    let fail_on = report.fail_on();
    let what = match fail_on {
        FailOn::Error => "Findings of level error, and what could not be evaluated, fail it",
        FailOn::Warn => "Findings of any level, and what could not be evaluated, fail it",
        FailOn::Never => "Findings are only reported, and fail nothing",
    };
    format!("{what} (<code>--fail-on {fail_on}</code>).")
}

/// The merge-bases; none where every pipeline was selected.
fn compared_with(context: &ReviewContext, short: impl Fn(&String) -> String) -> Option<String> {
    let bases: Vec<String> = context
        .base
        .iter()
        .chain(&context.other_bases)
        .map(short)
        .collect();
    (!bases.is_empty()).then(|| bases.join(", "))
}

fn facts(view: &View<'_>) -> Vec<(&'static str, String)> {
    let context = &view.report.context;
    let short = |commit: &String| commit.chars().take(12).collect::<String>();
    let optional = [
        ("Project", view.about.project.clone()),
        ("Branch", context.branch.clone()),
        ("Commit", context.head.as_ref().map(short)),
        ("Compared with", compared_with(context, short)),
        ("Part", context.shard.map(|shard| shard.to_string())),
    ];
    let mut facts: Vec<_> = optional
        .into_iter()
        .filter_map(|(label, value)| Some((label, value?)))
        .collect();
    facts.push(("Engine", view.report.engine.to_string()));
    facts.push(("Run by", run_by(&context.ci, &context.event)));
    // A report that was made by another program may not tell.
    if view.report.started_at > Timestamp::UNIX_EPOCH {
        let began = view.report.started_at.strftime("%Y-%m-%d %H:%M:%S UTC");
        facts.push(("Began", began.to_string()));
        let seconds = view.report.elapsed.as_secs_f64();
        if seconds >= 0.1 {
            facts.push(("Took", format!("{seconds:.1} s")));
        }
    }
    facts
}

/// The host and its event; outside of CI there is neither.
fn run_by(host: &str, event: &str) -> String {
    match host {
        "" | "none" => "a local run".to_owned(),
        host => format!("{host}, {event}"),
    }
}
