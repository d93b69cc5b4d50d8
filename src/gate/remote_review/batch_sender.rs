//! Sends the files to review in batches, and shows the progress.

use crate::error::Failure;
use crate::gate::{self, BatchResponse, Batching, ReviewParameters};
use crate::session::Session;
use sluicegate_platform::api::Platform;
use std::sync::mpsc::{self, Sender};

/// Requests reviews in batches. Does not refer to the repository, so that a separate thread can send the requests.
pub(super) struct BatchSender<'a> {
    pub(super) session: &'a Session,
    pub(super) platform: &'a Platform,
    pub(super) batching: Batching,
}

impl BatchSender<'_> {
    /// Sends the files in batches, passes on each response, and shows the progress. Returns when all are finished.
    pub(super) fn send_batches(
        &self,
        parameters: &ReviewParameters<'_>,
        files: &[String],
        responses: Sender<BatchResponse>,
    ) -> Result<(), Failure> {
        let ui = &self.session.ui;
        let progress_bar = ui.create_progress_display("reviewing").with_file_count();
        let show_progress =
            |done_count: usize, total_count: usize| progress_bar.show(done_count as u64, total_count as u64);
        let batches = gate::review_in_batches(
            self.platform,
            parameters,
            files,
            self.batching,
            &show_progress,
            responses,
        );
        self.session.block_on(batches)?;
        progress_bar.clear();
        Ok(())
    }

    /// Sends the files in batches, and returns the responses when all are there.
    pub(super) fn send_all(
        &self,
        parameters: &ReviewParameters<'_>,
        files: &[String],
    ) -> Result<Vec<BatchResponse>, Failure> {
        let (sender, responses) = mpsc::channel();
        self.send_batches(parameters, files, sender)?;
        Ok(responses.into_iter().collect())
    }
}
