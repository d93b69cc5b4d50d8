//! Selects the files of one shard, and determines whether the review is complete.

use crate::gate::Selected;
use sluicegate_pipelines::findings::{FailOn, Shard};

/// The shard of the selected files that a run reviews; all of them by default.
#[derive(Default)]
pub(crate) struct Part {
    pub(crate) shard: Option<Shard>,
    /// Number of selected files in other shards.
    pub(crate) left_out: usize,
}

impl Part {
    /// Removes the files of other shards from the selection; a single shard covers all files.
    pub(crate) fn keep_shard(&mut self, shard: Option<Shard>, selected: &mut Selected) {
        self.shard = shard.filter(|shard| shard.total > 1);
        let all = selected.files.len();
        if let Some(shard) = self.shard {
            selected.files.retain(|path| shard.contains(path));
        }
        self.left_out = all - selected.files.len();
    }

    /// Returns whether this shard reports the findings of the file, selected or not.
    pub(crate) fn holds(&self, path: &str) -> bool {
        self.shard.is_none_or(|shard| shard.contains(path))
    }
}

/// Returns the reason why such a review is incomplete; `None` if it covers everything and findings can fail it.
pub(crate) fn why_partial(shard: Option<Shard>, paths: &[String], fail_on: FailOn) -> Option<String> {
    if let Some(part) = shard {
        return Some(format!("it covers only shard {part}"));
    }
    if !paths.is_empty() {
        return Some(format!("it is restricted to {}", paths.join(", ")));
    }
    (fail_on == FailOn::Never).then(|| "it ran with --fail-on never, so no finding could fail it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected() -> Selected {
        Selected {
            files: (0..20).map(|number| format!("{number}.orch.yaml")).collect(),
            ..Selected::default()
        }
    }

    #[test]
    fn a_part_keeps_its_files_and_is_no_pass_as_a_whole() {
        let mut files = selected();
        let mut part = Part::default();
        part.keep_shard(Some(Shard { index: 1, total: 2 }), &mut files);
        assert_eq!(part.left_out + files.files.len(), 20);
        assert!(part.left_out > 0 && why_partial(part.shard, &[], FailOn::Error).is_some());
        let mut whole = Part::default();
        whole.keep_shard(Some(Shard { index: 1, total: 1 }), &mut selected());
        assert_eq!((whole.shard, whole.left_out), (None, 0));
        assert_eq!(why_partial(whole.shard, &[], FailOn::Error), None);
        assert!(why_partial(None, &[], FailOn::Never).is_some());
        assert!(why_partial(None, &["a".to_owned()], FailOn::Error).is_some());
    }
}
