//! Compares the changed pipelines of a review while the platform responds: comparing thousands of pipelines takes as
//! long as reviewing them.

use crate::gate::CollectedFacts;
use crate::gate::changes::change_list::{self, ChangedPipelineFacts};
use crate::gate::pipeline_positions::PositionCache;
use sluicegate_git::{Change, CommitId, GitError, Repository};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_reports::ChangedFile;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::{self, JoinHandle};

/// A comparison that runs in a separate thread.
pub(crate) struct BackgroundComparison {
    changes: JoinHandle<Result<Vec<ChangedFile>, GitError>>,
    /// Receives the facts about the changed pipelines once, before their callers are searched.
    facts: Receiver<ChangedPipelineFacts>,
    /// The positions in the changed pipelines, while they are compared.
    pub(crate) positions: Arc<PositionCache>,
}

/// The input of the comparison.
struct ComparisonInput {
    root: PathBuf,
    head: CommitId,
    bases: Vec<CommitId>,
    changes: Vec<Change>,
    positions: Arc<PositionCache>,
}

impl BackgroundComparison {
    /// Starts a thread that compares the changes while the platform reviews.
    pub(crate) fn start(root: &Path, head: &CommitId, bases: &[CommitId], changes: Vec<Change>) -> Self {
        let input = ComparisonInput {
            root: root.to_owned(),
            head: head.clone(),
            bases: bases.to_vec(),
            changes,
            positions: Arc::default(),
        };
        let (sender, facts) = mpsc::channel();
        Self {
            positions: Arc::clone(&input.positions),
            changes: thread::spawn(move || input.compare_and_send_facts(&sender)),
            facts,
        }
    }

    /// Waits for the facts about the changed pipelines, so that the caller need not read these pipelines again. Returns
    /// empty facts if the comparison failed, or if an earlier call returned the facts.
    pub(crate) fn wait_for_facts(&self) -> CollectedFacts {
        CollectedFacts::new(self.facts.recv().unwrap_or_default())
    }

    /// Returns the facts about the changed pipelines, or `None` if they are not known yet. The facts are empty if the
    /// comparison failed, or if an earlier call returned them.
    pub(crate) fn take_available_facts(&self) -> Option<CollectedFacts> {
        match self.facts.try_recv() {
            Err(TryRecvError::Empty) => None,
            facts => Some(CollectedFacts::new(facts.unwrap_or_default())),
        }
    }

    /// Waits for the comparison. Returns `None` if it failed, so that the caller compares again and reports the error.
    pub(crate) fn wait_for_changes(self) -> Option<Vec<ChangedFile>> {
        self.changes.join().ok()?.ok()
    }
}

impl ComparisonInput {
    /// Compares the changes, and sends the facts as soon as they are known. Opens the repository again, because a
    /// repository cannot be shared between threads.
    fn compare_and_send_facts(
        &self,
        sender: &Sender<ChangedPipelineFacts>,
    ) -> Result<Vec<ChangedFile>, GitError> {
        let repo = Repository::open(&self.root)?
            .with_document_predicate(is_pipeline)
            .without_cache();
        let snapshot = repo.snapshot(self.head.clone());
        let positions = Some(&*self.positions);
        change_list::compare_changes(
            &repo,
            &snapshot,
            &self.bases,
            &self.changes,
            positions,
            |changed_facts| {
                // If there is nothing to review, no receiver is left, and the facts are not needed.
                let _ = sender.send(changed_facts.clone());
            },
        )
    }
}
