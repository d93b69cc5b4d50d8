//! Explains why no pipeline is selected, so that a run never passes silently.

use crate::error::Failure;
use crate::gate;
use crate::gate::selection::Restriction;
use crate::job::settings::{self, Selection};
use crate::model::pipelines::RULES_FILE;
use crate::model::pipelines::is_pipeline;
use crate::workspace::Workspace;
use sluicegate_base::text::count;
use sluicegate_git::{CommitId, Snapshot};

impl Workspace<'_> {
    /// Returns an error if a path or a glob of the job, or all globs of the configuration file together, match no file
    /// of the snapshot or of the base: that is a typo, and the run would pass without any review.
    pub(crate) fn must_match(
        &self,
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
        restriction: &Restriction<'_>,
    ) -> Result<(), Failure> {
        let selection = restriction.selection;
        if restriction.paths.is_empty() && restriction.named.is_empty() && !selection.is_chosen() {
            return Ok(());
        }
        let meant = |path: &str| is_pipeline(path) || selection.includes(path);
        let files = snapshot.files(&meant)?;
        let before = bases.iter().map(|base| self.repo.files(base, &meant));
        let before = before.collect::<Result<Vec<_>, _>>()?;
        let before = before.iter().flatten().map(|file| file.path.as_str());
        let known: Vec<&str> = files
            .iter()
            .map(|file| file.path.as_str())
            .chain(before)
            .collect();
        let Some(slip) = slip(&known, restriction) else {
            return Ok(());
        };
        let pipelines = files.iter().filter(|file| is_pipeline(&file.path));
        let (name, pipelines) = (snapshot.name(), count(pipelines.count(), "pipeline"));
        let message = format!("{} of {name}, which contains {pipelines}", slip.message);
        Err(Failure::usage(message).hint(slip.hint))
    }
}

struct Slip {
    message: String,
    hint: &'static str,
}

fn slip(known: &[&str], restriction: &Restriction<'_>) -> Option<Slip> {
    let selection = restriction.selection;
    if let Some(glob) = selection.in_vain(known) {
        return Some(Slip {
            message: format!("the include glob {glob:?} matches no file"),
            hint: "globs match full paths from the repository root; use --all without a glob to review all pipelines",
        });
    }
    // In a repository without pipelines so far, unmatched globs are not a typo.
    let matches_none = || !known.is_empty() && !known.iter().any(|path| selection.includes(path));
    if let Some(key) = selection.key().filter(|_| matches_none()) {
        return Some(Slip {
            message: format!("no glob of `{key}` in {} matches a file", settings::FILE_NAME),
            hint: "globs match full paths from the repository root; without `include` every pipeline is selected",
        });
    }
    let holds = |within: &String| within.is_empty() || known.iter().any(|path| gate::is_within(path, within));
    let path = restriction.paths.iter().find(|path| !holds(path));
    let path = path.or_else(|| named_in_vain(known, restriction))?;
    Some(Slip {
        message: format!("the path {path} contains no pipeline"),
        hint: "pass a pipeline or a directory with pipelines, or use --all to review every pipeline",
    })
}

/// Returns the first named file, if none of them is a pipeline, looks like one, or belongs to the gate. A hook passes
/// all files of a commit, so one of them is enough.
fn named_in_vain<'r>(known: &[&str], restriction: &'r Restriction<'_>) -> Option<&'r String> {
    let is_gates = |path: &str| {
        [RULES_FILE, settings::FILE_NAME]
            .iter()
            .any(|file| path.ends_with(file))
    };
    let is_taken =
        |path: &String| known.contains(&path.as_str()) || is_gates(path) || gate::looks_like_pipeline(path);
    let named = restriction.named;
    (restriction.paths.is_empty() && !named.iter().any(is_taken))
        .then(|| named.first())
        .flatten()
}

/// Returns why no pipeline is selected, and how to review all of them.
pub(crate) fn nothing_selected(snapshot: &Snapshot<'_>, selection: &Selection) -> Result<String, Failure> {
    let meant = |path: &str| is_pipeline(path) && selection.wants(path);
    let all = snapshot.files(&meant)?.len();
    let (name, pipelines) = (snapshot.name(), count(all, "pipeline"));
    Ok(match all {
        0 => format!("{name} contains no pipeline that the globs select"),
        _ => {
            format!("no selected pipeline changed; {name} contains {pipelines}: use --all to review them all")
        }
    })
}
