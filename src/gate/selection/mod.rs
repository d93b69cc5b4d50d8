//! Selects the pipelines of a run, and determines the gate changes and the stricter settings of the target.

pub(crate) mod lookalike;
pub(crate) mod named_files;
pub(crate) mod replaced_directories;
pub(crate) mod select;

use crate::error::Failure;
use crate::gate::evaluation::Evaluation;
use crate::gate::stricter_target::StricterTarget;
use crate::gate::{
    Cause, Scope, Selected, is_within, looks_like_pipeline, select, select_named, touches_more,
};
use crate::job::cli::GateChanges;
use crate::job::context::Comparison;
use crate::job::settings::{self, Revisions, Selection};
use crate::session::Run;
use crate::workspace::Workspace;
use crate::workspace::unusable_gate_files::{ResolveSelection, UnusableGateFiles};
use sluicegate_base::text::count;
use sluicegate_git::{CommitId, Snapshot};
use sluicegate_pipelines::pipelines::{RULES_FILE, is_pipeline};

const REFUSED: &str = "The change edits the gate configuration and other files. This job does not allow that \
                       (--gate-changes fail): propose the gate configuration in a separate change.";

const OUTDATED: &str = "The target branch has a stricter gate configuration than this change. This job does not allow that \
                        (--gate-changes fail): merge the target branch into the change.";

/// The restrictions of the changed files.
pub(crate) struct SelectionRequest<'a> {
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
pub(crate) struct SelectionResult {
    pub(crate) selected: Selected,
    /// The change edits the gate and other files, and the job does not allow that.
    pub(crate) is_refused: bool,
    /// The settings of the target's tip that are stricter than those of the change.
    pub(crate) stricter_target: Option<StricterTarget>,
    /// The tip is stricter, and the job does not allow that.
    pub(crate) rejects_stricter_target: bool,
    /// The files of the gate configuration that cannot be used.
    pub(crate) unusable: UnusableGateFiles,
}

impl SelectionResult {
    /// Reports why all pipelines are selected, if the job did not ask for that and no warning reported it.
    pub(crate) fn report_why_all(&self, run: &Run, asked: &Revisions) {
        let why = self.selected.all_because.as_ref().filter(|_| !asked.all);
        let shown_texts = run.shown_texts();
        let is_shown = |why: &String| shown_texts.iter().any(|text| text.contains(why));
        if let Some(why) = why.filter(|why| !is_shown(why)) {
            run.ui.say(&format!("all pipelines are selected: {why}"));
        }
    }

    /// Adds the causes of the gate configuration: a change to it that the job does not allow, files that the change
    /// makes unusable, and a stricter target.
    pub(crate) fn add_causes(&self, evaluation: &mut Evaluation) {
        if self.is_refused {
            evaluation.add_cause(Cause::GateChange, REFUSED);
        }
        for reason in &self.unusable.new_problems {
            let message = format!(
                "The change makes a file of the gate configuration unusable: {reason}. Fix the file in this change, \
                 because no later run could use it."
            );
            evaluation.add_cause(Cause::GateChange, message);
        }
        for reason in &self.unusable.old_problems {
            evaluation.note([format!(
                "A file of the gate configuration was unusable before this change and is treated as missing: {reason}"
            )]);
        }
        let Some(target) = &self.stricter_target else {
            return;
        };
        for limit in target.limits() {
            evaluation.add_limit(limit);
        }
        evaluation.note(target.evaluation_note());
        if self.rejects_stricter_target {
            evaluation.add_cause(Cause::GateChange, OUTDATED);
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
        request: &SelectionRequest<'_>,
    ) -> Result<SelectionResult, Failure> {
        if comparison.idle_reason.is_some() {
            return Ok(SelectionResult::default());
        }
        self.must_match(snapshot, &comparison.bases, request)?;
        self.config_dir(snapshot)?;
        let hosts_bases = self.hosts_bases(run, comparison, request.revisions)?;
        let since = match hosts_bases.as_slice() {
            [] => comparison.bases.as_slice(),
            bases => bases,
        };
        let bases: Vec<Snapshot<'_>> = since
            .iter()
            .map(|base| self.repo.snapshot(base.clone()))
            .collect();
        let gate_files = self.gate_files(std::iter::once(snapshot).chain(&bases))?;
        let policy_files = gate_files.paths();
        let scope = Scope {
            head: snapshot,
            bases: &comparison.bases,
            base_source: &comparison.base_source,
            config_dir: self.named_config_dir.as_deref(),
            policy_files: &policy_files,
            hosts_bases: &hosts_bases,
            words: &|base, change| self.words(snapshot, &gate_files, base, change),
            includes: &|path| request.selection.includes(path),
            excludes: &|path| request.selection.excludes(path),
            paths: request.paths,
        };
        let selected = match request.named {
            [] => select(&scope)?,
            named => select_named(&scope, named)?,
        };
        let is_refused = self.gate_changes == GateChanges::Fail
            && !selected.gate_changes.is_empty()
            && touches_more(&scope)?;
        let unusable = self.unusable_gate_files(run, snapshot, since, request.resolve)?;
        let stricter_target = self.find_stricter_target(snapshot, since, &gate_files, &selected)?;
        let is_stricter = stricter_target.as_ref().is_some_and(StricterTarget::is_stricter);
        Ok(SelectionResult {
            rejects_stricter_target: self.gate_changes == GateChanges::Fail && is_stricter,
            stricter_target,
            selected,
            is_refused,
            unusable,
        })
    }
}

impl Workspace<'_> {
    /// Returns an error if a path or a glob of the job, or all globs of the configuration file together, match no file
    /// of the snapshot or of the base: that is a typo, and the run would pass without any review.
    pub(crate) fn must_match(
        &self,
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
        request: &SelectionRequest<'_>,
    ) -> Result<(), Failure> {
        let selection = request.selection;
        if request.paths.is_empty() && request.named.is_empty() && !selection.is_customized() {
            return Ok(());
        }
        let meant = |path: &str| is_pipeline(path) || selection.includes(path);
        let files = snapshot.files(&meant)?;
        let before = bases.iter().map(|base| self.repo.files(base, &meant));
        let before = before.collect::<Result<Vec<_>, _>>()?;
        let before = before.iter().flatten().map(|file| file.path.as_str());
        let known: Vec<&str> = files
            .iter()
            .map(|file| file.path.as_str())
            .chain(before)
            .collect();
        let pipelines = files.iter().filter(|file| is_pipeline(&file.path));
        let place = format!(
            "{}, which contains {}",
            snapshot.name(),
            count(pipelines.count(), "pipeline")
        );
        match find_unmatched(&known, request, &place) {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }
}

/// Returns the error of the first glob or path that matches none of the known files of `place`.
fn find_unmatched(known: &[&str], request: &SelectionRequest<'_>, place: &str) -> Option<Failure> {
    let selection = request.selection;
    if let Some(glob) = selection.find_unmatched_glob(known) {
        let message = format!("the include glob {glob:?} matches no file of {place}");
        return Some(Failure::usage(message).hint(
            "globs match full paths from the repository root; use --all without a glob to review all pipelines",
        ));
    }
    // In a repository without pipelines so far, unmatched globs are not a typo.
    let matches_none = || !known.is_empty() && !known.iter().any(|path| selection.includes(path));
    if let Some(key) = selection.include_key().filter(|_| matches_none()) {
        let file_name = settings::FILE_NAME;
        let message = format!("no glob of `{key}` in {file_name} matches a file of {place}");
        return Some(Failure::usage(message).hint(
            "globs match full paths from the repository root; without `include` every pipeline is selected",
        ));
    }
    let holds = |within: &String| within.is_empty() || known.iter().any(|path| is_within(path, within));
    let path = request.paths.iter().find(|path| !holds(path));
    let path = path.or_else(|| named_in_vain(known, request))?;
    let message = format!("the path {path} contains no pipeline of {place}");
    Some(
        Failure::usage(message)
            .hint("pass a pipeline or a directory with pipelines, or use --all to review every pipeline"),
    )
}

/// Returns the first named file, if none of them is a pipeline, looks like one, or belongs to the gate. A hook passes
/// all files of a commit, so one of them is enough.
fn named_in_vain<'r>(known: &[&str], request: &'r SelectionRequest<'_>) -> Option<&'r String> {
    let is_gates = |path: &str| {
        [RULES_FILE, settings::FILE_NAME]
            .iter()
            .any(|file| path.ends_with(file))
    };
    let is_taken =
        |path: &String| known.contains(&path.as_str()) || is_gates(path) || looks_like_pipeline(path);
    let named = request.named;
    (request.paths.is_empty() && !named.iter().any(is_taken))
        .then(|| named.first())
        .flatten()
}

/// Returns why no pipeline is selected, and how to review all of them.
pub(crate) fn explain_empty_selection(
    snapshot: &Snapshot<'_>,
    selection: &Selection,
) -> Result<String, Failure> {
    let meant = |path: &str| is_pipeline(path) && selection.selects(path);
    let all = snapshot.files(&meant)?.len();
    let (name, pipelines) = (snapshot.name(), count(all, "pipeline"));
    Ok(match all {
        0 => format!("{name} contains no pipeline that the globs select"),
        _ => {
            format!("no selected pipeline changed; {name} contains {pipelines}: use --all to review them all")
        }
    })
}
