//! What the writers are handed besides the review: lines of the files, which of them changed, the rules in words, links.

use super::Place;
use crate::ci::Host;
use crate::commands::Run;
use crate::findings::Report;
use crate::git::{Change, ChangeKind, CommitId, GitError, Repository, TreeFile};
use crate::report::{About, ChangedLines, RuleText, Sources};
use crate::rules;
use crate::settings;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Component, Path};

/// Files larger than this, in bytes, are shown without lines.
const SIZE_LIMIT: u64 = 16 * 1024 * 1024;

/// The lines of findings, by path.
type Wanted<'a> = BTreeMap<&'a str, BTreeSet<u32>>;

/// Everything that the writers are handed besides the review. What cannot be read is left out: a review is to be shown
/// also where its files are not.
pub(super) fn about(run: &Run, place: &Place<'_>, report: &Report, category: &str) -> About {
    let mut about = About {
        tool_version: env!("CARGO_PKG_VERSION"),
        blob_url: blob_url(run, place.host(), report),
        category: category.to_owned(),
        rules: rule_texts(),
        ..About::default()
    };
    let mut wanted = Wanted::new();
    for finding in report.findings() {
        wanted.entry(finding.path).or_default().insert(finding.line);
    }
    let Some(repo) = place.repo.filter(|_| !wanted.is_empty()) else {
        return about;
    };
    // Only whole ids are taken: a report that was read from a file could name anything.
    let known = |id: &&str| repo.has_commit(id);
    let commit = |id: &Option<String>| repo.resolve(id.as_deref().filter(known)?).ok();
    match (commit(&report.context.head), &report.context.head) {
        (Some(head), _) => {
            let read = from_commit(
                repo,
                &head,
                commit(&report.context.base).as_ref(),
                &wanted,
                &mut about,
            );
            if let Err(error) = read {
                tracing::debug!("lines of findings could not be read: {error}");
            }
        }
        (None, None) if place.worktree => from_worktree(repo.root(), &wanted, &mut about.sources),
        _ => {}
    }
    about
}

fn from_commit(
    repo: &Repository,
    head: &CommitId,
    base: Option<&CommitId>,
    wanted: &Wanted<'_>,
    about: &mut About,
) -> Result<(), GitError> {
    let files = repo.files(head, &|path| wanted.contains_key(path))?;
    for file in &files {
        if about.sources.is_full() {
            break;
        }
        if let (Ok(content), Some(lines)) = (
            repo.read_blob(&file.blob, SIZE_LIMIT),
            wanted.get(file.path.as_str()),
        ) {
            about.sources.add(&file.path, &content, lines);
        }
    }
    match base {
        Some(base) => changed_lines(repo, base, head, &files, &mut about.changed),
        None => Ok(()),
    }
}

/// Which lines of `files`, which are those with findings, the change touched.
fn changed_lines(
    repo: &Repository,
    base: &CommitId,
    head: &CommitId,
    files: &[TreeFile],
    touched: &mut ChangedLines,
) -> Result<(), GitError> {
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let wanted = |path: &str| paths.contains(path) || settings::is_pipeline(path);
    let changes: HashMap<String, Change> = repo
        .changes(Some(base), head, &wanted)?
        .into_iter()
        .map(|change| (change.path.clone(), change))
        .collect();
    let former = |file: &TreeFile| match &changes.get(&file.path)?.kind {
        ChangeKind::Renamed { from } => Some(from.clone()),
        ChangeKind::Added => None,
        _ => Some(file.path.clone()),
    };
    let formers: BTreeSet<String> = files.iter().filter_map(former).collect();
    let old: HashMap<String, TreeFile> = repo
        .files(base, &|path| formers.contains(path))?
        .into_iter()
        .map(|file| (file.path.clone(), file))
        .collect();
    for file in files.iter().filter(|file| changes.contains_key(&file.path)) {
        let before = former(file).and_then(|path| old.get(&path));
        if let Ok(lines) = repo.changed_lines(before.map(|file| &file.blob), &file.blob) {
            touched.add(&file.path, lines);
        }
    }
    Ok(())
}

fn from_worktree(root: &Path, wanted: &Wanted<'_>, sources: &mut Sources) {
    for (path, lines) in wanted {
        let inside = Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let file = root.join(path);
        let plain = fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file() && meta.len() <= SIZE_LIMIT);
        if !inside || !plain || sources.is_full() {
            continue;
        }
        if let Ok(content) = fs::read(&file) {
            sources.add(path, &content, lines);
        }
    }
}

/// The rules of this program, which are the platform's, in words.
fn rule_texts() -> Vec<RuleText> {
    let text = |rule: &&dyn rules::Rule| {
        let known = rule.documentation();
        let help = std::iter::once(known.reason).chain(known.details.iter().copied());
        RuleText {
            id: known.id.to_owned(),
            summary: known.summary.to_owned(),
            help: help
                .chain(known.assumed.iter().copied())
                .map(str::to_owned)
                .collect(),
        }
    };
    rules::registry().iter().map(text).collect()
}

/// Where the host shows a file at the reviewed commit; only its own variables tell.
fn blob_url(run: &Run, host: Host, report: &Report) -> Option<String> {
    let head = report.context.head.as_ref()?;
    match host {
        Host::GitHub => {
            let server = run.env.get("GITHUB_SERVER_URL")?;
            let repository = run.env.get("GITHUB_REPOSITORY")?;
            Some(format!("{server}/{repository}/blob/{head}"))
        }
        Host::GitLab => Some(format!("{}/-/blob/{head}", run.env.get("CI_PROJECT_URL")?)),
        _ => None,
    }
}
