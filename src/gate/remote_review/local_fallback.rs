//! Evaluates the pipelines that got no response from the platform on this machine, so that a change cannot pass by making
//! the platform fail. The pipelines remain unreviewed.

use crate::error::Failure;
use crate::gate::local_review;
use crate::gate::{Places, Tally, evaluate};
use crate::workspace::Workspace;
use sluicegate_base::text::format_count;
use sluicegate_git::{CommitId, Snapshot};
use sluicegate_pipelines::rules::RuleSet;
use std::collections::BTreeSet;

/// The pipelines that were evaluated on this machine instead.
#[derive(Default)]
pub(crate) struct LocalFallback {
    paths: BTreeSet<String>,
}

impl LocalFallback {
    /// Adds the local results of these files to the findings. Without `rules`, the missing rules file is the result of
    /// each file, as in a local check.
    pub(crate) fn evaluate(
        workspace: &Workspace<'_>,
        snapshot: &Snapshot<'_>,
        rules: Option<&RuleSet>,
        paths: &BTreeSet<String>,
        tally: &mut Tally,
    ) -> Result<Self, Failure> {
        let files = snapshot.list_files(&|path| paths.contains(path))?;
        let evaluated = match rules {
            Some(rules) => evaluate(&workspace.repo, rules, files, &|_, _| {})?,
            None => evaluate(
                &workspace.repo,
                &workspace.missing_rules(snapshot)?,
                files,
                &|_, _| {},
            )?,
        };
        let paths: BTreeSet<String> = evaluated.files.iter().map(|file| file.path.clone()).collect();
        if !paths.is_empty() {
            tally.notes.push(format!(
                "checked {} locally with the rules file of the commit, because the platform gave no response; the \
                 platform's verdict is unknown",
                format_count(paths.len(), "pipeline")
            ));
        }
        tally.files.extend(evaluated.files);
        tally.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { paths })
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// Adds the local results of these places at the base.
    pub(crate) fn add_base(
        workspace: &Workspace<'_>,
        snapshot: &Snapshot<'_>,
        rules: Option<&RuleSet>,
        base: &CommitId,
        places: &Places,
        before: &mut Tally,
    ) -> Result<(), Failure> {
        if places.at_base().is_empty() {
            return Ok(());
        }
        let mut evaluated = match rules {
            Some(rules) => local_review::at_base(&workspace.repo, rules, base, places)?,
            None => {
                local_review::at_base(&workspace.repo, &workspace.missing_rules(snapshot)?, base, places)?
            }
        };
        before.files.append(&mut evaluated.files);
        before.unreviewed.append(&mut evaluated.unreviewed);
        before.failed_batches.append(&mut evaluated.failed_batches);
        Ok(())
    }
}
