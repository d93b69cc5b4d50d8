//! Selects the files of one shard, and determines whether the review is complete.

use crate::gate::{GateAction, SelectedPipelines};
use sluicegate_pipelines::findings::{FailOn, ReviewContext, Shard};

/// The reason why a shard has no pipeline to review. The note with it is only about this shard. A report has no field
/// for an empty shard, and readers of `sluicegate.report/v2` reject unknown fields, so a saved note is recognized by
/// this text.
pub(crate) const EMPTY_SHARD_REASON: &str = "all selected pipelines are in other shards";

/// Returns the note of a run that has no pipeline to review. `reason` explains why there is no pipeline.
pub(super) fn format_empty_run_note(action: GateAction, reason: &str) -> String {
    format!("nothing to {action}: {reason}")
}

/// Returns whether the note of a report states that its shard has no pipelines.
pub(super) fn is_note_of_empty_shard(note: &str) -> bool {
    note.ends_with(&format!(": {EMPTY_SHARD_REASON}"))
}

/// The shard of the selected files that a run reviews.
pub(crate) struct ShardSelection {
    pub(crate) shard: Option<Shard>,
    /// Number of selected files in other shards.
    pub(crate) left_out_count: usize,
}

impl ShardSelection {
    /// Removes the files of other shards from the selection, and counts them. Without a shard, or with a single one,
    /// all files stay.
    pub(crate) fn keep_shard(shard: Option<Shard>, pipelines: &mut SelectedPipelines) -> Self {
        let shard = shard.filter(|shard| shard.total > 1);
        let all_count = pipelines.files.len();
        if let Some(shard) = shard {
            pipelines.files.retain(|path| shard.contains(path));
        }
        Self {
            shard,
            left_out_count: all_count - pipelines.files.len(),
        }
    }

    /// Returns whether this shard reports the findings of the file, even if the file is not selected.
    pub(crate) fn contains(&self, path: &str) -> bool {
        self.shard.is_none_or(|shard| shard.contains(path))
    }
}

/// Returns the reason why a review with these settings covers only a part of the pipelines, or could not fail. Returns
/// `None` for a complete review.
pub(crate) fn describe_partial_coverage(
    shard: Option<Shard>,
    paths: &[String],
    fail_on: FailOn,
) -> Option<String> {
    if let Some(shard) = shard {
        return Some(format!("the review covers only shard {shard}"));
    }
    if !paths.is_empty() {
        return Some(format!("the review is restricted to {}", paths.join(", ")));
    }
    (fail_on == FailOn::Never)
        .then(|| "the review ran with --fail-on never, so no finding could fail it".to_owned())
}

/// Returns the reason why the review in a report is no proof that its commit is good: it is partial, could not fail, or
/// evaluated other rules than those of its commit. Returns `None` for a complete review.
pub(crate) fn explain_unusable_review(context: &ReviewContext) -> Option<String> {
    let fail_on = context.fail_on.unwrap_or_default();
    let partial_reason = describe_partial_coverage(context.shard, &context.paths, fail_on);
    if partial_reason.is_some() {
        return partial_reason;
    }
    let path = context.rules.as_ref()?;
    Some(format!(
        "the review evaluated the rules in {path} instead of the project's rules (--rules)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected() -> SelectedPipelines {
        SelectedPipelines {
            files: (0..20).map(|number| format!("{number}.orch.yaml")).collect(),
            ..SelectedPipelines::default()
        }
    }

    #[test]
    fn shard_keeps_its_files_and_is_partial() {
        let mut files = selected();
        let part = ShardSelection::keep_shard(Some(Shard { index: 1, total: 2 }), &mut files);
        assert_eq!(part.left_out_count + files.files.len(), 20);
        assert!(
            part.left_out_count > 0 && describe_partial_coverage(part.shard, &[], FailOn::Error).is_some()
        );
        let whole = ShardSelection::keep_shard(Some(Shard { index: 1, total: 1 }), &mut selected());
        assert_eq!((whole.shard, whole.left_out_count), (None, 0));
        assert_eq!(describe_partial_coverage(whole.shard, &[], FailOn::Error), None);
        assert!(describe_partial_coverage(None, &[], FailOn::Never).is_some());
        assert!(describe_partial_coverage(None, &["a".to_owned()], FailOn::Error).is_some());
    }
}
