//! The receipts that earlier runs left at the paths to which this run writes. Their content is kept before this run
//! replaces them, because a rerun waits for the executions that they name.

use crate::publish::{MAX_RECEIPT_BYTES, Receipt};
use crate::session::Session;
use sluicegate_base::input;
use sluicegate_base::mutex_lock::lock_mutex;
use std::io::ErrorKind;
use std::path::Path;

impl Session {
    /// Keeps the content of a receipt that is about to be replaced, because a publish looks in it for the smoke runs of
    /// an earlier run. If the file cannot be read, keeps the reason. Returns the receipt to write in its place until
    /// this run has one, or `None` if the file is not a receipt that names executions or ignored files.
    pub(crate) fn keep_earlier_receipt(&self, path: &Path) -> Option<Receipt> {
        let content = match input::read_file(path, MAX_RECEIPT_BYTES) {
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            content => content.map_err(|error| error.to_string()),
        };
        let placeholder = content
            .as_ref()
            .ok()
            .and_then(|content| Receipt::parse(content).ok())
            .and_then(|receipt| receipt.to_placeholder());
        let mut receipts = lock_mutex(&self.earlier_receipts);
        // A later call for the same path reads what this run has written in its place.
        receipts.entry(path.to_owned()).or_insert(content);
        placeholder
    }

    /// Returns the receipt that an earlier run left at this path, or the reason why it could not be read; `None` if
    /// there was none.
    pub(crate) fn earlier_receipt(&self, path: &Path) -> Option<Result<Vec<u8>, String>> {
        let receipts = lock_mutex(&self.earlier_receipts);
        receipts.get(path).cloned()
    }
}
