//! The callers of pipelines.

use super::PublishError;
use super::contents::PublishContents;
use super::references::{self, WantedFile};
use sluicegate_git::{Content, Repository, Snapshot, SnapshotFile};
use sluicegate_pipelines::pipelines::{
    CallResolution, FileNameSearch, PipelineFacts, PipelineFiles, PipelineKind, Reference, file_name,
    may_name_files,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of callers of a pipeline that are listed.
pub const MOST_CALLERS: usize = 20;

/// The callers of each pipeline of a snapshot.
#[derive(Debug, Default)]
pub struct Callers {
    /// Paths of the callers, except for the pipeline itself, by the path of the called one.
    by_callee: BTreeMap<String, Vec<String>>,
    /// Paths of the callers, by the name of the files that an ambiguous call may mean.
    by_name: BTreeMap<String, Vec<String>>,
}

/// A pipeline that reaches another one through its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaching {
    pub path: String,
    /// A shortest chain of calls, which ends with the pipeline that is reached.
    pub through: Vec<String>,
}

impl Callers {
    /// Reads all pipelines of the snapshot. Pipelines of `gone` may still be called.
    pub fn read(
        repository: &Repository,
        snapshot: &Snapshot<'_>,
        gone: &BTreeSet<&str>,
    ) -> Result<Self, PublishError> {
        Self::read_those(repository, snapshot, gone, BTreeMap::new(), &may_name_files)
    }

    /// Reads only the callers of these pipelines: files whose bytes contain none of their names are not read as YAML,
    /// and those whose facts are known are not read at all.
    pub fn calling(
        repository: &Repository,
        snapshot: &Snapshot<'_>,
        called: &BTreeSet<&str>,
        known: BTreeMap<String, PipelineFacts>,
    ) -> Result<Self, PublishError> {
        let sought = FileNameSearch::for_files(called.iter().copied());
        let may_matter = |bytes: &[u8]| match &sought {
            Some(sought) => sought.may_match(bytes),
            None => may_name_files(bytes),
        };
        Self::read_those(repository, snapshot, called, known, &may_matter)
    }

    fn read_those(
        repository: &Repository,
        snapshot: &Snapshot<'_>,
        gone: &BTreeSet<&str>,
        mut known: BTreeMap<String, PipelineFacts>,
        may_matter: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Self, PublishError> {
        let mut files = snapshot.files(&|path| PipelineKind::from_path(path).is_some())?;
        files.retain(|file| file.doubt.is_none());
        let there: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let there = PipelineFiles::new(there.union(gone).copied());
        let is_unread = |file: &&SnapshotFile| !known.contains_key(&file.path);
        let contents = PublishContents::once(repository.root().to_owned());
        let wanted = |file| WantedFile {
            content: content(file),
            is_needed: false,
        };
        let wanted: Vec<WantedFile<'_>> = files.iter().filter(is_unread).map(wanted).collect();
        let mut read = references::read_those(&contents, &wanted, may_matter)?.into_iter();
        let mut callers = Self::default();
        for file in &files {
            let facts = match known.remove(&file.path) {
                Some(facts) => Some(facts),
                None => read.next().and_then(|file| file.facts.ok()),
            };
            let references = facts.map(|facts| facts.references).unwrap_or_default();
            callers.add(&file.path, &references, &there);
        }
        for callers in callers.by_callee.values_mut().chain(callers.by_name.values_mut()) {
            callers.sort();
        }
        Ok(callers)
    }

    fn add(&mut self, caller: &str, references: &[Reference], there: &PipelineFiles<'_>) {
        let (mut files, mut names) = (BTreeSet::new(), BTreeSet::new());
        for reference in references {
            match reference.resolve(there, caller) {
                CallResolution::File(path) | CallResolution::ByName(path) => {
                    files.insert(path);
                }
                CallResolution::Ambiguous(paths) => names.extend(paths.first().map(|path| file_name(path))),
                CallResolution::Missing => {}
            }
        }
        files.remove(caller);
        for path in files {
            let callers = self.by_callee.entry(path.to_owned()).or_default();
            callers.push(caller.to_owned());
        }
        for name in names {
            let callers = self.by_name.entry(name.to_owned()).or_default();
            callers.push(caller.to_owned());
        }
    }

    /// Returns the pipelines that call this one, sorted by path.
    pub fn of(&self, path: &str) -> Vec<&str> {
        let by_name = self.by_name.get(file_name(path));
        let callers = self.by_callee.get(path).into_iter().chain(by_name).flatten();
        let callers: BTreeSet<&str> = callers.map(String::as_str).collect();
        callers.into_iter().collect()
    }

    /// Returns the pipelines that reach any of these through their calls, except for those themselves; sorted by path.
    pub fn reaching(&self, changed: &BTreeSet<&str>) -> Vec<Reaching> {
        let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut step: Vec<&str> = changed.iter().copied().collect();
        let mut names = BTreeSet::new();
        while !step.is_empty() {
            let mut next = Vec::new();
            for callee in step {
                let by_name = self.by_name.get_key_value(file_name(callee));
                // All files of an ambiguous name have these callers, and the first one has reached them.
                let by_name = by_name.filter(|(name, _)| names.insert(name.as_str()));
                let by_name = by_name.into_iter().flat_map(|(_, callers)| callers);
                for caller in self.by_callee.get(callee).into_iter().flatten().chain(by_name) {
                    if changed.contains(caller.as_str()) || found.contains_key(caller.as_str()) {
                        continue;
                    }
                    let behind = found.get(callee).into_iter().flatten().copied();
                    let through = std::iter::once(callee).chain(behind).collect();
                    found.insert(caller, through);
                    next.push(caller.as_str());
                }
            }
            step = next;
        }
        let owned = |paths: Vec<&str>| paths.into_iter().map(str::to_owned).collect();
        let reaching = found.into_iter().map(|(path, through)| Reaching {
            path: path.to_owned(),
            through: owned(through),
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
        let mut callers = Callers::default();
        for (caller, callee) in calls {
            let of_callee = callers.by_callee.entry(callee.to_owned()).or_default();
            of_callee.push(caller.to_owned());
        }
        let found = callers.reaching(&BTreeSet::from(["c", "nobody"]));
        let told: Vec<String> = found
            .iter()
            .map(|it| format!("{} {}", it.path, it.through.join(" ")))
            .collect();
        assert_eq!(told, ["a b c", "b c", "d b c"]);
    }
}
