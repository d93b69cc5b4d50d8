//! Counts the changes to a pipeline.

use super::moved_variables::{find_moved_variables, is_field_of_top_level_variable};
use super::pipeline_diff::{ComponentChange, LinkChange, PipelineDiff, VariableChange};
use crate::findings::{ChangeCounts, ChangeSummary};

impl PipelineDiff {
    /// Returns the number of changes of each kind. The callers of the pipeline are not known here; they are added
    /// later.
    pub fn summarize(&self) -> ChangeSummary {
        let mut components = ChangeCounts::default();
        for component in &self.components {
            match component.change {
                ComponentChange::Added => components.added += 1,
                ComponentChange::Removed => components.removed += 1,
                ComponentChange::Renamed => components.renamed += 1,
                ComponentChange::Modified => components.modified += 1,
            }
        }
        let mut links = ChangeCounts::default();
        for link in &self.links {
            match link.change {
                LinkChange::Added => links.added += 1,
                LinkChange::Removed => links.removed += 1,
            }
        }
        let moved_variables = find_moved_variables(self);
        let is_moved = |name: &str| moved_variables.iter().any(|variable| variable.name == name);
        let mut variables = ChangeCounts::default();
        for variable in &self.variables {
            match variable.change {
                // A moved variable is missing in one place and new in the other.
                _ if is_moved(&variable.name) => variables.modified += 1,
                VariableChange::Added => variables.added += 1,
                VariableChange::Removed => variables.removed += 1,
                VariableChange::Modified => variables.modified += 1,
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
        }
    }
}
