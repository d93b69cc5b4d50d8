//! The callers of pipelines.

use super::PublishError;
use super::content_reader::ContentReader;
use super::pipeline_reader::{self, PipelineToRead};
use sluicegate_git::{Repository, Snapshot};
use sluicegate_pipelines::pipelines::{
    CallResolution, FileNameSearch, PipelineFacts, PipelineFiles, PipelineKind, Reference, file_name,
    may_refer_to_files,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of callers of a pipeline that are listed.
pub const MAX_LISTED_CALLERS: usize = 20;

/// The callers of each pipeline of a snapshot.
#[derive(Debug, Default)]
pub struct CallGraph {
    /// Sorted paths of the callers, except for the pipeline itself, by the path of the called one.
    callers_by_callee: BTreeMap<String, Vec<String>>,
    /// Paths of the callers, by the name of the files that an ambiguous call may mean.
    callers_by_ambiguous_name: BTreeMap<String, Vec<String>>,
}

/// The pipelines that directly call a pipeline; both lists are sorted by path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectCallers<'g> {
    pub certain: Vec<&'g str>,
    /// The pipelines with a call that may be to another file of the same name.
    pub possible: Vec<&'g str>,
}

/// A pipeline that calls another pipeline directly or indirectly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransitiveCaller {
    pub path: String,
    /// The chain of calls, which ends with the called pipeline.
    pub call_chain: Vec<String>,
    /// A flag for each call of the chain: true if several files have the called name, so that the call may be to
    /// another one.
    pub ambiguous_calls: Vec<bool>,
}

impl TransitiveCaller {
    /// Returns whether each call of the chain is certain.
    pub fn is_certain(&self) -> bool {
        !self.ambiguous_calls.contains(&true)
    }
}

impl CallGraph {
    /// Reads the calls of all pipelines in the snapshot. Calls to `removed_paths` are included, although the snapshot
    /// may lack these pipelines. Every pipeline is read, and parsed if it may name a file.
    pub fn load(
        repository: &Repository,
        snapshot: &Snapshot<'_>,
        removed_paths: &BTreeSet<&str>,
    ) -> Result<Self, PublishError> {
        let known_facts = BTreeMap::new();
        Self::read_calls(
            repository,
            snapshot,
            removed_paths,
            known_facts,
            &may_refer_to_files,
        )
    }

    /// Reads the calls to `callees`, even to those that the snapshot lacks; other calls may be missing. To save time, a
    /// file is parsed only if its bytes may contain the name of a callee, and it is not even read if `known_facts`
    /// contains its facts. If there are too many names to search for, every pipeline that may name a file is parsed.
    pub fn read_callers_of(
        repository: &Repository,
        snapshot: &Snapshot<'_>,
        callees: &BTreeSet<&str>,
        known_facts: BTreeMap<String, PipelineFacts>,
    ) -> Result<Self, PublishError> {
        let sought_names = FileNameSearch::for_files(callees.iter().copied());
        Self::read_calls(
            repository,
            snapshot,
            callees,
            known_facts,
            &|bytes| match &sought_names {
                Some(sought_names) => sought_names.may_match(bytes),
                None => may_refer_to_files(bytes),
            },
        )
    }

    /// Reads the calls that the pipelines of the snapshot make. A pipeline is parsed if `needs_parsing` accepts its
    /// bytes, but it is not even read if `known_facts` contains its path. Calls to `extra_callees` are included,
    /// although the snapshot may lack these files. A pipeline that cannot be parsed has no calls, and a file whose
    /// content is uncertain is skipped.
    fn read_calls(
        repository: &Repository,
        snapshot: &Snapshot<'_>,
        extra_callees: &BTreeSet<&str>,
        mut known_facts: BTreeMap<String, PipelineFacts>,
        needs_parsing: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Self, PublishError> {
        let mut files = snapshot.list_content_files(&|path| PipelineKind::from_path(path).is_some())?;
        files.retain(|file| file.doubt.is_none());
        let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let called_files = CalledFiles {
            existing_files: PipelineFiles::new(paths.iter().copied()),
            with_removed: (!extra_callees.is_subset(&paths))
                .then(|| PipelineFiles::new(paths.union(extra_callees).copied())),
        };
        let contents = ContentReader::reading_once(repository.root().to_owned());
        let mut unread_paths = Vec::new();
        let mut pipelines_to_read = Vec::new();
        for file in files.iter().filter(|file| !known_facts.contains_key(&file.path)) {
            unread_paths.push(&file.path);
            pipelines_to_read.push(PipelineToRead {
                content: &file.content,
                // Only `needs_parsing` decides whether the file is parsed.
                is_needed: false,
            });
        }
        let read_pipelines =
            pipeline_reader::read_matching_pipelines(&contents, &pipelines_to_read, needs_parsing)?;
        for (path, pipeline) in unread_paths.into_iter().zip(read_pipelines) {
            if let Ok(facts) = pipeline.facts {
                known_facts.insert(path.clone(), facts);
            }
        }
        let mut graph = Self::default();
        for file in &files {
            if let Some(facts) = known_facts.get(&file.path) {
                graph.add_calls(&file.path, &facts.references, &called_files);
            }
        }
        for callers in graph
            .callers_by_callee
            .values_mut()
            .chain(graph.callers_by_ambiguous_name.values_mut())
        {
            callers.sort();
        }
        Ok(graph)
    }

    /// Adds the calls that `caller` makes to other pipelines. If several files have the called name, the call is stored
    /// under this name, so that it applies to each of these files. Calls to missing files, and calls of a pipeline to
    /// itself, are ignored.
    fn add_calls(&mut self, caller: &str, references: &[Reference], called_files: &CalledFiles<'_>) {
        let (mut callee_paths, mut ambiguous_names) = (BTreeSet::new(), BTreeSet::new());
        for reference in references {
            for resolution in called_files
                .resolve_now_and_before(reference, caller)
                .into_iter()
                .flatten()
            {
                match resolution {
                    CallResolution::File(path) | CallResolution::ByName(path) => {
                        callee_paths.insert(path);
                    }
                    CallResolution::Ambiguous(paths) => {
                        ambiguous_names.extend(paths.first().map(|path| file_name(path)));
                    }
                    CallResolution::Missing => {}
                }
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

    /// Returns the pipelines that call the pipeline at `path`, and those that may call it because several files have
    /// its name.
    pub fn callers_of(&self, path: &str) -> DirectCallers<'_> {
        let certain = self.callers_by_callee.get(path).into_iter().flatten();
        let certain: BTreeSet<&str> = certain.map(String::as_str).collect();
        let possible = self.callers_by_ambiguous_name.get(file_name(path));
        let mut possible: BTreeSet<&str> = possible.into_iter().flatten().map(String::as_str).collect();
        possible.retain(|caller| !certain.contains(caller));
        DirectCallers {
            certain: certain.into_iter().collect(),
            possible: possible.into_iter().collect(),
        }
    }

    /// Returns the pipelines that call one of the callees, directly or indirectly, each with a short chain of calls
    /// from it to a callee. The chain has only certain calls if there is such a chain. The callees themselves are not
    /// part of the result. Both searches are breadth-first and start at the callees: each step finds the direct callers
    /// of the pipelines that the step before found. The second search adds the pipelines that only may call a callee.
    pub fn transitive_callers_of(&self, callees: &BTreeSet<&str>) -> Vec<TransitiveCaller> {
        let mut chains_by_caller: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut visited_names = BTreeSet::new();
        for includes_ambiguous_calls in [false, true] {
            let mut current_step: Vec<&str> = callees.iter().copied().collect();
            current_step.extend(chains_by_caller.keys());
            while !current_step.is_empty() {
                let mut next_step = Vec::new();
                for callee in current_step {
                    let mut direct_callers = self.list_certain_callers(callee);
                    if includes_ambiguous_calls {
                        direct_callers.extend(self.list_possible_callers(callee, &mut visited_names));
                    }
                    for caller in direct_callers {
                        if callees.contains(caller) || chains_by_caller.contains_key(caller) {
                            continue;
                        }
                        let mut call_chain = vec![callee];
                        // At the first step, the callee has no chain of its own.
                        if let Some(callee_chain) = chains_by_caller.get(callee) {
                            call_chain.extend(callee_chain);
                        }
                        chains_by_caller.insert(caller, call_chain);
                        next_step.push(caller);
                    }
                }
                current_step = next_step;
            }
        }
        chains_by_caller
            .into_iter()
            .map(|(path, call_chain)| TransitiveCaller {
                path: path.to_owned(),
                ambiguous_calls: self.flag_ambiguous_calls(path, &call_chain),
                call_chain: call_chain.into_iter().map(str::to_owned).collect(),
            })
            .collect()
    }

    /// Returns a flag for each call of the chain that begins at `caller`: true if the call may be to another file with
    /// the called name.
    fn flag_ambiguous_calls(&self, caller: &str, call_chain: &[&str]) -> Vec<bool> {
        let mut current_caller = caller;
        let mut ambiguous_calls = Vec::with_capacity(call_chain.len());
        for callee in call_chain {
            // The callers are sorted. A callee can have as many callers as there are chains.
            let is_certain = self.callers_by_callee.get(*callee).is_some_and(|callers| {
                let position = callers.binary_search_by(|caller| caller.as_str().cmp(current_caller));
                position.is_ok()
            });
            ambiguous_calls.push(!is_certain);
            current_caller = callee;
        }
        ambiguous_calls
    }

    /// Returns the pipelines that certainly call `callee`.
    fn list_certain_callers(&self, callee: &str) -> Vec<&str> {
        let callers = self.callers_by_callee.get(callee).into_iter().flatten();
        callers.map(String::as_str).collect()
    }

    /// Returns the pipelines that may call `callee` because several files have its name. They may call each of these
    /// files, so they are returned only once for a name: `visited_names` has the names for which they were already
    /// returned.
    fn list_possible_callers<'a>(
        &'a self,
        callee: &str,
        visited_names: &mut BTreeSet<&'a str>,
    ) -> Vec<&'a str> {
        match self.callers_by_ambiguous_name.get_key_value(file_name(callee)) {
            Some((name, callers)) if visited_names.insert(name.as_str()) => {
                callers.iter().map(String::as_str).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The files that a call may lead to.
struct CalledFiles<'f> {
    /// The pipelines of the snapshot.
    existing_files: PipelineFiles<'f>,
    /// These pipelines, and those that the snapshot lacks; `None` if it lacks none.
    with_removed: Option<PipelineFiles<'f>>,
}

impl CalledFiles<'_> {
    /// Resolves the call in the snapshot, and with the removed files. An ambiguous result of the latter is omitted if
    /// the call leads to one file of the snapshot, because it certainly does not call the removed files now, and did
    /// not certainly call one of them before.
    fn resolve_now_and_before(&self, reference: &Reference, caller: &str) -> [Option<CallResolution<'_>>; 2] {
        let resolution = reference.resolve(&self.existing_files, caller);
        let earlier_resolution = self
            .with_removed
            .as_ref()
            .map(|files| reference.resolve(files, caller))
            .filter(|earlier| resolution.file().is_none() || earlier.file().is_some());
        [Some(resolution), earlier_resolution]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transitive_caller_has_shortest_call_chain() {
        let calls = [
            ("a", "b"),
            ("b", "c"),
            ("c", "a"),
            ("d", "a"),
            ("d", "b"),
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
