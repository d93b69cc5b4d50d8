//! Uploads a plan, and lets a signal during the upload say that the version may exist.

use super::Publication;
use crate::error::Failure;
use crate::publish::{self, Outcome, Plan, UploadProgress};
use crate::session::artifact_versions::show_command;
use crate::ui::ProgressDisplay;
use sluicegate_platform::api::Platform;
use std::sync::Arc;

impl Publication<'_> {
    /// Uploads the plan and verifies the version. If there are smoke runs, signals do not end the run from now on,
    /// because the version may have to be disabled afterwards; the caller releases them.
    pub(super) fn upload(&self, platform: &Platform, plan: &Plan) -> Result<Outcome, Failure> {
        if self.has_smoke_runs() {
            self.run.signals.hold();
        }
        let bar = self
            .run
            .ui
            .create_progress_display("publishing")
            .with_byte_count();
        let outcome = self.run.block_on(publish::execute_plan(
            platform,
            plan,
            self.publish_options(plan),
            Some(self.build_upload_progress(&bar, plan)),
        ))?;
        bar.clear();
        Ok(outcome)
    }

    /// Returns a function that shows how many bytes were sent. The request body is slightly larger than the files, so
    /// the number is limited to their size. Once something was sent, a signal that ends the run cannot prevent the
    /// version, so the run then says how to check it.
    fn build_upload_progress(&self, bar: &ProgressDisplay, plan: &Plan) -> UploadProgress {
        let (bar, total_bytes) = (bar.clone(), plan.total_bytes());
        let signals = self.run.signals.clone();
        let last_words = format!(
            "{} may have been published: run `{}` to check",
            plan.describe_version(),
            show_command(&plan.prefix, &plan.version_name)
        );
        Arc::new(move |sent_bytes| {
            signals.set_last_words(&last_words);
            bar.show(sent_bytes.min(total_bytes), total_bytes);
        })
    }
}
