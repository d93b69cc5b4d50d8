//! Compares the changed pipelines of a review while the platform responds: comparing thousands of pipelines takes as
//! long as reviewing them.

use crate::gate::changes::change_list::{self, ChangedPipelineFacts};
use crate::gate::{CollectedFacts, SelectedPipelines, ShardSelection};
use crate::job::settings::GateSettings;
use crate::report::ChangedFile;
use crate::session::Run;
use crate::workspace::Workspace;
use sluicegate_git::{Change, CommitId, GitError, Repository};
use sluicegate_pipelines::pipelines::is_pipeline;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::{self, JoinHandle};

/// A comparison that runs in a separate thread.
pub(crate) struct BackgroundComparison {
    changes: JoinHandle<Result<Vec<ChangedFile>, GitError>>,
    /// Receives the facts about the changed pipelines once, before their callers are searched.
    facts: Receiver<ChangedPipelineFacts>,
}

/// The input of the comparison.
struct ComparisonInput {
    root: PathBuf,
    head: CommitId,
    bases: Vec<CommitId>,
    changes: Vec<Change>,
}

impl BackgroundComparison {
    /// Starts to compare the selected changes on another thread, while the platform reviews. Returns `None` if no
    /// output shows them or there is no base.
    pub(crate) fn start_if_needed(
        run: &Run,
        workspace: &Workspace<'_>,
        head: &CommitId,
        settings: &GateSettings,
        pipelines: &SelectedPipelines,
        paths: &[String],
        shard_selection: &ShardSelection,
    ) -> Option<Self> {
        let is_included = change_list::writes_changes(run, workspace.ci.host, &settings.verdict.destinations);
        if !is_included || pipelines.bases.is_empty() {
            return None;
        }
        let is_selected = |path: &str| settings.selection.selects(path);
        let candidates = pipelines.candidates.iter().map(|candidate| &candidate.change);
        let included_changes = candidates
            .filter(|change| change_list::is_included(change, &is_selected, paths, shard_selection.shard));
        let input = ComparisonInput {
            root: workspace.repo.root().to_owned(),
            head: head.clone(),
            bases: pipelines.bases.clone(),
            changes: included_changes.cloned().collect(),
        };
        let (sender, facts) = mpsc::channel();
        Some(Self {
            changes: thread::spawn(move || input.compare(&sender)),
            facts,
        })
    }

    /// Waits for the facts about the changed pipelines, so that nobody reads these again; none if the comparison failed
    /// or they were returned before.
    pub(crate) fn wait_for_facts(&self) -> CollectedFacts {
        CollectedFacts::new(self.facts.recv().unwrap_or_default())
    }

    /// Returns the facts about the changed pipelines, or `None` if they are not known yet. There are no facts if the
    /// comparison failed or they were returned before.
    pub(crate) fn available_facts(&self) -> Option<CollectedFacts> {
        match self.facts.try_recv() {
            Err(TryRecvError::Empty) => None,
            facts => Some(CollectedFacts::new(facts.unwrap_or_default())),
        }
    }

    /// Waits for the comparison; `None` if it failed, so that it is made again and its error is reported.
    pub(crate) fn wait(self) -> Option<Vec<ChangedFile>> {
        self.changes.join().ok()?.ok()
    }
}

impl ComparisonInput {
    /// Compares the changes and sends the facts as soon as they are known. Opens the repository again, because one
    /// belongs to one thread.
    fn compare(&self, facts: &Sender<ChangedPipelineFacts>) -> Result<Vec<ChangedFile>, GitError> {
        let repo = Repository::open(&self.root)?
            .with_documents(is_pipeline)
            .without_cache();
        let snapshot = repo.snapshot(self.head.clone());
        change_list::compare_changes(&repo, &snapshot, &self.bases, &self.changes, |changed_facts| {
            // Nobody waits for them if there is nothing to review.
            let _ = facts.send(changed_facts.clone());
        })
    }
}
