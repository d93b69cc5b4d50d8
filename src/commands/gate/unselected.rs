//! What is said where nothing is to be judged: never green without words.

use crate::base::error::Failure;
use crate::base::git::{CommitId, Snapshot};
use crate::base::text::count;
use crate::commands::gate::selecting::Restriction;
use crate::commands::gate::workspace::Workspace;
use crate::gate;
use crate::job::settings::{self, Selection};
use crate::model::pipelines::RULES_FILE;
use crate::model::pipelines::is_pipeline;

impl Workspace<'_> {
    /// Each path and each glob that the job gave must meet a file of the snapshot or of the base, and so must the globs of the
    /// configuration file together: where they meet none it is a slip, and the run would be green without having judged
    /// anything.
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
        let message = format!("{} of {name}, which holds {pipelines}", slip.message);
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
            message: format!("the glob {glob:?} to include matches no file"),
            hint: "globs are over whole paths from the repository root; without any, --all judges every pipeline",
        });
    }
    // A repository whose first pipeline is still to come has no slip in its file.
    let matches_none = || !known.is_empty() && !known.iter().any(|path| selection.includes(path));
    if let Some(key) = selection.key().filter(|_| matches_none()) {
        return Some(Slip {
            message: format!("no glob of `{key}` in {} matches a file", settings::FILE_NAME),
            hint: "globs are over whole paths from the repository root; without `include` every pipeline is meant",
        });
    }
    let holds = |within: &String| within.is_empty() || known.iter().any(|path| gate::is_within(path, within));
    let path = restriction.paths.iter().find(|path| !holds(path));
    let path = path.or_else(|| named_in_vain(known, restriction))?;
    Some(Slip {
        message: format!("the path {path} holds no pipeline"),
        hint: "name a pipeline or a folder that holds some; without a path, --all judges every pipeline",
    })
}

/// The first of the files that were named, if none of them is a pipeline or looks like one, and none is the gate's. A hook
/// names whatever a commit has, so one of them is enough.
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

/// Why nothing is to be judged where no pipeline was selected, and how to judge them all.
pub(crate) fn nothing_selected(snapshot: &Snapshot<'_>, selection: &Selection) -> Result<String, Failure> {
    let meant = |path: &str| is_pipeline(path) && selection.wants(path);
    let all = snapshot.files(&meant)?.len();
    let (name, pipelines) = (snapshot.name(), count(all, "pipeline"));
    Ok(match all {
        0 => format!("{name} holds no pipeline that is selected"),
        _ => format!(
            "no pipeline changed that is selected; {name} holds {pipelines}, and --all judges them all"
        ),
    })
}
