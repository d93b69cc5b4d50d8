//! Reads the waivers from the policy revision's file, and applies them to the findings.

use crate::error::Failure;
use crate::gate::RunFindings;
use crate::gate::reviewed_waivers::ReviewedWaivers;
use crate::gate::run::GateRun;
use crate::job::cli::GateChanges;
use crate::job::context::PolicyRevision;
use crate::job::policy::{
    CheckoutFiles, FilePresence, GateFileReader, GateFileVersion, NamedText, UNUSABLE_POLICY_FILE,
    UnusableFile,
};
use crate::workspace::Workspace;
use crate::workspace::gate_files::MAX_WAIVERS_BYTES;
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};
use sluicegate_base::text::format_count;
use sluicegate_git::{CommitId, Snapshot};
use sluicegate_pipelines::findings::{LimitKind, RenamedSubjects, VerdictLimit};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_pipelines::project::{CheckLevels, ProjectCheck};
use sluicegate_pipelines::rules::{self, RuleSet, RuleState};
use sluicegate_pipelines::team_rules::is_team_rule_id;
use sluicegate_pipelines::waivers::{
    ExistingFiles, FILE_NAME, OldNames, PlacedWaiver, WaiverEntry, WaiverStatus, Waivers, parse_waivers_file,
};
use sluicegate_yaml::format_place;
use std::collections::BTreeSet;

/// The waivers that a run applies: those of the policy revision.
pub(crate) struct PolicyWaivers {
    pub(super) waivers: Waivers,
    pub(super) reviewed_waivers: ReviewedWaivers,
    /// Why no waivers file is applied; `None` if one is, or if there is none.
    unused_file: Option<UnusedWaiversFile>,
    /// Whether the job refuses a change that edits the waivers together with other files.
    pub(super) needs_separate_edit: bool,
    /// The day of the run, by which waivers expire. Taken once, so that marks and notes agree.
    pub(super) today: Date,
}

/// A waivers file that is not applied, with a sentence that states why.
enum UnusedWaiversFile {
    /// Only the checkout has the file.
    OnlyInCheckout(String),
    /// The file of the policy revision cannot be used.
    Unusable(String),
}

/// Returns the current date in UTC, by which waivers expire.
pub(crate) fn today() -> Date {
    Timestamp::now().to_zoned_datetime(TimeZone::UTC).date()
}

impl Workspace<'_> {
    /// Reads the waivers from the waivers file of the policy revision, not from that of the checkout. `rules` are the
    /// reviewed rules, because a waiver must name a known rule. In CI, a file that cannot be used is treated as
    /// missing. If only the checkout has the file, a note says that its waivers are not used. The file of `snapshot`,
    /// the reviewed version, and those of `bases` only show which notes are still needed.
    pub(crate) fn read_policy_waivers(
        &self,
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
        rules: Option<&RuleSet>,
    ) -> Result<PolicyWaivers, Failure> {
        let on_unusable = self.unusable_file_treatment();
        let reader = GateFileReader {
            repo: &self.repo,
            policy_revision: &self.policy_revision,
            checkout: CheckoutFiles::for_run(&self.repo, Some(&self.ci), &self.local_files)?,
            on_unusable,
        };
        let file = reader.read_file(FILE_NAME, FilePresence::Optional, MAX_WAIVERS_BYTES)?;
        if let Some(reason) = file.unusable_reason() {
            return Ok(PolicyWaivers::for_unusable_file(reason));
        }
        // The policy revision lacks the file, but the checkout has it.
        let unused_reason = file.missing_reason().filter(|_| file.checkout_text.is_some());
        let parsed_waivers = match file.policy_text() {
            Some(text) => self.parse_waivers(text, rules),
            None => Ok(Vec::new()),
        };
        match parsed_waivers.and_then(|waivers| build_waivers(waivers, FILE_NAME)) {
            Ok(waivers) => Ok(PolicyWaivers {
                waivers,
                reviewed_waivers: self.read_reviewed_waivers(snapshot, bases),
                unused_file: unused_reason
                    .map(|reason| UnusedWaiversFile::OnlyInCheckout(describe_unused_waivers(reason))),
                needs_separate_edit: self.gate_changes == GateChanges::Fail,
                today: today(),
            }),
            Err(failure) if on_unusable == UnusableFile::TreatAsMissing => {
                Ok(PolicyWaivers::for_unusable_file(&failure.describe_on_one_line()))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Returns whether the waivers file that applies to the run cannot be used.
    pub(crate) fn has_unusable_waivers(&self, snapshot: &Snapshot<'_>) -> bool {
        let rules = self.read_rules_at(snapshot).ok().flatten();
        // The bases decide about notes alone.
        self.read_policy_waivers(snapshot, &[], rules.as_ref())
            .is_ok_and(|waivers| waivers.unusable_note().is_some())
    }

    /// Reads the waivers of the reviewed version. Every rule id is accepted, because these waivers are not applied.
    fn read_reviewed_waivers(&self, snapshot: &Snapshot<'_>, bases: &[CommitId]) -> ReviewedWaivers {
        let PolicyRevision::Commit { branch, .. } = &self.policy_revision else {
            return ReviewedWaivers::Unchanged;
        };
        let bytes = match self.read_linked_gate_file(snapshot, FILE_NAME) {
            GateFileVersion::Missing if self.has_waivers_file(bases) => return ReviewedWaivers::Removed,
            GateFileVersion::Missing => {
                return ReviewedWaivers::NotMerged {
                    policy_branch: branch.clone(),
                };
            }
            GateFileVersion::Unreadable(_) => return ReviewedWaivers::Unchanged,
            GateFileVersion::Text(bytes) => bytes,
        };
        let Ok(placed_waivers) = parse_waivers_file(&bytes, &|_| true) else {
            return ReviewedWaivers::Unchanged;
        };
        let mut added_waivers = placed_waivers.clone();
        for base in bases {
            let base_version = self.read_linked_gate_file(&self.repo.snapshot(base.clone()), FILE_NAME);
            let base_waivers = match &base_version {
                GateFileVersion::Text(bytes) => parse_waivers_file(bytes, &|_| true).unwrap_or_default(),
                GateFileVersion::Missing | GateFileVersion::Unreadable(_) => Vec::new(),
            };
            let base_entries: BTreeSet<&WaiverEntry> =
                base_waivers.iter().map(|waiver| &waiver.entry).collect();
            added_waivers.retain(|waiver| !base_entries.contains(&waiver.entry));
        }
        match (
            build_waivers(placed_waivers, FILE_NAME),
            build_waivers(added_waivers, FILE_NAME),
        ) {
            (Ok(waivers), Ok(added_waivers)) => ReviewedWaivers::new(waivers, added_waivers),
            _ => ReviewedWaivers::Unchanged,
        }
    }

    /// Returns whether one of these commits has a waivers file.
    fn has_waivers_file(&self, commits: &[CommitId]) -> bool {
        commits.iter().any(|commit| {
            let version = self.read_linked_gate_file(&self.repo.snapshot(commit.clone()), FILE_NAME);
            !matches!(version, GateFileVersion::Missing)
        })
    }

    /// Returns a function that determines whether a rule id exists: in the program, in the rules file, in the team's
    /// rules, or in the rules file of the policy revision. The last file is included because the waivers of the policy
    /// revision may still name a rule that the change removes. Each id of a team rule is accepted if the team's file is
    /// not read.
    pub(crate) fn build_rule_lookup<'r>(
        &self,
        rules: Option<&'r RuleSet>,
    ) -> Result<impl Fn(&str) -> bool + use<'r>, Failure> {
        let policy_rules = match &self.policy_revision {
            PolicyRevision::Commit { commit, .. } => {
                self.read_rules_at(&self.repo.snapshot(commit.clone()))?
            }
            PolicyRevision::Head { .. } | PolicyRevision::Unknown { .. } => None,
        };
        let team_rules = self.list_known_team_rules()?;
        let accepts_any_team_rule = self.has_unread_team_rules(self.team_rules_path.as_deref());
        Ok(move |id: &str| {
            let files = [rules, policy_rules.as_ref()];
            let has_rule = |rules: &RuleSet| !matches!(rules.state(id), RuleState::Missing);
            rules::find_rule(id).is_some()
                || ProjectCheck::find_by_id(id).is_some()
                || team_rules.iter().any(|rules| rules.has_rule(id))
                || (accepts_any_team_rule && is_team_rule_id(id))
                || files.into_iter().flatten().any(has_rule)
        })
    }

    /// Parses a version of the waivers file. The error names the version and the position.
    pub(crate) fn parse_waivers(
        &self,
        text: &NamedText,
        rules: Option<&RuleSet>,
    ) -> Result<Vec<PlacedWaiver>, Failure> {
        let is_known_rule = self.build_rule_lookup(rules)?;
        parse_waivers_file(text.text.as_bytes(), &is_known_rule).map_err(|error| {
            let message = format!("{}: {}", format_place(&text.name, error.position), error.message);
            Failure::usage(message).with_hint(
                "correct the file; a waiver is one line, such as `- { rule: unused-components, path: \
                 sales/load.orch.yaml, reason: legacy }`, and `sluicegate rules list` lists the rules",
            )
        })
    }
}

impl GateRun<'_> {
    /// Marks the findings that the waivers allow as waived, and adds notes about the waivers. A pipeline or component
    /// that the change renames is also matched by its old name.
    pub(crate) fn mark_waived(
        &self,
        waivers: &PolicyWaivers,
        run_findings: &mut RunFindings,
    ) -> Result<(), Failure> {
        let mut old_names = OldNames {
            // At a path that the globs exclude, no rule was enforced, so a waiver there did not allow anything.
            paths: self.selection.pipelines.map_reviewed_old_paths(),
            ..OldNames::default()
        };
        if !waivers.is_empty() {
            let components = self.renamed_components();
            for file in run_findings.all_files() {
                // Old names only matter for violations that name a component.
                let mut violations = file.results.iter().flat_map(|result| &result.violations);
                if violations.all(|violation| violation.about.is_none()) {
                    continue;
                }
                let renamed_subjects = components.find_in_file(&file.path)?;
                if !renamed_subjects.is_empty() {
                    let path = file.path.clone();
                    old_names
                        .components
                        .insert(path, RenamedSubjects::clone(&renamed_subjects));
                }
            }
        }
        let is_complete_review = self.selects_all_pipelines();
        waivers.apply(
            &self.subject.snapshot,
            &old_names,
            is_complete_review,
            run_findings,
        )
    }
}

/// Describes that the waivers in the checkout's file are not used, because the policy revision has no waivers file.
/// `reason` states why it has none.
fn describe_unused_waivers(reason: &str) -> String {
    format!(
        "{reason}, so the waivers in the checkout's file are not used. For this one change, the job can set \
         --policy head (SLUICEGATE_POLICY)"
    )
}

/// Compiles the entries of a waivers file, so that findings can be matched with them. The error names the file.
pub(crate) fn build_waivers(placed_waivers: Vec<PlacedWaiver>, file_name: &str) -> Result<Waivers, Failure> {
    let entries = placed_waivers.into_iter().map(|waiver| waiver.entry).collect();
    Waivers::new(entries).map_err(|error| Failure::usage(format!("{file_name}: {error}")))
}

/// Marks the findings that the waivers allow. Returns the status of each waiver, which shows whether it is still
/// needed. `is_complete_review` states that all pipelines of the snapshot were reviewed. Waivers expire by `today`.
pub(crate) fn apply_waivers(
    waivers: &Waivers,
    snapshot: &Snapshot<'_>,
    run_findings: &mut RunFindings,
    old_names: &OldNames,
    is_complete_review: bool,
    today: Date,
) -> Result<Vec<WaiverStatus>, Failure> {
    let matches = run_findings.with_all_files(|files| waivers.mark_findings(files, old_names, today));
    let (pipeline_paths, other_paths) = snapshot
        .list_files(&|path| waivers.matches_path(path))?
        .into_iter()
        .map(|file| file.path)
        .partition(|path| is_pipeline(path));
    let existing_files = ExistingFiles {
        pipelines: pipeline_paths,
        // Rules do not evaluate these files, so a waiver that matches only such a file may still be needed.
        other_files: other_paths,
        is_complete: is_complete_review,
        // The levels are missing if the project checks did not run.
        check_levels: run_findings.check_levels.unwrap_or(CheckLevels::ALL_OFF),
    };
    Ok(
        run_findings
            .with_all_files(|files| waivers.compute_statuses(&matches, files, &existing_files, today)),
    )
}

impl PolicyWaivers {
    /// Creates an empty set of waivers. A note states the reason why the waivers file cannot be used.
    fn for_unusable_file(reason: &str) -> Self {
        Self {
            waivers: Waivers::default(),
            reviewed_waivers: ReviewedWaivers::Unchanged,
            unused_file: Some(UnusedWaiversFile::Unusable(format!(
                "the waivers file {UNUSABLE_POLICY_FILE}, so it is treated as missing, and no finding is waived: {reason}"
            ))),
            needs_separate_edit: false,
            today: today(),
        }
    }

    /// Returns the note that the waivers file that applies to the run cannot be used; `None` if it can, or if there is
    /// none.
    pub(crate) fn unusable_note(&self) -> Option<&str> {
        match &self.unused_file {
            Some(UnusedWaiversFile::Unusable(note)) => Some(note),
            Some(UnusedWaiversFile::OnlyInCheckout(_)) | None => None,
        }
    }

    /// Returns the number of waivers.
    pub(crate) fn count(&self) -> usize {
        self.waivers.entries().len()
    }

    /// Marks the findings that these waivers allow, and adds notes about waivers that can be removed or must be
    /// changed. If the waivers file is not used, also notes that the verdict is limited, and why.
    pub(crate) fn apply(
        &self,
        snapshot: &Snapshot<'_>,
        old_names: &OldNames,
        is_complete_review: bool,
        run_findings: &mut RunFindings,
    ) -> Result<(), Failure> {
        if let Some(UnusedWaiversFile::OnlyInCheckout(note) | UnusedWaiversFile::Unusable(note)) =
            &self.unused_file
        {
            run_findings.add_limit(VerdictLimit {
                kind: LimitKind::NotInForce,
                path: Some(FILE_NAME.to_owned()),
                text: note.clone(),
            });
        }
        if self.waivers.entries().is_empty() {
            return Ok(());
        }
        let statuses = apply_waivers(
            &self.waivers,
            snapshot,
            run_findings,
            old_names,
            is_complete_review,
            self.today,
        )?;
        let notes =
            run_findings.with_all_files(|files| self.describe_needed_edits(&statuses, old_names, files));
        run_findings.notes.extend(notes);
        Ok(())
    }

    /// Adds a note about the findings that only waivers of this change allow. Call this after known findings are
    /// marked. If the policy has no waivers file, the limit of the verdict contains the reason already.
    pub(crate) fn add_unmerged_waivers_note(&self, run_findings: &mut RunFindings) {
        if self.unused_file.is_some() {
            return;
        }
        let finding_count = run_findings
            .all_files()
            .flat_map(|file| file.results.iter().flat_map(|result| result.findings(&file.path)))
            .filter(|finding| {
                finding.is_counted() && self.reviewed_waivers.adds_waiver_for(finding, self.today)
            })
            .count();
        if finding_count > 0 {
            run_findings.notes.push(format!(
                "{} of this change {} not waived: the change itself adds the waivers to {FILE_NAME}, and waivers apply \
                 only after their merge; merge them first, in a separate change",
                format_count(finding_count, "finding"),
                if finding_count == 1 { "is" } else { "are" },
            ));
        }
    }

    /// Returns whether there is no waiver.
    pub(crate) fn is_empty(&self) -> bool {
        self.waivers.entries().is_empty()
    }
}
