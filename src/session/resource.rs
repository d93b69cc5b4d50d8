//! Shared code of the commands for the platform's resources: the project, the output of responses, and messages if it
//! is unknown whether a resource was created.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputArgs, OutputFormat};
use crate::session::resource_lookup::{ResourceKind, ResourceLookup, creation_failure};
use crate::session::response_output;
use crate::session::{CommandResult, Session};
use serde_json::{Map, Value};
use sluicegate_base::text;
use sluicegate_platform::api::{self, ApiList, ApiValue, Platform};
use sluicegate_platform::http::{ErrorKind, HttpError, request_for_hint};
use std::io;
use uuid::Uuid;

pub(crate) struct RemoteProject {
    pub(crate) platform: Platform,
    pub(crate) id: Uuid,
}

impl Session {
    /// Creates a client of the platform from the settings, and returns it with the configured project id.
    pub(crate) fn create_project_client(&self) -> Result<RemoteProject, Failure> {
        let connection = self.read_setting_sources()?.resolve_connection(&self.global)?;
        Ok(RemoteProject {
            platform: self.create_platform_client(&connection)?,
            id: connection.require_project_id()?,
        })
    }

    /// Creates a client of the platform from the settings, for requests that do not need the configured project.
    pub(crate) fn create_account_client(&self) -> Result<Platform, Failure> {
        let sources = self.read_setting_sources()?;
        self.create_platform_client(&sources.resolve_account_connection(&self.global)?)
    }

    /// Prints a response as raw JSON, or as the text that `render` returns.
    pub(crate) fn print_response(
        &self,
        output: OutputArgs,
        raw: &Value,
        render: impl FnOnce() -> String,
    ) -> CommandResult {
        self.print_response_with(output, raw, |writer| writer.write_all(render().as_bytes()))
    }

    /// Prints a response as [`Self::print_response`] does, but `write_text` writes the text in pieces, so that a long
    /// text is never in memory as a whole.
    pub(crate) fn print_response_with(
        &self,
        output: OutputArgs,
        raw: &Value,
        write_text: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> CommandResult {
        match output.output {
            OutputFormat::Json => self
                .ui
                // The platform's responses may be large, so the document is written piece by piece.
                .print_result_with(|writer| text::write_json(raw, writer)),
            OutputFormat::Text => self.ui.print_result_with(write_text),
        }?;
        Ok(ExitStatus::Success)
    }

    /// Prints a list as JSON, in the field `results` of its first page's envelope, or as a table: these columns first,
    /// then a column for each other field of the entries. Instead of an empty table, prints `empty_message`.
    pub(crate) fn print_list<T>(
        &self,
        output: OutputArgs,
        list: ApiList<T>,
        columns: &[(&str, &str)],
        empty_message: &str,
    ) -> CommandResult {
        let items = list.entries.into_iter().map(|entry| entry.raw);
        let envelope = build_list_envelope("results", items.collect(), list.envelope);
        self.print_envelope(output, "results", &envelope, columns, empty_message)
    }

    /// Prints a list as [`Self::print_list`] does, but from its envelope, with the entries in the field `list_field`.
    pub(crate) fn print_envelope(
        &self,
        output: OutputArgs,
        list_field: &str,
        envelope: &Value,
        columns: &[(&str, &str)],
        empty_message: &str,
    ) -> CommandResult {
        self.print_response_with(output, envelope, |writer| {
            response_output::write_list(
                envelope[list_field].as_array().map_or(&[], Vec::as_slice),
                columns,
                empty_message,
                self.ui.width(),
                writer,
            )
        })
    }
}

/// Returns the JSON object in which the platform sends a list, here with all items on page 0. `first_page` has the
/// other fields of the platform's first page; its total and page number are replaced, because the pages are merged and
/// the items may be filtered.
pub(crate) fn build_list_envelope(
    list_field: &str,
    items: Vec<Value>,
    first_page: Map<String, Value>,
) -> Value {
    let count = items.len();
    let mut envelope = Map::new();
    envelope.insert(list_field.to_owned(), Value::Array(items));
    envelope.insert("page".to_owned(), 0.into());
    envelope.insert("size".to_owned(), count.into());
    envelope.insert("total".to_owned(), count.into());
    let other_fields = first_page.into_iter();
    envelope.extend(other_fields.filter(|(key, _)| !["page", "total", list_field].contains(&key.as_str())));
    envelope.into()
}

/// Returns the failure for a created resource whose response lacks its id. `check_instruction` says how to find it.
pub(crate) fn created_without_id_failure(message: &'static str, check_instruction: &str) -> Failure {
    let hint = format!("before you repeat the command, {check_instruction}");
    Failure::from_message(ExitStatus::Undecided, message).with_hint(hint)
}

/// Fails if the response to a request for a status contains no status.
pub(crate) fn require_status(status: Option<&String>) -> Result<(), Failure> {
    match status {
        Some(_) => Ok(()),
        None => Err(Failure::from_message(
            ExitStatus::Undecided,
            "the response contains no status",
        )),
    }
}

/// Returns the failure of a request for a project. A 404 means that the project is missing, unless the platform lists
/// the project.
pub(crate) async fn project_request_failure(platform: &Platform, id: Uuid, error: HttpError) -> Failure {
    if error.kind() != ErrorKind::NotFound {
        return error.into();
    }
    let projects = request_for_hint(platform.fetch_projects()).await;
    if projects
        .as_ref()
        .is_some_and(|projects| contains_project(projects, id))
    {
        return error.into();
    }
    project_lookup(&id.to_string()).request_failure_with_names(error, projects.map(list_project_ids))
}

/// Returns the message that the platform has no such project, with the most similar one, or `None` if the project
/// exists or the list is unavailable.
pub(crate) async fn describe_unknown_project(platform: &Platform, id: Uuid) -> Option<String> {
    let hint = find_unknown_project_hint(platform, id).await?;
    Some(format!("the platform has no project \"{id}\": {hint}"))
}

/// Returns the hint for a project that the platform does not have: the most similar one, and how to list all projects.
/// Returns `None` if the project exists or the list is unavailable.
pub(crate) async fn find_unknown_project_hint(platform: &Platform, id: Uuid) -> Option<String> {
    let projects = request_for_hint(platform.fetch_projects()).await?;
    if contains_project(&projects, id) {
        return None;
    }
    Some(project_lookup(&id.to_string()).hint(&list_project_ids(projects)))
}

/// Returns whether one of these projects has this id.
fn contains_project(projects: &[ApiValue<api::Project>], id: Uuid) -> bool {
    projects.iter().any(|project| {
        let project_id = project.id.as_deref().and_then(|text| Uuid::parse_str(text).ok());
        project_id == Some(id)
    })
}

/// Returns the ids of these projects.
fn list_project_ids(projects: ApiList<api::Project>) -> Vec<String> {
    projects
        .into_iter()
        .filter_map(|project| project.value.id)
        .collect()
}

/// Creates the lookup of a project, for hints about a missing project.
const fn project_lookup(id: &str) -> ResourceLookup<'_> {
    ResourceLookup {
        kind: ResourceKind::Project,
        name: id,
        list_command: Some("projects list"),
        show_command: None,
    }
}

impl RemoteProject {
    /// Returns the response to a read request in the project. For a 404, the failure says whether the project is
    /// missing.
    pub(crate) async fn convert_response<T>(&self, response: Result<T, HttpError>) -> Result<T, Failure> {
        match response {
            Ok(response) => Ok(response),
            Err(error) => Err(project_request_failure(&self.platform, self.id, error).await),
        }
    }

    /// Returns the response to a creation in the project. If the response was lost, the failure contains
    /// `check_instruction`; for a 404, it says whether the project is missing.
    pub(crate) async fn convert_creation_response<T>(
        &self,
        response: Result<T, HttpError>,
        check_instruction: &str,
    ) -> Result<T, Failure> {
        match response {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(creation_failure(error, check_instruction))
            }
            response => self.convert_response(response).await,
        }
    }

    /// Returns the failure that the platform does not have the project, if `error` is a 404 because of that. `error` is
    /// that of a request for a resource in the project.
    pub(crate) async fn find_missing_project(&self, error: &HttpError) -> Option<Failure> {
        if error.kind() != ErrorKind::NotFound {
            return None;
        }
        let hint = find_unknown_project_hint(&self.platform, self.id).await?;
        let fact = format!("the platform has no project \"{}\"", self.id);
        Some(Failure::from(error.clone()).context(fact).with_hint(hint))
    }

    /// Returns the failure of a request for a variable. For a 404, suggests the project's most similar variable.
    pub(crate) async fn variable_request_failure(&self, name: &str, error: HttpError) -> Failure {
        let variables = match error.kind() {
            ErrorKind::NotFound => request_for_hint(self.platform.fetch_variables(self.id)).await,
            _ => None,
        };
        if variables.is_none()
            && let Some(failure) = self.find_missing_project(&error).await
        {
            return failure;
        }
        let names = variables.map(|variables| {
            variables
                .into_iter()
                .filter_map(|variable| variable.value.name)
                .collect()
        });
        variable_lookup(name).request_failure_with_names(error, names)
    }
}

/// Creates the lookup of a variable, for messages about a missing variable.
pub(crate) const fn variable_lookup(name: &str) -> ResourceLookup<'_> {
    ResourceLookup {
        kind: ResourceKind::Variable,
        name,
        list_command: Some("variables list"),
        show_command: None,
    }
}
