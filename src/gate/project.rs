//! Checks of the project over a snapshot: reads what they need of its pipelines, on all cores, and nothing twice.

use crate::base::git::{Content, GitError, Repository, Snapshot, SnapshotFile};
use crate::model::findings::FileResults;
use crate::model::pipelines::{
    Pipeline, PipelineFacts, PipelineFiles, Reference, SHARED_PIPELINES_FILE, SharedPipelines, document,
    document_on_disk, is_pipeline, may_name_files,
};
use crate::model::project::{CheckLevels, Project, SharedSide};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// About how much is held in memory before it is parsed, in bytes.
const HELD: usize = 8 * 1024 * 1024;

/// What was read of pipelines while they were evaluated, so that nobody reads them again.
#[derive(Debug, Default)]
pub(crate) struct SeenFacts(Mutex<Vec<(String, PipelineFacts)>>);

impl SeenFacts {
    pub(crate) fn see(&self, path: &str, pipeline: &Pipeline) {
        let facts = PipelineFacts::of(pipeline);
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push((path.to_owned(), facts));
    }

    fn take(self) -> BTreeMap<String, Option<PipelineFacts>> {
        let seen = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        seen.into_iter()
            .map(|(path, facts)| (path, Some(facts)))
            .collect()
    }
}

/// How a project is checked.
#[derive(Clone, Copy)]
pub(crate) struct ProjectScope<'a> {
    pub repo: &'a Repository,
    pub levels: CheckLevels,
    /// The platform's hidden folder, if there is one.
    pub config_dir: Option<&'a str>,
    /// Whether a reference leads out of the project by design.
    pub is_external: &'a dyn Fn(&str) -> bool,
}

impl ProjectScope<'_> {
    /// What the checks find in the whole project. `seen` was read already; of the other files those are read as YAML that `changed` names,
    /// and those that can name a file.
    pub(crate) fn check(
        &self,
        snapshot: &Snapshot<'_>,
        seen: SeenFacts,
        changed: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<FileResults>, GitError> {
        let files = snapshot.files(&is_pipeline)?;
        let mut facts = seen.take();
        let (whole, skimmed): (Vec<_>, Vec<_>) = files
            .iter()
            .filter(|file| !facts.contains_key(&file.path))
            .partition(|file| changed(&file.path));
        self.read(&whole, false, &mut facts)?;
        self.read(&skimmed, true, &mut facts)?;
        let known = PipelineFiles::new(files.iter().map(|file| file.path.as_str()));
        let shared = self.shared(snapshot)?;
        self.read_asked(&files, &known, shared.as_ref(), &mut facts)?;
        self.results(snapshot, &known, &facts, shared.as_ref())
    }

    /// What the checks find in these files alone, and in the shared-pipelines file: reads them and what their calls lead to.
    pub(crate) fn check_only(
        &self,
        snapshot: &Snapshot<'_>,
        wanted: &BTreeSet<&str>,
    ) -> Result<Vec<FileResults>, GitError> {
        let files = snapshot.files(&is_pipeline)?;
        let known = PipelineFiles::new(files.iter().map(|file| file.path.as_str()));
        let by_path: BTreeMap<&str, &SnapshotFile> =
            files.iter().map(|file| (file.path.as_str(), file)).collect();
        let shared = self.shared(snapshot)?;
        let mut facts = BTreeMap::new();
        let mut step: BTreeSet<&str> = wanted.clone();
        while !step.is_empty() {
            let next: Vec<&SnapshotFile> = step
                .iter()
                .filter_map(|path| by_path.get(path).copied())
                .collect();
            self.read(&next, false, &mut facts)?;
            let read = next
                .iter()
                .filter_map(|file| Some((file, facts.get(&file.path)?.as_ref()?)));
            let called = read.flat_map(|(file, facts)| {
                facts
                    .references
                    .iter()
                    .flat_map(|reference| reference.called(&known, &file.path))
            });
            step = called.filter(|path| !facts.contains_key(*path)).collect();
        }
        self.read_asked(&files, &known, shared.as_ref(), &mut facts)?;
        let mut results = self.results(snapshot, &known, &facts, shared.as_ref())?;
        results.retain(|file| wanted.contains(file.path.as_str()));
        Ok(results)
    }

    fn results(
        &self,
        snapshot: &Snapshot<'_>,
        files: &PipelineFiles<'_>,
        facts: &BTreeMap<String, Option<PipelineFacts>>,
        shared: Option<&SharedSide>,
    ) -> Result<Vec<FileResults>, GitError> {
        let references = facts.values().flatten().flat_map(|facts| &facts.references);
        let named: BTreeSet<&str> = references.filter_map(Reference::script).collect();
        let there = snapshot.find_all(&named)?.into_iter();
        let there = there.filter(|(_, file)| file.kind.why_not_read().is_none());
        let project = Project {
            files,
            facts,
            scripts: &there.map(|(path, _)| path).collect(),
            shared,
            is_external: self.is_external,
        };
        Ok(project.results(self.levels))
    }

    /// Reads as YAML what calls with arguments lead to, and what entries with parameters are.
    fn read_asked(
        &self,
        files: &[SnapshotFile],
        known: &PipelineFiles<'_>,
        shared: Option<&SharedSide>,
        facts: &mut BTreeMap<String, Option<PipelineFacts>>,
    ) -> Result<(), GitError> {
        let mut asked: BTreeSet<&str> = BTreeSet::new();
        for (path, facts) in facts.iter() {
            let references = facts.iter().flat_map(|facts| &facts.references);
            let references = references.filter(|reference| !reference.arguments.is_empty());
            asked.extend(references.flat_map(|reference| reference.called(known, path)));
        }
        let entries = shared.and_then(|shared| shared.content.as_ref().ok());
        let entries = entries.iter().flat_map(|shared| &shared.entries);
        asked.extend(
            entries
                .filter(|entry| !entry.parameters.is_empty())
                .map(|entry| entry.pipeline.as_str()),
        );
        let is_known = |path: &str| matches!(facts.get(path), Some(known) if known.as_ref().is_none_or(|known| !known.is_skimmed));
        let asked: Vec<&SnapshotFile> = files
            .iter()
            .filter(|file| asked.contains(file.path.as_str()) && !is_known(&file.path))
            .collect();
        self.read(&asked, false, facts)
    }

    /// The shared-pipelines file, if there is one.
    fn shared(&self, snapshot: &Snapshot<'_>) -> Result<Option<SharedSide>, GitError> {
        let Some(path) = self
            .config_dir
            .map(|folder| format!("{folder}/{SHARED_PIPELINES_FILE}"))
        else {
            return Ok(None);
        };
        let Some(file) = snapshot.find(&path)? else {
            return Ok(None);
        };
        let content = document(self.repo, &file)?.and_then(|bytes| SharedPipelines::parse(&bytes));
        let entries = content.iter().flat_map(|shared| &shared.entries);
        let named: BTreeSet<&str> = entries.map(|entry| entry.pipeline.as_str()).collect();
        Ok(Some(SharedSide {
            there: snapshot.find_all(&named)?.into_keys().collect(),
            path,
            content,
        }))
    }

    /// Adds what these files say. Blobs are read one after the other, as a repository belongs to one thread.
    fn read(
        &self,
        files: &[&SnapshotFile],
        may_skim: bool,
        facts: &mut BTreeMap<String, Option<PipelineFacts>>,
    ) -> Result<(), GitError> {
        let mut rest = files.iter().copied().peekable();
        while rest.peek().is_some() {
            let (mut window, mut held) = (Vec::new(), 0);
            while held < HELD
                && let Some(file) = rest.next()
            {
                let bytes = match &file.content {
                    Content::Disk(_) if file.kind.why_not_read().is_none() && file.doubt.is_none() => None,
                    _ => Some(document(self.repo, file)?.ok()),
                };
                held += bytes.as_ref().and_then(Option::as_ref).map_or(64, Vec::len);
                window.push((file, bytes));
            }
            let read = window.into_par_iter().map(|(file, bytes)| {
                let bytes = bytes.unwrap_or_else(|| on_disk(file));
                (
                    file.path.clone(),
                    bytes.and_then(|bytes| facts_of(&bytes, may_skim)),
                )
            });
            facts.extend(read.collect::<Vec<_>>());
        }
        Ok(())
    }
}

/// None for what cannot be read, which is told elsewhere.
fn on_disk(file: &SnapshotFile) -> Option<Vec<u8>> {
    match &file.content {
        Content::Disk(full) => document_on_disk(full).ok()?.ok(),
        Content::Blob(_) => None,
    }
}

fn facts_of(bytes: &[u8], may_skim: bool) -> Option<PipelineFacts> {
    if may_skim && !may_name_files(bytes) {
        return Some(PipelineFacts::skimmed());
    }
    PipelineFacts::parse(bytes).ok()
}
