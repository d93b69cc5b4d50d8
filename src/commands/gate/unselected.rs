//! What is said where nothing is to be judged: never green without words.

use crate::commands::gate::workspace::Workspace;
use crate::error::Failure;
use crate::git::{CommitId, Snapshot};
use crate::settings::{self, Selection};
use crate::text::count;

impl Workspace<'_> {
    /// Each glob that the job gave must match a file of the snapshot or of the base: one that matches nothing is a slip,
    /// and the run would be green without having judged anything.
    pub(crate) fn must_match(
        &self,
        snapshot: &Snapshot<'_>,
        base: Option<&CommitId>,
        selection: &Selection,
    ) -> Result<(), Failure> {
        if !selection.is_given() {
            return Ok(());
        }
        let included = |path: &str| selection.includes(path);
        let files = snapshot.files(&included)?;
        let before = base.map(|base| self.repo.files(base, &included)).transpose()?;
        let before = before.iter().flatten().map(|file| file.path.as_str());
        let paths = files.iter().map(|file| file.path.as_str()).chain(before);
        let Some(glob) = selection.in_vain(paths) else {
            return Ok(());
        };
        let message = format!(
            "the glob {glob:?} to include matches no file of {}",
            snapshot.name()
        );
        Err(Failure::usage(message).hint("globs are over whole paths from the repository root"))
    }
}

/// Why nothing is to be judged where no pipeline was selected, and how to judge them all.
pub(crate) fn nothing_selected(snapshot: &Snapshot<'_>, selection: &Selection) -> Result<String, Failure> {
    let meant = |path: &str| settings::is_pipeline(path) && selection.wants(path);
    let all = snapshot.files(&meant)?.len();
    let (name, pipelines) = (snapshot.name(), count(all, "pipeline"));
    Ok(match all {
        0 => format!("{name} holds no pipeline that is selected"),
        _ => format!(
            "no pipeline changed that is selected; {name} holds {pipelines}, and --all judges them all"
        ),
    })
}
