//! Requests the review of head, and uses the time until the responses.

use super::RemoteReview;
use super::failed_requests::FailedRequests;
use crate::error::Failure;
use crate::gate::changes::background_comparison::BackgroundComparison;
use crate::gate::project_checks::project_fixes::FixScope;
use crate::gate::run::GateRun;
use crate::gate::{self, CollectedFacts, Positions, ProjectFindings, RunFindings};
use sluicegate_platform::api::Platform;
use std::sync::{Arc, mpsc};
use std::{iter, panic, thread};

impl RemoteReview<'_> {
    /// Requests the review of head on another thread, and merges the responses on this thread. To use the time between
    /// the responses, this thread also runs the project checks and proves the fixes, once and as early as possible: when
    /// the background comparison has read the changed pipelines, whose facts the checks reuse, or at once without such
    /// a comparison.
    pub(super) fn review_head(
        &self,
        run: &GateRun<'_>,
        platform: &Platform,
        fix_scope: Option<&FixScope<'_>>,
    ) -> Result<(RunFindings, FailedRequests, ProjectFindings), Failure> {
        let files = &run.selection.pipelines.files;
        let parameters = self.review_parameters(&self.target.head)?;
        let batch_sender = self.batch_sender(run, platform);
        let background_comparison = run.background_comparison.as_ref();
        let mut failed_requests = FailedRequests::default();
        let (sender, receiver) = mpsc::channel();
        let (send_result, project_findings, run_findings) = thread::scope(|scope| {
            let send_thread = scope.spawn(|| batch_sender.send_batches(&parameters, files, sender));
            let mut project_findings = None;
            let responses = iter::from_fn(|| {
                if project_findings.is_none() {
                    let facts = background_comparison.map_or_else(
                        || Some(CollectedFacts::default()),
                        BackgroundComparison::take_available_facts,
                    );
                    project_findings = facts.map(|facts| self.check_project(run, facts, fix_scope));
                }
                receiver.recv().ok()
            })
            .inspect(|response| failed_requests.record(response));
            let mut positions = Positions::new(&run.subject.workspace.repo, &self.target.head);
            if let Some(comparison) = background_comparison {
                positions = positions.with_cache(Arc::clone(&comparison.positions));
            }
            let run_findings = gate::merge_responses(responses, files, self.rules.as_ref(), &mut positions);
            // The project checks could not start before the last response, so they run now.
            let project_findings = project_findings.unwrap_or_else(|| {
                let facts = background_comparison.map(BackgroundComparison::wait_for_facts);
                self.check_project(run, facts.unwrap_or_default(), fix_scope)
            });
            (send_thread.join(), project_findings, run_findings)
        });
        send_result.unwrap_or_else(|panic_payload| panic::resume_unwind(panic_payload))?;
        Ok((run_findings, failed_requests, project_findings?))
    }

    /// Runs the project checks, and proves the fixes in this scope, if one is given.
    fn check_project(
        &self,
        run: &GateRun<'_>,
        facts: CollectedFacts,
        fix_scope: Option<&FixScope<'_>>,
    ) -> Result<ProjectFindings, Failure> {
        let mut findings = run.find_project_findings(facts)?;
        if let Some(fix_scope) = fix_scope {
            run.prove_fixes_of_unmarked_findings(self.rules.as_ref(), fix_scope, &mut findings)?;
        }
        Ok(findings)
    }
}
