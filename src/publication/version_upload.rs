//! Uploads a plan, and lets a signal during the upload say that the version may exist.

use super::Publication;
use crate::error::Failure;
use crate::publish::{self, Outcome, Plan, UploadControl};
use crate::session::artifact_versions::show_command;
use crate::ui::ProgressDisplay;
use sluicegate_base::text::format_count;
use sluicegate_platform::api::Platform;
use std::sync::Arc;

impl Publication<'_> {
    /// Says what happens to the plan, uploads it unless its version exists, and verifies the version. If there are
    /// smoke runs, signals do not end the run once something was sent, because the version may have to be disabled
    /// afterwards; the caller releases them.
    pub(super) fn upload(&self, platform: &Platform, plan: &Plan) -> Result<Outcome, Failure> {
        let (files, version) = (format_count(plan.files.len(), "file"), plan.describe_version());
        let is_listed = self.history.version_names().contains(plan.version_name.as_str());
        self.session.ui.say(&if is_listed {
            format!("comparing {files} with {version}, which exists")
        } else {
            format!("publishing {files} as {version}")
        });
        let bar = self
            .session
            .ui
            .create_progress_display("publishing")
            .with_byte_count();
        let outcome = self.session.block_on(publish::execute_plan(
            platform,
            plan,
            self.publish_options(plan),
            Some(self.build_upload_control(&bar, plan)),
        ))?;
        bar.clear();
        Ok(outcome)
    }

    /// Returns the control of an upload, which shows how many bytes were sent. The request body is slightly larger than
    /// the files, so the number is limited to their size. Once something was sent, a signal cannot prevent the version,
    /// so a run that it ends then says how to check the version, and a run with smoke runs continues, but does not send
    /// the files again.
    fn build_upload_control(&self, bar: &ProgressDisplay, plan: &Plan) -> UploadControl {
        let (bar, total_bytes) = (bar.clone(), plan.total_bytes());
        let has_smoke_runs = self.has_smoke_runs();
        let signals = self.session.signals.clone();
        let cancel_signals = signals.clone();
        let last_words = format!(
            "{} may have been published: run `{}` to check",
            plan.describe_version(),
            show_command(&plan.prefix, &plan.version_name)
        );
        UploadControl {
            progress: Arc::new(move |sent_bytes| {
                if has_smoke_runs {
                    signals.hold();
                }
                signals.set_last_words(&last_words);
                bar.show(sent_bytes.min(total_bytes), total_bytes);
            }),
            cancel_check: Arc::new(move || cancel_signals.pending_status().is_some()),
        }
    }
}
