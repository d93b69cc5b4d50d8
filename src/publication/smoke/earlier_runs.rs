//! The smoke runs of an earlier run of the job, from the receipt that it left.

use super::smoke_problem::SmokeProblem;
use super::smoke_test::SmokeTest;
use crate::error::Failure;
use crate::publication::Publication;
use crate::publish::{Receipt, SmokeExecution, SmokeRecord};
use crate::session::resource::RemoteProject;
use sluicegate_platform::api::{Execution, parse_platform_time};
use sluicegate_platform::http::ErrorKind;
use std::path::Path;

impl Publication<'_> {
    /// Returns the record of the smoke runs in the receipt that an earlier run of the program wrote to the same path,
    /// if that receipt is about the same version. A receipt that cannot be used was reported with the ignored files.
    pub(super) fn find_earlier_record(&self, receipt: &Receipt) -> Option<SmokeRecord> {
        self.read_own_earlier_receipt()
            .filter(|earlier_receipt| earlier_receipt.has_same_version(receipt))
            .and_then(|earlier_receipt| earlier_receipt.smoke)
    }

    /// Adds the ids of the executions that an earlier run started to a receipt without smoke runs, so that the next
    /// rerun can continue them. An earlier receipt that is about another version, or cannot be used, adds nothing. If
    /// this run could not compute the name of the version (`{next}`), the receipt gets the name from the earlier run.
    pub(in crate::publication) fn add_earlier_executions(&self, receipt: Receipt) -> Receipt {
        if receipt.smoke.is_some() || !self.has_smoke_runs() {
            return receipt;
        }
        let Some(earlier_receipt) = self.read_own_earlier_receipt() else {
            return receipt;
        };
        let Some(placeholder) = earlier_receipt.to_placeholder() else {
            return receipt;
        };
        let mut new_receipt = receipt.clone();
        if self.lacks_version_name() {
            new_receipt.version_name.clone_from(&placeholder.version_name);
        }
        if !placeholder.has_same_version(&new_receipt) {
            return receipt;
        }
        if new_receipt.has_published_version() {
            // Smoke runs without a result must not look like a success.
            return new_receipt.with_smoke(placeholder.smoke.as_ref());
        }
        new_receipt.smoke = placeholder.smoke;
        new_receipt
    }

    /// Returns the receipt that an earlier run of the program wrote to this path; `None` if there was none. The error
    /// is the reason why it must be ignored: git tracks it, it cannot be read or parsed, or it is about a version of
    /// another platform. Older receipts do not name their platform.
    pub(in crate::publication) fn read_earlier_receipt(
        &self,
        path: &Path,
    ) -> Result<Option<Receipt>, String> {
        let Some(content) = self.session.earlier_receipt(path) else {
            return Ok(None);
        };
        if self.session.is_tracked_path(&self.workspace.repo, path) {
            return Err("git tracks this file, so a change may have edited it".to_owned());
        }
        let receipt = Receipt::parse(&content?)?;
        match (&receipt.platform, self.platform_address()) {
            (Some(publish_address), Some(run_address)) if *publish_address != run_address => Err(format!(
                "the receipt is about the version at {publish_address}, not at {run_address}"
            )),
            _ => Ok(Some(receipt)),
        }
    }
}

impl SmokeTest<'_> {
    /// Returns whether an earlier run of the program started an execution that a smoke run of this version may continue.
    /// The platform may still show that the execution is too old.
    pub(super) fn can_continue_earlier_run(&self) -> bool {
        let Some(earlier_record) = &self.earlier_record else {
            return false;
        };
        let planned_runs = self.build_planned_record().runs;
        earlier_record.runs.iter().any(|earlier_run| {
            earlier_run.execution_id.is_some()
                && !earlier_run.proves_nothing()
                && earlier_record.can_continue(earlier_run)
                && planned_runs.iter().any(|run| earlier_run.has_same_subject(run))
        })
    }

    /// Adds the ids of executions that an earlier job started to the smoke runs that this job has not started. The next
    /// rerun of the job can then continue these executions, or knows that they prove nothing. If a request for a new
    /// execution failed, keeps an earlier one that proves nothing, so that the next rerun does not take the version for
    /// one without smoke runs. An execution that cannot be continued, because the version was disabled, is not added.
    pub(super) fn add_earlier_ids(&self, mut record: SmokeRecord) -> SmokeRecord {
        let Some(earlier_record) = &self.earlier_record else {
            return record;
        };
        for entry in &mut record.runs {
            if entry.execution_id.is_none()
                && let Some(earlier_run) = earlier_record.runs.iter().find(|run| run.has_same_subject(entry))
                && (earlier_run.proves_nothing()
                    || (!entry.is_requested && earlier_record.can_continue(earlier_run)))
            {
                entry.copy_execution(earlier_run);
                entry.is_earlier = entry.execution_id.is_some();
            }
        }
        record
    }

    /// Returns the id of the execution that an earlier run of the program started for `planned_run`, from the receipt
    /// of that run. A change could have written the id of any older execution into the receipt. The id is therefore
    /// accepted only if the platform shows that the execution started after the version was created, or has not started
    /// yet. Any other execution is ignored with a warning, also one that proved nothing about the version, or had not
    /// succeeded when the version was disabled.
    pub(super) async fn find_earlier_execution(
        &self,
        project: &RemoteProject,
        planned_run: &SmokeExecution,
    ) -> Result<Option<String>, SmokeProblem> {
        let Some(earlier_record) = &self.earlier_record else {
            return Ok(None);
        };
        let mut earlier_runs = earlier_record.runs.iter();
        let Some(earlier_run) = earlier_runs.find(|run| run.has_same_subject(planned_run)) else {
            return Ok(None);
        };
        let Some(id) = earlier_run.execution_id.clone() else {
            return Ok(None);
        };
        let ui = self.publication.session.ui;
        if earlier_run.proves_nothing() {
            ui.warn(&format!(
                "ignoring execution {id} of an earlier run: it may not have used this version"
            ));
            return Ok(None);
        }
        if !earlier_record.can_continue(earlier_run) {
            ui.warn(&format!(
                "ignoring execution {id} of an earlier run: the version was disabled before the execution succeeded"
            ));
            return Ok(None);
        }
        let execution = match project.platform.fetch_execution(project.id, &id).await {
            Ok(response) => response.result.clone(),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                ui.warn(&format!(
                    "ignoring execution {id} of an earlier run: the platform does not have it"
                ));
                return Ok(None);
            }
            Err(error) => {
                let failure =
                    Failure::from(error).context(format!("could not read execution {id} of an earlier run"));
                return Err(SmokeProblem::from_failure(&failure));
            }
        };
        let start_time = execution.started_at.as_deref().and_then(parse_platform_time);
        // Without both times, the order is not proved.
        let has_started_after_version = self
            .created_at
            .zip(start_time)
            .is_some_and(|(created_at, start_time)| start_time >= created_at);
        if !has_started_after_version && !is_queued(&execution) {
            ui.warn(&format!(
                "ignoring execution {id} of an earlier run: the platform does not show that it started after the \
                 version was created"
            ));
            return Ok(None);
        }
        ui.say(&format!(
            "waiting for execution {id}, which an earlier run started"
        ));
        Ok(Some(id))
    }
}

/// Returns whether the execution waits for its start, so that it will use the version that is the latest now.
fn is_queued(execution: &Execution) -> bool {
    let status = execution.status.as_deref().unwrap_or_default();
    execution.started_at.is_none() && status.eq_ignore_ascii_case("QUEUED")
}
