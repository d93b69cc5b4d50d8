//! Selects the pipelines of a run, and determines the gate changes and the stricter settings of the target.

use crate::error::Failure;
use crate::gate::stricter_target::Outdated;
use crate::gate::{self, Scope, Selected};
use crate::job::cli::GateChanges;
use crate::job::context::Comparison;
use crate::job::settings::{Revisions, Selection};
use crate::session::Run;
use crate::workspace::Workspace;
use crate::workspace::unusable_gate_files::{ResolveSelection, UnusableGateFiles};
use sluicegate_git::Snapshot;

/// The restrictions of the changed files.
pub(crate) struct Restriction<'a> {
    pub(crate) selection: &'a Selection,
    /// Files and directories, relative to the repository root; empty for no restriction.
    pub(crate) paths: &'a [String],
    /// Files that are selected even if they did not change.
    pub(crate) named: &'a [String],
    /// The requested revisions, which override those of the host.
    pub(crate) revisions: &'a Revisions,
    /// Function that resolves the settings of the command from another version of the configuration file.
    pub(crate) resolve: &'a ResolveSelection<'a>,
}

/// The selected pipelines, and whether the job allows the change of the gate.
#[derive(Default)]
pub(crate) struct Chosen {
    pub(crate) selected: Selected,
    /// The change edits the gate and other files, and the job does not allow that.
    pub(crate) is_refused: bool,
    /// The settings of the target's tip that are stricter than those of the change.
    pub(crate) outdated: Option<Outdated>,
    /// The tip is stricter, and the job does not allow that.
    pub(crate) is_outdated: bool,
    /// The files of the gate configuration that cannot be used.
    pub(crate) unusable: UnusableGateFiles,
}

impl Chosen {
    /// Reports why all pipelines are selected, if the job did not ask for that and no warning reported it.
    pub(crate) fn say_why_all(&self, run: &Run, comparison: &Comparison, asked: &Revisions) {
        let why = self.selected.all_because.as_ref().filter(|_| !asked.all);
        let is_said = |why: &String| comparison.warnings.iter().any(|warning| warning.contains(why));
        if let Some(why) = why.filter(|why| !is_said(why)) {
            run.ui.say(&format!("all pipelines are selected: {why}"));
        }
    }
}

impl Workspace<'_> {
    /// Selects the pipelines, and determines the changes of the gate.
    pub(crate) fn select(
        &self,
        run: &Run,
        snapshot: &Snapshot<'_>,
        comparison: &Comparison,
        restriction: &Restriction<'_>,
    ) -> Result<Chosen, Failure> {
        if comparison.nothing_to_do.is_some() {
            return Ok(Chosen::default());
        }
        self.must_match(snapshot, &comparison.bases, restriction)?;
        self.config_dir(snapshot)?;
        let hosts_bases = self.hosts_bases(run, comparison, restriction.revisions)?;
        let since = match hosts_bases.as_slice() {
            [] => comparison.bases.as_slice(),
            bases => bases,
        };
        let bases: Vec<Snapshot<'_>> = since
            .iter()
            .map(|base| self.repo.snapshot(base.clone()))
            .collect();
        let gate_files = self.gate_files(std::iter::once(snapshot).chain(&bases))?;
        let policy_files = gate_files.all();
        let scope = Scope {
            head: snapshot,
            bases: &comparison.bases,
            base_source: &comparison.base_source,
            config_dir: self.named_folder.as_deref(),
            policy_files: &policy_files,
            hosts_bases: &hosts_bases,
            words: &|base, change| self.words(snapshot, &gate_files, base, change),
            includes: &|path| restriction.selection.includes(path),
            excludes: &|path| restriction.selection.excludes(path),
            paths: restriction.paths,
        };
        let selected = match restriction.named {
            [] => gate::select(&scope)?,
            named => gate::select_named(&scope, named)?,
        };
        let is_refused = self.gate_changes == GateChanges::Fail
            && !selected.gate_changes.is_empty()
            && gate::touches_more(&scope)?;
        let unusable = self.unusable_gate_files(run, snapshot, since, restriction.resolve)?;
        let outdated = self.outdated(snapshot, since, &gate_files, &selected)?;
        let is_stricter = outdated.as_ref().is_some_and(Outdated::is_stricter);
        Ok(Chosen {
            is_outdated: self.gate_changes == GateChanges::Fail && is_stricter,
            outdated,
            selected,
            is_refused,
            unusable,
        })
    }
}
