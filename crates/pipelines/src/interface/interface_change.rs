//! A change to the interface, with its locations in the old and the new version.

use super::{ChangeClass, InterfaceChangeKind};
use serde::{Deserialize, Serialize};
use sluicegate_base::text::{self, wrap::shorten_end};
use sluicegate_yaml::Position;

/// Maximum number of characters of a name or value that are shown and recorded.
const MAX_SHOWN_CHARS: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceLocation {
    /// The path from the repository root.
    pub path: String,
    /// The line, from 1; `None` if the entire file is meant.
    pub line: Option<u32>,
}

impl SourceLocation {
    /// Returns the path, followed by the line if there is one. The caller must escape the text.
    pub(crate) fn format_location(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.path),
            None => self.path.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InterfaceChange {
    pub class: ChangeClass,
    #[serde(rename = "change")]
    pub kind: InterfaceChangeKind,
    /// The shared pipeline; `None` for a change to a file.
    pub id: Option<String>,
    /// The parameter, for a change to a parameter.
    pub parameter: Option<String>,
    /// The column of the parameter, for a change to a column.
    pub column: Option<String>,
    /// The old value, truncated if it is long.
    pub before: Option<String>,
    /// The new value, truncated if it is long.
    pub after: Option<String>,
    /// The location in the old version; `None` for an addition.
    pub old: Option<SourceLocation>,
    /// The location in the new version; for a removed parameter, its shared pipeline. `None` for a removed shared
    /// pipeline.
    pub new: Option<SourceLocation>,
}

impl InterfaceChange {
    /// Creates a change to the shared pipeline with this id, without values and locations, which are added later.
    pub fn for_kind(kind: InterfaceChangeKind, id: &str) -> Self {
        Self {
            class: kind.effect().class,
            kind,
            id: Some(id.to_owned()),
            parameter: None,
            column: None,
            before: None,
            after: None,
            old: None,
            new: None,
        }
    }

    /// Creates a change to a file of the version, which concerns no specific shared pipeline.
    pub fn for_file(kind: InterfaceChangeKind, path: &str) -> Self {
        let file = SourceLocation {
            path: path.to_owned(),
            line: None,
        };
        Self {
            id: None,
            old: (kind != InterfaceChangeKind::FileAdded).then(|| file.clone()),
            new: (kind != InterfaceChangeKind::FileRemoved).then_some(file),
            // A file has no id; the empty text is only a placeholder.
            ..Self::for_kind(kind, "")
        }
    }

    /// Creates the change for a removed shared pipeline whose old location is unknown. It is shown at the
    /// shared-pipelines file of the new version, without a line.
    pub(crate) fn for_removed_pipeline(id: &str, new: &super::Interface) -> Self {
        let file = SourceLocation {
            path: new.file.clone(),
            line: None,
        };
        Self::for_kind(InterfaceChangeKind::PipelineRemoved, id).with_locations(None, Some(file))
    }

    /// Sets the name of the changed parameter.
    pub(super) fn with_parameter(mut self, name: &str) -> Self {
        self.parameter = Some(name.to_owned());
        self
    }

    /// Sets the name of the changed column.
    pub(super) fn with_column(mut self, name: &str) -> Self {
        self.column = Some(name.to_owned());
        self
    }

    /// Sets the old and the new value, truncated.
    pub(super) fn with_values(mut self, old_value: Option<&str>, new_value: Option<&str>) -> Self {
        self.before = old_value.map(truncate);
        self.after = new_value.map(truncate);
        self
    }

    /// Sets the locations in the old and the new version.
    pub(super) fn with_locations(self, old: Option<SourceLocation>, new: Option<SourceLocation>) -> Self {
        Self { old, new, ..self }
    }

    /// Returns a description of the change, which follows the name of the shared pipeline in a message. Replaces the
    /// placeholders of the template for this kind of change. The caller must escape the text.
    pub fn describe(&self) -> String {
        let mut description = String::new();
        let mut template = self.kind.effect().description;
        while let Some((literal, (placeholder, remaining_template))) = template
            .split_once('{')
            .and_then(|(literal, remainder)| Some((literal, remainder.split_once('}')?)))
        {
            description.push_str(literal);
            description.push_str(&self.format_placeholder(placeholder));
            template = remaining_template;
        }
        description + template
    }

    /// Returns the text that replaces a placeholder, such as `{before}`; `none` if the change has no such value. An
    /// empty value is described, because empty code is invisible.
    fn format_placeholder(&self, placeholder: &str) -> String {
        let value = match placeholder {
            "parameter" => &self.parameter,
            "column" => &self.column,
            "before" => &self.before,
            _ => &self.after,
        };
        match (value, placeholder) {
            (None, _) => "none".to_owned(),
            (Some(value), "before" | "after") if value.is_empty() => "an empty text".to_owned(),
            (Some(value), "before" | "after") => format!("`{}`", truncate(value)),
            (Some(value), _) => truncate(value),
        }
    }

    /// Returns the action that consumers must or can take, in the form of an instruction.
    pub fn consumer_action(&self) -> &'static str {
        self.kind.effect().consumer_action
    }

    /// Returns the id of the shared pipeline, or the path of the file. The caller must escape the text.
    pub fn subject(&self) -> String {
        match (&self.id, &self.new, &self.old) {
            (Some(id), ..) => truncate(id),
            (None, Some(location), _) | (None, None, Some(location)) => truncate(&location.path),
            (None, None, None) => String::new(),
        }
    }

    /// Returns the path and the line, from 1, at which reports show the change: its location in the new version. A
    /// change without one is shown at the old path without a line, because the old line has other text in the new
    /// version. The path is empty if both locations are unknown.
    pub fn shown_location(&self) -> (&str, Option<u32>) {
        match (&self.new, &self.old) {
            (Some(new), _) => (&new.path, new.line),
            (None, Some(old)) => (&old.path, None),
            (None, None) => ("", None),
        }
    }

    /// Returns the shared pipeline, the description, the action for consumers, and the location in the base. The new
    /// location is omitted, because reports show it separately. The caller must escape the text.
    pub fn describe_fully(&self) -> String {
        let id = self.id.as_ref().map(|id| format!("`{id}`: ")).unwrap_or_default();
        let old_location = self
            .old
            .as_ref()
            .map(|location| format!(" (before: {} in the base)", location.format_location()));
        let (description, action) = (self.describe(), self.consumer_action());
        format!(
            "{id}{description}; consumers: {action}{}",
            old_location.unwrap_or_default()
        )
    }

    /// Returns the complete change on one line for the terminal, beginning with its location. `old_name` is the name of
    /// the old version. The action for consumers is omitted for a change that needs none.
    pub fn format_line(&self, old_name: &str) -> String {
        let (subject, description) = (self.subject(), self.describe());
        let sentence = match (&self.id, self.kind.effect().class) {
            // A change without an id is a change to a file, whose path is already in the location.
            (None, _) => description,
            (Some(_), ChangeClass::Breaking | ChangeClass::Addition) => {
                format!(
                    "`{subject}`: {description}; consumers: {}",
                    self.consumer_action()
                )
            }
            (Some(_), _) => format!("`{subject}`: {description}"),
        };
        let old_location = self
            .old
            .as_ref()
            .map(|location| format!("{} in {old_name}", location.format_location()));
        // A changed file has the same path in both versions, so only its new location is shown.
        let line = match (&self.new, old_location) {
            (Some(new), Some(old_location)) if self.id.is_some() => {
                format!("{}: {sentence} (before: {old_location})", new.format_location())
            }
            (Some(new), _) => format!("{}: {sentence}", new.format_location()),
            (None, Some(old_location)) => format!("{old_location}: {sentence}"),
            (None, None) => sentence,
        };
        text::escape_line(&line)
    }
}

/// Returns the first [`MAX_SHOWN_CHARS`] characters of a value, with an ellipsis if others are omitted.
fn truncate(value: &str) -> String {
    shorten_end(value, MAX_SHOWN_CHARS).into_owned()
}

/// Returns the location of the item that begins at this position of the file.
pub(super) fn source_location(file: &str, position: Position) -> SourceLocation {
    SourceLocation {
        path: file.to_owned(),
        line: Some(position.line),
    }
}
