//! The facts about pipelines that a review reads anyway, for the project checks.

use sluicegate_base::mutex_lock::lock_mutex;
use sluicegate_pipelines::pipelines::{Pipeline, PipelineFacts};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The facts of pipelines by path; `None` if the file is not a pipeline that can be read.
pub(super) type FactsByPath = BTreeMap<String, Option<PipelineFacts>>;

/// Facts that were collected while pipelines were evaluated, so that these need not be read again.
#[derive(Debug, Default)]
pub(crate) struct CollectedFacts(Mutex<Vec<(String, PipelineFacts)>>);

impl CollectedFacts {
    /// Wraps facts that were already read.
    pub(crate) fn new(facts: Vec<(String, PipelineFacts)>) -> Self {
        Self(Mutex::new(facts))
    }

    /// Adds the facts about a pipeline. Several threads may call it at once.
    pub(crate) fn add(&self, path: &str, pipeline: &Pipeline) {
        let facts = PipelineFacts::from_pipeline(pipeline);
        let mut collected_facts = lock_mutex(&self.0);
        collected_facts.push((path.to_owned(), facts));
    }

    /// Returns the collected facts by path.
    pub(super) fn into_map(self) -> FactsByPath {
        let facts = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        facts
            .into_iter()
            .map(|(path, facts)| (path, Some(facts)))
            .collect()
    }
}
