//! Reads the waivers in force from the policy's version of the file, and applies them to the findings.

use crate::error::Failure;
use crate::gate::Tally;
use crate::gate::run::GateRun;
use crate::job::context::PolicyTip;
use crate::job::policy::{CheckoutFiles, GateFileReader, NamedText, UnusableFile};
use crate::workspace::Workspace;
use crate::workspace::gate_files::WAIVERS_SIZE_LIMIT;
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};
use sluicegate_base::text::{List, count};
use sluicegate_git::Snapshot;
use sluicegate_pipelines::findings::{FileResults, FindingState, LimitKind, VerdictLimit};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_pipelines::project::{CheckLevels, ProjectCheck};
use sluicegate_pipelines::rules::{self, RuleSet, RuleState};
use sluicegate_pipelines::waivers::{
    ExistingFiles, FILE_NAME, OldNames, PlacedWaiver, WaiverEntry, WaiverStatus, Waivers, read_waivers,
};

/// Maximum number of waivers in a note.
const NAMED: usize = 3;

/// The waivers in force in a run.
pub(crate) struct ActiveWaivers {
    waivers: Waivers,
    /// Why those of the checkout are not in force.
    note: Option<String>,
}

/// Returns the current date in UTC, by which waivers expire.
pub(crate) fn today() -> Date {
    Timestamp::now().to_zoned_datetime(TimeZone::UTC).date()
}

impl Workspace<'_> {
    /// Returns the waivers from the version of the file in force. `rules` are those of the reviewed files. In CI, a file
    /// that cannot be used has no waivers.
    pub(crate) fn waiving(&self, rules: Option<&RuleSet>) -> Result<ActiveWaivers, Failure> {
        let on_unusable = self.on_unusable();
        let reader = GateFileReader {
            repo: &self.repo,
            tip: &self.policy,
            checkout: CheckoutFiles::for_run(&self.repo, Some(&self.ci))?,
            on_unusable,
        };
        let file = reader.read(FILE_NAME, false, WAIVERS_SIZE_LIMIT)?;
        if let Some(reason) = file.unusable_reason {
            return ActiveWaivers::without_file(&reason);
        }
        let note = file.missing_reason.filter(|_| file.checkout.is_some());
        let note = note.map(|why| {
            format!(
                "{why}, so the waivers of the checkout's file are not in force. For this one change, the job can set \
                 --policy head (SLUICEGATE_POLICY)"
            )
        });
        let placed = match &file.effective {
            Some(text) => self.placed(text, rules),
            None => Ok(Vec::new()),
        };
        match placed.and_then(|placed| held(placed, FILE_NAME)) {
            Ok(waivers) => Ok(ActiveWaivers { waivers, note }),
            Err(failure) if on_unusable == UnusableFile::TreatAsMissing => {
                ActiveWaivers::without_file(&failure.chain())
            }
            Err(failure) => Err(failure),
        }
    }

    /// Returns whether a rule id exists: in the program, in the rules file, or in the rules file of the target branch,
    /// because a removed rule's waivers can be removed only afterwards.
    pub(crate) fn known_rules<'r>(
        &self,
        rules: Option<&'r RuleSet>,
    ) -> Result<impl Fn(&str) -> bool + use<'r>, Failure> {
        let base = match &self.policy {
            PolicyTip::Commit { commit, .. } => self.rules(&self.repo.snapshot(commit.clone()))?,
            PolicyTip::Head { .. } | PolicyTip::Unknown { .. } => None,
        };
        Ok(move |id: &str| {
            let files = [rules, base.as_ref()];
            let has = |rules: &RuleSet| !matches!(rules.state(id), RuleState::Missing);
            rules::find_rule(id).is_some()
                || ProjectCheck::find(id).is_some()
                || files.into_iter().flatten().any(has)
        })
    }

    /// Returns the entries of a version of the file.
    pub(crate) fn placed(
        &self,
        text: &NamedText,
        rules: Option<&RuleSet>,
    ) -> Result<Vec<PlacedWaiver>, Failure> {
        let knows = self.known_rules(rules)?;
        read_waivers(text.text.as_bytes(), &knows).map_err(|error| {
            let place = error.position.map(|at| format!(":{}:{}", at.line, at.column));
            let message = format!("{}{}: {}", text.name, place.unwrap_or_default(), error.message);
            Failure::usage(message).hint(
                "a waiver is one line: `- { rule: unused-components, path: sales/load.orch.yaml, reason: legacy }`",
            )
        })
    }
}

impl GateRun<'_> {
    /// Marks the waived findings, also those of pipelines and components that the change renames.
    pub(crate) fn mark_waived(&self, waivers: &ActiveWaivers, tally: &mut Tally) -> Result<(), Failure> {
        let mut former = OldNames {
            // A waiver at an excluded path allowed nothing.
            paths: self.selection.selected.reviewed_former_paths(),
            ..OldNames::default()
        };
        if !waivers.is_empty() {
            let components = self.renamed_components();
            let has_subject = |file: &&FileResults| {
                let violations = file.results.iter().flat_map(|result| &result.violations);
                violations.into_iter().any(|violation| violation.about.is_some())
            };
            for file in tally.all_files().filter(has_subject) {
                let renamed = components.of_file(&file.path)?;
                if !renamed.is_empty() {
                    former.components.insert(file.path.clone(), renamed);
                }
            }
        }
        waivers.mark(&self.subject.snapshot, &former, tally)
    }
}

/// Returns the waivers of these entries of the named file.
pub(crate) fn held(placed: Vec<PlacedWaiver>, name: &str) -> Result<Waivers, Failure> {
    let entries = placed.into_iter().map(|placed| placed.entry).collect();
    Waivers::new(entries).map_err(|why| Failure::usage(format!("{name}: could not combine the globs: {why}")))
}

/// Returns the state of each waiver, over all pipelines of the snapshot.
pub(crate) fn standings(
    waivers: &Waivers,
    snapshot: &Snapshot<'_>,
    tally: &mut Tally,
    former: &OldNames,
    is_whole: bool,
) -> Result<Vec<WaiverStatus>, Failure> {
    let today = today();
    let met = tally.with_all(|files| waivers.mark_findings(files, former, today));
    let there = snapshot.files(&|path| waivers.matches_path(path))?;
    let there = there.into_iter().map(|file| file.path);
    let (pipelines, others) = there.partition(|path| is_pipeline(path));
    let there = ExistingFiles {
        pipelines,
        other_files: others,
        is_complete: is_whole,
        check_levels: tally.checked.unwrap_or(CheckLevels::ALL_OFF),
    };
    Ok(tally.with_all(|files| waivers.statuses(&met, files, &there, today)))
}

impl ActiveWaivers {
    /// Returns no waivers, with a note why the file in force cannot be used.
    fn without_file(reason: &str) -> Result<Self, Failure> {
        Ok(Self {
            waivers: held(Vec::new(), FILE_NAME)?,
            note: Some(format!(
                "the waivers file in force cannot be used, so it is treated as missing, and no finding is waived: {reason}"
            )),
        })
    }

    /// Marks waived findings; adds a note about waivers that are no longer needed.
    pub(crate) fn mark(
        &self,
        snapshot: &Snapshot<'_>,
        former: &OldNames,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        if let Some(note) = &self.note {
            tally.add_limit(VerdictLimit {
                kind: LimitKind::NotInForce,
                path: Some(FILE_NAME.to_owned()),
                text: note.clone(),
            });
        }
        if self.waivers.entries().is_empty() {
            return Ok(());
        }
        let standings = standings(&self.waivers, snapshot, tally, former, false)?;
        tally.notes.extend(told(&self.waivers, &standings));
        let by_former = tally.with_all(|files| self.by_former_path(former, files));
        tally.notes.extend(by_former);
        let by_former = tally.with_all(|files| self.by_former_names(former, files));
        tally.notes.extend(by_former);
        Ok(())
    }

    /// Returns whether there is no waiver.
    pub(crate) fn is_empty(&self) -> bool {
        self.waivers.entries().is_empty()
    }

    /// Returns a note about waivers that match only by the former name of a renamed component, which is unknown after
    /// the merge.
    fn by_former_names(&self, former: &OldNames, files: &[FileResults]) -> Option<String> {
        let mut lines: Vec<String> = Vec::new();
        for file in files {
            let Some(renamed) = former.components.get(&file.path) else {
                continue;
            };
            let findings = file.results.iter().flat_map(|result| result.findings(&file.path));
            for finding in findings.filter(|finding| finding.state == Some(FindingState::Waived)) {
                let Some((new, old)) = finding.about.and_then(|name| renamed.get_key_value(name)) else {
                    continue;
                };
                let mut entries = self.waivers.entries().iter();
                let is_about_old = |entry: &&WaiverEntry| {
                    entry.rule == finding.rule && entry.about.as_deref() == Some(old.as_str())
                };
                lines.extend(entries.find(is_about_old).map(|entry| {
                    let renamed_entry = WaiverEntry {
                        about: Some(new.clone()),
                        ..entry.clone()
                    };
                    format!("`- {renamed_entry}` instead of `about: {old}`")
                }));
            }
        }
        lines.sort();
        lines.dedup();
        let all = lines.len();
        (all > 0).then(|| {
            format!(
                "{} of {FILE_NAME} match by the former name of a component: write the new name in this change, or \
                 they stop matching after its merge: {}",
                count(all, "waiver"),
                List::with_limit(&lines, NAMED)
            )
        })
    }

    /// Returns a note about waivers that match only by the former path of a renamed file, which is unknown after the
    /// merge.
    fn by_former_path(&self, former: &OldNames, files: &[FileResults]) -> Option<String> {
        let is_waived = |file: &&FileResults| {
            let mut findings = file.results.iter().flat_map(|result| result.findings(&file.path));
            findings.any(|finding| finding.state == Some(FindingState::Waived))
        };
        let by_former = files.iter().filter(is_waived).filter_map(|file| {
            let was = former.paths.get(&file.path)?;
            let holds = |path: &str| self.waivers.matches_path(path);
            (holds(was) && !holds(&file.path)).then(|| format!("{was} → {}", file.path))
        });
        let moved: Vec<String> = by_former.collect();
        if moved.is_empty() {
            return None;
        }
        Some(format!(
            "waivers of {FILE_NAME} match by the former path of {}: update their `path` in this change, or they stop \
             matching after its merge ({})",
            count(moved.len(), "renamed pipeline"),
            List::with_limit(&moved, NAMED).with_semicolons()
        ))
    }
}

/// Returns a note about waivers that are no longer needed.
fn told(waivers: &Waivers, standings: &[WaiverStatus]) -> Option<String> {
    let vain = waivers
        .entries()
        .iter()
        .zip(standings)
        .filter(|(_, standing)| standing.is_unneeded());
    let over = vain.clone().filter(|(_, standing)| standing.is_expired).count();
    let all = vain.clone().count();
    if all == 0 {
        return None;
    }
    let unused = all - over;
    let parts = [(unused, "without a finding"), (over, "expired")];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} {what}"))
        .collect();
    Some(format!(
        "{} of {FILE_NAME} can be removed: {} ({}); run `sluicegate waivers prune` to remove unneeded waivers",
        count(all, "waiver"),
        parts.join(", "),
        List::with_limit(vain, NAMED)
            .map(|(entry, _)| entry.describe())
            .with_semicolons(),
    ))
}
