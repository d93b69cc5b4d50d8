//! Runs the project checks on a snapshot: reads the pipelines that they need, on all cores and each only once.

use crate::document_content::{read_document, read_document_on_disk};
use sluicegate_base::file_defect::FileDefect;
use sluicegate_base::overlap;
use sluicegate_git::{Content, GitError, Repository, Snapshot, SnapshotFile, read_on_disk};
use sluicegate_pipelines::findings::FileResults;
use sluicegate_pipelines::pipelines::{
    CallWalk, FileNameSearch, Pipeline, PipelineFacts, PipelineFiles, Reference, SHARED_PIPELINES_FILE,
    SharedPipelines, is_pipeline, may_name_files,
};
use sluicegate_pipelines::project::{CheckLevels, Project, Renames, SharedPipelinesFile};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Maximum size of a script whose content is examined.
const MAX_SCRIPT_SIZE: u64 = 8 << 20;

/// The facts of pipelines by path; `None` if the file is not a pipeline that can be read.
type FactsByPath = BTreeMap<String, Option<PipelineFacts>>;

/// Facts that were collected while pipelines were evaluated, so that these need not be read again.
#[derive(Debug, Default)]
pub(crate) struct SeenFacts(Mutex<Vec<(String, PipelineFacts)>>);

impl SeenFacts {
    pub(crate) fn of(seen: Vec<(String, PipelineFacts)>) -> Self {
        Self(Mutex::new(seen))
    }

    pub(crate) fn see(&self, path: &str, pipeline: &Pipeline) {
        let facts = PipelineFacts::from_pipeline(pipeline);
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push((path.to_owned(), facts));
    }

    fn take(self) -> FactsByPath {
        let seen = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        seen.into_iter()
            .map(|(path, facts)| (path, Some(facts)))
            .collect()
    }
}

/// Which unchanged pipelines can have a finding that the base does not have, and are read.
pub(crate) enum OtherFiles {
    /// All that may name a file.
    All,
    /// Those that may name one of these files, and those that the changed ones lead to.
    Naming(FileNameSearch),
    /// Those that the changed ones lead to.
    Reached,
}

/// The pipelines of the change, which are always read.
pub(crate) struct ChangedFacts<'f>(&'f FactsByPath);

impl ChangedFacts<'_> {
    /// Returns whether the pipeline at this path can be read, and has each variable that it had `before`.
    pub(crate) fn keeps_variables(&self, path: &str, before: &PipelineFacts) -> bool {
        let facts = self.0.get(path).and_then(Option::as_ref);
        facts.is_some_and(|facts| facts.declares_variables_of(before))
    }
}

/// Determines which unchanged pipelines are read.
pub(crate) type ChooseOthers<'a> = dyn Fn(&ChangedFacts<'_>) -> Result<OtherFiles, GitError> + 'a;

/// The parameters of the project checks.
#[derive(Clone, Copy)]
pub(crate) struct ProjectScope<'a> {
    pub repo: &'a Repository,
    pub levels: CheckLevels,
    /// The platform's hidden directory, if there is one.
    pub config_dir: Option<&'a str>,
    /// Returns whether a reference points outside the project by design.
    pub is_external: &'a dyn Fn(&str) -> bool,
    pub renames: &'a Renames<'a>,
}

impl ProjectScope<'_> {
    /// Returns what the checks find in the project. `seen` was read already; `changed` files are read as YAML, and of the
    /// others those that `others` chooses.
    pub(crate) fn check(
        &self,
        snapshot: &Snapshot<'_>,
        seen: SeenFacts,
        changed: &dyn Fn(&str) -> bool,
        others: &ChooseOthers<'_>,
    ) -> Result<Vec<FileResults>, GitError> {
        let files = snapshot.files(&is_pipeline)?;
        let mut facts = seen.take();
        let (whole, rest): (Vec<_>, Vec<_>) = files
            .iter()
            .filter(|file| !facts.contains_key(&file.path))
            .partition(|file| changed(&file.path));
        self.read(&whole, &|_| true, &mut facts)?;
        let read: BTreeSet<String> = facts.keys().cloned().collect();
        let others = others(&ChangedFacts(&facts))?;
        match &others {
            OtherFiles::All => self.read(&rest, &may_name_files, &mut facts)?,
            OtherFiles::Naming(sought) => {
                self.read(&rest, &|bytes| sought.may_match(bytes), &mut facts)?;
            }
            OtherFiles::Reached => {}
        }
        let known = PipelineFiles::new(files.iter().map(|file| file.path.as_str()));
        let shared = self.shared(snapshot)?;
        if !matches!(others, OtherFiles::All) {
            let entries = shared.iter().filter_map(|shared| shared.content.as_ref().ok());
            let shared = entries.flat_map(|shared| &shared.entries);
            let shared = shared.map(|entry| entry.pipeline.as_str());
            let from = read.iter().map(String::as_str).chain(shared).collect();
            self.read_reached(&files, &known, from, &mut facts)?;
        }
        self.read_asked(&files, &known, shared.as_ref(), &mut facts)?;
        self.results(snapshot, &known, &facts, shared.as_ref())
    }

    /// Returns the findings of the checks in the `wanted` files only. Reads these files and all that they call,
    /// directly or indirectly.
    pub(crate) fn check_only(
        &self,
        snapshot: &Snapshot<'_>,
        wanted: &BTreeSet<&str>,
    ) -> Result<Vec<FileResults>, GitError> {
        let files = snapshot.files(&is_pipeline)?;
        let known = PipelineFiles::new(files.iter().map(|file| file.path.as_str()));
        let shared = self.shared(snapshot)?;
        let mut facts = BTreeMap::new();
        self.read_reached(&files, &known, wanted.clone(), &mut facts)?;
        self.read_asked(&files, &known, shared.as_ref(), &mut facts)?;
        let mut results = self.results(snapshot, &known, &facts, shared.as_ref())?;
        results.retain(|file| wanted.contains(file.path.as_str()));
        Ok(results)
    }

    /// Parses the files in `from` and all files that they call, directly or indirectly.
    fn read_reached(
        &self,
        files: &[SnapshotFile],
        known: &PipelineFiles<'_>,
        from: BTreeSet<&str>,
        facts: &mut FactsByPath,
    ) -> Result<(), GitError> {
        let by_path: BTreeMap<&str, &SnapshotFile> =
            files.iter().map(|file| (file.path.as_str(), file)).collect();
        let mut reached: BTreeSet<String> = BTreeSet::new();
        let mut walk = CallWalk::default();
        let mut step: BTreeSet<String> = from.into_iter().map(str::to_owned).collect();
        while !step.is_empty() {
            let is_read = |path: &str| {
                facts
                    .get(path)
                    .is_some_and(|facts| facts.as_ref().is_none_or(|facts| !facts.is_unparsed))
            };
            let unread = step.iter().filter(|path| !is_read(path));
            let unread: Vec<&SnapshotFile> = unread
                .filter_map(|path| by_path.get(path.as_str()).copied())
                .collect();
            self.read(&unread, &|_| true, facts)?;
            reached.extend(step.iter().cloned());
            let mut next = BTreeSet::new();
            for path in &step {
                let facts = facts.get(path).and_then(Option::as_ref);
                for reference in facts.iter().flat_map(|facts| &facts.references) {
                    let called = walk.list_called_pipelines(known, reference, path).into_iter();
                    next.extend(called.filter(|path| !reached.contains(*path)));
                }
            }
            step = next.into_iter().map(str::to_owned).collect();
        }
        Ok(())
    }

    fn results(
        &self,
        snapshot: &Snapshot<'_>,
        files: &PipelineFiles<'_>,
        facts: &FactsByPath,
        shared: Option<&SharedPipelinesFile>,
    ) -> Result<Vec<FileResults>, GitError> {
        let references = facts.values().flatten().flat_map(|facts| &facts.references);
        let named: BTreeSet<&str> = references.filter_map(Reference::script_path).collect();
        let mut scripts = BTreeMap::new();
        for (path, file) in snapshot.find_all(&named)? {
            if file.kind.why_not_read().is_none() {
                scripts.insert(path, script_defect(self.repo, &file, &mut 0)?);
            }
        }
        let project = Project {
            files,
            facts,
            scripts: &scripts,
            shared_file: shared,
            is_external: self.is_external,
            renames: self.renames,
        };
        Ok(project.check(self.levels))
    }

    /// Parses the pipelines that are called with arguments, and those that the shared-pipelines file lists with
    /// parameters.
    fn read_asked(
        &self,
        files: &[SnapshotFile],
        known: &PipelineFiles<'_>,
        shared: Option<&SharedPipelinesFile>,
        facts: &mut FactsByPath,
    ) -> Result<(), GitError> {
        let mut asked: BTreeSet<&str> = BTreeSet::new();
        let mut walk = CallWalk::default();
        for (path, facts) in facts.iter() {
            let references = facts.iter().flat_map(|facts| &facts.references);
            let references = references.filter(|reference| !reference.arguments.is_empty());
            asked.extend(references.flat_map(|reference| walk.list_called_pipelines(known, reference, path)));
        }
        let entries = shared.and_then(|shared| shared.content.as_ref().ok());
        let entries = entries.iter().flat_map(|shared| &shared.entries);
        asked.extend(
            entries
                .filter(|entry| !entry.parameters.is_empty())
                .map(|entry| entry.pipeline.as_str()),
        );
        let is_whole = |known: &Option<PipelineFacts>| known.as_ref().is_none_or(|known| !known.is_unparsed);
        let is_known = |path: &str| facts.get(path).is_some_and(is_whole);
        let asked: Vec<&SnapshotFile> = files
            .iter()
            .filter(|file| asked.contains(file.path.as_str()) && !is_known(&file.path))
            .collect();
        self.read(&asked, &|_| true, facts)
    }

    /// Reads the shared-pipelines file; `None` if there is no such file.
    fn shared(&self, snapshot: &Snapshot<'_>) -> Result<Option<SharedPipelinesFile>, GitError> {
        let Some(path) = self
            .config_dir
            .map(|folder| format!("{folder}/{SHARED_PIPELINES_FILE}"))
        else {
            return Ok(None);
        };
        let Some(file) = snapshot.find(&path)? else {
            return Ok(None);
        };
        let content = read_document(self.repo, &file)?.and_then(|bytes| SharedPipelines::parse(&bytes));
        let entries = content.iter().flat_map(|shared| &shared.entries);
        let named: BTreeSet<&str> = entries.map(|entry| entry.pipeline.as_str()).collect();
        Ok(Some(SharedPipelinesFile {
            existing_pipelines: snapshot.find_all(&named)?.into_keys().collect(),
            path,
            content,
        }))
    }

    /// Adds the facts of these files.
    fn read(
        &self,
        files: &[&SnapshotFile],
        may_matter: &(dyn Fn(&[u8]) -> bool + Sync),
        facts: &mut FactsByPath,
    ) -> Result<(), GitError> {
        let contents = files.iter().map(|file| {
            let bytes = match &file.content {
                Content::Disk(_) if file.kind.why_not_read().is_none() && file.doubt.is_none() => None,
                _ => Some(read_document(self.repo, file)?.ok()),
            };
            let size = bytes.iter().flatten().map(Vec::len).sum();
            Ok(((*file, bytes), size))
        });
        let found = |(file, bytes): (&SnapshotFile, Option<Option<Vec<u8>>>)| {
            let bytes = bytes.unwrap_or_else(|| on_disk(file));
            let facts = bytes.and_then(|bytes| facts_of(&bytes, may_matter));
            (file.path.clone(), facts)
        };
        overlap::each(contents, &found, |(path, found)| {
            facts.insert(path, found);
        })
    }
}

/// Returns the defect of a script. The content of a large file, or of a file that may differ from what git stores, is not
/// examined. Adds the number of bytes that were read to `examined`.
pub(crate) fn script_defect(
    repo: &Repository,
    file: &SnapshotFile,
    examined: &mut u64,
) -> Result<Option<FileDefect>, GitError> {
    let content = match &file.content {
        Content::Blob(blob) => match repo.read_blob(blob, MAX_SCRIPT_SIZE) {
            Err(GitError::TooLarge { .. }) => None,
            content => Some(content?),
        },
        Content::Disk(_) if file.doubt.is_some() => None,
        Content::Disk(path) => read_on_disk(path, MAX_SCRIPT_SIZE).ok().flatten(),
    };
    *examined += content.as_ref().map_or(0, |content| content.len() as u64);
    Ok(content.and_then(|content| FileDefect::of_script(&content)))
}

/// Reads the file from disk; `None` if it cannot be read, which is reported elsewhere.
fn on_disk(file: &SnapshotFile) -> Option<Vec<u8>> {
    match &file.content {
        Content::Disk(full) => read_document_on_disk(full).ok()?.ok(),
        Content::Blob(_) => None,
    }
}

fn facts_of(bytes: &[u8], may_matter: &(dyn Fn(&[u8]) -> bool + Sync)) -> Option<PipelineFacts> {
    if !may_matter(bytes) {
        return Some(PipelineFacts::for_unparsed_file());
    }
    PipelineFacts::parse(bytes).ok()
}
