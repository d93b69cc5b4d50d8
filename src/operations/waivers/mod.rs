//! Edits the checkout's waivers file, compared with a local evaluation of the files on disk.

pub(crate) mod add;
pub(crate) mod list;
pub(crate) mod prune;

pub(crate) use add::baseline;

use crate::atomic_file;
use crate::error::Failure;
use crate::gate::Tally;
use crate::gate::local_review::evaluate_all;
use crate::gate::waivers::{held, standings};
use crate::job::policy::NamedText;
use crate::workspace::Workspace;
use crate::workspace::gate_files::WAIVERS_SIZE_LIMIT;
use serde_json::{Value, json};
use sluicegate_base::input;
use sluicegate_git::Snapshot;
use sluicegate_pipelines::rules::RuleSet;
use sluicegate_pipelines::waivers::{
    EditError, FILE_NAME, OldNames, PlacedWaiver, WaiverEntry, WaiverStatus, Waivers,
};
use std::path::{Path, PathBuf};

/// The waivers file of the checkout, and the findings there.
pub(crate) struct Waived {
    path: PathBuf,
    text: String,
    placed: Vec<PlacedWaiver>,
    rules: Option<RuleSet>,
    tally: Tally,
}

impl Waived {
    pub(crate) fn read(
        workspace: &Workspace<'_>,
        snapshot: &Snapshot<'_>,
        rules: Option<RuleSet>,
    ) -> Result<Self, Failure> {
        let path = workspace.repo.root().join(FILE_NAME);
        let text = text(&path)?;
        let named = NamedText {
            name: path.display().to_string(),
            text,
        };
        let placed = workspace.placed(&named, rules.as_ref())?;
        let missing = RuleSet::missing();
        let tally = evaluate_all(workspace, snapshot, rules.as_ref().unwrap_or(&missing))?;
        Ok(Self {
            path,
            text: named.text,
            placed,
            rules,
            tally,
        })
    }

    fn waivers(&self) -> Result<Waivers, Failure> {
        held(self.placed.clone(), FILE_NAME)
    }

    fn standings(&mut self, snapshot: &Snapshot<'_>) -> Result<Vec<WaiverStatus>, Failure> {
        standings(
            &self.waivers()?,
            snapshot,
            &mut self.tally,
            &OldNames::default(),
            true,
        )
    }

    fn write(&self, edited: Result<String, EditError>) -> Result<(), Failure> {
        let shown = self.path.display();
        let text = edited.map_err(|why| {
            Failure::usage(format!("{shown} was not changed: {why}"))
                .hint("write each waiver on a separate line, as `- { rule: …, path: …, reason: … }`")
        })?;
        atomic_file::write_file(&self.path, text.as_bytes())
            .map_err(|why| Failure::usage(format!("could not write {shown}: {why}")))
    }
}

/// Returns a waiver as JSON.
fn as_json(entry: &WaiverEntry) -> Value {
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

/// Returns the file's text; empty if there is no file.
fn text(path: &Path) -> Result<String, Failure> {
    match input::text_file(path, WAIVERS_SIZE_LIMIT) {
        Ok(text) => Ok(text),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(why) => Err(Failure::usage(format!(
            "could not read {}: {why}",
            path.display()
        ))),
    }
}
