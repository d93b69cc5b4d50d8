//! Limits the work and the memory of the comparison of two files.

use super::list_alignment::AlignmentBudget;
use super::pipeline_diff::FieldDiff;
use super::pipeline_versions::PipelineVersions;
use super::version_side::VersionSide;
use std::cell::Cell;

/// Memory for the leaves that differ, in bytes for each byte of both files. Each leaf repeats the keys above it, so a
/// pipeline of 300 KB could otherwise need 2 GB.
const FIELD_BYTES_PER_FILE_BYTE: usize = 64;

/// Memory for the leaves that differ between files of any size, in bytes.
const MIN_FIELD_BYTES: usize = 256 * 1024;

/// Maximum memory for the leaves that differ, in bytes.
const MAX_FIELD_BYTES: usize = 128 * 1024 * 1024;

/// The remaining budget of the comparison of two files.
pub(super) struct ComparisonBudget {
    pub alignment: AlignmentBudget,
    /// The remaining memory for the leaves that differ, in bytes; `None` if it did not suffice.
    field_bytes: Cell<Option<usize>>,
}

impl ComparisonBudget {
    /// Returns the budget to compare these versions.
    pub(super) fn for_versions(versions: &PipelineVersions<'_>) -> Self {
        let file_size = versions.size(VersionSide::Base) + versions.size(VersionSide::Head);
        let field_bytes = MIN_FIELD_BYTES.saturating_add(file_size.saturating_mul(FIELD_BYTES_PER_FILE_BYTE));
        Self {
            field_bytes: Cell::new(Some(field_bytes.min(MAX_FIELD_BYTES))),
            ..Self::without_fields()
        }
    }

    /// Returns a budget that the first leaf that differs exceeds.
    pub(super) const fn without_fields() -> Self {
        Self {
            alignment: AlignmentBudget::new(),
            field_bytes: Cell::new(Some(0)),
        }
    }

    /// Returns whether the field may be kept, and reduces the budget if so.
    pub(super) fn spend_field(&self, field: &FieldDiff) -> bool {
        let remaining_bytes = self.field_bytes.get();
        self.field_bytes
            .set(remaining_bytes.and_then(|bytes| bytes.checked_sub(field.byte_count())));
        !self.is_exceeded()
    }

    /// Returns whether the memory did not suffice for all leaves that differ.
    pub(super) fn is_exceeded(&self) -> bool {
        self.field_bytes.get().is_none()
    }

    /// Returns the remaining memory for [`Self::restore_field_bytes`].
    pub(super) fn field_bytes(&self) -> Option<usize> {
        self.field_bytes.get()
    }

    /// Undoes what was spent since [`Self::field_bytes`] returned this value.
    pub(super) fn restore_field_bytes(&self, field_bytes: Option<usize>) {
        self.field_bytes.set(field_bytes);
    }

    /// Returns an error if the leaves that differ exceeded the budget. The message names the newest of the versions.
    pub(super) fn reject_excess(&self, side: VersionSide) -> Result<(), String> {
        if self.is_exceeded() {
            return Err(format!(
                "in the {side}: the paths of the changed values are too long to compare in total"
            ));
        }
        Ok(())
    }
}
