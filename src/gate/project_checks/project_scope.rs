//! Runs the project checks on a snapshot: reads the pipelines that they need, on all cores and each only once.

use crate::document_content::{PendingDocument, read_document};
use crate::gate::project_checks::collected_facts::{CollectedFacts, FactsByPath};
use crate::gate::project_checks::facts_cache::FactsCache;
use crate::gate::project_checks::finding_counts::FindingCounts;
use crate::gate::project_checks::project_fixes::FixProof;
use sluicegate_base::file_defect::{FileDefect, MAX_SCRIPT_SIZE};
use sluicegate_base::overlap;
use sluicegate_git::{FileContent, FileKind, GitError, Repository, Snapshot, SnapshotFile, read_disk_file};
use sluicegate_pipelines::findings::FileResults;
use sluicegate_pipelines::pipelines::{
    CallWalk, FileNameSearch, PipelineFacts, PipelineFiles, Reference, SharedEntry, SharedPipelines,
    is_pipeline, may_refer_to_files, shared_pipelines_path,
};
use sluicegate_pipelines::project::{
    CheckLevels, FindEarlierCallee, Project, PublishGlobs, Renames, SharedPipelinesFile,
};
use std::collections::{BTreeMap, BTreeSet};

/// The parts of a project from which its findings are derived.
#[derive(Debug, Default)]
pub(crate) struct ProjectContents {
    pub(super) files: Vec<SnapshotFile>,
    pub(super) facts: FactsByPath,
    pub(super) shared_pipelines: Option<SharedPipelinesFile>,
    /// The number of all findings that were derived, by identity; filled if a fix is proposed.
    pub(super) finding_counts: FindingCounts,
}

/// The reported findings of the project checks.
#[derive(Debug, Default)]
pub(crate) struct ProjectFindings {
    pub(crate) files: Vec<FileResults>,
    /// The contents from which the findings were derived; `None` if no fix is proposed, or if the fixes are proven.
    pub(super) contents: Option<ProjectContents>,
    /// The fixes that are proven already, and those that are not proven.
    pub(super) fixes: FixProof,
}

/// The unchanged pipelines to read, because the change can cause a finding in them.
pub(crate) enum OtherFiles {
    /// All pipelines that may name a file.
    All,
    /// The pipelines that may name one of these files, and those that the changed pipelines call.
    Naming(FileNameSearch),
    /// The pipelines that the changed pipelines call, directly or indirectly.
    Reached,
}

/// The pipelines of the change, which are always read.
pub(crate) struct ChangedFacts<'f>(&'f FactsByPath);

impl ChangedFacts<'_> {
    /// Returns whether the pipeline at this path can be read and still declares each variable of `base_facts`.
    pub(crate) fn keeps_variables(&self, path: &str, base_facts: &PipelineFacts) -> bool {
        let facts = self.0.get(path).and_then(Option::as_ref);
        facts.is_some_and(|facts| facts.declares_variables_of(base_facts))
    }
}

/// Determines which unchanged pipelines are read.
pub(crate) type ChooseOtherFiles<'a> = dyn Fn(&ChangedFacts<'_>) -> Result<OtherFiles, GitError> + 'a;

/// The parameters of the project checks.
#[derive(Clone, Copy)]
pub(crate) struct ProjectScope<'a> {
    pub repo: &'a Repository,
    pub facts_cache: &'a FactsCache,
    pub levels: CheckLevels,
    /// The hidden directory, if there is one.
    pub config_dir: Option<&'a str>,
    /// Returns whether a reference points outside the project by design.
    pub is_external: &'a dyn Fn(&str) -> bool,
    /// The selection of a publish; `None` if it contains all files.
    pub publish_globs: Option<&'a dyn PublishGlobs>,
    /// The renames of the change; `None` if the messages need no hints.
    pub renames: Option<&'a Renames<'a>>,
    pub find_earlier_callee: &'a FindEarlierCallee<'a>,
}

impl ProjectScope<'_> {
    /// Runs the project checks. Returns the findings, and the contents from which they were derived. Reads the changed
    /// pipelines, those that the shared-pipelines file lists, and all pipelines that these call. `choose_others`
    /// chooses which other pipelines are read. Pipelines with `known_facts` are not read again.
    pub(crate) fn check_project(
        &self,
        snapshot: &Snapshot<'_>,
        known_facts: CollectedFacts,
        is_changed: &dyn Fn(&str) -> bool,
        choose_others: &ChooseOtherFiles<'_>,
    ) -> Result<(Vec<FileResults>, ProjectContents), GitError> {
        let files = snapshot.list_content_files(&is_pipeline)?;
        let mut facts = known_facts.into_map();
        let (changed_files, unchanged_files): (Vec<_>, Vec<_>) = files
            .iter()
            .filter(|file| !facts.contains_key(&file.path))
            .partition(|file| is_changed(&file.path));
        self.read_facts(&changed_files, &always_needs_parsing, &mut facts)?;
        let changed_paths: BTreeSet<String> = facts.keys().cloned().collect();
        let other_files = choose_others(&ChangedFacts(&facts))?;
        match &other_files {
            OtherFiles::All => self.read_facts(&unchanged_files, &may_refer_to_files, &mut facts)?,
            OtherFiles::Naming(names) => {
                self.read_facts(&unchanged_files, &|bytes| names.may_match(bytes), &mut facts)?;
            }
            OtherFiles::Reached => {}
        }
        let pipeline_files = PipelineFiles::new(files.iter().map(|file| file.path.as_str()));
        let shared_pipelines = self.read_shared_pipelines(snapshot)?;
        // `All` has already read each pipeline that may call another one.
        if !matches!(other_files, OtherFiles::All) {
            let mut start_paths: BTreeSet<&str> = changed_paths.iter().map(String::as_str).collect();
            for entry in shared_entries(shared_pipelines.as_ref()) {
                start_paths.insert(entry.pipeline.as_str());
            }
            self.read_files_and_callees(&files, &pipeline_files, start_paths, &mut facts)?;
        }
        self.read_callees_with_arguments(&files, &pipeline_files, shared_pipelines.as_ref(), &mut facts)?;
        let findings = self.check_facts(snapshot, &pipeline_files, &facts, shared_pipelines.as_ref())?;
        let contents = ProjectContents {
            files,
            facts,
            shared_pipelines,
            finding_counts: FindingCounts::new(),
        };
        Ok((findings, contents))
    }

    /// Runs the project checks on a base, and returns only the findings in the files at these paths. Reads these files
    /// and all pipelines that they call, directly or indirectly.
    pub(crate) fn check_files(
        &self,
        snapshot: &Snapshot<'_>,
        paths: &BTreeSet<&str>,
    ) -> Result<Vec<FileResults>, GitError> {
        let files = snapshot.list_base_content_files(&is_pipeline)?;
        let pipeline_files = PipelineFiles::new(files.iter().map(|file| file.path.as_str()));
        let shared_pipelines = self.read_shared_pipelines(snapshot)?;
        let mut facts = BTreeMap::new();
        let mut start_paths = paths.clone();
        // The files that a publish omits matter only to the pipelines that a shared pipeline needs.
        if self.publish_globs.is_some() {
            let entries = shared_entries(shared_pipelines.as_ref()).iter();
            start_paths.extend(entries.map(|entry| entry.pipeline.as_str()));
        }
        self.read_files_and_callees(&files, &pipeline_files, start_paths, &mut facts)?;
        self.read_callees_with_arguments(&files, &pipeline_files, shared_pipelines.as_ref(), &mut facts)?;
        let mut results = self.check_facts(snapshot, &pipeline_files, &facts, shared_pipelines.as_ref())?;
        results.retain(|file| paths.contains(file.path.as_str()));
        Ok(results)
    }

    /// Parses the pipelines at `start_paths` and all pipelines that they call, directly or indirectly. Skips pipelines
    /// that were already parsed. Returns whether it parsed one.
    pub(super) fn read_files_and_callees(
        &self,
        files: &[SnapshotFile],
        pipeline_files: &PipelineFiles<'_>,
        start_paths: BTreeSet<&str>,
        facts: &mut FactsByPath,
    ) -> Result<bool, GitError> {
        let mut has_parsed = false;
        let files_by_path: BTreeMap<&str, &SnapshotFile> =
            files.iter().map(|file| (file.path.as_str(), file)).collect();
        let mut visited_paths: BTreeSet<String> = BTreeSet::new();
        let mut walk = CallWalk::default();
        let mut current_paths: BTreeSet<String> = start_paths.into_iter().map(str::to_owned).collect();
        // Each round reads one level of the call graph.
        while !current_paths.is_empty() {
            let unread_files: Vec<&SnapshotFile> = current_paths
                .iter()
                .filter(|path| !has_parsed_facts(facts, path))
                .filter_map(|path| files_by_path.get(path.as_str()).copied())
                .collect();
            has_parsed |= !unread_files.is_empty();
            self.read_facts(&unread_files, &always_needs_parsing, facts)?;
            visited_paths.extend(current_paths.iter().cloned());
            let mut next_paths = BTreeSet::new();
            for path in &current_paths {
                let pipeline_facts = facts.get(path).and_then(Option::as_ref);
                for reference in pipeline_facts.iter().flat_map(|facts| &facts.references) {
                    let called_paths = walk
                        .list_called_pipelines(pipeline_files, reference, path)
                        .into_iter();
                    next_paths.extend(called_paths.filter(|path| !visited_paths.contains(*path)));
                }
            }
            current_paths = next_paths.into_iter().map(str::to_owned).collect();
        }
        Ok(has_parsed)
    }

    /// Runs the project checks with the facts that were read. Looks up the scripts that the pipelines name.
    pub(super) fn check_facts(
        &self,
        snapshot: &Snapshot<'_>,
        files: &PipelineFiles<'_>,
        facts: &FactsByPath,
        shared_pipelines: Option<&SharedPipelinesFile>,
    ) -> Result<Vec<FileResults>, GitError> {
        let pipelines = facts.values().flatten();
        let references = pipelines.flat_map(|pipeline_facts| &pipeline_facts.references);
        let script_paths: BTreeSet<&str> = references.filter_map(Reference::script_path).collect();
        let mut scripts = BTreeMap::new();
        let mut irregular_scripts = BTreeMap::new();
        for file in snapshot.find_files(&script_paths)? {
            if let Some(description) = file.kind.unreadable_reason() {
                irregular_scripts.insert(file.path, description);
            } else {
                let content = read_script(self.repo, &file)?;
                let defect = content.and_then(|content| FileDefect::find_in_script(&content));
                scripts.insert(file.path, defect);
            }
        }
        // The paths of all files serve only the hints at similar paths. Without `renames`, no hints are needed.
        let is_script_missing = script_paths.iter().any(|path| !scripts.contains_key(*path));
        let regular_paths = if is_script_missing && self.renames.is_some() {
            snapshot.list_regular_paths()?
        } else {
            Vec::new()
        };
        let project = Project {
            files,
            facts,
            scripts: &scripts,
            irregular_scripts: &irregular_scripts,
            regular_paths: &regular_paths,
            shared_file: shared_pipelines,
            is_external: self.is_external,
            publish_globs: self.publish_globs,
            renames: self.renames,
            find_earlier_callee: self.find_earlier_callee,
            can_repair: !self.repo.is_plain_directory(),
        };
        Ok(project.run_project_checks(self.levels))
    }

    /// Parses the pipelines that others call with arguments, and those that are shared with parameters, because the
    /// checks compare arguments and parameters with the variables of the pipeline. Returns whether it parsed one.
    pub(super) fn read_callees_with_arguments(
        &self,
        files: &[SnapshotFile],
        pipeline_files: &PipelineFiles<'_>,
        shared_pipelines: Option<&SharedPipelinesFile>,
        facts: &mut FactsByPath,
    ) -> Result<bool, GitError> {
        let mut paths: BTreeSet<&str> = BTreeSet::new();
        let mut walk = CallWalk::default();
        for (path, pipeline_facts) in facts.iter() {
            for reference in pipeline_facts.iter().flat_map(|facts| &facts.references) {
                if !reference.arguments.is_empty() {
                    paths.extend(walk.list_called_pipelines(pipeline_files, reference, path));
                }
            }
        }
        for entry in shared_entries(shared_pipelines) {
            if !entry.parameters.is_empty() {
                paths.insert(entry.pipeline.as_str());
            }
        }
        let unread_files: Vec<&SnapshotFile> = files
            .iter()
            .filter(|file| paths.contains(file.path.as_str()) && !has_parsed_facts(facts, &file.path))
            .collect();
        self.read_facts(&unread_files, &always_needs_parsing, facts)?;
        Ok(!unread_files.is_empty())
    }

    /// Reads the shared-pipelines file, and looks up which of its pipelines exist. Returns `None` if there is no such
    /// file.
    fn read_shared_pipelines(
        &self,
        snapshot: &Snapshot<'_>,
    ) -> Result<Option<SharedPipelinesFile>, GitError> {
        let Some(path) = self.config_dir.map(shared_pipelines_path) else {
            return Ok(None);
        };
        let Some(file) = snapshot.find_file(&path)? else {
            return Ok(None);
        };
        let content = read_document(self.repo, &file)?.and_then(|bytes| SharedPipelines::parse(&bytes));
        let entries = content.iter().flat_map(|pipelines| &pipelines.entries);
        let listed_paths: BTreeSet<&str> = entries.map(|entry| entry.pipeline.as_str()).collect();
        let mut listed_files = snapshot.find_files_by_path(&listed_paths)?;
        listed_files.retain(|_, file| file.kind != FileKind::Submodule);
        Ok(Some(SharedPipelinesFile {
            existing_pipelines: listed_files.into_keys().collect(),
            path,
            content,
        }))
    }

    /// Parses these files on all cores, unless their facts are cached, and adds the facts about them. A file whose
    /// content `needs_parsing` rejects is recorded as skimmed.
    fn read_facts(
        &self,
        files: &[&SnapshotFile],
        needs_parsing: &(dyn Fn(&[u8]) -> bool + Sync),
        facts: &mut FactsByPath,
    ) -> Result<(), GitError> {
        let mut unread_files = Vec::with_capacity(files.len());
        for file in files {
            match self.facts_cache.get(file) {
                Some(cached_facts) => {
                    facts.insert(file.path.clone(), Some(cached_facts));
                }
                None => unread_files.push(*file),
            }
        }
        let documents = unread_files.into_iter().map(|file| {
            let document = PendingDocument::for_file(self.repo, file)?;
            let size = document.size();
            Ok(((file, document), size))
        });
        overlap::compute_each(
            documents,
            &|(file, document): (&SnapshotFile, PendingDocument)| {
                // The reason for an unreadable file is reported elsewhere.
                let bytes = document.into_content().ok();
                let facts = bytes.and_then(|bytes| parse_facts(&bytes, needs_parsing));
                (file, facts)
            },
            |(file, pipeline_facts)| {
                if let Some(pipeline_facts) = &pipeline_facts {
                    self.facts_cache.add(file, pipeline_facts);
                }
                facts.insert(file.path.clone(), pipeline_facts);
            },
        )
    }
}

/// Returns true, because the file must be parsed whatever its content is.
const fn always_needs_parsing(_: &[u8]) -> bool {
    true
}

/// Returns the content of a script. Returns `None` if it is large, cannot be read from disk, or may differ from the
/// content that git stores.
pub(crate) fn read_script(repo: &Repository, file: &SnapshotFile) -> Result<Option<Vec<u8>>, GitError> {
    Ok(match &file.content {
        FileContent::Blob(blob) => repo.read_blob(blob, MAX_SCRIPT_SIZE)?,
        FileContent::Disk(_) if file.doubt.is_some() => None,
        FileContent::Disk(path) => read_disk_file(path, MAX_SCRIPT_SIZE).ok().flatten(),
    })
}

/// Returns the entries of the shared-pipelines file; empty if it is missing or cannot be read.
fn shared_entries(shared_file: Option<&SharedPipelinesFile>) -> &[SharedEntry] {
    match shared_file.map(|file| file.content.as_ref()) {
        Some(Ok(pipelines)) => &pipelines.entries,
        Some(Err(_)) | None => &[],
    }
}

/// Returns whether the file was parsed, successfully or not. A file that was only searched for names is not parsed.
fn has_parsed_facts(facts: &FactsByPath, path: &str) -> bool {
    match facts.get(path) {
        Some(Some(facts)) => !facts.is_skimmed,
        Some(None) => true,
        None => false,
    }
}

/// Parses a pipeline. If `needs_parsing` returns false for its bytes, returns the facts of a skimmed file. Returns
/// `None` for a file that is not a valid pipeline.
fn parse_facts(bytes: &[u8], needs_parsing: &(dyn Fn(&[u8]) -> bool + Sync)) -> Option<PipelineFacts> {
    if !needs_parsing(bytes) {
        return Some(PipelineFacts::for_skimmed_file());
    }
    PipelineFacts::parse(bytes).ok()
}
