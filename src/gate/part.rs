//! Selects the files of one shard, and determines whether the review is complete.

use super::Selected;
use crate::model::findings::{FailOn, Shard};

/// The shard of the selected files that a run reviews, with the settings of the verdict.
pub(crate) struct Part {
    pub(crate) shard: Option<Shard>,
    pub(crate) fail_on: FailOn,
    /// The paths that restrict the selection.
    pub(crate) paths: Vec<String>,
    pub(crate) max_known: Option<usize>,
    /// Number of selected files in other shards.
    pub(crate) left_out: usize,
}

impl Part {
    /// Removes the files of other shards from the selection; a single shard covers all files.
    pub(crate) fn keep(
        shard: Option<Shard>,
        (fail_on, max_known): (FailOn, Option<usize>),
        paths: Vec<String>,
        selected: &mut Selected,
    ) -> Self {
        let shard = shard.filter(|shard| shard.total > 1);
        let all = selected.files.len();
        if let Some(shard) = shard {
            selected.files.retain(|path| shard.holds(path));
        }
        Self {
            shard,
            fail_on,
            paths,
            max_known,
            left_out: all - selected.files.len(),
        }
    }

    /// Returns whether this shard reports the findings of the file, selected or not.
    pub(crate) fn holds(&self, path: &str) -> bool {
        self.shard.is_none_or(|shard| shard.holds(path))
    }

    /// Returns the reason why the review is incomplete, regardless of its verdict.
    pub(crate) fn why_partial(&self) -> Option<String> {
        why_partial(self.shard, &self.paths, self.fail_on)
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
        let shard = Some(Shard { index: 1, total: 2 });
        let part = Part::keep(shard, (FailOn::Error, None), Vec::new(), &mut files);
        assert_eq!(part.left_out + files.files.len(), 20);
        assert!(part.left_out > 0 && part.why_partial().is_some());
        let only = Some(Shard { index: 1, total: 1 });
        let whole = Part::keep(only, (FailOn::Error, None), Vec::new(), &mut selected());
        assert_eq!(
            (whole.shard, whole.left_out, whole.why_partial()),
            (None, 0, None)
        );
        let never = Part::keep(None, (FailOn::Never, None), Vec::new(), &mut selected());
        assert!(never.why_partial().is_some());
    }
}
