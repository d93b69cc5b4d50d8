//! The waivers that hold in a run: read where the policy is read, held against what was found.

use crate::base::error::Failure;
use crate::base::git::Snapshot;
use crate::base::text::count;
use crate::commands::gate::workspace::Workspace;
use crate::gate::Tally;
use crate::job::context::PolicyTip;
use crate::job::policy::{self, Text};
use crate::model::findings::{FileResults, State};
use crate::model::pipelines::is_pipeline;
use crate::model::project::{CheckLevels, ProjectCheck};
use crate::model::rules::{self, RuleSet, RuleState};
use crate::model::waivers::{FILE_NAME, Former, PlacedWaiver, Standing, There, Waivers, read};
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};

/// The largest file that is read, in bytes.
pub(crate) const LIMIT: u64 = 16 * 1024 * 1024;

/// The most waivers that a note names.
const NAMED: usize = 3;

/// The waivers that hold in a run.
pub(crate) struct Waiving {
    waivers: Waivers,
    /// Why those of the checkout do not hold.
    note: Option<String>,
}

/// The day, as waivers count it.
pub(crate) fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

impl Workspace<'_> {
    /// The waivers, as the version of the file has them that counts. `rules` are those of what is judged.
    pub(crate) fn waiving(&self, rules: Option<&RuleSet>) -> Result<Waiving, Failure> {
        let file = policy::read(&self.repo, &self.policy, FILE_NAME, false, LIMIT)?;
        let note = file.missing.filter(|_| file.checkout.is_some());
        let note = note.map(|why| format!("{why}, so no waiver of the checkout's file holds. For this one change the job can say --policy head (SLUICEGATE_POLICY)"));
        let placed = match &file.counts {
            Some(text) => self.placed(text, rules)?,
            None => Vec::new(),
        };
        Ok(Waiving {
            waivers: held(placed, FILE_NAME)?,
            note,
        })
    }

    /// Whether there is a rule of an id: one of the program, of the rules file, or of the one of the branch that the change
    /// goes to, as who removes a rule there can remove its waivers only afterwards.
    pub(crate) fn known_rules<'r>(
        &self,
        rules: Option<&'r RuleSet>,
    ) -> Result<impl Fn(&str) -> bool + use<'r>, Failure> {
        let base = match &self.policy {
            PolicyTip::At { commit, .. } => self.rules(&self.repo.snapshot(commit.clone()))?,
            PolicyTip::Head { .. } | PolicyTip::Unknown { .. } => None,
        };
        Ok(move |id: &str| {
            let files = [rules, base.as_ref()];
            let has = |rules: &RuleSet| !matches!(rules.state(id), RuleState::NotThere);
            rules::find(id).is_some()
                || ProjectCheck::find(id).is_some()
                || files.into_iter().flatten().any(has)
        })
    }

    /// The entries of a version of the file.
    pub(crate) fn placed(&self, text: &Text, rules: Option<&RuleSet>) -> Result<Vec<PlacedWaiver>, Failure> {
        let knows = self.known_rules(rules)?;
        read(text.text.as_bytes(), &knows).map_err(|error| {
            let place = error.position.map(|at| format!(":{}:{}", at.line, at.column));
            let message = format!("{}{}: {}", text.name, place.unwrap_or_default(), error.message);
            Failure::usage(message).hint(
                "a waiver is one line: `- { rule: unused-components, path: sales/load.orch.yaml, reason: legacy }`",
            )
        })
    }
}

/// The waivers of these entries of the file of this name.
pub(crate) fn held(placed: Vec<PlacedWaiver>, name: &str) -> Result<Waivers, Failure> {
    let entries = placed.into_iter().map(|placed| placed.entry).collect();
    Waivers::new(entries)
        .map_err(|why| Failure::usage(format!("{name}: its globs cannot be used together: {why}")))
}

/// How each waiver stands, over all pipelines of the snapshot.
pub(crate) fn standings(
    waivers: &Waivers,
    snapshot: &Snapshot<'_>,
    tally: &mut Tally,
    former: &Former,
    is_whole: bool,
) -> Result<Vec<Standing>, Failure> {
    let today = today();
    let met = tally.with_all(|files| waivers.mark(files, former, today));
    let there = snapshot.files(&|path| waivers.is_about(path))?;
    let there = there.into_iter().map(|file| file.path);
    let (pipelines, others) = there.partition(|path| is_pipeline(path));
    let there = There {
        pipelines,
        others,
        is_whole,
        checked: tally.checked.unwrap_or(CheckLevels::OFF),
    };
    Ok(tally.with_all(|files| waivers.standings(&met, files, &there, today)))
}

impl Waiving {
    /// Marks what is allowed; what is not needed any more is a note.
    pub(crate) fn mark(
        &self,
        snapshot: &Snapshot<'_>,
        former: &Former,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        tally.notes.extend(self.note.clone());
        if self.waivers.entries().is_empty() {
            return Ok(());
        }
        let standings = standings(&self.waivers, snapshot, tally, former, false)?;
        tally.notes.extend(told(&self.waivers, &standings));
        let by_former = tally.with_all(|files| self.by_former_path(former, files));
        tally.notes.extend(by_former);
        Ok(())
    }

    /// A note on the waivers that hold by a path that is gone: after the merge nothing is known of it any more.
    fn by_former_path(&self, former: &Former, files: &[FileResults]) -> Option<String> {
        let is_waived = |file: &&FileResults| {
            let mut findings = file.results.iter().flat_map(|result| result.findings(&file.path));
            findings.any(|finding| finding.state == Some(State::Waived))
        };
        let by_former = files.iter().filter(is_waived).filter_map(|file| {
            let was = former.get(&file.path)?;
            let holds = |path: &str| self.waivers.is_about(path);
            (holds(was) && !holds(&file.path)).then(|| format!("{was} → {}", file.path))
        });
        let mut moved: Vec<String> = by_former.collect();
        let all = moved.len();
        if all == 0 {
            return None;
        }
        if all > NAMED {
            moved.truncate(NAMED);
            moved.push(format!("and {} more", all - NAMED));
        }
        Some(format!(
            "waivers of {FILE_NAME} hold by the former path of {}: change their `path` in this change, or they end with its merge ({})",
            count(all, "renamed pipeline"),
            moved.join("; ")
        ))
    }
}

/// What is said of the waivers that nothing needs any more.
fn told(waivers: &Waivers, standings: &[Standing]) -> Option<String> {
    let vain = waivers
        .entries()
        .iter()
        .zip(standings)
        .filter(|(_, standing)| standing.is_vain());
    let over = vain.clone().filter(|(_, standing)| standing.is_over).count();
    let mut named: Vec<String> = vain.clone().map(|(entry, _)| entry.in_words()).collect();
    let all = named.len();
    if all == 0 {
        return None;
    }
    if all > NAMED {
        named.truncate(NAMED);
        named.push(format!("and {} more", all - NAMED));
    }
    let unused = all - over;
    let parts = [(unused, "without a finding"), (over, "expired")];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} {what}"))
        .collect();
    Some(format!(
        "{} of {FILE_NAME} can go: {} ({}); `sluicegate waivers prune` removes what is not needed",
        count(all, "waiver"),
        parts.join(", "),
        named.join("; "),
    ))
}
