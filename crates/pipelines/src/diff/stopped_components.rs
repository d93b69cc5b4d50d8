//! Describes the components that will no longer run.

use super::description::Description;
use super::diff_line::Sign;
use super::file_change_line::find_stop_reason;
use super::pipeline_diff::ComponentDiff;
use super::value_text::truncate_name;
use sluicegate_base::text;

/// Maximum number of lines about components that will no longer run.
const MAX_STOP_LINES: usize = 400;

impl Description {
    /// Shows which components will no longer run. The limit of the items does not apply to these lines, because the
    /// change to the component also has its own line, or that of a shared field.
    pub(super) fn describe_stopped_components(&mut self, components: &[ComponentDiff]) {
        let stopped_components: Vec<(&ComponentDiff, String)> = components
            .iter()
            .filter_map(|component| Some((component, find_stop_reason(component)?)))
            .collect();
        for (component, reason) in stopped_components.iter().take(MAX_STOP_LINES) {
            let content = format!("{} will no longer run: {reason}", truncate_name(&component.name));
            self.push_extra_line(1, Sign::Changed, &content);
        }
        if stopped_components.len() > MAX_STOP_LINES {
            let omitted_components =
                text::format_count(stopped_components.len() - MAX_STOP_LINES, "more component");
            let content = format!("\u{2026} {omitted_components} will no longer run");
            self.push_extra_line(1, Sign::Changed, &content);
        }
    }
}
