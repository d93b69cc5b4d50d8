//! Collects the facts that report writers need in addition to the report: lines of files, changed lines, texts about
//! the rules, links.

use super::azure_variables::find_azure_build;
use super::file_lines::add_file_lines;
use super::{Delivery, report_changes, repository_links, reproduction};
use crate::gate::changes::change_list;
use crate::job::ci::Host;
use crate::job::settings::FILE_NAME;
use crate::session::Session;
use sluicegate_base::address;
use sluicegate_git::Snapshot;
use sluicegate_pipelines::findings::{Report, Verdict};
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules;
use sluicegate_pipelines::team_rules::{TeamRule, TeamRuleSet};
use sluicegate_reports::terminal::TerminalLinks;
use sluicegate_reports::{ChangedFile, Format, PathBase, ReportContext, RuleText, SarifLimits};

/// Collects the facts that the outputs show in addition to the report: links, texts about the rules, lines of the
/// files. Facts that cannot be read are omitted, because the result of the review does not depend on them. This run
/// provides `changes` if it compared the pipelines.
pub(super) fn build_report_context(
    session: &Session,
    delivery: &Delivery<'_>,
    changes: Option<Vec<ChangedFile>>,
) -> ReportContext {
    let (report, destinations) = (delivery.report, delivery.destinations);
    let has_links = change_list::has_output(session, delivery.host(), destinations, Format::needs_links);
    let mut context = ReportContext {
        tool_version: env!("CARGO_PKG_VERSION"),
        blob_url: has_links
            .then(|| repository_links::build_blob_url_template(session, delivery, report))
            .flatten(),
        repository_url: repository_links::find_repository_url(session, delivery.host()),
        repository: repository_links::find_repository_name(session, delivery),
        project: session
            .global
            .project_id
            .clone()
            .or_else(|| destinations.project_id.clone()),
        sarif_limits: (delivery.host() == Host::GitHub).then_some(SarifLimits::GITHUB),
        azure_build: (delivery.host() == Host::Azure)
            .then(|| find_azure_build(session))
            .flatten(),
        category: destinations.category.clone(),
        show: destinations.show,
        path_base: find_path_base(session, delivery),
        links: build_terminal_links(session, delivery),
        logged_reasons: session.shown_texts(),
        rules_file_errors: report.rules_file_errors.clone(),
        missing_rules_hint: delivery.missing_rules_hint.clone(),
        reproduction_command: reproduction::build_reproduction_command(session, delivery),
        rules: list_rule_texts(delivery.team_rules),
        existing_file: find_anchor_file(delivery, report),
        removed_gate_files: list_removed_gate_files(delivery, report),
        ..ReportContext::default()
    };
    if change_list::needs_change_list(session, delivery.host(), destinations) {
        context.changes = changes.unwrap_or_else(|| report_changes::list_report_changes(delivery));
    }
    if destinations.has_report(Format::is_html_page) {
        (context.pictures, context.omitted_picture_paths) =
            report_changes::draw_unchanged_pipelines(delivery, report, &context.changes);
    }
    add_file_lines(delivery, &mut context);
    context
}

/// Returns the addresses for links in the log: to the files of the checkout, and to the documentation of this version.
/// Without support for links in the terminal, returns none.
fn build_terminal_links(session: &Session, delivery: &Delivery<'_>) -> TerminalLinks {
    let is_supported = if delivery.destinations.has_stdout_report() {
        session.ui.links_messages()
    } else {
        session.ui.links_output()
    };
    if !is_supported {
        return TerminalLinks::default();
    }
    let checkout = delivery.files.filter(|(repo, _)| !repo.is_bare());
    let root = checkout.and_then(|(repo, _)| repo.root().canonicalize().ok());
    TerminalLinks {
        root: root.map(|root| root.to_string_lossy().into_owned()),
        documentation: address::repository_url()
            .map(|url| format!("{url}/blob/v{}/docs", env!("CARGO_PKG_VERSION"))),
    }
}

/// Returns the directory that the paths in the log are relative to. In a local run, this is the current directory, even
/// outside the repository, because an editor or a shell finds the files from there. In CI, or if the current directory
/// cannot be determined, it is the repository root, as in reports.
fn find_path_base(session: &Session, delivery: &Delivery<'_>) -> PathBase {
    let Some((repo, _)) = delivery
        .files
        .filter(|(repo, _)| delivery.host().is_local() && !repo.is_bare())
    else {
        return PathBase::Root;
    };
    let (root, current_dir) = (
        repo.root().canonicalize(),
        session.env.current_dir().canonicalize(),
    );
    let (Ok(root), Ok(current_dir)) = (root, current_dir) else {
        return PathBase::Root;
    };
    if let Ok(directory) = current_dir.strip_prefix(&root) {
        let parts: Vec<_> = directory.iter().map(|part| part.to_string_lossy()).collect();
        return if parts.is_empty() {
            PathBase::Root
        } else {
            PathBase::Subdirectory(parts.join("/"))
        };
    }
    // If the root is below the current directory, its relative path is enough.
    let root = root.strip_prefix(&current_dir).unwrap_or(&root);
    PathBase::Outside(root.to_string_lossy().into_owned())
}

/// Returns a file of the reviewed commit, preferably the configuration file, for formats in which an entry about the
/// whole run must name a file. Returns `None` if the report lists a file, or there is nothing to report about the run.
fn find_anchor_file(delivery: &Delivery<'_>, report: &Report) -> Option<String> {
    let has_path = !report.files.is_empty() || !report.unreviewed_files.is_empty();
    let is_plain_pass =
        report.verdict == Verdict::Passed && report.limits.is_empty() && report.gate_changes.is_empty();
    if has_path || is_plain_pass {
        return None;
    }
    let (_, snapshot) = delivery.files?;
    find_any_file(snapshot)
}

/// Returns the changed files of the gate configuration that the reviewed commit does not have. A file that cannot be
/// looked up is treated as existing.
fn list_removed_gate_files(delivery: &Delivery<'_>, report: &Report) -> Vec<String> {
    let Some((_, snapshot)) = delivery.files else {
        return Vec::new();
    };
    report
        .gate_changes
        .iter()
        .filter(|change| matches!(snapshot.has_path(&change.path), Ok(false)))
        .map(|change| change.path.clone())
        .collect()
}

/// Returns a file of the snapshot, preferably the configuration file; `None` if it has no file or cannot be read.
pub(super) fn find_any_file(snapshot: &Snapshot<'_>) -> Option<String> {
    if let Ok(Some(file)) = snapshot.find_file(FILE_NAME) {
        return Some(file.path);
    }
    let mut files = snapshot.list_files(&|_| true).ok()?;
    (!files.is_empty()).then(|| files.swap_remove(0).path)
}

/// Returns the texts about all rules, team rules and project checks, for formats that explain the rules.
fn list_rule_texts(team_rules: &TeamRuleSet) -> Vec<RuleText> {
    let checks = ProjectCheck::ALL
        .map(ProjectCheck::documentation)
        .into_iter()
        .map(|documentation| {
            let help = std::iter::once(documentation.reason).chain(documentation.details.iter().copied());
            RuleText {
                id: documentation.check.id().to_owned(),
                summary: documentation.summary.to_owned(),
                fix: documentation.fix.to_owned(),
                help: help.chain([documentation.fix]).map(str::to_owned).collect(),
                blocks: documentation.build_blocks(),
            }
        });
    rules::registry()
        .iter()
        .map(|rule| build_rule_text(*rule))
        .chain(team_rules.rules().iter().map(build_team_rule_text))
        .chain(checks)
        .collect()
}

/// Returns the texts about a rule from the team's rules file: its summary, its condition and the fix.
fn build_team_rule_text(rule: &TeamRule) -> RuleText {
    let fix = rule.help.clone().unwrap_or_else(|| rule.default_fix());
    RuleText {
        id: rule.full_id(),
        summary: rule.summary(),
        help: vec![rule.describe_condition(), fix.clone()],
        fix,
        blocks: rule.build_blocks(),
    }
}

/// Returns the texts about one rule: its summary, the help and the fix. Unlike the help of team rules and project
/// checks, this help does not repeat the fix.
fn build_rule_text(rule: &dyn rules::Rule) -> RuleText {
    let documentation = rule.documentation();
    let help = std::iter::once(documentation.reason).chain(documentation.details.iter().copied());
    RuleText {
        id: documentation.id.to_owned(),
        summary: documentation.summary.to_owned(),
        fix: documentation.fix.to_owned(),
        help: help
            .chain(documentation.assumptions.iter().copied())
            .map(str::to_owned)
            .collect(),
        blocks: documentation.build_blocks(),
    }
}
