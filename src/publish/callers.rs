//! The callers of pipelines.

use super::PublishError;
use super::contents::PublishContents;
use super::references::{self, WantedFile};
use crate::base::git::{Content, Repository, Snapshot, SnapshotFile};
use crate::model::pipelines::{Kind, PipelineFiles, SoughtNames, may_name_files};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of callers of a pipeline that are listed.
pub const MOST_CALLERS: usize = 20;

/// The callers of each pipeline of a snapshot.
#[derive(Debug, Default)]
pub struct Callers {
    /// Paths of the callers, except for the pipeline itself, by the path of the called one.
    by_callee: BTreeMap<String, Vec<String>>,
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
        Self::read_those(repository, snapshot, gone, &may_name_files)
    }

    /// Reads only the callers of these pipelines: files whose bytes contain none of their names are not read as YAML.
    pub fn calling(
        repository: &Repository,
        snapshot: &Snapshot<'_>,
        called: &BTreeSet<&str>,
    ) -> Result<Self, PublishError> {
        let Some(sought) = SoughtNames::of(called.iter().copied()) else {
            return Self::read(repository, snapshot, called);
        };
        Self::read_those(repository, snapshot, called, &|bytes| sought.may_be_in(bytes))
    }

    fn read_those(
        repository: &Repository,
        snapshot: &Snapshot<'_>,
        gone: &BTreeSet<&str>,
        may_matter: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Self, PublishError> {
        let mut files = snapshot.files(&|path| Kind::from_path(path).is_some())?;
        files.retain(|file| file.doubt.is_none());
        let contents = PublishContents::new(repository.root().to_owned());
        let wanted = |file| WantedFile {
            content: content(file),
            is_needed: false,
        };
        let all: Vec<WantedFile<'_>> = files.iter().map(wanted).collect();
        let facts = references::read_those(&contents, &all, may_matter)?;
        let there: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let known = PipelineFiles::new(there.union(gone).copied());
        let mut by_callee: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (file, facts) in files.iter().zip(facts) {
            let called = facts
                .references()
                .flat_map(|reference| reference.called(&known, &file.path));
            let mut named: BTreeSet<&str> = called.collect();
            named.remove(file.path.as_str());
            for path in named {
                let callers = by_callee.entry(path.to_owned()).or_default();
                callers.push(file.path.clone());
            }
        }
        for callers in by_callee.values_mut() {
            callers.sort();
        }
        Ok(Self { by_callee })
    }

    /// Returns the pipelines that call this one, sorted by path.
    pub fn of(&self, path: &str) -> &[String] {
        self.by_callee.get(path).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the pipelines that reach any of these through their calls, except for those themselves; sorted by path.
    pub fn reaching(&self, changed: &BTreeSet<&str>) -> Vec<Reaching> {
        let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut step: Vec<&str> = changed.iter().copied().collect();
        while !step.is_empty() {
            let mut next = Vec::new();
            for callee in step {
                for caller in self.of(callee) {
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
