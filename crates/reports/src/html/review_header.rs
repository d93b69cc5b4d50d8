//! Renders the verdict and its numbers at the top of the page, and the facts about the review below the findings.

use super::elements::{render_copy_button, render_inline_code};
use crate::PathBase;
use crate::sentences::{capitalize, describe_numbers, run_noun, to_sentence};
use crate::view::{UnevaluatedCause, View};
use jiff::Timestamp;
use sluicegate_base::text::{escape_markup as escape, unique_short_id};
use sluicegate_pipelines::findings::{FailOn, Report, ReviewContext, Verdict};
use std::fmt::Write as _;

/// Renders the top of the page: the verdict, the reviewed commit, the numbers of findings, and the reasons for the
/// verdict.
pub(super) fn render_header(view: &View<'_>) -> String {
    let report = view.report;
    // The signs are SVG paths: a check mark, a cross and an exclamation mark.
    let (sign_path, css_class) = match report.verdict {
        Verdict::Passed => ("M5 13l5 5L20 7", "passed"),
        Verdict::Failed => ("M6 6l12 12M18 6L6 18", "failed"),
        Verdict::Undecided => ("M12 5v9M12 18v1", "undecided"),
    };
    let name = repository_name(view).map(|name| format!("<strong>{}</strong> ", escape(name)));
    let mut html = format!(
        "<header class=\"top {css_class}\">\n<p class=\"brand\">{}Pipeline review</p>\n\
         <h1><svg class=\"sign\" viewBox=\"0 0 24 24\" width=\"32\" height=\"32\" aria-hidden=\"true\">\
         <path d=\"{sign_path}\" fill=\"none\" stroke=\"#57606a\" stroke-width=\"3\"/></svg>{} {}</h1>\n{}",
        name.unwrap_or_default(),
        capitalize(run_noun(report)),
        report.verdict,
        render_facts(&list_commit_facts(view)),
    );
    let _ = writeln!(
        html,
        "<p class=\"numbers\">{}</p>",
        escape(&describe_numbers_and_scope(view))
    );
    html.push_str(&explain_verdict(view));
    html + "</header>\n"
}

/// Renders the section below the findings: which findings fail the gate, the command that reproduces the review, and
/// the facts about the run.
pub(super) fn render_background(view: &View<'_>) -> String {
    let mut html = String::from("<section class=\"background\" aria-label=\"About this review\">\n");
    let _ = writeln!(html, "<p>{}</p>", describe_fail_on(view.report));
    if let Some(command) = &view.context.reproduction_command {
        let _ = writeln!(
            html,
            "<p>Reproduce locally: <code class=\"copied\">{}</code> {}</p>",
            escape(command),
            render_copy_button("Copy")
        );
    }
    html.push_str(&render_facts(&list_run_facts(view)));
    html + "</section>\n"
}

/// Renders facts as a list of labels and values; empty if there are none.
fn render_facts(facts: &[(&str, String)]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let mut html = String::from("<dl class=\"facts\">");
    for (label, value) in facts {
        let _ = write!(html, "<div><dt>{label}</dt><dd>{}</dd></div>", escape(value));
    }
    html + "</dl>\n"
}

/// Returns a sentence with the numbers of findings, and one with the scope: the passed checks and the excluded files.
fn describe_numbers_and_scope(view: &View<'_>) -> String {
    let numbers = Some(describe_numbers(view.report)).filter(|numbers| !numbers.is_empty());
    let parts: Vec<String> = numbers.into_iter().chain(view.scope.clone()).collect();
    capitalize(&parts.join(". "))
}

/// Returns the name of the repository, or else its URL without `https://`; `None` if both are unknown.
pub(super) fn repository_name<'a>(view: &View<'a>) -> Option<&'a str> {
    view.context.repository.as_deref().or_else(|| {
        let url = view.context.repository_url.as_ref()?;
        Some(url.trim_start_matches("https://"))
    })
}

/// Renders the explanation of the verdict: the problems, the next step, the reasons why rules could not be evaluated,
/// and praise for fixed findings.
fn explain_verdict(view: &View<'_>) -> String {
    let mut html = String::new();
    for problem in &view.problems {
        let _ = writeln!(html, "<p class=\"lead\">{}</p>", render_inline_code(problem));
    }
    if let Some(step) = &view.next_step {
        let _ = writeln!(html, "<p class=\"lead\">To do: {}.</p>", render_inline_code(step));
    }
    for (cause_index, cause) in view.causes.iter().enumerate() {
        let id_attribute = if cause_index == 0 { " id=\"causes\"" } else { "" };
        let _ = writeln!(
            html,
            "<p class=\"lead\"{id_attribute}>{} {}{} {}</p>",
            render_inline_code(&to_sentence(&cause.finding.message())),
            escape(&format!(
                "This affects {}.",
                cause.describe_affected_files(&PathBase::Root)
            )),
            describe_rules_file_places(view, cause),
            render_inline_code(&format!(
                "To fix the problem: {}.",
                view.context.rules_file_hint(&cause.finding)
            ))
        );
    }
    if let Some(praise) = &view.fixed_findings {
        let _ = writeln!(html, "<p class=\"lead\">{praise}</p>");
    }
    html
}

/// Renders a sentence with the first places of the errors in the rules file; empty if none is known.
fn describe_rules_file_places(view: &View<'_>, cause: &UnevaluatedCause<'_>) -> String {
    let places: Vec<String> = view
        .context
        .list_rules_file_places(&cause.finding)
        .iter()
        .map(|place| format!("<code>{}</code>", escape(place)))
        .collect();
    if places.is_empty() {
        return String::new();
    }
    format!(" See {}.", places.join(", "))
}

/// Renders a sentence that says which findings fail the gate, with the option that sets it.
fn describe_fail_on(report: &Report) -> String {
    let fail_on = report.fail_on();
    let subject = match fail_on {
        FailOn::Error => "The gate fails on errors and on pipelines that could not be evaluated",
        FailOn::Warn => "The gate fails on errors, warnings and pipelines that could not be evaluated",
        FailOn::Never => "Findings are reported and do not fail the gate",
    };
    format!("{subject} (<code>--fail-on {fail_on}</code>).")
}

/// Returns the shortened ids of the merge bases; `None` if every pipeline was selected, which needs no base.
fn describe_bases(context: &ReviewContext, shorten: impl Fn(&String) -> String) -> Option<String> {
    let bases: Vec<String> = context
        .base
        .iter()
        .chain(&context.other_bases)
        .map(shorten)
        .collect();
    (!bases.is_empty()).then(|| bases.join(", "))
}

/// Lists the facts about the reviewed commit and the start of the review, without those that are unknown. Shortens the
/// commit ids.
fn list_commit_facts(view: &View<'_>) -> Vec<(&'static str, String)> {
    let context = &view.report.context;
    let shorten = |commit: &String| unique_short_id(commit).to_owned();
    // A report of another program may have no start time.
    let started_at = Some(view.report.started_at).filter(|started_at| *started_at > Timestamp::UNIX_EPOCH);
    let facts = [
        ("Branch", context.branch.clone()),
        ("Commit", context.head.as_ref().map(shorten)),
        ("Changes since", describe_bases(context, shorten)),
        (
            "Started",
            started_at.map(|started_at| started_at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()),
        ),
    ];
    facts
        .into_iter()
        .filter_map(|(label, value)| Some((label, value?)))
        .collect()
}

/// Lists the facts about the run, without those that are unknown. A duration below 0.1 seconds is omitted, because
/// durations are shown in tenths of a second.
fn list_run_facts(view: &View<'_>) -> Vec<(&'static str, String)> {
    let context = &view.report.context;
    let seconds = view.report.duration.as_secs_f64();
    let facts = [
        ("Project", view.context.project.clone()),
        ("Shard", context.shard.map(|shard| shard.to_string())),
        ("Engine", Some(view.report.engine.to_string())),
        ("Run by", Some(describe_host(&context.ci, &context.event))),
        ("Duration", (seconds >= 0.1).then(|| format!("{seconds:.1} s"))),
    ];
    facts
        .into_iter()
        .filter_map(|(label, value)| Some((label, value?)))
        .collect()
}

/// Returns the CI host and its event, if it is known, or `a local run` outside of CI.
fn describe_host(host: &str, event: &str) -> String {
    match host {
        "" | "none" => "a local run".to_owned(),
        "unknown" => "CI, unknown host".to_owned(),
        host if event.is_empty() => host.to_owned(),
        host => format!("{host}, {event}"),
    }
}
