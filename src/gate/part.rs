//! The part of the selected files that a run judges, and what such a review is worth.

use super::Selected;
use crate::model::findings::{FailOn, Shard};

/// The part of the selected files that a run judges, and by what.
pub(crate) struct Part {
    pub(crate) shard: Option<Shard>,
    pub(crate) fail_on: FailOn,
    /// What the selection was restricted to before.
    pub(crate) paths: Vec<String>,
    pub(crate) max_known: Option<usize>,
    /// How many selected files are in other parts.
    pub(crate) left_out: usize,
}

impl Part {
    /// Keeps the files of the shard; the only shard is the whole.
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

    /// Whether what is found in this file, selected or not, is for this part to tell.
    pub(crate) fn holds(&self, path: &str) -> bool {
        self.shard.is_none_or(|shard| shard.holds(path))
    }

    /// Returns why a review of it is no pass as a whole, whatever its verdict.
    pub(crate) fn why_partial(&self) -> Option<String> {
        why_partial(self.shard, &self.paths, self.fail_on)
    }
}

/// Returns why such a review is no pass as a whole, whatever its verdict; `None` if it is of everything and could fail.
pub(crate) fn why_partial(shard: Option<Shard>, paths: &[String], fail_on: FailOn) -> Option<String> {
    if let Some(part) = shard {
        return Some(format!("it is of the part {part} alone"));
    }
    if !paths.is_empty() {
        return Some(format!("it is restricted to {}", paths.join(", ")));
    }
    (fail_on == FailOn::Never)
        .then(|| "it was made with --fail-on never, so nothing that it found could fail it".to_owned())
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
