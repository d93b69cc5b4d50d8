//! Finds the components that use a changed id or parameter of a shared pipeline in local repositories.

use crate::document_content::read_document;
use crate::error::Failure;
use crate::publish::{CallGraph, MAX_LISTED_CALLERS};
use serde_json::{Value, json};
use sluicegate_base::text::{self, List, format_count, format_number};
use sluicegate_git::Repository;
use sluicegate_pipelines::interface::{
    ChangeClass, Compatibility, Consumer, InterfaceChange, find_consumers,
};
use sluicegate_pipelines::pipelines::is_pipeline;
use std::collections::BTreeSet;

/// A component affected by a change.
struct AffectedComponent<'c> {
    repository: String,
    path: String,
    consumer: Consumer,
    changes: Vec<&'c InterfaceChange>,
    /// The pipelines of the repository that call the component's pipeline.
    callers: Vec<String>,
    /// The pipelines of the repository that may call it, because several files have its name.
    possible_callers: Vec<String>,
}

impl AffectedComponent<'_> {
    /// Returns a line with the first pipelines that call the pipeline of this component, and a line with those that may
    /// call it. A line is omitted if there is no such pipeline.
    fn describe_callers(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (verb, paths) in [
            ("called by", &self.callers),
            ("may be called by", &self.possible_callers),
        ] {
            if !paths.is_empty() {
                let list = List::with_limit(paths, MAX_LISTED_CALLERS);
                lines.push(text::escape_line(&format!("  {verb} {list}")));
            }
        }
        lines
    }
}

#[derive(Default)]
pub(crate) struct ConsumerImpact<'c> {
    components: Vec<AffectedComponent<'c>>,
    /// The number of components that run any shared pipeline of the prefix.
    consumer_count: usize,
    pipeline_count: usize,
    /// Unreadable files, each with the reason.
    pub(crate) unreadable_files: Vec<String>,
}

/// Searches the pipelines in the working tree of one repository for components that run a shared pipeline of the prefix.
/// Adds those that a change affects to `impact`, with the callers of their pipelines. Also adds the numbers of
/// components and searched pipelines, and the files that cannot be read.
pub(crate) fn add_affected_components<'c>(
    impact: &mut ConsumerImpact<'c>,
    repository: &Repository,
    repository_name: &str,
    prefix: &str,
    compat: &'c Compatibility,
) -> Result<(), Failure> {
    let custom_index = None;
    let snapshot = repository.read_disk_snapshot(custom_index)?;
    // `impact` may already contain components of other repositories.
    let first_index = impact.components.len();
    for file in snapshot.list_files(&is_pipeline)? {
        let content = read_document(repository, &file)?;
        impact.pipeline_count += 1;
        let consumers = match content.and_then(|bytes| find_consumers(&bytes, prefix)) {
            Ok(consumers) => consumers,
            Err(reason) => {
                impact
                    .unreadable_files
                    .push(format!("{repository_name}/{}: {reason}", file.path));
                continue;
            }
        };
        impact.consumer_count += consumers.len();
        for consumer in consumers {
            let changes = consumer.select_affecting_changes(&compat.changes);
            if !changes.is_empty() {
                impact.components.push(AffectedComponent {
                    repository: repository_name.to_owned(),
                    path: file.path.clone(),
                    consumer,
                    changes,
                    callers: Vec::new(),
                    possible_callers: Vec::new(),
                });
            }
        }
    }
    // The call graph takes time, so it is built only for new components.
    if impact.components.len() > first_index {
        // All affected pipelines are in the snapshot, so there are no removed paths.
        let call_graph = CallGraph::load(repository, &snapshot, &BTreeSet::new())?;
        for component in impact.components.iter_mut().skip(first_index) {
            let callers = call_graph.callers_of(&component.path);
            component.callers = callers.certain.into_iter().map(str::to_owned).collect();
            component.possible_callers = callers.possible.into_iter().map(str::to_owned).collect();
        }
    }
    Ok(())
}

impl ConsumerImpact<'_> {
    /// Renders a line for each affected component, followed by the changes that affect it and by its callers. The last
    /// lines are a summary; `repository_count` is the number of searched repositories, and `new_name` names the new
    /// version.
    pub(crate) fn to_text(&self, repository_count: usize, compat: &Compatibility, new_name: &str) -> String {
        let mut lines = Vec::new();
        for component in &self.components {
            let consumer = &component.consumer;
            let version = consumer.version.as_deref().unwrap_or("no version");
            let location = format!("{}/{}:{}", component.repository, component.path, consumer.line);
            let line = format!(
                "{location}: component `{}` runs `{}`, {version}",
                consumer.component, consumer.id
            );
            lines.push(text::escape_line(&line));
            for change in &component.changes {
                let sentence = match change.class {
                    ChangeClass::Breaking => format!("{}; {}", change.describe(), change.consumer_action()),
                    _ => change.describe(),
                };
                lines.push(text::escape_line(&format!("  {}: {sentence}", change.class)));
            }
            lines.extend(component.describe_callers());
        }
        lines.push(self.describe_search(repository_count, compat, new_name));
        lines.extend(self.describe_changed_files(compat));
        lines.join("\n") + "\n"
    }

    /// Returns a sentence about the changed files if a component runs a shared pipeline. Any of these files may change
    /// what a shared pipeline does, although its ids and parameters are the same.
    fn describe_changed_files(&self, compat: &Compatibility) -> Option<String> {
        let components = match self.consumer_count {
            0 => return None,
            1 => "the component that runs".to_owned(),
            consumer_count => format!("all {} that run", format_count(consumer_count, "component")),
        };
        let change = match count_changed_files(compat) {
            Some(0) => return None,
            Some(file_count) => format!(
                "{} of the artifact also changed",
                format_count(file_count, "file")
            ),
            None => "other files of the artifact may have changed".to_owned(),
        };
        Some(format!(
            "{change}, which may affect {components} its shared pipelines"
        ))
    }

    /// Summarizes the search: the number of affected components, the compared versions and the searched pipelines.
    fn describe_search(&self, repository_count: usize, compat: &Compatibility, new_name: &str) -> String {
        let components = match self.components.len() {
            0 => "no component uses".to_owned(),
            1 => "1 component uses".to_owned(),
            component_count => format!("{} use", format_count(component_count, "component")),
        };
        let searched_count = self.pipeline_count - self.unreadable_files.len();
        let pipelines = if searched_count == self.pipeline_count {
            format_count(self.pipeline_count, "pipeline")
        } else {
            let searched_count = format_number(searched_count);
            format!(
                "{searched_count} of {}",
                format_count(self.pipeline_count, "pipeline")
            )
        };
        let repositories = if repository_count == 1 {
            "1 repository".to_owned()
        } else {
            format!("{} repositories", format_number(repository_count))
        };
        let limit = if compat.ids_only {
            "; the parameters were not compared"
        } else {
            ""
        };
        format!(
            "{components} a changed id or parameter of a shared pipeline ({} to {new_name}; searched {pipelines} in {repositories}){limit}",
            compat.old_name(),
        )
    }

    /// Returns the affected components in the JSON format `sluicegate.impact/v1`.
    pub(crate) fn to_json(&self, prefix: &str, compat: &Compatibility) -> Value {
        let components: Vec<Value> = self
            .components
            .iter()
            .map(|component| {
                json!({
                    "repository": component.repository,
                    "path": component.path,
                    "line": component.consumer.line,
                    "component": component.consumer.component,
                    "id": component.consumer.id,
                    "version": component.consumer.version,
                    "changes": component.changes,
                    "calledBy": component.callers.len(),
                    "callers": component.callers.iter().take(MAX_LISTED_CALLERS).collect::<Vec<_>>(),
                    "mayBeCalledBy": component.possible_callers.len(),
                    "possibleCallers": component.possible_callers.iter().take(MAX_LISTED_CALLERS).collect::<Vec<_>>(),
                })
            })
            .collect();
        json!({
            "schema": "sluicegate.impact/v1",
            "prefix": prefix,
            "against": compat.against,
            "class": compat.class,
            "idsOnly": compat.ids_only,
            "changedFiles": count_changed_files(compat),
            "pipelines": self.pipeline_count,
            "consumerCount": self.consumer_count,
            "consumers": components,
            "unread": self.unreadable_files,
        })
    }
}

/// Returns the number of files of the artifact that changed, without the shared-pipelines file if its changes are listed
/// one by one. Returns `None` if the files were not compared.
fn count_changed_files(compat: &Compatibility) -> Option<usize> {
    let is_known = !compat.lacks_files && !compat.ids_only;
    is_known.then(|| compat.changes.iter().filter(|change| change.id.is_none()).count())
}
