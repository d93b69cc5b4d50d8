//! Compares the changes of a review while the platform responds: comparing thousands of pipelines takes as long as
//! reviewing them.

use crate::gate::changes::change_list::{self, FactsOfFiles};
use crate::gate::{Part, SeenFacts, Selected};
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
pub(crate) struct ChangesAhead {
    changes: JoinHandle<Result<Vec<ChangedFile>, GitError>>,
    /// Receives the facts about the changed pipelines once, before their callers are searched.
    facts: Receiver<FactsOfFiles>,
}

/// The input of the comparison.
struct Comparing {
    root: PathBuf,
    head: CommitId,
    bases: Vec<CommitId>,
    changes: Vec<Change>,
}

impl ChangesAhead {
    /// Starts the comparison of the selected changes with `head`; `None` if no output includes them or there is no
    /// base.
    pub(crate) fn start(
        run: &Run,
        workspace: &Workspace<'_>,
        head: &CommitId,
        settings: &GateSettings,
        selected: &Selected,
        paths: &[String],
        part: &Part,
    ) -> Option<Self> {
        let is_included = change_list::writes_changes(run, workspace.ci.host, &settings.verdict.destinations);
        if !is_included || selected.since.is_empty() {
            return None;
        }
        let wants = |path: &str| settings.selection.selects(path);
        let candidates = selected.candidates.iter().map(|candidate| &candidate.change);
        let wanted = candidates.filter(|it| change_list::is_included(it, &wants, paths, part.shard));
        let comparing = Comparing {
            root: workspace.repo.root().to_owned(),
            head: head.clone(),
            bases: selected.since.clone(),
            changes: wanted.cloned().collect(),
        };
        let (sender, facts) = mpsc::channel();
        Some(Self {
            changes: thread::spawn(move || comparing.compare(&sender)),
            facts,
        })
    }

    /// Waits for the facts about the changed pipelines, so that nobody reads these again; none if the comparison failed
    /// or they were returned before.
    pub(crate) fn facts(&self) -> SeenFacts {
        SeenFacts::of(self.facts.recv().unwrap_or_default())
    }

    /// Returns these facts if they are known already.
    pub(crate) fn known_facts(&self) -> Option<SeenFacts> {
        match self.facts.try_recv() {
            Err(TryRecvError::Empty) => None,
            facts => Some(SeenFacts::of(facts.unwrap_or_default())),
        }
    }

    /// Waits for the comparison; `None` if it failed, so that it is made again and its error is reported.
    pub(crate) fn finish(self) -> Option<Vec<ChangedFile>> {
        self.changes.join().ok()?.ok()
    }
}

impl Comparing {
    /// A repository belongs to one thread, so this one opens it again.
    fn compare(&self, facts: &Sender<FactsOfFiles>) -> Result<Vec<ChangedFile>, GitError> {
        let repo = Repository::open(&self.root)?
            .with_renames_by_name(is_pipeline)
            .without_cache();
        let snapshot = repo.snapshot(self.head.clone());
        change_list::compared_pairs(&repo, &snapshot, &self.bases, &self.changes, |found| {
            // Nobody waits for them if there is nothing to review.
            let _ = facts.send(found.clone());
        })
    }
}
