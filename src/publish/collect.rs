//! Creates the plan of a publish: selects the files, checks that they are complete, and builds the metadata.

use super::closure::{self, CheckedClosure};
use super::contents::PublishContents;
use super::drift;
use super::listing::{Listing, refuse_unsure};
use super::references::{self, FileFacts, WantedFile};
use super::shared_file::SharedFile;
use super::version::{self, VersionFacts};
use super::warnings::{self, Warning, WarningKind};
use super::{Plan, PlannedFile, PublishError, Select, SharedPipelineRef, Source, Wish};
use sluicegate_base::text::List;
use sluicegate_git::{CommitId, Repository, SnapshotFile};
use sluicegate_pipelines::pipelines::{self, PipelineKind, SharedEntry};
use sluicegate_platform::api::{header_value, part_name};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Maximum number of warnings in a plan.
const WARNINGS: usize = 200;

/// Plans a publish of the files in `head` or on disk. Sends nothing; an incomplete set of files is an error with the
/// position of each problem.
pub fn plan(repository: &Repository, head: &CommitId, wish: &Wish<'_>) -> Result<Plan, PublishError> {
    let prefix = version::header("prefix", wish.prefix.clone())?;
    let version_name = version_name(repository, head, wish)?;
    let listing = Listing::new(repository, head, wish)?;
    let contents = Arc::new(PublishContents::new(repository.root().to_owned()));
    let config_dir = config_dir(&listing, wish)?;
    let shared = SharedFile::read(&listing, &contents, &config_dir)?;
    let mut selected = selected(&listing, wish)?;
    let sent = read_pipelines(&contents, &selected, &shared)?;
    let checked = closure::check(closure::Input {
        listing: &listing,
        contents: &contents,
        wish,
        shared: &shared,
        sent,
    })?;
    if !checked.problems.is_empty() {
        return Err(PublishError::NotWhole(checked.problems));
    }
    if wish.select == Select::Closure {
        selected.retain(|path, _| checked.sent.contains_key(path));
    }
    let files = files(&contents, selected, &shared, &checked)?;
    refuse_same_names(&files)?;
    let (branch, odd_branch) = branch(wish);
    let mut warnings = checked.warnings;
    warnings.extend(listing.submodules.iter().map(skipped));
    let mut others: Vec<String> = odd_branch.into_iter().chain(no_offer(&shared)).collect();
    if wish.source == Source::Worktree {
        others.extend(drift::warning(repository, head, wish, &contents, &files)?);
    }
    let told = warnings::summed(&warnings)
        .into_iter()
        .chain(others.iter().cloned())
        .collect();
    let all = warnings
        .into_iter()
        .map(|warning| warning.text)
        .chain(others)
        .collect();
    Ok(Plan {
        prefix,
        version_name,
        commit_hash: head.as_str().to_owned(),
        branch,
        config_dir,
        files,
        shared: shared.enabled().map(SharedPipelineRef::from).collect(),
        interface: shared.interface,
        warnings: bounded(all),
        told,
        source: wish.source,
        select: wish.select,
        // The shared-pipelines file is needed, too.
        needed_count: checked.needed_count + 1,
        contents,
    })
}

/// Returns the version name from the template of the request.
pub fn version_name(
    repository: &Repository,
    head: &CommitId,
    wish: &Wish<'_>,
) -> Result<String, PublishError> {
    let facts = version_facts(repository, head, wish)?;
    Ok(version::expand(&wish.version_template, &facts)?)
}

fn version_facts(
    repository: &Repository,
    head: &CommitId,
    wish: &Wish<'_>,
) -> Result<VersionFacts, PublishError> {
    Ok(VersionFacts {
        tag: wish.tag.clone(),
        branch: wish.branch.clone(),
        sha: head.as_str().to_owned(),
        committed_at: repository.commit_time(head)?,
        run_number: wish.run_number.clone(),
        next: wish.next.clone(),
    })
}

/// Returns the branch, which is only metadata, and a warning if it cannot be a header value and is therefore omitted.
fn branch(wish: &Wish<'_>) -> (Option<String>, Option<String>) {
    let Some(branch) = wish.branch.clone().filter(|branch| !branch.is_empty()) else {
        return (None, None);
    };
    match header_value(&branch) {
        Ok(_) => (Some(branch), None),
        Err(why) => (
            None,
            Some(format!(
                "the branch `{branch}` is not sent, as it cannot be a header value: {why}"
            )),
        ),
    }
}

fn config_dir(listing: &Listing<'_>, wish: &Wish<'_>) -> Result<String, PublishError> {
    if let Some(folder) = &wish.config_dir {
        return Ok(folder.trim_matches('/').to_owned());
    }
    let holds = |path: &str| matches!(listing.find(path), Ok(Some(_)));
    let found = pipelines::find_config_dir(&listing.root_folders()?, &holds)?;
    found.ok_or(PublishError::NoConfigFolder)
}

impl From<&SharedEntry> for SharedPipelineRef {
    fn from(entry: &SharedEntry) -> Self {
        Self {
            id: entry.id.clone(),
            path: entry.pipeline.clone(),
        }
    }
}

fn selected(listing: &Listing<'_>, wish: &Wish<'_>) -> Result<BTreeMap<String, SnapshotFile>, PublishError> {
    let chosen = listing.known().iter().filter(|(path, _)| wish.selects(path));
    refuse_unsure(chosen.clone().map(|(_, file)| file))?;
    Ok(chosen.map(|(path, file)| (path.clone(), file.clone())).collect())
}

fn read_pipelines(
    contents: &PublishContents,
    selected: &BTreeMap<String, SnapshotFile>,
    shared: &SharedFile,
) -> Result<BTreeMap<String, FileFacts>, PublishError> {
    let offered: HashSet<&str> = shared.enabled().map(|entry| entry.pipeline.as_str()).collect();
    let pipelines: Vec<_> = selected
        .iter()
        .filter(|(path, _)| PipelineKind::from_path(path).is_some())
        .collect();
    let wanted: Vec<_> = pipelines
        .iter()
        .map(|(path, found)| WantedFile {
            content: &found.content,
            is_needed: offered.contains(path.as_str()),
        })
        .collect();
    let facts = references::read_all(contents, &wanted)?;
    Ok(pipelines
        .into_iter()
        .map(|(path, _)| path.clone())
        .zip(facts)
        .collect())
}

/// Returns all files to send, sorted by path.
fn files(
    contents: &PublishContents,
    mut all: BTreeMap<String, SnapshotFile>,
    shared: &SharedFile,
    checked: &CheckedClosure,
) -> Result<Vec<PlannedFile>, PublishError> {
    all.insert(shared.path().to_owned(), shared.file.clone());
    all.extend(
        checked
            .scripts
            .iter()
            .map(|(path, found)| (path.clone(), found.clone())),
    );
    let all: Vec<_> = all.into_iter().collect();
    let planned = all.into_iter().map(|(path, SnapshotFile { content, .. })| {
        let facts = checked.sent.get(&path);
        let bytes = match facts {
            Some(facts) => facts.bytes,
            None => contents.size(&content)?,
        };
        let checked = match facts {
            Some(facts) => facts.checked,
            None if path == shared.path() => shared.checked,
            None => None,
        };
        Ok(PlannedFile {
            path,
            bytes,
            content,
            checked,
        })
    });
    planned.collect()
}

/// Rejects files whose upload parts would have the same name, as one of them would be lost. `files` is sorted by path.
fn refuse_same_names(files: &[PlannedFile]) -> Result<(), PublishError> {
    let mut encoded: HashMap<String, &str> = HashMap::new();
    let mut twins = Vec::new();
    for path in files.iter().map(|file| file.path.as_str()) {
        let Cow::Owned(name) = part_name(path) else {
            continue;
        };
        let plain = files.binary_search_by(|file| file.path.as_str().cmp(&name));
        let twin = plain.ok().map(|at| files[at].path.as_str());
        if let Some(twin) = twin.or(encoded.insert(name, path)) {
            twins.push(format!("`{path}` and `{twin}`"));
        }
    }
    if twins.is_empty() {
        return Ok(());
    }
    Err(PublishError::SameName(twins))
}

fn skipped(path: &String) -> Warning {
    Warning {
        kind: WarningKind::Submodule,
        is_needed: true,
        place: path.clone(),
        text: format!("{path}: a submodule, whose files are not part of this repository, is skipped"),
    }
}

fn no_offer(shared: &SharedFile) -> Option<String> {
    let path = shared.path();
    shared
        .enabled()
        .next()
        .is_none()
        .then(|| format!("{path}: no shared pipeline is enabled, so the version would offer no pipeline"))
}

fn bounded(warnings: Vec<String>) -> Vec<String> {
    let list = List::with_limit(warnings, WARNINGS).of("warning");
    list.entries().collect()
}
