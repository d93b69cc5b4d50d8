//! The first stage of a run: the pipelines that the settings select.

use crate::error::Failure;
use crate::gate::project_checks::facts_cache::FactsCache;
use crate::gate::run::GateRun;
use crate::gate::run::report_subject::ReviewedFiles;
use crate::gate::selection::{SelectionResult, explain_empty_selection};
use crate::gate::shard_selection::EMPTY_SHARD_REASON;
use crate::gate::{ShardSelection, describe_partial_coverage, is_within_any};
use crate::session::Session;
use crate::workspace::team_rules::TeamRulesInForce;
use crate::workspace::unusable_gate_files::ResolveSelection;
use sluicegate_base::text::format_count;

/// A run whose selection may still change: before a publish, it gets more pipelines, and a shard covers only some.
pub(crate) struct SelectedRun<'a> {
    pub(crate) session: &'a Session,
    pub(crate) subject: ReviewedFiles<'a>,
    /// The selected pipelines, and the changes to the gate configuration.
    pub(crate) selection: SelectionResult,
    /// Notes about the subject of the run.
    notes: Vec<String>,
}

impl<'a> SelectedRun<'a> {
    /// Creates a run over the pipelines that the settings select. `resolve` resolves the selection settings from
    /// another version of the configuration file, and fails if that version cannot be used.
    pub(crate) fn select_pipelines(
        session: &'a Session,
        subject: ReviewedFiles<'a>,
        resolve: &ResolveSelection<'_>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            selection: subject.select_pipelines(session, resolve)?,
            session,
            subject,
            notes: Vec::new(),
        })
    }

    /// Adds notes about the subject of the run.
    pub(crate) fn add_notes(&mut self, notes: impl IntoIterator<Item = String>) {
        self.notes.extend(notes);
    }

    /// Prints why all pipelines are selected, unless the job requested that or a warning already explains it.
    pub(crate) fn report_reason_for_all(&self) {
        self.selection
            .report_reason_for_all(self.session, &self.subject.settings.revisions);
    }

    /// Selects all pipelines that the settings select within the paths of the run, changed or not. The base of the
    /// selection stays the same, because it shows what the change renamed.
    pub(crate) fn select_all_pipelines(&mut self) -> Result<(), Failure> {
        let settings = &self.subject.settings.selection;
        let paths = self.subject.paths.list_paths();
        let files = self
            .subject
            .snapshot
            .list_files(&|path| settings.selects(path) && is_within_any(path, &paths))?;
        self.selection.pipelines.files = files.into_iter().map(|file| file.path).collect();
        Ok(())
    }

    /// Returns the reason why the run covers only a part of the pipelines, or could not fail, even without a shard.
    /// Returns `None` otherwise.
    pub(crate) fn explain_partial_selection(&self) -> Option<String> {
        let subject = &self.subject;
        let shard = None;
        describe_partial_coverage(
            shard,
            &subject.paths.list_paths(),
            subject.settings.verdict.fail_on,
        )
    }

    /// Completes the selection. If a publish follows, adds the pipelines that it would publish, changed or not. Then
    /// keeps only the pipelines of the requested shard. Notes named files that are not checked, and records the reason
    /// if there is no pipeline to review.
    pub(crate) fn complete(mut self, published_pipelines: Option<&[String]>) -> Result<GateRun<'a>, Failure> {
        if let Some(pipelines) = published_pipelines {
            self.add_published_pipelines(pipelines);
        }
        let shared_file = self.subject.find_examined_shared_file()?;
        let unchecked_notes = self
            .subject
            .paths
            .describe_unchecked_files(&self.selection.pipelines, shared_file.as_deref());
        self.add_notes(unchecked_notes);
        let shard_selection = self.keep_shard();
        Ok(GateRun {
            empty_reason: self.explain_empty_run(&shard_selection)?,
            session: self.session,
            subject: self.subject,
            selection: self.selection,
            shard_selection,
            baseline: None,
            is_before_publish: published_pipelines.is_some(),
            background_comparison: None,
            team_rules: TeamRulesInForce::default(),
            facts_cache: FactsCache::default(),
            notes: self.notes,
            failure_note: None,
        })
    }

    /// Adds the pipelines that a publish would include to the selection. A note states how many unchanged pipelines
    /// were added.
    fn add_published_pipelines(&mut self, pipelines: &[String]) {
        let files = &mut self.selection.pipelines.files;
        let mut unchanged_files = pipelines.to_vec();
        unchanged_files.retain(|path| !files.contains(path));
        if unchanged_files.is_empty() {
            return;
        }
        let pipeline_count = format_count(unchanged_files.len(), "pipeline");
        files.extend(unchanged_files);
        files.sort();
        self.notes.push(format!(
            "also reviewed {pipeline_count} without changes, because they would be published too"
        ));
    }

    /// Keeps only the pipelines of the requested shard, and prints their number. Without a shard, keeps all.
    fn keep_shard(&mut self) -> ShardSelection {
        let pipelines = &mut self.selection.pipelines;
        let total = pipelines.describe_file_count();
        let shard_selection = ShardSelection::keep_shard(self.subject.settings.verdict.shard, pipelines);
        if let Some(shard) = shard_selection.shard {
            let kept_count = pipelines.files.len();
            self.session
                .ui
                .say(&format!("shard {shard}: {kept_count} of {total}"));
        }
        shard_selection
    }

    /// Returns the reason why there is no pipeline to review. Returns `None` if there is one.
    fn explain_empty_run(&self, shard_selection: &ShardSelection) -> Result<Option<String>, Failure> {
        match &self.subject.comparison.idle_reason {
            Some(reason) => Ok(Some(reason.clone())),
            None if !self.selection.pipelines.files.is_empty() => Ok(None),
            None if shard_selection.left_out_count > 0 => Ok(Some(EMPTY_SHARD_REASON.to_owned())),
            None => {
                let reason = explain_empty_selection(
                    &self.subject.snapshot,
                    &self.subject.settings.selection,
                    &self.subject.paths.list_restricting_paths(),
                    &self.selection.pipelines,
                    self.subject.workspace.ci.host.is_local(),
                )?;
                Ok(Some(reason))
            }
        }
    }
}
