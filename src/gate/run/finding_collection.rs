//! Collects the findings of a run, and their fixes.

use super::{GateRun, ReviewEngine};
use crate::error::Failure;
use crate::gate::changes::change_list::has_output;
use crate::gate::evaluation::Evaluation;
use crate::gate::project_checks::project_fixes::FixScope;
use crate::gate::shard_selection::format_empty_run_note;
use crate::gate::{BasePaths, CollectedFacts, RunFindings};
use crate::job::cli::Annotations;

impl GateRun<'_> {
    /// Evaluates the selected pipelines with the engine, and lets it find the causes that decide the verdict.
    pub(super) fn evaluate_pipelines(&self, engine: &mut dyn ReviewEngine) -> Result<Evaluation, Failure> {
        let run_findings = self.collect_findings(engine, &self.choose_fix_scope())?;
        engine.conclude(self, run_findings)
    }

    /// Chooses the fixes to prove: all fixes, unless the log of a local run is the only output. Such a log lists only
    /// some findings, so only the fixes in a limited number of files are proven. Reports and annotations may show any
    /// finding.
    pub(super) fn choose_fix_scope(&self) -> FixScope<'static> {
        let destinations = &self.subject.settings.verdict.destinations;
        let host = self.subject.workspace.ci.host;
        // In a local run, `auto` does not write annotations. Any other value, even `none`, proves all fixes.
        let has_other_output = !host.is_local()
            || has_output(self.session, host, destinations, |_| true)
            || destinations.annotations != Annotations::Auto;
        if has_other_output {
            FixScope::ALL
        } else {
            FixScope::for_log(destinations.show.unwrap_or_default().max_findings())
        }
    }

    /// Collects the findings and proves their fixes in this scope, without deciding a verdict or building a report. If
    /// no pipeline is selected, prints the reason and runs only the project checks. If the event has nothing to review,
    /// the project checks do not run either.
    pub(crate) fn find_fixes(
        &mut self,
        engine: &mut dyn ReviewEngine,
        fix_scope: &FixScope<'_>,
    ) -> Result<RunFindings, Failure> {
        self.add_team_rules()?;
        if let Some(reason) = &self.empty_reason {
            self.session
                .ui
                .say(&format_empty_run_note(engine.action(), reason));
        }
        match &self.empty_reason {
            Some(_) if self.subject.comparison.idle_reason.is_some() => Ok(RunFindings::default()),
            Some(_) => self.run_project_checks_alone(fix_scope),
            None => self.collect_findings(engine, fix_scope),
        }
    }

    /// Collects the findings in the selected pipelines: of the rules, of the target's stricter rules, of the team's
    /// rules and of the project checks. Then marks waived and known findings, records the findings that only follow
    /// from a broken link, and proves the fixes of the findings that remain.
    fn collect_findings(
        &self,
        engine: &mut dyn ReviewEngine,
        fix_scope: &FixScope<'_>,
    ) -> Result<RunFindings, Failure> {
        let repo = &self.subject.workspace.repo;
        engine.prepare(self)?;
        let snapshot = &self.subject.snapshot;
        let waivers = self.subject.workspace.read_policy_waivers(
            snapshot,
            &self.subject.comparison.bases,
            engine.rules(),
        )?;
        let (mut run_findings, project_findings) =
            engine.evaluate_head(self, waivers.is_empty().then_some(fix_scope))?;
        if let Some(target) = &self.selection.stricter_target {
            let selected_paths = self.selection.pipelines.collect_paths();
            let find_path = |path: &str| selected_paths.contains(path).then(|| path.to_owned());
            let unread_files = target.add_target_results(repo, snapshot, &find_path, &mut run_findings)?;
            run_findings.add_unread_files(unread_files);
        }
        self.add_team_results(&mut run_findings)?;
        self.add_project_findings(project_findings, &mut run_findings);
        self.mark_waived(&waivers, &mut run_findings)?;
        engine.add_notes(self, &mut run_findings);
        if let Some(baseline) = &self.baseline {
            baseline.mark_known_findings(repo, snapshot, &mut run_findings, |run_findings, base| {
                let (base_paths, mut base_findings) =
                    engine.evaluate_base(self, baseline, base, run_findings)?;
                if let Some(target) = &self.selection.stricter_target {
                    let snapshot = repo.snapshot(base.clone());
                    target.add_target_results(
                        repo,
                        &snapshot,
                        &|path| base_paths.find_base_path(path),
                        &mut base_findings,
                    )?;
                }
                self.add_team_results_at_base(base, &base_paths, &mut base_findings)?;
                Ok((base_paths, base_findings))
            })?;
            self.mark_known_project_findings(baseline, &mut run_findings)?;
        }
        waivers.add_unmerged_waivers_note(&mut run_findings);
        self.record_link_consequences(&mut run_findings)?;
        self.prove_fixes(engine.rules(), fix_scope, &mut run_findings)?;
        Ok(run_findings)
    }

    /// Runs only the project checks, in a run without pipelines to review. Then marks waived and known findings, and
    /// proves the fixes.
    pub(super) fn run_project_checks_alone(&self, fix_scope: &FixScope<'_>) -> Result<RunFindings, Failure> {
        let snapshot = &self.subject.snapshot;
        let rules = self.subject.workspace.read_rules_at(snapshot)?;
        // An unusable waivers file fails a local run even if there is no finding to waive.
        let waivers = self.subject.workspace.read_policy_waivers(
            snapshot,
            &self.subject.comparison.bases,
            rules.as_ref(),
        )?;
        let mut run_findings = RunFindings::default();
        self.add_project_findings(
            self.find_project_findings(CollectedFacts::default())?,
            &mut run_findings,
        );
        if run_findings.project_files.is_empty() {
            return Ok(run_findings);
        }
        self.mark_waived(&waivers, &mut run_findings)?;
        if let Some(baseline) = &self.baseline {
            // No pipeline was reviewed, so there are no results of rules to compare.
            baseline.mark_known_findings(
                &self.subject.workspace.repo,
                snapshot,
                &mut run_findings,
                |_, _| Ok((BasePaths::default(), RunFindings::default())),
            )?;
            self.mark_known_project_findings(baseline, &mut run_findings)?;
        }
        waivers.add_unmerged_waivers_note(&mut run_findings);
        self.prove_fixes(rules.as_ref(), fix_scope, &mut run_findings)?;
        Ok(run_findings)
    }
}
