//! Handles a change that started before the gate became stricter. The platform evaluates the rules file of the reviewed
//! commit; after the merge, the target's file applies unless the change edited it. So stricter settings of the target's
//! tip are reported, and the changed pipelines are also evaluated locally by its rules.

use crate::error::Failure;
use crate::gate::evaluate;
use crate::gate::interface_changes::interface_comparison::between;
use crate::gate::{Selected, Tally};
use crate::interface_version::{self, LoadedInterface as Loaded};
use crate::job::context::PolicyTip;
use crate::job::policy::{GateFileVersion, MergeVersions, describe_stricter_settings, merge_rules};
use crate::workspace::gate_files::GateFiles;
use crate::workspace::{Workspace, folder_in};
use sluicegate_base::text::{List, count};
use sluicegate_git::{CommitId, Repository, Snapshot};
use sluicegate_pipelines::findings::{FileResults, LimitKind, RuleResult, Status, VerdictLimit, Violation};
use sluicegate_pipelines::interface::ChangeClass;
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_pipelines::pipelines::{RULES_FILE, SHARED_PIPELINES_FILE};
use sluicegate_pipelines::rules::RuleSet;
use sluicegate_pipelines::waivers;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of differences that a note lists.
const NAMED: usize = 5;

/// The settings and rules of the target's tip that are stricter than those of the change.
pub(crate) struct StricterTarget {
    branch: String,
    commit: CommitId,
    /// The stricter settings of the tip, by path.
    stricter: Vec<(String, Vec<String>)>,
    /// The rules that apply after the merge, if those of the change differ.
    rules: Option<RuleSet>,
    /// The changed pipelines, which are evaluated by these rules as well.
    changed: BTreeSet<String>,
}

/// The versions of a file: in the reviewed commit, at the tip, and at the bases.
struct TipSides<'s> {
    workspace: &'s Workspace<'s>,
    head: &'s Snapshot<'s>,
    tip: Snapshot<'s>,
    /// The platform's hidden directory at the tip.
    tip_folder: Option<String>,
    bases: Vec<Snapshot<'s>>,
}

impl Workspace<'_> {
    /// Returns whether the reviewed commit contains the tip; `false` if the clone cannot tell.
    fn contains_tip(&self, snapshot: &Snapshot<'_>, tip: &CommitId) -> Result<bool, Failure> {
        let head = match snapshot.commit() {
            Some(head) => head.clone(),
            None => self.repo.head()?.commit,
        };
        Ok(self.repo.contains(&head, tip)?)
    }

    /// Compares the gate configuration and the shared-pipelines file with the tip of the target: in a tag, a scheduled
    /// run or a push, of the default branch. Returns `None` if the commit contains the tip, and in a local run.
    pub(crate) fn find_stricter_target(
        &self,
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
        files: &GateFiles,
        selected: &Selected,
    ) -> Result<Option<StricterTarget>, Failure> {
        let PolicyTip::Commit { commit, branch, .. } = &self.target_tip else {
            return Ok(None);
        };
        let candidates = selected.candidates.iter().filter(|candidate| candidate.selected);
        let changed = candidates.map(|candidate| candidate.change.path.clone());
        let changed: BTreeSet<String> = changed.filter(|path| is_pipeline(path)).collect();
        if self.contains_tip(snapshot, commit)? {
            return Ok(None);
        }
        let tip = self.repo.snapshot(commit.clone());
        let tip_folder = match &self.named_folder {
            Some(name) => Some(name.clone()),
            None => folder_in(&tip)?.ok().flatten(),
        };
        let sides = TipSides {
            workspace: self,
            head: snapshot,
            tip,
            tip_folder,
            bases: bases
                .iter()
                .map(|base| self.repo.snapshot(base.clone()))
                .collect(),
        };
        let candidates = selected.candidates.iter();
        let touched = candidates
            .flat_map(|candidate| candidate.change.paths())
            .collect();
        let (stricter, rules) = (sides.stricter(files, &touched)?, sides.rules());
        if stricter.is_empty() && rules.is_none() {
            return Ok(None);
        }
        Ok(Some(StricterTarget {
            branch: branch.clone(),
            commit: commit.clone(),
            stricter,
            rules,
            changed,
        }))
    }
}

impl TipSides<'_> {
    /// Returns the stricter settings of the tip, by path.
    fn stricter(
        &self,
        files: &GateFiles,
        touched: &BTreeSet<&str>,
    ) -> Result<Vec<(String, Vec<String>)>, Failure> {
        let rules = self.path_at_tip(RULES_FILE);
        let named = self.workspace.config_file.clone();
        let settings = named.into_iter().chain([waivers::FILE_NAME.to_owned()]);
        let paths = settings
            .map(|path| (path, false))
            .chain(rules.map(|path| (path, true)));
        let mut found = Vec::new();
        for (path, or_other) in paths {
            let (head, tip, bases) = self.of(&path);
            let describe = |old: &GateFileVersion, new: &GateFileVersion| files.describe(&path, old, new);
            let said = describe_stricter_settings(
                MergeVersions {
                    head: &head,
                    tip: &tip,
                    bases: &bases,
                },
                &describe,
                or_other,
            );
            if !said.is_empty() {
                found.push((path, said));
            }
        }
        found.extend(self.folder()?);
        found.extend(self.shared(touched)?);
        Ok(found)
    }

    fn of(&self, path: &str) -> (GateFileVersion, GateFileVersion, Vec<GateFileVersion>) {
        let side = |snapshot: &Snapshot<'_>| self.workspace.side(snapshot, path);
        (
            side(self.head),
            side(&self.tip),
            self.bases.iter().map(side).collect(),
        )
    }

    /// Returns the path of one of the platform's files at the tip.
    fn path_at_tip(&self, file: &str) -> Option<String> {
        let folder = self.tip_folder.as_ref()?;
        Some(format!("{folder}/{file}"))
    }

    /// Returns the rules that apply after the merge, if those of the head differ.
    fn rules(&self) -> Option<RuleSet> {
        let (head, tip, bases) = self.of(&self.path_at_tip(RULES_FILE)?);
        let after = merge_rules(MergeVersions {
            head: &head,
            tip: &tip,
            bases: &bases,
        });
        after.map(|bytes| RuleSet::parse(&bytes))
    }

    /// Returns the hidden directory of the tip, if the target renamed it since the base.
    fn folder(&self) -> Result<Option<(String, Vec<String>)>, Failure> {
        let folder = |snapshot: &Snapshot<'_>| Ok::<_, Failure>(folder_in(snapshot)?.ok().flatten());
        let (Some(head), Some(tip)) = (folder(self.head)?, folder(&self.tip)?) else {
            return Ok(None);
        };
        let mut untouched = false;
        for base in &self.bases {
            untouched |= folder(base)?.as_ref() == Some(&head);
        }
        let said =
            format!("the platform's hidden directory is `{head}` in this change and `{tip}` in the target");
        Ok((head != tip && untouched).then(|| (tip, vec![said])))
    }

    /// Returns whether head and tip have the same shared-pipelines file, byte for byte, as is usual.
    fn has_same_shared_file(&self) -> bool {
        self.path_at_tip(SHARED_PIPELINES_FILE).is_some_and(|path| {
            self.workspace.side(self.head, &path) == self.workspace.side(&self.tip, &path)
        })
    }

    /// Returns the pipelines touched by the change that the tip shares differently than the change and its bases: after
    /// the merge, consumers use the tip's version.
    fn shared(&self, touched: &BTreeSet<&str>) -> Result<Option<(String, Vec<String>)>, Failure> {
        if self.has_same_shared_file() {
            return Ok(None);
        }
        let (repo, folder) = (&self.workspace.repo, self.workspace.named_folder.as_deref());
        let Loaded::Read(tip, _) = interface_version::read_interface(repo, &self.tip, folder)? else {
            return Ok(None);
        };
        let breaks = |snapshot: &Snapshot<'_>| {
            let found = between(repo, &self.tip, snapshot, folder)?;
            let changes = found.into_iter().flat_map(|found| found.changes);
            let breaking = changes.filter(|change| change.class == ChangeClass::Breaking);
            Ok::<_, Failure>(
                breaking
                    .filter_map(|change| change.id)
                    .collect::<BTreeSet<String>>(),
            )
        };
        let mut by_target = BTreeSet::new();
        for base in &self.bases {
            by_target.extend(breaks(base)?);
        }
        let missing: BTreeSet<String> = breaks(self.head)?.intersection(&by_target).cloned().collect();
        let entries = tip.offered_entries().filter(|entry| missing.contains(&entry.id));
        let entries = entries.filter(|entry| touched.contains(entry.pipeline.as_str()));
        let said = entries.map(|entry| {
            format!(
                "the file shares {}, which this change edits, moves or deletes, as `{}`",
                entry.pipeline, entry.id
            )
        });
        let said: Vec<String> = said.collect();
        Ok((!said.is_empty()).then(|| (tip.file.clone(), said)))
    }
}

impl StricterTarget {
    /// Removes the additional evaluation against the tip's rules, for a run that evaluates other rules than the
    /// project's.
    pub(crate) fn skip_rules(&mut self) {
        self.rules = None;
    }

    /// Returns whether the tip is certainly stricter; a different rules file alone may not be.
    pub(crate) fn is_stricter(&self) -> bool {
        !self.stricter.is_empty()
    }

    /// Returns a note for each file that is stricter at the tip.
    pub(crate) fn limits(&self) -> Vec<VerdictLimit> {
        let (branch, short) = (&self.branch, self.commit.short());
        let mut limits = Vec::new();
        for (path, differences) in &self.stricter {
            let text = format!(
                "`{branch}` ({short}) has a stricter {path} than this change, which started earlier: {}; \
                 merge `{branch}` to be reviewed by it",
                List::with_limit(differences, NAMED).with_semicolons()
            );
            limits.push(VerdictLimit {
                kind: LimitKind::StricterTip,
                path: Some(path.clone()),
                text,
            });
        }
        limits
    }

    /// Returns the note about the additional evaluation against the tip's rules, if there is one.
    pub(crate) fn evaluation_note(&self) -> Option<String> {
        (self.rules.is_some() && self.is_stricter() && !self.changed.is_empty()).then(|| {
            format!(
                "{} also evaluated locally by the rules of `{}` ({}), which apply after the merge",
                count(self.changed.len(), "changed pipeline"),
                self.branch,
                self.commit.short()
            )
        })
    }

    /// Adds the findings of the tip's rules in the changed pipelines; `path_of` returns the path of a pipeline in
    /// `snapshot`.
    pub(crate) fn add_findings(
        &self,
        repo: &Repository,
        snapshot: &Snapshot<'_>,
        path_of: &dyn Fn(&str) -> Option<String>,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let Some(rules) = &self.rules else {
            return Ok(());
        };
        let wanted: BTreeSet<String> = self.changed.iter().filter_map(|path| path_of(path)).collect();
        let files = snapshot.files(&|path| wanted.contains(path))?;
        let found = evaluate(repo, rules, files, &|_, _| {})?;
        let mut by_path: BTreeMap<String, FileResults> = std::mem::take(&mut tally.files)
            .into_iter()
            .map(|file| (file.path.clone(), file))
            .collect();
        for file in found.files {
            let failed = file
                .results
                .into_iter()
                .filter(|result| result.severity().is_some());
            let failed: Vec<RuleResult> = failed.map(|result| self.told(result)).collect();
            match by_path.get_mut(&file.path) {
                Some(known) => failed.into_iter().for_each(|result| take(known, result)),
                None if failed.is_empty() => {}
                None => {
                    let path = file.path.clone();
                    by_path.insert(
                        path.clone(),
                        FileResults {
                            path,
                            results: failed,
                        },
                    );
                }
            }
        }
        tally.files = by_path.into_values().collect();
        Ok(())
    }

    fn told(&self, mut result: RuleResult) -> RuleResult {
        for violation in &mut result.violations {
            violation.text = format!("{} (by the rules of `{}`)", violation.text, self.branch);
        }
        result
    }
}

/// Adds a result of the tip's rules to that of the change's own rules: keeps the more severe one, with the violations
/// of both.
fn take(file: &mut FileResults, found: RuleResult) {
    let Some(known) = file.results.iter_mut().find(|result| result.rule == found.rule) else {
        file.results.push(found);
        return;
    };
    if matches!(known.status, Status::Error(_)) {
        return;
    }
    if known.severity() < found.severity() {
        *known = found;
        return;
    }
    let is_known = |violation: &Violation| {
        let is_same =
            |other: &Violation| (&other.about, other.about_kind) == (&violation.about, violation.about_kind);
        violation.size.is_some() || known.violations.iter().any(is_same)
    };
    let new: Vec<Violation> = found.violations.into_iter().filter(|it| !is_known(it)).collect();
    known.violations.extend(new);
}
