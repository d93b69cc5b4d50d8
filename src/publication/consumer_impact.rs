//! Finds the components that use a changed shared pipeline in local repositories.

use crate::document_content::read_document;
use crate::error::Failure;
use crate::publish::{Callers, MOST_CALLERS};
use serde_json::{Value, json as value};
use sluicegate_base::text::{self, List, count};
use sluicegate_git::Repository;
use sluicegate_pipelines::interface::{
    ChangeClass, Compatibility, Consumer, InterfaceChange, find_consumers,
};
use sluicegate_pipelines::pipelines::is_pipeline;
use std::collections::BTreeSet;

/// A component affected by a change.
struct Met<'c> {
    repository: String,
    path: String,
    consumer: Consumer,
    changes: Vec<&'c InterfaceChange>,
    /// The pipelines of the repository that call the component's pipeline.
    callers: Vec<String>,
}

impl Met<'_> {
    fn callers_in_words(&self) -> Option<String> {
        let list = List::with_limit(&self.callers, MOST_CALLERS);
        (!self.callers.is_empty()).then(|| text::line(&format!("  called by {list}")))
    }
}

#[derive(Default)]
pub(crate) struct ConsumerImpact<'c> {
    met: Vec<Met<'c>>,
    pipelines: usize,
    /// Unreadable files, each with the reason.
    pub(crate) unread: Vec<String>,
}

/// Searches the pipelines of a working tree.
pub(crate) fn search_consumers<'c>(
    looked: &mut ConsumerImpact<'c>,
    repository: &Repository,
    shown: &str,
    prefix: &str,
    compat: &'c Compatibility,
) -> Result<(), Failure> {
    let snapshot = repository.on_disk(None)?;
    let first = looked.met.len();
    for file in snapshot.files(&is_pipeline)? {
        let read = read_document(repository, &file)?;
        looked.pipelines += 1;
        match read.and_then(|bytes| find_consumers(&bytes, prefix)) {
            Err(why) => looked.unread.push(format!("{shown}/{}: {why}", file.path)),
            Ok(all) => looked.met.extend(all.into_iter().filter_map(|consumer| {
                let changes = consumer.select_affecting(&compat.changes);
                (!changes.is_empty()).then(|| Met {
                    repository: shown.to_owned(),
                    path: file.path.clone(),
                    consumer,
                    changes,
                    callers: Vec::new(),
                })
            })),
        }
    }
    if looked.met.len() > first {
        let callers = Callers::read(repository, &snapshot, &BTreeSet::new())?;
        for met in looked.met.iter_mut().skip(first) {
            let named = callers.of(&met.path).into_iter();
            met.callers = named.map(str::to_owned).collect();
        }
    }
    Ok(())
}

impl ConsumerImpact<'_> {
    pub(crate) fn text(&self, repositories: usize, compat: &Compatibility) -> String {
        let mut lines = Vec::new();
        for met in &self.met {
            let consumer = &met.consumer;
            let version = consumer.version.as_deref().unwrap_or("no version");
            let place = format!("{}/{}:{}", met.repository, met.path, consumer.line);
            let line = format!(
                "{place}: component `{}` runs `{}`, {version}",
                consumer.component, consumer.id
            );
            lines.push(text::line(&line));
            lines.extend(met.changes.iter().map(|change| {
                let sentence = match change.class {
                    ChangeClass::Breaking => format!("{}; {}", change.describe(), change.consumer_action()),
                    _ => change.describe(),
                };
                text::line(&format!("  {}: {sentence}", change.class))
            }));
            lines.extend(met.callers_in_words());
        }
        let place = if repositories == 1 {
            "repository"
        } else {
            "repositories"
        };
        lines.push(format!(
            "{} of {} in {repositories} {place} use pipelines changed since {}; no others were searched",
            count(self.met.len(), "component"),
            count(self.pipelines, "pipeline"),
            compat.old_name(),
        ));
        lines.join("\n") + "\n"
    }

    pub(crate) fn json(&self, prefix: &str, compat: &Compatibility) -> Value {
        let met: Vec<Value> = self
            .met
            .iter()
            .map(|met| {
                value!({
                    "repository": met.repository,
                    "path": met.path,
                    "line": met.consumer.line,
                    "component": met.consumer.component,
                    "id": met.consumer.id,
                    "version": met.consumer.version,
                    "changes": met.changes,
                    "calledBy": met.callers.len(),
                    "callers": met.callers.iter().take(MOST_CALLERS).collect::<Vec<_>>(),
                })
            })
            .collect();
        value!({
            "schema": "sluicegate.impact/v1",
            "prefix": prefix,
            "against": compat.against,
            "class": compat.class,
            "pipelines": self.pipelines,
            "consumers": met,
            "unread": self.unread,
        })
    }
}
