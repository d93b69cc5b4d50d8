//! The local engine: evaluates the rules on this machine.

use crate::error::Failure;
use crate::gate::baseline::Baseline;
use crate::gate::check_rules::CheckRules;
use crate::gate::evaluation::Judged;
use crate::gate::project_checks::{ProjectChecking, ProjectRun};
use crate::gate::selection::Chosen;
use crate::gate::stricter_target::Outdated;
use crate::gate::{Judgement, Places, SeenFacts, Tally, evaluate, list_failed_files};
use crate::job::cli::FailOn;
use crate::model::pipelines::RULES_FILE;
use crate::model::rules::RuleSet;
use crate::session::Run;
use sluicegate_base::text::count;
use sluicegate_git::{CommitId, Repository};
use std::collections::HashSet;

/// Evaluates these files of the snapshot locally, with these rules.
pub(crate) fn judge(
    run: &Run,
    chosen: &Chosen,
    project: &ProjectRun<'_>,
    check_rules: &CheckRules,
    fail_on: FailOn,
    past: Option<&Baseline>,
) -> Result<Judged, Failure> {
    let ProjectChecking {
        workspace, snapshot, ..
    } = project.project;
    let (repo, selected) = (&workspace.repo, &chosen.selected);
    let files = &selected.files;
    let what = count(files.len(), "pipeline");
    run.ui.say(&format!("checking {what} of {}", snapshot.name()));
    let missing_rules;
    let (rules, missing) = if let Some(rules) = check_rules.rule_set() {
        (rules, None)
    } else {
        missing_rules = workspace.missing_rules(snapshot)?;
        (&missing_rules, workspace.named_folder.as_ref())
    };
    let waiving = workspace.waiving(check_rules.rule_set())?;
    let wanted: HashSet<&str> = files.iter().map(String::as_str).collect();
    let files = snapshot.files(&|path| wanted.contains(path))?;
    let seen = SeenFacts::default();
    let mut tally = evaluate(repo, rules, files, &|path, pipeline| seen.see(path, pipeline))?;
    if let Some(outdated) = &chosen.outdated {
        outdated.add(
            repo,
            snapshot,
            &|path| wanted.contains(path).then(|| path.to_owned()),
            &mut tally,
        )?;
    }
    project.add(project.found(seen)?, &mut tally);
    project.waive(&waiving, &mut tally)?;
    tally.notes.extend(check_rules.note());
    tally.notes.extend(missing.map(|folder| {
        let place = snapshot.name();
        format!("`{folder}/{RULES_FILE}` is missing in {place}; `{folder}` is the configured directory")
    }));
    if let Some(past) = past {
        past.compare(repo, snapshot, &mut tally, |tally, base| {
            let judged = tally.files.iter().map(|file| file.path.as_str());
            let places = past.places(base, snapshot, judged)?;
            let before = at_base(repo, rules, base, &places)?;
            with_tip(repo, chosen.outdated.as_ref(), base, (places, before))
        })?;
        project.mark_known(past, &mut tally)?;
    }
    project.mark_consequences(&mut tally)?;
    Ok(Judged::from(Judgement::new(tally, fail_on)))
}

/// Adds the findings of the target's tip rules in the files, at their paths in the base.
pub(crate) fn with_tip(
    repo: &Repository,
    outdated: Option<&Outdated>,
    base: &CommitId,
    (places, mut before): (Places, Tally),
) -> Result<(Places, Tally), Failure> {
    if let Some(outdated) = outdated {
        let snapshot = repo.snapshot(base.clone());
        outdated.add(repo, &snapshot, &|path| places.of(path), &mut before)?;
    }
    Ok((places, before))
}

/// Evaluates the files with these rules, at their paths in the base.
pub(crate) fn at_base(
    repo: &Repository,
    rules: &RuleSet,
    base: &CommitId,
    places: &Places,
) -> Result<Tally, Failure> {
    let wanted = places.at_base();
    let files = repo.snapshot(base.clone()).files(&|path| wanted.contains(path))?;
    let mut tally = evaluate(repo, rules, files, &|_, _| {})?;
    tally.failed_batches = list_failed_files(&tally.files);
    Ok(tally)
}
