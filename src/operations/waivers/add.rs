//! Runs `sluicegate waivers add`: adds one waiver, or one for every current finding.

use super::folded_findings::find_folded_results;
use super::written_entries::write_entries;
use super::{WaiversFile, entry_to_json};
use crate::error::Failure;
use crate::gate::RunFindings;
use crate::gate::pipeline_positions::PipelinePositions;
use crate::gate::reports::saved_report;
use crate::job::cli::{AddWaiverArgs, OutputFormat};
use crate::session::Session;
use crate::session::response_output::format_json;
use crate::workspace::Workspace;
use jiff::civil::Date;
use sluicegate_base::globs::escape_glob;
use sluicegate_base::text::{List, format_count};
use sluicegate_git::{Snapshot, short_id};
use sluicegate_pipelines::findings::{FileResults, Finding, Origin, Report, TEAM_PREFIX, Violation};
use sluicegate_pipelines::pipelines::Pipeline;
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules;
use sluicegate_pipelines::waivers::{self, FILE_NAME, OldNames, WaiverEntry, Waivers, parse_waivers_file};

/// Maximum number of missing files in a warning.
const MAX_LISTED_FILES: usize = 5;

/// The fields that all added waivers share.
pub(super) struct WaiverTerms {
    pub(super) reason: String,
    pub(super) owner: Option<String>,
    pub(super) last_day: Option<Date>,
}

/// Adds one waiver from the flags, or a waiver for each finding that has none. The findings are the current ones or,
/// with `--from`, those of a report.
pub(crate) fn add_waivers(
    session: &Session,
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    waivers_file: &WaiversFile,
    args: &AddWaiverArgs,
) -> Result<(), Failure> {
    let terms = parse_waiver_terms(args, waivers_file.today)?;
    // The flags name one waiver with both --rule and --path. Otherwise, they ask for a waiver of each finding.
    let entries = if let (Some(rule), Some(path)) = (&args.rule, &args.path) {
        // The path of a waiver is a glob. A path that exists as a file is meant literally, so it is escaped.
        let path = match snapshot.find_file(path)? {
            Some(_) => escape_glob(path),
            None => path.clone(),
        };
        // `complete_matching_entry` adds the size.
        let size = None;
        let entry = build_entry(rule, path, args.about.clone(), size, &terms);
        reject_invalid_waivers(workspace, waivers_file, std::slice::from_ref(&entry))?;
        vec![complete_matching_entry(waivers_file, entry)?]
    } else {
        let files = match &args.from {
            Some(report_path) => read_reported_files(
                session,
                workspace,
                snapshot,
                &waivers_file.run_findings,
                report_path,
            )?,
            None => waivers_file.run_findings.all_files().cloned().collect(),
        };
        let entries = build_unwaived_entries(waivers_file, files, &terms)?;
        reject_invalid_waivers(workspace, waivers_file, &entries)?;
        entries
    };
    write_entries(session, waivers_file, &entries)?;
    match args.output.output {
        OutputFormat::Text => Ok(()),
        OutputFormat::Json => session.ui.print_result(&format_json(
            &entries.iter().map(entry_to_json).collect::<serde_json::Value>(),
        )),
    }
}

/// Returns what the flags say about all new waivers: the reason, the owner, and the last day.
fn parse_waiver_terms(args: &AddWaiverArgs, today: Date) -> Result<WaiverTerms, Failure> {
    Ok(WaiverTerms {
        reason: args.reason.clone(),
        owner: args.owner.clone(),
        last_day: match &args.until {
            Some(text) => Some(parse_last_day(text, today)?),
            None => None,
        },
    })
}

/// Parses the last day on which the new waivers apply. Fails if it is in the past.
fn parse_last_day(text: &str, today: Date) -> Result<Date, Failure> {
    let problem = match text.parse::<Date>() {
        Ok(date) if date >= today => return Ok(date),
        Ok(_) => "is in the past",
        Err(_) => "is not a date",
    };
    Err(Failure::usage(format!("--until {text:?} {problem}"))
        .with_hint("write the last day as YYYY-MM-DD, for example 2027-03-31"))
}

/// Creates a waiver with these terms.
fn build_entry(
    rule: &str,
    path: String,
    about: Option<String>,
    size: Option<u64>,
    terms: &WaiverTerms,
) -> WaiverEntry {
    WaiverEntry {
        rule: rule.to_owned(),
        path,
        about,
        size,
        reason: terms.reason.clone(),
        owner: terms.owner.clone(),
        last_day: terms.last_day,
    }
}

/// Fails for waivers that a later run would reject, for example because of an unknown rule or an empty reason. To find
/// out, formats each waiver as in the file and parses the text again.
fn reject_invalid_waivers(
    workspace: &Workspace<'_>,
    waivers_file: &WaiversFile,
    entries: &[WaiverEntry],
) -> Result<(), Failure> {
    let is_known_rule = workspace.build_rule_lookup(waivers_file.rules.as_ref())?;
    for entry in entries {
        parse_waivers_file(format!("- {entry}\n").as_bytes(), &is_known_rule)
            .map_err(|error| Failure::usage(format!("invalid waiver: {}", error.message)))?;
    }
    Ok(())
}

/// Returns the waiver with the worst size among the findings of its rule in its files. Fails if the waiver matches no
/// current finding, because its rule or path is then probably wrong.
fn complete_matching_entry(
    waivers_file: &WaiversFile,
    mut entry: WaiverEntry,
) -> Result<WaiverEntry, Failure> {
    let waivers = Waivers::new(vec![entry.clone()]).map_err(|error| Failure::usage(error.to_string()))?;
    let mut files: Vec<FileResults> = waivers_file.run_findings.all_files().cloned().collect();
    let is_matched = waivers
        .mark_findings(&mut files, &OldNames::default(), waivers_file.today)
        .iter()
        .any(Option::is_some);
    // The program does not check a rule that only the platform knows, so a waiver for that rule matches no finding.
    let is_checked_rule = rules::find_rule(&entry.rule).is_some()
        || ProjectCheck::find_by_id(&entry.rule).is_some()
        || entry.rule.starts_with(TEAM_PREFIX);
    if !is_matched && is_checked_rule {
        let message = format!("no current finding matches this waiver: {}", entry.describe());
        let hint = if entry.about.is_some() && has_finding_without_subject(&entry.rule, &waivers, &files) {
            "findings of this rule have no subject in these files: pass only the rule and the path"
        } else {
            "run `sluicegate check --all` to list findings; paths are relative to the repository root"
        };
        return Err(Failure::usage(message).with_hint(hint));
    }
    entry.size = find_worst_size(&entry.rule, &waivers, &files);
    Ok(entry)
}

/// Returns whether a finding of this rule in the files that the waivers match is identified without a subject and
/// without its message, so that no text in `about` matches it.
fn has_finding_without_subject(rule: &str, waivers: &Waivers, files: &[FileResults]) -> bool {
    files
        .iter()
        .filter(|file| waivers.matches_path(&file.path))
        .flat_map(FileResults::findings)
        .any(|finding| finding.rule == rule && finding.identity().about.is_none())
}

/// Returns the worst size among the findings of this rule in the files that the waivers match. For a maximum, the worst
/// size is the largest. Returns `None` if no finding has a size.
fn find_worst_size(rule: &str, waivers: &Waivers, files: &[FileResults]) -> Option<u64> {
    let sizes = files
        .iter()
        .filter(|file| waivers.matches_path(&file.path))
        .flat_map(FileResults::findings)
        .filter(|finding| finding.rule == rule)
        .filter_map(|finding| finding.size);
    sizes.reduce(|worst_size, size| {
        if rules::is_worse_size(rule, worst_size, size) {
            size
        } else {
            worst_size
        }
    })
}

/// Renders a new waivers file with this heading: one waiver for each finding that can have one.
pub(crate) fn render_new_waivers_file(
    files: &[FileResults],
    heading: &str,
    reason: &str,
) -> Result<String, Failure> {
    let terms = WaiverTerms {
        reason: reason.to_owned(),
        owner: None,
        last_day: None,
    };
    waivers::add_entries(heading, &build_entries(files, &terms))
        .map_err(|error| Failure::usage(format!("could not create {FILE_NAME}: {error}")))
}

/// Returns a waiver for each finding in `files` that can have one and does not have one yet.
fn build_unwaived_entries(
    waivers_file: &WaiversFile,
    mut files: Vec<FileResults>,
    terms: &WaiverTerms,
) -> Result<Vec<WaiverEntry>, Failure> {
    waivers_file
        .compile_waivers()?
        .mark_findings(&mut files, &OldNames::default(), waivers_file.today);
    Ok(build_entries(&files, terms))
}

/// Returns a waiver for each finding that needs one: its result can be waived (`is_excusable`), and it is neither known
/// nor waived already (`is_counted`). For a rule that limits a number (`is_counting_rule`), the waiver allows a size
/// instead of naming a subject.
pub(super) fn build_entries(files: &[FileResults], terms: &WaiverTerms) -> Vec<WaiverEntry> {
    let mut entries: Vec<WaiverEntry> = Vec::new();
    for file in files {
        let findings = file
            .results
            .iter()
            .filter(|result| result.status.is_excusable())
            .flat_map(|result| result.findings(&file.path));
        entries.extend(findings.filter(Finding::is_counted).map(|finding| {
            let about = finding
                .identity()
                .about
                .filter(|_| !rules::is_counting_rule(finding.rule))
                .map(str::to_owned);
            build_entry(finding.rule, escape_glob(&file.path), about, finding.size, terms)
        }));
    }
    entries.sort();
    entries.dedup();
    entries
}

/// Reads the files with findings from a report, and adds what new waivers need: the sizes and subjects of the findings,
/// and the findings that the report folded into the finding of a broken link. The folded findings come from `current`,
/// the results of the files on disk. A file that is unreadable on disk stays as reported. The findings of a missing file
/// are omitted with a warning.
fn read_reported_files(
    session: &Session,
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    current: &RunFindings,
    report: &std::path::Path,
) -> Result<Vec<FileResults>, Failure> {
    let report = saved_report::read_report(session, report)?;
    reject_unknown_commit(workspace, &report)?;
    let mut files = report.files;
    let mut missing_paths = Vec::new();
    for file in &mut files {
        let Some(snapshot_file) = snapshot.find_file(&file.path)? else {
            let finding_count = file.findings().len();
            // A project check can be about a deleted file.
            file.results.retain(|result| result.origin == Origin::Project);
            if file.findings().len() < finding_count {
                missing_paths.push(file.path.clone());
            }
            continue;
        };
        let Ok(bytes) = workspace.read_document(&snapshot_file)? else {
            continue;
        };
        let Ok(pipeline) = Pipeline::parse(&bytes) else {
            continue;
        };
        let positions = PipelinePositions::from_pipeline(&pipeline);
        // Project checks and team rules determine the subject themselves, and do not count anything.
        let rule_results = file
            .results
            .iter_mut()
            .filter(|result| result.origin.is_from_rules_file());
        for result in rule_results {
            for violation in &mut result.violations {
                complete_violation(violation, &result.rule, &positions);
            }
            positions.identify_missing_part(&result.rule, &mut result.violations);
        }
        let folded_results = find_folded_results(file, current, &pipeline);
        file.results.extend(folded_results);
    }
    if !missing_paths.is_empty() {
        session.ui.warn(&format!(
            "adding no waivers for the findings in {} of the report, because the checkout does not have {}: {}",
            format_count(missing_paths.len(), "file"),
            if missing_paths.len() == 1 { "it" } else { "them" },
            List::with_limit(&missing_paths, MAX_LISTED_FILES)
        ));
    }
    Ok(files)
}

/// Fails if the clone has no commit that the report names: the report may be about another repository. A job may check
/// a merge that exists only in its own clone, so the commits that it was compared with are enough. The report of a
/// working tree names no commit.
fn reject_unknown_commit(workspace: &Workspace<'_>, report: &Report) -> Result<(), Failure> {
    let context = &report.context;
    let Some(head) = &context.head else {
        return Ok(());
    };
    let mut known_ids = [head]
        .into_iter()
        .chain(&context.base)
        .chain(&context.other_bases)
        .chain(&context.policy)
        .filter(|id| workspace.repo.has_commit(id));
    if known_ids.next().is_some() {
        return Ok(());
    }
    let message = format!(
        "could not use the report: it covers commit {}, which this clone does not have",
        short_id(head)
    );
    let hint = "fetch the commit or the target branch, or pass --all instead of --from to waive the current findings";
    Err(Failure::usage(message).with_hint(hint))
}

/// Adds the size and the subject to a violation from a report if they are missing, because a new waiver needs them. As
/// in a review, both are determined from the pipeline.
fn complete_violation(violation: &mut Violation, rule: &str, positions: &PipelinePositions) {
    violation.size = violation.size.or_else(|| positions.find_size(rule));
    if violation.about.is_none() {
        let named_subject = positions.find_subject(&violation.text);
        violation.about = named_subject
            .and_then(|named_subject| named_subject.subject)
            .map(|subject| subject.name.to_owned());
    }
}
