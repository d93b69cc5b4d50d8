//! What the commands for the platform's resources have in common: the project, the way to show an answer, and what to
//! say where it is not known whether something was made.

use super::{Outcome, Run, output};
use crate::api::{Answer, Platform};
use crate::cli::{OutputArgs, OutputFormat};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::http::HttpError;
use serde_json::{Value, json};
use uuid::Uuid;

/// A project on the platform.
pub(super) struct Project {
    pub(super) platform: Platform,
    pub(super) id: Uuid,
}

impl Run {
    /// The platform and the project that are set.
    pub(super) fn project(&self) -> Result<Project, Failure> {
        let connection = self.sources()?.connection(&self.global)?;
        Ok(Project {
            platform: self.platform(&connection)?,
            id: connection.project_id()?,
        })
    }

    /// Shows an answer: as it came, or in words.
    pub(super) fn show(&self, output: OutputArgs, raw: &Value, words: impl FnOnce() -> String) -> Outcome {
        self.ui.out(&match output.output {
            OutputFormat::Json => output::json(raw),
            OutputFormat::Text => words(),
        })?;
        Ok(ExitStatus::Success)
    }

    /// Shows a list: in the platform's envelope, or as a table with these columns and whatever else the entries have.
    pub(super) fn show_list<T>(
        &self,
        output: OutputArgs,
        entries: Vec<Answer<T>>,
        columns: &[(&str, &str)],
        none: &str,
    ) -> Outcome {
        let items: Vec<Value> = entries.into_iter().map(|entry| entry.raw).collect();
        self.show(output, &envelope("results", &items), || {
            output::list(&items, columns, none)
        })
    }
}

/// The platform's list envelope around everything.
pub(super) fn envelope(name: &str, items: &[Value]) -> Value {
    json!({ name: items, "page": 0, "size": items.len(), "total": items.len() })
}

/// A creation that failed; where its answer was lost, with the command that tells whether it was done.
pub(super) fn perhaps_made(error: HttpError, look: &str) -> Failure {
    if error.may_have_been_processed() {
        Failure::from(error).hint(format!("it may have been done all the same: {look}"))
    } else {
        error.into()
    }
}
