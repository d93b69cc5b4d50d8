//! Keeps the ids of the smoke runs that an earlier run of the job started. If this run ends before it has a receipt,
//! the next rerun can still continue these executions instead of starting the pipelines again.

use crate::session::Session;
use sluicegate_base::text::format_path;
use std::path::Path;

impl Session {
    /// Removes an old receipt. A receipt that names smoke runs or ignored files is replaced by one with the outcome
    /// `failed` that keeps them, unless git tracks the file: then a change may have edited it. If that fails, the old
    /// receipt stays.
    pub(super) fn discard_old_receipt(&self, path: &Path) {
        if self.may_replace(path)
            && let Some(receipt) = self.keep_earlier_receipt(path)
            && let Ok(Some(repo)) = self.find_repository()
            && !self.is_tracked_path(&repo, path)
        {
            // Without the old receipt, the next rerun would start the pipelines again.
            if let Err(error) = self.write_unfinished_file(path, |writer| receipt.write(writer)) {
                self.ui.warn(&format!(
                    "could not replace the receipt {} of an earlier run, so its outcome is still that of the earlier \
                     run: {error}",
                    format_path(path)
                ));
            }
        } else {
            self.remove_old_file(path);
        }
    }
}
