//! Counts the changes to a pipeline.

use super::moved_variables::{find_moved_variables, is_field_of_top_level_variable};
use super::pipeline_diff::{ComponentChange, LinkChange, PipelineDiff, VariableChange};
use super::value_text::truncate;
use crate::findings::{ChangeCounts, ChangeSummary};
use sluicegate_base::text;

/// Maximum number of characters of the reason why a version cannot be read.
const MAX_REASON_CHARS: usize = 300;

impl ChangeCounts {
    pub(super) const fn count_component(&mut self, change: ComponentChange) {
        match change {
            ComponentChange::Added => self.added += 1,
            ComponentChange::Removed => self.removed += 1,
            ComponentChange::Renamed => self.renamed += 1,
            ComponentChange::Modified => self.modified += 1,
        }
    }

    pub(super) const fn count_link(&mut self, change: LinkChange) {
        match change {
            LinkChange::Added => self.added += 1,
            LinkChange::Removed => self.removed += 1,
        }
    }

    pub(super) const fn count_variable(&mut self, change: VariableChange) {
        match change {
            VariableChange::Added => self.added += 1,
            VariableChange::Removed => self.removed += 1,
            VariableChange::Modified => self.modified += 1,
        }
    }
}

impl PipelineDiff {
    /// Returns the number of changes of each kind. The callers of the pipeline are not known here; they are added
    /// later.
    pub fn summarize(&self) -> ChangeSummary {
        let mut components = ChangeCounts::default();
        for component in &self.components {
            components.count_component(component.change);
        }
        let mut links = ChangeCounts::default();
        for link in &self.links {
            links.count_link(link.change);
        }
        let moved_variables = find_moved_variables(self);
        let is_moved = |name: &str| moved_variables.iter().any(|variable| variable.name == name);
        let mut variables = ChangeCounts::default();
        for variable in &self.variables {
            // A moved variable is missing in one place and new in the other.
            if is_moved(&variable.name) {
                variables.modified += 1;
            } else {
                variables.count_variable(variable.change);
            }
        }
        let other_fields = self.other.iter().filter(|field| {
            !moved_variables
                .iter()
                .any(|variable| is_field_of_top_level_variable(field, variable.name))
        });
        ChangeSummary {
            path: self.path.clone(),
            previous_path: self.previous_path.clone(),
            change: self.change,
            components,
            links,
            variables,
            other: other_fields.count(),
            layout: self.layout,
            called_by: None,
            callers: Vec::new(),
            may_be_called_by: 0,
            possible_callers: Vec::new(),
            reason: self
                .reason
                .as_deref()
                .map(|reason| truncate(&text::escape_line(reason), MAX_REASON_CHARS)),
        }
    }
}
