//! Uploads a plan. A signal during the upload does not end the program before it has said what it knows about the version.

use super::Publication;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publish::{self, Outcome, Plan, UploadProgress};
use crate::ui::ProgressDisplay;
use sluicegate_platform::api::Platform;
use std::sync::Arc;

impl Publication<'_> {
    /// Uploads the plan and verifies the version. From now on, signals do not end the run; the caller releases them. A
    /// signal ends the upload, whose outcome is then unknown. With smoke runs, the upload continues, because the version
    /// must be disabled afterwards.
    pub(super) fn upload_until_signal(&self, platform: &Platform, plan: &Plan) -> Result<Outcome, Failure> {
        let mut signals = self.run.signals.clone();
        signals.hold();
        let bar = self
            .run
            .ui
            .create_progress_display("publishing")
            .with_byte_count();
        let progress = build_upload_progress(&bar, plan);
        let upload = publish::execute_plan(platform, plan, self.publish_options(), Some(progress));
        let outcome = if self.has_smoke_runs() {
            self.run.block_on(upload)?
        } else {
            self.run.block_on(async {
                tokio::select! {
                    biased;
                    outcome = upload => outcome,
                    status = signals.wait() => Outcome::for_interrupted_upload(describe_signal(status)),
                }
            })?
        };
        bar.clear();
        Ok(outcome)
    }
}

/// Returns the word for the signal with this exit status.
const fn describe_signal(status: ExitStatus) -> &'static str {
    match status {
        ExitStatus::Terminated => "terminated",
        _ => "interrupted",
    }
}

/// Returns a function that shows how many bytes were sent. The request body is slightly larger than the files, so the
/// number is limited to their size.
fn build_upload_progress(bar: &ProgressDisplay, plan: &Plan) -> UploadProgress {
    let (bar, total_bytes) = (bar.clone(), plan.total_bytes());
    Arc::new(move |sent_bytes| bar.show(sent_bytes.min(total_bytes), total_bytes))
}
