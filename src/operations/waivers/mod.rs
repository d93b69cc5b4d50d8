//! Edits the checkout's waivers file, compared with a local evaluation of the files on disk.

pub(crate) mod add;
mod folded_findings;
pub(crate) mod list;
pub(crate) mod prune;
pub(crate) mod unevaluated_files;
mod unwaived_findings;
mod written_entries;

pub(crate) use add::render_new_waivers_file;
pub(crate) use unwaived_findings::has_unwaived_findings;

use crate::atomic_file;
use crate::error::Failure;
use crate::gate::local_review::evaluate_all;
use crate::gate::waivers::{apply_waivers, build_waivers, today};
use crate::gate::{RunFindings, VersionPairs};
use crate::job::cli::{GlobArgs, SelectionArgs};
use crate::job::context::{self, RequestedRevisions};
use crate::job::policy::NamedText;
use crate::job::settings::SelectionPurpose;
use crate::session::user_file::read_text_or_empty;
use crate::workspace::Workspace;
use crate::workspace::gate_files::MAX_WAIVERS_BYTES;
use crate::workspace::omitted_file::reject_omitted_file;
use jiff::civil::Date;
use serde_json::{Value, json};
use sluicegate_base::text::format_path;
use sluicegate_git::{ChangeKind, Snapshot};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_pipelines::rules::RuleSet;
use sluicegate_pipelines::waivers::{
    EditError, FILE_NAME, OldNames, PlacedWaiver, WaiverEntry, WaiverStatus, Waivers,
};
use std::path::PathBuf;

/// The waivers file of the checkout, and the findings there.
pub(crate) struct WaiversFile {
    path: PathBuf,
    text: String,
    entries: Vec<PlacedWaiver>,
    rules: Option<RuleSet>,
    pub(crate) run_findings: RunFindings,
    /// The day of the run, by which waivers expire.
    today: Date,
}

impl WaiversFile {
    /// Reads the waivers file of the checkout, and evaluates the rules on all pipelines, to know which findings the
    /// waivers match. Without a rules file, each pipeline has a result that reports the missing file.
    pub(crate) fn load_with_findings(
        workspace: &Workspace<'_>,
        snapshot: &Snapshot<'_>,
        rules: Option<RuleSet>,
    ) -> Result<Self, Failure> {
        reject_omitted_file(&workspace.repo, FILE_NAME)?;
        let path = workspace.repo.root().join(FILE_NAME);
        let text = read_text_or_empty(&path, MAX_WAIVERS_BYTES)?;
        let named_text = NamedText {
            name: format_path(&path),
            text,
        };
        let entries = workspace.parse_waivers(&named_text, rules.as_ref())?;
        let no_rules = RuleSet::without_file();
        let run_findings = evaluate_all(workspace, snapshot, rules.as_ref().unwrap_or(&no_rules))?;
        Ok(Self {
            path,
            text: named_text.text,
            entries,
            rules,
            run_findings,
            today: today(),
        })
    }

    /// Compiles the entries of the file, so that they can be matched with findings.
    fn compile_waivers(&self) -> Result<Waivers, Failure> {
        build_waivers(self.entries.clone(), FILE_NAME)
    }

    /// Applies the waivers to the current findings, and returns the status of each waiver. As in a check of the
    /// branch, a waiver also applies by the old names of files and components. The findings are complete, because
    /// [`Self::load_with_findings`] evaluates all pipelines.
    fn match_with_findings(
        &mut self,
        workspace: &Workspace<'_>,
        snapshot: &Snapshot<'_>,
    ) -> Result<Vec<WaiverStatus>, Failure> {
        let waivers = self.compile_waivers()?;
        let old_names = if waivers.entries().is_empty() {
            OldNames::default()
        } else {
            workspace.find_old_names_of_branch(snapshot)?
        };
        let is_all_evaluated = true;
        apply_waivers(
            &waivers,
            snapshot,
            &mut self.run_findings,
            &old_names,
            is_all_evaluated,
            self.today,
        )
    }

    /// Writes the edited text to the file. Fails if the edit failed or the file cannot be written. Also fails if the
    /// file is a symbolic link, because the new file would replace the link, and the target of the link would stay as
    /// it is.
    fn write(&self, edited_text: Result<String, EditError>) -> Result<(), Failure> {
        let displayed_path = format_path(&self.path);
        if self.path.is_symlink() {
            let message = format!("{displayed_path} was not changed: the file is a symbolic link");
            return Err(Failure::usage(message).with_hint("edit the file to which the link leads"));
        }
        let text = edited_text.map_err(|error| {
            Failure::usage(format!("{displayed_path} was not changed: {error}"))
                .with_hint("write each waiver on a separate line, as `- { rule: …, path: …, reason: … }`")
        })?;
        atomic_file::replace_file(&self.path, self.text.as_bytes(), text.as_bytes())
            .map_err(|error| Failure::usage(format!("could not write {displayed_path}: {error}")))
    }
}

impl Workspace<'_> {
    /// Returns the old names of the pipelines and components that the checked-out branch renames, compared with the
    /// base of a check without flags. Returns none without a base, as in `check --all`.
    fn find_old_names_of_branch(&self, snapshot: &Snapshot<'_>) -> Result<OldNames, Failure> {
        let revisions = RequestedRevisions {
            head: None,
            ..self.sources.resolve_revisions(&SelectionArgs::default(), None)?
        };
        let comparison = match context::resolve_checkout(&self.repo, &self.ci, &revisions) {
            Ok(comparison) => comparison,
            // As in a check, a base that the job sets must exist.
            Err(error) if revisions.base.is_some() => return Err(error.into()),
            Err(_) => return Ok(OldNames::default()),
        };
        let selection = self
            .sources
            .resolve_selection(&GlobArgs::default(), SelectionPurpose::Review)?;
        let pairs = VersionPairs {
            repo: &self.repo,
            head: snapshot,
            bases: &comparison.bases,
        };
        let mut changes = snapshot.find_changes(pairs.bases, &is_pipeline)?;
        changes.retain(|change| matches!(change.kind, ChangeKind::Modified | ChangeKind::Renamed { .. }));
        let mut old_names = OldNames {
            components: pairs.find_renamed_components(&changes)?,
            ..OldNames::default()
        };
        for change in &changes {
            // At a path that the globs exclude, no rule was enforced, so a waiver there did not allow anything.
            if let Some(old_path) = change.rename_source().filter(|path| selection.selects(path)) {
                old_names.paths.insert(change.path.clone(), old_path.to_owned());
            }
        }
        Ok(old_names)
    }
}

/// Returns the fields of a waiver as JSON.
fn entry_to_json(entry: &WaiverEntry) -> Value {
    json!({
        "rule": entry.rule,
        "path": entry.path,
        "about": entry.about,
        "size": entry.size,
        "reason": entry.reason,
        "owner": entry.owner,
        "until": entry.last_day,
    })
}
