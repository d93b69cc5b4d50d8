//! Runs `sluicegate waivers add`: adds one waiver, or one for every current finding.

use super::{Waived, as_json};
use crate::error::Failure;
use crate::gate::Tally;
use crate::gate::reports::saved_report;
use crate::gate::waivers::today;
use crate::job::cli::{AddWaiverArgs, OutputFormat};
use crate::session::Run;
use crate::session::output::json;
use crate::workspace::Workspace;
use jiff::civil::Date;
use sluicegate_base::globs::literal;
use sluicegate_base::text::count;
use sluicegate_git::Snapshot;
use sluicegate_pipelines::findings::{FileResults, Finding, Origin, RuleResult, Violation};
use sluicegate_pipelines::pipelines::Pipeline;
use sluicegate_pipelines::project::{ComponentSuggestions, ProjectCheck};
use sluicegate_pipelines::rules::{self, find_consequences};
use sluicegate_pipelines::waivers::{
    self, FILE_NAME, OldNames, PlacedWaiver, WaiverEntry, Waivers, read_waivers, remove_entries,
};
use std::collections::BTreeSet;

/// The fields that all added waivers share.
struct Terms {
    reason: String,
    owner: Option<String>,
    until: Option<Date>,
}

pub(crate) fn add(
    run: &Run,
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    file: &Waived,
    args: &AddWaiverArgs,
) -> Result<(), Failure> {
    let terms = terms(args)?;
    let entries = if let (Some(rule), Some(path)) = (&args.rule, &args.path) {
        let path = match snapshot.find(path)? {
            Some(_) => literal(path),
            None => path.clone(),
        };
        let entry = entry(rule, path, args.about.clone(), None, &terms);
        readable(workspace, file, std::slice::from_ref(&entry))?;
        vec![one(file, entry)?]
    } else {
        let files = match &args.from {
            Some(report) => reported(run, workspace, snapshot, &file.tally, report)?,
            None => file.tally.all_files().cloned().collect(),
        };
        let entries = all(file, files, &terms)?;
        readable(workspace, file, &entries)?;
        entries
    };
    let written = write(file, &entries)?;
    run.ui
        .say(&format!("{} added to {FILE_NAME}", count(written, "waiver")));
    match args.output.output {
        OutputFormat::Text => Ok(()),
        OutputFormat::Json => run.ui.print_result(&json(&entries.iter().map(as_json).collect())),
    }
}

fn terms(args: &AddWaiverArgs) -> Result<Terms, Failure> {
    let date = |text: &String| {
        let wrong =
            |why: &str| Failure::usage(format!("--until {text:?} {why}")).hint("write a day as 2027-03-31");
        let date: Date = text.parse().map_err(|_| wrong("is not a date"))?;
        if date < today() {
            return Err(wrong("is in the past"));
        }
        Ok(date)
    };
    Ok(Terms {
        reason: args.reason.clone(),
        owner: args.owner.clone(),
        until: args.until.as_ref().map(date).transpose()?,
    })
}

fn entry(rule: &str, path: String, about: Option<String>, size: Option<u64>, terms: &Terms) -> WaiverEntry {
    WaiverEntry {
        rule: rule.to_owned(),
        path,
        about,
        size,
        reason: terms.reason.clone(),
        owner: terms.owner.clone(),
        last_day: terms.until,
    }
}

/// Returns an error for entries that no run could read: an unknown rule, which a report may contain, or no reason.
fn readable(workspace: &Workspace<'_>, file: &Waived, entries: &[WaiverEntry]) -> Result<(), Failure> {
    let knows = workspace.known_rules(file.rules.as_ref())?;
    for entry in entries {
        read_waivers(format!("- {entry}\n").as_bytes(), &knows)
            .map_err(|why| Failure::usage(format!("invalid waiver: {}", why.message)))?;
    }
    Ok(())
}

/// Returns the waiver if it matches a current finding. Findings of rules that only the platform has are unknown here.
fn one(file: &Waived, mut entry: WaiverEntry) -> Result<WaiverEntry, Failure> {
    let wrong = |why: globset::Error| Failure::usage(why.to_string());
    let waivers = Waivers::new(vec![entry.clone()]).map_err(wrong)?;
    let mut files: Vec<FileResults> = file.tally.all_files().cloned().collect();
    let is_met = waivers
        .mark_findings(&mut files, &OldNames::default(), today())
        .contains(&true);
    let is_known = rules::find_rule(&entry.rule).is_some() || ProjectCheck::find(&entry.rule).is_some();
    if !is_met && is_known {
        let what = format!("no current finding matches this waiver: {}", entry.describe());
        return Err(Failure::usage(what).hint(
            "run `sluicegate check --all` to list findings; paths are relative to the repository root",
        ));
    }
    let sizes = files
        .iter()
        .filter(|file| waivers.matches_path(&file.path))
        .flat_map(FileResults::findings)
        .filter(|finding| finding.rule == entry.rule)
        .filter_map(|finding| finding.size);
    entry.size = sizes.reduce(|worst, size| {
        if rules::is_worse_size(&entry.rule, worst, size) {
            size
        } else {
            worst
        }
    });
    Ok(entry)
}

/// Returns the text of a new file with this heading and a waiver for each finding that can have one.
pub(crate) fn baseline(files: &[FileResults], heading: &str, reason: &str) -> Result<String, Failure> {
    let terms = Terms {
        reason: reason.to_owned(),
        owner: None,
        until: None,
    };
    waivers::add_entries(heading, &entries(files, &terms))
        .map_err(|why| Failure::usage(format!("could not create {FILE_NAME}: {why}")))
}

/// Returns a waiver for each finding that can have one and has none.
fn all(file: &Waived, mut files: Vec<FileResults>, terms: &Terms) -> Result<Vec<WaiverEntry>, Failure> {
    file.waivers()?
        .mark_findings(&mut files, &OldNames::default(), today());
    Ok(entries(&files, terms))
}

/// Returns a waiver for each finding that counts and can have one.
fn entries(files: &[FileResults], terms: &Terms) -> Vec<WaiverEntry> {
    let mut entries: Vec<WaiverEntry> = Vec::new();
    for file in files {
        let results = file.results.iter().filter(|result| result.status.is_excusable());
        let findings = results.flat_map(|result| result.findings(&file.path));
        entries.extend(findings.filter(Finding::is_counted).map(|finding| {
            let about = finding
                .identity()
                .about
                .filter(|_| !rules::is_counting_rule(finding.rule));
            let about = about.map(str::to_owned);
            entry(finding.rule, literal(&file.path), about, finding.size, terms)
        }));
    }
    entries.sort();
    entries.dedup();
    entries
}

/// Returns the files of a report, with the subject of each finding, which older reports lack, read from the files on
/// disk. The findings that the report folds under a broken link are those of `current`.
fn reported(
    run: &Run,
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    current: &Tally,
    report: &std::path::Path,
) -> Result<Vec<FileResults>, Failure> {
    let mut files = saved_report::read(run, report)?.files;
    for file in &mut files {
        let Some(found) = snapshot.find(&file.path)? else {
            continue;
        };
        let Ok(Ok(pipeline)) = workspace.read(&found)?.map(|bytes| Pipeline::parse(&bytes)) else {
            continue;
        };
        let folded = folded_results(file, current, &pipeline);
        let of_rules = file
            .results
            .iter_mut()
            .filter(|result| result.origin != Origin::Project);
        for result in of_rules {
            let rule = &result.rule;
            result
                .violations
                .iter_mut()
                .for_each(|violation| place(violation, rule, &pipeline));
        }
        file.results.extend(folded);
    }
    Ok(files)
}

/// Returns the current results that follow from the broken links of the pipeline, if the report folds them.
fn folded_results(reported: &FileResults, current: &Tally, pipeline: &Pipeline) -> Vec<RuleResult> {
    let mut violations = reported.results.iter().flat_map(|result| &result.violations);
    if !violations.any(|violation| violation.folded_count > 0) {
        return Vec::new();
    }
    let mut suggestions = ComponentSuggestions::default();
    let names = || {
        pipeline
            .components
            .iter()
            .map(|component| component.name.as_str())
    };
    let sought = find_consequences(pipeline, &mut |name| suggestions.find_similar(names(), name));
    let files = current.files.iter().filter(|file| file.path == reported.path);
    let mut results: Vec<RuleResult> = files.flat_map(|file| file.results.clone()).collect();
    for result in &mut results {
        let rule = result.rule.clone();
        result.violations.retain(|violation| {
            let about = violation.about.as_deref();
            sought
                .iter()
                .any(|(known, component)| *known == rule && about == Some(component.as_str()))
        });
    }
    results.retain(|result| !result.violations.is_empty());
    results
}

fn place(violation: &mut Violation, rule: &str, pipeline: &Pipeline) {
    violation.size = rules::measure_pipeline(rule, pipeline);
    if violation.about.is_none() {
        let named = pipeline.find_subject(&violation.text);
        violation.about = named
            .and_then(|named| named.subject)
            .map(|subject| subject.name.to_owned());
    }
}

/// Writes the entries, replacing those with the same subject. Returns their number.
fn write(file: &Waived, entries: &[WaiverEntry]) -> Result<usize, Failure> {
    if entries.is_empty() {
        return Ok(0);
    }
    let subjects: BTreeSet<_> = entries.iter().map(WaiverEntry::subject).collect();
    let is_replaced = |placed: &PlacedWaiver| subjects.contains(&placed.entry.subject());
    let goes: Vec<bool> = file.placed.iter().map(is_replaced).collect();
    let text = if goes.contains(&true) {
        remove_entries(&file.text, &goes)
    } else {
        Ok(file.text.clone())
    };
    file.write(text.and_then(|text| waivers::add_entries(&text, entries)))?;
    Ok(entries.len())
}
