//! The callers of pipelines.

use super::PublishError;
use super::content_reader::ContentReader;
use super::pipeline_reader::{self, PipelineToRead};
use sluicegate_git::{Content, Repository, Snapshot, SnapshotFile};
use sluicegate_pipelines::pipelines::{
    Kind, PipelineFacts, PipelineFiles, Reference, Resolved, SoughtNames, file_name, may_name_files,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of callers of a pipeline that are listed.
pub const MAX_LISTED_CALLERS: usize = 20;

/// The callers of each pipeline of a snapshot.
#[derive(Debug, Default)]
pub struct CallGraph {
    /// Paths of the callers, except for the pipeline itself, by the path of the called one.
    callers_by_callee: BTreeMap<String, Vec<String>>,
    /// Paths of the callers, by the name of the files that an ambiguous call may mean.
    callers_by_ambiguous_name: BTreeMap<String, Vec<String>>,
}

/// A pipeline that reaches another one through its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransitiveCaller {
    pub path: String,
    /// A shortest chain of calls, which ends with the pipeline that is reached.
    pub call_chain: Vec<String>,
}

impl CallGraph {
    /// Reads all pipelines of the snapshot. Pipelines of `gone` may still be called.
    pub fn read(
        repository: &Repository,
        snapshot: &Snapshot<'_>,
        removed_paths: &BTreeSet<&str>,
    ) -> Result<Self, PublishError> {
        Self::read_matching(
            repository,
            snapshot,
            removed_paths,
            BTreeMap::new(),
            &may_name_files,
        )
    }

    /// Reads only the callers of these pipelines: files whose bytes contain none of their names are not read as YAML,
    /// and those whose facts are known are not read at all.
    pub fn read_callers_of(
        repository: &Repository,
        snapshot: &Snapshot<'_>,
        callees: &BTreeSet<&str>,
        known_facts: BTreeMap<String, PipelineFacts>,
    ) -> Result<Self, PublishError> {
        let sought_names = SoughtNames::of(callees.iter().copied());
        let may_matter = |bytes: &[u8]| match &sought_names {
            Some(sought_names) => sought_names.may_be_in(bytes),
            None => may_name_files(bytes),
        };
        Self::read_matching(repository, snapshot, callees, known_facts, &may_matter)
    }

    fn read_matching(
        repository: &Repository,
        snapshot: &Snapshot<'_>,
        removed_paths: &BTreeSet<&str>,
        mut known_facts: BTreeMap<String, PipelineFacts>,
        may_matter: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Self, PublishError> {
        let mut files = snapshot.files(&|path| Kind::from_path(path).is_some())?;
        files.retain(|file| file.doubt.is_none());
        let there: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let there = PipelineFiles::new(there.union(removed_paths).copied());
        let is_unread = |file: &&SnapshotFile| !known_facts.contains_key(&file.path);
        let contents = ContentReader::reading_once(repository.root().to_owned());
        let wanted = |file| PipelineToRead {
            content: content(file),
            is_needed: false,
        };
        let wanted: Vec<PipelineToRead<'_>> = files.iter().filter(is_unread).map(wanted).collect();
        let mut read_files =
            pipeline_reader::read_matching_pipelines(&contents, &wanted, may_matter)?.into_iter();
        let mut callers = Self::default();
        for file in &files {
            let facts = match known_facts.remove(&file.path) {
                Some(facts) => Some(facts),
                None => read_files.next().and_then(|file| file.facts.ok()),
            };
            let references = facts.map(|facts| facts.references).unwrap_or_default();
            callers.add(&file.path, &references, &there);
        }
        for callers in callers
            .callers_by_callee
            .values_mut()
            .chain(callers.callers_by_ambiguous_name.values_mut())
        {
            callers.sort();
        }
        Ok(callers)
    }

    fn add(&mut self, caller: &str, references: &[Reference], pipeline_files: &PipelineFiles<'_>) {
        let (mut callee_paths, mut ambiguous_names) = (BTreeSet::new(), BTreeSet::new());
        for reference in references {
            match reference.resolve(pipeline_files, caller) {
                Resolved::File(path) | Resolved::Bare(path) => {
                    callee_paths.insert(path);
                }
                Resolved::Ambiguous(paths) => {
                    ambiguous_names.extend(paths.first().map(|path| file_name(path)))
                }
                Resolved::Missing => {}
            }
        }
        callee_paths.remove(caller);
        for path in callee_paths {
            let callers = self.callers_by_callee.entry(path.to_owned()).or_default();
            callers.push(caller.to_owned());
        }
        for name in ambiguous_names {
            let callers = self.callers_by_ambiguous_name.entry(name.to_owned()).or_default();
            callers.push(caller.to_owned());
        }
    }

    /// Returns the pipelines that call this one, sorted by path.
    pub fn callers_of(&self, path: &str) -> Vec<&str> {
        let by_name = self.callers_by_ambiguous_name.get(file_name(path));
        let callers = self
            .callers_by_callee
            .get(path)
            .into_iter()
            .chain(by_name)
            .flatten();
        let callers: BTreeSet<&str> = callers.map(String::as_str).collect();
        callers.into_iter().collect()
    }

    /// Returns the pipelines that reach any of these through their calls, except for those themselves; sorted by path.
    pub fn transitive_callers_of(&self, callees: &BTreeSet<&str>) -> Vec<TransitiveCaller> {
        let mut chains_by_caller: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut current_step: Vec<&str> = callees.iter().copied().collect();
        let mut visited_names = BTreeSet::new();
        while !current_step.is_empty() {
            let mut next_step = Vec::new();
            for callee in current_step {
                let by_name = self.callers_by_ambiguous_name.get_key_value(file_name(callee));
                // All files of an ambiguous name have these callers, and the first one has reached them.
                let by_name = by_name.filter(|(name, _)| visited_names.insert(name.as_str()));
                let by_name = by_name.into_iter().flat_map(|(_, callers)| callers);
                for caller in self
                    .callers_by_callee
                    .get(callee)
                    .into_iter()
                    .flatten()
                    .chain(by_name)
                {
                    if callees.contains(caller.as_str()) || chains_by_caller.contains_key(caller.as_str()) {
                        continue;
                    }
                    let callee_chain = chains_by_caller.get(callee).into_iter().flatten().copied();
                    let call_chain = std::iter::once(callee).chain(callee_chain).collect();
                    chains_by_caller.insert(caller, call_chain);
                    next_step.push(caller.as_str());
                }
            }
            current_step = next_step;
        }
        let owned = |paths: Vec<&str>| paths.into_iter().map(str::to_owned).collect();
        let reaching = chains_by_caller
            .into_iter()
            .map(|(path, call_chain)| TransitiveCaller {
                path: path.to_owned(),
                call_chain: owned(call_chain),
            });
        reaching.collect()
    }
}

const fn content(file: &SnapshotFile) -> &Content {
    &file.content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipeline_reaches_another_by_a_shortest_way() {
        let calls = [
            ("a", "b"),
            ("b", "c"),
            ("d", "a"),
            ("d", "b"),
            ("c", "a"),
            ("e", "f"),
        ];
        let mut callers = CallGraph::default();
        for (caller, callee) in calls {
            let of_callee = callers.callers_by_callee.entry(callee.to_owned()).or_default();
            of_callee.push(caller.to_owned());
        }
        let found = callers.transitive_callers_of(&BTreeSet::from(["c", "nobody"]));
        let told: Vec<String> = found
            .iter()
            .map(|it| format!("{} {}", it.path, it.call_chain.join(" ")))
            .collect();
        assert_eq!(told, ["a b c", "b c", "d b c"]);
    }
}
